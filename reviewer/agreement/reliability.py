"""Agreement of any number of scorers: Krippendorff's alpha, intraclass correlation, and agreement of the categorical
decisions of a review round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np

from agent.language import deferred, tr
from agent.statistics import DEFAULT, FloatArray, Picks, Resampling, divided, once, times_sampled
from reviewer.agreement.distribution import by_item, share
from reviewer.agreement.mixed import Ratings, fit
from reviewer.agreement.values import POPULATION_BOTH, Estimate, Scores, ScoresError, estimate, jackknife, unshared

Level = Literal["nominal", "ordinal", "interval"]

_DEFINITION = deferred(
    "Krippendorff's alpha ({level}): 1 less the observed disagreement over the one expected by chance; 1 is perfect "
    "agreement, 0 is chance. Krippendorff 2011, Computing Krippendorff's Alpha-Reliability."
)
_LEVELS: dict[Level, str] = {
    "nominal": deferred("nominal"),
    "ordinal": deferred("ordinal"),
    "interval": deferred("interval"),
}


def krippendorff_alpha(
    scores: Scores,
    level: Level = "ordinal",
    resampling: Resampling = DEFAULT,
    clusters: Sequence[str] | None = None,
) -> Estimate:
    """Return Krippendorff's alpha: the agreement of all scorers, corrected for chance.

    From the coincidence matrix, section C of Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability"
    (repository.upenn.edu/asc_papers/43): an item with m scores adds each of its m(m - 1) ordered pairs with
    the weight 1/(m - 1). n is the items with two scores or more; the others are left out and counted in
    ``detail``. Undefined with one scorer, with no or one item that two people scored (a single item always
    gives 0), and when all pairable scores are the same: nothing was there to agree about.

    :param clusters: the spectrum of each item; the interval is then ``jackknife`` over spectra
    """
    definition = deferred(_DEFINITION, level=_LEVELS[level])
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
        return Estimate.undefined(deferred("every score is {score:g}", score=categories[0]), n, definition, detail)
    if n == 1:
        return Estimate.undefined(deferred("only one item was scored by two scorers"), n, definition, detail)
    pairs = _coincidences(used, categories).reshape(n, -1)

    def alpha(picks: Picks) -> FloatArray:
        summed = times_sampled(picks, n) @ pairs
        return _alpha(summed.reshape(-1, len(categories), len(categories)), categories, level)

    value = float(alpha(once(n))[0])
    if clusters is not None:
        kept = [cluster for cluster, keep in zip(clusters, shared, strict=True) if keep]
        alpha_estimate = jackknife(definition, value, alpha, kept, detail=detail)
    else:
        alpha_estimate = estimate(definition, value, alpha, (n,), resampling, detail=detail, width=4 * pairs.shape[1])
    caution = _prevalence(used)
    return replace(alpha_estimate, reason=caution) if caution and not alpha_estimate.reason else alpha_estimate


ONE_CATEGORY = 0.9
"""Share of one category among the scores above which alpha says little about agreement (Feinstein & Cicchetti 1990)."""


def _prevalence(values: FloatArray) -> str:
    """Return a caution where nearly all scores are of one category, "" otherwise."""
    _, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    share = float(counts.max() / counts.sum())
    if share <= ONE_CATEGORY:
        return ""
    return deferred(
        "{share:.0f} % of the scores are alike, and alpha is then low however many agree: see the raw agreement",
        share=100 * share,
    )


def _coincidences(values: FloatArray, categories: FloatArray) -> FloatArray:
    """(n_items, n_raters) -> (n_items, n_categories, n_categories): each item's part of the matrix."""
    counts = (values[:, :, None] == categories).sum(axis=1).astype(float)
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs -= np.eye(len(categories)) * counts[:, None, :]
    return cast(FloatArray, pairs / (counts.sum(axis=1) - 1)[:, None, None])


def _alpha(pairs: FloatArray, categories: FloatArray, level: Level) -> FloatArray:
    """(resamples, n_categories, n_categories) -> (resamples,), NaN where all values are the same."""
    totals = pairs.sum(axis=2)
    differences = _differences(totals, categories, level)
    observed = (pairs * differences).sum(axis=(1, 2))
    expected = (totals[:, :, None] * totals[:, None, :] * differences).sum(axis=(1, 2))
    chance = divided(observed, expected)
    return cast(FloatArray, 1 - (totals.sum(axis=1) - 1) * chance)


