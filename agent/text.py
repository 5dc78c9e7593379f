"""Text from outside quoted in messages, tables and logs: one visible line of limited length; safe CSV cells.

File names, header cards and model output are quoted. A line feed could forge a line of the log, an escape sequence
could control the terminal, and a direction mark could show another name."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 480
"""Characters of a message; what is longer loses its middle, as which file it was stands at its beginning and
what to do at its end."""

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character, as JSON can hold one; UTF-8, and so a file or the database, cannot."""

_SPACE = re.compile(r"\s+")
_SHOWN_AS_THEY_ARE = "\u200c\u200d"  # joiners, which scripts and emoji are written with
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


def one_line(text: str, longest: int = LONGEST) -> str:
    """Return ``text`` without line feeds, shortened, with invisible characters written out (``\\x1b``)."""
    if len(text) > 20 * longest:  # the part that is cut need not be examined
        text = _shortened(text, 10 * longest)
    return _shortened(visible(_SPACE.sub(" ", text).strip()), longest)


def visible(text: str) -> str:
    """Return ``text`` with each control character, direction mark and lone surrogate written as its escape."""
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


MOST_DIGITS = 18
"""More do not fit in 64 bits, and so not in a database."""


def whole_number(text: str) -> int | None:
    """Return the number written with the digits 0 to 9; None for any other text, or if it does not fit the limit of
    digits.

    ``int`` itself raises on thousands of digits, and ``str.isdigit`` accepts characters such as ².
    """
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else None
