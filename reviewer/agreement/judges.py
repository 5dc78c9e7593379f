"""A judge that is asked every pair in both orders: whether it flips, and whether length wins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from reviewer.agreement.bootstrap import DEFAULT, Resampling
from reviewer.agreement.means import by_item, share
from reviewer.agreement.preference import VERDICTS, Verdict, chosen, refuse_unknown, same_length
from reviewer.agreement.values import Estimate, ScoresError

_FLIP = (
    "Flip rate: the share of pairs, shown in both orders, of which a judge chose one trace in one "
    "order and the other trace in the other."
)
_LENGTH = (
    "Length bias: the share of decided answers that chose the longer of two texts; 0.5 is none if "
    "length and quality have nothing to do with each other. The interval resamples pairs."
)


def in_both_orders(first: Verdict, second: Verdict) -> Verdict:
    """The verdict of two orders together, each already mapped to sources: what both say, or a tie.

    So a flip is a tie, and so is a win in one order and a tie in the other: Zheng et al. 2023, Judging
    LLM-as-a-Judge (arXiv 2306.05685), section 3.4.
    """
    return first if first == second else "equal"


def flip_rate(
    first: Sequence[Verdict], second: Sequence[Verdict], resampling: Resampling = DEFAULT
) -> Estimate:
    """How often a judge's choice follows the order; n is the pairs answered in both orders.

    ``detail["wavered"]`` is how many were decided in one order and a tie in the other. Undefined without
    pairs.

    :param first: (n_pairs,), verdicts in one order, mapped to sources; ``second`` in the other
    :raises ScoresError: different numbers of verdicts, or an unknown one
    """
    refuse_unknown([*first, *second], VERDICTS)
    if len(first) != len(second):
        raise ScoresError(f"preferences: {len(first)} verdicts in one order, {len(second)} in the other")
    decided = [chosen(one, "a", "b") for one in (first, second)]
    differ = np.array([one != other for one, other in zip(first, second, strict=True)], dtype=bool)
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
    """How often the longer text won; n is the answers that chose one of two texts of different length.

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
        raise ScoresError(f"preferences: {longer.size} lengths for {len(pairs)} answers; one each is wanted")
    for_a = chosen(verdicts, "a")
    counts = chosen(verdicts, "a", "b") & (longer != 0)
    won_by = np.where(for_a, longer, -longer)
    hits, every = by_item(pairs, counts & (won_by > 0), counts)
    detail = {"mean_excess": float(won_by[counts].mean())} if counts.any() else {}
    none = "no answer chose between texts of different length"
    n = int(counts.sum())
    return share(hits, every, _LENGTH, resampling, none=none, n=n, n_of="decided answers", detail=detail)
