"""Damaged and hostile spectrum files: each is refused in one sentence, in bounded time and memory."""

from __future__ import annotations

import base64
import gzip
import io
import json
import random
import re
import stat
import subprocess
import sys
import tempfile
import tracemalloc
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy.io import fits
from astropy.table import Table
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.conversation import Conversation, Piece
from agent.loop import MAX_CHARACTERS, Ended, Text, inspect
from agent.spectrum import SeveralSpectra, Spectrum, SpectrumError, read, read_all
from agent.spectrum.readers import opened
from agent.text import whole_number
from agent.trajectory import Trajectory, TrajectoryError
from agent.trajectory.steps import Think, new_step_id
from agent.trajectory.tags import between, parse
from reviewer.blind import plan
from reviewer.blind.leaks import find_leaks
from reviewer.blind.plan import PlanError
from reviewer.exchange.imports import ImportFileError, import_file
from reviewer.store import Head, NotFound, QueueFilter, Store
from reviewer.ui.imports import unpacked
from reviewer.web.access import declared_length
from reviewer.web.context import Context
from reviewer.web.pictures import Gallery
from reviewer.web.routes import sign_in
from tests.reviewer.web.test_live_runs import SPECTRUM, TASK, WHO
from tests.soak.targets import TARGETS
from tests.soak.targets.rows import sessions
from tests.soak.targets.samples import a_spectrum, own_lines, sharegpt_rows, with_pictures
from tests.soak.trying import DidNotHold, check_sentence, tried
from tests.support import hostile_files, hostile_turns
from tests.support.hostile_files import zip_of
from tests.support.training_data import specvi_row
from training.data import DataError, questions

N = 60
WAVELENGTH = 4000.0 + 2.0 * np.arange(N)
FLUX = 10.0 + np.arange(N) % 5


def fits_bytes(*hdus) -> bytes:
    stream = io.BytesIO()
    fits.HDUList(list(hdus)).writeto(stream)
    return stream.getvalue()


def linear_image(flux=FLUX, **cards) -> bytes:
    hdu = fits.PrimaryHDU(np.asarray(flux, np.float32))
    for key, value in ({"CRVAL1": 4000.0, "CDELT1": 2.0} | cards).items():
        hdu.header[key] = value
    return fits_bytes(hdu)


def lamost_image() -> bytes:
    hdu = fits.PrimaryHDU(np.array([FLUX, FLUX, WAVELENGTH, 0 * FLUX, 0 * FLUX], np.float32))
    hdu.header["TELESCOP"], hdu.header["EXTEN0"] = "LAMOST", "Flux, Inverse, Wavelength, Andmask, Ormask"
    return fits_bytes(hdu)


def sdss_table() -> bytes:
    coadd = {"flux": FLUX, "loglam": np.log10(WAVELENGTH), "ivar": FLUX, "and_mask": np.zeros(N, int)}
    row = {"Z": [0.1], "CLASS": ["STAR"], "PLUG_RA": [1.0], "SN_MEDIAN": [[1.0] * 5]}
    return fits_bytes(fits.PrimaryHDU(), fits.BinTableHDU(Table(coadd)), fits.BinTableHDU(Table(row)))


def desi_coadd() -> bytes:
    hdus = [fits.PrimaryHDU(), fits.BinTableHDU(Table({"TARGETID": [1, 2]}), name="FIBERMAP")]
    for arm, start in (("B", 3600.0), ("R", 3640.0), ("Z", 3680.0)):
        hdus.append(fits.ImageHDU(start + 0.8 * np.arange(60), name=f"{arm}_WAVELENGTH"))
        hdus += [fits.ImageHDU(np.ones((2, 60), np.float32), name=f"{arm}_{what}") for what in ("FLUX", "IVAR")]
    return fits_bytes(*hdus)


def csv_text() -> bytes:
    rows = "\n".join(f"{w:.2f},{f:.3f},1.0" for w, f in zip(WAVELENGTH, FLUX, strict=True))
    return f"# a star\nwavelength,flux,err\n{rows}\n".encode()


def parquet_bytes(**columns) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table({"wavelength": WAVELENGTH, "flux": FLUX} | columns), stream)
    return stream.getvalue()


WHOLE = {
    "image": linear_image(),
    "lamost": lamost_image(),
    "lamost.gz": gzip.compress(lamost_image()),
    "sdss": sdss_table(),
    "desi": desi_coadd(),
    "csv": csv_text(),
    "csv.gz": gzip.compress(csv_text()),
    "parquet": parquet_bytes(),
}


