"""Entry points for drafts, training data, settings and blind answers."""

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
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from agent.batch.labels import Labels, LabelsError
from agent.batch.sources import SourceError, sources_from
from agent.plot import png_bytes
from agent.policies.servers import RosterError
from agent.policies.servers import read_servers as read_servers
from agent.spectrum import SpectrumError
from agent.tasks import TaskError
from agent.tasks.files import FOLDER
from agent.tasks.files import read as read_task
from reviewer.blind import plan as rerun
from reviewer.blind.plan import Plan, PlanError
from reviewer.exchange import imports
from reviewer.exchange.imports import ImportFileError, import_file
from reviewer.exchange.pictures import PictureError, PictureFiles
from reviewer.store import QueueFilter, Store
from reviewer.ui.imports import unpacked
from tests.soak.mutations import inside_zip, spoiled_bytes, spoiled_json, spoiled_text
from tests.soak.targets.samples import (
    FLUX,
    MOST_SPECTRA,
    TASKS,
    WAVELENGTH,
    a_spectrum,
    json_or_none,
    own_lines,
    picture,
    sharegpt_rows,
    spectrum_file,
    with_pictures,
)
from tests.soak.trying import DidNotHold, Target, Try, check_sentence, refused_by
from training.data import DataError, examples, questions
from training.settings import SettingsError
from training.settings import read as read_settings
from training.sft import SftSettings


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
            for row in self.store.queue.page(QueueFilter(), "", limit=20).rows:
                json.dumps(self.store.items.get(row.item_id).version.trajectory.to_json(), allow_nan=False).encode()
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
            sources_from = PictureFiles(folder)
            sources_from.sha256("p.png")
            sources_from.png("p.png")

    return attempt


DRAFTS = (
    Target("import.jsonl", _import("trajectories.jsonl"), own_lines, spoiled_json),
    Target("import.sharegpt", _import("train_sharegpt.json"), sharegpt_rows, spoiled_json),
    Target("zip", _upload, zips, inside_zip(spoiled_json)),
    Target("picture", _picture, pictures, spoiled_bytes),
)


def specvi_files() -> list[bytes]:
    given = {"flux": FLUX.tolist(), "wavelength": WAVELENGTH.tolist(), "redshift": 0.01}
    made = []
    for spectrum in (None, json.dumps(a_spectrum().to_json())):
        info: dict[str, Any] = {
            "index": "0-1",
            "name": "spec-1.fits",
            "survey": "LAMOST",
            "snr": 9.0,
            "simulated": True,
        }
        info["tools_kwargs"] = {"spectral_visualization_tool": {"create_kwargs": given}}
        info["spectrum"] = spectrum
        row = {
            "images": [{"bytes": b"not looked at", "path": None}],
            "data_source": "cv",
            "prompt": [
                {"role": "system", "content": "You."},
                {"role": "user", "content": "<image>\nIs it?\n\nGuide."},
            ],
            "reward_model": {"ground_truth": "YES", "type": "rule"},
            "extra_info": info,
        }
        stream = io.BytesIO()
        pq.write_table(pa.Table.from_pylist([row, row | {"data_source": "carbon"}]), stream)
        made.append(stream.getvalue())
    return made


def _training(name: str, take: Callable[[Path], object]) -> Callable[[Path], Try]:
    def make(folder: Path) -> Try:
        inbox = folder / "data"
        shutil.rmtree(inbox, ignore_errors=True)
        with_pictures(inbox)

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


TRAINING_DATA = (
    Target("examples", _training("rows.jsonl", _learn), own_lines, spoiled_json),
    Target("published", _training("train_sharegpt.json", _learn), sharegpt_rows, spoiled_json),
    Target("specvi", _training("test_cv.parquet", _ask), specvi_files, spoiled_bytes),
)


