"""A web page with the spectrum view alone, served on loopback, and its items."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from agent import lines
from agent.spectrum import Spectrum
from agent.tasks import Task
from reviewer.web.payload import known_lines
from reviewer.web.routes.assets import STATIC, plotly_file

HERE = Path(__file__).parent
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".json": "application/json"}


@contextmanager
def served(items: Mapping[str, Any]) -> Iterator[str]:
    """Serve the page; yield its address. It shows ``items`` by ``showItem(name)``."""
    folders = {"ui": STATIC, "plotly": plotly_file().parent, "page": HERE}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            folder, _, name = self.path.lstrip("/").partition("/")
            if folder == "items" and (item := items.get(name.removesuffix(".json"))):
                body = json.dumps(item).encode()
            elif folder in folders and (file := folders[folder] / name).is_file():
                body = file.read_bytes()
            else:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", TYPES.get(Path(name).suffix, "application/octet-stream"))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/page/spectrum_view_page.html"
    finally:
        server.shutdown()
        server.server_close()


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
        "lines": [line.model_dump() for line in known_lines(task)],
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
        "meta": dict(spectrum.meta),
    }


def _array(values: NDArray[Any], dtype: Literal["<f8", "<f4", "u1"]) -> dict[str, str]:
    packed = np.ascontiguousarray(values, dtype=dtype)
    return {"dtype": packed.dtype.name, "base64": base64.b64encode(packed.tobytes()).decode("ascii")}
