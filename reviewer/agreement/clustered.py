"""Standard errors of answers that are clustered by pair (spectrum) and by scorer at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from agent.statistics import FloatArray
from reviewer.agreement.mixed import RAISED

SOURCES = (
    "Two-way clustering: Cameron, Gelbach & Miller 2011, J. Business & Economic Statistics 29, 238; Owen 2007, Annals "
    "of Applied Statistics 1, 386; degrees of freedom as in Hillis 2007, Statistics in Medicine 26, 596."
)


@dataclass(frozen=True)
class TwoWay:
    """Standard errors of estimates from answers to pairs by scorers, both taken as samples.

    :param errors: (n_values,), 0 where the answers do not vary
    :param freedom: (n_values,), degrees of freedom of Student's t, at least 1
    :param scorers: the number of scorers
    """

    errors: FloatArray
    freedom: FloatArray
    scorers: int

    def quantiles(self, confidence: float) -> FloatArray:
        """(n_values,): how many errors an interval reaches to each side."""
        from scipy.stats import t

        return cast(FloatArray, t.ppf((1 + confidence) / 2, self.freedom))


def two_way(influence: FloatArray, pairs: Sequence[str], scorers: Sequence[str]) -> TwoWay:
    """Return standard errors for new pairs and new scorers.

    With the variances by clusters of pairs P, of scorers S, and of single answers A, the variance is S + max(P - A, 0).
    The degrees of freedom are Satterthwaite's, with S counted ``mixed.RAISED`` times as in the mixed model.

    :param influence: (n_answers, n_values); what each answer adds to each estimate (infinitesimal jackknife)
    :param pairs: (n_answers,); ``scorers`` as well. An answer is a combination of the two
    """
    cells = [f"{pair}\n{scorer}" for pair, scorer in zip(pairs, scorers, strict=True)]
    n_pairs, n_scorers = len(set(pairs)), len(set(scorers))
    by_pair, by_scorer, by_cell = (variance(influence, names) for names in (pairs, scorers, cells))
    excess = np.maximum(by_pair - by_cell, 0)
    total = by_scorer + excess
    # Scorers who do not differ at all: the variance is then that of pairs.
    alike = by_scorer <= 1e-9 * by_cell
    total = np.where(alike, np.maximum(by_pair, by_cell), total)
    raised = RAISED * by_scorer
    of_pairs = by_pair**2 / max(n_pairs - 1, 1) + by_cell**2 / max((n_pairs - 1) * (n_scorers - 1), 1)
    parts = raised**2 / max(n_scorers - 1, 1) + np.where(excess > 0, of_pairs, 0)
    most = np.full(len(total), float(max(n_pairs - 1, 1)))
    freedom = np.divide((raised + excess) ** 2, parts, out=most.copy(), where=(parts > 0) & ~alike)
    freedom = np.clip(freedom, max(n_scorers - 1, 1), most)
    return TwoWay(np.sqrt(total), freedom, n_scorers)


def variance(influence: FloatArray, clusters: Sequence[str]) -> FloatArray:
    """(n_values,): the variance of estimates whose answers are sampled in clusters; 0 with one cluster.

    :param influence: (n_answers, n_values)
    :param clusters: (n_answers,), names
    """
    _, number = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    n = int(number.max(initial=-1)) + 1
    if n < 2:
        return np.zeros(influence.shape[1])
    sums = np.zeros((n, influence.shape[1]))
    np.add.at(sums, number, influence - influence.mean(axis=0))
    return cast(FloatArray, n / (n - 1) * (sums**2).sum(axis=0))
