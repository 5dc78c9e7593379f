"""Make a trajectory of what another agent's log says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agent.foreign.record import ForeignTrace
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.trajectory import Trajectory

FindSpectrum = Callable[[str | None, str | None], Spectrum | None]
"""Returns the spectrum with this SHA-256, or else with this name; None if there is none."""


@dataclass(frozen=True)
class Converted:
    """A trace of another agent as a trajectory, with its spectrum and the pictures that cannot be drawn again: PNG
    files by the SHA-256 of their RGBA bytes.
    """

    trajectory: Trajectory
    spectrum: Spectrum | None
    pictures: Mapping[str, bytes]


class Converter:
    """Converts traces into trajectories.

    :param known_tasks: the tasks by key
    :param find_spectrum: where spectra are
    :param task: key of the task of all traces; None: as each trace says
    """

    def __init__(self, known_tasks: Mapping[str, Task], find_spectrum: FindSpectrum, task: str | None = None) -> None:
        self._tasks = known_tasks
        self._find = find_spectrum
        self._task = task

    def convert(self, trace: ForeignTrace) -> Converted:
        """Return the trajectory of a trace. :raises ForeignTraceError: what is missing, and what to give"""
        raise NotImplementedError
