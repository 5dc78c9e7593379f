"""Results of a run on millions of spectra: a folder of JSON-lines files (shards) with an index beside each, written
by one process. A run resumes by the keys in the indexes.

==================  ==================================================================================================
``run.json``        the settings of the run
``samples``         samples per spectrum, the most that was asked for
``traces/*.jsonl``  one line per sample, the same as in a results file (``agent.batch.journal``)
``traces/*.index``  per line 32 bytes: the key's two halves (``agent.batch.keys``), and the bytes where the line begins
                    and ends
``traces/pictures`` the pictures of traces that cannot be drawn again
``rows/*.jsonl``    one line per spectrum: its row of the table, made when it was inspected
``targets.jsonl``   the spectra of each file that holds several, so that it is opened once only
``failed.jsonl``    inspections that gave no trace; the next run tries them again
==================  ==================================================================================================

A sample counts as done once its line is with the operating system. The index follows; what a shard holds beyond it is
read when the folder is opened.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from agent.batch.journal import SYNC_LINES, SYNC_SECONDS, check_settings, place_of, write_settings
from agent.batch.keys import Keys, key_hash
from agent.json_lines import (
    JournalError,
    append_line,
    drop_partial_line,
    json_line,
    json_lines,
    lock_file,
    write_atomic,
)
from agent.language import tr

SCHEMA = "spec-o3/run/2"
MAX_BYTES = 2**30
"""Bytes after which a new shard begins."""
_ENTRY = 4
"""Numbers of 64 bits per entry of an index."""

Entries = NDArray[np.uint64]
"""Shape (n, 4): the two halves of the key, begin and end of the line in bytes."""


class Shards:
    """A results folder, open for one writer; as a context manager it closes it."""

    def __init__(self, folder: Path, settings: Mapping[str, Any], samples: int = 1) -> None:
        """Open or create the folder.

        :param settings: what must stay the same when a run resumes, as JSON values
        :param samples: per spectrum
        :raises JournalError: another process writes there, the settings differ, or something is damaged
        """
        self.folder = folder
        self.samples = samples
        """Per spectrum, the most that any run asked for."""
        self.done = Keys()
        self._failed: dict[tuple[str, int], Mapping[str, Any]] = {}
        self._targets: dict[tuple[str, str], int] = {}  # where the line with the targets of a file begins
        self._traces: _Shard | None = None
        self._rows: _Lines | None = None
        _refuse_other_folder(folder)
        try:
            (folder / "traces").mkdir(parents=True, exist_ok=True)
            (folder / "rows").mkdir(exist_ok=True)
            self._lock: BinaryIO = (folder / "lock").open("a+b")
        except OSError as error:
            raise JournalError(f"{error.filename or folder}: {error.strerror}") from error
        try:
            lock_file(self._lock, folder)
            self._agree({"schema": SCHEMA, **settings})
            self._agree_samples()
            self._load()
        except BaseException:
            self._lock.close()
            raise

    @property
    def failed(self) -> int:
        """Number of samples that failed and have not succeeded since."""
        return len(self._failed)

    @property
    def knows_targets(self) -> bool:
        """Whether the spectra of any file with several are known."""
        return bool(self._targets)

    def targets_of(self, file: str, selection: str) -> list[str] | None:
        """Return the names of the spectra of a file with several, as ``add_targets`` got them; None: not known."""
        start = self._targets.get((file, selection))
        if start is None:
            return None
        with (self.folder / "targets.jsonl").open("rb") as lines:
            lines.seek(start)
            targets: list[str] = json.loads(lines.readline())["targets"]
        return targets

    def add_targets(self, file: str, selection: str, targets: Sequence[str]) -> None:
        """Record the spectra of a file. :raises JournalError: it cannot be written"""
        row = {"file": file, "selection": selection, "targets": list(targets)}
        self._targets[file, selection] = append_line(self.folder / "targets.jsonl", json_line(row))

    def is_done(self, key: str, sample: int) -> bool:
        """Whether this sample of this spectrum is in the results."""
        return key_hash(key, sample) in self.done

    def add(self, key: str, sample: int, line: bytes) -> bool:
        """Record a sample; return False if it was recorded before, which a repeated unit of work can do.

        :param line: its row of the results, as a line
        :raises JournalError: it cannot be written, and counts as not done
        """
        hashed = key_hash(key, sample)
        if hashed in self.done:
            return False
        if self._traces is None or self._traces.size >= MAX_BYTES:
            if self._traces is not None:
                self._traces.close()
            self._traces = _Shard(_next(self.folder / "traces"))
        self._traces.append(hashed, line)
        self.done.add(hashed)
        self._failed.pop((key, sample), None)
        return True

    def add_row(self, line: bytes) -> None:
        """Record the row of a spectrum's table. Of several for one spectrum the last counts.

        :raises JournalError: it cannot be written
        """
        if self._rows is None:
            self._rows = _Lines(_next(self.folder / "rows"))
        self._rows.append(line)

    def add_failure(self, key: str, sample: int, line: bytes) -> None:
        """Record a sample that gave no trace. :raises JournalError: it cannot be written"""
        self._failed[key, sample] = json.loads(line)
        append_line(self.folder / "failed.jsonl", line.decode())

    def row_files(self) -> list[Path]:
        """Return the files of rows, in the order in which they were written."""
        return sorted((self.folder / "rows").glob("*.jsonl"))

    def rows_without(self, covered: Keys) -> Iterator[tuple[tuple[Path, int], Mapping[str, Any]]]:
        """Yield the rows of the results whose keys are not in ``covered``, each after its place for ``row_at``, in the
        order in which they were written.
        """
        if self._traces is not None:
            self._traces.write_index()
        for path in _shards(self.folder):
            entries = _index(path)
            lacking = ~covered.contains(entries[:, :2])
            with path.open("rb") as lines:
                for start in entries[lacking, 2].tolist():
                    lines.seek(start)
                    yield (path, start), json.loads(lines.readline())

    def row_at(self, place: tuple[Path, int]) -> Mapping[str, Any]:
        """Return the row of the results at a place."""
        path, start = place
        with path.open("rb") as lines:
            lines.seek(start)
            row: Mapping[str, Any] = json.loads(lines.readline())
        return row

    def close(self) -> None:
        """Sync to disk, rewrite the list of remaining failures, and release the lock."""
        if self._lock.closed:
            return
        try:
            for part in (self._rows, self._traces):
                if part is not None:
                    part.close()
            path = self.folder / "failed.jsonl"
            if self._failed:
                write_atomic(path, "".join(map(json_line, self._failed.values())))
            else:
                path.unlink(missing_ok=True)
        finally:
            self._lock.close()

    def __enter__(self) -> Shards:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _agree(self, settings: Mapping[str, Any]) -> None:
        path = self.folder / "run.json"
        if _shards(self.folder):
            check_settings(path, settings, self.folder)
        else:
            write_settings(path, settings)

    def _agree_samples(self) -> None:
        path = self.folder / "samples"
        try:
            self.samples = max(self.samples, int(path.read_text(encoding="ascii")) if path.exists() else 1)
        except (OSError, ValueError) as error:
            raise JournalError(tr("{path}: found no number of samples ({error})", path=path, error=error)) from error
        write_atomic(path, f"{self.samples}\n")

    def _load(self) -> None:
        for path in _shards(self.folder):
            entries = _mended(path)
            if not self.done.add_many(entries[:, :2]).all():
                raise JournalError(
                    tr(
                        "{path}: found a sample twice in these results, expected each once; the folder was changed "
                        "by hand or copied together from two runs",
                        path=path,
                    )
                )
        for path in (self.folder / "targets.jsonl", self.folder / "failed.jsonl"):
            if not path.exists():
                continue
            for line in json_lines(path):
                if path.name == "targets.jsonl":
                    self._targets[str(line.row["file"]), str(line.row["selection"])] = line.start
                elif key_hash(*(place := place_of(line.row, path, line.number))) not in self.done:
                    self._failed[place] = line.row


class _Lines:
    """A file to which lines are appended; fsync follows after half a second or 64 lines."""

    def __init__(self, path: Path) -> None:
        """:raises JournalError: it cannot be written"""
        self.path = path
        self.size = 0
        self._unsynced, self._synced = 0, monotonic()
        try:
            self._file: BinaryIO = path.open("xb", buffering=0)
        except OSError as error:
            raise JournalError(f"{path}: {error.strerror}") from error

    def append(self, line: bytes) -> None:
        """:raises JournalError: it cannot be written; the file is as before"""
        try:
            written = 0
            while written < len(line):
                written += self._file.write(line[written:]) or 0
        except OSError as error:
            self._file.truncate(self.size)
            raise JournalError(
                tr("{path}: {strerror}; what was written before is safe", path=self.path, strerror=error.strerror)
            ) from error
        self.size += len(line)
        self._unsynced += 1
        if self._unsynced >= SYNC_LINES or monotonic() - self._synced >= SYNC_SECONDS:
            self._sync()

    @property
    def is_synced(self) -> bool:
        return not self._unsynced

    def close(self) -> None:
        self._sync()
        self._file.close()

    def _sync(self) -> None:
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise JournalError(f"{self.path}: {error.strerror}") from error
        self._unsynced, self._synced = 0, monotonic()


class _Shard:
    """A shard and its index, which is written when the shard is synced."""

    def __init__(self, path: Path) -> None:
        """:raises JournalError: it cannot be written"""
        self._lines = _Lines(path)
        self._index = _Lines(path.with_suffix(".index"))
        self._entries: list[tuple[int, int, int, int]] = []

    @property
    def size(self) -> int:
        return self._lines.size

    def append(self, key: tuple[int, int], line: bytes) -> None:
        """:raises JournalError: it cannot be written; the shard is as before"""
        start = self.size
        self._lines.append(line)
        self._entries.append((*key, start, self.size))
        if self._lines.is_synced:
            self.write_index()

    def close(self) -> None:
        self._lines.close()
        self.write_index()
        self._index.close()

    def write_index(self) -> None:
        if self._entries:
            self._index.append(np.array(self._entries, np.uint64).tobytes())
            self._entries = []


def _refuse_other_folder(folder: Path) -> None:
    """:raises JournalError: the folder is that of something else; nothing was written there"""
    if _shards(folder):
        return
    ours = folder / "run.json"
    try:
        others = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
        settings = json.loads(ours.read_text(encoding="utf-8")) if ours.exists() else None
    except OSError as error:
        raise JournalError(f"{error.filename or folder}: {error.strerror}") from error
    except ValueError:
        settings = {}
    if settings is None:  # a run may have ended before it had written them
        others = [name for name in others if name not in ("lock", "traces", "rows") and ".run.json." not in name]
    elif isinstance(settings, dict) and str(settings.get("schema", "")).startswith("spec-o3/run/"):
        return
    if others:
        raise JournalError(
            tr(
                "{folder}: found a folder with other files ({others}), expected a new folder, or one with "
                "the results of this run; choose another name",
                folder=folder,
                others=others[0],
            )
        )


def _shards(folder: Path) -> list[Path]:
    return sorted((folder / "traces").glob("*.jsonl"))


def _next(folder: Path) -> Path:
    last = max((int(path.stem) for path in folder.glob("*.jsonl") if path.stem.isdecimal()), default=0)
    return folder / f"{last + 1:06d}.jsonl"


def _index(path: Path) -> Entries:
    """Read the entries of a shard's index, without an incomplete last one."""
    try:
        content = path.with_suffix(".index").read_bytes()
    except FileNotFoundError:
        content = b""
    entries = np.frombuffer(content[: len(content) // (8 * _ENTRY) * 8 * _ENTRY], np.uint64)
    return entries.reshape(-1, _ENTRY)


def _mended(path: Path) -> Entries:
    """Return the entries of a shard, after its index and an incomplete last line were put right.

    :raises JournalError: a line is no row of results
    """
    with path.open("r+b") as file:
        size = drop_partial_line(file)
        entries = _index(path)
        # After a power cut the index may know lines that did not reach the disk, or have zeros as its end.
        follows = entries[:, 2] == np.r_[np.zeros(1, np.uint64), entries[:-1, 3]][: len(entries)]
        fits = follows & (entries[:, 2] < entries[:, 3]) & (entries[:, 3] <= size)
        known = entries if fits.all() else entries[: int(np.argmin(fits))]
        end = int(known[-1, 3]) if len(known) else 0
        file.seek(end)
        new: list[tuple[int, int, int, int]] = []
        for line in file:
            try:
                row = json.loads(line)
            except ValueError as error:
                raise JournalError(
                    tr("{path}: the line at byte {end}: found no JSON ({error})", path=path, end=end, error=error)
                ) from error
            new.append((*key_hash(*place_of(row, path, len(known) + len(new) + 1)), end, end + len(line)))
            end += len(line)
    index = path.with_suffix(".index")
    if new or len(known) < len(entries) or (index.exists() and index.stat().st_size % (8 * _ENTRY)):
        entries = np.concatenate([known, np.array(new, np.uint64).reshape(-1, _ENTRY)])
        part = path.with_suffix(".index.part")
        part.write_bytes(entries.tobytes())
        part.replace(index)
    return entries


__all__ = ["Shards"]
