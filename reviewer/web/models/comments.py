"""Answers about comments; what the person must not see yet is left out."""

from __future__ import annotations

from pydantic import Field

from reviewer.web.models import Answer, Time


class Colleague(Answer):
    """A person who can be mentioned in a comment."""

    initials: str
    name: str


class CommentSent(Answer):
    """A comment."""

    id: int
    person: str | None = Field(description="null: imported, and its author is no person of this database")
    source: str = Field(description="where an imported comment comes from; empty: written here")
    text: str
    at: Time


class CommentAdded(CommentSent):
    """A new comment; ``thread`` is the id of the first one of its thread."""

    thread: int


class ThreadResolved(Answer):
    """Who resolved a thread, and when."""

    person: str | None
    at: Time


class CommentThread(Answer):
    """A thread about an item or one of its steps."""

    id: int
    step: str = Field(description="empty: it is about the whole item")
    version: int = Field(description="id of the version when it was begun")
    number: int = Field(description="number of that version")
    resolved: bool
    resolved_by: ThreadResolved | None
    comments: list[CommentSent]


class Discussion(Answer):
    """The comments of an item, as one person may see them."""

    threads: list[CommentThread]
    hidden: int = Field(description="number of comments by others that the person may not see yet")
    read: int = Field(description="the last comment that the person was shown; 0: none")
    people: list[Colleague]


class ThreadState(Answer):
    """Whether a thread is resolved."""

    resolved: bool


class LastRead(Answer):
    """The last comment that is read; 0: none."""

    comment: int


class UnreadItem(Answer):
    """An unread comment with its item; while it is hidden, only that there is one."""

    item: int
    name: str
    comment: int
    person: str | None
    text: str
    at: Time | None
    mentioned: bool
    hidden: bool


class UnreadComments(Answer):
    """The newest unread comments, the number of all, and the newest comment on any item."""

    items: list[UnreadItem]
    total: int
    newest: int
