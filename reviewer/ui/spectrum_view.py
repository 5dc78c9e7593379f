"""The interactive spectrum as a Gradio component, and the JSON form of what it shows.

The drawing is ``spectrum_view.js``, which the Review page uses by itself. Here Python drives it: the
component's value is an item (see ``spectrum_item``), its ``select`` event tells which numbered window was
clicked, its ``input`` event which window a person has dragged to where. Plotly comes from the
folder ``vendor``; nothing is fetched from elsewhere.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import gradio as gr
import numpy as np
from numpy.typing import NDArray

from agent import lines
from agent.spectrum import Spectrum
from agent.tasks import Task
from reviewer.web.routes.assets import known_lines

__all__ = ["MODULES_FOLDER", "PLOTLY_FOLDER", "SpectrumView", "StepWindow", "spectrum_item"]

MODULES_FOLDER = Path(__file__).parent
"""Holds the JavaScript modules and style sheets, offered at ``/ui``."""

PLOTLY_FOLDER = MODULES_FOLDER / "vendor"
"""Holds ``plotly.min.js``; the server offers it at ``/ui/plotly.min.js``."""

Item = dict[str, Any]

Frame = Literal["observed", "rest"]


@dataclass(frozen=True)
class StepWindow:
    """A step's window: ``lo`` and ``hi`` in Å in ``frame``, at the ``z`` with which the tool drew it."""

    id: str
    number: int
    lo: float
    hi: float
    frame: Frame = "observed"
    z: float | None = None
    label: str = ""


def spectrum_item(
    spectrum: Spectrum,
    item_id: str,
    *,
    windows: Iterable[StepWindow] = (),
    second: Iterable[StepWindow] = (),
    task: Task | None = None,
    selected: str | None = None,
    editable: bool = True,
) -> Item:
    """The JSON form of an item: the spectrum (arrays in base64), windows on it, lines and bands known there.

    :param item_id: another id is another item, and resets the zoom
    :param second: windows of another trajectory of the same spectrum, drawn as a second row
    :param task: lines within its features' spans are marked as the task's own
    :param selected: the id of the window to begin with
    :param editable: whether dragging changes the selected window
    """
    return {
        "id": item_id,
        "spectrum": _spectrum(spectrum),
        "redshift": spectrum.redshift,
        "windows": [asdict(window) for window in windows],
        "second": [asdict(window) for window in second],
        "lines": known_lines(task),
        "bands": [asdict(band) for band in lines.sky_bands(spectrum.survey.removeprefix("simulated "))],
        "selected": selected,
        "editable": editable,
    }


def _spectrum(spectrum: Spectrum) -> Item:
    return {
        "wavelength": _array(spectrum.wavelength, "<f8"),
        "flux": _array(spectrum.flux, "<f4"),
        # The ivar of a spectrum in erg s-1 cm-2 Å-1 is 1e34 and more, near or beyond what float32 holds.
        "ivar": _array(spectrum.ivar, "<f8"),
        "mask": _array(spectrum.mask, "u1"),
        "medium": spectrum.medium,
        "frame": spectrum.frame,
        "fluxUnit": spectrum.flux_unit,
        "survey": spectrum.survey,
        "name": spectrum.name,
        "errors": spectrum.errors,
    }


def _array(values: NDArray[Any], dtype: Literal["<f8", "<f4", "u1"]) -> dict[str, str]:
    packed = np.ascontiguousarray(values, dtype=dtype)
    return {"dtype": packed.dtype.name, "base64": base64.b64encode(packed.tobytes()).decode("ascii")}


_ON_LOAD = """
const root = element.querySelector('.spectrum-view-root')
const until = async (ready) => { while (!ready()) await new Promise((done) => setTimeout(done, 20)) }
;(async () => {
  const [{ SpectrumView }, { decodeItem }] = await Promise.all([
    import(`${props.modules}/spectrum_view.js`), import(`${props.modules}/spectrum_item.js`)])
  await until(() => window.Plotly)
  const view = new SpectrumView(root, {
    onSelect: (id) => trigger('select', { id }),
    onWindow: (lo, hi, { id, final }) => { if (final) trigger('input', { id, lo, hi }) },
  })
  root.spectrumView = view
  let shown = null
  const follow = () => {
    const item = props.value
    if (!item) return
    if (item.id !== shown) view.show(decodeItem(item))
    else {
      const { windows, second, selected, editable } = item
      view.update({ windows, second, selected, editable })
    }
    shown = item.id
  }
  watch('value', follow)
  follow()
})()
"""


class SpectrumView(gr.HTML):  # type: ignore[misc]  # gradio ships no types
    """The spectrum view as a component. Its value is what ``spectrum_item`` gives; None shows nothing.

    A value with the same ``id`` moves windows and selection and keeps the zoom. Events: ``select`` with
    ``id``; ``input`` with ``id``, ``lo``, ``hi`` (Å, in that step's own frame) once a dragged window is let
    go.

    :param height: of the component, in pixels
    :param modules: the URL at which the folder of this file is served, with ``plotly.min.js``
    """

    def __init__(
        self, value: Mapping[str, Any] | None = None, *, height: int = 620, modules: str = "/ui", **props: Any
    ) -> None:
        # Gradio calls this again with every prop on an update, ours and its own.
        props.setdefault("html_template", '<div class="spectrum-view-root" style="height: ${height}px"></div>')
        props.setdefault("js_on_load", _ON_LOAD)
        props.setdefault("head", _head(modules))
        props.setdefault("apply_default_css", False)
        super().__init__(value, height=height, modules=modules, **props)

    def api_info(self) -> dict[str, Any]:
        return {"type": "object", "description": "an item, as spectrum_item makes it"}


def _head(modules: str) -> str:
    tags: Sequence[str] = (
        f'<link rel="stylesheet" href="{modules}/spectrum_view.css">',
        f'<script src="{modules}/plotly.min.js"></script>',
    )
    return "".join(tags)
