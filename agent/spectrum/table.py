"""A spectrum as an ECSV table: columns with units, and what the file states as meta. ``readers.text`` reads it back.

With commas it is a CSV file whose comments hold the same.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from agent.spectrum.record import Spectrum, medium_text
from agent.text import one_line

if TYPE_CHECKING:
    from astropy.table import Table
    from astropy.units import UnitBase

TableKind = Literal["csv", "ecsv"]
_ANGSTROM = re.compile(r"\b(?:A|AA|Ang|Angstroms)\b|Å")
_DELIMITERS = {"csv": ",", "ecsv": " "}
_COLUMNS = {
    "ivar": "inverse variance of flux, 0 = no data",
    "mask": "1 = flagged by the survey",
}


class Window(NamedTuple):
    """A window of a trace, in the wavelengths of its spectrum (Å), with the number of its step."""

    step: int
    lo: float
    hi: float


def written(spectrum: Spectrum, windows: Iterable[Window], kind: TableKind) -> bytes:
    """Return the table as UTF-8. Every pixel is kept, also those without data or flagged."""
    text = io.StringIO(newline="")
    table(spectrum, windows).write(text, format="ascii.ecsv", delimiter=_DELIMITERS[kind])
    return text.getvalue().encode()


def table(spectrum: Spectrum, windows: Iterable[Window] = ()) -> Table:
    """Return the spectrum as an astropy table; ``meta["flux_unit"]`` is the unit as the file has it."""
    from astropy.table import Table

    columns = {key: getattr(spectrum, key) for key in ("wavelength", "flux", "ivar")}
    filled = Table({**columns, "mask": spectrum.mask.astype(np.uint8)}, meta=_meta(spectrum, windows))
    filled["wavelength"].unit = "Angstrom"
    if unit := flux_unit(spectrum.flux_unit):
        filled["flux"].unit, filled["ivar"].unit = unit, unit**-2
    for name, description in _COLUMNS.items():
        filled[name].description = description
    return filled


def _meta(spectrum: Spectrum, windows: Iterable[Window]) -> dict[str, Any]:
    # The reader takes the first value of a key, so that no name that is wrapped onto a line of its own can replace one.
    return {
        "medium": medium_text(spectrum),
        "frame": spectrum.frame,
        "redshift": "unknown" if spectrum.redshift is None else float(spectrum.redshift),
        "flux_unit": one_line(spectrum.flux_unit).replace("Å", "Angstrom"),
        "errors": spectrum.errors,
        "simulated": spectrum.meta.get("simulated") is True,
        "ra": "unknown" if spectrum.ra is None else float(spectrum.ra),
        "dec": "unknown" if spectrum.dec is None else float(spectrum.dec),
        "survey": one_line(spectrum.survey),
        "name": one_line(spectrum.name),
        "ids": {one_line(key): one_line(value) for key, value in spectrum.ids.items()},
        "windows": [{"step": window.step, "from": float(window.lo), "to": float(window.hi)} for window in windows],
    }


def flux_unit(text: str) -> UnitBase | None:
    """Return the unit of a flux density per wavelength, None where the text is not one ("relative", "counts")."""
    from astropy import units

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of more than one slash
        try:
            # A is the ampere otherwise.
            unit = units.Unit(_ANGSTROM.sub("Angstrom", text[:60]))
            return unit if unit.is_equivalent(units.Unit("erg / (s cm2 Angstrom)")) else None
        except (ValueError, TypeError, ArithmeticError):
            return None
