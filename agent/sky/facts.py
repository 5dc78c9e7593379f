"""Numbers from the records of an object: luminosity, colours, motion, variability, surroundings.

One place computes them, for the page, for the agent's tool and for the baseline. A number that cannot be had is
``Undefined`` with its reason.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from agent.language import deferred
from agent.measure.values import Measured, Undefined
from agent.sky.maps import MAGNITUDES, bundled
from agent.sky.matching import Blend, blend_of, fibre_of, matched
from agent.sky.records import Sky, SkyRecord, Source
from agent.spectrum import Spectrum
from agent.tasks.values import SkyQuantity

ZERO_POINT = -0.017
"""mas, of Gaia DR3's parallaxes: the median of quasars (Lindegren et al. 2021 A&A 649, A4). It is subtracted."""
LEAST_SIGNIFICANCE = 5.0
"""ϖ/σ above which a distance is 1/ϖ: below, the inverse is biased (Luri et al. 2018 A&A 616, A9)."""
LIMIT_SIGMA = 2.0
"""σ added to the parallax for the largest possible one."""
KM_S = 4.740471
"""km/s of 1 mas/yr at 1 kpc, that is of (mas/yr) / mas."""

SKY_QUANTITIES: tuple[SkyQuantity, ...] = get_args(SkyQuantity)
UNITS: Mapping[SkyQuantity, str] = {
    **dict.fromkeys(SKY_QUANTITIES, "mag"),
    "parallax_over_error": "",
    "proper_motion_over_error": "",
    "tangential_velocity": "km/s",
    "variability": "",
    "ruwe": "",
}

GAIA = ("gaia_dr4", "gaia_dr3")
"""Keys of the maps with the role "astrometry", the newest first."""


@dataclass(frozen=True)
class SkyFacts:
    """What is known of one object.

    :param gaia: the record of the newest release that answered; None if none did
    :param source: the matched source; None if there is none within the aperture
    :param fibre: diameter in arcseconds; None: not known
    :param magnitudes: of the matched sources of all catalogues, with their errors (0: not given)
    """

    gaia: SkyRecord | None
    source: Source | None
    fibre: float | None
    blend: Blend | None
    magnitudes: Mapping[str, Measured]
    quantities: Mapping[SkyQuantity, Measured | Undefined]


def facts_of(sky: Sky, spectrum: Spectrum) -> SkyFacts:
    """Compute everything that the records of the object of a spectrum allow."""
    answered = [sky.records[key] for key in GAIA if key in sky.records and sky.records[key].is_answer]
    gaia, fibre = (answered[0] if answered else None), fibre_of(spectrum)
    source = None if gaia is None else matched(gaia, fibre)
    magnitudes = _magnitudes(sky, fibre)
    blend = None if gaia is None or source is None else blend_of(gaia, source, fibre)
    return SkyFacts(gaia, source, fibre, blend, magnitudes, _quantities(gaia, source, magnitudes))


def _magnitudes(sky: Sky, fibre: float | None) -> dict[str, Measured]:
    known: dict[str, Measured] = {}
    for record in sky:
        catalogue = bundled().get(record.catalogue)
        error = 0.1 if catalogue is None else catalogue.position_error
        source = matched(record, fibre, error)
        if source is None or (catalogue is not None and catalogue.role == "names"):
            continue
        for name in MAGNITUDES:
            if name in source.values:
                known.setdefault(name, Measured(source.values[name], source.values.get(f"{name}_error", 0.0), "mag"))
    return known


def _quantities(
    gaia: SkyRecord | None, source: Source | None, magnitudes: Mapping[str, Measured]
) -> dict[SkyQuantity, Measured | Undefined]:
    if gaia is None:
        unknown = Undefined(deferred("Gaia was not queried, or did not answer"))
    else:
        unknown = Undefined(deferred("Gaia has no source at the position"))
    values: dict[SkyQuantity, Measured | Undefined] = dict.fromkeys(SKY_QUANTITIES, unknown)
    if source is not None:
        values |= _of_gaia(source.values)
    for quantity, first, second in (
        ("j_k", "J", "Ks"),
        ("w1_w2", "W1", "W2"),
        ("g_w1", "G", "W1"),
        ("bp_rp", "BP", "RP"),
    ):
        values[quantity] = _colour(magnitudes, first, second)  # type: ignore[index]
    return values


