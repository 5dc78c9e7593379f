"""Parts of the report's figures as SVG, and numbers as the report writes them. Colours come from the page's style
sheet, so that they follow light, dark and print.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from reviewer.agreement.values import Estimate

WIDE, NARROW = 760.0, 360.0
"""Width of a figure in pixels: on wide screens and paper, and on narrow screens."""

SIZE = 12.5
"""Of the text, in pixels."""

BOLD = 1.15
"""How much wider bold letters are."""
_NARROW, _WIDE = "iIjlrtf.,:;'|!()[] -", "mwMW@%—…"


def svg(title: str, width: float, height: float, marks: Sequence[str]) -> str:
    """Return a drawing of a width and height in pixels."""
    size = f'viewBox="0 0 {width:.0f} {height:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(marks)}</svg>"
    )


def text(x: float, y: float, words: str, kind: str = "", room: float | None = None) -> str:
    """Return a text; longer than ``room`` pixels it is shortened, and a title has all of it."""
    shown = words if room is None else fitted(words, room / (BOLD if "strong" in kind else 1))
    more = "" if shown == words else f"<title>{escape(words)}</title>"
    of = f' class="{kind}"' if kind else ""
    return f'<text{of} x="{x:.1f}" y="{y:.1f}">{escape(shown)}{more}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def rectangle(x: float, y: float, width: float, height: float, kind: str, title: str = "") -> str:
    box = f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f"{box}><title>{escape(title)}</title></rect>" if title else f"{box}/>"


def fitted(words: str, room: float) -> str:
    """Return as much of a text as fits in this many pixels in a common font, the middle replaced by an ellipsis."""
    if text_width(words) <= room:
        return words
    kept = len(words) - 1
    while kept > 1 and text_width(_without_middle(words, kept)) > room:
        kept -= 1
    return _without_middle(words, kept)


def shortened(words: str, room: float) -> str:
    """Return a text that fits in this many pixels and keeps its last word, e.g. "higher" after a long name."""
    name, _, last = words.rpartition(" ")
    return f"{fitted(name, room - text_width(f' {last}'))} {last}"


def _without_middle(words: str, kept: int) -> str:
    end = kept // 3
    return f"{words[: kept - end]}…{words[len(words) - end :] if end else ''}"


def text_width(words: str) -> float:
    """Return about how many pixels a text takes in a common font."""

    def of(one: str) -> float:
        if one in _NARROW:
            return 0.36
        if ord(one) > 0x2E7F:  # Chinese, Japanese, Korean, pictures
            return 1.05
        return 0.95 if one in _WIDE else 0.72 if one.isupper() else 0.6

    return SIZE * sum(map(of, words))


def wrapped(parts: Sequence[str], room: float) -> list[str]:
    """Return the parts, separated by commas, in as few lines of this many pixels as they need."""
    lines = [""]
    for number, part in enumerate(parts):
        more = part if number == len(parts) - 1 else f"{part},"
        longer = f"{lines[-1]} {more}".strip()
        if lines[-1] and text_width(longer) > room:
            lines.append(more)
        else:
            lines[-1] = longer
    return lines


def ticks(low: float, high: float, most: int = 8) -> list[float]:
    """Return round numbers with at most this many steps between them."""
    for step in (0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 20):
        if (high - low) / step <= most:
            first = -(-low // step)
            return [round((first + n) * step, 6) + 0.0 for n in range(int((high - first * step) / step + 1e-9) + 1)]
    return [low, high]


def tick_text(value: float) -> str:
    return f"{value:g}".replace("-", "\N{MINUS SIGN}")


def value_with_interval(one: Estimate) -> str:
    """Return ``3.82 (3.61 to 4.02)``; the value alone where there is no interval."""
    if one.value is None:
        return "undefined"
    if one.low is None or one.high is None:
        return two_decimals(one.value)
    return f"{two_decimals(one.value)} ({two_decimals(one.low)} to {two_decimals(one.high)})"


def two_decimals(number: float) -> str:
    """Return a number with two decimals, a true minus sign, and no negative zero."""
    words = f"{number:.2f}"
    return words[1:] if words == "-0.00" else words.replace("-", "\N{MINUS SIGN}")


def p_text(p: float | None) -> str:
    """Return ``p = 0.03`` or ``p < 0.001``."""
    if p is None:
        return "no p value"
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}" if p < 0.1 else f"p = {p:.2f}"


def percent(share: float) -> str:
    return f"{100 * share:.0f}\N{NARROW NO-BREAK SPACE}%"
