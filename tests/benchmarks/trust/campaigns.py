"""Simulated campaigns of certification: wrong certificates, and labels needed against uniform auditing; Markdown.

    python -m tests.benchmarks.trust.campaigns [--repeats 2000] [--seed 2026] [--processes 2] [--out FOLDER]

24 campaigns: prevalence 10⁻⁴ to 0.3, with and without 10 % wrong labels, with two kinds of P(YES), each with a uniform
and an ordered queue. The thresholds are counted after every label (method "anytime", 5 % on each side, δ = 0.05 for
both sides together). With wrong labels a case is labelled until three labels agree (at most five) and the majority
counts as it is; all labels are charged. "Calibrated" P(YES): two normal distributions; the error rate passes the limit
at a lenient threshold. "Wrong" P(YES): at every threshold the true error rate of YES is just above the limit (of NO
too, if the prevalence is 0.1 or more), so that every certificate of that side is wrong. A case is a stratum here, as
nothing else of it counts; ``tests/agent/trust/test_triage.py`` compares with the product's functions.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from agent.statistics import FloatArray
from agent.trust.anytime import remaining_limit
from agent.trust.bounds import ALTERNATIVES, log_factors, mixed, upper_bound
from agent.trust.certify import Labelled, Wanted, candidates
from agent.trust.plans import regions
from agent.trust.triage import VERDICTS, Progress, probabilities, progress
from tests.benchmarks.results import Results

WANTED = Wanted(yes=0.05, no=0.05, delta=0.05, joint=True, method="anytime")
RANDOM_SHARE = {"uniform": 1.0, "ordered": 0.2}
SEPARATION = {1e-4: 6.2, 1e-3: 5.4, 0.01: 4.6, 0.05: 4.0, 0.1: 3.7, 0.3: 3.2}
"""Distance of the two normal distributions, by prevalence, in standard deviations."""
OBJECTS = 200
"""YES objects of a list, at least; a list has at least 20,000 cases."""
CASES = {"uniform": 3000, "ordered": 1000}
"""Cases that are labelled at most in a campaign."""
PER_SHARD = 1000
WRONG = 0.1
"""Share of wrong labels."""

Trace = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Campaign:
    """What is simulated."""

    prevalence: float
    noise: float
    calibrated: bool

    @property
    def name(self) -> str:
        return f"{self.prevalence:g}-{self.noise:g}-{'calibrated' if self.calibrated else 'wrong'}"


@dataclass(frozen=True)
class List:
    """A list in strata: cases and YES objects of each, the latter for each repeat."""

    pool: FloatArray
    edges: FloatArray
    size: FloatArray
    yes: FloatArray
    sides: tuple[Progress, ...]

    def risk(self, side: Progress) -> FloatArray:
        """True error rate of each threshold in each repeat, (repeats, K)."""
        wrong = self.yes if side.verdict == "NO" else self.size - self.yes
        return regions(
            side.verdict, np.broadcast_to(self.size, wrong.shape), wrong / np.maximum(self.size, 1), side.at
        )[1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.trust.campaigns", description=__doc__)
    parser.add_argument("--repeats", type=int, default=2000, help="repeats of each campaign (2000)")
    parser.add_argument("--seed", type=int, default=2026, help="seed of all campaigns (2026)")
    parser.add_argument("--processes", type=int, default=2, help="processes (2)")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="keep the shards there; those that exist are used")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, ProcessPoolExecutor(chosen.processes) as pool:
        folder = chosen.out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        shards = [
            (one, shard, min(PER_SHARD, chosen.repeats - shard * PER_SHARD))
            for one in campaigns()
            for shard in range(-(-chosen.repeats // PER_SHARD))
        ]
        found: dict[str, list[dict[str, Any]]] = {}
        for (one, *_), result in zip(shards, pool.map(partial(_kept, folder, chosen.seed), shards), strict=True):
            found.setdefault(one.name, []).append(result)
    report(Results(), found)


def campaigns() -> Iterator[Campaign]:
    """All 24 campaigns."""
    for calibrated, noise, prevalence in product((True, False), (0.0, WRONG), SEPARATION):
        yield Campaign(prevalence, noise, calibrated)


def _kept(folder: Path, seed: int, shard: tuple[Campaign, int, int]) -> dict[str, Any]:
    """Return a shard's results from its file, which is made if it is not there."""
    campaign, number, repeats = shard
    file = folder / f"{campaign.name}-seed{seed}-{number}-of-{repeats}.json"
    if not file.exists():
        draft = file.with_suffix(".part")
        draft.write_text(json.dumps(run(campaign, (seed, number), repeats)), encoding="utf-8")
        draft.rename(file)
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def run(campaign: Campaign, seed: tuple[int, int], repeats: int) -> dict[str, Any]:
    """Return a shard's results: of each queue the labels until both sides are certified, and wrong certificates."""
    rng = np.random.default_rng([*seed, *campaign.name.encode()])
    made = make_list(campaign, repeats, rng)
    arms = {arm: simulate(made, campaign, arm, rng) for arm in RANDOM_SHARE}
    return {"campaign": asdict(campaign), "repeats": repeats, "arms": arms}