def _differences(totals: FloatArray, categories: FloatArray, level: Level) -> FloatArray:
    """Squared distances between categories, (resamples or 1, n_categories, n_categories).

    Ordinal: how many values lie from one category to the other, with half of those at either end. That is the
    distance of their mean ranks, so it depends on how often each value was given, but not on its number.
    """
    if level == "nominal":
        return (1 - np.eye(len(categories)))[None]
    place = np.cumsum(totals, axis=1) - totals / 2 if level == "ordinal" else categories[None]
    apart: FloatArray = place[:, :, None] - place[:, None, :]
    return apart**2


_DEFINITIONS = {
    "A,1": deferred(
        "ICC(A,1): the share of the variance of single scores that is due to the items, scorers taken as a sample of "
        "many and their severity counted as error (two-way random effects, absolute agreement). McGraw & Wong 1996, "
        "Psychological Methods 1, 30; Shrout & Fleiss's ICC(2,1)."
    ),
    "A,k": deferred(
        "ICC(A,k): the same share for the mean of all k scorers (two-way random effects, absolute agreement). McGraw & "
        "Wong 1996, Psychological Methods 1, 30; Shrout & Fleiss's ICC(2,k)."
    ),
}


def icc_a1(scores: Scores, clusters: Sequence[str] | None = None, confidence: float = 0.95) -> Estimate:
    """Return ICC(A,1), the reliability of one scorer's score. Table 4 of McGraw & Wong 1996, case 2A.

    Complete tables: from mean squares, with the F interval of McGraw & Wong, table 7. Tables with gaps: from variance
    components by REML, and the same interval with the mean squares that a complete table of the mean number of scores
    per item would have. It holds for items and scorers like these. Undefined with one scorer, without an item of two
    scores, or with constant scores.

    :param clusters: the spectrum of each item; its items count as one in the degrees of freedom, so the interval is
        rather too wide than too narrow
    """
    return _icc(scores, "A,1", clusters, confidence)


def icc_ak(scores: Scores, clusters: Sequence[str] | None = None, confidence: float = 0.95) -> Estimate:
    """Return ICC(A,k), of the mean of an item's scorers (of k, or of the mean number where there are gaps); as
    ``icc_a1``, and undefined also when the items' means hardly differ: it then has no bound.
    """
    return _icc(scores, "A,k", clusters, confidence)


def _icc(scores: Scores, kind: Literal["A,1", "A,k"], clusters: Sequence[str] | None, confidence: float) -> Estimate:
    definition = _DEFINITIONS[kind]
    kept = np.atleast_1d(scores.given.any(axis=1))
    values = scores.values[kept][:, scores.given.any(axis=0)]
    n, raters = values.shape
    detail: dict[str, Any] = {
        "scorers": raters,
        "scores": int((~np.isnan(values)).sum()),
        "population": POPULATION_BOTH,
    }
    if why := unshared(scores) or (deferred("only one item was scored; expected two") if n < 2 else ""):
        return Estimate.undefined(why, n, definition, detail)
    given = values[~np.isnan(values)]
    if np.ptp(given) == 0:
        return Estimate.undefined(deferred("every score is {score:g}", score=given[0]), n, definition, detail)
    if len(given) - n - raters + 1 < 1:
        few = deferred(
            "{scores} scores of {n} items by {raters} scorers are too few", scores=len(given), n=n, raters=raters
        )
        return Estimate.undefined(few, n, definition, detail)
    squares = _mean_squares(values)
    smallest = 1e-12 * float(np.ptp(given)) ** 2
    value = _ratio(squares, kind, smallest)
    if np.isnan(value):
        return Estimate.undefined(deferred("the items' means do not differ"), n, definition, detail)
    spectra = n if clusters is None else len({cluster for cluster, keep in zip(clusters, kept, strict=True) if keep})
    detail["mean_squares"] = {name: getattr(squares, name) for name in ("items", "raters", "rest")}
    detail["scores_per_item"] = squares.k
    few = deferred("fewer than {fewest} spectra", fewest=MIN_ITEMS) if spectra < MIN_ITEMS else ""
    ends = None if few else _f_interval(replace(squares, of_items=spectra - 1), kind, confidence)
    why = few or ("" if ends else deferred("the F interval has no value here"))
    low, high = ends or (None, None)
    return Estimate(value, low, high, n, definition, why, detail)


