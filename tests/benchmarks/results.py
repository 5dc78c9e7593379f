"""Results of benchmarks and trials: shown as Markdown, and kept in ``docs/measurements.json``, from which
``docs/measurements.md`` and its plots are made.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "measurements.md"
RESULTS = DOCUMENT.with_suffix(".json")
"""The latest results of all sections, by name; the document and its figures are made from them."""
VARIABLE = "SPEC_O3_BENCHMARK_RESULTS"
"""Environment variable with the file that a benchmark writes its results to, if any."""
PACKAGES = ("numpy", "astropy", "matplotlib", "pillow", "gradio", "plotly")
HEAD = (
    "# Measurements\n\nFor people who want to know how fast and how reliable the program is, or to measure it again. "
    "Each section has its command. `python -m tests.benchmarks --spectra FOLDER` (`make bench SPECTRA=FOLDER`) and "
    "`python -m tests.soak` (`make soak`) measure all sections and write this page from `docs/measurements.json`.\n\n"
    "Machine and versions, where a section states no others: {}."
)

Cell = str | int | float | Sequence[int | float] | None
Block = dict[str, Any]
"""A paragraph of text, or a table: the format of each column by its heading, and the rows."""


def command_line(doc: str | None) -> argparse.ArgumentParser:
    """Return the parser of a program whose docstring has its command."""
    command = re.search(r"python -m [\w.]+", doc or "")
    raw = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(prog=command and command[0], description=doc, formatter_class=raw)


def times(call: Callable[[], object], calls: int = 1, clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """Return the milliseconds of each call."""
    taken = []
    for _ in range(calls):
        start = clock()
        call()
        taken.append(1000 * (clock() - start))
    return taken


def median_95_longest(values: Sequence[float]) -> tuple[float, float, float]:
    low, high, longest = map(float, np.quantile(values, (0.5, 0.95, 1)))
    return low, high, longest


class Results:
    """Blocks of text and tables, printed as Markdown at once and written to the file in ``VARIABLE``."""

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
        """Write all blocks so far, if ``VARIABLE`` is set."""
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
    """Save a section: title, about, command, conditions and blocks."""
    sections = dict(sorted({**_sections(), name: section}.items()))
    # One row of a table per line.
    marked = {
        key: {**value, "blocks": [_with_marked_rows(block) for block in value["blocks"]]}
        for key, value in sections.items()
    }
    text = json.dumps(marked, ensure_ascii=False, indent=1)
    text = re.sub(r'"row:((?:[^"\\]|\\.)*)"', lambda found: str(json.loads(f'"{found[1]}"')), text)
    RESULTS.write_text(f"{text}\n", encoding="utf-8")


def _with_marked_rows(block: Block) -> Block:
    if "rows" not in block:
        return block
    return {**block, "rows": [f"row:{json.dumps(row, ensure_ascii=False)}" for row in block["rows"]]}


def kept(name: str) -> dict[str, Any] | None:
    """The latest results of a section, or None."""
    return _sections().get(name)


def _sections() -> dict[str, dict[str, Any]]:
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}


def document(names: Sequence[str]) -> str:
    """Return the document of these sections, in this order, without those that were never measured."""
    sections = [section for name in names if (section := kept(name))]
    usual = Counter(_environment(section) for section in sections).most_common(1)[0][0]
    shown = [_section(section, usual) for section in sections]
    return "\n\n".join([HEAD.format(", ".join(usual)), *shown]) + "\n"


def write_document(names: Sequence[str]) -> None:
    """Write the document of these sections."""
    DOCUMENT.write_text(document(names), encoding="utf-8")


def _section(section: Mapping[str, Any], usual: Sequence[str]) -> str:
    date = section["conditions"].partition(";")[0]
    measured = "; ".join([date, *_differences(_environment(section), usual)])
    parts = [f"## {section['title']}", section["about"], f"    {section['command']}", f"*{measured}*"]
    return "\n\n".join([*parts, markdown(section["blocks"]), *section.get("plot", [])])


def _environment(section: Mapping[str, Any]) -> tuple[str, ...]:
    """Machine and versions of a section, from its ``conditions()``."""
    environment = section["conditions"].partition("; ")[2].removesuffix(".")
    return tuple(environment.replace("; ", ", ").split(", "))


def _differences(environment: Sequence[str], usual: Sequence[str]) -> list[str]:
    """What an environment has in place of the usual one."""
    names = {part.rpartition(" ")[0] for part in environment}
    missing = [name for part in usual if (name := part.rpartition(" ")[0]) not in names]
    return [part for part in environment if part not in usual] + [f"without {name}" for name in missing]


def conditions() -> str:
    """Date, machine and versions of the present measurement."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"{today}; {system}; Python {platform.python_version()}, {versions}."


