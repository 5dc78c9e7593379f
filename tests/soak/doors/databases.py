"""Whole databases that are put in the place of another: a file, or the plain JSON lines of an archive."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from reviewer.backup.archive import MANIFEST_NAME as MANIFEST
from reviewer.backup.archive import write_archive
from reviewer.backup.backups import BackupError
from reviewer.backup.restore import Restored, restore
from reviewer.exchange.imports import import_file
from reviewer.store import QueueFilter, Store, StoreError
from reviewer.store.sqlite.files import exclusive_access
from tests.soak.doors.samples import json_or_none, own_lines, with_pictures
from tests.soak.mutations import spoiled_json, spoiled_sqlite
from tests.soak.trying import DidNotHold, Door, Try, refused_by

SCHEMAS = Path(__file__).resolve().parents[3] / "tests" / "schemas"
"""What earlier releases wrote, as SQL."""
THEN = datetime(2026, 11, 1, tzinfo=UTC)


def _filled(path: Path) -> None:
    """A database with two people, two items, a decision, a mark and unsent text."""
    path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as name, Store.open(path, lambda: THEN) as store:
        folder = Path(name)
        store.add_person("CO", "Person", ["coordinator"])
        store.add_person("RV", "Person", ["reviewer", "auditor"])
        with_pictures(folder)
        (folder / "rows.jsonl").write_bytes(own_lines()[0])
        import_file(store, folder / "rows.jsonl", folder, "fuzz")
        version = store.item(1).version.id
        store.mark("RV", 1, version, "s1", "supported", "k" * 10, note="well seen")
        store.decide("RV", 1, version, "keep", "k" * 11, store.lease("RV", 1).token, comment="c")
        store.autosave("RV", 2, store.item(2).version.id, {"steps": [], "comment": "half a thou"})
        store.set_setting("CO", "greeting", {"b": [1, 2.5, None, "ö"]})
    # Whoever asks for a file alone ends its write-ahead log, which its first bytes tell.
    with exclusive_access(path):
        pass


def database_files() -> list[bytes]:
    """One of the present schema, and what earlier releases left."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "annotations.db"
        _filled(path)
        made = [path.read_bytes()]
    for dump in sorted(SCHEMAS.glob("*.sql")):
        with closing(sqlite3.connect(":memory:")) as db:
            db.executescript(dump.read_text("utf-8"))
            made.append(db.serialize())
    return made


@cache
def _plain() -> dict[str, bytes]:
    """The files of a plain archive. Made once: a table of another archive does not fit this one's log."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _filled(folder / "annotations.db")
        with Store.open(folder / "annotations.db") as store:
            write_archive(store, folder / "plain")
        return _bytes_in(folder / "plain")


def archive_files() -> list[bytes]:
    """The tables and the manifest of a plain archive."""
    return [content for name, content in _plain().items() if ".json" in name and content]


class _InPlace:
    """A good database in a folder of its own, in whose place something is put."""

    def __init__(self, folder: Path) -> None:
        self._around = folder
        self._folder = folder / "in place"
        self._folder.mkdir(exist_ok=True)
        self._database = self._folder / "annotations.db"
        _filled(folder / "good.db")
        self._good = (folder / "good.db").read_bytes()

    def put(self, source: Path) -> None:
        """:raises DidNotHold: a refusal changed something, or what is there now is not sound"""
        shutil.rmtree(self._folder)
        self._folder.mkdir()
        self._database.write_bytes(self._good)
        given = _bytes_in(source.parent)
        done = None
        with refused_by(BackupError, StoreError, where=self._around):
            done = restore(source, self._database)
        if _bytes_in(source.parent) != given:
            raise DidNotHold("a restore that changed what it was given")
        left = _bytes_in(self._folder)
        kept_as = self._database if done is None or done.kept_as is None else done.kept_as
        if left.pop(kept_as.name, None) != self._good:
            raise DidNotHold("a restore that changed what was there before")
        if done is not None:
            self._sound(done)
            left.pop(self._database.name)
        if left:
            raise DidNotHold(f"a restore that left {min(left)} behind")

    def _sound(self, done: Restored) -> None:
        with Store.open(self._database) as store:
            wrong = store.verify(done.head)
            store.queue(QueueFilter(), "", limit=20)
        if wrong:
            raise DidNotHold(f"a restored database that is not sound: {wrong[0]}")


def _bytes_in(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _database(folder: Path) -> Try:
    place, source = _InPlace(folder), folder / "given" / "kept.db"
    source.parent.mkdir(exist_ok=True)

    def attempt(data: bytes) -> None:
        source.write_bytes(data)
        place.put(source)

    return attempt


def _archive(folder: Path) -> Try:
    """A file of a plain archive, spoiled: a table, with its size and SHA-256 told as they are, or what tells
    of all."""
    place, spoiled = _InPlace(folder), folder / "given" / "plain"
    columns = {name: _columns(content) for name, content in _plain().items() if name.endswith(".jsonl")}

    def attempt(data: bytes) -> None:
        shutil.rmtree(spoiled, ignore_errors=True)
        for name, content in _plain().items():
            (spoiled / name).parent.mkdir(parents=True, exist_ok=True)
            (spoiled / name).write_bytes(content)
        if data[:1] == b"{" and b'"tables"' in data:
            (spoiled / MANIFEST).write_bytes(data)
        else:
            table = max(columns, key=lambda name: len(columns[name] & _columns(data)))
            (spoiled / table).write_bytes(data)
            told = json.loads((spoiled / MANIFEST).read_bytes())
            about = told["tables"][table.removesuffix(".jsonl")]
            about |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            about["rows"] = len(data.splitlines(keepends=True))
            (spoiled / MANIFEST).write_text(json.dumps(told), "utf-8")
        place.put(spoiled)

    return attempt


def _columns(lines: bytes) -> set[str]:
    first = json_or_none(lines.partition(b"\n")[0])
    return set(first) if isinstance(first, dict) else set()


DOORS = (
    Door("archive", _archive, archive_files, spoiled_json),
    Door("database", _database, database_files, spoiled_sqlite),
)
