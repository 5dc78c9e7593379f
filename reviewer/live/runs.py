"""All runs, in memory until the server stops: the latest of each spectrum and of each person, within a size.

Runs without an answer are counted on their own, so that a failed run never displaces one that answered.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from agent.conversation import Policy
from agent.errors import Refusal
from agent.language import tr
from agent.trajectory import TrajectoryError
from reviewer.live.run import Hints, Run, RunSettings, Sample
from reviewer.live.trials import LiveTrial
from reviewer.store import NotFound

AT_ONCE = 8
"""Samples of one run that a server gets at the same time."""
MOST_RUNNING = 3
MOST_PER_SPECTRUM = 10
"""Runs with an answer kept per person and spectrum."""
MOST_UNANSWERED = 5
"""Finished runs without an answer kept per person and spectrum: failed, stopped, truncated."""
MOST_FINISHED = 200
"""Runs with an answer kept per person, and as many without one."""
MOST_BYTES = 512 * 2**20
"""Bytes of the pictures and spectra of all runs; above it finished runs are dropped, first those without an answer."""


class TooManyRunning(Refusal):
    """A person already has as many running runs as allowed."""

    kind = "busy"
    status = 409


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
            run.displaced = [dropped.id for dropped in self._make_room() if dropped.owner == owner]
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
        trial = LiveTrial(
            sample.trajectory, list(sample.texts.values()), run.settings.spectrum, run.settings.task, sample.policy
        )
        with self._lock:
            if any(_is_tried(other) for other in self._runs.values() if other.owner == run.owner):
                raise TooManyRunning(
                    tr("A trial of yours is running, the maximum per person. Stop it, or wait until it ends.")
                )
            sample.trial = trial
        trial.start()
        return trial

    def of(self, owner: str, run_id: str) -> Run:
        """Return a run. :raises NotFound: there is no such run, it belongs to another person, or it was dropped"""
        run = self._runs.get(run_id)
        if run is None or run.owner != owner:
            raise NotFound(
                tr(
                    "This run is no longer available. Until the server restarts, the last {most_per_spectrum} runs of "
                    "a spectrum are kept, and the last {most_finished} of a person.",
                    most_per_spectrum=MOST_PER_SPECTRUM,
                    most_finished=MOST_FINISHED,
                )
            )
        return run

    def all_of(self, owner: str) -> list[Run]:
        """A person's runs, oldest first."""
        with self._lock:
            return [run for run in self._runs.values() if run.owner == owner]

    def on(self, owner: str, spectrum: str) -> list[Run]:
        """Return a person's runs on the spectrum with this SHA-256, oldest first."""
        return [run for run in self.all_of(owner) if run.settings.spectrum.sha256 == spectrum]

    def remove(self, run: Run) -> None:
        """Stop a run and its trials, and forget it."""
        run.end()
        with self._lock:
            self._runs.pop(run.id, None)

    def close(self) -> None:
        """Stop all runs."""
        with self._lock:
            runs = list(self._runs.values())
        for run in runs:
            run.end()

    def _make_room(self) -> list[Run]:
        """Drop finished runs beyond the limits, and return them."""
        finished = [run for run in self._runs.values() if run.state != "running" and not _is_tried(run)]
        answered = [run for run in finished if run.has_answer]
        unanswered = [run for run in finished if not run.has_answer]
        drop: dict[str, Run] = {}
        for runs, per_spectrum in ((answered, MOST_PER_SPECTRUM), (unanswered, MOST_UNANSWERED)):
            newest_first = runs[::-1]
            spectra = ((run.owner, run.settings.spectrum.sha256) for run in newest_first)
            owners = (run.owner for run in newest_first)
            drop |= {run.id: run for run in _beyond(per_spectrum, newest_first, spectra)}
            drop |= {run.id: run for run in _beyond(MOST_FINISHED, newest_first, owners)}
        size = sum(run.size for run in self._runs.values() if run.id not in drop)
        for run in (*unanswered, *answered):
            if size > MOST_BYTES and run.id not in drop:
                drop[run.id] = run
                size -= run.size
        for run_id in drop:
            del self._runs[run_id]
        return list(drop.values())


def last_answered(runs: Sequence[Run]) -> Run | None:
    """Return the newest run that answered YES or NO; if none did, the newest with an outcome."""
    with_outcome = [run for run in runs if run.outcome is not None]
    answered = [run for run in with_outcome if run.has_answer]
    last = answered or with_outcome
    return last[-1] if last else None


def _beyond(most: int, runs: Iterable[Run], keys: Iterable[Hashable]) -> list[Run]:
    """Return the runs after the first ``most`` with the same key."""
    seen: Counter[Hashable] = Counter()
    beyond = []
    for run, key in zip(runs, keys, strict=True):
        seen[key] += 1
        if seen[key] > most:
            beyond.append(run)
    return beyond


def _is_tried(run: Run) -> bool:
    """Return whether a trial of a sample is running; its owner could not stop it if the run were dropped."""
    return any(sample.trial is not None and sample.trial.is_running for sample in run.samples)
