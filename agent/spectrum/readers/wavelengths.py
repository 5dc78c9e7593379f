"""The wavelength axis and the medium of a FITS image, from the forms in which its header may state them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from agent.language import deferred
from agent.spectrum.readers import units
from agent.spectrum.readers.columns import Statement
from agent.spectrum.readers.fits import FitsFile, Header
from agent.spectrum.record import FloatArray, Medium, Scalar

_NOT_WAVELENGTH = (
    "RA",
    "DEC",
    "GLON",
    "GLAT",
    "ELON",
    "ELAT",
    "VELO",
    "VRAD",
    "VOPT",
    "ZOPT",
    "BETA",
    "TIME",
    "STOKES",
)
_SPECTRAL = re.compile(r"(WAVE|AWAV|FREQ|WAVN|ENER)(?:-([A-Z0-9]{3}))?")
"""CTYPE of an axis that is or gives a wavelength, with its algorithm (Greisen et al. 2006, A&A 446, 747)."""
_LOG10 = (2.0, 6.0)
"""Where the logarithm of a wavelength in Å starts, whatever the header calls it."""
_WCS = ("CTYPE1", "CUNIT1", "CRVAL1", "CRPIX1", "CDELT1", "CD1_1", "PC1_1", "RESTFRQ", "RESTWAV", "SPECSYS", "VELOSYS")
_COUPLED = re.compile(r"(CD|PC)1_[2-9]")


@dataclass(frozen=True)
class Axis:
    """Wavelengths (n,) in Å, the cards that they come from, and those that state something else.

    :param medium: that follows from the axis itself: frequencies, energies and wavenumbers become vacuum
    """

    wavelength: FloatArray
    source: str
    not_used: tuple[str, ...] = ()
    medium: Medium | None = None


def axis(fits: FitsFile, header: Header, pixels: int, aperture: int = 0) -> Axis:
    """Return the first axis of an image: linear or log-linear, IRAF's multispec, or any that astropy.wcs understands.

    The step is CD1_1, else CDELT1 times PC1_1 (Greisen & Calabretta 2002, A&A 395, 1061).

    :param aperture: row of the image, for IRAF files that state an axis for each
    :raises SpectrumError: the header states no wavelength axis, or none that can be computed
    """
    if "system=multispec" in header.text("WAT0_001").replace(" ", ""):
        return Axis(_values(fits, *_multispec(fits, header, aperture), pixels, "Angstrom"), "WAT2")
    kind = header.text("CTYPE1").upper()
    value, at = header.number("CRVAL1"), header.number("CRPIX1")
    step, cards, not_used = _step(header)
    log_start, log_step = header.number("COEFF0"), header.number("COEFF1")
    if value is None and log_start is not None and log_step is not None:
        return Axis(_values(fits, log_start, log_step, True, pixels, ""), "COEFF0, COEFF1")
    if value is None or not step or kind.startswith(_NOT_WAVELENGTH):
        actual = deferred("an image whose first axis is {value}", value=kind or "without CRVAL1 and CDELT1")
        raise fits.refusal(actual, deferred("a wavelength axis"))
    start = value - step * ((1.0 if at is None else at) - 1.0)
    unit = _unit(header)
    stated_log = header.number("DC-FLAG") == 1 or header["LOGLAM"] is True
    in_log = (
        "LOG" in f"{kind} {unit}".upper() and _LOG10[0] < start < _LOG10[1] and units.known(unit) not in ("m", "nm")
    )
    match = _SPECTRAL.fullmatch(kind)
    if match and not (stated_log or in_log):
        in_metres = not unit and abs(start) < 1e-3 and match[1] in ("WAVE", "AWAV")
        if match[2] or match[1] in ("FREQ", "WAVN", "ENER") or in_metres:
            return _by_wcs(fits, header, pixels, unit, not_used)
    wavelength = _values(fits, start, step, stated_log or in_log, pixels, unit)
    return Axis(wavelength, f"CRVAL1, {cards}" + (", log10" if stated_log or in_log else ""), not_used)


def _step(header: Header) -> tuple[float | None, str, tuple[str, ...]]:
    """Return the step of the first axis, the cards that give it, and those that are not used."""
    delta, cd, pc = (header.number(key) for key in ("CDELT1", "CD1_1", "PC1_1"))
    coupled = [f"card {key} = {header.text(key)}" for key in header.keys(_COUPLED) if header.number(key)]
    if cd:
        other = [f"card CDELT1 = {header.text('CDELT1')}"] if delta is not None and not np.isclose(delta, cd) else []
        return cd, "CD1_1", (*other, *coupled)
    if pc and pc != 1 and delta != 0:
        return (1.0 if delta is None else delta) * pc, "CDELT1, PC1_1", tuple(coupled)
    return delta, "CDELT1", tuple(coupled)


def _by_wcs(fits: FitsFile, header: Header, pixels: int, unit: str, not_used: tuple[str, ...]) -> Axis:
    from astropy.io.fits import Header as AstropyHeader
    from astropy.units import AA, spectral
    from astropy.wcs import WCS

    kind = header.text("CTYPE1").upper()
    try:
        cards = AstropyHeader({"WCSAXES": 1})
        for key in (*_WCS, *header.keys(re.compile(r"P[VS]1_\d+"))):
            if key in header and header[key] is not None:
                cards[key] = header[key]
        if unit:
            cards["CUNIT1"] = units.parsed(units.known(unit)).to_string("fits")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wcs = WCS(cards)
            values = wcs.wcs_pix2world(np.arange(pixels, dtype=np.float64)[:, None], 0)[:, 0]
            wavelength = np.asarray((values * wcs.wcs.cunit[0]).to_value(AA, spectral()), np.float64)
    except Exception as error:
        # wcslib and the parsers of units raise kinds of their own.
        reason = " ".join(str(error).split())
        actual = deferred(
            "an axis CTYPE1 = {kind} that astropy.wcs cannot compute ({reason:.80})", kind=kind, reason=reason
        )
        raise fits.refusal(actual, deferred("a wavelength axis")) from None
    is_wavelength = kind.startswith(("WAVE", "AWAV"))
    return Axis(
        _positive(fits, wavelength), f"CTYPE1 = {kind} (astropy.wcs)", not_used, None if is_wavelength else "vacuum"
    )


_MEDIUM_CARDS = ("AIRORVAC", "AIRVAC", "VACORAIR", "MEDIUM", "WAVE_MED", "METADATA", "CUNIT1", "WAT1_001")


def statements(header: Header) -> Iterator[Statement]:
    """Yield what a header says of the medium: VACUUM, AIRORVAC and similar, or CTYPE1 WAVE (vacuum) or AWAV (air)."""
    stated = header["VACUUM"]
    if stated is not None:
        yes = stated is True or str(stated).strip().upper() in ("T", "TRUE", "1", "YES")
        yield f"VACUUM = {'T' if yes else 'F'}", "vacuum" if yes else "air"
    for key in _MEDIUM_CARDS:
        if key in header and (text := header.text(key)):
            # linetools: {"airvac": "vac"}
            yield f"{key} = {text}" if len(text) < 30 else key, re.sub(r"airvac", "", text, flags=re.IGNORECASE)
    kind = header.text("CTYPE1").upper()
    if re.match(r"WAVE(-|$)", kind):
        yield f"CTYPE1 = {kind}", "vacuum"
    elif "AWAV" in kind or "AIR" in kind or "VAC" in kind:
        yield f"CTYPE1 = {kind}", "air" if "VAC" not in kind else "vacuum"


_SPECSYS = {"TOPOCENT": "topocentric", "GEOCENTR": "geocentric", "BARYCENT": "barycentric", "HELIOCEN": "heliocentric"}


def velocity_frame(header: Header) -> dict[str, Scalar]:
    """Return what the header states about the correction for the Earth's motion, as entries of ``Spectrum.meta``.

    ``velocity_frame``: "heliocentric", "barycentric", "geocentric" or "topocentric"; ``velocity_frame_from``: the card;
    ``velocity_correction``: km/s, already applied to the wavelengths. From SPECSYS (Greisen et al. 2006, A&A 446, 747),
    or HELIO and HELIO_RV of SDSS and LAMOST. {} if it states nothing.
    """
    stated = _SPECSYS.get(header.text("SPECSYS").upper()[:8])
    if stated is not None:
        return {"velocity_frame": stated, "velocity_frame_from": "SPECSYS"}
    correction = header.number("HELIO_RV")
    if header["HELIO"] is False:
        return {"velocity_frame": "topocentric", "velocity_frame_from": "HELIO"}
    if correction is None:
        return {"velocity_frame": "heliocentric", "velocity_frame_from": "HELIO"} if header["HELIO"] is True else {}
    return {"velocity_frame": "heliocentric", "velocity_frame_from": "HELIO_RV", "velocity_correction": correction}


def _values(fits: FitsFile, start: float, step: float, log: bool, pixels: int, unit: str) -> FloatArray:
    values = np.asarray(start + step * np.arange(pixels), np.float64)
    if log and np.abs(values).max() > 20:
        raise fits.refusal(
            deferred("a log axis up to {max:.4g}", max=np.abs(values).max()), deferred("log10 of wavelengths")
        )
    return _positive(fits, units.to_angstrom(fits.name, values, unit, "log10" if log else "wavelength")[0])


def _positive(fits: FitsFile, wavelength: FloatArray) -> FloatArray:
    """:raises SpectrumError: a computed axis has no wavelength for each pixel: its cards are wrong"""
    if not (wavelength > 0).all():
        low, high = np.nan_to_num([wavelength.min(), wavelength.max()])
        actual = deferred("an axis from {low:.6g} to {high:.6g} Å", low=low, high=high)
        raise fits.refusal(actual, deferred("positive wavelengths"))
    return wavelength


def _unit(header: Header) -> str:
    """Return the axis' unit; IRAF also writes CUNIT1 = 'pixel', which has no meaning there."""
    stated = re.search(r"units=(\S+)", header.text("WAT1_001"))
    given = (unit.strip("'\"") for unit in (stated[1] if stated else "", header.text("CUNIT1")))
    return next((unit for unit in given if units.known(unit)), "")


def _multispec(fits: FitsFile, header: Header, aperture: int) -> tuple[float, float, bool]:
    numbered: Sequence[str] = [f"WAT2_{n:03d}" for n in range(1, 1000)]
    text = "".join(str(header[key]).ljust(68) for key in numbered if key in header)
    match = re.search(rf'spec{aperture + 1}\s*=\s*"([^"]*)"', text)
    fields = match[1].split() if match else []
    try:
        kind, start, step = int(fields[2]), float(fields[3]), float(fields[4])
    except (IndexError, ValueError):
        raise fits.refusal(
            deferred("no axis of aperture {aperture} in WAT2", aperture=aperture + 1),
            deferred("an IRAF multispec axis"),
        ) from None
    if kind not in (0, 1):
        raise fits.refusal(deferred("a non-linear IRAF multispec axis"), deferred("a linear or log-linear axis"))
    return start, step, kind == 1
