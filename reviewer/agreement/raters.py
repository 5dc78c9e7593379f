"""Statistics of one scorer or judge: self-consistency, calibration on gold items, order and length bias."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from agent.statistics import DEFAULT, Resampling
from reviewer.agreement.distribution import by_item, mean, share
from reviewer.agreement.pairs import weighted_kappa
from reviewer.agreement.preference import VERDICTS, Verdict, chosen, refuse_unknown, same_length
from reviewer.agreement.values import SCALE, Estimate, Scores, ScoresError

_DIFFERENCE = "Self-consistency: the mean absolute difference of two scores that a scorer gave to one item."
_EXACT = "Self-consistency: the share of repeated items to which a scorer gave the very same score."
_WITHIN_1 = "Self-consistency: the share of repeated items to which a scorer gave scores at most 1 apart."
_BIAS = "Bias on gold: the mean of the scores given less those expected."
_WITHIN = "Calibration on gold: the share of the scores given that are within the tolerance of the expected one."
_NO_REPEAT = "no item was scored twice"
_NO_GOLD = "no gold item was scored"


@dataclass(frozen=True)
class SelfConsistency:
    """Agreement of a scorer's second scores with the first."""

    difference: Estimate
    exact: Estimate
    within_1: Estimate
    kappa: Estimate


@dataclass(frozen=True)
class Calibration:
    """The scores of gold items compared with the expected ones."""

    bias: Estimate
    within: Estimate


def self_consistency(
    first: ArrayLike, again: ArrayLike, scale: Sequence[int] = SCALE, resampling: Resampling = DEFAULT
) -> SelfConsistency:
    """Compare a scorer's repeated scores: the mean absolute difference, exact agreement, agreement within 1, and
    quadratic-weighted kappa.

    n is the items scored both times; all are undefined when there is none, kappa also as in ``weighted_kappa``. The
    interval of kappa is ``jackknife`` over the repeats; the others resample them.

    :param first: (n_repeats,), the first score of each repeated item; NaN where there is none
    :param again: (n_repeats,), the second
    :raises ScoresError: arrays of different lengths, or a score that is not on the scale
    """
    pair = _side_by_side(first, again, ("first", "again"))
    apart = abs(pair.by("first") - pair.by("again"))
    twice = ~np.isnan(apart)
    return SelfConsistency(
        mean(np.where(twice, apart, 0.0), twice, _DIFFERENCE, resampling, none=_NO_REPEAT),
        share(apart == 0, twice, _EXACT, resampling, none=_NO_REPEAT),
        share(apart <= 1, twice, _WITHIN_1, resampling, none=_NO_REPEAT),
        weighted_kappa(pair, "first", "again", scale, clusters=pair.items),
    )


def calibration(
    given: ArrayLike, expected: ArrayLike, tolerance: ArrayLike = 1.0, resampling: Resampling = DEFAULT
) -> Calibration:
    """Return a scorer's mean error on gold items, and the share of scores within the tolerance.

    n is the gold items scored; undefined when there is none.

    :param given: (n_gold,), NaN where there is none
    :param expected: (n_gold,)
    :param tolerance: one for all or (n_gold,); a score that is off by just that is within it
    :raises ScoresError: arrays of different lengths
    """
    pair = _side_by_side(given, expected, ("given", "expected"))
    error = pair.by("given") - pair.by("expected")
    scored = ~np.isnan(error)
    near = abs(error) <= np.asarray(tolerance, dtype=float) + 1e-9  # in binary 4.4 is not quite within 0.4 of 4
    return Calibration(
        mean(np.where(scored, error, 0.0), scored, _BIAS, resampling, none=_NO_GOLD, n_of="gold items"),
        share(near, scored, _WITHIN, resampling, none=_NO_GOLD, n_of="gold items"),
    )


def _side_by_side(a: ArrayLike, b: ArrayLike, names: tuple[str, str]) -> Scores:
    left, right = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if left.shape != right.shape or left.ndim != 1:
        raise ScoresError(
            f"scores: {names[0]} has shape {left.shape}, {names[1]} {right.shape}; both must be (n_items,)"
        )
    return Scores(tuple(map(str, range(len(left)))), names, np.stack([left, right], axis=1))


_FLIP = (
    "Flip rate: the share of pairs, shown in both orders, of which a judge chose one trace in one "
    "order and the other trace in the other."
)
_LENGTH = (
    "Length bias: the share of decided answers that chose the longer of two texts; 0.5 is none if "
    "length and quality have nothing to do with each other. The interval resamples pairs."
)


def in_both_orders(first: Verdict, second: Verdict) -> Verdict:
    """Return the verdict of two orders together, each already mapped to sources: the common one, or a tie.

    So a flip is a tie, and so is a win in one order and a tie in the other: Zheng et al. 2023, Judging
    LLM-as-a-Judge (arXiv 2306.05685), section 3.4.
    """
    return first if first == second else "equal"


def flip_rate(first: Sequence[Verdict], second: Sequence[Verdict], resampling: Resampling = DEFAULT) -> Estimate:
    """Return how often a judge's choice follows the order; n is the pairs answered in both orders.

    ``detail["wavered"]`` is how many were decided in one order and a tie in the other. Undefined without
    pairs.

    :param first: (n_pairs,), verdicts in one order, mapped to sources; ``second`` in the other
    :raises ScoresError: different numbers of verdicts, or an unknown one
    """
    refuse_unknown([*first, *second], VERDICTS)
    if len(first) != len(second):
        raise ScoresError(f"preferences: {len(first)} verdicts in one order, {len(second)} in the other")
    decided = [chosen(verdict, "a", "b") for verdict in (first, second)]
    differ = np.array([verdict != other for verdict, other in zip(first, second, strict=True)], dtype=bool)
    flipped = decided[0] & decided[1] & differ
    detail = {"flipped": int(flipped.sum()), "wavered": int((decided[0] ^ decided[1]).sum())}
    none = "no pair was answered in both orders"
    return share(flipped, np.ones(len(flipped)), _FLIP, resampling, none=none, n_of="pairs", detail=detail)


def length_bias(
    pairs: Sequence[str],
    verdicts: Sequence[Verdict],
    length_a: ArrayLike,
    length_b: ArrayLike,
    resampling: Resampling = DEFAULT,
) -> Estimate:
    """Return how often the longer text won; n is the answers that chose one of two texts of different length.

    ``detail`` has by how much the chosen text was longer on average, in the unit of the lengths. Undefined
    when no answer chose, or never between different lengths.

    :param pairs: (n_answers,), the pair that was shown
    :param verdicts: (n_answers,), which of a and b
    :param length_a: (n_answers,), of a's text, in characters or words; ``length_b`` of b's
    :raises ScoresError: arrays of different lengths, or an unknown verdict
    """
    refuse_unknown(verdicts, VERDICTS)
    same_length(pairs, verdicts)
    longer = np.asarray(length_a, dtype=float) - np.asarray(length_b, dtype=float)
    if longer.shape != (len(pairs),):
        raise ScoresError(f"preferences: {longer.size} lengths for {len(pairs)} answers; expected one each")
    for_a = chosen(verdicts, "a")
    counts = chosen(verdicts, "a", "b") & (longer != 0)
    won_by = np.where(for_a, longer, -longer)
    hits, every = by_item(pairs, counts & (won_by > 0), counts)
    detail = {"mean_excess": float(won_by[counts].mean())} if counts.any() else {}
    none = "no answer chose between texts of different length"
    n = int(counts.sum())
    return share(hits, every, _LENGTH, resampling, none=none, n=n, n_of="decided answers", detail=detail)
