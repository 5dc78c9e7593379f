"""Fit the points of the baseline's scorecards: ``agent/policies/baseline/scorecards.toml``.

    python -m tests.benchmarks.fit_baseline --seeds 12 --real FOLDER    (MANIFEST.csv; its half "choose" is used)
    python -m tests.benchmarks.fit_baseline --seeds 12 --sky            (what catalogues tell: sky_scorecards.toml)

Ridge logistic regression per task: log odds = start + Σ c_i (present_i p_i + absent_i (1 - p_i)), with p_i what
``share_present`` makes of the presence of feature i, and c_i the probability that the feature that it requires is
present. Nothing that is absent speaks for a class (``_range``). All YES weigh a fifth of all NO, as in the published
test set. Needs scipy (the ``test`` extra).

What catalogues tell is fitted on simulated records, with the points of the spectrum held fixed, on S/N 3 to 20. No
entry gets more than ``MOST``, so that none alone outweighs a spectrum: simulated records have no wrong matches.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from agent.policies.baseline.scorecard import FILE, SKY_FILE, Assessment, Weighed, assess, share_present
from agent.simulate.sky import sky_of
from agent.spectrum import Spectrum
from agent.tasks import Task, load
from agent.tasks.values import Role, SkyFeature
from agent.trajectory.steps import Verdict
from tests.benchmarks.baseline import HELD_OUT, simulated
from tests.benchmarks.real_spectra import real_spectra
from tests.benchmarks.results import command_line

RIDGE = 5e-4
"""Weight of the sum of squared points relative to the mean log loss: the smallest that kept F1 on other seeds."""
NO_TO_YES = 5.0
RARE = {"wr": 0.2}
"""Weights of kinds that surveys rarely observe."""
LEAST: Mapping[Role, float] = {"primary": 0.5, "secondary": 0.2, "confuser": 1.0}
"""Smallest points for *present*: else, of two equivalent features, one could get all and the other none."""
HIGHEST_START = -1.6
"""About log(1/5): what is known of a class before anything is measured."""
REAL_WEIGHT = 10.0
"""Weight of one real object against one simulated spectrum; its spectra share it."""
MANIFOLD = ("wd", "cv", "a", "o", "b", "sd", "wr")
"""Kinds of several states, of which three times as many are simulated."""

MOST = 3.0
"""Most points of what catalogues tell."""
LOW_SNR = (3.0, 20.0)

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Example:
    """A spectrum of the fit: the right answers, its weight, and per task the share that counts as present of each
    feature and how far the feature counts, (features, 2); NaN where it could not be measured. ``known`` is the sum of
    points that are held fixed, per task.
    """

    answers: Mapping[str, Verdict]
    weight: float
    findings: Mapping[str, Matrix]
    known: Mapping[str, float] = field(default_factory=dict)


def example(spectrum: Spectrum, answers: Mapping[str, Verdict], weight: float, tasks: Mapping[str, Task]) -> Example:
    """Measure all features of the tasks whose answer is known."""
    return Example(answers, weight, {key: _shares(assess(spectrum, tasks[key]).findings) for key in answers})


def _shares(findings: Sequence[Weighed]) -> Matrix:
    shares = [np.nan if f.presence is None else share_present(f.feature, f.presence) for f in findings]
    return np.array(list(zip(shares, (f.counted for f in findings), strict=True)))


def sky_examples(seeds: int, tasks: Mapping[str, Task]) -> Iterator[Example]:
    """Simulated spectra with records; all kinds weigh the same but for ``RARE``."""
    for case in simulated(range(seeds), list(tasks), snr=LOW_SNR):
        spectrum, sky = case.spectrum, sky_of(case.spectrum)
        assessed: dict[str, Assessment] = {key: assess(spectrum, task, sky) for key, task in tasks.items()}
        known = {key: a.start + sum(f.points for f in a.findings) for key, a in assessed.items()}
        weight = RARE.get(str(spectrum.meta["kind"]), 1.0)
        yield Example(case.answers, weight, {key: _shares(a.sky) for key, a in assessed.items()}, known)


def real_examples(folder: Path, tasks: Mapping[str, Task]) -> Iterator[Example]:
    """The half "choose" of a collection."""
    chosen = [r for r in real_spectra(folder, list(tasks)) if r.half == "choose" and r.tier != "unlabelled"]
    of_object = Counter(r.object for r in chosen)
    for found in chosen:
        yield example(found.spectrum, found.answers, REAL_WEIGHT / of_object[found.object], tasks)


def simulated_examples(seeds: int, tasks: Mapping[str, Task]) -> Iterator[Example]:
    """Simulated spectra, a third of them also with a part of their range, to fit features outside the data too.

    The weight of a kind is the same for all but ``RARE``. Within a kind a state (DA, DB, ...) weighs as the square root
    of its number, so that rare ones are not passed over.
    """
    cases = [*simulated(range(seeds), list(tasks)), *simulated(range(seeds, 3 * seeds), list(tasks), MANIFOLD)]
    states = Counter((str(c.spectrum.meta["kind"]), str(c.spectrum.meta["state"])) for c in cases)
    of_kind: defaultdict[str, float] = defaultdict(float)
    for (kind, _), number in states.items():
        of_kind[kind] += float(np.sqrt(number))
    for seed, case in enumerate(cases):
        spectrum, kind = case.spectrum, str(case.spectrum.meta["kind"])
        number = states[kind, str(spectrum.meta["state"])]
        weight = 3 * seeds * RARE.get(kind, 1.0) / of_kind[kind] / float(np.sqrt(number))
        yield example(spectrum, case.answers, weight, tasks)
        rng = np.random.default_rng([seed, 1])
        start, stop = np.sort(rng.uniform(spectrum.wavelength[0], spectrum.wavelength[-1], 2))
        if rng.random() < 1 / 3 and stop - start >= 1200.0:
            kept = (spectrum.wavelength >= start) & (spectrum.wavelength <= stop)
            arrays = {name: getattr(spectrum, name)[kept] for name in ("wavelength", "flux", "ivar", "mask")}
            yield example(replace(spectrum, **arrays), case.answers, weight, tasks)


Bounds = Sequence[tuple[float, float]]


def fit(
    findings: Matrix,
    yes: NDArray[np.bool_],
    common: Matrix,
    bounds: Bounds,
    known: Matrix | float = 0.0,
) -> Matrix:
    """Start, then present and absent points of each feature: (1 + 2 features,), rounded to a tenth.

    :param findings: (spectra, features, 2), as in ``Example``
    :param common: (spectra,) weight of each relative to the others with the same answer
    :param bounds: lowest and highest of each
    :param known: (spectra,) points that are held fixed
    """
    is_measured = ~np.isnan(findings[..., 0])
    p, counted = np.where(is_measured, findings[..., 0], 0.0), findings[..., 1]
    design = np.hstack([np.ones((len(p), 1)), counted * p, counted * np.where(is_measured, 1 - p, 0.0)])
    weight = common * np.where(yes, 1 / common[yes].sum(), NO_TO_YES / common[~yes].sum()) / (1 + NO_TO_YES)
    sign = np.where(yes, 1.0, -1.0)

    def loss(points: Matrix) -> tuple[float, Matrix]:
        margin = sign * (known + design @ points)
        gradient = design.T @ (-sign * weight / (1 + np.exp(np.clip(margin, -50, 50))))
        gradient[1:] += 2 * RIDGE * points[1:]
        return float(weight @ np.logaddexp(0, -margin) + RIDGE * points[1:] @ points[1:]), gradient

    solution = minimize(loss, np.zeros(design.shape[1]), jac=True, bounds=list(bounds), method="L-BFGS-B")
    rounded: Matrix = np.round(solution.x, 1) + 0.0
    return rounded


def _range(role: Role, present: bool) -> tuple[float, float]:
    """Lowest and highest points. A confuser's presence counts against the class, anything else's for it."""
    if role == "confuser":
        return (-6.0, -LEAST[role]) if present else (0.0, 0.0)
    return (LEAST[role], 6.0) if present else (-6.0, 0.0)


def _sky_range(feature: SkyFeature, present: bool) -> tuple[float, float]:
    """The same of what catalogues tell. A limit that excludes nothing says nothing."""
    lowest, highest = _range(feature.role, present)
    if not present and feature.quantity == "absolute_magnitude_limit":
        return 0.0, 0.0
    return (max(lowest, -MOST), 0.0) if highest <= 0 else (0.0, MOST)


def sky_as_toml(examples: Sequence[Example], tasks: Mapping[str, Task], made_by: str) -> str:
    lines = ["# Points of what catalogues tell: [present, absent] of each entry of [[sky]], in natural-log odds."]
    lines += ["# Not to be edited by hand. Made by", f"#     {made_by}"]
    for key, task in tasks.items():
        yes = np.array([e.answers[key] == "YES" for e in examples])
        known = np.array([e.known[key] for e in examples])
        bounds = [(0.0, 0.0), *(_sky_range(f, present) for present in (True, False) for f in task.sky)]
        weight = np.array([e.weight for e in examples])
        points = fit(np.array([e.findings[key] for e in examples]), yes, weight, bounds, known)[1:]
        pairs = zip(task.sky, points[: len(task.sky)], points[len(task.sky) :], strict=True)
        entries = ", ".join(f'"{f.name}" = [{present}, {absent}]' for f, present, absent in pairs)
        lines.append(f"{key} = {{ {entries} }}")
    return "\n".join(lines) + "\n"


def as_toml(examples: Sequence[Example], tasks: Mapping[str, Task], made_by: str) -> str:
    lines = ["# Points of the baseline's scorecards: [present, absent] of each feature, in natural-log odds."]
    lines += ["# Not to be edited by hand. Made by", f"#     {made_by}"]
    for key, task in tasks.items():
        known, features = [e for e in examples if key in e.answers], task.features
        yes = np.array([e.answers[key] == "YES" for e in known])
        weight = np.array([e.weight for e in known])
        roles = [f.role for f in features]
        bounds = [(-6.0, HIGHEST_START), *(_range(role, present) for present in (True, False) for role in roles)]
        points = fit(np.array([e.findings[key] for e in known]), yes, weight, bounds)
        lines += ["", f"[{key}]", f"start = {points[0]}", "", f"[{key}.points]"]
        pairs = zip(features, points[1 : 1 + len(features)], points[1 + len(features) :], strict=True)
        lines += [f'"{feature.name}" = [{present}, {absent}]' for feature, present, absent in pairs]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--seeds", type=int, default=12, help="60 spectra each, and more of kinds of several states")
    parser.add_argument("--real", type=Path, help="folder of labelled spectra with MANIFEST.csv")
    parser.add_argument("--sky", action="store_true", help="fit what catalogues tell, on simulated records")
    options = parser.parse_args()
    if 3 * options.seeds > HELD_OUT:
        parser.error(f"--seeds: found {options.seeds}, expected at most {HELD_OUT // 3}: the rest are held out")
    tasks = load()
    if options.sky:
        made_by = f"python -m tests.benchmarks.fit_baseline --seeds {options.seeds} --sky"
        of_sky = list(sky_examples(options.seeds, tasks))
        SKY_FILE.write_text(sky_as_toml(of_sky, tasks, made_by), encoding="utf-8")
        print(f"wrote {SKY_FILE.name}: {', '.join(tasks)}, from {len(of_sky)} spectra")
        return
    examples = list(simulated_examples(options.seeds, tasks))
    made_by = f"python -m tests.benchmarks.fit_baseline --seeds {options.seeds}"
    if options.real:
        examples += real_examples(options.real, tasks)
        made_by += " --real FOLDER"
    FILE.write_text(as_toml(examples, tasks, made_by), encoding="utf-8")
    print(f"wrote {FILE.name}: {', '.join(tasks)}, from {len(examples)} spectra")


if __name__ == "__main__":
    main()
