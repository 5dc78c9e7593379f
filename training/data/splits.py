"""Splits in which each spectrum is on one side only, and checks for spectra shared between training and test data.

Records are identified by ``source``: rows of one spectrum stay together, whatever their task, file or key.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from agent.language import tr, trn
from training.data.records import DataError, Example, Question

Record = TypeVar("Record", Example, Question)
AnyRecord = Example | Question

_SHOWN = 3


def split(records: Sequence[Record], fractions: Mapping[str, float], seed: int) -> dict[str, list[Record]]:
    """Split the records into parts, each in the given order.

    Sources are stratified by the tasks and labels of their rows: each part gets its fraction of every stratum,
    to within one. The selection depends only on the seed and the names of the sources, not on the order of the
    rows, and changes as little as possible when rows are added.

    :param fractions: of the sources, by the part's name; their sum is 1
    :raises ValueError: it is not
    """
    if any(part < 0 for part in fractions.values()) or not math.isclose(sum(fractions.values()), 1.0):
        raise ValueError(
            tr("fractions: found {fractions}, expected parts of 0 or more with the sum 1", fractions=dict(fractions))
        )
    kinds: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for record in records:
        kinds[record.source].add((task_of(record), label_of(record)))
    strata: dict[tuple[tuple[str, str], ...], list[str]] = defaultdict(list)
    for source, kind in kinds.items():
        strata[tuple(sorted(kind))].append(source)
    part_of: dict[str, str] = {}
    for stratum, sources in strata.items():
        part_of |= _dealt(sources, fractions, seed, _number(seed, repr(stratum)))
    parts: dict[str, list[Record]] = {name: [] for name in fractions}
    for record in records:
        parts[part_of[record.source]].append(record)
    return parts


def sample(examples: Sequence[Example], number: int, seed: int) -> list[Example]:
    """Select trajectories, with each task and label in the same share, and return them in the given order.

    The selection depends only on the seed and the trajectories, not on files or the order of rows. With one seed, a
    smaller selection is part of a larger one.

    :raises DataError: there are fewer
    """
    if number > len(examples):
        raise DataError(
            tr(
                "trajectories: found {n_examples} to learn from, expected at least the {number} to select",
                n_examples=len(examples),
                number=number,
            )
        )
    strata: dict[tuple[str, str], list[tuple[float, int]]] = defaultdict(list)
    for place, example in enumerate(examples):
        name = f"{example.source}\0{example.trajectory.content_hash()}"
        strata[task_of(example), label_of(example)].append((_number(seed, name), place))
    # Evenly through every stratum: the one of rank r among n is at (r + 0.5) / n.
    ranked = [
        ((rank + 0.5) / len(stratum), drawn, place)
        for stratum in strata.values()
        for rank, (drawn, place) in enumerate(sorted(stratum))
    ]
    selected = {place for _, _, place in sorted(ranked)[:number]}
    return [example for place, example in enumerate(examples) if place in selected]


def refuse_leaks(train: Iterable[AnyRecord], test: Iterable[AnyRecord]) -> None:
    """Check that no spectrum is in both. :raises DataError: one is; the message names the first few"""
    shared = shared_sources(train, test)
    if not shared:
        return
    named = ", ".join(shared[:_SHOWN]) + (", …" if len(shared) > _SHOWN else "")
    raise DataError(
        trn(
            "{n} spectrum is in the training and in the test data: {named}; expected none in both, or the scores "
            "count memorised answers; remove them from the training data",
            "{n} spectra are in the training and in the test data: {named}; expected none in both, or the scores "
            "count memorised answers; remove them from the training data",
            len(shared),
            named=named,
        )
    )


def shared_sources(first: Iterable[AnyRecord], second: Iterable[AnyRecord]) -> list[str]:
    """Return the names of the spectra that are in both."""
    return sorted({record.source for record in first} & {record.source for record in second})


def without(records: Iterable[Record], sources: Iterable[str]) -> tuple[list[Record], list[Record]]:
    """Return the records that are not of these sources, and those that are."""
    unwanted = set(sources)
    kept: list[Record] = []
    dropped: list[Record] = []
    for record in records:
        (dropped if record.source in unwanted else kept).append(record)
    return kept, dropped


def task_of(record: AnyRecord) -> str:
    """Return the key of its task."""
    return record.task.key if isinstance(record, Question) else record.trajectory.task


def label_of(record: AnyRecord) -> str:
    """Return its label; for a trajectory without one its answer; "" if there is neither."""
    if isinstance(record, Question):
        return record.label
    trajectory = record.trajectory
    return trajectory.label or (trajectory.answer.verdict if trajectory.answer else None) or ""


def _dealt(sources: Sequence[str], fractions: Mapping[str, float], seed: int, offset: float) -> dict[str, str]:
    """Return the part of each source of one stratum: shuffled, then dealt at even steps.

    The first step begins at ``offset``, so that strata of one source do not all go to the first part.
    """
    shuffled = sorted(sources, key=lambda source: (_number(seed, source), source))
    names = [name for name, fraction in fractions.items() if fraction > 0]
    dealt = {}
    for place, source in enumerate(shuffled):
        at = (place + offset) / len(shuffled)
        reached = 0.0
        for name in names:
            reached += fractions[name]
            if at < reached:
                break
        dealt[source] = name  # the last one, if rounding leaves a rest
    return dealt


def _number(seed: int, text: str) -> float:
    """Return a number in [0, 1) that depends only on the arguments, on any machine."""
    digest = hashlib.sha256(f"{seed}\0{text}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48
