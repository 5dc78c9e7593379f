"""Routes of downloads: a spectrum as a figure and as a table, of an item, a live run, or a row of the Live bench."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Depends, Query, Response

from agent.language import tr
from agent.spectrum import Spectrum
from agent.spectrum.table import TableKind, Window, written
from reviewer.figures import FigureKind, figure
from reviewer.pictures import as_stated, windows_of
from reviewer.store import NotFound
from reviewer.web.context import ContextDep
from reviewer.web.live import BenchDep, RunDep, SampleDep
from reviewer.web.models import attachment, media
from reviewer.web.verdict_first import VerdictFirstDep, neutral_spectrum
from reviewer.web.visibility import require_visible

_FIGURES = {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf"}
_TABLES = {
    "csv": "text/csv; charset=utf-8",
    "ecsv": "text/plain; charset=utf-8",
    "vot": "application/x-votable+xml",
}

router = APIRouter(prefix="/api/v1", dependencies=[Depends(require_visible)])


class Shown(NamedTuple):
    """A spectrum with the windows of its trace, as the person may see them."""

    spectrum: Spectrum
    windows: tuple[Window, ...] = ()


def _of_item(context: ContextDep, first: VerdictFirstDep, item_id: int) -> Shown:
    item = context.store.items.get(item_id)
    if item.row.spectrum_sha256 is None:
        raise NotFound(tr("Item {item_id} has no spectrum.", item_id=item_id))
    spectrum, trajectory = context.gallery.spectrum(item.row.spectrum_sha256), item.version.trajectory
    if first.hides(item.row):
        return Shown(neutral_spectrum(spectrum, item_id))
    return Shown(as_stated(spectrum, trajectory), windows_of(trajectory.steps, spectrum))


ItemShown = Annotated[Shown, Depends(_of_item)]


def _of_run(run: RunDep, sample: SampleDep) -> Shown:
    return Shown(run.settings.spectrum, windows_of(sample.trajectory.steps, run.settings.spectrum))


def _of_bench(bench: BenchDep, row: str) -> Shown:
    return Shown(bench.spectrum(bench.row(row)))


_Wavelength = Annotated[float | None, Query(allow_inf_nan=False, description="Å, observed")]


def _add_routes(place: str, of: Callable[..., Shown]) -> None:
    """Add the downloads below an address."""
    depends = Depends(of)

    @router.get(f"{place}/figure.{{kind}}", **media(*_FIGURES.values()))
    def figure_file(
        kind: FigureKind, lo: _Wavelength = None, hi: _Wavelength = None, shown: Shown = depends
    ) -> Response:
        """The spectrum as a figure, with the numbered windows of the trace; below it the window ``lo`` to ``hi``."""
        spectrum, span = shown.spectrum, None
        if lo is not None and hi is not None:
            stretch = 1 + (spectrum.redshift or 0.0) if spectrum.frame == "rest" else 1.0
            span = (lo / stretch, hi / stretch)
        return attachment(figure(*shown, kind, span), _FIGURES[kind], spectrum.name, f"_figure.{kind}")

    @router.get(f"{place}/spectrum.{{kind}}", **media("text/csv", "text/plain", "application/x-votable+xml"))
    def table_file(kind: TableKind, shown: Shown = depends) -> Response:
        """The spectrum as a table, with units, what the file states, and the windows of the trace."""
        return attachment(written(*shown, kind), _TABLES[kind], shown.spectrum.name, f"_spectrum.{kind}")


for _place, _of in (("/item/{item_id}", _of_item), ("/live/runs/{run}", _of_run), ("/live/bench/{row}", _of_bench)):
    _add_routes(_place, _of)