def refusal(path: Path) -> str:
    with pytest.raises(SpectrumError) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith(f"{path.name}: found ")
    assert "; expected " in message
    assert "\n" not in message
    with pytest.raises(SpectrumError):
        list(read_all(path))
    return message


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("kind", WHOLE)
def test_the_undamaged_files_of_these_tests_are_spectra(tmp_path, kind):
    path = written(tmp_path / "x", WHOLE[kind])
    assert all(len(s) >= N for s in read_all(path))


def test_missing_files_directories_and_empty_files(tmp_path):
    assert "no file at" in refusal(tmp_path / "none.fits")
    assert "a directory" in refusal(tmp_path)
    assert "an empty file" in refusal(written(tmp_path / "empty.fits", b""))
    assert "an empty gzip file" in refusal(written(tmp_path / "empty.gz", gzip.compress(b"")))


@pytest.mark.parametrize("kind", ["image", "lamost", "sdss", "desi"])
def test_a_fits_file_that_breaks_off_is_refused(tmp_path, kind):
    whole = WHOLE[kind]
    end_of_data = len(whole) - 2880 + 8
    for length in (100, 2880 + 20, end_of_data // 2):
        message = refusal(written(tmp_path / "cut.fits", whole[:length]))
        assert "complete FITS" in message or "breaks off" in message or "FITS HDUs" in message or "DESI arms" in message


@pytest.mark.parametrize("kind", ["lamost.gz", "csv.gz"])
def test_a_gzip_file_that_breaks_off_or_is_damaged_is_refused(tmp_path, kind):
    whole = WHOLE[kind]
    assert "damaged gzip data" in refusal(written(tmp_path / "cut.gz", whole[: len(whole) * 2 // 3]))
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    assert "damaged gzip data" in refusal(written(tmp_path / "flipped.gz", bytes(flipped)))


def test_a_header_that_claims_ten_gigabytes_allocates_nothing(tmp_path):
    claim = linear_image().replace(b"NAXIS1  =                   60", b"NAXIS1  =           2500000000")
    path = written(tmp_path / "claim.fits", claim)
    packed = written(tmp_path / "claim.fits.gz", gzip.compress(claim))
    tracemalloc.start()
    for bad in (path, packed):
        assert "a header that claims 10000" in refusal(bad)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * 2**20


def test_a_table_that_claims_a_billion_rows_is_refused(tmp_path):
    claim = sdss_table().replace(b"NAXIS2  =                   60", b"NAXIS2  =           1000000000")
    assert "a header that claims" in refusal(written(tmp_path / "claim.fits", claim))


def test_a_gzip_bomb_is_left_unexploded(tmp_path):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    megabyte = bytes(2**20)
    bomb = b"".join([packer.compress(linear_image()[:2880])] + [packer.compress(megabyte) for _ in range(200)])
    path = written(tmp_path / "bomb.fits.gz", bomb + packer.flush())
    assert path.stat().st_size < 2**20
    assert "that unpacks to more than" in refusal(path)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (linear_image(np.ones((50, 60))), "an image of 60 x 50 pixels"),
        (linear_image(np.ones((3, 50, 60))), "an image of 60 x 50 x 3 pixels"),
        (linear_image(CTYPE1="RA---TAN"), "first axis is RA---TAN"),
        (fits_bytes(fits.PrimaryHDU(FLUX)), "without CRVAL1 and CDELT1"),
        (linear_image(CRVAL1=0.0, CDELT1=1.0), "an axis without unit"),
        (linear_image(CRVAL1=9000.0, CDELT1=-200.0), "an axis without unit from -2800"),
        (linear_image(np.full(N, np.nan)), "no pixel with data"),
        (linear_image(np.zeros(N)), "no pixel with data"),
        (linear_image(np.ones(4)), "4 pixels"),
        (linear_image(EIGEN0=14.0, COEFF0=3.5), "a library of basis vectors"),
        (fits_bytes(fits.PrimaryHDU()), "FITS HDUs"),
        (fits_bytes(fits.PrimaryHDU(), fits.BinTableHDU(Table({"RA": [1.0], "Z": [0.1]}))), "columns RA, Z"),
        (b"\x89HDF\r\n\x1a\n" + bytes(100), "an HDF5 container"),
        (b'{"wavelengths": [1, 2], "flux": [1, 2]}', "a JSON container"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "a PNG picture"),
        (b"\x00\x01\x02\x03" * 100, "a binary file"),
        (b"PAR1" + bytes(100), "a damaged Parquet file"),
        (parquet_bytes(flux=["x"] * N), "a column flux that is not numbers"),
        (parquet_bytes(flux=[None] * N), "no pixel with data"),
        (
            fits_bytes(fits.PrimaryHDU(), fits.BinTableHDU(Table({"wave": WAVELENGTH, "flux": ["x"] * N}))),
            "not numbers",
        ),
    ],
)
def test_files_that_hold_no_spectrum_say_what_they_hold(tmp_path, content, found):
    assert found in refusal(written(tmp_path / "file", content))


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("It was a dark night.\nThe seeing was poor.\n", "text from line 2"),
        ("In 1994 we observed 12 stars.\n", "column names without a line of data"),
        ("# only\n# comments\n", "no line of data"),
        ("\n".join(f"{n}" for n in range(4000, 4100)), "one column of numbers"),
        ("\n".join(f"{n} 1.0" for n in range(4000, 4005)), "5 pixels"),
        ("\n".join(f"{w} 1.0" for w in np.linspace(0.35, 0.9, 50)), "an axis without unit from 0.35 to 0.9"),
        ("\n".join(f"{w} 1.0" for w in [*range(4000, 4050), 4020]), "4049 Å followed by 4020 Å"),
        ("\n".join(f"{w} 1.0" for w in [*range(4000, 4050), 4049]), "4049 Å followed by 4049 Å"),
        ("\n".join(f"{w} nan" for w in range(4000, 4050)), "no pixel with data"),
        ("\n".join(f"{w} 0.0" for w in range(4000, 4050)), "no pixel with data"),
        ("ra,dec,mag\n" + "1,2,3\n" * 50, "columns ra, dec, mag"),
        ("wave [parsec],flux\n" + "\n".join(f"{w},1" for w in range(4000, 4050)), "wavelengths in 'parsec'"),
        ("\n".join(["4000 1.0"] * 5 + ["4010 x"] * 5), "text from line 1"),
    ],
)
def test_text_that_is_no_spectrum_says_what_it_is(tmp_path, content, found):
    assert found in refusal(written(tmp_path / "file.txt", content.encode()))


