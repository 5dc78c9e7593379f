"""Imports annotations: finds the item of each, and adds their answers as comments."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.language import tr, trn
from agent.text import whole_number
from reviewer.exchange.annotations.files import read_annotations
from reviewer.exchange.annotations.values import (
    ITEM_FIELD,
    KEY_FIELD,
    TOOL,
    Annotation,
    AnnotationProblem,
    AnnotationsError,
    LeftOut,
    Unusable,
    Why,
    shown,
)
from reviewer.store import Store
from reviewer.store.team.comments import LONGEST_TEXT
from reviewer.store.team.imported import ImportedComment

PART = 200
"""Comments per transaction."""
_PAUSE = 0.03
"""Seconds between two transactions, in which other people's writes get their turn."""

_NUMBER_FIELDS = (ITEM_FIELD, "item", "item_id")
_KEY_FIELDS = (KEY_FIELD, "key")
_NAME_FIELDS = ("name", "spectrum_name", "spectrum")


@dataclass(frozen=True)
class Choices:
    """How annotations are imported.

    :param people: initials by the author's name in the tool; the other authors are named in the comment only
    :param item_field: the field of a task that names its item; None: one of those that we write, or a usual name
    :param questions: only the answers to these; empty: to all
    :param skip_bad: import the rest if some annotations cannot be used; else none is imported then
    :param dry_run: check everything and write nothing
    """

    people: Mapping[str, str] = field(default_factory=dict)
    item_field: str | None = None
    questions: tuple[str, ...] = ()
    skip_bad: bool = False
    dry_run: bool = False


def author_of(text: str) -> tuple[str, str]:
    """Read AUTHOR=INITIALS, e.g. "ann@example.org=AB". :raises AnnotationsError: it is something else"""
    author, _, initials = text.rpartition("=")
    if not (author.strip() and initials.strip()):
        raise AnnotationsError(tr("found {found}, expected AUTHOR=INITIALS", found=repr(text)))
    return author.strip(), initials.strip().upper()


@dataclass
class ImportedAnnotations:
    """What an import did, or with ``dry_run`` would do.

    :param items: items that got a comment, in order
    :param known: annotations that were imported before
    :param left_out: number by reason
    :param refused: there are problems, so nothing was written
    """

    added: int = 0
    items: list[int] = field(default_factory=list)
    known: int = 0
    left_out: Counter[Why] = field(default_factory=Counter)
    problems: list[AnnotationProblem] = field(default_factory=list)
    refused: bool = False


def import_annotations(
    store: Store, files: Sequence[Path], choices: Choices, by: str | None = None
) -> ImportedAnnotations:
    """Check all files, then add each annotation that is new as a comment on its item.

    :param by: who imports them; None: the owner of the file, on the command line
    :raises AnnotationsError: a file is no export of Label Studio; nothing was written
    :raises NotAllowed: ``by`` is not active
    :raises NotFound: ``people`` names initials that nobody has
    """
    for initials in choices.people.values():
        store.accounts.person(initials)
    result = ImportedAnnotations()
    comments: dict[str, ImportedComment] = {}
    finder = _Finder(store, choices.item_field)
    for path in files:
        for annotation in read_annotations(path, choices.questions):
            if isinstance(annotation, LeftOut):
                result.left_out[annotation.why] += annotation.count
            elif isinstance(annotation, AnnotationProblem):
                result.problems.append(annotation)
            else:
                try:
                    imported = _comment(annotation, finder.item(annotation.fields), choices.people)
                except Unusable as bad:
                    result.problems.append(AnnotationProblem(path.name, annotation.place, str(bad)))
                    continue
                comments[imported.key] = imported
    known = store.imported_comments.known(comments)
    new = [comment for key, comment in comments.items() if key not in known]
    result.known = len(known)
    result.refused = bool(result.problems) and not choices.skip_bad
    if not result.refused:
        result.added = len(new) if choices.dry_run else _write(store, new, by)
        result.items = sorted({added_comment.item_id for added_comment in new})
    return result


def _write(store: Store, comments: Sequence[ImportedComment], by: str | None) -> int:
    added = 0
    for first in range(0, len(comments), PART):
        if first:
            time.sleep(_PAUSE)
        added += store.imported_comments.add(comments[first : first + PART], by)
    return added


def _comment(annotation: Annotation, item: int, people: Mapping[str, str]) -> ImportedComment:
    """Return an annotation as a comment. :raises Unusable: its text is too long"""
    text = annotation.text
    if len(text) > LONGEST_TEXT:
        raise Unusable(
            tr("found answers of {found} characters, expected {most} at most", found=len(text), most=LONGEST_TEXT)
        )
    # The order of the answers differs between the forms of one export.
    content = [TOOL, *annotation.ids, item, sorted(annotation.answers)]
    digest = hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()
    person = people.get(annotation.author)
    source = f"{TOOL}: {annotation.author}" if annotation.author else TOOL
    return ImportedComment(item, source, text, annotation.at, f"annotation:{digest}", person)


