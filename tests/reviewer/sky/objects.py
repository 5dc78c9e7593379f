"""Records of catalogues for tests, of objects at the place where ``starry`` puts spectra."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from agent.sky.maps import bundled
from agent.sky.matching import Target, on_sky, record_of, target_of
from agent.sky.records import LightCurve, SkyRecord, Source
from agent.spectrum import Spectrum

RA, DEC = 150.0, 20.0
STAR = {"G": 15.0, "BP": 15.5, "RP": 14.25, "parallax": 10.0, "parallax_error": 0.1}
FAST = {"pm_ra": 600.0, "pm_dec": -800.0, "pm_ra_error": 0.1, "pm_dec_error": 0.1}
"""1″ per year."""


def starry(number: int = 0, **fields: Any) -> Spectrum:
    """A spectrum that covers the bands of Gaia, with a position, observed in 2010."""
    wavelength = np.linspace(3000.0, 11500.0, 2000)
    values = {
        "name": f"star-{number}.fits",
        "survey": "SDSS",
        "flux_unit": "1e-17 erg/s/cm2/Angstrom",
        "ids": {"plate-mjd-fiber": "2000-55197-100"},
        "ra": RA,
        "dec": DEC,
    }
    flux = 100.0 + 10 * np.sin(wavelength / 500 + number)
    return Spectrum(wavelength, flux, np.full(wavelength.size, 1.0), **values | fields)


def source(east: float = 0.0, north: float = 0.0, name: str = "1", **values: float) -> Source:
    """A source at an offset in arcseconds from the place."""
    ra, dec = on_sky(RA, DEC, east, north)
    return Source(name, ra, dec, 0.0, dict(values))


def gaia(spectrum: Spectrum, *sources: Source, **facts: Any) -> SkyRecord:
    """The record of Gaia, whose positions are of 2016."""
    return record_of(bundled()["gaia_dr3"], _target(spectrum), sources, **facts)


def named(spectrum: Spectrum, key: str = "simbad", **texts: str) -> SkyRecord:
    """The record of a catalogue of names; without texts it has no source."""
    sources = (replace(source(), separation=0.5, texts=texts),) if texts else ()
    epochs = _target(spectrum).epochs
    return SkyRecord(key, "found" if texts else "not found", RA, DEC, epochs, sources=sources)


def failed(spectrum: Spectrum, key: str = "gaia_dr3", detail: str = "HTTP 503 from the service") -> SkyRecord:
    return SkyRecord(key, "failed", RA, DEC, _target(spectrum).epochs, detail)


def curve(*bands: str) -> LightCurve:
    """A light curve with a point in each of these bands."""
    n = range(len(bands))
    return LightCurve(tuple(58000.0 + x for x in n), tuple(15.0 + x for x in n), (0.01,) * len(bands), bands)


def _target(spectrum: Spectrum) -> Target:
    target = target_of(spectrum)
    assert target is not None
    return target
