"""Records of catalogues in the database: content-addressed, appended, the last one counts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agent.sky.records import Sky
from reviewer.backup.archive import write_archive
from reviewer.backup.restore import restore
from reviewer.store import Damaged, Store
from reviewer.store import sky as store_sky
from tests.reviewer.sky.objects import STAR, failed, gaia, named, source, starry
from tests.support.kept_campaign import contents, unguarded


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db") as store:
        for number in range(3):
            store.spectra.add(starry(number))
        yield store


def rows(store: Store) -> list[tuple[object, ...]]:
    return contents(store.path)["sky_records"]


def test_the_last_record_of_a_catalogue_counts_and_none_is_stored_twice(store: Store) -> None:
    spectrum = starry()
    first, later = failed(spectrum), gaia(spectrum, source(**STAR), queried_at="2026-11-30T01:00:00Z")
    simbad = named(spectrum, otype="CV*")
    done = store.sky.add([(spectrum.sha256, first), (spectrum.sha256, simbad), (spectrum.sha256, first)], "a.parquet")
    assert (dict(done.added), done.known) == ({("gaia_dr3", "failed"): 1, ("simbad", "found"): 1}, 0)
    assert store.sky.of(spectrum.sha256) == Sky.of([first, simbad])
    store.sky.add([(spectrum.sha256, later)])
    assert store.sky.of(spectrum.sha256) == Sky.of([later, simbad])
    before, head = rows(store), store.log.head()
    assert store.sky.add([(spectrum.sha256, record) for record in (first, later, simbad)]).known == 3
    assert (rows(store), store.log.head()) == (before, head)
    assert store.sky.of(spectrum.sha256) == Sky.of([later, simbad]), "an earlier one that comes again is no later one"
    assert not store.sky.of(starry(1).sha256)
    assert {row[3] for row in rows(store)} == {record.sha256 for record in (first, later, simbad)}


def test_records_of_other_spectra_are_left_out_and_named(store: Store) -> None:
    stored, other = starry(1), starry(9)
    done = store.sky.add([(spectrum.sha256, gaia(spectrum)) for spectrum in (other, stored, other)])
    assert (dict(done.added), done.known) == ({("gaia_dr3", "not found"): 1}, 0)
    assert done.without_spectrum == (other.sha256,)
    assert not store.sky.of(other.sha256)


def test_each_transaction_has_an_entry_with_its_counts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_sky, "_AT_A_TIME", 2)
    seen: list[int] = []
    given = [(starry(n).sha256, failed(starry(n), key)) for n in range(3) for key in ("gaia_dr3", "simbad")]
    store.sky.add(given[:5], "sky.parquet", seen.append, pause=0.0)
    assert seen == [2, 4, 5]
    entries = store.log.entries(what="sky records added")
    assert [entry.details["count"] for entry in entries] == [2, 2, 1]
    assert entries[2].subject == "sky.parquet"
    assert entries[2].details["records"] == {"gaia_dr3: failed": 1}
    store.sky.add(given, "sky.parquet", pause=0.0)
    assert [entry.details["count"] for entry in store.log.entries(what="sky records added")] == [2, 2, 1, 1]
    assert store.upkeep.verify() == []


def test_a_record_cannot_be_changed_and_a_change_from_outside_is_found(store: Store) -> None:
    spectrum = starry()
    store.sky.add([(spectrum.sha256, gaia(spectrum, source(**STAR)))])
    for statement in ("UPDATE sky_records SET status = 'failed'", "DELETE FROM sky_records"):
        with closing(sqlite3.connect(store.path)) as db, pytest.raises(sqlite3.IntegrityError, match="are facts"):
            db.execute(statement)
    with unguarded(store.path) as db:
        db.execute("""UPDATE sky_records SET body = replace(body, '"G":15.0', '"G":"x"')""")
    assert any("sky_records 1 was changed" in fault for fault in store.log.check())
    with pytest.raises(Damaged, match="record"):
        store.sky.of(spectrum.sha256)


def test_a_plain_archive_has_the_records(store: Store, tmp_path: Path) -> None:
    spectrum = starry()
    store.sky.add([(spectrum.sha256, gaia(spectrum, source(**STAR))), (spectrum.sha256, named(spectrum))])
    write_archive(store, tmp_path / "plain")
    restore(tmp_path / "plain", tmp_path / "again.db")
    with Store.open(tmp_path / "again.db") as again:
        assert again.sky.of(spectrum.sha256) == store.sky.of(spectrum.sha256)
        assert again.upkeep.verify() == []


def test_the_records_of_a_spectrum_are_one_search_of_an_index(store: Store) -> None:
    with store.database.read() as db:
        plan = [row["detail"] for row in db.execute(f"EXPLAIN QUERY PLAN {store_sky._PRESENT}", ('["a"]',))]
    assert any("USING COVERING INDEX" in step and "(spectrum=?)" in step for step in plan)
    assert not [step for step in plan if step.startswith("SCAN sky_records")], plan
