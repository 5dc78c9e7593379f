"""How long the app takes to start over a large database, and what it imports on the way.

    python -m tests.benchmarks.app_start [--gigabytes 5] [--runs 5] [--db-dir FOLDER]

Makes a database of that size (or uses one that an earlier run left in FOLDER). Measures seconds until ``/api/v1/me``
answers and until an open Chromium has painted the first item; the first start, which compiles Python's modules, is
reported separately. Then measures the imports alone. Prints Markdown.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from agent.simulate import CLASSES, simulate
from agent.spectrum import Spectrum
from agent.tasks import load
from agent.trajectory import Trajectory
from reviewer.store import Draft, QueueFilter, Store
from tests.benchmarks.next_item import drafted
from tests.benchmarks.results import ROOT, Results, command_line
from tests.benchmarks.store import kept_database
from tests.support.chromium import ARGUMENTS, system_chromium
from tests.support.cli import free_port

RUNS = 5
ORIGINALS = 8
WITH_PICTURES = 100
"""Items with pictures of their own spectrum; the others name those of another, which are not used here."""
TOGETHER = 4000
"""Items per call: enough to be fast, few enough to watch the size of the file."""
HEAVY = ("torch", "transformers", "vllm", "scipy", "matplotlib.pyplot", "pandas", "astropy", "numpy", "gradio")

# ---- the database


def filled(gigabytes: float, kept: Path) -> Path:
    """Return a database of at least ``gigabytes`` in ``kept``; make it if it does not exist."""

    def fill(path: Path) -> None:
        start = time.perf_counter()
        with closing(Store.open(path)) as store:
            coming = _drafts()
            while path.stat().st_size < gigabytes * 1e9:
                store.items.add_all(islice(coming, TOGETHER))
        print(f"Filling it took {time.perf_counter() - start:.0f} s.", file=sys.stderr, flush=True)

    return kept_database(kept / f"{gigabytes:g}-gigabytes.db", fill)


def _drafts() -> Iterator[Draft]:
    tasks = load()
    noise = np.random.default_rng(1)
    originals = [(kind, simulate(kind, "DESI", 20.0, 7000 + n)) for n, kind in enumerate(CLASSES[:ORIGINALS])]
    traces = [drafted(spectrum, kind, tasks[kind].prompt) for kind, spectrum in originals]
    number = 0
    while True:
        kind, original = originals[number % len(originals)]
        spectrum = _jittered(original, number, noise)
        if number < WITH_PICTURES:
            trace = drafted(spectrum, kind, tasks[kind].prompt)
        else:
            trace = _of(traces[number % len(originals)], spectrum)
        yield Draft(trace, spectrum, batch="benchmark", key=f"start-{number}")
        number += 1


def _jittered(original: Spectrum, number: int, noise: np.random.Generator) -> Spectrum:
    """The same star with new noise, in float32 as in survey files."""
    sigma = np.where(original.ivar > 0, 1 / np.sqrt(np.maximum(original.ivar, 1e-30)), 0)
    flux = (original.flux + sigma * noise.standard_normal(len(original))).astype("f4").astype(float)
    ivar = (original.ivar * noise.uniform(0.8, 1.2, len(original))).astype("f4").astype(float)
    return replace(original, flux=flux, ivar=ivar, name=f"{number:07d}-{original.name}")


def _of(trace: Trajectory, spectrum: Spectrum) -> Trajectory:
    return replace(trace, spectrum_name=spectrum.name, spectrum_sha256=spectrum.sha256)


# ---- starting


@contextmanager
def _starting(db: Path, compiled: Path) -> Iterator[tuple[str, float]]:
    """Start the app; yield its address and the start time. It may not answer yet."""
    port = free_port()
    command = [sys.executable, "app.py", "--db", str(db), "--port", str(port), "--no-browser"]
    begun = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, env=_environment(compiled))
    try:
        yield f"http://127.0.0.1:{port}", begun
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait_for(url: str) -> None:
    """Wait until this address answers."""
    for _ in range(6000):
        try:
            urllib.request.urlopen(url, timeout=30).close()
            return
        except urllib.error.HTTPError as refused:
            raise SystemExit(f"{url} answered {refused.code}") from refused
        except OSError:
            time.sleep(0.01)
    raise SystemExit(f"{url} did not answer within a minute")


def _environment(compiled: Path) -> dict[str, str]:
    """The present environment, but with Python's compiled files in a folder that is empty at first."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": str(compiled)}


