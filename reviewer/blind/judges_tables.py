"""What model judges said of a closed session as a table for ``reviewer.agreement``, and how they rank traces
beside the people. "Cannot tell", an answer that could not be read, and a dimension that was not asked for are
all no score.
"""

from __future__ import annotations

import numpy as np

from reviewer.agreement.bootstrap import DEFAULT, Resampling
from reviewer.agreement.pairs import spearman
from reviewer.agreement.values import Estimate, Scores
from reviewer.blind import tables
from reviewer.blind.results import JudgedScore, Results
from reviewer.blind.values import CANNOT_TELL, Dimension


def judge_scores(results: Results, dimension: Dimension) -> Scores:
    """(n_items, n_judges): every item that some judge was asked to score in this dimension."""
    return Scores.of(
        (str(results.traces[one.shown[0]].item), one.judge, None if score == CANNOT_TELL else float(score))
        for one in results.judgements
        if isinstance(one.answer, JudgedScore) and (score := getattr(one.answer, dimension)) is not None
    )


def rank_correlation(
    results: Results, dimension: Dimension, judge: str | None = None, resampling: Resampling = DEFAULT
) -> Estimate:
    """Spearman's correlation of the people's mean score of each item with the judges' mean.

    n is the items that a person and a judge gave a score; undefined, in words, with fewer than three.

    :param judge: this one's scores instead of the mean of all
    """
    people = tables.scores(results, dimension)
    theirs = judge_scores(results, dimension)
    if judge is not None:
        theirs = theirs.only([judge] if judge in theirs.raters else [])
    judged = dict(zip(theirs.items, theirs.item_means(), strict=True))
    beside = np.array([judged.get(item, np.nan) for item in people.items], dtype=float)
    return spearman(people.item_means(), beside, resampling)
