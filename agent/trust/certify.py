"""Thresholds of P(YES) at which the error rates of the verdicts are certified, or what is missing for that.

Candidate thresholds come from the P(YES) of the list and never from labels, and are tested from one threshold to ever
more lenient ones until a test fails (fixed sequence: Bauer 1991, Statistics in Medicine 10, 871; Angelopoulos and
others 2022, arXiv:2110.01052). The tests are in ``agent.trust.bounds``; MAPIE is imported where it is used.

Labels of one object are no independent labels: an object counts once, and is wrong if any of its labels is. Where
objects repeat, a threshold must pass the test both by objects and by labels, so no bound is smaller than without.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from agent.language import deferred, deferredn, joined
from agent.statistics import FloatArray
from agent.trajectory.steps import Verdict
from agent.trust.anytime import labels_to_go, logarithms, missed_logarithms, once, upper_limit, weighted
from agent.trust.bounds import binomial_p_value, labels_needed, mixed, upper_bound
from agent.trust.sides import HALF, Labelled, Requirements, Side, called, in_half

FEWEST = 20
"""The strictest candidate threshold calls at least so many cases of the list, if there are as many."""
GROWTH = 1.15
"""Each further candidate threshold calls about so many times the cases of the one before it."""
CLEAR = 0.25
"""The any-time method starts at the most lenient threshold with a predicted error rate of this share of the limit."""
ENOUGH = 100
"""The any-time method starts at a threshold that calls at least so many cases of the list, if there is one."""


def candidates(pool_p: FloatArray, verdict: Verdict) -> FloatArray:
    """Return the candidate thresholds of a side, from the strictest to the most lenient.

    They lie between two neighbouring P(YES) of the list, so that no case of the list is at a threshold.
    """
    pool = np.asarray(pool_p, dtype=float)
    sign = 1.0 if verdict == "YES" else -1.0
    inside = np.sort(sign * pool[in_half(verdict, pool)])[::-1]
    if not len(inside):
        return np.zeros(0)
    gaps = np.flatnonzero(inside[:-1] - inside[1:] > 1e-12)
    steps = math.ceil(math.log(max(1.0, len(inside) / FEWEST)) / math.log(GROWTH))
    places = np.unique(np.searchsorted(gaps + 1, FEWEST * GROWTH ** np.arange(steps)))
    places = gaps[places[places < len(gaps)]]
    middles = sign * (inside[places] + inside[places + 1]) / 2
    last = HALF if verdict == "YES" else (HALF - float(inside[-1])) / 2
    return np.concatenate((middles, [last]))


def certify(labelled: Labelled, pool_p: FloatArray, requirements: Requirements) -> tuple[Side, Side]:
    """Return the sides YES and NO: a certified threshold each, or why there is none.

    With the condition ``wanted.trial`` a side's labels are those of cases that passed their trial: the test is that of
    a random sample of the cases that get the verdict. For "missed" the share among the YES objects that passed, or that
    no threshold calls NO, is bounded, which is at least that among all YES objects.

    :param pool_p: P(YES) of all cases of the list, decided or not, whether or not they passed a trial
    :raises ValueError: ``wanted.trial``, and it is not known which cases passed
    """
    pool = np.asarray(pool_p, dtype=float)
    return _side(labelled, pool, requirements, "YES"), _side(labelled, pool, requirements, "NO")


def _side(labelled: Labelled, pool: FloatArray, requirements: Requirements, verdict: Verdict) -> Side:
    if requirements.method == "fixed" and any(plan is not None for plan in labelled.shown):
        reason = deferred(
            "Cases were chosen by the ordered queue, so their labels have weights; the fixed method has "
            "none. Use the method that is valid at any time (anytime)."
        )
        return Side(verdict, None, 0, 0, None, requirements.limit(verdict), None, reason)
    if verdict in requirements.trial:
        if any(plan is not None for plan in labelled.shown):
            reason = deferred(
                "Cases were chosen by the ordered queue, and the weights of their labels are for the list "
                "with all traces, not for the traces that passed their trial. Label a random sample without "
                "the ordered queue (another batch or a results file), or certify without the condition."
            )
            return Side(verdict, None, 0, 0, None, requirements.limit(verdict), None, reason)
        labelled = labelled.that_passed(verdict)
    thresholds = thresholds_of(labelled, pool, verdict)
    if not len(thresholds):
        half = deferred("at least 0.5") if verdict == "YES" else deferred("less than 0.5")
        reason = deferred(
            "No case of the list has P(YES) of {half}, so no case can be called {verdict}.", half=half, verdict=verdict
        )
        return Side(verdict, None, 0, 0, None, requirements.limit(verdict), None, reason)
    side = (_fixed if requirements.method == "fixed" else _anytime)(labelled, pool, thresholds, requirements, verdict)
    if side.refusal and labelled.objects is not None:
        text = counted_once(len(labelled.p), len(np.unique(labelled.objects)))
        return replace(side, refusal=joined((side.refusal, text), " "))
    return side


def counted_once(labels: int, objects: int) -> str:
    """Return how labels of one object count, as a sentence."""
    return deferred(
        "{labels} labels of {objects} objects: those of one object, by position and name, count as one label, which is "
        "wrong if any of them is.",
        labels=labels,
        objects=objects,
    )


def thresholds_of(labelled: Labelled, pool: FloatArray, verdict: Verdict) -> FloatArray:
    """Return the candidate thresholds of a side: borders of the last plan, else those of the list."""
    plans = [plan for plan in labelled.shown if plan is not None]
    if not plans:
        return candidates(pool, verdict)
    edges = plans[-1].edges
    return edges[(edges >= HALF) & (edges < 1)][::-1] if verdict == "YES" else edges[(edges > 0) & (edges < HALF)]


def counts(
    labelled: Labelled,
    thresholds: FloatArray,
    requirements: Requirements,
    verdict: Verdict,
    objects: NDArray[np.intp] | None = None,
) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """Return the labels of each candidate threshold, and the errors among them, (n_thresholds,).

    :param objects: count these instead, as ``anytime.once`` does
    """
    inside = np.array([called(verdict, labelled.p, threshold) for threshold in thresholds]).T
    wrong = np.broadcast_to((labelled.yes if verdict == "NO" else ~labelled.yes)[:, None], inside.shape)
    if verdict == "NO" and requirements.no_risk == "missed":
        inside, wrong = wrong, inside  # of the YES labels those that are called NO
    counted, wrong = once(inside, wrong, objects)
    return counted.sum(axis=0), (counted & wrong).sum(axis=0)


def expected_errors(
    pool: FloatArray, thresholds: FloatArray, requirements: Requirements, verdict: Verdict
) -> FloatArray:
    """Return the error rates that the P(YES) of the list predict, (n_thresholds,); no test depends on them."""
    wrong = pool if verdict == "NO" else 1 - pool
    inside = np.array([called(verdict, pool, threshold) for threshold in thresholds])
    of = pool.sum() if verdict == "NO" and requirements.no_risk == "missed" else inside.sum(axis=1)
    return cast(FloatArray, inside @ wrong / np.maximum(of, 1e-12))


def _without_noise(rate: float, noise: float) -> float:
    """Return the error rate behind one that was measured with a share of wrong labels."""
    return min(1.0, max(0.0, (rate - noise) / (1 - 2 * noise)))


# ---- the fixed method


def _fixed(
    labelled: Labelled, pool: FloatArray, thresholds: FloatArray, requirements: Requirements, verdict: Verdict
) -> Side:
    by_unit = [counts(labelled, thresholds, requirements, verdict, objects) for objects in labelled.units]
    n, errors = by_unit[0]
    limit, delta = requirements.measured_limit(verdict), requirements.side_delta

    def highest(bound: Callable[[int, int], float], at: int) -> float:
        return max(bound(int(wrong[at]), int(of[at])) for of, wrong in by_unit)

    def upper_at(at: int) -> float:
        upper = highest(lambda wrong, of: upper_bound(wrong, of, delta), at)
        return _without_noise(upper, requirements.noise(verdict))

    first = first_fixed(n, expected_errors(pool, thresholds, requirements, verdict), requirements, verdict)
    tested = len(thresholds) - 1 if first is None else first
    if first is not None:
        from mapie.risk_control.fwer_control import FWERFixedSequenceTesting

        tests = [highest(lambda wrong, of: binomial_p_value(wrong, of, limit), at) for at in range(first, len(n))]
        p_values = np.array(tests)
        passed = FWERFixedSequenceTesting(n_starts=1).run(p_values, delta)
        if len(passed):
            last = first + int(passed[-1])
            threshold, numbers = float(thresholds[last]), (int(n[last]), int(errors[last]))
            return Side(verdict, threshold, *numbers, upper_at(last), requirements.limit(verdict))
    missing = highest(lambda wrong, of: labels_needed(limit, delta, wrong) - of, tested)
    return _refused(
        verdict,
        float(thresholds[tested]),
        int(n[tested]),
        int(errors[tested]),
        upper_at(tested),
        int(missing),
        labelled,
        pool,
        requirements,
        first is not None and first > 0,
    )


def first_fixed(n: NDArray[np.int_], expected: FloatArray, requirements: Requirements, verdict: Verdict) -> int | None:
    """Return the number of the first threshold that is tested, from n and P(YES) alone; None: too few labels.

    It has the best chance to pass: that of as few errors as the test allows, with the predicted error rate. The
    strictest threshold within 0.02 of the highest chance is taken. For a threshold that is fixed beforehand the test is
    exact; as n helps to choose the first one, it is exact only if n says nothing about the errors at that threshold.
    ``tests/agent/trust/test_hard_lists.py`` has lists that would show an excess.
    """
    from scipy.stats import binom

    limit, delta = requirements.measured_limit(verdict), requirements.side_delta
    enough = n >= labels_needed(limit, delta)
    if not enough.any():
        return None
    if verdict == "NO" and requirements.no_risk == "missed":
        return 0
    allowed = binom.ppf(delta, n, limit)
    allowed -= binom.cdf(allowed, n, limit) > delta
    noise = requirements.noise(verdict)
    chance = np.where(enough, binom.cdf(allowed, n, noise + expected * (1 - 2 * noise)), -1.0)
    return int(np.argmax(chance >= chance.max() - 0.02))


# ---- the method that is valid at any time


def _anytime(
    labelled: Labelled, pool: FloatArray, thresholds: FloatArray, requirements: Requirements, verdict: Verdict
) -> Side:
    n, errors = counts(labelled, thresholds, requirements, verdict, labelled.objects)
    delta, noise = requirements.side_delta, requirements.noise(verdict)
    logs_at = process_of(labelled, thresholds, requirements, verdict)
    logs = logs_at(requirements.measured_limit(verdict))
    first = first_anytime(pool, thresholds, requirements, verdict)
    refuted = mixed(logs).max(axis=0)[first:] >= -math.log(delta)
    if refuted[0]:
        last = first + (len(refuted) if refuted.all() else int(np.argmin(refuted))) - 1
        upper = upper_limit(lambda limit: float(mixed(logs_at(limit)[:, last]).max()), delta, noise)
        numbers = int(n[last]), int(errors[last]), _without_noise(upper, noise)
        return Side(verdict, float(thresholds[last]), *numbers, requirements.limit(verdict))
    upper = upper_limit(lambda limit: float(mixed(logs_at(limit)[:, first]).max()), delta, noise)
    to_go = labels_to_go(logs[-1, first], requirements.measured_limit(verdict), delta, least=noise)
    return _refused(
        verdict,
        float(thresholds[first]),
        int(n[first]),
        int(errors[first]),
        _without_noise(upper, noise),
        math.ceil(to_go),
        labelled,
        pool,
        requirements,
        first > 0,
    )


def process_of(
    labelled: Labelled, thresholds: FloatArray, requirements: Requirements, verdict: Verdict
) -> Callable[[float], FloatArray]:
    """Return the function of a limit that gives the logarithms of all processes, (n + 1, K, alternatives): the lower of
    that by objects and that by labels.
    """
    of = labelled.p, labelled.yes, labelled.shown, thresholds
    if verdict == "NO" and requirements.no_risk == "missed":
        return lambda limit: _lowest([missed_logarithms(*of, limit, objects) for objects in labelled.units])
    labels = [weighted(*of, verdict, objects) for objects in labelled.units]
    return lambda limit: _lowest([logarithms(each, limit, requirements.noise(verdict)) for each in labels])


def _lowest(processes: list[FloatArray]) -> FloatArray:
    """Return of each place the process with the lowest mean over its alternatives."""
    lowest = processes[0]
    for process in processes[1:]:
        lowest = np.where((mixed(process) < mixed(lowest))[..., None], process, lowest)
    return lowest


def first_anytime(pool: FloatArray, thresholds: FloatArray, requirements: Requirements, verdict: Verdict) -> int:
    """Return the number of the first threshold that is tested, from the list alone: it is the same after each label.

    It is the most lenient one with a predicted error rate of at most a quarter of the limit that calls at least 100
    cases; the strictest with 100 cases if P(YES) predict more errors, and the most lenient one of a short list.
    """
    size = np.array([called(verdict, pool, threshold).sum() for threshold in thresholds])
    if not (size >= ENOUGH).any():
        return len(thresholds) - 1
    expected = expected_errors(pool, thresholds, requirements, verdict)
    clear = np.flatnonzero((size >= ENOUGH) & (expected <= CLEAR * requirements.limit(verdict)))
    return int(clear[-1]) if len(clear) else int(np.argmax(size >= ENOUGH))


# ---- refusals


def _refused(
    verdict: Verdict,
    threshold: float,
    n: int,
    errors: int,
    upper: float,
    missing: int,
    labelled: Labelled,
    pool: FloatArray,
    requirements: Requirements,
    is_stricter_left: bool,
) -> Side:
    """Return a side without a threshold: what was found, what was expected, what helps.

    :param is_stricter_left: whether there are stricter thresholds, which are not tested after this one
    """
    limit, measured = requirements.limit(verdict), requirements.measured_limit(verdict)
    missed = verdict == "NO" and requirements.no_risk == "missed"
    at = {"threshold": threshold}
    trial = verdict in requirements.trial
    if missed and trial:
        kind = deferred("of YES objects whose trace passed its evidence trial")
    elif missed:
        kind = deferred("of YES objects")
    elif verdict == "YES" and trial:
        kind = deferred("of cases with P(YES) of at least {threshold:.4g} whose trace passed its evidence trial", **at)
    elif verdict == "YES":
        kind = deferred("of cases with P(YES) of at least {threshold:.4g}", **at)
    elif trial:
        kind = deferred("of cases with P(YES) of at most {threshold:.4g} whose trace passed its evidence trial", **at)
    else:
        kind = deferred("of cases with P(YES) of at most {threshold:.4g}", **at)
    if missed:
        against = deferred("with P(YES) of at most {threshold:.4g}", **at)
    else:
        against = deferred("against the verdict {verdict}", verdict=verdict)
    labelled_text = deferredn(
        "Found {n} label {kind}, {errors} of them {against}",
        "Found {n} labels {kind}, {errors} of them {against}",
        n,
        kind=kind,
        errors=errors,
        against=against,
    )
    if n and errors >= measured * n:
        reason = deferred(
            "{found} ({value:.3g} %), expected less than {value2:.3g} %. More labels do not help while "
            "the share is as high as this: accept a higher limit, or improve the policy or P(YES).",
            found=labelled_text,
            value=100 * errors / n,
            value2=100 * measured,
        )
        if is_stricter_left:
            stricter = deferred(
                "Stricter thresholds are not tested: the first one is chosen from P(YES) alone, not from labels."
            )
            reason = joined((reason, stricter), " ")
        return Side(verdict, None, n, errors, upper, limit, None, reason)
    missing = max(1, missing)
    reason = deferred(
        "{found}, expected at least {n} labels to certify an error rate of at most {value:.3g} % at "
        "{value2:.4g} % confidence. Label {missing} more {kind}; each further error adds about "
        "{ceil}.",
        found=labelled_text,
        n=n + missing,
        value=100 * limit,
        value2=100 * (1 - requirements.side_delta),
        missing=missing,
        kind=kind,
        ceil=math.ceil(1.6 / measured),
    )
    left = int(called(verdict, pool, threshold).sum() - called(verdict, labelled.p, threshold).sum())
    if not missed and left < missing:
        if left <= 0:
            longer = deferred("The list has no case with such a P(YES) and no label: a longer list is needed.")
        elif trial:
            longer = deferredn(
                "The list has only {n} case with such a P(YES) and no label, and not all of them may pass their "
                "trial: a longer list is needed.",
                "The list has only {n} cases with such a P(YES) and no label, and not all of them may pass their "
                "trial: a longer list is needed.",
                left,
            )
        else:
            longer = deferredn(
                "The list has only {n} case with such a P(YES) and no label: a longer list is needed.",
                "The list has only {n} cases with such a P(YES) and no label: a longer list is needed.",
                left,
            )
        reason = joined((reason, longer), " ")
    return Side(verdict, None, n, errors, upper, limit, missing, reason)
