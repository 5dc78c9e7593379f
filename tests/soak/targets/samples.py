"""What the seeds of several targets are made of: one spectrum, one trace of it, its two pictures."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from agent.plot import pixels_sha256, png_bytes
from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.spectrum.readers import own
from agent.tasks import files as task_files
from agent.trajectory import Answer, Drafter, Think, Trajectory, Zoom
from reviewer.exchange.imports import own_row

TASKS = task_files.load()
MOST_SPECTRA = 6
"""Of one file that are read; a file of more costs time and shows nothing new."""
N = 40
WAVELENGTH = 4000.0 + 2.0 * np.arange(N)
FLUX = 10.0 + np.arange(N) % 5
WINDOW = [4010.0, 4060.0]


@cache
def a_spectrum() -> Spectrum:
    whole = simulate("cv", "LAMOST", 20.0, 1)
    part = slice(200, 200 + 8 * N)
    parts = (whole.wavelength[part], whole.flux[part], whole.ivar[part], whole.mask[part])
    return replace(whole, wavelength=parts[0], flux=parts[1], ivar=parts[2], mask=parts[3])


def spectrum_file() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        own.write(a_spectrum(), Path(folder, "x.fits"))
        return Path(folder, "x.fits").read_bytes()


def a_trajectory(**changes: Any) -> Trajectory:
    one = a_spectrum()
    seen = "The spectrum between 4010 and 4060 Å."
    steps = (
        Think("s1", "Hα looks broad."),
        Zoom(
            "s2",
            {"wavelength_range": WINDOW, "label": "Hδ"},
            "observed",
            0.0,
            one.medium,
            seen,
            True,
            sha(1),
        ),
        Think("s3", "So a disc."),
        Answer("s4", "YES", "Broad emission."),
    )
    given: dict[str, Any] = {
        "task": "cv",
        "prompt": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable**.\n\nGuide.",
        "spectrum_name": one.name,
        "spectrum_sha256": one.sha256,
        "steps": steps,
        "drafter": Drafter("model", "some model", {"temperature": 1.0}),
        "medium": one.medium,
        "overview": sha(0),
        "label": "YES",
    }
    return Trajectory(**(given | changes))


def picture(number: int) -> Image.Image:
    return Image.new("RGBA", (6, 5), (number, 0, 0, 255))


def sha(number: int) -> str:
    return pixels_sha256(picture(number))


def sample_pictures() -> dict[str, bytes]:
    return {sha(number): png_bytes(picture(number)) for number in (0, 1)}


def with_pictures(folder: Path) -> None:
    """A folder in which the rows of ``own_lines`` and ``sharegpt_rows`` find their pictures and spectrum."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    for number in (0, 1):
        (folder / "images" / f"{number}.png").write_bytes(png_bytes(picture(number)))
    own.write(a_spectrum(), folder / "spectrum.fits")


def own_lines() -> list[bytes]:
    first = own_row(a_trajectory(), a_spectrum(), {sha(0): "images/0.png", sha(1): "images/1.png"})
    second = own_row(
        a_trajectory(spectrum_sha256=None, spectrum_name="spectrum.fits"),
        None,
        {sha(0): "images/0.png", sha(1): "images/1.png"},
    )
    lines = [json.dumps(row, ensure_ascii=False) for row in (first, second)]
    return [("\n".join(lines) + "\n").encode(), lines[1].encode()]


def _sharegpt() -> dict[str, Any]:
    return a_trajectory(spectrum_sha256=None, spectrum_name="spectrum.fits").to_sharegpt(
        ["images/0.png", "images/1.png"]
    )


def sharegpt_rows() -> list[bytes]:
    row = _sharegpt()
    bare = {key: row[key] for key in ("conversations", "images", "source_name", "ground_truth")}
    assert len(a_trajectory().pictures) == 2
    return [json.dumps([row, bare], indent=1).encode(), json.dumps(row).encode(), json.dumps(bare).encode()]


def json_or_none(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
