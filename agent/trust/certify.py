"""Thresholds of P(YES) at which the error rates of the verdicts are certified, or what is missing for that.

Candidate thresholds come from the P(YES) of the list and never from labels, and are tested from one threshold to ever
more lenient ones until a test fails (fixed sequence: Bauer 1991, Statistics in Medicine 10, 871; Angelopoulos and
others 2022, arXiv:2110.01052). The tests are in ``agent.trust.bounds``; MAPIE is imported where it is used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
from numpy.typing import NDArray

from agent.statistics import FloatArray
from agent.trajectory.steps import Verdict
from agent.trust.bounds import binomial_p_value, labels_needed, upper_bound

if TYPE_CHECKING:
    from agent.trust.triage import Plan

BoolArray = NDArray[np.bool_]

HALF = 0.5
"""No threshold of YES is below it and none of NO above it: a verdict is never the less probable class."""
FEWEST = 20
"""The strictest candidate threshold calls at least so many cases of the list, if there are as many."""
GROWTH = 1.25
"""Each further candidate threshold calls about so many times the cases of the one before it."""
CLEAR = 0.25
"""The any-time method starts at the most lenient threshold with an expected error rate of this share of the limit."""


@dataclass(frozen=True)
class Labelled:
    """Decided cases in the order in which they were decided.

    :param p: P(YES), (n,)
    :param yes: whether the label is YES, (n,)
    :param shown: how each case was chosen; None: assumed at random from the list
    """

    p: FloatArray
    yes: BoolArray
    shown: tuple[Plan | None, ...] = ()

    def __post_init__(self) -> None:
        p, yes = np.asarray(self.p, dtype=float), np.asarray(self.yes, dtype=bool)
        shown = self.shown or (None,) * len(p)
        if not len(p) == len(yes) == len(shown):
            raise ValueError(
                f"found {len(p)} P(YES), {len(yes)} labels and {len(shown)} plans, expected as many of each"
            )
        if not ((p >= 0) & (p <= 1)).all():
            raise ValueError("found a P(YES) outside 0 to 1")
        object.__setattr__(self, "p", p)
        object.__setattr__(self, "yes", yes)
        object.__setattr__(self, "shown", shown)


@dataclass(frozen=True)
class Wanted:
    """What is to be certified.

    :param yes: largest share of NO among the cases called YES
    :param no: largest share of YES among the cases called NO ("omission"), or of YES objects called NO ("missed")
    :param delta: probability with which a bound may be wrong; of each side, or of either side if ``joint``
    :param method: "fixed" counts once; "anytime" may be repeated after each label
    :param label_noise: a lower bound of the share of wrong labels; 0: labels are taken as they are, which is valid if
        at most half of them are wrong. Not used for "missed"
    """

    yes: float = 0.05
    no: float = 0.05
    delta: float = 0.05
    joint: bool = False
    method: Literal["fixed", "anytime"] = "fixed"
    no_risk: Literal["omission", "missed"] = "omission"
    label_noise: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (("yes", self.yes), ("no", self.no), ("delta", self.delta)):
            if not 0 < value < 1:
                raise ValueError(f"found {name} = {value:g}, expected a number between 0 and 1 (e.g. 0.05)")
        if not 0 <= self.label_noise < 0.5:
            raise ValueError(f"found label_noise = {self.label_noise:g}, expected 0 or more and less than 0.5")

    @property
    def side_delta(self) -> float:
        """δ of one side."""
        return self.delta / 2 if self.joint else self.delta

    def limit(self, verdict: Verdict) -> float:
        """The largest error rate of a side."""
        return self.yes if verdict == "YES" else self.no

    def noise(self, verdict: Verdict) -> float:
        """The lower bound of wrong labels that counts on this side."""
        return 0.0 if verdict == "NO" and self.no_risk == "missed" else self.label_noise

    def measured_limit(self, verdict: Verdict) -> float:
        """The limit of the error rate measured with wrong labels: η + limit (1 − 2 η)."""
        noise = self.noise(verdict)
        return noise + self.limit(verdict) * (1 - 2 * noise)


@dataclass(frozen=True)
class Side:
    """Result of one side.

    :param threshold: cases with P(YES) of at least it are called YES (YES), of at most it NO (NO); None: not certified
    :param n: labels among the cases called so; if refused, at the first threshold that was tested
    :param errors: labels among them that contradict the verdict
    :param upper: upper bound of the error rate at 1 − δ; the guarantee is for the limit, and this is no more than it
    :param missing: how many more labels of the kind in ``refusal`` certify it, if none of them is an error; None if
        it is certified or more labels do not help
    :param refusal: why it is not certified, and what helps; "" if it is certified
    """

    verdict: Verdict
    threshold: float | None
    n: int
    errors: int
    upper: float | None
    limit: float
    missing: int | None = None
    refusal: str = ""


def called(verdict: Verdict, p: FloatArray, threshold: float) -> BoolArray:
    """Return which cases get this verdict at a threshold."""
    return p >= threshold if verdict == "YES" else p <= threshold


def candidates(pool_p: FloatArray, verdict: Verdict) -> FloatArray:
    """Return the candidate thresholds of a side, from the strictest to the most lenient.

    They lie between two neighbouring P(YES) of the list, so that no case of the list is at a threshold.
    """
    pool = np.asarray(pool_p, dtype=float)
    sign = 1.0 if verdict == "YES" else -1.0
    inside = np.sort(sign * pool[pool >= HALF if verdict == "YES" else pool < HALF])[::-1]
    if not len(inside):
        return np.zeros(0)
    gaps = np.flatnonzero(inside[:-1] - inside[1:] > 1e-12)
    steps = math.ceil(math.log(max(1.0, len(inside) / FEWEST)) / math.log(GROWTH))
    found = np.unique(np.searchsorted(gaps + 1, FEWEST * GROWTH ** np.arange(steps)))
    found = gaps[found[found < len(gaps)]]
    middles = sign * (inside[found] + inside[found + 1]) / 2
    last = HALF if verdict == "YES" else (HALF - float(inside[-1])) / 2
    return np.concatenate((middles, [last]))


def certify(labelled: Labelled, pool_p: FloatArray, wanted: Wanted) -> tuple[Side, Side]:
    """Return the sides YES and NO: a certified threshold each, or why there is none.

    :param pool_p: P(YES) of all cases of the list, decided or not
    """
    pool = np.asarray(pool_p, dtype=float)
    return _side(labelled, pool, wanted, "YES"), _side(labelled, pool, wanted, "NO")


# ---- the fixed method


def _side(labelled: Labelled, pool: FloatArray, wanted: Wanted, verdict: Verdict) -> Side:
    limit = wanted.limit(verdict)
    if any(plan is not None for plan in labelled.shown):
        reason = (
            "Cases were chosen by the ordered queue, so their labels have weights; the fixed method has none. "
            "Use the method that is valid at any time (anytime)."
        )
        return Side(verdict, None, 0, 0, None, limit, None, reason)
    thresholds = candidates(pool, verdict)
    if not len(thresholds):
        half = "at least 0.5" if verdict == "YES" else "less than 0.5"
        reason = f"No case of the list has P(YES) of {half}, so no case can be called {verdict}."
        return Side(verdict, None, 0, 0, None, limit, None, reason)
    n, errors = _counts(labelled, thresholds, wanted, verdict)
    first = _first(n, _expected(pool, thresholds, wanted, verdict), wanted, verdict)
    if first is None:
        return _refused(verdict, float(thresholds[-1]), int(n[-1]), int(errors[-1]), wanted)
    from mapie.risk_control.fwer_control import FWERFixedSequenceTesting

    tested = list(zip(n[first:].tolist(), errors[first:].tolist(), strict=True))
    p_values = np.array([binomial_p_value(k, of, wanted.measured_limit(verdict)) for of, k in tested])
    passed = FWERFixedSequenceTesting(n_starts=1).run(p_values, wanted.side_delta)
    if not len(passed):
        return _refused(verdict, float(thresholds[first]), int(n[first]), int(errors[first]), wanted)
    last = first + int(passed[-1])
    upper = _without_noise(upper_bound(int(errors[last]), int(n[last]), wanted.side_delta), wanted.noise(verdict))
    return Side(verdict, float(thresholds[last]), int(n[last]), int(errors[last]), upper, limit)


def _counts(
    labelled: Labelled, thresholds: FloatArray, wanted: Wanted, verdict: Verdict
) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """Labels and errors of each candidate threshold."""
    inside = np.array([called(verdict, labelled.p, threshold) for threshold in thresholds])
    wrong = labelled.yes if verdict == "NO" else ~labelled.yes
    errors = (inside & wrong).sum(axis=1)
    if verdict == "NO" and wanted.no_risk == "missed":
        return np.full(len(thresholds), labelled.yes.sum()), errors
    return inside.sum(axis=1), errors


def _expected(pool: FloatArray, thresholds: FloatArray, wanted: Wanted, verdict: Verdict) -> FloatArray:
    """Error rate of each candidate threshold that the P(YES) of the list predict; only the order of tests uses it."""
    wrong = pool if verdict == "NO" else 1 - pool
    inside = np.array([called(verdict, pool, threshold) for threshold in thresholds])
    of = pool.sum() if verdict == "NO" and wanted.no_risk == "missed" else inside.sum(axis=1)
    return cast(FloatArray, inside @ wrong / np.maximum(of, 1e-12))


def _first(n: NDArray[np.int_], expected: FloatArray, wanted: Wanted, verdict: Verdict) -> int | None:
    """Number of the first threshold that is tested: that with the best chance to pass, from n and P(YES) alone.

    The chance is that of as few errors as the test allows, with the predicted error rate; the strictest threshold
    within 0.02 of the highest chance is taken. The tests are exact for an error rate that does not fall as the
    threshold becomes more lenient, whichever threshold is the first.
    """
    from scipy.stats import binom

    limit, delta = wanted.measured_limit(verdict), wanted.side_delta
    enough = n >= labels_needed(limit, delta)
    if not enough.any():
        return None
    if verdict == "NO" and wanted.no_risk == "missed":
        return 0
    allowed = binom.ppf(delta, n, limit)
    allowed -= binom.cdf(allowed, n, limit) > delta
    noise = wanted.noise(verdict)
    chance = np.where(enough, binom.cdf(allowed, n, noise + expected * (1 - 2 * noise)), -1.0)
    return int(np.argmax(chance >= chance.max() - 0.02))


def _without_noise(rate: float, noise: float) -> float:
    """The error rate behind one that was measured with a share of wrong labels."""
    return min(1.0, max(0.0, (rate - noise) / (1 - 2 * noise)))


# ---- refusals


def _kind(verdict: Verdict, threshold: float, wanted: Wanted) -> str:
    if verdict == "NO" and wanted.no_risk == "missed":
        return "of YES objects"
    return f"of cases with P(YES) of at {'least' if verdict == 'YES' else 'most'} {threshold:.4g}"


def _refused(verdict: Verdict, threshold: float, n: int, errors: int, wanted: Wanted) -> Side:
    limit, noise = wanted.measured_limit(verdict), wanted.noise(verdict)
    kind = _kind(verdict, threshold, wanted)
    upper = _without_noise(upper_bound(errors, n, wanted.side_delta), noise)
    counted = f"{n} labels {kind}, {errors} of them against the verdict {verdict}"
    if n and errors / n >= limit:
        reason = (
            f"Found {counted} ({100 * errors / n:.3g} %), expected less than {100 * limit:.3g} %. More labels do not "
            "help while the error rate is as high as this: accept a higher limit, or improve the policy or P(YES)."
        )
        return Side(verdict, None, n, errors, upper, wanted.limit(verdict), None, reason)
    needed = labels_needed(limit, wanted.side_delta, errors)
    missing = max(1, needed - n)
    reason = (
        f"Found {counted}, expected at least {needed} for an error rate of at most {100 * wanted.limit(verdict):.3g} % "
        f"at {100 * (1 - wanted.side_delta):.4g} % confidence. Label {missing} more {kind}; each further error adds "
        f"about {math.ceil(1.6 / limit)}."
    )
    return Side(verdict, None, n, errors, upper, wanted.limit(verdict), missing, reason)
