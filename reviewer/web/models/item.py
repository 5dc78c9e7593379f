"""An item and its parts: the trace, the standing, marks, inspections, the trial of its evidence, and its history."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from agent.spectrum.record import Frame, Medium
from agent.tool import TOOL_NAME
from agent.trajectory.steps import Verdict
from agent.trial.report import Edit
from reviewer.rules.workflow import Round, State, Verb
from reviewer.store import MarkKind, OwnVerdict
from reviewer.web.models import Answer, Time, optional
from reviewer.web.models.queue import Drafter, QueueRow


class ThinkStep(Answer):
    """A thought."""

    id: str
    kind: Literal["think"]
    text: str


class ZoomDrawn(Answer):
    """A tool call and what the tool answered."""

    arguments: dict[str, Any] = Field(description="as the agent wrote them, which may be no valid call")
    frame: Frame
    z: float
    medium: Medium
    observation: str
    ok: bool
    picture: str | None = Field(description="SHA-256 of the pixels, which names the picture; null: none was drawn")
    tool: str | None = optional(
        "absent: the tool that shows a window; measure, sky_context, or the name of another agent's tool"
    )

    @field_validator("tool", mode="before")
    @classmethod
    def _as_stored(cls, tool: str | None) -> str | None:
        """A step goes back as it was stored, or it would count as edited."""
        return None if tool == TOOL_NAME else tool


class ZoomStep(ZoomDrawn):
    """A tool call as a step of a trace."""

    id: str
    kind: Literal["zoom"]


class AnswerStep(Answer):
    """The answer of a trace."""

    id: str
    kind: Literal["answer"]
    verdict: Verdict | None
    explanation: str
    score: float | None = optional("log odds of YES, if the policy gave them")


TraceStep = Annotated[ThinkStep | ZoomStep | AnswerStep, Field(discriminator="kind")]


class SpectrumNamed(Answer):
    """The spectrum of a trace."""

    name: str
    sha256: str | None


class DrafterSettings(Drafter):
    """What wrote a draft, with the settings that it states."""

    settings: dict[str, Any]


class Trajectory(Answer):
    """A trace. Keys without a value are left out, and so is what is hidden until the person has given a verdict."""

    form: str | None = optional("name and release of the form", key="schema")
    task: str
    system: str | None = optional()
    prompt: str
    spectrum: SpectrumNamed
    redshift: float | None
    medium: Medium
    overview: str | None = Field(description="name of the picture of the whole spectrum")
    drafter: DrafterSettings
    label: Verdict | None = Field(description="the known label; null until the item is decided")
    label_source: str | None = optional()
    simulated: bool
    steps: list[TraceStep]
    faults: list[str]
    cannot_tell: str | None = optional("why the data allow no answer")
    medium_assumed: bool | None = optional()
    medium_set_by: str | None = optional("who stated the medium")
    authors: list[str] | None = optional("people who wrote the text before it was imported")


class Decision(Answer):
    """A decision that a person made."""

    person: str
    round: Round | None
    verb: Verb
    reason: str
    comment: str


class RecordedDecision(Decision):
    """A decision in the history of an item; the last three keys only of decisions that are open to the person."""

    version: int | None = optional()
    at: Time | None = optional()
    withdrawn: bool | None = optional()


class RoundProgress(Answer):
    """The decisions of the present round: how many there are, how many it needs, and the same in words."""

    progress: str
    done: int
    needed: int


class ItemStanding(RoundProgress):
    """The standing of an item, as far as the person may know it."""

    state: State
    round: Round | None
    disagreement: bool
    decisions: list[Decision]
    stale: list[Decision] = Field(description="of earlier versions: shown, but not counted")
    withheld: int = Field(description="number of decisions that the person may not see yet")
    solo: bool


class OfferedVerb(Answer):
    """A decision of the round that is open."""

    verb: Verb
    label: str
    refusal: str | None = Field(description="why it is not possible; null if it is")
    refusal_if_changed: str | None = Field(
        description="the same once a version with changes of the text is saved, as submitting does"
    )


class Permissions(Answer):
    """What the person may do with an item."""

    verbs: list[OfferedVerb]
    edit: str | None = Field(description="why editing is not possible; null if it is")
    undo: bool


class Mark(Answer):
    """A person's own mark on a step."""

    mark: MarkKind
    note: str


class OthersMark(Mark):
    """A mark by another person."""

    step: str
    person: str


class Marks(Answer):
    """Marks on the steps of a version; ``mine`` by step."""

    mine: dict[str, Mark]
    others: list[OthersMark]


