"""Any spectrum, written by other programs in each form that is read, comes back equal.

What is expected never comes from a reader: axes of headers are computed by ``astropy.wcs``, conversions of units by
``astropy.units``, everything else are the arrays that were written.
"""

from __future__ import annotations

import gzip
import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy import units
from astropy.io import fits
from astropy.table import MaskedColumn, Table
from astropy.wcs import WCS, FITSFixedWarning
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from agent.spectrum import Spectrum, SpectrumError, read_all
from agent.spectrum.readers import own
from agent.spectrum.table import written
from tests.support.inputs.damage import examples
from tests.support.inputs.refusals import check_sentence

Array = NDArray[Any]
Draw = st.DataObject

F_LAMBDA = "1e-17 erg / (s cm2 Angstrom)"
LENGTHS = {"Angstrom": 1.0, "nm": 10.0, "um": 1e4, "m": 1e10}
ERRORS = {
    "sigma": (
        *("err", "error", "sigma", "flux_err", "flux_error", "stddev", "std", "unc", "flux_unc", "e_flux", "eflux"),
        *("dflux", "sig", "error_flux", "Flux_Error", "flux_uncertainty", "uncertainty"),
    ),
    "variance": ("variance", "var", "flux_var"),
    "ivar": ("ivar", "flux_ivar", "inverse_variance"),
}


@dataclass(frozen=True)
class Expected:
    """One spectrum as it must be read.

    :param wavelength: Å, increasing
    :param ivar: None: the form holds no errors, they are estimated
    :param missing: pixels without data
    :param medium: None: the form states none, air is assumed
    :param precision: relative, of wavelengths, flux and ivar: what the form prints or stores
    """

    wavelength: Array
    flux: Array
    ivar: Array | None
    missing: Array
    flagged: Array | None = None
    medium: str | None = None
    precision: float = 1e-9
    wavelength_precision: float = 1e-9


@dataclass(frozen=True)
class Source:
    """A spectrum to be written, and the choices of its form.

    :param kind: of the errors: a key of ``ERRORS``; None: without errors
    :param unit: of the wavelengths in the file: a key of ``LENGTHS``
    """

    wavelength: Array = field(repr=False)
    flux: Array = field(repr=False)
    sigma: Array = field(repr=False)
    missing: Array = field(repr=False)
    flagged: Array = field(repr=False)
    kind: str | None
    unit: str
    flux_unit: str
    draw: Draw = field(repr=False)

    def choice(self, *values: Any) -> Any:
        return self.draw.draw(st.sampled_from(values))

    @property
    def in_unit(self) -> Array:
        return self.wavelength / LENGTHS[self.unit]

    @property
    def with_nan(self) -> Array:
        return np.where(self.missing, np.nan, self.flux)

    @property
    def errors(self) -> Array:
        return {"sigma": self.sigma, "variance": self.sigma**2, "ivar": self.sigma**-2.0}[self.kind or "sigma"]

    @property
    def error_column(self) -> dict[str, Array]:
        """The errors under one of the names of their kind, nothing if there are none."""
        return {self.choice(*ERRORS[self.kind]): self.errors} if self.kind else {}

    def expected(self, **changes: Any) -> Expected:
        ivar = np.where(self.missing, 0.0, self.sigma**-2.0) if self.kind else None
        return replace(Expected(self.wavelength, self.flux, ivar, self.missing), **changes)