def _colour(magnitudes: Mapping[str, Measured], first: str, second: str) -> Measured | Undefined:
    if missing := [name for name in (first, second) if name not in magnitudes]:
        return Undefined(deferred("no magnitude {names}", names=", ".join(missing)))
    a, b = magnitudes[first], magnitudes[second]
    return Measured(a.value - b.value, math.hypot(a.error, b.error), "mag")


def _of_gaia(values: Mapping[str, float]) -> dict[SkyQuantity, Measured | Undefined]:
    no_parallax = Undefined(deferred("Gaia gives no parallax"))
    of: dict[SkyQuantity, Measured | Undefined] = dict.fromkeys(
        ("absolute_magnitude", "absolute_magnitude_limit", "parallax_over_error", "tangential_velocity"), no_parallax
    )
    g = values.get("G")
    parallax, error = values.get("parallax"), values.get("parallax_error")
    pm = _motion(values)
    if parallax is not None and error:
        corrected = parallax - ZERO_POINT
        of["parallax_over_error"] = Measured(corrected / error, 1.0)
        of |= _luminosity(g, corrected, error)
        of["tangential_velocity"] = _velocity(pm, corrected, error)
    no_motion = Undefined(deferred("Gaia gives no proper motion"))
    of["proper_motion_over_error"] = no_motion if pm is None else Measured(pm.value / pm.error, 1.0)
    of["reduced_proper_motion"] = no_motion
    if pm is not None and g is not None and pm.value > 0:
        # H = G + 5 log μ + 5, μ in ″/yr.
        reduced = g + 5 * math.log10(pm.value / 1000) + 5
        of["reduced_proper_motion"] = Measured(reduced, 5 / math.log(10) * pm.error / pm.value, "mag")
    of["ruwe"] = Measured(values["ruwe"], 0.0) if "ruwe" in values else Undefined(deferred("Gaia gives no RUWE"))
    of["variability"] = variability(values)
    return of


def _motion(values: Mapping[str, float]) -> Measured | None:
    """Return the total proper motion in mas/yr; its error is the larger one of the two coordinates."""
    names = ("pm_ra", "pm_dec", "pm_ra_error", "pm_dec_error")
    if any(name not in values for name in names):
        return None
    ra, dec, ra_error, dec_error = (values[name] for name in names)
    return Measured(math.hypot(ra, dec), max(ra_error, dec_error), "mas/yr") if max(ra_error, dec_error) > 0 else None


def _luminosity(g: float | None, parallax: float, error: float) -> dict[SkyQuantity, Measured | Undefined]:
    """Return M_G = G + 5 log ϖ − 10 (ϖ in mas), without extinction, and the faintest M_G that the parallax allows."""
    if g is None:
        return dict.fromkeys(("absolute_magnitude", "absolute_magnitude_limit"), Undefined(deferred("no magnitude G")))
    significance = parallax / error
    largest = parallax + LIMIT_SIGMA * error
    limit: Measured | Undefined = Undefined(deferred("the parallax is far below zero"))
    if largest > 0:
        limit = Measured(g + 5 * math.log10(largest) - 10, 0.0, "mag")
    value: Measured | Undefined = Undefined(
        deferred(
            "the parallax is {significance:.1f}σ; a distance needs more than {least:g}σ",
            significance=significance,
            least=LEAST_SIGNIFICANCE,
        )
    )
    if significance > LEAST_SIGNIFICANCE:
        value = Measured(g + 5 * math.log10(parallax) - 10, 5 / math.log(10) / significance, "mag")
    return {"absolute_magnitude": value, "absolute_magnitude_limit": limit}


def _velocity(pm: Measured | None, parallax: float, error: float) -> Measured | Undefined:
    if pm is None:
        return Undefined(deferred("Gaia gives no proper motion"))
    if parallax / error <= LEAST_SIGNIFICANCE:
        return Undefined(deferred("the parallax is too uncertain for a distance"))
    speed = KM_S * pm.value / parallax
    return Measured(speed, speed * math.hypot(pm.error / max(pm.value, 1e-9), error / parallax), "km/s")


def variability(values: Mapping[str, float]) -> Measured | Undefined:
    """Return the scatter of single G measurements as a fraction of the flux: √n / (mean flux over its error).

    A constant star of G 15 has about 0.003, of G 19 about 0.02 (Riello et al. 2021 A&A 649, A3); variable stars more.
    """
    number, ratio = values.get("g_observations"), values.get("g_flux_over_error")
    if not number or not ratio or number <= 1 or ratio <= 0:
        return Undefined(deferred("Gaia gives no scatter of G"))
    scatter = math.sqrt(number) / ratio
    return Measured(scatter, scatter / math.sqrt(2 * (number - 1)))
