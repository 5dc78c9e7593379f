"""Whether the file that is open is still the one of that name.

A file that is moved away, deleted or replaced while a program has it open goes on taking what that program
writes, and nobody finds it again. SQLite does not look; so each write transaction does, before it commits.
"""

from __future__ import annotations

from pathlib import Path

from reviewer.store.errors import FileGone


class InPlace:
    """The database and its write-ahead log, known by device and inode. The log is there from the first write
    on, and stays as long as a connection is open."""

    def __init__(self, path: Path) -> None:
        self._files = (path, path.with_name(f"{path.name}-wal"))
        self._known: dict[Path, tuple[int, int]] = {}
        self.require()

    def require(self) -> None:
        """:raises FileGone: another file has the name now, or none"""
        for path in self._files:
            found = _identity(path)
            if found is not None:
                self._known.setdefault(path, found)
            if found != self._known.get(path):
                raise FileGone(
                    f"{path} was moved, deleted or replaced while this program had it open. Nothing was "
                    "saved. Put the file back, or stop the program, bring a backup back with "
                    "`spec-o3 restore` and start again."
                )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
