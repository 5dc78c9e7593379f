"""Records of Argilla: ``records.to_json`` and ``to_list`` of Argilla 2, and the records of Argilla 1.

Read from the source of Argilla 1.x (``client/models.py``, ``client/feedback``), and tried with Argilla 2.8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent.language import tr
from agent.text import whole_number
from reviewer.exchange.annotations.values import (
    ITEM_FIELD,
    Annotation,
    AnnotationProblem,
    Answers,
    Found,
    LeftOut,
    Unusable,
    shown,
    time_of,
)

_RESPONSES, _USERS, _STATUS = ".responses", ".responses.users", ".responses.status"
_OF_OURS = re.compile(r"spec-o3-(\d+)")
OLD_QUESTION = "annotation"


def record_id(item: int) -> str:
    """Return the id of the record of an item, which Argilla keeps even if its metadata are lost."""
    return f"spec-o3-{item}"


def is_record(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a record of Argilla."""
    nested = isinstance(row.get("fields"), dict) and "responses" in row
    return nested or any(str(name).endswith(_RESPONSES) for name in row) or "annotation_agent" in row


def of_record(file: str, row: Mapping[str, Any], number: int, questions: Sequence[str]) -> Iterator[Found]:
    """Yield the answers of each user to a record.

    :param number: of the row, from 1, for a record without an id
    :param questions: only these; empty: all
    """
    record = str(row.get("id") or row.get("external_id") or number)
    place = tr("record {record}", record=record)
    try:
        if "annotation_agent" in row:
            yield from _old(place, record, row, questions)
            return
        for user, (status, values) in _by_user(row).items():
            where = tr("record {record}, user {user}", record=record, user=user)
            yield from _of_user(where, (record, user), row, status, values, questions)
    except Unusable as bad:
        yield AnnotationProblem(file, place, str(bad))


_Given = tuple[str, list[tuple[str, object]]]  # status, and (question, value)


def _by_user(row: Mapping[str, Any]) -> dict[str, _Given]:
    """Return the answers by user, in any of the forms."""
    found: dict[str, _Given] = {}

    def add(user: object, status: object, question: str, value: object) -> None:
        _, values = found.setdefault(str(user or ""), (str(status or ""), []))
        values.append((question, value))

    responses = row.get("responses")
    if isinstance(responses, dict):  # Argilla 2, nested
        for question, answers in responses.items():
            for answer in _dicts(answers, f"responses.{question}"):
                add(answer.get("user_id"), answer.get("status"), question, answer.get("value"))
    elif isinstance(responses, list):  # FeedbackRecord of Argilla 1
        for response in _dicts(responses, "responses"):
            values = response.get("values")
            if not isinstance(values, dict):
                raise Unusable(tr("responses.values: found {found}, expected answers by question", found=shown(values)))
            for question, answer in values.items():
                value = answer.get("value") if isinstance(answer, dict) else answer
                add(response.get("user_id"), response.get("status"), question, value)
    for name in row:
        if not name.endswith(_RESPONSES):
            continue
        question = name.removesuffix(_RESPONSES)  # Argilla 2, flat
        values, users, states = (row.get(f"{question}{end}") or [] for end in (_RESPONSES, _USERS, _STATUS))
        if not all(isinstance(part, list) for part in (values, users, states)) or len(users) != len(values):
            raise Unusable(tr("{field}: found lists of different lengths, expected one user per answer", field=name))
        for at, value in enumerate(values):
            add(users[at], states[at] if at < len(states) else None, question, value)
    return found


def _dicts(values: object, name: str) -> list[dict[str, Any]]:
    if values is None:
        return []
    found = [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []
    if not isinstance(values, list) or len(found) != len(values):
        raise Unusable(tr("{field}: found {found}, expected a list of answers", field=name, found=shown(values)))
    return found


def _of_user(
    place: str,
    ids: tuple[str, str],
    row: Mapping[str, Any],
    status: str,
    values: list[tuple[str, object]],
    questions: Sequence[str],
) -> Iterator[Found]:
    if status in ("draft", "discarded"):
        yield LeftOut(place, "draft" if status == "draft" else "cancelled")
        return
    answers = Answers(questions)
    for question, value in values:
        answers.add(question, _texts(value))
    yield from answers.left_out(place)
    if answers.found:
        # Argilla does not export when an answer was given.
        given = tuple(answers.found)
        yield Annotation("Argilla", place, ids, _fields(row), ids[1], None, given, submitted=bool(status))


def _old(place: str, record: str, row: Mapping[str, Any], questions: Sequence[str]) -> Iterator[Found]:
    """A record of the data sets of Argilla 1 for classification and text."""
    if row.get("prediction"):
        yield LeftOut(place, "prediction")
    if row.get("status") == "Discarded":
        yield LeftOut(place, "cancelled")
        return
    if row.get("annotation") in (None, "", []):
        return
    answers = Answers(questions)
    answers.add(OLD_QUESTION, _texts(row["annotation"]))
    yield from answers.left_out(place)
    if answers.found:
        at = time_of(row.get("event_timestamp"), "event_timestamp")
        agent = str(row["annotation_agent"] or "")
        yield Annotation("Argilla", place, (record, agent), _fields(row), agent, at, tuple(answers.found))


def _texts(value: object) -> list[str] | None:
    """Return an answer in words: a text, a number, labels, a ranking, or spans of a text."""
    if value is None:
        return []
    if isinstance(value, str | int | float):
        return [str(value)]
    if not isinstance(value, list):
        return None
    parts = [_part(one) for one in value]
    return None if None in parts else [", ".join(part for part in parts if part)]


def _part(one: object) -> str | None:
    if isinstance(one, str | int | float):
        return str(one)
    if isinstance(one, dict) and "rank" in one:
        return f"{one['rank']}. {one.get('value')}"
    if isinstance(one, dict) and {"label", "start", "end"} <= one.keys():
        return f"{one['label']} ({one['start']} – {one['end']})"
    if isinstance(one, list | tuple) and len(one) == 3:
        return f"{one[0]} ({one[1]} – {one[2]})"
    return None


def _fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return all that may name the item: metadata, fields, columns of a flat record, and our own id."""
    nested = [part for name in ("fields", "metadata") if isinstance(part := row.get(name), dict)]
    flat = {name: value for name, value in row.items() if isinstance(value, str | int)}
    named = {name: value for part in [flat, *nested] for name, value in part.items()}
    ours = _OF_OURS.fullmatch(str(row.get("id") or row.get("external_id") or ""))
    if ours and ITEM_FIELD not in named:
        named[ITEM_FIELD] = whole_number(ours[1])
    return named
