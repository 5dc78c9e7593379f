"""Search of texts, and views. The list of found items is that of the queue, with snippets of what matches."""

from __future__ import annotations

from typing import Annotated, Any, Self

from fastapi import APIRouter, Depends
from pydantic import Field, model_validator

from agent.language import tr
from reviewer.store import QueueFilter
from reviewer.store.team.views import LONGEST_NAME
from reviewer.web import requests
from reviewer.web.context import ContextDep, PersonDep
from reviewer.web.models import Done
from reviewer.web.models import find as answers
from reviewer.web.requests import Filter, ItemNumber, Selection, Sent
from reviewer.web.visibility import VisibleDep

MOST_FOUND = 100
"""Items of an answer."""
MOST_NAMED = 500
"""Items of a request that names them."""

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]


class Named(Sent):
    """Items by number."""

    items: Annotated[list[ItemNumber], Field(max_length=MOST_NAMED)]


class ViewSaved(Sent):
    """A new view: a filter, or the items of a selection at this moment."""

    name: Name
    shared: bool = False
    filter: Filter | None = None
    selection: Selection | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.filter is None) == (self.selection is None):
            raise ValueError(tr("found neither or both of filter and selection, expected one of them"))
        return self


class ViewChanged(Sent):
    """Changes of a view; what is not given stays."""

    name: Name | None = None
    shared: bool | None = None
    filter: Filter | None = None
    selection: Selection | None = None

    @model_validator(mode="after")
    def _not_both(self) -> Self:
        if self.filter is not None and self.selection is not None:
            raise ValueError(tr("found both filter and selection, expected one of them at most"))
        return self


@router.get("/find")
def find(
    context: ContextDep,
    visible: VisibleDep,
    queue_filter: Annotated[QueueFilter, Depends(requests.queue_filter)],
    after: int | None = None,
    limit: int = 40,
) -> answers.FoundItems:
    """The queue's rows of a filter, with ``snippets`` of the texts that match its words."""
    stamp = context.store.log.head().number  # before the rows, so that a change meanwhile is noticed
    rows, total = visible.matching_rows(queue_filter, after, max(1, min(limit, MOST_FOUND)))
    return answers.FoundItems(rows=rows, total=total, stamp=stamp)


@router.post("/find/rows")
def rows(visible: VisibleDep, sent: Named) -> answers.ListedRows:
    """The rows of items that were found in another way, e.g. of a group, in the given order, also of withdrawn ones."""
    return answers.ListedRows(rows=visible.rows_of(sent.items, withdrawn=True))


@router.get("/views")
def views(person: PersonDep, context: ContextDep) -> list[answers.View]:
    """The person's own views, and those that others share."""
    return [answers.View.model_validate(view) for view in context.store.views.of_person(person.initials)]


@router.post("/views")
def save_view(person: PersonDep, context: ContextDep, visible: VisibleDep, sent: ViewSaved) -> answers.View:
    """Save a filter, or a list of items, under a name."""
    items = None if sent.selection is None else visible.selected(sent.selection)
    view = context.store.views.create(
        person=person.initials, name=sent.name, filter=_saved(sent.filter), items=items, shared=sent.shared
    )
    return answers.View.model_validate(view)


@router.get("/views/{view_id}")
def view(person: PersonDep, context: ContextDep, view_id: ItemNumber) -> answers.View:
    """A view by its link; for a deleted one, the error says so."""
    return answers.View.model_validate(context.store.views.get(person.initials, view_id))


@router.post("/views/{view_id}")
def change_view(
    person: PersonDep, context: ContextDep, visible: VisibleDep, view_id: ItemNumber, sent: ViewChanged
) -> answers.View:
    """Change a view of yours."""
    items = None if sent.selection is None else visible.selected(sent.selection)
    changed = context.store.views.change(
        person=person.initials,
        view_id=view_id,
        name=sent.name,
        shared=sent.shared,
        filter=_saved(sent.filter),
        items=items,
    )
    return answers.View.model_validate(changed)


@router.delete("/views/{view_id}")
def delete_view(person: PersonDep, context: ContextDep, view_id: ItemNumber) -> Done:
    """Delete a view of yours."""
    context.store.views.delete(person=person.initials, view_id=view_id)
    return Done()


def _saved(filter: Filter | None) -> dict[str, Any] | None:
    return None if filter is None else filter.model_dump(mode="json", exclude_defaults=True)
