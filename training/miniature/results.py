"""Tables and curves of the miniature proof: the scores of each model and seed, the claims, and what the traces say.

They are computed from the benches and logs in the folder of the proof alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from agent.json_lines import write_atomic
from agent.tables import markdown_table
from agent.trajectory.steps import Think
from training.bench.answers import Run as BenchRun
from training.bench.outcomes import Outcome
from training.bench.seeds import difference as seeds_difference
from training.bench.table import Row
from training.bench.table import row as bench_row
from training.miniature.spectra import LINES, PAIRS
from training.miniature.stages import BRANCHES, MODELS, Scale, folder_of
from training.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TABLE, RESULT, CURVES = "table.md", "result.json", "curves.svg"
ALPHA = 0.2
"""Penalty for wrong form, as in training."""
TITLES = {"base": "base"} | {branch.name: branch.title for branch in BRANCHES}
COLOURS = {"": "#1f5fbf", "-no-tool": "#c8641e", "-drafts": "#7a7a7a", "-answers": "#2c8c4a"}
STYLES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class Claim:
    """A difference of F1 between two models that the proof is to show, in points, as the mean over seeds.

    :param each: the least difference in each single seed
    """

    text: str
    model: str
    other: str
    mean: float
    each: float = -100.0


CLAIMS = (
    Claim("The cold start teaches the task", "sft", "base", 30.0),
    Claim("GRPO improves on the cold start", "grpo", "sft", 5.0, each=0.0),
    Claim("Zooming matters after the cold start", "sft", "sft-no-tool", 10.0, each=10.0),
    Claim("Zooming matters after GRPO", "grpo", "grpo-no-tool", 10.0, each=10.0),
    Claim("Right labels teach better than partly wrong ones", "sft", "sft-drafts", 5.0),
    Claim("Corrected text teaches better than drafted text of the same answer", "sft", "sft-answers", 5.0),
)


@dataclass(frozen=True)
class Behaviour:
    """What the traces of a bench say, as shares.

    :param red: of the zooms on Hα, in the tasks where Hγ has the same shape; None without zooms
    :param stated: of the answers whose last thought states the shape that the answer stands for, and not the other
        shape; None without answers
    :param misnamed: of the zooms on a line that have the name of another line; None without zooms
    """

    red: float | None = None
    stated: float | None = None
    misnamed: float | None = None


@dataclass(frozen=True)
class Line:
    """The scores of one model of one seed: shares, F1 with its interval, reward, tool calls per question.

    :param right: share of right answers by task
    """

    model: str
    seed: int
    n: int
    format_rate: float
    reward: float
    accuracy: float
    f1: float
    f1_lo: float | None
    f1_hi: float | None
    calls: float
    right: Mapping[str, float]
    behaviour: Behaviour


@dataclass(frozen=True)
class Difference:
    """A claim as it was measured: F1 differences in points, of each seed and their mean with its 95 % interval.

    :param accuracy: the same of the share of right answers. F1 alone may rise with the share of YES
    """

    claim: Claim
    seeds: tuple[float, ...]
    lo: float | None
    hi: float | None
    accuracy: tuple[float, ...]

    @property
    def mean(self) -> float:
        return fmean(self.seeds)

    @property
    def holds(self) -> bool:
        return self.mean >= self.claim.mean and min(self.seeds) >= self.claim.each


def write(folder: Path, seeds: Sequence[int], scale: Scale) -> dict[str, Any]:
    """Write table, curves and result to the proof's folder; return the result as plain values.

    :raises OutcomesError: a bench is not there
    :raises JournalError: a file cannot be written
    """
    row_of = {(model, seed): bench_row(folder_of(folder, seed) / "bench" / model) for model in MODELS for seed in seeds}
    lines = [_line(model, seed, row, behaviour_of(BenchRun.read(row.path))) for (model, seed), row in row_of.items()]
    outcomes = {key: row.outcomes for key, row in row_of.items()}
    differences = [difference(claim, outcomes, seeds) for claim in CLAIMS]
    text = table(lines, differences)
    result = {
        "scale": scale.name,
        "simulated": True,
        "seeds": list(seeds),
        "questions": scale.bench,
        "rows": [asdict(line) for line in lines],
        "claims": [
            asdict(difference)
            | {"mean": difference.mean, "mean_accuracy": fmean(difference.accuracy), "holds": difference.holds}
            for difference in differences
        ],
        "table": text,
        "curves": str(folder / CURVES),
    }
    write_atomic(folder / TABLE, text)
    write_atomic(folder / RESULT, json.dumps(result, ensure_ascii=False, indent=2) + "\n")
    draw_curves(folder, seeds)
    return result


def difference(claim: Claim, outcomes: Mapping[tuple[str, int], Sequence[Outcome]], seeds: Sequence[int]) -> Difference:
    """Return a claim's difference; the interval resamples seeds, and the spectra that all models share.

    :param outcomes: by model and seed; the two models of a seed are resampled together
    """
    ours, theirs = ([outcomes[model, seed] for seed in seeds] for model in (claim.model, claim.other))
    measured = seeds_difference(ours, theirs, paired=True)
    lo, hi = (None if end is None else 100 * end for end in (measured.mean.lo, measured.mean.hi))
    right = [[fmean(outcome.is_right for outcome in run) for run in runs] for runs in (ours, theirs)]
    accuracy = tuple(100 * (our_share - their_share) for our_share, their_share in zip(*right, strict=True))
    return Difference(claim, tuple(100 * value for value in measured.each), lo, hi, accuracy)


def table(lines: Sequence[Line], differences: Sequence[Difference] = ()) -> str:
    """Return one row per model and seed with the mean of several seeds, one row per claim, and one per model with its
    right answers by task and what its traces say.
    """
    headings = ["model", "seed", "format", "reward", "accuracy", "F1", "calls", "on Hα"]
    rows = []
    for model in dict.fromkeys(line.model for line in lines):
        own = [line for line in lines if line.model == model]
        rows += [[TITLES[model], str(line.seed), *_cells([line]), _interval(line), *_calls([line])] for line in own]
        if len(own) > 1:
            f1 = f"{100 * fmean(line.f1 for line in own):.1f}"
            rows.append([f"**{TITLES[model]}**", "mean", *_cells(own), f1, *_calls(own)])
    return (
        f"{markdown_table(headings, rows)}\n\n"
        f"{lines[0].n} questions about simulated spectra, half of them positive: a system that always answers YES has "
        "an F1 of 66.7. Format, accuracy and F1 in percent, F1 as the mean over tasks with its 95 % bootstrap interval "
        f"by spectrum; reward is the published one with alpha = {ALPHA}; calls: tool calls per question; on Hα: "
        "percent of the zooms in the two tasks where Hγ shows the same.\n"
        + (f"\n{_claims(differences)}" if differences else "")
        + f"\n{_traces(lines)}"
    )


def _claims(differences: Sequence[Difference]) -> str:
    rows = []
    for difference in differences:
        claim = difference.claim
        expected = f"≥ {claim.mean:.0f}" + (f", each ≥ {claim.each:.0f}" if claim.each > -100 else "")
        interval = (
            "" if difference.lo is None or difference.hi is None else f" [{difference.lo:.1f}, {difference.hi:.1f}]"
        )
        rows.append(
            [
                claim.text,
                f"{TITLES[claim.model]} − {TITLES[claim.other]}",
                ", ".join(f"{value:+.1f}" for value in difference.seeds),
                f"{difference.mean:+.1f}{interval}",
                ", ".join(f"{value:+.1f}" for value in difference.accuracy),
                f"{fmean(difference.accuracy):+.1f}",
                expected,
                "yes" if difference.holds else "no",
            ]
        )
    headings = ["claim", "difference", "F1, each seed", "F1, mean", "accuracy, each seed", "accuracy, mean"]
    headings += ["expected of F1", "holds"]
    return (
        f"{markdown_table(headings, rows)}\n\nIn points; the 95 % bootstrap interval of the mean resamples seeds and "
        "spectra.\n"
    )


def _traces(lines: Sequence[Line]) -> str:
    rows = []
    for model in dict.fromkeys(line.model for line in lines):
        own = [line for line in lines if line.model == model]
        shares = [_percent([line.right.get(task) for line in own]) for task in PAIRS]
        stated = _percent([line.behaviour.stated for line in own])
        rows.append([TITLES[model], *shares, stated, _percent([line.behaviour.misnamed for line in own], digits=1)])
    tasks = [f"`{task}`" for task in PAIRS]
    return (
        f"{markdown_table(['model', *tasks, 'states its shape', 'misnamed zooms'], rows)}\n\n"
        "In percent, as means over the seeds: right answers by task; answers whose last thought states the shape that "
        "the answer stands for, and not the other shape; zooms that have the name of another line.\n"
    )


def draw_curves(folder: Path, seeds: Sequence[int]) -> None:
    """Draw the losses of the supervised stages, and reward, form and validation of GRPO, one line per seed; long
    curves as means of consecutive steps.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6.5), layout="constrained")
    (practice, sft, reward), (form, f1, right) = figure.subplots(2, 3)
    for number, seed in enumerate(seeds):
        style = STYLES[number % len(STYLES)]

        def line(axes: Axes, stage: str, key: str, end: str, seed: int = seed, style: str = style) -> None:
            logged = Run(folder_of(folder, seed) / f"{stage}{end}").logged()
            thin = thinned([(line["step"], line[key]) for line in logged if line.get(key) is not None])
            label = f"{end.strip('-').replace('-', ' ') or 'corrected, tool'}, seed {seed}"
            axes.plot(*zip(*thin, strict=True), style, color=COLOURS[end], label=label, linewidth=1)

        line(practice, "practice", "loss", "")
        for end in COLOURS:
            line(sft, "sft", "loss", end)
        for end in ("", "-no-tool"):
            for axes, key in (
                (reward, "reward"),
                (form, "format_rate"),
                (f1, "validation_f1"),
                (right, "validation_accuracy"),
            ):
                line(axes, "grpo", key, end)
    _titled(practice, "Naming what pictures show: loss", "step", log=True)
    _titled(sft, "SFT: loss", "step", log=True)
    _titled(reward, "GRPO: reward of sampled trajectories", "update")
    _titled(form, "GRPO: format rate of sampled trajectories", "update")
    _titled(f1, "GRPO: F1 of the validation, greedy", "update")
    _titled(right, "GRPO: right answers of the validation, greedy", "update")
    sft.legend(fontsize=7)
    figure.suptitle("The proof in miniature: simulated spectra, random weights")
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "spec-o3"}):
        figure.savefig(folder / CURVES, metadata={"Date": None})


