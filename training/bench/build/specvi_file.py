"""Writing SpecVI-Bench's own layout, so that whatever reads the published files reads these.

``images`` (the overview as PNG), ``data_source``, ``prompt`` (system and user, ``<image>`` first, our guide),
``reward_model``, ``agent_name`` and ``extra_info`` are as published; ``extra_info`` has more besides:
``spectrum``, the whole spectrum as JSON text, which ``agent.spectrum.readers.parquet`` gives back exactly, then
``survey``, ``snr``, ``simulated``, ``negative`` and ``p``. ``create_kwargs`` holds what the published tool
takes: wavelengths as the spectrum has them, flux, and the redshift by which it is to be brought to rest.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agent import tool
from agent.conversation import SYSTEM
from agent.plot import png_bytes
from agent.tasks import Task
from agent.tool import TOOL_NAME
from training.bench.build import Taken

AGENT = "tool_agent"
_DATA_SOURCES = {"cc": "carbon"}  # the one task whose published name is not its file's
_GROUP = 64  # rows a row group: about 20 MB unpacked


def write(path: Path, rows: Sequence[Taken], task: Task, done: Callable[[], None] = lambda: None) -> None:
    """Write the rows in their order; there is the whole file or none. Spectra are read once more.

    :param done: called after each row
    :raises OSError: it cannot be written
    :raises SpectrumError: a spectrum is not there any more
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    schema = _schema()
    try:
        with pq.ParquetWriter(part, schema, compression="zstd") as file:
            for start in range(0, len(rows), _GROUP):
                group = []
                for one in rows[start : start + _GROUP]:
                    group.append(row(one, task))
                    done()
                file.write_table(pa.Table.from_pylist(group, schema))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def row(taken: Taken, task: Task) -> dict[str, Any]:
    """One row of the layout, as Python values."""
    spectrum = taken.entry.spectrum()
    redshift = spectrum.redshift if spectrum.frame == "observed" else None
    shown = {
        "flux": spectrum.flux.tolist(),
        "wavelength": spectrum.wavelength.tolist(),
        "redshift": redshift,
    }
    return {
        "images": [{"bytes": png_bytes(tool.overview(spectrum))}],
        "data_source": _DATA_SOURCES.get(task.key, task.key),
        "prompt": [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": f"<image>\n{task.prompt}"},
        ],
        "reward_model": {"ground_truth": taken.label, "type": "rule"},
        "agent_name": AGENT,
        "extra_info": {
            "index": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{task.key} {spectrum.sha256}")),
            "name": taken.entry.source,
            "tools_kwargs": {TOOL_NAME: {"create_kwargs": shown}},
            "spectrum": json.dumps(spectrum.to_json()),
            "survey": taken.survey,
            "snr": taken.snr,
            "simulated": taken.simulated,
            "negative": taken.negative,
            "p": taken.p,
        },
    }


def _schema() -> Any:
    import pyarrow as pa

    text, numbers = pa.string(), pa.list_(pa.float64())
    shown = pa.struct({"flux": numbers, "wavelength": numbers, "redshift": pa.float64()})
    info = {
        "index": text,
        "name": text,
        "tools_kwargs": pa.struct({TOOL_NAME: pa.struct({"create_kwargs": shown})}),
        "spectrum": text,
        "survey": text,
        "snr": pa.float64(),
        "simulated": pa.bool_(),
        "negative": text,
        "p": pa.float64(),
    }
    return pa.schema(
        {
            "images": pa.list_(pa.struct({"bytes": pa.binary()})),
            "data_source": text,
            "prompt": pa.list_(pa.struct({"role": text, "content": text})),
            "reward_model": pa.struct({"ground_truth": text, "type": text}),
            "agent_name": text,
            "extra_info": pa.struct(info),
        }
    )