INK, QUIET, GRID = "#1c2333", "#66728a", "#e3e8f0"
COLOURS = ("#1f56d8", "#b35309", "#1a7f5a", "#8a3ffc", "#c2255c", "#0b7285", "#66728a")
STYLE = {
    "font.size": 9,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "axes.spines.top": False,
    "axes.spines.right": False,
    # The same numbers give the same bytes.
    "svg.hashsalt": "spec-o3",
}
STORE_ITEMS = "items in the database"
LINE_HEIGHT = 0.055
"""Smallest distance of two names, as a fraction of the height of the axes."""


@dataclass(frozen=True)
class Series:
    """A line of a plot: median and 95th percentile at each n."""

    name: str
    points: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True)
class Plot:
    """A plot; ``draw`` puts a section's numbers on axes and returns whether there were any."""

    file: str
    caption: str
    draw: Callable[[Sequence[Block], Axes], bool]


def drawn(plot: Plot, blocks: Sequence[Block], folder: Path) -> str | None:
    """Draw a section's plot into ``folder``; return the file's name, or None if there is nothing to draw."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(6.8, 3.6), facecolor="white", layout="constrained")
        FigureCanvasAgg(figure)
        if not plot.draw(blocks, figure.add_subplot()):
            return None
        folder.mkdir(parents=True, exist_ok=True)
        name = f"measured-{plot.file}.svg"
        figure.savefig(folder / name, metadata={"Date": None, "Creator": None})
    return name


# ---- series from the tables


def series(table: Iterable[Mapping[str, Any]], name: str, n: str, median: str, late: str) -> list[Series]:
    """One series per value of the column ``name``, in order."""
    points: dict[str, list[tuple[float, float, float]]] = {}
    for row in table:
        points.setdefault(row[name], []).append((row[n], row[median], row[late]))
    return [Series(which, tuple(found)) for which, found in points.items()]


def store_series(blocks: Sequence[Block], names: Mapping[str, str]) -> list[Series]:
    """Series of ``tests/benchmarks/store.py``; ``names`` are its row names and their names in the plot."""
    table = [row for row in rows(blocks, STORE_ITEMS) if row["what"] in names]
    found = series(table, "what", STORE_ITEMS, "median, ms", "95th percentile, ms")
    return [Series(names[line.name], line.points) for line in found]


def next_item_series(blocks: Sequence[Block]) -> list[Series]:
    return series(rows(blocks, "trajectories"), "pressed", "trajectories", "median", "95th percentile")


def bulk_series(blocks: Sequence[Block]) -> list[Series]:
    """CPU seconds per thousand of each row of ``tests/benchmarks/bulk.py`` with one process."""
    table = [row for row in rows(blocks, "what") if row["processes"] == 1]
    return series(table, "what", "n", "CPU s per thousand", "CPU s per thousand")


# ---- the plots


def lines(axes: Axes, series: Sequence[Series], x: str, y: str) -> bool:
    """Plot medians on logarithmic axes, strokes up to the 95th percentile, and a name at the end of each line."""
    if not any(len(line.points) > 1 for line in series):
        return False
    for line, colour in zip(series, _colours(len(series)), strict=True):
        n, medians, late = zip(*line.points, strict=True)
        axes.plot(n, medians, "o-", color=colour, linewidth=1.6, markersize=4)
        axes.vlines(n, medians, late, color=colour, linewidth=1.2, alpha=0.5)
    axes.set(xscale="log", yscale="log", xlabel=x, ylabel=y)
    ticks = sorted({n for line in series for n, _, _ in line.points})
    axes.set_xticks(ticks, [f"{n:,.0f}" for n in ticks])
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(1,) if high > 100 * low else (1, 2, 5)))
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    _name(axes, series)
    return True


def _colours(count: int) -> list[str]:
    return [COLOURS[at % len(COLOURS)] for at in range(count)]


def _name(axes: Axes, series: Sequence[Series]) -> None:
    """Write each line's name to the right of its end, moved up if the name below is too close."""
    axes.autoscale_view()
    axes.set_ylim(axes.get_ylim())
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = [to_axes.transform(line.points[-1][:2])[1] for line in series]
    colours = _colours(len(series))
    below = -1.0
    for at in sorted(range(len(series)), key=lambda at: ends[at]):
        below = max(ends[at], below + LINE_HEIGHT)
        axes.text(1.01, below, series[at].name, color=colours[at], transform=axes.transAxes, va="center")