def test_wavelengths_without_a_number_are_refused(tmp_path):
    rows = "".join(f"{w},1\n" for w in [*range(4000, 4050), "nan"])
    assert "NaN or infinity" in refusal(written(tmp_path / "a.csv", ("wave,flux\n" + rows).encode()))


def test_a_bench_row_without_its_arrays_is_refused(tmp_path):
    path = written(tmp_path / "a.parquet", parquet_bytes(extra_info=["x"] * N))
    with pytest.raises(SpectrumError, match="found row 7 without create_kwargs"):
        read(path, "7")


def test_cards_that_cannot_be_parsed_are_ignored(tmp_path):
    raw = linear_image(OBJECT="a star", RA="north", EXPTIME=3)
    raw = raw.replace(b"EXPTIME =                    3", b"EXPTIME = 3 minutes or so     ")
    spectrum = read(written(tmp_path / "x.fits", raw))
    assert spectrum.ra is None
    assert "exptime" not in spectrum.meta


@pytest.fixture(scope="module")
def scratch(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("damaged") / "file"


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(sorted(WHOLE)),
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=12)), max_size=4),
    keep=st.one_of(st.just(1.0), st.floats(0, 1)),
)
def test_no_other_exception_escapes_whatever_the_damage(scratch, kind, changes, keep):
    raw = bytearray(WHOLE[kind])
    for place, new in changes:
        start = int(place * len(raw))
        raw[start : start + len(new)] = new
    scratch.write_bytes(raw[: int(keep * len(raw))])
    try:
        spectra = [read(scratch)]
    except SeveralSpectra:
        spectra = list(_until_damage(scratch))
    except SpectrumError as error:
        _check_foreseen(error)
        return
    for spectrum in spectra:
        assert np.isfinite(spectrum.flux).all()
        assert (np.diff(spectrum.wavelength) > 0).all()
        assert (spectrum.ivar >= 0).all()


def _check_foreseen(error: SpectrumError) -> None:
    assert "did not expect" not in str(error)
    assert "\n" not in str(error)


