"""The sky panel: numbers, plane, magnitudes beside those of the spectrum, surroundings, light curves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from agent.measure.values import Measured
from agent.sky.facts import SKY_QUANTITIES
from agent.sky.photometry import synthetic
from agent.sky.records import LightCurve
from reviewer.web.verdict_first import HIDDEN
from tests.reviewer.sky.objects import FAST, STAR, curve, failed, gaia, named, source, starry
from tests.reviewer.web.conftest import client_of
from tests.support.campaign import Desk


def by_name(rows, key="name"):
    return {row[key]: row for row in rows}


def magnitudes(spectrum, fainter=0.0):
    """Those of the spectrum in Gaia's bands, as a catalogue gives them that measures it fainter."""
    own = synthetic(spectrum, ("G", "BP", "RP"))
    return {name: value.value + fainter for name, value in own.items() if isinstance(value, Measured)}


def test_numbers_and_the_place_in_the_plane(add, panel) -> None:
    spectrum = starry()
    add(spectrum, gaia(spectrum, source(0.2, 0.0, "42", **STAR), queried_at="2026-11-30T01:00:00Z"))
    shown = panel(spectrum.sha256)
    numbers = by_name(shown["numbers"])
    assert list(numbers) == list(SKY_QUANTITIES)
    assert numbers["absolute_magnitude"]["value"] == pytest.approx(15 + 5 * math.log10(10.017) - 10, abs=1e-3)
    assert (numbers["absolute_magnitude"]["unit"], numbers["absolute_magnitude"]["reason"]) == ("mag", "")
    assert (numbers["j_k"]["value"], numbers["j_k"]["reason"]) == (None, "no magnitude J, Ks")
    point = shown["point"]
    assert (point["bp_rp"], point["absolute_magnitude"]) == (1.25, numbers["absolute_magnitude"]["value"])
    assert point["limit"] > point["absolute_magnitude"]
    assert {"main sequence", "white dwarfs"} <= {locus["name"] for locus in shown["loci"]}
    assert all(len(locus["bp_rp"]) == len(locus["absolute_magnitude"]) > 2 for locus in shown["loci"])
    (answer,) = shown["catalogues"]
    assert (answer["title"], answer["status"], answer["sources"]) == ("Gaia DR3", "found", 1)
    assert answer["separation"] == pytest.approx(0.2, abs=1e-3)
    assert (shown["simulated"], shown["note"]) == (False, "")


def test_an_uncertain_parallax_gives_only_a_limit(add, panel) -> None:
    spectrum = starry()
    add(spectrum, gaia(spectrum, source(**STAR | {"parallax_error": 5.0}), simulated=True))
    shown = panel(spectrum.sha256)
    assert shown["point"]["absolute_magnitude"] is None
    assert shown["point"]["limit"] == pytest.approx(15 + 5 * math.log10(20.017) - 10, abs=1e-3)
    assert "σ" in shown["point"]["reason"]
    assert shown["simulated"]


def test_a_failed_catalogue_is_shown_with_its_sentence(add, panel, store) -> None:
    spectrum = starry()
    add(spectrum, failed(spectrum, detail="Gaia: the service answered HTML."))
    shown = panel(spectrum.sha256)
    (answer,) = shown["catalogues"]
    assert (answer["status"], answer["detail"]) == ("failed", "Gaia: the service answered HTML.")
    assert (shown["finder"], shown["point"], shown["bands"]) == (None, None, [])
    assert "did not answer" in by_name(shown["numbers"])["absolute_magnitude"]["reason"]
    store.sky.add([(spectrum.sha256, gaia(spectrum))])
    shown = panel(spectrum.sha256)
    assert [answer["status"] for answer in shown["catalogues"]] == ["not found"], "what was added since is shown"
    assert shown["finder"]["stars"] == []
    assert shown["finder"]["text"] == "Gaia DR3 has no source within 10″."


def test_without_records_the_panel_says_how_to_get_some(add, panel) -> None:
    spectrum = starry()
    add(spectrum)
    shown = panel(spectrum.sha256)
    assert "spec-o3 sky fetch" in shown["note"]
    assert (shown["catalogues"], shown["loci"], shown["names_hidden"]) == ([], [], False)
    panel("0" * 64, status=404)


