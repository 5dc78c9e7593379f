"""The form of the People tab for one's own API tokens; coordinators see and revoke those of everybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Any

import gradio as gr

from agent.language import tr
from reviewer.rules.people import Person
from reviewer.store import NotAllowed, Store, Token
from reviewer.store.team.tokens import LIFETIMES, LONGEST_NAME
from reviewer.ui.widgets import Changes, line, markup, message_line, pill, report_errors, require_person, table

_NEVER = 0


@dataclass(frozen=True)
class TokenForm:
    """The components that other parts of the tab update."""

    listed: gr.HTML
    chosen: gr.Dropdown
    revoke: gr.Button
    secret: gr.Textbox
    message: gr.HTML

    @property
    def outputs(self) -> list[Any]:
        return [self.listed, self.chosen, self.revoke, self.secret, self.message]

    def show(self, store: Store, me: Person, choose: bool = True) -> Changes:
        """Return the tokens that a person may see; a secret that was shown is gone.

        :param choose: choose the first token; False: none, so that a second click on *Revoke* revokes no other one
        """
        leads = me.is_any("coordinator")
        tokens = store.tokens.listed(me.initials, everybody=leads)
        return {
            self.listed: _listed(tokens, me, store.database.steady()),
            self.chosen: gr.update(
                choices=[(_label(token, me), token.id) for token in tokens],
                value=tokens[0].id if tokens and choose else None,
                visible=bool(tokens),
            ),
            self.revoke: gr.update(visible=bool(tokens)),
            self.secret: gr.update(value="", visible=False),
            self.message: "",
        }


def build(store: Store, local: bool) -> TokenForm:
    """Build the form and its handlers."""
    about = tr(
        "A token lets a script use this app in your name, under the same rules. Keep it like a password: whoever has "
        "it can do what you can."
    )
    link = f'<a href="api/v1/docs">{escape(tr("What a script can do"))}</a>'
    markup(f'<h3>{escape(tr("API tokens"))}</h3><p class="about">{escape(about)} {link}</p>')
    listed = markup()
    with gr.Row(equal_height=True):
        chosen = gr.Dropdown(label=tr("Token"), show_label=False, container=False, choices=[], min_width=150, scale=2)
        revoke = gr.Button(tr("Revoke"), size="sm", min_width=90, scale=0)
    with gr.Row(equal_height=True):
        name = gr.Textbox(
            label=tr("Name of the new token"),
            placeholder=tr("e.g. plots"),
            max_length=LONGEST_NAME,
            min_width=280,
            scale=2,
        )
        writes = gr.Dropdown(
            [(tr("read only"), False), (tr("read and write"), True)],
            value=False,
            label=tr("May"),
            min_width=120,
            scale=1,
        )
        ends = gr.Dropdown(
            [*((tr("in {days} days", days=days), days) for days in LIFETIMES), (tr("never"), _NEVER)],
            value=LIFETIMES[1],
            label=tr("Ends"),
            min_width=110,
            scale=1,
        )
    make = gr.Button(tr("Make a token"), size="sm", variant="primary", elem_classes="so-small")
    secret = gr.Textbox(label=tr("New token"), buttons=["copy"], interactive=False, visible=False)
    message = message_line()
    form = TokenForm(listed, chosen, revoke, secret, message)

    @report_errors(message)
    def make_token(request: gr.Request, called: str, may_write: bool, days: int) -> Changes:
        me = require_person(request, store, local)
        token, shown = store.tokens.make(me.initials, called, bool(may_write), days or None)
        text = tr("Copy the token “{name}” now: it is not shown again.", name=token.name)
        return {
            **form.show(store, me),
            secret: gr.update(value=shown, visible=True),
            name: "",
            message: line("note", text),
        }

    @report_errors(message)
    def revoke_token(request: gr.Request, token_id: int | None) -> Changes:
        me = require_person(request, store, local)
        if token_id is None:
            raise NotAllowed(tr("Choose a token first."))
        store.tokens.revoke(me.initials, token_id)
        text_line = line("good", tr("The token is revoked; it opens nothing any more."))
        return {**form.show(store, me, choose=False), message: text_line}

    quiet = {"outputs": [*form.outputs, name], "show_progress": "hidden", "api_visibility": "private"}
    make.click(make_token, [name, writes, ends], **quiet)
    revoke.click(revoke_token, chosen, **quiet)
    return form


def _label(token: Token, me: Person) -> str:
    return token.name if token.person == me.initials else f"{token.person} · {token.name}"


def _listed(tokens: Sequence[Token], me: Person, now: datetime) -> str:
    rows = [
        [
            f"<b>{escape(_label(token, me))}</b><br>{escape(_used(token))}",
            pill(tr("read and write"), "amber") if token.may_write else pill(tr("read only")),
            _end(token, now),
        ]
        for token in tokens
    ]
    return table([tr("Name"), tr("May"), tr("Ends")], rows, empty=tr("No tokens."))


def _used(token: Token) -> str:
    if token.used_at is None:
        return tr("never used")
    return tr("last used {time} UTC", time=f"{token.used_at:%Y-%m-%d %H:%M}")


def _end(token: Token, now: datetime) -> str:
    if token.expires_at is None:
        return escape(tr("never"))
    day = f"{token.expires_at:%Y-%m-%d}"
    return pill(tr("ended {day}", day=day), "grey") if token.expires_at <= now else day
