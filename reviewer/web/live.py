"""The state of the Live tab: policies, benches and runs of all people, and how a run is started."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request
from pydantic import Field

from agent.conversation import Policy, PolicyError
from agent.language import tr
from agent.loop import MAX_TURNS
from agent.policies import Sampling
from agent.policies.roster import Entry, Roster
from agent.spectrum import Spectrum
from agent.tasks import Task, TaskError
from agent.tasks.trained import PromptChoice, TrainedPrompt, choose, load, prompts_file
from agent.trajectory import Drafter, Trajectory
from reviewer.live.bench import Bench, Benches, Row
from reviewer.live.run import Run, RunSettings, Sample
from reviewer.live.runs import AT_ONCE, Runs
from reviewer.live.trials import LiveTrial
from reviewer.reading import Uploads
from reviewer.rules.item_numbers import item_of_alias
from reviewer.rules.people import Person
from reviewer.store import NotFound
from reviewer.web.context import Context, PersonDep
from reviewer.web.requests import Sent
from reviewer.web.verdict_first import hash_of, neutral_spectrum
from reviewer.web.visibility import VisibleItems

MOST_SAMPLES = 32
MOST_TURNS = 32
SPREAD = 1.0
"""Default temperature of several samples: at 0 they would all be the same."""


class RunRequest(Sent):
    """A request to start a run. Missing values are the policy's defaults; the temperature of several samples is 1."""

    bench: str
    task: str
    policy: str
    prompt: PromptChoice | None = None
    samples: Annotated[int, Field(ge=1, le=MOST_SAMPLES)] = 1
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=100_000)] | None = None
    max_turns: Annotated[int, Field(ge=1, le=MOST_TURNS)] = MAX_TURNS
    reasoning_effort: Annotated[str, Field(pattern="^[a-z]{1,20}$")] | None = None
    extra_body: Annotated[dict[str, Any], Field(max_length=20)] | None = None


