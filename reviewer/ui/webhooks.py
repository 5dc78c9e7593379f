"""The form of the People tab for webhooks, which coordinators use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from agent.language import tr, trn
from reviewer.store import Delivery, NotAllowed, Store, Webhook
from reviewer.store.team.addresses import LONGEST_URL
from reviewer.store.team.webhooks import EVENTS, Event
from reviewer.ui.widgets import (
    Changes,
    item_link,
    line,
    markup,
    message_line,
    pill,
    report_errors,
    require_person,
    table,
)
from reviewer.web.background.webhooks import WebhookSender

_SHOWN = 10  # deliveries of the chosen webhook


@dataclass(frozen=True)
class WebhookForm:
    """The components that other parts of the tab update."""

    listed: gr.HTML
    chosen: gr.Dropdown
    actions: gr.Row
    start: gr.Button
    deliveries: gr.HTML
    secret: gr.Textbox
    message: gr.HTML

    @property
    def outputs(self) -> list[Any]:
        return [self.listed, self.chosen, self.actions, self.start, self.deliveries, self.secret, self.message]

    def show(self, store: Store, by: str, chosen: int | None = None, choose: bool = True) -> Changes:
        """Return the webhooks, and the last deliveries of the chosen one.

        :param by: a coordinator
        :param choose: choose the first webhook if there is none ``chosen``; False: none, so that a second click on
            *Delete* deletes no other one
        """
        webhooks = store.webhooks.listed(by)
        first = webhooks[0].id if webhooks and choose else None
        known = next((webhook.id for webhook in webhooks if webhook.id == chosen), first)
        is_stopped = any(webhook.id == known and webhook.stopped_at for webhook in webhooks)
        return {
            self.listed: _listed(webhooks),
            self.chosen: gr.update(choices=[(_label(webhook), webhook.id) for webhook in webhooks], value=known),
            self.actions: gr.update(visible=bool(webhooks)),
            self.start: gr.update(visible=is_stopped),
            self.deliveries: _deliveries(store.webhooks.deliveries(by, known, _SHOWN)) if known is not None else "",
            self.secret: gr.update(value="", visible=False),
            self.message: "",
        }

    def hide(self) -> Changes:
        """Return nothing, for a person who is no coordinator."""
        emptied = dict.fromkeys((self.listed, self.deliveries, self.message), "")
        return {
            **emptied,
            self.chosen: gr.update(choices=[], value=None),
            self.secret: gr.update(value="", visible=False),
        }


def build(store: Store, local: bool, sender: WebhookSender | None) -> WebhookForm:
    """Build the form and its handlers.

    :param sender: None: the app delivers nothing, and sends test messages only
    """
    about = tr(
        "A webhook sends a signed message to an address of yours when an item is approved or returned, or an export is "
        "made. Messages hold numbers and links, no text of traces."
    )
    markup(f'<h3>{escape(tr("Webhooks"))}</h3><p class="about">{escape(about)}</p>')
    listed = markup()
    with gr.Row(equal_height=True) as actions:
        chosen = gr.Dropdown(label=tr("Webhook"), show_label=False, container=False, choices=[], min_width=160, scale=2)
        start = gr.Button(tr("Start again"), size="sm", min_width=100, scale=0, visible=False)
        test = gr.Button(tr("Send a test"), size="sm", min_width=100, scale=0)
        delete = gr.Button(tr("Delete"), size="sm", min_width=80, scale=0)
    deliveries = markup()
    url = gr.Textbox(label=tr("Address of the new webhook"), placeholder="https://", max_length=LONGEST_URL)
    events = gr.CheckboxGroup([(_in_words(event), event) for event in EVENTS], value=list(EVENTS), label=tr("Events"))
    add = gr.Button(tr("Add a webhook"), size="sm", elem_classes="so-small")
    secret = gr.Textbox(label=tr("Secret that signs its messages"), buttons=["copy"], interactive=False, visible=False)
    message = message_line()
    form = WebhookForm(listed, chosen, actions, start, deliveries, secret, message)

    @report_errors(message)
    def choose(request: gr.Request, webhook_id: int | None) -> Changes:
        return form.show(store, require_person(request, store, local, "coordinator").initials, webhook_id)

    @report_errors(message)
    def add_webhook(request: gr.Request, address: str, events_chosen: list[str]) -> Changes:
        me = require_person(request, store, local, "coordinator").initials
        added, shown = store.webhooks.add(me, address, events_chosen)
        text = tr("Copy the secret now and give it to the receiver: it is not shown again.")
        return {
            **form.show(store, me, added.id),
            secret: gr.update(value=shown, visible=True),
            url: "",
            message: line("note", text),
        }

    @report_errors(message)
    def send_test(request: gr.Request, webhook_id: int | None) -> Changes:
        me = require_person(request, store, local, "coordinator").initials
        answer = (sender or WebhookSender(store, "")).test(store.webhooks.target(me, _required(webhook_id)))
        if answer.delivered:
            return {message: line("good", tr("The test message was delivered: {answer}", answer=answer.text))}
        return {message: line("bad", tr("The test message was not delivered: {answer}", answer=answer.text))}

    @report_errors(message)
    def start_webhook(request: gr.Request, webhook_id: int | None) -> Changes:
        me = require_person(request, store, local, "coordinator").initials
        started = store.webhooks.start(me, _required(webhook_id))
        text = tr(
            "The webhook is started again; it gets the events from now on. Send a test to see whether it answers."
        )
        return {**form.show(store, me, started.id), message: line("good", text)}

    @report_errors(message)
    def delete_webhook(request: gr.Request, webhook_id: int | None) -> Changes:
        me = require_person(request, store, local, "coordinator").initials
        store.webhooks.delete(me, _required(webhook_id))
        return {
            **form.show(store, me, choose=False),
            message: line("good", tr("The webhook is deleted; nothing more is sent to it.")),
        }

    quiet = {"outputs": [*form.outputs, url], "show_progress": "hidden", "api_visibility": "private"}
    chosen.input(choose, chosen, **quiet)
    add.click(add_webhook, [url, events], **quiet)
    test.click(send_test, chosen, outputs=[message], api_visibility="private")
    start.click(start_webhook, chosen, **quiet)
    delete.click(delete_webhook, chosen, **quiet)
    return form


def _required(webhook_id: int | None) -> int:
    if webhook_id is None:
        raise NotAllowed(tr("Choose a webhook first."))
    return webhook_id


def _in_words(event: Event) -> str:
    return {"approved": tr("item approved"), "returned": tr("item returned"), "exported": tr("export made")}[event]


def _label(webhook: Webhook) -> str:
    return f"{webhook.id} · {webhook.url[:60]}"


def _listed(webhooks: Sequence[Webhook]) -> str:
    rows = [
        [
            f"<b>{webhook.id}</b> {escape(webhook.url)}",
            " ".join([escape(", ".join(_in_words(event) for event in webhook.events)), *_troubles(webhook)]),
        ]
        for webhook in webhooks
    ]
    return table([tr("Address"), tr("Events")], rows, empty=tr("No webhooks."))


def _troubles(webhook: Webhook) -> list[str]:
    troubles = []
    if webhook.stopped_at is not None and webhook.silent_since is not None:
        time = f"{webhook.silent_since:%Y-%m-%d %H:%M}"
        silent = escape(tr("Nothing was delivered since {time} UTC.", time=time))
        troubles.append(f"<br>{pill(tr('stopped'), 'red')} {silent}")
    if webhook.waiting:
        troubles.append(pill(trn("{n} waits", "{n} wait", webhook.waiting), "amber"))
    if webhook.lost:
        troubles.append(pill(trn("{n} was not delivered", "{n} were not delivered", webhook.lost), "amber"))
    return troubles


def _deliveries(deliveries: Sequence[Delivery]) -> str:
    # Two columns: in a narrow window a third one would be too narrow to read.
    rows = [
        [
            f"{escape(_in_words(delivery.event.kind))} {_subject(delivery)}<br>{delivery.event.at:%Y-%m-%d %H:%M}",
            f"{_state(delivery)}<br>{escape(delivery.answer)}",
        ]
        for delivery in deliveries
    ]
    return table([tr("Event (UTC)"), tr("Delivery")], rows, empty=tr("Nothing was sent yet."))


def _subject(delivery: Delivery) -> str:
    event = delivery.event
    return escape(event.name or "") if event.item is None else item_link(event.item)


def _state(delivery: Delivery) -> str:
    if delivery.delivered_at is not None:
        return pill(tr("delivered"), "green")
    if delivery.next_at is None:
        return pill(tr("given up"), "red")
    if not delivery.attempts:
        return pill(tr("waits"))
    return pill(tr("again at {time}", time=f"{delivery.next_at:%H:%M:%S}"), "amber")
