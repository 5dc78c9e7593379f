"""Shift tests: false alarms, and cases until a shift is found; Markdown.

    python -m tests.benchmarks.trust.shift [--repeats 2000] [--seed 2026]

P(YES) is calibrated between the thresholds, and beyond them the label is wrong with a base rate. All repeats are run
at once with the bets, p-values and shares of delta of ``agent.trust``; delta is 5 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, binom, hypergeom

from agent.trust.martingale import Bets, Ranks, error_factors, label_factors, score_factors
from agent.trust.recent import WINDOW, number_of_test, share
from agent.trust.shift import SHARES, By
from tests.benchmarks.results import Results

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
DELTA = 0.05
YES, NO = 0.9, 0.1
WITHIN = 200
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class World:
    """Where cases come from.

    :param errors: share of wrong labels among the cases called YES, and among those called NO
    :param asked: share of cases between the thresholds
    :param called_yes: share of the others that are called YES
    """

    errors: tuple[float, float]
    asked: float = 0.0
    called_yes: float = 0.5

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[FloatArray, BoolArray]:
        """Return P(YES) and labels."""
        asked, side, u = (rng.random(shape) for _ in range(3))
        high = side < self.called_yes
        wrong = rng.random(shape) < np.where(high, *self.errors)
        p = np.where(high, YES + (1 - YES) * u, NO * u)
        yes = high ^ wrong
        middle = asked < self.asked
        between = NO + (YES - NO) * u
        return np.where(middle, between, p), np.where(middle, rng.random(shape) < between, yes)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.trust.shift", description=__doc__)
    parser.add_argument("--repeats", type=int, default=2000, help="repeats per row (2000)")
    parser.add_argument("--seed", type=int, default=2026, help="seed of all repeats (2026)")
    chosen = parser.parse_args()
    results = Results()
    _false_alarms(results, chosen.repeats, chosen.seed)
    _labels(results, chosen.repeats, chosen.seed)
    _scores(results, chosen.repeats, chosen.seed)


def _false_alarms(results: Results, repeats: int, seed: int) -> None:
    results.text(
        "False alarms of any test in 5,000 new cases and 1,000 newly decided ones without a shift; 500 calibration "
        "cases. The error of both "
        "sides is the certified limit, the worst case of the null hypothesis. The goal is an upper end (Clopper & "
        "Pearson, one-sided 95 %) of at most 6 %."
    )
    table = results.table(
        {"limit, %": "{:.0f}", "repeats": "{}", "false alarms, %": "{:.2f}", "upper end, %": "{:.2f}"}
    )
    for number, limit in enumerate((0.02, 0.05, 0.1)):
        rng = np.random.default_rng([seed, 0, number])
        world = World((limit, limit), asked=0.2)
        first = alarms(rng, repeats, world, world, limit, scores=5000, labels=1000)
        false = int((np.minimum.reduce(list(first.values())) < NEVER).sum())
        table.row(100 * limit, repeats, 100 * false / repeats, 100 * upper_end(false, repeats))


def _labels(results: Results, repeats: int, seed: int) -> None:
    results.text(
        f"A shift that costs 10 points of accuracy, found by the labels alone within {WITHIN} labels after it began "
        "(goal 90 %). *Both sides*: 10 points more errors of YES and of NO; *YES only*: 20 points more errors of YES, "
        "half of the cases being called YES. *Ceiling*: power of tests at the whole delta of the same question, errors "
        "of both sides together. Shift with the first label: one exact test (Fisher, with random ties) after 200 "
        "labels. Later: CUSUM with both error rates known and 5 % false alarms in 1,000 labels."
    )
    table = results.table(
        {
            "calibration cases": "{}",
            "errors before, %": "{:.0f}",
            "limit, %": "{:.0f}",
            "shift": "",
            "labels before the shift": "{}",
            f"found within {WITHIN} labels, %": "{:.1f}",
            "ceiling, %": "{:.1f}",
            "labels until found, median": "{}",
        }
    )
    for number, (calibration, (base, limit), kind, before) in enumerate(
        product((500, 2000), ((0.02, 0.05), (0.05, 0.1), (0.1, 0.15)), ("both sides", "YES only"), (0, 300, 325))
    ):
        errors = (base + 0.1, base + 0.1) if kind == "both sides" else (base + 0.2, base)
        rng = np.random.default_rng([seed, 1, number])
        worlds = World((base, base)), World(errors)
        found = until_found(rng, repeats, *worlds, limit, labels=(before, 600), calibration=calibration)
        middle = np.median(found)
        text = "more than 600" if middle == NEVER else int(middle)
        share = 100 * float((found <= WITHIN).mean())
        most = 100 * (ceiling(base, calibration) if before == 0 else waiting_ceiling(rng, base, before))
        table.row(calibration, 100 * base, 100 * limit, kind, before, share, most, text)


def _scores(results: Results, repeats: int, seed: int) -> None:
    results.text(
        "A shift of P(YES) alone, found by new scores without labels: the share of cases between the thresholds rises "
        "from 20 %, or the share of YES among the others falls from 50 %, after 1,000 unshifted cases; 500 "
        "calibration cases."
    )
    table = results.table(
        {"shift": "", "found within 1,000 cases, %": "{:.1f}", "found within 4,000, %": "{:.1f}", "median": "{}"}
    )
    before = World((0.05, 0.05), asked=0.2)
    for number, (name, after) in enumerate(
        (
            ("between the thresholds 20 % to 30 %", World((0.05, 0.05), asked=0.3)),
            ("between the thresholds 20 % to 40 %", World((0.05, 0.05), asked=0.4)),
            ("called YES 50 % to 40 %", World((0.05, 0.05), asked=0.2, called_yes=0.4)),
            ("called YES 50 % to 30 %", World((0.05, 0.05), asked=0.2, called_yes=0.3)),
        )
    ):
        rng = np.random.default_rng([seed, 2, number])
        found = until_found(rng, repeats, before, after, 0.05, scores=(1000, 4000))
        middle = np.median(found)
        text = "more than 4,000" if middle == NEVER else int(middle)
        table.row(name, 100 * float((found <= 1000).mean()), 100 * float((found <= 4000).mean()), text)


def until_found(
    rng: np.random.Generator,
    repeats: int,
    before: World,
    after: World,
    limit: float,
    scores: tuple[int, int] = (0, 0),
    labels: tuple[int, int] = (0, 0),
    calibration: int = 500,
) -> NDArray[np.int64]:
    """Return cases after the shift until the first alarm, (repeats,); ``NEVER`` for none, or one before the shift.

    :param scores: numbers before and after the shift
    :param labels: the same
    """
    shift = max(scores[0], labels[0])
    first = alarms(rng, repeats, before, after, limit, sum(scores), sum(labels), shift, calibration)
    found = np.minimum.reduce(list(first.values()))
    return np.where((found > shift) & (found < NEVER), found - shift, NEVER)


def alarms(
    rng: np.random.Generator,
    repeats: int,
    before: World,
    after: World,
    limit: float,
    scores: int = 0,
    labels: int = 0,
    shift: int = 0,
    calibration: int = 500,
) -> dict[By, NDArray[np.int64]]:
    """Return the number of the new case at which each test raises its alarm, (repeats,), or ``NEVER``."""
    p0, yes0 = before.sample(rng, (repeats, calibration))
    first: dict[By, NDArray[np.int64]] = {}
    if scores:
        p, _ = _stream(rng, before, after, repeats, scores, shift)
        first["scores"] = _first("scores", score_factors, p_values(rng, p0, p), 16)
    if labels:
        p, yes = _stream(rng, before, after, repeats, labels, shift)
        u = p_values(rng, -np.abs(yes0 - p0), -np.abs(yes - p))
        first["labels"] = _first("labels", label_factors, u, 8)
        first["recent labels"] = _first_recent(rng, np.abs(yes0 - p0) > 0.5, np.abs(yes - p) > 0.5)
        sides: tuple[tuple[By, BoolArray, BoolArray], ...] = (
            ("errors of YES", p >= YES, ~yes),
            ("errors of NO", p <= NO, yes),
        )
        for by, here, wrong in sides:
            first[by] = _first(by, partial(error_factors, limit=limit), wrong, 5, here)
    return first


def _stream(
    rng: np.random.Generator, before: World, after: World, repeats: int, cases: int, shift: int
) -> tuple[FloatArray, BoolArray]:
    one, two = before.sample(rng, (repeats, shift)), after.sample(rng, (repeats, cases - shift))
    return np.concatenate([one[0], two[0]], axis=1), np.concatenate([one[1], two[1]], axis=1)


def p_values(rng: np.random.Generator, calibration: FloatArray, new: FloatArray) -> FloatArray:
    """Return the online p-values, (repeats, cases)."""
    u = rng.random(new.shape)
    found = np.empty_like(new)
    for row, (first, values, numbers) in enumerate(zip(calibration.tolist(), new.tolist(), u.tolist(), strict=True)):
        ranks = Ranks(first)
        found[row] = [ranks.add(value, number) for value, number in zip(values, numbers, strict=True)]
    return found


def _first(
    by: By, factors: Callable[[Any], FloatArray], values: NDArray[Any], size: int, here: BoolArray | None = None
) -> NDArray[np.int64]:
    """Return the case at which the capital reaches 1 / level, (repeats,).

    :param here: (repeats, cases): the cases of the test, default all; the others are left out
    """
    repeats, cases = values.shape
    number = np.broadcast_to(np.arange(1, cases + 1), values.shape)
    if here is not None:  # the cases of the test first, in their order
        order = np.argsort(~here, axis=1, kind="stable")
        values, number = np.take_along_axis(values, order, 1), np.take_along_axis(number, order, 1)
    most = cases if here is None else int(here.sum(axis=1).max())
    left = np.full(repeats, cases) if here is None else here.sum(axis=1)
    bets = Bets((repeats, size))
    first = np.full(repeats, NEVER)
    needed = -np.log(DELTA * SHARES[by])
    for case in range(most):
        bets.add(factors(values[:, case]))
        reached = (bets.log_value >= needed) & (first == NEVER) & (case < left)
        first[reached] = number[reached, case]
    return first


def _first_recent(rng: np.random.Generator, calibration: BoolArray, new: BoolArray) -> NDArray[np.int64]:
    """Return the label at which the comparison of the latest labels rejects, (repeats,)."""
    n, before = calibration.shape[1], calibration.sum(axis=1)
    errors = np.concatenate([np.zeros((len(new), 1), dtype=np.int64), new.cumsum(axis=1)], axis=1)
    first = np.full(len(new), NEVER)
    for case in range(1, new.shape[1] + 1):
        number = number_of_test(case)
        if number is not None:
            window = errors[:, case] - errors[:, case - WINDOW]
            table = (n + case, before + errors[:, case], WINDOW)
            p = hypergeom.sf(window, *table) + rng.random(len(new)) * hypergeom.pmf(window, *table)
            first[(p <= DELTA * SHARES["recent labels"] * share(number)) & (first == NEVER)] = case
    return first


def ceiling(base: float, calibration: int) -> float:
    """Return the power of one exact test after ``WITHIN`` labels: their errors against those of the calibration."""
    new = binom.pmf(np.arange(WITHIN + 1), WITHIN, base + 0.1)
    old = binom.pmf(np.arange(calibration + 1), calibration, base)
    power = 0.0
    for total in range(calibration + WITHIN + 1):
        x = np.arange(max(0, total - calibration), min(WITHIN, total) + 1)
        null = hypergeom.pmf(x, calibration + WITHIN, total, WITHIN)
        above = hypergeom.sf(x, calibration + WITHIN, total, WITHIN)
        # Share of the random numbers with which the p-value above + u null is at most delta.
        rejects = np.clip((DELTA - above) / np.maximum(null, 1e-300), 0, 1)
        power += float((new[x] * old[total - x] * rejects).sum())
    return power


def waiting_ceiling(rng: np.random.Generator, base: float, before: int, repeats: int = 20_000) -> float:
    """Return the power of CUSUM (Page 1954) with known error rates within ``WITHIN`` labels after the shift.

    Its limit gives false alarms with probability delta in 1,000 labels, by simulation.
    """
    shifted = base + 0.1
    gain, loss = np.log(shifted / base), np.log((1 - shifted) / (1 - base))

    def paths(rates: FloatArray) -> FloatArray:
        value, highest = np.zeros(repeats), np.zeros((repeats, len(rates)))
        for case, rate in enumerate(rates):
            value = np.maximum(value + np.where(rng.random(repeats) < rate, gain, loss), 0)
            highest[:, case] = np.maximum(highest[:, case - 1] if case else 0, value)
        return highest

    needed = np.quantile(paths(np.full(1000, base))[:, -1], 1 - DELTA)
    highest = paths(np.repeat([base, shifted], [before, WITHIN]))
    return float(((highest[:, -1] > needed) & (highest[:, before - 1] <= needed)).mean())


def upper_end(count: int, n: int) -> float:
    """Return the one-sided upper end of 95 %, Clopper & Pearson 1934."""
    return 1.0 if count == n else float(beta.ppf(0.95, count + 1, n - count))


if __name__ == "__main__":
    main()
