"""What the store takes and gives: plain frozen values. Times are aware datetimes in UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from agent.spectrum import Spectrum
from agent.trajectory import DrafterKind, Trajectory, Verdict
from reviewer.rules.workflow import Decision, Round, Standing, State

MarkKind = Literal["supported", "not supported", "hallucinated feature", "wrong frame", "needless zoom", "cleared"]
MARKS: tuple[MarkKind, ...] = get_args(MarkKind)
OwnVerdict = Literal["YES", "NO", "cannot tell"]
OWN_VERDICTS: tuple[OwnVerdict, ...] = get_args(OwnVerdict)


@dataclass(frozen=True)
class Draft:
    """A trajectory on its way in.

    :param spectrum: the spectrum, the sha256 of one that is already stored, or None where only pictures came
    :param batch: the name of the import or campaign, to filter by
    :param key: importing the same key again adds nothing; the trajectory's content hash if not given
    :param pictures: PNG bytes by the SHA-256 of the RGBA bytes, for pictures that cannot be drawn again
    """

    trajectory: Trajectory
    spectrum: Spectrum | str | None = None
    batch: str = ""
    key: str | None = None
    pictures: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Added:
    """``new`` is False where the key was already there; then nothing was written."""

    item_id: int
    new: bool


@dataclass(frozen=True)
class Version:
    """One text of an item. Never changed; editing makes the next one."""

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
    """A decision as the history shows it. ``withdrawn_by`` is the id of the undo that took it back."""

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
    """What somebody thought before they saw the answer and the earlier votes ("my verdict first")."""

    item_id: int
    version_id: int
    person: str
    verdict: OwnVerdict
    at: datetime


@dataclass(frozen=True)
class QueueFilter:
    """Which items. Every field that is given must hold; the default is everything.

    :param states: any of these; empty = all
    :param snr_min: an item without a signal-to-noise ratio is in no range
    :param text: part of the spectrum's name or of a survey id, any case; or ``#123``, an item's number
    :param mine: only what this person may act on now, without what they have already done or others hold
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
    text: str = ""
    mine: bool = False


@dataclass(frozen=True)
class QueueRow:
    """One line of the queue. ``snr`` is the spectrum's ``snr_typical``. No text, no label, no answer."""

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
    wanted: int
    disagreement: bool
    held_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class QueuePage:
    """``total`` counts everything the filter lets through; ``after=rows[-1].item_id`` gives the next page."""

    rows: tuple[QueueRow, ...]
    total: int


@dataclass(frozen=True)
class Item:
    """Everything about one item but its earlier texts. ``label`` is the known truth: show it with care."""

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
    """Unsent text. ``body`` is whatever JSON the page kept; after a refusal the trajectory's JSON form."""

    person: str
    item_id: int
    base_version_id: int
    body: Mapping[str, Any]
    at: datetime


@dataclass(frozen=True)
class Session:
    """Somebody signed in. ``token`` is for their cookie; the store keeps only its hash."""

    token: str
    person: str
    expires_at: datetime


@dataclass(frozen=True)
class Export:
    """An export that was made; ``manifest`` is the JSON that lies beside it."""

    id: int
    name: str
    person: str
    manifest: Mapping[str, Any]
    at: datetime


@dataclass(frozen=True)
class Yielded:
    """What became of decided items. ``fraction`` is approved / (approved + rejected), None if none is."""

    approved: int
    rejected: int

    @property
    def fraction(self) -> float | None:
        decided = self.approved + self.rejected
        return self.approved / decided if decided else None


@dataclass(frozen=True)
class Progress:
    """Figures of the Progress tab.

    :param by_task: items by task and state
    :param by_person: decisions in force by person and round (undone ones and undos left out, stale ones in)
    :param versions_by: versions written, by person
    :param disagreed: items on whose current version two people pulled in different directions
    :param compared: items on whose current version two or more people decided in one round of audit or vote
    :param per_day: decisions in force by UTC date (ISO) and round
    :param decided_per_day: approved and rejected items by the UTC date on which they were decided
    """

    by_task: Mapping[str, Mapping[State, int]]
    by_person: Mapping[str, Mapping[Round, int]]
    versions_by: Mapping[str, int]
    disagreed: int
    compared: int
    yielded: Yielded
    per_day: Mapping[str, Mapping[Round, int]]
    decided_per_day: Mapping[str, Yielded]
