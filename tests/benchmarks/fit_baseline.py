"""Fit the points of the baseline's scorecards: ``agent/policies/baseline/scorecards.toml``.

    python -m tests.benchmarks.fit_baseline                  simulated spectra, seeds 0 to 47
    python -m tests.benchmarks.fit_baseline --real FOLDER     and the half "choose" of the labelled real spectra

Ridge logistic regression per task on the presence p of each feature: log odds = start + Σ c_i (present_i p_i +
absent_i (1 - p_i)), c_i the probability that the feature that this one requires is present. A primary or secondary
feature has present > 0 ≥ absent, a confuser present < 0 and absent = 0, and ``start`` is at most ``HIGHEST_START``: so
nothing that is absent speaks for a class. All YES spectra weigh a fifth of all NO spectra, as in the published test
set. Needs scipy (the ``test`` extra).
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from agent.policies.baseline.scorecard import FILE, assess
from agent.spectrum import Spectrum
from agent.tasks import Task, load
from agent.tasks.values import Role
from agent.trajectory.steps import Verdict
from tests.benchmarks.baseline import HELD_OUT, simulated
from tests.benchmarks.real_spectra import real_spectra

RIDGE = 5e-4
"""Weight of the sum of squared points relative to the mean log loss: the smallest that kept F1 on other seeds."""
NO_TO_YES = 5.0
RARE = {"wr": 0.2}
"""Weights of kinds that surveys rarely observe."""
LEAST: Mapping[Role, float] = MappingProxyType({"primary": 0.5, "secondary": 0.2, "confuser": 1.0})
"""Smallest points of a feature that is present: otherwise, of two equivalent features, one could get all and the other
none.
"""
HIGHEST_START = -1.6
"""About log(1/5): what is known of a class before anything is measured."""
REAL_WEIGHT = 10.0
"""Weight of one real object against one simulated spectrum; its spectra share it."""
MANIFOLD = ("wd", "cv", "a", "o", "b", "sd", "wr")
"""Kinds of several states, of which three times as many are simulated."""
CUT = 1 / 3
"""Fraction of the spectra that are fitted a second time with a part of their range."""
SHORTEST = 1200.0

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Example:
    """A spectrum of the fit: the right answers, its weight, and per task the presence of each feature and how far it
    counts, (features, 2); NaN where it could not be measured.
    """

    answers: Mapping[str, Verdict]
    weight: float
    findings: Mapping[str, Matrix]


def example(spectrum: Spectrum, answers: Mapping[str, Verdict], weight: float, tasks: Mapping[str, Task]) -> Example:
    """Measure all features of the tasks whose answer is known."""
    findings = {}
    for key in answers:
        found = assess(spectrum, tasks[key]).findings
        findings[key] = np.array([(np.nan if f.presence is None else f.presence, f.counted) for f in found])
    return Example(answers, weight, findings)


def real_examples(folder: Path, tasks: Mapping[str, Task]) -> Iterator[Example]:
    """The real spectra of the half "choose"; an object weighs ``REAL_WEIGHT`` however many spectra it has."""
    chosen = [r for r in real_spectra(folder, list(tasks)) if r.half == "choose" and r.tier != "unlabelled"]
    of_object = Counter(r.object for r in chosen)
    for found in chosen:
        yield example(found.spectrum, found.answers, REAL_WEIGHT / of_object[found.object], tasks)


def simulated_examples(seeds: int, tasks: Mapping[str, Task]) -> Iterator[Example]:
    """Simulated spectra, and parts of them: ``seeds`` of each kind, and more of the kinds of ``MANIFOLD``.

    The weight of a kind is the same for all but ``RARE``. Within a kind a state (DA, DB, ...; quiescent, outburst, ...)
    weighs as the square root of its number, so that rare ones are not passed over.
    """
    tasks_known = list(tasks)
    cases = list(simulated(range(seeds), tasks_known))
    cases += simulated(range(seeds, 3 * seeds), tasks_known, MANIFOLD)
    states = Counter(_state(case.spectrum) for case in cases)
    of_kind: defaultdict[str, float] = defaultdict(float)
    for (kind, _), number in states.items():
        of_kind[kind] += float(np.sqrt(number))
    for number, case in enumerate(cases):
        state = _state(case.spectrum)
        weight = 3 * seeds * RARE.get(state[0], 1.0) / of_kind[state[0]] / float(np.sqrt(states[state]))
        for spectrum in with_a_part(case.spectrum, number):
            yield example(spectrum, case.answers, weight, tasks)


def _state(spectrum: Spectrum) -> tuple[str, str]:
    return str(spectrum.meta["kind"]), str(spectrum.meta["state"])


def with_a_part(spectrum: Spectrum, seed: int) -> list[Spectrum]:
    """The spectrum and, for one third of the seeds, a part of it, to fit features outside the data too."""
    rng = np.random.default_rng([seed, 1])
    start, stop = np.sort(rng.uniform(spectrum.wavelength[0], spectrum.wavelength[-1], 2))
    if rng.random() > CUT or stop - start < SHORTEST:
        return [spectrum]
    kept = (spectrum.wavelength >= start) & (spectrum.wavelength <= stop)
    arrays = {name: getattr(spectrum, name)[kept] for name in ("wavelength", "flux", "ivar", "mask")}
    return [spectrum, replace(spectrum, **arrays)]


def fit(findings: Matrix, yes: NDArray[np.bool_], common: Matrix, roles: Sequence[Role]) -> Matrix:
    """Start, then present and absent points of each feature: (1 + 2 features,), rounded to a tenth.

    :param findings: (spectra, features, 2), as in ``Example``
    :param common: (spectra,) weight of each relative to the others with the same answer
    """
    measured = ~np.isnan(findings[..., 0])
    p, counted = np.where(measured, findings[..., 0], 0.0), findings[..., 1]
    design = np.hstack([np.ones((len(p), 1)), counted * p, counted * np.where(measured, 1 - p, 0.0)])
    weight = common * np.where(yes, 1 / common[yes].sum(), NO_TO_YES / common[~yes].sum()) / (1 + NO_TO_YES)
    sign = np.where(yes, 1.0, -1.0)

    def loss(points: Matrix) -> tuple[float, Matrix]:
        margin = sign * (design @ points)
        slope = -sign * weight / (1 + np.exp(np.clip(margin, -50, 50)))
        penalty = RIDGE * points[1:] @ points[1:]
        gradient = design.T @ slope
        gradient[1:] += 2 * RIDGE * points[1:]
        return float(weight @ np.logaddexp(0, -margin) + penalty), gradient

    bounds = [(-6.0, HIGHEST_START), *(_range(role, present=True) for role in roles)]
    bounds += [_range(role, present=False) for role in roles]
    solution = minimize(loss, np.zeros(design.shape[1]), jac=True, bounds=bounds, method="L-BFGS-B")
    rounded: Matrix = np.round(solution.x, 1) + 0.0
    return rounded


def _range(role: Role, present: bool) -> tuple[float, float]:
    """Lowest and highest points. A confuser's presence counts against the class, anything else's for it."""
    if role == "confuser":
        return (-6.0, -LEAST[role]) if present else (0.0, 0.0)
    return (LEAST[role], 6.0) if present else (-6.0, 0.0)


def as_toml(points: Mapping[str, Matrix], tasks: Mapping[str, Task], made_by: str) -> str:
    lines = [
        "# Points of the baseline's scorecards: [present, absent] of each feature, in natural-log odds.",
        "# Not to be edited by hand. Made by",
        f"#     {made_by}",
    ]
    for key, fitted in points.items():
        features = tasks[key].features
        lines += ["", f"[{key}]", f"start = {fitted[0]}", "", f"[{key}.points]"]
        for i, feature in enumerate(features):
            name = feature.name.replace('"', '\\"')
            lines.append(f'"{name}" = [{fitted[1 + i]}, {fitted[1 + len(features) + i]}]')
    return "\n".join(lines) + "\n"


def fit_all(examples: Sequence[Example], tasks: Mapping[str, Task]) -> dict[str, Matrix]:
    """The points of every task, from the examples whose answer is known for it."""
    points = {}
    for key, task in tasks.items():
        known = [e for e in examples if key in e.answers]
        findings = np.array([e.findings[key] for e in known])
        yes = np.array([e.answers[key] == "YES" for e in known])
        points[key] = fit(findings, yes, np.array([e.weight for e in known]), [f.role for f in task.features])
    return points


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--seeds",
        type=int,
        default=16,
        help="seeds 0 to this (60 spectra each), three times as many of kinds of several states",
    )
    parser.add_argument(
        "--real", type=Path, help="folder of labelled spectra with MANIFEST.csv; its half choose is used"
    )
    options = parser.parse_args()
    if 3 * options.seeds > HELD_OUT:
        parser.error(f"--seeds: found {options.seeds}, expected at most {HELD_OUT // 3}: the rest are held out")
    tasks = load()
    examples = list(simulated_examples(options.seeds, tasks))
    made_by = f"python -m tests.benchmarks.fit_baseline --seeds {options.seeds}"
    if options.real:
        examples += real_examples(options.real, tasks)
        made_by += " --real FOLDER"
    FILE.write_text(as_toml(fit_all(examples, tasks), tasks, made_by), encoding="utf-8")
    print(f"wrote {FILE.name}: {', '.join(tasks)}, from {len(examples)} spectra")


if __name__ == "__main__":
    main()