class Live:
    """What the routes work on; the app keeps one in ``app.state.live``."""

    def __init__(self, context: Context, roster: Roster) -> None:
        self.context = context
        self.roster = roster
        self.runs = Runs(context.hints)
        self.benches = Benches(context.gallery)
        self.uploads = Uploads()

    def start(self, person: Person, row: Row, spectrum: Spectrum, sent: RunRequest) -> Run:
        """Start a run.

        :raises NotFound: there is no such task
        :raises PolicyError: the policy is not on the roster, or does not support these settings; or the prompt as
            trained is wanted and has not been imported
        :raises NotAllowed: the person scores the trace to be replayed blind
        :raises TooManyRunning: this person has as many running runs as allowed
        """
        entry = self.roster.entry(sent.policy)
        task = self.task(sent.task, entry, sent.prompt)
        if sent.samples > 1 and not entry.samples_ok:
            raise PolicyError(
                tr("{title} gives the same answer each time, so one sample is enough.", title=entry.title)
            )
        sampling = _sampling(self.roster.sampling(entry.key), sent)
        stored = self._stored(row, person) if entry.kind == "replay" else None
        policies = [
            self.roster.policy(entry.key, sampling.for_sample(number), trajectory=stored)
            for number in range(sent.samples)
        ]
        settings = RunSettings(
            bench=row.id,
            spectrum=spectrum,
            task=task,
            policy=entry.key,
            drafter=_drafter(entry, sampling, policies[0]),
            sampling=sampling,
            samples=sent.samples,
            max_turns=sent.max_turns,
            at_once=AT_ONCE if entry.kind == "server" else 1,
        )
        return self.runs.start(person.initials, settings, policies)

    def task(self, key: str, entry: Entry, prompt: PromptChoice | None = None) -> Task:
        """Return a task with the prompt that a policy reads.

        :raises NotFound: there is no such task
        :raises PolicyError: the prompt as trained is wanted and has not been imported
        """
        task = self.context.tasks.get(key)
        if task is None:
            raise NotFound(tr("There is no task {task!r:.60}.", task=key))
        try:
            prompts = {} if prompt == "ours" else self.prompts()
            return choose(task, prompts, prompt, self.roster.is_checkpoint(entry.key))
        except TaskError as error:
            raise PolicyError(str(error)) from error

    def put_on_trial(self, run: Run, sample: Sample) -> LiveTrial:
        """Put the evidence of a finished sample on trial.

        :raises PolicyError: the policy repeats a stored trace, whatever it sees
        :raises TrajectoryError: the sample is still running, or has no tool call
        :raises TooManyRunning: a trial of this person is running
        """
        if self.roster.entry(run.settings.policy).kind == "replay":
            raise PolicyError(
                tr("Replay repeats a stored trace whatever it sees, so its evidence cannot be put on trial.")
            )
        return self.runs.try_evidence(run, sample)

    def prompts(self) -> dict[str, TrainedPrompt]:
        """Return the imported prompts by task, read anew. :raises TaskError: their file cannot be used"""
        return load(prompts_file(self.context.store.path.resolve().parent))

    def _stored(self, row: Row, person: Person) -> Trajectory:
        """Return the trajectory to replay: the current version of the item."""
        if row.item is None:
            raise PolicyError(tr("Replay repeats a stored trace: add the spectrum from the library."))
        return VisibleItems(self.context.store, person).item(row.item).version.trajectory

    def spectrum(self, person: Person, sha256: str) -> Spectrum:
        """Return the spectrum with this hash on the person's bench or in their runs. :raises NotFound: there is none"""
        runs = self.runs.all_of(person.initials)
        known = (run.settings.spectrum for run in runs if run.settings.spectrum.sha256 == sha256)
        spectrum = self.benches.of(person.initials).with_hash(sha256) or next(known, None)
        if spectrum is None:
            raise NotFound(tr("This spectrum is no longer on your bench; add it again."))
        return spectrum

    def close(self) -> None:
        """Stop all runs and delete all files."""
        self.runs.close()
        self.benches.close()


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Close ``app.state.live`` when the server stops."""
    yield
    app.state.live.close()


def sample_of(run: Run, number: int) -> Sample:
    """Return a sample of a run. :raises NotFound: the run has no such sample"""
    if not 0 <= number < len(run.samples):
        raise NotFound(
            tr(
                "This run has no sample {number}; it has {n_samples}, from 0.",
                number=number,
                n_samples=len(run.samples),
            )
        )
    return run.samples[number]


def _live(request: Request) -> Live:
    live: Live = request.app.state.live
    return live


LiveDep = Annotated[Live, Depends(_live)]


def _run(person: PersonDep, live: LiveDep, run: str) -> Run:
    return live.runs.of(person.initials, run)


def _bench(person: PersonDep, live: LiveDep) -> Bench:
    return live.benches.of(person.initials)


def _sample(run: Annotated[Run, Depends(_run)], sample: int = 0) -> Sample:
    return sample_of(run, sample)


def _spectrum(person: PersonDep, live: LiveDep, sha256: str) -> Spectrum:
    """Return a stored spectrum, or one of the person's bench and runs; by its alias, without what tells the class.

    :raises NotFound: there is none
    """
    item_id = item_of_alias(sha256)
    if item_id is not None:
        return neutral_spectrum(live.context.gallery.spectrum(hash_of(live.context.store, sha256)), item_id)
    try:
        return live.context.gallery.spectrum(sha256)
    except NotFound:
        return live.spectrum(person, sha256)


def _queried_spectrum(person: PersonDep, live: LiveDep, spectrum: str) -> Spectrum:
    return _spectrum(person, live, spectrum)


def _trial(sample: Annotated[Sample, Depends(_sample)]) -> LiveTrial:
    """Return the trial of a sample. :raises NotFound: there is none"""
    if sample.trial is None:
        raise NotFound(tr("The evidence of this trace has not been put on trial."))
    return sample.trial


RunDep = Annotated[Run, Depends(_run)]
BenchDep = Annotated[Bench, Depends(_bench)]
SampleDep = Annotated[Sample, Depends(_sample)]
TrialDep = Annotated[LiveTrial, Depends(_trial)]
SpectrumDep = Annotated[Spectrum, Depends(_spectrum)]
"""The spectrum whose hash is ``sha256`` in the path."""
QueriedSpectrumDep = Annotated[Spectrum, Depends(_queried_spectrum)]
"""The spectrum whose hash is ``spectrum`` in the query."""


def _sampling(usual: Sampling, sent: RunRequest) -> Sampling:
    temperature = sent.temperature
    if temperature is None:
        temperature = SPREAD if sent.samples > 1 else usual.temperature
    try:
        return replace(
            usual,
            temperature=temperature,
            max_tokens=sent.max_tokens or usual.max_tokens,
            seed=sent.seed,
            reasoning_effort=sent.reasoning_effort or usual.reasoning_effort,
            extra_body=usual.extra_body if sent.extra_body is None else sent.extra_body,
        )
    except ValueError as wrong:
        raise PolicyError(str(wrong)) from wrong


def _drafter(entry: Entry, sampling: Sampling, policy: Policy) -> Drafter:
    """Return the drafter without waiting for a server or a model to report its name."""
    if entry.kind in ("server", "local"):
        return Drafter("model", entry.title, sampling.settings())
    return policy.drafter
