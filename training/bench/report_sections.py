"""Sections of the report: samples, P(YES), behaviour of right and wrong answers, windows."""

from __future__ import annotations

from agent.batch.report import escaped
from agent.tables import markdown_table
from training.bench import table
from training.bench.behaviour import Behaviour, rows
from training.bench.calibration import MEASURES, NOT_GIVEN
from training.bench.samples import sample_scores
from training.bench.scores import number, percent, plain, scores
from training.bench.table import Row
from training.bench.windows import CENTRE, TaskWindows


def samples(row: Row) -> list[str]:
    """Return the section about the samples of a question."""
    of_samples = sample_scores(row.samples)
    single = scores(outcome for several in row.samples for outcome in several)
    several = [("all, mean over tasks", "", of_samples.pass_at, of_samples.consistency, "")]
    several += [
        (escaped(task.task), str(task.questions), task.pass_at, task.consistency, str(task.ties))
        for task in of_samples.tasks
    ]
    cells = [
        [name, questions, *(percent(at[k]) for k in of_samples.pass_at), percent(consistency), ties]
        for name, questions, at, consistency, ties in several
    ]
    headings = ["task", "n", *(f"pass@{k}" for k in of_samples.pass_at), "samples that agree", "ties"]
    return [
        f"## Samples: {of_samples.samples} per question",
        "The scores above are those of the majority vote. Of a single sample the mean F1 is "
        f"{percent(single.f1)} % and the mean accuracy {percent(single.accuracy)} %.",
        markdown_table(headings, cells),
    ]


def calibration(row: Row) -> list[str]:
    """Return the section about P(YES)."""
    sections = ["## Calibration of P(YES)"]
    if not row.calibrations:
        return [*sections, NOT_GIVEN.capitalize() + "."]
    for calibrated in row.calibrations:
        without = f" ({calibrated.without} questions have none and are left out)" if calibrated.without else ""
        several = [
            ("all, mean over tasks", str(calibrated.n), "", calibrated),
            *((t.task, str(t.n), str(t.positives), t) for t in calibrated.tasks),
        ]
        cells = [
            [escaped(name), n, positives, *(plain(getattr(row_values, measure)) for measure in MEASURES)]
            for name, n, positives, row_values in several
        ]
        bins = [
            [
                f"{row_values.lo:.1f} to {row_values.hi:.1f}",
                str(row_values.n),
                number(row_values.probability, 3),
                number(row_values.positives, 3),
            ]
            for row_values in calibrated.bins
        ]
        sections += [
            f"P(YES) is {table.p_yes(row, calibrated)}{without}.",
            markdown_table(["task", "n", "positives", *MEASURES.values()], cells),
            markdown_table(["P(YES)", "n", "mean P(YES)", "share of YES"], bins),
        ]
    return sections


def conduct(behaviour: Behaviour) -> list[str]:
    """Return the sections about right and wrong answers, the tool's errors and the windows."""
    headings = ["mean per sample", "right", "wrong", "right minus wrong"]
    errors = [(escaped(kind), str(count)) for kind, count in behaviour.tool_errors.items()]
    sections = ["## Right and wrong answers", markdown_table(headings, rows(behaviour.contrasts)), "## Tool errors"]
    sections.append(markdown_table(["kind", "calls"], errors) if errors else "No call had an error.")
    if behaviour.windows:
        sections += [
            "## Windows",
            f"Windows whose centres are nearest to the same multiple of {CENTRE:g} Å, and of about the same width, "
            "count as one. They are in Å, in the frame and medium (air or vacuum) in which the tool drew them. A "
            "feature is in a window if its principal wavelength is.",
        ]
    for task in behaviour.windows:
        sections += _windows(task)
    return sections


def _windows(task: TaskWindows) -> list[str]:
    windows = [
        [
            f"{window.lo:.0f} to {window.hi:.0f}",
            str(window.zooms),
            _share(window.zooms, task.zooms),
            _share(window.right, window.zooms),
            escaped(", ".join(window.features)) or "–",
        ]
        for window in task.frequent
    ]
    wrong = task.samples - task.right
    features = [
        [
            escaped(feature.name),
            feature.role,
            _share(feature.samples, task.samples),
            _share(feature.right, task.right),
            _share(feature.samples - feature.right, wrong),
        ]
        for feature in task.features
    ]
    sections = [
        f"### {escaped(task.task)}: {task.zooms} zooms of {task.samples} samples",
        markdown_table(["mean window", "zooms", "share", "of right answers", "features of the task in it"], windows),
    ]
    if features:
        headings = ["feature", "role", "zoomed on by", f"of {task.right} right", f"of {wrong} wrong"]
        sections.append(markdown_table(headings, features))
    return sections


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"
