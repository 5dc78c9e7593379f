"""Where drafts go as they are made: JSON lines that can be gone on with, the database, or both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from agent.many.batch import Outcome
from agent.many.journal import Journal
from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from reviewer.drafting import contradicts, gives_away
from reviewer.store import Draft, Store


def aside(out: Path) -> Path:
    """Where drafts go that contradict their label, if they are to be left out of ``out``."""
    return out.with_name(f"{out.stem}.contradicting{out.suffix}")


@dataclass
class Tally:
    """What came of a run. ``refused`` are sentences, ``empty`` counts targets without data."""

    drafted: int = 0
    new: int = 0
    refused: list[str] = field(default_factory=list)
    empty: int = 0
    contradicting: int = 0
    giving_away: int = 0
    unanswered: int = 0
    left_out: int = 0


@dataclass
class Results:
    """What was drafted before, and what is drafted now.

    :param out: the drafts; None: they go into the store alone, and nothing is known of earlier runs
    :param contradicting: those that contradict their label, where ``out`` is to be without them
    """

    out: Journal | None = None
    contradicting: Journal | None = None
    store: Store | None = None
    batch: str = ""
    tally: Tally = field(default_factory=Tally)

    def is_done(self, key: str, sample: int) -> bool:
        """Whether this sample of this spectrum was drafted before."""
        return any(journal.is_done(key, sample) for journal in self._journals())

    def knows(self, key: str) -> bool:
        """Whether any sample of this spectrum was."""
        return any(journal.knows(key) for journal in self._journals())

    def add(self, outcome: Outcome) -> None:
        """Keep a draft, or why there is none. What was stopped leaves no mark.

        :raises JournalError: it cannot be written
        :raises StoreError: it cannot be written
        """
        if outcome.reason == "no data" and outcome.job.target:
            # A fibre that was not on an object.
            self.tally.empty += 1
        elif outcome.has_failed:
            self.tally.refused.append(outcome.detail)
            if self.out is not None:
                self.out.add(outcome)
        elif outcome.is_inspected and outcome.trajectory is not None and outcome.spectrum is not None:
            self._keep(outcome, outcome.trajectory, outcome.spectrum)

    def _keep(self, outcome: Outcome, trajectory: Trajectory, spectrum: Spectrum) -> None:
        contradicting = contradicts(trajectory)
        self.tally.drafted += 1
        self.tally.contradicting += contradicting
        self.tally.giving_away += gives_away(trajectory)
        self.tally.unanswered += trajectory.answer is None
        left_out = contradicting and self.contradicting is not None
        journal = self.contradicting if left_out else self.out
        # The file first: what is in it can be imported again, and once is enough.
        if journal is not None:
            journal.add(outcome, {"spectrum_data": spectrum.to_json()})
        if left_out:
            self.tally.left_out += 1
        elif self.store is not None:
            # One at a time: whatever stops the others, what is drafted is kept.
            (added,) = self.store.add_items([Draft(trajectory, spectrum, batch=self.batch)])
            self.tally.new += added.new

    def _journals(self) -> Iterator[Journal]:
        return (journal for journal in (self.out, self.contradicting) if journal is not None)
