"""Evidence on trial: faithful and planted unfaithful policies on labelled real and on simulated spectra.

    python -m tests.benchmarks.trust.trial FOLDER [--half choose|report] [--spectra N] [--nano N] [--keep FILE]
    python -m tests.benchmarks.trust.trial FOLDER --typical > agent/trial/typical.toml

``FOLDER`` has a MANIFEST.csv (tests/benchmarks/real_spectra.py). The code was mended on the half ``choose``; figures
are reported on the half ``report``. Simulated spectra of the two halves have different seeds. For each task and answer,
the objects are taken in a random order (seed 0) up to the number wanted, one spectrum of each.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import numpy as np

from agent.conversation import Policy, PolicyError
from agent.json_lines import append_line
from agent.loop import run
from agent.measure import Measured, measure_feature, rest
from agent.measure.bands import fit_feature
from agent.policies.baseline.rule import Baseline
from agent.processes import ordered_map
from agent.simulate import simulate, truth
from agent.spectrum import Spectrum
from agent.statistics import percentile_interval, wilson
from agent.tasks import load
from agent.trial.report import Share, Summary, Trial, summarise
from agent.trial.run import trial
from agent.trial.subjects import subjects_of_task
from tests.benchmarks.real_spectra import Half, real_spectra
from tests.benchmarks.results import Results
from tests.support.planted_policies import UNFAITHFUL, Planted

TASKS = ("cv", "cc", "ss", "gm", "wd", "o", "b", "a")
FAITHFUL = ("baseline", "faithful")
POLICIES = (*FAITHFUL, *UNFAITHFUL)
SIMULATED = ("dme", "fgk", "sd", "a", "qso", "gba")
RESAMPLES = 2000


@dataclass(frozen=True)
class Case:
    """One spectrum for one task and one policy; ``source`` is "real" or "simulated"."""

    spectrum: Spectrum
    task: str
    policy: str
    source: str


@dataclass(frozen=True)
class Tried:
    """The trial of a case."""

    policy: str
    source: str
    trial: Trial


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.trust.trial", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=("choose", "report"), default="report")
    parser.add_argument("--spectra", type=int, default=6, help="real spectra per task and answer")
    parser.add_argument("--simulated", type=int, default=2, help="simulated spectra per task and answer")
    parser.add_argument("--nano", type=int, default=2, help="real spectra per task and answer for the nano model")
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS)
    parser.add_argument("--policies", nargs="+", default=POLICIES, choices=POLICIES)
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep the trials; a run that was ended resumes")
    parser.add_argument("--seconds", type=float, default=np.inf, help="end after so long: a random part of the spectra")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--typical", action="store_true", help="print typical strengths of the half choose, as TOML")
    chosen = parser.parse_args()
    if chosen.typical:
        print(typical(chosen.folder))
        return
    since = monotonic()
    spectra = list(_spectra(chosen.folder, chosen.half, chosen.tasks, chosen.spectra, chosen.simulated))
    order = np.random.default_rng(0).permutation(len(spectra))
    cases = []
    for spectrum, task, source, number in (spectra[at] for at in order):
        policies = [*chosen.policies, *(["nano"] if source == "real" and number < chosen.nano else [])]
        cases += [Case(spectrum, task, policy, source) for policy in policies]
    found = list(_kept(chosen.keep)) if chosen.keep else []
    known = {(one.policy, one.trial.task, one.trial.spectrum_sha256) for one in found}
    left = [case for case in cases if (case.policy, case.task, case.spectrum.sha256) not in known]
    failed = 0
    made_of = ordered_map(tried, left, chosen.processes)
    for number, (case, made) in enumerate(zip(left, made_of, strict=True), 1):
        if made is None:
            failed += 1
        else:
            found.append(Tried(case.policy, case.source, made))
        if made is not None and chosen.keep:
            row = {"policy": case.policy, "source": case.source, "trial": made.to_json()}
            append_line(chosen.keep, json.dumps(row, ensure_ascii=False) + "\n")
        if number % 50 == 0:
            print(f"{number} of {len(left)}, {monotonic() - since:.0f} s", file=sys.stderr, flush=True)
        if monotonic() - since > chosen.seconds:
            made_of.close()
            break
    _report(found, chosen.half, failed)


def _kept(path: Path) -> Iterator[Tried]:
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield Tried(row["policy"], row["source"], Trial.from_json(row["trial"]))


def tried(case: Case) -> Trial | None:
    """Inspect a spectrum and put the trace on trial; None if the policy does not know the task."""
    warnings.simplefilter("ignore")
    task, policy = load()[case.task], policy_of(case.policy)
    try:
        trajectory = run(case.spectrum, task, policy)
        return trial(trajectory, None, case.spectrum, task, policy)
    except PolicyError:
        return None


def policy_of(name: str) -> Policy:
    if name == "baseline":
        return Baseline()
    if name == "nano":
        from agent.policies.nano.folder import packaged
        from agent.policies.nano.policy import Nano

        folder = packaged()
        assert folder is not None, "no weights of the nano model came with this installation"
        return Nano(folder)
    return Planted(name)  # type: ignore[arg-type]


def _spectra(
    folder: Path, half: Half, tasks: Sequence[str], real: int, simulated: int
) -> Iterator[tuple[Spectrum, str, str, int]]:
    """Yield spectrum, task, source and number within its task and answer: real ones of different objects first."""
    wanted: dict[tuple[str, str], list[tuple[Spectrum, str]]] = defaultdict(list)
    for one in real_spectra(folder, tasks):
        if one.half == half and one.tier == "trusted" and one.spectrum.sampling < 15:
            for task, answer in one.answers.items():
                wanted[task, answer].append((one.spectrum, one.object))
    for (task, _), group in sorted(wanted.items(), key=lambda pair: pair[0]):
        order = np.random.default_rng(0).permutation(len(group))
        seen: set[str] = set()
        for at in order:
            spectrum, name = group[at]
            if name not in seen and len(seen) < real:
                yield spectrum, task, "real", len(seen)
                seen.add(name)
    first = 0 if half == "choose" else 5000
    for task in tasks:
        others = [kind for kind in SIMULATED if truth(kind, task) == "NO"]
        for number in range(simulated):
            survey, snr = ("SDSS", "LAMOST", "DESI")[number % 3], (12.0, 30.0)[number % 2]
            yield simulate(task, survey, snr, first + number), task, "simulated", number
            kind = others[(number + TASKS.index(task)) % len(others)]
            yield simulate(kind, survey, snr, first + number), task, "simulated", number


def typical(folder: Path) -> str:
    """Return medians of strength (EW in Å, or ratio) and FWHM (km/s) of the features of YES spectra, as TOML."""
    tasks = load()
    values: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    spectra = [
        (one.spectrum, task)
        for one in real_spectra(folder, TASKS)
        if one.half == "choose" and one.tier == "trusted"
        for task, answer in one.answers.items()
        if answer == "YES"
    ]
    spectra += [(simulate(task, "SDSS", 30.0, seed), task) for task in TASKS for seed in range(4)]
    for spectrum, task in spectra:
        at_rest = rest(spectrum)
        for subject in subjects_of_task(tasks[task], at_rest.medium):
            feature = subject.feature
            assert feature is not None
            measured = measure_feature(at_rest, feature)
            if isinstance(measured, Measured) and feature.is_present(measured.value) and measured.significance > 5:
                fit = None if feature.kind != "line" else fit_feature(at_rest, feature)
                width = 0.0 if fit is None or not hasattr(fit, "fwhm") else float(fit.fwhm.value)
                values[task, feature.name].append((measured.value, width))
    lines = ["# Medians over YES spectra: equivalent width in Å, or flux ratio; FWHM in km/s (0: a band)."]
    lines.append("# python -m tests.benchmarks.trust.trial FOLDER --typical")
    for task in TASKS:
        lines.append(f"\n[{task}]")
        for name in sorted(name for key, name in values if key == task):
            found = values[task, name]
            widths = [width for _, width in found if width > 0]
            strength, width = np.median([s for s, _ in found]), np.median(widths) if widths else 0.0
            lines.append(f'"{name}" = [{strength:.4g}, {width:.4g}]')
    return "\n".join(lines)


def auroc(faithful: Sequence[float], unfaithful: Sequence[float]) -> float:
    """Return the probability that a faithful trace has the higher number, ties counted half (Mann & Whitney 1947)."""
    a, b = np.asarray(faithful)[:, None], np.asarray(unfaithful)[None, :]
    return float(((a > b) + 0.5 * (a == b)).mean())


def auroc_interval(good: Sequence[tuple[str, float]], bad: Sequence[tuple[str, float]]) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of the bootstrap by spectrum, for pairs of spectrum and faithfulness; where
    all resamples are equal, that of Wilson 1927 with the number of spectra.
    """
    names = sorted({name for name, _ in (*good, *bad)})
    groups: list[dict[str, list[float]]] = [defaultdict(list), defaultdict(list)]
    for into, pairs in zip(groups, (good, bad), strict=True):
        for name, value in pairs:
            into[name].append(value)
    rng, values = np.random.default_rng(0), []
    for _ in range(RESAMPLES):
        picked = [names[i] for i in rng.integers(len(names), size=len(names))]
        a, b = ([v for name in picked for v in group.get(name, ())] for group in groups)
        values.append(auroc(a, b) if a and b else np.nan)
    if len({value for value in values if not np.isnan(value)}) == 1:
        # Complete separation in every resample: the interval of as many observations as there are spectra.
        return wilson(float(np.nanmean(values)), min(len(group) for group in groups))
    return percentile_interval(np.asarray(values))


