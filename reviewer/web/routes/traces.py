"""Routes of traces next to the one in front: an earlier version of an item, and other traces of its spectrum."""

from __future__ import annotations

from fastapi import APIRouter, Depends

from agent.language import tr
from reviewer.store import Item, NotAllowed, NotFound, Store
from reviewer.web.context import ContextDep, PersonDep
from reviewer.web.models import item as answers
from reviewer.web.models.queue import Drafter
from reviewer.web.payload import standing_for
from reviewer.web.verdict_first import FIRST, VerdictFirstDep
from reviewer.web.visibility import VisibleDep, require_visible

MOST_OTHERS = 50

router = APIRouter(prefix="/api/v1", dependencies=[Depends(require_visible)])


@router.get("/item/{item_id}/version/{number}")
def version(
    person: PersonDep, context: ContextDep, item_id: int, number: int, first: VerdictFirstDep
) -> answers.Reading:
    """One version of an item, by its number; ``of`` is the number of the current one. Who may still judge the item
    independently of others' decisions sees the current version only, as in the history."""
    item = context.store.items.get(item_id)
    if first.hides(item.row):
        raise NotAllowed(tr(FIRST))
    current = item.version
    if number != current.number:
        if standing_for(item.standing, context.store.settings.rules(), person, waiting=False).withheld:
            raise NotAllowed(tr("Earlier versions are shown once you have decided."))
        by_number = {version.number: version for version in context.store.items.versions(item_id)}
        if number not in by_number:
            raise NotFound(
                tr(
                    "Item {item} has no version {version}; its current version is {current}.",
                    item=item_id,
                    version=number,
                    current=current.number,
                )
            )
        shown = by_number[number]
    else:
        shown = current
    body = shown.trajectory.to_json()
    if item.standing.round is not None:
        # The known label would influence the reviewer, as in the item itself.
        body["label"] = None
    return answers.Reading(
        number=number,
        of=current.number,
        author=shown.author,
        at=shown.at,
        trajectory=answers.Trajectory.model_validate(body),
    )


@router.get("/item/{item_id}/others")
def others(context: ContextDep, visible: VisibleDep, item_id: int, first: VerdictFirstDep) -> answers.OtherTraces:
    """Other traces of the same spectrum, by other drafters or for other tasks, as far as the person may see them: none
    while the answer of the item itself is hidden."""
    opened = context.store.items.get(item_id)
    spectrum = _first_spectrum(context.store, opened)
    if spectrum is None or first.hides(opened.row):
        return answers.OtherTraces(others=[])
    rows = [
        row
        for row in context.store.queue.rows_of_spectrum(spectrum)
        if row.item_id != item_id and row.state != "withdrawn" and row.item_id not in visible.items
    ]
    hidden = first.hidden(rows)
    numbers = [row.item_id for row in rows if row.item_id not in hidden]
    shown = [context.store.items.get(number) for number in numbers[:MOST_OTHERS]]
    titles = {key: task.title for key, task in context.tasks.items()}
    return answers.OtherTraces(others=[_other(item, titles.get(item.row.task, item.row.task)) for item in shown])


def _first_spectrum(store: Store, item: Item) -> str | None:
    """Return the spectrum with which the item was added: where a person stated its medium, it has another one."""
    if not item.version.trajectory.medium_set_by:
        return item.row.spectrum_sha256
    return store.items.versions(item.id)[0].trajectory.spectrum_sha256


def _other(item: Item, title: str) -> answers.OtherTrace:
    answer = item.version.trajectory.answer
    return answers.OtherTrace(
        id=item.id,
        drafter=Drafter(kind=item.row.drafter_kind, name=item.row.drafter_name),
        task=answers.ItemTask(key=item.row.task, title=title),
        state=item.row.state,
        version=item.version.number,
        answer=answer.verdict if answer else None,
    )
