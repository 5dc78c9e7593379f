"""Values that the store takes and returns: frozen dataclasses. Times are aware datetimes in UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from agent.language import deferred
from agent.spectrum import Spectrum
from agent.trajectory import DrafterKind, Trajectory, Verdict
from reviewer.rules.workflow import Decision, Round, Standing, State

MarkKind = Literal["supported", "not supported", "hallucinated feature", "wrong frame", "needless zoom", "cleared"]
MARKS: tuple[MarkKind, ...] = get_args(MarkKind)
OwnVerdict = Literal["YES", "NO", "cannot tell"]
OWN_VERDICTS: tuple[OwnVerdict, ...] = get_args(OwnVerdict)
TrialOutcome = Literal["passed", "failed", "untested"]
TRIAL_OUTCOMES: tuple[TrialOutcome, ...] = get_args(TrialOutcome)
Discussed = Literal["open", "unread", "mentioned"]
NOBODY: Literal["nobody"] = "nobody"
"""``QueueFilter.assigned`` of the items that nobody is assigned to; initials are upper case."""
LARGEST_ID = 2**63 - 1
"""The largest item number that SQLite has."""


@dataclass(frozen=True)
class Draft:
    """A trajectory to be added.

    :param spectrum: the spectrum, the SHA-256 of one that is already stored, or None if there are only pictures
    :param batch: the name of the import or campaign; the queue filters by it
    :param key: importing the same key again adds nothing; by default the trajectory's content hash
    :param pictures: PNG bytes by the SHA-256 of the RGBA bytes, for pictures that cannot be drawn from a spectrum
    """

    trajectory: Trajectory
    spectrum: Spectrum | str | None = None
    batch: str = ""
    key: str | None = None
    pictures: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Added:
    """Result of adding a draft. ``new`` is False if the key existed; then nothing was written."""

    item_id: int
    new: bool


@dataclass(frozen=True)
class Version:
    """One text of an item. It is never changed; editing creates the next version."""

    id: int
    item_id: int
    number: int
    content_hash: str
    parent_id: int | None
    author: str | None
    reason: str
    trajectory: Trajectory
    at: datetime


@dataclass(frozen=True)
class Recorded:
    """A decision in the history. ``withdrawn_by`` is the id of the undo that withdrew it."""

    decision: Decision
    version: int
    at: datetime
    withdrawn_by: int | None = None


@dataclass(frozen=True)
class Mark:
    """A mark on one step of one version, with a note."""

    id: int
    item_id: int
    version_id: int
    step_id: str
    person: str
    mark: MarkKind
    note: str
    at: datetime


@dataclass(frozen=True)
class CommittedVerdict:
    """A person's own verdict, given before they saw the answer and the earlier votes ("my verdict first")."""

    item_id: int
    version_id: int
    person: str
    verdict: OwnVerdict
    at: datetime


@dataclass(frozen=True)
class QueueFilter:
    """Selection of items. An item must match every field that is given; the default is all items.

    :param states: any of these; if empty, all but withdrawn items
    :param snr_min: an item without a signal-to-noise ratio matches no range
    :param text: part of the spectrum's name or of a survey id, ignoring case; or ``#123``, an item's number
    :param mine: only items this person may act on now, without those they finished or others hold
    :param trial: outcome of the latest trial of the item's evidence; "untested" if there is none, or nothing could be
        tested
    :param words: words of the current trace or of remarks on the item; ``reviewer.store.sqlite.texts`` describes them
    :param assigned: initials of a person to whom the item is assigned, or ``NOBODY``
    :param listed: id of a view that is a list of items
    :param discussed: "open": a thread is not resolved; "unread": there is a comment that the person has not read;
        "mentioned": the person is named in a thread that is not resolved
    :param without_batches: items of these batches do not match
    :param without_items: these items do not match
    :param verdict_first: of open items in these batches (None: in all), words are searched in what the person wrote
        until they have given their verdict
    """

    task: str | None = None
    states: tuple[State, ...] = ()
    survey: str | None = None
    snr_min: float | None = None
    snr_max: float | None = None
    drafter: str | None = None
    batch: str | None = None
    disagreement: bool | None = None
    simulated: bool | None = None
    trial: TrialOutcome | None = None
    text: str = ""
    mine: bool = False
    words: str = ""
    assigned: str | None = None
    listed: int | None = None
    discussed: Discussed | None = None
    without_batches: tuple[str, ...] = ()
    without_items: tuple[int, ...] = ()
    verdict_first: tuple[str, ...] | None = ()


