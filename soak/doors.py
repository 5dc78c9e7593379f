"""Every door through which bytes come in, and how to knock at each; docs/formats.md says what they take."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

from agent import wire
from agent.labels import Labels, LabelsError
from agent.many.journal import Journal, JournalError
from agent.many.sources import SourceError, files
from agent.policies.chunks import BadStream, Delta, ServerEvents, delta_of, parsed
from agent.policies.native_text import Reply, assistant_message
from agent.policies.servers import RosterError
from agent.policies.servers import read as read_servers
from agent.readers import opened
from agent.spectrum import Spectrum, SpectrumError
from agent.steps import TrajectoryError
from agent.tasks import TaskError
from agent.tasks import files as task_files
from agent.trajectory import Trajectory
from reviewer import drafts
from reviewer.blind import again
from reviewer.blind.values import Plan, PlanError
from reviewer.drafts import ImportFileError, import_file
from reviewer.keeping.archive_out import archive
from reviewer.keeping.errors import KeepingError
from reviewer.keeping.manifest import NAME as MANIFEST
from reviewer.keeping.restoring import restore
from reviewer.store import Store, StoreError
from reviewer.ui.uploads import laid_out
from soak import door_seeds as seeds
from soak.mutations import (
    inside_gzip,
    inside_zip,
    spoiled_bytes,
    spoiled_fits,
    spoiled_json,
    spoiled_text,
)
from soak.routes import routes
from soak.trying import DidNotHold, Door, Try, check_sentence, refused_by
from training.data import DataError, examples, questions
from training.settings import SettingsError
from training.settings import read as read_settings

TASKS = task_files.load()
MOST_SPECTRA = 6
"""Of one file that are read; a file of more costs time and shows nothing new."""


def _reader(name: str) -> Callable[[Path], Try]:
    """A spectrum file: each of its spectra is one, or is refused; what is read can be written again."""

    def make(folder: Path) -> Try:
        # Its import takes seconds, and is not the first strange file's doing.
        with suppress(ImportError):
            import specutils  # noqa: F401

        def attempt(data: bytes) -> None:
            path = folder / name
            path.write_bytes(data)
            with refused_by(SpectrumError, where=folder), opened(path) as targets:
                for target in targets.names[:MOST_SPECTRA]:
                    with refused_by(SpectrumError, where=folder):
                        _fit_for_use(targets.read(target or None))

        return attempt

    return make


def _fit_for_use(spectrum: Spectrum) -> None:
    again_read = Spectrum.from_json(json.loads(json.dumps(spectrum.to_json(), allow_nan=False)))
    if again_read != spectrum:
        raise DidNotHold("a spectrum that its own JSON form does not give back")
    spectrum.sha256.encode()
    float(spectrum.snr_typical)


def _spectrum_json(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        value = _json(data)
        if isinstance(value, dict):
            with refused_by(SpectrumError):
                _fit_for_use(Spectrum.from_json(value))

    return attempt


def _trajectory(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        value = _json(data)
        if isinstance(value, dict):
            with refused_by(TrajectoryError):
                _same_again(
                    Trajectory.from_sharegpt(value)
                    if "conversations" in value
                    else Trajectory.from_json(value)
                )

    return attempt


def _same_again(trajectory: Trajectory) -> None:
    text = json.dumps(trajectory.to_json(), allow_nan=False, ensure_ascii=False).encode()
    if Trajectory.from_json(json.loads(text)) != trajectory:
        raise DidNotHold("a trajectory that its own JSON form does not give back")
    trajectory.content_hash()
    trajectory.problems()
    trajectory.to_messages()
    for zoom in trajectory.zooms:
        assert zoom.window_observed is None or len(zoom.window_observed) == 2


def _turn(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        from training.reward import score

        text = (
            data.decode("utf-8", "surrogatepass" if len(data) % 2 else "replace")
            if _is_text(data)
            else data.decode("latin-1")
        )
        turn = wire.parse(text)
        steps = {
            "thought": turn.thought,
            "call": turn.call and dict(turn.call.arguments),
            "faults": turn.faults,
        }
        if turn.answer:
            steps["answer"] = turn.answer.explanation
        json.dumps(steps, allow_nan=False, ensure_ascii=False).encode()
        for fault in turn.faults:
            if "\n" in fault or len(fault) > 500:
                raise DidNotHold(f"a fault of {len(fault)} characters: {fault[:80]!r}")
        assistant_message(text, "c1")
        score(text, "YES")

    return attempt


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _stream(folder: Path) -> Try:
    """What a model server streams, cut at any place, to tagged text and on to a turn."""

    def attempt(data: bytes) -> None:
        events, reply = ServerEvents(), Reply()
        text = ""
        with refused_by(BadStream):
            cut = len(data) // 3
            told = events.feed(data[:cut]) + events.feed(data[cut:]) + events.end()
            for event in (one for one in told if one != "[DONE]"):
                delta: Delta = delta_of(parsed(event))
                text += reply.add(delta)
        text += reply.end()
        wire.parse(text)

    return attempt


def _labels(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        path = folder / "labels.csv"
        path.write_bytes(data)
        with refused_by(LabelsError, where=folder):
            labels = Labels.read(path, lambda name: name == "cv" if name in ("cv", "cc") else None)
            for name in [*labels.unused][:20]:
                labels.of(name)

    return attempt


def _sources(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        path = folder / "list.csv"
        path.write_bytes(data)
        with refused_by(SourceError, where=folder):
            for number, source in enumerate(files([f"@{path}"], folder)):
                if number < MOST_SPECTRA and source.path.is_relative_to(folder):
                    source.key.encode("utf-8", "surrogateescape")

    return attempt


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
    with patch.object(drafts, "known_tasks", lambda path: (TASKS, ())):
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
            for row in self.store.queue(_everything(), "", limit=20).rows:
                json.dumps(
                    self.store.item(row.item_id).version.trajectory.to_json(), allow_nan=False
                ).encode()
            self.store.close()
            self.store = None


def _everything() -> Any:
    from reviewer.store import QueueFilter

    return QueueFilter()


def _import(name: str) -> Callable[[Path], Try]:
    def make(folder: Path) -> Try:
        base, inbox = _Base(folder), folder / "inbox"
        shutil.rmtree(inbox, ignore_errors=True)
        seeds.with_pictures(inbox)

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
    import tempfile

    base, inbox, made = _Base(folder), folder / "inbox", folder / "tmp"
    for one in (inbox, made):
        shutil.rmtree(one, ignore_errors=True)
        one.mkdir()
    tempfile.tempdir = str(made)

    def attempt(data: bytes) -> None:
        path = inbox / "dropped.zip"
        path.write_bytes(data)
        there = _tree(folder, made)
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
        if path.is_file()
        and not path.is_relative_to(but)
        and "-wal" not in path.name
        and "-shm" not in path.name
    }


def _task_file(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        path = folder / "mine.toml"
        path.write_bytes(data)
        with refused_by(TaskError, where=folder):
            task = task_files.read(path)
            assert task.prompt
            assert task.guide

    return attempt


def _servers(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        path = folder / "servers.toml"
        path.write_bytes(data)
        with refused_by(RosterError, where=folder):
            read_servers(path)

    return attempt


def _settings(folder: Path) -> Try:
    from training.sft.settings import SftSettings

    def attempt(data: bytes) -> None:
        path = folder / "run.yaml"
        path.write_bytes(data)
        with refused_by(SettingsError, where=folder):
            read_settings(path, SftSettings)

    return attempt


def _plan(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        value = _json(data)
        with refused_by(PlanError):
            plan = Plan.from_json(value)
            if Plan.from_json(json.loads(json.dumps(plan.to_json()))) != plan:
                raise DidNotHold("a plan that its own JSON form does not give back")

    return attempt


def _session(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        path = folder / "session.json"
        path.write_bytes(data)
        with refused_by(again.NotASession, PlanError, where=folder):
            given = again.read(path)
            wanted = again.plan_data(given, lambda texts: {text: n for n, text in enumerate(texts, 1)})
            Plan.from_json(wanted | {"scorers": ["AA", "BB"]})

    return attempt


def _training(name: str, take: Callable[[Path], object]) -> Callable[[Path], Try]:
    def make(folder: Path) -> Try:
        inbox = folder / "data"
        shutil.rmtree(inbox, ignore_errors=True)
        seeds.with_pictures(inbox)

        def attempt(data: bytes) -> None:
            path = inbox / name
            path.write_bytes(data)
            with refused_by(DataError, where=inbox):
                take(path)

        return attempt

    return make


def _learn(path: Path) -> None:
    for example in examples([path], TASKS, spectra=path.parent)[:MOST_SPECTRA]:
        with refused_by(DataError, where=path.parent):
            example.pictures()


def _ask(path: Path) -> None:
    for question in questions([path], TASKS, spectra=path.parent)[:MOST_SPECTRA]:
        with refused_by(DataError, SpectrumError, where=path.parent):
            question.spectrum()


def _journal(folder: Path) -> Try:
    settings = {"task": "cv", "n": 1}

    def attempt(data: bytes) -> None:
        path = folder / "results.jsonl"
        path.write_bytes(data)
        (folder / "results.jsonl.run.json").write_text(
            json.dumps({"schema": "spec-o3/run/1"} | settings), "utf-8"
        )
        with refused_by(JournalError, where=folder), Journal(path, settings) as journal:
            for inspected in journal.inspected():
                _ = inspected.file

    return attempt


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _picture(folder: Path) -> Try:
    from reviewer.picture_files import PictureError, PictureFiles

    def attempt(data: bytes) -> None:
        (folder / "p.png").write_bytes(data)
        with refused_by(PictureError, where=folder):
            files = PictureFiles(folder)
            files.sha256("p.png")
            files.png("p.png")

    return attempt


def _archive(folder: Path) -> Try:
    """A file of a plain archive, spoiled: the table of items, with its size and SHA-256 told as they are."""
    whole, spoiled, target = folder / "whole", folder / "spoiled", folder / "new.db"
    with Store.open(folder / "kept.db") as store:
        (folder / "rows.jsonl").write_bytes(seeds.own_lines()[0])
        seeds.with_pictures(folder)
        import_file(store, folder / "rows.jsonl", folder, "fuzz")
        shutil.rmtree(whole, ignore_errors=True)
        archive(store, whole)
    tables = [path for path in sorted(whole.glob("*.jsonl")) if path.stat().st_size]

    def attempt(data: bytes) -> None:
        shutil.rmtree(spoiled, ignore_errors=True)
        shutil.copytree(whole, spoiled)
        for left in folder.glob("new.db*"):
            left.unlink()
        if data[:1] == b"{" and b'"tables"' in data:
            (spoiled / MANIFEST).write_bytes(data)
        else:
            table = tables[len(data) % len(tables)]
            (spoiled / table.name).write_bytes(data)
            told = json.loads((spoiled / MANIFEST).read_bytes())
            about = told["tables"][table.stem]
            about |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            about["rows"] = len(data.splitlines(keepends=True))
            (spoiled / MANIFEST).write_text(json.dumps(told), "utf-8")
        with refused_by(KeepingError, StoreError, where=folder):
            restore(spoiled, target)
        if list(folder.glob("new.db.*")):
            raise DidNotHold("a restore that left a part behind")

    return attempt


def _doors() -> Iterable[Door]:
    fits = spoiled_fits
    yield Door("fits", _reader("x.fits"), seeds.fits_files, fits)
    yield Door("fits.gz", _reader("x.fits.gz"), seeds.gzip_files, inside_gzip(fits))
    yield Door("text", _reader("x.csv"), seeds.text_files, spoiled_text)
    yield Door("parquet", _reader("x.parquet"), seeds.parquet_files, spoiled_bytes)
    yield Door("spectrum.json", _spectrum_json, seeds.spectra_as_json, spoiled_json)
    yield Door("trajectory", _trajectory, seeds.trajectories, spoiled_json)
    yield Door("turn", _turn, seeds.turns, spoiled_text)
    yield Door("stream", _stream, seeds.streams, spoiled_text)
    yield Door("labels", _labels, seeds.label_tables, spoiled_text)
    yield Door("sources", _sources, seeds.label_tables, spoiled_text)
    yield Door("import.jsonl", _import("trajectories.jsonl"), seeds.own_lines, spoiled_json)
    yield Door("import.sharegpt", _import("train_sharegpt.json"), seeds.sharegpt_rows, spoiled_json)
    yield Door("zip", _upload, seeds.zips, inside_zip(spoiled_json))
    yield Door("picture", _picture, seeds.pictures, spoiled_bytes)
    yield Door("task", _task_file, seeds.task_files, spoiled_text)
    yield Door("servers", _servers, seeds.server_files, spoiled_text)
    yield Door("settings", _settings, seeds.settings_files, spoiled_text)
    yield Door("plan", _plan, seeds.plans, spoiled_json)
    yield Door("session", _session, seeds.sessions, spoiled_json)
    yield Door("examples", _training("rows.jsonl", _learn), seeds.own_lines, spoiled_json)
    yield Door("published", _training("train_sharegpt.json", _learn), seeds.sharegpt_rows, spoiled_json)
    yield Door("specvi", _training("test_cv.parquet", _ask), seeds.specvi_files, spoiled_bytes)
    yield Door("journal", _journal, seeds.journals, spoiled_json)
    yield Door("archive", _archive, seeds.archive_files, spoiled_json)
    yield Door("routes", routes, seeds.requests, spoiled_json)


DOORS = {door.name: door for door in _doors()}
