"""Routes of comments: the threads of an item, and what is unread. Who may see what is the store's rule."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from reviewer.store import Comment, Thread
from reviewer.web.context import ContextDep, PersonDep
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
def comments(person: PersonDep, context: ContextDep, item_id: int, answer_hidden: HiddenDep) -> dict[str, Any]:
    """The threads of an item, and the people who can be mentioned in them."""
    found = context.store.comments.of_item(item_id, person.initials, answer_hidden)
    return {
        "threads": [_thread_json(thread) for thread in found.threads],
        "hidden": found.hidden,
        "read": found.read,
        "people": [{"initials": p.initials, "name": p.name} for p in context.store.accounts.people() if p.active],
    }


@router.post("/item/{item_id}/comments")
def comment(
    person: PersonDep, context: ContextDep, item_id: int, sent: Commented, answer_hidden: HiddenDep
) -> dict[str, Any]:
    """Comment on an item or one of its steps, or reply in a thread; ``@AB`` mentions a person."""
    made = context.store.comments.add(
        person=person.initials,
        item_id=item_id,
        text=sent.text,
        key=sent.key,
        step=sent.step,
        version_id=sent.version,
        thread=sent.thread,
        answer_hidden=answer_hidden,
    )
    return {"thread": made.thread, **_comment_json(made)}


@router.post("/item/{item_id}/thread/{thread}")
def thread(
    person: PersonDep, context: ContextDep, item_id: int, thread: int, sent: ThreadChanged, answer_hidden: HiddenDep
) -> dict[str, Any]:
    """Resolve a thread, or open it again."""
    context.store.comments.set_resolved(
        person=person.initials,
        item_id=item_id,
        thread=thread,
        resolved=sent.resolved,
        key=sent.key,
        answer_hidden=answer_hidden,
    )
    return {"resolved": sent.resolved}


@router.post("/item/{item_id}/comments/read")
def read(
    person: PersonDep, context: ContextDep, item_id: int, sent: ReadUpTo, answer_hidden: HiddenDep
) -> dict[str, int]:
    """Mark the comments of an item as read up to this one; ``comment`` is the last one that is read now, 0: none."""
    last = context.store.comments.read(
        person=person.initials, item_id=item_id, comment=sent.comment, answer_hidden=answer_hidden
    )
    return {"comment": last}


@router.get("/comments/unread")
def unread(
    person: PersonDep,
    context: ContextDep,
    first: VerdictFirstDep,
    limit: Annotated[int, Query(ge=0, le=200)] = 50,
) -> dict[str, Any]:
    """The newest unread comments, and the number of all; ``hidden`` ones have no text until the person has decided."""
    found = context.store.comments.unread(person.initials, limit)
    answers = first.hidden({one.row.item_id: one.row for one in found.comments}.values())
    items = []
    for one in found.comments:
        answer_hidden = one.row.item_id in answers
        hidden = one.hidden or answer_hidden
        shown = not hidden or one.mentioned
        items.append(
            {
                "item": one.row.item_id,
                "name": neutral_name(one.row.item_id) if answer_hidden else one.row.name,
                "comment": one.comment.id,
                "person": one.comment.person if shown else None,
                "text": "" if hidden else one.comment.text,
                "at": one.comment.at.isoformat() if shown else None,
                "mentioned": one.mentioned,
                "hidden": hidden,
            }
        )
    return {"items": items, "total": found.total, "newest": found.newest}


def _thread_json(thread: Thread) -> dict[str, Any]:
    changed = thread.resolved
    return {
        "id": thread.id,
        "step": thread.step,
        "version": thread.version_id,
        "number": thread.version,
        "resolved": changed is not None,
        "resolved_by": None if changed is None else {"person": changed.person, "at": changed.at.isoformat()},
        "comments": [_comment_json(one) for one in thread.comments],
    }


def _comment_json(one: Comment) -> dict[str, Any]:
    return {
        "id": one.id,
        "person": one.person,
        "source": one.source,
        "text": one.text,
        "at": one.at.isoformat(),
    }