def test_magnitudes_check_the_flux_calibration(add, panel) -> None:
    spectrum = starry()
    add(spectrum, gaia(spectrum, source(**magnitudes(spectrum, 0.3) | {"G_error": 0.01})))
    shown = panel(spectrum.sha256)
    bands = by_name(shown["bands"])
    assert list(bands) == ["G", "BP", "RP"]
    assert [band["difference"] for band in bands.values()] == [-0.3] * 3
    assert all(5000 < band["wavelength"] < 8000 for band in bands.values())
    # The flux of the spectrum is about 100, and the catalogue has it fainter.
    assert bands["G"]["flux"] * shown["sed_scale"] == pytest.approx(100 * 10 ** (-0.4 * 0.3), rel=0.05)
    assert bands["G"]["flux_error"] == pytest.approx(bands["G"]["flux"] * 0.01 * 0.921, rel=0.01)
    assert shown["sed_note"] == "Spectrum minus catalogues: median -0.30 mag over 3 bands."


def test_bands_of_one_name_are_those_of_their_surveys(add, panel) -> None:
    spectrum = starry()
    surveys = {"sdss_dr16": "sdss2010", "ps1_dr1": "panstarrs"}
    own = {key: synthetic(spectrum, ("g", "z"), survey=survey) for key, survey in surveys.items()}
    records = [
        replace(gaia(spectrum, source(**{name: value.value for name, value in own[key].items()})), catalogue=key)
        for key in surveys
    ]
    add(spectrum, *records)
    bands = panel(spectrum.sha256)["bands"]
    assert [(band["name"], band["difference"]) for band in bands] == [("g", 0.0), ("z", 0.0)] * 2
    wavelengths = {(band["name"], band["catalogue"][:2]): band["wavelength"] for band in bands}
    assert wavelengths["g", "Pa"] - wavelengths["g", "SD"] > 50


def test_another_unit_has_its_scale(add, panel) -> None:
    spectrum = starry()
    other = replace(spectrum, flux=spectrum.flux * 1e-17, ivar=spectrum.ivar * 1e34, flux_unit="erg/s/cm2/Angstrom")
    add(other, gaia(other, source(**magnitudes(other))))
    shown = panel(other.sha256)
    assert shown["sed_scale"] == pytest.approx(1e-17)
    assert [band["difference"] for band in shown["bands"]] == [0.0] * 3


def test_a_relative_flux_is_scaled_to_the_catalogue(add, panel) -> None:
    spectrum = starry(flux_unit="relative")
    fainter = magnitudes(spectrum, 2.0)
    add(spectrum, gaia(spectrum, source(**fainter | {"BP": fainter["BP"] + 0.2})))
    shown = panel(spectrum.sha256)
    bands = by_name(shown["bands"])
    assert {name: band["difference"] for name, band in bands.items()} == {"G": 0.0, "BP": -0.2, "RP": 0.0}
    assert bands["G"]["flux"] * shown["sed_scale"] == pytest.approx(100, rel=0.05)
    assert "relative: it is scaled to the catalogues by the median over 3 bands" in shown["sed_note"]


def test_one_band_of_a_relative_flux_checks_nothing(add, panel) -> None:
    spectrum = starry(flux_unit="relative")
    add(spectrum, gaia(spectrum, source(G=15.0)))
    (band,) = panel(spectrum.sha256)["bands"]
    assert (band["synthetic"], band["difference"]) == (15.0, None)
    assert "no other band" in band["reason"]


def test_a_relative_flux_that_covers_no_band_has_no_scale(add, panel) -> None:
    short = starry(flux_unit="relative")
    keep = slice(600, 700)
    short = replace(short, **{name: getattr(short, name)[keep] for name in ("wavelength", "flux", "ivar", "mask")})
    add(short, gaia(short, source(G=15.0)))
    shown = panel(short.sha256)
    assert (shown["sed_scale"], shown["bands"][0]["synthetic"]) == (None, None)
    assert "covers" in shown["bands"][0]["reason"]
    assert "cannot be drawn" in shown["sed_note"]


def test_the_finder_shows_where_a_fast_star_was(add, panel) -> None:
    # In 2016 it is 1″/yr times 6 years from its place of 2010, at which the position of the file holds.
    spectrum = starry()
    moved = source(0.6 * 6, -0.8 * 6, "fast", **STAR, **FAST)
    add(spectrum, gaia(spectrum, moved, source(4.0, 3.0, "other", G=15.0), source(-20.0, 0.0, "far", G=5.0)))
    finder = panel(spectrum.sha256)["finder"]
    fast, other = finder["stars"]
    assert (fast["matched"], other["matched"]) == (True, False)
    assert math.hypot(fast["east"], fast["north"]) < 0.01
    assert (fast["motion_east"], fast["motion_north"]) == (0.6, -0.8)
    assert (finder["fibre"], finder["radius"]) == (2.0, 10.0)
    assert "Gaia DR3 fast" in finder["text"]
    assert finder["text"].endswith("No blend: other sources add 0.0% of its light to the fibre.")
    assert fast["share"] == 1.0


