"""Put every question to a policy, through the loop of live vetting: in threads for policies that wait for a server, in
processes for those that compute. Samples that are in the journal are not repeated.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from time import monotonic
from typing import Any

from agent.batch.run import (
    MAX_CONSECUTIVE_FAILURES,
    RETRIES,
    Job,
    Outcome,
    Plan,
    PolicyFor,
    PolicyUnavailable,
    Readable,
    as_completed_limited,
    inspect_one,
    run_units,
    stop_when_unavailable,
)
from agent.conversation import Policy, Stop
from agent.loop import MAX_TURNS
from agent.spectrum import Spectrum, SpectrumError
from agent.tasks import Task
from agent.tool import MEASURE
from training.bench.answers import Answers, place
from training.data.records import DataError, Question

KEPT = 5  # messages of failures; the journal has them all


@dataclass(frozen=True)
class InspectionOptions:
    """How every question of a run is inspected; as published: greedy, at most 8 turns, with the tool.

    :param samples: independent samples of each question
    """

    policy_for: PolicyFor
    max_turns: int = MAX_TURNS
    with_tool: bool = True
    retries: int = RETRIES
    samples: int = 1


@dataclass
class SessionResult:
    """Result of a session: samples answered, failures (the first messages), and the message that ended it early, if
    any.
    """

    answered: int = 0
    failed: int = 0
    failures: tuple[str, ...] = ()
    seconds: float = 0.0
    gone: str = ""


def ask_all(
    questions: Sequence[Question],
    options: InspectionOptions,
    answers: Answers,
    concurrency: int = 1,
    processes: int = 0,
    stop: Stop | None = None,
    progress: Callable[[int], None] = lambda _: None,
    gpus: int | None = None,
) -> SessionResult:
    """Answer the questions that the journal lacks, and record each answer as it arrives.

    :param concurrency: conversations at a time, in threads
    :param processes: use so many processes instead; for policies that compute
    :param stop: set from another thread, it ends the session; unfinished questions are repeated the next time
    :param progress: called with the number of samples done in this session
    :param gpus: the number of GPUs that the policy uses, for the record; None if not known
    """
    session, since = SessionResult(), monotonic()
    missing = [
        (question, tuple(sample for sample in range(options.samples) if not answers.has(question, sample)))
        for question in questions
    ]
    with closing(
        _outcomes([work for work in missing if work[1]], options, concurrency, processes, stop or Stop())
    ) as outcomes:
        try:
            for number, outcome in enumerate(outcomes, start=1):
                answers.add(outcome)
                session.answered += outcome.is_inspected
                session.failed += outcome.has_failed
                if outcome.has_failed and len(session.failures) < KEPT:
                    session.failures += (f"{outcome.job.key}: {outcome.detail}",)
                progress(number)
        except PolicyUnavailable as gone:
            session.gone = str(gone)
    session.seconds = monotonic() - since
    if session.answered:
        answers.add_session(session.answered, session.seconds, gpus)
    return session


class _OnDemand:
    """The spectrum of a question, read on first use by the thread that needs it, once for all its samples."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._lock = threading.Lock()
        self._reading: Spectrum | SpectrumError | None = None

    def spectrum(self) -> Spectrum | SpectrumError:
        with self._lock:
            if self._reading is None:
                self._reading = _read(self._question)
            return self._reading


@dataclass(frozen=True)
class _AlreadyRead:
    """A spectrum that was read before it is sent to a process."""

    reading: Spectrum | SpectrumError

    def spectrum(self) -> Spectrum | SpectrumError:
        return self.reading


def _read(question: Question) -> Spectrum | SpectrumError:
    try:
        return question.spectrum()
    except SpectrumError as error:
        return error
    except Exception as error:
        # An error in one row must not end the others.
        cause = error.__cause__
        if isinstance(error, DataError) and isinstance(cause, SpectrumError):
            return SpectrumError(place(question), cause.actual, cause.expected)
        return SpectrumError(place(question), f"{type(error).__name__}: {error}", "a spectrum")


@dataclass(frozen=True)
class _Unit:
    """Samples of one question for a worker."""

    jobs: tuple[Job, ...]
    task: Task
    reading: Readable


def _unit(question: Question, samples: Iterable[int], reading: Readable) -> _Unit:
    jobs = tuple(Job(place(question), Path(question.source), sample=sample) for sample in samples)
    # A mapping proxy cannot be sent to another process.
    return _Unit(jobs, replace(question.task, references=dict(question.task.references)), reading)


