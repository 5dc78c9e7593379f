"""The form of the Library tab that withdraws a batch that came in by mistake, and restores it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from agent.language import tr, trn
from reviewer.rules.item_numbers import ItemNumbersError, item_numbers
from reviewer.store import Batch, Selection, Store, Untouched
from reviewer.ui.widgets import (
    Changes,
    grouped,
    item_link,
    items,
    line,
    markup,
    message_line,
    report_errors,
    require_manager,
)

_SHOWN = 5  # items that stay, named in the preview


@dataclass(frozen=True)
class WithdrawForm:
    """The components that other parts of the tab update."""

    batch: gr.Dropdown
    numbers: gr.Textbox
    preview: gr.HTML
    withdraw: gr.Button
    restore: gr.Button

    @property
    def outputs(self) -> list[Any]:
        return [self.batch, self.preview, self.withdraw, self.restore]

    def show(self, store: Store, may_use: bool) -> Changes:
        """Return the batches that there are now; nothing is chosen."""
        return {
            self.batch: gr.update(choices=_choices(store.withdrawals.batches()), value=None, interactive=may_use),
            **self.offer(None),
        }

    def offer(self, untouched: Untouched | None) -> Changes:
        """Return the preview of a selection and its buttons; None: nothing is chosen."""
        free, withdrawn = (len(untouched.items), len(untouched.withdrawn)) if untouched else (0, 0)
        return {
            self.preview: _described(untouched) if untouched else "",
            self.withdraw: gr.update(
                value=trn("Withdraw {n} item", "Withdraw {n} items", free, n=grouped(free)), visible=free > 0
            ),
            self.restore: gr.update(
                value=trn("Restore {n} item", "Restore {n} items", withdrawn, n=grouped(withdrawn)),
                visible=withdrawn > 0,
            ),
        }


def build(store: Store, local: bool) -> WithdrawForm:
    """Build the form and its handlers."""
    about = tr(
        "For items that were drafted or imported by mistake. Withdrawn items are in no queue, no export and no figure; "
        "nothing is deleted, and they can be restored. Items that people have worked on stay."
    )
    markup(f'<h3>{escape(tr("Withdraw a batch"))}</h3><p class="about">{escape(about)}</p>')
    with gr.Row(equal_height=True):
        batch = gr.Dropdown([], label=tr("Batch to withdraw"), value=None, scale=2, min_width=180)
        numbers = gr.Textbox(
            label=tr("Only these items (empty: all)"), placeholder=tr("e.g. 12-48"), scale=1, max_length=40
        )
    preview = message_line()
    with gr.Row(equal_height=True):
        withdraw = gr.Button(tr("Withdraw"), size="sm", variant="stop", visible=False, scale=0, min_width=150)
        restore = gr.Button(tr("Restore"), size="sm", visible=False, scale=0, min_width=150)
    message = message_line()
    form = WithdrawForm(batch, numbers, preview, withdraw, restore)

    @report_errors(message)
    def preview_items(request: gr.Request, name: str | None, only: str) -> Changes:
        me = require_manager(request, store, local).initials
        chosen = _selection(name, only)
        return {**form.offer(store.withdrawals.preview(chosen, me) if chosen else None), message: ""}

    @report_errors(message)
    def withdraw_items(request: gr.Request, name: str | None, only: str) -> Changes:
        me = require_manager(request, store, local).initials
        chosen = _required(_selection(name, only))
        done = store.withdrawals.withdraw(me, chosen)
        text = line(
            "good", trn("{n} item withdrawn.", "{n} items withdrawn.", len(done.items), n=grouped(len(done.items)))
        )
        return {**_again(form, store, me, chosen), message: text}

    @report_errors(message)
    def restore_items(request: gr.Request, name: str | None, only: str) -> Changes:
        me = require_manager(request, store, local).initials
        chosen = _required(_selection(name, only))
        done = store.withdrawals.restore(me, chosen)
        text = line(
            "good",
            trn(
                "{n} item restored: in screening again.",
                "{n} items restored: in screening again.",
                len(done),
                n=grouped(len(done)),
            ),
        )
        return {**_again(form, store, me, chosen), message: text}

    given = [batch, numbers]
    quiet: Mapping[str, Any] = {
        "outputs": [*form.outputs, message],
        "show_progress": "hidden",
        "api_visibility": "private",
    }
    gr.on([batch.input, numbers.change], preview_items, given, trigger_mode="always_last", **quiet)
    withdraw.click(withdraw_items, given, **quiet)
    restore.click(restore_items, given, **quiet)
    return form


def _again(form: WithdrawForm, store: Store, me: str, chosen: Selection) -> Changes:
    return {
        form.batch: gr.update(choices=_choices(store.withdrawals.batches()), value=chosen.batch),
        **form.offer(store.withdrawals.preview(chosen, me)),
    }


def _selection(name: str | None, only: str) -> Selection | None:
    numbers = item_numbers(only)
    if name is None:
        return None
    return Selection(name) if numbers is None else Selection(name, *numbers)


def _required(chosen: Selection | None) -> Selection:
    if chosen is None:
        raise ItemNumbersError(tr("Choose a batch first."))
    return chosen


def _choices(batches: list[Batch]) -> list[tuple[str, str]]:
    return [(_label(batch), batch.name) for batch in batches]


def _label(batch: Batch) -> str:
    numbers = (
        f"#{batch.first}"
        if batch.first == batch.last
        else tr("#{first} to #{last}", first=batch.first, last=batch.last)
    )
    parts = [items(batch.items), numbers]
    if batch.withdrawn:
        parts.append(tr("{n} withdrawn", n=batch.withdrawn))
    return f"{batch.name or tr('(no name)')} · {tr(', ').join(parts)}"


def _described(untouched: Untouched) -> str:
    all_items = len(untouched.items) + len(untouched.worked_on)
    if not all_items:
        if not untouched.withdrawn:
            return line("note", tr("No item of this batch has such a number."))
        number = len(untouched.withdrawn)
        text = trn("{n} item, all withdrawn.", "{n} items, all withdrawn.", number, n=grouped(number))
        return line("note", text)
    if not untouched.worked_on:
        return line("note", trn("{n} item, none touched.", "{n} items, none touched.", all_items, n=grouped(all_items)))
    stay = [f"{item_link(item)} ({escape(tr(what))})" for item, what in list(untouched.worked_on.items())[:_SHOWN]]
    more = len(untouched.worked_on) - len(stay)
    text = trn(
        "{n} item, {touched} of them touched by people.",
        "{n} items, {touched} of them touched by people.",
        all_items,
        n=grouped(all_items),
        touched=len(untouched.worked_on),
    )
    linked = tr(", ").join(stay)
    these = tr("These stay: {items} and {n} more.") if more > 0 else tr("These stay: {items}.")
    return line("look", text, " " + escape(these).format(items=linked, n=more))
