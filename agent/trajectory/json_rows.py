"""Read a JSON list element by element, so that a file of any length fits into memory.

Not ijson: its 3.6 refuses NaN and the control characters inside strings that published rows have, and replaces a
lone surrogate by "?".
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

from agent.language import tr

CHUNK = 2**20
"""Characters per read; a longer element is read until it is complete."""
_SPACE = " \t\r\n"
# The decoder may only complain about the end of the text read so far: it then points to the last characters
# ("-Infinity" is the longest word), or says that a string is not terminated.
_NEAR_THE_END = 16
_NO_END = "Unterminated string"


def elements(file: TextIO, strict: bool = True) -> Iterator[Any]:
    """Yield the elements of a JSON list in a file, as ``json.load`` would return them.

    :param strict: refuse control characters inside strings
    :raises ValueError: the file holds no JSON list; the elements before the fault have been yielded
    :raises RecursionError: an element is nested too deeply
    """
    return _Reader(file, strict).elements()


class _Reader:
    """A file with a buffer: ``text`` from ``at`` on is read and not yet used."""

    def __init__(self, file: TextIO, strict: bool) -> None:
        self._file = file
        self._decoder = json.JSONDecoder(strict=strict)
        self._text = ""
        self._at = 0
        self._before = 0
        self._over = False

    def elements(self) -> Iterator[Any]:
        if self._next() != "[":
            raise self._fault(tr("Expecting a list"))
        self._at += 1
        if self._next() == "]":
            self._at += 1
        else:
            yield self._element()
            while (mark := self._next()) == ",":
                self._at += 1
                yield self._element()
            if mark != "]":
                raise self._fault(tr("Expecting ',' delimiter"))
            self._at += 1
        if self._next():
            raise self._fault(tr("Extra data"))

    def _next(self) -> str:
        """Return the next character that is no space without using it; empty at the end of the file."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text) or self._over:
                return self._text[self._at : self._at + 1]
            self._read()

    def _element(self) -> Any:
        self._next()
        while True:
            try:
                element, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                cut = error.msg.startswith(_NO_END) or error.pos > len(self._text) - _NEAR_THE_END
                if self._over or not cut:
                    self._at = error.pos
                    raise self._fault(error.msg) from None
            else:
                # More digits of a number may follow.
                if self._over or end < len(self._text) - _NEAR_THE_END or self._text[end - 1] in '}]"':
                    self._at = end
                    return element
            self._read()

    def _read(self) -> None:
        """Read as much again as the buffer holds, so that a long element is not decoded from its start too often."""
        more = self._file.read(max(CHUNK, len(self._text) - self._at))
        self._over = not more
        self._before += self._at
        self._text = self._text[self._at :] + more
        self._at = 0

    def _fault(self, what: str) -> ValueError:
        return ValueError(f"{what}: char {self._before + self._at}")
