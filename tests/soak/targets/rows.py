"""Fuzz targets for drafts, training data, settings and blind answers."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from agent.batch.labels import Labels, LabelsError
from agent.batch.sources import SourceError, sources_from
from agent.policies.servers import RosterError
from agent.policies.servers import read_servers as read_servers
from agent.spectrum import SpectrumError
from agent.tasks import TaskError
from agent.tasks.files import read as read_task
from reviewer.blind import plan as rerun
from reviewer.blind.plan import Plan, PlanError
from reviewer.exchange import imports
from reviewer.exchange.imports import ImportFileError, import_file
from reviewer.exchange.pictures import PictureError, PictureFiles
from reviewer.exchange.uploads import unpacked
from reviewer.store import QueueFilter, Store
from tests.soak.mutations import inside_zip, spoiled_bytes, spoiled_json, spoiled_text
from tests.soak.trying import MOST_SPECTRA, DidNotHold, Target, Try, check_sentence, refused_by
from tests.support.inputs.rows import (
    NOT_NAMES,
    TASKS,
    json_or_none,
    label_tables,
    own_lines,
    pictures,
    plans,
    server_files,
    sessions,
    settings_files,
    sharegpt_rows,
    specvi_files,
    task_files,
    with_picture_names,
    with_pictures,
    zips,
)
from training.data import DataError, examples, questions
from training.settings import SettingsError
from training.settings import read as read_settings
from training.sft import SftSettings


def _tables(path: Path) -> str:
    """A digest of every row of every table but that of the imports themselves, which records also a refused one."""
    digest = hashlib.sha256()
    with sqlite3.connect(path) as connection:
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name != 'imports' ORDER BY name"
        ).fetchall():
            for row in connection.execute(f'SELECT * FROM "{name}"'):
                digest.update(repr((name, row)).encode("utf-8", "replace"))
    connection.close()
    return digest.hexdigest()


@contextmanager
def _tasks_read_once() -> Iterator[None]:
    """Do not read the task files for each import: that would take most of the time."""
    with patch.object(imports, "known_tasks", lambda path: (TASKS, ())):
        yield


class _Base:
    """A database that is made again after items were added to it."""

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
        """:raises DidNotHold: nothing was added, but the tables have changed"""
        assert self.store is not None
        if not added and _tables(self.store.path) != self._before:
            raise DidNotHold("a refused import that left something behind")
        if added:
            for row in self.store.queue.page(QueueFilter(), "", limit=20).rows:
                json.dumps(self.store.items.get(row.item_id).version.trajectory.to_json(), allow_nan=False).encode()
            self.store.close()
            self.store = None


def _named(form: str) -> list[bytes]:
    return [with_picture_names(form, name) for name in NOT_NAMES.values()]


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
    """A zip dropped on the Library tab: unpacked into its own folder, imported and deleted."""
    base, inbox, made = _Base(folder), folder / "inbox", folder / "tmp"
    for empty in (inbox, made):
        shutil.rmtree(empty, ignore_errors=True)
        empty.mkdir()
    tempfile.tempdir = str(made)

    def attempt(data: bytes) -> None:
        path = inbox / "dropped.zip"
        path.write_bytes(data)
        store, added = base.fresh(), 0
        there = _tree(folder, made)
        with refused_by(ImportFileError, where=made), unpacked([path]) as found:
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


def _tree(folder: Path, without: Path) -> set[tuple[str, int]]:
    return {
        (str(path), path.stat().st_size)
        for path in folder.rglob("*")
        if path.is_file() and not path.is_relative_to(without) and "-wal" not in path.name and "-shm" not in path.name
    }


def _file(name: str, take: Callable[[Path], object], *declared: type[Exception]) -> Callable[[Path], Try]:
    """A file of this name, in a folder with pictures and a spectrum."""

    def make(folder: Path) -> Try:
        inbox = folder / "data"
        shutil.rmtree(inbox, ignore_errors=True)
        with_pictures(inbox)

        def attempt(data: bytes) -> None:
            (inbox / name).write_bytes(data)
            with refused_by(*declared, where=inbox):
                take(inbox / name)

        return attempt

    return make


def _picture(path: Path) -> None:
    files = PictureFiles(path.parent)
    files.sha256(path.name)
    files.png(path.name)


DRAFTS = (
    Target(
        "import.jsonl",
        _import("trajectories.jsonl"),
        lambda: [*own_lines(), *_named("trajectories.jsonl")],
        spoiled_json,
    ),
    Target(
        "import.sharegpt",
        _import("train_sharegpt.json"),
        lambda: [*sharegpt_rows(), *_named("train_sharegpt.json")],
        spoiled_json,
    ),
    Target("zip", _upload, zips, inside_zip(spoiled_json)),
    Target("picture", _file("p.png", _picture, PictureError), pictures, spoiled_bytes),
)


def _examples(path: Path) -> None:
    for example in examples([path], TASKS, spectra=path.parent)[:MOST_SPECTRA]:
        with refused_by(DataError, where=path.parent):
            example.pictures()


def _questions(path: Path) -> None:
    for question in questions([path], TASKS, spectra=path.parent)[:MOST_SPECTRA]:
        with refused_by(DataError, SpectrumError, where=path.parent):
            question.spectrum()


TRAINING_DATA = (
    Target("examples", _file("rows.jsonl", _examples, DataError), own_lines, spoiled_json),
    Target("published", _file("train_sharegpt.json", _examples, DataError), sharegpt_rows, spoiled_json),
    Target("specvi", _file("test_cv.parquet", _questions, DataError), specvi_files, spoiled_bytes),
)


def _labels(path: Path) -> None:
    labels = Labels.read(path, lambda name: name == "cv" if name in ("cv", "cc") else None)
    for name in [*labels.unused][:20]:
        labels.of(name)


def _sources(path: Path) -> None:
    for number, source in enumerate(sources_from([f"@{path}"], path.parent)):
        if number < MOST_SPECTRA and source.path.is_relative_to(path.parent):
            source.key.encode("utf-8", "surrogateescape")


def _task_file(path: Path) -> None:
    task = read_task(path)
    assert task.prompt
    assert task.guide


def _settings(path: Path) -> None:
    read_settings(path, SftSettings)


SETTINGS = (
    Target("labels", _file("labels.csv", _labels, LabelsError), label_tables, spoiled_text),
    Target("sources", _file("list.csv", _sources, SourceError), label_tables, spoiled_text),
    Target("task", _file("mine.toml", _task_file, TaskError), task_files, spoiled_text),
    Target("servers", _file("servers.toml", read_servers, RosterError), server_files, spoiled_text),
    Target("settings", _file("run.yaml", _settings, SettingsError), settings_files, spoiled_text),
)


def _plan(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        value = json_or_none(data)
        with refused_by(PlanError):
            plan = Plan.from_json(value)
            if Plan.from_json(json.loads(json.dumps(plan.to_json()))) != plan:
                raise DidNotHold("a plan that its own JSON form does not give back")

    return attempt


def _session(path: Path) -> None:
    given = rerun.read_session(path)
    plan = rerun.rerun_plan(given, lambda texts: {text: n for n, text in enumerate(texts, 1)})
    Plan.from_json(plan | {"scorers": ["AA", "BB"]})


BLIND = (
    Target("plan", _plan, plans, spoiled_json),
    Target("session", _file("session.json", _session, rerun.SessionFileError, PlanError), sessions, spoiled_json),
)
