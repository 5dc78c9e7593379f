"""Answers of the Trust section of the Progress tab. Numbers in texts have as many digits as are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from agent.trajectory.steps import Verdict
from reviewer.web.models import Answer, Message
from reviewer.web.models.progress import Estimate


class PolicyItems(Answer):
    """A policy with the number of its items, and of those with P(YES)."""

    name: str
    items: int
    scored: int


class TrustChoice(Answer):
    """What can be chosen, and what is chosen; ``tasks``: titles by key."""

    tasks: Mapping[str, Message]
    task: str
    policies: list[PolicyItems]
    policy: str
    may_download: bool


class NoScores(TrustChoice):
    """No item of the policy has a P(YES)."""

    scored: None
    why_not: str
    command: str | None = Field(description="what a coordinator has to start on the server")


class ScoreModel(Answer):
    """Where P(YES) comes from."""

    model: str
    model_meaning: Message
    text: str


class ReliabilityBin(Answer):
    """``n`` spectra with a mean P(YES), and the share of YES among them with its interval of 95 %."""

    n: int
    mean: float
    share: float
    low: float
    high: float


class ReliabilityDiagram(Answer):
    """The share of YES by P(YES)."""

    bins: list[ReliabilityBin]


class CalibrationErrors(Answer):
    """Calibration and Brier error."""

    meaning: Message
    text: str
    brier_meaning: Message
    brier: str


class TrustFigure(Answer):
    """A number with its meaning; no value: ``note`` says why."""

    name: Message
    meaning: Message
    value: str | None
    note: Message


class PersonSkill(Answer):
    """How often a person is right; ``compared``: of their ``votes``, those with a known label or others' votes."""

    person: str
    votes: int
    compared: int
    sensitivity: Estimate
    specificity: Estimate


class SkillMeanings(Answer):
    """What the columns of the table mean."""

    votes: str
    sensitivity: Message
    specificity: Message


class Skills(Answer):
    """How often people are right, for coordinators; no rows: ``reason`` says why."""

    rows: list[PersonSkill]
    reason: Message
    meanings: SkillMeanings


class CertificateRow(Answer):
    """A certificate, and whether it is in force."""

    file: str
    state: str
    is_valid: bool
    text: Message


class TrustFigures(TrustChoice):
    """The calibration, the rates and the votes of one policy for one class."""

    scored: ScoreModel
    reliability: ReliabilityDiagram
    calibration: CalibrationErrors | None
    rates: list[TrustFigure]
    skill: Skills | None = Field(description="null: not for this person")
    certificates: list[CertificateRow]


class VerdictThreshold(Answer):
    """The threshold of one verdict in P(YES); null: not certified, and the text says why."""

    verdict: Verdict
    threshold: float | None
    text: Message


class Thresholds(Answer):
    """The thresholds for some limits, or what is missing for them."""

    counts: Mapping[str, int] = Field(description="number of cases by verdict")
    sides: list[VerdictThreshold]
    promise: Message
    assumptions: list[Message]
    method: Message
    rates: list[TrustFigure]


class LabelSuspect(Answer):
    """A label that may be wrong."""

    item: int
    name: str
    label: Verdict
    p_yes: float
    reason: Message
    source: Message


class LabelSuspects(Answer):
    """The labels that may be wrong, of ``total``; ``hidden``: why some are not listed."""

    total: int
    items: list[LabelSuspect]
    reason: str
    meaning: Message
    hidden: str


class CertificateFile(BaseModel):
    """The main keys of a certificate, in the form of the files of ``spec-o3 certify``."""

    form: str = Field(alias="schema", description="name and release of its form")
    task: str
    made_at: str
    policy: dict[str, Any]
    labels: dict[str, Any]
