"""Answers to the coordinators in the Blind tab."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import Field

from reviewer.blind.leaks import LeakKind
from reviewer.blind.pictures import PictureState
from reviewer.blind.plan import TextVersion
from reviewer.store.blind.values import BlindState
from reviewer.web.models import Answer, Message, Time
from reviewer.web.models.comments import Colleague


class CandidateStratum(Answer):
    """The items of a source and task; ``barred``: in how many of them each person was involved."""

    source: str
    task: str
    items: int
    drafted: int
    approved: int
    barred: Mapping[str, int]


class ItemList(Answer):
    """A saved list of ``items`` items."""

    id: int
    name: str
    person: str
    items: int


class CandidateFilters(Answer):
    """The values by which candidates can be filtered."""

    states: tuple[str, ...]
    survey: tuple[str, ...]
    batch: tuple[str, ...]
    listed: list[ItemList]


class BlindSetup(Answer):
    """The candidates of a session; ``sources``: the names that its sources can have, by version of the text."""

    strata: list[CandidateStratum]
    sources: dict[TextVersion, list[str]]
    tasks: dict[str, str]
    people: list[Colleague]
    filter: CandidateFilters


class ScorerPreview(Answer):
    """How many questions a scorer gets, and how many candidates they are barred from."""

    initials: str
    questions: int
    barred: int


class SampledTraces(Answer):
    """The number of traces, or pairs, of a source and task in a sample."""

    source: str
    task: str
    number: int


class SampledStratum(Answer):
    """The number of spectra of a stratum in a sample."""

    stratum: tuple[str, ...] = Field(description="its task, and what else the plan tells apart")
    spectra: int


class SharedSpectra(Answer):
    """How many spectra two scorers share at least and at most."""

    least: int
    most: int


class SamplePreview(Answer):
    """What a plan would sample."""

    version: str
    candidates: int
    notes: list[str] = Field(description="what is left out, and why")
    scorers: list[ScorerPreview]
    scores: list[SampledTraces]
    pairs: list[SampledTraces]
    gold: int
    training: int
    spectra: int
    compared: int | None = Field(
        description="number of sources, each with a trace of every spectrum; null: some lack spectra of others"
    )
    strata: list[SampledStratum]
    shared: SharedSpectra | None


class PowerInWords(Answer):
    """The power of a session, one sentence per true difference."""

    sentences: list[str]


class SessionTimes(Answer):
    """When a session was sampled, opened and closed."""

    drawn: Time
    opened: Time | None
    closed: Time | None


class ScorerProgress(Answer):
    """How many of their questions a scorer has answered."""

    scorer: str
    done: int
    questions: int


class BlindSession(Answer):
    """A session as its card shows it: the plan, and of the scoring only how far each person is."""

    id: int
    name: str
    state: BlindState
    plan: dict[str, Any] = Field(description="in the form in which a plan is sent; its SHA-256 is in the log")
    version: TextVersion | None = Field(description="null: from before versions were told apart")
    analysis_sha256: str | None = Field(description="null before the session was opened")
    notes: tuple[str, ...] = Field(description="what the sampling left out, and why")
    drawn_by: str | None
    at: SessionTimes
    progress: list[ScorerProgress]
    withheld: str = Field(description="why the person may not see sources and results now; empty if they may")


class Giveaway(Answer):
    """A passage that tells the source of a trace; ``step`` from 1, 0: the first picture."""

    item: int
    source: str
    step: int
    words: Message
    kind: LeakKind
    sentence: Message


class Separation(Answer):
    """How well a program tells sources apart: the area under the ROC curve with its 95 % interval."""

    auc: float | None
    low: float | None
    high: float | None
    reason: str = Field(description="why there is no ``auc``; empty if there is one")


class Fingerprints(Answer):
    """Length, steps, pictures and wording of the sources, and how well they tell the sources apart."""

    traces: Mapping[str, int]
    medians: Mapping[str, Mapping[str, float]]
    layout: Separation
    wording: Separation
    both: Separation
    sentence: str
    features: Mapping[str, str]
    pictures: Mapping[str, Mapping[PictureState, int]]


class UnopenedSession(Answer):
    """A session of the same sources that was created and not opened."""

    session: int
    seed: int
    created: datetime
    discarded: datetime | None = Field(description="when it was closed without opening; null: it was left")


class EarlierSession(Answer):
    """A session that was opened earlier and showed ``items`` of the same items."""

    session: int
    opened: datetime
    items: int
    scorers: tuple[str, ...] = Field(description="who score in both")


class SessionHistory(Answer):
    """What preceded a session."""

    unopened: tuple[UnopenedSession, ...]
    earlier: tuple[EarlierSession, ...]