def _until_damage(path: Path):
    try:
        yield from read_all(path)
    except SpectrumError:
        return


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    keyword=st.sampled_from(
        ["NAXIS", "NAXIS1", "BITPIX", "CRVAL1", "CDELT1", "CRPIX1", "BSCALE", "BZERO", "TFIELDS", "TFORM1"]
    ),
    value=st.one_of(
        st.integers(-(10**18), 10**18),
        st.floats(),
        st.sampled_from(["'1PB(9)'", "T", "'K'", "-1", "0", "''"]),
    ),
    kind=st.sampled_from(["image", "lamost", "sdss", "desi"]),
)
def test_no_value_of_a_structural_card_is_trusted(scratch, keyword, value, kind):
    raw = WHOLE[kind]
    at = raw.find(f"{keyword:<8}=".encode())
    card = f"{keyword:<8}= {value!s:>20}".encode().ljust(80)[:80]
    scratch.write_bytes(raw if at < 0 else raw[:at] + card + raw[at + 80 :])
    try:
        spectra = list(read_all(scratch))
    except SpectrumError as error:
        _check_foreseen(error)
        return
    assert all(np.isfinite(s.flux).all() for s in spectra)


SPOILED = {"parquet": 2, "fits": 15, "fits.gz": 15, "specvi": 8, "import.sharegpt": 15, "zip": 15}
"""How many inputs where trying one takes long; 40 elsewhere."""

NO_REQUESTS = (
    ("POST", "/api/look", {"item": 1, "arguments": {"wavelength_range": [4010.0, "\ud800"], "label": "x"}}),
    ("POST", "/api/look", {"item": 1, "arguments": {"wavelength_range": [4010.0, float("nan")]}}),
    ("POST", "/api/live/bench", {"item": 2**63}),
    ("POST", "/api/item/1/decide", {"version": 10**30, "verb": "keep", "key": "k" * 11, "lease": "LEASE"}),
    ("POST", "/api/item/1/mark", {"version": 1, "\x1b[2J": "vacuum"}),
    ("POST", "/api/item/1/undo", {"key": "k" * 12, "a" * 4000: 1}),
    ("GET", "/api/picture/abc", {"arguments": "no JSON"}),
    ("GET", "/api/picture/abc", {"arguments": "[" * 5000}),
    ("GET", f"/api/item/{10**40}", {}),
)
"""Each was an answer 500, or a refusal that was no sentence."""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    before = tempfile.tempdir
    yield tmp_path
    tempfile.tempdir = before  # the target of zips watches a folder of its own


@pytest.mark.parametrize("name", [name for name in TARGETS if name != "routes"])
def test_what_comes_in_is_answered_or_refused_in_a_sentence(name: str, folder: Path) -> None:
    target, chance = TARGETS[name], random.Random(7)
    attempt = target.make(folder)
    seeds = list(target.seeds())[:12]
    spoiled = [target.mutate(chance.choice(seeds), chance) for _ in range(SPOILED.get(name, 40))]
    for data in (b"", *seeds, *spoiled):
        find = tried(attempt, data)
        assert find is None, find.story


def test_no_request_of_a_person_makes_the_program_fail(folder: Path) -> None:
    target, chance = TARGETS["routes"], random.Random(7)
    attempt = target.make(folder)
    seeds = list(target.seeds())
    known = [json.dumps({"method": m, "path": p, "body": b}).encode() for m, p, b in NO_REQUESTS]
    for data in (*seeds, *known, *(target.mutate(chance.choice(seeds), chance) for _ in range(60))):
        find = tried(attempt, data)
        assert find is None, find.story


@pytest.mark.parametrize("text", ["", "a\nb", "x" * 501, "\x1b[2J", "\u202e", f"{__file__}: no such file"])
def test_the_fuzzer_sees_what_is_no_sentence(text: str) -> None:
    with pytest.raises(DidNotHold):
        check_sentence(text)


NO_NAMES = {
    "a NUL": "images/\0.png",
    "4,000 letters": f"images/{'ß' * 4_000}.png",
    "half a character": "images/\ud800.png",
    "another folder": "../elsewhere.png",
    "the root": "/etc/passwd",
}


@pytest.mark.parametrize("name", NO_NAMES)
@pytest.mark.parametrize("form", ["trajectories.jsonl", "train_sharegpt.json"])
def test_a_picture_that_no_file_can_be_called_is_a_row_refused(form: str, name: str, tmp_path: Path) -> None:
    with_pictures(tmp_path)
    row = (own_lines()[0].splitlines()[0] if form.endswith("l") else sharegpt_rows()[1]).decode()
    assert '"images/1.png"' in row
    spoiled = row.replace('"images/1.png"', json.dumps(NO_NAMES[name]))
    (tmp_path / form).write_text(spoiled + "\n" if form.endswith("l") else f"[{spoiled}]", "utf-8")
    with Store.open(tmp_path / "annotations.db") as store:
        (problem,) = import_file(store, tmp_path / form, tmp_path).problems
        check_sentence(str(problem), tmp_path)
        assert "expected " in problem.reason
        assert store.queue.page(QueueFilter(), "").rows == ()


