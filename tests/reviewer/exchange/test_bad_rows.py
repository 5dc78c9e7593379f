"""Damaged rows, zips, pictures and blind plans: each is taken, or refused in a sentence and leaves nothing behind."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer.blind.plan import Plan, PlanError
from reviewer.blind.session_file import SessionFileError, read_session, rerun_plan
from reviewer.exchange import imports
from reviewer.exchange.imports import ImportFileError, import_file
from reviewer.exchange.pictures import PictureError, PictureFiles
from reviewer.exchange.uploads import unpacked
from reviewer.store import QueueFilter, Store
from tests.support.inputs.damage import damaged_bytes, damaged_json, damaged_zip, examples
from tests.support.inputs.refusals import check_sentence, refused_by
from tests.support.inputs.rows import (
    NOT_NAMES,
    TASKS,
    json_or_none,
    own_lines,
    pictures,
    plans,
    sessions,
    sharegpt_rows,
    with_picture_names,
    with_pictures,
    zips,
)

ROWS = {
    "trajectories.jsonl": own_lines(),
    "train_sharegpt.json": sharegpt_rows(),
}
DAMAGED_ROWS = {
    name: damaged_json([*rows, *(with_picture_names(name, other) for other in NOT_NAMES.values())])
    for name, rows in ROWS.items()
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an empty database, and an inbox with the pictures that the rows name."""
    folder = tmp_path_factory.mktemp("rows")
    Store.open(folder / "empty.db").close()
    with_pictures(folder / "inbox")
    return folder


@pytest.fixture(autouse=True)
def tasks_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not read the task files for each import: that would take most of the time."""
    monkeypatch.setattr(imports, "known_tasks", lambda path: (TASKS, ()))


def rows_of(path: Path) -> list[tuple[object, ...]]:
    """Return every row of every table but that of the imports themselves, which also records a refused one."""
    query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('imports', 'sqlite_sequence')"
    with closing(sqlite3.connect(path)) as db:
        names = [name for (name,) in db.execute(query)]
        return [(name, *row) for name in names for row in db.execute(f'SELECT * FROM "{name}"')]


@contextmanager
def empty_store(folder: Path) -> Iterator[Store]:
    """An empty database; at the end, each item in it has to be readable, and without an item nothing is in it."""
    shutil.rmtree(folder / "store", ignore_errors=True)
    (folder / "store").mkdir()
    path = Path(shutil.copyfile(folder / "empty.db", folder / "store" / "annotations.db"))
    with Store.open(path) as store:
        before = rows_of(path)
        yield store
        items = store.queue.page(QueueFilter(), "", limit=20).rows
        for item in items:
            json.dumps(store.items.get(item.item_id).version.trajectory.to_json(), allow_nan=False).encode()
        assert items or rows_of(path) == before


def check_import(store: Store, rows: Path, where: Path, skip_bad: bool = False) -> None:
    with refused_by(ImportFileError, where=where):
        done = import_file(store, rows, rows.parent, "damaged", skip_bad=skip_bad)
        for problem in done.problems:
            check_sentence(str(problem), where)


@pytest.mark.parametrize("name", ROWS)
@examples(20)
@given(data=st.data(), skip_bad=st.booleans())
def test_any_damaged_rows_are_imported_or_refused(folder: Path, name: str, data: st.DataObject, skip_bad: bool) -> None:
    (folder / "inbox" / name).write_bytes(data.draw(DAMAGED_ROWS[name]))
    with empty_store(folder) as store:
        check_import(store, folder / "inbox" / name, folder / "inbox", skip_bad)


@examples(20)
@given(content=damaged_zip(zips()))
def test_any_damaged_zip_is_imported_or_refused_and_writes_nothing_outside_its_folder(
    folder: Path, content: bytes
) -> None:
    unpacking = folder / "unpacking"
    unpacking.mkdir(exist_ok=True)
    (folder / "dropped.zip").write_bytes(content)
    with pytest.MonkeyPatch.context() as patched, empty_store(folder) as store:
        patched.setattr("tempfile.tempdir", str(unpacking))
        before = outside(folder, unpacking)
        with refused_by(ImportFileError, where=unpacking), unpacked([folder / "dropped.zip"]) as files:
            assert outside(folder, unpacking) == before
            for rows in files:
                check_import(store, rows, unpacking)
        assert list(unpacking.iterdir()) == []


def outside(folder: Path, unpacking: Path) -> set[tuple[str, int]]:
    """Return names and sizes of the files outside the folder for zips, without those of the database."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    own = (unpacking, folder / "store")
    return {(str(path), path.stat().st_size) for path in files if not any(map(path.is_relative_to, own))}


@given(content=damaged_bytes(pictures()))
def test_any_damaged_picture_is_read_or_refused(folder: Path, content: bytes) -> None:
    (folder / "p.png").write_bytes(content)
    with refused_by(PictureError, where=folder):
        files = PictureFiles(folder)
        files.sha256("p.png")
        files.png("p.png")


@given(damaged_json(plans()))
def test_any_damaged_blind_plan_is_read_or_refused(text: bytes) -> None:
    with refused_by(PlanError):
        plan = Plan.from_json(json_or_none(text))
        assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


@given(content=damaged_json(sessions()))
def test_any_damaged_file_of_a_blind_session_is_read_or_refused(folder: Path, content: bytes) -> None:
    (folder / "session.json").write_bytes(content)
    with refused_by(SessionFileError, PlanError, where=folder):
        session = read_session(folder / "session.json")
        plan = rerun_plan(session, lambda texts: {text: number for number, text in enumerate(texts, 1)})
        Plan.from_json(plan | {"scorers": ["AA", "BB"]})
