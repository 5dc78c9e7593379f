"""A JSON list read element by element is what ``json.loads`` makes of it, wherever the text is cut."""

from __future__ import annotations

import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer.exchange import json_list
from reviewer.exchange.json_list import elements

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def read(text: str, chunk: int) -> list[Any]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(json_list, "CHUNK", chunk)
        return list(elements(io.StringIO(text)))


@given(st.lists(ANYTHING, max_size=5), st.integers(1, 40), st.sampled_from([None, 0, 3]), st.booleans())
def test_the_elements_are_those_of_the_list(made: list[Any], chunk: int, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(made, indent=indent, ensure_ascii=ascii_only)
    assert read(text, chunk) == made


@given(st.text('[]{},:"\\ \nu0123eE.+-truefalsnINity', max_size=30), st.integers(1, 8))
def test_what_json_refuses_is_refused_and_nothing_else(text: str, chunk: int) -> None:
    text = f"[{text}"
    try:
        wanted = json.dumps(json.loads(text))
    except ValueError:
        with pytest.raises(ValueError, match=r": char \d+$"):
            read(text, chunk)
    else:
        # As text, because NaN is not equal to itself.
        assert json.dumps(read(text, chunk)) == wanted


@pytest.mark.parametrize("number", ["-Infinity", "1.25e-17", "-0.5", "1" * 100, "NaN", "true", "null"])
@pytest.mark.parametrize("chunk", range(1, 12))
def test_what_has_no_end_of_its_own_is_read_to_its_end(number: str, chunk: int) -> None:
    text = f"[{number} , {number}]"
    assert json.dumps(read(text, chunk)) == json.dumps(json.loads(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1, 2", r"Expecting ',' delimiter: char 5"),
        ("[1] 2", r"Extra data: char 4"),
        ("", r"Expecting a list: char 0"),
        ("\ufeff[1]", r"Expecting a list: char 0"),
        ('[{"a": 1}, {"a" 1}]', r"Expecting ':' delimiter: char 16"),
    ],
)
def test_the_place_of_a_fault_is_that_in_the_file(text: str, words: str) -> None:
    for chunk in (1, 7, 100):
        with pytest.raises(ValueError, match=words):
            read(text, chunk)


def test_a_long_list_is_never_in_memory(tmp_path: Path) -> None:
    path, row = tmp_path / "long.json", json.dumps({"text": "x" * 1000})
    path.write_text("[" + ",\n".join([row] * 20_000) + "]", encoding="utf-8")
    with path.open(encoding="utf-8") as file:
        tracemalloc.start()
        count = sum(1 for _ in elements(file))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert count == 20_000
    assert peak < 8 * json_list.CHUNK < path.stat().st_size / 2
