"""The form of the Library tab that imports annotations of Label Studio as comments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from agent.language import tr, trn
from reviewer.exchange.annotations.importing import (
    Choices,
    ImportedAnnotations,
    author_of,
    import_annotations,
    in_words,
)
from reviewer.reading import FILES
from reviewer.store import Store
from reviewer.ui.widgets import (
    Changes,
    Kind,
    item_link,
    line,
    markup,
    message_line,
    report_errors,
    require_manager,
    table,
)

MOST_SHOWN = 200
MOST_LINKS = 8


@dataclass(frozen=True)
class AnnotationsForm:
    """The buttons, which only people who may import can press."""

    check: gr.Button
    button: gr.Button

    @property
    def outputs(self) -> list[Any]:
        return [self.check, self.button]

    def show(self, may_use: bool) -> Changes:
        return dict.fromkeys(self.outputs, gr.update(interactive=may_use))


def build(store: Store, local: bool) -> AnnotationsForm:
    """Build the form and its handlers."""
    about = tr(
        "What people wrote and chose in Label Studio (JSON, JSON-MIN, CSV, TSV) becomes a comment on the item. An "
        "annotation that was imported before is not added again. The command spec-o3 annotations tasks writes the "
        "tasks for Label Studio."
    )
    markup(f'<h3>{escape(tr("Import annotations"))}</h3><p class="about">{escape(about)}</p>')
    files = gr.File(label=tr("Exports of Label Studio"), file_count="multiple", height=84)
    with gr.Row(equal_height=True):
        authors = gr.Textbox(
            label=tr("Authors who are people here, one per line"),
            placeholder="ann@example.org=AB",
            lines=1,
            max_lines=5,
            max_length=4000,
            min_width=260,
        )
        skip_bad = gr.Checkbox(label=tr("Skip what cannot be used, import the rest"), container=False, min_width=240)
    with gr.Row():
        check = gr.Button(tr("Check only"), size="sm", scale=0, min_width=130)
        button = gr.Button(tr("Import annotations"), size="sm", scale=0, min_width=170)
    message, results = message_line(), markup(elem_classes="so-results")

    def read(request: gr.Request, paths: Sequence[str] | None, named: str, good_only: bool, dry_run: bool) -> Changes:
        me = require_manager(request, store, local).initials
        if not paths:
            return {message: line("look", tr("Add a file first.")), results: ""}
        people = dict(author_of(text) for text in named.splitlines() if text.strip())
        choices = Choices(people, skip_bad=good_only, dry_run=dry_run)
        with FILES:
            imported = import_annotations(store, [Path(path) for path in paths], choices, me)
        done = not (dry_run or imported.refused)
        return {message: _message(imported, dry_run), results: _problems(imported), **({files: None} if done else {})}

    @report_errors(message)
    def check_files(request: gr.Request, paths: Sequence[str] | None, named: str, good_only: bool) -> Changes:
        return read(request, paths, named, good_only, dry_run=True)

    @report_errors(message)
    def import_files(request: gr.Request, paths: Sequence[str] | None, named: str, good_only: bool) -> Changes:
        return read(request, paths, named, good_only, dry_run=False)

    for control, handler in ((check, check_files), (button, import_files)):
        control.click(
            handler,
            [files, authors, skip_bad],
            [message, results, files],
            show_progress_on=results,
            concurrency_id="library",
            concurrency_limit=1,
            api_visibility="private",
        )
    return AnnotationsForm(check, button)


def _message(imported: ImportedAnnotations, dry_run: bool) -> str:
    text = " ".join(in_words(imported, dry_run))
    if imported.refused:
        return line("bad", f"{text} {tr('Correct the file, or tick “Skip what cannot be used”.')}")
    links = ", ".join(item_link(item) for item in imported.items[:MOST_LINKS])
    more = len(imported.items) - MOST_LINKS
    if more > 0:
        links += " " + escape(trn("and {n} more item", "and {n} more items", more))
    kind: Kind = "look" if imported.problems else "note" if dry_run else "good"
    return line(kind, text, f" {links}" if links else "")


def _problems(imported: ImportedAnnotations) -> str:
    if not imported.problems:
        return ""
    problems = imported.problems[:MOST_SHOWN]
    several = len({problem.file for problem in problems}) > 1
    rows = [[*([problem.file] if several else []), problem.place, problem.reason] for problem in problems]
    headings = [*([tr("File")] if several else []), tr("Annotation"), tr("What was found")]
    shown = table(headings, [[escape(cell) for cell in row] for row in rows], empty="")
    more = len(imported.problems) - len(problems)
    return shown + (f'<p class="so-none">{escape(trn("and {n} more", "and {n} more", more))}</p>' if more > 0 else "")
