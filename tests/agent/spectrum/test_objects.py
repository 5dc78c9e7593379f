"""Which spectra are of one object: names, positions, and what contradicts."""

from __future__ import annotations

import numpy as np
import pytest

from agent.spectrum.objects import MOST_OF_FILE, MOST_PLACES, Identity, date_text, identity_of, object_name, observed_at
from agent.spectrum.objects import objects as grouped

ARCSEC = 1 / 3600


def of(name: str = "", ra: float | None = None, dec: float | None = None, file: str = "a.fits", **ids: str) -> Identity:
    return identity_of(file, ids | ({"object": name} if name else {}), ra, dec)


def numbers(*identities: Identity) -> list[int]:
    return grouped(identities).tolist()


def test_positions_within_two_arcseconds_are_one_object_also_across_the_meridian_and_at_the_pole() -> None:
    assert numbers(of(ra=10, dec=20), of(ra=10, dec=20 + 1.9 * ARCSEC), of(ra=10, dec=20 - 2.1 * ARCSEC)) == [0, 0, 2]
    assert numbers(of(ra=359.9999, dec=0), of(ra=0.0001, dec=0)) == [0, 0]
    assert numbers(of(ra=0, dec=89.9999), of(ra=180, dec=89.9999)) == [0, 0]
    assert numbers(of(ra=10, dec=60), of(ra=10 + 3 * ARCSEC, dec=60)) == [0, 0]


def test_spellings_of_one_name_are_one_object_and_epochs_in_a_name_are_no_part_of_it() -> None:
    assert numbers(of("U Gem"), of("V* U_Gem"), of("u gem phase 0.35"), of("SS Cyg")) == [0, 0, 0, 3]
    assert numbers(of("HD036512"), of("HD 36512"), of("HD 36513")) == [0, 0, 2]
    assert numbers(of("SDSS J103411.25+354245.6"), of(designation="J103411.25+354245.6")) == [0, 0]
    assert numbers(of(source_id="4711471147114711"), of(gaia_dr3="4711471147114711"), of(targetid="47")) == [0, 0, 2]


@pytest.mark.parametrize("name", ["", "spectrum", "Star", "target 1", "Unknown", "field star 3", "white dwarf", "M5V"])
@pytest.mark.parametrize("other", ["12", "266-51602-13", "spec-0266-51602-0013.fits", "N/A", "candidate 17", "CV"])
def test_words_classes_short_numbers_files_and_fibres_name_no_object(name: str, other: str) -> None:
    assert object_name(name) is object_name(other) is None
    assert numbers(of(name), of(name), of(other), of(other)) == [0, 1, 2, 3]


def test_names_of_files_and_identifiers_of_spectra_are_no_names_of_objects() -> None:
    assert numbers(of(file="u_gem_1.txt"), of(file="u_gem_2.txt")) == [0, 1]
    assert numbers(of(obsid="740103008"), of(obsid="740103008")) == [0, 1]


def test_a_name_and_a_position_that_contradict_each_other_are_two_objects() -> None:
    near, moved, far = of("NN Ser", 10, 20), of("NN Ser", 10, 20 + 30 * ARCSEC), of("NN Ser", 10, 21)
    assert numbers(near, moved, far, of("NN Ser", 10, 21)) == [0, 0, 2, 2]
    assert numbers(of("GJ 65A", 10, 20), of("GJ 65B", 10, 20), of("GJ 65 A"), of(ra=10, dec=20)) == [0, 1, 0, 0]
    assert numbers(of("U Gem", 10, 20), of("SS Cyg", 10, 20)) == [0, 1]
    assert numbers(of("U Gem", 10, 20), of("HD 64511", 10, 20)) == [0, 0]  # another catalogue
    assert numbers(of(source_id="111111", ra=10, dec=20), of(source_id="222222", ra=10, dec=20)) == [0, 1]


def test_a_name_at_many_places_and_a_place_of_many_fibres_say_nothing() -> None:
    names = [of("Hyades", 60.0 + place, 16.0) for place in range(MOST_PLACES + 1)]
    assert numbers(*names, of("Hyades")) == list(range(MOST_PLACES + 2))
    arms = [of("IZw 18", 10, 20, file=f"arms.fits#{arm}") for arm in range(2)]
    fibres = [of("NGC 188", 10, 85, file=f"fibres.fits#{fibre}") for fibre in range(MOST_OF_FILE + 1)]
    assert numbers(*arms, *fibres) == [0, 0, *range(2, MOST_OF_FILE + 3)]


def test_a_hundred_thousand_spectra_are_grouped_as_they_were_planted() -> None:
    rng = np.random.default_rng(1)
    objects = rng.integers(0, 40_000, 100_000)
    ra, dec = rng.random(40_000) * 360, np.degrees(np.arcsin(rng.random(40_000) * 2 - 1))
    jitter = rng.normal(0, 0.2 * ARCSEC, 100_000)
    spectra = [Identity((), ra[o], float(np.clip(dec[o] + by, -90, 90))) for o, by in zip(objects, jitter, strict=True)]
    _, first = np.unique(objects, return_index=True)
    expected = np.zeros(40_000, dtype=int)
    expected[objects[first]] = first
    # Some planted objects are near each other by chance.
    assert (grouped(spectra) == expected[objects]).mean() > 0.999
    assert len(set(numbers(*[Identity((), 10.0, 20 + by) for by in jitter]))) == 1


def test_dates_of_files() -> None:
    assert observed_at({}, {"hjd": 2459087.5250569}) == pytest.approx(59087.0250569)
    assert observed_at({}, {"date-obs": "2011-05-26T12:00:00"}) == 55707.5
    assert observed_at({}, {"time": "58162.0", "u_time": "MJD"}) == 58162.0
    assert observed_at({"plate-mjd-fiber": "266-51602-13"}, {}) == 51602.0
    assert observed_at({}, {"date-obs": "unknown", "mjd": None}) is None
    assert [date_text(59087.0250569), date_text(58162.0)] == ["2020-08-26 00:36", "2018-02-13"]
