"""Shared by Gradio handlers: authorisation, error messages, and small pieces of HTML.

Anyone who reaches the port can call any handler, whatever the page shows: each begins with ``require_person`` or
``require_manager``. Handlers return a dict of changed components; ``report_errors`` turns exceptions into a line.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from html import escape
from typing import Any, Literal

import gradio as gr
from gradio.context import Context
from markupsafe import Markup

from agent.language import current, tr
from agent.tables import HtmlRow, html_table
from reviewer.errors import message
from reviewer.rules.people import Person, Role
from reviewer.store import NotAllowed, Store
from reviewer.web.access import may_manage
from reviewer.web.auth import SIGNED_OUT, person_of

Changes = dict[Any, Any]
Kind = Literal["note", "good", "look", "bad"]


def require_person(request: gr.Request, store: Store, local: bool, *roles: Role) -> Person:
    """Return the person behind an event. :raises NotAllowed: nobody is signed in, or they have none of ``roles``"""
    person = person_of(request, store, local)
    if person is None:
        raise NotAllowed(tr(SIGNED_OUT))
    if roles and not person.is_any(*roles):
        raise NotAllowed(
            tr(
                "Only a {roles} can do this; {person} is {theirs}.",
                roles=tr(" or ").join(map(tr, roles)),
                person=person.initials,
                theirs=and_list([tr(role) for role in sorted(person.roles)]),
            )
        )
    return person


def require_manager(request: gr.Request, store: Store, local: bool) -> Person:
    """Return the person behind an event, who may import and export.

    :raises NotAllowed: they may not, or nobody is signed in
    """
    person = require_person(request, store, local)
    return person if may_manage(person, store) else require_person(request, store, local, "coordinator")


def report_errors(target: gr.HTML) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Show an exception of a handler as a line in ``target``; changes that it made before stay."""

    def decorate(handler: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isgeneratorfunction(handler):

            @wraps(handler)
            def generator(*args: Any, **kwargs: Any) -> Iterator[Changes]:
                try:
                    yield from handler(*args, **kwargs)
                except Exception as error:
                    yield {target: line("bad", message(error))}

            return generator

        @wraps(handler)
        def function(*args: Any, **kwargs: Any) -> Changes:
            try:
                changes: Changes = handler(*args, **kwargs)
            except Exception as error:
                return {target: line("bad", message(error))}
            return changes

        return function

    return decorate


def line(kind: Kind, text: str, more: str = "") -> str:
    """A message line as HTML: ``text`` is escaped, ``more`` is our own markup."""
    role = "alert" if kind == "bad" else "status"
    return f'<p class="so-message {kind}" role="{role}">{escape(text)}{more}</p>'


def table(headings: list[str], rows: list[list[str]], empty: str) -> str:
    """A table as HTML, from cells that are HTML already; ``empty`` is the text shown if there are no rows."""
    if not rows:
        return f'<p class="so-none">{escape(empty)}</p>'
    return html_table(headings, [HtmlRow([Markup(cell) for cell in row]) for row in rows], frame="so-table")


def pill(text: str, colour: Literal["", "grey", "green", "amber", "red"] = "") -> str:
    return f'<span class="pill {colour}">{escape(text)}</span>'


def sentences(*all_of_them: str) -> str:
    """Whole sentences one after the other, as the language writes them; empty ones are left out."""
    return ("" if current() == "zh" else " ").join(sentence for sentence in all_of_them if sentence)


def item_link(item_id: int) -> str:
    """A link that opens the item in the Review tab (common/links.js)."""
    return f'<a href="#item={item_id}">#{item_id}</a>'


def markup(html: str = "", **props: Any) -> gr.HTML:
    """A piece of our own HTML."""
    return gr.HTML(html, apply_default_css=False, js_on_load=None, **props)


def message_line() -> gr.HTML:
    """The place for a form's message; takes no space while it is empty."""
    return markup(elem_classes="so-line")


def on_show(handler: Callable[..., Changes], outputs: list[Any]) -> None:
    """Run ``handler`` each time the tab around this call is selected. Not when the page is opened: its first item
    would wait behind it.

    Until the answer is there, nothing in the tab can be typed or pressed (and nothing is seen the first time,
    sheets.css): the answer would replace what was typed, and the message of a button that was pressed.
    """
    block = Context.block
    while not isinstance(block, gr.Tab):
        assert block is not None, "on_show is called inside a tab"
        block = block.parent
    tab = f"document.getElementById('{block.elem_id}')"
    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    shown = block.select(handler, outputs=outputs, js=f"() => ({tab}.inert = true, [])", **quiet)
    shown.then(None, js=f"() => {{ {tab}.inert = false; {tab}.dataset.filled = 'yes' }}", **quiet)


def and_list(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *most, last = words
    return tr("{words} and {last}", words=tr(", ").join(most), last=last) if most else last
