"""SDSS-V Milky Way Mapper spectra from Astra: ``mwmStar`` (stacked) and ``mwmVisit`` (nightly) files.

One HDU per instrument and observatory (BOSS/APO, BOSS/LCO, APOGEE/APO, APOGEE/LCO), empty where there are no data; all
spectra of an HDU on one log-linear grid, vacuum, flux in 1e-17 erg s⁻¹ cm⁻² Å⁻¹. Stacked spectra and the visits that
went into a stack (``in_stack``) are at rest, shifted by ``v_rad``; other visits are as observed, barycentric
(sdss-astra.readthedocs.io, "MWM Combined Models"; Astra's code of ``prepare_boss_resampled_visit_and_coadd_spectra``).

A target is an HDU (``BOSS-APO``): BOSS ones are read by default, APOGEE ones (1.5 to 1.7 µm) by name where there are
BOSS data. The spectrum of a visit file is the mean of its stacked visits, weighted by ivar; each visit is an exposure,
and a target named with its MJD (``BOSS-APO-59800``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from agent.language import deferred
from agent.spectrum.readers.fits import FitsFile, Hdu
from agent.spectrum.readers.flux_units import F_LAMBDA
from agent.spectrum.readers.pixels import Array, exposure, finite_number, spectrum
from agent.spectrum.readers.surveys.sdss import DOUBTED
from agent.spectrum.readers.targets import Targets
from agent.spectrum.record import MAX_EXPOSURES, FloatArray, Scalar, Spectrum

LIGHT = 299792.458
"""Speed of light, km/s."""
GOOD_RXC = 6.0
"""Smallest R of XCSAO's cross-correlation for a velocity that Astra trusts."""
_ARRAYS = {"FLUX", "IVAR", "PIXEL_FLAGS"}
_IDS = {"sdss_id": "SDSS_ID", "gaia_dr3": "GAIA3_ID", "catalogid": "CAT_ID"}


def recognises(fits: FitsFile) -> bool:
    header = fits[0].header
    return "V_ASTRA" in header and "SDSS_ID" in header


def targets(fits: FitsFile) -> Targets:
    """Return the spectra of each HDU with data. :raises SpectrumError: there is none"""
    tables = [hdu for hdu in fits if hdu.is_table and hdu.shape[0] > 0 and set(hdu.columns) >= _ARRAYS]
    if not tables:
        models = any("MODEL_FLUX" in hdu.columns for hdu in fits)
        actual = deferred("model spectra of a pipeline of Astra") if models else deferred("HDUs without a spectrum")
        raise fits.refusal(actual, deferred("an mwmStar or mwmVisit file with data"))
    has_boss = any(hdu.name.startswith("BOSS") for hdu in tables)
    loaders = Targets(fits.name)
    for hdu in tables:
        apogee = has_boss and not hdu.name.startswith("BOSS")
        rows = range(hdu.shape[0])
        several = len(tables) > 1 or len(rows) > 1
        label = _label(hdu)
        name = f"{fits.name}#{label}" if len(tables) > 1 else fits.name
        loaders.add(label if several else "", partial(_read, fits, hdu, name, list(rows)), skip=apogee)
        if "MJD" in hdu.columns and len(rows) > 1:
            for row, mjd in enumerate(hdu.column("MJD").tolist()):
                target = f"{label}-{mjd}"
                loaders.add(target, partial(_read, fits, hdu, f"{fits.name}#{target}", [row]), skip=True)
    return loaders


def _label(hdu: Hdu) -> str:
    """Return the name of an HDU without the slash, which would make a path of the name of its spectrum."""
    return hdu.name.replace("/", "-")


@dataclass(frozen=True)
class _Visit:
    """One row: its pixels, its radial velocity (km/s, None if unknown), and whether it was shifted to rest by it."""

    flux: FloatArray
    ivar: FloatArray
    mask: Array
    velocity: float | None
    at_rest: bool


def _read(fits: FitsFile, hdu: Hdu, name: str, rows: list[int]) -> Spectrum:
    wavelength = _wavelength(fits, hdu)
    visits = [_visit(hdu, row) for row in rows]
    stacked = [visit for visit in visits if visit.at_rest] or visits
    at_rest = stacked[0].at_rest
    weight = np.sum([visit.ivar for visit in stacked], axis=0)
    total = np.sum([np.where(visit.ivar > 0, visit.flux * visit.ivar, 0.0) for visit in stacked], axis=0)
    mean = np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), np.nan)
    velocity = _velocity(hdu, rows[0], trusted=True)
    if at_rest:
        known = [visit.velocity for visit in stacked if visit.velocity is not None]
        velocity = float(np.mean(known)) if known else None
    several = len(rows) > 1
    return spectrum(
        name,
        wavelength,
        mean if several else visits[0].flux,
        weight,
        np.all([visit.mask for visit in stacked], axis=0),
        model=None if several else _model(hdu, rows[0]),
        exposures=[
            exposure(f"{_label(hdu)} {hdu.cell('MJD', row)}", wavelength, visit.flux, visit.ivar)
            for row, visit in list(zip(rows, visits, strict=True))[: MAX_EXPOSURES if several else 0]
            if visit.at_rest == at_rest  # the others are in another frame
        ],
        medium="vacuum",
        frame="rest" if at_rest else "observed",
        flux_unit=F_LAMBDA,
        survey="SDSS-V" if hdu.name.startswith("BOSS") else "SDSS-V APOGEE",
        redshift=None if velocity is None else velocity / LIGHT,
        **_fields(fits, hdu, rows),
    )


