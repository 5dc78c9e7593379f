"""The review aids on odd spectra: each gives an answer without a number that JSON lacks, and without a warning."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from agent.loci import place, planes
from agent.measure.two_points import between_points, in_frame
from agent.similarity import shape_vector
from agent.spectrum import Spectrum
from agent.tasks import load
from agent.templates import bundled, rank

WAVELENGTH = np.linspace(3700.0, 9100.0, 3000)
RANDOM = np.random.default_rng(5)
NOISE = RANDOM.normal(0.0, 1.0, 3000)
FLAT = Spectrum(WAVELENGTH, 10.0 + NOISE, np.ones(3000))

ODD = {
    "zero flux": replace(FLAT, flux=np.zeros(3000)),
    "negative flux": replace(FLAT, flux=-10.0 + NOISE),
    "no data": replace(FLAT, ivar=np.zeros(3000)),
    "one pixel with data": replace(FLAT, ivar=np.where(np.arange(3000) == 1500, 1.0, 0.0)),
    "every second pixel": replace(FLAT, ivar=np.where(np.arange(3000) % 2 == 0, 1.0, 0.0)),
    "infinite signal": replace(FLAT, ivar=np.full(3000, 1e300)),
    "no signal": replace(FLAT, ivar=np.full(3000, 1e-300)),
    "huge flux": replace(FLAT, flux=FLAT.flux * 1e120, ivar=np.full(3000, 1e-240)),
    "tiny flux": replace(FLAT, flux=FLAT.flux * 1e-30, ivar=np.full(3000, 1e60)),
    "one huge pixel": replace(FLAT, flux=np.where(np.arange(3000) == 1500, 1e30, FLAT.flux)),
    "two pixels": Spectrum(np.array([5000.0, 6000.0]), np.ones(2), np.ones(2)),
    "far infrared": replace(FLAT, wavelength=WAVELENGTH * 100),
    "below 1 Å": replace(FLAT, wavelength=WAVELENGTH * 1e-5),
    "redshift 7": replace(FLAT, redshift=7.0),
    "redshift 1e6": replace(FLAT, redshift=1e6),
    "redshift −0.999": replace(FLAT, redshift=-0.999),
    "at rest": replace(FLAT, frame="rest", redshift=2.0, medium="air"),
    "huge steps": Spectrum(np.geomspace(1.0, 1e9, 500), np.ones(500), np.ones(500)),
}


@pytest.fixture(params=ODD)
def odd(request: pytest.FixtureRequest) -> Spectrum:
    return ODD[request.param]


@pytest.mark.parametrize("task", ["cv", "gm"])
def test_line_table(odd: Spectrum, task: str) -> None:
    from agent.hints.line_table import line_table
    from reviewer.web.routes.aids import lines_of

    json.dumps(lines_of(odd, line_table(odd, load()[task])).model_dump(), allow_nan=False)


def test_ranking(odd: Spectrum) -> None:
    for match in rank(odd, bundled()):
        numbers = (match.z, match.velocity, match.error or 0.0, match.reduced_chi2, match.overlap)
        assert np.isfinite(numbers).all()
        template = bundled().templates[match.place]
        assert np.isfinite(match.multiplier(template.wavelength)).all()


def test_loci(odd: Spectrum) -> None:
    tasks = load()
    for task in tasks.values():
        for plane in planes(task, tasks):
            here = place(plane, odd)
            assert (here.x is None or here.y is None) == bool(here.reason)


def test_shape_vector(odd: Spectrum) -> None:
    vector = shape_vector(odd)
    assert vector is None or not np.isinf(vector).any()


@pytest.mark.parametrize("window", [(6500.0, 6600.0), (6500.0, 6500.0), (1e-300, 1e300)])
@pytest.mark.parametrize("frame", ["observed", "rest"])
def test_between_points(odd: Spectrum, window: tuple[float, float], frame: str) -> None:
    z = odd.redshift or 0.0
    found = between_points(in_frame(odd, frame, "air", z), window)
    assert bool(found.reason) == (found.ew is None or found.flux is None or found.fit is None)
    for value in (found.ew, found.flux):
        assert value is None or np.isfinite((value.value, value.error)).all()
