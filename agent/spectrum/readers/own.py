"""Our own layout: a FITS file from which a spectrum is read back exactly.

- primary header: ``SPECO3`` = the schema of ``agent.spectrum.record``, which identifies the file; for other programs
  also ``OBJECT``, ``SURVEY``, ``REDSHIFT``, ``SIMULATE`` (T or F);
- table ``SPECTRUM``, one row per pixel: ``WAVELENGTH`` (Å), ``FLUX``, ``IVAR``, ``MASK`` (T = flagged); in single
  precision if that loses nothing;
- table ``FACTS``, one cell of text: the spectrum's JSON form without its arrays, for what a FITS card cannot hold.

The name is the one that the spectrum had when it was written, whatever the file is called now.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from agent.language import deferred
from agent.spectrum.readers.fits import FitsFile, Hdu
from agent.spectrum.record import ARRAYS, SCHEMA, FloatArray, Spectrum, facts, from_facts

_MARK = "SPECO3"
_LONGEST = 60  # characters of text that always fit a card


def recognises(fits: FitsFile) -> bool:
    return _MARK in fits[0].header


def read(fits: FitsFile) -> Spectrum:
    """Read the spectrum of the file. :raises SpectrumError: of another schema, incomplete or damaged"""
    if (schema := fits[0].header.text(_MARK)) != SCHEMA:
        raise fits.refusal(f"{_MARK} = {schema!r:.60}", repr(SCHEMA))
    table = _table(fits, "SPECTRUM")
    column = _table(fits, "FACTS").column("JSON")
    try:
        form = json.loads(bytes(column[0]))
    except ValueError:
        form = None
    if not isinstance(form, dict):
        raise fits.refusal(deferred("FACTS that are no JSON object"), deferred("the text that was written"))
    arrays = {name: table.column(name) for name in ARRAYS}
    return from_facts(form, arrays)


def write(spectrum: Spectrum, path: Path) -> None:
    """Write ``spectrum`` to ``path``; equal spectra give equal bytes.

    :raises OSError: it cannot be written
    """
    from astropy.io import fits

    primary = fits.PrimaryHDU()
    for key, value in _cards(spectrum).items():
        primary.header[key] = value
    columns = [
        _column("WAVELENGTH", spectrum.wavelength, "Angstrom"),
        _column("FLUX", spectrum.flux),
        _column("IVAR", spectrum.ivar),
        fits.Column("MASK", "L", array=spectrum.mask),
    ]
    text = json.dumps(facts(spectrum))
    column = fits.Column("JSON", f"{len(text)}A", array=np.array([text]))
    packed = io.BytesIO()
    hdus = [
        primary,
        fits.BinTableHDU.from_columns(columns, name="SPECTRUM"),
        fits.BinTableHDU.from_columns([column], name="FACTS"),
    ]
    fits.HDUList(hdus).writeto(packed)
    path.write_bytes(packed.getvalue())


def _table(fits: FitsFile, name: str) -> Hdu:
    table = fits.get(name)
    if table is None or not table.is_table:
        raise fits.refusal(deferred("no table {name}", name=name), deferred("the tables SPECTRUM and FACTS"))
    return table


def _cards(spectrum: Spectrum) -> dict[str, Any]:
    """Return the cards of the primary header that other programs show."""
    cards: dict[str, Any] = {_MARK: SCHEMA, "SIMULATE": spectrum.meta.get("simulated") is True}
    for key, text in (("OBJECT", spectrum.name), ("SURVEY", spectrum.survey), ("BUNIT", spectrum.flux_unit)):
        if text.isascii() and text.isprintable():
            cards[key] = text[:_LONGEST]
    if spectrum.redshift is not None:
        cards["REDSHIFT"] = spectrum.redshift
    return cards


def _column(name: str, values: FloatArray, unit: str | None = None) -> Any:
    from astropy.io import fits

    with np.errstate(over="ignore", under="ignore"):
        short = values.astype(np.float32)
    lossless = np.array_equal(short, values)
    return fits.Column(name, "E" if lossless else "D", unit, array=short if lossless else values)
