"""The locus planes and shape vectors: classes lie apart, and a spectrum is placed or says why not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agent.loci import Plane, place, planes, points
from agent.measure import measure_feature
from agent.similarity import SIZE, distances, shape_vector
from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.tasks import load
from agent.templates import bundled

TASKS = load()


def planes_of(task: str) -> tuple[Plane, ...]:
    return planes(TASKS[task], TASKS)


def plane_of(task: str, title: str) -> Plane:
    return next(plane for plane in planes_of(task) if title in plane.title)


def by_kind(plane: Plane) -> dict[str, np.ndarray]:
    """The places (n, 2) of the templates of each class."""
    found: dict[str, list[tuple[float, float]]] = {}
    for point in points(plane, bundled()):
        found.setdefault(point.kind, []).append((point.x, point.y))
    return {kind: np.array(places) for kind, places in found.items()}


def test_a_task_without_planes_of_its_own_has_those_of_others_or_none() -> None:
    b = TASKS["b"]
    assert b.planes == ()
    assert [plane.owner for plane in planes(b, TASKS)] == ["wd", "o", "o"]
    assert planes(replace(b, planes_of=()), TASKS) == ()
    titles = [plane.title for task in TASKS.values() for plane in task.planes]
    assert len(set(titles)) == len(titles)


def test_giants_and_dwarfs_lie_apart_in_the_cah_tio_plane() -> None:
    found = by_kind(plane_of("gm", "TiO and CaH"))
    giants, dwarfs = found["M giant"], found["M dwarf"]
    late = giants[giants[:, 1] < 0.75], dwarfs[dwarfs[:, 1] < 0.75]
    assert min(map(len, late)) > 8
    # At one TiO5 a dwarf has the deeper CaH: compare with the line through the dwarfs.
    line = np.polyfit(late[1][:, 1], late[1][:, 0], 1)
    assert np.mean(late[0][:, 0] > np.polyval(line, late[0][:, 1]) + 0.15) > 0.9


def test_classes_lie_apart_in_their_planes() -> None:
    found = by_kind(plane_of("ss", "ZrO"))
    assert found["S"][:, 1].max() < found["M giant"][:, 1].min()
    found = by_kind(plane_of("wd", "Hβ"))
    assert len(found["WD"]) >= 3
    assert np.median(found["WD"][:, 1]) > np.max(found["B"][:, 1])
    found = by_kind(planes_of("cc")[0])
    deepest = min(places[:, 0].min() for kind, places in found.items() if kind not in ("carbon", "M dwarf"))
    assert np.median(found["carbon"][:, 0]) < deepest
    found = by_kind(plane_of("o", "4542"))
    assert np.median(found["O"][:, 1]) > np.percentile(found["B"][:, 1], 90)


def test_a_plane_of_carbon_stars_has_the_tasks_own_ratios() -> None:
    """Their windows are vacuum wavelengths."""
    template = next(t for t in bundled().templates if t.about.kind == "carbon").spectrum()
    c2, cn = (measure_feature(template, TASKS["cc"].feature(name)) for name in ("C2 5165", "CN 6926"))
    here = place(planes_of("cc")[0], template)
    assert (here.x, here.y) == (c2, cn)


def test_a_template_as_a_spectrum_lies_on_its_own_point() -> None:
    plane = planes_of("gm")[0]
    template = next(t for t in bundled().templates if t.about.name == "HD 146051")
    point = next(p for p in points(plane, bundled()) if p.name == "HD 146051")
    here = place(plane, template.spectrum())
    assert (here.x.value, here.y.value) == (point.x, point.y)
    assert here.reason == ""


def test_a_spectrum_without_the_window_says_why() -> None:
    wavelength = np.linspace(4000.0, 6500.0, 2000)
    here = place(planes_of("gm")[0], Spectrum(wavelength, np.ones(2000), np.ones(2000) * 100))
    assert here.x is None
    assert here.y is None
    assert "CaH2 + CaH3: no data" in here.reason
    assert "TiO5 index: no data" in here.reason


@pytest.mark.parametrize("z", [0.0003, 0.9])
def test_the_redshift_of_a_star_is_used_and_that_of_a_galaxy_is_not(z: float) -> None:
    plane = planes_of("wd")[0]
    wavelength = np.linspace(4600.0, 5100.0, 2000)
    centre = 4862.69 * (1 + (z if z < 0.005 else 0.0))
    flux = 1 - 0.4 * np.exp(-0.5 * ((wavelength - centre) / 15) ** 2)
    noise = np.random.default_rng(1).normal(0, 0.005, 2000)
    here = place(plane, Spectrum(wavelength, flux + noise, np.full(2000, 4e4), redshift=z))
    assert here.x.value == pytest.approx(0.4 * 15 * np.sqrt(2 * np.pi), rel=0.05)
    assert here.y.value == pytest.approx(15 * 2.3548 / 4862.7 * 299792, rel=0.05)


def test_two_stars_of_one_class_are_nearer_than_two_of_two() -> None:
    seeds = {kind: [simulate(kind, "SDSS", 30.0, seed) for seed in (1, 2)] for kind in ("gm", "wd", "cv", "cc")}
    vectors = {kind: [shape_vector(s) for s in pair] for kind, pair in seeds.items()}
    for kind, (vector, other) in vectors.items():
        others = np.stack([other, *(v for k, pair in vectors.items() if k != kind for v in pair)])
        apart = distances(vector, others)
        assert np.argmin(apart) == 0, kind


def test_flux_calibration_does_not_count() -> None:
    spectrum = simulate("gm", "SDSS", 50.0, 1)
    tilt = 1e-15 * (spectrum.wavelength / 6000.0) ** 1.5
    tilted = replace(spectrum, flux=spectrum.flux * tilt, ivar=spectrum.ivar / tilt**2)
    assert distances(shape_vector(spectrum), shape_vector(tilted)[None])[0] < 0.06


def test_missing_ends_are_left_out_and_too_little_is_no_vector() -> None:
    spectrum = simulate("gm", "SDSS", 50.0, 1)

    def cut(lo: float, hi: float) -> Spectrum:
        return replace(
            spectrum, ivar=np.where((spectrum.wavelength > lo) & (spectrum.wavelength < hi), spectrum.ivar, 0.0)
        )

    part = shape_vector(cut(4200.0, 8800.0))
    assert part.shape == (SIZE,)
    assert np.isnan(part).any()
    assert distances(shape_vector(spectrum), part[None])[0] < 0.1
    assert shape_vector(cut(6400.0, 6700.0)) is None
    assert shape_vector(cut(1.0, 2.0)) is None


def test_nothing_in_common_is_infinitely_far() -> None:
    one, other = np.full(SIZE, np.nan, dtype=np.float32), np.ones(SIZE, dtype=np.float32)
    one[:10] = 1.0
    other[:10] = np.nan
    assert distances(one, other[None])[0] == np.inf
    assert distances(other, other[None])[0] == pytest.approx(0.0, abs=1e-5)
