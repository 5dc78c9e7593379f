"""A closed session as the tables that ``reviewer.agreement`` takes. Items go by their number, as text.

"Cannot tell" and a missing answer are both no score; how often somebody could not tell is counted apart.
Repeats and gold items are in no table but their own.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reviewer.agreement.preference import Side, Votes
from reviewer.agreement.preference import Verdict as Preference
from reviewer.agreement.values import Scores
from reviewer.blind.results import Results, Said, ShownTrace
from reviewer.blind.sheet import OwnPreference, OwnScore
from reviewer.blind.values import CANNOT_TELL, Dimension, Score

FloatArray = NDArray[np.float64]


def scores(results: Results, dimension: Dimension, source: str | None = None) -> Scores:
    """(n_items, n_scorers): every item and scorer of the session, or of one source's traces."""
    return Scores.of(
        (str(trace.item), one.scorer, None if score == CANNOT_TELL or score is None else float(score))
        for one, trace, score in _scored(results, dimension, source)
    )


def cannot_tell(results: Results, dimension: Dimension, source: str | None = None) -> int:
    """How often the answer was that these data do not let one judge."""
    return sum(score == CANNOT_TELL for _, _, score in _scored(results, dimension, source))


def correctness(results: Results, table: Scores) -> tuple[bool | None, ...]:
    """(n_items,): whether each item's verdict is right; None where the truth is not known."""
    by_item = {str(trace.item): trace.correct for trace in results.traces.values()}
    return tuple(by_item[item] for item in table.items)


def repeated(results: Results, dimension: Dimension, scorer: str) -> tuple[FloatArray, FloatArray]:
    """(n_repeats,) twice: what a scorer said first and again; NaN where they could not tell."""
    both = [
        (_number(first, dimension), _number(again, dimension))
        for first, again in results.repeats("scores")
        if first.scorer == scorer
    ]
    return np.array([first for first, _ in both]), np.array([again for _, again in both])


def on_gold(results: Results, dimension: Dimension, scorer: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(n_gold,) three times: given, expected and tolerated, where this dimension has an expected score."""
    rows = [
        (_number(one, dimension), one.gold.expected(dimension), one.gold.tolerance)
        for one in results.gold()
        if one.gold is not None and one.scorer == scorer and one.gold.expected(dimension) is not None
    ]
    given, expected, tolerance = (np.array([row[n] for row in rows], dtype=float) for n in range(3))
    return given, expected, tolerance


def votes(results: Results) -> Votes:
    """Every answer to a pair with left and right undone: "a" is the source that the plan names first, or
    comes first by name."""
    rows: list[tuple[str, str, str, Preference]] = []
    for one, answer in _preferred(results):
        left, right = (results.traces[version] for version in one.shown)
        a, b = sorted((left.source, right.source), key=lambda source: _rank(results, source))
        won: dict[str, Preference] = {
            "left": "a" if left.source == a else "b",
            "right": "b" if left.source == a else "a",
            "equal": "equal",
            "both bad": "both bad",
        }
        rows.append((pair_name(left, right), a, b, won[answer.preference]))
    pairs, first, second, verdicts = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Votes(tuple(pairs), tuple(first), tuple(second), tuple(verdicts))


def sides(results: Results) -> tuple[tuple[str, ...], tuple[Side, ...]]:
    """Every answer to a pair as it was shown: the pair, and the side."""
    said = list(_preferred(results))
    return (
        tuple(pair_name(*(results.traces[version] for version in one.shown)) for one, _ in said),
        tuple(answer.preference for _, answer in said),
    )


def pair_name(one: ShownTrace, other: ShownTrace) -> str:
    """The same for both orders: the items' numbers, the lower first."""
    return "/".join(map(str, sorted((one.item, other.item))))


def _scored(
    results: Results, dimension: Dimension, source: str | None
) -> Iterator[tuple[Said, ShownTrace, Score | None]]:
    for one in results.first("scores"):
        trace = results.traces[one.shown[0]]
        if source is None or trace.source == source:
            yield one, trace, _score(one, dimension)


def _preferred(results: Results) -> Iterator[tuple[Said, OwnPreference]]:
    for one in results.first("pair"):
        if isinstance(one.answer, OwnPreference):
            yield one, one.answer


def _score(one: Said, dimension: Dimension) -> Score | None:
    if not isinstance(one.answer, OwnScore):
        return None
    return one.answer.coherence if dimension == "coherence" else one.answer.consistency


def _number(one: Said, dimension: Dimension) -> float:
    score = _score(one, dimension)
    return np.nan if score is None or score == CANNOT_TELL else float(score)


def _rank(results: Results, source: str) -> tuple[int, str]:
    named = results.plan.sources
    return (named.index(source) if source in named else len(named), source)