def thinned(points: Sequence[tuple[float, float]], most: int = 100) -> list[tuple[float, float]]:
    """Return means of equally many consecutive points, at most ``most``; fewer points are returned as they are."""
    each = -(-len(points) // most)
    groups = [points[start : start + each] for start in range(0, len(points), each or 1)]
    return [(fmean(x for x, _ in group), fmean(y for _, y in group)) for group in groups]


def _titled(axes: Axes, title: str, across: str, log: bool = False) -> None:
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(across)
    axes.grid(alpha=0.3)
    if log:
        axes.set_yscale("log")


def behaviour_of(run: BenchRun) -> Behaviour:
    """Return what the traces of a bench of these tasks say."""
    names: dict[tuple[float, float], str] = {line.window: line.name for line in LINES.values()}
    red, stated, misnamed = [], [], []
    for outcome, trajectory, _ in run.traces():
        pair = PAIRS[outcome.task]
        for zoom in trajectory.zooms:
            if len(pair.targets) > 1:
                red.append(zoom.window == pair.targets[-1].window)
            if zoom.window in names:
                misnamed.append(zoom.label != names[zoom.window])
        if outcome.answered is not None:
            thoughts = [step.text for step in trajectory.steps if isinstance(step, Think)]
            shapes = {shape for shape in (pair.yes, pair.no) if thoughts and f": {shape}." in thoughts[-1]}
            stated.append(shapes == {pair.yes if outcome.answered == "YES" else pair.no})
    return Behaviour(*(fmean(shares) if shares else None for shares in (red, stated, misnamed)))


def _line(model: str, seed: int, row: Row, behaviour: Behaviour) -> Line:
    scores, outcomes = row.scores, row.outcomes
    by_task = {task: [outcome.is_right for outcome in outcomes if outcome.task == task] for task in PAIRS}
    reward = fmean(outcome.is_right - ALPHA * (outcome.format_ok is not True) for outcome in outcomes)
    f1 = scores.f1
    return Line(
        model=model,
        seed=seed,
        n=scores.n,
        format_rate=scores.format_rate.value or 0.0,
        reward=reward,
        accuracy=scores.accuracy.value or 0.0,
        f1=f1.value or 0.0,
        f1_lo=f1.lo,
        f1_hi=f1.hi,
        calls=scores.calls or 0.0,
        right={task: fmean(row) for task, row in by_task.items() if row},
        behaviour=behaviour,
    )


def _cells(lines: Sequence[Line]) -> list[str]:
    def mean(of: Callable[[Line], float]) -> float:
        return fmean(of(line) for line in lines)

    return [
        f"{100 * mean(lambda line: line.format_rate):.1f}",
        f"{mean(lambda line: line.reward):.3f}",
        f"{100 * mean(lambda line: line.accuracy):.1f}",
    ]


def _interval(line: Line) -> str:
    if line.f1_lo is None or line.f1_hi is None:
        return f"{100 * line.f1:.1f}"
    return f"{100 * line.f1:.1f} [{100 * line.f1_lo:.1f}, {100 * line.f1_hi:.1f}]"


def _calls(lines: Sequence[Line]) -> list[str]:
    return [f"{fmean(line.calls for line in lines):.2f}", _percent([line.behaviour.red for line in lines])]


def _percent(shares: Sequence[float | None], digits: int = 0) -> str:
    """Return the mean of the shares that there are."""
    known = [share for share in shares if share is not None]
    return f"{100 * fmean(known):.{digits}f}" if known else "–"