class _Finder:
    """Finds the item that the fields of a task name: by its key, its number, or the name of its spectrum."""

    def __init__(self, store: Store, item_field: str | None) -> None:
        self._store = store.imported_comments
        self._field = item_field
        self._items: dict[tuple[object, ...], int | Unusable] = {}

    def item(self, fields: Mapping[str, Any]) -> int:
        """Return the item's number. :raises Unusable: there is no such item, or several"""
        named = self._named(fields)
        if named not in self._items:
            try:
                self._items[named] = self._search(*named)
            except Unusable as bad:
                self._items[named] = bad
        number = self._items[named]
        if isinstance(number, Unusable):
            raise number
        return number

    def _named(self, fields: Mapping[str, Any]) -> tuple[str | None, int | None, str | None, str | None]:
        """Return key, number, name and task, as far as the fields have them."""
        task = _first(fields, ("task",))
        if self._field is not None:
            value = _first(fields, (self._field,))
            if value is None:
                raise Unusable(
                    tr(
                        "{field}: found {found}, expected the number, key or spectrum of an item",
                        field=self._field,
                        found=shown(fields.get(self._field)),
                    )
                )
            number = whole_number(value)
            if number is not None:
                return None, number, None, None
            is_key = self._store.item_of_key(value) is not None
            return (value, None, None, None) if is_key else (None, None, value, task)
        number = whole_number(_first(fields, _NUMBER_FIELDS) or "")
        return _first(fields, _KEY_FIELDS), number, _first(fields, _NAME_FIELDS), task

    def _search(self, key: str | None, number: int | None, name: str | None, task: str | None) -> int:
        """The key is the most certain: the same item has another number in another database."""
        if key is not None:
            of_key = self._store.item_of_key(key)
            if of_key is not None:
                return of_key
            raise Unusable(
                tr(
                    "found the key {key}…, which no item here has; if the tasks are of another database, import its "
                    "drafts first",
                    key=key[:16],
                )
            )
        if number is not None:
            if self._store.has_item(number):
                return number
            raise Unusable(tr("found item {item}, expected an item of this database", item=number))
        if name is None:
            raise Unusable(
                tr(
                    "found no item, expected one of the fields {fields} in the task's data or metadata; --item-field "
                    "names another one",
                    fields=", ".join((*_NUMBER_FIELDS, *_KEY_FIELDS, *_NAME_FIELDS)),
                )
            )
        items = self._store.items_named(name, task)
        if len(items) == 1:
            return items[0]
        if not items:
            raise Unusable(tr("found the spectrum {name}, expected one of an item of this database", name=shown(name)))
        raise Unusable(
            tr(
                "found the spectrum {name}, which several items have ({items}): expected the number of the item",
                name=shown(name),
                items=", ".join(f"#{item}" for item in items),
            )
        )


def _first(fields: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Return the first of these fields that has a text or a whole number."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return str(value).strip()
    return None


def in_words(result: ImportedAnnotations, dry_run: bool) -> list[str]:
    """Return one sentence per thing that the import did or left out."""
    bad = len(result.problems)
    if result.refused:
        return [
            trn(
                "Nothing was imported: {n} annotation cannot be used.",
                "Nothing was imported: {n} annotations cannot be used.",
                bad,
            )
        ]
    if dry_run:
        lines = [trn("{n} comment would be added.", "{n} comments would be added.", result.added)]
    else:
        lines = [trn("{n} comment added.", "{n} comments added.", result.added)]
    if result.known:
        lines.append(trn("{n} annotation was imported before.", "{n} annotations were imported before.", result.known))
    lines += [_left_out(why, count) for why, count in sorted(result.left_out.items())]
    if bad:
        lines.append(
            trn(
                "{n} annotation that cannot be used was skipped.",
                "{n} annotations that cannot be used were skipped.",
                bad,
            )
        )
    return lines


def _left_out(why: Why, n: int) -> str:
    match why:
        case "cancelled":
            return trn("{n} left out: skipped by its author.", "{n} left out: skipped by their authors.", n)
        case "draft":
            return trn(
                "{n} left out: a draft that was not submitted.", "{n} left out: drafts that were not submitted.", n
            )
        case "prediction":
            return trn("{n} left out: a prediction of a model.", "{n} left out: predictions of models.", n)
        case "empty":
            return trn("{n} left out: it has no answer.", "{n} left out: they have no answer.", n)
        case "other kind":
            return trn(
                "{n} answer left out: it is neither text nor choice, e.g. a rectangle.",
                "{n} answers left out: they are neither text nor choice, e.g. rectangles.",
                n,
            )
