"""The plain archive: everything in the database as JSON lines and pictures, readable without this program.

One file a table, one line a row, all of one moment; ``pictures/`` beside them; ``manifest.json`` last. The
folder appears whole or not at all, and only its owner may read it: hashes of passwords are in it. Row after
row goes out, so that a database of any size takes the same memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from reviewer.backup.archive.manifest import NAME, PICTURES, Manifest, TableFile, file_of
from reviewer.backup.archive.values import to_plain
from reviewer.backup.backups import KeepingError
from reviewer.store import Store
from reviewer.store.sqlite.copies import PART, sync
from reviewer.store.sqlite.rows import LEFT_OUT, Moment, Table


def archive(store: Store, target: Path, progress: Callable[[int, int], None] | None = None) -> Manifest:
    """Write everything to the folder ``target``, which must not be there yet.

    :param progress: called with the number of rows written, and of all
    :raises KeepingError: there is something of that name, or the disk refused
    """
    if os.path.lexists(target):
        raise KeepingError(f"{target}: found something of that name, wanted one that is not taken")
    part = target.with_name(f"{target.name}.{os.getpid()}{PART}")
    try:
        part.mkdir(mode=0o700)
        try:
            made = _write(store, part, progress)
            # A folder that another program made meanwhile is replaced by this only if it is empty.
            part.rename(target)
            sync(target.parent)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise KeepingError(f"{target}: {error.strerror}. No archive was made.") from error
    return made


def _write(store: Store, folder: Path, progress: Callable[[int, int], None] | None) -> Manifest:
    (folder / PICTURES).mkdir(mode=0o700)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    with store.moment() as moment:
        counts = {table.name: moment.count(table) for table in moment.tables}
        total, done, files = sum(counts.values()), 0, {}
        for table in moment.tables:
            before = done

            def tell(rows: int, before: int = before) -> None:
                if progress is not None:
                    progress(before + rows, total)

            files[table.name] = _write_table(moment, table, folder, tell)
            done += counts[table.name]
        made = Manifest(at, moment.schema, moment.head, LEFT_OUT, files)
    _write_whole(folder / NAME, (json.dumps(made.to_json(), indent=1) + "\n").encode())
    for inner in (folder / PICTURES, folder):
        sync(inner)
    return made


def _write_table(moment: Moment, table: Table, folder: Path, tell: Callable[[int], None]) -> TableFile:
    rows, size, whole = 0, 0, hashlib.sha256()

    def keep(key: str, png: bytes) -> str:
        _write_whole(folder / PICTURES / f"{key}.png", png)
        return hashlib.sha256(png).hexdigest()

    with open(_only_ours(folder / file_of(table.name)), "wb") as file:
        for rows, row in enumerate(moment.rows(table), start=1):
            plain = to_plain(table, row, keep)
            line = json.dumps(plain, ensure_ascii=False, allow_nan=False).encode() + b"\n"
            file.write(line)
            whole.update(line)
            size += len(line)
            tell(rows)
        file.flush()
        os.fsync(file.fileno())
    return TableFile(rows, size, whole.hexdigest())


def _only_ours(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)


def _write_whole(path: Path, content: bytes) -> None:
    with open(_only_ours(path), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
