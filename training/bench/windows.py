"""Where a policy zooms: the most frequent windows of a task, and the features of the task that lie in them.

Windows are as the tool drew them: in the rest frame of a spectrum with a redshift, else as observed, in Å in the
spectrum's own medium (air or vacuum), into which the lines of the task are converted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

from agent.lines import Medium
from agent.tasks import Task
from agent.tasks.values import Feature
from agent.trajectory.steps import Zoom

CENTRE = 100.0
"""Windows whose centres are nearest to the same multiple of this, in Å, and of one class of width, count as one."""
WIDTHS = (100.0, 200.0, 400.0, 800.0, 1600.0)
"""Å; where a new class of width begins."""
SHOWN = 8


@dataclass(frozen=True)
class FrequentWindow:
    """Zooms of nearly the same window.

    :param lo: mean lower end, Å; ``hi``: mean upper end
    :param zooms: how many; ``right``: those of samples that answered rightly
    :param features: names of the features of the task in the mean window
    """

    lo: float
    hi: float
    zooms: int
    right: int
    features: tuple[str, ...]


@dataclass(frozen=True)
class FeatureUse:
    """A feature of the task and the samples that zoomed on it at least once: all, and the right ones."""

    name: str
    role: str
    samples: int
    right: int


@dataclass(frozen=True)
class TaskWindows:
    """The zooms of one task.

    :param samples: with a trace; ``right``: those that answered rightly
    :param frequent: the most frequent windows
    :param features: in the task's order; () if the task is not known
    """

    task: str
    samples: int
    right: int
    zooms: int
    frequent: tuple[FrequentWindow, ...]
    features: tuple[FeatureUse, ...]


@dataclass
class _Group:
    lo: float = 0.0
    hi: float = 0.0
    zooms: int = 0
    right: int = 0
    media: dict[Medium, int] = field(default_factory=dict)


class WindowCounts:
    """Counts the zooms of one task, sample by sample."""

    def __init__(self, task: str, known: Task | None) -> None:
        """:param known: the task's features; None if it is not known"""
        self._task = task
        features = () if known is None else known.features
        self._features = {
            medium: tuple(feature.in_medium(medium) for feature in features) for medium in get_args(Medium)
        }
        self._groups: dict[tuple[int, int], _Group] = {}
        self._uses = {feature.name: FeatureUse(feature.name, feature.role, 0, 0) for feature in features}
        self._samples = self._right = self.zooms = 0

    def add(self, zooms: Sequence[Zoom], is_right: bool) -> None:
        """Add the zooms of one sample; calls without a picture of a window do not count."""
        self._samples += 1
        self._right += is_right
        used: dict[str, None] = {}
        for zoom in zooms:
            if not zoom.ok or zoom.window is None:
                continue
            lo, hi = zoom.window
            self.zooms += 1
            group = self._groups.setdefault(_place(lo, hi), _Group())
            group.lo, group.hi, group.zooms = group.lo + lo, group.hi + hi, group.zooms + 1
            group.right += is_right
            group.media[zoom.medium] = group.media.get(zoom.medium, 0) + 1
            used |= dict.fromkeys(self._inside(lo, hi, zoom.medium))
        for name in used:
            before = self._uses[name]
            self._uses[name] = replace(before, samples=before.samples + 1, right=before.right + is_right)

    def result(self, most: int = SHOWN) -> TaskWindows:
        """:param most: frequent windows to list"""
        ranked = sorted(self._groups.items(), key=lambda entry: (-entry[1].zooms, entry[0]))
        return TaskWindows(
            self._task,
            self._samples,
            self._right,
            self.zooms,
            tuple(self._frequent(group) for _, group in ranked[:most]),
            tuple(self._uses.values()),
        )

    def _frequent(self, group: _Group) -> FrequentWindow:
        lo, hi = group.lo / group.zooms, group.hi / group.zooms
        medium = max(group.media, key=lambda medium_seen: group.media[medium_seen])
        return FrequentWindow(lo, hi, group.zooms, group.right, tuple(self._inside(lo, hi, medium)))

    def _inside(self, lo: float, hi: float, medium: Medium) -> list[str]:
        return [feature.name for feature in self._features[medium] if lo <= _principal(feature) <= hi]


def _principal(feature: Feature) -> float:
    """Return the principal wavelength of a feature; the middle of its span if it has none."""
    return feature.wavelengths[0] if feature.wavelengths else sum(feature.span) / 2


def _place(lo: float, hi: float) -> tuple[int, int]:
    """Return the class of a window: of its centre, and of its width."""
    return round((lo + hi) / 2 / CENTRE), sum(hi - lo >= edge for edge in WIDTHS)
