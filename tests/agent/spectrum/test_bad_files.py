"""Damaged and hostile spectrum files: each is refused in one sentence, in bounded time and memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.spectrum import SeveralSpectra, Spectrum, SpectrumError, read, read_all
from agent.spectrum.readers import opened, parquet_child
from tests.soak.trying import check_sentence
from tests.support.inputs import spectra
from tests.support.inputs.spectra import FITS, GZIP, JSON, PARQUET, TEXT, XML, N, a_spectrum, linear_image
from tests.support.memory import peaks

WHOLE = FITS | GZIP | TEXT | JSON | XML | PARQUET
DAMAGED = {
    f"{form}: {name}": row
    for form, table in (
        *(("fits", spectra.DAMAGED_FITS), ("gzip", spectra.DAMAGED_GZIP)),
        *(("text", spectra.DAMAGED_TEXT), ("parquet", spectra.DAMAGED_PARQUET)),
    )
    for name, row in table.items()
}
DAMAGEABLE = ["image", "lamost", "lamost.gz", "sdss", "desi", "csv", "csv.gz", "parquet"]
DAMAGEABLE += ["catalog", "sparcl", "ssa", "lamost medium", "mwmVisit", "plate"]
ANY_EXAMPLE = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


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
    return tmp_path_factory.mktemp("damaged") / "file"


def read_or_refused(path: Path) -> list[Spectrum]:
    """Return the spectra that can be read; check that a refusal is one of the known reasons."""
    found: list[Spectrum] = []
    refused = ""
    try:
        try:
            found.append(read(path))
        except SeveralSpectra:
            for spectrum in read_all(path):
                found.append(spectrum)
    except SpectrumError as error:
        refused = str(error)
    assert "did not expect" not in refused
    assert "\n" not in refused
    return found


@ANY_EXAMPLE
@given(
    kind=st.sampled_from(
        ["image", "lamost", "lamost.gz", "sdss", "desi", "csv", "csv.gz", "parquet", "catalog", "sparcl", "ssa"]
    ),
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=12)), max_size=4),
    keep=st.one_of(st.just(1.0), st.floats(0, 1)),
)
def test_no_other_exception_escapes_for_any_damage(scratch, kind, changes, keep):
    raw = bytearray(WHOLE[kind])
    for place, new in changes:
        start = int(place * len(raw))
        raw[start : start + len(new)] = new
    scratch.write_bytes(raw[: int(keep * len(raw))])
    for spectrum in read_or_refused(scratch):
        assert np.isfinite(spectrum.flux).all()
        assert (np.diff(spectrum.wavelength) > 0).all()
        assert (spectrum.ivar >= 0).all()


@ANY_EXAMPLE
@given(
    keyword=st.sampled_from(
        ["NAXIS", "NAXIS1", "BITPIX", "CRVAL1", "CDELT1", "CRPIX1", "BSCALE", "BZERO", "TFIELDS", "TFORM1"]
    ),
    value=st.one_of(
        st.integers(-(10**18), 10**18), st.floats(), st.sampled_from(["'1PB(9)'", "T", "'K'", "-1", "0", "''"])
    ),
    kind=st.sampled_from(["image", "lamost", "sdss", "desi"]),
)
def test_no_value_of_a_structural_card_is_trusted(scratch, keyword, value, kind):
    raw = FITS[kind]
    at = raw.find(f"{keyword:<8}=".encode())
    card = f"{keyword:<8}= {value!s:>20}".encode().ljust(80)[:80]
    scratch.write_bytes(raw if at < 0 else raw[:at] + card + raw[at + 80 :])
    assert all(np.isfinite(spectrum.flux).all() for spectrum in read_or_refused(scratch))


@pytest.mark.parametrize("field", ["ra", "dec", "redshift", "snr", "meta"])
@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 400, "-" + "9" * 4_000, "NaN"])
def test_a_number_of_a_spectrum_that_overflows_is_refused_by_its_field(field: str, number: str) -> None:
    value = {"r": json.loads(number)} if field in ("snr", "meta") else json.loads(number)
    data: dict[str, Any] = a_spectrum().to_json() | {field: value}
    if field == "meta" and isinstance(value["r"], int):
        Spectrum.from_json(data)  # a whole number of any length is a JSON scalar
        return
    with pytest.raises(SpectrumError, match=field) as refused:
        Spectrum.from_json(data)
    check_sentence(str(refused.value))


def test_a_parquet_file_that_crashes_its_reader_crashes_only_the_child_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dies.py").write_text("import os\nos.abort()\n")
    monkeypatch.setattr(parquet_child, "__file__", str(tmp_path / "dies.py"))
    with pytest.raises(SpectrumError, match="makes its reader crash"):
        read(written(tmp_path / "x.parquet", spectra.parquet_of_repeats(100)), "0")