MIN_ITEMS = 5


@dataclass(frozen=True)
class _Squares:
    """Mean squares of the two-way analysis of variance of ``n`` items by ``k`` scorers, with degrees of freedom."""

    items: float
    raters: float
    rest: float
    n: int
    k: float
    of_items: int
    of_raters: int
    of_rest: int


def _mean_squares(values: FloatArray) -> _Squares:
    """(n_items, n_raters), NaN for gaps. With gaps: those of a complete table with the same variance components."""
    n, raters = values.shape
    given = ~np.isnan(values)
    if given.all():
        centred = values - values.mean()
        rows, columns = centred.mean(axis=1), centred.mean(axis=0)
        of_items, of_raters = raters * (rows**2).sum(), n * (columns**2).sum()
        rest = (centred**2).sum() - of_items - of_raters
        # The difference of equal numbers is rounding noise of either sign.
        noise = 1e-12 * n * raters * float(np.ptp(values)) ** 2
        of_items, of_raters, rest = (
            float(of_item) if of_item > noise else 0.0 for of_item in (of_items, of_raters, rest)
        )
        freedom = (n - 1, raters - 1, (n - 1) * (raters - 1))
        squares = (of_item / max(1, f) for of_item, f in zip((of_items, of_raters, rest), freedom, strict=True))
        return _Squares(*squares, n, raters, *freedom)  # type: ignore[call-arg]
    rows, columns = np.nonzero(given)
    names = tuple(map(str, rows))
    components = fit(Ratings(values[given], names, names, tuple(map(str, columns)), ("",) * len(rows))).components
    k = float(1 / np.mean(1 / given.sum(axis=1)))
    rest = components["rest"]
    items, scorers = rest + k * components.get("trace", 0.0), rest + n * max(0.0, components.get("scorer", 0.0))
    return _Squares(items, scorers, rest, n, k, n - 1, raters - 1, max(1, len(rows) - n - raters + 1))


def _ratio(squares: _Squares, kind: Literal["A,1", "A,k"], smallest: float) -> float:
    between, severe = squares.items - squares.rest, (squares.raters - squares.rest) / squares.n
    if kind == "A,1":
        below = squares.items + (squares.k - 1) * squares.rest + squares.k * severe
    else:
        below = squares.items + severe
    return between / below if below > smallest else float("nan")


def _f_interval(squares: _Squares, kind: Literal["A,1", "A,k"], confidence: float) -> tuple[float, float] | None:
    """McGraw & Wong 1996, table 7; the degrees of freedom are Satterthwaite's."""
    from scipy.stats import f

    single = _ratio(squares, "A,1", 0.0)
    n, k = squares.n, squares.k
    if squares.rest == 0 or not single < 1:
        return None
    items, raters, rest = squares.items, squares.raters, squares.rest
    # Estimates far below 0 make the degrees of freedom and the ends meaningless: then there is no interval.
    with np.errstate(all="ignore"):
        a = k * single / (n * (1 - single))
        b = 1 + k * single * (n - 1) / (n * (1 - single))
        spread = (a * raters) ** 2 / squares.of_raters + (b * rest) ** 2 / squares.of_rest
        freedom = np.float64((a * raters + b * rest) ** 2) / spread
        tail = (1 + confidence) / 2
        lower, upper = f.ppf(tail, squares.of_items, freedom), f.ppf(tail, freedom, squares.of_items)
        error = k * raters + (k * n - k - n) * rest
        low = n * (items - lower * rest) / (lower * error + n * items)
        high = n * (upper * items - rest) / (error + n * upper * items)
        if not low <= single <= high:
            return None
        if kind == "A,k":  # stepped up by Spearman and Brown's formula
            low, high = (k * end / (1 + (k - 1) * end) for end in (low, high))
    return (float(low), float(high)) if np.isfinite([low, high]).all() and low <= high else None


@dataclass(frozen=True)
class Wording:
    """How agreement is worded: of reviewers' decisions, or of scorers' answers."""

    raw: str
    """Definition of raw agreement."""
    nobody: str
    alone: str
    unshared: str
    single: str
    same: Callable[[str], str]
    """The reason where one decision is all there is."""


