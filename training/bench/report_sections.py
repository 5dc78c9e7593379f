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
    found = sample_scores(row.samples)
    single = scores(one for several in row.samples for one in several)
    several = [("all, mean over tasks", "", found.pass_at, found.consistency, "")]
    several += [
        (escaped(task.task), str(task.questions), task.pass_at, task.consistency, str(task.ties))
        for task in found.tasks
    ]
    cells = [
        [name, questions, *(percent(at[k]) for k in found.pass_at), percent(consistency), ties]
        for name, questions, at, consistency, ties in several
    ]
    headings = ["task", "n", *(f"pass@{k}" for k in found.pass_at), "samples that agree", "ties"]
    return [
        f"## Samples: {found.samples} per question",
        "The scores above are those of the majority vote. Of a single sample the mean F1 is "
        f"{percent(single.f1)} % and the mean accuracy {percent(single.accuracy)} %.",
        markdown_table(headings, cells),
    ]


def calibration(row: Row) -> list[str]:
    """Return the section about P(YES)."""
    sections = ["## Calibration of P(YES)"]
    if not row.calibrations:
        return [*sections, NOT_GIVEN.capitalize() + "."]
    for found in row.calibrations:
        without = f" ({found.without} questions have none and are left out)" if found.without else ""
        several = [
            ("all, mean over tasks", str(found.n), "", found),
            *((t.task, str(t.n), str(t.positives), t) for t in found.tasks),
        ]
        cells = [
            [escaped(name), n, positives, *(plain(getattr(one, measure)) for measure in MEASURES)]
            for name, n, positives, one in several
        ]
        bins = [
            [f"{one.lo:.1f} to {one.hi:.1f}", str(one.n), number(one.probability, 3), number(one.positives, 3)]
            for one in found.bins
        ]
        sections += [
            f"P(YES) is {table.p_yes(row, found)}{without}.",
            markdown_table(["task", "n", "positives", *MEASURES.values()], cells),
            markdown_table(["P(YES)", "n", "mean P(YES)", "share of YES"], bins),
        ]
    return sections


def conduct(found: Behaviour) -> list[str]:
    """Return the sections about right and wrong answers, the tool's errors and the windows."""
    headings = ["mean per sample", "right", "wrong", "right minus wrong"]
    errors = [(escaped(kind), str(count)) for kind, count in found.tool_errors.items()]
    sections = ["## Right and wrong answers", markdown_table(headings, rows(found.contrasts)), "## Tool errors"]
    sections.append(markdown_table(["kind", "calls"], errors) if errors else "No call had an error.")
    if found.windows:
        sections += [
            "## Windows",
            f"Windows whose centres are nearest to the same multiple of {CENTRE:g} Å, and of about the same width, "
            "count as one. They are in Å, in the frame and medium (air or vacuum) in which the tool drew them. A "
            "feature is in a window if its principal wavelength is.",
        ]
    for task in found.windows:
        sections += _windows(task)
    return sections


def _windows(task: TaskWindows) -> list[str]:
    windows = [
        [
            f"{one.lo:.0f} to {one.hi:.0f}",
            str(one.zooms),
            _share(one.zooms, task.zooms),
            _share(one.right, one.zooms),
            escaped(", ".join(one.features)) or "–",
        ]
        for one in task.frequent
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
