"""Simulated spectra and the files they are written to."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy.io import fits
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.special import gamma

import app
from agent.batch.labels import Labels
from agent.lines import air_to_vacuum
from agent.simulate import CLASSES, KINDS, LOOK_ALIKES, simulate, simulated_for, state_of, truth
from agent.simulate.atoms import balmer_wavelength
from agent.simulate.files import for_task, orders
from agent.simulate.instrument import SURVEYS
from agent.simulate.profiles import (
    C_KM_S,
    absorb_gaussian,
    absorb_stark,
    disc_profile,
    emit_disc,
    emit_gaussian,
    grid,
    planck,
    reddening,
)
from agent.spectrum import Spectrum, SpectrumError, read
from agent.spectrum.readers import own

HALPHA = balmer_wavelength(3)


def equivalent_width(wavelength, flux):
    return float(np.sum((1 - flux[:-1]) * np.diff(wavelength)))


def test_every_kind_is_marked_as_simulated():
    for kind in KINDS:
        spectrum = simulate(kind, "LAMOST", 30, seed=42)
        assert (spectrum.meta["simulated"], spectrum.meta["kind"]) == (True, kind)
        assert (spectrum.survey, spectrum.name) == ("simulated LAMOST", f"simulated-{kind}-0042.fits")
        assert "simulated" in spectrum.catalogue_class


def test_one_object_is_the_same_at_another_signal_to_noise_and_with_its_seed():
    assert simulate("cv", "SDSS", 20, 7).sha256 == simulate("cv", "SDSS", 20, 7).sha256
    assert simulate("cv", "SDSS", 20, 7).sha256 != simulate("cv", "SDSS", 20, 8).sha256
    noisy, clean = simulate("gm", "DESI", 5, 3), simulate("gm", "DESI", 500, 3)
    assert dict(noisy.meta) == dict(clean.meta)
    good = noisy.ivar > 0
    assert abs(np.median((noisy.flux / clean.flux)[good]) - 1) < 0.02


@pytest.mark.parametrize(("kind", "seed"), [("wd", 1), ("cv", 2), ("qso", 3), ("sd", 50_001)])
def test_the_state_of_a_spectrum_is_known_without_it(kind, seed):
    assert state_of(kind, "SDSS", seed) == simulate(kind, "SDSS", 20, seed).meta["state"]


@pytest.mark.parametrize(
    ("survey", "first", "last", "pixels"),
    [("LAMOST", 3700, 9100, 3909), ("SDSS", 3800, 9200, 3841), ("DESI", 3600, 9824, 7781)],
)
def test_grids_are_those_of_the_surveys_in_vacuum(survey, first, last, pixels):
    spectrum = simulate("a", survey, 20, 1)
    assert len(spectrum) == pixels
    assert spectrum.wavelength[0] == pytest.approx(first, abs=0.5)
    assert spectrum.wavelength[-1] == pytest.approx(last, abs=1.0)
    assert (spectrum.medium, spectrum.frame) == ("vacuum", "observed")


@pytest.mark.parametrize("survey", SURVEYS)
def test_the_scatter_is_what_ivar_says(survey):
    """Two observations of one object differ only by noise, so their difference measures it."""
    noisy, clean = simulate("wd", survey, 12, 5), simulate("wd", survey, 1e6, 5)
    good = (noisy.ivar > 0) & (clean.ivar > 0) & ~noisy.mask
    pull = ((noisy.flux - clean.flux) * np.sqrt(noisy.ivar))[good]
    assert 1.4826 * np.median(np.abs(pull)) == pytest.approx(1.0, abs=0.06)


@pytest.mark.parametrize("snr", [3.0, 30.0])
def test_the_median_signal_to_noise_is_the_requested_one(snr):
    spectrum = simulate("fgk", "LAMOST", snr, 11)
    good = spectrum.ivar > 0
    assert np.median((spectrum.flux * np.sqrt(spectrum.ivar))[good]) == pytest.approx(snr, rel=0.1)


def test_blank_sky_holds_no_signal():
    spectrum = simulate("sky", "SDSS", 10, 2)
    assert abs(np.median(spectrum.flux * np.sqrt(spectrum.ivar))) < 0.1


def test_balmer_lines_are_at_their_vacuum_wavelengths():
    """NIST, vacuum: Hα 6564.6, Hβ 4862.7, Hγ 4341.7, Hδ 4102.9 Å (means of the fine structure)."""
    for upper, expected in ((3, 6564.61), (4, 4862.68), (5, 4341.68), (6, 4102.89)):
        assert balmer_wavelength(upper) == pytest.approx(expected, abs=0.05)


def test_a_redshift_moves_the_source_but_not_the_sky():
    spectrum = simulate("hii", "SDSS", 200, 4, redshift=0.05)
    assert spectrum.redshift == 0.05
    near = np.abs(spectrum.wavelength - HALPHA * 1.05) < 40
    peak = spectrum.wavelength[near][np.argmax(spectrum.flux[near])]
    assert abs(peak / HALPHA - 1.05) * C_KM_S < 250


def test_a_stark_line_has_the_requested_equivalent_width():
    wavelength = np.arange(3000.0, 9000.0, 0.05)
    flux = np.ones_like(wavelength)
    absorb_stark(flux, wavelength, 6000.0, ew=20.0, core=0.7)
    # 30 scale lengths hold all but 0.5 % of a profile whose wings fall as the 5/2 power.
    assert equivalent_width(wavelength, flux) == pytest.approx(20.0, rel=0.01)
    assert flux.min() == pytest.approx(0.3, abs=0.001)
    area = 2 / 2.5 * gamma(1 / 2.5) * gamma(1 - 1 / 2.5) * 0.7 ** (1 - 1 / 2.5)
    assert np.interp(6000 + 20.0 / area, wavelength, flux) == pytest.approx(1 - 1 / (1 / 0.7 + 1), abs=1e-3)


def test_a_weak_gaussian_a_black_body_and_reddening_follow_their_formulas():
    wavelength = grid(5000, 6000)
    flux = np.ones_like(wavelength)
    absorb_gaussian(flux, wavelength, 5500.0, ew=0.1, fwhm=5.0)
    assert equivalent_width(wavelength, flux) == pytest.approx(0.1, rel=0.02)
    wavelength = grid(3500, 9500)
    assert wavelength[np.argmax(planck(wavelength, 5800))] == pytest.approx(2.897772e7 / 5800, rel=1e-3)
    # Cardelli et al. (1989): A(V)/E(B-V) = 3.1 at 5495 Å, A(B)/A(V) = 1.32 at 4405 Å or so.
    v, b = -2.5 * np.log10(reddening(np.array([5495.0, 4405.0]), 1.0))
    assert v == pytest.approx(3.1, abs=0.02)
    assert b / v == pytest.approx(1.32, abs=0.03)


@pytest.mark.parametrize("emit", [emit_gaussian, emit_disc])
def test_an_emission_line_has_the_requested_equivalent_width(emit):
    wavelength = grid(6000, 7200)
    flux = np.ones_like(wavelength)
    emit(flux, wavelength, HALPHA, 40.0, 500.0)
    assert equivalent_width(wavelength, flux) == pytest.approx(-40.0, rel=0.02)


def test_a_disc_line_has_two_peaks_near_the_speed_of_its_rim():
    velocity = np.arange(-3000.0, 3001.0, 30.0)
    profile = disc_profile(velocity, rim_km_s=600, inner=0.08, slope=1.7)
    assert profile.sum() * 30 == pytest.approx(1.0)
    assert profile == pytest.approx(profile[::-1], abs=2e-5)
    blue = velocity[velocity < 0][np.argmax(profile[velocity < 0])]
    assert -650 <= blue <= -480
    assert profile[np.argmin(np.abs(velocity))] < 0.9 * profile.max()


def _depth(spectrum, line, off):
    inside = np.abs(spectrum.wavelength - line) < 8
    outside = np.abs(np.abs(spectrum.wavelength - line) - off) < 8
    return 1 - np.mean(spectrum.flux[inside]) / np.mean(spectrum.flux[outside])


def test_white_dwarf_lines_are_wider_than_those_of_an_a_star():
    """At 40 Å from Hβ the wing of a DA of 12,000 K is still deep, an A dwarf's is nearly gone."""
    from agent.simulate.stars import hot_star, hydrogen_white_dwarf

    wavelength = grid(4300, 5400)
    dwarf = hydrogen_white_dwarf(wavelength, 12000)
    star = hot_star(wavelength, np.random.default_rng(0), 9000, supergiant=False)
    at = np.argmin(np.abs(wavelength - balmer_wavelength(4) - 40))
    far = np.argmin(np.abs(wavelength - balmer_wavelength(4) - 300))
    wing = [
        (1 - f[at] / f[far] * planck(wavelength, t)[far] / planck(wavelength, t)[at])
        for f, t in ((dwarf, 12000), (star, 9000))
    ]
    assert wing[0] > 2 * wing[1]


