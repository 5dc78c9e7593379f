"""Run a judge over the questions of a session that it has not answered yet, many at a time.

Each answer is stored before its thread sends the next question, so an interrupted run resumes without repeating any.
The order is pseudo-random, so that the part left out by a budget is not a particular kind of trace.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field, replace

from agent.conversation import ConversationTooLong, PolicyError, Stop, Usage
from agent.errors import Refusal
from agent.language import tr
from agent.tasks import Task
from agent.trajectory import Trajectory
from reviewer.blind.judge.measured import MeasuredValues, measured_values
from reviewer.blind.judge.model import FIXED_SETTINGS, Judge, JudgeQuestion, Stopped, TooLong
from reviewer.blind.judge.prompts import TraceForJudge
from reviewer.blind.pictures import PictureUnavailable, neutral_pictures
from reviewer.blind.plan import Dimension
from reviewer.blind.results import Judgement
from reviewer.blind.sheet import trace_of
from reviewer.drafting.budget import Budget, Prices
from reviewer.rules.campaign import known_tasks
from reviewer.store import KeyReused, Store, ToJudge

MAX_FAILURES_IN_A_ROW = 5
"""Consecutive failures, in addition to the requests in progress, after which the run ends."""


class JudgeMismatch(Refusal, ValueError):
    """A judge's name that belongs to another model, or to the same one with other settings."""


class NothingToJudge(Refusal, ValueError):
    """A session without a question for this judge."""


@dataclass
class JudgeRun:
    """The counts of a run; nothing of the judge's answers.

    :param questions: all questions; ``before`` of them were answered in earlier runs
    :param again: questions that were sent twice; ``unreadable`` of them remained without an answer
    :param scores: new judgements of traces: one per sample, and one per dimension if these are asked separately
    :param orders: new judgements of pairs, each in one order
    :param failed: one sentence per question that failed
    :param too_long: one sentence per question that was not sent because it does not fit in the server's context
    :param gone: why the run ended early
    """

    questions: int = 0
    before: int = 0
    scores: int = 0
    orders: int = 0
    again: int = 0
    unreadable: int = 0
    reasoned: int = 0
    failed: list[str] = field(default_factory=list)
    too_long: list[str] = field(default_factory=list)
    gone: str = ""

    @property
    def judged(self) -> int:
        """Return the number of new judgements."""
        return self.scores + self.orders

    @property
    def left(self) -> int:
        return self.questions - self.before - self.judged

    def add(self, judgement: Judgement) -> None:
        self.scores += judgement.kind == "scores"
        self.orders += judgement.kind == "pair"
        self.again += len(judgement.replies) > 1
        self.unreadable += judgement.answer is None
        self.reasoned += bool(judgement.reasoning)


