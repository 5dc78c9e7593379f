"""The app starts where Python has no POSIX modules, as on Windows; it was never run there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# The packages of others are imported first: on Linux they, and asyncio, use these modules themselves.
START = """
import os, signal, sys
from pathlib import Path
import app
app.parser()
import reviewer.ui.page, reviewer.server, agent.doctor.checks

ours = ("agent", "reviewer", "training", "app")
for name in [name for name in sys.modules if name.partition(".")[0] in ours]:
    del sys.modules[name]
absent = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "readline", "curses", "uvloop")
for name in absent:
    sys.modules[name] = None
only_posix = ("getuid", "geteuid", "fork", "killpg", "setsid", "getpgid", "fchmod", "sched_getaffinity")
for name in (*only_posix, "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "pread"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGKILL", "SIGHUP", "SIGCHLD", "SIGQUIT", "SIGUSR1", "SIGUSR2", "pthread_sigmask"):
    delattr(signal, name)

class Windows:
    name = "nt"
    def __getattr__(self, name):
        return getattr(os, name)
    def open(self, path, flags, *mode):
        if Path(path).is_dir():
            raise PermissionError(13, "Permission denied", str(path))
        self.for_writing = flags & (os.O_RDWR | os.O_WRONLY)
        return os.open(path, flags, *mode)
    def fsync(self, handle):
        assert self.for_writing, "Bad file descriptor"
        os.fsync(handle)

import app
app.parser()
import reviewer.ui.page, reviewer.server, agent.doctor.checks
import agent.locks, reviewer.store.sqlite.files
agent.locks.os = reviewer.store.sqlite.files.os = Windows()

from fastapi.testclient import TestClient
from reviewer.backup.backups import DailyBackups
from reviewer.exchange.imports import is_importing, one_import
from reviewer.similar.background import one_writer
from reviewer.store import Store

folder = Path(sys.argv[1])
with Store.open(folder / "annotations.db") as store:
    store.accounts.add_person("CO", "Dr CO", ["coordinator"], password="H alpha in emission")
    client = TestClient(reviewer.server.build(store, local=True), base_url="http://127.0.0.1")
    assert client.get("/sign-in").status_code == 200
    with one_import(store.path):
        assert is_importing(store.path)
    assert not is_importing(store.path)
    with one_writer(folder / "similar") as first, one_writer(folder / "similar") as second:
        assert (first, second) == (True, False)
    store.upkeep.backup(folder / "copy.db")
    made = DailyBackups(store, folder / "backups").make_now("CO")
    assert made.path.is_file()
print("started")
"""


def test_the_app_starts_without_the_modules_of_posix(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", START, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.endswith("started\n"), done.stderr
