"""A closed session as plain values, and as the tables that ``reviewer.agreement`` takes. Traces go by the number of
their item, as text. "Cannot tell" and a missing answer are both no score. Repeats and gold items have tables of their
own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.conversation import Usage
from agent.trajectory.steps import Verdict
from reviewer.agreement.preference import Side, Votes
from reviewer.agreement.preference import Verdict as Preference
from reviewer.agreement.values import Scores
from reviewer.blind.plan import CANNOT_TELL, Dimension, Gold, Kind, Plan, Score, TextKind
from reviewer.blind.rubric import Rubric
from reviewer.blind.sheet import PreferenceAnswer, Question, ScoreAnswer


@dataclass(frozen=True)
class ShownTrace:
    """A trajectory that was scored, with the facts that were hidden from the scorers.

    :param label: the known truth, if there is one
    :param characters: length of its thoughts and its explanation: judges are known to prefer long texts
    :param snr: median S/N of the spectrum; None where it is not known
    :param reveals: its text reveals its author
    :param text: whether it is the draft or an approved text; of earlier releases' sessions, whether it had been edited
    :param drafter: the drafter's name; "" stands for ``source``
    """

    item: int
    version: int
    source: str
    source_kind: str
    task: str
    spectrum: str | None
    simulated: bool
    label: Verdict | None
    verdict: Verdict | None
    characters: int
    survey: str = ""
    snr: float | None = None
    reveals: bool = False
    text: TextKind = "drafted"
    drafter: str = ""

    def __post_init__(self) -> None:
        if not self.drafter:
            object.__setattr__(self, "drafter", self.source)

    @property
    def key(self) -> str:
        """The trace in tables: the number of its item, of which a session may show the draft and the revised text."""
        return f"{self.item} revised" if self.text == "revised" else str(self.item)

    @property
    def correct(self) -> bool | None:
        """Whether the verdict is the label; None where either is missing."""
        return None if self.label is None or self.verdict is None else self.verdict == self.label


@dataclass(frozen=True)
class Response:
    """One assignment with its scorer's latest answer.

    :param shown: versions: the one that was scored; or the left and the right one
    :param repeat_of: the token of its first showing to the same scorer
    :param gold: the expected scores of a gold item; None for all others
    :param answer: of a pair a ``PreferenceAnswer``, else a ``ScoreAnswer``; None where it is not answered
    :param at: time of the answer
    :param changes: number of earlier answers
    :param first_answer: the first answer, and ``first_at`` its time; the same as ``answer`` if it was not changed
    :param training: shown before the first one that counts; in no result
    :param exposed: the scorer saw one of the traces in an earlier session
    """

    token: str
    scorer: str
    kind: Kind
    place: int
    shown: tuple[int, ...]
    repeat_of: str | None
    gold: Gold | None
    answer: ScoreAnswer | PreferenceAnswer | None
    at: datetime | None
    changes: int
    first_answer: ScoreAnswer | PreferenceAnswer | None = None
    first_at: datetime | None = None
    training: bool = False
    exposed: bool = False


@dataclass(frozen=True)
class JudgeScore:
    """A model judge's scores of one trace. None: the dimension was not requested."""

    coherence: Score | None
    consistency: Score | None
    comment: str = ""
    wrong_steps: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judgement:
    """The judgement of a model. It never counts as a person's answer.

    :param shown: the version; of a pair both, in the order in which the judge was shown them
    :param answer: None if the reply could not be read; it is in ``replies``
    :param reasoning: sent with the verdict, stored separately
    :param settings: everything that is needed to repeat the request
    :param replies: the reply word for word; two if the first could not be read
    :param usage: the tokens of all requests for this judgement
    :param cost: their cost; None if no prices were given
    :param by: the coordinator; None for the owner of the file. Filled in by the store
    """

    judge: str
    shown: tuple[int, ...]
    answer: JudgeScore | PreferenceAnswer | None
    reasoning: str
    settings: Mapping[str, Any]
    replies: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    by: str | None = field(default=None, compare=False)

    @property
    def kind(self) -> Kind:
        return "scores" if len(self.shown) == 1 else "pair"


@dataclass(frozen=True)
class Results:
    """A closed session.

    :param responses: every assignment, by scorer in the plan's order, then by place
    :param traces: by version
    """

    session: int
    plan: Plan
    rubric: Rubric
    questions: Mapping[str, Question]
    notes: tuple[str, ...]
    drawn_by: str | None
    drawn_at: datetime
    opened_at: datetime
    closed_at: datetime
    traces: Mapping[int, ShownTrace]
    responses: tuple[Response, ...]
    judgements: tuple[Judgement, ...]

    @cached_property
    def ranks(self) -> Mapping[str, tuple[int, int, str]]:
        """Keys that sort the sources: drafters in the plan's order, else by name, each with the revised text first. Of
        approved texts, those that people revised come before all others."""
        named, texts = self.plan.sources, self.plan.texts
        ranks = {}
        for trace in self.traces.values():
            drafter = named.index(trace.drafter) if trace.drafter in named else len(named)
            text = texts.index(trace.text) if self.plan.version in ("approved", "both") else 0
            by_text_first = self.plan.version == "approved"
            ranks[trace.source] = (*((text, drafter) if by_text_first else (drafter, text)), trace.source)
        return ranks

    def first(self, kind: Kind) -> tuple[Response, ...]:
        """Return the assignments that count, without training, repeats and gold items, answered or not."""
        return tuple(
            response
            for response in self.responses
            if response.kind == kind and response.repeat_of is None and response.gold is None and not response.training
        )

    def repeats(self, kind: Kind) -> tuple[tuple[Response, Response], ...]:
        """Return first showing and repeat wherever both were answered."""
        by_token = {response.token: response for response in self.responses}
        both = (
            (by_token[response.repeat_of], response)
            for response in self.responses
            if response.repeat_of and response.kind == kind
        )
        return tuple((earlier, again) for earlier, again in both if earlier.answer and again.answer)

    def gold(self) -> tuple[Response, ...]:
        """Return the assignments of gold items."""
        return tuple(response for response in self.responses if response.gold is not None)


