"""Results of benchmarks and trials: shown as Markdown, kept as JSON in docs/measurements.

``docs/measurements.md`` is made from the JSON files, and so are its plots.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "measurements.md"
FOLDER = DOCUMENT.with_suffix("")
VARIABLE = "SPEC_O3_BENCHMARK_RESULTS"
"""The file that a benchmark writes its results to, if this variable of the environment names one."""
PACKAGES = ("numpy", "astropy", "matplotlib", "pillow", "gradio", "plotly")
HEAD = (
    "# Measurements\n\nWritten by `python -m tests.benchmarks --spectra FOLDER` (`make bench SPECTRA=FOLDER`) and "
    "`python -m tests.soak` (`make soak`), from the JSON files in `docs/measurements`."
)

Cell = str | int | float | Sequence[int | float] | None
Block = dict[str, Any]
"""A paragraph of text, or a table: the format of each column by its heading, and the rows."""


class Results:
    """Blocks of text and tables, printed as Markdown as they come and written to the file of the environment."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []

    def add(self, block: Block) -> None:
        """Add and print a block."""
        self._add(block)
        print(f"\n{markdown([block])}", flush=True)

    def text(self, text: str) -> None:
        """Add and print a paragraph."""
        self.add({"text": text})

    def table(self, columns: Mapping[str, str]) -> Table:
        """Add a table.

        :param columns: heading to ``str.format`` of its numbers; empty for a column of text
        """
        rows: list[Sequence[Cell]] = []
        self._add({"columns": dict(columns), "rows": rows})
        print("\n" + _head(columns), flush=True)
        return Table(self, columns, rows)

    def _add(self, block: Block) -> None:
        self.blocks.append(block)
        self.write()

    def write(self) -> None:
        """Write all blocks so far, if the environment names a file."""
        if file := os.environ.get(VARIABLE):
            Path(file).write_text(json.dumps(self.blocks, ensure_ascii=False), encoding="utf-8")


@dataclass(frozen=True)
class Table:
    """A table to which rows are added."""

    results: Results
    columns: Mapping[str, str]
    rows: list[Sequence[Cell]]

    def row(self, *cells: Cell) -> None:
        """Add and print a row: a text, a number, or the numbers that the column's format takes, per column."""
        assert len(cells) == len(self.columns)
        self.rows.append(cells)
        self.results.write()
        print(_row(self.columns, cells), flush=True)


# ---- Markdown


def markdown(blocks: Sequence[Block]) -> str:
    """Text and tables of a section."""
    return "\n\n".join(block["text"] if "text" in block else _table(block) for block in blocks)


def _table(block: Block) -> str:
    return "\n".join([_head(block["columns"]), *(_row(block["columns"], row) for row in block["rows"])])


def _head(columns: Mapping[str, str]) -> str:
    return f"| {' | '.join(columns)} |\n|{'|'.join('---:' if form else '---' for form in columns.values())}|"


def _row(columns: Mapping[str, str], cells: Sequence[Cell]) -> str:
    return f"| {' | '.join(_shown(cell, form) for cell, form in zip(cells, columns.values(), strict=True))} |"


def _shown(cell: Cell, form: str) -> str:
    if cell is None or isinstance(cell, str):
        return cell or ""
    return (form or "{}").format(*cell) if isinstance(cell, Sequence) else (form or "{}").format(cell)


# ---- the files and the document


def rows(blocks: Sequence[Block], first: str) -> Iterator[dict[str, Any]]:
    """The rows of the tables whose first column has this heading, by heading."""
    for block in blocks:
        if next(iter(block.get("columns", ())), None) == first:
            yield from (dict(zip(block["columns"], row, strict=True)) for row in block["rows"])


def keep(name: str, section: Mapping[str, Any]) -> None:
    """Keep what a section holds: title, about, command, conditions and blocks."""
    FOLDER.mkdir(exist_ok=True)
    # One row of a table per line.
    marked = {**section, "blocks": [_with_marked_rows(block) for block in section["blocks"]]}
    text = json.dumps(marked, ensure_ascii=False, indent=1)
    text = re.sub(r'"row:((?:[^"\\]|\\.)*)"', lambda found: str(json.loads(f'"{found[1]}"')), text)
    (FOLDER / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


def _with_marked_rows(block: Block) -> Block:
    if "rows" not in block:
        return block
    return {**block, "rows": [f"row:{json.dumps(row, ensure_ascii=False)}" for row in block["rows"]]}


def kept(name: str) -> dict[str, Any] | None:
    """A section as it was measured last, or None."""
    file = FOLDER / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def write_document(names: Sequence[str]) -> None:
    """Write the document from these sections, in this order; one that was never measured is left out."""
    sections = [section for name in names if (section := kept(name))]
    DOCUMENT.write_text("\n\n".join([HEAD, *map(_section, sections)]) + "\n", encoding="utf-8")


def _section(section: Mapping[str, Any]) -> str:
    parts = [f"## {section['title']}", section["about"], f"    {section['command']}", f"*{section['conditions']}*"]
    return "\n\n".join([*parts, markdown(section["blocks"]), *section.get("plot", [])])


def conditions() -> str:
    """Date, machine and versions of what was measured just now."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"{today}; {system}; Python {platform.python_version()}, {versions}."