class Inspection(Answer):
    """What a person found in a spectrum; ``z`` in the medium and frame of the spectrum."""

    person: str
    z: float | None
    quality: int | None
    issues: str
    spectype: str
    comment: str


class MergedInspection(Answer):
    """The inspections of several people as one result; ``conflict`` is what a third person has to decide."""

    people: tuple[str, ...]
    z: float | None
    quality: float | None
    spectype: str
    issues: str
    secure: bool
    conflict: tuple[str, ...]


class Inspections(Answer):
    """The inspections of a spectrum that the person may see."""

    mine: Inspection | None
    others: list[Inspection]
    merged: MergedInspection | None


class ChangeRequest(Answer):
    """Who returned an item, when, and what is to be changed."""

    person: str
    comment: str
    at: Time


class CurrentVersion(Answer):
    """The version of an item that is judged now."""

    id: int
    number: int
    author: str | None
    reason: str
    at: Time


class Autosave(Answer):
    """The person's unsent text on a version; ``at`` identifies it."""

    base: int
    body: dict[str, Any] = Field(description="as the page sent it: steps and comment")
    at: str


class Share(Answer):
    """``k`` of ``n``."""

    k: int
    n: int


class TrialOutcome(Answer):
    """One edit of the spectrum behind a tool call; ``agent.trial.report.EditOutcome`` describes it."""

    number: int = Field(description="place in the stored trial, which names the picture")
    step: str
    edit: Edit
    subject: str
    window: tuple[float, float] | None = Field(description="null: records of catalogues were edited")
    frame: Frame
    medium: Medium
    energy: float
    verdict_before: Verdict | None
    verdict_after: Verdict | None
    score_before: float | None
    score_after: float | None
    claimed_before: bool
    claimed_after: bool
    followed: bool


class TrialSkipped(Answer):
    """A tool call, or one edit of it, that could not be tested."""

    step: str
    edit: Edit | None
    reason: str


class Trial(Answer):
    """Evidence on trial."""

    of_this_version: Literal[True]
    key: str = Field(description="names it in the addresses of its pictures")
    drafter: Drafter
    temperature: float | None = Field(description="of the sampling; null where the policy always writes the same")
    seed: int
    passed: bool | None
    necessity: Share
    sufficiency: Share
    placebo: Share
    still_claims: Share
    sky_necessity: Share | None = optional("absent: no records of catalogues were edited")
    sky_placebo: Share | None = optional("absent: no records of catalogues were edited")
    outcomes: list[TrialOutcome]
    skipped: list[TrialSkipped]


class OtherTrial(Answer):
    """Another version of the text was tried, not this one."""

    of_this_version: Literal[False]


class ItemTask(Answer):
    """The task of an item."""

    key: str
    title: str


class Item(Answer):
    """An item for one person; what they must not see yet is left out."""

    id: int
    stamp: str = Field(description="changes with each version and decision")
    row: QueueRow
    task: ItemTask
    trajectory: Trajectory
    draft_cannot_tell: str | None = Field(
        description="why the drafter's answer is a default; null where the data allow an answer"
    )
    answer_confirmed: bool = Field(description="whether a person changed or confirmed such an answer")
    hidden: bool = Field(description="the person has to give their own verdict first")
    my_verdict: OwnVerdict | None
    simbad: str | None = optional(
        "address of SIMBAD at the position; only after your own verdict, or once it is decided"
    )
    originals: list[TraceStep] = Field(description="the steps of the draft, once there is another version")
    edited_by: dict[str, str] = Field(description="who last changed a step, by step")
    version: CurrentVersion
    assigned: tuple[str, ...]
    standing: ItemStanding
    may: Permissions
    marks: Marks
    request: ChangeRequest | None = Field(description="of an item that was returned")
    trial: Trial | OtherTrial | None
    inspection: Inspections
    autosave: Autosave | None


class VersionText(Answer):
    """A version in the history of an item."""

    number: int
    author: str | None
    before_import: tuple[str, ...]
    reason: str
    at: Time
    steps: list[TraceStep]


class History(Answer):
    """The versions and decisions of an item, oldest first; ``withheld``: only what is open to the person."""

    withheld: bool
    versions: list[VersionText]
    decisions: list[RecordedDecision]


class Reading(Answer):
    """A version of an item, ``of`` so many."""

    number: int
    of: int
    author: str | None
    at: Time
    trajectory: Trajectory


class OtherTrace(Answer):
    """Another trace of the same spectrum."""

    id: int
    drafter: Drafter
    task: ItemTask
    state: State
    version: int
    answer: Verdict | None


class OtherTraces(Answer):
    """Other traces of the same spectrum that the person may see."""

    others: list[OtherTrace]
