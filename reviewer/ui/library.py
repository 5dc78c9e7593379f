"""The Library tab: what comes in (survey files, trajectories) and what goes out (exports)."""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from agent.tasks import Task
from reviewer.backup.backups import DailyBackups
from reviewer.store import Store
from reviewer.ui import backups as backups_form
from reviewer.ui import drafts, exports, imports
from reviewer.ui.widgets import STYLES, Changes, asking, line, markup, spoken, whenever_shown

_NOT_YOURS = "What comes in and goes out is a coordinator's to decide; you can see here what has been exported."


def build(store: Store, local: bool, known: Mapping[str, Task], backups: DailyBackups | None = None) -> None:
    """The tab's content.

    :param known: the tasks to choose from, by key
    :param backups: None where the app makes none
    """
    notice = markup(head=STYLES, elem_classes="so-notice")
    with gr.Row(elem_classes="so-columns"):
        with gr.Column(scale=1, min_width=420):
            with gr.Column(elem_classes="so-sheet"):
                drafting = drafts.build(store, local, known)
            with gr.Column(elem_classes="so-sheet"):
                importing = imports.build(store, local)
        with gr.Column(scale=1, min_width=420):
            with gr.Column(elem_classes="so-sheet"):
                exporting = exports.build(store, local, known)
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