def _store(blocks: Sequence[Block], axes: Axes) -> bool:
    names = {
        "counts": "counts on the Progress page",
        "queue: survey id, one item in fifty": "queue, searched for an id",
        "queue: mine to do": "queue, mine to do",
        "position": "place in the queue",
        "lease + decide": "take an item and decide",
        "item": "open an item",
        "autosave": "keep what was typed",
    }
    return lines(axes, store_series(blocks, names), "items in the database", "ms")


def _next_item(blocks: Sequence[Block], axes: Axes) -> bool:
    return lines(axes, next_item_series(blocks), "trajectories in the database", "ms from key press to picture")


def _bulk(blocks: Sequence[Block], axes: Axes) -> bool:
    return lines(axes, bulk_series(blocks), "n", "CPU seconds per thousand, start included")


def _pictures(blocks: Sequence[Block], axes: Axes) -> bool:
    """Plot bars: CPU time of each way to draw, per kind of picture."""
    table = list(rows(blocks, "picture"))
    ways = {"published order": QUIET, "matplotlib's figure": "#a9bdf0", "`png`": COLOURS[0]}
    if not table or not ways.keys() <= table[0].keys():
        return False
    height = 0.8 / len(ways)
    for place, (way, colour) in enumerate(ways.items()):
        times = [row[way][0] for row in table]
        places = [at + height * place for at in range(len(table))]
        bars = axes.barh(places, times, 0.9 * height, color=colour, label=_way(way))
        axes.bar_label(bars, [f"{time:,.3g}" for time in times], padding=3, fontsize=7, color=QUIET)
    axes.set(xscale="log", xlabel="CPU ms per picture, PNG included")
    axes.set_yticks([at + height for at in range(len(table))], [row["picture"] for row in table])
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    # On a logarithmic axis a bar's length depends on where it begins: at 1 ms.
    axes.set_xlim(1, 2 * axes.get_xlim()[1])
    axes.figure.legend(loc="outside upper center", ncols=len(ways), frameon=False, fontsize=8)
    return True


def _way(column: str) -> str:
    return "this program" if column == "`png`" else column


_READ = "Dots are medians, strokes reach to the 95th percentile; both axes are logarithmic."
STORE = Plot("store", f"What a reviewer waits for, against the items in the database. {_READ}", _store)
NEXT_ITEM = Plot(
    "next-item", f"From key press to the next item, against the trajectories in the database. {_READ}", _next_item
)
PICTURES = Plot("draw", "CPU time of a picture by its kind and the way of drawing it; logarithmic axis.", _pictures)
BULK = Plot(
    "bulk",
    "CPU time per thousand against how many there are, one process, the program's start included; logarithmic axes.",
    _bulk,
)
