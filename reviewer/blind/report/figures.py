"""The report's figures as SVG: every number that is drawn is also written. Colours come from the page's style sheet,
so that they follow light, dark and print.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from reviewer.agreement.distribution import Distribution
from reviewer.agreement.preference import Preference
from reviewer.agreement.values import Estimate

WIDTH = 760
_ROW = 30
_LABEL, _VALUE = 250, 170  # pixels for the label on the left, and for the numbers on the right
_LONGEST = 36  # characters of a label that fit on the left

Text = tuple[float, float, str, str]


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
    return _svg(title, -(-len(panels) // columns) * tall, marks)


def intervals(
    rows: Sequence[tuple[str, Estimate]],
    title: str,
    low: float,
    high: float,
    reference: float | None = None,
    ends: tuple[str, str] = ("", ""),
) -> str:
    """Draw one line per estimate: a dot, its interval as a bar, both in numbers; in words where there is no value.

    :param low: start of the axis, or lower if an interval is; ``high`` its end
    :param reference: position of a vertical line, such as no difference
    :param ends: the meaning of the left and of the right end
    """
    given = [v for _, one in rows for v in (one.low, one.value, one.high) if v is not None]
    low, high = min([low, *given]), max([high, *given])
    room = WIDTH - _LABEL - _VALUE
    bottom = len(rows) * _ROW + 8

    def x(value: float) -> float:
        return _LABEL + room * (value - low) / (high - low)

    marks = [_line(_LABEL, bottom, _LABEL + room, bottom, "axis")]
    for tick in _ticks(low, high):
        marks.append(_line(x(tick), 4, x(tick), bottom, "grid"))
        marks.append(_text(x(tick), bottom + 16, f"{tick:g}".replace("-", "\N{MINUS SIGN}"), "faint middle"))
    if reference is not None:
        marks.append(_line(x(reference), 0, x(reference), bottom, "reference"))
    for number, (label, one) in enumerate(rows):
        y = number * _ROW + _ROW / 2 + 4
        marks.append(_text(_LABEL - 14, y + 4, _shortened(label), "end", label))
        if one.value is None:
            marks.append(_text(_LABEL + 6, y + 4, _shortened(str(one), 78), "faint"))
            continue
        if one.low is not None and one.high is not None:
            marks.append(_line(x(one.low), y, x(one.high), y, "interval"))
        marks.append(f'<circle class="dot" cx="{x(one.value):.1f}" cy="{y:.1f}" r="4.5"/>')
        marks.append(_text(_LABEL + room + 14, y + 4, value_with_interval(one), ""))
    height = bottom + 24
    if any(ends):
        height += 16
        marks.append(_text(_LABEL, height - 4, f"← {ends[0]}", "faint"))
        marks.append(_text(_LABEL + room, height - 4, f"{ends[1]} →", "faint end"))
    return _svg(title, height, marks)


def preferences(rates: Sequence[Preference], title: str) -> str:
    """Draw for each two sources the shares of the answers, as parts of one bar."""
    marks: list[str] = []
    tall, bar, room = 74, 26, WIDTH - 20
    for number, one in enumerate(rates):
        top = number * tall
        parts = (
            ("first", f"{one.source} better", one.wins),
            ("equal", "equal", one.equal),
            ("bad", "both bad", one.both_bad),
            ("second", f"{one.other} better", one.losses),
        )
        marks.append(_text(10, top + 14, _shortened(f"{one.source} and {one.other}", 70), "strong"))
        if one.wins.value is None:
            marks.append(_text(10, top + 38, str(one.wins), "faint"))
            continue
        left = 10.0
        for kind, words, estimate in parts:
            share = estimate.value or 0.0
            wide = room * share
            if share > 0:
                box = f'x="{left:.1f}" y="{top + 22}" width="{wide:.1f}" height="{bar}"'
                marks.append(f'<rect class="part {kind}" {box}><title>{escape(words)}</title></rect>')
                if wide > 40:
                    middle = left + wide / 2
                    marks.append(_text(middle, top + 40, _percent(share), f"on-{kind} middle strong"))
            left += wide
        parts_text = ", ".join(f"{words} {_percent(e.value or 0.0)}" for _, words, e in parts)
        marks.append(_text(10, top + 64, _shortened(f"{parts_text} of {one.wins.n} answers", 120), "faint", parts_text))
    return _svg(title, max(1, len(rates)) * tall, marks)


def value_with_interval(one: Estimate) -> str:
    """Return ``3.82 (3.61 to 4.02)``; the value alone where there is no interval."""
    if one.value is None:
        return "undefined"
    if one.low is None or one.high is None:
        return two_decimals(one.value)
    return f"{two_decimals(one.value)} ({two_decimals(one.low)} to {two_decimals(one.high)})"


def two_decimals(number: float) -> str:
    """Return a number with two decimals, a true minus sign, and no negative zero."""
    text = f"{number:.2f}"
    return text[1:] if text == "-0.00" else text.replace("-", "\N{MINUS SIGN}")


def _panel(source: str, one: Distribution, left: float, top: float, wide: float, highest: float) -> list[str]:
    counts = [*one.counts, one.cannot_tell]
    names = [*map(str, one.scale), "?"]
    answers = sum(counts)
    step = (wide - 40) / len(counts)
    base, room = top + 152, 94
    marks = [_text(left + 20, top + 16, _shortened(source, int(wide / 9)), "strong", source)]
    caption = "no answer" if one.mean.value is None else f"mean {two_decimals(one.mean.value)}, {one.mean.n} scores"
    marks.append(_text(left + 20, top + 32, caption, "faint"))
    for place, (count, name) in enumerate(zip(counts, names, strict=True)):
        x = left + 20 + place * step
        tall = room * (count / answers) / highest if answers else 0.0
        kind = "unable" if name == "?" else "bar"
        box = f'x="{x + 3:.1f}" y="{base - tall:.1f}" width="{step - 6:.1f}" height="{tall:.1f}"'
        marks.append(f'<rect class="{kind}" {box}/>')
        if count:
            marks.append(_text(x + step / 2, base - tall - 4, str(count), "middle"))
        marks.append(_text(x + step / 2, base + 16, name, "faint middle"))
    marks.append(_line(left + 20, base, left + wide - 20, base, "axis"))
    return marks


def _highest_share(one: Distribution) -> float:
    counts = [*one.counts, one.cannot_tell]
    return max(counts) / sum(counts) if sum(counts) else 0.0


def _ticks(low: float, high: float) -> list[float]:
    """Return four to nine round numbers."""
    for step in (0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 20):
        if (high - low) / step <= 8:
            first = -(-low // step)
            return [round((first + n) * step, 6) + 0.0 for n in range(int((high - first * step) / step) + 1)]
    return [low, high]


def _svg(title: str, height: float, marks: Sequence[str]) -> str:
    size = f'viewBox="0 0 {WIDTH} {height:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(marks)}</svg>"
    )


def _text(x: float, y: float, words: str, kind: str, whole: str = "") -> str:
    more = f"<title>{escape(whole)}</title>" if whole and whole != words else ""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(words)}{more}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _shortened(words: str, longest: int = _LONGEST) -> str:
    return words if len(words) <= longest else f"{words[: longest - 1]}…"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}\N{NARROW NO-BREAK SPACE}%"