@st.composite
def sources(draw: st.DrawFn, data: Draw) -> Source:
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    pixels = draw(st.integers(20, 3000))
    start = 10.0 ** draw(st.floats(3.32, 4.4))  # above 2000 Å, below which all is vacuum
    end = start * draw(st.floats(1.05, 2.5))
    spaced = np.linspace if draw(st.booleans()) else np.geomspace
    scale = 10.0 ** draw(st.floats(-17, 5))
    flux = scale * random.normal(1.0, 0.3, pixels)
    missing = random.random(pixels) < draw(st.sampled_from((0.0, 0.05, 0.3)))
    missing[[0, pixels // 2]] = False
    return Source(
        spaced(start, end, pixels),
        flux,
        scale * random.uniform(0.05, 0.2, pixels),
        missing,
        random.random(pixels) < draw(st.sampled_from((0.0, 0.1))),
        draw(st.sampled_from((None, *ERRORS))),
        draw(st.sampled_from(tuple(LENGTHS))),
        draw(st.sampled_from(("", "count", F_LAMBDA))),
        data,
    )


Form = Callable[[Source, Path], list[Expected]]
FORMS: dict[str, Form] = {}


def form(*parameters: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function that writes a source and returns what must be read, under its name and each parameter."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for parameter in parameters or (None,):

            def write(source: Source, path: Path, argument: Any = parameter) -> list[Expected]:
                expected = function(source, path) if argument is None else function(source, path, argument)
                return expected if isinstance(expected, list) else [expected]

            name = function.__name__.strip("_").replace("_", " ")
            FORMS[name if parameter is None else f"{name}: {parameter}"] = write
        return function

    return register


# ---- images whose axis is in the header


def axis(header: fits.Header, pixels: int) -> Array:
    """Return the wavelengths (Å) of the first axis by astropy.wcs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FITSFixedWarning)
        wcs = WCS(header).sub([1])
    values = wcs.wcs_pix2world(np.arange(pixels)[:, np.newaxis], 0)[:, 0] * units.Unit(wcs.wcs.cunit[0])
    wavelength: Array = values.to_value("Angstrom", units.spectral())
    return wavelength


def linear_cards(source: Source, quantity: Array, unit: str, ctype: str) -> fits.Header:
    """Return the cards of an axis that is linear in ``quantity``, from its first to its last value."""
    pixels = quantity.size
    reference = float(source.choice(1.0, 0.5, pixels / 2, pixels, -7.25))
    step = (quantity[-1] - quantity[0]) / (pixels - 1)
    header = fits.Header()
    header["CTYPE1"], header["CUNIT1"], header["CRPIX1"] = ctype, unit, reference
    header["CRVAL1"], header["CDELT1"] = quantity[0] + (reference - 1) * step, step
    return header


def image(source: Source, path: Path, header: fits.Header, medium: str | None, **changes: Any) -> Expected:
    """Write an image with errors in a second one, if there are any."""
    wavelength = axis(header, source.flux.size)
    if source.flux_unit:
        header["BUNIT"] = source.flux_unit
    hdus = [fits.PrimaryHDU(source.with_nan, header)]
    if source.kind:
        name = source.choice(*{"sigma": ("ERROR", "STD"), "variance": ("VAR", "STAT"), "ivar": ("IVAR",)}[source.kind])
        hdus.append(fits.ImageHDU(source.errors, name=name))
    fits.HDUList(hdus).writeto(path)
    return increasing(source.expected(wavelength=wavelength, medium=medium, **changes))


def increasing(expected: Expected) -> Expected:
    if expected.wavelength[0] < expected.wavelength[-1]:
        return expected
    arrays = ("wavelength", "flux", "ivar", "missing", "flagged")
    values = {key: getattr(expected, key) for key in arrays}
    return replace(expected, **{key: None if value is None else value[::-1] for key, value in values.items()})


@form("CDELT1", "CD1_1", "CD1_1 beside CDELT1", "PC1_1 times CDELT1", "PC1_1 alone")
def _linear_image(source: Source, path: Path, step: str) -> Expected:
    ctype = source.choice("WAVE", "AWAV")
    header = linear_cards(source, source.in_unit, source.unit, ctype)
    value = header.pop("CDELT1")
    if step == "CDELT1":
        header["CDELT1"] = value
    elif step.startswith("CD1_1"):
        header["CD1_1"] = value
        if "beside" in step:
            header["CDELT1"] = 1.0
    elif step.startswith("PC1_1"):
        factor = value if "alone" in step else source.choice(1.0, 2.5, 0.1)
        header["PC1_1"] = factor
        if "times" in step:
            header["CDELT1"] = value / factor
    return image(source, path, header, "air" if ctype == "AWAV" else "vacuum")


@form("WAVE-LOG", "AWAV-LOG")
def _natural_log_image(source: Source, path: Path, ctype: str) -> Expected:
    header = linear_cards(source, np.log(source.in_unit), source.unit, ctype)
    # S = Sr exp(w / Sr) (Greisen et al. 2006, A&A 446, 747, equation 5), so the step at the reference is Sr d(ln S).
    header["CRVAL1"] = np.exp(header["CRVAL1"])
    header["CDELT1"] *= header["CRVAL1"]
    return image(source, path, header, "air" if ctype == "AWAV-LOG" else "vacuum")


SPECTRAL = {"FREQ": ("Hz", "GHz", "THz"), "WAVN": ("/m", "1/cm"), "ENER": ("J", "eV", "keV")}


@form(*SPECTRAL)
def _image_over(source: Source, path: Path, ctype: str) -> Expected:
    unit = source.choice(*SPECTRAL[ctype])
    values = (source.wavelength * units.AA).to_value(unit.replace("/m", "1/m"), units.spectral())
    return image(source, path, linear_cards(source, values[:: source.choice(1, -1)], unit, ctype), "vacuum")


@form("FREQ-LOG", "WAVE-F2W", "AWAV-F2A", "FREQ-W2F")
def _image_with_an_algorithm(source: Source, path: Path, ctype: str) -> Expected:
    unit = "Hz" if ctype.startswith("FREQ") else source.unit
    ends = (source.wavelength[[0, -1]] * units.AA).to_value(unit, units.spectral())
    header = fits.Header()
    header["CTYPE1"], header["CUNIT1"], header["CRPIX1"] = ctype, unit, 1.0
    # At most a third of the reference, up to which all four are monotonic.
    header["CRVAL1"], header["CDELT1"] = ends[0], np.clip(np.diff(ends)[0] / ends[0], -0.3, 0.3) * ends[0] / 3000
    return image(source, path, header, "air" if ctype.startswith("AWAV") else "vacuum")


@form()
def _logarithmic_image_of_iraf(source: Source, path: Path) -> Expected:
    logs = np.linspace(*np.log10(source.wavelength[[0, -1]]), source.flux.size)
    header = linear_cards(source, logs, "Angstrom", "LINEAR")
    header["DC-FLAG"] = 1
    fits.PrimaryHDU(source.with_nan, header).writeto(path)
    return replace(source, kind=None).expected(wavelength=10.0**logs)


@form()
def _image_without_ctype(source: Source, path: Path) -> Expected:
    header = linear_cards(source, source.in_unit, source.unit, "WAVE")
    wavelength = axis(header, source.flux.size)
    del header["CTYPE1"]
    fits.PrimaryHDU(source.with_nan, header).writeto(path)
    return replace(source, kind=None).expected(wavelength=wavelength)


@form()
def _image_with_short_axes(source: Source, path: Path) -> Expected:
    """One spectrum in an image of three axes, with the cards of a position on the sky."""
    header = linear_cards(source, source.in_unit, source.unit, "WAVE")
    wavelength = axis(header, source.flux.size)
    for n, ctype in ((2, "RA---TAN"), (3, "DEC--TAN")):
        header[f"CTYPE{n}"], header[f"CUNIT{n}"], header[f"CRVAL{n}"], header[f"CDELT{n}"] = ctype, "deg", 30.0, -1e-3
    fits.PrimaryHDU(source.with_nan[np.newaxis, np.newaxis], header).writeto(path)
    return replace(source, kind=None).expected(wavelength=wavelength, medium="vacuum")


@form("int16", "int32", "uint8")
def _image_with_blank(source: Source, path: Path, dtype: str) -> Expected:
    """Whole numbers, scaled, with BLANK for no data."""
    limits = np.iinfo(dtype)
    scale, zero = np.ptp(source.flux) / 200, source.flux.min()
    counts = np.round((source.flux - zero) / scale).astype(dtype)
    blank = source.choice(limits.max, limits.min if limits.min else limits.max)
    header = linear_cards(source, source.in_unit, source.unit, "WAVE")
    wavelength = axis(header, counts.size)
    hdu = fits.PrimaryHDU(np.where(source.missing, blank, counts).astype(dtype))
    hdu.header.extend(header)
    hdu.header["BSCALE"], hdu.header["BZERO"], hdu.header["BLANK"] = scale, zero, int(blank)
    raw = io.BytesIO()
    hdu.writeto(raw)
    path.write_bytes(raw.getvalue())
    return whole_numbers(source, zero + scale * counts.astype(float)).expected(wavelength=wavelength, medium="vacuum")


def whole_numbers(source: Source, flux: Array) -> Source:
    """Return the source with rounded flux and without errors; a flux of exactly 0 at an end is then no data."""
    missing = source.missing.copy()
    for end in (0, -1):
        missing[end] |= flux[end] == 0
    return replace(source, flux=flux.astype(float), missing=missing, kind=None)


@form()
def _image_of_muse(source: Source, path: Path) -> Expected:
    """MPDAF: an empty primary HDU, DATA with its axis, STAT with the variance, DQ with non-zero for bad."""
    header = linear_cards(source, source.in_unit, source.unit, "AWAV")
    wavelength = axis(header, source.flux.size)
    stat, dq = fits.ImageHDU(source.sigma**2, header, name="STAT"), source.flagged.astype(np.uint8)
    data = fits.ImageHDU(source.with_nan, header, name="DATA")
    fits.HDUList([fits.PrimaryHDU(), data, stat, fits.ImageHDU(dq, header, name="DQ")]).writeto(path)
    return replace(source, kind="variance").expected(wavelength=wavelength, medium="air")


@form()
def _images_of_wavelength_flux_and_error(source: Source, path: Path) -> Expected:
    images = {"FLUX": source.with_nan, "ERROR": source.sigma, "WAVELENGTH": source.in_unit}
    hdus = {name: fits.ImageHDU(values, name=name) for name, values in images.items()}
    hdus["WAVELENGTH"].header["BUNIT"] = source.unit
    order = source.draw.draw(st.permutations(list(hdus)))
    fits.HDUList([fits.PrimaryHDU(), *(hdus[name] for name in order)]).writeto(path)
    return replace(source, kind="sigma").expected()


# ---- tables of FITS


def columns(source: Source, flux: Any = None, wavelength: str = "") -> Table:
    """Return wavelength, flux and errors with units, under names that state them."""
    name = wavelength or source.choice("WAVELENGTH", "wave", "lambda", "WAVE")
    table = Table({name: source.in_unit, "flux": source.with_nan if flux is None else flux})
    table[name].unit = source.unit
    for error, values in source.error_column.items():
        table[error] = values
        if source.flux_unit:
            power = {"sigma": 1, "variance": 2, "ivar": -2}[source.kind or "sigma"]
            table[error].unit = units.Unit(source.flux_unit) ** power
    if source.flux_unit:
        table["flux"].unit = units.Unit(source.flux_unit)
    return table


@form("air", "vacuum", "")
def _fits_table(source: Source, path: Path, medium: str) -> Expected:
    name = {"air": "wave_air", "vacuum": "wave_vac", "": "WAVE"}[medium]
    table = columns(source, wavelength=name)
    table["mask"] = source.flagged.astype(source.choice(np.uint8, np.int32, bool))
    table.write(path, format="fits")
    return source.expected(medium=medium or None, flagged=source.flagged)


@form()
def _fits_table_of_single_precision(source: Source, path: Path) -> Expected:
    source = replace(source, kind=None if source.kind == "variance" else source.kind)
    table = columns(source)
    for name in table.colnames[1:]:
        table[name] = table[name].astype(np.float32)
    table.write(path, format="fits")
    return source.expected(precision=1e-6)


@form("int16", "int32", "int64")
def _fits_table_with_tnull(source: Source, path: Path, dtype: str) -> Expected:
    counts = np.round(10_000 * source.flux / np.abs(source.flux).max()).astype(dtype)
    null = int(source.choice(-32_000, np.iinfo(dtype).min))
    stored = np.where(source.missing, null, counts).astype(dtype)
    code = {"int16": "I", "int32": "J", "int64": "K"}[dtype]
    listed = [fits.Column("WAVE", "D", unit=source.unit, array=source.in_unit)]
    listed.append(fits.Column("FLUX", code, null=null, array=stored))
    fits.HDUList([fits.PrimaryHDU(), fits.BinTableHDU.from_columns(listed)]).writeto(path)
    return whole_numbers(source, counts).expected()


@form()
def _fits_ascii_table(source: Source, path: Path) -> Expected:
    listed = [fits.Column("WAVE", "D25.17", unit=source.unit, array=source.in_unit, ascii=True)]
    listed.append(fits.Column("FLUX", "E24.16", array=source.flux, ascii=True))
    listed += [fits.Column(name, "E24.16", array=values, ascii=True) for name, values in source.error_column.items()]
    fits.HDUList([fits.PrimaryHDU(), fits.TableHDU.from_columns(listed)]).writeto(path)
    return replace(source, missing=np.zeros(source.flux.size, bool)).expected()


@form("P", "Q")
def _fits_columns_of_variable_length(source: Source, path: Path, descriptor: str) -> list[Expected]:
    """Two spectra of different lengths, or one."""
    rows = [slice(None)] if source.choice(True, False) else [slice(None), slice(5, -3)]
    arrays = {"WAVE": source.in_unit, "FLUX": source.with_nan} | source.error_column

    def cells(values: Array) -> Array:
        made = np.empty(len(rows), object)
        made[:] = [values[row] for row in rows]
        return made

    listed = [
        fits.Column(name, f"{descriptor}D()", unit=source.unit if name == "WAVE" else None, array=cells(values))
        for name, values in arrays.items()
    ]
    fits.HDUList([fits.PrimaryHDU(), fits.BinTableHDU.from_columns(listed)]).writeto(path)
    return parts(source.expected(), rows)


def parts(whole: Expected, rows: list[slice]) -> list[Expected]:
    arrays = {"wavelength": whole.wavelength, "flux": whole.flux, "ivar": whole.ivar, "missing": whole.missing}
    return [
        replace(whole, **{key: None if value is None else value[row] for key, value in arrays.items()}) for row in rows
    ]


@form(1, 3)
def _fits_table_of_vectors(source: Source, path: Path, rows: int) -> list[Expected]:
    table = columns(source)
    vectors = Table({name: np.stack([table[name]] * rows) for name in table.colnames})
    vectors["flux"] *= np.arange(1.0, rows + 1)[:, np.newaxis]
    vectors[table.colnames[0]].unit = source.unit
    vectors.write(path, format="fits")
    whole = source.expected()
    return [replace(whole, flux=whole.flux * (row + 1)) for row in range(rows)]


@form("spec", "spSpec")
def _file_of_sdss(source: Source, path: Path, layout: str) -> Expected:
    logs = np.linspace(*np.log10(source.wavelength[[0, -1]]), source.flux.size)
    doubted = np.where(source.flagged, 1 << 24, 1 << 7)
    source = replace(source, wavelength=10.0**logs, kind="ivar" if layout == "spec" else "sigma")
    if layout == "spec":
        coadd = Table({"flux": source.with_nan, "loglam": logs, "ivar": source.errors, "and_mask": doubted})
        row = Table({"Z": [0.1], "CLASS": ["STAR"]})
        fits.HDUList([fits.PrimaryHDU(), fits.BinTableHDU(coadd), fits.BinTableHDU(row)]).writeto(path)
    else:
        hdu = fits.PrimaryHDU(np.array([source.with_nan, source.flux, source.errors, doubted]))
        hdu.header["COEFF0"], hdu.header["COEFF1"] = logs[0], logs[1] - logs[0]
        hdu.header["PLATEID"], hdu.header["MJD"], hdu.header["FIBERID"] = 266, 51602, 13
        hdu.writeto(path)
    return source.expected(medium="vacuum", flagged=source.flagged)


# ---- text and XML


@form("ascii.ecsv", "ascii.ecsv, commas", "votable, binary2", "votable, tabledata", "votable, binary")
def _masked_table(source: Source, path: Path, name: str) -> Expected:
    """Pixels without data are masked: "" in ECSV, the null of a VOTable."""
    table = columns(source, MaskedColumn(source.flux, mask=source.missing), wavelength="wavelength")
    if name.startswith("votable"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of units that the standard deprecates
            table.write(path, format="votable", tabledata_format=name.split(", ")[1])
    else:
        table.write(path, format="ascii.ecsv", delimiter="," if "commas" in name else " ")
    return source.expected()


@form("ascii.ecsv", "ascii.csv", "ascii.ipac", "ascii.mrt", "ascii.tab", "ascii.fixed_width", "ascii.commented_header")
def _text(source: Source, path: Path, name: str) -> Expected:
    without = replace(source, missing=np.zeros(source.flux.size, bool), flux_unit="")
    if name in ("ascii.ecsv", "ascii.ipac", "ascii.mrt"):
        table = columns(without, wavelength="wavelength")
    else:
        # Only in the names is a unit stated.
        opening, closing = source.choice("[]", "()")
        plain = columns(without, wavelength="wavelength")
        table = Table(plain, names=[f"wavelength {opening}{source.unit}{closing}", *plain.colnames[1:]], copy=False)
        if name == "ascii.commented_header":
            table.rename_column(table.colnames[0], table.colnames[0].replace(" ", ""))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MRT writes a template of a header to be completed
        table.write(path, format=name)
    precise = {} if name != "ascii.mrt" else {"precision": 1e-6, "wavelength_precision": 1e-8}
    return without.expected(**precise)


@form(",", "\t", ";")
def _text_with_a_line_of_units(source: Source, path: Path, delimiter: str) -> Expected:
    named = {"wavelength": source.in_unit, "flux": source.with_nan} | source.error_column
    unit_of_flux = source.choice("count", "erg/s/cm2/A", "erg s-1 cm-2 AA-1")
    row = [source.unit, unit_of_flux, *["" for _ in source.error_column]][: len(named)]
    lines = [delimiter.join(named), delimiter.join(row)]
    lines += [delimiter.join(map(repr, map(float, cells))) for cells in zip(*named.values(), strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return source.expected()


SPELLINGS = {"Angstrom": ("AA", "Angstroem", "ANGSTROMS", "0.1nm", "1e-10 m", "10**-10 m", "Å", "A")}
SPELLINGS |= {"nm": ("nanometers", "nanometre", "NM"), "um": ("micron", "microns", "µm", "\N{GREEK SMALL LETTER MU}m")}


@form(*SPELLINGS)
def _spelling_of(source: Source, path: Path, unit: str) -> Expected:
    source = replace(source, unit=unit, flux_unit="", missing=np.zeros(source.flux.size, bool))
    table = columns(source, wavelength="wavelength")
    spelling = source.choice(*SPELLINGS[unit])
    if spelling.isascii() and source.choice(True, False):
        hdu = fits.BinTableHDU(table)
        hdu.header["TUNIT1"] = spelling
        fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(path)
    else:
        text = io.StringIO()
        table.write(text, format="ascii.ecsv")
        path.write_text(text.getvalue().replace(f"unit: {unit},", f"unit: {spelling},"), encoding="utf-8")
    return source.expected()


@form("frequency, THz", "FREQ, Hz", "energy, eV", "wavenumber, 1/cm")
def _table_over(source: Source, path: Path, quantity: str) -> Expected:
    name, unit = quantity.split(", ")
    table = columns(source, wavelength=name)
    table[name] = (source.wavelength * units.AA).to(unit, units.spectral())
    if source.choice(True, False):
        table.reverse()
    table.write(path, format=source.choice("fits", "ascii.ecsv", "votable"))
    return source.expected(medium="vacuum")


@form("Jy", "mJy", "erg / (s cm2 Hz)")
def _flux_per_frequency(source: Source, path: Path, unit: str) -> Expected:
    table = columns(replace(source, flux_unit=unit), wavelength="wave_vac")
    table.write(path, format=source.choice("fits", "ascii.ecsv"))
    per_length = units.spectral_density(source.wavelength * units.AA)
    factor = (np.ones(source.flux.size) * units.Unit(unit)).to_value(F_LAMBDA, per_length)
    converted = replace(source, flux=source.flux * factor, sigma=source.sigma * factor)
    return converted.expected(medium="vacuum", precision=1e-7)


@form()
def _tables_of_jwst(source: Source, path: Path) -> list[Expected]:
    """Two tables EXTRACT1D, in µm and Jy; bit 0 of DQ is DO_NOT_USE, bit 2 a jump that was mended."""
    source = replace(source, kind="sigma", unit="um", flux_unit="")
    quality = source.flagged + 4 * (np.arange(source.flux.size) % 3 == 0)
    hdus = [fits.PrimaryHDU()]
    hdus[0].header["TELESCOP"] = "JWST"
    for number in (1, 2):
        table = {"WAVELENGTH": source.in_unit, "FLUX": number * source.with_nan, "FLUX_ERROR": source.sigma}
        hdus.append(fits.BinTableHDU(Table(table | {"DQ": quality.astype(np.int32)}), name="EXTRACT1D", ver=number))
        hdus[-1].header["TUNIT1"] = "um"
    fits.HDUList(hdus).writeto(path)
    whole = source.expected(medium="vacuum", flagged=source.flagged)
    return [replace(whole, flux=number * whole.flux) for number in (1, 2)]


@form("object", "instrument_id")
def _spectra_by_a_column(source: Source, path: Path, column: str) -> list[Expected]:
    """Two spectra of different lengths in one table of text, told apart by a column."""
    source = replace(source, kind="sigma", missing=np.zeros(source.flux.size, bool))
    rows = [slice(None), slice(2, -4)]
    names = ("J0012+34", "J1200-01") if column == "object" else (3, 1)
    lines = [f"wavelength [{source.unit}],flux,flux_err,{column}"]
    for row, name in zip(rows, names, strict=True):
        arrays = (source.in_unit[row], source.flux[row], source.sigma[row])
        lines += [",".join([*(repr(float(cell)) for cell in cells), str(name)]) for cells in zip(*arrays, strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return parts(source.expected(), rows)


# ---- specutils and our own writers


@form("tabular-fits", "wcs1d-fits")
def _file_of_specutils(source: Source, path: Path, name: str) -> Expected:
    specutils = pytest.importorskip("specutils")
    from astropy import nddata

    kinds = {"sigma": nddata.StdDevUncertainty, "variance": nddata.VarianceUncertainty, "ivar": nddata.InverseVariance}
    uncertainty = kinds[source.kind](source.errors) if source.kind else None
    flux_unit = source.flux_unit or "count"
    fields: dict[str, Any] = {"flux": source.flux * units.Unit(flux_unit), "uncertainty": uncertainty}
    header = linear_cards(source, source.in_unit, source.unit, "WAVE")
    if name == "wcs1d-fits":
        spectrum = specutils.Spectrum(**fields, wcs=WCS(header), mask=source.flagged)
        wavelength = axis(header, source.flux.size)
    else:
        spectrum = specutils.Spectrum(**fields, spectral_axis=source.in_unit * units.Unit(source.unit))
        wavelength = source.wavelength
    spectrum.write(path, format=name)
    without = replace(source, missing=np.zeros(source.flux.size, bool))
    of_image = {"medium": "vacuum", "flagged": source.flagged} if name == "wcs1d-fits" else {}
    return without.expected(wavelength=wavelength, **of_image)


def our_spectrum(source: Source) -> Spectrum:
    return Spectrum(
        source.wavelength,
        source.flux,
        np.where(source.missing, 0.0, source.sigma**-2.0),
        mask=source.flagged,
        medium=source.choice("air", "vacuum"),
        flux_unit=source.flux_unit or "unknown",
        name="x",
    )


@form("fits", "ecsv", "csv")
def _our_own(source: Source, path: Path, kind: str) -> Expected:
    spectrum = our_spectrum(source)
    if kind == "fits":
        own.write(spectrum, path)
        assert list(read_all(path)) == [spectrum]
    else:
        path.write_bytes(written(spectrum, (), "csv" if kind == "csv" else "ecsv"))
    return replace(source, kind="ivar").expected(medium=spectrum.medium, flagged=source.flagged)


# ---- the tests


def check(spectrum: Spectrum, expected: Expected) -> None:
    assert len(spectrum) == expected.wavelength.size
    np.testing.assert_allclose(spectrum.wavelength, expected.wavelength, rtol=expected.wavelength_precision)
    seen = ~expected.missing
    assert np.isfinite(spectrum.flux).all()
    near_zero = np.abs(expected.flux).max() * expected.precision
    np.testing.assert_allclose(spectrum.flux[seen], expected.flux[seen], rtol=expected.precision, atol=near_zero)
    assert not spectrum.ivar[expected.missing].any()
    if expected.ivar is None:
        assert spectrum.errors == "estimated"
        assert (spectrum.ivar[seen] > 0).all()
    else:
        assert spectrum.errors == "measured"
        np.testing.assert_allclose(spectrum.ivar[seen], expected.ivar[seen], rtol=4 * expected.precision)
    if expected.flagged is not None:
        np.testing.assert_array_equal(spectrum.mask[seen], expected.flagged[seen])
    assert spectrum.medium == (expected.medium or "air")
    assert spectrum.meta.get("medium_assumed", False) is (expected.medium is None)


# Without shrinking, which takes minutes: an example of thousands of random pixels is no clearer than another.
def few(number: int) -> settings:
    return settings(examples(number), phases=(Phase.generate,))


@pytest.mark.parametrize("name", FORMS)
@few(4)
@given(data=st.data())
def test_a_spectrum_comes_back_equal(tmp_path_factory: pytest.TempPathFactory, name: str, data: Draw) -> None:
    source = data.draw(sources(data))
    path = tmp_path_factory.mktemp("form") / "x"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # writers complain of units, and of cards without room for a comment
        expected = FORMS[name](source, path)
    if source.choice(False, True):
        path.write_bytes(gzip.compress(path.read_bytes(), 1))
    spectra = list(read_all(path))
    assert len(spectra) == len(expected)
    for spectrum, one_expected in zip(spectra, expected, strict=True):
        check(spectrum, one_expected)


TABLES = {
    "fits": lambda table, path: table.write(path, format="fits"),
    "ecsv": lambda table, path: table.write(path, format="ascii.ecsv"),
    "votable": lambda table, path: table.write(path, format="votable"),
    "csv": lambda table, path: Table(table, names=["wavelength [um]", *table.colnames[1:]]).write(
        path, format="ascii.csv"
    ),
}


def write_table(path: Path, kind: str, wavelength: Array, **others: Array) -> None:
    """Write wavelengths (Å, stored in µm) and other columns."""
    table = Table({"wavelength": wavelength / 1e4} | others)
    table["wavelength"].unit = "um"
    TABLES[kind](table, path)


@pytest.mark.parametrize("kind", TABLES)
@few(3)
@given(data=st.data())
def test_pixels_without_a_wavelength_are_left_out_and_counted(
    tmp_path_factory: pytest.TempPathFactory, kind: str, data: Draw
) -> None:
    source = data.draw(sources(data))
    none = source.choice(0.0, -1e4, np.nan)
    places = np.sort([0, 0, source.flux.size, *data.draw(st.lists(st.integers(1, 19), max_size=3))])
    padded = (
        np.insert(source.wavelength, places, none),
        *(np.insert(a, places, 0) for a in (source.flux, source.sigma)),
    )
    path = tmp_path_factory.mktemp("padded") / "x"
    write_table(path, kind, padded[0], flux=padded[1], err=padded[2])
    (spectrum,) = read_all(path)
    all_seen = replace(source, kind="sigma", missing=np.zeros(source.flux.size, bool))
    check(spectrum, all_seen.expected())
    assert spectrum.meta["pixels_without_wavelength"] == places.size


@pytest.mark.parametrize("kind", TABLES)
@few(3)
@given(data=st.data())
def test_pixels_of_one_wavelength_are_averaged_and_counted(
    tmp_path_factory: pytest.TempPathFactory, kind: str, data: Draw
) -> None:
    source = data.draw(sources(data))
    twice = np.unique(data.draw(st.lists(st.integers(1, 18), min_size=1, max_size=5)))
    wavelength, flux, sigma = (np.insert(a, twice, a[twice]) for a in (source.wavelength, source.flux, source.sigma))
    for n, at in enumerate(twice):
        flux[[at + n, at + n + 1]] += source.sigma[at] * np.array([1, -1])
    path = tmp_path_factory.mktemp("repeated") / "x"
    write_table(path, kind, wavelength, flux=flux, err=sigma)
    (spectrum,) = read_all(path)
    np.testing.assert_allclose(spectrum.wavelength, source.wavelength, rtol=1e-9)
    np.testing.assert_allclose(spectrum.flux, source.flux, rtol=1e-9, atol=1e-9 * np.abs(source.flux).max())
    assert spectrum.meta["pixels_repeated"] in (twice.size, 2 * twice.size)


@pytest.mark.parametrize("kind", TABLES)
@few(3)
@given(data=st.data())
def test_overlapping_orders_are_cut_in_the_middle_of_their_overlap(
    tmp_path_factory: pytest.TempPathFactory, kind: str, data: Draw
) -> None:
    source = data.draw(sources(data))
    blue = source.wavelength
    step = blue[-1] - blue[-2]
    red = blue[-1] - data.draw(st.floats(2.1, 9.9)) * step + 1.1 * step * np.arange(200)
    middle = (red[0] + blue[-1]) / 2
    red_flux, red_sigma = source.flux[-1] * np.linspace(1, 2, red.size), np.full(red.size, source.sigma[-1])
    path = tmp_path_factory.mktemp("orders") / "x"
    orders = [(blue, source.flux, source.sigma), (red, red_flux, red_sigma)]
    if source.choice(True, False):
        orders.reverse()
    wavelength, flux, sigma = map(np.concatenate, zip(*orders, strict=True))
    write_table(path, kind, wavelength, flux=flux, err=sigma)
    (spectrum,) = read_all(path)
    kept = [blue[blue < middle], red[red > middle]]
    np.testing.assert_allclose(spectrum.wavelength, np.concatenate(kept), rtol=1e-9)
    np.testing.assert_allclose(spectrum.flux[: kept[0].size], source.flux[: kept[0].size], rtol=1e-9)
    np.testing.assert_allclose(spectrum.flux[kept[0].size :], red_flux[red > middle], rtol=1e-9)
    assert spectrum.meta["pixels_of_overlaps"] == wavelength.size - len(spectrum)


@pytest.mark.parametrize("kind", TABLES)
def test_of_two_columns_of_errors_the_one_that_is_not_used_is_named(tmp_path: Path, kind: str) -> None:
    """The second column contradicts the first: nobody can tell which of them holds."""
    pixels = 4000.0 + np.arange(50)
    write_table(tmp_path / "x", kind, pixels, flux=np.ones(50), err=np.full(50, 0.1), flux_unc=np.full(50, 0.5))
    (spectrum,) = read_all(tmp_path / "x")
    assert spectrum.errors == "measured"
    used = "err" if np.allclose(spectrum.ivar, 100.0) else "flux_unc"
    assert np.allclose(spectrum.ivar, {"err": 100.0, "flux_unc": 4.0}[used])
    assert {"err": "flux_unc", "flux_unc": "err"}[used] in str(spectrum.meta["not_used"])
    assert used in str(spectrum.meta["errors_from"])


def commas(delimiter: str) -> Callable[[Source], bytes]:
    def text(source: Source) -> bytes:
        rows = zip(source.wavelength, source.flux / source.flux.max(), strict=True)
        return "\n".join(f"{w:.3f}{delimiter}{f:.4f}".replace(".", ",") for w, f in rows).encode()

    return text


def plain_text(source: Source, factor: float = 1.0, flux: float = 1.0) -> str:
    rows = zip(factor * source.wavelength, flux * source.flux / np.abs(source.flux).min(), strict=True)
    return "wavelength [Angstrom],flux\n" + "".join(f"{float(w)!r},{float(f)!r}\n" for w, f in rows)


def with_carriage_returns(source: Source) -> bytes:
    header = linear_cards(source, source.wavelength, "Angstrom", "WAVE")
    raw = io.BytesIO()
    fits.PrimaryHDU(np.concatenate([source.flux, np.frombuffer(20 * b"@\n\n\n\n\n\n\n", ">f8")]), header).writeto(raw)
    changed = raw.getvalue().replace(b"\n", b"\r\n")
    assert len(changed) > len(raw.getvalue())
    return changed


REFUSED: dict[str, Callable[[Source], bytes]] = {
    "decimal commas, semicolons": commas(";"),
    "decimal commas, tabs": commas("\t"),
    "decimal commas, spaces": commas("  "),
    "UTF-16": lambda source: plain_text(source).encode("utf-16"),
    "UTF-16 LE without a mark": lambda source: plain_text(source).encode("utf-16-le"),
    "UTF-16 BE without a mark": lambda source: plain_text(source).encode("utf-16-be"),
    "line ends in FITS data": with_carriage_returns,
    "a flux beyond 1e30": lambda source: plain_text(source, flux=1.1e30).encode(),
    "below 100 Å": lambda source: plain_text(source, factor=1e-4).encode(),
    "beyond 1 mm": lambda source: plain_text(source, factor=1e4).encode(),
}


@pytest.mark.parametrize("name", REFUSED)
@few(2)
@given(data=st.data())
def test_what_cannot_be_a_spectrum_is_refused(tmp_path_factory: pytest.TempPathFactory, name: str, data: Draw) -> None:
    source = data.draw(sources(data))
    path = tmp_path_factory.mktemp("refused") / "x"
    path.write_text(plain_text(source), encoding="utf-8")
    assert len(list(read_all(path))) == 1
    path.write_bytes(REFUSED[name](source))
    with pytest.raises(SpectrumError) as refused:
        list(read_all(path))
    check_sentence(str(refused.value), path.parent)
