"""Labels of spectra in the database: the known label; else the answer of an approved version; else the votes of people.

A rejected trace says nothing about the object by itself; a rejection for a wrong class is a vote.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from agent.errors import Refusal
from agent.language import deferred, tr
from agent.trajectory import Verdict

if TYPE_CHECKING:
    from reviewer.store import Store
    from reviewer.store.trust_values import StoredCase
    from reviewer.trust.annotators import Annotators

LabelSource = Literal["known", "approved", "votes"]
SOURCES: Mapping[LabelSource, str] = {
    "known": deferred("known beforehand"),
    "approved": deferred("approved version"),
    "votes": deferred("votes of people"),
}
"""The sources of labels in words."""
SURE = 0.95
"""Votes are a label where the posterior of YES is at least this, or at most 1 minus this."""


class ContradictionError(Refusal, ValueError):
    """Two labels of one spectrum differ."""


@dataclass(frozen=True)
class Label:
    """Whether a spectrum is YES, from where this is known, and since when (None: from the start)."""

    yes: bool
    source: LabelSource
    at: datetime | None = None


def label_of(
    known: Iterable[Verdict], approved: Iterable[Verdict], posterior: float | None = None, sure: float = SURE
) -> tuple[bool, LabelSource] | None:
    """Return the label of a spectrum: the known one; else the answer of approved versions; else that of the votes.

    :param posterior: probability of YES given the votes; None: there are none
    :raises ContradictionError: two known labels differ, or there is none and two approved answers differ
    """
    sources: tuple[tuple[LabelSource, Iterable[Verdict]], ...] = (("known", known), ("approved", approved))
    for source, verdicts in sources:
        given = set(verdicts)
        if len(given) > 1:
            raise ContradictionError(tr("{source}: YES and NO", source=source))
        if given:
            return given == {"YES"}, source
    if posterior is not None and (posterior >= sure or posterior <= 1 - sure):
        return posterior >= sure, "votes"
    return None


def stored_labels(
    stored: Iterable[StoredCase], posteriors: Mapping[str, tuple[float, datetime]], sure: float = SURE
) -> tuple[dict[str, Label], frozenset[str]]:
    """Return the label of each spectrum that has one, and the spectra whose labels contradict each other.

    :param stored: the items of all policies
    :param posteriors: probability of YES given the votes and time of the last vote, by spectrum
    """
    by_spectrum: defaultdict[str, list[StoredCase]] = defaultdict(list)
    for stored_case in stored:
        if stored_case.spectrum_sha256 is not None:
            by_spectrum[stored_case.spectrum_sha256].append(stored_case)
    labels: dict[str, Label] = {}
    contradictory = set()
    for sha256, own in by_spectrum.items():
        posterior, voted_at = posteriors.get(sha256, (None, None))
        try:
            label = label_of(
                (s.label for s in own if s.label), (s.approved for s in own if s.approved), posterior, sure
            )
        except ContradictionError:
            contradictory.add(sha256)
            continue
        if label is not None:
            times = [s.decided_at for s in own if s.decided_at is not None]
            at = voted_at if label[1] == "votes" else min(times, default=None)
            labels[sha256] = Label(*label, at)
    return labels, frozenset(contradictory)


def annotators_of(store: Store, task: str, stored: Iterable[StoredCase]) -> Annotators:
    """Return what the votes of people say. Of a person's votes on a spectrum their own verdict counts, which they gave
    without seeing the answer, else their decision.
    """
    from reviewer.trust.annotators import annotators

    known: defaultdict[str, set[bool]] = defaultdict(set)
    for stored_case in stored:
        if stored_case.label is not None and stored_case.spectrum_sha256 is not None:
            known[stored_case.spectrum_sha256].add(stored_case.label == "YES")
    votes = [vote for vote in store.trust.votes(task) if vote.spectrum_sha256 is not None]
    votes.sort(key=lambda vote: (vote.kind == "own verdict", vote.at))
    given = [SpectrumVote(str(vote.spectrum_sha256), vote.person, vote.verdict) for vote in votes]
    return annotators(given, {sha256: labels == {True} for sha256, labels in known.items() if len(labels) == 1})


@dataclass(frozen=True)
class SpectrumVote:
    """A vote on an item that has a spectrum."""

    spectrum_sha256: str
    person: str
    verdict: Verdict


def posteriors_of(people: Annotators, times: Mapping[str, datetime]) -> dict[str, tuple[float, datetime]]:
    """Return the probability of YES of the spectra with votes, and the time of the last vote, by spectrum."""
    return {sha256: (p, times[sha256]) for sha256, p in people.p_yes.items() if sha256 in times}


def vote_times(store: Store, task: str) -> dict[str, datetime]:
    """Return the time of the last vote on each spectrum."""
    last: dict[str, datetime] = {}
    for vote in store.trust.votes(task):
        if vote.spectrum_sha256 is not None:
            last[vote.spectrum_sha256] = max(vote.at, last.get(vote.spectrum_sha256, vote.at))
    return last
