"""The limits of an axis, its ticks, and their labels.

The arithmetic is that of ``matplotlib.ticker`` and ``Axes.autoscale_view`` 3.10.5, operation by operation, without the
axes: rounding decides whether a picture is a pixel wider.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import ScalarFormatter, _DummyAxis
from matplotlib.transforms import nonsingular
from numpy.typing import NDArray

Limits = tuple[float, float]

_MARGIN = 0.05
_STEPS = (0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 2.5, 5.0, 10.0, 20.0)
_MOST = 9
_TOUCH = 1e-10


@dataclass(frozen=True)
class Axis:
    """One axis: its ends in data units, the ticks between them, and the labels.

    ``offset`` is what matplotlib writes once at the end of an axis: a power of ten or a constant to add.
    """

    limits: Limits
    major: NDArray[np.float64]
    minor: NDArray[np.float64]
    labels: tuple[str, ...]
    offset: str


def wavelength_axis(lo: float, hi: float, spacing: tuple[float, float]) -> Axis:
    """Return the axis of data from ``lo`` to ``hi`` with ticks at the multiples of a major and a minor spacing."""
    limits = _limits(lo, hi, 0.001, 1e-15)
    major, minor = (_multiples(limits, step) for step in spacing)
    return _axis(limits, major, minor)


def flux_axis(lo: float, hi: float) -> Axis:
    """Return the axis of data from ``lo`` to ``hi`` with round ticks in at most nine intervals."""
    limits = _limits(lo, hi, 1e-12, 1e-13)
    major = _round_ticks(*nonsingular(*limits, expander=1e-13, tiny=1e-14))
    return _axis(limits, major, _between(limits, major))


def _limits(lo: float, hi: float, expander: float, tiny: float) -> Limits:
    lo, hi = nonsingular(lo, hi, expander=0.05)
    margin = (hi - lo) * _MARGIN
    lo, hi = nonsingular(lo - margin, hi + margin, expander=expander, tiny=tiny)
    lo, hi = nonsingular(lo, hi, expander=0.05)
    return lo, hi


def _multiples(limits: Limits, step: float) -> NDArray[np.float64]:
    """``MultipleLocator.tick_values``: one beyond each end."""
    lo, hi = limits
    first = _at_least(lo, step, _TOUCH) * step
    n = (hi - first + 0.001 * step) // step
    return first - step + np.arange(n + 3) * step + 0.0


def _round_ticks(lo: float, hi: float) -> NDArray[np.float64]:
    """``MaxNLocator._raw_ticks`` with the steps 1, 2, 2.5, 5, 10."""
    middle, span = (hi + lo) / 2, abs(hi - lo)
    offset = 0.0 if abs(middle) / span < 100 else math.copysign(10 ** (math.log10(abs(middle)) // 1), middle)
    scale = 10 ** (math.log10(span / _MOST) // 1)
    lo, hi = lo - offset, hi - offset
    steps = [step * scale for step in _STEPS]
    large = next((i for i, step in enumerate(steps) if step >= (hi - lo) / _MOST), len(steps) - 1)
    for step in reversed(steps[: large + 1]):
        start = (lo // step) * step
        touch = _TOUCH
        if offset:
            touch = min(0.4999, max(_TOUCH, 10 ** (float(np.log10(abs(offset) / step)) - 12)))
        first, last = _at_most(lo - start, step, touch), _at_least(hi - start, step, touch)
        ticks = np.arange(first, last + 1, dtype=np.float64) * step + start
        if np.count_nonzero((ticks <= hi) & (ticks >= lo)) >= 2:
            break
    ticks += offset
    return ticks


def _at_most(x: float, step: float, touch: float) -> float:
    """Return the largest n with n step <= x, a little beyond x allowed."""
    n, rest = divmod(x, step)
    return n + 1 if abs(rest / step - 1) < touch else n


def _at_least(x: float, step: float, touch: float) -> float:
    """Return the smallest n with n step >= x, a little before x allowed."""
    n, rest = divmod(x, step)
    return n if abs(rest / step - 0) < touch else n + 1


def _between(limits: Limits, major: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ticks as ``AutoMinorLocator`` does: four or five intervals between two major ticks."""
    major = np.unique(major)
    if major.size < 2:
        return np.empty(0)
    start, step = float(major[0]), float(major[1] - major[0])
    mantissa = 10 ** (float(np.log10(step)) % 1)
    parts = 5 if any(abs(mantissa - m) <= 1e-8 + 1e-5 * m for m in (1, 2.5, 5, 10)) else 4
    step /= parts
    lo, hi = limits
    counts = np.arange(round((lo - start) / step), round((hi - start) / step) + 1)
    return counts.astype(np.float64) * step + start


def _axis(limits: Limits, major: NDArray[np.float64], minor: NDArray[np.float64]) -> Axis:
    lo, hi = limits
    minor = minor[_distance(minor, major) > (hi - lo) * 1e-5]
    formatter = _Labels(limits)
    labels = formatter.format_ticks(major.tolist())
    shown = _shown(limits, major)
    return Axis(
        limits,
        major[shown],
        minor[_shown(limits, minor)],
        tuple(label for label, kept in zip(labels, shown.tolist(), strict=True) if kept),
        formatter.get_offset(),
    )


def _distance(places: NDArray[np.float64], ticks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distance of each position to the nearest tick; ticks are sorted and at least two."""
    after = np.clip(np.searchsorted(ticks, places), 1, ticks.size - 1)
    return np.minimum(np.abs(places - ticks[after - 1]), np.abs(places - ticks[after]))


def _shown(limits: Limits, ticks: NDArray[np.float64]) -> NDArray[np.bool_]:
    lo, hi = limits
    slack = (hi - lo) * 1e-10
    return (lo - slack <= ticks) & (ticks <= hi + slack)


class _Labels(ScalarFormatter):
    """Formats tick numbers as matplotlib does, independent of any matplotlibrc."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(useOffset=True, useMathText=False, useLocale=False, usetex=False)
        self._offset_threshold = 4
        self._powerlimits = (-5, 6)
        self.create_dummy_axis()
        assert isinstance(self.axis, _DummyAxis)
        self.axis.set_view_interval(*limits)

    @staticmethod
    def fix_minus(s: str) -> str:
        return s.replace("-", "\N{MINUS SIGN}")
