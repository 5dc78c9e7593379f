"""The People tab: people, their roles and passwords, and the rules of the campaign."""

from __future__ import annotations

from html import escape
from typing import Any

import gradio as gr

from agent.language import deferred, tr
from reviewer.rules.campaign import ROLES_OF, ROUNDS, Rules
from reviewer.rules.people import ROLES, SHORTEST_PASSWORD, Person, PersonError, Role, generated_password
from reviewer.store import NotAllowed, Store
from reviewer.ui import rules as rules_form
from reviewer.ui import tokens as token_form
from reviewer.ui import verdict_first as verdict_first_form
from reviewer.ui import webhooks as webhook_form
from reviewer.ui.widgets import (
    Changes,
    and_list,
    line,
    markup,
    message_line,
    on_show,
    pill,
    report_errors,
    require_person,
    table,
)
from reviewer.web.auth import needs_passwords
from reviewer.web.background.webhooks import WebhookSender

_OWN_FIRST = deferred("Set your own password first: from then on everyone, including you, signs in with a password.")
_START_TEAM = deferred(
    "You work here without a password. To start a team, set one below: you become its coordinator, and from "
    "then on everyone, including you, signs in with initials and password. Then add the others."
)
_PASSWORD_SET = deferred("Your password is set. You stay signed in here, and are signed out everywhere else.")
_STILL_SOLO = deferred(
    "The rules still let one person do every round of an item. Untick that under Rules to have items judged "
    "by people other than their authors."
)
_BEFORE_THE_SECOND = deferred(
    "You can add the others now. The rules still let one person do every round of an item; adding the second person "
    "sets the rules of a team, unless you untick that."
)


_SIGN_IN = """async (person, password, ...others) => {
    if (!person) return [null, password, ...others]
    await window.specO3.signInAgain(person.initials, password)
    return [null, '', ...others.map(() => '')]
}"""
"""A new password ends every session of its person; the page signs in with it, so that they go on where they are."""


def _role_names(person: Person) -> str:
    return and_list([tr(role) for role in sorted(person.roles)])


def role_in_words(role: Role) -> str:
    """Describe what a role may do, from the rules of the rounds."""
    if role == "coordinator":
        return tr("every round, people, rules, import, export")
    return and_list([tr(judged) for judged in ROUNDS if role in ROLES_OF[judged]])


def build(store: Store, local: bool, webhooks: WebhookSender | None = None) -> None:
    """Build the tab. Coordinators see the forms; the handlers and the store refuse other people.

    :param webhooks: sends test messages; None where the app delivers nothing
    """
    _PeopleTab(store, local, webhooks)


