"""The plain archive: the whole database as JSON lines and pictures, readable without this program.

One file per table, one line per row, ``pictures/``, and ``manifest.json``, written last. Rows are written one by one,
so memory does not grow with the database. The folder is private: it holds password hashes.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent.language import tr
from reviewer.backup.archive_values import PICTURE_NAME, from_plain, to_plain
from reviewer.backup.backups import BackupError, BadArchive
from reviewer.store import CannotWrite, Head, Store, StoreError
from reviewer.store.sqlite.files import PART, sync
from reviewer.store.sqlite.migrations import require_known_schema
from reviewer.store.sqlite.tables import LEFT_OUT, NewDatabase, Table, Value, new_database, open_snapshot

FORMAT = "spec-o3/archive/1"
MANIFEST_NAME = "manifest.json"
PICTURES = "pictures"
_LONGEST_MANIFEST = 10_000_000  # bytes; a manifest has one line per table


@dataclass(frozen=True)
class TableFile:
    """The manifest's entry for the file of one table."""

    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The content of an archive. ``head``: of the audit log."""

    at: str
    schema: int
    head: Head
    left_out: tuple[str, ...]
    tables: Mapping[str, TableFile]

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "at": self.at,
            "schema": self.schema,
            "log_head": str(self.head),
            "left_out": list(self.left_out),
            "tables": {
                name: {"file": file_of(name), "rows": table.rows, "bytes": table.bytes, "sha256": table.sha256}
                for name, table in self.tables.items()
            },
        }


def file_of(table: str) -> str:
    return f"{table}.jsonl"


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of an archive.

    :raises BadArchive: there is none, or not in this program's format
    :raises NewerSchema: a newer release wrote it
    :raises OlderSchema: it is from before the first release
    """
    path = folder / MANIFEST_NAME
    try:
        if path.is_symlink() or not path.is_file():
            raise BadArchive(
                tr(
                    "{folder}: found no {manifest_name}, expected the folder of a plain archive",
                    folder=folder,
                    manifest_name=MANIFEST_NAME,
                )
            )
        if path.stat().st_size > _LONGEST_MANIFEST:
            raise BadArchive(
                tr("{path}: found {st_size} bytes, expected a manifest", path=path, st_size=path.stat().st_size)
            )
        data = json.loads(path.read_bytes())
        if data["format"] != FORMAT:
            raise BadArchive(
                tr(
                    "{path}: format: found {data!r:.60}, expected {format!r}",
                    path=path,
                    data=data["format"],
                    format=FORMAT,
                )
            )
        schema = _whole(data["schema"])
        require_known_schema(folder, schema)
        return Manifest(
            at=str(data["at"]),
            schema=schema,
            head=Head.parse(data["log_head"]),
            left_out=tuple(map(str, data["left_out"])),
            tables={str(name): _table_file(str(name), table) for name, table in data["tables"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadArchive(
            tr("{path}: it is not as this program writes it ({error!r:.200})", path=path, error=error)
        ) from error


def _table_file(name: str, data: Mapping[str, Any]) -> TableFile:
    if data["file"] != file_of(name):
        raise BadArchive(
            tr(
                "{manifest_name}: {name}: found the file {data!r:.80}, expected {name2!r:.80}",
                manifest_name=MANIFEST_NAME,
                name=name,
                data=data["file"],
                name2=file_of(name),
            )
        )
    return TableFile(_whole(data["rows"]), _whole(data["bytes"]), str(data["sha256"]))


def _whole(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(tr("found {value!r:.40}, expected a whole number", value=value))
    return value


def write_archive(store: Store, target: Path, progress: Callable[[int, int], None] | None = None) -> Manifest:
    """Write the archive to the new folder ``target``: all of it or nothing.

    :param progress: called with the number of rows written, and the total
    :raises BackupError: ``target`` exists, or the disk reports an error
    """
    if os.path.lexists(target):
        raise BackupError(tr("{target}: found an existing file or folder, expected a new name", target=target))
    part = target.with_name(f"{target.name}.{os.getpid()}{PART}")
    try:
        part.mkdir(mode=0o700)
        try:
            manifest = _write(store, part, progress)
            # This replaces a folder that another program has created meanwhile only if it is empty.
            part.rename(target)
            sync(target.parent)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise BackupError(
            tr("{target}: {strerror}. No archive was made.", target=target, strerror=error.strerror)
        ) from error
    return manifest


def _write(store: Store, folder: Path, progress: Callable[[int, int], None] | None) -> Manifest:
    (folder / PICTURES).mkdir(mode=0o700)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    with store.upkeep.snapshot() as moment:
        counts = {table.name: moment.count(table) for table in moment.tables}
        total, done, files = sum(counts.values()), 0, {}
        for table in moment.tables:
            before = done

            def on_row(rows: int, before: int = before) -> None:
                if progress is not None:
                    progress(before + rows, total)

            rows = moment.rows(table)
            # Their arrays may be in files; an archive has everything.
            rows = map(store.spectra.whole, rows) if table.name == "spectra" else rows
            files[table.name] = _write_table(rows, table, folder, on_row)
            done += counts[table.name]
        manifest = Manifest(at, moment.schema, moment.head, LEFT_OUT, files)
    _write_whole(folder / MANIFEST_NAME, (json.dumps(manifest.to_json(), indent=1) + "\n").encode())
    for inner in (folder / PICTURES, folder):
        sync(inner)
    return manifest


def _write_table(
    table_rows: Iterable[Mapping[str, Value]], table: Table, folder: Path, on_row: Callable[[int], None]
) -> TableFile:
    rows, size, whole = 0, 0, hashlib.sha256()

    def keep(key: str, png: bytes) -> str:
        _write_whole(folder / PICTURES / f"{key}.png", png)
        return hashlib.sha256(png).hexdigest()

    with open(_create_private(folder / file_of(table.name)), "wb") as file:
        for rows, row in enumerate(table_rows, start=1):
            plain = to_plain(table, row, keep)
            line = json.dumps(plain, ensure_ascii=False, allow_nan=False).encode() + b"\n"
            file.write(line)
            whole.update(line)
            size += len(line)
            on_row(rows)
        file.flush()
        os.fsync(file.fileno())
    return TableFile(rows, size, whole.hexdigest())


def _create_private(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)


def _write_whole(path: Path, content: bytes) -> None:
    with open(_create_private(path), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


LONGEST_LINE = 256 * 2**20
"""Bytes. The longest rows are spectra: a million pixels take about 40 MB."""
LARGEST_PICTURE = 256 * 2**20


def read_archive(folder: Path, target: Path, progress: Callable[[int, int], None] | None = None) -> Head:
    """Create the database ``target`` from an archive, with the archive's schema; return the head of its log.

    If this fails, the caller deletes ``target``.

    :param progress: called with the number of rows read, and the total
    :raises BadArchive: a file, a line or a picture is missing, unexpected, changed or of the wrong kind
    :raises NewerSchema: a newer release wrote it
    :raises OlderSchema: it is from before the first release
    """
    manifest = read_manifest(folder)
    _refuse_other_files(folder, manifest)
    # Created first, so that nobody else may read it while it is written.
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with new_database(target, manifest.schema) as new:
            _refuse_other_tables(folder, manifest, new)
            _fill(folder, manifest, new, progress)
    except (BadArchive, CannotWrite):
        raise
    except StoreError as error:
        raise BadArchive(f"{folder}: {error}") from error
    with open_snapshot(target) as moment:
        head = moment.head
    if head != manifest.head:
        raise BadArchive(
            tr(
                "{folder}: found a log that ends at {head}, expected {head2} as in its manifest",
                folder=folder,
                head=head,
                head2=manifest.head,
            )
        )
    return head


def _fill(folder: Path, manifest: Manifest, new: NewDatabase, progress: Callable[[int, int], None] | None) -> None:
    total, done = sum(table.rows for table in manifest.tables.values()), 0
    pictures = _Pictures(folder / PICTURES)
    for name, stated in manifest.tables.items():
        table, path, number = new.tables[name], folder / file_of(name), 0
        for number, line in enumerate(_lines(path, stated), start=1):
            try:
                new.insert(table, from_plain(table, _parsed(line), pictures.take))
            except (BadArchive, StoreError) as error:
                raise BadArchive(f"{path}: line {number}: {error}") from error
            if progress is not None:
                progress(done + number, total)
        if number != stated.rows:
            raise BadArchive(
                tr("{path}: found {number} lines, its manifest says {rows}", path=path, number=number, rows=stated.rows)
            )
        done += number
    pictures.refuse_others()


def _lines(path: Path, stated: TableFile) -> Iterator[bytes]:
    """Yield the lines of a file. Its size is checked before the first line, its SHA-256 after the last."""
    size = _regular_file(path).st_size
    if size != stated.bytes:
        raise BadArchive(
            tr("{path}: found {found} bytes, its manifest says {bytes}", path=path, found=size, bytes=stated.bytes)
        )
    whole = hashlib.sha256()
    with path.open("rb") as file:
        while line := file.readline(LONGEST_LINE + 1):
            if len(line) > LONGEST_LINE:
                raise BadArchive(
                    tr("{path}: found a line of more than {longest_line} bytes", path=path, longest_line=LONGEST_LINE)
                )
            whole.update(line)
            yield line
    if whole.hexdigest() != stated.sha256:
        raise BadArchive(
            tr("{path}: its SHA-256 differs from the one in its manifest: the file was changed", path=path)
        )


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadArchive(tr("it is no JSON ({error})", error=error)) from error
    if not isinstance(row, dict):
        raise BadArchive(tr("found {found!r:.60}, expected an object", found=row))
    return row


class _Pictures:
    """The folder of pictures; each is read with the row that names it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._taken = 0

    def take(self, key: str, sha256: str) -> bytes:
        """Read the picture of a row. :raises BadArchive: it is missing, or differs from the row's SHA-256"""
        if not PICTURE_NAME.fullmatch(key):
            raise BadArchive(tr("found the picture {key!r:.80}, expected 64 hexadecimal digits", key=key))
        path = self._folder / f"{key}.png"
        if _regular_file(path).st_size > LARGEST_PICTURE:
            raise BadArchive(
                tr("{path}: it has more than {largest_picture} bytes", path=path, largest_picture=LARGEST_PICTURE)
            )
        png = path.read_bytes()
        if hashlib.sha256(png).hexdigest() != sha256:
            raise BadArchive(tr("{path}: its SHA-256 differs from the one in its row: the file was changed", path=path))
        self._taken += 1
        return png

    def refuse_others(self) -> None:
        """Refuse files that no row names. Keys are unique, so counting the files is enough."""
        number = sum(1 for _ in os.scandir(self._folder))
        if number != self._taken:
            raise BadArchive(
                tr(
                    "{folder}: found {found} files, expected the {taken} that rows name",
                    folder=self._folder,
                    found=number,
                    taken=self._taken,
                )
            )


def _refuse_other_files(folder: Path, manifest: Manifest) -> None:
    expected = {MANIFEST_NAME, PICTURES, *map(file_of, manifest.tables)}
    present = {entry.name for entry in os.scandir(folder)}
    for name in sorted(expected - present):
        raise BadArchive(tr("{folder}: found no {name:.80}, which belongs to it", folder=folder, name=name))
    for name in sorted(present - expected):
        raise BadArchive(tr("{folder}: found {name!r:.80}, which its manifest does not name", folder=folder, name=name))
    if (folder / PICTURES).is_symlink() or not (folder / PICTURES).is_dir():
        raise BadArchive(tr("{folder}: expected a folder", folder=folder / PICTURES))


def _refuse_other_tables(folder: Path, manifest: Manifest, new: NewDatabase) -> None:
    for name in sorted(manifest.tables.keys() ^ new.tables.keys()):
        where = folder / MANIFEST_NAME
        if name in manifest.tables:
            raise BadArchive(
                tr("{file}: found the table {name!r:.60}, which no database of its schema has", file=where, name=name)
            )
        raise BadArchive(tr("{file}: found no table {name!r:.60}, which belongs to its schema", file=where, name=name))


def _regular_file(path: Path) -> os.stat_result:
    """Return a file's status. :raises BadArchive: it is missing, or no plain file: a link could lead anywhere"""
    try:
        status = path.lstat()
    except OSError as error:
        raise BadArchive(f"{path}: {error.strerror}") from error
    if not stat.S_ISREG(status.st_mode):
        raise BadArchive(tr("{path}: expected a plain file", path=path))
    return status
