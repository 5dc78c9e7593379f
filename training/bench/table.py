"""Runs, specialists and the paper's own figures in one table: text, Markdown, CSV, JSON."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import Any

from agent.batch.report import escaped
from agent.language import tr
from agent.tables import CsvTable, markdown_table
from training.bench.answers import FILE, Cost, Run
from training.bench.calibration import MEASURES, Calibration, calibrations
from training.bench.compare import Comparison, compare, compare_runs
from training.bench.outcomes import Outcome, OutcomesError, read_log, read_predictions
from training.bench.published import Published, is_specvi, published, statements
from training.bench.run import added, row_name
from training.bench.samples import voted
from training.bench.scores import BEHAVIOUR, Scores, Simulated, Value, number, plain, points, scores, short, simulated
from training.bench.seeds import Spread

OTHER_DATA = "other data than the rows above"
SAME_NUMBERS = "as many questions of each task as the runs marked SpecVI-Bench above"
PREDICTIONS = "predictions.jsonl"


@dataclass(frozen=True)
class Row:
    """A system and its scores.

    :param name: with the stage of training, and "without the tool" if so
    :param data: a description of the questions
    :param outcomes: one per question
    :param scores: of the outcomes; where there are several samples, their behaviour is that of the samples
    :param open: samples not answered yet; ``unread``: questions whose spectrum could not be read
    :param cost: time of the run
    :param samples: for each question its samples, if there are several; else ()
    :param runs: the runs whose mean this row is, if there are several; ``outcomes`` are then those of all
    """

    name: str
    path: Path
    kind: str
    data: str
    outcomes: tuple[Outcome, ...]
    scores: Scores
    open: int = 0
    unread: int = 0
    failed: int = 0
    cost: Cost = field(default_factory=Cost)
    samples: tuple[tuple[Outcome, ...], ...] = ()
    runs: SeveralRuns | None = None

    @property
    def simulated(self) -> Simulated:
        return simulated(self.outcomes)

    @cached_property
    def calibrations(self) -> list[Calibration]:
        # With several runs a question has several P(YES): those of each run are in a row of its own.
        return [] if self.runs else calibrations(self.outcomes)

    @property
    def outcomes_of_runs(self) -> list[tuple[Outcome, ...]]:
        return [run.outcomes for run in self.runs.rows] if self.runs else [self.outcomes]

    @property
    def note(self) -> str:
        """Why it is not a whole run over real spectra; "" if it is one."""
        remarks = {
            f"unfinished: {self.open} {'samples' if self.samples else 'questions'} to come": self.open,
            f"{self.unread} spectra not read": self.unread,
            f"{self.failed} counted wrong because the policy failed": self.failed,
            "simulated spectra": self.simulated == "yes",
            "partly simulated spectra": self.simulated == "partly",
        }
        return "; ".join(words for words, is_so in remarks.items() if is_so)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "path": str(self.path),
            "kind": self.kind,
            "data": self.data,
            "simulated": self.simulated,
            "open": self.open,
            "unread": self.unread,
            "failed": self.failed,
            "seconds_a_question_at_work": self.cost.wall,
            "gpu_seconds_per_sample": self.cost.gpu_seconds_per_sample,
            "scores": self.scores.to_json(),
            "runs": None if self.runs is None else self.runs.to_json(),
            "calibration": [calibration.to_json() for calibration in self.calibrations],
        }


@dataclass(frozen=True)
class SeveralRuns:
    """Runs of one system with different seeds, and how their scores differ; ``f1_of`` is the F1 by task."""

    rows: tuple[Row, ...]
    f1: Spread
    accuracy: Spread
    f1_of: Mapping[str, Spread]

    def to_json(self) -> dict[str, Any]:
        def plain(spread: Spread) -> dict[str, Any]:
            each = [None if isnan(value) else value for value in spread.each]
            return {"each": each, "standard_deviation": spread.deviation}

        return {
            "paths": [str(row.path) for row in self.rows],
            "f1": plain(self.f1),
            "accuracy": plain(self.accuracy),
            "f1_of": {task: plain(spread) for task, spread in self.f1_of.items()},
        }


def row(path: Path) -> Row:
    """Return the row of a run's folder, or of a file of predictions (or a folder with one).

    :raises OutcomesError: it is neither, or is damaged, or holds nothing yet
    """
    if path.is_dir() and (path / FILE).is_file():
        return of_run(Run.read(path))
    file = path / PREDICTIONS if path.is_dir() else path
    if not file.is_file():
        expected = tr(
            "the folder of a run (with {file}), or predictions ({predictions})", file=FILE, predictions=PREDICTIONS
        )
        raise OutcomesError(tr("{path}: found no such file, expected {wanted}", path=path, wanted=expected))
    name = file.parent.name if file.name == PREDICTIONS else file.stem
    if file.suffix == ".eval":
        name, listed = read_log(file)
        by_question: dict[tuple[str, str], list[Outcome]] = {}
        for outcome in sorted(listed, key=lambda outcome: outcome.sample):
            by_question.setdefault((outcome.task, outcome.key), []).append(outcome)
        listed = [voted(samples) for samples in by_question.values()]
    else:
        listed = read_predictions(file)
    outcomes = tuple(sorted(listed, key=lambda outcome: (outcome.task, outcome.key)))
    return Row(name, path, "predictions", _data(outcomes), outcomes, _scores(outcomes, path))


def of_run(run: Run) -> Row:
    """Return the row of a run. :raises OutcomesError: nothing was answered yet"""
    settings = run.settings
    policy = settings["policy"]
    samples = settings.get("samples", 1)
    outcomes = run.outcomes
    scored = _scores(outcomes, run.folder)
    if samples > 1:
        single = scores(outcome for several in run.samples for outcome in several)
        scored = replace(scored, **{name: getattr(single, name) for name in BEHAVIOUR})
    return Row(
        name=row_name(
            settings["name"], settings["stage"], settings["with_tool"], samples, added(policy.get("settings", {}))
        ),
        path=run.folder,
        kind=policy["kind"],
        data=_data(outcomes),
        outcomes=outcomes,
        scores=scored,
        open=run.open,
        unread=len(run.unread),
        failed=len(run.failed),
        cost=run.cost,
        samples=run.samples if samples > 1 else (),
    )


def _scores(outcomes: tuple[Outcome, ...], path: Path) -> Scores:
    if not outcomes:
        raise OutcomesError(tr("{path}: found no answer yet", path=path))
    return scores(outcomes)


def _data(outcomes: tuple[Outcome, ...]) -> str:
    """Return the surveys, most frequent first, or the benchmark's name."""
    if is_specvi(outcomes):
        return "SpecVI-Bench"
    surveys = [outcome.survey or "survey not known" for outcome in outcomes]
    return ", ".join(sorted(set(surveys), key=lambda name: (-surveys.count(name), name)))


