"""Fit the points of the baseline's scorecards to simulated spectra: ``agent/policies/baseline/scorecards.toml``.

    python -m tests.benchmarks.fit_baseline        seeds 0 to 23, all below the held-out ones

Ridge logistic regression per task on the presence p of each feature: log odds = start + Σ (present_i p_i +
absent_i (1 - p_i)), with present ≥ 0 ≥ absent for primary and secondary features and the opposite for confusers.
All YES spectra weigh a fifth of all NO spectra, as in the published test set. Needs scipy (the ``test`` extra).
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from agent.measure import Undefined, measure_feature, rest
from agent.policies.baseline.scorecard import FILE, presence
from agent.simulate import truth
from agent.spectrum import Spectrum
from agent.tasks import Task, load
from agent.tasks.values import Role
from tests.benchmarks.baseline import HELD_OUT, simulated

RIDGE = 5e-4
"""Weight of the sum of squared points relative to the mean log loss: the smallest that kept F1 on other seeds."""
NO_TO_YES = 5.0
RARE = {"wr": 0.2}
"""Weights of kinds that surveys rarely observe."""
LEAST: Mapping[Role, float] = MappingProxyType({"primary": 0.5, "secondary": 0.2, "confuser": 0.2})
"""Smallest points of a feature: otherwise, of two equivalent features, one could get all and the other none."""
CUT = 1 / 3
"""Fraction of the spectra that are fitted a second time with a part of their range."""
SHORTEST = 1200.0

Matrix = NDArray[np.float64]


def row(spectrum: Spectrum, task: Task) -> list[float]:
    """Presence of each feature of the task in a spectrum at rest; NaN where it could not be measured."""
    found = ((feature, measure_feature(spectrum, feature)) for feature in task.features)
    return [np.nan if isinstance(m, Undefined) else presence(f, m) for f, m in found]


def with_a_part(spectrum: Spectrum, seed: int) -> list[Spectrum]:
    """The spectrum and, for one third of the seeds, a part of it, to fit features outside the data too."""
    rng = np.random.default_rng([seed, 1])
    start, stop = np.sort(rng.uniform(spectrum.wavelength[0], spectrum.wavelength[-1], 2))
    if rng.random() > CUT or stop - start < SHORTEST:
        return [spectrum]
    kept = (spectrum.wavelength >= start) & (spectrum.wavelength <= stop)
    arrays = {name: getattr(spectrum, name)[kept] for name in ("wavelength", "flux", "ivar", "mask")}
    return [spectrum, replace(spectrum, **arrays)]


def fit(presences: Matrix, yes: NDArray[np.bool_], common: Matrix, roles: Sequence[Role]) -> Matrix:
    """Start, then present and absent points of each feature: (1 + 2 features,), rounded to a tenth.

    :param presences: (spectra, features), NaN where not measured
    :param common: (spectra,) weight of each relative to the others with the same answer
    """
    measured = ~np.isnan(presences)
    p = np.where(measured, presences, 0.0)
    design = np.hstack([np.ones((len(p), 1)), p, np.where(measured, 1 - p, 0.0)])
    weight = common * np.where(yes, 1 / common[yes].sum(), NO_TO_YES / common[~yes].sum()) / (1 + NO_TO_YES)
    sign = np.where(yes, 1.0, -1.0)

    def loss(points: Matrix) -> tuple[float, Matrix]:
        margin = sign * (design @ points)
        slope = -sign * weight / (1 + np.exp(np.clip(margin, -50, 50)))
        penalty = RIDGE * points[1:] @ points[1:]
        gradient = design.T @ slope
        gradient[1:] += 2 * RIDGE * points[1:]
        return float(weight @ np.logaddexp(0, -margin) + penalty), gradient

    bounds = [(-6.0, 6.0), *(_range(role, present=True) for role in roles)]
    bounds += [_range(role, present=False) for role in roles]
    solution = minimize(loss, np.zeros(design.shape[1]), jac=True, bounds=bounds, method="L-BFGS-B")
    rounded: Matrix = np.round(solution.x, 1) + 0.0
    return rounded


def _range(role: Role, present: bool) -> tuple[float, float]:
    """Lowest and highest points. A confuser's presence counts against the class, anything else's for it."""
    least = LEAST[role]
    return (least, 6.0) if present == (role != "confuser") else (-6.0, -least)


def as_toml(points: Mapping[str, Matrix], tasks: Mapping[str, Task], seeds: int) -> str:
    lines = [
        "# Points of the baseline's scorecards: [present, absent] of each feature, in natural-log odds.",
        "# From simulated spectra alone; not to be edited by hand. Made by",
        f"#     python -m tests.benchmarks.fit_baseline --seeds {seeds}",
    ]
    for key, fitted in points.items():
        features = tasks[key].features
        lines += ["", f"[{key}]", f"start = {fitted[0]}", "", f"[{key}.points]"]
        for i, feature in enumerate(features):
            name = feature.name.replace('"', '\\"')
            lines.append(f'"{name}" = [{fitted[1 + i]}, {fitted[1 + len(features) + i]}]')
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=24, help="seeds 0 to this (60 spectra each)")
    options = parser.parse_args()
    if options.seeds > HELD_OUT:
        parser.error(f"--seeds: found {options.seeds}, expected at most {HELD_OUT}: the rest are held out")
    tasks = load()
    rows: dict[str, list[list[float]]] = {key: [] for key in tasks}
    kinds: list[str] = []
    for case in simulated(range(options.seeds), list(tasks)):
        kind = str(case.spectrum.meta["kind"])
        for spectrum in with_a_part(rest(case.spectrum), len(kinds)):
            kinds.append(kind)
            for key, task in tasks.items():
                rows[key].append(row(spectrum, task))
    common = np.array([RARE.get(kind, 1.0) for kind in kinds])
    points = {}
    for key, task in tasks.items():
        yes = np.array([truth(kind, key) == "YES" for kind in kinds])
        points[key] = fit(np.array(rows[key]), yes, common, [f.role for f in task.features])
    FILE.write_text(as_toml(points, tasks, options.seeds), encoding="utf-8")
    print(f"wrote {FILE.name}: {', '.join(points)}")


if __name__ == "__main__":
    main()
