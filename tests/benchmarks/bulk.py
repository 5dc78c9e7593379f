"""Time and memory of inspect, export and import for many simulated spectra; Markdown.

    python -m tests.benchmarks.bulk [--sizes 100 300 1000] [--inspect 10000]

Each row is a run of ``spec-o3``, its start included, with one or two processes. Memory is the peak of the summed
resident memory of all processes; shared memory counts in each. ``--sizes`` without a number runs ``--inspect`` only,
which uses two processes.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from astropy.table import Table

from agent.simulate import KINDS, simulate
from agent.simulate.instrument import SURVEYS
from reviewer.exchange.exports import MANIFEST
from reviewer.exchange.imports import import_file
from reviewer.rules.workflow import Rules, Verb
from reviewer.store import Store
from tests.benchmarks.results import ROOT, Results, command_line
from tests.benchmarks.results import Table as Shown
from tests.benchmarks.store import append_decision

TASK = "cv"
EVERY = 0.05
"""Seconds between two samples of the memory."""
APPROVED: tuple[Verb, ...] = ("keep", "submit", "pass", "approve")


def main() -> None:
    parser = command_line(__doc__)
    sizes = {"type": int, "nargs": "*", "metavar": "N"}
    parser.add_argument("--sizes", **sizes, default=[100, 300, 1000], help="spectra (100 300 1000)")
    parser.add_argument("--inspect", **sizes, default=[], help="more spectra, which are only inspected")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_spectra(place / "spectra", max([*chosen.sizes, *chosen.inspect]))
        busy = os.getloadavg()[0]
        results = Results()
        numbers = {"n": "{:,}", "processes": "{}", "s": "{:.1f}", "CPU s": "{:.1f}"}
        each = dict.fromkeys(("s per thousand", "CPU s per thousand", "peak memory, MB"), "{:.0f}")
        table = results.table({"what": "", **numbers, **each})
        for number in chosen.sizes:
            inspected(table, place, number)
            there = filled(place, number)
            exported(table, place, there, number)
            imported(table, place, number)
        for more in chosen.inspect:
            inspected(table, place, more, processes=(2,))
        if chosen.sizes:
            manifest = place / "exports" / f"{number}-1" / MANIFEST
            counts = json.loads(manifest.read_text(encoding="utf-8"))["counts"]
            shown = f"{counts['items']:,} trajectories exported last have {counts['pictures']:,} pictures"
            results.text(f"The {shown}.")
    results.text(f"Load of the machine before the first line: {busy:.1f}.")


def inspected(table: Shown, place: Path, number: int, processes: Sequence[int] = (1, 2)) -> None:
    for count in processes:
        out = place / f"{number}-{count}.jsonl"
        options = ["--task", TASK, "--policy", "baseline", "--limit", number, "--processes", count]
        add_row(table, "inspect", number, count, "inspect", place / "spectra", *options, "--out", out)


def exported(table: Shown, place: Path, database: Path, number: int) -> None:
    for processes in (1, 2):
        out = place / "exports" / f"{number}-{processes}"
        options = ["--db", database, "--processes", processes]
        # Its status is 1, because drafts of the baseline that cannot tell are left out.
        add_row(table, "export", number, processes, "export", "--out", out, *options, status=1)


def imported(table: Shown, place: Path, number: int) -> None:
    """Import our rows, which have their spectra, and rows in the published form, which have pictures."""
    export = place / "exports" / f"{number}-1"
    for what, name in (("our rows", "trajectories.jsonl"), ("ShareGPT rows", "train_sharegpt.json")):
        database = place / f"{number}-{name}.db"
        add_row(table, f"import of {what}", number, 1, "import", export / name, "--db", database)


def add_row(table: Shown, what: str, number: int, processes: int, *command: object, status: int = 0) -> None:
    """Run a command of the program, which exits with 0 or ``status``, and add its row to the table."""
    seconds, worked, memory = measured([sys.executable, str(ROOT / "app.py"), *map(str, command)], status)
    per_thousand = (1000 * seconds / number, 1000 * worked / number)
    table.row(what, number, processes, seconds, worked, *per_thousand, memory)


def measured(command: Sequence[str], status: int = 0) -> tuple[float, float, float]:
    """Run a command; return seconds, processor seconds, and the peak of the resident memory in MB."""
    peak = 0
    over = threading.Event()
    worked = children()
    since = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:

        def sample() -> None:
            nonlocal peak
            while not over.wait(EVERY):
                peak = max(peak, resident(process.pid))

        watching = threading.Thread(target=sample)
        watching.start()
        _, errors = process.communicate()
        seconds = time.perf_counter() - since
        over.set()
        watching.join()
    if process.returncode not in (0, status):
        raise SystemExit(f"{' '.join(command)}: exit status {process.returncode}\n{errors[-2000:]}")
    return seconds, children() - worked, peak / 1e6


def children() -> float:
    """Processor seconds of the programs that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def resident(pid: int) -> int:
    """Resident bytes of a process and of its descendants that still run."""
    started: dict[int, list[int]] = {}
    pages: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name, in brackets, may contain anything; the fields after it are numbered from 3 (proc(5)).
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        process = int(status.parent.name)
        started.setdefault(int(fields[1]), []).append(process)
        pages[process] = int(fields[21])
    family = [pid]
    for process in family:
        family += started.get(process, [])
    return sum(pages.get(process, 0) for process in family) * os.sysconf("SC_PAGE_SIZE")


def write_spectra(folder: Path, number: int) -> None:
    """Write FITS files of every kind on each survey's grid, with different S/N."""
    folder.mkdir()
    kinds, surveys = list(KINDS), list(SURVEYS)
    for seed in range(number):
        snr = float(np.exp(np.random.default_rng(seed).uniform(np.log(5), np.log(50))))
        kind, survey = kinds[seed % len(kinds)], surveys[seed // len(kinds) % len(surveys)]
        spectrum = simulate(kind, survey, snr, seed)
        columns = {"wavelength": spectrum.wavelength, "flux": spectrum.flux, "ivar": spectrum.ivar}
        Table(columns).write(folder / f"{seed:06d}.fits")


def filled(place: Path, number: int) -> Path:
    """Return a database with the traces of an inspection, approved by one person."""
    path = place / f"{number}.db"
    with Store.open(path) as store:
        store.accounts.add_person("AA", "Reviewer", ("reviewer", "auditor", "coordinator"))
        store.settings.set_rules("AA", Rules(solo=True))
        approve_all(store, import_file(store, place / f"{number}-1.jsonl", place / "spectra").added)
    return path


def approve_all(store: Store, ids: Sequence[int]) -> None:
    """Approve items through the store's own parts, but without a lease and a wait for the disk per decision."""
    with store.database.write() as db:
        for item_id in ids:
            for verb in APPROVED:
                append_decision(store, db, item_id, "AA", verb)


if __name__ == "__main__":
    main()
