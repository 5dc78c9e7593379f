"""The Spectrum record, and the folders and lists that spectra are read from."""

import copy
import io
import json
import pickle
import re
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from agent.batch.sources import Source, SourceError, sources_from, spectra_in
from agent.spectrum import STRETCH, Exposure, SeveralSpectra, Spectrum, SpectrumError
from agent.spectrum.noise import der_snr_noise, ivar_from_scatter

WAVELENGTH = np.linspace(3700.0, 9000.0, 1000)
FLUX = np.sin(WAVELENGTH / 500.0) + 2.0


def full() -> Spectrum:
    return Spectrum(
        WAVELENGTH,
        FLUX,
        np.full(1000, 4.0),
        WAVELENGTH > 8900,
        medium="air",
        frame="rest",
        flux_unit="erg s-1 cm-2 Å-1",
        survey="LAMOST",
        name="spec-Å.fits",
        ids={"obsid": "1"},
        ra=10.5,
        dec=-3.25,
        redshift=0.1,
        snr={"g": 3.5},
        catalogue_class="STAR A0",
        meta={"dr": "DR7", "n": 3, "x": None, "ok": True, "f": 0.1},
    )


def test_two_arrays_are_enough_and_missing_errors_are_marked_as_estimated():
    spectrum = Spectrum(WAVELENGTH, FLUX)
    assert spectrum.errors == "estimated"
    assert (spectrum.ivar > 0).all()
    assert not spectrum.mask.any()
    assert (spectrum.medium, spectrum.frame, spectrum.redshift) == ("vacuum", "observed", None)
    assert len(spectrum) == 1000


def test_arrays_and_mappings_cannot_be_changed_and_the_callers_own_array_is_left_writeable():
    mine = FLUX.copy()
    spectrum = Spectrum(WAVELENGTH, mine, meta={"a": 1})
    for array in (spectrum.wavelength, spectrum.flux, spectrum.ivar, spectrum.mask):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError):
        spectrum.meta["a"] = 2  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        spectrum.name = "other"  # type: ignore[misc]
    mine[0] = 99.0
    assert spectrum.flux[0] == FLUX[0]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"wavelength": WAVELENGTH[::-1]}, "9000 Å followed by"),
        ({"wavelength": np.repeat(WAVELENGTH[:500], 2)}, "3700 Å followed by 3700 Å"),
        ({"wavelength": WAVELENGTH - 4000}, "a wavelength of -300 Å"),
        ({"wavelength": WAVELENGTH[:-1]}, "wavelength, flux, ivar of [999, 1000, 1000] pixels"),
        ({"mask": np.zeros(999, bool)}, "1000 pixels, mask of shape (999,)"),
        ({"model": np.full(1000, np.nan)}, "model with NaN"),
        ({"wavelength": np.full(1000, np.nan)}, "wavelength with NaN"),
        ({"flux": np.full(1000, np.inf)}, "flux with NaN or infinity"),
        ({"flux": ["x"] * 1000}, "flux that is not numbers"),
        ({"flux": FLUX.reshape(10, 100)}, "flux of shape (10, 100)"),
        ({"ivar": -np.ones(1000)}, "a negative inverse variance"),
        ({"medium": "water"}, "medium 'water'"),
        ({"frame": "galactic"}, "frame 'galactic'"),
        ({"redshift": float("nan")}, "redshift nan"),
        ({"redshift": -1.0}, "redshift -1.0"),
        ({"meta": {"a": [1]}}, "meta['a'] of list"),
    ],
)
def test_invalid_values_are_refused_in_one_line_with_the_name(change, found):
    values = {"wavelength": WAVELENGTH, "flux": FLUX, "ivar": np.ones(1000), "name": "x.fits"} | change
    with pytest.raises(SpectrumError) as caught:
        Spectrum(**values)
    message = str(caught.value)
    assert message.startswith("x.fits: found ")
    assert found in message
    assert "; expected " in message
    assert "\n" not in message


def test_a_spectrum_has_two_pixels_or_more_and_their_median_distance_as_sampling():
    with pytest.raises(SpectrumError, match="1 pixels; expected two or more"):
        Spectrum([5000.0], [1.0], [1.0])
    assert Spectrum(np.r_[4000.0:8000.0:80.0], np.ones(50)).sampling == 80.0


def test_the_json_form_gives_back_an_equal_spectrum_through_real_json():
    spectrum = full()
    again = Spectrum.from_json(json.loads(json.dumps(spectrum.to_json())))
    assert again == spectrum
    assert again.sha256 == spectrum.sha256
    assert hash(again) == hash(spectrum)


@given(
    flux=arrays(np.float64, 20, elements=st.floats(-1e300, 1e300)),
    gaps=arrays(np.float64, 20, elements=st.floats(1e-3, 1e3)),
    mask=arrays(np.bool_, 20),
)
def test_the_json_form_is_exact_for_any_finite_numbers(flux, gaps, mask):
    spectrum = Spectrum(1.0 + np.cumsum(gaps), flux, np.abs(flux), mask)
    assert Spectrum.from_json(json.loads(json.dumps(spectrum.to_json()))) == spectrum


