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
    from astropy.units import UnitBase

TableKind = Literal["csv", "ecsv"]
_ANGSTROM = re.compile(r"\b(?:A|AA|Ang|Angstroms)\b|Å")


class Window(NamedTuple):
    """A window of a trace, in the wavelengths of its spectrum (Å), with the number of its step."""

    step: int
    lo: float
    hi: float


def written(spectrum: Spectrum, windows: Iterable[Window], kind: TableKind) -> bytes:
    """Return the table as UTF-8. Every pixel is kept, also those without data or flagged."""
    from astropy.table import Table

    columns = {key: getattr(spectrum, key) for key in ("wavelength", "flux", "ivar")}
    table = Table({**columns, "mask": spectrum.mask.astype(np.uint8)}, meta=_meta(spectrum, windows))
    table["wavelength"].unit = "Angstrom"
    if unit := flux_unit(spectrum.flux_unit):
        table["flux"].unit, table["ivar"].unit = unit, unit**-2
    table["ivar"].description = "inverse variance of flux, 0 = no data"
    table["mask"].description = "1 = flagged by the survey"
    text = io.StringIO(newline="")
    table.write(text, format="ascii.ecsv", delimiter="," if kind == "csv" else " ")
    return text.getvalue().encode()


def _meta(spectrum: Spectrum, windows: Iterable[Window]) -> dict[str, Any]:
    # The reader takes the first value of a key, so that no name that is wrapped onto a line of its own can replace one.
    numbers = {key: getattr(spectrum, key) for key in ("redshift", "ra", "dec")}
    return {
        "medium": medium_text(spectrum),
        "frame": spectrum.frame,
        **{key: "unknown" if value is None else float(value) for key, value in numbers.items()},
        "flux_unit": one_line(spectrum.flux_unit).replace("Å", "Angstrom"),
        "errors": spectrum.errors,
        "simulated": spectrum.meta.get("simulated") is True,
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
