"""The real app in its own process group, and the campaign that it serves in a trial."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.trajectory import Think, Trajectory, Zoom
from reviewer.blind.plan import Plan
from reviewer.drafting import demo
from reviewer.store import Draft, Store
from tests.benchmarks.results import ROOT
from tests.support.campaign import Desk
from tests.support.cli import Running, free_port

PATIENCE = 120.0
"""Seconds from start to first answer at most; on a busy machine the imports take long."""


def start_app(*arguments: object, out: Path) -> Running:
    """Start ``python app.py ARGUMENTS`` in its own session; its output is appended to ``out``."""
    command = [sys.executable, "app.py", *map(str, arguments)]
    with out.open("ab") as log:
        return subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)


class DidNotStart(Exception):
    """The app ended or did not answer in time, although it was not killed."""


@dataclass(frozen=True)
class Weight:
    """Resources of the app: resident memory in MiB, open file descriptors, processor seconds."""

    memory: float
    descriptors: int
    seconds: float


@dataclass
class Served:
    """The app over one database, on the same port at every start. Its output is appended to ``log``."""

    db: Path
    log: Path
    port: int = field(default_factory=free_port)

    def __post_init__(self) -> None:
        self._process: Running | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._process = start_app("app", "--no-browser", "--port", self.port, "--db", self.db, out=self.log)

    def answers(self) -> None:
        """Wait until it answers. :raises DidNotStart: it ended, or took longer than ``PATIENCE``"""
        give_up = time.monotonic() + PATIENCE
        while time.monotonic() < give_up:
            ended = self._running.poll()
            if ended is not None:
                raise DidNotStart(f"it ended with status {ended}: {self._end_of_log()}")
            if self._is_up():
                return
            time.sleep(0.02)
        raise DidNotStart(f"no answer within {PATIENCE:.0f} s: {self._end_of_log()}")

    def kill(self) -> None:
        """Send SIGKILL to the whole process group."""
        if self._process is not None:
            with suppress(ProcessLookupError):  # it had ended by itself
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    @property
    def running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def stop(self) -> int:
        """Stop as Ctrl C does and return the exit status; kill the app if it does not stop."""
        process = self._running
        process.send_signal(signal.SIGINT)
        try:
            status = process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.kill()
            return -signal.SIGKILL
        self._process = None
        return status

    def weight(self) -> Weight | None:
        """Return its present resources; None on systems without /proc."""
        about = Path(f"/proc/{self._running.pid}")
        try:
            status = (about / "status").read_text(encoding="ascii", errors="replace")
            open_files = len(list((about / "fd").iterdir()))
            # The 12th and 13th fields after the name (which may contain anything) are clock ticks.
            ticks = (about / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
        except OSError:
            return None
        resident = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        seconds = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
        return Weight(int(resident.split()[1]) / 1024, open_files, seconds)

    @property
    def _running(self) -> Running:
        assert self._process is not None, "the app was not started"
        return self._process

    def _is_up(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", "/sign-in")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _end_of_log(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")[-1500:].strip() or "it printed nothing"


PASSWORD = "correct horse battery"
COORDINATOR = "CO"
TYPIST = "TY"
"""The person who types in a real page."""
BLIND = 4
"""Number of items of the blind session; they are used nowhere else."""


def initials_of(number: int) -> str:
    """RAA, RAB, ..."""
    return f"R{chr(65 + number // 26)}{chr(65 + number % 26)}"


def made(db: Path, reviewers: int, items: int, scorers: int) -> int:
    """Make the database; return the number of the typist's item, which is already in revision.

    :param scorers: number of reviewers who also score in the blind session
    """
    with closing(Store.open(db)) as store:
        names = tuple(initials_of(number) for number in range(reviewers))
        for initials in names:
            store.accounts.add_person(initials, f"Reviewer {initials}", ["reviewer", "auditor"], PASSWORD)
        store.accounts.add_person(TYPIST, "Typist", ["reviewer"], PASSWORD)
        store.accounts.add_person(COORDINATOR, "Coordinator", ["coordinator"], PASSWORD)
        ids = [added.item_id for added in store.items.add_all(islice(_drafts(), items))]
        _open_blind(store, names[:scorers])
        Desk(store).decide(TYPIST, ids[0], "keep")
    return ids[0]


def rows_to_import() -> list[dict[str, object]]:
    """More drafts on spectra that the database already has."""
    return [trajectory.to_json() for _, trajectory in islice(demo.demo_items(), 8)]


def _drafts() -> Iterator[Draft]:
    """The demo's drafts without end, each with a different first text."""
    pairs = list(demo.demo_items())
    number = 0
    while True:
        spectrum, trajectory = pairs[number % len(pairs)]
        yield Draft(_with_number(trajectory, number), spectrum, batch="trial", key=f"trial-{number}")
        number += 1


def _with_number(trajectory: Trajectory, number: int) -> Trajectory:
    first, *others = trajectory.steps
    assert isinstance(first, Think)
    return trajectory.with_steps((replace(first, text=f"{number}. {first.text}"), *others))


def _open_blind(store: Store, scorers: tuple[str, ...]) -> None:
    """Open a session on separate spectra: a scorer cannot see other items of a spectrum that they score."""
    pairs = list(islice(demo.demo_items(), BLIND))
    apart = [simulate("cv", "LAMOST", 20.0, 9000 + number) for number in range(BLIND)]
    drafts = [
        Draft(_on(trace, spectrum), spectrum, batch="blind") for spectrum, (_, trace) in zip(apart, pairs, strict=True)
    ]
    items = tuple(added.item_id for added in store.items.add_all(drafts))
    plan = Plan("trial", scorers, items=items, each=len(scorers))
    session = store.blind.sessions.create(COORDINATOR, plan, "drawn for the trial")
    store.blind.sessions.open(COORDINATOR, session.id, "opened for the trial")


def _on(trace: Trajectory, spectrum: Spectrum) -> Trajectory:
    """Return the texts without the zooms, whose pictures are of another spectrum."""
    words = tuple(step for step in trace.steps if not isinstance(step, Zoom))
    about = {"spectrum_name": spectrum.name, "spectrum_sha256": spectrum.sha256, "overview": None}
    return replace(trace, steps=words, **about)
