"""Bulk actions whose process is killed: the file has all of an action or nothing, and one undo brings all back."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

from reviewer.store import Store
from tests.support import bulk_kill
from tests.support.campaign import PROCESSES

ITEMS = 200


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bulk") / "annotations.db"
    bulk_kill.make(path, ITEMS)
    return path


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    shutil.copy(made, tmp_path / "annotations.db")
    return tmp_path / "annotations.db"


def ended(path: Path, kind: str, statement: int | None) -> int | None:
    """Do the action in a process; return its exit code."""
    process = PROCESSES.Process(target=bulk_kill.do, args=(path, kind, statement))
    process.start()
    process.join()
    return process.exitcode


def statements(path: Path, kind: str) -> int:
    """Do the action on a copy; return the number of its SQL statements, those of triggers included."""
    copy = path.with_name("counted.db")
    shutil.copy(path, copy)
    return bulk_kill.do(copy, kind, 0)


@pytest.mark.parametrize(
    ("kind", "moments"), [("reject", (0.0, 0.3, 0.6, 1.0)), ("undo", (0.5, 1.0)), ("assign", (1.0,)), ("batch", (0.5,))]
)
def test_a_killed_action_leaves_nothing_and_a_finished_one_is_taken_back_by_one_undo(path, kind, moments) -> None:
    if kind == "undo":
        bulk_kill.do(path, "reject", None)
    before, written = bulk_kill.contents(path), bulk_kill.facts(path)
    last = statements(path, kind)  # COMMIT
    assert last > ITEMS
    for moment in moments:
        statement = max(2, round(moment * last))
        assert ended(path, kind, statement) == -signal.SIGKILL
        assert bulk_kill.facts(path) == written, f"killed before statement {statement} of {last}"
        assert bulk_kill.contents(path) == before
    assert ended(path, kind, None) == 0
    assert bulk_kill.contents(path) != before
    with Store.open(path) as store:
        assert store.upkeep.verify() == []
        if kind == "undo":
            return
        assert store.bulk.actions()[0].items == ITEMS + (0 if kind == "reject" else bulk_kill.LEFT_OUT)
        store.bulk.undo("CO", store.bulk.actions()[0].id, "undo-undo")
        assert store.upkeep.verify() == []
    assert bulk_kill.contents(path) == before