MEANING = (
    "F1 is that of the positive class, in percent, with its 95 % bootstrap interval by spectrum; mean F1 is "
    "the mean over tasks, which the paper calls macro-F1. Accuracy is the mean over tasks as well."
)
_ORDER = ("cv", "cc", "ss", "gm", "wd", "o", "b", "a")


def tasks_of(rows: Iterable[Row]) -> list[str]:
    """Return the tasks of all rows, the published ones first and in the paper's order."""
    present = {task.task for row in rows for task in row.scores.tasks}
    return [task for task in _ORDER if task in present] + sorted(present - set(_ORDER))


def published_shown(rows: Sequence[Row]) -> list[Published]:
    """Return the paper's rows that have a task in common with these."""
    tasks = set(tasks_of(rows))
    return [model for model in published() if tasks & set(model.tasks)]


def text(rows: Sequence[Row], with_published: bool = True) -> str:
    """Return the table as text for a terminal."""
    headings, cells = _cells(rows, with_published)
    widths = [max(len(line[n]) for line in [headings, *cells]) for n in range(len(headings))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) for line in cells]
    head = "  ".join(cell.ljust(w) for cell, w in zip(headings, widths, strict=True)).rstrip()
    rule = "  ".join("─" * width for width in widths)
    body = [line.rstrip() for line in lines]
    if with_published and published_shown(rows):
        body.insert(len(rows), f"── published ({_note(rows)}) ".ljust(len(rule), "─"))
    return "\n".join([head, rule, *body, "", *notes(rows, with_published)])


