"""Drafted trajectories dropped on the Library tab: our JSON lines, or ShareGPT rows with images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import gradio as gr

from reviewer.drafts import Imported, import_file
from reviewer.store import Store
from reviewer.ui.edge import Changes, answer_line, in_charge, line, markup, spoken, table
from reviewer.ui.uploads import laid_out

_ABOUT = (
    "JSON lines of ours, or ShareGPT rows with their images folder: as one zip, or as loose files. Survey "
    "files dropped beside them give the spectra. Every row is checked before anything is written."
)
# A page of problems is enough to see the pattern.
MOST_SHOWN = 200


@dataclass(frozen=True)
class ImportForm:
    """The components, for the tab that holds them."""

    button: gr.Button

    def show(self, may_use: bool) -> Changes:
        return {self.button: gr.update(interactive=may_use)}


def build(store: Store, local: bool) -> ImportForm:
    """The form, and what happens when it is used."""
    markup(f'<h3>Import trajectories</h3><p class="about">{escape(_ABOUT)}</p>')
    files = gr.File(label="Rows, pictures, spectra, or a zip", file_count="multiple", height=84)
    with gr.Row(equal_height=True):
        batch = gr.Textbox(label="Batch, to filter by", placeholder="the file's name", max_length=100)
        skip_bad = gr.Checkbox(label="Take the good rows if others are bad", container=False)
    button = gr.Button("Import", size="sm", elem_classes="so-small")
    said, results = answer_line(), markup(elem_classes="so-results")

    @spoken(said)
    def bring_in(
        request: gr.Request,
        paths: Sequence[str] | None,
        name: str,
        good_only: bool,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  Gradio finds it by its default
    ) -> Changes:
        me = in_charge(request, store, local).initials
        if not paths:
            return {said: line("look", "Drop a file first.")}
        with laid_out([Path(path) for path in paths]) as found:
            outcomes = [
                (rows.name, _bring_in(store, rows, name.strip(), good_only, progress, me)) for rows in found
            ]
        clean = not any(outcome.problems for _, outcome in outcomes)
        return {said: _summary(outcomes), results: _problems(outcomes), **({files: None} if clean else {})}

    button.click(
        bring_in,
        [files, batch, skip_bad],
        [said, results, files],
        show_progress_on=results,
        concurrency_id="library",
        concurrency_limit=1,
        api_visibility="private",
    )
    return ImportForm(button)


def _bring_in(
    store: Store, rows: Path, batch: str, skip_bad: bool, progress: gr.Progress, by: str
) -> Imported:
    def tell(done: int) -> None:
        progress((done, None), desc=rows.name, unit="rows checked and written")

    return import_file(store, rows, rows.parent, batch or rows.name, skip_bad, tell, by)


def _summary(outcomes: Sequence[tuple[str, Imported]]) -> str:
    added = sum(len(o.added) for _, o in outcomes)
    known = sum(o.known for _, o in outcomes)
    bad = sum(len(o.problems) for _, o in outcomes)
    text = f"{added} trajectories new in the queue."
    if known:
        text += f" {known} were there already."
    if not bad:
        return line("good", text)
    if added or known:
        return line("look", f"{text} {bad} bad rows were left out.")
    return line("bad", f"Nothing was imported: {bad} bad rows. Mend them, or take the good rows only.")


def _problems(outcomes: Sequence[tuple[str, Imported]]) -> str:
    rows = [
        [escape(name), str(problem.line), escape(problem.field), escape(problem.reason)]
        for name, outcome in outcomes
        for problem in outcome.problems
    ]
    if not rows:
        return ""
    more = len(rows) - MOST_SHOWN
    shown = table(["File", "Row", "Field", "What was found"], rows[:MOST_SHOWN], empty="")
    return shown + (f'<p class="so-none">and {more} more</p>' if more > 0 else "")
