"""Routes that open an item: one answer has all that the page shows; a decision brings that of the next item."""

from __future__ import annotations

import logging
from typing import Annotated, Any

from fastapi import APIRouter, Depends

from reviewer.rules.people import Person
from reviewer.store import NotAllowed, NotFound, QueueFilter, WorkTime
from reviewer.web import requests
from reviewer.web.context import Context, ContextDep, PersonDep
from reviewer.web.models.opening import Checks, DecisionAnswer, Opening
from reviewer.web.models.work import LeaseHeld
from reviewer.web.payload import item_for, progress_of, stamp
from reviewer.web.routes import aids, comments, review, traces
from reviewer.web.statements import checks_of, known_checks
from reviewer.web.verdict_first import VerdictFirstDep, require_verdict
from reviewer.web.visibility import VisibleDep, VisibleItems, require_visible

log = logging.getLogger("spec_o3")

Filter = Annotated[QueueFilter, Depends(requests.queue_filter)]

router = APIRouter(prefix="/api/v1", dependencies=[Depends(require_visible)])


@router.get("/item/{item_id}/opening")
def opening(person: PersonDep, context: ContextDep, visible: VisibleDep, item_id: int, queue_filter: Filter) -> Opening:
    """An item with its place in the list of a filter, its comments, and what else the page shows with it."""
    return _opening(person, context, visible, item_id, queue_filter)


@router.get("/item/{item_id}/checks")
def checks(context: ContextDep, item_id: int, first: VerdictFirstDep) -> Checks:
    """What the data say about the tool calls and the texts of an item's present version; nothing while it is hidden."""
    item = context.store.items.get(item_id)
    if first.hides(item.row):
        return Checks(hints={}, spans={}, disagreements=[])
    return checks_of(context, item)


@router.post("/item/{item_id}/decide", dependencies=[Depends(require_verdict)])
def decide(person: PersonDep, context: ContextDep, item_id: int, sent: requests.Decided) -> DecisionAnswer:
    """Decide on a version in the present round of its item, with your lease or, without one, if nobody else holds it.
    ``opens`` names the item that you go on with: the answer brings its opening."""
    standing = context.store.reviews.decide(
        person=person.initials,
        item_id=item_id,
        version_id=sent.version,
        verb=sent.verb,
        key=sent.key,
        lease_token=sent.lease,
        reason=sent.reason,
        comment=sent.comment,
        worked=None if sent.worked is None else WorkTime(sent.worked.elapsed, sent.worked.active),
        confirmed=sent.confirmed,
    )
    return DecisionAnswer(
        state=standing.state,
        **progress_of(standing),
        stamp=stamp(context.store.items.get(item_id)),
        **_what_follows(person, context, item_id, sent.opens),
    )


def _what_follows(person: Person, context: Context, decided: int, opens: requests.ItemOpened | None) -> dict[str, Any]:
    """Return the fields ``listed`` and ``opening`` of the answer to a decision, as far as there is something to say."""
    if opens is None:
        return {}
    try:
        visible, queue_filter = VisibleItems(context.store, person, opens.verdict_first), opens.filter.query()
        listed = visible.neighbours(decided - 1, queue_filter, 1) == [decided]
        visible.require(opens.item)
        return {"listed": listed, "opening": _opening(person, context, visible, opens.item, queue_filter)}
    except (NotAllowed, NotFound):
        return {}  # the page requests the item and shows why it cannot be opened
    except Exception:
        # The decision is stored. An error here would look as if it were not.
        log.exception("item %s could not be opened after the decision on item %s", opens.item, decided)
        return {}


def _opening(
    person: Person, context: Context, visible: VisibleItems, item_id: int, queue_filter: QueueFilter
) -> Opening:
    changes = context.store.log.head().number  # before the rest, so that a change meanwhile is noticed
    item, first = context.store.items.get(item_id), visible.verdict_first
    hidden = first.hides(item.row)
    held = context.store.leases.held_by_others(person.initials, item_id)
    return Opening(
        item=item_for(context.store, item, person, context.tasks.get(item.row.task), hidden),
        place=review.place(visible, item_id, queue_filter),
        held=None if held is None else LeaseHeld(message=str(held), until=held.until),
        others=traces.others(context, visible, item_id, first).others,
        epochs=aids.epochs_of(context, visible, first, item.row),
        comments=comments.comments(person, context, item_id, hidden),
        checks=None if hidden else known_checks(context, item),
        unread=comments.unread(person, context, first),
        stamp=changes,
    )
