"""The Library tab: what comes in (survey files, trajectories) and what goes out (exports)."""

from __future__ import annotations

import json
from collections.abc import Mapping

import gradio as gr
from fastapi import APIRouter, Response

from agent.tasks import Task
from reviewer.keeping.daily import DailyBackups
from reviewer.store import NotFound, Store
from reviewer.ui import backups_form, draft_form, export_form, import_form
from reviewer.ui.edge import STYLES, Changes, asking, line, markup, spoken, whenever_shown
from reviewer.ui.withheld import Kept

_NOT_YOURS = (
    "What comes in and goes out is a coordinator's to decide; you can see here what has been exported."
)


def build(store: Store, local: bool, known: Mapping[str, Task], backups: DailyBackups | None = None) -> None:
    """The tab's content.

    :param known: the tasks to choose from, by key
    :param backups: None where the app makes none
    """
    notice = markup(head=STYLES, elem_classes="so-notice")
    with gr.Row(elem_classes="so-columns"):
        with gr.Column(scale=1, min_width=420):
            with gr.Column(elem_classes="so-sheet"):
                drafting = draft_form.build(store, local, known)
            with gr.Column(elem_classes="so-sheet"):
                importing = import_form.build(store, local)
        with gr.Column(scale=1, min_width=420):
            with gr.Column(elem_classes="so-sheet"):
                exporting = export_form.build(store, local, known)
            backing_up = backups_form.build(store, local, backups)

    @spoken(notice)
    def look(request: gr.Request) -> Changes:
        person = asking(request, store, local)
        may_use = person.is_any("coordinator") or store.rules().solo
        return {
            notice: "" if may_use else line("note", _NOT_YOURS),
            **drafting.show(may_use),
            **importing.show(may_use),
            **exporting.show(store, may_use),
            **backing_up.show(may_use),
        }

    outputs = [notice, drafting.button, importing.button, *exporting.outputs, *backing_up.outputs]
    whenever_shown(look, outputs)


def library_router(store: Store) -> APIRouter:
    """``GET /api/exports/ID/manifest``: the manifest of an export, as it was recorded when it was made."""
    routes = APIRouter(prefix="/api")

    @routes.get("/exports/{export_id}/manifest")
    def manifest(kept: Kept, export_id: int) -> Response:
        made = next((one for one in store.exports() if one.id == export_id), None)
        if made is None:
            raise NotFound(f"export {export_id}: there is none")
        for one in made.manifest.get("items", ()):
            kept.require(one["item"])
        text = json.dumps(made.manifest, ensure_ascii=False, indent=1) + "\n"
        # An export's name is letters, digits, dots, dashes: nothing in it can end the header.
        headers = {"Content-Disposition": f'attachment; filename="{made.name}-manifest.json"'}
        return Response(text, media_type="application/json", headers=headers)

    return routes
