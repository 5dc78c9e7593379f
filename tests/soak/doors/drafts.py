"""Traces brought into a database: files of rows, zips dropped on the page, pictures."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from PIL import Image

from agent.plot.png import png_bytes
from reviewer.exchange import imports
from reviewer.exchange.imports import ImportFileError, import_file
from reviewer.exchange.pictures import PictureError, PictureFiles
from reviewer.store import QueueFilter, Store
from reviewer.ui.imports import laid_out
from tests.soak.doors.samples import TASKS, own_lines, picture, sharegpt_rows, spectrum_file, with_pictures
from tests.soak.mutations import inside_zip, spoiled_bytes, spoiled_json
from tests.soak.trying import DidNotHold, Door, Try, check_sentence, refused_by


def zips() -> list[bytes]:
    made = []
    for inside in ("", "deep/er/"):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr(f"{inside}train_sharegpt.json", sharegpt_rows()[0])
            packed.writestr(f"{inside}spectrum.fits", spectrum_file())
            for number in (0, 1):
                packed.writestr(f"{inside}images/{number}.png", png_bytes(picture(number)))
        made.append(stream.getvalue())
    return made


def pictures() -> list[bytes]:
    made = [png_bytes(picture(3))]
    for kind in ("JPEG", "WEBP", "PNG"):
        stream = io.BytesIO()
        Image.new("P" if kind == "PNG" else "RGB", (6, 5)).save(stream, kind)
        made.append(stream.getvalue())
    return made


def _tables(path: Path) -> str:
    """A digest of every row of every table."""
    digest = hashlib.sha256()
    with sqlite3.connect(path) as connection:
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        ).fetchall():
            for row in connection.execute(f'SELECT * FROM "{name}"'):
                digest.update(repr((name, row)).encode("utf-8", "replace"))
    connection.close()
    return digest.hexdigest()


@contextmanager
def _tasks_read_once() -> Iterator[None]:
    """Reading the task files anew for each import would be most of the time."""
    with patch.object(imports, "known_tasks", lambda path: (TASKS, ())):
        yield


class _Base:
    """A database that is made anew once things have come into it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "base"
        self._empty = folder / "empty.db"
        Store.open(self._empty).close()
        self.store: Store | None = None
        self._before = ""

    def fresh(self) -> Store:
        if self.store is None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder.mkdir()
            shutil.copyfile(self._empty, self._folder / "annotations.db")
            self.store = Store.open(self._folder / "annotations.db")
            self._before = _tables(self.store.path)
        return self.store

    def check(self, added: int) -> None:
        """:raises DidNotHold: nothing was taken in, and yet the tables are others than before"""
        assert self.store is not None
        if not added and _tables(self.store.path) != self._before:
            raise DidNotHold("a refused import that left something behind")
        if added:
            for row in self.store.queue(QueueFilter(), "", limit=20).rows:
                json.dumps(self.store.item(row.item_id).version.trajectory.to_json(), allow_nan=False).encode()
            self.store.close()
            self.store = None


def _import(name: str) -> Callable[[Path], Try]:
    def make(folder: Path) -> Try:
        base, inbox = _Base(folder), folder / "inbox"
        shutil.rmtree(inbox, ignore_errors=True)
        with_pictures(inbox)

        def attempt(data: bytes) -> None:
            (inbox / name).write_bytes(data)
            store, added = base.fresh(), 0
            with refused_by(ImportFileError, where=inbox), _tasks_read_once():
                done = import_file(store, inbox / name, inbox, "fuzz", skip_bad=bool(len(data) % 2))
                added = len(done.added)
                for problem in done.problems:
                    check_sentence(str(problem), inbox)
            base.check(added)

        return attempt

    return make


def _upload(folder: Path) -> Try:
    """A zip dropped on the Library tab: unpacked into a folder of its own, imported, and gone afterwards."""
    base, inbox, made = _Base(folder), folder / "inbox", folder / "tmp"
    for one in (inbox, made):
        shutil.rmtree(one, ignore_errors=True)
        one.mkdir()
    tempfile.tempdir = str(made)

    def attempt(data: bytes) -> None:
        path = inbox / "dropped.zip"
        path.write_bytes(data)
        store, added = base.fresh(), 0
        there = _tree(folder, made)
        with refused_by(ImportFileError, where=made), laid_out([path]) as found:
            if _tree(folder, made) != there:
                raise DidNotHold("a zip that wrote outside its folder")
            for rows in found:
                with refused_by(ImportFileError, where=made), _tasks_read_once():
                    done = import_file(store, rows, rows.parent, "fuzz")
                    added += len(done.added)
                    for problem in done.problems:
                        check_sentence(str(problem), made)
        if list(made.iterdir()):
            raise DidNotHold("an upload that left files behind")
        base.check(added)

    return attempt


def _tree(folder: Path, but: Path) -> set[tuple[str, int]]:
    return {
        (str(path), path.stat().st_size)
        for path in folder.rglob("*")
        if path.is_file() and not path.is_relative_to(but) and "-wal" not in path.name and "-shm" not in path.name
    }


def _picture(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        (folder / "p.png").write_bytes(data)
        with refused_by(PictureError, where=folder):
            files = PictureFiles(folder)
            files.sha256("p.png")
            files.png("p.png")

    return attempt


DOORS = (
    Door("import.jsonl", _import("trajectories.jsonl"), own_lines, spoiled_json),
    Door("import.sharegpt", _import("train_sharegpt.json"), sharegpt_rows, spoiled_json),
    Door("zip", _upload, zips, inside_zip(spoiled_json)),
    Door("picture", _picture, pictures, spoiled_bytes),
)
