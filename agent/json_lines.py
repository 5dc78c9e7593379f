"""Files of JSON lines that are appended to and that a killed process leaves whole, and files written at once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from agent import locks
from agent.errors import Refusal
from agent.language import deferred, tr
from agent.text import LONE_SURROGATE

_CHUNK = 2**16


class JournalError(Refusal):
    """Results cannot be resumed or written: which file, what was found, what to do."""


@dataclass(frozen=True)
class Line:
    """An object in a file of JSON lines: line number from 1, and start byte."""

    number: int
    start: int
    row: Mapping[str, Any]


def lock_file(file: BinaryIO, path: Path) -> None:
    """Lock a file against other writers while it is open.

    :raises JournalError: another process has locked it
    """
    try:
        is_ours = locks.take(file.fileno())
    except OSError as error:
        raise JournalError(
            tr("{path}: the file cannot be locked against other runs: {strerror}", path=path, strerror=error.strerror)
        ) from error
    if not is_ours:
        raise JournalError(tr("{path}: another run is writing there; wait for it, or choose another file", path=path))


def drop_partial_line(file: BinaryIO) -> int:
    """Remove a last line without a line end; return the new size."""
    end = size = file.seek(0, os.SEEK_END)
    while end:
        start = max(0, end - _CHUNK)
        file.seek(start)
        newline = file.read(end - start).rfind(b"\n")
        end = start + newline + 1 if newline >= 0 else start
        if newline >= 0:
            break
    if end != size:
        file.truncate(end)
    return end


def json_lines(path: Path) -> Iterator[Line]:
    """Yield the objects of a file of JSON lines, except a last line without a line end.

    :raises JournalError: it cannot be read, or another line is no JSON object
    """
    try:
        with path.open("rb") as lines:
            start = 0
            for number, line in enumerate(lines, start=1):
                if line.endswith(b"\n"):
                    yield Line(number, start, _object(line, path, number))
                start += len(line)
    except OSError as error:
        raise JournalError(f"{path}: {error.strerror}") from error


def _object(line: bytes, path: Path, number: int) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise JournalError(
            tr(
                "{path}: line {number}: found no JSON ({error}), expected an object",
                path=path,
                number=number,
                error=error,
            )
        ) from error
    if not isinstance(row, Mapping):
        raise JournalError(
            tr(
                "{path}: line {number}: found {name}, expected an object",
                path=path,
                number=number,
                name=type(row).__name__,
            )
        )
    return row


def json_line(row: Mapping[str, Any]) -> str:
    """Return a row as a line of a file of JSON lines. A lone surrogate, as in a file name that is not UTF-8, is written
    as its escape, so that reading gives it back.
    """
    text = json.dumps(row, ensure_ascii=False, allow_nan=False)
    return LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"


def append_line(path: Path, line: str) -> int:
    """Append a line to a file; return its start byte. :raises JournalError: it cannot be written"""
    try:
        with path.open("a+b") as file:
            start = drop_partial_line(file)
            file.write(line.encode())
            return start
    except OSError as error:
        raise JournalError(f"{path}: {error.strerror}") from error


def write_atomic(path: Path, text: str) -> None:
    """Write a file atomically. :raises JournalError: it cannot be written"""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise JournalError(f"{path}: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)


def differences(before: object, now: object, where: str = "") -> list[str]:
    """List the differences of two JSON values, as clauses: "max_turns was 8, is 4"."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        keys = dict.fromkeys([*before, *now])
        return [
            clause
            for key in keys
            for clause in differences(before.get(key), now.get(key), f"{where}.{key}" if where else str(key))
        ]
    return (
        []
        if before == now
        else [deferred("{where} was {before}, is {now}", where=where, before=_shown(before), now=_shown(now))]
    )


def _shown(value: object) -> str:
    return deferred("not given") if value is None else f"{value!r:.60}"
