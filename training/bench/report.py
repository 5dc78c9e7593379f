"""The report of one run: ``scores.json`` for programs, ``report.md`` for people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from agent.batch.journal import write_atomic
from agent.batch.report import escaped
from agent.batch.report import table as markdown_table
from training.bench import table
from training.bench.scores import Group, TaskScores, groups, number, percent
from training.bench.table import Row

SCORES, REPORT = "scores.json", "report.md"
SCHEMA = "spec-o3/bench/1"


def write(
    row: Row, settings: Mapping[str, Any], gallery: str = "", left_out: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Write both files into the folder of the run; return the content of ``scores.json``.

    :param gallery: the name of the gallery's file, "" if there is none
    :param left_out: labelled spectra that are missing or cannot be read, with the reason
    :raises JournalError: they cannot be written
    """
    parts = groups(row.outcomes)
    result = {
        "schema": SCHEMA,
        **row.to_json(),
        "left_out": dict(left_out),
        "settings": dict(settings),
        "groups": [{"by": part.by, "name": part.name, "scores": part.scores.to_json()} for part in parts],
    }
    write_atomic(row.path / SCORES, json.dumps(result, ensure_ascii=False, indent=2, allow_nan=False) + "\n")
    write_atomic(row.path / REPORT, markdown(row, parts, settings, gallery, left_out))
    return result


def markdown(
    row: Row,
    parts: Sequence[Group],
    settings: Mapping[str, Any],
    gallery: str = "",
    left_out: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return the report as Markdown."""
    scores = row.scores
    sections = [f"# {escaped(row.name)}"]
    if row.note:
        sections.append(f"> **{escaped(row.note)}**")
    if left_out:
        sections.append(f"**Labelled spectra that were left out: {len(left_out)} (below).**")
    sections += [
        f"{scores.n} questions about {scores.spectra} spectra ({escaped(row.data)}).",
        f"**Mean F1 {percent(scores.f1)} %**, mean accuracy {percent(scores.accuracy)} %.",
        escaped(table.MEANING),
        "## By task",
        _tasks(scores.tasks),
        "## Behaviour",
        markdown_table(["", ""], _conduct(row)),
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
    scores = row.scores
    found = [
        ("In the published form", percent(scores.format_rate)),
        ("Answered YES or NO, as the loop reads it", percent(scores.answer_rate)),
        ("Answered YES", percent(scores.yes_rate)),
        ("Mean F1 if the loop's reading were scored", percent(scores.f1_by_loop)),
        ("Tool calls, mean", number(scores.calls, 2)),
    ]
    if scores.errors is not None:
        found.append(("Calls that the tool answered with an error", f"{100 * scores.errors:.1f} %"))
    found.append(("Seconds per question, median", number(scores.seconds, 2)))
    if row.wall is not None:
        found.append(("Seconds per question of the whole run, many at a time", number(row.wall, 2)))
    if scores.prompt_tokens:
        tokens = f"{scores.prompt_tokens:,.0f} read, {scores.completion_tokens:,.0f} written"
        found.append(("Tokens per question, mean", tokens))
    return found


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
