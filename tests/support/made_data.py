"""Training data laid out as it is published and as it is exported, small and made up."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from agent import tool
from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from agent.trajectory.steps import Verdict
from reviewer.exchange.exports import export
from reviewer.exchange.imports import own_row
from tests.support.drawn_traces import PROMPT, a_spectrum, a_store, a_trace, add_approved

SYSTEM = "You are a helpful assistant."
WAVELENGTH = np.round(10 ** np.linspace(np.log10(3700.0), np.log10(9000.0), 60), 3)


def lamost_name(number: int) -> str:
    """A file name as LAMOST gives them and both published sets have them."""
    return f"spec-56414-HD161547N531412F01_sp07-{number:03d}.fits.gz"


def specvi_row(number: int, data_source: str = "cv", **changes: Any) -> dict[str, Any]:
    given = {"flux": (WAVELENGTH * 0 + number + 0.5).tolist(), "wavelength": WAVELENGTH.tolist()}
    row = {
        "images": [{"bytes": b"not looked at", "path": None}],
        "data_source": data_source,
        "prompt": [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": f"<image>\nThe published words about {data_source}.\n\nGuide."},
        ],
        "reward_model": {"ground_truth": "YES" if number % 2 else "NO", "type": "rule"},
        "agent_name": "tool_agent",
        "extra_info": {
            "index": f"0000-{number}",
            "name": lamost_name(number),
            "tools_kwargs": {tool.TOOL_NAME: {"create_kwargs": {**given, "redshift": None if number % 3 else 0.01}}},
        },
    }
    return row | changes


def specvi_file(path: Path, rows: Sequence[dict[str, Any]], group: int = 1000) -> Path:
    pq.write_table(pa.Table.from_pylist(list(rows)), path, row_group_size=group)
    return path


def published_folder(folder: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """``train_sharegpt.json`` and its pictures, one colour each."""
    (folder / "images").mkdir(parents=True)
    (folder / "train_sharegpt.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    for number, path in enumerate(sorted({path for row in rows for path in row["images"]})):
        Image.new("RGBA", (40, 30), (number, 0, 0, 255)).save(folder / path)
    return folder


def published_set(folder: Path, numbers: Sequence[int]) -> Path:
    """The layout's rows of the spectra with these numbers; the even ones are no CV."""
    rows = []
    for number in numbers:
        trace = a_trace(a_spectrum(lamost_name(number)), "YES" if number % 2 else "NO", faults=())
        paths = [f"images/lf_cv_{number}_{k}.png" for k in range(len(trace.pictures))]
        row = trace.to_sharegpt(paths) | {"ground_truth": "YES" if number % 2 else "NO"}
        ours = ("task", "redshift", "frame", "z", "medium", "spectrum_sha256", "drafter_kind", "drafter_name")
        rows.append({key: value for key, value in row.items() if key not in (*ours, "simulated", "label_source")})
    return published_folder(folder, rows)


def own_lines(path: Path, *traces: tuple[Trajectory, Spectrum | None], **more: Any) -> Path:
    path.write_text("".join(json.dumps(own_row(t, s) | more) + "\n" for t, s in traces), encoding="utf-8")
    return path


def an_export(folder: Path, name: str = "one", verdicts: Sequence[Verdict] = ("YES", "NO")) -> Path:
    """An export through the reviewer's own code, one approved trace of a spectrum of its own a verdict."""
    with a_store(folder / f"{name}.db") as store:
        spectra = [a_spectrum(f"{name}-{n}.fits") for n in range(len(verdicts))]
        add_approved(store, *((a_trace(s, v), s) for s, v in zip(spectra, verdicts, strict=True)))
        return export(store, name, folder=folder).folder


__all__ = [
    "PROMPT",
    "an_export",
    "lamost_name",
    "own_lines",
    "own_row",
    "published_folder",
    "published_set",
    "specvi_file",
    "specvi_row",
]
