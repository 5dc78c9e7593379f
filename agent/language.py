"""The language of messages: ``tr`` and ``trn`` translate at the moment of use, in the language of the present context.

Texts are English in the code; ``agent/locale/LANGUAGE/*.po`` has the others: ``program.po`` those of Python,
``page.po`` those of the browser modules. The web app sets the language for each request, the command line once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, Literal

ENGLISH = "en"
PSEUDO = "qps"
"""A language for tests: each message stands between ⟦ and ⟧, so that a text which is no message can be found."""
_PSEUDO_OFFERED = "SPEC_O3_PSEUDO"
LOCALE = Path(__file__).parent / "locale"
NAMES = {"en": "English", "zh": "中文"}
"""The languages, each by its own name."""
TAGS = {"en": "en", "zh": "zh-CN", PSEUDO: "en-x-pseudo"}
"""The languages as HTML and JavaScript name them (BCP 47)."""

Part = Literal["program", "page"]
Catalogue = Mapping[str, tuple[str, ...]]
"""Translations by English message: one form, or one per plural form."""

language: ContextVar[str | None] = ContextVar("language", default=None)
"""The language of the context; None: that of the process."""
_of_process = ENGLISH


def current() -> str:
    """Return the language of the present context."""
    return language.get() or _of_process


def set_of_process(code: str) -> None:
    """Set the language of every context, threads included, that has none of its own."""
    global _of_process
    _of_process = code


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Set the language of the context for a ``with`` block."""
    token = language.set(code)
    try:
        yield
    finally:
        language.reset(token)


def offered() -> tuple[str, ...]:
    """Return the languages that can be chosen."""
    return (*NAMES, *((PSEUDO,) if os.environ.get(_PSEUDO_OFFERED) else ()))


def best_of(wanted: Iterator[str] | list[str]) -> str:
    """Return the first language that is offered, of tags such as ``zh-Hans-CN`` or ``zh_CN.UTF-8``; else English."""
    for tag in wanted:
        code = tag.replace("_", "-").partition("-")[0].partition(".")[0].strip().lower()
        if code in offered():
            return code
    return ENGLISH


def of_environment(environment: Mapping[str, str] = os.environ) -> str:
    """Return the language of the command line, by the rules of gettext: ``LANGUAGE`` is a list of languages, which
    counts only if ``LC_ALL``, ``LC_MESSAGES`` or ``LANG`` (the first one that is set) names a locale."""
    locale = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := environment.get(name))), "C")
    if locale.partition(".")[0] in ("C", "POSIX"):
        return ENGLISH
    return best_of((environment.get("LANGUAGE") or locale).split(":"))


def tr(message: str, /, **values: Any) -> str:
    """Return a message in the language of the context, with ``{name}`` replaced by the values."""
    code = current()
    if code != ENGLISH:
        message = _translated(code, message, message)
    return message.format(**values) if values else message


def trn(one: str, many: str, n: int, /, **values: Any) -> str:
    """Return the form of a message for a number, which it may show as ``{n}`` (another text for it: ``n="5 000"``)."""
    code = current()
    message = one if n == 1 else many
    if code != ENGLISH:
        message = _translated(code, one, message)
    return message.format(**{"n": n, **values})


def deferred(message: str) -> str:
    """Return the message itself, and have Babel extract it: ``tr`` translates it where it is used."""
    return message


def _translated(code: str, key: str, english: str) -> str:
    if code == PSEUDO:
        return f"⟦{english}⟧"
    # Chinese has one form for all numbers. A language with more needs its plural rule here and in language.js.
    return catalogue(code, "program").get(key, (english,))[0]


@cache
def catalogue(code: str, part: Part) -> Catalogue:
    """Return the messages that are translated into a language; 3,000 are read in about 40 ms."""
    # Not above: English needs no catalogue.
    from babel.messages.pofile import read_po

    path = LOCALE / code / f"{part}.po"
    if not path.is_file():
        return {}
    with path.open("rb") as file:
        entries = read_po(file, locale=code)
    found: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        key = entry.id if isinstance(entry.id, str) else entry.id[0]
        forms = (entry.string,) if isinstance(entry.string, str) else tuple(entry.string or ())
        if key and forms and all(forms) and not entry.fuzzy:
            found[key] = forms
    return found