def make_list(campaign: Campaign, repeats: int, rng: np.random.Generator) -> List:
    """Return a list with the labels of each repeat."""
    prevalence = campaign.prevalence
    n = max(20_000, round(OBJECTS / prevalence))
    hard_no = not campaign.calibrated and prevalence >= 0.1
    share = (prevalence - WANTED.no) / (1 - WANTED.no) if hard_no else prevalence
    distance = SEPARATION[prevalence]
    x = rng.normal(size=n) + np.where(rng.random(n) < share, distance / 2, -distance / 2)
    pool = 1 / (1 + np.exp(-(np.log(share / (1 - share)) + distance * x)))
    cuts = {verdict: candidates(pool, verdict) for verdict in VERDICTS}
    edges = np.unique(np.concatenate(([0.0, 1.0], *cuts.values())))
    size = np.histogram(pool, edges)[0].astype(float)
    none = Labelled(np.zeros(0), np.zeros(0, dtype=bool))
    sides = [progress(none, pool, WANTED, verdict, edges) for verdict in VERDICTS]
    # Thresholds before the first that is tested change nothing: their strata are merged.
    used = np.unique(np.concatenate(([0, len(edges) - 1], *(side.at[side.first :] for side in sides))))
    edges = edges[used]
    sides = [_from_first(side, used) for side in sides]
    size = np.histogram(pool, edges)[0].astype(float)
    mean = np.histogram(pool, edges, weights=pool)[0] / np.maximum(size, 1)
    yes = rng.binomial(size.astype(int), np.clip(mean, 0, 1), (repeats, len(size))).astype(float)
    if not campaign.calibrated:
        for side in sides[: 2 if hard_no else 1]:
            _just_above(side, size, yes)
    return List(pool, edges, size, yes, tuple(sides))


def _from_first(side: Progress, used: np.ndarray[Any, np.dtype[np.intp]]) -> Progress:
    """Return a side without the thresholds before the first, over the borders in use."""
    kept = slice(side.first, None)
    at = np.searchsorted(used, side.at[kept])
    return replace(side, at=at, size=side.size[kept], expected=side.expected[kept], first=0)


def _just_above(side: Progress, size: FloatArray, yes: FloatArray) -> None:
    """Set the YES objects so that each threshold has the fewest errors that are more than the limit allows."""
    inside = regions(side.verdict, size, np.zeros(len(size)), side.at)[0]
    errors = np.diff(np.floor(side.limit * inside) + 1, prepend=0.0)
    strata = side.at if side.verdict == "YES" else side.at - 1
    yes[:, strata] = errors if side.verdict == "NO" else size[strata] - errors


def simulate(
    made: List, campaign: Campaign, arm: str, rng: np.random.Generator, trace: Trace | None = None
) -> dict[str, Any]:
    """Simulate all repeats with one queue.

    :param trace: called after each label with the stratum, label, plan and state of all repeats
    """
    repeats = len(made.yes)
    rows, share = np.arange(repeats), RANDOM_SHARE[arm]
    waiting, yes_left = np.repeat(made.size[None], repeats, axis=0), made.yes.copy()
    states = [_start(side, repeats) for side in made.sides]
    highest = [np.full((repeats, len(side.at)), 0.0) for side in made.sides]
    risks = [made.risk(side) for side in made.sides]
    labels, spent = np.zeros(repeats), np.full((repeats, len(states)), np.nan)
    wrong = np.zeros((repeats, len(states)), dtype=bool)
    for _ in range(CASES[arm]):
        by_value = probabilities(states, waiting) if share < 1 else np.zeros(waiting.shape)
        within = np.divide(by_value, waiting, out=np.zeros(waiting.shape), where=waiting > 0)
        chances = (waiting > 0) * (share / waiting.sum(axis=1, keepdims=True) + (1 - share) * within)
        totals = np.cumsum(waiting * chances, axis=1)
        stratum = (rng.random((repeats, 1)) * totals[:, -1:] >= totals).sum(axis=1)
        truth = rng.random(repeats) * waiting[rows, stratum] < yes_left[rows, stratum]
        label, cost = _labelled(truth, campaign.noise, rng)
        labels += cost
        for number, side in enumerate(states):
            side = _add(side, waiting, chances, stratum, label)
            highest[number] = np.maximum(highest[number], mixed(side.logs))
            side = states[number] = replace(side, refuted=highest[number] >= -np.log(side.delta))
            certified = np.arange(len(side.at)) < side.next()[:, None]
            wrong[:, number] |= (certified & (risks[number] > side.limit)).any(axis=1)
            reached = np.isnan(spent[:, number]) & certified[:, 0]
            spent[reached, number] = labels[reached]
        if trace:
            trace(
                {
                    "stratum": stratum,
                    "label": label,
                    "by value": by_value,
                    "waiting": waiting.copy(),
                    "sides": list(states),
                }
            )
        waiting[rows, stratum] -= 1
        yes_left[rows, stratum] -= truth
    both = spent.max(axis=1)
    return {
        "labels": [None if np.isnan(one) else int(one) for one in both],
        "of a side": [[None if np.isnan(one) else int(one) for one in column] for column in spent.T],
        "wrong": [int(one) for one in wrong.sum(axis=0)],
        "either wrong": int(wrong.any(axis=1).sum()),
        "labels spent": float(labels.mean()),
    }


