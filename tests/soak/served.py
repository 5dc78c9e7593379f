"""The real app in a process group of its own: started by the same command each time, killed, weighed."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120.0
"""Seconds within which a start must have answered; a busy machine takes long to import everything."""


class DidNotStart(Exception):
    """The app ended, or did not answer in time, without anybody having killed it."""


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@dataclass(frozen=True)
class Weight:
    """What the app holds of the machine: resident memory in MiB, open file descriptors, processor seconds."""

    memory: float
    descriptors: int
    seconds: float


@dataclass
class Served:
    """The app over one database, on one port for all its starts. What it prints is appended to ``log``."""

    db: Path
    log: Path
    port: int = field(default_factory=free_port)

    def __post_init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def command(self) -> list[str]:
        where = ["--port", str(self.port), "--db", str(self.db)]
        return [sys.executable, "app.py", "--no-browser", *where]

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )

    def answers(self) -> None:
        """Wait until it answers. :raises DidNotStart: it ended, or took longer than ``PATIENCE``"""
        give_up = time.monotonic() + PATIENCE
        while time.monotonic() < give_up:
            ended = self._running.poll()
            if ended is not None:
                raise DidNotStart(f"it ended with status {ended}: {self._last_words()}")
            if self._asked_once():
                return
            time.sleep(0.02)
        raise DidNotStart(f"no answer within {PATIENCE:.0f} s: {self._last_words()}")

    def kill(self) -> None:
        """SIGKILL to all of it, at once."""
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
        """As Ctrl C does; its exit status. One that does not stop is killed."""
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
        """What it holds now; None where the system has no /proc to read it from."""
        about = Path(f"/proc/{self._running.pid}")
        try:
            status = (about / "status").read_text(encoding="ascii", errors="replace")
            open_files = len(list((about / "fd").iterdir()))
            # What follows the name, which may hold anything: its 12th and 13th field are clock ticks.
            ticks = (about / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
        except OSError:
            return None
        resident = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        seconds = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
        return Weight(int(resident.split()[1]) / 1024, open_files, seconds)

    @property
    def _running(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "the app was not started"
        return self._process

    def _asked_once(self) -> bool:
        asked = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            asked.request("GET", "/sign-in")
            return asked.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            asked.close()

    def _last_words(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")[-1500:].strip() or "it printed nothing"
