"""Prompts in SpecVI-Bench's files: which files a folder holds, and which prompt each row carries.

Used by ``spec-o3 tasks import`` and by ``training.data.specvi``, which reads the rows themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent.language import deferred, tr
from agent.spectrum import SpectrumError
from agent.spectrum.readers.parquet import ParquetProcess
from agent.tasks.files import TaskError

Part = Literal["train", "test"]
PARTS: tuple[Part, ...] = ("train", "test")
IMAGE = "<image>"
COLUMNS = ("data_source", "prompt")


def files_by_part(folder: Path) -> dict[Part, list[Path]]:
    """Return the benchmark's files in a folder, or in ``data`` below it; empty lists if there are none."""
    for where in (folder, folder / "data", folder / "benchmark" / "data"):
        files = {part: sorted(where.glob(f"{part}_*.parquet")) for part in PARTS}
        if any(files.values()):
            return files
    return {part: [] for part in PARTS}


def prompt_text(turns: object) -> str:
    """Return the user's text of a row's prompt, exactly as the model reads it after ``<image>`` and the line feed.

    :raises ValueError: there is not exactly one user turn with text
    """
    texts = _texts(turns, "user")
    if len(texts) != 1 or not texts[0].replace(IMAGE, "").strip():
        raise ValueError(tr("prompt: found {n_texts} user turns with text, expected one", n_texts=len(texts)))
    return texts[0].replace(IMAGE, "", 1).removeprefix("\n")


def _texts(turns: object, role: str) -> list[str]:
    given = turns if isinstance(turns, list) else []
    texts = [turn.get("content") for turn in given if isinstance(turn, Mapping) and turn.get("role") == role]
    return [text for text in texts if isinstance(text, str)]


@dataclass(frozen=True)
class RowPrompts:
    """The prompts of one file.

    :param counts: number of rows by class (``data_source``, as the file names it) and prompt
    :param systems: number of rows by the text of their system turn
    """

    counts: Mapping[tuple[str, str], int]
    systems: Mapping[str, int]

    @property
    def rows(self) -> int:
        return sum(self.counts.values())


def prompts_in(path: Path) -> RowPrompts:
    """Read the prompts of every row of a file; neither pictures nor spectra are read.

    :raises TaskError: the file is damaged or is not the benchmark's, or a row has no prompt
    """
    try:
        file = ParquetProcess(str(path), path)
        missing = [name for name in COLUMNS if name not in file.schema.names]
        if missing:
            actual = deferred("no columns {missing}", missing=", ".join(missing))
            raise TaskError(
                str(path), "columns", actual, deferred("a file of SpecVI-Bench, with data_source and prompt")
            )
        tables = [file.table(group, COLUMNS).to_pylist() for group in range(len(file.groups))]
    except SpectrumError as error:
        raise TaskError(str(path), "file", error.actual, error.expected) from None
    counts: Counter[tuple[str, str]] = Counter()
    systems: Counter[str] = Counter()
    for number, row in enumerate(row for table in tables for row in table):
        try:
            text = prompt_text(row["prompt"])
        except ValueError as error:
            raise TaskError(str(path), f"row {number}", str(error), deferred("SpecVI-Bench's chat layout")) from None
        counts[str(row["data_source"]), text] += 1
        systems["\n".join(_texts(row["prompt"], "system"))] += 1
    if not counts:
        raise TaskError(str(path), "rows", "none", deferred("questions with their prompts"))
    return RowPrompts(counts, systems)
