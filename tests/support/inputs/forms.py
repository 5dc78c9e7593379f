"""Small valid spectrum files in forms that ``astropy`` reads for us: its parsers meet damaged copies of them."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
from astropy.io import fits
from astropy.table import MaskedColumn, Table

from tests.support.inputs.spectra import FLUX, WAVELENGTH, N, fits_bytes, linear_image, primary


def table_as(form: str, **options: Any) -> bytes:
    """A table of wavelength, flux (one value masked) and error, with units, written by astropy."""
    flux = MaskedColumn(FLUX, mask=np.arange(N) == 7, unit="mJy")
    table = Table({"wavelength": WAVELENGTH, "flux": flux, "error": FLUX / 9})
    table["wavelength"].unit = "Angstrom"
    text = io.BytesIO() if form == "votable" else io.StringIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of units, and of the header that MRT leaves open
        table.write(text, format=form, **options)
    content = text.getvalue()
    return content.encode() if isinstance(content, str) else content


def ascii_table() -> bytes:
    columns = [
        fits.Column("WAVE", "F10.3", unit="Angstrom", array=WAVELENGTH, ascii=True),
        fits.Column("FLUX", "E14.6", array=FLUX, ascii=True),
        fits.Column("ERR", "D25.17", array=FLUX / 9, ascii=True),
    ]
    return fits_bytes(primary(), fits.TableHDU.from_columns(columns))


def of_variable_length(descriptor: str) -> bytes:
    """Two rows of different lengths."""
    longer = 4000.0 + 2.0 * np.arange(N + 5)
    cells = {"WAVE": (WAVELENGTH, longer), "FLUX": (FLUX, longer / 100), "ERR": (FLUX / 9, longer / 1000)}
    columns = []
    for name, values in cells.items():
        array = np.empty(2, object)
        array[:] = values
        columns.append(fits.Column(name, f"{descriptor}D()", unit="nm" if name == "WAVE" else None, array=array))
    return fits_bytes(primary(), fits.BinTableHDU.from_columns(columns))


def with_nulls() -> bytes:
    columns = [fits.Column("WAVE", "D", unit="nm", array=WAVELENGTH / 10)]
    columns.append(fits.Column("FLUX", "J", null=-999, array=np.where(np.arange(N) == 7, -999, 100 * FLUX).astype(int)))
    return fits_bytes(primary(), fits.BinTableHDU.from_columns(columns))


def muse() -> bytes:
    header = fits.Header({"CTYPE1": "AWAV", "CUNIT1": "Angstrom", "CRVAL1": 4000.0, "CRPIX1": 1.0, "CD1_1": 2.0})
    images = {"DATA": FLUX, "STAT": FLUX / 9, "DQ": np.zeros(N, np.uint8)}
    return fits_bytes(primary(), *(fits.ImageHDU(values, header, name=name) for name, values in images.items()))


_PC = {"PC1_1": 4.0, "CDELT1": 0.5, "CTYPE1": "WAVE", "CUNIT1": "Angstrom"}
_FREQUENCY = {"CTYPE1": "FREQ", "CUNIT1": "THz", "CRVAL1": 400.0, "CDELT1": 5.0, "CRPIX1": 1.0}
FITS_FORMS = {
    "ascii table": ascii_table(),
    "variable length, P": of_variable_length("P"),
    "variable length, Q": of_variable_length("Q"),
    "a table with nulls": with_nulls(),
    "muse": muse(),
    "a PC matrix": linear_image(**_PC),
    "a CD matrix beside CDELT": linear_image(CD1_1=2.0, CDELT1=1.0, CUNIT1="Angstrom", CTYPE1="AWAV"),
    "a natural logarithm": linear_image(CTYPE1="WAVE-LOG", CUNIT1="nm", CRVAL1=400.0, CDELT1=0.2),
    "frequencies": linear_image(**_FREQUENCY),
    "three rows": fits_bytes(primary(np.array([WAVELENGTH, FLUX, FLUX / 9]), CUNIT1="angstroms")),
}
GRISM = linear_image(CTYPE1="WAVE-GRI", CUNIT1="Angstrom", PV1_0=1e5, PV1_1=1.0, PV1_2=10.0)
"""May be read or refused."""
TEXT_FORMS = {
    "ecsv with masks": table_as("ascii.ecsv"),
    "mrt": table_as("ascii.mrt"),
    "ipac": table_as("ascii.ipac"),
    "tabs": table_as("ascii.tab").replace(b"wavelength", b"Wavelength (Angstrom)").replace(b"flux", b"Flux density"),
    "a line of units": table_as("ascii.csv").replace(b"\n", b"\nAngstrom,mJy,mJy\n", 1),
    "votable, binary2": table_as("votable", tabledata_format="binary2"),
}
