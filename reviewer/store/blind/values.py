"""Values that the store returns about blind sessions while they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from agent.trajectory import Trajectory
from reviewer.blind.leaks import Leak
from reviewer.blind.plan import Kind, Plan, analysis_sha256
from reviewer.blind.rubric import Rubric
from reviewer.blind.sheet import Question

BlindState = Literal["drawn", "open", "closed"]


@dataclass(frozen=True)
class BlindSession:
    """A session for its coordinator. Scorers do not get it, because the plan names the sources.

    :param questions: the question of each task, as it was when the session was sampled
    :param notes: what the sampling left out, and why
    :param rubric: as it was when the session opened; None before
    """

    id: int
    name: str
    plan: Plan
    state: BlindState
    questions: Mapping[str, Question]
    notes: tuple[str, ...]
    drawn_by: str | None
    drawn_at: datetime
    rubric: Rubric | None = None
    opened_at: datetime | None = None
    closed_at: datetime | None = None

    @property
    def analysis_sha256(self) -> str | None:
        """The hash of the analysis plan, which is frozen when the session opens; None before."""
        return None if self.rubric is None else analysis_sha256(self.plan, self.rubric)


@dataclass(frozen=True)
class BlindProgress:
    """The progress of one scorer, without their answers."""

    scorer: str
    done: int
    assigned: int


@dataclass(frozen=True)
class BlindWork:
    """One assignment of an open session, in its scorer's order, without the session's name and the sources.

    :param changeable: how many answers before this place can be changed while it is the first without an answer
    """

    session: int
    token: str
    kind: Kind
    place: int
    answered: bool
    changeable: int


@dataclass(frozen=True)
class SheetSource:
    """The trajectories and the spectrum of a sheet, for the server only: it names the sources.

    :param trajectories: the one to score; or left and right
    :param spectrum: its SHA-256; None if there are only pictures
    """

    trajectories: tuple[Trajectory, ...]
    spectrum: str | None


@dataclass(frozen=True)
class ToJudge:
    """One question to a model judge.

    :param shown: the version; of a pair both, the left one first
    :param trajectories: of the versions in ``shown``; the judge receives only sheets made from them
    :param spectrum: its SHA-256; None if there are only pictures
    """

    kind: Kind
    shown: tuple[int, ...]
    question: Question
    trajectories: tuple[Trajectory, ...]
    spectrum: str | None


@dataclass(frozen=True)
class LeakFound:
    """A leak in a sampled trajectory: words that reveal its author, with their sentence.

    :param step: from 1; 0 for the first picture, which no step has
    """

    item: int
    source: str
    step: int
    giveaway: Leak
    sentence: str


@dataclass(frozen=True)
class SessionTrace:
    """A trajectory that a session shows, with its source: for coordinators who do not score in it.

    :param spectrum: its SHA-256; None if there are only pictures
    :param compared: whether it is in the results; gold and training items are not
    """

    item: int
    source: str
    task: str
    spectrum: str | None
    trajectory: Trajectory
    compared: bool
