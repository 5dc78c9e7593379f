"""The export form of the Library tab: approved trajectories as training data, and past exports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from agent.language import deferred, tr, trn
from agent.tasks import Task
from reviewer.exchange import exports as exporting
from reviewer.store import Store
from reviewer.ui.widgets import (
    Changes,
    grouped,
    items,
    line,
    markup,
    message_line,
    report_errors,
    require_manager,
    table,
)

_EVERY_TASK = ""
_KINDS = {
    "baseline": deferred("baseline"),
    "model": deferred("model"),
    "person": deferred("person"),
    "unknown": deferred("unknown"),
}
"""The kinds of drafters."""


@dataclass(frozen=True)
class ExportForm:
    """The components that other parts of the tab update."""

    name: gr.Textbox
    button: gr.Button
    waiting: gr.HTML
    finished: gr.HTML
    others: tuple[gr.HTML | gr.Dropdown | gr.Checkbox, ...]
    """The other parts that only a person who may export sees."""

    @property
    def outputs(self) -> list[Any]:
        return [self.name, self.button, self.waiting, self.finished, *self.others]

    def show(self, store: Store, may_use: bool) -> Changes:
        """Return what can be exported now, and past exports; only the latter for a person who may not export."""
        ready = len(store.queue.approved())
        return {
            self.name: gr.update(
                placeholder=tr("e.g. {name}", name=f"approved-{store.database.now():%Y-%m-%d}"), visible=may_use
            ),
            **dict.fromkeys(self.others, gr.update(visible=may_use)),
            self.button: gr.update(interactive=may_use and ready > 0, visible=may_use),
            self.waiting: _ready(ready) if may_use else "",
            self.finished: _exports_table(store, may_use),
        }


def build(store: Store, local: bool, known: Mapping[str, Task]) -> ExportForm:
    """Build the form and its handlers."""
    text = tr(
        "Writes a folder with ShareGPT rows (LLaMA-Factory), conversational rows (TRL), the pictures, our own "
        "rows to import again, and a manifest that records how each item was approved."
    )
    about = markup(f'<h3>{escape(tr("Export approved"))}</h3><p class="about">{escape(text)}</p>')
    waiting = markup()
    with gr.Row(equal_height=True):
        name = gr.Textbox(label=tr("Name of the folder"), max_length=80, scale=3, min_width=200)
        choices = [(tr("every task"), _EVERY_TASK), *((task.title, key) for key, task in known.items())]
        task = gr.Dropdown(choices, value=_EVERY_TASK, label=tr("Task"), scale=2, min_width=130)
    with gr.Row(equal_height=True):
        simulated = gr.Checkbox(True, label=tr("Include simulated spectra (labelled)"), container=False, min_width=150)
        replace = gr.Checkbox(False, label=tr("Replace an export of this name"), container=False, min_width=150)
    button = gr.Button(tr("Export"), variant="primary", size="sm", elem_classes="so-small")
    message, drawing = message_line(), markup(elem_classes="so-results")
    tables = markup(_tables())
    markup(f"<h3>{escape(tr('Past exports'))}</h3>")
    form = ExportForm(name, button, waiting, markup(), (about, task, simulated, replace, tables))

    @report_errors(message)
    def export_approved(
        request: gr.Request,
        called: str,
        key: str,
        with_simulated: bool,
        again: bool,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Changes:
        person = require_manager(request, store, local)
        exported = exporting.export(
            store,
            called.strip(),
            person=person.initials,
            task=key or None,
            include_simulated=with_simulated,
            replace=again,
            progress=lambda done, total: progress((done, total), desc=tr("Drawing pictures"), unit=tr("items")),
        )
        return {**form.show(store, may_use=True), message: _described(exported)}

    button.click(
        export_approved,
        [name, task, simulated, replace],
        [message, drawing, *form.outputs],
        show_progress_on=drawing,
        concurrency_id="library",
        concurrency_limit=1,
        api_visibility="private",
    )
    return form


def in_words(manifest: Mapping[str, Any]) -> str:
    """Describe an export: number of items, tasks, drafters, and what users of it must know."""
    counts = manifest["counts"]
    parts = [
        items(counts["items"]),
        trn("{n} picture", "{n} pictures", counts["pictures"], n=grouped(counts["pictures"])),
        ", ".join(f"{task} {number}" for task, number in counts["tasks"].items()),
        tr(
            "drafted by {drafters}",
            drafters=", ".join(f"{tr(_KINDS.get(kind, kind))} {number}" for kind, number in counts["drafters"].items()),
        ),
    ]
    if counts["simulated"]:
        parts.append(tr("{n} simulated", n=counts["simulated"]))
    if counts["by_one_person"]:
        parts.append(tr("{n} reviewed by one person alone", n=counts["by_one_person"]))
    return " · ".join(parts)


def _described(exported: exporting.Exported) -> str:
    """Describe a new export: its folder, its content, and the items that were left out."""
    text = tr("{content}. Written to {folder}", content=in_words(exported.summary), folder=exported.folder)
    shown = exported.left_out[:10]
    left = "".join(
        f"<br>{escape(tr('#{item} was left out: {reason}', item=row.item_id, reason=tr(row.reason)))}" for row in shown
    )
    if len(exported.left_out) > len(shown):
        more = tr("and {n} more; the manifest lists them.", n=len(exported.left_out) - len(shown))
        left += f"<br>{escape(more)}"
    return line("look" if left else "good", text, left)


def _ready(ready: int) -> str:
    if not ready:
        return line("note", tr("No item is approved yet. Items are approved in the vote, on the Review tab."))
    text = trn("{n} approved item can be exported.", "{n} approved items can be exported.", ready, n=grouped(ready))
    return f"<p>{escape(text)}</p>"


_TABLES = (
    (deferred("Every decision"), "decisions"),
    (deferred("Inspections of each person"), "inspections"),
    (deferred("Inspections merged by DESI's rules"), "inspections-merged"),
)
_FORMS = {"csv": "CSV", "csv?bom=1": deferred("CSV for Excel"), "fits": "FITS", "vot": "VOTable"}


def _tables() -> str:
    """The tables that can be downloaded: one line with links for each."""
    lines = "".join(
        f"<p>{escape(tr('{table}:', table=tr(title)))} "
        + " · ".join(_table_link(tr(title), f"{name}.{kind}", tr(form)) for kind, form in _FORMS.items())
        + "</p>"
        for title, name in _TABLES
    )
    about = tr("What others decided or found in a round that is still open is left out.")
    return f'<h3>{escape(tr("Tables"))}</h3><p class="about">{escape(about)}</p>{lines}'


def _table_link(title: str, file: str, form: str) -> str:
    whole = escape(tr("{table} as {form}", table=title, form=form))
    return f'<a href="api/v1/tables/{file}" download aria-label="{whole}">{form}</a>'


def _exports_table(store: Store, may_use: bool) -> str:
    exports = store.settings.exports()
    folder = exporting.folder_of(store)
    here = {export.id for export in exports if may_use and (folder / export.name / exporting.MANIFEST).is_file()}
    return table(
        [tr("Name"), tr("When (UTC)"), tr("Who"), tr("What is in it"), ""],
        [
            [
                f"<b>{escape(export.name)}</b>",
                f"{export.at:%Y-%m-%d %H:%M}",
                escape(export.person),
                escape(in_words(export.manifest)),
                (f'<a href="api/v1/exports/{export.id}/zip" download>zip</a> ' if export.id in here else "")
                + f'<a href="api/v1/exports/{export.id}/manifest" download>{escape(tr("manifest"))}</a>',
            ]
            for export in reversed(exports)
        ],
        empty=tr("None yet."),
    )
