"""The language of messages: ``tr`` and ``trn`` translate at the moment of use, in the language of the present context.

Texts are English in the code; ``agent/locale/LANGUAGE/*.po`` has the others: ``program.po`` those of Python,
``page.po`` those of the browser modules. The web app sets the language for each request, the command line once.
What is made in one place and shown in another is ``deferred``: English in files, in the database and for parsers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
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


def best_of(tags: Iterator[str] | list[str]) -> str:
    """Return the first language that is offered, of tags such as ``zh-Hans-CN`` or ``zh_CN.UTF-8``; else English."""
    for tag in tags:
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


class Message(str):
    """An English text that knows its message and values, so that it can be shown in another language later.

    Where nothing translates it, it is the English text: in files, in the database and for parsers.
    """

    message: str = ""
    values: Mapping[str, Any] = {}
    many: str = ""
    """The form for other numbers than 1, where the message has two; the number is the value ``n``."""

    def shown(self) -> str:
        """Return the text in the language of the context."""
        if self.many:
            return trn(self.message, self.many, self.values["n"], **{"n": self.values["shown"], **self._others()})
        return tr(self.message, **self.values) if self.message else str(self)

    def _others(self) -> dict[str, Any]:
        return {name: value for name, value in self.values.items() if name not in ("n", "shown")}


def tr(message: str, /, **values: Any) -> str:
    """Return a message in the language of the context, with ``{name}`` replaced by the values; so are those of its
    values which are themselves messages.
    """
    if isinstance(message, Message):
        if not values:
            return message.shown()
        message = message.message
    code = current()
    if code != ENGLISH:
        message = _translated(code, message, message)
        values = _shown(values)
    return message.format(**values) if values else str(message)


def trn(singular: str, plural: str, n: int, /, **values: Any) -> str:
    """Return the form of a message for a number, which it may show as ``{n}`` (another text for it: ``n="5 000"``)."""
    code = current()
    message = singular if n == 1 else plural
    if code != ENGLISH:
        message = _translated(code, singular, message)
        values = _shown(values)
    return message.format(**{"n": n, **values})


def _shown(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value.shown() if isinstance(value, Message) else value for name, value in values.items()}


def deferred(message: str, /, **values: Any) -> str:
    """Return the English text of a message; ``tr`` or ``localized`` translates it where it is shown."""
    text = Message(message.format(**values) if values else message)
    text.message, text.values = str(message), values
    return text


def deferredn(singular: str, plural: str, n: int, /, **values: Any) -> str:
    """Return the English text of a message for a number, as ``trn``; it is translated where it is shown."""
    values = {"n": n, **values}
    text = Message((singular if n == 1 else plural).format(**values))
    text.message, text.many, text.values = str(singular), str(plural), {**values, "n": n, "shown": values["n"]}
    return text


def joined(texts: Iterable[str], separator: Literal[", ", "; ", " and ", " or ", " ", ""] = "; ") -> str:
    """Join texts, some of which may be messages, into one that is translated where it is shown."""
    parts = tuple(texts)
    text = _Joined(separator.join(parts))
    text.message, text.parts = separator, parts
    return text


class _Joined(Message):
    parts: tuple[str, ...] = ()

    def shown(self) -> str:
        between = {", ": tr(", "), "; ": tr("; "), " and ": tr(" and "), " or ": tr(" or ")}
        between |= {" ": "" if current() == "zh" else " ", "": ""}
        return between[self.message].join(part.shown() if isinstance(part, Message) else part for part in self.parts)


def localized(data: Any) -> Any:
    """Return JSON data with its messages in the language of the context."""
    if isinstance(data, Message):
        return data.shown()
    if isinstance(data, dict):
        return {key: localized(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [localized(value) for value in data]
    return data


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
    forms_of: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        key = entry.id if isinstance(entry.id, str) else entry.id[0]
        forms = (entry.string,) if isinstance(entry.string, str) else tuple(entry.string or ())
        if key and forms and all(forms) and not entry.fuzzy:
            forms_of[key] = forms
    return forms_of
