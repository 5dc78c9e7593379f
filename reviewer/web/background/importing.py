"""Imports that people start on the page: in a process of their own, so that the server keeps answering.

The process is ``spec-o3 import --job``; it ends with the server. What it does is read from ``store.imports``, where an
import that is run on the command line is seen and cancelled like one of the page.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agent.language import current, tr
from reviewer.exchange.imports import ImportFileError, delete_old_uploads, imports_folder, is_importing
from reviewer.store import ImportJob, ImportRequest, Store

PROGRAM = Path(__file__).resolve().parents[3] / "app.py"
LOG = "import.log"
_END_SECONDS = 10.0


@dataclass(frozen=True)
class ImportStatus:
    """An import and whether a process works on it, or will after the one that it is working on.

    :param log: file with what the last process that was started here wrote
    """

    job: ImportJob
    running: bool
    log: Path

    @property
    def ended(self) -> bool:
        """Whether its process ended before it was done: the server was stopped, or the machine."""
        return self.job.state == "running" and not self.running

    @property
    def can_resume(self) -> bool:
        """Whether it is unfinished, and its uploaded file was not deleted because nobody resumed it."""
        request = self.job.request
        is_there = not request.uploaded or request.file.is_file()
        return is_there and (self.ended or self.job.state in ("cancelled", "failed"))


class Importing:
    """The imports of one server.

    :param allowed: folders of this machine whose files people may import by path
    """

    def __init__(self, store: Store, allowed: Sequence[Path] = ()) -> None:
        self._store = store
        self.allowed = tuple(folder.resolve() for folder in allowed)
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    @property
    def folder(self) -> Path:
        """The folder of uploaded files; created if needed."""
        folder = imports_folder(self._store.path)
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def path_on_server(self, text: str) -> Path:
        """Return the file or folder that a person named. :raises ImportFileError: it is not in an allowed folder"""
        path = Path(text.strip()).resolve()
        if not any(path.is_relative_to(folder) for folder in self.allowed):
            folders = " or ".join(map(str, self.allowed))
            raise ImportFileError(
                tr("{text!r:.200}: expected a file or folder inside {folders}", text=text.strip(), folders=folders)
            )
        return path

    def delete_old_uploads(self) -> None:
        """Delete uploaded files whose import nobody resumed."""
        delete_old_uploads(self._store, datetime.now(UTC))

    def start(self, requests: Sequence[ImportRequest], by: str) -> list[ImportJob]:
        """Start to import files, one after the other.

        :raises ImportFileError: another import is running
        :raises NotAllowed: ``by`` is no longer active
        """
        with self._lock:
            self._require_none()
            self.delete_old_uploads()
            jobs = [self._store.imports.create(request, by) for request in requests]
            self._run([job.id for job in jobs])
        return jobs

    def resume(self, jobs: Sequence[int], by: str) -> None:
        """Resume imports where they ended. :raises ImportFileError: another import is running"""
        with self._lock:
            self._require_none()
            for job in jobs:
                self._store.imports.resume(job, by)
            self._run(jobs)

    def cancel(self, jobs: Sequence[int]) -> None:
        """Cancel imports: what they added stays, and they can be resumed."""
        for job in jobs:
            self._store.imports.end(job, "cancelled")

    def status(self, job: int | None = None) -> ImportStatus | None:
        """Return the status of an import, by default of the last one; None if there was none."""
        latest = self._store.imports.latest() if job is None else self._store.imports.get(job)
        if latest is None:
            return None
        running = latest.state == "running" and (self._is_alive() or is_importing(self._store.path))
        # It may have ended after it was read.
        return ImportStatus(self._store.imports.get(latest.id), running, imports_folder(self._store.path) / LOG)

    def close(self) -> None:
        """End the process of a running import; it can be resumed."""
        with self._lock:
            if self._process is None:
                return
            assert self._process.stdin is not None
            self._process.stdin.close()
            try:
                self._process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def _is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _require_none(self) -> None:
        last = self._store.imports.latest()
        if self._process is not None and (last is None or last.state != "running"):
            # Its imports are finished; the process takes a moment to end.
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_SECONDS)
        if self._is_alive() or is_importing(self._store.path):
            raise ImportFileError(tr("Another import is running. Wait for its end, or cancel it."))

    def _run(self, jobs: Sequence[int]) -> None:
        numbers = [argument for job in jobs for argument in ("--job", str(job))]
        command = [sys.executable, str(PROGRAM), "import", *numbers, "--end-with-input", "--db", str(self._store.path)]
        with (self.folder / LOG).open("wb") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=_environment())


def _environment() -> dict[str, str]:
    """Return the environment of an import: this one, but with messages in the language of the context."""
    own = {name: value for name, value in os.environ.items() if name not in ("LC_ALL", "LANGUAGE")}
    if "LC_ALL" in os.environ:
        own["LC_CTYPE"] = os.environ["LC_ALL"]
    return own | {"LC_MESSAGES": current()}
