"""All runs, in memory until the server stops; only the latest finished runs are kept."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from agent.conversation import Policy
from agent.language import tr
from agent.trajectory import TrajectoryError
from reviewer.live.run import Hints, Run, RunSettings, Sample
from reviewer.live.trials import LiveTrial
from reviewer.store import NotFound

AT_ONCE = 8
"""Samples of one run that a server gets at the same time."""
MOST_RUNNING = 3
MOST_FINISHED = 30
"""Finished runs kept per person."""
MOST_BYTES = 512 * 2**20
"""Bytes of the pictures of all runs; above this the oldest finished run is dropped."""


class TooManyRunning(Exception):
    """A person already has as many running runs as allowed."""


class Runs:
    """The runs of all people. A run belongs to its owner; for others it does not exist."""

    def __init__(self, hints: Hints) -> None:
        """Use ``hints`` to measure the hints of a zoom for the page."""
        self._hints = hints
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}  # oldest first

    def start(self, owner: str, settings: RunSettings, policies: Sequence[Policy]) -> Run:
        """Start a run.

        :param policies: one for each sample
        :raises TooManyRunning: its owner has as many running runs as allowed
        """
        run = Run(owner, settings, policies, self._hints)
        with self._lock:
            going = sum(r.owner == owner and r.state == "running" for r in self._runs.values())
            if going >= MOST_RUNNING:
                raise TooManyRunning(
                    tr(
                        "{going} of your runs are running, the maximum per person. Stop one, or wait until one ends.",
                        going=going,
                    )
                )
            self._make_room(owner)
            self._runs[run.id] = run
        run.start()
        return run

    def try_evidence(self, run: Run, sample: Sample) -> LiveTrial:
        """Put the evidence of a finished sample on trial.

        :raises TooManyRunning: a trial of this person is running
        :raises TrajectoryError: the sample is still running, or has no tool call
        """
        if sample.ended is None:
            raise TrajectoryError(
                tr(
                    "Sample {number} is still running: its evidence cannot be put on trial yet.",
                    number=sample.number + 1,
                )
            )
        if not sample.trajectory.zooms:
            raise TrajectoryError(
                tr(
                    "Sample {number} has no tool call: found no evidence that can be put on trial.",
                    number=sample.number + 1,
                )
            )
        made = LiveTrial(
            sample.trajectory, list(sample.texts.values()), run.settings.spectrum, run.settings.task, sample.policy
        )
        with self._lock:
            if any(_is_tried(one) for one in self._runs.values() if one.owner == run.owner):
                raise TooManyRunning(
                    tr("A trial of yours is running, the maximum per person. Stop it, or wait until it ends.")
                )
            sample.trial = made
        made.start()
        return made

    def of(self, owner: str, run_id: str) -> Run:
        """Return a run. :raises NotFound: there is no such run, it belongs to another person, or it was dropped"""
        run = self._runs.get(run_id)
        if run is None or run.owner != owner:
            raise NotFound(
                tr(
                    "This run is no longer available. The last {most_finished} runs are kept until the server "
                    "restarts.",
                    most_finished=MOST_FINISHED,
                )
            )
        return run

    def all_of(self, owner: str) -> list[Run]:
        """Somebody's runs, oldest first."""
        with self._lock:
            return [run for run in self._runs.values() if run.owner == owner]

    def close(self) -> None:
        """Stop all runs."""
        with self._lock:
            runs = list(self._runs.values())
        for run in runs:
            run.stop.set()
            for sample in run.samples:
                if sample.trial is not None:
                    sample.trial.stop.set()

    def _make_room(self, owner: str) -> None:
        finished = [run for run in self._runs.values() if run.state != "running" and not _is_tried(run)]
        theirs = [run for run in finished if run.owner == owner]
        drop = {run.id for run in theirs[: max(0, len(theirs) - MOST_FINISHED)]}
        size = sum(run.size for run in self._runs.values() if run.id not in drop)
        for run in finished:
            if size > MOST_BYTES and run.id not in drop:
                drop.add(run.id)
                size -= run.size
        for run_id in drop:
            del self._runs[run_id]


def _is_tried(run: Run) -> bool:
    """Return whether a trial of a sample is running; its owner could not stop it if the run were dropped."""
    return any(sample.trial is not None and sample.trial.is_running for sample in run.samples)
