"""``spec-o3 sky import``: records of stored spectra, once; tables that are refused; a kill."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import app
from agent.sky import table as sky_table
from agent.sky.table import write_table
from reviewer.drafting import demo_trust
from reviewer.drafting.demo import demo_sky
from reviewer.store import Store
from tests.reviewer.sky.objects import STAR, failed, gaia, named, source, starry

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    with Store.open(tmp_path / "annotations.db") as store:
        for number in range(4):
            store.spectra.add(starry(number))
    return tmp_path / "annotations.db"


@pytest.fixture
def run(database: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(file: Path, *options: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = app.main(["sky", "import", str(file), "--db", str(database), *options])
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of five spectra with two records each, of which one spectrum is not stored."""
    path = tmp_path / "sky.parquet"
    rows = []
    for number in (0, 1, 2, 3, 7):
        spectrum = starry(number)
        rows += [(spectrum.sha256, gaia(spectrum, source(**STAR))), (spectrum.sha256, failed(spectrum, "simbad"))]
    assert write_table(path, rows) == 10
    return path


def stored(database: Path) -> int:
    with Store.open(database) as store:
        return sum(len(store.sky.of(starry(number).sha256).records) for number in range(8))


def test_records_of_stored_spectra_are_added_once(run: Run, database: Path, table: Path) -> None:
    status, out, _ = run(table)
    assert status == 0
    for line in ("8 records added", "gaia_dr3: 4", "4 of them say that their catalogues failed", starry(7).sha256):
        assert line in out.splitlines()
    assert "left out: 1 spectrum not in the database" in out
    status, out, _ = run(table, "--json")
    assert (status, json.loads(out)) == (
        0,
        {"added": 0, "records": {}, "known": 8, "without_spectrum": [starry(7).sha256]},
    )
    with Store.open(database) as store:
        assert store.sky.of(starry(2).sha256).records["simbad"] == failed(starry(2), "simbad")
        (entry,) = store.log.entries(what="sky records added")
        assert (entry.subject, entry.details["count"]) == ("sky.parquet", 8)
        assert store.upkeep.verify() == []


def damaged_text(rows: list[dict[str, Any]]) -> None:
    rows[7]["record"] = rows[7]["record"].replace('"found"', '"lost"').replace('"failed"', '"lost"')


def another_name(rows: list[dict[str, Any]]) -> None:
    rows[-1]["spectrum"] = "zz-star.fits"


def no_spectrum(rows: list[dict[str, Any]]) -> None:
    rows[0]["spectrum"] = None
    rows.insert(len(rows), rows.pop(0))


def out_of_order(rows: list[dict[str, Any]]) -> None:
    rows.reverse()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (damaged_text, r"sky\.parquet, row 8: status"),
        (another_name, r"sky\.parquet, row 10: spectrum: found 'zz-star\.fits', expected a SHA-256"),
        (no_spectrum, r"(row 10: spectrum: found None|another order)"),
        (out_of_order, "rows in another order"),
    ],
)
def test_a_table_with_a_wrong_row_adds_nothing(run, database, table, change, message) -> None:
    read = pq.read_table(table)
    rows = read.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=read.schema), table)
    status, _, err = run(table)
    assert status == 2
    assert re.search(message, err), err
    assert stored(database) == 0


def test_a_damaged_or_foreign_file_adds_nothing(run: Run, database: Path, table: Path, tmp_path: Path) -> None:
    whole = table.read_bytes()
    pq.write_table(pa.table({"ra": [1.0]}), tmp_path / "other.parquet")
    (tmp_path / "notes.txt").write_text("spectrum,record\n")
    (tmp_path / "cut.parquet").write_bytes(whole[:-100])
    group = pq.ParquetFile(table).metadata.row_group(0)
    names = [group.column(n).path_in_schema for n in range(group.num_columns)]
    column = group.column(names.index("record"))
    start = column.dictionary_page_offset or column.data_page_offset
    spoilt = whole[: start + 30] + bytes(b ^ 255 for b in whole[start + 30 : start + 300]) + whole[start + 300 :]
    (tmp_path / "spoilt.parquet").write_bytes(spoilt)
    for name in ("other.parquet", "notes.txt", "cut.parquet", "spoilt.parquet", "none.parquet"):
        status, _, err = run(tmp_path / name)
        assert (status, stored(database)) == (2, 0), name
        assert name in err
        assert "Traceback" not in err
    assert "rows 1 to 10" in run(tmp_path / "spoilt.parquet")[2]


def test_without_a_database_nothing_is_made(run: Run, database: Path, table: Path) -> None:
    database.unlink()
    assert run(table)[0] == 2
    assert not database.exists()


KILLED = """
import os, signal, sys
from reviewer.store import sky
import app
sky._AT_A_TIME = 2
write = sky.SkyRecords._insert
left = [2]
def insert(self, db, rows, source):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return write(self, db, rows, source)
sky.SkyRecords._insert = insert
app.main(["sky", "import", sys.argv[1], "--db", sys.argv[2]])
"""


def test_a_killed_import_is_continued_by_the_same_command(run: Run, database: Path, table: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, str(table), str(database)], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    with Store.open(database) as store:
        assert store.upkeep.verify() == []
    before = stored(database)
    assert 0 < before < 8
    status, out, _ = run(table, "--json")
    assert (status, json.loads(out)["added"], json.loads(out)["known"]) == (0, 8 - before, before)
    with Store.open(database) as store:
        assert store.upkeep.verify() == []


def test_a_table_of_several_groups_is_checked_to_its_end(run, database, table, monkeypatch) -> None:
    monkeypatch.setattr(sky_table, "ROWS", 3)
    rows = [(starry(n).sha256, named(starry(n), key)) for n in range(4) for key in ("simbad", "vsx")]
    write_table(table, rows)
    assert pq.ParquetFile(table).num_row_groups == 3
    assert json.loads(run(table, "--json")[1])["added"] == 8


def test_the_demo_has_records_of_its_spectra(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_trust, "demo_sky", lambda: islice(demo_sky(), 3))
    with Store.open(database) as store:
        demo_trust.load_demo(store)
        known = [store.sky.of(store.items.get(item).row.spectrum_sha256 or "") for item in (1, 2, 3)]
        assert all(record.simulated for sky in known for record in sky)
        assert any(known)
        assert [entry.subject for entry in store.log.entries(what="sky records added")] == ["demo"]
