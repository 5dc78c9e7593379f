"""Damaged and hostile spectrum files: each is refused in one sentence, in bounded time and memory."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.spectrum import Spectrum, SpectrumError, read, read_all
from agent.spectrum.readers import opened, parquet_child
from tests.support.inputs import spectra
from tests.support.inputs.damage import damaged_bytes, damaged_fits, damaged_gzip, damaged_json, damaged_text, examples
from tests.support.inputs.forms import FITS_FORMS, GRISM, TEXT_FORMS
from tests.support.inputs.refusals import check_sentence, refused_by
from tests.support.inputs.rows import json_or_none, specvi_files
from tests.support.inputs.spectra import FITS, GZIP, JSON, PARQUET, TEXT, XML, N, a_spectrum, linear_image
from tests.support.memory import peaks

WHOLE = FITS | GZIP | TEXT | JSON | XML | PARQUET | FITS_FORMS | TEXT_FORMS
DAMAGED = {
    f"{form}: {name}": row
    for form, table in (
        *(("fits", spectra.DAMAGED_FITS), ("gzip", spectra.DAMAGED_GZIP)),
        *(("text", spectra.DAMAGED_TEXT), ("parquet", spectra.DAMAGED_PARQUET)),
    )
    for name, row in table.items()
}
MOST_SPECTRA = 6
"""Spectra that are read per file; more cost time and show nothing new."""


def refusal(path: Path) -> str:
    with pytest.raises(SpectrumError) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith(f"{path.name}: found ")
    assert "; expected " in message
    check_sentence(message, path.parent)
    with pytest.raises(SpectrumError):
        list(read_all(path))
    return message


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", WHOLE)
def test_an_undamaged_file_is_a_spectrum(tmp_path, name):
    found = list(read_all(written(tmp_path / "x", WHOLE[name])))
    assert found
    assert all(len(spectrum) >= N for spectrum in found)


@pytest.mark.parametrize("name", DAMAGED)
def test_the_message_of_a_damaged_file_says_what_was_found(tmp_path, name):
    content, expected = DAMAGED[name]
    message = refusal(written(tmp_path / "file", content))
    assert any(part in message for part in expected.split("|"))


def test_missing_files_and_directories(tmp_path):
    assert "no file at" in refusal(tmp_path / "none.fits")
    assert "a directory" in refusal(tmp_path)


@pytest.mark.parametrize("table", [spectra.DAMAGED_FITS, spectra.DAMAGED_GZIP])
def test_a_header_that_claims_ten_gigabytes_allocates_nothing(tmp_path, table):
    path = written(tmp_path / "claim.fits", table["an image that claims 10 GB"][0])
    (peak,) = peaks(refusal, path)
    assert peak < 20 * 2**20


def test_a_bench_row_without_its_arrays_is_refused(tmp_path):
    path = written(tmp_path / "a.parquet", spectra.parquet_bytes(extra_info=["x"] * N))
    with pytest.raises(SpectrumError, match="found row 7 without create_kwargs"):
        read(path, "7")


def test_cards_that_cannot_be_parsed_are_ignored(tmp_path):
    raw = linear_image(OBJECT="a star", RA="north", EXPTIME=3)
    raw = raw.replace(b"EXPTIME =                    3", b"EXPTIME = 3 minutes or so     ")
    spectrum = read(written(tmp_path / "x.fits", raw))
    assert spectrum.ra is None
    assert "exptime" not in spectrum.meta


def test_two_sizes_in_a_header_are_refused_by_the_reader_itself(tmp_path):
    path = written(tmp_path / "twice.fits.gz", spectra.DAMAGED_GZIP["two sizes"][0])
    with pytest.raises(SpectrumError, match="in a layout known here") as refused, opened(path) as targets:
        targets.read(None)
    check_sentence(str(refused.value), tmp_path)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory) -> Path:
    importlib.import_module("specutils")  # it takes seconds, which are no file's doing
    return tmp_path_factory.mktemp("damaged")


def check_reading(path: Path) -> None:
    """Check that each spectrum of the file is refused in a sentence, or is valid and has a JSON form."""
    with refused_by(SpectrumError, where=path.parent), opened(path) as targets:
        for target in targets.names[:MOST_SPECTRA]:
            with refused_by(SpectrumError, where=path.parent):
                check_valid(targets.read(target or None))


def check_valid(spectrum: Spectrum) -> None:
    assert np.isfinite(spectrum.flux).all()
    assert (np.diff(spectrum.wavelength) > 0).all()
    assert (spectrum.ivar >= 0).all()
    float(spectrum.snr_typical)
    assert Spectrum.from_json(json.loads(json.dumps(spectrum.to_json(), allow_nan=False))) == spectrum


FITS_FILES = spectra.seeds(FITS, FITS_FORMS, {"grism": GRISM}, spectra.DAMAGED_FITS) + spectra.real_files()
TEXT_FILES = spectra.seeds(TEXT, TEXT_FORMS, JSON, XML, spectra.DAMAGED_TEXT)
DAMAGES = {
    "cards.fits": damaged_fits(FITS_FILES),
    "bytes.fits": damaged_bytes(FITS_FILES),
    "x.fits.gz": damaged_gzip(spectra.seeds(GZIP, spectra.DAMAGED_GZIP), damaged_fits(FITS_FILES)),
    "words.csv": damaged_text(TEXT_FILES),
    "bytes.csv": damaged_bytes(TEXT_FILES),
    "x.json": damaged_json(list(JSON.values())),
}


@pytest.mark.parametrize("name", DAMAGES)
@examples(40)
@given(data=st.data())
def test_any_damaged_file_is_read_or_refused_in_a_sentence(scratch: Path, name: str, data: st.DataObject) -> None:
    check_reading(written(scratch / name, data.draw(DAMAGES[name])))


@examples(6)
@given(damaged_bytes([*spectra.seeds(PARQUET, spectra.DAMAGED_PARQUET), *specvi_files()]))
def test_any_damaged_parquet_file_is_read_or_refused_in_a_sentence(scratch: Path, content: bytes) -> None:
    check_reading(written(scratch / "x.parquet", content))


@given(damaged_json([json.dumps(a_spectrum().to_json()).encode()]))
def test_any_damaged_json_form_is_refused_in_a_sentence(text: bytes) -> None:
    value = json_or_none(text)
    if isinstance(value, dict):
        with refused_by(SpectrumError):
            check_valid(Spectrum.from_json(value))


@pytest.mark.parametrize("field", ["ra", "redshift", "snr", "meta"])
@pytest.mark.parametrize("number", ["-1e999", "-" + "9" * 4_000, "NaN"])
def test_a_number_of_a_spectrum_that_overflows_is_refused_by_its_field(field: str, number: str) -> None:
    value = {"r": json.loads(number)} if field in ("snr", "meta") else json.loads(number)
    data: dict[str, Any] = a_spectrum().to_json() | {field: value}
    if field == "meta" and isinstance(value["r"], int):
        Spectrum.from_json(data)  # a whole number of any length is a JSON scalar
        return
    with pytest.raises(SpectrumError, match=field) as refused:
        Spectrum.from_json(data)
    check_sentence(str(refused.value))


def test_a_parquet_file_that_crashes_its_reader_crashes_only_the_child_process(tmp_path, monkeypatch):
    (tmp_path / "dies.py").write_text("import os\nos.abort()\n")
    monkeypatch.setattr(parquet_child, "__file__", str(tmp_path / "dies.py"))
    with pytest.raises(SpectrumError, match="makes its reader crash"):
        read(written(tmp_path / "x.parquet", spectra.parquet_of_repeats(100)), "0")
