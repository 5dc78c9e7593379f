"""Exports of Label Studio: JSON, JSON-MIN, CSV and TSV.

Read from the documentation and the source of Label Studio 1.x, and tried with the converter of its SDK 2.1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent.language import tr
from reviewer.exchange.annotations.values import (
    OUR_FIELDS,
    Annotation,
    AnnotationProblem,
    Answers,
    Found,
    LeftOut,
    Unusable,
    required,
    time_of,
)

_TOOL_COLUMNS = frozenset(
    ["id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement", "history"],
)
_DATA_COLUMN = "_data_"  # in front of a field of the task that has the name of a question


def is_task(row: Mapping[str, Any]) -> bool:
    """Return whether a row of a JSON list is a task of the JSON export; ``completions`` was its name before 1.0."""
    return isinstance(row.get("data"), dict) and ("annotations" in row or "completions" in row)


def is_minimal(row: Mapping[str, Any]) -> bool:
    """Return whether a row is an annotation of JSON-MIN, CSV or TSV."""
    return "annotation_id" in row and "annotator" in row


def of_task(file: str, row: Mapping[str, Any], number: int, questions: Sequence[str]) -> Iterator[Found]:
    """Yield the annotations of a task of the JSON export.

    :param number: of the row, from 1, for a task without an id
    :param questions: only these; empty: all
    """
    task = str(row.get("id") or number)
    place = tr("task {task}", task=task)
    for key, why in (("drafts", "draft"), ("predictions", "prediction")):
        others = row.get(key)
        if isinstance(others, list) and others:
            yield LeftOut(place, "draft" if why == "draft" else "prediction", len(others))
    annotations = row.get("annotations", row.get("completions"))
    if not isinstance(annotations, list):
        yield AnnotationProblem(file, place, tr("annotations: found no list, expected a list"))
        return
    for at, annotation in enumerate(annotations, start=1):
        name = str(annotation.get("id") or at) if isinstance(annotation, dict) else str(at)
        where = tr("task {task}, annotation {annotation}", task=task, annotation=name)
        try:
            yield from _of_annotation(where, (task, name), row["data"], annotation, questions)
        except Unusable as bad:
            yield AnnotationProblem(file, where, str(bad))


def _of_annotation(
    place: str, ids: tuple[str, str], data: Mapping[str, Any], annotation: object, questions: Sequence[str]
) -> Iterator[Annotation | LeftOut]:
    results = required(annotation, "result", list, tr("a list of results"))
    assert isinstance(annotation, dict)
    if annotation.get("was_cancelled") or annotation.get("skipped"):
        yield LeftOut(place, "cancelled")
        return
    answers, quoted = Answers(questions), _quoted_words(results)
    for result in results:
        name = required(result, "from_name", str, tr("the name of a question")) if _has_name(result) else ""
        answers.add(name or str(_kind(result)), _values(result, quoted))
    yield from answers.left_out(place)
    if answers.lines:
        at = time_of(annotation.get("updated_at") or annotation.get("created_at"), "updated_at")
        author = _author(annotation.get("completed_by"))
        yield Annotation(place, ids, data, author, at, tuple(answers.lines))


def _has_name(result: object) -> bool:
    # Relations between regions have none.
    return not isinstance(result, dict) or result.get("type") != "relation"


def _kind(result: object) -> object:
    return result.get("type") if isinstance(result, dict) else None


def _author(completed_by: object) -> str:
    """Return the e-mail address of a user, or the number if that is all that was exported."""
    if isinstance(completed_by, dict):
        completed_by = completed_by.get("email") or completed_by.get("id")
    return "" if completed_by is None else str(completed_by)


Region = tuple[str, ...]


def _regions_of(result: Mapping[str, Any]) -> list[Region]:
    """Return what identifies the region of a result: its id, and its place, which all results of a region repeat."""
    value = result.get("value")
    place = [str(value[name]) for name in _PLACE if name in value] if isinstance(value, dict) else []
    named = [("id", str(result["id"]))] if result.get("id") else []
    return [*named, *([("place", *place)] if len(place) > 1 else [])]


_PLACE = ("start", "end", "startOffset", "endOffset")


def _quoted_words(results: Sequence[object]) -> dict[Region, str]:
    """Return the words of the task's text that each region marks."""
    words_of: dict[Region, str] = {}
    for result in results:
        if isinstance(result, dict) and (words := _marked(result)):
            for region in _regions_of(result):
                words_of.setdefault(region, words)
    return words_of


