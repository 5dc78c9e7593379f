"""The drawings of the report as SVG: intervals, distributions, preferences, every score, judges against people, and
residuals along the order. Each is made for a width in pixels, and every number that is drawn is also written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agent.statistics import FloatArray
from reviewer.agreement.distribution import Distribution
from reviewer.agreement.preference import Preference
from reviewer.agreement.values import SCALE, Estimate, Scores
from reviewer.blind.report.svg import (
    BOLD,
    WIDE,
    line,
    percent,
    rectangle,
    shortened,
    svg,
    text,
    text_width,
    tick_text,
    ticks,
    two_decimals,
    value_with_interval,
    wrapped,
)

_LABEL, _VALUE = 280, 170  # pixels at most for the label on the left, and for the numbers on the right
_MARGIN = 8


@dataclass(frozen=True)
class _Rows:
    """The layout of a figure of intervals. On a narrow one, labels and numbers are above the intervals."""

    low: float
    high: float
    width: float
    label: float

    @property
    def narrow(self) -> bool:
        return self.width < WIDE

    @property
    def left(self) -> float:
        return 12.0 if self.narrow else self.label

    @property
    def room(self) -> float:
        return self.width - self.left - (12.0 if self.narrow else _VALUE)

    @property
    def tall(self) -> float:
        return 44.0 if self.narrow else 28.0

    def x(self, value: float) -> float:
        return self.left + self.room * (value - self.low) / (self.high - self.low)


def intervals(
    rows: Sequence[tuple[str, Estimate]],
    title: str,
    low: float,
    high: float,
    reference: float | None = None,
    ends: tuple[str, str] = ("", ""),
    strong: Sequence[int] = (),
    band: tuple[float, float] | None = None,
    width: float = WIDE,
) -> str:
    """Draw one line per estimate: a dot, its interval as a bar, both in numbers; in words where there is no value.

    :param low: start of the axis, or lower if an interval is; ``high`` its end
    :param reference: position of a vertical line, such as no difference
    :param ends: the meaning of the left and of the right end, two words or more
    :param strong: the numbers of the rows that the figure is about, which have a diamond instead of a dot
    :param band: a range behind all rows, such as a margin
    """
    given = [v for _, one in rows for v in (one.low, one.value, one.high) if v is not None]
    given += band or ()
    longest = max((text_width(label) for label, _ in rows), default=0.0)
    at = _Rows(min([low, *given]), max([high, *given]), width, min(_LABEL, 30 + longest * BOLD))
    bottom = len(rows) * at.tall + _MARGIN
    marks = [] if band is None else [rectangle(at.x(band[0]), 0, at.x(band[1]) - at.x(band[0]), bottom, "band")]
    marks.append(line(at.left, bottom, at.left + at.room, bottom, "axis"))
    for tick in ticks(at.low, at.high, 5 if at.narrow else 8):
        marks.append(line(at.x(tick), 4, at.x(tick), bottom, "grid"))
        marks.append(text(at.x(tick), bottom + 16, tick_text(tick), "faint middle"))
    if reference is not None:
        marks.append(line(at.x(reference), 0, at.x(reference), bottom, "reference"))
    for number, (label, one) in enumerate(rows):
        marks += _interval(at, number * at.tall, label, one, " strong" if number in strong else "")
    height = bottom + 24
    if any(ends):
        height += 18
        away = 0.0 if at.narrow else min(60.0, at.left - 4)
        half = at.room / 2 + away - 4
        below, above = (shortened(end, half - 20) for end in ends)
        marks.append(text(at.left - away, height - 5, f"← {below}", "faint"))
        marks.append(text(at.left + at.room + away, height - 5, f"{above} →", "faint end"))
    return svg(title, width, height, marks)


def _interval(at: _Rows, top: float, label: str, one: Estimate, bold: str) -> list[str]:
    """Return the marks of one row of a figure of intervals."""
    if at.narrow:
        y, words = top + 32, top + 18
        numbers = "undefined" if one.value is None else value_with_interval(one)
        free = at.room - text_width(numbers) * (BOLD if bold else 1) - 8
        marks = [text(at.left, words, label, bold.strip(), free)]
        marks.append(text(at.left + at.room, words, numbers, f"end{bold}"))
        if one.value is None:
            return [*marks, text(at.left, y + 4, one.reason, "faint", at.room)]
    else:
        y = top + at.tall / 2 + 4
        marks = [text(at.left - 14, y + 4, label, f"end{bold}", at.left - 22)]
        if one.value is None:
            return [*marks, text(at.left + 6, y + 4, str(one), "faint", at.width - at.left - 10)]
        marks.append(text(at.left + at.room + 14, y + 4, value_with_interval(one), bold.strip()))
    if one.low is not None and one.high is not None:
        marks.append(line(at.x(one.low), y, at.x(one.high), y, f"interval{bold}"))
    return [*marks, _point(at.x(one.value), y, bool(bold))]


def _point(x: float, y: float, diamond: bool) -> str:
    if diamond:
        return f'<path class="dot" d="M{x - 7:.1f} {y:.1f}l7 -7 7 7 -7 7z"/>'
    return f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>'


def distributions(found: Mapping[str, Distribution], title: str, width: float = WIDE) -> str:
    """Draw for each source how often each score and "cannot tell" was given; bars are shares of answers."""
    panels = list(found.items())
    columns = max(1, min(3 if width >= WIDE else 1, len(panels)))
    wide, tall = width / columns, 182
    marks = []
    counts = [(*one.counts, one.cannot_tell) for _, one in panels]
    highest = max((max(own) / sum(own) for own in counts if sum(own)), default=1.0)
    for number, (source, one) in enumerate(panels):
        left, top = (number % columns) * wide, (number // columns) * tall
        marks += _bars(source, one, left, top, wide, highest)
    return svg(title, width, -(-len(panels) // columns) * tall, marks)


def _bars(source: str, one: Distribution, left: float, top: float, wide: float, highest: float) -> list[str]:
    counts = [*one.counts, one.cannot_tell]
    names = [*map(str, one.scale), "?"]
    answers = sum(counts)
    step = (wide - 40) / len(counts)
    base, room = top + 152, 94
    marks = [text(left + 20, top + 16, source, "strong", wide - 30)]
    caption = "no answer" if one.mean.value is None else f"mean {two_decimals(one.mean.value)}, {one.mean.n} scores"
    marks.append(text(left + 20, top + 32, caption, "faint", wide - 30))
    for place, (count, name) in enumerate(zip(counts, names, strict=True)):
        x = left + 20 + place * step
        tall = room * (count / answers) / highest if answers else 0.0
        marks.append(rectangle(x + 3, base - tall, step - 6, tall, "unable" if name == "?" else "bar"))
        if count:
            marks.append(text(x + step / 2, base - tall - 4, str(count), "middle"))
        marks.append(text(x + step / 2, base + 16, name, "faint middle"))
    marks.append(line(left + 20, base, left + wide - 20, base, "axis"))
    return marks


def preferences(rates: Mapping[str, Preference], title: str, width: float = WIDE) -> str:
    """Draw the shares of the answers as parts of one bar, for each heading."""
    marks: list[str] = []
    top, bar, room = 0.0, 26, width - 20
    for heading, one in rates.items():
        parts = (
            ("first", f"{one.source} better", one.wins.value),
            ("equal", "equal", one.equal.value),
            ("bad", "both bad", one.both_bad.value),
            ("second", f"{one.other} better", one.losses.value),
        )
        marks.append(text(10, top + 14, heading, "strong", room))
        if one.wins.value is None:
            marks.append(text(10, top + 36, str(one.wins), "faint", room))
            top += 52
            continue
        left = 10.0
        for kind, words, share in parts:
            wide = room * (share or 0.0)
            if wide > 0:
                marks.append(rectangle(left, top + 22, wide, bar, f"part {kind}", words))
                if wide > 40:
                    marks.append(text(left + wide / 2, top + 40, percent(share or 0.0), f"on-{kind} middle strong"))
            left += wide
        shares = [f"{words} {percent(share or 0.0)}" for _, words, share in parts]
        lines = wrapped([*shares, f"of {one.wins.n} answers"], room)
        marks += [text(10, top + 64 + 16 * n, words, "faint", room) for n, words in enumerate(lines)]
        top += 68 + 16 * len(lines)
    return svg(title, width, max(top, 24), marks)


def score_map(table: Scores, groups: Mapping[str, Sequence[str]], title: str, width: float = WIDE) -> str:
    """Draw every score as a coloured cell: a row per scorer, a column per trace, by source and mean score.

    A trace that a scorer did not score has no cell.

    :param groups: the traces of each source, in order
    """
    means = dict(zip(table.items, table.item_means(), strict=True))
    place = {item: row for row, item in enumerate(table.items)}
    shown = {
        one: sorted((i for i in items if not np.isnan(means.get(i, np.nan))), key=lambda i: means[i])
        for one, items in groups.items()
    }
    shown = {one: items for one, items in shown.items() if items}
    if not (count := sum(map(len, shown.values()))):
        return svg(title, width, 24, [text(0, 16, "nobody gave a score", "faint")])
    edge, tall, gap = (70.0 if width >= WIDE else 36.0), 20.0, 8.0
    wide = (width - edge - 4 - gap * (len(shown) - 1)) / count
    top, height = 24.0, len(table.raters) * tall
    marks: list[str] = []
    cells: dict[int, list[str]] = {score: [] for score in SCALE}
    for row, rater in enumerate(table.raters):
        marks.append(text(edge - 8, top + row * tall + 14, rater, "end", edge - 10))
    left, part = edge, max(0.6, wide * 0.92)
    for source, items in shown.items():
        marks.append(text(left, top - 8, f"{source} ({len(items)})", "strong", wide * len(items) - 4))
        marks.append(rectangle(left, top, wide * len(items), height, "empty"))
        for item in items:
            for row, value in enumerate(table.values[place[item]]):
                if not np.isnan(value):
                    corner = f"M{left:.1f} {top + row * tall + 1:.0f}"
                    cells[int(value)].append(f"{corner}h{part:.1f}v{tall - 2:.0f}h{-part:.1f}z")
            left += wide
        left += gap
    marks += [f'<path class="score-{score}" d="{"".join(paths)}"/>' for score, paths in cells.items() if paths]
    marks += _key(edge, top + height + 14, 44 if width >= WIDE else 34)
    return svg(title, width, top + height + 36, marks)


def _key(left: float, y: float, step: float) -> list[str]:
    """Return the colours of the scores, this many pixels apart."""
    marks = [text(left, y + 11, "score", "faint")]
    for place, score in enumerate(SCALE):
        x = left + 44 + place * step
        marks += [rectangle(x, y, 14, 14, f"score-{score}"), text(x + 18, y + 11, str(score), "faint")]
    x = left + 44 + len(SCALE) * step
    return [*marks, rectangle(x, y, 14, 14, "empty"), text(x + 18, y + 11, "none", "faint")]


@dataclass(frozen=True)
class Panel:
    """A judge's scores of one dimension against the people's mean scores.

    :param people: (n_traces,), as ``judge``; without NaN
    :param sources: (n_traces,), the number of each trace's source
    """

    title: str
    people: FloatArray
    judge: FloatArray
    sources: Sequence[int]


def against_people(panels: Sequence[Panel], names: Sequence[str], title: str, width: float = WIDE) -> str:
    """Draw a judge's score of each trace against the people's mean score; the line is equality.

    :param panels: one or two
    :param names: of the sources
    """
    side, top = 260.0, 30.0
    across = width >= WIDE
    marks = []
    for number, panel in enumerate(panels):
        left = 60.0 + number * (side + 100) * across
        marks += _scatter(panel, left, top + number * (side + 84) * (not across), side)
    bottom = top + side + (side + 84) * (len(panels) - 1) * (not across)
    for number, name in enumerate(names):
        y = bottom + 64 + 20 * number
        marks.append(_shape(66, y - 4, number))
        marks.append(text(80, y, name, "", width - 90))
    return svg(title, width, bottom + 56 + 20 * len(names), marks)


def _scatter(panel: Panel, left: float, top: float, side: float) -> list[str]:
    def at(value: float) -> float:
        return side * (value + 0.25) / (SCALE[-1] + 0.5)

    marks = [text(left, top - 12, panel.title, "strong", side), line(left, top + side, left + side, top, "reference")]
    for score in SCALE:
        marks.append(line(left + at(score), top, left + at(score), top + side, "grid"))
        marks.append(line(left, top + side - at(score), left + side, top + side - at(score), "grid"))
        marks.append(text(left + at(score), top + side + 16, str(score), "faint middle"))
        marks.append(text(left - 10, top + side - at(score) + 4, str(score), "faint end"))
    # Equal points lie on a small spiral, so that each can be seen.
    before: dict[tuple[float, float], int] = {}
    for x, y, of in zip(panel.people, panel.judge, panel.sources, strict=True):
        key = (round(float(x), 2), round(float(y), 2))
        number = before[key] = before.get(key, -1) + 1
        away, turn = 2.6 * number**0.5, 2.4 * number
        marks.append(_shape(left + at(x) + away * np.cos(turn), top + side - at(y) + away * np.sin(turn), of))
    marks.append(text(left + side / 2, top + side + 36, "mean score of the people", "faint middle"))
    upright = text(0, 0, "score of the judge", "faint middle")
    return [*marks, f'<g transform="translate({left - 32:.1f} {top + side / 2:.1f}) rotate(-90)">{upright}</g>']


def _shape(x: float, y: float, number: int) -> str:
    """Return the mark of a source: form and colour differ."""
    shapes = (
        f'<circle class="mark mark-0" cx="{x:.1f}" cy="{y:.1f}" r="3.6"/>',
        f'<path class="mark mark-1" d="M{x - 3.4:.1f} {y - 3.4:.1f}h6.8v6.8h-6.8z"/>',
        f'<path class="mark mark-2" d="M{x:.1f} {y - 4.6:.1f}l4.6 8h-9.2z"/>',
        f'<path class="mark mark-3" d="M{x - 4.8:.1f} {y:.1f}l4.8 -4.8 4.8 4.8 -4.8 4.8z"/>',
    )
    return shapes[number % len(shapes)]


def residuals(quarters: Mapping[str, FloatArray], title: str, width: float = WIDE) -> str:
    """Draw each scorer's mean residual in the quarters of their order, one line per scorer."""
    if not quarters:
        return svg(title, width, 24, [text(0, 16, "too few scores", "faint")])
    across = width >= WIDE
    left, right, top, tall = (70.0, 560.0, 8.0, 190.0) if across else (44.0, width - 96, 8.0, 190.0)
    most = max(0.5, *(float(np.nanmax(np.abs(one))) for one in quarters.values()))
    count = len(next(iter(quarters.values())))

    def x(number: float) -> float:
        return left + (right - left) * (number + 0.5) / count

    def y(value: float) -> float:
        return top + tall * (most - value) / (2 * most)

    marks = []
    for tick in ticks(-most, most):
        marks.append(line(left, y(tick), right, y(tick), "grid" if tick else "reference"))
        marks.append(text(left - 8, y(tick) + 4, tick_text(tick), "faint end"))
    for number in range(count):
        words = f"quarter {number + 1}" if across else f"{number + 1}"
        marks.append(text(x(number), top + tall + 18, words, "faint middle"))
    labels: list[tuple[float, str, int]] = []
    for number, (scorer, values) in enumerate(quarters.items()):
        points = " ".join(f"{x(n):.1f},{y(v):.1f}" for n, v in enumerate(values) if not np.isnan(v))
        marks.append(f'<polyline class="series series-{number % 6}" points="{points}"/>')
        labels.append((y(float(values[-1])), f"{scorer} {two_decimals(float(values[-1]))}", number % 6))
    # Labels at the right end, moved apart.
    lowest = -np.inf
    for where, words, number in sorted(labels):
        lowest = max(where, lowest + 15)
        marks.append(line(x(count - 1) + 4, where, right + 14, lowest, f"leader series-{number}"))
        marks.append(text(right + 20, lowest + 4, words, "", width - right - 24))
    return svg(title, width, max(top + tall + 28, lowest + 12 if np.isfinite(lowest) else 0), marks)
