"""What an edit does to the flux, and what it leaves alone."""

from dataclasses import replace

import numpy as np
import pytest

from agent.measure import Measured, measure_feature, rest
from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.tasks import load
from agent.trial.edits import Edited, NotEdited, flip, inject, placebo, remove, shift
from agent.trial.making import avoided
from agent.trial.subjects import Subject, is_there, subjects_of_task
from agent.trial.typical import typical_of

TASKS = load()


def _subject(task: str, name: str, spectrum: Spectrum) -> Subject:
    found = subjects_of_task(TASKS[task], spectrum.medium)
    return next(one for one in found if one.feature is not None and one.feature.name == name)


def _rng() -> np.random.Generator:
    return np.random.default_rng(1)


def _value(spectrum: Spectrum, subject: Subject) -> Measured:
    assert subject.feature is not None
    found = measure_feature(rest(spectrum), subject.feature)
    assert isinstance(found, Measured)
    return found


@pytest.fixture(scope="module")
def cv() -> Spectrum:
    return simulate("cv", "SDSS", 20.0, 0)


@pytest.fixture(scope="module")
def star() -> Spectrum:
    return simulate("fgk", "SDSS", 30.0, 0)


def test_a_removed_line_leaves_the_continuum_with_its_noise(cv: Spectrum) -> None:
    subject = _subject("cv", "Hα emission", cv)
    edited = remove(cv, rest(cv), subject, _rng())
    assert isinstance(edited, Edited)
    assert _value(cv, subject).value < -10
    after = _value(edited.spectrum, subject)
    assert abs(after.value) < 4 * after.error
    inside = (cv.wavelength > 6540) & (cv.wavelength < 6590)
    pulls = np.diff(edited.spectrum.flux[inside]) * np.sqrt(cv.ivar[inside][1:] / 2)
    assert 0.6 < pulls.std() < 1.4


def test_an_edit_changes_flux_in_its_window_only_and_says_so(cv: Spectrum) -> None:
    edited = remove(cv, rest(cv), _subject("cv", "Hα emission", cv), _rng())
    assert isinstance(edited, Edited)
    at_rest = rest(cv).wavelength
    outside = (at_rest < edited.window[0]) | (at_rest > edited.window[1])
    assert (edited.spectrum.flux[outside] == cv.flux[outside]).all()
    assert edited.spectrum.sha256 != cv.sha256
    assert edited.spectrum.meta["edited"] == "Hα removed"
    assert edited.energy == pytest.approx(float(((edited.spectrum.flux - cv.flux) ** 2 * cv.ivar).sum()))
    again = remove(cv, rest(cv), _subject("cv", "Hα emission", cv), _rng())
    assert isinstance(again, Edited)
    assert again.spectrum.sha256 == edited.spectrum.sha256


def test_a_flipped_line_has_the_other_sign_and_no_negative_flux(cv: Spectrum) -> None:
    subject = _subject("cv", "Hα emission", cv)
    edited = flip(cv, rest(cv), subject, _rng())
    assert isinstance(edited, Edited)
    after = _value(edited.spectrum, subject)
    assert after.value > 3 * after.error
    inside = (cv.wavelength > 6540) & (cv.wavelength < 6590)
    assert (edited.spectrum.flux[inside] > -3 / np.sqrt(cv.ivar[inside])).all()


def test_a_shifted_line_is_no_more_where_it_was_and_keeps_its_flux(cv: Spectrum) -> None:
    subject = _subject("cv", "Hα emission", cv)
    edited = shift(cv, rest(cv), subject, _rng())
    assert isinstance(edited, Edited)
    assert not is_there(subject, rest(edited.spectrum))
    added = np.clip(edited.spectrum.flux - cv.flux, 0, None).sum()
    taken = np.clip(cv.flux - edited.spectrum.flux, 0, None).sum()
    assert added == pytest.approx(taken, rel=0.2)


def _with_a_masked_spike(spectrum: Spectrum, at: float, flux: float) -> Spectrum:
    """Return the spectrum with one pixel without data that holds this flux."""
    pixel = int(np.argmin(np.abs(rest(spectrum).wavelength - at)))
    values, ivar = spectrum.flux.copy(), spectrum.ivar.copy()
    values[pixel], ivar[pixel] = flux, 0.0
    return replace(spectrum, flux=values, ivar=ivar, exposures=())


