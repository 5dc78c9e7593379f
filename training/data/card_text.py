"""A data card in words: for a terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from training.data.card import QUANTILES, Card, Looks, Spread

_LABELS = ("YES", "NO", "none")
_NOT_DIGITS = str.maketrans("", "", ",.-")


@dataclass(frozen=True)
class _Table:
    """A part of the card: rows of cells below a head and a title."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def text(card: Card) -> str:
    """For a terminal: tables lined up by spaces."""
    parts = [_summary(card)]
    for table in _tables(card):
        columns = [_lined_up(column) for column in zip(table.head, *table.rows, strict=True)]
        lines = (f"  {'  '.join(line)}".rstrip() for line in zip(*columns, strict=True))
        parts.append("\n".join([table.title, *lines]))
    return "\n\n".join(parts)


def markdown(card: Card) -> str:
    """As a document with a heading."""
    parts = ["# Data card", _summary(card)]
    for table in _tables(card):
        lines = [table.head, ["---"] * len(table.head), *table.rows]
        parts.append(f"## {table.title}")
        parts.append("\n".join(f"| {' | '.join(map(_escaped, line))} |" for line in lines))
    return "\n\n".join(parts) + "\n"


def _summary(card: Card) -> str:
    kind = card.kind.removesuffix("s") if card.rows == 1 else card.kind
    said = [f"{card.rows:,} {kind} of {card.sources:,} {'spectrum' if card.sources == 1 else 'spectra'}"]
    if card.simulated:
        said.append(f"{card.simulated:,} simulated")
    if card.looks and card.looks.against_label:
        said.append(f"{card.looks.against_label:,} answer against their label")
    if card.looks and card.looks.refused_calls:
        said.append(f"{card.looks.refused_calls:,} calls that the tool refused")
    if card.tokens and card.tokens.limit is not None:
        said.append(f"{card.tokens.too_long:,} longer than {card.tokens.limit:,} tokens")
    left_out = sum(reason.rows for reason in card.dropped)
    said.append(f"{left_out:,} left out" if left_out else "nothing left out")
    return "; ".join(said) + "."


def _tables(card: Card) -> Iterator[_Table]:
    labels = [name for name in _LABELS if any(name in counts for counts in card.classes.values())]
    if card.classes:
        rows = [
            [task, *(f"{counts.get(name, 0):,}" for name in labels)] for task, counts in card.classes.items()
        ]
        yield _Table("Classes and labels", ["task", *labels], rows)
        yield _counts("Surveys", "survey", card.surveys)
    spreads: list[tuple[str, Spread]] = []
    if card.snr is not None:
        spreads.append(("signal-to-noise a pixel", card.snr))
    if card.tokens is not None:
        spreads.append(("tokens", card.tokens.spread))
    if spreads:
        heads = ["", "known", "mean", *(_quantile(q) for q in QUANTILES)]
        yield _Table("Spread", heads, [_spread(name, spread) for name, spread in spreads])
    if card.looks is not None:
        yield from _looked(card.looks)
    if card.dropped:
        rows = [[one.reason, f"{one.rows:,}", ", ".join(one.named)] for one in card.dropped]
        yield _Table("Left out", ["why", "rows", "such as"], rows)


def _looked(looks: Looks) -> Iterator[_Table]:
    yield _counts("Calls of the tool", "calls", looks.calls)
    yield _counts("Turns of the assistant", "turns", looks.turns)
    rows = [
        [task, ", ".join(f"{window} ({many:,})" for window, many in windows)]
        for task, windows in looks.windows.items()
    ]
    if rows:
        yield _Table("Windows most looked at (Å, how often)", ["task", "windows"], rows)
    yield _counts("Drafters", "drafter", looks.drafters)
    if looks.faults:
        yield _counts("Faults forgiven", "fault", looks.faults)


def _counts(title: str, of: str, counts: Mapping[str, int] | Mapping[int, int]) -> _Table:
    return _Table(title, [of, "rows"], [[str(name), f"{many:,}"] for name, many in counts.items()])


def _spread(name: str, spread: Spread) -> list[str]:
    return [name, f"{spread.known:,}", f"{spread.mean:,.1f}", *(f"{q:,.1f}" for q in spread.quantiles)]


def _quantile(q: float) -> str:
    return {0.0: "least", 0.5: "median", 1.0: "most"}.get(q, f"{100 * q:.0f} %")


def _lined_up(column: Sequence[str]) -> list[str]:
    """The cells of a column in one width: numbers to the right, words to the left."""
    width = max(map(len, column))
    numbers = all(cell.translate(_NOT_DIGITS).isdigit() for cell in column[1:])
    return [cell.rjust(width) if numbers else cell.ljust(width) for cell in column]


def _escaped(cell: str) -> str:
    return " ".join(cell.replace("|", "\\|").split())
