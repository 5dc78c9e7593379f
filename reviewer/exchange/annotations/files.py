"""Reads a file of annotations: its format is recognised by its contents, and its rows are read one by one."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from agent.language import tr
from agent.trajectory.json_rows import elements
from reviewer.exchange.annotations import label_studio
from reviewer.exchange.annotations.values import AnnotationProblem, AnnotationsError, Found

_FORMS: tuple[tuple[Callable[[Mapping[str, Any]], bool], Callable[..., Iterator[Found]]], ...] = (
    (label_studio.is_task, label_studio.of_task),
    (label_studio.is_minimal, label_studio.of_minimal),
)
_LONGEST_CELL = 2**24


def read_annotations(path: Path, questions: Sequence[str] = ()) -> Iterator[Found]:
    """Yield what a file has: annotations, and what cannot be used or is left out.

    :param questions: only these; empty: all
    :raises AnnotationsError: it cannot be read, or no row of it is of Label Studio
    """
    known = False
    try:
        # Line feeds in the cells of a table stay as they are.
        with path.open(encoding="utf-8-sig", newline="") as file:
            for number, row in enumerate(_rows(file), start=1):
                read = _reader(row)
                if read is None:
                    reason = tr("found no task of Label Studio")
                    yield AnnotationProblem(path.name, tr("row {row}", row=number), reason)
                    continue
                known = True
                yield from read(path.name, row, number, questions)
    except OSError as error:
        raise AnnotationsError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError, csv.Error) as error:
        raise AnnotationsError(
            tr(
                "{file}: found text that is no JSON and no table ({error}). Nothing was imported.",
                file=path,
                error=error,
            )
        ) from error
    if not known:
        raise AnnotationsError(
            tr(
                "{file}: found no annotations, expected an export of Label Studio (JSON, JSON-MIN, CSV, TSV). "
                "Nothing was imported.",
                file=path,
            )
        )


def _reader(row: object) -> Callable[..., Iterator[Found]] | None:
    if not isinstance(row, dict):
        return None
    return next((read for fits, read in _FORMS if fits(row)), None)


def _rows(file: TextIO) -> Iterator[Any]:
    """Yield the rows of a JSON list, of JSON lines, of a single JSON object, or of a table with a heading."""
    start = file.read(4096).lstrip()
    file.seek(0)
    if start.startswith("["):
        yield from elements(file, strict=False)
    elif start.startswith("{"):
        yield from _objects(file)
    else:
        yield from _table(file, start)


def _objects(file: TextIO) -> Iterator[Any]:
    """Yield JSON lines, or one object that is written over several lines."""
    try:
        first = json.loads(next(line for line in file if line.strip()), strict=False)
    except ValueError:
        file.seek(0)
        yield json.load(file, strict=False)
        return
    yield first
    yield from (json.loads(line, strict=False) for line in file if line.strip())


def _table(file: TextIO, start: str) -> Iterator[dict[str, Any]]:
    heading = start.partition("\n")[0]
    csv.field_size_limit(_LONGEST_CELL)
    yield from csv.DictReader(file, restkey="_data_", restval="", delimiter="\t" if "\t" in heading else ",")