class Chromium:
    """An open browser that shows an address in a new tab and lists the addresses of its tabs.

    Without a debugger at the tab, as for a user: with one, V8 reads plotly.js four times instead of once.
    """

    def __init__(self, profile: Path) -> None:
        port = free_port()
        command = [system_chromium() or "chromium", "--headless", f"--remote-debugging-port={port}"]
        command += ["--window-size=1366,768", f"--user-data-dir={profile}", *ARGUMENTS, "about:blank"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._tabs = f"http://127.0.0.1:{port}/json"
        _wait_for(self._tabs)

    def show_first_item(self, url: str) -> None:
        """Open ``url`` and wait until its tab's address names an item, which the page sets when it has painted it."""
        new = urllib.request.Request(f"{self._tabs}/new?{url}", method="PUT")
        with urllib.request.urlopen(new, timeout=30) as answer:
            tab = json.load(answer)["id"]
        while "#item=" not in self._address(tab):
            time.sleep(0.01)
        urllib.request.urlopen(f"{self._tabs}/close/{tab}", timeout=30).close()

    def _address(self, tab: str) -> str:
        with urllib.request.urlopen(self._tabs, timeout=30) as answer:
            address: str = next(entry["url"] for entry in json.load(answer) if entry["id"] == tab)
        return address

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=30)


def _start(db: Path, compiled: Path, browser: Chromium) -> tuple[float, float]:
    """Seconds until it answers, and until the first item is painted. At a new port the browser's cache is empty."""
    with _starting(db, compiled) as (url, begun):
        _wait_for(f"{url}/api/v1/me")  # one person works alone, without signing in
        answered = time.perf_counter() - begun
        browser.show_first_item(url)
        painted = time.perf_counter() - begun
    return answered, painted


def _imports(compiled: Path) -> tuple[float, float, list[str]]:
    """Seconds and processor seconds that a bare start spends importing, and the heavy modules it imports."""
    code = "import sys, time, app, reviewer.server, reviewer.ui.page; print(time.process_time(), *sys.modules)"
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, env=_environment(compiled)
    )
    seconds = time.perf_counter() - begun
    processor, *modules = done.stdout.split()
    return seconds, float(processor), [name for name in HEAVY if name in modules]


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--gigabytes", type=float, default=5, help="size of the database (5)")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"starts after the first ({RUNS})")
    parser.add_argument("--db-dir", type=Path, help="keep the filled database here, and take it from here")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compiled = Path(folder) / "compiled"
        kept = chosen.db_dir or Path(folder)
        db = filled(chosen.gigabytes, kept)
        with closing(Store.open(db)) as store:
            # The only person; a kept database has the same one.
            store.accounts.work_alone("AB")
            items = store.queue.page(QueueFilter(), "", limit=1).total
        with closing(Chromium(Path(folder) / "profile")) as browser:
            times = [_start(db, compiled, browser) for _ in range(1 + chosen.runs)]
        size = db.stat().st_size / 1e9
        seconds, processor, found = _imports(compiled)
    results = Results()
    results.text(f"{size:.1f} GB, {items:,} trajectories, each with a spectrum of its own.")
    table = results.table({"until": "", **dict.fromkeys(("median", "longest", "the first start"), "{:.2f}")})
    for what, (first, *later) in zip(
        ("/api/v1/me answers", "first item painted"), zip(*times, strict=True), strict=True
    ):
        table.row(what, statistics.median(later), max(later), first)
    missing = [name for name in HEAVY if name not in found]
    results.text(
        f"Importing alone: {seconds:.2f} s, of which the processor worked {processor:.2f} s.\n"
        f"Imported: {', '.join(found)}. Not imported: {', '.join(missing)}."
    )


if __name__ == "__main__":
    main()
