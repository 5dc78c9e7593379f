"""Inspecting simulated spectra on Ray with 1, 2 and 4 workers: spectra per second; a longer run: memory. Markdown.

    python -m tests.benchmarks.scale.workers [--spectra N] [--workers 1 2 4] [--long N] [--task cc] [--folder FOLDER]

The baseline inspects Parquet files with arrays, as HATS has them. The longer run has a worker per core. Memory is that
of all processes of the run together, proportional sets (PSS): the mean of each tenth of the run. With ``--folder`` the
spectra and what was measured are kept, and the same command resumes.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import mean
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from agent.processes import cores, ordered_map
from agent.simulate import simulate
from agent.simulate.files import for_task
from tests.benchmarks.results import ROOT, Results, command_line

PART = 500
"""Spectra per file."""
SAMPLE_SECONDS = 2.0


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--spectra", type=int, default=10_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--long", type=int, default=20_000)
    parser.add_argument("--task", default="cc")
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    results = Results()
    results.text(f"{cores()} cores, which Ray, the workers and the driver share.")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        table = results.table(
            {
                "spectra": "{:,}",
                "workers": "{}",
                "seconds": "{:.0f}",
                "spectra/s": "{:.1f}",
                "against the first": "{:.2f}",
            }
        )
        first = 0.0
        for number in arguments.workers:
            seconds = run_of(folder, number, arguments.spectra, arguments.task)["seconds"]
            rate = arguments.spectra / seconds
            first = first or rate
            table.row(arguments.spectra, number, seconds, rate, rate / first)
        if not arguments.long:
            return
        long = run_of(folder, cores(), arguments.long, arguments.task)
        memory = long["memory"]
        means = [mean(memory[len(memory) * part // 10 : len(memory) * (part + 1) // 10]) for part in range(10)]
        table = results.table(
            {"spectra": "{:,}", "workers": "{}", "seconds": "{:.0f}", "spectra/s": "{:.1f}"}
            | {f"{part + 1}/10 (MB)": "{:.0f}" for part in range(10)}
        )
        table.row(arguments.long, cores(), long["seconds"], arguments.long / long["seconds"], *means)


def run_of(folder: Path, workers: int, spectra: int, task: str) -> dict[str, Any]:
    """Return seconds, and the memory in MB over time, of a run of ``spec-o3 inspect --engine ray``; measured once."""
    out = folder / f"results-{spectra}-{workers}-workers"
    kept = out.with_suffix(".json")
    if kept.exists():
        found: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
        return found
    shutil.rmtree(out, ignore_errors=True)
    Path(f"{out}.csv").unlink(missing_ok=True)
    write_spectra(folder / f"{spectra}-spectra", spectra, task)
    command = [sys.executable, "-m", "app", "inspect", str(folder / f"{spectra}-spectra"), "--task", task]
    command += ["--out", str(out), "--engine", "ray", "--workers", str(workers), "--table", f"{out}.csv", "--json"]
    since = time.perf_counter()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as run:
        memory: list[float] = []

        def watch() -> None:
            while run.poll() is None:
                memory.append(memory_of(run.pid))
                time.sleep(SAMPLE_SECONDS)

        threading.Thread(target=watch, daemon=True).start()
        answer, _ = run.communicate()
    made = {"seconds": time.perf_counter() - since, "memory": memory}
    counts = json.loads(answer)
    assert counts["spectra"] == counts["this_run"]["inspected"] == spectra, counts
    kept.write_text(json.dumps(made), encoding="utf-8")
    return made


def memory_of(process: int) -> float:
    """Return the proportional set of a process and all below it, in MB."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, total = [process], 0
    while found:
        one = found.pop()
        found += [child for child, parent in parents.items() if parent == one]
        try:
            lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
            total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        except (OSError, StopIteration):
            continue
    return total * 1024 / 1e6


def write_spectra(folder: Path, spectra: int, task: str) -> None:
    """Simulate spectra into Parquet files, those that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = [first for first in range(0, spectra, PART) if not (folder / name_of(first)).exists()]
    orders = [(first, min(PART, spectra - first), task) for first in parts]
    for first, part in zip(parts, ordered_map(simulated, orders, cores()), strict=True):
        unfinished = folder / f".{name_of(first)}"
        pq.write_table(part, unfinished, row_group_size=100, compression="zstd")
        unfinished.rename(folder / name_of(first))


def name_of(first: int) -> str:
    return f"Npix={first // PART}.parquet"


def simulated(part: tuple[int, int, str]) -> pa.Table:
    """Simulate some spectra for a task, half of them of its class."""
    first, number, task = part
    kinds = for_task(task, number, (1, 1))
    made = [simulate(kind, "LAMOST", 20.0, first + index) for index, kind in enumerate(kinds)]
    arrays = {"wave_vac": "wavelength", "flux": "flux", "ivar": "ivar"}
    columns = {name: [getattr(one, key).astype("float32") for one in made] for name, key in arrays.items()}
    return pa.table({"id": list(range(first, first + number)), "redshift": [one.redshift for one in made]} | columns)


if __name__ == "__main__":
    main()
