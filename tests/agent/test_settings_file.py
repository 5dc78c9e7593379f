"""Settings files: each problem names the file, the field, what was found and what was expected."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field, field_validator

from agent.errors import Refusal
from agent.settings_file import (
    Mismatch,
    Number,
    Problem,
    Table,
    Text,
    Whole,
    load_toml,
    load_yaml,
    parse_yaml,
    validate,
)


class FileError(Refusal, ValueError):
    pass


class Inner(Table):
    rank: Whole = 64
    part: Literal["vision", "projector"] = "vision"


class Outer(Table):
    name: Text
    rate: Number | None = None
    inner: Inner | None = None
    many: tuple[Inner, ...] = ()
    window: Annotated[tuple[Number, Number], Field(description="[lo, hi] in Å")] = (1.0, 2.0)
    secret: Text | None = None

    @field_validator("secret")
    @classmethod
    def _no_space(cls, value: str | None) -> str | None:
        if value and " " in value:
            raise Mismatch("a text with spaces", "one word")
        return value


def test_good_data_becomes_a_frozen_value() -> None:
    value = validate(Outer, {"name": " a ", "rate": 3, "window": [3, 4.5]}, "s.toml", FileError)
    assert (value.name, value.rate, value.window, value.many) == ("a", 3.0, (3.0, 4.5), ())
    with pytest.raises(ValueError, match="frozen"):
        value.name = "b"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "name: found nothing, expected a value"),
        ({"name": 3}, "name: found 3, expected a text"),
        ({"name": " "}, "name: found ' ', expected a text that is not empty"),
        ({"name": "a", "rate": True}, "rate: found True, expected a number"),
        ({"name": "a", "rate": "1"}, "rate: found '1', expected a number"),
        ({"name": "a", "rate": float("nan")}, "rate: found nan, expected a finite number"),
        ({"name": "a", "inner": {"rank": 1.5}}, "inner.rank: found 1.5, expected a whole number"),
        ({"name": "a", "inner": {"part": "x"}}, "inner.part: found 'x', expected 'vision' or 'projector'"),
        ({"name": "a", "inner": 3}, "inner: found 3, expected a table of keys and values"),
        (
            {"name": "a", "inner": {"rnak": 1}},
            "inner.rnak: found an unknown field, expected one of rank, part; did you ",
        ),
        ({"name": "a", "many": [{}, {"rank": "x"}]}, r"many\[1\].rank: found 'x', expected a whole number"),
        ({"name": "a", "many": 3}, "many: found 3, expected a list"),
        ({"name": "a", "window": [1, "x"]}, r"window: found \[1, 'x'\], expected \[lo, hi\] in Å"),
        ({"name": "a", "secret": "two words"}, "secret: found a text with spaces, expected one word$"),
        ([], r"file: found \[\], expected a table of keys and values"),
    ],
)
def test_a_problem_names_file_field_found_and_expected(data: object, message: str) -> None:
    with pytest.raises(FileError, match=f"^s.toml: {message}"):
        validate(Outer, data, "s.toml", FileError)


def test_a_prefix_stands_before_the_field_and_the_error_receives_the_parts() -> None:
    seen: list[Problem] = []

    def error(problem: Problem) -> FileError:
        seen.append(problem)
        return FileError(problem)

    with pytest.raises(FileError):
        validate(Outer, {"name": 3}, "s.toml", error, prefix="server 1, ")
    assert seen == [Problem("s.toml", "server 1, name", "3", "a text")]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    with pytest.raises(FileError, match="expected a readable UTF-8 text file"):
        load_toml(file, FileError)
    file.write_bytes(b'a = "\xe9"')
    with pytest.raises(FileError, match="expected a readable UTF-8 text file"):
        load_toml(file, FileError)
    for text in ("a =", "a = " + "9" * 5000, "a = " + "[" * 5000):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(FileError, match=r"found broken TOML.*expected valid TOML"):
            load_toml(file, FileError)
    for text in (
        "a: [",
        "a: &b 1\nc: *b",
        "a: " + "[" * 5000,
        "a: 2001-13-45",
        "a: !!python/object/apply:os.system [b]",
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(FileError, match=r"found broken YAML.*expected valid YAML"):
            load_yaml(file, FileError)
    file.write_text("a: 1\nb: [x]", encoding="utf-8")
    assert load_yaml(file, FileError) == parse_yaml("{a: 1, b: [x]}") == {"a": 1, "b": ["x"]}