def _visit(hdu: Hdu, row: int) -> _Visit:
    flux, ivar = (hdu.column(key)[row].astype(np.float64).reshape(-1) for key in ("FLUX", "IVAR"))
    flags = np.nan_to_num(hdu.column("PIXEL_FLAGS")[row].reshape(-1)).astype(np.int64)
    usable = np.isfinite(flux) & np.isfinite(ivar) & (ivar > 0)
    velocity = _velocity(hdu, row)
    # Only visits have an MJD; a stack is at rest also where its velocity is unknown.
    at_rest = "MJD" not in hdu.columns or (velocity is not None and hdu.cell("IN_STACK", row) in (None, True))
    # APOGEE's first eight bits mark pixels without a value (APOGEE_PIXMASK); BOSS has SPPIXMASK, as ``surveys.sdss``.
    doubted = DOUBTED if hdu.name.startswith("BOSS") else 0xFF
    return _Visit(flux, np.where(usable, ivar, 0.0), flags & doubted != 0, velocity, at_rest)


def _velocity(hdu: Hdu, row: int, trusted: bool = False) -> float | None:
    """Return the radial velocity of a row, km/s. :param trusted: None unless its correlation is good"""
    quality = hdu.cell("XCSAO_RXC", row)
    if trusted and isinstance(quality, float) and not quality > GOOD_RXC:
        return None
    for key in ("V_RAD", "XCSAO_V_RAD"):
        value = finite_number(hdu.cell(key, row))
        if value is not None and abs(value) < LIGHT / 2:
            return value
    return None


def _wavelength(fits: FitsFile, hdu: Hdu) -> FloatArray:
    if "WAVELENGTH" in hdu.columns:
        values: FloatArray = hdu.column("WAVELENGTH")[0].astype(np.float64).reshape(-1)
        return values
    start, step = hdu.header.number("CRVAL"), hdu.header.number("CDELT")
    pixels = hdu.columns["FLUX"].repeat
    if start is None or step is None or abs(start) > 10 or abs(start + step * pixels) > 10:
        raise fits.refusal(
            deferred("{name} without wavelengths", name=hdu.name), deferred("a column wavelength, or CRVAL and CDELT")
        )
    return np.asarray(10.0 ** (start + step * np.arange(pixels)), np.float64)


def _model(hdu: Hdu, row: int) -> Array | None:
    """Return Astra's model of the continuum times its model of the lines."""
    if not {"CONTINUUM", "NMF_RECTIFIED_MODEL_FLUX"} <= set(hdu.columns):
        return None
    continuum, lines = (hdu.column(key)[row].reshape(-1) for key in ("CONTINUUM", "NMF_RECTIFIED_MODEL_FLUX"))
    model: Array = continuum.astype(np.float64) * lines
    return model


def _fields(fits: FitsFile, hdu: Hdu, rows: list[int]) -> dict[str, Any]:
    header = fits[0].header
    ids = {key: header.text(card) for key, card in _IDS.items()}
    meta: dict[str, Scalar] = {"read_as": "Astra mwmStar or mwmVisit", "medium_from": "Astra data model"}
    meta |= {"errors_from": "column IVAR (ivar)", "mask_from": "column PIXEL_FLAGS"}
    meta |= {"hdu": hdu.name, "v_astra": header.text("V_ASTRA")}
    if header.text("CARTON_0"):
        meta["carton"] = header.text("CARTON_0")
    for key in ("TELESCOPE", "N_VISITS", "MIN_MJD", "MAX_MJD", "ZWARNING_FLAGS"):
        value = hdu.cell(key, rows[0])
        if value is not None:
            meta[key.lower()] = value
    if len(rows) > 1:
        meta["visits"] = len(rows)
    snr = finite_number(hdu.cell("SNR", rows[0])) if len(rows) == 1 else None
    return {
        "ids": {key: value for key, value in ids.items() if value.strip("-0")},
        "ra": header.number("RA"),
        "dec": header.number("DEC"),
        "snr": {} if snr is None else {"mean": snr},
        "meta": meta,
    }
