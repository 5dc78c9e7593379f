"""Tables of rows in files: what other threads read during a change, a full disk, and work that is not needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from reviewer.rules.workflow import Rules
from reviewer.similar import files
from reviewer.similar.background import Similar
from reviewer.similar.files import ROWS, Table
from reviewer.similar.index import Index
from reviewer.similar.shapes import principal_directions
from reviewer.store import Store
from tests.support.campaign import a_trajectory, people

TYPE = np.dtype([("key", "i8"), ("value", "f4")])


def rows(first: int, number: int, value: float) -> np.ndarray:
    made = np.zeros(number, dtype=TYPE)
    made["key"], made["value"] = np.arange(first, first + number), value
    return made


def values(table: Table, *keys: int) -> list[float]:
    found: list[float] = table.rows(np.array(keys))["value"].tolist()
    return found


@pytest.mark.parametrize("change", ["more rows", "compacted"])
def test_other_threads_read_every_row_while_files_are_written(tmp_path, monkeypatch, change) -> None:
    table = Table(tmp_path, "numbers", TYPE)
    table.add(rows(0, ROWS + 100, 1.0))
    table.flush()
    seen: list[list[float]] = []
    real = files.write_atomically

    def write(path: Path, data: bytes) -> None:
        seen.append(values(table, 5, ROWS + 50))
        real(path, data)

    monkeypatch.setattr(files, "write_atomically", write)
    if change == "more rows":
        table.add(rows(ROWS + 100, 10, 2.0))
        table.flush()
        assert values(table, ROWS + 105) == [2.0]
    else:
        table.compact(np.array([5, ROWS + 50]))
        assert len(table) == 2
    assert seen == [[1.0, 1.0]] * len(seen) != []
    again = Table(tmp_path, "numbers", TYPE)
    again.load(writing=True)
    assert values(again, 5, ROWS + 50) == [1.0, 1.0]
    assert len(again) == len(table)


def test_on_a_full_disk_the_rows_stay_and_no_part_of_a_file_is_left(tmp_path, monkeypatch) -> None:
    table = Table(tmp_path, "numbers", TYPE)
    table.add(rows(0, 100, 1.0))
    table.flush()
    before = sorted(path.name for path in tmp_path.iterdir())

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", full)
    table.add(rows(100, 100, 2.0))
    with pytest.raises(OSError, match="No space"):
        table.flush()
    assert values(table, 5, 105) == [1.0, 0.0]
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    monkeypatch.undo()
    table.load(writing=True)
    table.add(rows(100, 100, 2.0))
    table.flush()
    assert values(table, 5, 105) == [1.0, 2.0]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        store.settings.set_rules(None, Rules())
        store.items.add(a_trajectory())
        yield store


def test_what_a_killed_process_left_is_removed(store: Store) -> None:
    index = Index(store, store.path.with_name("annotations.db.similar"))
    index.folder.mkdir()
    left = index.folder / f"model.npz.{os.getpid() + 1}.part"
    left.write_bytes(b"half")
    index.load(writing=False)
    assert left.exists()
    index.load(writing=True)
    assert not left.exists()


def test_an_unchanged_database_is_not_read_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    filled: list[int] = []
    real: Callable[..., None] = Index.fill
    monkeypatch.setattr(Index, "fill", lambda self, *given: (filled.append(1), real(self, *given)))
    similar = Similar(store)

    def searched() -> int:
        similar._finished = -np.inf
        similar._refresh()
        similar.wait(60)
        return len(filled)

    assert searched() == 1
    assert searched() == 1
    store.items.add(a_trajectory(think="Hβ is narrow."))
    assert searched() == 2
    assert similar.index.corpus.items.size == 2
    assert searched() == 2
    # The folder may be deleted at any time.
    for path in similar.index.folder.iterdir():
        path.unlink()
    assert searched() == 3
    similar.refresh()
    assert searched() == 4
    similar.close()


def test_principal_directions_are_those_of_the_singular_value_decomposition() -> None:
    rng = np.random.default_rng(1)
    matrix = (rng.normal(size=(300, 40)) * 0.8 ** np.arange(40) @ rng.normal(size=(40, 500))).astype(np.float32)
    exact = np.linalg.svd(matrix, full_matrices=False)[2][:12]
    for given in (matrix, sparse.csr_matrix(matrix)):
        found = principal_directions(given, 12, 1)
        assert found.shape == (12, 500)
        assert found.dtype == np.float32
        np.testing.assert_allclose(np.abs((found * exact).sum(axis=1)), 1.0, atol=1e-3)
    few = principal_directions(matrix[:5], 4, 1)
    np.testing.assert_allclose(few @ few.T, np.eye(4), atol=1e-5)
