"""Scores of parts of the questions: by survey, by signal-to-noise, and by task within a survey."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from training.bench.outcomes import Outcome
from training.bench.scores import Scores, scores

SNR_EDGES = (5.0, 10.0, 20.0, 50.0)
"""Median signal-to-noise per pixel at which a new group begins; the published cold-start set lies above 10."""
NOT_KNOWN = "not known"

By = Literal["survey", "S/N", "task, survey"]


@dataclass(frozen=True)
class Group:
    """A part of the questions: the criterion, the name of the part, its scores."""

    by: By
    name: str
    scores: Scores


def groups(outcomes: Iterable[Outcome]) -> list[Group]:
    """Return the scores of the parts, each criterion in its order. A criterion with a single part is left out."""
    given = list(outcomes)
    kinds: tuple[tuple[By, Callable[[Outcome], tuple[int, str]]], ...] = (
        ("survey", lambda outcome: (0, survey(outcome))),
        ("S/N", _snr),
        ("task, survey", lambda outcome: (0, f"{outcome.task}, {survey(outcome)}")),
    )
    listed = []
    for by, part in kinds:
        if by == "task, survey" and len({survey(given_outcome) for given_outcome in given}) < 2:
            continue
        parts: dict[tuple[int, str], list[Outcome]] = defaultdict(list)
        for outcome in given:
            parts[part(outcome)].append(outcome)
        if len(parts) > 1:
            listed += [Group(by, name, scores(parts[order, name])) for order, name in sorted(parts)]
    return listed


def survey(outcome: Outcome) -> str:
    """Return the survey name for the groups."""
    return outcome.survey or NOT_KNOWN


def _snr(outcome: Outcome) -> tuple[int, str]:
    """Return the index of the bin, and its name."""
    if outcome.snr is None:
        return len(SNR_EDGES) + 1, NOT_KNOWN
    place = sum(outcome.snr >= edge for edge in SNR_EDGES)
    if place == 0:
        return place, f"below {SNR_EDGES[0]:g}"
    if place == len(SNR_EDGES):
        return place, f"{SNR_EDGES[-1]:g} and above"
    return place, f"{SNR_EDGES[place - 1]:g} to {SNR_EDGES[place]:g}"