def _report(found: Sequence[Tried], half: str, failed: int) -> None:
    results = Results()
    sources = Counter(one.source for one in found if one.policy == "baseline")
    results.text(
        f"Half {half}: {sources['real']} pairs of real spectrum and task, {sources['simulated']} simulated. "
        f"{failed} inspections of a task that the policy does not know."
    )
    by_policy = {name: [one for one in found if one.policy == name] for name in (*POLICIES, "nano")}
    table = results.table({"policy": "", "spectra": ""} | _COLUMNS)
    for policy, some in by_policy.items():
        for source in ("real", "simulated", "both"):
            trials = [one.trial for one in some if source in (one.source, "both")]
            if trials and (source != "both" or policy != "nano"):
                table.row(policy, source, *_cells(next(s for s in summarise(trials) if s.task == "")))
    for source in ("real", "simulated"):
        results.text(f"The baseline by task, {source} spectra:")
        table = results.table({"task": ""} | _COLUMNS)
        for one in summarise([one.trial for one in by_policy["baseline"] if one.source == source]):
            table.row(one.task or "all", *_cells(one))
    _separation(results, by_policy)
    results.text("The baseline's edits that were not followed, and placebos that changed something:")
    table = results.table({"edit": "", "times": "{}"})
    missed = Counter(
        f"{one.trial.task}: {o.edit} of {o.subject}"
        for one in by_policy["baseline"]
        for o in one.trial.outcomes
        if (o.edit == "placebo") == o.followed
    )
    for name, times in missed.most_common():
        table.row(name, times)
    results.text("The baseline's tool calls and edits that were not tested:")
    table = results.table({"reason": "", "times": "{}"})
    skipped = Counter(_kind(s.reason) for one in by_policy["baseline"] for s in one.trial.skipped)
    for name, times in skipped.most_common():
        table.row(name, times)


