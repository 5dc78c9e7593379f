"""Answers to the scorers in the Blind tab. What is no field of these cannot reach a scorer."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent.spectrum.record import Frame, Medium
from agent.trajectory.steps import Verdict
from reviewer.blind.plan import Kind, Preference, Score
from reviewer.blind.rubric import Rubric
from reviewer.web.models import Answer
from reviewer.web.models.queue import TaskText


class SheetPlace(Answer):
    """The place of a sheet in the order of its scorer, from 1."""

    token: str
    kind: Kind
    place: int
    answered: bool
    changeable: int = Field(
        description="how many answers before it can be changed while it is the first without an answer"
    )


class SessionWork(Answer):
    """An open session in which the person scores."""

    session: int
    rubric: Rubric
    places: list[SheetPlace]


class SheetStep(Answer):
    """A step on a sheet. ``text``: of a zoom, the label of its window; ``picture``: its number on the sheet."""

    id: str
    kind: Literal["think", "zoom", "answer"]
    text: str
    verdict: Verdict | None
    window: tuple[float, float] | None
    frame: Frame | None
    z: float | None
    medium: Medium | None
    observation: str
    ok: bool
    picture: int | None
    tool: str


class SheetTrace(Answer):
    """A trace on a sheet; ``overview`` is the number of its first picture."""

    steps: tuple[SheetStep, ...]
    overview: int | None


class SheetScores(Answer):
    """The person's latest scores of a trace."""

    coherence: Score
    consistency: Score
    comment: str
    wrong_steps: tuple[str, ...]


class SheetPreference(Answer):
    """The person's latest answer about a pair."""

    preference: Preference
    comment: str


class Sheet(Answer):
    """A trace to score, or a pair, at ``place`` of ``of``."""

    token: str
    session: int
    kind: Kind
    place: int
    of: int
    question: TaskText
    traces: tuple[SheetTrace, ...] = Field(description="the one to score; or left and right")
    mine: SheetScores | SheetPreference | None
    training: bool = Field(description="it is for practice, and in no result")
