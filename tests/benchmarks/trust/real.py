"""Certificates of the baseline on labelled real spectra: made on one half, checked on the other; JSON.

    python -m tests.benchmarks.trust.real --real FOLDER [--out FILE.json] [--splits 200] [--markdown]

One spectrum per object of ``real_labels.toml``, without those that have a data reason. Each split takes a random half
of the objects as labelled, and certifies with the raw score and the fixed method at several limits. Three shares of the
certified splits are given:

- ``within``: the error rate on the other half is at most the limit. The other half is small, so its error rate is often
  above the true one, and this share can be below 1 - delta where the certificate is right;
- ``compatible``: the errors on the other half do not contradict the limit (exact binomial test at 5 %);
- ``holds``: the error rate at the threshold over all objects, both halves together, is at most the limit. This is what
  a certificate promises for a list of which a random half is labelled.

The splits share their spectra, so the shares are no independent trials. With --out a task that is in the file is not
calculated again.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import numpy as np
from scipy.stats import binom

from agent.policies.baseline.rule import Baseline
from agent.policies.baseline.scorecard import assess, cannot_tell
from agent.spectrum.record import BoolArray
from agent.statistics import FloatArray
from agent.tasks import Task, load
from agent.trajectory import Answer, Trajectory
from agent.trust.certify import Labelled, Side, Wanted, called, certify
from agent.trust.features import data_reasons, features_of
from agent.trust.files import write_json
from agent.trust.score import RAW
from tests.benchmarks.real_spectra import RealSpectrum, real_spectra
from tests.benchmarks.results import Results

LIMITS = (0.05, 0.1, 0.2)
DELTAS = (0.05, 0.1)
CONTRADICTED = 0.05
"""Below this binomial probability of so many errors or more, the errors on the other half contradict the limit."""


@dataclass(frozen=True)
class Cases:
    """The objects of a task without a data reason.

    :param p: (n,) P(YES), raw
    :param left: objects with a data reason
    """

    p: FloatArray
    yes: BoolArray
    left: int


@dataclass(frozen=True)
class Shares:
    """The splits at one limit and delta, for one side.

    :param certified: splits with a certificate; ``uncalled`` of them call no object of the other half so
    :param within: and ``compatible``, among the certified splits that call one; ``holds`` among the certified ones
    :param errors: errors and ``calls`` on the other half, all certified splits together
    :param missing: median over the refused splits of the labels missing; None if more labels would not help in most
    """

    side: str
    limit: float
    delta: float
    splits: int
    certified: int
    uncalled: int
    within: int
    compatible: int
    holds: int
    errors: int
    calls: int
    missing: float | None


def one_per_object(folder: Path, tasks: list[str]) -> list[RealSpectrum]:
    """Return the first spectrum of each object with a trusted or a pipeline's label."""
    found: dict[str, RealSpectrum] = {}
    for one in real_spectra(folder, tasks):
        if one.tier != "unlabelled":
            found.setdefault(one.object, one)
    return list(found.values())


def cases_of(spectra: list[RealSpectrum], task: Task) -> Cases:
    """Return P(YES) and label of each object whose label decides the task."""
    p, yes, left = [], [], 0
    drafter = Baseline().drafter
    for one in spectra:
        if task.key not in one.answers:
            continue
        found = assess(one.spectrum, task)
        answer = Answer("s1", found.verdict, "", found.score)
        trace = Trajectory(
            task.key,
            task.prompt,
            one.spectrum.name,
            one.spectrum.sha256,
            (answer,),
            drafter,
            cannot_tell=cannot_tell(found, one.spectrum),
        )
        if data_reasons([trace], one.spectrum, task):
            left += 1
            continue
        p.append(RAW.p_yes(features_of([trace], one.spectrum, task, with_claims=False)))
        yes.append(one.answers[task.key] == "YES")
    return Cases(np.array(p, dtype=float), np.array(yes, dtype=bool), left)


