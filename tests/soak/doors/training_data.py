"""What a training learns from and what a benchmark asks."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from agent.spectrum import SpectrumError
from tests.soak.doors.samples import (
    FLUX,
    MOST_SPECTRA,
    TASKS,
    WAVELENGTH,
    a_spectrum,
    own_lines,
    sharegpt_rows,
    with_pictures,
)
from tests.soak.mutations import spoiled_bytes, spoiled_json
from tests.soak.trying import Door, Try, refused_by
from training.data import DataError, examples, questions


def specvi_files() -> list[bytes]:
    given = {"flux": FLUX.tolist(), "wavelength": WAVELENGTH.tolist(), "redshift": 0.01}
    made = []
    for spectrum in (None, json.dumps(a_spectrum().to_json())):
        info: dict[str, Any] = {
            "index": "0-1",
            "name": "spec-1.fits",
            "survey": "LAMOST",
            "snr": 9.0,
            "simulated": True,
        }
        info["tools_kwargs"] = {"spectral_visualization_tool": {"create_kwargs": given}}
        info["spectrum"] = spectrum
        row = {
            "images": [{"bytes": b"not looked at", "path": None}],
            "data_source": "cv",
            "prompt": [
                {"role": "system", "content": "You."},
                {"role": "user", "content": "<image>\nIs it?\n\nGuide."},
            ],
            "reward_model": {"ground_truth": "YES", "type": "rule"},
            "extra_info": info,
        }
        stream = io.BytesIO()
        pq.write_table(pa.Table.from_pylist([row, row | {"data_source": "carbon"}]), stream)
        made.append(stream.getvalue())
    return made


def _training(name: str, take: Callable[[Path], object]) -> Callable[[Path], Try]:
    def make(folder: Path) -> Try:
        inbox = folder / "data"
        shutil.rmtree(inbox, ignore_errors=True)
        with_pictures(inbox)

        def attempt(data: bytes) -> None:
            path = inbox / name
            path.write_bytes(data)
            with refused_by(DataError, where=inbox):
                take(path)

        return attempt

    return make


def _learn(path: Path) -> None:
    for example in examples([path], TASKS, spectra=path.parent)[:MOST_SPECTRA]:
        with refused_by(DataError, where=path.parent):
            example.pictures()


def _ask(path: Path) -> None:
    for question in questions([path], TASKS, spectra=path.parent)[:MOST_SPECTRA]:
        with refused_by(DataError, SpectrumError, where=path.parent):
            question.spectrum()


DOORS = (
    Door("examples", _training("rows.jsonl", _learn), own_lines, spoiled_json),
    Door("published", _training("train_sharegpt.json", _learn), sharegpt_rows, spoiled_json),
    Door("specvi", _training("test_cv.parquet", _ask), specvi_files, spoiled_bytes),
)
