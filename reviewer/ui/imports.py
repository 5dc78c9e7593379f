"""The import form of the Library tab: trajectories as Spec-o3 JSON Lines, or ShareGPT rows with images."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from agent.language import tr, trn
from reviewer.exchange.draft_file import file_at
from reviewer.exchange.imports import Findings, request_of
from reviewer.exchange.recognition import by_state
from reviewer.exchange.uploads import unpacked
from reviewer.rules.campaign import CLOSED, State
from reviewer.store import ImportJob, SameSpectrum, Store
from reviewer.ui.widgets import (
    Changes,
    batch_link,
    grouped,
    item_link,
    line,
    markup,
    message_line,
    new_items,
    report_errors,
    require_manager,
    sentences,
    table,
)
from reviewer.web.background.importing import Importing, ImportStatus

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
    about = tr(
        "Spec-o3 JSON Lines, or ShareGPT rows with their images folder: as one zip, or as separate files. Survey files "
        "that are added with them give the spectra. Every row is checked before anything is saved. A long import "
        "runs in the background: you can leave this page."
    )
    markup(f'<h3>{escape(tr("Import trajectories"))}</h3><p class="about">{escape(about)}</p>')
    files = gr.File(label=tr("Rows, pictures, spectra, or a zip"), file_count="multiple", height=84)
    with gr.Row(equal_height=True):
        batch = gr.Textbox(
            label=tr("Batch name (for filtering)"), placeholder=tr("the file's name"), max_length=100, max_lines=1
        )
        skip_bad = gr.Checkbox(label=tr("Skip bad rows, import the rest"), container=False)
    folders = tr(" or ").join(map(str, importing.allowed))
    on_server = gr.Textbox(
        label=tr("Or a file or folder on the server's disk"),
        placeholder=tr("inside {folders}", folders=folders),
        max_lines=1,
        max_length=1000,
        visible=bool(importing.allowed),
    )
    same_spectrum = gr.Radio(
        [
            (tr("ask me"), "ask"),
            (tr("import them all the same"), "import"),
            (tr("leave them out"), "leave out"),
        ],
        value="ask",
        label=tr("Spectra that are here already for the same task with another text"),
    )
    button = gr.Button(tr("Import"), size="sm", elem_classes="so-small")
    message, results = message_line(), markup(elem_classes="so-results")
    with gr.Row():
        cancel = gr.Button(tr("Cancel import"), size="sm", elem_classes="so-small", visible=False)
        resume = gr.Button(tr("Resume import"), size="sm", elem_classes="so-small", visible=False)
    timer = gr.Timer(_EVERY, active=False)
    # Not gr.State, for which every page would keep a connection open.
    jobs = gr.JSON([], visible=False)
    outputs = (message, results, button, cancel, resume, timer, jobs)

    def view(numbers: Sequence[int]) -> Changes:
        """Show imports that were started together: their progress, or their result."""
        statuses = [status for number in numbers if (status := importing.status(number)) is not None]
        running = any(status.running for status in statuses)
        resumable = not running and any(status.can_resume for status in statuses)
        changes: Changes = {
            jobs: list(numbers),
            timer: gr.update(active=running),
            button: gr.update(interactive=not running),
            cancel: gr.update(visible=running),
            resume: gr.update(visible=resumable),
        }
        if running or resumable:
            now = next((s for s in statuses if s.job.state != "done"), statuses[-1])
            changes |= {message: _progress_line(now), results: _progress_bar(now)}
        elif statuses:
            outcomes = [(status.job, Findings.of(status.job)) for status in statuses]
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
            return {message: line("look", tr("Add a file first."))}
        batch_name = name.strip()
        if paths:
            with unpacked([Path(path) for path in paths], importing.folder) as rows:
                requests = [
                    request_of(r, r.parent, batch_name or r.name, good_only, others, uploaded=True) for r in rows
                ]
                started = importing.start(requests, me)
        else:
            rows_file = file_at(importing.path_on_server(path))
            requests = [request_of(rows_file, rows_file.parent, batch_name or rows_file.name, good_only, others)]
            started = importing.start(requests, me)
        changes = _at_once(importing, [job.id for job in started], view)
        ended = [importing.status(job.id) for job in started]
        succeeded = all(s is not None and s.job.state == "done" and not Findings.of(s.job).bad for s in ended)
        # A longer import may still ask what to do with spectra that are here: the answer needs the files again.
        leaves = changes[timer]["active"] and others != "ask"
        return {**changes, **({files: None} if succeeded or leaves else {})}

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


def _progress_line(status: ImportStatus) -> str:
    """Return what the import is doing, in steps of ten percent: a screen reader reads it aloud at each change."""
    job, findings = status.job, Findings.of(status.job)
    name = job.request.file.name
    if status.running:
        percent = 10 * int(10 * _fraction(job))
        text = tr("Importing {file}: {step}, {percent} % done.", file=name, step=_step(job), percent=percent)
        return line("note", text)
    if job.state == "failed":
        failed = tr("The import of {file} failed.", file=name)
        return line("bad", sentences(failed, job.message, tr("Press “Resume import” to try again.")))
    values = {"file": name, "n": grouped(findings.added)}
    if job.state == "cancelled":
        text = trn(
            "The import of {file} was cancelled: {n} item added so far.",
            "The import of {file} was cancelled: {n} items added so far.",
            findings.added,
            **values,
        )
    else:
        text = trn(
            "The import of {file} was interrupted, because its program ended ({log} may say why): {n} item added so "
            "far.",
            "The import of {file} was interrupted, because its program ended ({log} may say why): {n} items added so "
            "far.",
            findings.added,
            log=status.log,
            **values,
        )
    return line("look", sentences(text, tr("Press “Resume import” to go on from there.")))


def _step(job: ImportJob) -> str:
    checking = job.progress.step == "check"
    if job.request.skip_bad and job.request.same_spectrum != "ask":
        return tr("checking rows") if checking else tr("adding rows")
    return tr("step 1 of 2, checking rows") if checking else tr("step 2 of 2, adding rows")


def _fraction(job: ImportJob) -> float:
    return min(1.0, job.progress.offset / job.request.size) if job.request.size else 1.0


def _progress_bar(status: ImportStatus) -> str:
    """Return the bar of the present step, with rows, rate and time left."""
    job, findings, fraction = status.job, Findings.of(status.job), _fraction(status.job)
    seconds = job.progress.seconds
    parts = [trn("{n} row done", "{n} rows done", findings.rows, n=grouped(findings.rows))]
    if status.running and seconds > 0 and findings.rows and fraction > 0:
        rate = round(findings.rows / seconds)
        parts.append(trn("{n} row per second", "{n} rows per second", rate, n=grouped(rate)))
        parts.append(tr("{time} left in this step", time=_duration(seconds * (1 - fraction) / fraction)))
    value = f'value="{fraction:.4f}" max="1"'
    label = escape(tr("Import of {file}: {step}", file=job.request.file.name, step=_step(job)))
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
    added, others, bad = (
        sum(getattr(findings, name) for _, findings in outcomes) for name in ("added", "others", "bad")
    )
    here = _already_here(by_state(store, [pair for _, f in outcomes for pair in f.known_items], MOST_LINKS))
    choice = outcomes[0][0].request.same_spectrum
    if others and choice == "ask":
        question = trn(
            "{n} row of spectra that are here already for the same task, with another text.",
            "{n} rows of spectra that are here already for the same task, with another text.",
            others,
            n=grouped(others),
        )
        what_next = tr(
            "Nothing was imported from their files: choose above what to do with such rows, then import again."
        )
        return line("look", sentences(question, what_next), here)
    refused = [(job, findings) for job, findings in outcomes if job.state == "refused"]
    if refused:
        bad = sum(findings.bad for _, findings in refused)
        problem = _refused(outcomes, refused, bad)
        return line("bad", sentences(problem, tr('Fix them, or tick "Skip bad rows".')))
    control = sum(findings.control for _, findings in outcomes)
    text = sentences(new_items(added), _other_texts(others, choice), _with_control_tokens(control), _skipped(bad))
    more = sum(findings.unlisted for _, findings in outcomes)
    if more:
        here += " " + trn(
            "{n} row more of items that are already here.",
            "{n} rows more of items that are already here.",
            more,
            n=grouped(more),
        )
    link = f" {_open(store, next(f.added_items[0][0] for _, f in outcomes if f.added_items))}" if added else ""
    return line("look" if bad or others or control else "good", text, here + link)


def _with_control_tokens(rows: int) -> str:
    if not rows:
        return ""
    return trn(
        "{n} row has control tokens of the tokenizer in its texts, e.g. <|im_end|>; it is left out of training until "
        "they are removed.",
        "{n} rows have control tokens of the tokenizer in their texts, e.g. <|im_end|>; they are left out of training "
        "until they are removed.",
        rows,
        n=grouped(rows),
    )


def _other_texts(others: int, choice: SameSpectrum) -> str:
    if not others:
        return ""
    if choice == "leave out":
        return trn(
            "{n} row of spectra that were here already with another text: left out.",
            "{n} rows of spectra that were here already with another text: left out.",
            others,
            n=grouped(others),
        )
    return trn(
        "{n} row of spectra that were here already with another text: imported all the same.",
        "{n} rows of spectra that were here already with another text: imported all the same.",
        others,
        n=grouped(others),
    )


def _skipped(bad: int) -> str:
    return trn("{n} row skipped.", "{n} rows skipped.", bad, n=grouped(bad)) if bad else ""


def _refused(outcomes: Sequence[Outcome], refused: Sequence[Outcome], bad: int) -> str:
    """Say from which files nothing was imported, and how many items came from the others."""
    if len(refused) == len(outcomes):
        return trn(
            "Nothing was imported: {n} row cannot be used.",
            "Nothing was imported: {n} rows cannot be used.",
            bad,
            n=grouped(bad),
        )
    added = sum(findings.added for job, findings in outcomes if job.state == "done")
    nothing = trn(
        "Nothing was imported from {files}: {n} row cannot be used.",
        "Nothing was imported from {files}: {n} rows cannot be used.",
        bad,
        n=grouped(bad),
        files=", ".join(job.request.file.name for job, _ in refused),
    )
    came = trn("{n} new item in the queue.", "{n} new items in the queue.", added, n=grouped(added))
    return sentences(came, nothing)


def _already_here(states: Mapping[State, tuple[int, list[int]]]) -> str:
    """Say which rows are in the database already, with links to their items."""
    parts = []
    for state, (count, ids) in states.items():
        links = tr(", ").join(item_link(item) for item in ids)
        if count > len(ids):
            links = tr("{links} and {n} more", links=links, n=count - len(ids))
        values = {"state": tr(state), "links": links}
        if state not in CLOSED:
            text = trn(
                "{n} is already here, in {state} ({links}).",
                "{n} are already here, in {state} ({links}).",
                count,
                **values,
            )
        elif state != "withdrawn":
            text = trn(
                "{n} is already {state} here ({links}).", "{n} are already {state} here ({links}).", count, **values
            )
        else:
            text = trn(
                "{n} is already {state} here ({links}). Restore them under “Withdraw a batch”.",
                "{n} are already {state} here ({links}). Restore them under “Withdraw a batch”.",
                count,
                **values,
            )
        parts.append(f" {text}")
    return "".join(parts)


def _open(store: Store, item: int) -> str:
    return batch_link(store.items.get(item).row.batch, tr("Open this batch in Review"))


def _details(outcomes: Sequence[Outcome]) -> str:
    """List the rows that cannot be used, and those whose spectrum is here already with another text."""
    rows = [
        [escape(job.request.file.name), str(problem.line), escape(problem.field), escape(problem.reason)]
        for job, findings in outcomes
        for problem in findings.problems
    ]
    rows += [
        [
            escape(job.request.file.name),
            str(other.line),
            escape(other.name),
            tr("here with another text: {items}", items=_links(other.items)),
        ]
        for job, findings in outcomes
        for other in findings.other_texts
    ]
    if not rows:
        return ""
    rows = rows[:MOST_SHOWN]
    more = sum(findings.bad + findings.others for _, findings in outcomes) - len(rows)
    shown = table([tr("File"), tr("Row"), tr("Field or spectrum"), tr("What was found")], rows, empty="")
    return shown + (f'<p class="so-none">{escape(tr("and {n} more", n=more))}</p>' if more > 0 else "")


def _links(items: Sequence[int]) -> str:
    return ", ".join(item_link(item) for item in items[:MOST_LINKS])
