"""The wavelength axis and the medium of a FITS image, from the forms in which its header may state them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.language import deferred
from agent.spectrum.readers.fits import FitsFile, Header
from agent.spectrum.readers.pixels import ivar_from_sigma
from agent.spectrum.record import FloatArray, Medium, Scalar, SpectrumError

WAVELENGTH = ("wavelength", "wave", "lambda", "lam", "wl", "wavelengths", "angstrom", "wave_air", "wave_vac")
LOG_WAVELENGTH = ("loglam", "loglambda", "log_lambda", "logwave", "log_wave")
FLUX = ("flux", "flam", "f_lambda", "flux_density", "fluxes", "spec", "spectrum")
MODEL = ("model", "bestfit", "best_fit")
IVAR = ("ivar", "inverse_variance", "flux_ivar", "invvar")
SIGMA: tuple[str, ...] = ("err", "error", "flux_err", "flux_error", "fluxerr", "fluxerror", "e_flux", "sigma")
SIGMA += ("uncertainty", "staterror", "properr", "errors", "flux_sigma", "noise", "err_flux", "fluxerrors", "e_flam")
MASK = ("mask", "and_mask", "andmask", "flag", "flags")

# Å in one unit; keys are compared in lower case without plural s.
ANGSTROMS = {
    "angstrom": 1.0,
    "ang": 1.0,
    "a": 1.0,
    "å": 1.0,
    "aa": 1.0,
    "0.1 nm": 1.0,
    "nm": 10.0,
    "nanometer": 10.0,
}
ANGSTROMS |= {"um": 1e4, "micron": 1e4, "micrometer": 1e4, "µm": 1e4, "m": 1e10, "meter": 1e10}

# An unlabelled axis is taken as Å only if it could be one: optical spectra end well beyond 2500 Å, while one
# in nanometres ends before 2500 nm and one in microns before 2500 µm.
PLAUSIBLE_END = 2500.0
PLAUSIBLE_START = 10.0


@dataclass(frozen=True)
class Roles:
    """The columns of a table that hold a spectrum, by name as written; None if missing."""

    wavelength: str
    flux: str
    ivar: str | None = None
    sigma: str | None = None
    mask: str | None = None
    log: bool = False
    model: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        names = (self.wavelength, self.flux, self.ivar, self.sigma, self.mask, self.model)
        return tuple(name for name in names if name is not None)


def roles(names: Sequence[str]) -> Roles | None:
    """Return which of the columns ``names`` are wavelength, flux and errors; None without wavelength or flux."""
    plain = {re.sub(r"[\s\[(].*$", "", n.strip()).lower(): n for n in reversed(names)}

    def first(candidates: Sequence[str]) -> str | None:
        return next((plain[c] for c in candidates if c in plain), None)

    linear, log = first(WAVELENGTH), first(LOG_WAVELENGTH)
    wavelength, flux = linear or log, first(FLUX)
    if wavelength is None or flux is None:
        return None
    return Roles(wavelength, flux, first(IVAR), first(SIGMA), first(MASK), linear is None, first(MODEL))


def arrays(name: str, roles_named: Roles, table: Mapping[str, Any], unit: str = "") -> dict[str, Any]:
    """Return the arguments ``wavelength`` (Å), ``flux``, ``ivar``, ``mask`` and ``model`` of ``pixels.spectrum`` from a
    table.

    :param unit: the wavelength's unit as the file states it, "" if it does not
    :raises SpectrumError: the wavelengths are in no unit known here, or cannot be Å although no unit is
        stated
    """
    wavelength = _numbers(name, table, roles_named.wavelength)
    if roles_named.log:
        wavelength = 10.0**wavelength
    else:
        wavelength = to_angstrom(name, wavelength, unit or in_brackets(roles_named.wavelength))
    ivar: NDArray[Any] | None = None
    if roles_named.ivar is not None:
        ivar = _numbers(name, table, roles_named.ivar)
    elif roles_named.sigma is not None:
        ivar = ivar_from_sigma(_numbers(name, table, roles_named.sigma))
    if ivar is not None and not (np.isfinite(ivar) & (ivar > 0)).any():
        ivar = None
    mask = None if roles_named.mask is None else _numbers(name, table, roles_named.mask) != 0
    return {
        "wavelength": wavelength,
        "flux": _numbers(name, table, roles_named.flux),
        "ivar": ivar,
        "mask": mask,
        "model": None if roles_named.model is None else _numbers(name, table, roles_named.model),
    }


def _numbers(name: str, table: Mapping[str, Any], column: str) -> FloatArray:
    try:
        return np.asarray(table[column], np.float64)
    except (TypeError, ValueError):
        raise SpectrumError(name, deferred("a column {column} that is not numbers", column=column), "numbers") from None


def in_brackets(text: str) -> str:
    """Return the unit in a column name such as ``wave [nm]`` or ``lambda(Angstrom)``; "" if there is none."""
    match = re.search(r"[\[(]([^\])]*)[\])]", text)
    return match[1] if match else ""


def to_angstrom(name: str, wavelength: FloatArray, unit: str) -> FloatArray:
    """Convert ``wavelength`` to Å. :raises SpectrumError: as ``arrays``"""
    key = unit.strip().strip("'\"\\").lower()
    factor = ANGSTROMS.get(key) or ANGSTROMS.get(key.rstrip("s"))
    if key and factor is None:
        raise SpectrumError(name, deferred("wavelengths in {unit!r:.40}", unit=unit), deferred("Å, nm, µm or m"))
    finite = wavelength[np.isfinite(wavelength)]
    if not key and (finite.size == 0 or finite.max() < PLAUSIBLE_END or finite.min() < PLAUSIBLE_START):
        span = f"{finite.min():.6g} to {finite.max():.6g}" if finite.size else "nothing"
        raise SpectrumError(
            name, deferred("an axis without unit from {span}", span=span), deferred("wavelengths in Å, or a unit")
        )
    return wavelength * (factor or 1.0)


def medium_of_name(column: str) -> Medium | None:
    """Return the medium that the name of a column states (``wave_vac``, ``wave_air``), None if it states none."""
    name = column.lower()
    return "vacuum" if "vac" in name else "air" if "air" in name else None


_NOT_WAVELENGTH = ("RA", "DEC", "GLON", "GLAT", "ELON", "ELAT", "FREQ", "VELO", "VRAD", "TIME", "STOKES")
_WAVELENGTH_UNIT = re.compile(r"ang|nm$|nanom|micro|um$|µm$|^a$|^m$", re.IGNORECASE)


def wavelengths(fits: FitsFile, header: Header, pixels: int, aperture: int = 0) -> FloatArray:
    """Return Å along the first axis (n,): linear or log-linear from CRVAL1, CDELT1 or CD1_1, CRPIX1, or IRAF's
    multispec.

    :param aperture: row of the image, for IRAF files that state an axis for each
    :raises SpectrumError: the header states no wavelength axis, or a non-linear one
    """
    if "system=multispec" in header.text("WAT0_001").replace(" ", ""):
        start, step, log = _multispec(fits, header, aperture)
        return _values(fits, start, step, log, pixels, "Angstrom")
    value, at = header.number("CRVAL1"), header.number("CRPIX1")
    delta = header.number("CDELT1") or header.number("CD1_1")
    kind = header.text("CTYPE1").upper()
    if value is None or not delta or kind.startswith(_NOT_WAVELENGTH):
        actual = deferred("an image whose first axis is {value}", value=kind or "without CRVAL1 and CDELT1")
        raise fits.refusal(actual, deferred("a wavelength axis"))
    start = value - delta * ((1.0 if at is None else at) - 1.0)
    log = header["DC-FLAG"] == 1 or header["LOGLAM"] is True or ("LOG" in kind and start < 10)
    return _values(fits, start, delta, log, pixels, _unit(header))


def medium(header: Header, default: Medium = "air") -> tuple[Medium, bool]:
    """Return the medium, and whether the header states it: VACUUM, AIRORVAC, or CTYPE1 WAVE (vacuum) or AWAV (air).

    (CTYPE: Greisen et al. 2006, A&A 446, 747.) Ground-based spectra that state nothing are usually in air:
    arc lines are tabled so, and IRAF leaves them so.
    """
    stated = header["VACUUM"]
    if isinstance(stated, bool):
        return ("vacuum" if stated else "air"), True
    words = f"{header.text('AIRORVAC')} {header.text('CTYPE1')}".upper()
    if "AIR" in words or "AWAV" in words:
        return "air", True
    if "VAC" in words or re.search(r"\bWAVE(-|$|\b)", words):
        return "vacuum", True
    return default, False


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
    axis = np.asarray(start + step * np.arange(pixels), np.float64)
    if log:
        if np.abs(axis).max() > 20:
            raise fits.refusal(
                deferred("a log axis up to {max:.4g}", max=np.abs(axis).max()), deferred("log10 of wavelengths")
            )
        axis = 10.0**axis
    return to_angstrom(fits.name, axis, unit)


def _unit(header: Header) -> str:
    """Return the axis' unit if a card states one of length; IRAF writes CUNIT1 = 'pixel', which has no meaning."""
    stated = re.search(r"units=(\S+)", header.text("WAT1_001"))
    for unit in (stated[1] if stated else "", header.text("CUNIT1")):
        if _WAVELENGTH_UNIT.search(unit):
            return unit
    return ""


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
        raise fits.refusal(deferred("a non-linear IRAF multispec axis"), deferred("a linear or log-linear one"))
    return start, step, kind == 1
