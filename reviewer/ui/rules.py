"""The form for the rules of a campaign: how many people each round needs."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import gradio as gr

from agent.language import deferred, tr, trn
from reviewer.rules.campaign import Rules, RulesError
from reviewer.store import Store
from reviewer.ui.widgets import Changes, line, markup, message_line, report_errors, require_person, sentences

_COUNTS = {
    "auditors": deferred("Audits"),
    "votes": deferred("Votes"),
    "approve_at": deferred("To approve"),
    "reject_at": deferred("To reject"),
}


def in_words(rules: Rules) -> str:
    """Describe the rules in a sentence."""
    if rules.solo:
        return tr(
            "One person may screen, revise, audit and vote on the same item; one audit and one vote are enough. Every "
            "export says so."
        )
    audits = trn(
        "1 person audits each revised item, none of them its author.",
        "{n} people audit each revised item, none of them its author.",
        rules.auditors,
    )
    votes = trn(
        "If all pass, 1 person votes: {approve} to approve make it approved, {reject} to reject make it rejected.",
        "If all pass, {n} people vote: {approve} to approve make it approved, {reject} to reject make it rejected.",
        rules.votes,
        approve=rules.approve_at,
        reject=rules.reject_at,
    )
    split = tr("Any other outcome goes to adjudication by someone who has not judged the item yet.")
    return sentences(audits, votes, split if rules.votes > 1 else "")


@dataclass(frozen=True)
class RulesForm:
    """The components that other parts of the tab update."""

    solo: gr.Checkbox
    counts: list[gr.Number]
    words: gr.HTML
    save: gr.Button
    message: gr.HTML
    saved: Any = None

    @property
    def outputs(self) -> list[Any]:
        return [self.solo, *self.counts, self.words, self.save, self.message]

    def show(self, rules: Rules, may_change: bool) -> Changes:
        """Return the rules in force, editable or not."""
        return {
            self.solo: gr.update(value=rules.solo, interactive=may_change),
            **{
                field: gr.update(value=getattr(rules, name), interactive=may_change and not rules.solo)
                for name, field in zip(_COUNTS, self.counts, strict=True)
            },
            self.words: _described(rules),
            self.save: gr.update(visible=may_change),
            self.message: "",
        }


def build(store: Store, local: bool) -> RulesForm:
    """The form, and what happens when it is used. Only a coordinator's changes are kept."""
    markup(f"<h3>{escape(tr('Rules'))}</h3>")
    solo = gr.Checkbox(label=tr("One person may do every round (working alone)"), container=False)
    with gr.Row(elem_classes="so-counts"):
        counts = [
            gr.Number(label=tr(label), precision=0, minimum=1, maximum=20, step=1, min_width=80)
            for label in _COUNTS.values()
        ]
    words = markup(elem_classes="so-words")
    save = gr.Button(tr("Save rules"), size="sm", elem_classes="so-small")
    message = message_line()
    form = RulesForm(solo, counts, words, save, message)

    def change_mode(alone: bool) -> Changes:
        # Alone every number is 1; a team that starts from there would rather start from the defaults.
        return {**form.show(Rules(solo=alone), may_change=True), message: ""}

    def preview(*numbers: int | None) -> Changes:
        try:
            return {words: _described(_rules(False, numbers)), message: ""}
        except RulesError as error:
            return {words: line("bad", _in_labels(error)), message: ""}

    @report_errors(message)
    def save_rules(request: gr.Request, alone: bool, *numbers: int | None) -> Changes:
        person = require_person(request, store, local, "coordinator")
        try:
            rules = _rules(alone, numbers)
        except RulesError:
            # What is wrong stands above, from the preview. A number may have changed since: that answer is newer.
            return {message: line("bad", tr("Not saved: correct the numbers first."))}
        store.settings.set_rules(person.initials, rules)
        text = line(
            "good", tr("Saved. The new rules apply to open rounds; rounds closed by their decisions stay closed.")
        )
        return {**form.show(store.settings.rules(), may_change=True), message: text}

    quiet = {"show_progress": "hidden", "api_visibility": "private"}
    solo.input(change_mode, solo, form.outputs, **quiet)
    gr.on([field.input for field in counts], preview, counts, [words, message], trigger_mode="always_last", **quiet)
    saved = save.click(save_rules, [solo, *counts], form.outputs, **quiet)
    return replace(form, saved=saved)


def _rules(alone: bool, numbers: tuple[int | None, ...]) -> Rules:
    """Return the rules of the form. :raises RulesError: a number is missing, or the rules could never decide an item"""
    given = dict(zip(_COUNTS, numbers, strict=True))
    missing = next((name for name, number in given.items() if number is None), None)
    if missing is not None and not alone:
        raise RulesError(tr("{field}: found nothing, expected a number", field=tr(_COUNTS[missing])))
    return Rules(solo=alone, **{name: int(number or 1) for name, number in given.items()})


def _in_labels(error: RulesError) -> str:
    """What is wrong, with the numbers called as they are on the page."""
    text = str(error)
    for name, label in _COUNTS.items():
        # "votes" and "auditors" are also plain words of the sentence: only the field at its beginning is meant.
        text = (
            text.replace(name, f"“{tr(label)}”") if "_" in name else re.sub(f"^{name}(?=[:：])", f"“{tr(label)}”", text)
        )
    return text


def _described(rules: Rules) -> str:
    return f"<p>{escape(in_words(rules))}</p>"
