"""A backup a day while the app runs, the old ones thinned out, and what went wrong said where it is seen."""

from __future__ import annotations

import fcntl
import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from reviewer.backup.backups import Backup, KeepingError, Why, back_up, listed, prune, utc_now
from reviewer.store import Store, StoreError

FIRST = 60.0
"""Seconds after the start: whoever opens the page first does not wait for a disk that copies."""
BETWEEN = 600.0
"""Seconds between two looks whether a backup is due."""
AFTER_FAILURE = 3600.0
"""Seconds until one that failed is tried again."""
_PATIENCE = 3.0  # seconds that stopping the app waits for a backup to be given up

log = logging.getLogger("spec_o3")


class _Stopped(Exception):
    """The app is being stopped."""


class DailyBackups:
    """Backups of an open store into one folder, which several apps on one database may share.

    ``problem``: why the last one could not be made, as a sentence; "" where it could.
    """

    def __init__(self, store: Store, folder: Path, clock: Callable[[], datetime] = utc_now) -> None:
        self.folder = folder
        self.problem = ""
        self._store = store
        self._clock = clock
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def made(self) -> list[Backup]:
        """What there is, newest first."""
        return listed(self._store.path, self.folder)

    def make_if_due(self) -> Backup | None:
        """The backup of this day (UTC), unless there is one already or another app is making it.

        What goes wrong is kept as ``problem`` and written into the audit log; nothing is raised.
        """
        try:
            with self._alone(wait=False) as is_ours:
                if not is_ours or self._has_today():
                    return None
                made = self._make("daily", None)
                gone = prune(self._store.path, self.folder, self._clock())
                if gone:
                    self._store.note(None, "backups deleted", "", files=[path.name for path in gone])
        except _Stopped:
            return None
        except (KeepingError, StoreError, OSError) as error:
            self._failed(str(error))
            return None
        self.problem = ""
        return made

    def make_now(self, person: str | None) -> Backup:
        """One more, whoever asks for it; it is kept until somebody deletes it.

        :raises KeepingError: the folder cannot be made or written to
        :raises StoreError: no room, or the database is damaged
        """
        with self._alone(wait=True):
            made = self._make("by hand", person)
        self.problem = ""
        return made

    def start(self) -> None:
        """Look every ten minutes whether one is due, in a thread of its own."""
        self._thread = threading.Thread(target=self._run, name="daily backups", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop looking. A copy that is under way is given up; nothing of it stays."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_PATIENCE)

    def _run(self) -> None:
        wait = FIRST
        while not self._stop.wait(wait):
            try:
                self.make_if_due()
            except Exception:
                # A thread that has ended would make no more backups, and nobody would know.
                log.exception("the daily backup failed")
                self.problem = "The daily backup failed; the server's output says why."
            wait = AFTER_FAILURE if self.problem else BETWEEN

    def _has_today(self) -> bool:
        today = self._clock().astimezone(UTC).date()
        return any(backup.why == "daily" and backup.at.date() == today for backup in self.made)

    def _make(self, why: Why, person: str | None) -> Backup:
        made = back_up(self._store.path, self.folder, why, self._go_on, self._clock)
        self._store.note(person, "backup made", made.path.name, bytes=made.bytes, sha256=made.sha256, why=why)
        return made

    def _go_on(self, done: int, of: int) -> None:
        if self._stop.is_set():
            raise _Stopped

    def _failed(self, why: str) -> None:
        self.problem = f"The daily backup could not be made: {why}"
        log.error("%s", self.problem)
        try:
            self._store.note(None, "backup failed", "", why=why)
        except StoreError as error:
            # The disk that is too full for a copy may be too full for this.
            log.error("this could not be written into the audit log: %s", error)

    @contextmanager
    def _alone(self, wait: bool) -> Iterator[bool]:
        """Whether no other app is making a backup here. The lock on the folder ends with whoever holds it."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self.folder, os.O_RDONLY)
        except OSError as error:
            raise KeepingError(f"{self.folder}: {error.strerror}. No backup was made.") from error
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True
        finally:
            os.close(handle)