DECISIONS = Wording(
    raw=deferred(
        "Raw agreement: of two people who decided on the same item, the chance that they decided alike, averaged over "
        "items. Fleiss 1971, Psychological Bulletin 76, 378 (his mean P)."
    ),
    nobody=deferred("nobody decided anything"),
    alone=deferred("there is one reviewer only"),
    unshared=deferred("no item was decided on by two reviewers"),
    single=deferred("only one item was decided on by two reviewers"),
    same=lambda decision: deferred("every decision is {decision}", decision=decision),
)
_GOLD = deferred("Calibration on gold: the share of a reviewer's decisions on gold items that are the expected one.")


@dataclass(frozen=True)
class RoundAgreement:
    """Agreement of decisions: raw, and corrected for chance."""

    raw: Estimate
    alpha: Estimate


def round_agreement(
    items: Sequence[str],
    people: Sequence[str],
    verbs: Sequence[str],
    resampling: Resampling = DEFAULT,
    wording: Wording = DECISIONS,
) -> RoundAgreement:
    """Return the agreement of categorical decisions: raw, and Krippendorff's alpha (nominal).

    n is the items that two or more people decided on. Both are undefined when there is none, alpha also when
    all decided alike throughout (raw agreement is then 1) and with one such item.

    :param items: (n_decisions,); one decision of one person on one item in each place
    :raises ScoresError: arrays of different lengths, or two decisions of one person on one item
    """
    scores, names = _decision_table(items, people, verbs)
    counts = (scores.values[:, :, None] == np.arange(len(names))).sum(axis=1).astype(float)
    alike, several = _agreeing_pairs(counts)
    detail = {"decisions": {name: int(n) for name, n in zip(names, counts.sum(axis=0), strict=True)}}
    why = _unshared_decisions(scores, wording)
    raw = share(alike, several, wording.raw, resampling, none=why, detail=detail)
    alpha = krippendorff_alpha(scores, "nominal", resampling)
    if alpha.value is None:
        used = [name for name, n in zip(names, counts[several > 0].sum(axis=0), strict=True) if n]
        same = wording.same(deferred(used[0])) if len(used) == 1 else ""
        alpha = replace(alpha, reason=why or same or wording.single)
    return RoundAgreement(raw, alpha)


def _unshared_decisions(scores: Scores, wording: Wording) -> str:
    """As ``unshared``, of decisions."""
    people = int(scores.given.any(axis=0).sum())
    if people == 0:
        return wording.nobody
    if people == 1:
        return wording.alone
    return "" if (scores.given.sum(axis=1) > 1).any() else wording.unshared


def gold_agreement(
    items: Sequence[str], given: Sequence[str], expected: Sequence[str], resampling: Resampling = DEFAULT
) -> Estimate:
    """Return how often one reviewer decided on gold items as expected; n is the decisions. Undefined without any.

    :param items: (n_decisions,); an item may come again
    :raises ScoresError: arrays of different lengths
    """
    if not len(items) == len(given) == len(expected):
        raise ScoresError(
            tr(
                "decisions: {items} items, {given} decisions, {wanted} expected; expected one each",
                items=len(items),
                given=len(given),
                wanted=len(expected),
            )
        )
    right = [own == label for own, label in zip(given, expected, strict=True)]
    hits, every = by_item(items, right, np.ones(len(right)))
    none = deferred("no gold item was decided on")
    n_of = deferred("decisions on gold items")
    return share(hits, every, _GOLD, resampling, none=none, n=len(right), n_of=n_of)


def _decision_table(items: Sequence[str], people: Sequence[str], verbs: Sequence[str]) -> tuple[Scores, list[str]]:
    if not len(items) == len(people) == len(verbs):
        raise ScoresError(
            tr(
                "decisions: {items} items, {people} people, {verbs} decisions; expected one each",
                items=len(items),
                people=len(people),
                verbs=len(verbs),
            )
        )
    names = sorted(set(verbs))
    return Scores.of(
        (item, person, names.index(verb)) for item, person, verb in zip(items, people, verbs, strict=True)
    ), names


def _agreeing_pairs(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n_items,) each: the share of its pairs of decisions that are alike; 1 where there is a pair."""
    ratings = counts.sum(axis=1)
    several = ratings > 1
    pairs = np.where(several, ratings * (ratings - 1), 1)
    return (counts * (counts - 1)).sum(axis=1) / pairs, several.astype(float)
