"""Catalogues in local files: every form gives the same records; what is no whole file of the catalogue is failed."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy.table import Table

from agent.sky.fetching import Answers, Fetching
from agent.sky.maps import bundled
from agent.sky.matching import Target, moved
from agent.sky.records import SkyRecord
from tests.support.services.fake_tap import catalogue_table

RNG = np.random.default_rng(5)
RA = np.concatenate([RNG.uniform(0, 360, 600), [0.0005, 359.9995, 10.0, 190.0, 100.0]])
DEC = np.concatenate([np.degrees(np.arcsin(RNG.uniform(-1, 1, 600))), [0.0, 0.0, 89.9995, 89.9995, -89.9999]])
PLACES = {
    "RA 0°": (359.9999, 0.0),
    "north pole": (100.0, 89.9999),
    "south pole": (280.0, -89.9999),
    "field": (RA[7], DEC[7]),
}
"""Places with 2, 2, 1 and 1 sources within 10″."""
TARGETS = [Target(f"{n:064x}", ra, dec, (2000.0, 2020.0)) for n, (ra, dec) in enumerate(PLACES.values())]


def gaia_table() -> Table:
    """In the order of declination, as catalogues are partitioned by place."""
    table = catalogue_table(bundled()["gaia_dr3"], RA, DEC)
    return table[np.argsort(table["dec"])]


def to_arrow(table: Table) -> pa.Table:
    return pa.table({name: np.asarray(table[name]) for name in table.colnames})


def write_parquet(table: Table, folder: Path) -> Path:
    pq.write_table(to_arrow(table), folder / "gaia.parquet", row_group_size=100)
    return folder / "gaia.parquet"


def write_hats(table: Table, folder: Path) -> Path:
    """Partitions with ``_metadata`` and ``partition_info.csv``, as hats-import lays them out."""
    catalogue, metadata, lines = folder / "gaia", [], ["Norder,Npix,num_rows"]
    for number, start in enumerate(range(0, len(table), 100)):
        part = catalogue / "dataset" / "Norder=2" / "Dir=0" / f"Npix={number}.parquet"
        part.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(to_arrow(table[start : start + 100]), part, metadata_collector=metadata, row_group_size=40)
        metadata[-1].set_file_path(str(part.relative_to(catalogue / "dataset")))
        lines.append(f"2,{number},{min(100, len(table) - start)}")
    pq.write_metadata(to_arrow(table).schema, catalogue / "dataset" / "_metadata", metadata)
    (catalogue / "partition_info.csv").write_text("\n".join(lines) + "\n")
    return catalogue


def write_csv(table: Table, folder: Path) -> Path:
    table.write(folder / "gaia.csv", format="ascii.csv")
    return folder / "gaia.csv"


def write_by_astropy(name: str, form: str) -> Callable[[Table, Path], Path]:
    def write(table: Table, folder: Path) -> Path:
        table.write(folder / name, format=form)
        return folder / name

    return write


def write_gaia_csv(table: Table, folder: Path) -> Path:
    """As Gaia's archive gives it: comments first, "null" for what is missing, compressed."""
    text = write_csv(table, folder).read_text().replace(",,", ",null,")
    (folder / "gaia.csv.gz").write_bytes(gzip.compress(f"# %ECSV 1.0\n# ---\n{text}".encode()))
    return folder / "gaia.csv.gz"


FORMS = {
    "Parquet": write_parquet,
    "HATS": write_hats,
    "FITS": write_by_astropy("gaia.fits", "fits"),
    "VOTable": write_by_astropy("gaia.vot", "votable"),
    "ECSV": write_by_astropy("gaia.ecsv", "ascii.ecsv"),
    "CSV": write_csv,
    "CSV of Gaia's archive": write_gaia_csv,
}


def records_of(path: Path, key: str = "gaia_dr3", targets: list[Target] = TARGETS) -> list[SkyRecord]:
    out = path.parent / "sky.parquet"
    with Answers(out, refresh=True) as answers:
        for _ in Fetching(bundled(), [key], {key: path}).run(targets, answers):
            pass
    return [latest for target in targets if (latest := answers.latest(target.key, key)) is not None]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_records_at_the_poles_and_across_0h(form: str, tmp_path: Path) -> None:
    records = records_of(FORMS[form](gaia_table(), tmp_path))
    assert [(record.status, len(record.sources)) for record in records] == [("found", n) for n in (2, 2, 1, 1)], records
    assert records[3].sources[0].id == str(10**15 + 7)
    assert records[3].sources[0].values.keys() == bundled()["gaia_dr3"].columns.keys()
    assert all(source.separation < 10 for record in records for source in record.sources)


