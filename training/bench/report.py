"""The report of one run: ``scores.json`` for programs, ``report.md`` for people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from agent.batch.report import escaped
from agent.json_lines import write_atomic
from agent.tables import markdown_table
from training.bench import report_sections, table
from training.bench.behaviour import Behaviour
from training.bench.parts import Group, groups
from training.bench.samples import sample_scores
from training.bench.scores import TaskScores, number, percent
from training.bench.table import Row

SCORES, REPORT = "scores.json", "report.md"
SCHEMA = "spec-o3/bench/1"


def write(
    row: Row,
    settings: Mapping[str, Any],
    gallery: str = "",
    left_out: Mapping[str, str] = MappingProxyType({}),
    behaviour: Behaviour | None = None,
) -> dict[str, Any]:
    """Write both files into the folder of the run; return the content of ``scores.json``.

    :param gallery: the name of the gallery's file, "" if there is none
    :param left_out: labelled spectra that are missing or cannot be read, with the reason
    :param behaviour: what the samples do, from the traces; None leaves its sections out
    :raises JournalError: they cannot be written
    """
    parts = groups(row.outcomes)
    result = {
        "schema": SCHEMA,
        **row.to_json(),
        "samples": sample_scores(row.samples).to_json() if row.samples else None,
        "behaviour": None if behaviour is None else behaviour.to_json(),
        "left_out": dict(left_out),
        "settings": dict(settings),
        "groups": [{"by": part.by, "name": part.name, "scores": part.scores.to_json()} for part in parts],
    }
    write_atomic(row.path / SCORES, json.dumps(result, ensure_ascii=False, indent=2, allow_nan=False) + "\n")
    write_atomic(row.path / REPORT, markdown(row, parts, settings, gallery, left_out, behaviour))
    return result


def markdown(
    row: Row,
    parts: Sequence[Group],
    settings: Mapping[str, Any],
    gallery: str = "",
    left_out: Mapping[str, str] = MappingProxyType({}),
    behaviour: Behaviour | None = None,
) -> str:
    """Return the report as Markdown."""
    own = row.scores
    sections = [f"# {escaped(row.name)}"]
    if row.note:
        sections.append(f"> **{escaped(row.note)}**")
    if left_out:
        sections.append(f"**Labelled spectra that were left out: {len(left_out)} (below).**")
    sections += [
        f"{own.n} questions about {own.spectra} spectra ({escaped(row.data)}).",
        f"**Mean F1 {percent(own.f1)} %**, mean accuracy {percent(own.accuracy)} %.",
        escaped(table.MEANING),
        "## By task",
        _tasks(own.tasks),
        *(report_sections.samples(row) if row.samples else ()),
        *report_sections.calibration(row),
        "## Behaviour",
        markdown_table(["", ""], _conduct(row)),
        *(report_sections.conduct(behaviour) if behaviour is not None else ()),
    ]
    for by in dict.fromkeys(part.by for part in parts):
        sections += [f"## By {by}", _groups([part for part in parts if part.by == by])]
    sections += ["## Comparison with the published figures", table.markdown([row]).rstrip()]
    if gallery:
        sections += ["## Failures", f"[{gallery}]({gallery}) shows them, with pictures and texts."]
    if left_out:
        rows = [(escaped(name), escaped(reason)) for name, reason in left_out.items()]
        sections += [f"## Left out: {len(rows)}", markdown_table(["spectrum", "why"], rows)]
    sections += ["## Data", "[data_card.md](data_card.md) counts the questions."]
    sections += ["## Repeating it", markdown_table(["", ""], _settings(settings))]
    return "\n\n".join(sections) + "\n"


def _tasks(tasks: Sequence[TaskScores]) -> str:
    headings = ["task", "n", "positives", "F1", "precision", "recall", "accuracy"]
    headings += ["TP", "FP", "FN", "TN", "no YES or NO"]
    rows = [
        [
            escaped(task.task),
            str(task.n),
            str(task.positives),
            *(percent(value) for value in (task.f1, task.precision, task.recall, task.accuracy)),
            *(str(count) for count in (task.tp, task.fp, task.fn, task.tn, task.without)),
        ]
        for task in tasks
    ]
    return markdown_table(headings, rows)


def _conduct(row: Row) -> list[tuple[str, str]]:
    own = row.scores
    lines = [
        ("In the published form", percent(own.format_rate)),
        ("Answered YES or NO, as the loop reads it", percent(own.answer_rate)),
        ("Answered YES", percent(own.yes_rate)),
        ("Mean F1 if the loop's reading were scored", percent(own.f1_by_loop)),
        ("Tool calls, mean", number(own.calls, 2)),
    ]
    if own.errors is not None:
        lines.append(("Calls that the tool answered with an error", f"{100 * own.errors:.1f} %"))
    lines.append(("Seconds per question, median", number(own.seconds, 2)))
    each = "sample" if row.samples else "question"
    if row.cost.wall is not None:
        lines.append((f"Seconds per {each} of the whole run, many at a time", number(row.cost.wall, 2)))
        gpu = row.cost.gpu_seconds_per_sample
        undefined = "undefined: number of GPUs not given (`--gpus`)"
        lines.append(("GPU-seconds per sample", undefined if gpu is None else number(gpu, 2)))
    if own.prompt_tokens:
        cached = f" ({own.cached_tokens:,.0f} of them cached)" if own.cached_tokens else ""
        tokens = f"{own.prompt_tokens:,.0f} read{cached}, {own.completion_tokens:,.0f} written"
        lines.append((f"Tokens per {each}, mean", tokens))
    return lines


def _groups(parts: Sequence[Group]) -> str:
    headings = [parts[0].by, "n", "mean F1", "of", "mean accuracy", "in form", "answered"]
    rows = [
        [
            escaped(part.name),
            str(part.scores.n),
            percent(part.scores.f1),
            escaped(", ".join(part.scores.f1_of)),
            *(percent(v) for v in (part.scores.accuracy, part.scores.format_rate, part.scores.answer_rate)),
        ]
        for part in parts
    ]
    return markdown_table(headings, rows)


def _settings(settings: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for key, value in settings.items():
        if isinstance(value, Mapping):
            rows += _settings(value, f"{before}{key}.")
        else:
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            rows.append((escaped(f"{before}{key}"), escaped(shown)))
    return rows
