"""What the store tells of blind sessions while they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from agent.trajectory import Trajectory
from reviewer.blind.leaks import Leak
from reviewer.blind.plan import Kind, Plan
from reviewer.blind.rubric import Rubric
from reviewer.blind.sheet import Question

BlindState = Literal["drawn", "open", "closed"]


@dataclass(frozen=True)
class BlindSession:
    """A session as its coordinator sees it: the plan names the sources, so scorers are not shown it.

    :param questions: what each task asks, in the words of the day it was drawn
    :param notes: what the drawing left out, and why
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


@dataclass(frozen=True)
class BlindProgress:
    """How far one scorer has come: nothing of what they said."""

    scorer: str
    done: int
    asked: int


@dataclass(frozen=True)
class BlindWork:
    """One assignment of an open session, in its scorer's order. Neither the session's name nor a source."""

    session: int
    token: str
    kind: Kind
    place: int
    answered: bool


@dataclass(frozen=True)
class SheetSource:
    """What stands behind a sheet, for the server alone: from it spectrum and pictures are drawn.

    :param trajectories: the one to score; or left and right
    :param spectrum: its SHA-256; None where there are only pictures
    """

    trajectories: tuple[Trajectory, ...]
    spectrum: str | None


@dataclass(frozen=True)
class ToJudge:
    """One thing to ask a model judge.

    :param shown: the version; of a pair both, the left one first
    :param trajectories: the same, in the same order; whoever asks makes sheets of them
    :param spectrum: its SHA-256; None where there are only pictures
    """

    kind: Kind
    shown: tuple[int, ...]
    question: Question
    trajectories: tuple[Trajectory, ...]
    spectrum: str | None


@dataclass(frozen=True)
class LeakFound:
    """Words of a drawn trajectory that tell who wrote it. ``step`` counts from 1; ``sentence`` is where they
    stand."""

    item: int
    source: str
    step: int
    giveaway: Leak
    sentence: str