def markdown(rows: Sequence[Row], with_published: bool = True) -> str:
    headings, cells = _cells(rows, with_published)
    for line in cells[len(rows) :]:
        line[0] = f"{line[0]} (published)"
    shielded = [[escaped(line[0]), *line[1:-1], escaped(line[-1])] for line in cells]
    body = markdown_table([escaped(heading) for heading in headings], shielded)
    listed = "\n".join(f"- {escaped(line)}" for line in notes(rows, with_published))
    return f"{body}\n\n{listed}\n"


def notes(rows: Sequence[Row], with_published: bool) -> list[str]:
    """Return the notes below the table: definitions, remarks on rows, comparisons, sources."""
    lines = [MEANING]
    lines += [f"{row.name}: {row.note}" for row in rows if row.note]
    lines += [_several(row.name, row.runs) for row in rows if row.runs]
    lines += [
        f"{row.name}: {task.task}: F1 {task.f1.words}" for row in rows for task in row.scores.tasks if task.f1.words
    ]
    tasks = tasks_of(rows)
    for row in rows:
        if len(row.scores.f1_of) < len(tasks):
            of = ", ".join(row.scores.f1_of) or "no task"
            lines.append(f"{row.name}: the mean F1 is that of {of}")
    lines += [calibrated(row, calibration) for row in rows for calibration in row.calibrations]
    lines += [compared(rows[0], other) for other in rows[1:]]
    if with_published and published_shown(rows):
        lines += [f"Published, without a score: {text}." for text in statements(tasks)]
        sources = "; ".join(dict.fromkeys(model.source for model in published_shown(rows)))
        lines.append(
            f"Published figures are from arXiv:2601.06498 ({_note(rows)}), means over cv, cc, ss, gm and wd "
            f"where the row does not say otherwise: {sources}."
        )
    return lines


def _several(name: str, runs: SeveralRuns) -> str:
    """Describe the runs of a row, in a sentence."""
    each = ", ".join("–" if isnan(value) else f"{100 * value:.1f}" for value in runs.f1.each)
    deviation = runs.f1.deviation
    spread = "" if deviation is None else f"; standard deviation {100 * deviation:.1f}"
    return (
        f"{name}: means over {len(runs.rows)} runs, with intervals that resample runs and spectra; mean F1 of each run "
        f"{each}{spread}"
    )


def p_yes(row: Row, calibrated: Calibration) -> str:
    """Describe what P(YES) is."""
    if calibrated.source == "vote_share":
        return f"the share of YES among the {len(row.samples[0])} samples of a question"
    return "the probability that the specialist gives" if row.kind == "predictions" else "from the policy's log odds"


def calibrated(row: Row, calibration: Calibration) -> str:
    """Describe a calibration, in a sentence."""
    values = ", ".join(f"{name} {plain(getattr(calibration, measure))}" for measure, name in MEASURES.items())
    return f"{row.name}: P(YES), {p_yes(row, calibration)}: {values}"


def compared(first: Row, second: Row) -> str:
    """Describe the first row against another, in a sentence."""
    difference = comparison(first, second)
    if isinstance(difference, str):
        return f"{first.name} against {second.name}: {difference}"
    left_out = difference.only_first + difference.only_second
    return (
        f"{first.name} against {second.name}, {difference.n} questions in common"
        + (f" ({left_out} left out)" if left_out else "")
        + f": mean F1 {points(difference.f1)} points"
        + (
            "; the interval resamples runs and spectra"
            if difference.p is None
            else f"; right where the other is wrong {difference.better} times, the other way "
            f"{difference.worse} times (McNemar, exact: p = {difference.p:.2g})"
        )
    )


def comparison(first: Row, second: Row) -> Comparison | str:
    """Compare two rows on the questions that both have; otherwise return why there is no comparison."""
    try:
        if first.runs or second.runs:
            return compare_runs(first.outcomes_of_runs, second.outcomes_of_runs)
        return compare(first.outcomes, second.outcomes)
    except ValueError as error:
        return str(error)


