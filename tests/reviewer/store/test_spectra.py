"""Spectra in the database: the same numbers come back, bit for bit."""

import sqlite3
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from agent.spectrum import Spectrum, SpectrumError, read, read_all
from reviewer.store import NotFound, Store
from reviewer.store.spectra import pack, pack_mask, unpack, unpack_mask
from tests.support.campaign import a_spectrum


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "annotations.db") as store:
        yield store


def test_a_spectrum_comes_back_equal_with_everything_it_says(store):
    spectrum = a_spectrum(
        mask=np.arange(300) % 7 == 0,
        medium="air",
        frame="rest",
        flux_unit="1e-17 erg/s/cm2/Å",
        ra=12.5,
        dec=-3.25,
        redshift=-0.00012,
        catalogue_class="STAR",
        meta={"plate": 266, "quality": None, "seeing": 1.5, "coadd": True, "who": "Å"},
        errors="estimated",
    )
    again = store.spectrum(store.add_spectrum(spectrum))
    assert again == spectrum
    assert again.sha256 == spectrum.sha256
    assert again.flux.tobytes() == spectrum.flux.tobytes()


def test_a_spectrum_is_kept_once_and_its_grid_shared(store):
    first, second = a_spectrum("a.fits"), a_spectrum("bb.fits")
    for spectrum in (first, second, first):
        store.add_spectrum(spectrum)
    reader = sqlite3.connect(store.path)
    assert reader.execute("SELECT count(*) FROM spectra").fetchone() == (2,)
    assert reader.execute("SELECT count(*) FROM grids").fetchone() == (1,)
    reader.close()
    assert store.has_spectrum(first.sha256)
    assert not store.has_spectrum("0" * 64)


def test_a_spectrum_that_is_not_there_is_named(store):
    with pytest.raises(NotFound, match="No spectrum 000000000000"):
        store.spectrum("0" * 64)


@settings(deadline=None)
@given(arrays.arrays(np.float64, st.integers(1, 60), elements=st.floats(allow_nan=True)))
def test_any_floats_come_back_bit_for_bit(array):
    assert unpack(*pack(array)).tobytes() == array.tobytes()


@settings(deadline=None)
@given(arrays.arrays(np.float32, st.integers(1, 60), elements=st.floats(width=32, allow_nan=False)))
def test_single_precision_is_kept_in_single_precision(array):
    width, blob = pack(array.astype(np.float64))
    assert width == "<f4"
    assert len(zlib.decompress(blob)) == 4 * array.size


@pytest.mark.parametrize("value", [0.1, 1e300, 2.0**-1060])
def test_a_number_that_needs_double_precision_keeps_it(value):
    array = np.array([1.0, value])
    width, blob = pack(array)
    assert width == "<f8"
    assert unpack(width, blob).tolist() == array.tolist()


@given(arrays.arrays(bool, st.integers(1, 60)))
def test_a_mask_comes_back(mask):
    assert unpack_mask(pack_mask(mask), mask.size).tolist() == mask.tolist()


@pytest.mark.parametrize("survey", ["lamost", "sdss", "desi", "miles"])
def test_real_survey_files_come_back_equal(store, shared, survey):
    files = sorted(p for p in (shared / "spectra" / survey).rglob("*") if p.is_file())
    spectra: list[Spectrum] = []
    for path in files[:12]:
        try:
            spectra.append(read(path))
        except SpectrumError:
            continue
    spectra = spectra or list(read_all(files[0]))[:3]
    assert spectra
    for spectrum in spectra:
        again = store.spectrum(store.add_spectrum(spectrum))
        assert again == spectrum
        assert again.sha256 == spectrum.sha256
