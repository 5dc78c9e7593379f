"""A vLLM server as a child of this process: started, listened to, and ended with all that it started."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from agent.vllm.flags import ServeError

GRACE = 20.0
"""Seconds that a server has to end by itself, before it is killed."""
_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None
# A proxy has no business between this machine and itself.
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Server:
    """The child, in a session of its own: Ctrl C in the terminal reaches us, not it.

    Its output goes straight into a file, which we read: the log is whole whatever becomes of us. Where the
    system can (Linux), a death of ours ends the child too.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        """Start it. :raises ServeError: it cannot be started, or its log not written"""
        self.log = log
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("wb") as output:
                self._child = subprocess.Popen(
                    command,
                    env=dict(environment),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    preexec_fn=_die_with_parent,
                )
            self._reading = log.open("rb")
        except OSError as error:
            raise ServeError(f"{error.filename or log}: {error.strerror}; no server was started") from error
        self._rest = b""
        self._gone = False

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def status(self) -> int | None:
        """Exit status, negative for a signal; None while it runs."""
        return self._child.poll()

    def lines(self) -> Iterator[str]:
        """What it wrote since this was last asked, in whole lines; a bar's redrawings are lines too."""
        text = self._rest + self._reading.read().replace(b"\r", b"\n")
        whole, _, self._rest = text.rpartition(b"\n")
        if self.status is not None:
            whole, self._rest = whole + b"\n" + self._rest, b""
        for line in whole.splitlines():
            yield line.decode(errors="replace")

    def stop(self, grace: float = GRACE, hurry: Callable[[], bool] = lambda: False) -> None:
        """Ask it to end, and kill what is left of it after ``grace`` seconds, or once ``hurry`` says so."""
        if self._gone:
            return
        give_up = time.monotonic() + grace
        if self.status is None:
            self._child.terminate()
        while self.status is None and time.monotonic() < give_up and not hurry():
            time.sleep(0.05)
        # What it started is in its process group, and may outlive it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._child.wait()
        self._gone = True

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._reading.close()


def answers(url: str) -> bool:
    """Whether a server at ``url`` says that it is well."""
    try:
        with _direct.open(f"{url}/health", timeout=2) as answer:
            return bool(answer.status == 200)
    except (OSError, ValueError):
        return False


def _die_with_parent() -> None:
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


_PROC = Path("/proc")


def tree_bytes(pid: int) -> int | None:
    """Main memory of a process and all that descend from it, in bytes; None where there is no /proc.

    The proportional set size: memory that several of them share is counted once. Where that may not be read,
    the resident set size.
    """
    if not (_PROC / str(pid)).is_dir():
        return None
    return 1024 * sum(_kilobytes(one) for one in _tree(pid))


def _tree(pid: int) -> list[int]:
    children: dict[int, list[int]] = defaultdict(list)
    for stat in _PROC.glob("[0-9]*/stat"):
        try:
            # The name, in brackets, may hold anything; what follows the last bracket is state, parent, ...
            parent = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        children[parent].append(int(stat.parent.name))
    tree = [pid]
    for one in tree:
        tree += children[one]
    return tree


def _kilobytes(pid: int) -> int:
    for name, field in (("smaps_rollup", "Pss:"), ("status", "VmRSS:")):
        try:
            lines = (_PROC / str(pid) / name).read_text().splitlines()
        except OSError:
            continue
        found = next((line.split()[1] for line in lines if line.startswith(field)), None)
        if found is not None:
            return int(found)
    return 0
