"""Agreement of two scorers, or of two series of mean scores: kappa, raw agreement, rank correlation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from agent.statistics import DEFAULT, FloatArray, Picks, Resampling, Statistic, divided, times_sampled
from reviewer.agreement.distribution import share
from reviewer.agreement.values import SCALE, Estimate, Scores, ScoresError, jackknife

_KAPPA = (
    "Cohen's kappa with quadratic weights: 1 less the mean squared difference over the one expected "
    "by chance from the two scorers' own distributions. Cohen 1968, Psychological Bulletin 70, 213."
)
_RAW = "Raw agreement: the share of the items that both scored to which they gave the very same score."
_SPEARMAN = "Spearman's rank correlation, tied values at their mean rank. Spearman 1904, Am. J. Psychology 15, 72."
NONE_IN_COMMON = "no item has a value on both sides"


@dataclass(frozen=True)
class PairAgreement:
    """Agreement of two scorers. Kappa is low where nearly all scores are equal, even if most agree: show the raw
    agreement with it.
    """

    a: str
    b: str
    kappa: Estimate
    raw: Estimate
    spearman: Estimate


def pair_agreement(
    scores: Scores,
    scale: Sequence[int] = SCALE,
    resampling: Resampling = DEFAULT,
    clusters: Sequence[str] | None = None,
) -> tuple[PairAgreement, ...]:
    """Return every pair of scorers, in the order of ``scores.raters``; also pairs without a common item.

    The intervals of kappa and Spearman are by ``jackknife`` over spectra, that of the raw agreement resamples items.

    :param clusters: the spectrum of each item; default: each has its own
    """
    return tuple(
        PairAgreement(
            a,
            b,
            weighted_kappa(scores, a, b, scale, clusters),
            raw_agreement(scores, a, b, resampling),
            spearman(scores.by(a), scores.by(b), clusters),
        )
        for a, b in combinations(scores.raters, 2)
    )


def weighted_kappa(
    scores: Scores,
    a: str,
    b: str,
    scale: Sequence[int] = SCALE,
    clusters: Sequence[str] | None = None,
) -> Estimate:
    """Return quadratic-weighted kappa of two scorers over the items that both scored; n is their number.

    From scikit-learn, with the whole scale as labels, whichever of its scores were given. Undefined with
    fewer than two items in common (one always gives 0) and when both gave one and the same score
    throughout. If only one of them did, kappa is 0 whatever the other gave, and ``reason`` says so.

    :param clusters: the spectrum of each item, for the interval by ``jackknife``; default: each has its own
    :raises ScoresError: a score that is not on the scale, or an unknown scorer
    """
    x, y = _both(scores.by(a), scores.by(b))
    n = len(x)
    detail: dict[str, Any] = {"a": a, "b": b}
    if off := sorted({float(score) for score in (*x, *y)} - {float(score) for score in scale}):
        raise ScoresError(f"scores: {off[0]:g} is not on the scale {', '.join(map(str, scale))}")
    if n < 2:
        return Estimate.undefined(_too_few(n), n, _KAPPA, detail)
    constant = [name for name, given in ((a, x), (b, y)) if np.ptp(given) == 0]
    if len(constant) == 2 and x[0] == y[0]:
        return Estimate.undefined(f"both gave {x[0]:g} every time", n, _KAPPA, detail)
    caution = f"{constant[0]} gave one score every time, so kappa is 0 whatever else" if constant else ""
    kept = _kept(clusters, scores.by(a), scores.by(b))
    return jackknife(_KAPPA, _kappa(x, y, scale), _kappas(x, y), kept, detail=detail, caution=caution)


def raw_agreement(scores: Scores, a: str, b: str, resampling: Resampling = DEFAULT) -> Estimate:
    """Return the share of items to which both gave the same score; n is the items that both scored.

    Undefined when there is none.
    """
    x, y = _both(scores.by(a), scores.by(b))
    close = {"within_1": float((abs(x - y) <= 1).mean())} if len(x) else {}
    detail = {"a": a, "b": b, **close}
    return share(x == y, np.ones(len(x)), _RAW, resampling, none=NONE_IN_COMMON, detail=detail)


def spearman(x: ArrayLike, y: ArrayLike, clusters: Sequence[str] | None = None) -> Estimate:
    """Return the rank correlation of two series over the same items: two scorers, or the mean scores of two groups
    (``Scores.item_means``), such as experts and a judge. From scipy.

    n is the items with a value on both sides; NaN is none. Undefined with fewer than three (two are always
    perfectly correlated, one way or the other) and when either series is constant.

    :param x: (n_items,)
    :param y: (n_items,)
    :param clusters: the spectrum of each item, for the interval by ``jackknife``; default: each has its own
    """
    from scipy.stats import rankdata, spearmanr

    given_x, given_y = x, y
    x, y = _both(x, y)
    n = len(x)
    if n < 3:
        return Estimate.undefined(_too_few(n), n, _SPEARMAN)
    for name, given in (("first", x), ("second", y)):
        if np.ptp(given) == 0:
            return Estimate.undefined(f"the {name} of the two is {given[0]:g} every time", n, _SPEARMAN)

    def statistic(picks: Picks) -> FloatArray:
        return _correlation(rankdata(x[picks], axis=1), rankdata(y[picks], axis=1))

    return jackknife(_SPEARMAN, float(spearmanr(x, y).statistic), statistic, _kept(clusters, given_x, given_y))


def _kept(clusters: Sequence[str] | None, x: ArrayLike, y: ArrayLike) -> list[str]:
    """Return the clusters of the items with a value on both sides."""
    is_known = ~(np.isnan(np.asarray(x, dtype=float)) | np.isnan(np.asarray(y, dtype=float)))
    names = map(str, range(len(is_known))) if clusters is None else clusters
    return [name for name, keep in zip(names, is_known, strict=True) if keep]


def _both(x: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
    first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if first.shape != second.shape:
        raise ScoresError(f"scores: {first.size} values and {second.size}; expected one value per item in both")
    is_known = ~(np.isnan(first) | np.isnan(second))
    return first[is_known], second[is_known]


def _too_few(n: int) -> str:
    return f"{n} {'item has' if n == 1 else 'items have'} a value on both sides" if n else NONE_IN_COMMON


def _kappa(x: FloatArray, y: FloatArray, scale: Sequence[int]) -> float:
    from sklearn.metrics import cohen_kappa_score

    first, second = x.astype(int), y.astype(int)
    return float(cohen_kappa_score(first, second, labels=list(scale), weights="quadratic"))


def _kappas(x: FloatArray, y: FloatArray) -> Statistic:
    """Return kappa of every resample. Scikit-learn takes one at a time and is about a thousand times slower."""
    sums = np.stack([x, y, x**2 + y**2, (x - y) ** 2], axis=1)

    def statistic(picks: Picks) -> FloatArray:
        of_x, of_y, squares, differences = (times_sampled(picks, len(x)) @ sums).T
        n = picks.shape[1]
        # n times the sum of (x - y)^2 over all combinations of x and y.
        return 1 - divided(n * differences, n * squares - 2 * of_x * of_y)

    return statistic


def _correlation(x: FloatArray, y: FloatArray) -> FloatArray:
    """Pearson's, row by row; NaN for a row that is constant on either side."""
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    return divided((x * y).sum(axis=1), np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1)), 1e-9)
