"""A spectrum as an ECSV table: columns with units, and what the file states as meta. ``readers.text`` reads it back.

With commas it is a CSV file whose comments hold the same. As a VOTable it has the utypes of the IVOA Spectral Data
Model 1.1 and parameters; ``readers.votable`` reads it back.
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

TableKind = Literal["csv", "ecsv", "vot"]
_ANGSTROM = re.compile(r"\b(?:A|AA|Ang|Angstroms)\b|Å")


class Window(NamedTuple):
    """A window of a trace, in the wavelengths of its spectrum (Å), with the number of its step."""

    step: int
    lo: float
    hi: float


def written(spectrum: Spectrum, windows: Iterable[Window], kind: TableKind) -> bytes:
    """Return the table as UTF-8. Every pixel is kept, also those without data or flagged."""
    from astropy.table import Table

    if kind == "vot":
        return _votable(spectrum)
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


def _votable(spectrum: Spectrum) -> bytes:
    from astropy.io.votable import from_table
    from astropy.io.votable.tree import Param
    from astropy.table import Column, Table

    axes, unit = "Spectrum.Data.SpectralAxis", flux_unit(spectrum.flux_unit)
    errors = np.divide(1, np.sqrt(spectrum.ivar), out=np.full(len(spectrum.ivar), np.nan), where=spectrum.ivar > 0)
    of_flux = {"flux": (spectrum.flux, "phot.flux.density;em.wl", "Value")}
    of_flux["error"] = (errors, "stat.error;phot.flux.density;em.wl", "Accuracy.StatError")
    table = Table([Column(spectrum.wavelength, "wavelength", unit="Angstrom")])
    table["wavelength"].meta = {"ucd": "em.wl", "utype": f"{axes}.Value"}
    for name, (values, ucd, part) in of_flux.items():
        table[name] = Column(values, unit=unit, meta={"ucd": ucd, "utype": f"Spectrum.Data.FluxAxis.{part}"})
    table["mask"] = Column(spectrum.mask.astype(np.uint8), description="1 = flagged by the survey")
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # VOUnits prefer 0.1nm, which other programs would show
        document = from_table(table)
        parameters = document.get_first_table().params
        for key, value in {**_meta(spectrum, ()), "title": one_line(spectrum.name)}.items():
            if isinstance(value, float | str | bool) and value != "unknown":
                text = str(value).lower() if isinstance(value, bool) else str(value)
                parameters.append(Param(document, name=key, datatype="char", arraysize="*", value=text))
        document.to_xml(file, tabledata_format="binary")
    return file.getvalue()


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
