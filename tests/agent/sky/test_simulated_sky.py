"""Records of simulated spectra: the spectrum's own light, physics by class, and nothing that names the class."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import app
from agent.measure import Measured
from agent.simulate import KINDS, simulate, source_of
from agent.simulate.sky import CATALOGUES, sky_of, truth_of
from agent.sky.facts import ZERO_POINT, facts_of
from agent.sky.maps import QUANTITIES, bundled
from agent.sky.matching import matched
from agent.sky.photometry import synthetic
from agent.sky.plane import magnitude_on, main_sequence
from agent.sky.records import SkyError, record_text
from agent.sky.table import SkyTable
from agent.spectrum import Spectrum, read
from reviewer.drafting.demo import RECIPES, demo_sky

NAMES = set(QUANTITIES)


@cache
def drawn(kind, n, survey="LAMOST", snr=12.0):
    """(spectrum, truth) of n objects of a kind."""
    return [(spectrum, truth_of(spectrum)) for spectrum in (simulate(kind, survey, snr, seed) for seed in range(n))]


def seen(*arguments):
    """(spectrum, truth, records)."""
    return [(spectrum, truth, sky_of(spectrum)) for spectrum, truth in drawn(*arguments)]


def colour(spectrum):
    """Intrinsic BP-RP."""
    source = source_of(spectrum)
    bare = Spectrum(source.wavelength, source.intrinsic, np.ones(source.flux.size), flux_unit=spectrum.flux_unit)
    magnitudes = synthetic(bare, ["BP", "RP"])
    return magnitudes["BP"].value - magnitudes["RP"].value


def own(spectrum, sky):
    return matched(sky.records["gaia_dr3"], 3.3)


def test_equal_spectra_have_equal_records_which_say_that_they_are_simulated(tmp_path: Path):
    assert sky_of(simulate("cv", "SDSS", 10, 3)).sha256 == sky_of(simulate("cv", "SDSS", 10, 3)).sha256
    for kind in KINDS:
        sky = sky_of(simulate(kind, "SDSS", 4, 5))
        assert set(sky.records) == set(CATALOGUES) & bundled().keys()
        assert all(record.simulated and record.is_answer for record in sky)
    # The flux of the spectrum has the brightness, whatever its noise; relative flux leaves it to the S/N.
    bright, faint = (truth_of(simulate("wd", "LAMOST", snr, 3)).magnitudes["sdss2010"]["G"] for snr in (40, 4))
    assert 2 < faint - bright < 5
    assert truth_of(simulate("wd", "SDSS", 4, 3)).magnitudes == truth_of(simulate("wd", "SDSS", 40, 3)).magnitudes


def test_magnitudes_of_the_record_are_those_of_the_noiseless_source():
    for kind in ("wd", "gm", "fgk", "qso", "cv"):
        for survey in ("SDSS", "DESI"):
            spectrum = simulate(kind, survey, 300, 2)
            source = source_of(spectrum)
            light = Spectrum(source.wavelength, source.flux, np.ones(source.flux.size), flux_unit=spectrum.flux_unit)
            values = own(spectrum, sky_of(spectrum)).values
            for name, magnitude in synthetic(light, ["G", "BP", "RP"]).items():
                error = 2.5 / np.log(10) / values["g_flux_over_error"] if name == "G" else 0.03
                assert values[name] == pytest.approx(magnitude.value, abs=5 * error), (kind, name)
            # The spectrum itself has a calibration of a few per cent.
            assert synthetic(spectrum, ["r"])["r"].value == pytest.approx(synthetic(light, ["r"])["r"].value, abs=0.15)


def test_dwarfs_giants_and_white_dwarfs_lie_where_they_belong():
    giants = [truth.absolute_magnitude for _, truth in drawn("gm", 8)]
    dwarfs = [truth.absolute_magnitude for kind in ("dm", "dme") for _, truth in drawn(kind, 6)]
    assert min(dwarfs) - max(giants) > 4
    for spectrum, truth in drawn("wd", 8):
        assert truth.absolute_magnitude - main_sequence(max(colour(spectrum), -0.32)) > 4
    for spectrum, truth in drawn("fgk", 8):
        if spectrum.meta["state"] == "dwarf":
            assert abs(truth.absolute_magnitude - main_sequence(colour(spectrum))) < 1.6
    between = [
        (truth.absolute_magnitude, colour(spectrum))
        for spectrum, truth in drawn("cv", 20)
        if spectrum.meta["state"] in ("quiescent", "polar")
    ]
    assert len(between) >= 6
    fainter = [m - main_sequence(c) for m, c in between]
    brighter = [magnitude_on("white_dwarfs", min(c, 1.4)) - m for m, c in between]
    assert min(np.median(fainter), np.median(brighter)) > 1.5


def test_blank_sky_has_no_star_and_a_real_spectrum_no_simulated_one():
    for spectrum, truth, sky in seen("sky", 8):
        assert not truth.magnitudes
        assert facts_of(sky, spectrum).source is None or own(spectrum, sky).separation > 0.3
    with pytest.raises(SkyError, match="found no simulated spectrum"):
        sky_of(Spectrum(np.arange(4000.0, 4100.0), np.ones(100)))


def test_no_record_names_a_class():
    """Without its numbers a record has the names of quantities and bands only, the same ones for every kind."""
    words = set()
    for kind in KINDS:
        for record in sky_of(simulate(kind, "DESI", 8, 1)):
            plain = json.loads(record_text(record))
            words |= set(re.findall(r"[A-Za-z][\w ]*", json.dumps([plain["sources"], plain["detail"], plain["query"]])))
            assert plain["service"] == "simulation"
    assert words <= NAMES | {
        *("id", "ra", "dec", "separation", "values", "texts", "curve", "mjd", "magnitude", "error", "band"),
        *("null", "e", "g", "r"),
    }


def test_the_command_and_the_demo_write_the_records_of_their_spectra(tmp_path: Path):
    folder = tmp_path / "sky"
    assert app.main(["simulate", "--out", str(folder), "--kinds", "wd,gm", "--n", "2", "--with-sky", "--quiet"]) == 0
    table = SkyTable(folder / "sky.parquet")
    for path in folder.glob("*.fits"):
        spectrum = read(path)
        assert table(spectrum.sha256).sha256 == sky_of(spectrum).sha256
    rows = list(demo_sky())
    assert {sha256 for sha256, _ in rows} == {recipe.spectrum().sha256 for recipe in RECIPES}


@pytest.mark.long
def test_catalogue_errors_are_the_scatter_and_the_object_is_matched():
    quasars = [own(spectrum, sky) for spectrum, _, sky in seen("qso", 400, "SDSS")]
    pull = [
        (source.values["parallax"] - ZERO_POINT) / source.values["parallax_error"]
        for source in quasars
        if source is not None and "parallax" in source.values
    ]
    assert len(pull) > 250
    assert abs(np.mean(pull)) < 4 / np.sqrt(len(pull))
    assert 0.8 < np.mean(np.square(pull)) < 1.25
    for kind in ("wd", "dm"):
        right, pulls = 0, []
        for spectrum, truth, sky in seen(kind, 300):
            source = own(spectrum, sky)
            g = truth.magnitudes["sdss2010"]["G"]
            right += source is not None and abs(source.values["G"] - g) < 0.1
            if source is not None and abs(source.values["G"] - g) < 0.1 and "parallax" in source.values:
                error = source.values["parallax_error"]
                pulls.append((source.values["parallax"] - ZERO_POINT - 1 / truth.distance) / error)
        assert right / 300 > 0.97
        assert 0.75 < np.mean(np.square(pulls)) < 1.3


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "locus", "width"),
    [
        ("a", "main_sequence", 0.4),
        ("fgk", "main_sequence", 0.3),
        ("dm", "main_sequence", 0.3),
        ("b", "main_sequence", 0.3),
        ("gm", "giant_branch", 0.5),
        ("wd", "white_dwarfs", 0.3),
    ],
)
def test_the_mean_of_a_class_lies_on_its_locus(kind, locus, width):
    """Widths in mag, of the mean M_G of 200 objects at their colours, as the records give them."""
    residuals = []
    for spectrum, _, sky in seen(kind, 200, "LAMOST", 40.0):
        if spectrum.meta["state"] in ("supergiant", "Of supergiant") or (
            kind == "fgk" and spectrum.meta["state"] != "dwarf"
        ):
            continue
        measured_magnitude = facts_of(sky, spectrum).quantities["absolute_magnitude"]
        on = magnitude_on(locus, colour(spectrum))
        if on is not None and isinstance(measured_magnitude, Measured):
            extinction = 2.74 * float(spectrum.meta["e_bv"])
            residuals.append(measured_magnitude.value - extinction - on)
    assert len(residuals) > 50
    assert abs(np.median(residuals)) < width