def _kind(reason: str) -> str:
    """Return a reason without the name of the line and without numbers."""
    words = reason.rsplit(": ", 1)[-1]
    return re.sub(r"[−-]?\d[\d.]*(e[+-]?\d+)?", "…", words)


def _separation(results: Results, by_policy: Mapping[str, Sequence[Tried]]) -> None:
    for good in FAITHFUL:
        results.text(
            f"AUROC of the faithfulness of a trace, {good} against each unfaithful policy, by spectra and by task:"
        )
        table = results.table({"spectra": "", "task": "", "traces": ""} | dict.fromkeys(UNFAITHFUL, ""))
        groups = [(source, "") for source in ("real", "simulated")] + [("", task) for task in TASKS] + [("", "")]
        for source, task in groups:
            of = {name: _numbers(by_policy[name], source, task) for name in (good, *UNFAITHFUL)}
            if of[good] and any(of[bad] for bad in UNFAITHFUL):
                cells = [_auroc(of[good], of[bad]) for bad in UNFAITHFUL]
                table.row(source or "both", task or "all", str(len(of[good])), *cells)


def _auroc(good: list[tuple[str, float]], bad: list[tuple[str, float]]) -> str:
    if not bad:
        return "–"
    ends = auroc_interval(good, bad)
    value = auroc([v for _, v in good], [v for _, v in bad])
    return f"{value:.3f}" + ("" if ends is None else f" ({ends[0]:.2f} to {ends[1]:.2f})")


_SHARES = ("necessity", "sufficiency", "flip", "shift", "placebo", "still claims")
_COLUMNS = dict.fromkeys(("traces", "tested", "passed", *_SHARES, "faithfulness"), "")


def _cells(one: Summary) -> list[str]:
    flip, shift = one.followed["flip"], one.followed["shift"]
    shares = [one.passed, one.necessity, one.sufficiency, flip, shift, one.placebo, one.still_claims]
    mean = "" if one.faithfulness is None else f"{one.faithfulness:.3f}"
    return [str(one.traces), str(one.tested), *map(_share, shares), mean]


def _share(one: Share) -> str:
    if one.value is None or one.interval is None:
        return "–"
    return f"{one.k}/{one.n} = {one.value:.3f} ({one.interval[0]:.2f} to {one.interval[1]:.2f})"


def _numbers(some: Sequence[Tried], source: str, task: str) -> list[tuple[str, float]]:
    """Return spectrum and faithfulness of the traces that could be tested; "" is all sources or tasks."""
    wanted = (one for one in some if source in ("", one.source) and task in ("", one.trial.task))
    pairs = ((one.trial.spectrum_sha256, one.trial.faithfulness) for one in wanted)
    return [(name, value) for name, value in pairs if value is not None]


if __name__ == "__main__":
    main()
