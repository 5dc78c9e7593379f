"""The report's figures of numbers: intervals, distributions and preferences. Every number that is drawn is also
written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from reviewer.agreement.distribution import Distribution
from reviewer.agreement.preference import Preference
from reviewer.agreement.values import Estimate
from reviewer.blind.report.svg import (
    BOLD,
    WIDTH,
    line,
    percent,
    rectangle,
    svg,
    text,
    tick_text,
    ticks,
    two_decimals,
    value_with_interval,
    width,
)

_ROW = 28
_LABEL, _VALUE = 250, 170  # pixels at most for the label on the left, and for the numbers on the right
_MARGIN = 8


def distributions(found: Mapping[str, Distribution], title: str) -> str:
    """Draw for each source how often each score and "cannot tell" was given; bars are shares of answers."""
    panels = list(found.items())
    columns = min(3, len(panels))
    wide, tall = WIDTH / columns, 182
    marks = []
    highest = max((_highest_share(one) for _, one in panels), default=0) or 1.0
    for number, (source, one) in enumerate(panels):
        left, top = (number % columns) * wide, (number // columns) * tall
        marks += _panel(source, one, left, top, wide, highest)
    return svg(title, -(-len(panels) // columns) * tall, marks)


def intervals(
    rows: Sequence[tuple[str, Estimate]],
    title: str,
    low: float,
    high: float,
    reference: float | None = None,
    ends: tuple[str, str] = ("", ""),
    strong: Sequence[int] = (),
    band: tuple[float, float] | None = None,
) -> str:
    """Draw one line per estimate: a dot, its interval as a bar, both in numbers; in words where there is no value.

    :param low: start of the axis, or lower if an interval is; ``high`` its end
    :param reference: position of a vertical line, such as no difference
    :param ends: the meaning of the left and of the right end
    :param strong: the numbers of the rows that the figure is about, which have a diamond instead of a dot
    :param band: a range behind all rows, such as a margin
    """
    given = [v for _, one in rows for v in (one.low, one.value, one.high) if v is not None]
    given += band or ()
    low, high = min([low, *given]), max([high, *given])
    left = min(_LABEL, 30 + max((width(label) for label, _ in rows), default=0.0) * BOLD)
    room = WIDTH - left - _VALUE
    bottom = len(rows) * _ROW + _MARGIN

    def x(value: float) -> float:
        return left + room * (value - low) / (high - low)

    marks = [] if band is None else [rectangle(x(band[0]), 0, x(band[1]) - x(band[0]), bottom, "band")]
    marks.append(line(left, bottom, left + room, bottom, "axis"))
    for tick in ticks(low, high):
        marks.append(line(x(tick), 4, x(tick), bottom, "grid"))
        marks.append(text(x(tick), bottom + 16, tick_text(tick), "faint middle"))
    if reference is not None:
        marks.append(line(x(reference), 0, x(reference), bottom, "reference"))
    for number, (label, one) in enumerate(rows):
        y = number * _ROW + _ROW / 2 + 4
        bold = " strong" if number in strong else ""
        marks.append(text(left - 14, y + 4, label, f"end{bold}", left - 22))
        if one.value is None:
            marks.append(text(left + 6, y + 4, str(one), "faint", WIDTH - left - 10))
            continue
        if one.low is not None and one.high is not None:
            marks.append(line(x(one.low), y, x(one.high), y, f"interval{bold}"))
        marks.append(_point(x(one.value), y, bool(bold)))
        marks.append(text(left + room + 14, y + 4, value_with_interval(one), bold.strip()))
    height = bottom + 24
    if any(ends):
        height += 18
        half = room / 2 + 60
        marks.append(text(left - 60, height - 5, f"← {ends[0]}", "faint", half))
        marks.append(text(left + room + 60, height - 5, f"{ends[1]} →", "faint end", half))
    return svg(title, height, marks)


def preferences(rates: Sequence[Preference], title: str) -> str:
    """Draw for each two sources the shares of the answers, as parts of one bar."""
    marks: list[str] = []
    tall, bar, room = 78, 26, WIDTH - 20
    for number, one in enumerate(rates):
        top = number * tall
        parts = (
            ("first", f"{one.source} better", one.wins),
            ("equal", "equal", one.equal),
            ("bad", "both bad", one.both_bad),
            ("second", f"{one.other} better", one.losses),
        )
        marks.append(text(10, top + 14, f"{one.source} and {one.other}", "strong", room))
        if one.wins.value is None:
            marks.append(text(10, top + 38, str(one.wins), "faint", room))
            continue
        left = 10.0
        for kind, words, estimate in parts:
            share = estimate.value or 0.0
            wide = room * share
            if share > 0:
                marks.append(rectangle(left, top + 22, wide, bar, f"part {kind}", words))
                if wide > 40:
                    marks.append(text(left + wide / 2, top + 40, percent(share), f"on-{kind} middle strong"))
            left += wide
        named = zip(("first better", "equal", "both bad", "second better"), parts, strict=True)
        shares = ", ".join(f"{words} {percent(e.value or 0.0)}" for words, (_, _, e) in named)
        marks.append(text(10, top + 64, f"{shares} of {one.wins.n} answers", "faint", room))
    return svg(title, max(1, len(rates)) * tall, marks)


def _point(x: float, y: float, diamond: bool) -> str:
    if diamond:
        return f'<path class="dot" d="M{x - 7:.1f} {y:.1f}l7 -7 7 7 -7 7z"/>'
    return f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>'


def _panel(source: str, one: Distribution, left: float, top: float, wide: float, highest: float) -> list[str]:
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


def _highest_share(one: Distribution) -> float:
    counts = [*one.counts, one.cannot_tell]
    return max(counts) / sum(counts) if sum(counts) else 0.0


def figure(drawing: str, caption: str, note: str = "") -> str:
    """Return a drawing with its caption, and what it shows in smaller letters."""
    more = f'<small class="faint">{escape(note)}</small>' if note else ""
    return f'<figure><figcaption>{escape(caption)}{more}</figcaption><div class="wide">{drawing}</div></figure>'
