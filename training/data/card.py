"""The data card: counts of the training data or questions, made before the first step.

``card`` counts; ``DataCard`` gives text for a terminal, Markdown and plain values. The same records give the same card,
whatever their order.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np

from agent.tables import markdown_table
from training.data.damage import damage
from training.data.records import Dropped, Example
from training.data.splits import AnyRecord, label_of, task_of

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
WINDOWS = 8
"""Windows that are shown for each task."""
UNKNOWN_SURVEY = "not known"
"""The name in the card of a survey that a row does not have."""
NAMED = 3
"""Rows that are named for each reason they were left out for."""

_Key = TypeVar("_Key", str, int)


@dataclass(frozen=True)
class Spread:
    """Distribution of numbers: how many are known, their mean, and ``QUANTILES`` of them."""

    known: int
    mean: float
    quantiles: tuple[float, ...]


@dataclass(frozen=True)
class LeftOut:
    """Rows that were left out for one reason, and the first of them by key."""

    reason: str
    rows: int
    named: tuple[str, ...]


@dataclass(frozen=True)
class TrajectoryStatistics:
    """Statistics of the trajectories and their drafters; counts are of trajectories unless stated otherwise.

    :param windows: by task, the windows most often requested, whole Å in the frame shown, and how often
    :param calls: trajectories by number of tool calls; ``turns`` by number of assistant turns
    :param against_label: trajectories whose answer is not their label
    :param faults: faults that were accepted when they were read, by kind
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
    """Lengths of the examples in tokens, pictures included; ``too_long`` are longer than ``limit``."""

    spread: Spread
    limit: int | None
    too_long: int


@dataclass(frozen=True)
class DataCard:
    """The content of the records.

    ``trajectories`` and ``tokens`` are None without trajectories, or without a tokenizer; ``snr`` if no row has it.

    :param damaged: rows with damaged text, by kind (``training.data.damage``); ``damaged_rows``: with any
    """

    kind: str
    rows: int
    sources: int
    classes: Mapping[str, Mapping[str, int]]
    surveys: Mapping[str, int]
    simulated: int
    snr: Spread | None
    trajectories: TrajectoryStatistics | None
    tokens: Tokens | None
    damaged_rows: int
    damaged: Mapping[str, int]
    dropped: Sequence[LeftOut]

    def to_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain

    def text(self) -> str:
        """Return text for a terminal."""

        return text(self)

    def markdown(self) -> str:
        """Return a Markdown document."""

        return markdown(self)


def card(
    records: Sequence[AnyRecord],
    tokens: Callable[[Example], int] | None = None,
    limit: int | None = None,
    dropped: Iterable[Dropped] = (),
) -> DataCard:
    """Count the records.

    :param tokens: number of tokens of an example; every example is rendered for it, pictures included
    :param limit: the most that are allowed
    :param dropped: rows that were left out while reading
    """
    examples = [record for record in records if isinstance(record, Example)]
    classes: dict[str, Counter[str]] = defaultdict(Counter)
    damaged = [kinds for record in records if (kinds := damage(record))]
    for record in records:
        classes[task_of(record)][label_of(record) or "none"] += 1
    return DataCard(
        kind="examples" if examples else "questions",
        rows=len(records),
        sources=len({record.source for record in records}),
        classes={task: _ordered(classes[task]) for task in sorted(classes)},
        surveys=_ordered(Counter(record.survey or UNKNOWN_SURVEY for record in records)),
        simulated=sum(_simulated(record) for record in records),
        snr=_spread([record.snr for record in records if record.snr is not None]),
        trajectories=_statistics(examples) if examples else None,
        tokens=_tokens(examples, tokens, limit) if examples and tokens is not None else None,
        damaged_rows=len(damaged),
        damaged=_ordered(Counter(kind for kinds in damaged for kind in kinds)),
        dropped=_left_out(dropped),
    )