def label_tables() -> list[bytes]:
    return [
        b"file,label,task,snr\nspectrum.fits,YES,cv,3.5\nb.fits,NO,cc,\n",
        b"\xef\xbb\xbfpath;target;label\na.fits;1;1\na.fits;2;0\n",
        b'name\tlabel\n"a""b.fits"\ttrue\n',
        b"file,target\nspectrum.fits,\nspectrum.fits,1\n",
        b"# a list\nspectrum.fits\nb.fits\n",
    ]


def task_files() -> list[bytes]:
    return [path.read_bytes().replace(b'key = "', b'key = "my_') for path in sorted(FOLDER.glob("*.toml"))]


def server_files() -> list[bytes]:
    one = '[[server]]\nkey = "mine"\nurl = "http://127.0.0.1:8000/v1"\nmodel = "m"\n'
    one += "temperature = 0.5\nmax_tokens = 500\n"
    return [
        one.encode(),
        (one + one.replace("mine", "other") + 'dialect = "native"\napi_key_env = "KEY"\n').encode(),
    ]


def settings_files() -> list[bytes]:
    configs = sorted((Path(__file__).resolve().parents[3] / "training" / "configs").glob("sft*.yaml"))
    return [path.read_bytes() for path in configs]


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
            for number, source in enumerate(sources_from([f"@{path}"], folder)):
                if number < MOST_SPECTRA and source.path.is_relative_to(folder):
                    source.key.encode("utf-8", "surrogateescape")

    return attempt


def _task_file(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        path = folder / "mine.toml"
        path.write_bytes(data)
        with refused_by(TaskError, where=folder):
            task = read_task(path)
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
    def attempt(data: bytes) -> None:
        path = folder / "run.yaml"
        path.write_bytes(data)
        with refused_by(SettingsError, where=folder):
            read_settings(path, SftSettings)

    return attempt


SETTINGS = (
    Target("labels", _labels, label_tables, spoiled_text),
    Target("sources", _sources, label_tables, spoiled_text),
    Target("task", _task_file, task_files, spoiled_text),
    Target("servers", _servers, server_files, spoiled_text),
    Target("settings", _settings, settings_files, spoiled_text),
)


def plan_data() -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": "first",
        "mode": "both",
        "scorers": ["AA", "BB"],
        "each": 1,
        "repeats": 0,
        "seed": 3,
    }
    data |= {
        "sources": ["rule", "model"],
        "tasks": ["cv"],
        "number": 4,
        "filter": {"snr_min": 3, "states": ["approved"]},
    }
    return data | {"gold": [{"item": 3, "coherence": 4, "tolerance": 1}]}


def plans() -> list[bytes]:
    made = []
    for less in ((), ("filter",), ("number", "filter", "gold")):
        data = {key: value for key, value in plan_data().items() if key not in less}
        made.append(json.dumps(data).encode())
    return [*made, json.dumps(Plan.from_json(plan_data() | {"number": None}).to_json()).encode()]


def sessions() -> list[bytes]:
    item = {"item": 1, "content_hash": "sha256:ab", "source": "rule", "source_kind": "baseline"}
    data = {
        "format": "spec-o3 blind session 1",
        "plan": plan_data(),
        "items": [item, item | {"item": 3, "content_hash": "x"}],
    }
    return [json.dumps(data).encode()]


def _plan(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        value = json_or_none(data)
        with refused_by(PlanError):
            plan = Plan.from_json(value)
            if Plan.from_json(json.loads(json.dumps(plan.to_json()))) != plan:
                raise DidNotHold("a plan that its own JSON form does not give back")

    return attempt


def _session(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        path = folder / "session.json"
        path.write_bytes(data)
        with refused_by(rerun.SessionFileError, PlanError, where=folder):
            given = rerun.read_session(path)
            wanted = rerun.rerun_plan(given, lambda texts: {text: n for n, text in enumerate(texts, 1)})
            Plan.from_json(wanted | {"scorers": ["AA", "BB"]})

    return attempt


BLIND = (
    Target("plan", _plan, plans, spoiled_json),
    Target("session", _session, sessions, spoiled_json),
)