def test_swan_bands_fade_to_the_blue_and_titanium_oxide_to_the_red():
    carbon, giant = simulate("cc", "DESI", 500, 1), simulate("gm", "DESI", 500, 0)

    def mean(spectrum, start, stop):
        inside = (spectrum.wavelength > start) & (spectrum.wavelength < stop)
        return float(np.mean(spectrum.flux[inside]))

    swan, oxide = air_to_vacuum(5165.2), air_to_vacuum(7054.0)
    assert mean(carbon, swan - 15, swan - 3) < 0.8 * mean(carbon, swan + 8, swan + 20)
    assert mean(giant, oxide + 3, oxide + 15) < 0.9 * mean(giant, oxide - 20, oxide - 8)


def test_dwarfs_have_strong_sodium_and_giants_a_strong_calcium_triplet():
    def sodium_and_calcium(kind):
        spectra = [simulate(kind, "DESI", 300, seed) for seed in range(8)]
        features = [(air_to_vacuum(8189.0), 45), (air_to_vacuum(8542.1), 30)]
        return [np.mean([_depth(s, line, off) for s in spectra]) for line, off in features]

    dwarf, giant = sodium_and_calcium("dm"), sodium_and_calcium("gm")
    assert dwarf[0] > giant[0] + 0.05
    assert giant[1] > dwarf[1] + 0.03


