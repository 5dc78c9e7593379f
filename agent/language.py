"""The language of messages: ``tr`` and ``trn`` translate at the moment of use, in the language of the present context.

Texts are English in the code; a catalogue per language has the others. The web app sets the language for each request,
the command line once, from the environment.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

ENGLISH = "en"
language: ContextVar[str] = ContextVar("language", default=ENGLISH)


def tr(message: str, /, **values: Any) -> str:
    """Return a message in the language of the context, with ``{name}`` replaced by the values."""
    return message.format(**values) if values else message


def trn(one: str, many: str, n: int, /, **values: Any) -> str:
    """Return the form of a message for a number, which it may show as ``{n}``."""
    return (one if n == 1 else many).format(n=n, **values)