@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_lacks_a_column_or_is_cut_short_is_failed(form: str, tmp_path: Path) -> None:
    table = gaia_table()
    (tmp_path / "a").mkdir()
    lacking = table.copy()
    lacking.remove_column("ruwe")
    details = [records_of(FORMS[form](lacking, tmp_path / "a"))[0].detail]
    path = FORMS[form](table, tmp_path)
    if path.is_dir():
        next(path.rglob("Npix=3.parquet")).unlink()
    else:
        path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3 + 1])
    records = records_of(path)
    assert "ruwe" in details[0]
    assert {record.status for record in records} == {"failed"}
    assert all(record.detail.startswith("gaia") for record in records)


def test_another_release_another_catalogue_and_a_repeated_source_are_failed(tmp_path: Path) -> None:
    table = gaia_table()
    other = table.copy()
    other["ref_epoch"] = 2017.5
    two_micron = Table(catalogue_table(bundled()["twomass"], RA, DEC))
    repeated = table[np.sort(np.append(np.arange(len(table)), np.flatnonzero(table["source_id"] == 10**15 + 7)))]
    for number, (given, words) in enumerate(
        ((other, "2017.5"), (two_micron, "source_id"), (repeated, "twice"), (Table({"a": [1]}), "source_id"))
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        (record, *_) = records_of(write_parquet(given, folder), targets=TARGETS[3:])
        assert record.status == "failed"
        assert words in record.detail


def test_where_the_file_has_nothing_around_the_catalogue_is_not_asked(tmp_path: Path) -> None:
    table = gaia_table()
    near = [Target("a" * 64, 7.0, 7.0, (2000.0, 2020.0)), Target("b" * 64, 7.1, 7.0, (2000.0, 2020.0))]
    apart = np.hypot(table["ra"] - 7, table["dec"] - 7)
    part = Table(table[(table["dec"] < -20) | (apart < 0)])
    part.add_row(list(part[0]))
    part["ra"][-1], part["dec"][-1], part["source_id"][-1] = 7.5, 7.0, 1
    assert [record.status for record in records_of(write_parquet(part, tmp_path), targets=near)] == [
        "not found",
        "not found",
    ]
    assert [r.status for r in records_of(write_parquet(part[:-1], tmp_path), targets=near)] == ["not asked"] * 2


def test_neighbours_of_a_fast_star_where_it_was_when_the_spectrum_was_taken(tmp_path: Path) -> None:
    """1″/yr; the position is of 1998, the spectrum of 2018, when another star was 2″ away."""
    place = (50.0, 30.0)
    neighbour = moved(*moved(*place, 1000.0, 0.0, 20.0), 0.0, 100.0, 20.0)  # 2″ north
    table = catalogue_table(
        bundled()["gaia_dr3"],
        [moved(*place, 1000.0, 0.0, 18.0)[0], neighbour[0]],
        [moved(*place, 1000.0, 0.0, 18.0)[1], neighbour[1]],
        pm_ra=[1000.0, 0.0],
        pm_dec=[0.0, 0.0],
    )
    target = Target("c" * 64, *place, (1998.0, 2018.0))
    (record,) = records_of(write_parquet(table, tmp_path), targets=[target])
    assert [round(source.separation, 1) for source in record.sources] == [0.0, 20.1]


def test_columns_that_tell_a_class_change_no_byte_of_the_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.sky.fetching.now", lambda: "2026-01-01T00:00:00+00:00")
    for key in ("gaia_dr3", "gaia_dr4", "twomass", "allwise", "sdss_dr16", "ps1_dr1"):
        table, tables = catalogue_table(bundled()[key], RA, DEC), []
        for _ in range(2):
            shutil.rmtree(tmp_path / key, ignore_errors=True)
            (tmp_path / key).mkdir()
            records_of(write_parquet(table, tmp_path / key), key)
            tables.append((tmp_path / key / "sky.parquet").read_bytes())
            for name in bundled()[key].class_bearing:
                table[name] = RNG.permutation(table[name])
        assert tables[0] == tables[1]


def test_light_curves_of_a_file_are_records_as_well(tmp_path: Path) -> None:
    rows = [f"{TARGETS[3].key},{TARGETS[3].ra},{TARGETS[3].dec},{58000 + n},18.{n},0.02,zg" for n in range(5)]
    (tmp_path / "ztf.csv").write_text("id,ra,dec,mjd,mag,magerr,filter\n" + "\n".join(rows) + "\n")
    records = records_of(tmp_path / "ztf.csv", "ztf")
    assert [record.status for record in records] == ["not asked"] * 3 + ["found"]
    assert records[3].sources[0].curve is not None
    assert len(records[3].sources[0].curve.mjd) == 5
