"""Tables with named columns: which column is what, and wavelengths to Å."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.readers.pixels import ivar_from_sigma
from agent.spectrum import FloatArray, SpectrumError

WAVELENGTH = ("wavelength", "wave", "lambda", "lam", "wl", "wavelengths", "angstrom", "wave_air", "wave_vac")
LOG_WAVELENGTH = ("loglam", "loglambda", "log_lambda", "logwave", "log_wave")
FLUX = ("flux", "flam", "f_lambda", "flux_density", "fluxes", "spec", "spectrum")
IVAR = ("ivar", "inverse_variance", "flux_ivar", "invvar")
SIGMA: tuple[str, ...] = ("err", "error", "flux_err", "flux_error", "fluxerr", "fluxerror", "e_flux", "sigma")
SIGMA += ("uncertainty", "staterror", "properr", "errors", "flux_sigma", "noise")
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
    """The columns of a table that hold a spectrum, by name as written; None where there is none."""

    wavelength: str
    flux: str
    ivar: str | None = None
    sigma: str | None = None
    mask: str | None = None
    log: bool = False


def roles(names: Sequence[str]) -> Roles | None:
    """Which of the columns ``names`` are wavelength, flux and errors; None unless both of the first are
    there."""
    plain = {re.sub(r"[\s\[(].*$", "", n.strip()).lower(): n for n in reversed(names)}

    def first(candidates: Sequence[str]) -> str | None:
        return next((plain[c] for c in candidates if c in plain), None)

    linear, log = first(WAVELENGTH), first(LOG_WAVELENGTH)
    wavelength, flux = linear or log, first(FLUX)
    if wavelength is None or flux is None:
        return None
    return Roles(wavelength, flux, first(IVAR), first(SIGMA), first(MASK), log=linear is None)


def arrays(name: str, found: Roles, table: Mapping[str, Any], unit: str = "") -> dict[str, Any]:
    """The arguments ``wavelength`` (Å), ``flux``, ``ivar`` and ``mask`` of ``pixels.spectrum`` from a
    table.

    :param unit: the wavelength's unit as the file states it, "" if it does not
    :raises SpectrumError: the wavelengths are in no unit known here, or cannot be Å although no unit is
        stated
    """
    wavelength = _numbers(name, table, found.wavelength)
    if found.log:
        wavelength = 10.0**wavelength
    else:
        wavelength = to_angstrom(name, wavelength, unit or in_brackets(found.wavelength))
    ivar: NDArray[Any] | None = None
    if found.ivar is not None:
        ivar = _numbers(name, table, found.ivar)
    elif found.sigma is not None:
        ivar = ivar_from_sigma(_numbers(name, table, found.sigma))
    if ivar is not None and not (np.isfinite(ivar) & (ivar > 0)).any():
        ivar = None
    mask = None if found.mask is None else _numbers(name, table, found.mask) != 0
    return {
        "wavelength": wavelength,
        "flux": _numbers(name, table, found.flux),
        "ivar": ivar,
        "mask": mask,
    }


def _numbers(name: str, table: Mapping[str, Any], column: str) -> FloatArray:
    try:
        return np.asarray(table[column], np.float64)
    except (TypeError, ValueError):
        raise SpectrumError(name, f"a column {column} that is not numbers", "numbers") from None


def in_brackets(text: str) -> str:
    """The unit in a column name such as ``wave [nm]`` or ``lambda(Angstrom)``; "" if there is none."""
    match = re.search(r"[\[(]([^\])]*)[\])]", text)
    return match[1] if match else ""


def to_angstrom(name: str, wavelength: FloatArray, unit: str) -> FloatArray:
    """``wavelength`` in Å. :raises SpectrumError: as ``arrays`` says."""
    key = unit.strip().strip("'\"").lower()
    factor = ANGSTROMS.get(key) or ANGSTROMS.get(key.rstrip("s"))
    if key and factor is None:
        raise SpectrumError(name, f"wavelengths in {unit!r:.40}", "Å, nm, µm or m")
    finite = wavelength[np.isfinite(wavelength)]
    if not key and (finite.size == 0 or finite.max() < PLAUSIBLE_END or finite.min() < PLAUSIBLE_START):
        span = f"{finite.min():.6g} to {finite.max():.6g}" if finite.size else "nothing"
        raise SpectrumError(name, f"an axis without unit from {span}", "wavelengths in Å, or a unit")
    return wavelength * (factor or 1.0)