def test_a_star_that_stands_still_keeps_its_place_when_the_object_moves(add, panel) -> None:
    # The position of the file holds in 2005 at the latest, when the star was there; it was observed in 2010.
    spectrum = starry()
    target_in_2005 = replace(
        gaia(spectrum, source(0.6 * 11, -0.8 * 11, "fast", **STAR, **FAST), source(6.0, 0.0, "still", G=15.0)),
        epochs=(2005.0, 2005.0),
    )
    add(spectrum, target_in_2005)
    still, fast = sorted(panel(spectrum.sha256)["finder"]["stars"], key=lambda star: star["matched"])
    assert math.hypot(fast["east"], fast["north"]) < 0.02
    assert (still["east"], still["north"]) == (pytest.approx(6.0 - 3.0, abs=0.02), pytest.approx(4.0, abs=0.02))


def test_a_blend_and_a_position_without_a_star_are_said(add, panel) -> None:
    blended, lonely = starry(1), starry(2, survey="")
    add(blended, gaia(blended, source(0.1, 0.0, "a", G=15.0), source(1.0, 0.0, "b", G=15.0)))
    add(lonely, gaia(lonely, source(4.0, 0.0, "c", G=15.0)))
    finder = panel(blended.sha256)["finder"]
    assert 0.5 < finder["blend"] < 1
    assert f"A blend: other sources add {finder['blend']:.0%}" in finder["text"]
    assert sum(star["share"] for star in finder["stars"]) == pytest.approx(1, abs=1e-3)
    finder = panel(lonely.sha256)["finder"]
    assert finder["text"] == "Gaia DR3 has no source within 1.5″; the nearest one is 4.0″ away."
    assert (finder["blend"], finder["fibre"]) == (None, None)


def test_light_curves_are_of_the_object_by_band(add, panel) -> None:
    spectrum = starry()
    star = replace(source(**STAR), curve=curve("g", "r", "g"))
    add(spectrum, gaia(spectrum, star, replace(source(3.0, 0.0, "other"), curve=curve("i"))))
    curves = panel(spectrum.sha256)["curves"]
    assert [(shown["band"], shown["mjd"]) for shown in curves] == [("g", [58000.0, 58002.0]), ("r", [58001.0])]


def test_the_period_of_a_light_curve(add, store) -> None:
    spectrum = starry()
    n = np.arange(300)
    mjd = 58000 + np.random.default_rng(1).uniform(0, 50, n.size)
    own = 15 + 0.3 * np.sin(2 * np.pi * mjd / 0.32)
    bands = tuple(np.where(n % 2, "g", "r").tolist())
    curve_of_star = LightCurve(tuple(mjd.tolist()), tuple(own.tolist()), (0.01,) * n.size, bands)
    add(spectrum, gaia(spectrum, replace(source(**STAR), curve=curve_of_star)))
    client = client_of(store, "RE")

    def period(name: str, band: str, status: int = 200) -> dict[str, Any]:
        answer = client.get(f"/api/v1/spectrum/{name}/sky/period", params={"band": band})
        assert answer.status_code == status
        return answer.json()

    found = period(spectrum.sha256, "g")
    assert found["period"] == pytest.approx(0.32, rel=1e-3)
    assert (found["false_alarm"] < 1e-6, found["reason"]) == (True, "")
    assert period(spectrum.sha256, "z", 404)["kind"] == "not_found"
    assert period("item-1", "g") == {"period": None, "false_alarm": None, "reason": HIDDEN}
    few = starry(1)
    add(few, gaia(few, replace(source(**STAR), curve=curve("g", "g"))))
    assert period(few.sha256, "g")["reason"].startswith("2 points of band g")


def test_a_spectrum_whose_medium_a_person_stated_keeps_its_records(add, panel, store) -> None:
    spectrum = starry(medium="air", meta={"medium_assumed": True})
    item = add(spectrum, gaia(spectrum, source(**STAR)), named(spectrum, otype="CV*"))
    desk = Desk(store)
    desk.decide("RE", item, "keep")
    version = store.reviews.set_medium(
        person="RE",
        item_id=item,
        base_version_id=store.items.get(item).version.id,
        medium="vacuum",
        key="medium",
        lease_token=store.leases.take("RE", item).token,
    )
    sha256 = store.items.get(item).row.spectrum_sha256
    assert sha256 not in (None, spectrum.sha256)
    shown = panel(sha256)
    assert (shown["point"]["bp_rp"], shown["names_hidden"], shown["names"]) == (1.25, True, [])
    store.marks.commit_verdict(person="RE", item_id=item, version_id=version.id, verdict="YES")
    assert panel(sha256)["names"][0]["texts"] == {"otype": "CV*"}