def judge_session(
    store: Store,
    by: str | None,
    session_id: int,
    judge: Judge,
    spending: Budget,
    concurrency: int = 1,
    stop: Stop | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> JudgeRun:
    """Send a judge all unanswered questions of a session that is or was open.

    :param by: the coordinator; None: the owner of the file
    :param spending: no question is sent that might exceed the budget; ``spending.ended`` then has the reason
    :param progress: called with the number of answers so far, and of all
    :raises JudgeMismatch: the name belongs to another judge of this session
    :raises NothingToJudge: there are pairs only, and the judge judges one dimension
    :raises NotAllowed: ``by`` is no coordinator, or the session has not been open
    :raises NotFound: there is no such session
    """
    every = _ordered_questions(store, by, session_id, judge)
    _check_same_judge(store, by, session_id, judge)
    done = store.blind.judging.recorded_keys(by, session_id, judge.name)
    to_do = [question for question in every if question.key(session_id, judge.name) not in done]
    material = _Material(store, judge)
    tally = JudgeRun(questions=len(every), before=len(every) - len(to_do))
    inner, in_a_row = Stop(), 0

    def judge_one(request: _Request) -> Judgement | TooLong | str | None:
        outcome = _judge_one(material, judge, request, spending, inner)
        if isinstance(outcome, Judgement):
            # Already recorded, if another run with the same judge is in progress.
            with suppress(KeyReused):
                key = request.key(session_id, judge.name)
                store.blind.judging.record(by=by, session_id=session_id, judgement=outcome, key=key)
        return outcome

    with (stop or Stop()).waking(inner.set), ThreadPoolExecutor(concurrency, "judge") as pool:
        try:
            futures = [pool.submit(judge_one, question) for question in to_do]
            for number, future in enumerate(as_completed(futures), start=1):
                outcome = future.result()
                if isinstance(outcome, Judgement):
                    tally.add(outcome)
                    in_a_row = 0
                elif isinstance(outcome, TooLong):
                    tally.too_long.append(str(outcome))
                elif outcome:
                    tally.failed.append(outcome)
                    in_a_row += 1
                if in_a_row >= concurrency + MAX_FAILURES_IN_A_ROW and not inner.is_set:
                    tally.gone = tr(
                        "{n} questions in a row failed, the last one: {outcome}", n=in_a_row, outcome=outcome
                    )
                    inner.set()
                progress(number, len(to_do))
        finally:
            inner.set()
    return tally


@dataclass(frozen=True)
class _Request:
    """One request to the judge: a question of the session, with its dimensions and its sample."""

    about: ToJudge
    dimensions: tuple[Dimension, ...]
    sample: int
    separately: bool

    def key(self, session_id: int, judge: str) -> str:
        """Return the idempotency key of its judgement. The first sample has the key of a judge without samples."""
        parts = [f"judge/{session_id}/{judge}/{'-'.join(map(str, self.about.shown))}"]
        if self.separately and self.about.kind == "scores":
            parts += self.dimensions
        if self.sample > 1:
            parts.append(f"sample {self.sample}")
        return "/".join(parts)


def _ordered_questions(store: Store, by: str | None, session_id: int, judge: Judge) -> list[_Request]:
    """Return the requests: all of the first sample, then all of the next. Both orders of a pair are adjacent, so that
    few pairs are left with one order only, as are the dimensions of a trace.
    """
    chosen = judge.configuration
    every = store.blind.judging.questions(by, session_id)
    if len(chosen.dimensions) == 1:
        every = tuple(question for question in every if question.kind == "scores")
        if not every:
            raise NothingToJudge(
                tr(
                    "session {session_id}: found pairs only, which a judge of one dimension does not get, as "
                    "their question is about both dimensions; use --dimension both",
                    session_id=session_id,
                )
            )

    def place(to_judge: ToJudge) -> tuple[str, tuple[int, ...]]:
        about = f"{session_id}: {sorted(to_judge.shown)}"
        return hashlib.sha256(about.encode()).hexdigest(), to_judge.shown

    return [
        _Request(question, dimensions, sample, chosen.separately)
        for sample in range(1, chosen.samples + 1)
        for question in sorted(every, key=place)
        for dimensions in (chosen.requests if question.kind == "scores" else (chosen.dimensions,))
    ]


def _check_same_judge(store: Store, by: str | None, session_id: int, judge: Judge) -> None:
    before = store.blind.judging.settings(by, session_id, judge.name)
    if before is None:
        return
    now = judge.settings
    for name in FIXED_SETTINGS:
        if before.get(name) != now[name]:
            was = repr(before[name]) if name in before else tr("not recorded")
            raise JudgeMismatch(
                tr(
                    "the judge {name!r} of session {session_id} was run with {name2} {was:.200}, now with "
                    "{now!r:.200}: use another --name",
                    name=judge.name,
                    session_id=session_id,
                    name2=name,
                    was=was,
                    now=now[name],
                )
            )


class _Material:
    """What a judge gets of each trace. Thread-safe."""

    def __init__(self, store: Store, judge: Judge) -> None:
        self._store = store
        self._sees = judge.configuration.sees
        self._tasks: dict[str, Task] = known_tasks(store.path)[0] if self._sees == "measured values" else {}
        self._values: dict[int, MeasuredValues] = {}
        self._lock = threading.Lock()

    def trace(self, version: int, trajectory: Trajectory, spectrum_sha256: str | None) -> TraceForJudge:
        """Return a trace for the judge.

        :raises PictureUnavailable: the judge sees pictures, and one is not available
        """
        sheet = trace_of(trajectory)
        if self._sees == "pictures":
            pictures = neutral_pictures(self._store.spectra, trajectory, spectrum_sha256)
            return TraceForJudge(sheet, tuple(picture.image for picture in pictures))
        if self._sees == "text" or spectrum_sha256 is None:
            return TraceForJudge(sheet)
        with self._lock:
            values = self._values.get(version)
        if values is None:
            spectrum = self._store.spectra.get(spectrum_sha256)
            values = measured_values(spectrum, trajectory, self._tasks.get(trajectory.task))
            with self._lock:
                self._values[version] = values
        return TraceForJudge(sheet, values=values)


def _judge_one(
    material: _Material, judge: Judge, request: _Request, spending: Budget, stop: Stop
) -> Judgement | TooLong | str | None:
    """Return the judgement, or why there is none; None: it was not sent, or was stopped."""
    shown = request.about.shown
    which = f"version {' and '.join(map(str, shown))}"
    with spending.one_more(stop) as tab:
        if tab is None:
            # Nothing is in progress any more, else it would have waited.
            stop.set()
            return None

        def use(usage: Usage) -> None:
            spending.use(tab, usage)

        try:
            traces = tuple(
                material.trace(version, trajectory, request.about.spectrum)
                for version, trajectory in zip(shown, request.about.trajectories, strict=True)
            )
            question = JudgeQuestion(shown, request.about.question, traces, request.dimensions, request.sample)
            judgement = judge.ask(question, use, stop)
        except Stopped:
            return None
        except (TooLong, ConversationTooLong) as error:
            return TooLong(f"{which}: {error}")
        except (PolicyError, PictureUnavailable) as error:
            return None if stop.is_set else f"{which}: {error}"
    prices = spending.prices
    return judgement if prices == Prices() else replace(judgement, cost=prices.cost(judgement.usage))
