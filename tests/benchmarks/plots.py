"""Plots of the measurements that depend on how much there is, from the tables of ``docs/measurements.md``.

``python -m benchmarks`` draws them when its sections are written, and puts each below its table. They hold
the numbers that the tables hold and no others; ``python -m benchmarks --plots`` draws them without measuring.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

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
LINE_HEIGHT = 0.055
"""Of the height of the axes: as close as two names may stand."""


@dataclass(frozen=True)
class Series:
    """One line of a plot: at each n the median and the 95th percentile."""

    name: str
    points: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True)
class Plot:
    """``draw`` puts a section's numbers on axes and says whether it found any."""

    file: str
    caption: str
    draw: Callable[[str, Axes], bool]


def drawn(plot: Plot, text: str, folder: Path) -> str | None:
    """Draw a section's plot into ``folder``; the file's name, None where the section has nothing to draw."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(6.8, 3.6), facecolor="white", layout="constrained")
        FigureCanvasAgg(figure)
        if not plot.draw(text, figure.add_subplot()):
            return None
        folder.mkdir(parents=True, exist_ok=True)
        name = f"measured-{plot.file}.svg"
        figure.savefig(folder / name, metadata={"Date": None, "Creator": None})
    return name


# ---- what the tables say


def table(text: str, first: str) -> Iterator[dict[str, str]]:
    """The rows of the Markdown table whose first column has this heading, by heading."""
    headings: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not headings and cells[:1] == [first]:
            headings = cells
        elif headings and not cells:
            return
        elif headings and not set(cells[0]) <= set("-:"):
            yield dict(zip(headings, cells, strict=True))


def number(cell: str) -> float:
    """The number with which a cell begins: "1,234.5 (1,200 to 1,300)" is 1234.5."""
    found = re.match(r"[\d,]+(\.\d+)?", cell.strip("* "))
    if found is None:
        raise ValueError(f"no number in the cell {cell!r}")
    return float(found[0].replace(",", ""))


def store_series(text: str, names: Mapping[str, str]) -> list[Series]:
    """What ``tests/benchmarks/store.py`` printed: ``names`` are its lines and what they are called here."""
    points: dict[str, list[tuple[float, float, float]]] = {}
    items = 0.0
    for line in text.splitlines():
        if size := re.match(r"(\d+) items added", line):
            items = float(size[1])
        elif timed := re.match(r"  (.+?) +median +([\d.]+) ms +95 % +([\d.]+) ms", line):
            points.setdefault(timed[1], []).append((items, float(timed[2]), float(timed[3])))
    return [Series(names[line], tuple(found)) for line, found in points.items() if line in names]


def next_item_series(text: str) -> list[Series]:
    rows = list(table(text, "trajectories"))
    pressed = dict.fromkeys(row["pressed"] for row in rows)
    return [
        Series(
            how,
            tuple(
                (number(row["trajectories"]), number(row["median"]), number(row["95th percentile"]))
                for row in rows
                if row["pressed"] == how
            ),
        )
        for how in pressed
    ]


def bulk_series(text: str) -> list[Series]:
    """Processor's seconds a thousand of each line of ``tests/benchmarks/bulk.py`` with one process."""
    rows = [row for row in table(text, "what") if row["processes"] == "1"]
    whats = dict.fromkeys(row["what"] for row in rows)
    points = [(row["what"], number(row["n"]), number(row["CPU s a thousand"])) for row in rows]
    return [Series(what, tuple((n, cost, cost) for of, n, cost in points if of == what)) for what in whats]


# ---- the plots


def lines(axes: Axes, series: Sequence[Series], x: str, y: str) -> bool:
    """Medians on logarithmic axes, strokes up to the 95th percentile, each line named at its end."""
    if not any(len(one.points) > 1 for one in series):
        return False
    for one, colour in zip(series, _colours(len(series)), strict=True):
        n, medians, late = zip(*one.points, strict=True)
        axes.plot(n, medians, "o-", color=colour, linewidth=1.6, markersize=4)
        axes.vlines(n, medians, late, color=colour, linewidth=1.2, alpha=0.5)
    axes.set(xscale="log", yscale="log", xlabel=x, ylabel=y)
    ticks = sorted({n for one in series for n, _, _ in one.points})
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
    """Each line's name right of its end, moved up where the one below is too near."""
    axes.autoscale_view()
    axes.set_ylim(axes.get_ylim())
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = [to_axes.transform(one.points[-1][:2])[1] for one in series]
    colours = _colours(len(series))
    below = -1.0
    for at in sorted(range(len(series)), key=lambda at: ends[at]):
        below = max(ends[at], below + LINE_HEIGHT)
        axes.text(1.01, below, series[at].name, color=colours[at], transform=axes.transAxes, va="center")


def _store(text: str, axes: Axes) -> bool:
    names = {
        "counts": "counts on the Progress page",
        "queue: survey id, one item in fifty": "queue, searched for an id",
        "queue: mine to do": "queue, mine to do",
        "position": "place in the queue",
        "lease + decide": "take an item and decide",
        "item": "open an item",
        "autosave": "keep what was typed",
    }
    return lines(axes, store_series(text, names), "items in the database", "ms")


def _next_item(text: str, axes: Axes) -> bool:
    return lines(axes, next_item_series(text), "trajectories in the database", "ms from key press to picture")


def _bulk(text: str, axes: Axes) -> bool:
    return lines(axes, bulk_series(text), "n", "CPU seconds a thousand, start included")


def _pictures(text: str, axes: Axes) -> bool:
    """Bars: what each way to draw needs for each kind of picture."""
    rows = list(table(text, "picture"))
    ways = {"published order": QUIET, "matplotlib's figure": "#a9bdf0", "`png`": COLOURS[0]}
    if not rows or not ways.keys() <= rows[0].keys():
        return False
    height = 0.8 / len(ways)
    for place, (way, colour) in enumerate(ways.items()):
        times = [number(row[way]) for row in rows]
        places = [at + height * place for at in range(len(rows))]
        bars = axes.barh(places, times, 0.9 * height, color=colour, label=_way(way))
        axes.bar_label(bars, [f"{time:,.3g}" for time in times], padding=3, fontsize=7, color=QUIET)
    axes.set(xscale="log", xlabel="CPU ms a picture, PNG included")
    axes.set_yticks([at + height for at in range(len(rows))], [row["picture"] for row in rows])
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
    "next-item",
    f"From key press to the next item, against the trajectories in the database. {_READ}",
    _next_item,
)
PICTURES = Plot("draw", "CPU time of a picture by its kind and the way of drawing it; logarithmic axis.", _pictures)
BULK = Plot(
    "bulk",
    "Processor's time a thousand against how many there are, one process, the program's start included; "
    "logarithmic axes.",
    _bulk,
)
