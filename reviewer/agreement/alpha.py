"""Krippendorff's alpha: any number of scorers, with gaps, for values of several levels of measurement."""

from __future__ import annotations

from typing import Literal, cast

import numpy as np

from reviewer.agreement.bootstrap import DEFAULT, Picks, Resampling, divided, estimate, once, times_drawn
from reviewer.agreement.values import Estimate, FloatArray, Scores, unshared

Level = Literal["nominal", "ordinal", "interval"]

_DEFINITION = (
    "Krippendorff's alpha ({}): 1 less the observed disagreement over the one expected by chance; 1 "
    "is perfect agreement, 0 is chance. Krippendorff 2011, Computing Krippendorff's "
    "Alpha-Reliability."
)


def krippendorff_alpha(
    scores: Scores, level: Level = "ordinal", resampling: Resampling = DEFAULT
) -> Estimate:
    """Agreement of all scorers with each other, less what chance would give.

    From the coincidence matrix, section C of Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability"
    (repository.upenn.edu/asc_papers/43): an item with m scores adds each of its m(m - 1) ordered pairs with
    the weight 1/(m - 1). n is the items with two scores or more; the others are left out and counted in
    ``detail``. Undefined with one scorer, with no or one item that two people scored (a single item always
    gives 0), and when all pairable scores are the same: nothing was there to agree about.
    """
    definition = _DEFINITION.format(level)
    shared = scores.given.sum(axis=1) > 1
    used = scores.values[shared]
    n = len(used)
    detail = {
        "level": level,
        "scorers": int((~np.isnan(used)).any(axis=0).sum()),
        "pairable_scores": int((~np.isnan(used)).sum()),
        "items_left_out": int((scores.given.sum(axis=1) == 1).sum()),
    }
    if why := unshared(scores):
        return Estimate.undefined(why, n, definition, detail)
    categories = np.unique(used[~np.isnan(used)])
    if len(categories) == 1:
        return Estimate.undefined(f"every score is {categories[0]:g}", n, definition, detail)
    if n == 1:
        return Estimate.undefined("only one item was scored by two scorers", n, definition, detail)
    pairs = _coincidences(used, categories).reshape(n, -1)

    def alpha(picks: Picks) -> FloatArray:
        summed = times_drawn(picks, n) @ pairs
        return _alpha(summed.reshape(-1, len(categories), len(categories)), categories, level)

    value = float(alpha(once(n))[0])
    return estimate(definition, value, alpha, (n,), resampling, detail=detail, width=4 * pairs.shape[1])


def _coincidences(values: FloatArray, categories: FloatArray) -> FloatArray:
    """(n_items, n_raters) -> (n_items, n_categories, n_categories): what each item adds to the matrix."""
    counts = (values[:, :, None] == categories).sum(axis=1).astype(float)
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs -= np.eye(len(categories)) * counts[:, None, :]
    return cast(FloatArray, pairs / (counts.sum(axis=1) - 1)[:, None, None])


def _alpha(pairs: FloatArray, categories: FloatArray, level: Level) -> FloatArray:
    """(draws, n_categories, n_categories) -> (draws,), NaN where all values are the same."""
    totals = pairs.sum(axis=2)
    differences = _differences(totals, categories, level)
    observed = (pairs * differences).sum(axis=(1, 2))
    expected = (totals[:, :, None] * totals[:, None, :] * differences).sum(axis=(1, 2))
    chance = divided(observed, expected)
    return cast(FloatArray, 1 - (totals.sum(axis=1) - 1) * chance)


def _differences(totals: FloatArray, categories: FloatArray, level: Level) -> FloatArray:
    """Squared distances between categories, (draws or 1, n_categories, n_categories).

    Ordinal: how many values lie from one category to the other, with half of those at either end. That is the
    distance of their mean ranks, so it depends on how often each value was given, but not on its number.
    """
    if level == "nominal":
        return (1 - np.eye(len(categories)))[None]
    place = np.cumsum(totals, axis=1) - totals / 2 if level == "ordinal" else categories[None]
    apart: FloatArray = place[:, :, None] - place[:, None, :]
    return apart**2
