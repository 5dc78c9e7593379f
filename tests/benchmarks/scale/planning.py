"""Planning and resuming a run on ten million spectra: seconds and memory; Markdown.

    python -m tests.benchmarks.scale.planning [--spectra N]

The catalogue is a Parquet file of paths. "resume" opens a results folder that has a line for all spectra but one in
a thousand, and plans what is lacking. Each is a process of its own; the memory is its greatest resident set.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from agent.batch.catalogue import chunks_from
from agent.batch.keys import hashes_of
from agent.batch.plan import make_plan
from agent.batch.shards import Shards
from tests.benchmarks.results import ROOT, Results, command_line

SETTINGS = {"task": "cv"}
CHUNK = 100_000
SPARED = 1000
"""One spectrum in so many is lacking when the run resumes."""


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--spectra", type=int, default=10_000_000)
    parser.add_argument("--measure", choices=("first", "resume"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measured(arguments.folder)))
        return
    results = Results()
    table = results.table(
        {"spectra": "{:,}", "run": "", "open (s)": "{:.1f}", "plan (s)": "{:.1f}", "CPU (s)": "{:.1f}"}
        | {"memory (MB)": "{:.0f}", "planned": "{:,}"}
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_catalogue(folder, arguments.spectra)
        for run in ("first", "resume"):
            if run == "resume":
                write_results(folder, arguments.spectra)
            command = [sys.executable, "-m", __spec__.name, "--measure", run, "--folder", str(folder)]
            found = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
            table.row(arguments.spectra, run, *(found[name] for name in ("open", "plan", "cpu", "memory", "rows")))


def measured(folder: Path) -> dict[str, float]:
    """Open the results and plan."""
    since = time.perf_counter()
    with Shards(folder / "results", SETTINGS) as results:
        opened = time.perf_counter() - since
        plan = make_plan(chunks_from([str(folder / "catalogue.parquet")], folder), results, 1)
    return {
        "open": opened,
        "plan": time.perf_counter() - since - opened,
        "cpu": time.process_time(),
        # Linux counts it in units of 1024 bytes.
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
        "rows": plan.rows,
    }


def names(first: int, spectra: int) -> list[str]:
    return [f"spectra/plate{number // 1000:05d}/spec-{number:09d}.fits" for number in range(first, spectra)]


def write_catalogue(folder: Path, spectra: int) -> None:
    schema = pa.schema([("path", pa.string())])
    with pq.ParquetWriter(folder / "catalogue.parquet", schema) as catalogue:
        for first in range(0, spectra, CHUNK):
            rows = names(first, min(first + CHUNK, spectra))
            catalogue.write_table(pa.table({"path": rows}, schema=schema))


def write_results(folder: Path, spectra: int) -> None:
    """Write shards as ``Shards`` does, with short lines: a resume reads their indexes only."""
    Shards(folder / "results", SETTINGS).close()
    for first in range(0, spectra, CHUNK):
        done = [name for number, name in enumerate(names(first, min(first + CHUNK, spectra))) if number % SPARED]
        lines = [f'{{"source": {{"file": "{name}", "target": ""}}, "sample": 0}}\n'.encode() for name in done]
        ends = np.cumsum([len(line) for line in lines]).astype(np.uint64)
        entries = np.column_stack([hashes_of(done), np.r_[np.uint64(0), ends[:-1]], ends])
        shard = folder / "results" / "traces" / f"{first // CHUNK + 1:06d}.jsonl"
        shard.write_bytes(b"".join(lines))
        shard.with_suffix(".index").write_bytes(entries.astype(np.uint64).tobytes())


if __name__ == "__main__":
    main()
