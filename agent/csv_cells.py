"""What every CSV table of this program is written with: no cell of it is a formula.

A spreadsheet takes a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return for a
formula (OWASP, "CSV Injection"), also after spaces and in their full-width forms. Names, comments and
explanations come from files, models and people, so such a text gets an apostrophe before it, by which a
spreadsheet takes what follows for text. What is a number to this program is written as it is, with its sign.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TextIO

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


class CsvTable:
    """A CSV file being written: the heading, then row after row; lines end in a line feed."""

    def __init__(self, out: TextIO, heading: Sequence[str]) -> None:
        self._out = out
        self.row(heading)

    def row(self, cells: Iterable[object]) -> None:
        line = io.StringIO(newline="")
        # csv quotes a carriage return only where lines end in one; unquoted it would begin a row of its own.
        csv.writer(line, lineterminator="\r\n").writerow([cell(value) for value in cells])
        self._out.write(line.getvalue().removesuffix("\r\n") + "\n")


def cell(value: object) -> str:
    """A value as it stands in a table: nothing for None, a float to its last digit, text that is no formula.

    A text keeps its line feeds and everything else that UTF-8 and CSV can hold; NUL and half characters go.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        return repr(float(value)) if isinstance(value, float) else str(value)
    text = value.replace("\0", "").encode("utf-8", "replace").decode()
    return f"'{text}" if is_formula(text) else text


def is_formula(text: str) -> bool:
    """Whether a spreadsheet might calculate with this text instead of showing it."""
    return text.startswith(("\t", "\r", "\n")) or text.lstrip().startswith(_FORMULA)
