"""The edge between Gradio's events and the rooms below: who asks, what they may do, and errors as sentences.

Every Gradio handler can be called by anyone who reaches the port, whatever the page shows; so each one begins
with ``asking`` or ``in_charge``. Handlers return what changes, as a dict of components; ``spoken`` turns what
was refused into a line on the page, once, here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from html import escape
from typing import Any, Literal

import gradio as gr
from gradio.context import Context

from reviewer.errors import sentence
from reviewer.rules.people import Person, Role
from reviewer.store import NotAllowed, Store
from reviewer.web.auth import person_of

Changes = dict[Any, Any]
Kind = Literal["note", "good", "look", "bad"]

STYLES = '<link rel="stylesheet" href="/ui/common/sheets.css">'


def asking(request: gr.Request, store: Store, local: bool, *roles: Role) -> Person:
    """The person behind an event. :raises NotAllowed: nobody, or somebody without any of ``roles``"""
    person = person_of(request, store, local)
    if person is None:
        raise NotAllowed("You are signed out. Sign in again; nothing on this page was sent.")
    if roles and not person.is_any(*roles):
        theirs = and_list(sorted(person.roles))
        raise NotAllowed(f"This is for {' or '.join(roles)}; {person.initials} is {theirs}.")
    return person


def in_charge(request: gr.Request, store: Store, local: bool) -> Person:
    """Who may bring items in and take exports out: a coordinator, or anybody where one person does it all.

    :raises NotAllowed: somebody else, or nobody
    """
    if store.rules().solo:
        return asking(request, store, local)
    return asking(request, store, local, "coordinator")


def spoken(said: gr.HTML) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Turn what a handler raises into a line in ``said``; what it had changed before stays changed."""

    def decorate(handler: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isgeneratorfunction(handler):

            @wraps(handler)
            def steps(*args: Any, **kwargs: Any) -> Iterator[Changes]:
                try:
                    yield from handler(*args, **kwargs)
                except Exception as error:
                    yield {said: line("bad", sentence(error))}

            return steps

        @wraps(handler)
        def once(*args: Any, **kwargs: Any) -> Changes:
            try:
                changes: Changes = handler(*args, **kwargs)
            except Exception as error:
                return {said: line("bad", sentence(error))}
            return changes

        return once

    return decorate


def line(kind: Kind, text: str, more: str = "") -> str:
    """One line for the person, as HTML: ``text`` is escaped, ``more`` is markup of our own."""
    role = "alert" if kind == "bad" else "status"
    return f'<p class="so-said {kind}" role="{role}">{escape(text)}{more}</p>'


def table(headings: list[str], rows: list[list[str]], empty: str) -> str:
    """A table as HTML from cells that are HTML already; ``empty`` is what stands there without rows."""
    if not rows:
        return f'<p class="so-none">{escape(empty)}</p>'
    head = "".join(f"<th scope='col'>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="so-table"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def pill(text: str, colour: Literal["", "grey", "green", "amber", "red"] = "") -> str:
    return f'<span class="pill {colour}">{escape(text)}</span>'


def markup(html: str = "", **props: Any) -> gr.HTML:
    """HTML of our own making on the page."""
    return gr.HTML(html, apply_default_css=False, js_on_load=None, **props)


def answer_line() -> gr.HTML:
    """Where a form says what happened; takes no room until it does."""
    return markup(elem_classes="so-line")


def whenever_shown(handler: Callable[..., Changes], outputs: list[Any]) -> None:
    """Run ``handler`` when the page is opened, and again each time the tab around this call is."""
    block = Context.block
    while block is not None and not isinstance(block, gr.Tab):
        block = block.parent
    triggers = [Context.root_block.load] + ([block.select] if block is not None else [])
    gr.on(triggers, handler, outputs=outputs, show_progress="hidden", api_visibility="private")


def and_list(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