def test_truth_is_yes_for_the_class_itself_and_no_for_its_look_alikes() -> None:
    for task in CLASSES:
        assert [kind for kind in KINDS if truth(kind, task) == "YES"] == [task] + ["be"] * (task == "b")
    assert set(KINDS) == set(CLASSES) | set(LOOK_ALIKES)
    for task in CLASSES:
        kinds = simulated_for(task).look_alikes
        assert [truth(kind, task) for kind in kinds] == ["NO"] * len(kinds)
        chosen = for_task(task, 40, (1, 1))
        assert [truth(kind, task) for kind in chosen] == ["YES"] * 20 + ["NO"] * 20


def test_an_unknown_kind_or_survey_is_refused_by_name():
    with pytest.raises(KeyError, match="no kind 'xx'"):
        simulate("xx", "SDSS", 10, 1)
    with pytest.raises(KeyError, match="no survey 'HST'"):
        simulate("cv", "HST", 10, 1)


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
numbers = st.floats(-1e30, 1e30)
scalars = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | numbers | text


@st.composite
def spectra(draw: st.DrawFn) -> Spectrum:
    size = draw(st.integers(2, 12))
    steps = draw(st.lists(st.floats(1e-3, 50.0), min_size=size, max_size=size))
    values: dict[str, Any] = {
        "wavelength": 3000.0 + np.cumsum(steps),
        "flux": draw(st.lists(numbers, min_size=size, max_size=size)),
        "ivar": draw(st.lists(st.floats(0, 1e300), min_size=size, max_size=size)),
        "mask": draw(st.lists(st.booleans(), min_size=size, max_size=size)),
        "medium": draw(st.sampled_from(["vacuum", "air"])),
        "frame": draw(st.sampled_from(["observed", "rest"])),
        "errors": draw(st.sampled_from(["measured", "estimated"])),
        "ids": draw(st.dictionaries(text, text, max_size=3)),
        "snr": draw(st.dictionaries(text, numbers, max_size=3)),
        "meta": draw(st.dictionaries(text, scalars, max_size=4)),
        "redshift": draw(st.none() | st.floats(-0.99, 10)),
        "ra": draw(st.none() | st.floats(0, 360)),
        "dec": draw(st.none() | st.floats(-90, 90)),
    }
    # The JSON form gives a spectrum without a name the name "spectrum".
    values["name"] = draw(text.filter(bool))
    values |= {key: draw(text) for key in ("flux_unit", "survey", "catalogue_class")}
    return Spectrum(**values)


@given(spectra())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_a_spectrum_in_the_projects_own_layout_is_read_back_exactly(tmp_path: Path, spectrum: Spectrum) -> None:
    own.write(spectrum, tmp_path / "any.fits")
    again = read(tmp_path / "any.fits")
    assert again == spectrum
    assert again.sha256 == spectrum.sha256


def test_a_simulated_spectrum_keeps_everything_including_its_mark(tmp_path: Path) -> None:
    made = simulate("qso", "DESI", 12.5, seed=3, redshift=0.4)
    own.write(made, tmp_path / made.name)
    again = read(tmp_path / made.name)
    assert again == made
    assert again.meta["simulated"] is True
    assert (again.meta["kind"], again.meta["state"], again.meta["seed"]) == ("qso", "broad-line", 3)
    assert again.survey == "simulated DESI"


