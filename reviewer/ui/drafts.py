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
from agent.language import tr, trn
from agent.loop import run
from agent.policies.baseline.rule import Baseline
from agent.spectrum import Spectrum, SpectrumError, read_all
from agent.spectrum.record import Medium, with_medium
from agent.tasks import Task
from reviewer.exchange.imports import SameSpectrum
from reviewer.exchange.recognition import Recognition
from reviewer.reading import each_in_turn
from reviewer.store import Draft, Store
from reviewer.ui.widgets import (
    Changes,
    batch_link,
    grouped,
    item_link,
    items,
    line,
    markup,
    message_line,
    new_items,
    pill,
    report_errors,
    require_manager,
    sentences,
    table,
)


@dataclass(frozen=True)
class Outcome:
    """The result of one file: its new items, those that were already there, those of the same spectra and task with
    another text, spectra below the S/N floor, and messages about problems.
    """

    file: str
    added: tuple[int, ...] = ()
    known: tuple[int, ...] = ()
    others: tuple[int, ...] = ()
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
    leave_out_others: bool = False,
) -> Iterator[Outcome]:
    """Draft every spectrum of a file and yield the outcome after each; each item is stored at once.

    Problems with the file or its targets are in the outcome; they are not raised.

    :param by: initials of the person; None for the owner of the database file
    :param min_snr: spectra of a lower ``Spectrum.snr_typical`` are skipped; None: none are
    :param medium: of spectra whose file does not state it; None: as the reader assumes it
    :param leave_out_others: add no draft of a spectrum that is here for the same task with another text
    """
    outcome = Outcome(path.name)
    recognition = Recognition(store)
    try:
        for read_spectrum in each_in_turn(read_all(path)):
            spectrum = read_spectrum if medium is None else with_medium(read_spectrum, medium, SET_BY_OPTION)
            low = "" if min_snr is None else tr(low_snr(spectrum, min_snr))
            if low:
                outcome = replace(outcome, skipped=(*outcome.skipped, _of_target(path, spectrum, low)))
                yield outcome
                continue
            try:
                draft = Draft(run(spectrum, task, Baseline()), spectrum, batch)
            except PolicyError as error:
                outcome = outcome.with_problem(_of_target(path, spectrum, str(error)))
            else:
                outcome = _added(outcome, store, recognition, draft, by, leave_out_others)
            yield outcome
    except SpectrumError as error:
        outcome = outcome.with_problem(
            tr("found {found}; expected {expected}", found=error.actual, expected=error.expected)
        )
    yield replace(outcome, done=True)


def _added(
    outcome: Outcome, store: Store, recognition: Recognition, draft: Draft, by: str | None, leave_out_others: bool
) -> Outcome:
    here = recognition.find(draft)
    if here.same is not None:
        return outcome.with_item(here.same, new=False)
    if here.others:
        outcome = replace(outcome, others=(*outcome.others, *here.others))
        if leave_out_others:
            return outcome
    (added,) = store.items.add_all([draft], by=by)
    return outcome.with_item(added.item_id, added.new)


def _of_target(path: Path, spectrum: Spectrum, text: str) -> str:
    """Name the target, if its name is another one than the file's, which the table shows already."""
    return text if spectrum.name == path.name else f"{spectrum.name}: {text}"


@dataclass(frozen=True)
class DraftForm:
    """The components that other parts of the tab update."""

    button: gr.Button

    def show(self, may_use: bool) -> Changes:
        return {self.button: gr.update(interactive=may_use)}


