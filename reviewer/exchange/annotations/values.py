"""An annotation as it is read from a file, and why one is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from agent.errors import Refusal
from agent.language import tr
from agent.text import one_line

TOOL = "Label Studio"
"""The program, as it stands in the source of a comment."""
Why = Literal["cancelled", "draft", "prediction", "empty", "other kind"]
"""Why an annotation is left out: its person skipped the task, has not submitted it, is a model, or gave no answer; or
its answer is no text and no choice."""

ITEM_FIELD, KEY_FIELD = "spec_o3_item", "spec_o3_key"
"""Fields of a task that name the item: its number and its key. ``tasks.py`` writes both."""
OUR_FIELDS = (ITEM_FIELD, KEY_FIELD, "name", "task", "question", "version", "trace", "link")
"""Fields of a task that ``tasks.py`` writes; in a table they are columns next to the answers."""


class AnnotationsError(Refusal):
    """A file or a choice with which nothing can be imported: which one, what was found, what was expected."""


@dataclass(frozen=True)
class AnnotationProblem:
    """An annotation that cannot be imported, e.g. because its item does not exist."""

    file: str
    place: str
    reason: str

    def __str__(self) -> str:
        return one_line(f"{self.file}: {self.place}: {self.reason}")


@dataclass(frozen=True)
class LeftOut:
    """Annotations that are left out: at which place, why, and how many."""

    place: str
    why: Why
    count: int = 1


@dataclass(frozen=True)
class Annotation:
    """One person's answers to one task.

    :param place: in the file, for messages, e.g. "task 12, annotation 3"
    :param ids: of the task and of the annotation, in the tool
    :param fields: data of the task, among them those that name the item
    :param author: as the tool names the person; empty if it does not
    :param at: when it was given; None: the tool does not say
    :param answers: (question, value) in the order of the tool
    """

    place: str
    ids: tuple[str, str]
    fields: Mapping[str, Any]
    author: str
    at: datetime | None
    answers: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """The comment: one line per answer; further lines of a long text are indented."""
        return "\n".join(f"{question}: {value}" for question, value in self.answers)


Found = Annotation | LeftOut | AnnotationProblem


class Unusable(Refusal):
    """A field of an annotation that cannot be used; the message says what was found and what was expected."""


@dataclass
class Answers:
    """Collects the answers of one annotation, without empty ones.

    :param questions: only these; empty: all
    """

    questions: Sequence[str] = ()
    lines: list[tuple[str, str]] = field(default_factory=list)
    others: int = 0

    def add(self, question: str, values: Sequence[str] | None) -> None:
        """Add what was answered to a question, one line per value; None: it is no text and no choice."""
        if self.questions and question not in self.questions:
            return
        if values is None:
            self.others += 1
            return
        lines = (clean(value) for value in values)
        self.lines += [(clean(question), line) for line in lines if line]

    def left_out(self, place: str) -> Iterator[LeftOut]:
        """Yield what was left out of the annotation, or the whole annotation if it has no answer."""
        if self.others:
            yield LeftOut(place, "other kind", self.others)
        elif not self.lines:
            yield LeftOut(place, "empty")


def clean(text: str) -> str:
    """Return text as the database takes it: without NUL and lone surrogates, indented after its first line."""
    kept = text.replace("\0", "").encode("utf-8", "replace").decode()
    return "\n  ".join(line.rstrip() for line in kept.strip().splitlines())


def time_of(value: object, name: str) -> datetime | None:
    """Read a time: ISO 8601, UTC if it names no zone, or milliseconds since 1970; None stays None.

    :raises Unusable: it is something else
    """
    if value is None or value == "":
        return None
    try:
        if isinstance(value, str):
            at = datetime.fromisoformat(value)
            return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    raise Unusable(
        tr("{field}: found {found}, expected a time such as 2026-11-21T12:00:00Z", field=name, found=shown(value))
    )


def shown(value: object) -> str:
    """Return a value from a file for a message."""
    return repr(value)[:60]


def required(row: object, name: str, kind: type[Any], expected: str) -> Any:
    """Return a field of a row. :raises Unusable: it is missing or of another type"""
    value = row.get(name) if isinstance(row, dict) else None
    if not isinstance(value, kind):
        raise Unusable(
            tr("{field}: found {found}, expected {expected}", field=name, found=shown(value), expected=expected)
        )
    return value
