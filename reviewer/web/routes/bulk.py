"""Routes of bulk actions: what an action on a selection would do, doing it, past actions, and their undo."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from reviewer.rules.people import Person
from reviewer.store.team.actions import LONGEST_BATCH, Action, Assign, BulkAction, Reject, SetBatch
from reviewer.web.access import may_manage
from reviewer.web.context import ContextDep, PersonDep
from reviewer.web.models import bulk as answers
from reviewer.web.requests import Key, Selection, Sent, Text, Undone
from reviewer.web.visibility import VisibleDep

router = APIRouter(prefix="/api/v1/bulk")

_MOST_PEOPLE = 100
_MOST_ACTIONS = 200


class Rejection(Sent):
    kind: Literal["reject"]
    reason: Annotated[str, Field(max_length=40)]
    comment: Text = ""

    def action(self) -> Action:
        return Reject(self.reason, self.comment)


class Assignment(Sent):
    kind: Literal["assign", "unassign"]
    people: Annotated[list[Annotated[str, Field(max_length=20)]], Field(max_length=_MOST_PEOPLE)]

    def action(self) -> Action:
        return Assign(tuple(self.people), self.kind == "assign")


class Batch(Sent):
    kind: Literal["batch"]
    batch: Annotated[str, Field(max_length=LONGEST_BATCH)]

    def action(self) -> Action:
        return SetBatch(self.batch)


class Planned(Sent):
    """An action on the items of a selection."""

    selection: Selection
    action: Annotated[Rejection | Assignment | Batch, Field(discriminator="kind")]


class Applied(Planned):
    """The same, with the token of its preview."""

    token: Annotated[str, Field(max_length=100)]
    key: Key


@router.post("/preview")
def preview(person: PersonDep, context: ContextDep, visible: VisibleDep, sent: Planned) -> answers.BulkPreview:
    """Show what an action would change and what it leaves out; ``token`` stands for this preview."""
    items, first = visible.selected(sent.selection), visible.verdict_first.batches
    preview = context.store.bulk.preview(person.initials, items, sent.action.action(), first)
    return answers.BulkPreview.model_validate(preview)


@router.post("")
def apply(person: PersonDep, context: ContextDep, visible: VisibleDep, sent: Applied) -> answers.BulkActionDone:
    """Do what the preview with this token has shown; 409 ``selection_changed`` with the present preview if it is no
    longer that."""
    items, first = visible.selected(sent.selection), visible.verdict_first.batches
    action = sent.action.action()
    done = context.store.bulk.apply(person.initials, items, action, sent.token, sent.key, first)
    return _shown(done, person, may_manage(person, context.store))


@router.get("")
def actions(
    person: PersonDep, context: ContextDep, limit: Annotated[int, Query(ge=1, le=_MOST_ACTIONS)] = 50
) -> answers.BulkActions:
    """The last actions, newest first, without rejections by others of items that are still judged in that round."""
    manages = may_manage(person, context.store)
    listed = context.store.bulk.actions(limit, person.initials)
    return answers.BulkActions(actions=[_shown(action, person, manages) for action in listed])


@router.post("/{action}/undo")
def undo(person: PersonDep, context: ContextDep, action: int, sent: Undone) -> answers.BulkActionDone:
    """Take a whole action back, as long as nobody has built on any of its items."""
    done = context.store.bulk.undo(person.initials, action, sent.key)
    return _shown(done, person, may_manage(person, context.store))


def _shown(done: BulkAction, person: Person, manages: bool) -> answers.BulkActionDone:
    own = done.person == person.initials
    possible = done.kind != "undo" and done.undone is None
    return answers.BulkActionDone(
        id=done.id,
        kind=done.kind,
        # Others may still judge the items, and must not know why a person rejected them.
        details=dict(done.details) if own or done.kind != "reject" else {},
        items=done.items,
        person=done.person,
        at=done.at,
        undoes=done.undoes,
        undone=done.undone,
        may_undo=possible and (own if done.kind == "reject" else manages),
    )
