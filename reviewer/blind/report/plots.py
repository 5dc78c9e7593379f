"""The report's figures of single scores: every score by trace and scorer, a judge against people, and residuals along
the order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agent.statistics import FloatArray
from reviewer.agreement.values import SCALE, Scores
from reviewer.blind.report.svg import WIDTH, line, rectangle, svg, text, tick_text, ticks, two_decimals

_LEFT, _ROW = 70.0, 20.0
_GAP = 8.0  # between the traces of two sources


def score_map(table: Scores, groups: Mapping[str, Sequence[str]], title: str) -> str:
    """Draw every score as a coloured cell: a row per scorer, a column per trace, by source and mean score.

    A trace that a scorer did not score has no cell.

    :param groups: the items of each source
    """
    means = dict(zip(table.items, table.item_means(), strict=True))
    place = {item: row for row, item in enumerate(table.items)}
    shown = {
        one: sorted((i for i in items if not np.isnan(means.get(i, np.nan))), key=lambda i: (means[i], int(i)))
        for one, items in groups.items()
    }
    shown = {one: items for one, items in shown.items() if items}
    count = sum(map(len, shown.values()))
    if not count:
        return svg(title, 24, [text(0, 16, "nobody gave a score", "faint")])
    wide = (WIDTH - _LEFT - 4 - _GAP * (len(shown) - 1)) / count
    top, height = 24.0, len(table.raters) * _ROW
    marks: list[str] = []
    cells: dict[int, list[str]] = {score: [] for score in SCALE}
    for row, rater in enumerate(table.raters):
        marks.append(text(_LEFT - 8, top + row * _ROW + 14, rater, "end", _LEFT - 10))
    left = _LEFT
    for source, items in shown.items():
        marks.append(text(left, top - 8, f"{source} ({len(items)})", "strong", wide * len(items) - 4))
        marks.append(rectangle(left, top, wide * len(items), height, "empty"))
        for item in items:
            for row, value in enumerate(table.values[place[item]]):
                if not np.isnan(value):
                    box = f"M{left:.1f} {top + row * _ROW + 1:.0f}h{max(0.6, wide * 0.92):.1f}v{_ROW - 2:.0f}h"
                    cells[int(value)].append(f"{box}{-max(0.6, wide * 0.92):.1f}z")
            left += wide
        left += _GAP
    marks += [f'<path class="score-{score}" d="{"".join(paths)}"/>' for score, paths in cells.items() if paths]
    marks += _key(top + height + 14)
    return svg(title, top + height + 36, marks)


def _key(y: float) -> list[str]:
    marks = [text(_LEFT, y + 11, "score", "faint")]
    for place, score in enumerate(SCALE):
        x = _LEFT + 44 + place * 44
        marks += [rectangle(x, y, 16, 14, f"score-{score}"), text(x + 21, y + 11, str(score), "faint")]
    x = _LEFT + 44 + len(SCALE) * 44
    return [*marks, rectangle(x, y, 16, 14, "empty"), text(x + 21, y + 11, "no score", "faint")]


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


def against_people(panels: Sequence[Panel], names: Sequence[str], title: str) -> str:
    """Draw a judge's score of each trace against the people's mean score; the line is equality.

    :param panels: one or two
    :param names: of the sources
    """
    side, top = 260.0, 30.0
    marks = []
    for number, panel in enumerate(panels):
        left = 60.0 + number * (side + 100)
        marks += _scatter(panel, left, top, side)
    for number, name in enumerate(names):
        y = top + side + 64 + 20 * number
        marks.append(_shape(66, y - 4, number))
        marks.append(text(80, y, name, "", WIDTH - 90))
    return svg(title, top + side + 56 + 20 * len(names), marks)


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
    return marks


def _shape(x: float, y: float, number: int) -> str:
    """Return the mark of a source: form and colour differ."""
    shapes = (
        f'<circle class="mark mark-0" cx="{x:.1f}" cy="{y:.1f}" r="3.6"/>',
        f'<path class="mark mark-1" d="M{x - 3.4:.1f} {y - 3.4:.1f}h6.8v6.8h-6.8z"/>',
        f'<path class="mark mark-2" d="M{x:.1f} {y - 4.6:.1f}l4.6 8h-9.2z"/>',
        f'<path class="mark mark-3" d="M{x - 4.8:.1f} {y:.1f}l4.8 -4.8 4.8 4.8 -4.8 4.8z"/>',
    )
    return shapes[number % len(shapes)]


def residuals(quarters: Mapping[str, FloatArray], title: str) -> str:
    """Draw each scorer's mean residual in the quarters of their order, one line per scorer."""
    if not quarters:
        return svg(title, 24, [text(0, 16, "too few scores", "faint")])
    left, right, top, tall = 70.0, 560.0, 8.0, 190.0
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
        marks.append(text(x(number), top + tall + 18, f"quarter {number + 1}", "faint middle"))
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
        marks.append(text(right + 20, lowest + 4, words, "", WIDTH - right - 24))
    return svg(title, max(top + tall + 28, lowest + 12 if np.isfinite(lowest) else 0), marks)
