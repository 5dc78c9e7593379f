"""Put every question to a policy, through the loop of live vetting: in threads for policies that wait for a server, in
processes for those that compute. Questions that are in the journal are not repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
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
    as_completed_limited,
    inspect_one,
    run_units,
    stop_when_unavailable,
)
from agent.conversation import Policy, Stop
from agent.loop import MAX_TURNS
from agent.spectrum import Spectrum, SpectrumError
from agent.tasks import Task
from training.bench.answers import Answers, place
from training.data.records import DataError, Question

KEPT = 5  # messages of failures; the journal has them all


@dataclass(frozen=True)
class InspectionOptions:
    """How every question of a run is inspected; as published: greedy, at most 8 turns, with the tool."""

    policy_for: PolicyFor
    max_turns: int = MAX_TURNS
    with_tool: bool = True
    retries: int = RETRIES


@dataclass
class SessionResult:
    """Result of a session: questions answered, failures (the first messages), and the message that ended it early, if
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
) -> SessionResult:
    """Answer the questions that the journal lacks, and record each answer as it arrives.

    :param concurrency: conversations at a time, in threads
    :param processes: use so many processes instead; for policies that compute
    :param stop: set from another thread, it ends the session; unfinished questions are repeated the next time
    :param progress: called with the number of questions done in this session
    """
    made, since = SessionResult(), monotonic()
    open_ones = [question for question in questions if not answers.has(question)]
    with closing(_outcomes(open_ones, options, concurrency, processes, stop or Stop())) as outcomes:
        try:
            for number, outcome in enumerate(outcomes, start=1):
                answers.add(outcome)
                made.answered += outcome.is_inspected
                made.failed += outcome.has_failed
                if outcome.has_failed and len(made.failures) < KEPT:
                    made.failures += (f"{outcome.job.key}: {outcome.detail}",)
                progress(number)
        except PolicyUnavailable as gone:
            made.gone = str(gone)
    made.seconds = monotonic() - since
    if made.answered:
        answers.add_session(made.answered, made.seconds)
    return made


class _PreparedQuestion:
    """A question for a worker; its spectrum is read by a thread, or before it is sent to a process."""

    def __init__(self, question: Question) -> None:
        self.job = Job(place(question), Path(question.source))
        # A mapping proxy cannot be sent to another process.
        self.task: Task = replace(question.task, references=dict(question.task.references))
        self._read: Callable[[], Spectrum] | None = question.spectrum
        self._found: Spectrum | SpectrumError | None = None

    def spectrum(self) -> Spectrum | SpectrumError:
        if self._read is not None:
            try:
                self._found = self._read()
            except SpectrumError as error:
                self._found = error
            except Exception as error:
                # An error in one row must not end the others.
                cause, found = error.__cause__, f"{type(error).__name__}: {error}"
                self._found = SpectrumError(self.job.key, found, "a spectrum")
                if isinstance(error, DataError) and isinstance(cause, SpectrumError):
                    self._found = SpectrumError(self.job.key, cause.found, cause.expected)
            self._read = None
        assert self._found is not None
        return self._found

    def read(self) -> _PreparedQuestion:
        self.spectrum()
        return self


class _Worker:
    """Answers a question in a thread or a process; the policy is kept."""

    def __init__(self, options: InspectionOptions) -> None:
        self.options = options

    @cached_property
    def _policy_for(self) -> Callable[[int], Policy]:
        return cache(self.options.policy_for)

    def __call__(self, prepared: _PreparedQuestion, stop: Stop) -> list[Outcome]:
        options = self.options
        plan = Plan(prepared.task, options.policy_for, options.max_turns, options.retries, options.with_tool)
        return [inspect_one(prepared.job, prepared, plan, self._policy_for(0), stop)]


def _outcomes(
    questions: Iterable[Question], options: InspectionOptions, concurrency: int, processes: int, stop: Stop
) -> Generator[Outcome, None, None]:
    inner, worker = Stop(), _Worker(options)
    prepared = (_PreparedQuestion(question) for question in questions)
    with stop.waking(inner.set):
        if processes:
            # The reader of a spectrum (an open table, a closure) may not be picklable.
            outcomes = run_units((question.read() for question in prepared), worker, processes, inner)
        else:
            pool = ThreadPoolExecutor(concurrency, thread_name_prefix="bench")
            outcomes = as_completed_limited(pool, _submitted(pool, worker, prepared, inner), 2 * concurrency, inner)
        try:
            yield from stop_when_unavailable(outcomes, (processes or concurrency) + MAX_CONSECUTIVE_FAILURES)
        finally:
            inner.set()
            outcomes.close()


def _submitted(
    pool: ThreadPoolExecutor, worker: _Worker, prepared: Iterable[_PreparedQuestion], stop: Stop
) -> Iterator[Future[list[Outcome]]]:
    for question in prepared:
        yield pool.submit(worker, question, stop)


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
    found = resolved(given)
    runs = lineage(given)
    is_of_a_run = any(run.get("kind") != "base" for run in runs)
    # For weights without a lineage the training data are unknown.
    name = Path(adapter or model).expanduser().name
    return System(name, found.name, found.adapter, stage(runs) if is_of_a_run else "")


def stage(runs: Sequence[Mapping[str, Any]]) -> str:
    """Return the stage that these runs lead to, from the base; a kind that was run twice counts once."""
    kinds = tuple(dict.fromkeys(str(run.get("kind")) for run in runs if run.get("kind") != "base"))
    return STAGES.get(kinds, " + ".join(kinds))


def row_name(name: str, stage: str, with_tool: bool) -> str:
    """Return the name of the row: the system, and in brackets the stage and what was left out."""
    details = ", ".join(filter(None, (stage, "" if with_tool else WITHOUT_TOOL)))
    return f"{name} ({details})" if details else name
