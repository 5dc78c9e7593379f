"""Deep links and positions in the header of an item."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from astropy import units
from astropy.coordinates import SkyCoord
from hypothesis import given
from hypothesis import strategies as st

from agent.spectrum import Spectrum
from reviewer.web.payload import links, sexagesimal


def spectrum(**known: Any) -> Spectrum:
    return Spectrum(np.linspace(4000, 9000, 50), np.ones(50), np.ones(50), **known)


def named(found: list[dict[str, str]]) -> dict[str, str]:
    return {link["name"]: link["url"] for link in found}


def test_a_position_leads_to_simbad_and_gaia() -> None:
    found = named(links(spectrum(ra=64.065186, dec=-45.28982, survey="")))
    assert set(found) == {"SIMBAD", "Gaia"}
    assert all("64.065186" in url and "-45.289820" in url for url in found.values())


@pytest.mark.parametrize(
    ("known", "part"),
    [
        ({"survey": "LAMOST", "ids": {"obsid": "101005"}}, "lamost.org/dr10/v2.0/spectrum/view?obsid=101005"),
        ({"survey": "SDSS", "ids": {"plate-mjd-fiber": "266-51602-13"}}, "plate=266&mjd=51602&fiber=13"),
        ({"survey": "DESI", "ids": {"targetid": "39633559463397282"}}, "targetid39633559463397282"),
    ],
)
def test_an_id_leads_to_the_surveys_own_page(known: dict[str, Any], part: str) -> None:
    assert part in named(links(spectrum(**known)))[known["survey"]]


def test_an_id_that_no_page_knows_and_a_simulation_have_no_survey_page() -> None:
    assert links(spectrum(survey="LAMOST", ids={"obsid": "-28762"})) == []
    made = spectrum(survey="simulated LAMOST", ids={"obsid": "5"}, meta={"simulated": True})
    assert links(made) == []


@given(st.floats(0, 360, exclude_max=True), st.floats(-90, 90))
def test_sexagesimal_is_what_astropy_reads_back(ra: float, dec: float) -> None:
    read = SkyCoord(sexagesimal(ra, dec), unit=(units.hourangle, units.deg))
    assert read.separation(SkyCoord(ra, dec, unit="deg")).arcsec < 0.12
