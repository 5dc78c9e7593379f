"""What is learned from: read, checked against the test data, measured, and split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from training.data import DataError, Dropped, examples, questions
from training.data.card import Card, card
from training.data.splits import refuse_leaks, shared_sources, split, without
from training.records import Example
from training.rendering import Rendered, Renderer
from training.sft.settings import SftSettings

Item = TypeVar("Item")
Watched = Callable[[Sequence[Item]], Iterable[Item]]
"""Gives the same items, and shows how far it is."""


@dataclass(frozen=True)
class Prepared:
    """Examples to learn from, those whose loss is only measured, and the card of both and of what was left
    out.
    """

    examples: tuple[Example, ...]
    held_out: tuple[Example, ...]
    card: Card


def prepare(settings: SftSettings, renderer: Renderer, watched: Watched[Example] = iter) -> Prepared:
    """Read and check all of it: every picture is opened, so that none is found missing at night.

    :raises DataError: nothing to learn from, data that cannot be used, or sources of the test data in it
    """
    if not settings.data:
        raise DataError("data: found nothing, wanted an export, JSON lines or train_sharegpt.json (--data)")
    dropped: list[Dropped] = []
    spectra = Path(settings.spectra).expanduser() if settings.spectra else None
    found: Sequence[Example] = examples(settings.data, spectra=spectra, dropped=dropped)
    if settings.test:
        found = _without_test(found, settings, spectra, dropped)
    kept, lengths = [], []
    for one in watched(found):
        length = len(rendered(one, renderer, settings.with_tool))
        if length <= settings.max_length:
            kept.append(one)
            lengths.append(length)
        else:
            dropped.append(Dropped(one.key, f"longer than {settings.max_length} tokens"))
    if not kept:
        raise DataError(f"found no example of {settings.max_length} tokens or fewer among {len(found)}")
    measured = iter(lengths)
    made = card(kept, lambda _: next(measured), settings.max_length, dropped)
    parts = split(kept, {"learned": 1 - settings.held_out, "held out": settings.held_out}, settings.seed)
    if not parts["learned"]:
        raise DataError(f"held_out: {settings.held_out} of {made.sources} spectra leaves none to learn from")
    return Prepared(tuple(parts["learned"]), tuple(parts["held out"]), made)


def rendered(example: Example, renderer: Renderer, with_tool: bool) -> Rendered:
    """:raises DataError: a picture is missing, or there are more than zooms"""
    try:
        return renderer.example(example.trajectory, example.pictures(), with_tool)
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"{example.key}: {error}") from error


def _without_test(
    found: Sequence[Example], settings: SftSettings, spectra: Path | None, dropped: list[Dropped]
) -> Sequence[Example]:
    test = questions(settings.test, part="test", spectra=spectra)
    if not settings.drop_leaks:
        refuse_leaks(found, test)
        return found
    kept, leaked = without(found, shared_sources(found, test))
    dropped += [Dropped(one.key, "its spectrum is in the test data") for one in leaked]
    return kept