class _PeopleTab:
    """The components and their handlers."""

    def __init__(self, store: Store, local: bool, webhooks: WebhookSender | None) -> None:
        self.store = store
        self.local = local
        self.notice = markup(elem_classes="so-notice")
        with gr.Row(elem_classes="so-columns"):
            with gr.Column(scale=3, min_width=380):
                with gr.Column(elem_classes="so-sheet"):
                    self._build_people()
                with gr.Column(elem_classes="so-sheet"):
                    self._build_own_password()
                with gr.Column(elem_classes="so-sheet"):
                    self.tokens = token_form.build(store, local)
            with gr.Column(scale=2, min_width=340):
                with gr.Column(elem_classes="so-sheet") as self.adding:
                    self._build_adding()
                with gr.Column(elem_classes="so-sheet"):
                    self.rules = rules_form.build(store, local)
                with gr.Column(elem_classes="so-sheet"):
                    self.verdict_first = verdict_first_form.build(store, local)
                with gr.Column(elem_classes="so-sheet") as self.hooking:
                    self.webhooks = webhook_form.build(store, local, webhooks)
        self.outputs: list[Any] = [
            *(self.notice, self.everybody, self.changing, self.who, self.roles, self.leave, self.adding),
            *(self.message, self.own_message, self.adding_message, *self.rules.outputs),
            *self.verdict_first.outputs,
            *(self.password, self.own, self.again, self.initials, self.name, self.first_password),
            *(self.new_name, self.team, self.shown, self.generated),
            *(self.signed_out, self.login, self.hooking, *self.tokens.outputs, *self.webhooks.outputs),
        ]
        self._listen()

    def _build_people(self) -> None:
        markup(f"<h3>{tr('People')}</h3>")
        self.everybody = markup()
        # Hidden until it is filled: the answer would replace what a person has typed by then.
        with gr.Column(elem_classes="so-inner", visible=False) as self.changing:
            with gr.Row(equal_height=True):
                self.who = gr.Dropdown(label=tr("Change"), choices=[], min_width=150, scale=1)
                self.roles = gr.CheckboxGroup(_role_choices(), label=tr("Roles"), min_width=260, scale=3)
            with gr.Row(equal_height=True):
                self.save_roles = gr.Button(tr("Save roles"), size="sm", min_width=90)
                self.leave = gr.Button(tr("Deactivate"), size="sm", min_width=90)
            with gr.Row(equal_height=True):
                self.new_name = gr.Textbox(
                    label=tr("Name shown"),
                    show_label=False,
                    placeholder=tr("Name shown"),
                    container=False,
                    max_length=100,
                )
                self.save_name = gr.Button(tr("Change name"), size="sm", min_width=110, scale=0)
            with gr.Row(equal_height=True):
                self.password = _password(tr("New password"))
                self.save_password = gr.Button(tr("Set password"), size="sm", min_width=110)
            with gr.Accordion(tr("Sign-in through a proxy"), open=False):
                hint = tr("Sign-in name at your provider, e.g. a mail address")
                with gr.Row(equal_height=True):
                    self.login = gr.Textbox(
                        label=hint, show_label=False, placeholder=hint, container=False, max_length=200, min_width=160
                    )
                    self.save_login = gr.Button(tr("Set sign-in name"), size="sm", min_width=140, scale=0)
        self.message = message_line()

    def _build_own_password(self) -> None:
        markup(f"<h3>{tr('Your password')}</h3>")
        with gr.Row(equal_height=True):
            self.own = _password(tr("New password, {n} characters or more", n=SHORTEST_PASSWORD))
            self.again = _password(tr("Repeat the password"))
            self.save_own = gr.Button(tr("Set my password"), size="sm", min_width=150, scale=0)
        self.own_message = message_line()
        # The person whose own password was just set, for the page: it signs in with it.
        self.signed_out = gr.JSON(None, visible=False)

    def _build_adding(self) -> None:
        markup(f"<h3>{tr('Add a person')}</h3>")
        with gr.Row(equal_height=True):
            self.initials = gr.Textbox(label=tr("Initials"), max_length=4, min_width=80, scale=1)
            self.name = gr.Textbox(label=tr("Full name"), max_length=100, min_width=160, scale=3)
        self.first_roles = gr.CheckboxGroup(_role_choices(), value=["reviewer"], label=tr("Roles"))
        self.first_password = gr.Textbox(
            label=tr("First password"),
            info=tr(
                "{shortest_password} characters or more; they can change it here", shortest_password=SHORTEST_PASSWORD
            ),
            type="password",
        )
        with gr.Row(equal_height=True):
            self.shown = gr.Checkbox(label=tr("Show the password"), container=False, min_width=140)
            self.generate = gr.Button(tr("Generate a password"), size="sm", min_width=160, scale=0)
        # In a field of its own: a copy button inside a field takes the place of the field under its label.
        self.generated = gr.Textbox(label=tr("Generated password"), buttons=["copy"], interactive=False, visible=False)
        self.team = gr.Checkbox(
            True,
            label=tr(
                "Set the rules of a team: {audits} audits, {votes} votes, nobody judges their own work",
                audits=Rules().auditors,
                votes=Rules().votes,
            ),
            container=False,
            visible=False,
        )
        self.add = gr.Button(tr("Add"), size="sm", variant="primary", elem_classes="so-small")
        self.adding_message = message_line()

    def _listen(self) -> None:
        quiet = {"outputs": self.outputs, "show_progress": "hidden", "api_visibility": "private"}
        still = {"show_progress": "hidden", "api_visibility": "private"}
        on_show(report_errors(self.notice)(self.show), self.outputs)
        self.who.input(report_errors(self.message)(self.choose), self.who, **quiet)
        self.save_roles.click(report_errors(self.message)(self.set_roles), [self.who, self.roles], **quiet)
        self.leave.click(report_errors(self.message)(self.leave_or_return), self.who, **quiet)
        self.save_name.click(report_errors(self.message)(self.set_name), [self.who, self.new_name], **quiet)
        self.save_login.click(report_errors(self.message)(self.set_login), [self.who, self.login], **quiet)
        self.shown.input(_as_text, self.shown, self.first_password, **still)
        self.generate.click(
            report_errors(self.adding_message)(self.generate_password),
            outputs=[self.first_password, self.shown, self.generated, self.adding_message],
            **still,
        )
        # After the rules were saved: the notice may apply no longer.
        self.rules.saved.then(report_errors(self.notice)(self.show_notice), outputs=[self.notice, self.team], **still)
        set_password = report_errors(self.message)(self.set_password)
        set_own = report_errors(self.own_message)(self.set_own)
        for event, fields in (
            (self.save_password.click(set_password, [self.who, self.password], **quiet), [self.password]),
            (self.save_own.click(set_own, [self.own, self.again], **quiet), [self.own, self.again]),
        ):
            shown = [self.signed_out, *fields]
            event.then(None, shown, shown, js=_SIGN_IN, **still)
        self.add.click(
            report_errors(self.adding_message)(self.add_person),
            [self.initials, self.name, self.first_roles, self.first_password, self.team],
            **quiet,
        )

    def show(self, request: gr.Request) -> Changes:
        """Return the tab for the person who opened it."""
        return self._show(require_person(request, self.store, self.local))

    def show_notice(self, request: gr.Request) -> Changes:
        me = require_person(request, self.store, self.local)
        rules = self.store.settings.rules()
        return {
            self.notice: _notice(me, self.store.accounts.people(), rules),
            self.team: gr.update(visible=rules.solo),
        }

    def choose(self, request: gr.Request, initials: str) -> Changes:
        return self._show(require_person(request, self.store, self.local, "coordinator"), initials)

    def set_roles(self, request: gr.Request, initials: str, roles: list[str]) -> Changes:
        me = require_person(request, self.store, self.local, "coordinator")
        changed = self.store.accounts.set_roles(me.initials, _chosen(initials), roles)
        text = line(
            "good",
            tr("{initials} is now {roles}.", initials=changed.initials, roles=_role_names(changed)),
        )
        # Somebody may just have taken the coordinator's role from themselves.
        return {**self._show(self.store.accounts.person(me.initials), initials), self.message: text}

    def leave_or_return(self, request: gr.Request, initials: str) -> Changes:
        me = require_person(request, self.store, self.local, "coordinator")
        if self.store.accounts.person(_chosen(initials)).active:
            self.store.accounts.deactivate(me.initials, initials)
            text = tr(
                "{initials} is no longer active. Everything {initials} decided stays and counts.", initials=initials
            )
        else:
            self.store.accounts.reactivate(me.initials, initials)
            text = tr("{initials} is active again.", initials=initials)
        return {**self._show(self.store.accounts.person(me.initials), initials), self.message: line("good", text)}

    def set_name(self, request: gr.Request, initials: str, name: str) -> Changes:
        me = require_person(request, self.store, self.local, "coordinator")
        changed = self.store.accounts.set_name(me.initials, _chosen(initials), name)
        text = line("good", tr("{initials} is shown as {name} now.", initials=changed.initials, name=changed.name))
        return {**self._show(self.store.accounts.person(me.initials), initials), self.message: text}

    def set_login(self, request: gr.Request, initials: str, login: str) -> Changes:
        me = require_person(request, self.store, self.local, "coordinator")
        kept = self.store.logins.set(me.initials, _chosen(initials), login)
        text = tr("{initials} has no sign-in name now.", initials=initials)
        if kept:
            text = tr("The proxy signs {login} in as {initials} now.", login=kept, initials=initials)
        return {**self._show(self.store.accounts.person(me.initials), initials), self.message: line("good", text)}

    def generate_password(self, request: gr.Request) -> Changes:
        require_person(request, self.store, self.local, "coordinator")
        password = generated_password()
        return {
            self.first_password: gr.update(value=password, type="text"),
            self.generated: gr.update(value=password, visible=True),
            self.shown: True,
            self.adding_message: line(
                "note", tr("Copy this password now and give it to the person: it is not shown again.")
            ),
        }

    def set_password(self, request: gr.Request, initials: str, password: str) -> Changes:
        me = require_person(request, self.store, self.local, "coordinator")
        if not me.has_password:
            raise NotAllowed(tr(_OWN_FIRST))
        self.store.accounts.set_password(me.initials, _chosen(initials), password)
        if initials == me.initials:
            return {self.message: line("good", tr(_PASSWORD_SET)), self.signed_out: {"initials": me.initials}}
        text = line("good", tr("{initials} has a new password and is signed out everywhere.", initials=initials))
        return {**self._show(me, initials), self.message: text, self.password: ""}

    def set_own(self, request: gr.Request, password: str, again: str) -> Changes:
        me = require_person(request, self.store, self.local)
        if password != again:
            raise PersonError(tr("The two passwords differ; nothing was changed."))
        self.store.accounts.set_password(me.initials, me.initials, password)
        text = tr(_PASSWORD_SET)
        if not me.has_password:
            text = tr("Your password is set. This is a team now, you are its coordinator, and everybody signs in.")
        changes = self._show(self.store.accounts.person(me.initials))
        return {**changes, self.own_message: line("good", text), self.signed_out: {"initials": me.initials}}

    def add_person(
        self, request: gr.Request, initials: str, name: str, roles: list[str], password: str, team: bool
    ) -> Changes:
        me = require_person(request, self.store, self.local, "coordinator")
        if not me.has_password:
            raise NotAllowed(tr(_OWN_FIRST))
        added = self.store.accounts.add_person(initials, name, roles, password, by=me.initials)
        text = tr(
            "{initials} can sign in now as {roles}.",
            initials=added.initials,
            roles=_role_names(added),
        )
        if team and self.store.settings.rules().solo:
            self.store.settings.set_rules(me.initials, Rules())
            text += tr(" The rules of a team apply: {rules}", rules=rules_form.in_words(Rules()))
        emptied = dict.fromkeys((self.initials, self.name), "")
        hidden = {self.first_password: gr.update(value="", type="password"), self.shown: False}
        hidden[self.generated] = gr.update(value="", visible=False)
        return {**self._show(me, added.initials), **emptied, **hidden, self.adding_message: line("good", text)}

    def _show(self, me: Person, chosen: str | None = None) -> Changes:
        """Return the whole tab as ``me`` may see it. Text that somebody is typing is not changed."""
        people = self.store.accounts.people()
        rules = self.store.settings.rules()
        leads = me.is_any("coordinator")
        person = next((p for p in people if p.initials == chosen), me)
        return {
            self.notice: _notice(me, people, rules),
            self.everybody: _people_table(people, me),
            self.changing: gr.update(visible=leads),
            self.adding: gr.update(visible=leads),
            self.who: gr.update(choices=[p.initials for p in people], value=person.initials),
            self.roles: gr.update(value=[role for role in ROLES if role in person.roles]),
            self.leave: gr.update(value=tr("Deactivate") if person.active else tr("Reactivate")),
            self.new_name: person.name,
            self.login: self.store.logins.of_people().get(person.initials, "") if leads else "",
            self.hooking: gr.update(visible=leads),
            **self.tokens.show(self.store, me),
            **(self.webhooks.show(self.store, me.initials) if leads else self.webhooks.hide()),
            self.team: gr.update(visible=rules.solo),
            **dict.fromkeys((self.message, self.own_message, self.adding_message), ""),
            **self.rules.show(rules, may_change=leads),
            **self.verdict_first.show(self.store, may_change=leads),
        }