FloatArray = NDArray[np.float64]


def score_table(results: Results, dimension: Dimension, source: str | None = None) -> Scores:
    """(n_items, n_scorers): every item and scorer of the session, or of one source's traces."""
    return Scores.of(
        (trace.key, score_row.scorer, None if score == CANNOT_TELL or score is None else float(score))
        for score_row, trace, score in _score_rows(results, dimension, source)
    )


def count_cannot_tell(results: Results, dimension: Dimension, source: str | None = None) -> int:
    """Return how often the answer was "cannot tell"."""
    return sum(score == CANNOT_TELL for _, _, score in _score_rows(results, dimension, source))


def verdict_correctness(results: Results, table: Scores) -> tuple[bool | None, ...]:
    """(n_items,): whether each item's verdict is right; None where the truth is not known."""
    correct = {trace.key: trace.correct for trace in results.traces.values()}
    return tuple(correct[trace] for trace in table.items)


def repeated_scores(results: Results, dimension: Dimension, scorer: str) -> tuple[FloatArray, FloatArray]:
    """(n_repeats,) twice: a scorer's first and second scores; NaN for "cannot tell"."""
    both = [
        (_score_number(first, dimension), _score_number(again, dimension))
        for first, again in results.repeats("scores")
        if first.scorer == scorer
    ]
    return np.array([first for first, _ in both]), np.array([again for _, again in both])


def gold_scores(results: Results, dimension: Dimension, scorer: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(n_gold,) three times: given, expected and tolerated, where this dimension has an expected score."""
    rows = [
        (_score_number(response, dimension), response.gold.expected(dimension), response.gold.tolerance)
        for response in results.gold()
        if response.gold is not None and response.scorer == scorer and response.gold.expected(dimension) is not None
    ]
    given, expected, tolerance = (np.array([row[n] for row in rows], dtype=float) for n in range(3))
    return given, expected, tolerance


def pair_votes(results: Results) -> Votes:
    """Return every answer to a pair in terms of sources: "a" is the source that the plan names first, or comes
    first by name.
    """
    rows: list[tuple[str, str, str, Preference, str]] = []
    for preference_row, answer in _preference_rows(results):
        left, right = (results.traces[version] for version in preference_row.shown)
        a, b = sorted((left.source, right.source), key=lambda source: source_rank(results, source))
        won: dict[str, Preference] = {
            "left": "a" if left.source == a else "b",
            "right": "b" if left.source == a else "a",
            "equal": "equal",
            "both bad": "both bad",
        }
        rows.append((pair_name(left, right), a, b, won[answer.preference], preference_row.scorer))
    pairs, first, second, verdicts, scorers = zip(*rows, strict=True) if rows else ((), (), (), (), ())
    return Votes(tuple(pairs), tuple(first), tuple(second), tuple(verdicts), tuple(scorers))


def shown_sides(results: Results) -> tuple[tuple[str, ...], tuple[Side, ...]]:
    """Return every answer to a pair as it was shown: the pair, and the side."""
    rows = list(_preference_rows(results))
    return (
        tuple(pair_name(*(results.traces[version] for version in row.shown)) for row, _ in rows),
        tuple(answer.preference for _, answer in rows),
    )


def pair_name(shown_trace: ShownTrace, other: ShownTrace) -> str:
    """Return the items' numbers, the lower first: the same for both orders."""
    first, second = sorted((shown_trace, other), key=lambda trace: (trace.item, trace.version))
    return f"{first.key}/{second.key}"


def _score_rows(
    results: Results, dimension: Dimension, source: str | None
) -> Iterator[tuple[Response, ShownTrace, Score | None]]:
    for response in results.first("scores"):
        trace = results.traces[response.shown[0]]
        if source is None or trace.source == source:
            yield response, trace, _score(response, dimension)


def _preference_rows(results: Results) -> Iterator[tuple[Response, PreferenceAnswer]]:
    for response in results.first("pair"):
        if isinstance(response.answer, PreferenceAnswer):
            yield response, response.answer


def _score(response: Response, dimension: Dimension) -> Score | None:
    if not isinstance(response.answer, ScoreAnswer):
        return None
    return response.answer.coherence if dimension == "coherence" else response.answer.consistency


def _score_number(response: Response, dimension: Dimension) -> float:
    score = _score(response, dimension)
    return np.nan if score is None or score == CANNOT_TELL else float(score)


def source_rank(results: Results, source: str) -> tuple[int, int, str]:
    """Return a key that sorts sources; those without a trace come last."""
    return results.ranks.get(source, (len(results.ranks), 0, source))
