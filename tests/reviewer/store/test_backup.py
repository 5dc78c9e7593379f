"""Backups: complete, taken while others write, and never half a file."""

import threading

import pytest

from reviewer.store import CannotWrite, Store, StoreError
from tests.support.campaign import TO_AUDIT, Desk, an_item, people


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        yield store


def test_a_backup_opens_as_the_same_database(store, tmp_path):
    item_id = an_item(store)
    Desk(store).until(item_id, *TO_AUDIT)
    store.backup(tmp_path / "copy.db")
    assert not (tmp_path / "copy.db-wal").exists()
    with Store.open(tmp_path / "copy.db") as copy:
        assert copy.item(item_id) == store.item(item_id)
        assert copy.history(item_id) == store.history(item_id)
        assert copy.verify() == []
        Desk(copy).decide("AU", item_id, "pass")
    assert store.standing(item_id).progress == "audit 0 of 2"


def test_a_backup_during_writes_holds_one_moment(store, tmp_path):
    desk, going, written = Desk(store), threading.Event(), []

    def write() -> None:
        number = 0
        while not going.is_set():
            written.append(an_item(store, number))
            desk.until(written[-1], *TO_AUDIT)
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(5):
            before = len(written)
            store.backup(tmp_path / f"{number}.db")
            with Store.open(tmp_path / f"{number}.db") as copy:
                assert copy.verify() == []
                assert sum(copy.counts().by_task.get("cv", {}).values()) >= before
    finally:
        going.set()
        writer.join()
    assert store.verify() == []


def test_a_backup_never_replaces_a_file(store, tmp_path):
    (tmp_path / "thesis.tex").write_text("all of it")
    with pytest.raises(StoreError, match=r"thesis\.tex: found a file, wanted a name that is not taken"):
        store.backup(tmp_path / "thesis.tex")
    assert (tmp_path / "thesis.tex").read_text() == "all of it"


def test_a_backup_that_fails_leaves_no_file_behind(store, tmp_path):
    with pytest.raises(CannotWrite, match="No copy was made"):
        store.backup(tmp_path / "nowhere" / "copy.db")
    assert not list(tmp_path.glob("**/*.part"))


def test_closing_twice_is_closing_once(store):
    store.close()
    store.close()
