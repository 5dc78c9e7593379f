"""Comments: what people say about an item or a step, in threads that can be resolved and opened again.

Comments need no lease and do not change a standing. Who may still judge an item independently is shown no comments by
others of that round, only their number.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Literal

from agent.language import tr
from reviewer.rules.workflow import Standing, judges_independently
from reviewer.store.accounts import find_person, require_active
from reviewer.store.blind.scoring import hidden_items, refuse_withheld
from reviewer.store.errors import KeyReused, NotAllowed, NotFound
from reviewer.store.history import History, version_by_id
from reviewer.store.queue import read_rows
from reviewer.store.sqlite.database import Database, Transaction, insert, stamp
from reviewer.store.sqlite.texts import COMMENT, index_remark
from reviewer.store.team.mentions import add_mentions
from reviewer.store.team.unread import ALL_UNREAD, items_of_part
from reviewer.store.values import QueueRow

LONGEST_TEXT = 20_000
"""Characters of a comment."""
CommentKind = Literal["comment", "resolved", "reopened"]

_ROUNDS = ("screening", "revision", "audit", "vote", "adjudication", "")
"""Rounds of a version in their order; "": decided."""

_COMMENT = "SELECT c.*, v.number FROM comments c JOIN versions v ON v.id = c.version"
_OF_ITEM = f"{_COMMENT} WHERE c.item = ? ORDER BY c.id"
_UNREAD = f"SELECT c.id, c.item FROM {ALL_UNREAD} ORDER BY c.id DESC"


@dataclass(frozen=True)
class Comment:
    """A comment, or the fact that a thread was resolved or reopened (``kind``).

    :param version_id: the current version when it was written; ``version`` is its number
    :param step: step of that version; "": about the whole item
    :param thread: id of the first comment of the thread, its own for the first
    :param round: round of the item when it was written; "": the item was decided or withdrawn
    :param person: initials; None: imported, and the author is no person of this database
    :param source: where an imported comment comes from, with the author's name there; "": written here
    """

    id: int
    item_id: int
    version_id: int
    version: int
    step: str
    thread: int
    kind: CommentKind
    round: str
    person: str | None
    source: str
    text: str
    at: datetime


@dataclass(frozen=True)
class Thread:
    """A thread about an item or about a step of a version, with the comments that the person may see.

    :param resolved: who resolved it, and when; None: it is open
    """

    id: int
    version_id: int
    version: int
    step: str
    comments: tuple[Comment, ...]
    resolved: Comment | None


@dataclass(frozen=True)
class Discussion:
    """The threads of an item, oldest first, for one person.

    :param hidden: number of comments by others that the person may not see yet
    :param read: id of the last comment that the person was shown; 0: none
    """

    threads: tuple[Thread, ...]
    hidden: int
    read: int


@dataclass(frozen=True)
class UnreadComment:
    """An unread comment with the row of its item.

    :param mentioned: it mentions the person
    :param hidden: the person may not see it yet
    """

    comment: Comment
    row: QueueRow
    mentioned: bool
    hidden: bool


@dataclass(frozen=True)
class Unread:
    """The newest unread comments of a person, the number of all, and the id of the newest comment on any item."""

    comments: tuple[UnreadComment, ...]
    total: int
    newest: int


class Comments:
    """Threads of comments, and how far each person has read.

    ``answer_hidden`` says that the answer of the item is hidden from the person until they give their own verdict;
    then they are shown no comment by others.
    """

    def __init__(self, database: Database, history: History) -> None:
        self._database = database
        self._history = history

    def add(
        self,
        *,
        person: str,
        item_id: int,
        text: str,
        key: str,
        step: str = "",
        version_id: int | None = None,
        thread: int | None = None,
        answer_hidden: bool = False,
    ) -> Comment:
        """Add a comment, and mark those before it as read. The same key again changes nothing.

        :param step: the step that a new thread is about; a reply belongs to the step of its thread
        :param version_id: the version that the person sees, None: the current one; only a new thread about a step
            depends on it
        :param thread: the thread that this replies to; None: it begins a thread
        :raises NotAllowed: the text is empty or too long, the step was changed since that version, or the person is
            not active or scores the item blind
        :raises NotFound: the item has no such version or thread, the version no such step; or the thread is hidden
            from the person
        :raises KeyReused: the key was used for another comment
        """
        text = _checked(text)
        with self._database.write() as db:
            values = {"item": item_id, "person": person, "text": text, "source": "", "thread": thread}
            if (repeated := _of_key(db, key, values)) is not None:
                return repeated
            require_active(db, person)
            refuse_withheld(db, person, item_id)
            now = self._history.standing(db, item_id)
            if thread is not None:
                step = _require_thread(db, item_id, thread, self._hiding(db, now, person, answer_hidden))[0].step
            elif step:
                _require_step(db, item_id, now.version_id, version_id, step)
            elif version_id is not None:
                version_by_id(db, item_id, version_id)
            number = _append(db, {**values, "key": key, "step": step, "at": stamp(self._database.now())}, now)
            details = {"version": now.version_id, "step": step, "thread": thread}
            self._database.log(db, person, "commented", f"item {item_id}", details, {"comments": number})
            self._read_up_to(db, person, item_id, number, answer_hidden)
            return _by_id(db, number)

    def set_resolved(
        self, *, person: str, item_id: int, thread: int, resolved: bool, key: str, answer_hidden: bool = False
    ) -> None:
        """Resolve a thread, or open it again; nothing happens if the person sees it so already.

        :raises NotAllowed: the person is not active, or scores the item blind
        :raises NotFound: the item has no such thread, or it is hidden from the person
        :raises KeyReused: the key was used for another thread
        """
        kind: CommentKind = "resolved" if resolved else "reopened"
        with self._database.write() as db:
            values = {"item": item_id, "person": person, "thread": thread, "kind": kind}
            if _of_key(db, key, values) is not None:
                return
            require_active(db, person)
            refuse_withheld(db, person, item_id)
            now = self._history.standing(db, item_id)
            rows = _require_thread(db, item_id, thread, self._hiding(db, now, person, answer_hidden))
            if (_thread(rows[0], rows).resolved is not None) == resolved:
                return
            step = rows[0].step
            at = stamp(self._database.now())
            number = _append(db, {**values, "key": key, "step": step, "source": "", "text": "", "at": at}, now)
            self._database.log(
                db, person, f"thread {kind}", f"item {item_id}", {"thread": thread}, {"comments": number}
            )

    def read(self, *, person: str, item_id: int, comment: int, answer_hidden: bool = False) -> int:
        """Mark the comments of an item as read up to this one, but none that the person may not see yet.

        :return: the last comment that is read now; 0: none
        :raises NotFound: there is no such item
        """
        with self._database.write() as db:
            require_active(db, person)
            refuse_withheld(db, person, item_id)
            return self._read_up_to(db, person, item_id, comment, answer_hidden)

    def of_item(self, item_id: int, person: str, answer_hidden: bool = False) -> Discussion:
        """Return the threads of an item as one person may see them.

        :raises NotFound: there is no such item or person
        """
        with self._database.read() as db:
            hides = self._hiding(db, self._history.standing(db, item_id), person, answer_hidden)
            rows = [_comment_from(row) for row in db.execute(_OF_ITEM, (item_id,))]
            shown = [row for row in rows if not hides(row)]
            hidden = sum(row.kind == "comment" for row in rows) - sum(row.kind == "comment" for row in shown)
            first = {row.id: row for row in rows}
            return Discussion(_threads(shown, first), hidden, _read(db, person, item_id))

    def unread(self, person: str, limit: int = 50) -> Unread:
        """Return the newest unread comments of a person. Items that they score blind are left out."""
        with self._database.read() as db:
            rules, withheld = self._history.current_rules(db)[1], hidden_items(db, person)
            values = {"person": person, "part": items_of_part(db, person)}
            numbers = [n for n, item in db.execute(_UNREAD, values) if item not in withheld]
            latest = [_by_id(db, number) for number in numbers[:limit]]
            items = sorted({comment.item_id for comment in latest})
            lines = {r.item_id: r for r in read_rows(db, items, rules, stamp(self._database.steady()))}
            hides = {
                item: self._hiding(db, self._history.standing(db, item), person)
                for item in items
                if lines[item].state in ("audit", "vote")
            }
            mentions = {number for (number,) in db.execute("SELECT comment FROM mentions WHERE person = ?", (person,))}
            comments = tuple(
                UnreadComment(
                    remark,
                    lines[remark.item_id],
                    remark.id in mentions,
                    remark.item_id in hides and hides[remark.item_id](remark),
                )
                for remark in latest
            )
            return Unread(comments, len(numbers), self._last(db))

    def _hiding(
        self, db: Transaction, now: Standing, person: str, answer_hidden: bool = False
    ) -> Callable[[Comment], bool]:
        """Return what says of a comment on the item of this standing whether it is hidden from a person."""
        judging = judges_independently(now, self._history.current_rules(db)[1], find_person(db, person))
        return partial(_hidden, now=now, person=person, judging=judging, answer_hidden=answer_hidden)

    @staticmethod
    def _last(db: Transaction) -> int:
        return int(db.execute("SELECT coalesce(max(id), 0) FROM comments").fetchone()[0])

    def _read_up_to(self, db: Transaction, person: str, item_id: int, comment: int, answer_hidden: bool) -> int:
        hides = self._hiding(db, self._history.standing(db, item_id), person, answer_hidden)
        last = 0
        for row in db.execute(_OF_ITEM, (item_id,)):
            stored = _comment_from(row)
            if stored.id > comment or hides(stored):
                break
            last = stored.id
        if last > _read(db, person, item_id):
            db.execute(
                "INSERT INTO comment_reads VALUES (?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET comment = excluded.comment, at = excluded.at",
                (person, item_id, last, stamp(self._database.now())),
            )
        return _read(db, person, item_id)


def append_imported(
    db: Transaction, history: History, item_id: int, source: str, text: str, at: datetime, key: str, person: str | None
) -> int:
    """Append a comment from another program as a thread of its own, in a transaction of the caller, who logs its row;
    return its id. ``ImportedComment`` describes the values; the key is new.

    :raises NotAllowed: the text is empty or too long, or the source is missing
    :raises NotFound: there is no such item or person
    """
    text, source = _checked(text), source.strip()
    if not source:
        raise NotAllowed(tr("An imported comment needs a source, e.g. the program and the author's name there."))
    if person is not None:
        find_person(db, person)
    row = {"key": key, "item": item_id, "person": person, "text": text, "source": source, "at": stamp(at)}
    return _append(db, {**row, "thread": None, "step": ""}, history.standing(db, item_id))


def _checked(text: str) -> str:
    text = text.strip()
    if not text:
        raise NotAllowed(tr("A comment needs a text."))
    if len(text) > LONGEST_TEXT:
        raise NotAllowed(
            tr(
                "The comment has {found} characters; a comment has {most} at most. Shorten it, or send it in parts.",
                found=len(text),
                most=LONGEST_TEXT,
            )
        )
    return text


def _of_key(db: Transaction, key: str, values: Mapping[str, object]) -> Comment | None:
    """Return the comment that has this key. :raises KeyReused: it has other values"""
    row = db.execute(f"{_COMMENT} WHERE c.key = ?", (key,)).fetchone()
    if row is not None and any(row[name] != value for name, value in values.items()):
        raise KeyReused(tr("The key {key!r:.60} belongs to another comment.", key=key))
    return None if row is None else _comment_from(row)


def _append(db: Transaction, values: Mapping[str, object], now: Standing) -> int:
    """Append a row, and derive its mentions and its part of the search."""
    row = {"kind": "comment", **values, "version": now.version_id, "round": now.round or ""}
    number = insert(db, "comments", row)
    text, item_id = str(row["text"]), int(str(row["item"]))
    index_remark(db, COMMENT, number, text)
    add_mentions(db, number, item_id, text)
    return number


def _require_thread(
    db: Transaction, item_id: int, thread: int, hides: Callable[[Comment], bool]
) -> tuple[Comment, ...]:
    """Return the first comment of a thread and all that follow it that are not hidden.

    :raises NotFound: the item has no such thread, or all its comments are hidden
    """
    rows = [row for row in map(_comment_from, db.execute(_OF_ITEM, (item_id,))) if row.thread == thread]
    shown = [row for row in rows if not hides(row)]
    if not _has_comment(shown):
        raise NotFound(tr("Item {item} has no thread {thread}.", item=item_id, thread=thread))
    return (rows[0], *(comment for comment in shown if comment.id != thread))


def _require_step(db: Transaction, item_id: int, current: int, seen: int | None, step: str) -> None:
    """Check that the current version has a step as the person has seen it. :raises NotFound, NotAllowed: it has not"""
    version = version_by_id(db, item_id, current if seen is None else seen)
    now = version if version.id == current else version_by_id(db, item_id, current)
    named = next((candidate for candidate in version.trajectory.steps if candidate.id == step), None)
    if named is None:
        raise NotFound(
            tr(
                "Version {version} of item {item} has no step {step}.",
                version=version.number,
                item=item_id,
                step=repr(step)[:20],
            )
        )
    if named not in now.trajectory.steps:
        raise NotAllowed(
            tr(
                "This step was changed in version {current}, and you see version {seen}. Nothing was saved: read the "
                "new text, then send the comment again.",
                current=now.number,
                seen=version.number,
            )
        )


def _read(db: Transaction, person: str, item_id: int) -> int:
    row = db.execute("SELECT comment FROM comment_reads WHERE person = ? AND item = ?", (person, item_id)).fetchone()
    return 0 if row is None else int(row["comment"])


def _hidden(comment: Comment, now: Standing, person: str, judging: bool, answer_hidden: bool) -> bool:
    """Return whether a comment is hidden from a person.

    Others' comments are if the person may still judge the item independently and they were written on this version in
    the present round (or a later one, before an undo); like the decisions of earlier rounds, earlier comments are not.
    """
    if comment.person == person and not comment.source:
        return False
    if answer_hidden:
        return True
    since = comment.version_id == now.version_id and _ROUNDS.index(comment.round) >= _ROUNDS.index(now.round or "")
    return judging and since


def _threads(shown: Sequence[Comment], first: dict[int, Comment]) -> tuple[Thread, ...]:
    rows: dict[int, list[Comment]] = {}
    for comment in shown:
        rows.setdefault(comment.thread, []).append(comment)
    return tuple(_thread(first[number], rows[number]) for number in sorted(rows) if _has_comment(rows[number]))


def _has_comment(rows: Iterable[Comment]) -> bool:
    return any(row.kind == "comment" for row in rows)


def _thread(first: Comment, rows: Sequence[Comment]) -> Thread:
    changes = [row for row in rows if row.kind != "comment"]
    return Thread(
        id=first.id,
        version_id=first.version_id,
        version=first.version,
        step=first.step,
        comments=tuple(row for row in rows if row.kind == "comment"),
        resolved=changes[-1] if changes and changes[-1].kind == "resolved" else None,
    )


def _by_id(db: Transaction, number: int) -> Comment:
    return _comment_from(db.execute(f"{_COMMENT} WHERE c.id = ?", (number,)).fetchone())


def _comment_from(row: sqlite3.Row) -> Comment:
    return Comment(
        id=row["id"],
        item_id=row["item"],
        version_id=row["version"],
        version=row["number"],
        step=row["step"],
        thread=row["thread"] or row["id"],
        kind=row["kind"],
        round=row["round"],
        person=row["person"],
        source=row["source"],
        text=row["text"],
        at=datetime.fromisoformat(row["at"]),
    )