@pytest.mark.parametrize("field", ["ra", "dec", "redshift", "snr", "meta"])
@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 400, "-" + "9" * 4_000, "NaN"])
def test_a_number_of_a_spectrum_that_overflows_is_refused_by_its_field(field: str, number: str) -> None:
    value = {"r": json.loads(number)} if field in ("snr", "meta") else json.loads(number)
    given: dict[str, Any] = a_spectrum().to_json() | {field: value}
    if field == "meta" and isinstance(value["r"], int):
        Spectrum.from_json(given)  # a whole number of any length is a JSON scalar
        return
    with pytest.raises(SpectrumError, match=field) as refused:
        Spectrum.from_json(given)
    check_sentence(str(refused.value))


def test_a_session_whose_gold_item_is_none_of_its_items_is_refused(tmp_path: Path) -> None:
    (whole,) = sessions()
    given = json.loads(whole)
    given["plan"]["gold"] = [{"item": 99, "coherence": 4, "tolerance": 1}]
    (tmp_path / "session.json").write_text(json.dumps(given), "utf-8")
    read = plan.read_session(tmp_path / "session.json")
    with pytest.raises(PlanError, match="session: found no item 99") as refused:
        plan.rerun_plan(read, lambda texts: {text: n for n, text in enumerate(texts, 1)})
    check_sentence(str(refused.value))


@pytest.mark.parametrize("text", [None, [], {}, 3, True])
def test_a_session_with_something_else_for_a_text_is_refused(text: object, tmp_path: Path) -> None:
    (whole,) = sessions()
    given = json.loads(whole)
    given["items"][1]["content_hash"] = text
    with (
        Store.open(tmp_path / "annotations.db") as store,
        pytest.raises(PlanError, match="session: found the content_hash") as refused,
    ):
        plan.rerun_plan(given, store.blind.results.items_by_content)
    check_sentence(str(refused.value))


def test_a_session_whose_texts_are_not_here_is_refused(tmp_path: Path) -> None:
    (whole,) = sessions()
    with Store.open(tmp_path / "annotations.db") as store, pytest.raises(NotFound) as refused:
        plan.rerun_plan(json.loads(whole), store.blind.results.items_by_content)
    check_sentence(str(refused.value))


def no_utf8(values: list[str]) -> pa.Array:
    """A column of text whose first letter of each is a byte that UTF-8 never has."""
    column = pa.array([b"\xff" + value.encode() for value in values], pa.binary())
    return pa.Array.from_buffers(pa.string(), len(column), column.buffers())


@pytest.mark.parametrize("place", ["data_source", "name"])
def test_letters_of_a_benchmark_that_are_no_utf8_are_refused(place: str, tmp_path: Path) -> None:
    table = pa.Table.from_pylist([specvi_row(n) for n in range(2)])
    where = table.schema.get_field_index("data_source" if place == "data_source" else "extra_info")
    column: pa.Array = table.column(where).combine_chunks()
    if place == "data_source":
        spoiled = no_utf8(column.to_pylist())
    else:
        names = [field.name for field in column.type]
        parts = [no_utf8(column.field(n).to_pylist()) if n == "name" else column.field(n) for n in names]
        spoiled = pa.StructArray.from_arrays(parts, names)
    path = tmp_path / "test_cv.parquet"
    pq.write_table(table.set_column(where, table.column_names[where], spoiled), path)
    with pytest.raises(DataError) as refused:
        questions([path])
    check_sentence(str(refused.value), tmp_path)


def twice(name: str, again_as: str) -> bytes:
    made = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w") as packed:
        warnings.simplefilter("ignore")  # that they are two of one name is what this is about
        packed.writestr(name, b"{}")
        packed.writestr(again_as, b"[]")
    return made.getvalue()


