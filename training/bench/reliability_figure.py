"""The reliability of P(YES) as a small SVG figure for the gallery, in the colours of its page."""

from __future__ import annotations

from collections.abc import Sequence

from agent.statistics import wilson
from agent.trust.reliability import Bin

_SIZE, _LEFT, _BOTTOM, _TOP = 260, 46, 40, 10
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def svg(bins: Sequence[Bin], label: str) -> str:
    """Return the figure: for each bin with questions its share of YES over its mean P(YES), with the Wilson interval of
    95 %, and the diagonal of perfect calibration.

    :param label: what the figure shows, for readers who do not see it; without markup
    """
    width, height = _LEFT + _SIZE + 12, _TOP + _SIZE + _BOTTOM
    parts = [
        f'<svg class="reliability" role="img" aria-label="{label}" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">',
        f'<rect class="frame" x="{_LEFT}" y="{_TOP}" width="{_SIZE}" height="{_SIZE}"/>',
        f'<line class="diagonal" x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}"/>',
    ]
    for tick in _TICKS:
        parts.append(f'<text x="{_x(tick)}" y="{_y(0) + 16}" text-anchor="middle">{tick:g}</text>')
        parts.append(f'<text x="{_x(0) - 6}" y="{_y(tick) + 4}" text-anchor="end">{tick:g}</text>')
    parts.append(f'<text x="{_x(0.5)}" y="{height - 6}" text-anchor="middle">mean P(YES)</text>')
    middle = _y(0.5)
    parts.append(
        f'<text x="12" y="{middle}" text-anchor="middle" transform="rotate(-90 12 {middle})">share of YES</text>'
    )
    for bin_ in bins:
        if bin_.probability is None or bin_.positives is None:
            continue
        low, high = wilson(bin_.positives, bin_.n)
        x = _x(bin_.probability)
        parts.append(f'<line class="interval" x1="{x}" y1="{_y(low)}" x2="{x}" y2="{_y(high)}"/>')
        parts.append(
            f'<circle cx="{x}" cy="{_y(bin_.positives)}" r="4"><title>P {bin_.lo:g} to {bin_.hi:g}: '
            f"{bin_.n} questions, mean P {bin_.probability:.2f}, {100 * bin_.positives:.0f} % YES</title></circle>"
        )
    return "\n".join([*parts, "</svg>"])


def _x(share: float) -> float:
    return round(_LEFT + share * _SIZE, 1)


def _y(share: float) -> float:
    return round(_TOP + (1 - share) * _SIZE, 1)
