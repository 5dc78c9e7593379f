"""Whether scores depend on the place in a scorer's order: drift, and the order of a spectrum's two traces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from agent.statistics import FloatArray
from reviewer.agreement.mixed import MIN_SCORERS, indicators
from reviewer.agreement.values import Estimate
from reviewer.blind.plan import CANNOT_TELL, Dimension
from reviewer.blind.report.model import spectrum_unit
from reviewer.blind.report.names import Names
from reviewer.blind.results import Results
from reviewer.blind.sheet import ScoreAnswer

QUARTERS = 4
PLACES = 10
"""The slope is in points of the scale per this many places."""

_MODEL = (
    "least squares with a level for each trace and each scorer, and for each scorer a slope and an effect of the "
    "second trace of a spectrum"
)
_SLOPE = f"Drift: change of a scorer's scores per {PLACES} places of the order, in points of the scale; {_MODEL}."
_SECOND = (
    "Effect of the second trace: how much higher a scorer scores a trace of a spectrum of which the scorer has scored "
    f"another trace before; {_MODEL}."
)
_POOLED = " Mean over scorers; the interval is Student's t over the scorers' values."
_SCORERS = "scorers like these, these spectra"


@dataclass(frozen=True)
class OrderStatistics:
    """Effects of the order in one dimension, by scorer; "" is all scorers together.

    :param quarters: mean residual of each scorer in each quarter of the order, NaN for a quarter without a score
    """

    slopes: Mapping[str, Estimate]
    second: Mapping[str, Estimate]
    quarters: Mapping[str, FloatArray]


@dataclass(frozen=True)
class _Scores:
    """Scores with the places in their scorers' orders, one place per score in each field."""

    values: FloatArray
    items: tuple[str, ...]
    scorers: tuple[str, ...]
    places: FloatArray
    second: FloatArray


def order_statistics(results: Results, names: Names, dimension: Dimension) -> OrderStatistics:
    """Return drift and order effect of a dimension; only what several scorers scored can show them."""
    scores = _scores(results, names, dimension)
    people = tuple(names.scorers.values())
    effects = _effects(scores, people)
    slopes = {person: _one(effects.get(("slope", person)), _SLOPE, scores, person) for person in people}
    second = {person: _one(effects.get(("second", person)), _SECOND, scores, person) for person in people}
    return OrderStatistics(
        {**slopes, "": _pooled(list(slopes.values()), _SLOPE)},
        {**second, "": _pooled(list(second.values()), _SECOND)},
        _quarters(scores, people),
    )


def _scores(results: Results, names: Names, dimension: Dimension) -> _Scores:
    rows: list[tuple[float, str, str, float, float]] = []
    seen: set[tuple[str, str]] = set()
    for response in sorted(results.first("scores"), key=lambda response: (response.scorer, response.place)):
        answer = response.answer
        if not isinstance(answer, ScoreAnswer):
            continue
        trace = results.traces[response.shown[0]]
        before = (response.scorer, spectrum_unit(trace)) in seen
        seen.add((response.scorer, spectrum_unit(trace)))
        score = answer.coherence if dimension == "coherence" else answer.consistency
        if score is not None and score != CANNOT_TELL:
            rows.append((float(score), trace.key, names.scorers[response.scorer], float(response.place), float(before)))
    values, items, scorers, places, second = zip(*rows, strict=True) if rows else ((),) * 5
    return _Scores(np.array(values), tuple(items), tuple(scorers), np.array(places), np.array(second))