@dataclass(frozen=True)
class QueueRow:
    """One row of the queue. ``snr`` is the spectrum's ``snr_typical``. Without text, label or answer.

    ``cast`` of the ``needed`` decisions of the present round have been made.
    """

    item_id: int
    name: str
    task: str
    survey: str
    snr: float | None
    drafter_kind: DrafterKind
    drafter_name: str
    batch: str
    simulated: bool
    spectrum_sha256: str | None
    state: State
    version: int
    cast: int
    needed: int
    disagreement: bool
    held_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class QueuePage:
    """One page of the queue. ``total`` counts all matching items; ``after=rows[-1].item_id`` gives the next page."""

    rows: tuple[QueueRow, ...]
    total: int


@dataclass(frozen=True)
class Item:
    """One item with its current text. ``label`` is the known truth: do not show it to reviewers by default."""

    id: int
    key: str
    row: QueueRow
    label: Verdict | None
    standing: Standing
    version: Version
    added_at: datetime


@dataclass(frozen=True)
class Lease:
    """The right to work on an item in its present round until ``expires_at``; renewed while working.

    ``ended`` is True after the holder's own decision: renewing it then is harmless and changes nothing.
    """

    token: str
    item_id: int
    person: str
    round: Round
    expires_at: datetime
    ended: bool = False


@dataclass(frozen=True)
class Autosave:
    """Unsent text. ``body`` is the JSON that the page sent; after a refused save, the trajectory's JSON form."""

    person: str
    item_id: int
    base_version_id: int
    body: Mapping[str, Any]
    at: datetime


@dataclass(frozen=True)
class Session:
    """A sign-in session. ``token`` goes into the cookie; the store keeps only its hash."""

    token: str
    person: str


@dataclass(frozen=True)
class Export:
    """A finished export; ``manifest`` is the content of its manifest file, in lists without its files and items."""

    id: int
    name: str
    person: str
    manifest: Mapping[str, Any]
    at: datetime


@dataclass(frozen=True)
class Yielded:
    """Decided items by outcome. ``fraction`` is approved / (approved + rejected), None if there are none.

    Items of which people cannot tell are neither: no text could make them training data.
    """

    approved: int
    rejected: int
    cannot_tell: int = 0

    @property
    def fraction(self) -> float | None:
        decided = self.approved + self.rejected
        return self.approved / decided if decided else None


@dataclass(frozen=True)
class WorkTime:
    """The time that a person worked on an item before a decision, in seconds, as the page measured it.

    :param elapsed: from opening the item to the decision
    :param active: without the time in which the page was hidden and without pauses longer than two minutes
    """

    elapsed: float
    active: float


TIME_DEFINITION = deferred(
    "Active seconds from opening an item in the Review tab to the decision, median over decisions in force. A pause "
    "of more than two minutes without mouse or keyboard, and time in which the tab is hidden, do not count. Decisions "
    "without a measured time (made before this was recorded, or not in the Review tab) are left out."
)


@dataclass(frozen=True)
class TimeSpent:
    """Number of decisions with a known time, and the median of their active seconds.

    In ``Progress`` the median is of times to the second, above a thousand seconds to ten.
    """

    decisions: int
    median_seconds: float


@dataclass(frozen=True)
class Progress:
    """Figures of the Progress tab.

    :param by_task: items by task and state, without withdrawn items
    :param by_person: decisions in force by person and round (without undone ones, undos and withdrawals,
        with stale ones)
    :param days_of: the same by person and UTC date (ISO)
    :param versions_by: versions written, by person
    :param disagreed: items on whose current version two people decided differently
    :param compared: items on whose current version two or more people decided in one round of audit or vote
    :param per_day: decisions in force by UTC date (ISO) and round
    :param time_by_person: active time before a decision in force, by person and round; without decisions that
        have no known time
    :param assigned: items by the person to whom they are assigned and by state, without withdrawn items
    :param decided_per_day: approved, rejected and "cannot tell" items by the UTC date on which they were decided
    """

    by_task: Mapping[str, Mapping[State, int]]
    by_person: Mapping[str, Mapping[Round, int]]
    days_of: Mapping[str, Mapping[str, int]]
    versions_by: Mapping[str, int]
    disagreed: int
    compared: int
    yielded: Yielded
    per_day: Mapping[str, Mapping[Round, int]]
    decided_per_day: Mapping[str, Yielded]
    time_by_person: Mapping[str, Mapping[Round, TimeSpent]]
    assigned: Mapping[str, Mapping[State, int]]