def test_a_pixel_without_data_is_not_moved_with_a_line(cv: Spectrum) -> None:
    subject = _subject("cv", "Hα emission", cv)
    spiked = _with_a_masked_spike(cv, 6563.0, 1e4 * float(cv.flux.max()))
    edited = shift(spiked, rest(spiked), subject, _rng())
    assert isinstance(edited, Edited)
    assert edited.spectrum.flux[spiked.ivar > 0].max() < 2 * cv.flux.max()


def test_a_pixel_without_data_does_not_change_the_strength_of_an_injected_band(star: Spectrum) -> None:
    subject = _subject("cc", "C2 5165", star)
    inside = _with_a_masked_spike(star, sum(subject.span) / 2, 1e4 * float(star.flux.max()))
    beside = _with_a_masked_spike(star, sum(subject.side_bands[0]) / 2, 1e4 * float(star.flux.max()))
    for spiked in (inside, beside):
        edited = inject(spiked, rest(spiked), subject, typical_of(subject, "cc"), _rng())
        assert isinstance(edited, Edited)
        assert _value(edited.spectrum, subject).value == pytest.approx(typical_of(subject, "cc").strength, abs=0.05)


@pytest.mark.parametrize(("task", "name"), [("cv", "Hα emission"), ("wd", "Hβ absorption"), ("cc", "C2 5165")])
def test_an_injected_feature_is_present(task: str, name: str, star: Spectrum) -> None:
    subject = _subject(task, name, star)
    edited = inject(star, rest(star), subject, typical_of(subject, task), _rng())
    assert isinstance(edited, Edited)
    assert is_there(subject, rest(edited.spectrum))


def test_injected_emission_brings_the_noise_of_its_photons(star: Spectrum) -> None:
    subject = _subject("cv", "Hα emission", star)
    edited = inject(star, rest(star), subject, typical_of(subject, "cv"), _rng())
    assert isinstance(edited, Edited)
    variance = star.ivar / np.where(edited.spectrum.ivar > 0, edited.spectrum.ivar, np.inf)
    peak = np.argmax(variance)
    assert variance[peak] > 1.3
    assert abs(rest(star).wavelength[peak] - sum(subject.span) / 2) < 5
    assert np.median(variance[star.ivar > 0]) == 1


@pytest.mark.parametrize("task", TASKS)
def test_every_feature_of_a_task_can_be_injected(task: str, star: Spectrum) -> None:
    """Typical strengths and widths are such that the task calls the feature present."""
    for subject in subjects_of_task(TASKS[task], star.medium):
        edited = inject(star, rest(star), subject, typical_of(subject, task), _rng())
        if isinstance(edited, Edited) and is_there(subject, rest(edited.spectrum)) is not None:
            assert is_there(subject, rest(edited.spectrum)), subject.name
        else:
            assert is_there(subject, rest(star)) is None, subject.name


def test_no_placebo_where_the_task_asks_for_a_spectrum_without_lines(star: Spectrum) -> None:
    assert (4000.0, 6800.0) in [tuple(round(w, -1) for w in one) for one in avoided(rest(star), TASKS["wd"])]


def test_a_removed_band_is_absent() -> None:
    carbon = simulate("cc", "SDSS", 20.0, 0)
    subject = _subject("cc", "C2 5165", carbon)
    edited = remove(carbon, rest(carbon), subject, _rng())
    assert isinstance(edited, Edited)
    assert is_there(subject, rest(carbon))
    assert is_there(subject, rest(edited.spectrum)) is False
    assert isinstance(flip(carbon, rest(carbon), subject, _rng()), NotEdited)


def test_a_placebo_has_the_energy_and_stays_off_what_is_measured(cv: Spectrum) -> None:
    subject = _subject("cv", "Hα emission", cv)
    real = remove(cv, rest(cv), subject, _rng())
    assert isinstance(real, Edited)
    window, avoid = (6400.0, 6700.0), avoided(rest(cv), TASKS["cv"])
    made = placebo(cv, rest(cv), real, window, avoid, _rng())
    assert isinstance(made, Edited)
    assert made.energy == pytest.approx(real.energy)
    assert not any(made.window[0] < hi and lo < made.window[1] for lo, hi in (*avoid, window))
    for one in subjects_of_task(TASKS["cv"], cv.medium):
        assert one.feature is not None
        assert measure_feature(rest(made.spectrum), one.feature) == measure_feature(rest(cv), one.feature)


def test_without_room_there_is_no_placebo(cv: Spectrum) -> None:
    real = remove(cv, rest(cv), _subject("cv", "Hα emission", cv), _rng())
    assert isinstance(real, Edited)
    made = placebo(cv, rest(cv), real, (6400.0, 6700.0), [(3000.0, 11000.0)], _rng())
    assert isinstance(made, NotEdited)
