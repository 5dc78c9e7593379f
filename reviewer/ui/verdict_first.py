"""The form for the batches in which everyone gives a verdict before they see the answer."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from agent.language import tr
from reviewer.store import Store
from reviewer.ui.widgets import Changes, line, markup, message_line, report_errors, require_person
from reviewer.web.verdict_first import RULE


@dataclass(frozen=True)
class VerdictFirstForm:
    """The components that other parts of the tab update."""

    batches: gr.CheckboxGroup
    save: gr.Button
    message: gr.HTML

    @property
    def outputs(self) -> list[Any]:
        return [self.batches, self.save, self.message]

    def show(self, store: Store, may_change: bool) -> Changes:
        """Return the batches with the rule, editable or not."""
        chosen = [str(batch) for batch in store.settings.get(RULE, ())]
        choices = sorted({*store.queue.facets()["batch"], *chosen})
        return {
            self.batches: gr.update(choices=choices, value=chosen, interactive=may_change),
            self.save: gr.update(visible=may_change and bool(choices)),
            self.message: "",
        }


def build(store: Store, local: bool) -> VerdictFirstForm:
    """The form, and what happens when it is used. Only a coordinator's changes are kept."""
    about = tr(
        "In these batches each person gives a verdict before they see names, thoughts and the answer, and before they "
        "decide. The name of a batch stays in the filter: choose one that does not tell the class."
    )
    markup(f"<h3>{escape(tr('Verdict first'))}</h3>")
    batches = gr.CheckboxGroup([], label=tr("Batches"), info=about)
    save = gr.Button(tr("Save batches"), size="sm", elem_classes="so-small")
    message = message_line()
    form = VerdictFirstForm(batches, save, message)

    @report_errors(message)
    def save_batches(request: gr.Request, chosen: list[str]) -> Changes:
        person = require_person(request, store, local, "coordinator")
        store.settings.set(person.initials, RULE, sorted(chosen))
        return {**form.show(store, may_change=True), message: line("good", tr("Saved. The rule applies at once."))}

    save.click(save_batches, batches, form.outputs, show_progress="hidden", api_visibility="private")
    return form
