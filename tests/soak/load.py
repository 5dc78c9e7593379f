"""Load trial: many scripted reviewers at once, over HTTP, on the real app with thousands of items.

    python -m tests.soak.load [--reviewers 50] [--minutes 10] [--items 3000] [--seed 1] [--db-dir FOLDER]

Checks: no unexpected refusal; journals and database agree; 95 of 100 submits (decisions, versions) within 200 ms;
after the first third of the time memory grows by 2 MiB per minute at most, and open files hardly at all.
Prints Markdown; exit status 1 if a check failed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.benchmarks.results import Block, Results, command_line, markdown
from tests.soak import journal
from tests.soak import served as campaign
from tests.soak.journal import Journals
from tests.soak.people import ClientProcesses
from tests.soak.served import DidNotStart, Served, Weight

SUBMITS = ("decide", "version")
SUBMIT_MS = 200.0
GROWTH = 2.0
"""MiB per minute. With 50 reviewers a leak of 1 KiB per request would be twice that."""
MORE_FILES = 8
"""Number of open files that may come and go: connections to clients and to the database."""
PROCESSES = 2
WATCHING = 3
PAUSE = (1.0, 3.0)
SCORERS = 4


@dataclass
class Trial:
    """Results. ``weights`` are samples as (seconds since everyone was at work, resources of the app)."""

    journals: Journals
    reviewers: int
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)
    lost: int = 0
    doubled: int = 0
    weights: list[tuple[float, Weight]] = field(default_factory=list)

    def submits(self) -> list[float]:
        return [action.ms for action in self.journals if action.kind in SUBMITS and action.acknowledged]

    def late(self) -> list[str]:
        """Return one sentence per numerical goal that was missed."""
        missed = []
        submits = self.submits()
        if submits and float(np.percentile(submits, 95)) > SUBMIT_MS:
            missed.append(f"95 % of submits took {np.percentile(submits, 95):.0f} ms, expected {SUBMIT_MS:.0f}")
        slope = self.slope()
        if slope is not None and slope > GROWTH:
            missed.append(f"memory grew by {slope:.1f} MiB a minute, expected {GROWTH:.0f} at most")
        files = [weight.descriptors for _, weight in self._settled()]
        third = len(files) // 2
        if third and max(files[third:]) > max(files[:third]) + MORE_FILES:
            missed.append(f"open files went from {max(files[:third])} to {max(files[third:])}")
        return missed

    def slope(self) -> float | None:
        """MiB per minute after the first third; None if there are too few samples for a line fit."""
        settled = self._settled()
        if len(settled) < 5:
            return None
        minutes = [at / 60 for at, _ in settled]
        return float(np.polyfit(minutes, [weight.memory for _, weight in settled], 1)[0])

    def _settled(self) -> list[tuple[float, Weight]]:
        return [(at, weight) for at, weight in self.weights if at > self.seconds / 3]


def run(
    folder: Path,
    reviewers: int,
    seconds: float,
    items: int,
    seed: int = 1,
    pause: tuple[float, float] = PAUSE,
    every: float = 10.0,
) -> Trial:
    """Let everyone work for some seconds, then check the results."""
    (folder / "journals").mkdir(parents=True)
    db = folder / "annotations.db"
    campaign.made(db, reviewers + WATCHING, items, scorers=min(SCORERS, reviewers))
    served = Served(db, folder / "app.log")
    trial = Trial(Journals(folder / "journals"), reviewers)
    processes = ClientProcesses(served.url, folder / "journals", campaign.PASSWORD, seed)
    try:
        served.start()
        served.answers()
        _start(processes, reviewers, pause)
        with processes.at_work():
            _watch(trial, served, seconds, every)
        served.stop()
        trial.journals.read()
        found = journal.whole(db, trial.journals)
        trial.faults += found.faults + trial.journals.faults
        trial.lost, trial.doubled = found.lost, found.doubled
    except (DidNotStart, subprocess.TimeoutExpired) as problem:
        trial.faults.append(str(problem))
    finally:
        served.kill()
    return trial


def _start(processes: ClientProcesses, reviewers: int, pause: tuple[float, float]) -> None:
    names = [campaign.initials_of(number) for number in range(reviewers + WATCHING)]
    working, watching = names[:reviewers], names[reviewers:]
    how = ("--load-page", "--scores", "--pause", str(pause[0]), str(pause[1]), "--avoid", "1")
    for number in range(PROCESSES):
        if working[number::PROCESSES]:
            processes.start(working[number::PROCESSES], *how)
    processes.start(watching, "--role", "progress")


def _watch(trial: Trial, served: Served, seconds: float, every: float) -> None:
    begun = time.monotonic()
    while (at := time.monotonic() - begun) < seconds:
        weight = served.weight()
        if weight is not None:
            trial.weights.append((at, weight))
        if sys.stderr.isatty():
            print(f"\r{at:.0f} of {seconds:.0f} s", end="", file=sys.stderr, flush=True)
        time.sleep(min(every, max(0.0, seconds - at)))
    trial.seconds = time.monotonic() - begun


def as_markdown(trial: Trial) -> str:
    """The result as Markdown."""
    return markdown(list(blocks(trial)))


def blocks(trial: Trial) -> Iterator[Block]:
    """The result: tables and text."""
    of_kind = list(journal.counted(trial.journals))
    times: dict[str, list[float]] = {
        kind: [action.ms for action in trial.journals if action.kind == kind and action.answered]
        for kind, *_ in of_kind
    }
    times = {"**submits**": trial.submits(), **times, **trial.journals.reads}
    requests = sum(len(ms) for name, ms in times.items() if name != "**submits**")
    numbers = {"reviewers": "{}", "minutes": "{:.1f}", "requests": "{:,}", "per second": "{:.0f}"}
    counts = {"acknowledged": "{:,}", "refused": "{}", "lost": "{}", "doubled": "{}"}
    rate = requests / max(trial.seconds, 1)
    acknowledged, refused = (sum(row[place] for row in of_kind) for place in (1, 3))
    row = [trial.reviewers, trial.seconds / 60, requests, rate, acknowledged, refused, trial.lost, trial.doubled]
    yield {"columns": {**numbers, **counts}, "rows": [row]}
    columns = {"number": "{:,}", "median": "{:.0f}", "95th percentile": "{:.0f}", "longest": "{:.0f}"}
    rows = [[name, len(ms), *map(float, np.percentile(ms, (50, 95))), max(ms)] for name, ms in times.items() if ms]
    yield {"columns": {"ms, as the client sees it": "", **columns}, "rows": rows}
    yield {"text": _weighed(trial)}
    if faults := [*trial.faults, *trial.late()]:
        yield {"text": f"**{len(faults)} faults:**"}
        yield {"text": "\n".join(f"- {fault}" for fault in faults[:20])}
    else:
        yield {"text": "No error, nothing lost, nothing doubled, and every goal was met."}


def _weighed(trial: Trial) -> str:
    slope = trial.slope()
    if slope is None:
        return "Memory was not judged: too few samples."
    settled = [weight for at, weight in trial.weights if at > trial.seconds / 3]
    (start, first), (end, last) = trial.weights[0], trial.weights[-1]
    busy = (last.seconds - first.seconds) / (end - start)
    return (
        f"The server kept {busy:.2f} of a core busy. "
        f"Its memory: {trial.weights[0][1].memory:.0f} MiB at the beginning, "
        f"{settled[0].memory:.0f} MiB after the first third, {settled[-1].memory:.0f} MiB at the end; "
        f"{slope:+.2f} MiB a minute since the first third. Open files: {settled[0].descriptors} then, "
        f"{settled[-1].descriptors} at the end."
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = command_line(__doc__)
    parser.add_argument("--reviewers", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--items", type=int, default=3000, help="items in the database (3000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--db-dir", type=Path, metavar="FOLDER", help="a new folder for all of it")
    given = parser.parse_args(argv)
    folder = given.db_dir or Path(tempfile.mkdtemp(prefix="spec-o3-load-"))
    trial = run(folder, given.reviewers, 60 * given.minutes, given.items, given.seed)
    results = Results()
    for block in blocks(trial):
        results.add(block)
    if trial.faults or trial.late():
        print(f"\nDatabase, journals and the app's log are kept in {folder}.")
        return 1
    if given.db_dir is None:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
