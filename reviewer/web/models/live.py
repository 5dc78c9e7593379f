"""Answers of the Live tab: policies, the bench, and runs with what came of them."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from agent.consensus import What
from agent.loop import Reason
from agent.policies.roster import Kind
from agent.tasks.values import PromptSource
from agent.trajectory.steps import Verdict
from reviewer.live.run import State
from reviewer.web.models import Answer, Message, Time, optional
from reviewer.web.models.evidence import Hint
from reviewer.web.models.item import Trajectory


class LivePolicy(Answer):
    """A policy that can be run; ``samples_ok``: several samples are not all the same."""

    key: str
    title: Message
    kind: Kind
    note: Message
    samples_ok: bool
    checkpoint: bool = Field(description="whether it is taken for a published Spec-o3 checkpoint")


class TrainedPrompts(Answer):
    """The imported prompts by task."""

    trained: dict[str, str]
    problem: str = Field(description="why their file cannot be read; empty if it can")


class PolicyHealth(Answer):
    """Whether a policy can be run now; ``sentence`` says what to do if not."""

    ok: bool
    sentence: Message
    model: str = Field(description="empty: there is none")
    server: str = Field(description="empty: not reported, as is the version")
    version: str
    context: int | None = Field(description="in tokens; null: not reported")
    running: int | None = Field(description="requests of all clients; null: not reported")
    waiting: int | None
    late: bool = Field(description="it did not answer in time, which a busy server does not either")


class RunListed(Answer):
    """A run in a list; ``outcome``: YES, NO or "ask a person"."""

    run: str
    task: str
    policy: str
    samples: int
    started: Time
    state: State
    outcome: str | None = Field(description="null while it runs, and if no sample answered")
    verdicts: list[str | None] = Field(description="by sample")


class BenchSpectrum(Answer):
    """A spectrum on the bench with its runs, oldest first, and the outcome of the newest that answered."""

    id: str
    name: str
    survey: str
    snr: float | None
    spectrum: str = Field(description="its hash")
    simulated: bool
    item: int | None = Field(description="of the library; null: from a file")
    runs: list[str]
    results: list[RunListed]
    verdict: str | None
    verdict_run: str | None


class FilesAdded(Answer):
    """The spectra of files, and why others cannot be read."""

    added: list[BenchSpectrum]
    problems: list[str]


class LibraryRow(Answer):
    """An item whose spectrum can be put on the bench."""

    item: int
    name: str
    task: str
    survey: str
    snr: float | None
    spectrum: str
    simulated: bool


class RunStarted(Answer):
    """A new run; ``dropped``: older runs of the person beyond the limits."""

    run: str
    dropped: list[str]


class RunStopped(Answer):
    """The state of a run that ends as soon as its policy has finished its turn."""

    state: State


class SamplingSettings(Answer):
    """How a policy samples."""

    temperature: float
    top_p: float
    max_tokens: int
    seed: int | None = optional()
    logprobs: bool | None = optional()
    reasoning_effort: str | None = optional()
    extra_body: dict[str, Any] | None = optional()


class ConsensusNode(Answer):
    """What several samples, by number from 0, have in common in one turn."""

    turn: int
    samples: list[int]
    what: What
    window: tuple[float, float] | None = Field(description="observed Å in the medium of the spectrum")
    label: str
    verdict: Verdict | None
    next: list[ConsensusNode]


class Consensus(Answer):
    """The combined result of the samples; ``verdict`` null: ``reasons`` to ask a person."""

    samples: int
    yes: int
    no: int
    none: int
    leaning: Verdict | None
    verdict: Verdict | None
    ask: bool
    reasons: list[Message]
    yes_fraction: float | None
    interval: tuple[float, float] | None
    definition: Message
    snr: float | None
    score: float | None
    parts_at: int | None = Field(description="the first turn in which the samples differ")
    paths: list[ConsensusNode]


class RunState(Answer):
    """A run with its samples; ``traces`` to ``trials`` by sample."""

    id: str
    bench: str
    spectrum: str
    task: str
    prompt: PromptSource
    policy: str
    samples: int
    sampling: SamplingSettings
    max_turns: int
    started: Time
    state: State
    events: int = Field(description="number of the last event")
    traces: list[Trajectory]
    reasons: list[Reason | None] = Field(description="why each has ended; null: it is running")
    hints: list[dict[str, list[Hint]]] = Field(description="by step")
    trials: list[bool] = Field(description="whether its evidence was put on trial")
    consensus: Consensus | None


class TraceRow(Trajectory):
    """A trace with its spectrum, as a row to import."""

    spectrum_data: dict[str, Any]


class SentTrace(Answer):
    """The item of a trace; null: its answer is hidden from the person, or it would name its spectrum."""

    item: int | None
    new: bool


class SentForReview(Answer):
    """The items of traces that were sent to review."""

    items: list[SentTrace]
