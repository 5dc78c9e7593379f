"""Kill (SIGKILL) the driver, the workers and the model servers of a run on Ray at random moments: every spectrum is in
the results exactly once.

    python -m tests.soak.survey_kills [--kills 200] [--spectra 4000] [--seed 1] [--folder FOLDER]

A cluster of two logical nodes, four workers, a model server, and the driver, which is
``spec-o3 inspect --engine ray`` and is started again by the same command. Prints Markdown; exit status 1 after a fault.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.results import ROOT, Results, command_line
from tests.support.cli import free_port
from tests.support.ray_nodes import two_nodes, workers

WORKERS = 4
PARTS = ("driver", "worker", "server")
PAUSE = (0.5, 4.0)
"""Seconds between two kills."""
LAST_SECONDS = 3600.0
"""For the end of the run, after the last kill."""
SERVER_DELAY = 0.02
"""Seconds before each of the four pieces of an answer."""


@dataclass
class Survey:
    """The parts of the run that are killed and started again."""

    folder: Path
    address: str
    port: int
    server: subprocess.Popen[bytes] | None = None
    driver: subprocess.Popen[bytes] | None = None
    starts: int = 0

    @property
    def command(self) -> list[str]:
        command = [sys.executable, "-m", "app", "inspect", f"@{self.folder / 'list.txt'}", "--task", "cv"]
        command += ["--out", str(self.folder / "results"), "--policy", "spec-o3", "--concurrency", "32"]
        command += ["--servers", str(self.folder / "servers.toml"), "--table", str(self.folder / "table.csv")]
        return [*command, "--engine", "ray", "--address", self.address, "--workers", str(WORKERS), "--json"]

    def start_server(self) -> None:
        command = [sys.executable, "-m", "tests.support.model_server", "--port", str(self.port)]
        command += ["--delay", str(SERVER_DELAY), "--record", str(self.folder / "asked.txt")]
        self.server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start_driver(self) -> None:
        self.starts += 1
        log = (self.folder / "driver.log").open("ab")
        answer = (self.folder / "answer.json").open("wb")
        self.driver = subprocess.Popen(self.command, cwd=ROOT, stdout=answer, stderr=log)

    def kill(self, part: str, rng: random.Random) -> bool:
        """Kill one of a kind; return False if there is none now."""
        if part == "server":
            assert self.server is not None
            self.server.kill()
            self.server.wait()
            self.start_server()
            return True
        if part == "worker":
            there = workers()
            if there:
                os.kill(rng.choice(there), signal.SIGKILL)
            return bool(there)
        assert self.driver is not None
        self.driver.kill()
        self.driver.wait()
        self.start_driver()
        return True

    def done(self) -> int:
        """Number of lines in the results."""
        return sum(path.read_bytes().count(b"\n") for path in (self.folder / "results" / "traces").glob("*.jsonl"))


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--spectra", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    results, rng = Results(), random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as temporary, two_nodes() as address, ExitStack() as ended:
        folder = arguments.folder or Path(temporary)
        write_spectra(folder, arguments.spectra)
        survey = Survey(folder, address, free_port())
        servers = f'[[server]]\nkey = "spec-o3"\nurl = "http://127.0.0.1:{survey.port}/v1"\nmodel = "spec-o3"\n'
        (folder / "servers.toml").write_text(servers, encoding="utf-8")
        survey.start_server()
        ended.callback(lambda: [part.kill() for part in (survey.server, survey.driver) if part is not None])
        survey.start_driver()
        kills, done_at_kills = killing(survey, arguments.kills, rng)
        status = finish(survey)
        return report(results, survey, arguments.spectra, kills, done_at_kills, status)


def killing(survey: Survey, kills: int, rng: random.Random) -> tuple[Counter[str], list[int]]:
    """Kill until there were so many kills, or the run is done; return the kills by part, and what was done at each."""
    counts: Counter[str] = Counter()
    done: list[int] = []
    while counts.total() < kills:
        time.sleep(rng.uniform(*PAUSE))
        assert survey.driver is not None
        if survey.driver.poll() is not None:
            if survey.driver.returncode == 0:
                break
            survey.start_driver()  # it ended by itself, because a part of it was killed: a person starts it again
            continue
        # A driver needs seconds until it works: killed each time before, it would never do anything.
        part = rng.choices(PARTS, (1, 4, 2))[0]
        if survey.kill(part, rng):
            counts[part] += 1
            done.append(survey.done())
            print(f"{counts.total():3d} {part:7s} {done[-1]} done", file=sys.stderr, flush=True)
    return counts, done


def finish(survey: Survey) -> int:
    """Let the run end; return the exit status of the driver."""
    until = time.monotonic() + LAST_SECONDS
    while time.monotonic() < until:
        assert survey.driver is not None
        if survey.driver.poll() == 0:
            return 0
        if survey.driver.poll() is not None:
            survey.start_driver()
        time.sleep(1)
    return -1


def report(results: Results, survey: Survey, spectra: int, kills: Counter[str], done: list[int], status: int) -> int:
    """Compare the results with what was to be inspected."""
    rows = Counter[str]()
    for path in sorted((survey.folder / "results" / "traces").glob("*.jsonl")):
        with path.open("rb") as lines:
            rows.update(json.loads(line)["source"]["file"] for line in lines)
    expected = {f"spectra/spec-{number:05d}.csv" for number in range(spectra)}
    lost, doubled = len(expected - rows.keys()), sum(count - 1 for count in rows.values())
    in_table = len((survey.folder / "table.csv").read_text(encoding="utf-8").splitlines()) - 1 if not status else 0
    others = len(rows.keys() - expected)
    table = results.table(
        {"spectra": "{:,}", "kills": "{}", "of the driver": "{}", "of workers": "{}", "of servers": "{}"}
        | {"starts of the driver": "{}", "lost": "{}", "doubled": "{}", "rows of the table": "{:,}"}
    )
    table.row(spectra, kills.total(), *(kills[part] for part in PARTS), survey.starts, lost, doubled, in_table)
    if done != sorted(done):
        results.text("What was done became less after a kill: a fault.")
    return int(bool(lost or doubled or others or status or in_table != spectra or done != sorted(done)))


def write_spectra(folder: Path, spectra: int) -> None:
    (folder / "spectra").mkdir(parents=True, exist_ok=True)
    names = [f"spectra/spec-{number:05d}.csv" for number in range(spectra)]
    for number, name in enumerate(names):
        if not (folder / name).exists():
            pixels = "\n".join(f"{wave},{100 + (wave * 7 + number) % 13}" for wave in range(3800, 9000, 12))
            (folder / name).write_text(f"wavelength,flux\n{pixels}\n", encoding="ascii")
    (folder / "list.txt").write_text("\n".join(names) + "\n", encoding="ascii")


if __name__ == "__main__":
    sys.exit(main())