ZIPS = {
    "a link": (zip_of({"rows.jsonl": b"/etc/passwd"}, mode=stat.S_IFLNK | 0o777), "found the link"),
    "a folder that is a link": (zip_of({"images": b"/etc"}, mode=stat.S_IFLNK | 0o777), "found the link"),
    "one name twice": (twice("rows.jsonl", "rows.jsonl"), "found a file whose name cannot be one here"),
    "a file that is a folder": (twice("rows.jsonl", "rows.jsonl/x"), "found a file whose name cannot be"),
    "the same by way of itself": (twice("rows.jsonl", "./rows.jsonl"), "found a file whose name cannot be"),
    "a long name": (zip_of({f"{'x' * 300}.jsonl": b"{}"}), "found a file whose name cannot be one here"),
    "a way out": (zip_of({"../rows.jsonl": b"{}"}), "expected paths inside the zip"),
    "the root": (zip_of({"/rows.jsonl": b"{}"}), "expected paths inside the zip"),
    "a way out of Windows": (zip_of({"..\\rows.jsonl": b"{}"}), "expected paths inside the zip"),
    "a disk of Windows": (zip_of({"C:\\rows.jsonl": b"{}"}), "expected paths inside the zip"),
    "a device of Windows": (zip_of({"images/NUL": b"x", "rows.jsonl": b"{}"}), "expected paths inside the zip"),
    "a device with an ending": (zip_of({"con.jsonl": b"{}"}), "expected paths inside the zip"),
}


@pytest.mark.parametrize("kind", ZIPS)
def test_a_zip_that_names_what_is_not_its_own_is_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, said = ZIPS[kind]
    (tmp_path / "made").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "made"))
    (tmp_path / "dropped.zip").write_bytes(content)
    with pytest.raises(ImportFileError, match=said) as refused, unpacked([tmp_path / "dropped.zip"]):
        pass
    check_sentence(str(refused.value), tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["dropped.zip", "made"]


def test_a_device_in_a_zip_is_unpacked_as_the_file_that_it_is_there(tmp_path: Path) -> None:
    (tmp_path / "dropped.zip").write_bytes(zip_of({"rows.jsonl": b"{}"}, mode=stat.S_IFCHR | 0o666))
    with unpacked([tmp_path / "dropped.zip"]) as (rows,):
        assert stat.S_ISREG(rows.lstat().st_mode)
        assert rows.read_bytes() == b"{}"


def test_a_trajectory_whose_redshift_no_spectrum_can_have_is_refused_by_its_field() -> None:
    given = json.loads(own_lines()[0].splitlines()[0]) | {"redshift": -1}
    with pytest.raises(TrajectoryError, match="redshift: found -1") as refused:
        Trajectory.from_json(given)
    check_sentence(str(refused.value))


TWICE = """
H4sIAAAAAAAEA+2ZsW/TUBDGO8B/0eENiCCE1NRJiTNUOGlNaylxrMSFIDHgKKaNlDip60qNxMDAwFBFHRhAYmBgYEAyAwMDAwNS
GBgYGBjYyj8ACMHI87uUKNyLS2lVtdHdkES/nL/v/NmRrEvFKFoFnbF5xrKKkkpllGTqsjqXzmTm1GSGHbjyhm0ZVaGHj1XZDHN8
3+myuhM4LOh2XNw0Ssxc1ahwxOfDleR63mar5vqsfXtPudFyvY1G29vA/ZzoVVs3F8fo2dJDYqEQi+2gLykBSoASoAQoAUqAEqAE
JimBCj0/Dy8nPT8Ps6BPlAAlQAlQApQAJUAJUALSBKJ1bMUomfMskTdMO5cv6AnemOUV9c+wWsNz/C4LnFrTZe5WAMtdqVYEj3X/
rBx8/yz22bPy/bOS5npN11sN1qJ9dn1vk814/7gSeopcLx3tx2V6vH9cWQulFZM/x//Dvn3Vb292WMfxnZYbuL58374Upzc7kp/Q
k6sMp429vjE5DRVGP9n2DUsX1yNxPXdNL+jmkr0c3YH/WfbVUrkIevxfBlGHUGNs4c98koFSErYPEvOJ+yVxJPOJ/Pgc/Perl8uH
P18xH+gdyXz0/8w+NwR9TQlQApQAJXAqE9BCbSoq7Zx4m7rytT+93p/2tXAR+PkB/95Td3vqFy1cBn5hwH+siNLCAvCLA/4zklnv
a6EF/NKA/+Iqu72sFtrAkW8VOPK9CRz53gKOfOvAke8acOTbBI58O8CRbwAc+W4BR753gCPfu8CR7z3gyPc+cOS7DRz57gBHvg+A
I9+HwJHvY+DI9wlw5PsUOPJ9Bhz5PgeOfF8AR74vgSPfV8CR72vgyPcNcOT7FjjyfQcc+b4Hjnw/AEe+H4Ej308RZxry/Qz9f/kK
SC8nLoEzJ24iGogSoAQmL4FvxbOPJu+sTscZ/QZE89EX/iwAAA==
"""
"""A gzip file as the fuzzer found it: a table whose header has BITPIX twice."""


def test_a_fits_file_that_says_its_size_twice_is_not_given_to_another_library(tmp_path: Path) -> None:
    """astropy takes the other of the two, and looks for the next header in the data, for minutes."""
    path = tmp_path / "twice.fits.gz"
    path.write_bytes(base64.b64decode(TWICE))
    with pytest.raises(SpectrumError, match="in a layout known here") as refused, opened(path) as targets:
        targets.read(None)
    check_sentence(str(refused.value), tmp_path)


def test_no_text_of_a_model_takes_its_readers_for_ever() -> None:
    # The system ends the process when its seconds of processor time are used up.
    command = [sys.executable, hostile_turns.__file__]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout) == (0, "read\n"), done.stderr[-2000:]


