"""A part of a test set that still looks like it: so many questions of each task, labels in the same share."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence

from training.bench.answers import place
from training.records import Question


def limited(questions: Iterable[Question], most: int, seed: int = 0) -> list[Question]:
    """At most ``most`` of each task, drawn by their names and the seed: in whatever order and company they
    come, the same ones, and a smaller draw is part of a larger one of the same label. Order is kept.

    Each label that there is has at least one, if ``most`` is 2 or more.
    """
    given = list(questions)
    by_task: dict[str, dict[str, list[Question]]] = defaultdict(lambda: defaultdict(list))
    for one in given:
        by_task[one.task.key][one.label].append(one)
    taken: set[str] = set()
    for labels in by_task.values():
        for label, number in _shares({name: len(rows) for name, rows in labels.items()}, most).items():
            taken.update(place(one) for one in _shuffled(labels[label], seed)[:number])
    return [one for one in given if place(one) in taken]


def _shares(there: dict[str, int], most: int) -> dict[str, int]:
    """How many of each label: their share, but one at least."""
    total = sum(there.values())
    if total <= most or len(there) == 1:
        return {label: min(number, most) for label, number in there.items()}
    yes = min(max(1, round(most * there["YES"] / total)), max(1, most - 1))
    return {"YES": yes, "NO": most - yes}


def _shuffled(questions: Sequence[Question], seed: int) -> list[Question]:
    return sorted(questions, key=lambda one: hashlib.sha256(f"{seed} {place(one)}".encode()).digest())
