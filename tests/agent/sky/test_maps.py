"""Maps of catalogues: what may reach a policy, column by column, and the real services (only when asked for)."""

from __future__ import annotations

import numpy as np
import pytest

from agent.sky.maps import CatalogueMap, bundled
from agent.sky.matching import Target, record_of
from agent.sky.tap import TapClient

BANDS = {
    "gaia_dr3": ("G", "BP", "RP"),
    "gaia_dr4": ("G", "BP", "RP"),
    "twomass": ("J", "H", "Ks"),
    "allwise": ("W1", "W2", "W3", "W4"),
    "sdss_dr16": ("u", "g", "r", "i", "z"),
    "ps1_dr1": ("g", "r", "i", "z", "y"),
}
ASTROMETRY = {"parallax", "pm_ra", "pm_dec"}
QUALITY = {"ruwe", "bp_rp_excess", "g_observations", "g_flux_over_error"}
NOT_FOR_THE_AGENT = {
    "gaia_dr3": {"epoch"},
    "gaia_dr4": {"epoch"},
    "twomass": {"epoch"},
    "sdss_dr16": {"epoch"},
    "ps1_dr1": {"epoch"},
}


def of_services() -> list[CatalogueMap]:
    """Maps of catalogues that are asked by TAP: light curves come another way."""
    return [catalogue for catalogue in bundled().values() if catalogue.role != "light curve"]


def with_errors(names: set[str]) -> set[str]:
    return names | {f"{name}_error" for name in names}


def expected(key: str) -> set[str]:
    """Magnitudes and their errors, and of Gaia, which gives no such errors, motion and quality."""
    bands = set(BANDS.get(key, ()))
    return bands | with_errors(ASTROMETRY) | QUALITY if key.startswith("gaia") else with_errors(bands)


def test_only_listed_columns_reach_a_policy_and_the_others_are_kept_back_on_purpose() -> None:
    assert bundled().keys() == {*BANDS, "simbad", "vsx", "ztf"}
    for key, catalogue in bundled().items():
        served = {name for name, column in catalogue.columns.items() if column.agent}
        assert served == expected(key), key
        assert set(catalogue.columns) - served == NOT_FOR_THE_AGENT.get(key, set()), key
        words = " ".join(catalogue.columns[name].column for name in served).lower()
        assert not any(word in words for word in ("class", "type", "prob", "vari", "flag", "name", "teff", "logg"))


def test_every_map_has_a_service_with_a_canary_and_columns_that_tell_a_class() -> None:
    for catalogue in of_services():
        assert catalogue.service is not None
        assert catalogue.service.canary is not None
        assert catalogue.class_bearing
        assert not {name.lower() for name in catalogue.class_bearing} & {
            name.lower() for name in catalogue.columns_read
        }
        assert catalogue.role != "names" or catalogue.texts


@pytest.mark.live_services
@pytest.mark.parametrize("key", [catalogue.key for catalogue in of_services()])
def test_the_real_service_finds_the_canary(key: str) -> None:
    """The canary itself as the target: found, at its place, with values."""
    catalogue = bundled()[key]
    assert catalogue.service is not None
    assert catalogue.service.canary is not None
    target = Target("x", *catalogue.service.canary, (catalogue.epoch - 20, catalogue.epoch + 20))
    ((sources,), _) = TapClient().sources(catalogue, [target])
    record = record_of(catalogue, target, sources or ())
    assert record.status == "found"
    assert record.sources[0].values or record.sources[0].texts


@pytest.mark.live_services
def test_barnards_star_is_where_it_was_in_2000() -> None:
    catalogue = bundled()["gaia_dr3"]
    target = Target("x", 269.45207, 4.69339, (2000.0, 2000.0))  # J2000, SIMBAD
    ((sources,), _) = TapClient().sources(catalogue, [target])
    assert (
        np.hypot(*(record_of(catalogue, target, sources or ()).sources[0].values[n] for n in ("pm_ra", "pm_dec")))
        > 10_000
    )