def with_extras() -> Spectrum:
    exposures = [Exposure(f"B-{n}", WAVELENGTH[:500] + n, FLUX[:500] * n, np.ones(500)) for n in (1, 2)]
    return replace(full(), model=FLUX * 0.9, exposures=exposures)


def test_model_and_exposures_travel_in_the_json_form_and_through_pickle():
    extras = with_extras()
    form = json.loads(json.dumps(extras.to_json()))
    for copied in (Spectrum.from_json(form), pickle.loads(pickle.dumps(extras)), copy.deepcopy(extras)):
        assert copied == extras
        np.testing.assert_array_equal(copied.model, FLUX * 0.9)
        assert [exposure.name for exposure in copied.exposures] == ["B-1", "B-2"]
        for exposure, other in zip(copied.exposures, extras.exposures, strict=True):
            np.testing.assert_array_equal(exposure.wavelength, other.wavelength)
            np.testing.assert_array_equal(exposure.flux, other.flux)
            with pytest.raises(ValueError, match="read-only"):
                exposure.flux[0] = 1


def test_model_and_exposures_change_neither_the_hash_nor_the_plain_json_form():
    assert with_extras().sha256 == full().sha256
    assert not {"model", "exposures"} & set(full().to_json())
    assert Spectrum.from_json(full().to_json()).model is None
    assert Spectrum.from_json(full().to_json()).exposures == ()


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        ("model", {"n": 3}, "model of 3 numbers"),
        ("exposures", 7, "exposures 7"),
        ("exposures", [7], "exposures 7"),
        ("exposures", [{"name": 1}], "name of an exposure 1"),
        ("exposures", [{"name": "x"}], "wavelength of an exposure None"),
        ("exposures", [{}] * 501, "expected a list of at most 500"),
    ],
)
def test_a_damaged_model_or_exposure_is_refused_by_field(key, value, found):
    with pytest.raises(SpectrumError, match=re.escape(found)):
        Spectrum.from_json(full().to_json() | {key: value})


def test_float32_data_travels_in_half_the_bytes():
    short = replace(full(), flux=FLUX.astype(np.float32))
    assert short.to_json()["flux"]["dtype"] == "<f4"
    assert full().to_json()["flux"]["dtype"] == "<f8"


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        ("schema", "other/1", "schema 'other/1'"),
        ("flux", None, "flux None"),
        ("flux", {"n": 10**9, "dtype": "<f8", "data": ""}, "flux of 1000000000 numbers"),
        ("flux", {"n": 2, "dtype": "O", "data": ""}, "of type 'O'"),
        ("flux", {"n": 2, "dtype": "<f8", "data": "!!"}, "flux with damaged data"),
        ("flux", {"n": 2, "dtype": "<f8", "data": "eJwDAAAAAAE="}, "flux of 0 bytes"),
        ("medium", 3, "medium 3"),
        ("ra", "north", "ra 'north'"),
        ("ids", [], "ids []"),
        ("snr", {"g": "high"}, "snr 'high'"),
    ],
)
def test_a_damaged_json_form_is_refused_by_field(key, value, found):
    with pytest.raises(SpectrumError) as caught:
        Spectrum.from_json(full().to_json() | {key: value})
    assert found in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"medium": "vacuum"},
        {"frame": "observed"},
        {"flux_unit": "Jy"},
        {"redshift": 0.2},
        {"flux": FLUX + 1},
        {"mask": np.arange(FLUX.size) == 1},
    ],
)
def test_the_hash_changes_with_the_data_and_with_its_units_and_frame(change):
    assert replace(full(), **change).sha256 != full().sha256


def test_spectra_are_equal_and_hashed_by_their_data_only():
    assert replace(full(), catalogue_class="STAR B", meta={}).sha256 == full().sha256
    assert len(full().sha256) == 64
    assert full() != replace(full(), ra=11.0)
    assert full() != replace(full(), mask=np.zeros(1000, bool))
    assert full() != "a spectrum"


def test_typical_snr_is_the_r_band_then_the_catalogue_median_then_measured():
    assert replace(full(), snr={"g": 1.0, "r": 7.0, "median": 3.0}).snr_typical == 7.0
    assert replace(full(), snr={"median": 3.0}).snr_typical == 3.0
    assert full().snr_typical == pytest.approx(np.median(FLUX * 2.0))
    assert Spectrum(WAVELENGTH, FLUX, np.zeros(1000)).snr_typical == 0.0


def test_spectra_and_errors_survive_pickling_and_copying():
    assert pickle.loads(pickle.dumps(full())) == full()
    assert copy.deepcopy(full()) == full()
    several = pickle.loads(pickle.dumps(SeveralSpectra("f.fits", ["1", "2"])))
    assert several.targets == ("1", "2")
    assert str(several) == "f.fits: found 2 spectra (1, 2); expected one of them named as target"
    assert str(pickle.loads(pickle.dumps(SpectrumError("a", "b", "c")))) == "a: found b; expected c"


