"""A run over many spectra: what is not in the results yet is inspected, and written down as it comes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from time import monotonic
from typing import Protocol

from agent.batch.journal import Journal
from agent.batch.run import Job, Outcome, PolicyGone, jobs_of
from agent.batch.sources import Source, spectra
from agent.conversation import Usage

KEPT = 5  # sentences on failures; the journal has them all


class Known(Protocol):
    """What earlier runs have done: a journal, or several read as one."""

    def is_done(self, key: str, sample: int) -> bool: ...

    def knows(self, key: str) -> bool: ...


class Work:
    """The jobs that the results lack, found one at a time; a file is not opened where the results know it to
    hold one spectrum. ``passed_over`` names the spectra that were not wanted; ``is_complete`` once every
    spectrum has been met.
    """

    def __init__(
        self,
        found: Sequence[Source],
        samples: int,
        known: Known,
        limit: int | None = None,
        is_wanted: Callable[[Job], bool] = lambda _: True,
    ) -> None:
        """:param limit: of spectra, those that are done already included"""
        self._found = found
        self._samples = samples
        self._known = known
        self._limit = limit
        self._is_wanted = is_wanted
        self._files = 0
        self._spectra = 0
        self._skipped = 0
        self.passed_over: list[str] = []
        self.is_complete = False

    @property
    def expected(self) -> int:
        """How many jobs there will be, as far as is known: files not opened yet count as one spectrum."""
        found = self._spectra + max(0, len(self._found) - self._files)
        if self._limit is not None:
            found = min(found, self._limit)
        return found * self._samples - self._skipped

    def __iter__(self) -> Iterator[Job]:
        for job in jobs_of(islice(self._each(), self._limit), self._samples):
            if self._known.is_done(job.key, job.sample):
                self._skipped += 1
            else:
                yield job
        self.is_complete = True

    def _each(self) -> Iterator[Source]:
        for source in self._found:
            self._files += 1
            for one in spectra(source, self._known.knows):
                if self._is_wanted(Job(one.key, one.path, one.target)):
                    self._spectra += 1
                    yield one
                else:
                    self.passed_over.append(one.key)


@dataclass
class Made:
    """What a run came to. ``failures`` are the first sentences; ``empty`` counts targets without data;
    ``gone`` is the sentence that ended the run, if one did."""

    inspected: int = 0
    spectra: int = 0
    failed: int = 0
    failures: list[str] = field(default_factory=list)
    empty: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    gone: str = ""


def write_down(outcomes: Iterable[Outcome], journal: Journal, progress: Callable[[int], None] = lambda _: None) -> Made:
    """Take every outcome into the results.

    :param progress: called with the number of jobs done
    """
    made = Made()
    since = monotonic()
    keys: set[str] = set()
    try:
        for number, outcome in enumerate(outcomes, start=1):
            _take(outcome, journal, made)
            if outcome.is_inspected:
                keys.add(outcome.job.key)
            progress(number)
    except PolicyGone as gone:
        made.gone = str(gone)
    made.spectra = len(keys)
    made.seconds = monotonic() - since
    return made


def _take(outcome: Outcome, journal: Journal, made: Made) -> None:
    made.usage += outcome.usage
    if outcome.reason == "no data" and outcome.job.target:
        # A fibre that was not on an object: nothing to inspect, nothing to repair.
        made.empty += 1
        return
    journal.add(outcome)
    made.inspected += outcome.is_inspected
    made.failed += outcome.has_failed
    if outcome.has_failed and len(made.failures) < KEPT:
        made.failures.append(f"{outcome.job.key}: {outcome.detail}")
