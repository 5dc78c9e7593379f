"""A JSON list read element by element, so that a file of any length fits into memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

CHUNK = 2**20
"""Characters that are read at once; an element that is longer is read until it is whole."""
_SPACE = " \t\r\n"
# What the decoder complains of may be no more than where the text read so far ends: it points to the last
# letters, of which "-Infinity" has most, or says that a string has no end.
_NEAR_THE_END = 16
_NO_END = "Unterminated string"


def elements(file: TextIO) -> Iterator[Any]:
    """The elements of the list that a file holds, as ``json.load`` would give them.

    :raises ValueError: the file holds no JSON list; what came before the fault was yielded
    :raises RecursionError: an element is nested too deeply
    """
    return _Reader(file).elements()


class _Reader:
    """A file, and what has been read of it but not been used: ``text`` from ``at`` on."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._decoder = json.JSONDecoder()
        self._text = ""
        self._at = 0
        self._before = 0
        self._over = False

    def elements(self) -> Iterator[Any]:
        if self._next() != "[":
            raise self._fault("Expecting a list")
        self._at += 1
        if self._next() == "]":
            self._at += 1
        else:
            yield self._element()
            while (found := self._next()) == ",":
                self._at += 1
                yield self._element()
            if found != "]":
                raise self._fault("Expecting ',' delimiter")
            self._at += 1
        if self._next():
            raise self._fault("Extra data")

    def _next(self) -> str:
        """The next character that is no space, which stays; nothing at the end of the file."""
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
                # A number goes on as long as there are digits.
                if self._over or end < len(self._text) - _NEAR_THE_END or self._text[end - 1] in '}]"':
                    self._at = end
                    return element
            self._read()

    def _read(self) -> None:
        """As much again as is there: an element begun ten times over costs no more than two readings."""
        more = self._file.read(max(CHUNK, len(self._text) - self._at))
        self._over = not more
        self._before += self._at
        self._text = self._text[self._at :] + more
        self._at = 0

    def _fault(self, what: str) -> ValueError:
        return ValueError(f"{what}: char {self._before + self._at}")
