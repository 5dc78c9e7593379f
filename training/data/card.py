"""The data card: what is about to be trained on or asked, counted, before a step is made.

``card`` counts; ``Card`` tells it as text for a terminal, as Markdown and as plain values. The same records
give the same card, whatever their order.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np

from training.data.errors import Dropped
from training.data.splits import AnyRecord, label_of, task_of
from training.records import Example

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
WINDOWS = 8
"""Windows that are shown for each task."""
NAMED = 3
"""Rows that are named for each reason they were left out for."""

_Key = TypeVar("_Key", str, int)


@dataclass(frozen=True)
class Spread:
    """How numbers are spread: how many are known, their mean, and ``QUANTILES`` of them."""

    known: int
    mean: float
    quantiles: tuple[float, ...]


@dataclass(frozen=True)
class LeftOut:
    """Rows that were left out for one reason, the first of them by key."""

    reason: str
    rows: int
    named: tuple[str, ...]


@dataclass(frozen=True)
class Looks:
    """What the trajectories did, and who made them; counts are trajectories unless said otherwise.

    :param windows: by task the windows most often asked for, whole Å in the frame shown, and how often
    :param calls: trajectories by how often they call the tool; ``turns`` by how often the assistant speaks
    :param against_label: whose answer is not their label
    :param faults: what was forgiven in reading them, by kind
    """

    windows: Mapping[str, Sequence[tuple[str, int]]]
    calls: Mapping[int, int]
    turns: Mapping[int, int]
    refused_calls: int
    drafters: Mapping[str, int]
    against_label: int
    faults: Mapping[str, int]


@dataclass(frozen=True)
class Tokens:
    """How long the examples are in tokens, pictures included; ``too_long`` are longer than ``limit``."""

    spread: Spread
    limit: int | None
    too_long: int


@dataclass(frozen=True)
class Card:
    """What the records are. ``looks`` and ``tokens`` are None where there are no trajectories, or nothing to
    count tokens with. ``snr`` is None where no row says it."""

    kind: str
    rows: int
    sources: int
    classes: Mapping[str, Mapping[str, int]]
    surveys: Mapping[str, int]
    simulated: int
    snr: Spread | None
    looks: Looks | None
    tokens: Tokens | None
    dropped: Sequence[LeftOut]

    def to_json(self) -> dict[str, Any]:
        """As plain values, fit for JSON."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain

    def text(self) -> str:
        """For a terminal."""
        from training.data.card_text import text

        return text(self)

    def markdown(self) -> str:
        """As a Markdown document."""
        from training.data.card_text import markdown

        return markdown(self)


def card(
    records: Sequence[AnyRecord],
    tokens: Callable[[Example], int] | None = None,
    limit: int | None = None,
    dropped: Iterable[Dropped] = (),
) -> Card:
    """Count what there is.

    :param tokens: how many tokens an example has; every example is rendered for that, pictures included
    :param limit: the most that are allowed
    :param dropped: what was left out on the way here
    """
    examples = [record for record in records if isinstance(record, Example)]
    classes: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        classes[task_of(record)][label_of(record) or "none"] += 1
    return Card(
        kind="examples" if examples else "questions",
        rows=len(records),
        sources=len({record.source for record in records}),
        classes={task: _ordered(classes[task]) for task in sorted(classes)},
        surveys=_ordered(Counter(record.survey or "not said" for record in records)),
        simulated=sum(_simulated(record) for record in records),
        snr=_spread([record.snr for record in records if record.snr is not None]),
        looks=_looks(examples) if examples else None,
        tokens=_tokens(examples, tokens, limit) if examples and tokens is not None else None,
        dropped=_left_out(dropped),
    )


def _looks(examples: Sequence[Example]) -> Looks:
    trajectories = [example.trajectory for example in examples]
    windows: dict[str, Counter[str]] = defaultdict(Counter)
    for trajectory in trajectories:
        for zoom in trajectory.zooms:
            if zoom.window is not None and zoom.ok:
                windows[trajectory.task][f"{zoom.window[0]:.0f}-{zoom.window[1]:.0f}"] += 1
    answers = [(t.label, t.answer.verdict if t.answer else None) for t in trajectories]
    return Looks(
        windows={task: tuple(_most(windows[task], WINDOWS)) for task in sorted(windows)},
        calls=_ordered(Counter(len(t.zooms) for t in trajectories)),
        turns=_ordered(Counter(sum(1 for _ in t.turns()) for t in trajectories)),
        refused_calls=sum(not zoom.ok for t in trajectories for zoom in t.zooms),
        drafters=_ordered(Counter(t.drafter.kind for t in trajectories)),
        against_label=sum(label is not None and verdict != label for label, verdict in answers),
        faults=dict(_most(Counter(kind for t in trajectories for kind in set(map(_kind, t.faults))), None)),
    )


def _tokens(examples: Sequence[Example], count: Callable[[Example], int], limit: int | None) -> Tokens:
    lengths = [count(example) for example in examples]
    spread = _spread(lengths)
    assert spread is not None
    return Tokens(spread, limit, 0 if limit is None else sum(length > limit for length in lengths))


def _kind(fault: str) -> str:
    """A fault without where it was and how often, so that faults of one kind are counted together."""
    fault = re.sub(r"^conversations\[\d+\]: ", "", fault)
    fault = re.sub(r"U\+[0-9A-F]{4,6}", "a character", fault)
    fault = re.sub(r"(, in)? ?(['\"]).*\2", "", fault, flags=re.DOTALL)
    return re.sub(r"\d+", "n", fault)


def _simulated(record: AnyRecord) -> bool:
    return record.trajectory.simulated if isinstance(record, Example) else record.simulated


def _spread(numbers: Sequence[float]) -> Spread | None:
    if not numbers:
        return None
    found = np.quantile(np.asarray(numbers, dtype=np.float64), QUANTILES)
    # A sum in another order ends in other digits.
    mean = round(float(np.mean(sorted(numbers))), 3)
    return Spread(len(numbers), mean, tuple(round(float(q), 3) for q in found))


def _left_out(dropped: Iterable[Dropped]) -> tuple[LeftOut, ...]:
    keys: dict[str, list[str]] = defaultdict(list)
    for one in dropped:
        keys[one.reason].append(one.key)
    by_count = sorted(keys.items(), key=lambda reason: (-len(reason[1]), reason[0]))
    return tuple(LeftOut(reason, len(rows), tuple(sorted(rows)[:NAMED])) for reason, rows in by_count)


def _ordered(counted: Counter[_Key]) -> dict[_Key, int]:
    return dict(sorted(counted.items()))


def _most(counted: Counter[str], many: int | None) -> list[tuple[str, int]]:
    return sorted(counted.items(), key=lambda one: (-one[1], one[0]))[:many]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value
