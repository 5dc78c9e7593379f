"""The baseline with and without catalogues, in pairs on the same simulated spectra; and its evidence on trial.

    python -m tests.benchmarks.baseline_sky                            figures on held-out seeds
    python -m tests.benchmarks.baseline_sky --real FOLDER              and on real stars of FOLDER (MANIFEST.csv)
    python -m tests.benchmarks.baseline_sky --write docs/baseline.md   and puts them into this file

Sets: every kind on every survey's grid, S/N 5 to 50 (as ``baseline.py``), and pairs of kinds at S/N 4 that a spectrum
hardly tells apart. Records are those of ``agent.simulate.sky``; ``fit_baseline.py --sky`` uses other seeds.

``real_gaia.csv`` has what Gaia DR3 (ESA/Gaia/DPAC, CC BY-SA 3.0 IGO) gives for stars within 20 pc whose spectra are in
the collection; BP−RP, where it is missing, is that of the spectrum itself. Nothing was fitted on them.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from agent.loop import run
from agent.measure import Measured
from agent.policies.baseline.rule import Baseline
from agent.simulate import simulate
from agent.simulate.instrument import SURVEYS
from agent.simulate.sky import sky_of
from agent.sky.photometry import synthetic
from agent.sky.records import Sky, SkyRecord, Source
from agent.spectrum import Spectrum
from agent.tasks import Task, load
from agent.trial.report import Share, Trial, summarise
from agent.trial.run import trial
from tests.benchmarks.baseline import HELD_OUT, Case, Outcome, outcomes, put, simulated
from tests.benchmarks.real_spectra import real_spectra
from tests.benchmarks.results import Results, command_line, markdown

GAIA = Path(__file__).with_name("real_gaia.csv")
SNR = 4.0
PAIRS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "gm": (("gm",), ("dm",)),
    "wd": (("wd",), ("sd", "a")),
    "a": (("a",), ("sd", "wd")),
}
"""Per task the kinds that are the class, and those that look like it."""
MARKS = "<!-- figures: written by tests.benchmarks.baseline_sky -->", "<!-- end of figures with catalogues -->"


@dataclass(frozen=True)
class Pair:
    """One question, answered without and with catalogues."""

    kind: str
    without: Outcome
    with_sky: Outcome
    spectrum: Spectrum | None = None


def pairs(cases: Iterator[Case], tasks: Mapping[str, Task]) -> Iterator[Pair]:
    """Answer each question twice."""
    for case in cases:
        kind = str(case.spectrum.meta["kind"])
        both = (list(outcomes(iter([case]), tasks, sky)) for sky in (None, sky_of))
        for without, with_sky in zip(*both, strict=True):
            yield Pair(kind, without, with_sky, case.spectrum)


def at_low_snr(seeds: Sequence[int], task: str) -> Iterator[Case]:
    """The class and what looks like it, each kind once per seed and survey."""
    members, others = PAIRS[task]
    for seed in seeds:
        for survey in SURVEYS:
            for kind in (*members, *others):
                yield Case(simulate(kind, survey, SNR, seed), {task: "YES" if kind in members else "NO"}, ("pair",))


def real_pairs(folder: Path, tasks: Mapping[str, Task]) -> Iterator[Pair]:
    """Answer the questions on real stars with published records twice; ``kind`` is the label, then the object."""
    with GAIA.open(newline="", encoding="utf-8") as opened:
        rows = {row["path"]: row for row in csv.DictReader(opened)}
    for real in real_spectra(folder, list(tasks)):
        if real.path in rows:
            sky = gaia_record(rows[real.path], real.spectrum)
            case = Case(real.spectrum, real.answers, (real.half, real.tier), real.label)
            both = (outcomes(iter([case]), tasks, of) for of in (None, lambda spectrum, sky=sky: sky))
            for without, with_sky in zip(*both, strict=True):
                yield Pair(rows[real.path]["source_id"], without, with_sky)


def gaia_record(row: Mapping[str, str], spectrum: Spectrum) -> Sky:
    """Return the record of a row of ``real_gaia.csv``."""
    values = {name: float(text) for name, text in row.items() if text and name not in ("path", "source_id", "bp_rp")}
    blue, red = (synthetic(spectrum)[name] for name in ("BP", "RP"))
    colour = float(row["bp_rp"]) if row["bp_rp"] else None
    if colour is None and isinstance(blue, Measured) and isinstance(red, Measured):
        colour = blue.value - red.value
    if colour is not None:
        values |= {"BP": values["G"] + colour / 2, "RP": values["G"] - colour / 2}
    source = Source(row["source_id"], 0.0, 0.0, 0.0, values)
    return Sky.of([SkyRecord("gaia_dr3", "found", 0.0, 0.0, (2016.0, 2016.0), sources=(source,))])


def add_real(report: Results, answered: Sequence[Pair]) -> None:
    columns = {"task": "", "questions": "{}", "YES": "{}", "wrong without": "{}", "wrong with": "{}"}
    table = report.table(columns | {"to a person without": "{}", "to a person with": "{}"})
    for task in (*dict.fromkeys(p.without.task for p in answered), "all"):
        own = [p for p in answered if task in (p.without.task, "all")]
        sides = [[p.without for p in own], [p.with_sky for p in own]]
        wrong, left = (
            [sum(of(o) for o in side) for side in sides] for of in (lambda o: not o.is_right, lambda o: o.left)
        )
        table.row(task, len(own), sum(p.without.right == "YES" for p in own), *wrong, *left)


def gain(answered: Sequence[Pair], value: Callable[[Outcome], bool], draws: int = 2000) -> tuple[float, ...]:
    """Mean of ``value`` without and with catalogues, their difference and its 95 % interval, each in percent.

    Members of the class and the others weigh the same; the interval is by resampling the spectra of either.
    """
    rng = np.random.default_rng(0)
    sides = [[p for p in answered if p.without.right == right] for right in ("YES", "NO")]
    values = [np.array([(value(p.without), value(p.with_sky)) for p in side], dtype=float) for side in sides]
    resampled = [side[rng.integers(0, len(side), (draws, len(side)))].mean(axis=1) for side in values]
    means = 100 * np.mean([side.mean(axis=0) for side in values], axis=0)
    low, high = np.percentile(100 * np.mean([np.diff(side)[:, 0] for side in resampled], axis=0), (2.5, 97.5))
    return float(means[0]), float(means[1]), float(means[1] - means[0]), float(low), float(high)


def add_pairs(report: Results, answered: Mapping[str, Sequence[Pair]]) -> None:
    """Gain in accuracy: of all, and of those that the spectrum alone leaves to a person."""
    columns = {"question": "", "spectra": "{}", "right without": "{:.1f} %", "right with": "{:.1f} %"}
    table = report.table(columns | {"gain in points": "{:+.1f}", "95 %": ""})
    for undecided in (False, True):
        for task in (*PAIRS, "all"):
            own = [p for key, some in answered.items() if task in (key, "all") for p in some]
            own = [p for p in own if p.without.left or not undecided]
            if {p.without.right for p in own} != {"YES", "NO"}:
                continue
            which = "all three" if task == "all" else f"{task}: {' or '.join(', '.join(k) for k in PAIRS[task])}"
            *numbers, low, high = gain(own, lambda o: o.is_right)
            about = f"{which}{', the spectrum leaves it to a person' if undecided else ''}"
            table.row(about, len(own), *numbers, f"{low:+.1f} to {high:+.1f}")


def add_pooled(report: Results, answered: Sequence[Pair], tasks: Mapping[str, Task]) -> None:
    """Per task F1, wrong answers, and how many are left to a person."""
    columns = {"task": "", "F1 without": "{:.3f}", "F1 with": "{:.3f}", "wrong without": "{}", "wrong with": "{}"}
    columns |= {"to a person without": "{:.1f} %", "to a person with": "{:.1f} %"}
    columns |= {"F1 answered without": "{:.3f}", "F1 answered with": "{:.3f}"}
    table = report.table(columns)
    rows = []
    for key in (*tasks, "mean"):
        own = [p for p in answered if key in (p.without.task, "mean")]
        sides = [[p.without for p in own], [p.with_sky for p in own]]
        kept = [[o for o in side if not o.left] for side in sides]
        wrong = [sum(not o.is_right for o in side) for side in sides]
        left = [100 * sum(o.left for o in side) / len(side) for side in sides]
        scores = [f1(side) for side in (*sides, *kept)]
        if key == "mean":
            scores = [float(np.nanmean([row[i] for row in rows])) for i in range(4)]
        rows.append(scores)
        table.row(key, *scores[:2], *wrong, *left, *scores[2:])


def f1(results: Sequence[Outcome]) -> float:
    """F1 of YES; NaN if nothing is YES."""
    hit = sum(o.given == o.right == "YES" for o in results)
    whole = hit + sum("YES" in (o.given, o.right) for o in results)
    return 2 * hit / whole if whole else float("nan")


def add_kinds(report: Results, answered: Sequence[Pair]) -> None:
    """Wrong answers, and answers left to a person, by the kind of object over all tasks."""
    groups: dict[str, list[Pair]] = defaultdict(list)
    for pair in answered:
        groups[pair.kind].append(pair)
    columns = {"kind": "", "questions": "{}", "wrong without": "{}", "wrong with": "{}"}
    table = report.table(columns | {"to a person without": "{}", "to a person with": "{}"})
    for kind, own in groups.items():
        wrong = [sum(not o.is_right for o in side) for side in ([p.without for p in own], [p.with_sky for p in own])]
        left = [sum(o.left for o in side) for side in ([p.without for p in own], [p.with_sky for p in own])]
        table.row(kind, len(own), *wrong, *left)


def sky_trials(answered: Mapping[str, Sequence[Pair]], tasks: Mapping[str, Task]) -> Iterator[Trial]:
    """Trials of the baseline with catalogues where its verdict rests on them: without them it is another one."""
    for task, some in answered.items():
        for pair in some:
            if pair.spectrum is not None and pair.without.given != pair.with_sky.given:
                sky = sky_of(pair.spectrum)
                policy = Baseline(lambda sha256, sky=sky: sky)
                trace = run(pair.spectrum, tasks[task], policy)
                yield trial(trace, None, pair.spectrum, tasks[task], policy, edits=("swap", "sky_placebo"))


def add_trials(report: Results, trials: Sequence[Trial]) -> None:
    columns = {"task": "", "traces": "{}", "swaps followed": "", "verdict turned": "", "placebos that changed": ""}
    table = report.table(columns)
    for summary in summarise(trials):
        own = [t for t in trials if summary.task in (t.task, "")]
        swaps = [o for t in own for o in t.outcomes if o.edit == "swap"]
        turned = sum(o.verdict_before != o.verdict_after for o in swaps)
        shares = [_share(summary.sky_necessity), f"{turned} of {len(swaps)}", _share(summary.sky_placebo)]
        table.row(summary.task or "all", len(own), *shares)


def _share(share: Share) -> str:
    low, high = share.interval or (float("nan"), float("nan"))
    return f"{share.k} of {share.n} ({low:.3f} to {high:.3f})"


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--seeds", type=int, default=4, help="held-out seeds: 60 spectra each")
    parser.add_argument("--low", type=int, default=30, help="held-out seeds at low S/N: 24 spectra each")
    parser.add_argument("--first", type=int, default=HELD_OUT, help="the first of them, for trying out elsewhere")
    parser.add_argument("--real", type=Path, help="folder of labelled spectra with MANIFEST.csv")
    parser.add_argument("--write", type=Path, help="file whose text between the marks of figures is replaced")
    options = parser.parse_args()
    tasks, report = load(), Results()
    seeds = range(options.first, options.first + options.seeds)
    low = range(options.first, options.first + options.low)
    answered = [replace(p, spectrum=None) for p in pairs(simulated(seeds, list(tasks)), tasks)]
    hard = {task: list(pairs(at_low_snr(low, task), {task: tasks[task]})) for task in PAIRS}
    report.text(f"### All kinds, S/N 5 to 50: {60 * options.seeds} spectra, held out")
    add_pooled(report, answered, tasks)
    report.text("### The same by kind of object, over all tasks")
    add_kinds(report, answered)
    report.text(f"### What a spectrum at S/N {SNR:g} hardly decides, held out")
    add_pairs(report, hard)
    report.text("### Swapped parallax, where the verdict rests on catalogues")
    add_trials(report, list(sky_trials(hard, tasks)))
    if options.real:
        real = list(real_pairs(options.real, tasks))
        objects, spectra = len({p.kind for p in real}), len({p.without.who for p in real})
        report.text(f"### Real stars with Gaia DR3: {spectra} spectra of {objects} M dwarfs and white dwarfs")
        add_real(report, real)
    if options.write:
        put(options.write, markdown(report.blocks), *MARKS)


if __name__ == "__main__":
    main()