def _as_text(shown: bool) -> Any:
    """Show what is typed as the first password, or hide it."""
    return gr.update(type="text" if shown else "password")


def _password(hint: str) -> gr.Textbox:
    """A password field with its label inside; screen readers read the label."""
    return gr.Textbox(label=hint, placeholder=hint, show_label=False, container=False, type="password", min_width=200)


def _role_choices() -> list[tuple[str, str]]:
    return [(f"{tr(role)} · {role_in_words(role)}", role) for role in ROLES]


def _chosen(initials: str | None) -> str:
    if not initials:
        raise PersonError(tr("Choose a person first."))
    return initials


def _notice(me: Person, people: list[Person], rules: Rules) -> str:
    if not needs_passwords(people):
        return line("note", tr(_START_TEAM))
    if rules.solo and me.is_any("coordinator"):
        team = sum(person.active for person in people) > 1
        return line("look", tr(_STILL_SOLO)) if team else line("note", tr(_BEFORE_THE_SECOND))
    if not me.is_any("coordinator"):
        return line("note", tr("Only coordinators change people and rules. You can change your own password."))
    return ""


def _people_table(people: list[Person], me: Person) -> str:
    signs_in = {True: tr("with a password"), False: pill(tr("no password yet"), "amber")}
    if not needs_passwords(people):
        signs_in[False] = tr("with initials alone")
    return table(
        [tr("Initials"), tr("Full name"), tr("Roles"), tr("Signs in"), ""],
        [
            [
                f"<b>{escape(p.initials)}</b>{tr(' (you)') if p.initials == me.initials else ''}",
                escape(p.name),
                " ".join(pill(tr(role)) for role in ROLES if role in p.roles),
                signs_in[p.has_password] if p.active else "",
                "" if p.active else pill(tr("not active"), "grey"),
            ]
            for p in people
        ],
        empty=tr("Nobody yet."),
    )