PIECES = st.lists(st.sampled_from(["<answer>", "</answer>", "\\boxed{", "}", " ", "YES", "\n"]), max_size=12)


@given(PIECES)
def test_what_stands_between_is_what_a_pattern_finds(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert list(between(text, "<answer>", "</answer>")) == re.findall("<answer>(.*?)</answer>", text, re.DOTALL)
    assert list(between(text, "\\boxed{", "}")) == re.findall(r"\\boxed\{([^}]*)\}", text)


@pytest.mark.parametrize(
    ("box", "verdict"),
    [
        ("\\boxed{YES}", "YES"),
        ("\\boxed {  NO \n}", "NO"),
        ("\\boxed{ \\text { YES } }", "YES"),
        ("\\boxed{\\text{NO}}", "NO"),
        ("\\boxed{ }", None),
        ("\\boxed{\\text{YES} or so}", "YES"),  # no box, and one of the two words
        ("\\boxed{maybe}", None),
    ],
)
def test_a_box_is_read_with_white_space_anywhere(box: str, verdict: str | None) -> None:
    answer = parse(f"<think>a</think><answer>{box} broad</answer>").answer
    assert answer is not None
    assert answer.verdict == verdict


@pytest.mark.parametrize("opening", ['{"a":', "["])
def test_a_call_of_any_depth_is_one_that_cannot_be_read(opening: str) -> None:
    for depth in (30, 450, 900, 5000):
        closing = {"[": "]"}.get(opening, "}")
        inside = opening * depth + "1" + closing * depth
        turn = parse(f'<tool_call>{{"name": "x", "arguments": {{"a": {inside}}}}}</tool_call>')
        assert turn.call is None
        assert turn.faults[0].startswith("a tool call that cannot be read")


def test_one_piece_longer_than_a_turn_is_cut() -> None:
    class Floods:
        drafter = WHO

        def turn(self, conversation: Conversation) -> Iterator[Piece]:
            yield "<think>"
            yield "a" * 3 * MAX_CHARACTERS

    happened = list(inspect(SPECTRUM, TASK, Floods()))
    last = happened[-1]
    assert isinstance(last, Ended)
    assert f"turn 1: cut after {MAX_CHARACTERS} characters" in last.trajectory.faults
    assert sum(len(one.text) for one in happened if isinstance(one, Text)) == MAX_CHARACTERS + 1
    assert len(last.trajectory.steps[0].text) <= MAX_CHARACTERS  # type: ignore[union-attr]


def test_giveaways_of_which_there_are_thousands_are_all_found() -> None:
    found = find_leaks("x.fits gpt-4 " * 3000)
    assert [one.words for one in found[:2]] == ["x.fits", "gpt-4"]
    assert len(found) == 6000


@pytest.mark.parametrize("text", ["", "²", "٣", "-1", "+1", "1_0", "1 1", "1.0", "9" * 19, "9" * 5000])
def test_what_is_no_number_is_none_and_raises_nothing(text: str, tmp_path: Path) -> None:
    assert whole_number(text) is None
    assert declared_length({"content-length": text}) is None
    with pytest.raises(ValueError, match="NUMBER:HASH"):
        Head.parse(f"{text}:{'a' * 64}")
    assert new_step_id((Think(f"s{text}", "a"), Think("s3", "b"))) == "s4"
    with Store.open(tmp_path / "annotations.db") as store:
        assert store.queue.page(QueueFilter(text=f"#{text}"), "").rows == ()


def test_a_step_gets_an_id_that_no_step_has() -> None:
    last = "9" * 18
    assert new_step_id((Think(f"s{last}", "a"), Think(f"s{int(last) + 1}", "b"))) == f"s{int(last) + 2}"


@pytest.mark.parametrize("length", ["²", "9" * 5000, "x", ""])
def test_a_form_whose_length_is_no_number_is_refused(length: str, tmp_path: Path) -> None:
    app = FastAPI()
    with Store.open(tmp_path / "annotations.db") as store:
        app.state.context = Context(store=store, gallery=Gallery(store), tasks={}, local=True)
        app.include_router(sign_in.router)
        browser = TestClient(app, base_url="http://127.0.0.1:7860")
        headers = {b"content-length": length.encode("latin-1"), b"origin": b"http://127.0.0.1:7860"}
        answer = browser.post("/sign-in", content=b"initials=AB", headers=headers)  # type: ignore[arg-type]
    assert answer.status_code == 411


measured = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc to limit the memory by")
BOMBS = {
    "gzip.fits.gz": "unpacks to more than",
    "gzip in gzip.gz": "found",
    "repeats.parquet": "a damaged Parquet file",
    "words.parquet": "a damaged Parquet file",
    "terabytes.fits": "B_MASK of shape (2147483647, 2147483647)",
    "pcount.fits": "a header that claims",
    "deep.json": "found no JSON",
    "deep.jsonl": "found no JSON",
    "digits.json": "found no JSON",
    "infinite.jsonl": "expected",
    "too long.jsonl": "expected",
    "flat.zip": "files of 0.3 GB in all",
    "zip in zip.zip": "found 0 files of rows",
    "bzip2.zip": "by another method than deflate",
    "huge.png": "found no picture",
    "wide.png": "found no picture",
    "square.png": "found no picture",
    "deep.toml": "broken TOML",
    "digits.toml": "broken TOML",
    "laughs.yaml": "found the alias *a",
    "tag.yaml": "found broken YAML",
    "deep.yaml": "found broken YAML",
    "digits.yaml": "found broken YAML",
    "date.yaml": "found broken YAML",
}


@pytest.fixture(scope="module")
def knocked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("bombs")
    assert set(hostile_files.made(folder)) == set(BOMBS)
    command = [sys.executable, hostile_files.__file__, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", BOMBS)
@measured
def test_a_bomb_is_refused_in_a_sentence(knocked: dict[str, Any], name: str) -> None:
    said = knocked[name]["said"]
    assert BOMBS[name] in said[0]
    for sentence in said:
        assert not sentence.startswith("answered") or name.endswith((".jsonl", ".zip"))
        assert len(sentence) <= 500
        assert "\n" not in sentence


@measured
def test_rubbish_after_the_last_hdu_is_given_to_nobody_else_to_read(tmp_path: Path) -> None:
    from astropy.io import fits

    fits.PrimaryHDU().writeto(tmp_path / "x.fits")
    rubbish = b"ZCMPTYPE=              garbage".ljust(2880)
    (tmp_path / "x.fits").write_bytes((tmp_path / "x.fits").read_bytes() + 2 * rubbish)
    with pytest.raises(SpectrumError, match="a layout known here"):
        read(tmp_path / "x.fits")


@measured
def test_a_zip_that_lies_about_its_sizes_is_broken(tmp_path: Path) -> None:
    whole = hostile_files.zip_of({"rows.jsonl": b"0" * 5_000_000})
    told = (5_000_000).to_bytes(4, "little")
    assert whole.count(told) == 2
    path = tmp_path / "lies.zip"
    path.write_bytes(whole.replace(told, (5_000).to_bytes(4, "little")))
    with pytest.raises(ImportFileError, match="found a broken zip"), unpacked([path]):
        pass


@measured
def test_a_parquet_file_that_ends_its_reader_ends_no_more_than_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agent.spectrum.readers import parquet_child

    (tmp_path / "x.parquet").write_bytes(hostile_files.parquet_of_repeats(100))
    (tmp_path / "dies.py").write_text("import os\nos.abort()\n")
    monkeypatch.setattr(parquet_child, "__file__", str(tmp_path / "dies.py"))
    with pytest.raises(SpectrumError, match="makes its reader crash"):
        read(tmp_path / "x.parquet", "0")