def _for_threads(work: Iterable[tuple[Question, Sequence[int]]]) -> Iterator[_Unit]:
    """Yield one unit per sample; the samples of a question share the reading of its spectrum."""
    for question, samples in work:
        reading = _OnDemand(question)
        yield from (_unit(question, (sample,), reading) for sample in samples)


def _for_processes(work: Iterable[tuple[Question, Sequence[int]]]) -> Iterator[_Unit]:
    """Yield one unit per question. The spectrum is read here, because its reader (an open table, a closure) may not be
    picklable.
    """
    return (_unit(question, samples, _AlreadyRead(_read(question))) for question, samples in work)


class _Worker:
    """Answers a question in a thread or a process; the policy of each sample is kept."""

    def __init__(self, options: InspectionOptions) -> None:
        self.options = options

    @cached_property
    def _policy_for(self) -> Callable[[int], Policy]:
        return cache(self.options.policy_for)

    def __call__(self, unit: _Unit, stop: Stop) -> list[Outcome]:
        options = self.options
        plan = Plan(unit.task, options.policy_for, options.max_turns, options.retries, options.with_tool)
        return [inspect_one(job, unit.reading, plan, self._policy_for(job.sample), stop) for job in unit.jobs]


def _outcomes(
    work: Iterable[tuple[Question, Sequence[int]]],
    options: InspectionOptions,
    concurrency: int,
    processes: int,
    stop: Stop,
) -> Generator[Outcome, None, None]:
    inner, worker = Stop(), _Worker(options)
    with stop.waking(inner.set):
        if processes:
            outcomes = run_units(_for_processes(work), worker, processes, inner)
        else:
            pool = ThreadPoolExecutor(concurrency, thread_name_prefix="bench")
            submitted = (pool.submit(worker, unit, inner) for unit in _for_threads(work))
            outcomes = as_completed_limited(pool, submitted, 2 * concurrency, inner)
        try:
            yield from stop_when_unavailable(outcomes, (processes or concurrency) + MAX_CONSECUTIVE_FAILURES)
        finally:
            inner.set()
            outcomes.close()


STAGES: Mapping[tuple[str, ...], str] = {
    (): "base",
    ("sft",): "SFT",
    ("grpo",): "RL without SFT",
    ("sft", "grpo"): "SFT + RL",
}
"""What the ablations of the paper call a model, by the runs that made it (``training.run.lineage``)."""
WITHOUT_TOOL = "without the tool"


@dataclass(frozen=True)
class System:
    """Weights to load, their name, and their training stage ("" if unknown)."""

    name: str
    model: str
    adapter: str | None = None
    stage: str = ""


def system_of(model: str, adapter: str | None = None) -> System:
    """Return the weights that ``--model`` names; for the folder of a training run, those of the run.

    :raises ModelError: an adapter that does not name its base, or one on another
    """
    from training.model import resolved
    from training.run import lineage
    from training.settings import ModelSettings

    given = ModelSettings(model, adapter)
    used = resolved(given)
    runs = lineage(given)
    is_of_a_run = any(run.get("kind") != "base" for run in runs)
    # For weights without a lineage the training data are unknown.
    name = Path(adapter or model).expanduser().name
    return System(name, used.name, used.adapter, stage(runs) if is_of_a_run else "")


def stage(runs: Sequence[Mapping[str, Any]]) -> str:
    """Return the stage that these runs lead to, from the base; a kind that was run twice counts once."""
    kinds = tuple(dict.fromkeys(str(run.get("kind")) for run in runs if run.get("kind") != "base"))
    return STAGES.get(kinds, " + ".join(kinds))


def added(policy: Mapping[str, Any]) -> str:
    """Return what a policy has beside the published tool: examples in the prompt, ``measure``, ``sky_context``; "" for
    none of them.

    :param policy: the settings of its drafter
    """
    examples = f"with {policy['examples']} examples" if policy.get("examples") else ""
    return ", ".join(
        filter(None, (examples, "with measure" if policy.get(MEASURE) else "", "with sky" if policy.get("sky") else ""))
    )


def row_name(name: str, stage: str, with_tool: bool, samples: int = 1, more: str = "") -> str:
    """Return the name of the row: the system, and in brackets the stage, what was left out or added, and the vote."""
    vote = f"majority of {samples}" if samples > 1 else ""
    details = ", ".join(filter(None, (stage, more if with_tool else WITHOUT_TOOL, vote)))
    return f"{name} ({details})" if details else name
