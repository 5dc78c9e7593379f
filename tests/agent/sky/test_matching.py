"""Which source is the object, in fields of which the generator knows the truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.sky.maps import bundled
from agent.sky.matching import Target, blend_of, distances, matched, moved, record_of
from agent.sky.records import Source
from tests.benchmarks.sky_matching import DENSITIES, measure

GAIA = bundled()["gaia_dr3"]


@pytest.mark.long
@pytest.mark.parametrize("is_stated", [True, False])
@pytest.mark.parametrize("name", DENSITIES)
def test_right_matches_and_blends_in_simulated_fields(name: str, is_stated: bool) -> None:
    rates = measure(2_000, DENSITIES[name], is_stated, seed=1)
    assert rates.right >= 0.995
    assert rates.blends < 20 or rates.recovered >= 0.95


@given(st.floats(0, 359.99), st.floats(-85, 85), st.floats(-1000, 1000), st.floats(-1000, 1000), st.floats(-20, 20))
def test_a_star_is_matched_at_any_place_motion_and_epoch(
    ra: float, dec: float, east: float, north: float, years: float
) -> None:
    source = Source("1", ra, dec, 0.0, {"pm_ra": east, "pm_dec": north, "G": 15.0})
    place = moved(ra, dec, east, north, years)
    for epochs in ((2016 + years, 2016 + years), (min(1996.0, 2016 + years), 2036.0)):
        record = record_of(GAIA, Target("x", *place, epochs), [source])
        assert record.sources[0].separation < 0.05  # near a pole the directions turn on the way
        assert matched(record, 3.0) == record.sources[0]


def test_of_two_within_the_aperture_the_bright_one_is_the_object_and_a_distant_one_is_a_blend() -> None:
    north = 1 / 3600
    faint = Source("faint", 10.0, 0.1 * north, 0.0, {"G": 20.5})
    bright = Source("bright", 10.0, 0.4 * north, 0.0, {"G": 16.0})
    near = Source("near", 10.0, 2.0 * north, 0.0, {"G": 15.5})
    record = record_of(GAIA, Target("x", 10.0, 0.0), [faint, bright, near])
    source = matched(record, 3.3)
    assert source is not None
    assert source.id == "bright"
    assert blend_of(record, source, 3.3).is_blend
    assert not blend_of(record_of(GAIA, Target("x", 10.0, 0.0), [faint, bright]), source, 3.3).is_blend


def test_distances_agree_with_astropy() -> None:
    from astropy.coordinates import SkyCoord

    rng = np.random.default_rng(0)
    ra, dec = rng.uniform(0, 360, (2, 200)), rng.uniform(-90, 90, (2, 200))
    first, second = (SkyCoord(a, d, unit="deg") for a, d in zip(ra, dec, strict=True))
    assert np.allclose(distances(ra[0], dec[0], ra[1], dec[1]), first.separation(second).arcsec, rtol=1e-9)
