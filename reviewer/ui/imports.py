"""The import form of the Library tab: trajectories as Spec-o3 JSON Lines, or ShareGPT rows with images."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from reviewer.exchange.draft_file import file_at
from reviewer.exchange.imports import Findings, request_of
from reviewer.exchange.recognition import by_state
from reviewer.exchange.uploads import unpacked
from reviewer.rules.campaign import CLOSED, State
from reviewer.store import ImportJob, SameSpectrum, Store
from reviewer.ui.widgets import (
    Changes,
    batch_link,
    counted,
    item_link,
    line,
    markup,
    message_line,
    report_errors,
    require_manager,
    table,
)
from reviewer.web.importing import Importing, ImportStatus

_ABOUT = (
    "Spec-o3 JSON Lines, or ShareGPT rows with their images folder: as one zip, or as separate files. Survey files "
    "that are added with them give the spectra. Every row is checked before anything is saved. A long import "
    "runs in the background: you can leave this page."
)
# A page of problems is enough to see the pattern.
MOST_SHOWN = 200
MOST_LINKS = 8
_QUICK = 2.0
"""Seconds that the button waits for the end of a short import, before it shows the progress of a long one."""
_EVERY = 1.0  # seconds between two updates of the progress


@dataclass(frozen=True)
class ImportForm:
    """The form; ``outputs`` are the components that ``show`` changes when the tab is opened."""

    button: gr.Button
    view: Callable[[Sequence[int]], Changes]
    outputs: tuple[gr.Component, ...]
    importing: Importing

    def show(self, may_use: bool) -> Changes:
        last = self.importing.status() if may_use else None
        # A finished import was reported to the person who started it.
        unfinished = last is not None and (last.running or last.can_resume)
        changes = self.view([last.job.id] if last is not None and unfinished else [])
        return {**changes, self.button: gr.update(interactive=may_use and not (last is not None and last.running))}


def build(store: Store, local: bool, importing: Importing) -> ImportForm:
    """Build the form and its handlers."""
    markup(f'<h3>Import trajectories</h3><p class="about">{escape(_ABOUT)}</p>')
    files = gr.File(label="Rows, pictures, spectra, or a zip", file_count="multiple", height=84)
    with gr.Row(equal_height=True):
        batch = gr.Textbox(
            label="Batch name (for filtering)", placeholder="the file's name", max_length=100, max_lines=1
        )
        skip_bad = gr.Checkbox(label="Skip bad rows, import the rest", container=False)
    folders = " or ".join(map(str, importing.allowed))
    on_server = gr.Textbox(
        label="Or a file or folder on the server's disk",
        placeholder=f"inside {folders}",
        max_lines=1,
        max_length=1000,
        visible=bool(importing.allowed),
    )
    same_spectrum = gr.Radio(
        [
            ("ask me", "ask"),
            ("import them all the same", "import"),
            ("leave them out", "leave out"),
        ],
        value="ask",
        label="Spectra that are here already for the same task with another text",
    )
    button = gr.Button("Import", size="sm", elem_classes="so-small")
    message, results = message_line(), markup(elem_classes="so-results")
    with gr.Row():
        cancel = gr.Button("Cancel import", size="sm", elem_classes="so-small", visible=False)
        resume = gr.Button("Resume import", size="sm", elem_classes="so-small", visible=False)
    timer = gr.Timer(_EVERY, active=False)
    # Not gr.State, for which every page would keep a connection open.
    jobs = gr.JSON([], visible=False)
    outputs = (message, results, button, cancel, resume, timer, jobs)

    def view(numbers: Sequence[int]) -> Changes:
        """Show imports that were started together: their progress, or their result."""
        found = [status for number in numbers if (status := importing.status(number)) is not None]
        running = any(status.running for status in found)
        resumable = not running and any(status.can_resume for status in found)
        changes: Changes = {
            jobs: list(numbers),
            timer: gr.update(active=running),
            button: gr.update(interactive=not running),
            cancel: gr.update(visible=running),
            resume: gr.update(visible=resumable),
        }
        if running or resumable:
            now = next((s for s in found if s.job.state != "done"), found[-1])
            changes |= {message: _progress_line(now), results: _progress_bar(now)}
        elif found:
            outcomes = [(status.job, Findings.of(status.job)) for status in found]
            changes |= {message: _summary(store, outcomes), results: _details(outcomes)}
        return changes

    @report_errors(message)
    def import_files(
        request: gr.Request,
        paths: Sequence[str] | None,
        name: str,
        good_only: bool,
        others: SameSpectrum,
        path: str = "",
    ) -> Changes:
        me = require_manager(request, store, local).initials
        if not paths and not path.strip():
            return {message: line("look", "Add a file first.")}
        batch_name = name.strip()
        if paths:
            with unpacked([Path(path) for path in paths], importing.folder) as rows:
                asked = [request_of(r, r.parent, batch_name or r.name, good_only, others, uploaded=True) for r in rows]
                started = importing.start(asked, me)
        else:
            rows_file = file_at(importing.path_on_server(path))
            asked = [request_of(rows_file, rows_file.parent, batch_name or rows_file.name, good_only, others)]
            started = importing.start(asked, me)
        changes = _at_once(importing, [job.id for job in started], view)
        ended = [importing.status(job.id) for job in started]
        succeeded = all(s is not None and s.job.state == "done" and not Findings.of(s.job).bad for s in ended)
        return {**changes, **({files: None} if succeeded or changes[timer]["active"] else {})}

    @report_errors(message)
    def refresh(request: gr.Request, numbers: Sequence[int]) -> Changes:
        require_manager(request, store, local)
        return view(numbers)

    @report_errors(message)
    def cancel_import(request: gr.Request, numbers: Sequence[int]) -> Changes:
        require_manager(request, store, local)
        importing.cancel(numbers)
        return _at_once(importing, numbers, view)

    @report_errors(message)
    def resume_import(request: gr.Request, numbers: Sequence[int]) -> Changes:
        me = require_manager(request, store, local).initials
        again = [n for n in numbers if (status := importing.status(n)) is not None and status.can_resume]
        importing.resume(again, me)
        return view(numbers)

    shown = [*outputs, files]
    button.click(
        import_files,
        [files, batch, skip_bad, same_spectrum, *([on_server] if importing.allowed else [])],
        shown,
        show_progress_on=results,
        concurrency_id="library",
        concurrency_limit=1,
        api_visibility="private",
    )
    quiet: Any = {"show_progress": "hidden", "api_visibility": "private"}
    timer.tick(refresh, [jobs], shown, **quiet)
    cancel.click(cancel_import, [jobs], shown, **quiet)
    resume.click(resume_import, [jobs], shown, **quiet)
    return ImportForm(button, view, outputs, importing)


def _at_once(importing: Importing, numbers: Sequence[int], view: Callable[[Sequence[int]], Changes]) -> Changes:
    """Wait for the end of imports that take a moment, then show them."""
    until = time.monotonic() + _QUICK
    while time.monotonic() < until:
        if not any(status is not None and status.running for status in map(importing.status, numbers)):
            break
        time.sleep(0.1)
    return view(numbers)


_STEPS = {"check": "checking rows", "write": "adding rows"}


def _progress_line(status: ImportStatus) -> str:
    """Return what the import is doing, in steps of ten percent: a screen reader reads it aloud at each change."""
    job, found = status.job, Findings.of(status.job)
    name = job.request.file.name
    if status.running:
        percent = 10 * int(10 * _fraction(job))
        return line("note", f"Importing {name}: {_step(job)}, {percent} % done.")
    kept = f"{counted(found.added, 'item')} added so far"
    if job.state == "failed":
        return line("bad", f"The import of {name} failed. {job.message} Press “Resume import” to try again.")
    why = "was cancelled"
    if job.state != "cancelled":
        why = f"was interrupted, because its program ended ({status.log} may say why)"
    return line("look", f"The import of {name} {why}: {kept}. Press “Resume import” to go on from there.")


def _step(job: ImportJob) -> str:
    only_one = job.request.skip_bad and job.request.same_spectrum != "ask"
    number = "" if only_one else f"step {1 if job.progress.step == 'check' else 2} of 2, "
    return number + _STEPS[job.progress.step]


def _fraction(job: ImportJob) -> float:
    return min(1.0, job.progress.offset / job.request.size) if job.request.size else 1.0


def _progress_bar(status: ImportStatus) -> str:
    """Return the bar of the present step, with rows, rate and time left."""
    job, found, fraction = status.job, Findings.of(status.job), _fraction(status.job)
    seconds = job.progress.seconds
    parts = [counted(found.rows, "row") + " done"]
    if status.running and seconds > 0 and found.rows and fraction > 0:
        parts.append(f"{counted(round(found.rows / seconds), 'row')} per second")
        parts.append(f"{_duration(seconds * (1 - fraction) / fraction)} left in this step")
    value = f'value="{fraction:.4f}" max="1"'
    label = escape(f"Import of {job.request.file.name}: {_step(job)}")
    return (
        f'<div class="so-import"><progress {value} aria-label="{label}"></progress>'
        f"<p>{escape(f'{100 * fraction:.0f} %')} · {escape(' · '.join(parts))}</p></div>"
    )


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


Outcome = tuple[ImportJob, Findings]


def _summary(store: Store, outcomes: Sequence[Outcome]) -> str:
    added, others, bad = (sum(getattr(found, name) for _, found in outcomes) for name in ("added", "others", "bad"))
    here = _already_here(by_state(store, [pair for _, f in outcomes for pair in f.known_items], MOST_LINKS))
    choice = outcomes[0][0].request.same_spectrum
    if others and choice == "ask":
        question = (
            f"{_rows(others)} of spectra that are here already for the same task, with another text. Nothing was "
            "imported from their files: choose above what to do with such rows, then import again."
        )
        return line("look", question, here)
    refused = [(job, found) for job, found in outcomes if job.state == "refused"]
    if refused:
        what = "Nothing was imported" if len(refused) == len(outcomes) else _of_files(outcomes, refused)
        bad = sum(found.bad for _, found in refused)
        return line("bad", f'{what}: {_rows(bad)} cannot be used. Fix them, or tick "Skip bad rows".')
    text = f"{counted(added, 'new item')} in the queue." if added else "Nothing new."
    if others:
        done = "left out" if choice == "leave out" else "imported all the same"
        text += f" {_rows(others)} of spectra that were here already with another text: {done}."
    if bad:
        text += f" {_rows(bad)} skipped."
    more = sum(found.unlisted for _, found in outcomes)
    here += f" {_rows(more)} more of items that are already here." if more else ""
    link = f" {_open(store, next(f.added_items[0][0] for _, f in outcomes if f.added_items))}" if added else ""
    return line("look" if bad or others else "good", text, here + link)


def _of_files(outcomes: Sequence[Outcome], refused: Sequence[Outcome]) -> str:
    """Say which of several files were not imported, and how many items came from the others."""
    names = ", ".join(job.request.file.name for job, _ in refused)
    added = sum(found.added for job, found in outcomes if job.state == "done")
    return f"{counted(added, 'new item')} in the queue. Nothing was imported from {names}"


def _already_here(states: Mapping[State, tuple[int, list[int]]]) -> str:
    """Say which rows are in the database already, with links to their items."""
    parts = []
    for state, (count, items) in states.items():
        links = ", ".join(item_link(item) for item in items)
        more = f" and {count - len(items)} more" if count > len(items) else ""
        is_ = "is" if count == 1 else "are"
        restore = ". Restore them under “Withdraw a batch”" if state == "withdrawn" else ""
        here = f"already {state} here" if state in CLOSED else f"already here, in {state}"
        parts.append(f" {count} {is_} {here} ({links}{more}){restore}.")
    return "".join(parts)


def _open(store: Store, item: int) -> str:
    return batch_link(store.items.get(item).row.batch, "Open this batch in Review")


def _rows(count: int) -> str:
    return counted(count, "row")


def _details(outcomes: Sequence[Outcome]) -> str:
    """List the rows that cannot be used, and those whose spectrum is here already with another text."""
    rows = [
        [escape(job.request.file.name), str(problem.line), escape(problem.field), escape(problem.reason)]
        for job, found in outcomes
        for problem in found.problems
    ]
    rows += [
        [
            escape(job.request.file.name),
            str(other.line),
            escape(other.name),
            f"here with another text: {_links(other.items)}",
        ]
        for job, found in outcomes
        for other in found.other_texts
    ]
    if not rows:
        return ""
    rows = rows[:MOST_SHOWN]
    more = sum(found.bad + found.others for _, found in outcomes) - len(rows)
    shown = table(["File", "Row", "Field or spectrum", "What was found"], rows, empty="")
    return shown + (f'<p class="so-none">and {more} more</p>' if more > 0 else "")


def _links(items: Sequence[int]) -> str:
    return ", ".join(item_link(item) for item in items[:MOST_LINKS])