def build(store: Store, local: bool, known: Mapping[str, Task]) -> DraftForm:
    """Build the form and its handlers."""
    about = tr(
        "LAMOST, SDSS and DESI files, FITS images and tables, CSV, ECSV, text, JSON and Parquet, with or without gzip. "
        "A file with several targets gives one item per target. The baseline measures lines and follows a fixed "
        "rule. It is not a model, and its drafts are labelled as baseline everywhere."
    )
    markup(f'<h3>{escape(tr("Draft from survey files"))}</h3><p class="about">{escape(about)}</p>')
    files = gr.File(label=tr("Survey files"), file_count="multiple", elem_classes="so-files")
    with gr.Row(equal_height=True):
        titles = [(task.title, key) for key, task in known.items()]
        task_key = gr.Dropdown(titles, label=tr("Question: is it a …"), value=None, scale=2)
        batch = gr.Textbox(
            label=tr("Batch name (for filtering)"), placeholder=tr("e.g. plate 56414"), max_length=100, scale=2
        )
    with gr.Row(equal_height=True):
        media = [(tr("air (assumed)"), ""), (tr("air"), "air"), (tr("vacuum"), "vacuum")]
        medium = gr.Dropdown(media, value="", label=tr("Wavelengths, where the file does not say"), scale=2)
        snr_floor = gr.Number(label=tr("Skip below S/N per pixel (0: none)"), value=0, minimum=0, scale=1)
    same_spectrum = gr.Radio(
        [(tr("leave them out"), "leave out"), (tr("draft them all the same"), "import")],
        value="leave out",
        label=tr("Spectra that are here already for the same question with another text"),
    )
    with gr.Row(equal_height=True):
        button = gr.Button(tr("Draft with the baseline"), variant="primary", size="sm", scale=0, min_width=190)
        stop = gr.Button(tr("Stop"), size="sm", scale=0, min_width=90, visible=False)
    message, results = message_line(), markup(elem_classes="so-results")

    @report_errors(message)
    def draft(
        request: gr.Request,
        paths: Sequence[str] | None,
        key: str | None,
        name: str,
        stated: Medium | Literal[""],
        min_snr: float | None,
        others: SameSpectrum,
    ) -> Iterator[Changes]:
        me = require_manager(request, store, local).initials
        if not paths or key is None or key not in known:
            yield {message: line("look", tr("Add at least one file and choose a question."))}
            return
        running = {button: gr.update(interactive=False), stop: gr.update(visible=True)}
        ready = {button: gr.update(interactive=True), stop: gr.update(visible=False)}
        outcomes: list[Outcome] = []
        leave_out = others == "leave out"
        try:
            for number, path in enumerate(map(Path, paths), start=1):
                outcomes.append(Outcome(path.name))
                text = line(
                    "note",
                    tr("Drafting file {number} of {all}: {name}", number=number, all=len(paths), name=path.name),
                )
                yield {message: text, results: _table(outcomes), **running}
                for outcomes[-1] in draft_file(
                    store, path, known[key], name.strip(), me, min_snr or None, stated or None, leave_out
                ):
                    yield {message: text, results: _table(outcomes), **running}
        except Exception:
            yield ready
            raise
        yield {message: _summary(store, outcomes), results: _table(outcomes), files: None, **ready}

    started = button.click(
        draft,
        [files, task_key, batch, medium, snr_floor, same_spectrum],
        [message, results, files, button, stop],
        # The table is what shows the progress; Gradio would cover it.
        show_progress="hidden",
        concurrency_id="library",
        concurrency_limit=1,
        api_visibility="private",
    )
    stop.click(
        lambda: {
            message: line("note", tr("Stopped. Items drafted so far are in the queue.")),
            button: gr.update(interactive=True),
            stop: gr.update(visible=False),
        },
        outputs=[message, button, stop],
        cancels=[started],
        queue=False,
        api_visibility="private",
    )
    return DraftForm(button)


def _summary(store: Store, outcomes: Sequence[Outcome]) -> str:
    added = [item for o in outcomes for item in o.added]
    refused = [o for o in outcomes if o.problems]
    others = len({item for o in outcomes for item in o.others})
    text = sentences(
        new_items(len(added)),
        trn(
            "{n} item of the same spectra was here already with another text.",
            "{n} items of the same spectra were here already with another text.",
            others,
            n=grouped(others),
        )
        if others
        else "",
        trn(
            "{refused} of {n} file had a problem.",
            "{refused} of {n} files had a problem.",
            len(outcomes),
            n=grouped(len(outcomes)),
            refused=len(refused),
        )
        if refused
        else "",
    )
    link = f" {batch_link(store.items.get(added[0]).row.batch, tr('Open this batch in Review'))}" if added else ""
    return line("good" if added and not refused else "look" if added or not refused else "bad", text, link)


def _table(outcomes: Sequence[Outcome]) -> str:
    return table([tr("File"), tr("What happened")], [[escape(o.file), _in_words(o)] for o in outcomes], empty="")


def _in_words(outcome: Outcome) -> str:
    parts = []
    if outcome.added:
        parts.append(f"{pill(tr('drafted'), 'green')} {items(len(outcome.added))} {_numbers(outcome.added)}")
    if outcome.known:
        parts.append(
            f"{pill(tr('known'), 'grey')} {escape(tr('drafted before, nothing was added'))} {_numbers(outcome.known)}"
        )
    if outcome.others:
        parts.append(
            f"{pill(tr('same spectrum'), 'amber')} {escape(tr('here already with another text'))} "
            f"{_numbers(outcome.others)}"
        )
    parts += [f"{pill(tr('skipped'), 'grey')} {escape(reason)}" for reason in outcome.skipped]
    parts += [f"{pill(tr('refused'), 'red')} {escape(problem)}" for problem in outcome.problems]
    if not outcome.done:
        parts.append(f"{pill(tr('working …'))}")
    return "<br>".join(parts)


def _numbers(ids: Sequence[int]) -> str:
    """Return ``#12`` or ``#12 to #48``, as links that open the items."""
    first, last = min(ids), max(ids)
    return item_link(first) if first == last else tr("{first} to {last}", first=item_link(first), last=item_link(last))