def _start(side: Progress, repeats: int) -> Progress:
    shape = repeats, len(side.at)
    logs = np.zeros((*shape, len(ALTERNATIVES)))
    return replace(side, n=np.zeros(shape), errors=np.zeros(shape), logs=logs, refuted=np.zeros(shape, dtype=bool))


def _labelled(
    truth: np.ndarray[Any, np.dtype[np.bool_]], noise: float, rng: np.random.Generator
) -> tuple[np.ndarray[Any, np.dtype[np.bool_]], FloatArray]:
    """Return the label of each case and how many labels it cost: three that agree, of at most five."""
    if not noise:
        return truth, np.ones(len(truth))
    right = rng.random((len(truth), 5)) >= noise
    first = right[:, :3].sum(axis=1)
    fourth = first + right[:, 3]
    cost = np.where((first == 0) | (first == 3), 3, np.where((fourth == 1) | (fourth == 3), 4, 5))
    return truth == (right.sum(axis=1) >= 3), cost.astype(float)


def _add(side: Progress, waiting: FloatArray, chances: FloatArray, stratum: Any, label: Any) -> Progress:
    """Return the state of a side after one more label in each repeat."""
    region, mean, largest = regions(side.verdict, waiting, chances, side.at)
    own = np.take_along_axis(chances, stratum[:, None], axis=1)
    inside = stratum[:, None] >= side.at if side.verdict == "YES" else stratum[:, None] < side.at
    error = (label if side.verdict == "NO" else ~label)[:, None]
    limits = remaining_limit(side.limit, side.n, side.errors, region)
    factors = log_factors(error, mean / own * inside, limits, largest, side.least / side.limit)
    return replace(side, logs=side.logs + factors, n=side.n + inside, errors=side.errors + (inside & error))


# ---- the report


def report(results: Results, found: dict[str, list[dict[str, Any]]]) -> None:
    """Print the tables."""
    repeats = sum(shard["repeats"] for shard in next(iter(found.values())))
    results.text(
        f"Wrong certificates: repeats of {repeats} in which a certified threshold of either side had a true error rate "
        "above its limit after any of the labels, in %, with the upper end of the one-sided 95 % Clopper-Pearson "
        "interval; the goal is at most 6 %."
    )
    head = {"P(YES)": "", "prevalence": "{:g}", "wrong labels, %": "{:.0f}"}
    one = {f"{arm}, {what}": form for arm in RANDOM_SHARE for what, form in (("%", "{:.2f}"), ("upper end", "{:.2f}"))}
    table = results.table({**head, **one, "goal": ""})
    for shards in found.values():
        cells: list[float] = []
        for arm in RANDOM_SHARE:
            wrong = sum(shard["arms"][arm]["either wrong"] for shard in shards)
            cells += [100 * wrong / repeats, 100 * upper_bound(wrong, repeats, 0.05)]
        table.row(*_own(shards), *cells, "met" if max(cells[1::2]) <= 100 * WANTED.delta + 1 else "missed")
    results.text(
        "Labels until both sides are certified, each at the first threshold that is tested (predicted error rate at "
        "most a quarter of the limit): median, and the share of repeats that did not get there with "
        f"{CASES['uniform']} (uniform) and {CASES['ordered']} (ordered) labelled cases. The goal is a median of at "
        "most 60 % of uniform. Where half of the uniform repeats did not get there, the ratio is against all their "
        "labels, so it is an upper limit."
    )
    columns = {"uniform": "{:.0f}", "not certified, %": "{:.1f}", "ordered": "{:.0f}", "not certified, % ": "{:.1f}"}
    table = results.table({**head, **columns, "ratio, %": "", "goal": ""})
    for shards in found.values():
        if shards[0]["campaign"]["calibrated"]:
            table.row(*_own(shards), *_labels(shards))


def _own(shards: list[dict[str, Any]]) -> tuple[str, float, float]:
    campaign = Campaign(**shards[0]["campaign"])
    return "calibrated" if campaign.calibrated else "wrong", campaign.prevalence, 100 * campaign.noise


def _labels(shards: list[dict[str, Any]]) -> tuple[float | str | None, ...]:
    medians, cells = [], []
    for arm in RANDOM_SHARE:
        labels = np.array([np.inf if n is None else n for shard in shards for n in shard["arms"][arm]["labels"]])
        medians.append(float(np.median(labels)))
        cells += [medians[-1] if np.isfinite(medians[-1]) else None, 100 * float(np.isinf(labels).mean())]
    spent = float(np.mean([shard["arms"]["uniform"]["labels spent"] for shard in shards]))
    if not np.isfinite(medians[1]):
        return (*cells, "", "missed")
    known = np.isfinite(medians[0])
    ratio = 100 * medians[1] / (medians[0] if known else spent)
    return (*cells, f"{'' if known else '< '}{ratio:.0f}", "met" if ratio <= 60 else "missed")


if __name__ == "__main__":
    main()