def _statistics(examples: Sequence[Example]) -> TrajectoryStatistics:
    trajectories = [example.trajectory for example in examples]
    windows: dict[str, Counter[str]] = defaultdict(Counter)
    for trajectory in trajectories:
        for zoom in trajectory.zooms:
            if zoom.window is not None and zoom.ok:
                windows[trajectory.task][f"{zoom.window[0]:.0f}-{zoom.window[1]:.0f}"] += 1
    answers = [(t.label, t.answer.verdict if t.answer else None) for t in trajectories]
    return TrajectoryStatistics(
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
    """Return a fault without place and number, so that faults of one kind are counted together."""
    fault = re.sub(r"^conversations\[\d+\]: ", "", fault)
    fault = re.sub(r"U\+[0-9A-F]{4,6}", "a character", fault)
    fault = re.sub(r"(, in)? ?(['\"]).*\2", "", fault, flags=re.DOTALL)
    return re.sub(r"\d+", "n", fault)


def _simulated(record: AnyRecord) -> bool:
    return record.trajectory.simulated if isinstance(record, Example) else record.simulated


def _spread(numbers: Sequence[float]) -> Spread | None:
    if not numbers:
        return None
    quantiles = np.quantile(np.asarray(numbers, dtype=np.float64), QUANTILES)
    # A sum in another order differs in the last digits.
    mean = round(float(np.mean(sorted(numbers))), 3)
    return Spread(len(numbers), mean, tuple(round(float(q), 3) for q in quantiles))


def _left_out(dropped: Iterable[Dropped]) -> tuple[LeftOut, ...]:
    keys: dict[str, list[str]] = defaultdict(list)
    for row in dropped:
        keys[row.reason].append(row.key)
    by_count = sorted(keys.items(), key=lambda reason: (-len(reason[1]), reason[0]))
    return tuple(LeftOut(reason, len(rows), tuple(sorted(rows)[:NAMED])) for reason, rows in by_count)


def _ordered(counted: Counter[_Key]) -> dict[_Key, int]:
    return dict(sorted(counted.items()))


def _most(counted: Counter[str], many: int | None) -> list[tuple[str, int]]:
    return sorted(counted.items(), key=lambda entry: (-entry[1], entry[0]))[:many]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


_LABELS = ("YES", "NO", "none")
_NOT_DIGITS = str.maketrans("", "", ",.-")


@dataclass(frozen=True)
class _Table:
    """A part of the card: rows of cells below a head and a title."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def text(card: DataCard) -> str:
    """Return text for a terminal: tables aligned by spaces."""
    parts = [_summary(card)]
    for table in _tables(card):
        columns = [_aligned(column) for column in zip(table.head, *table.rows, strict=True)]
        lines = (f"  {'  '.join(line)}".rstrip() for line in zip(*columns, strict=True))
        parts.append("\n".join([table.title, *lines]))
    return "\n\n".join(parts)


def markdown(card: DataCard) -> str:
    """Return a document with a heading."""
    parts = ["# Data card", _summary(card)]
    for table in _tables(card):
        parts.append(f"## {table.title}")
        parts.append(markdown_table(_escaped(table.head), map(_escaped, table.rows)))
    return "\n\n".join(parts) + "\n"


def _summary(card: DataCard) -> str:
    kind = card.kind.removesuffix("s") if card.rows == 1 else card.kind
    clauses = [f"{card.rows:,} {kind} of {card.sources:,} {'spectrum' if card.sources == 1 else 'spectra'}"]
    if card.simulated:
        clauses.append(f"{card.simulated:,} simulated")
    if card.trajectories and card.trajectories.against_label:
        clauses.append(f"{card.trajectories.against_label:,} answer against their label")
    if card.trajectories and card.trajectories.refused_calls:
        clauses.append(f"{card.trajectories.refused_calls:,} calls that the tool refused")
    if card.tokens and card.tokens.limit is not None:
        clauses.append(f"{card.tokens.too_long:,} longer than {card.tokens.limit:,} tokens")
    if card.damaged_rows:
        clauses.append(f"{card.damaged_rows:,} with damaged text")
    left_out = sum(reason.rows for reason in card.dropped)
    clauses.append(f"{left_out:,} left out" if left_out else "nothing left out")
    return "; ".join(clauses) + "."


def _tables(card: DataCard) -> Iterator[_Table]:
    labels = [name for name in _LABELS if any(name in counts for counts in card.classes.values())]
    if card.classes:
        rows = [[task, *(f"{counts.get(name, 0):,}" for name in labels)] for task, counts in card.classes.items()]
        yield _Table("Classes and labels", ["task", *labels], rows)
        yield _counts("Surveys", "survey", card.surveys)
    spreads: list[tuple[str, Spread]] = []
    if card.snr is not None:
        spreads.append(("signal-to-noise per pixel", card.snr))
    if card.tokens is not None:
        spreads.append(("tokens", card.tokens.spread))
    if spreads:
        heads = ["", "known", "mean", *(_quantile(q) for q in QUANTILES)]
        yield _Table("Spread", heads, [_spread_text(name, spread) for name, spread in spreads])
    if card.trajectories is not None:
        yield from _trajectory_tables(card.trajectories)
    if card.damaged:
        yield _counts("Damaged text", "what", card.damaged)
    if card.dropped:
        rows = [[row.reason, f"{row.rows:,}", ", ".join(row.named)] for row in card.dropped]
        yield _Table("Left out", ["why", "rows", "e.g."], rows)


def _trajectory_tables(statistics: TrajectoryStatistics) -> Iterator[_Table]:
    yield _counts("Tool calls", "calls", statistics.calls)
    yield _counts("Turns of the assistant", "turns", statistics.turns)
    rows = [
        [task, ", ".join(f"{window} ({many:,})" for window, many in windows)]
        for task, windows in statistics.windows.items()
    ]
    if rows:
        yield _Table("Most frequent zooms (Å, how often)", ["task", "windows"], rows)
    yield _counts("Drafters", "drafter", statistics.drafters)
    if statistics.faults:
        yield _counts("Faults accepted", "fault", statistics.faults)


def _counts(title: str, of: str, counts: Mapping[str, int] | Mapping[int, int]) -> _Table:
    return _Table(title, [of, "rows"], [[str(name), f"{many:,}"] for name, many in counts.items()])


def _spread_text(name: str, spread: Spread) -> list[str]:
    return [name, f"{spread.known:,}", f"{spread.mean:,.1f}", *(f"{q:,.1f}" for q in spread.quantiles)]


def _quantile(q: float) -> str:
    return {0.0: "least", 0.5: "median", 1.0: "most"}.get(q, f"{100 * q:.0f} %")


def _aligned(column: Sequence[str]) -> list[str]:
    """Align the cells of a column: numbers right, text left."""
    width = max(map(len, column))
    numbers = all(cell.translate(_NOT_DIGITS).isdigit() for cell in column[1:])
    return [cell.rjust(width) if numbers else cell.ljust(width) for cell in column]


def _escaped(cells: Sequence[str]) -> list[str]:
    return [" ".join(cell.replace("|", "\\|").split()) for cell in cells]
