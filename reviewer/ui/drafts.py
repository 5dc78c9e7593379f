"""The form of the Library tab that drafts survey files with the baseline and adds them to the queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Literal

import gradio as gr

from agent.batch.run import low_snr
from agent.batch.sources import SET_BY_OPTION
from agent.conversation import PolicyError
from agent.loop import run
from agent.policies.baseline.rule import Baseline
from agent.spectrum import Spectrum, SpectrumError, read_all
from agent.spectrum.record import Medium, with_medium
from agent.tasks import Task
from reviewer.store import Draft, Store
from reviewer.ui.widgets import Changes, line, markup, message_line, pill, report_errors, require_manager, table

_ABOUT = (
    "LAMOST, SDSS and DESI files, FITS images and tables, CSV, ECSV, text and Parquet, with or without gzip. A file "
    "with several targets gives one item per target. The baseline measures lines and follows a fixed rule. It is not a "
    "model, and its drafts are labelled as baseline everywhere."
)


_MEDIA = [("air (marked as assumed)", ""), ("air", "air"), ("vacuum", "vacuum")]


@dataclass(frozen=True)
class Outcome:
    """The result of one file: its new items, those that were already there, spectra below the S/N floor, and
    messages about problems.
    """

    file: str
    added: tuple[int, ...] = ()
    known: tuple[int, ...] = ()
    skipped: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    done: bool = False

    def with_item(self, item_id: int, new: bool) -> Outcome:
        """Return the outcome with one more item."""
        if new:
            return replace(self, added=(*self.added, item_id))
        return replace(self, known=(*self.known, item_id))

    def with_problem(self, problem: str) -> Outcome:
        return replace(self, problems=(*self.problems, problem))


def draft_file(
    store: Store,
    path: Path,
    task: Task,
    batch: str,
    by: str | None = None,
    min_snr: float | None = None,
    medium: Medium | None = None,
) -> Iterator[Outcome]:
    """Draft every spectrum of a file and yield the outcome after each; each item is stored at once.

    Problems with the file or its targets are in the outcome; they are not raised.

    :param by: initials of the person; None for the owner of the database file
    :param min_snr: spectra of a lower ``Spectrum.snr_typical`` are skipped; None: none are
    :param medium: of spectra whose file does not state it; None: as the reader assumes it
    """
    outcome = Outcome(path.name)
    try:
        for found in read_all(path):
            spectrum = found if medium is None else with_medium(found, medium, SET_BY_OPTION)
            low = "" if min_snr is None else low_snr(spectrum, min_snr)
            if low:
                outcome = replace(outcome, skipped=(*outcome.skipped, f"{spectrum.name}: {low}"))
            else:
                outcome = _with(outcome, store, spectrum, task, batch, by)
            yield outcome
    except SpectrumError as error:
        outcome = outcome.with_problem(str(error))
    yield replace(outcome, done=True)


def _with(outcome: Outcome, store: Store, spectrum: Spectrum, task: Task, batch: str, by: str | None) -> Outcome:
    try:
        trajectory = run(spectrum, task, Baseline())
    except PolicyError as error:
        return outcome.with_problem(f"{spectrum.name}: {error}")
    (added,) = store.items.add_all([Draft(trajectory, spectrum, batch)], by=by)
    return outcome.with_item(added.item_id, added.new)


@dataclass(frozen=True)
class DraftForm:
    """The components that other parts of the tab update."""

    button: gr.Button

    def show(self, may_use: bool) -> Changes:
        return {self.button: gr.update(interactive=may_use)}


def build(store: Store, local: bool, known: Mapping[str, Task]) -> DraftForm:
    """Build the form and its handlers."""
    markup(f'<h3>Draft from survey files</h3><p class="about">{escape(_ABOUT)}</p>')
    files = gr.File(label="Survey files", file_count="multiple", height=84)
    with gr.Row(equal_height=True):
        titles = [(task.title, key) for key, task in known.items()]
        task_key = gr.Dropdown(titles, label="Question: is it a …", value=None, scale=2)
        batch = gr.Textbox(label="Batch name (for filtering)", placeholder="e.g. plate 56414", max_length=100, scale=2)
        medium = gr.Dropdown(_MEDIA, value="", label="Wavelengths, where the file does not say", scale=2)
        snr_floor = gr.Number(label="Skip below S/N per pixel (empty: none)", value=None, minimum=0, scale=1)
    with gr.Row(equal_height=True):
        button = gr.Button("Draft with the baseline", variant="primary", size="sm", scale=0, min_width=190)
        stop = gr.Button("Stop", size="sm", scale=0, min_width=90)
    message, results = message_line(), markup(elem_classes="so-results")

    @report_errors(message)
    def draft(
        request: gr.Request,
        paths: Sequence[str] | None,
        key: str | None,
        name: str,
        stated: Medium | Literal[""],
        min_snr: float | None,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Iterator[Changes]:
        me = require_manager(request, store, local).initials
        if not paths or key is None or key not in known:
            yield {message: line("look", "Add at least one file and choose a question.")}
            return
        outcomes: list[Outcome] = []
        for number, path in enumerate(map(Path, paths)):
            progress((number, len(paths)), desc=path.name, unit="files")
            outcomes.append(Outcome(path.name))
            for outcomes[-1] in draft_file(store, path, known[key], name.strip(), me, min_snr, stated or None):
                yield {message: "", results: _table(outcomes)}
        yield {message: _summary(outcomes), results: _table(outcomes), files: None}

    started = button.click(
        draft,
        [files, task_key, batch, medium, snr_floor],
        [message, results, files],
        show_progress_on=results,
        concurrency_id="library",
        concurrency_limit=1,
        api_visibility="private",
    )
    stop.click(
        lambda: line("note", "Stopped. Items drafted so far are in the queue."),
        outputs=message,
        cancels=[started],
        queue=False,
        api_visibility="private",
    )
    return DraftForm(button)


def _summary(outcomes: Sequence[Outcome]) -> str:
    added = sum(len(o.added) for o in outcomes)
    refused = [o for o in outcomes if o.problems]
    if not refused:
        return line("good", f"Done. {_items(added)} new in the queue; open the Review tab to screen them.")
    text = f"{_items(added)} new in the queue. {len(refused)} of {len(outcomes)} files had a problem."
    return line("look" if added else "bad", text)


def _table(outcomes: Sequence[Outcome]) -> str:
    return table(["File", "What happened"], [[escape(o.file), _in_words(o)] for o in outcomes], empty="")


def _in_words(outcome: Outcome) -> str:
    parts = []
    if outcome.added:
        parts.append(f"{pill('drafted', 'green')} {_items(len(outcome.added))} {_numbers(outcome.added)}")
    if outcome.known:
        parts.append(f"{pill('known', 'grey')} drafted before, nothing was added {_numbers(outcome.known)}")
    parts += [f"{pill('skipped', 'grey')} {escape(reason)}" for reason in outcome.skipped]
    parts += [f"{pill('refused', 'red')} {escape(problem)}" for problem in outcome.problems]
    if not outcome.done:
        parts.append(f"{pill('working …')}")
    return "<br>".join(parts)


def _items(count: int) -> str:
    return "1 item" if count == 1 else f"{count} items"


def _numbers(ids: Sequence[int]) -> str:
    """Return ``#12`` or ``#12 to #48``: numbers to search for in the queue."""
    first, last = min(ids), max(ids)
    return f"#{first}" if first == last else f"#{first} to #{last}"