def _effects(scores: _Scores, people: tuple[str, ...]) -> dict[tuple[str, str], tuple[float, float, int]]:
    """Return value, standard error and degrees of freedom of each effect that the scores determine."""
    if not len(scores.values):
        return {}
    levels = _levels(scores)
    who = indicators(scores.scorers, people)
    centre = (who * scores.places[:, None]).sum(axis=0) / np.maximum(who.sum(axis=0), 1)
    slopes = who * (scores.places[:, None] - centre) / PLACES
    design = np.concatenate([levels, slopes, who * scores.second[:, None]], axis=1)
    gram = design.T @ design
    inverse = np.linalg.pinv(gram, rcond=1e-10, hermitian=True)
    means = inverse @ design.T @ scores.values
    rank = int(np.linalg.matrix_rank(gram, tol=1e-9 * float(gram.max()), hermitian=True))
    freedom = len(scores.values) - rank
    if freedom < 1:
        return {}
    rest = float(((scores.values - design @ means) ** 2).sum()) / freedom
    projection = inverse @ gram
    effects = {}
    for number, key in enumerate((what, person) for what in ("slope", "second") for person in people):
        column = levels.shape[1] + number
        unit = np.eye(len(gram))[column]
        if gram[column, column] > 0 and np.abs(projection[column] - unit).max() < 1e-6:
            effects[key] = (float(means[column]), float(np.sqrt(rest * inverse[column, column])), freedom)
    return effects


def _levels(scores: _Scores) -> FloatArray:
    """(n, n_items + n_scorers): which trace and which scorer."""
    columns = [indicators(of, tuple(dict.fromkeys(of))) for of in (scores.items, scores.scorers)]
    return np.concatenate(columns, axis=1)


def _one(effect: tuple[float, float, int] | None, definition: str, scores: _Scores, scorer: str) -> Estimate:
    from scipy.stats import t

    n = scores.scorers.count(scorer)
    if effect is None:
        reason = "the scores do not determine it; it needs traces that other scorers scored at other places"
        return Estimate.undefined(reason, n, definition, n_of="scores")
    value, error, freedom = effect
    if not error > 1e-9:
        return Estimate(value, None, None, n, definition, "the scores do not vary", n_of="scores")
    half = float(t.ppf(0.975, freedom)) * error
    detail: dict[str, Any] = {"p_value": float(2 * t.sf(abs(value) / error, freedom)), "degrees_of_freedom": freedom}
    detail["population"] = "this scorer, these spectra"
    return Estimate(value, value - half, value + half, n, definition, "", detail, "scores")


def _pooled(each: list[Estimate], definition: str) -> Estimate:
    from scipy.stats import t

    values = np.array([estimate.value for estimate in each if estimate.value is not None])
    n, words = len(values), definition + _POOLED
    if not n:
        return Estimate.undefined("no scorer has a value", 0, words, n_of="scorers")
    mean = float(values.mean())
    if n < MIN_SCORERS:
        reason = f"found {n} {'scorer' if n == 1 else 'scorers'}, expected {MIN_SCORERS} or more"
        return Estimate(mean, None, None, n, words, reason, n_of="scorers")
    error = float(values.std(ddof=1)) / n**0.5
    if not error > 1e-9:
        return Estimate(mean, None, None, n, words, "the scorers' values are all alike", n_of="scorers")
    half = float(t.ppf(0.975, n - 1)) * error
    detail: dict[str, Any] = {"p_value": float(2 * t.sf(abs(mean) / error, n - 1)), "degrees_of_freedom": n - 1}
    detail["population"] = _SCORERS
    return Estimate(mean, mean - half, mean + half, n, words, "", detail, "scorers")


def _quarters(scores: _Scores, people: tuple[str, ...]) -> dict[str, FloatArray]:
    """Return the mean residuals, scores less levels of traces and scorers, of each scorer by quarter of the order."""
    if not len(scores.values):
        return {}
    levels = _levels(scores)
    gram = levels.T @ levels
    rest = scores.values - levels @ (np.linalg.pinv(gram, rcond=1e-10, hermitian=True) @ levels.T @ scores.values)
    quarters = {}
    for person in people:
        own = np.flatnonzero([who == person for who in scores.scorers])
        if len(own) < QUARTERS:
            continue
        ranks = np.argsort(np.argsort(scores.places[own], kind="stable"), kind="stable")
        quarter = ranks * QUARTERS // len(own)
        quarters[person] = np.array([rest[own[quarter == number]].mean() for number in range(QUARTERS)])
    return quarters