def shares_of(cases: Cases, limit: float, delta: float, splits: int, seed: int) -> list[Shares]:
    """Certify on random halves and check; YES, then NO."""
    n = len(cases.p)
    wanted = Wanted(yes=limit, no=limit, delta=delta)
    counts = {"YES": Counter[str](), "NO": Counter[str]()}
    missing: dict[str, list[float]] = {"YES": [], "NO": []}
    for split in range(splits):
        order = np.random.default_rng([seed, split]).permutation(n)
        half, other = order[: n // 2], order[n // 2 :]
        for side in certify(Labelled(cases.p[half], cases.yes[half]), cases.p, wanted):
            if side.threshold is None:
                missing[side.verdict].append(float("inf") if side.missing is None else side.missing)
            else:
                counts[side.verdict].update(_checked(cases, side, other))
    return [
        Shares(
            side=verdict,
            limit=limit,
            delta=delta,
            splits=splits,
            **{
                name: found[name]
                for name in ("certified", "uncalled", "within", "compatible", "holds", "errors", "calls")
            },
            missing=_finite_median(missing[verdict]),
        )
        for verdict, found in counts.items()
    ]


def _checked(cases: Cases, side: Side, other: np.ndarray) -> dict[str, int]:
    assert side.threshold is not None
    wrong = cases.yes != (side.verdict == "YES")
    there = called(side.verdict, cases.p, side.threshold)
    calls, errors = int(there[other].sum()), int((there & wrong)[other].sum())
    return {
        "certified": 1,
        "uncalled": int(calls == 0),
        "within": int(calls > 0 and errors <= side.limit * calls),
        "compatible": int(calls > 0 and binom.sf(errors - 1, calls, side.limit) >= CONTRADICTED),
        "holds": int((there & wrong).sum() <= side.limit * there.sum()),
        "errors": errors,
        "calls": calls,
    }


def _finite_median(values: list[float]) -> float | None:
    middle = median(values) if values else float("inf")
    return None if middle == float("inf") else middle


def markdown(results: dict[str, dict]) -> str:
    """Return the table of docs/trust/measurements.md for the first delta.

    A limit is left out where all splits are certified at a lower one.
    """
    lines = [
        "| task | objects | YES | side | limit | certified | within | compatible | holds | errors on the other half | "
        "labels missing |",
        "|---|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for task, result in results.items():
        for side in ("YES", "NO"):
            for one in result["shares"]:
                if one["delta"] != DELTAS[0] or one["side"] != side:
                    continue
                lines.append(_row(task, result, one))
                if one["certified"] == one["splits"]:
                    break
    return "\n".join(lines)


def _row(task: str, result: dict, one: dict) -> str:
    tested = one["certified"] - one["uncalled"]
    cells = [
        task,
        result["objects"],
        result["yes"],
        one["side"],
        f"{100 * one['limit']:g} %",
        one["certified"],
        _share(one["within"], tested),
        _share(one["compatible"], tested),
        _share(one["holds"], one["certified"]),
        f"{100 * one['errors'] / one['calls']:.1f} %" if one["calls"] else "–",
        "–" if one["missing"] is None else f"{one['missing']:g}",
    ]
    return f"| {' | '.join(map(str, cells))} |"


def _share(k: int, n: int) -> str:
    return f"{100 * k / n:.0f} %" if n else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--real", type=Path, required=True, metavar="FOLDER", help="spectra with a MANIFEST.csv")
    parser.add_argument("--out", type=Path, metavar="FILE", help="JSON file, continued if it exists")
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--markdown", action="store_true", help="print the table instead of JSON")
    arguments = parser.parse_args()
    settings = {"splits": arguments.splits, "seed": arguments.seed, "limits": list(LIMITS), "deltas": list(DELTAS)}
    report = {"settings": settings, "tasks": {}}
    if arguments.out is not None and arguments.out.exists():
        before = json.loads(arguments.out.read_text(encoding="utf-8"))
        if before["settings"] != settings:
            sys.exit(f"{arguments.out}: found {before['settings']}, expected {settings}; choose another file")
        report = before
    tasks = load()
    missing = [key for key in tasks if key not in report["tasks"]]
    spectra = one_per_object(arguments.real, missing) if missing else []
    for key in missing:
        cases = cases_of(spectra, tasks[key])
        seed = arguments.seed + zlib.crc32(key.encode())
        shares = [
            asdict(one)
            for delta in DELTAS
            for limit in LIMITS
            for one in shares_of(cases, limit, delta, arguments.splits, seed)
        ]
        report["tasks"][key] = {
            "objects": len(cases.p),
            "yes": int(cases.yes.sum()),
            "left": cases.left,
            "shares": shares,
        }
        print(f"{key}: {len(cases.p)} objects, {int(cases.yes.sum())} YES, {cases.left} left", file=sys.stderr)
        if arguments.out is not None:
            write_json(arguments.out, report)
    if arguments.markdown:
        Results().text(markdown(report["tasks"]))
    else:
        print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
