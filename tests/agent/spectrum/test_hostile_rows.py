"""Files that are whole outside and hostile inside: names of pictures, numbers, letters, members of a zip."""

from __future__ import annotations

import base64
import io
import json
import stat
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agent.spectrum import Spectrum, SpectrumError
from agent.spectrum.readers import opened
from agent.trajectory import Trajectory, TrajectoryError
from reviewer.blind import rerun
from reviewer.blind.fields import PlanError
from reviewer.exchange.imports import ImportFileError, import_file
from reviewer.store import NotFound, QueueFilter, Store
from reviewer.ui.imports import laid_out
from tests.soak.doors.blind import sessions
from tests.soak.doors.samples import a_spectrum, own_lines, sharegpt_rows, with_pictures
from tests.soak.trying import check_sentence
from tests.support.hostile_files import zip_of
from tests.support.made_data import specvi_row
from training.data import DataError, questions

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
        assert "wanted " in problem.reason
        assert store.queue(QueueFilter(), "").rows == ()


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
    read = rerun.read(tmp_path / "session.json")
    with pytest.raises(PlanError, match="session: found no item 99") as refused:
        rerun.plan_data(read, lambda texts: {text: n for n, text in enumerate(texts, 1)})
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
        rerun.plan_data(given, store.items_by_content)
    check_sentence(str(refused.value))


def test_a_session_whose_texts_are_not_here_is_refused(tmp_path: Path) -> None:
    (whole,) = sessions()
    with Store.open(tmp_path / "annotations.db") as store, pytest.raises(NotFound) as refused:
        rerun.plan_data(json.loads(whole), store.items_by_content)
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
    "a way out": (zip_of({"../rows.jsonl": b"{}"}), "wanted paths inside the zip"),
    "the root": (zip_of({"/rows.jsonl": b"{}"}), "wanted paths inside the zip"),
    "a way out of Windows": (zip_of({"..\\rows.jsonl": b"{}"}), "wanted paths inside the zip"),
    "a disk of Windows": (zip_of({"C:\\rows.jsonl": b"{}"}), "wanted paths inside the zip"),
    "a device of Windows": (zip_of({"images/NUL": b"x", "rows.jsonl": b"{}"}), "wanted paths inside the zip"),
    "a device with an ending": (zip_of({"con.jsonl": b"{}"}), "wanted paths inside the zip"),
}


@pytest.mark.parametrize("kind", ZIPS)
def test_a_zip_that_names_what_is_not_its_own_is_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, said = ZIPS[kind]
    (tmp_path / "made").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "made"))
    (tmp_path / "dropped.zip").write_bytes(content)
    with pytest.raises(ImportFileError, match=said) as refused, laid_out([tmp_path / "dropped.zip"]):
        pass
    check_sentence(str(refused.value), tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["dropped.zip", "made"]


def test_a_device_in_a_zip_is_unpacked_as_the_file_that_it_is_there(tmp_path: Path) -> None:
    (tmp_path / "dropped.zip").write_bytes(zip_of({"rows.jsonl": b"{}"}, mode=stat.S_IFCHR | 0o666))
    with laid_out([tmp_path / "dropped.zip"]) as (rows,):
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
