"""Strengths of sources from pairwise preferences with ties: Davidson's model (without ties, Bradley and Terry's)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from agent.statistics import DEFAULT, FloatArray, Picks, Resampling, once, resampled, times_sampled
from reviewer.agreement.clustered import SOURCES, TwoWay, two_way
from reviewer.agreement.mixed import MIN_SCORERS
from reviewer.agreement.preference import Votes
from reviewer.agreement.values import POPULATION_BOTH, POPULATION_SPECTRA, Estimate, with_interval

ALPHA = 0.1
"""Regularisation of the strengths. Ten wins of ten then make a lead of 3.4 and not an infinite one."""
TIE_ALPHA = 0.01
"""Regularisation of the logarithm of the tie parameter, which would be infinite if every answer was a tie."""

_DEFINITION = (
    "Davidson strength: the log odds, among decided answers, that a source is preferred to one of strength 0; the "
    "difference of two strengths is the log odds between them, whatever the share of ties. Ties of both kinds count "
    "as ties. Held finite by a normal prior (regularisation {:g}); strengths add up to 0. Davidson 1970, J. Am. Stat. "
    "Assoc. 65, 317; without ties it is the model of Bradley & Terry 1952, Biometrika 39, 324. "
)
_BY_PAIRS = "The interval resamples pairs and takes the scorers as given."
_BY_BOTH = "The interval is Student's t; pairs and scorers both count as samples. "
_STEPS = 50


@dataclass(frozen=True)
class Strengths:
    """The strength of each source, strongest first.

    :param caution: which part of the order is due to the regularisation alone; empty if none
    """

    sources: Mapping[str, Estimate]
    caution: str = ""


def davidson(votes: Votes, alpha: float = ALPHA, resampling: Resampling = DEFAULT) -> Strengths:
    """Return strengths by maximum a posteriori of Davidson's model.

    A source of strength s beats one of strength r with the chance exp(s) / (exp(s) + exp(r) + nu exp((s + r) / 2)).
    n is the comparisons in which a source was; ``detail`` has its wins and ties, and its chance against a source of
    strength 0 in a decided answer. Undefined for all when the sources form groups that were never compared with each
    other. Where the likelihood has its maximum at infinity, ``caution`` and each ``reason`` say for which sources.

    With at least ``MIN_SCORERS`` scorers and without a caution, the intervals hold for new spectra and new scorers;
    else for new spectra and these scorers (``detail["population"]``).

    :param alpha: regularisation, greater than 0; the prior's variance is 1 / (2 alpha)
    """
    if alpha <= 0:
        raise ValueError(f"alpha is {alpha:g}; it must be greater than 0")
    sources = votes.sources
    definition = _DEFINITION.format(alpha)
    per_pair = _counts(votes, sources)
    wins, ties = per_pair.sum(axis=0)
    met = (wins + wins.T + ties).sum(axis=1)
    if not sources:
        return Strengths({}, "nothing was compared")
    if why := _apart(wins + ties, sources):
        missing = {
            source: Estimate.undefined(why, int(met[i]), definition, n_of="comparisons")
            for i, source in enumerate(sources)
        }
        return Strengths(missing, why)
    caution = _one_sided(wins, ties, sources, alpha)
    fitted = _fitted(per_pair, alpha, once(len(per_pair)))[0]
    values = fitted[:-1]
    details: list[dict[str, Any]] = [
        {
            "wins": wins[i].sum(),
            "ties": ties[i].sum(),
            "chance_against_strength_0": 1 / (1 + np.exp(-values[i])),
            "tie_parameter": np.exp(fitted[-1]) if ties.any() else 0.0,
        }
        for i in range(len(sources))
    ]
    both = None if caution else _over_both(votes, sources, fitted, (wins, ties), alpha, resampling)
    if both is None:
        estimates = _by_pairs(per_pair, values, met, details, definition, caution, alpha, resampling)
    else:
        estimates = _by_both(both, values, met, details, definition, resampling)
    return Strengths({sources[i]: estimates[i] for i in np.argsort(-values, kind="stable")}, caution)


def _by_pairs(
    per_pair: FloatArray,
    values: FloatArray,
    met: FloatArray,
    details: list[dict[str, Any]],
    definition: str,
    caution: str,
    alpha: float,
    resampling: Resampling,
) -> list[Estimate]:
    """Return estimates whose intervals resample pairs."""
    sizes = (len(per_pair),)
    width = 6 * (len(values) + 1) ** 2
    resamples = resampled(partial(_fitted, per_pair, alpha), sizes, resampling.resamples, resampling.seed, width)
    return [
        with_interval(
            definition + _BY_PAIRS,
            float(value),
            resamples[:, i],
            sizes,
            resampling,
            n=int(met[i]),
            n_of="comparisons",
            detail=details[i] | {"population": POPULATION_SPECTRA},
            caution=caution,
            of="pairs",
        )
        for i, value in enumerate(values)
    ]


def _by_both(
    both: TwoWay,
    values: FloatArray,
    met: FloatArray,
    details: list[dict[str, Any]],
    definition: str,
    resampling: Resampling,
) -> list[Estimate]:
    """Return estimates whose intervals take pairs and scorers as samples."""
    half = both.quantiles(resampling.confidence) * both.errors
    low, high = values - half, values + half
    return [
        Estimate(
            float(value),
            float(low[i]),
            float(high[i]),
            int(met[i]),
            definition + _BY_BOTH + SOURCES,
            "",
            details[i]
            | {
                "population": POPULATION_BOTH,
                "scorers": both.scorers,
                "standard_error": both.errors[i],
                "degrees_of_freedom": both.freedom[i],
            },
            "comparisons",
        )
        for i, value in enumerate(values)
    ]


def _counts(votes: Votes, sources: tuple[str, ...]) -> FloatArray:
    """(n_pairs, 2, n_sources, n_sources): how often the row's source beat the column's, and how often they tied (the
    same number in both orders).
    """
    names = {name: i for i, name in enumerate(sources)}
    pairs = {name: i for i, name in enumerate(sorted(set(votes.pairs)))}
    counts = np.zeros((len(pairs), 2, len(sources), len(sources)))
    for pair, a, b, verdict in zip(votes.pairs, votes.a, votes.b, votes.verdicts, strict=True):
        first, second = names[a], names[b]
        if verdict == "a":
            counts[pairs[pair], 0, first, second] += 1
        elif verdict == "b":
            counts[pairs[pair], 0, second, first] += 1
        else:
            counts[pairs[pair], 1, first, second] += 1
            counts[pairs[pair], 1, second, first] += 1
    return counts


# ---- the maximum


def _fitted(per_pair: FloatArray, alpha: float, picks: Picks) -> FloatArray:
    """(resamples, n_sources + 1): strengths and logarithm of the tie parameter of every resample, by Newton's method on
    all of them at once. The log posterior is concave.
    """
    n_pairs, _, n_sources, _ = per_pair.shape
    counts = (times_sampled(picks, n_pairs) @ per_pair.reshape(n_pairs, -1)).reshape(-1, 2, n_sources, n_sources)
    wins, ties = counts[:, 0], counts[:, 1]
    values = np.zeros((len(picks), n_sources + 1))
    for _ in range(_STEPS):
        gradient, hessian = _derivatives(values, wins, ties, alpha)
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        # Far from the maximum a full Newton step may overshoot; two units are far on a scale of log odds.
        values = values + step / np.maximum(1.0, abs(step).max(axis=1, keepdims=True) / 2)
        if abs(step).max() < 1e-9:
            break
    return cast(FloatArray, values)


def _chances(values: FloatArray, tied: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """(resamples, n_sources, n_sources) twice: the chances that the row's source is preferred, and of a tie.

    :param tied: (resamples,), whether there were ties; else the tie parameter is 0
    """
    apart = values[:, :-1, None] - values[:, None, :-1]
    nu = np.where(tied, np.exp(values[:, -1]), 0.0)[:, None, None]
    win = 1 / (1 + np.exp(-apart) + nu * np.exp(-apart / 2))
    return win, nu * np.exp(-apart / 2) * win


def _derivatives(values: FloatArray, wins: FloatArray, ties: FloatArray, alpha: float) -> tuple[FloatArray, FloatArray]:
    """Gradient, (resamples, n + 1), and negative Hessian, (resamples, n + 1, n + 1), of the log posterior.

    Resamples without ties have the tie parameter 0, and their last value stays 0.
    """
    n = values.shape[1] - 1
    win, tie = _chances(values, np.asarray(ties.any(axis=(1, 2))))
    met = wins + wins.transpose(0, 2, 1) + ties
    lead = win - win.transpose(0, 2, 1)
    gradient = np.zeros_like(values)
    gradient[:, :-1] = ((wins - wins.transpose(0, 2, 1) - met * lead) / 2).sum(axis=2) - 2 * alpha * values[:, :-1]
    gradient[:, -1] = (ties - met * tie).sum(axis=(1, 2)) / 2 - 2 * TIE_ALPHA * values[:, -1]
    curvature = met * (1 - tie - lead**2) / 4
    hessian = np.zeros((len(values), n + 1, n + 1))
    hessian[:, :-1, :-1] = -curvature
    hessian[:, range(n), range(n)] += curvature.sum(axis=2) + 2 * alpha
    hessian[:, :-1, -1] = hessian[:, -1, :-1] = -(met * tie * lead).sum(axis=2) / 2
    hessian[:, -1, -1] = (met * tie * (1 - tie)).sum(axis=(1, 2)) / 2 + 2 * TIE_ALPHA
    return gradient, hessian


def _over_both(
    votes: Votes,
    sources: tuple[str, ...],
    fitted: FloatArray,
    counts: tuple[FloatArray, FloatArray],
    alpha: float,
    resampling: Resampling,
) -> TwoWay | None:
    """Return standard errors of the strengths; None with too few scorers or pairs or where nothing varies."""
    if len(set(votes.scorers)) < MIN_SCORERS or len(set(votes.pairs)) < resampling.few:
        return None
    wins, ties = counts
    _, hessian = _derivatives(fitted[None], wins[None], ties[None], alpha)
    win, tie = (chance[0] for chance in _chances(fitted[None], np.array([ties.any()])))
    rows = np.arange(len(votes.pairs))
    a, b = (np.array([sources.index(name) for name in names]) for names in (votes.a, votes.b))
    outcome = np.array([{"a": 1, "b": -1}.get(verdict, 0) for verdict in votes.verdicts])
    slope = np.zeros((len(rows), len(fitted)))
    lead = (outcome - (win[a, b] - win[b, a])) / 2
    slope[rows, a], slope[rows, b], slope[:, -1] = lead, -lead, (outcome == 0) - tie[a, b]
    variances = two_way(np.linalg.solve(hessian[0], slope.T).T[:, :-1], votes.pairs, votes.scorers)
    return variances if (variances.errors > 0).all() else None


# ---- where the likelihood has no maximum


def _groups(met: FloatArray, sources: tuple[str, ...], connection: str) -> list[list[str]]:
    from scipy.sparse.csgraph import connected_components

    _, label = connected_components(met > 0, connection=connection)
    return [
        [source for source, its in zip(sources, label, strict=True) if its == component]
        for component in np.unique(label)
    ]


def _apart(met: FloatArray, sources: tuple[str, ...]) -> str:
    groups = _groups(met, sources, "weak")
    if len(groups) == 1:
        return ""
    return "never compared, directly or through others: " + " | ".join(", ".join(group) for group in groups)


def _one_sided(wins: FloatArray, ties: FloatArray, sources: tuple[str, ...], alpha: float) -> str:
    """Return who never lost or never won, if strengths without regularisation are infinite.

    Without ties that is so where the graph of wins is not strongly connected (Ford 1957, American Mathematical Monthly
    64, 28), and with the same tie parameter where the graph of wins and ties is not. As the parameter is free, also
    where sources can be put on levels so that wins are between levels and ties at most between neighbours.
    """
    beaten = wins if ties.any() and _on_levels(wins, ties) else wins + ties
    groups = _groups(beaten, sources, "strong")
    if len(groups) == 1:
        return ""
    index = {source: i for i, source in enumerate(sources)}
    never_lost, never_won = [], []
    for group in groups:
        inside = [index[source] for source in group]
        outside = [i for i in range(len(sources)) if i not in inside]
        if beaten[np.ix_(outside, inside)].sum() == 0:
            never_lost.append(", ".join(group))
        elif beaten[np.ix_(inside, outside)].sum() == 0:
            never_won.append(", ".join(group))
    sentences = [f"{name} never lost to another" for name in never_lost]
    sentences += [f"{name} never won against another" for name in never_won]
    return f"{'; '.join(sentences)}: only the regularisation ({alpha:g}) keeps the strengths finite"


def _on_levels(wins: FloatArray, ties: FloatArray) -> bool:
    """Whether levels exist, 1 or more apart for every win and 1 or less for every tie: there is no negative cycle."""
    from scipy.sparse.csgraph import NegativeCycleError, bellman_ford, csgraph_from_dense

    if not wins.any():
        return False
    most = np.where(wins > 0, -1.0, np.where(ties > 0, 1.0, np.inf))
    try:
        bellman_ford(csgraph_from_dense(most, null_value=np.inf))
    except NegativeCycleError:
        return False
    return True