def _marked(result: Mapping[str, Any]) -> str:
    """Return the words that a result itself quotes: ``text`` beside a place, except that of a text field."""
    value = result.get("value")
    if not isinstance(value, dict) or "start" not in value or _kind(result) == "textarea":
        return ""
    text = value.get("text")
    return text if isinstance(text, str) else ""


def _values(result: Mapping[str, Any], quoted: Mapping[Region, str]) -> list[str] | None:
    """Return the texts or choices of a result; None if it has neither, e.g. a rectangle.

    :param quoted: of ``_quoted_words``
    """
    value = result.get("value")
    if not isinstance(value, dict):
        return None
    answers = _answer(value, is_text=_kind(result) == "textarea")
    words = _marked(result) or next((quoted[region] for region in _regions_of(result) if region in quoted), "")
    # It is about a part of a text of the task.
    return [f"{', '.join(answers)} (“{words}”)"] if answers and words else answers


def _answer(value: Mapping[str, Any], is_text: bool = False) -> list[str] | None:
    for name in ("choices", "labels", "hypertextlabels", "paragraphlabels"):
        if isinstance(value.get(name), list):
            return [", ".join(map(str, value[name]))]
    if isinstance(value.get("taxonomy"), list):
        return [", ".join(" > ".join(map(str, path)) for path in value["taxonomy"] if isinstance(path, list))]
    for name in ("rating", "number", "datetime", "selected"):
        if isinstance(value.get(name), str | int | float):
            return [str(value[name])]
    # Beside the place of a region, a single text is what the region marks, and a list is what a person wrote.
    if "text" in value and (is_text or "start" not in value or isinstance(value["text"], list)):
        texts = value["text"] if isinstance(value["text"], list) else [value["text"]]
        return [str(text) for text in texts]
    return None


def of_minimal(file: str, row: Mapping[str, Any], number: int, questions: Sequence[str]) -> Iterator[Found]:
    """Yield the annotation of a row of JSON-MIN, CSV or TSV.

    The row does not say which of its columns are answers: all are that neither Label Studio nor we write, or the
    ``questions`` that are given. Skipped tasks, drafts and predictions are in no such file.
    """
    task, annotation = str(row.get("id") or number), str(row["annotation_id"] or number)
    place = tr("task {task}, annotation {annotation}", task=task, annotation=annotation)
    if not row["annotation_id"]:
        yield LeftOut(place, "empty")  # a task without annotations
        return
    answers, quoted = (
        Answers(questions),
        _quoted_words([{"value": item} for cell in row.values() for item in _items(cell)]),
    )
    for name, value in row.items():
        ours = name in OUR_FIELDS or name in _TOOL_COLUMNS or name.startswith(_DATA_COLUMN)
        if value not in (None, "", []) and (name in questions if questions else not ours):
            answers.add(name, _of_cell(value, quoted))
    yield from answers.left_out(place)
    if not answers.lines:
        return
    try:
        at = time_of(row.get("updated_at") or row.get("created_at"), "updated_at")
    except Unusable as bad:
        yield AnnotationProblem(file, place, str(bad))
        return
    author = "" if row["annotator"] is None else str(row["annotator"])
    yield Annotation(place, (task, annotation), row, author, at, tuple(answers.lines))


def _of_cell(cell: object, quoted: Mapping[Region, str]) -> list[str] | None:
    """Return the values of a cell: a plain text, or results as JSON where there are several or of other types."""
    texts: list[str] = []
    for item in _items(cell):
        values = _values({"value": item}, quoted) if isinstance(item, dict) else [str(item)]
        if values is None:
            return None
        texts += values
    return texts


def _items(cell: object) -> list[object]:
    """Return what a cell holds, from JSON if it is JSON."""
    if isinstance(cell, str) and cell[:1] in ("[", "{"):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            return [cell]
    return cell if isinstance(cell, list) else [cell]
