"""The plots of docs/measurements.md hold the numbers of its tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from tests.benchmarks import plots

PRESSED = """About it.

| trajectories | pressed | median | 95th percentile | longest |
|---:|---|---:|---:|---:|
| 100 | at reading pace | 51 | 84 | 94 |
| 100 | key held down | 92 | 942 | 952 |
| 10,000 | at reading pace | 54 | 96 | 102 |
| 10,000 | key held down | 104 | 880 | 957 |

And more."""

STORE = """```
100 items added in 0.1 s, decided in 0.0 s
  position                                     median    0.05 ms   95 %    0.07 ms
  counts                                       median    0.24 ms   95 %    0.70 ms
10000 items added in 4.0 s, decided in 4.8 s
  position                                     median    0.49 ms   95 %    0.85 ms
  counts                                       median   19.11 ms   95 %   22.71 ms
```"""

PICTURES = """| picture | published order | matplotlib's figure | `png` | times faster |
|---|---:|---:|---:|---:|
| zoom | 231.5 (189.3 to 347.8) | 186.6 (149.8 to 313.6) | 5.4 (4.7 to 6.1) | **43** |
| full | 1,217.6 (204.6 to 342.2) | 167.1 (156.9 to 294.9) | 10.1 (9.5 to 22.6) | **22** |"""


BULK = """
| what | n | processes | s | CPU s | s a thousand | CPU s a thousand | peak memory, MB |
|---|--:|--:|--:|--:|--:|--:|--:|
| inspect | 100 | 1 | 6.1 | 5.0 | 61 | 50 | 210 |
| inspect | 100 | 2 | 4.0 | 6.0 | 40 | 60 | 420 |
| export | 100 | 1 | 9.0 | 8.0 | 90 | 80 | 220 |
| inspect | 1,000 | 1 | 40.0 | 38.0 | 40 | 38 | 210 |
"""


def axes_of(plot: plots.Plot, text: str) -> plots.Axes:
    axes = Figure().add_subplot()
    assert plot.draw(text, axes)
    return axes


def test_a_line_has_the_medians_of_its_rows_and_strokes_to_the_95th_percentile() -> None:
    axes = axes_of(plots.NEXT_ITEM, PRESSED)
    assert [name.get_text() for name in axes.texts] == ["at reading pace", "key held down"]
    assert axes.lines[1].get_xydata().tolist() == [[100, 92], [10_000, 104]]
    strokes = [segment.tolist() for one in axes.collections for segment in one.get_segments()]
    assert [[100, 51], [100, 84]] in strokes
    assert [[10_000, 104], [10_000, 880]] in strokes


def test_what_the_store_printed_is_read_by_size() -> None:
    series = plots.store_series(STORE, {"counts": "counts"})
    assert series == [plots.Series("counts", ((100, 0.24, 0.70), (10_000, 19.11, 22.71)))]


def test_what_much_at_once_cost_is_read_by_what_was_done() -> None:
    assert plots.bulk_series(BULK) == [
        plots.Series("inspect", ((100, 50, 50), (1_000, 38, 38))),
        plots.Series("export", ((100, 80, 80),)),
    ]


def test_bars_have_the_medians_and_not_the_extremes() -> None:
    axes = axes_of(plots.PICTURES, PICTURES)
    assert [bar.get_width() for bar in axes.patches] == [231.5, 1217.6, 186.6, 167.1, 5.4, 10.1]


@pytest.mark.parametrize("plot", [plots.STORE, plots.NEXT_ITEM, plots.PICTURES, plots.BULK], ids=lambda plot: plot.file)
def test_a_section_without_numbers_has_no_plot(plot: plots.Plot, tmp_path: Path) -> None:
    assert plots.drawn(plot, "Not run: it needs a folder of real files (`--spectra`).", tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_the_same_numbers_give_the_same_file(tmp_path: Path) -> None:
    names = [plots.drawn(plots.NEXT_ITEM, PRESSED, tmp_path / folder) for folder in ("one", "two")]
    assert names == ["measured-next-item.svg"] * 2
    one, two = ((tmp_path / folder / "measured-next-item.svg").read_bytes() for folder in ("one", "two"))
    assert one == two