def test_astropy_reads_the_table_and_the_simulation_mark(tmp_path: Path) -> None:
    made = simulate("cv", "SDSS", 20, seed=1)
    own.write(made, tmp_path / made.name)
    with fits.open(tmp_path / made.name) as hdus:
        assert hdus[0].header["SIMULATE"] is True
        assert hdus[0].header["OBJECT"] == made.name
        assert np.array_equal(hdus["SPECTRUM"].data["FLUX"], made.flux)
        assert np.array_equal(hdus["SPECTRUM"].data["MASK"], made.mask)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda hdus: hdus[0].header.set("SPECO3", "spec-o3/spectrum/9"), "SPECO3 = 'spec-o3/spectrum/9'"),
        (lambda hdus: hdus[2].header.set("EXTNAME", "OTHER"), "no table FACTS"),
        (lambda hdus: hdus["FACTS"].data["JSON"].__setitem__(0, "{"), "FACTS that are no JSON object"),
        (lambda hdus: hdus["SPECTRUM"].data["IVAR"].__setitem__(3, -1), "a negative inverse variance"),
    ],
)
def test_a_spoiled_file_is_refused_by_name(tmp_path: Path, spoil: Any, words: str) -> None:
    path = tmp_path / "spoiled.fits"
    own.write(simulate("a", "LAMOST", 9, seed=5), path)
    with fits.open(path, mode="update") as hdus:
        spoil(hdus)
    with pytest.raises(SpectrumError, match="expected") as refused:
        read(path)
    assert words in str(refused.value)


def run(folder: Path, *options: str) -> list[dict[str, str]]:
    assert app.main(["simulate", "--out", str(folder), *options]) == 0
    with (folder / "labels.csv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_a_task_gets_its_class_and_its_look_alikes_at_the_requested_ratio(tmp_path: Path) -> None:
    rows = run(tmp_path / "cv", "--task", "cv", "--n", "18", "--ratio", "1:5", "--survey", "LAMOST,DESI")
    assert [row["label"] for row in rows] == ["YES"] * 3 + ["NO"] * 15
    assert {row["kind"] for row in rows if row["label"] == "NO"} == set(simulated_for("cv").look_alikes)
    assert {row["survey"] for row in rows} == {"simulated LAMOST", "simulated DESI"}
    assert all(5 <= float(row["snr"]) <= 40 for row in rows)
    for row in rows:
        spectrum = read(tmp_path / "cv" / row["file"])
        assert spectrum.name == row["file"]
        assert (spectrum.meta["kind"], spectrum.survey) == (row["kind"], row["survey"])


def test_labels_answer_every_task_of_one_file(tmp_path: Path) -> None:
    """Eight rows per file; reading the labels of one task returns only the answers of that task."""
    run(tmp_path / "all", "--n", str(len(KINDS)))
    names = {order.kind: order.spectrum().name for order in orders(KINDS, ["LAMOST"], (5, 40), 0)}
    for task in CLASSES:
        labels = Labels.read(
            tmp_path / "all" / "labels.csv", lambda key, task=task: key == task if key in CLASSES else None
        )
        assert len(labels) == len(KINDS)
        assert {kind: labels.of(name) for kind, name in names.items()} == {k: truth(k, task) for k in KINDS}


def test_one_seed_gives_one_folder_and_another_seed_shares_no_spectrum_with_it(tmp_path: Path) -> None:
    for name, seed in (("one", "4"), ("again", "4"), ("other", "5")):
        run(tmp_path / name, "--kinds", "cv,dme", "--n", "4", "--seed", seed, "--redshift", "0.001:0.01")
    files = {name: {p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in ("one", "again")}
    assert files["one"] == files["again"]
    shared = set(files["one"]) & {p.name for p in (tmp_path / "other").iterdir()}
    assert shared == {"labels.csv"}
    assert 0.001 <= (read(tmp_path / "one" / "simulated-cv-4000000.fits").redshift or 0) <= 0.01


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--task", "xx"], "--task: no task 'xx'; there are a, b, cc"),
        (["--kinds", "cv,xx"], "--kinds: found 'xx', expected one of cv, cc"),
        (["--survey", "HST"], "--survey: found 'HST', expected one of LAMOST, SDSS, DESI"),
        (["--n", "0"], "--n: found 0, expected 1 to"),
        (["--snr", "0:3"], "--snr: found 0, expected more than 0"),
        (["--redshift=-2:0"], "--redshift: found -2, expected more than -1"),
    ],
)
def test_bad_options_are_reported_in_one_line(tmp_path, capsys, options, words):
    assert app.main(["simulate", "--out", str(tmp_path / "new"), *options]) == 2
    stderr = capsys.readouterr().err
    assert words in stderr
    assert stderr.count("\n") == 1
    assert not (tmp_path / "new").exists()


def test_a_folder_with_files_in_it_is_left_unchanged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert app.main(["simulate", "--out", str(tmp_path), "--n", "1"]) == 2
    assert "expected a new or an empty folder" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_the_result_is_printed_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path / "x", "--task", "b", "--n", "4", "--json")
    summary = json.loads(capsys.readouterr().out)
    assert summary["spectra"] == 4
    assert summary["kinds"] == {"b": 1, "be": 1, "o": 1, "a": 1}
    assert summary["tasks"] == ["b"]