def csv_text(rows: Sequence[Row], with_published: bool = True) -> str:
    """Return one line per system and task, and one for each mean; percent."""
    out = io.StringIO()
    measures = ("f1", "precision", "recall", "accuracy")
    ends = [f"{measure}{end}" for measure in measures for end in ("", "_lo", "_hi")]
    first = ["system", "kind", "data", "simulated", "runs", "task", "n", "positives"]
    table = CsvTable(out, [*first, *ends, "f1_sd", "note"])
    for row in rows:
        runs = row.runs
        head = [row.name, row.kind, row.data, row.simulated, len(runs.rows) if runs else 1]
        for task in row.scores.tasks:
            values = [getattr(task, measure) for measure in measures]
            words = "; ".join(
                f"{measure} {value.words}" for measure, value in zip(measures, values, strict=True) if value.words
            )
            numbers = [cell for value in values for cell in _three(value)]
            table.row([*head, task.task, task.n, task.positives, *numbers, _deviation(runs, task.task), words])
        scores = row.scores
        means = [*_three(scores.f1), *[""] * 6, *_three(scores.accuracy)]
        positives = sum(task.positives for task in scores.tasks)
        table.row([*head, "mean", scores.n, positives, *means, _deviation(runs), row.note])
    for model in published_shown(rows) if with_published else ():
        head = [f"{model.name} (published)", model.kind, "published", "no", ""]
        for key, f1 in model.f1.items():
            numbers = [str(f1), *[""] * 8, str(model.accuracy.get(key, "")), "", "", ""]
            table.row(
                [*head, key, "", "", *numbers, f"approximate: {model.source}" if model.approximate else model.source]
            )
    return out.getvalue()


def to_json(rows: Sequence[Row], with_published: bool = True) -> dict[str, Any]:
    compared_rows = [(other, comparison(rows[0], other)) for other in rows[1:]]
    return {
        "rows": [row.to_json() for row in rows],
        "comparisons": [
            {
                "first": rows[0].name,
                "second": other.name,
                **({"none": model} if isinstance(model, str) else model.to_json()),
            }
            for other, model in compared_rows
        ],
        "published": [
            {
                "name": model.name,
                "f1": dict(model.f1),
                "accuracy": dict(model.accuracy),
                "approximate": model.approximate,
                "source": model.source,
            }
            for model in (published_shown(rows) if with_published else ())
        ],
        "published_note": _note(rows),
    }


def _cells(rows: Sequence[Row], with_published: bool) -> tuple[list[str], list[list[str]]]:
    tasks = tasks_of(rows)
    headings = ["system", "n", *(f"F1 {task}" for task in tasks), "mean F1", "accuracy", "form", "answered"]
    headings += ["calls", "s", "data"]
    cells = []
    for row in rows:
        scores = row.scores
        of_task = {task.task: short(task.f1) for task in scores.tasks}
        cells.append(
            [
                row.name,
                str(scores.n),
                *(of_task.get(task, "") for task in tasks),
                short(scores.f1),
                short(scores.accuracy),
                _rate(scores.format_rate),
                _rate(scores.answer_rate),
                number(scores.calls),
                number(scores.seconds, 2),
                row.data,
            ]
        )
    for model in published_shown(rows) if with_published else ():
        f1 = [_published_f1(model, task) if task in model.tasks else "" for task in tasks]
        mean = [_published_f1(model, "mean"), number(model.accuracy.get("mean"))]
        cells.append([model.name, "", *f1, *mean, "", "", "", "", "published"])
    return headings, cells


def _published_f1(published: Published, task: str) -> str:
    value = published.f1.get(task)
    return f"~{value:.0f}" if published.approximate and value is not None else number(value)


def _note(rows: Sequence[Row]) -> str:
    return SAME_NUMBERS if any(row.data == "SpecVI-Bench" for row in rows) else OTHER_DATA


def _rate(value: Value) -> str:
    return "–" if value.value is None else f"{100 * value.value:.0f} %"


def _deviation(runs: SeveralRuns | None, task: str = "") -> str:
    """Return the standard deviation of F1 over runs in points: of a task, or of the mean over tasks."""
    if runs is None:
        return ""
    deviation = (runs.f1_of[task] if task else runs.f1).deviation
    return "" if deviation is None else f"{100 * deviation:.2f}"


def _three(value: Value) -> list[str]:
    return ["" if x is None else f"{100 * x:.2f}" for x in (value.value, value.lo, value.hi)]
