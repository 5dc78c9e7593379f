"""What a list of found items shows of each: snippets of the texts that match, assignments, and comments."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from reviewer.store.accounts import find_person
from reviewer.store.sqlite.database import Database, Transaction
from reviewer.store.sqlite.texts import COMMENT, DECISION, MARK, Spans, hits, search_expression, trace_parts
from reviewer.store.team.unread import UNREAD
from reviewer.store.team.words import Seen
from reviewer.store.values import QueueFilter

MOST_SNIPPETS = 3
"""Snippets of an item."""
_LENGTH, _BEFORE = 200, 60
"""Characters of a snippet, and of those at most before its first hit."""

_CHOSEN = "s.item IN (SELECT value FROM json_each(:items))"
_OWN_COMMENT = "iif(r.source = '', r.person, NULL)"


@dataclass(frozen=True)
class Snippet:
    """A part of a text that matches a search.

    :param where: the trace, or a remark: a comment, the comment of a decision, or the note of a mark
    :param step: the step that it is about; "": none
    :param hits: start and end of each hit in ``text``, in characters
    """

    where: Literal["trace", "comment"]
    step: str
    text: str
    hits: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Shared:
    """What people do together on an item.

    :param assigned: the people to whom it is assigned
    :param comments: number of comments, those counted that the person may not see yet
    :param unread: there is a comment that the person has not read
    """

    assigned: tuple[str, ...] = ()
    comments: int = 0
    unread: bool = False


@dataclass(frozen=True)
class _Document:
    """A text of the index, in its parts with their steps."""

    item: int
    where: Literal["trace", "comment"]
    parts: Sequence[tuple[str, str]]

    @property
    def text(self) -> str:
        return "\n".join(text for _, text in self.parts)


@dataclass
class _Found:
    trace: list[Snippet] = field(default_factory=list)
    remarks: list[Snippet] = field(default_factory=list)

    def chosen(self) -> tuple[Snippet, ...]:
        """Return the first snippets; a remark is among them if one matches."""
        trace = self.trace[: MOST_SNIPPETS - min(len(self.remarks), 1)]
        return (*trace, *self.remarks[: MOST_SNIPPETS - len(trace)])


class Finding:
    """Reads what is shown of items in a list."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def snippets(self, filter: QueueFilter, person: str, items: Sequence[int]) -> dict[int, tuple[Snippet, ...]]:
        """Return snippets of the texts of these items that match the words of a filter, of those the person may see.

        :raises NotFound: unknown initials
        :raises BadSearch: nothing can be searched for with the words
        """
        expression = search_expression(filter.words)
        with self._database.read() as db:
            documents = _documents(db, Seen(find_person(db, person), filter.verdict_first), items)
        matches: dict[int, _Found] = {}
        for document, spans in zip(documents, hits(expression, [document.text for document in documents]), strict=True):
            of_item = matches.setdefault(document.item, _Found())
            (of_item.trace if document.where == "trace" else of_item.remarks).extend(_snippets(document, spans))
        return {item: match.chosen() for item, match in matches.items()}

    def shared(self, person: str, items: Sequence[int]) -> dict[int, Shared]:
        """Return what people do together on each of these items.

        :param person: initials, for ``Shared.unread``
        """
        values = {"items": json.dumps(list(items)), "person": person}
        with self._database.read() as db:
            assigned: dict[int, list[str]] = {}
            rows = f"SELECT s.item, s.person FROM assigned s WHERE {_CHOSEN} ORDER BY 1, 2"
            for item, initials in db.execute(rows, values):
                assigned.setdefault(item, []).append(initials)
            counts = (
                f"SELECT c.item, count(*), max({UNREAD}) FROM comments c "
                "WHERE c.item IN (SELECT value FROM json_each(:items)) AND c.kind = 'comment' GROUP BY c.item"
            )
            comments = {item: (number, bool(unread)) for item, number, unread in db.execute(counts, values)}
        return {item: Shared(tuple(assigned.get(item, ())), *comments.get(item, (0, False))) for item in items}


def _documents(db: Transaction, seen: Seen, items: Sequence[int]) -> list[_Document]:
    values = {**seen.values, "items": json.dumps(list(items))}
    traces = f"SELECT s.item, v.body FROM standings s JOIN versions v ON v.id = s.version WHERE {_CHOSEN}"
    documents = [
        _Document(item, "trace", trace_parts(json.loads(body)))
        for item, body in db.execute(f"{traces} AND {seen.trace}", values)
    ]
    for kind, table, step, text, author in (
        (COMMENT, "comments", "r.step", "r.text", _OWN_COMMENT),
        (DECISION, "decisions", "''", "r.comment", "r.person"),
        (MARK, "marks", "r.step", "r.note", "r.person"),
    ):
        remarks = (
            f"SELECT s.item, {step}, {text} FROM {table} r JOIN standings s ON s.item = r.item "
            f"WHERE {_CHOSEN} AND {text} <> '' AND {seen.remark(str(kind), author)} ORDER BY r.id"
        )
        documents += [_Document(item, "comment", ((at, remark),)) for item, at, remark in db.execute(remarks, values)]
    return documents


def _snippets(document: _Document, spans: Spans) -> list[Snippet]:
    """Return a snippet of each part that has a hit."""
    snippets = []
    begin = 0
    for step, text in document.parts:
        end = begin + len(text)
        own = [(start - begin, min(stop, end) - begin) for start, stop in spans if begin <= start < end]
        if own:
            snippets.append(Snippet(document.where, step, *_excerpt(text, own)))
        begin = end + 1
    return snippets


def _excerpt(text: str, spans: Spans) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the part of a text around its first hit, and the hits in it."""
    first = spans[0][0]
    begin = max(0, first - _BEFORE)
    if begin:
        space = text.find(" ", begin, first)
        begin = begin if space < 0 else space + 1
    end = min(len(text), begin + _LENGTH)
    if end < len(text):
        space = text.rfind(" ", spans[0][1], end)
        end = end if space < 0 else space
    end = max(end, spans[0][1])
    before, after = "… " if begin else "", " …" if end < len(text) else ""
    shift = len(before) - begin
    inside = tuple((start + shift, stop + shift) for start, stop in spans if stop <= end)
    return f"{before}{text[begin:end]}{after}", inside
