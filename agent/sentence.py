"""Text from outside inside a message: one line, of a length that a person reads, and nothing invisible in it.

File names, header cards, column names and whatever a model wrote are quoted in messages, and messages go to a
terminal, a log and the page. A line feed there would forge a line of the log, an escape sequence would drive
the terminal, and a character that turns the direction of writing would show a name other than it is.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST = 480
"""Characters of a message; what is longer loses its middle, as which file it was stands at its beginning and
what to do at its end."""

_SPACE = re.compile(r"\s+")
_SHOWN_AS_THEY_ARE = "\u200c\u200d"  # joiners, which scripts and emoji are written with
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


class OneLine(Exception):
    """An exception that quotes text from outside: its message is ``one_line`` of what it was given."""

    def __str__(self) -> str:
        return one_line(super().__str__())


def one_line(text: str, longest: int = LONGEST) -> str:
    """``text`` without line feeds, with what cannot be seen written out (``\\x1b``), shortened."""
    if len(text) > 20 * longest:  # what is cut out need not be looked at
        text = _shortened(text, 10 * longest)
    return _shortened(visible(_SPACE.sub(" ", text).strip()), longest)


def visible(text: str) -> str:
    """``text`` with each control, direction mark and half character written as its escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(letter) if _is_hidden(letter) else letter for letter in text)


def _is_hidden(letter: str) -> bool:
    return unicodedata.category(letter) in _HIDDEN and letter not in _SHOWN_AS_THEY_ARE


def _escape(letter: str) -> str:
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _shortened(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    half = (longest - 3) // 2
    return f"{text[:half]} … {text[-half:]}"