def test_der_snr_recovers_the_noise():
    rng = np.random.default_rng(1)
    noisy = 100.0 * FLUX + rng.normal(0, 3.0, 1000)
    assert der_snr_noise(noisy) == pytest.approx(3.0, rel=0.1)
    rng = np.random.default_rng(2)
    sigma = np.linspace(1.0, 9.0, 4000)
    estimated = 1 / np.sqrt(ivar_from_scatter(1000.0 + rng.normal(0, sigma)))
    middle = slice(STRETCH, -STRETCH)
    assert np.median(np.abs(estimated[middle] / sigma[middle] - 1)) < 0.15
    assert np.isfinite(ivar_from_scatter(np.full(500, 7.0))).all()
    assert not ivar_from_scatter(np.zeros(500)).any()


@pytest.fixture
def tree(tmp_path, monkeypatch) -> Path:
    """data/a/2.fits.gz, data/a/1.FITS, data/b.csv, data/notes.md, data/.hidden/3.fits; the current folder."""
    for name in ("a/2.fits.gz", "a/1.FITS", "b.csv", "notes.md", ".hidden/3.fits", ".4.fits"):
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("wavelength,flux\n1,2\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def keys(*paths: str, results: Path = Path(), stdin: str | None = None) -> list[str]:
    stream = None if stdin is None else io.StringIO(stdin)
    return [source.key for source in sources_from(paths, results, stream)]


def test_a_folder_is_listed_by_name_without_hidden_files_and_tables_of_labels(tree):
    assert keys("data") == ["data/b.csv", "data/a/1.FITS", "data/a/2.fits.gz"]
    (tree / "data" / "labels.csv").write_text("file,label\n1.FITS,YES\n")
    (tree / "data" / "unreadable.csv").write_bytes(b"\xff\xfe\x00")
    assert keys("data") == ["data/b.csv", "data/unreadable.csv", "data/a/1.FITS", "data/a/2.fits.gz"]


def test_a_file_has_one_name_for_all_ways_to_give_it(tree):
    assert keys("data/b.csv", "./data/../data/b.csv", str(tree / "data/b.csv"), "data") == [
        "data/b.csv",
        "data/a/1.FITS",
        "data/a/2.fits.gz",
    ]
    assert keys("data/notes.md") == ["data/notes.md"]
    (tree / "link").symlink_to(tree / "data")
    assert keys("link/b.csv", results=tree) == ["data/b.csv"]


def test_names_are_relative_to_the_results_from_any_current_folder(tree, monkeypatch):
    (tree / "out").mkdir()
    assert keys("data/b.csv", results=tree / "out") == ["../data/b.csv"]
    monkeypatch.chdir(tree / "data")
    assert keys("b.csv", results=tree / "out") == ["../data/b.csv"]


def test_lists_and_standard_input_have_a_path_on_each_line(tree):
    (tree / "list.txt").write_text("# mine\ndata/b.csv\n\n  data/a/1.FITS\n")
    assert keys("@list.txt") == ["data/b.csv", "data/a/1.FITS"]
    assert keys("list.txt") == ["list.txt"]
    assert keys("-", stdin="data/b.csv\n") == ["data/b.csv"]
    assert keys("-", stdin="file,target\ndata/b.csv,5\n") == ["data/b.csv#5"]


@pytest.mark.parametrize(
    "text",
    [
        "file,target\nb.csv,\na/1.FITS,17\n",
        "class;path;Target\nCV;b.csv;\nCV;a/1.FITS;17\n",
        "\ufeffpath\ttarget\nb.csv\t\na/1.FITS\t17\n",
    ],
)
def test_a_csv_with_a_file_column_is_a_list_with_paths_relative_to_its_folder(tree, text):
    (tree / "data" / "list.csv").write_text(text, encoding="utf-8")
    assert keys("data/list.csv") == keys("@data/list.csv") == ["data/b.csv", "data/a/1.FITS#17"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("gone.fits", "gone.fits: found no such file or folder"),
        ("@gone.txt", "gone.txt: No such file"),
        ("@bytes.txt", "bytes.txt: found no text"),
        ("holes.csv", "holes.csv: line 3: file: found nothing, expected the path"),
        ("-", "-: found no standard input"),
    ],
)
def test_a_missing_or_unreadable_source_is_named(tree, given, words):
    (tree / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    (tree / "holes.csv").write_text("file,class\na.fits,CV\n,CV\n")
    with pytest.raises(SourceError, match=words):
        keys(given)


def test_a_file_that_cannot_be_opened_is_listed_and_a_known_one_is_not_opened(tree):
    source = Source(tree / "data/notes.md", "notes.md")
    assert list(spectra_in(source)) == [source]
    known = Source(tree / "gone.fits", "gone.fits")
    assert list(spectra_in(known, {"gone.fits"}.__contains__)) == [known]
    named = Source(tree / "gone.fits", "gone.fits", "7")
    assert list(spectra_in(named)) == [named]
