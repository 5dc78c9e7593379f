"""Inspecting simulated spectra on Ray with 1, 2 and 4 workers: spectra per second and memory over time; Markdown.

    python -m tests.benchmarks.scale.workers [--spectra N] [--workers 1 2 4] [--long N] [--task cc] [--folder FOLDER]

The baseline inspects Parquet files with arrays, as HATS has them; then, with the most workers, ``--long`` spectra.
"memory" is that of all processes of the run together, proportional sets (PSS): the least and the greatest of each
tenth of the run after the first. With ``--folder`` the spectra and the results are kept, and the same command resumes;
a rate is that of the spectra inspected in this run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from agent.processes import cores, ordered_map
from agent.simulate import simulate
from agent.simulate.files import for_task
from tests.benchmarks.results import Results

ROOT = Path(__file__).resolve().parents[3]
PART = 500
"""Spectra per file."""
SAMPLE_SECONDS = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spectra", type=int, default=10_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--long", type=int, default=100_000)
    parser.add_argument("--task", default="cc")
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    results = Results()
    results.text(f"{cores()} cores, which Ray, the workers and the driver share.")
    table = results.table(
        {"spectra": "{:,}", "workers": "{}", "inspected": "{:,}", "seconds": "{:.0f}", "spectra/s": "{:.1f}"}
        | {"against one": "{:.2f}"}
        | {"memory, least (MB)": "{:.0f}", "greatest (MB)": "{:.0f}", "first to last tenth (MB)": "{:+.0f}"}
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        first = 0.0
        runs = [(arguments.spectra, number) for number in arguments.workers]
        if arguments.long:
            runs.append((arguments.long, max(arguments.workers)))
        for spectra, number in runs:
            write_spectra(folder / f"{spectra}-spectra", spectra, arguments.task)
            done, seconds, memory = inspected(folder, number, spectra, arguments.task)
            rate = done / seconds
            first = first or (rate if number == 1 else 0.0)
            tenths = [memory[len(memory) * tenth // 10 : len(memory) * (tenth + 1) // 10] for tenth in range(10)]
            means = [sum(part) / len(part) for part in tenths[1:] if part]
            growth = means[-1] - means[0] if means else 0.0
            against = rate / first if first and spectra == arguments.spectra else None
            table.row(spectra, number, done, seconds, rate, against, min(means), max(means), growth)
    if arguments.long:
        results.text("The last line is for the memory: other work on the machine may have slowed that run down.")


def inspected(folder: Path, workers: int, spectra: int, task: str) -> tuple[int, float, list[float]]:
    """Run ``spec-o3 inspect --engine ray``; return spectra inspected, seconds, and the memory in MB over time."""
    out = folder / f"results-{spectra}-{workers}-workers"
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
    seconds = time.perf_counter() - since
    found = json.loads(answer)
    assert found["spectra"] == spectra, found
    return found["this_run"]["inspected"], seconds, memory


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
