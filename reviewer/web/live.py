"""The Live tab's desk: who can be asked, everybody's bench and runs, and how a run is put together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Annotated

from fastapi import Depends, FastAPI, Request
from pydantic import Field

from agent.conversation import Policy, PolicyError
from agent.loop import MAX_TURNS
from agent.policies import Sampling
from agent.policies.roster import Entry, Roster
from agent.spectrum import Spectrum
from agent.trajectory import Drafter, Trajectory
from reviewer.live.bench import Bench, Benches, Row
from reviewer.live.run import Asked, Run, Sample
from reviewer.live.runs import AT_ONCE, Runs
from reviewer.rules.people import Person
from reviewer.store import NotFound
from reviewer.web.context import Context, Who
from reviewer.web.requests import Sent
from reviewer.web.visibility import Withheld

MOST_SAMPLES = 32
MOST_TURNS = 32
SPREAD = 1.0
"""Temperature of several samples where none is given: at 0 they would all be the same."""


class RunAsked(Sent):
    """What to run. What is not given is the policy's own default; the temperature of several samples is 1."""

    bench: str
    task: str
    policy: str
    samples: Annotated[int, Field(ge=1, le=MOST_SAMPLES)] = 1
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=100_000)] | None = None
    max_turns: Annotated[int, Field(ge=1, le=MOST_TURNS)] = MAX_TURNS


class Live:
    """What the routes work on; the server puts one into ``app.state.live``."""

    def __init__(self, context: Context, roster: Roster) -> None:
        self.context = context
        self.roster = roster
        self.runs = Runs(context.hints)
        self.benches = Benches(context.gallery)

    def start(self, person: Person, row: Row, spectrum: Spectrum, sent: RunAsked) -> Run:
        """Begin a run.

        :raises NotFound: there is no such task
        :raises PolicyError: the policy is not on the roster, or cannot be asked so
        :raises NotAllowed: its trace was to be replayed, and the person scores it blind
        :raises TooManyRunning: this person has as many going as one may
        """
        task, entry = self.context.tasks.get(sent.task), self.roster.entry(sent.policy)
        if task is None:
            raise NotFound(f"There is no task {sent.task!r:.60}.")
        if sent.samples > 1 and not entry.samples_ok:
            raise PolicyError(f"{entry.title} says the same each time, so one sample is enough.")
        sampling = _sampling(self.roster.sampling(entry.key), sent)
        stored = self._stored(row, person) if entry.kind == "replay" else None
        policies = [
            self.roster.policy(entry.key, sampling.for_sample(number), trajectory=stored)
            for number in range(sent.samples)
        ]
        asked = Asked(
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
        return self.runs.start(person.initials, asked, policies)

    def _stored(self, row: Row, person: Person) -> Trajectory:
        """What a replay says again: the text that the library has now."""
        if row.item is None:
            raise PolicyError("Replay says a stored trace again: take the spectrum from the library.")
        return Withheld(self.context.store, person).item(row.item).version.trajectory

    def close(self) -> None:
        """Stop all runs and delete all files."""
        self.runs.close()
        self.benches.close()


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Closes ``app.state.live`` with the server."""
    yield
    app.state.live.close()


def sample_of(run: Run, number: int) -> Sample:
    """:raises NotFound: the run has no such sample"""
    if not 0 <= number < len(run.samples):
        raise NotFound(f"This run has no sample {number}; it has {len(run.samples)}, from 0.")
    return run.samples[number]


def _live(request: Request) -> Live:
    live: Live = request.app.state.live
    return live


Here = Annotated[Live, Depends(_live)]


def _run(person: Who, live: Here, run: str) -> Run:
    return live.runs.of(person.initials, run)


def _bench(person: Who, live: Here) -> Bench:
    return live.benches.of(person.initials)


def _sample(run: Annotated[Run, Depends(_run)], sample: int = 0) -> Sample:
    return sample_of(run, sample)


Mine = Annotated[Run, Depends(_run)]
OnBench = Annotated[Bench, Depends(_bench)]
One = Annotated[Sample, Depends(_sample)]


def _sampling(usual: Sampling, sent: RunAsked) -> Sampling:
    temperature = sent.temperature
    if temperature is None:
        temperature = SPREAD if sent.samples > 1 else usual.temperature
    return replace(usual, temperature=temperature, max_tokens=sent.max_tokens or usual.max_tokens, seed=sent.seed)


def _drafter(entry: Entry, sampling: Sampling, policy: Policy) -> Drafter:
    """Who thinks, without waiting for a server or a model to say so itself."""
    if entry.kind in ("server", "local"):
        return Drafter("model", entry.title, sampling.settings())
    return policy.drafter
