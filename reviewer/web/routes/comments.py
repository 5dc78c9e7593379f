"""Routes of comments: the threads of an item, and what is unread. Who may see what is the store's rule."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from reviewer.store import Thread
from reviewer.store.team.comments import UnreadComment
from reviewer.web.context import ContextDep, PersonDep
from reviewer.web.models import comments as answers
from reviewer.web.requests import ItemNumber, Key, Sent, Text
from reviewer.web.verdict_first import VerdictFirstDep, neutral_name
from reviewer.web.visibility import require_visible

router = APIRouter(prefix="/api/v1", dependencies=[Depends(require_visible)])


class Commented(Sent):
    """A comment. ``step``: a new thread about this step of ``version``; ``thread``: a reply in this thread."""

    text: Text
    key: Key
    step: Annotated[str, Field(max_length=40)] = ""
    version: ItemNumber | None = None
    thread: ItemNumber | None = None


class ThreadChanged(Sent):
    resolved: bool
    key: Key


class ReadUpTo(Sent):
    comment: int


def _answer_hidden(context: ContextDep, first: VerdictFirstDep, item_id: int) -> bool:
    """Return whether the person has to give their own verdict first. :raises NotFound: there is no such item"""
    return first.hides(context.store.items.get(item_id).row)


HiddenDep = Annotated[bool, Depends(_answer_hidden)]


@router.get("/item/{item_id}/comments")
def comments(person: PersonDep, context: ContextDep, item_id: int, answer_hidden: HiddenDep) -> answers.Discussion:
    """The threads of an item, and the people who can be mentioned in them."""
    discussion = context.store.comments.of_item(item_id, person.initials, answer_hidden)
    return answers.Discussion(
        threads=[_thread(thread) for thread in discussion.threads],
        hidden=discussion.hidden,
        read=discussion.read,
        people=[answers.Colleague.model_validate(other) for other in context.store.accounts.people() if other.active],
    )


@router.post("/item/{item_id}/comments")
def comment(
    person: PersonDep, context: ContextDep, item_id: int, sent: Commented, answer_hidden: HiddenDep
) -> answers.CommentAdded:
    """Comment on an item or one of its steps, or reply in a thread; ``@AB`` mentions a person."""
    added = context.store.comments.add(
        person=person.initials,
        item_id=item_id,
        text=sent.text,
        key=sent.key,
        step=sent.step,
        version_id=sent.version,
        thread=sent.thread,
        answer_hidden=answer_hidden,
    )
    return answers.CommentAdded.model_validate(added)


@router.post("/item/{item_id}/thread/{thread}")
def thread(
    person: PersonDep, context: ContextDep, item_id: int, thread: int, sent: ThreadChanged, answer_hidden: HiddenDep
) -> answers.ThreadState:
    """Resolve a thread, or open it again."""
    context.store.comments.set_resolved(
        person=person.initials,
        item_id=item_id,
        thread=thread,
        resolved=sent.resolved,
        key=sent.key,
        answer_hidden=answer_hidden,
    )
    return answers.ThreadState(resolved=sent.resolved)


@router.post("/item/{item_id}/comments/read")
def read(
    person: PersonDep, context: ContextDep, item_id: int, sent: ReadUpTo, answer_hidden: HiddenDep
) -> answers.LastRead:
    """Mark the comments of an item as read up to this one; ``comment`` is the last one that is read now, 0: none."""
    last = context.store.comments.read(
        person=person.initials, item_id=item_id, comment=sent.comment, answer_hidden=answer_hidden
    )
    return answers.LastRead(comment=last)


@router.get("/comments/unread")
def unread(
    person: PersonDep,
    context: ContextDep,
    first: VerdictFirstDep,
    limit: Annotated[int, Query(ge=0, le=200)] = 50,
) -> answers.UnreadComments:
    """The newest unread comments, and the number of all; ``hidden`` ones have no text until the person has decided."""
    unread = context.store.comments.unread(person.initials, limit)
    waiting = first.hidden({entry.row.item_id: entry.row for entry in unread.comments}.values())
    items = [_unread_item(entry, entry.row.item_id in waiting) for entry in unread.comments]
    return answers.UnreadComments(items=items, total=unread.total, newest=unread.newest)


def _unread_item(entry: UnreadComment, answer_hidden: bool) -> answers.UnreadItem:
    hidden = entry.hidden or answer_hidden
    named = not hidden or entry.mentioned
    return answers.UnreadItem(
        item=entry.row.item_id,
        name=neutral_name(entry.row.item_id) if answer_hidden else entry.row.name,
        comment=entry.comment.id,
        person=entry.comment.person if named else None,
        text="" if hidden else entry.comment.text,
        at=entry.comment.at if named else None,
        mentioned=entry.mentioned,
        hidden=hidden,
    )


def _thread(thread: Thread) -> answers.CommentThread:
    changed = thread.resolved
    return answers.CommentThread(
        id=thread.id,
        step=thread.step,
        version=thread.version_id,
        number=thread.version,
        resolved=changed is not None,
        resolved_by=None if changed is None else answers.ThreadResolved.model_validate(changed),
        comments=[answers.CommentSent.model_validate(comment) for comment in thread.comments],
    )
