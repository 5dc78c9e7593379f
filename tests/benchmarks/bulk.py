"""What much work at once costs, and how that grows with how much it is: inspect, export, import.

    python -m tests.benchmarks.bulk [--sizes 100 300 1000] [--inspect 10000]

Simulated spectra of every kind, on each survey's grid, as FITS files; the baseline inspects them, its traces
are approved in a new database, exported, and imported into empty ones. Each line is a run of the ``spec-o3``
program, its start included, with one process and with two. "CPU" is the processor's time of the program and
its processes. Memory is the peak of their resident memory together, looked at every 50 ms; what they share is
counted in each. ``--sizes`` without a number after it leaves only what ``--inspect`` asks for, which is
run with two processes only. Markdown.
"""

from __future__ import annotations

import argparse
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
from tests.benchmarks.results import Results
from tests.benchmarks.results import Table as Shown

ROOT = Path(__file__).resolve().parents[2]
TASK = "cv"
EVERY = 0.05
"""Seconds between two looks at the memory."""
APPROVED: tuple[Verb, ...] = ("keep", "submit", "pass", "approve")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.bulk", description=__doc__)
    sizes = {"type": int, "nargs": "+", "metavar": "N"}
    sizes["nargs"] = "*"
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
        asked = ["--task", TASK, "--policy", "baseline", "--limit", number, "--processes", count]
        told(table, "inspect", number, count, "inspect", place / "spectra", *asked, "--out", out)


def exported(table: Shown, place: Path, database: Path, number: int) -> None:
    for processes in (1, 2):
        asked = ["--db", database, "--to", place / "exports", "--processes", processes]
        told(table, "export", number, processes, "export", f"{number}-{processes}", *asked)


def imported(table: Shown, place: Path, number: int) -> None:
    """Our rows, which bring their spectra; and rows as published, which bring pictures."""
    export = place / "exports" / f"{number}-1"
    for what, name in (("our rows", "trajectories.jsonl"), ("ShareGPT rows", "train_sharegpt.json")):
        database = place / f"{number}-{name}.db"
        told(table, f"import of {what}", number, 1, "import", export / name, "--db", database)


def told(table: Shown, what: str, number: int, processes: int, *command: object) -> None:
    """Run a command of the program and print its line of the table."""
    seconds, worked, memory = measured([sys.executable, str(ROOT / "app.py"), *map(str, command)])
    per_thousand = (1000 * seconds / number, 1000 * worked / number)
    table.row(what, number, processes, seconds, worked, *per_thousand, memory)


def measured(command: Sequence[str]) -> tuple[float, float, float]:
    """Seconds, those of the processor, and the peak of the resident memory in MB."""
    peak = 0
    over = threading.Event()
    worked = children()
    since = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:

        def look() -> None:
            nonlocal peak
            while not over.wait(EVERY):
                peak = max(peak, resident(process.pid))

        watching = threading.Thread(target=look)
        watching.start()
        _, said = process.communicate()
        seconds = time.perf_counter() - since
        over.set()
        watching.join()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: exit status {process.returncode}\n{said[-2000:]}")
    return seconds, children() - worked, peak / 1e6


def children() -> float:
    """Seconds for which the processor worked for the programs that were started here and are over."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def resident(pid: int) -> int:
    """Bytes of a process and of those it started, as far as they are there still."""
    started: dict[int, list[int]] = {}
    pages: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name, in brackets, may hold anything; the fields after it are numbered from 3 (proc(5)).
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        one = int(status.parent.name)
        started.setdefault(int(fields[1]), []).append(one)
        pages[one] = int(fields[21])
    family = [pid]
    for one in family:
        family += started.get(one, [])
    return sum(pages.get(one, 0) for one in family) * os.sysconf("SC_PAGE_SIZE")


def write_spectra(folder: Path, number: int) -> None:
    """Kinds, surveys and S/N change from one file to the next."""
    folder.mkdir()
    kinds, surveys = list(KINDS), list(SURVEYS)
    for seed in range(number):
        snr = float(np.exp(np.random.default_rng(seed).uniform(np.log(5), np.log(50))))
        kind, survey = kinds[seed % len(kinds)], surveys[seed // len(kinds) % len(surveys)]
        spectrum = simulate(kind, survey, snr, seed)
        columns = {"wavelength": spectrum.wavelength, "flux": spectrum.flux, "ivar": spectrum.ivar}
        Table(columns).write(folder / f"{seed:06d}.fits")


def filled(place: Path, number: int) -> Path:
    """A database with the traces of an inspection, approved by one person."""
    path = place / f"{number}.db"
    with Store.open(path) as store:
        store.accounts.add_person("AA", "Reviewer", ("reviewer", "auditor", "coordinator"))
        store.settings.set_rules("AA", Rules(solo=True))
        approve_all(store, import_file(store, place / f"{number}-1.jsonl", place / "spectra").added)
    return path


def approve_all(store: Store, ids: Sequence[int]) -> None:
    """Through the store's own parts, but without a lease and a wait for the disk for each decision."""
    with store.database.write() as db:
        for item_id in ids:
            for verb in APPROVED:
                now = store.history.standing(db, item_id)
                decision = {
                    "person": "AA",
                    "item": item_id,
                    "version": now.version_id,
                    "verb": verb,
                    "reason": "",
                    "comment": "",
                    "key": f"{item_id} {verb}",
                    "round": now.round,
                    "withdraws": None,
                }
                store.reviews.append_decision(db, decision)
                store.history.refresh(db, item_id)


if __name__ == "__main__":
    main()
