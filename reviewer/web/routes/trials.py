"""Routes of the evidence on trial of an item: what the policy wrote after an edit, and the edited window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response

from agent.language import tr
from reviewer.pictures import as_stated
from reviewer.store import Item, NotAllowed, NotFound
from reviewer.trials import edit_texts, edited_window, key_of
from reviewer.web.context import FOREVER, ContextDep
from reviewer.web.models import media
from reviewer.web.models.trials import EditTexts
from reviewer.web.verdict_first import FIRST, VerdictFirstDep, require_verdict
from reviewer.web.visibility import require_visible

router = APIRouter(
    prefix="/api/v1/item/{item_id}/trial/{key}", dependencies=[Depends(require_visible), Depends(require_verdict)]
)


@dataclass(frozen=True)
class _Tried:
    item: Item
    result: Mapping[str, Any]


def _tried(context: ContextDep, first: VerdictFirstDep, item_id: int, key: str) -> _Tried:
    """Return the trial of the present version of an item.

    :raises NotAllowed: the answer is hidden from this person
    :raises NotFound: another trial, or none, is shown now
    """
    item = context.store.items.get(item_id)
    if first.hides(item.row):
        raise NotAllowed(tr(FIRST))
    trial = context.store.trust.trial_of(item_id, item.version.content_hash)
    if trial is None or key_of(trial.result) != key:
        raise NotFound(tr("This trial is no longer shown: the trace was edited or tried again. Open the item again."))
    return _Tried(item, trial.result)


TriedDep = Annotated[_Tried, Depends(_tried)]


@router.get("/{number}/texts")
def texts(tried: TriedDep, number: int, response: Response) -> EditTexts:
    """The texts that the policy wrote on one edited spectrum of a recorded trial."""
    response.headers.update(FOREVER)
    return EditTexts.model_validate(edit_texts(tried.result, number))


@router.get("/{number}/picture", **media("image/png"))
def picture(context: ContextDep, tried: TriedDep, key: str, number: int) -> Response:
    """The window of the tool call in the edited spectrum, as the policy got it."""
    row, trajectory = tried.item.row, tried.item.version.trajectory
    sha256, task = row.spectrum_sha256, context.tasks.get(row.task)
    if sha256 is None or task is None:
        raise NotFound(tr("The edit cannot be repeated here: found no spectrum or no task of this item."))

    def draw() -> bytes:
        stated = as_stated(context.gallery.spectrum(sha256), trajectory)
        return edited_window(tried.result, number, trajectory, replace(stated, redshift=trajectory.redshift), task)

    png = context.gallery.drawn(f"trial {key} {number}", draw)
    return Response(png, media_type="image/png", headers=FOREVER)
