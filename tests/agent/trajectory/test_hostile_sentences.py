"""What is quoted from outside forges no line, drives no terminal, hides nothing and has a bounded length."""

from __future__ import annotations

import csv
import io
import logging
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.spectrum import SpectrumError
from agent.tasks import TaskError
from agent.text import LONGEST, CsvTable, cell, is_formula, one_line
from agent.trajectory.steps import TrajectoryError
from reviewer.exchange.imports import ImportFileError
from reviewer.store import NotFound
from reviewer.web.log import OneLineFormatter
from tests.support.hostile_texts import HALF, HOSTILE, NUL
from training.data import DataError

ANY_TEXT = st.text(st.characters(categories=None), max_size=700)  # half characters too


@given(ANY_TEXT)
def test_a_message_is_one_line_of_visible_characters(text: str) -> None:
    line = one_line(text)
    assert len(line) <= LONGEST
    assert line.splitlines() in ([line], [])
    assert not [c for c in line if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
    assert not set(line) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\ufeff")
    line.encode()


def test_what_is_too_long_keeps_its_beginning_and_its_end() -> None:
    line = one_line("file.fits: " + "x" * 10**6 + "; wanted a spectrum")
    assert line.startswith("file.fits: ")
    assert line.endswith("; wanted a spectrum")


@pytest.mark.parametrize("text", [*HOSTILE.values(), HALF, NUL], ids=[*HOSTILE, "half", "nul"])
def test_exceptions_that_quote_what_came_from_outside_say_one_line(text: str) -> None:
    refusals = (
        *(SpectrumError(text, text, text), TaskError(text, text, text, text), TrajectoryError(text)),
        *(ImportFileError(text), NotFound(text), DataError(text)),
    )
    for refusal in refusals:
        assert str(refusal) == one_line(str(refusal))


@given(st.lists(ANY_TEXT, min_size=1, max_size=3))
def test_no_cell_of_a_table_is_a_formula_and_every_cell_reads_back(texts: list[str]) -> None:
    written = io.StringIO(newline="")
    CsvTable(written, ["a"] * len(texts)).row(texts)
    _, row = csv.reader(io.StringIO(written.getvalue(), newline=""))
    for text, read in zip(texts, row, strict=True):
        plain = text.replace("\0", "").encode("utf-8", "replace").decode()
        assert not is_formula(read)
        assert read in (plain, f"'{plain}")
        assert not read.startswith(("=", "+", "-", "@", "\t", "\r"))


@pytest.mark.parametrize("text", ["formula", "plus", "minus", "at", "tab", "full width"])
def test_a_text_that_a_spreadsheet_would_calculate_gets_an_apostrophe(text: str) -> None:
    assert cell(HOSTILE[text]) == f"'{HOSTILE[text]}"
    assert cell(f"  {HOSTILE[text].strip()}").startswith("'")


@given(st.floats(allow_nan=False) | st.integers(-(10**20), 10**20))
def test_a_number_stays_a_number(number: float) -> None:
    assert type(number)(cell(number)) == number


def test_nothing_is_nothing_and_words_are_left_alone() -> None:
    assert [cell(value) for value in (None, "a - b", "Hα", True)] == ["", "a - b", "Hα", "True"]


@pytest.mark.parametrize("text", [*HOSTILE.values(), HALF, NUL], ids=[*HOSTILE, "half", "nul"])
def test_hostile_text_forges_no_entry_of_the_log(text: str) -> None:
    try:
        raise ValueError(text)
    except ValueError as error:
        about = (type(error), error, error.__traceback__)
    record = logging.LogRecord("spec_o3", logging.ERROR, "f", 1, "%s failed (%s)", (text, "ab12"), about)
    entry, *rest = OneLineFormatter().format(record).splitlines()
    assert "failed (ab12)" in entry or len(entry) >= 2_000 or "…" in entry
    assert rest
    assert all(line.startswith("    | ") for line in rest)
    assert "\x1b" not in OneLineFormatter().format(record)
