"""Spectrum files: small valid ones of each layout, and damaged ones with the texts of their refusals."""

from __future__ import annotations

import base64
import gzip
import io
import json
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from astropy.io import fits
from astropy.table import Table

from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.spectrum.readers import own

N = 40
WAVELENGTH = 4000.0 + 2.0 * np.arange(N)
FLUX = 10.0 + np.arange(N) % 5
REAL = Path(__file__).resolve().parents[4] / "shared" / "spectra"
LARGEST_REAL = 60_000
"""Bytes; larger files are too slow for many examples."""


@cache
def a_spectrum() -> Spectrum:
    whole = simulate("cv", "LAMOST", 20.0, 1)
    part = slice(200, 200 + 8 * N)
    parts = (whole.wavelength[part], whole.flux[part], whole.ivar[part], whole.mask[part])
    return replace(whole, wavelength=parts[0], flux=parts[1], ivar=parts[2], mask=parts[3])


def spectrum_file() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        own.write(a_spectrum(), Path(folder, "x.fits"))
        return Path(folder, "x.fits").read_bytes()


def fits_bytes(*hdus: Any) -> bytes:
    stream = io.BytesIO()
    fits.HDUList(list(hdus)).writeto(stream)
    return stream.getvalue()


def primary(data: Any = None, **cards: Any) -> fits.PrimaryHDU:
    """A primary HDU with these cards; ``__`` in a name stands for ``-``."""
    hdu = fits.PrimaryHDU(data)
    for key, value in cards.items():
        hdu.header[key.replace("__", "-")] = value
    return hdu


def table(columns: dict[str, Any], name: str = "") -> fits.BinTableHDU:
    hdu = fits.BinTableHDU(Table(columns))
    hdu.name = name
    return hdu


def linear_image(flux: Any = FLUX, **cards: Any) -> bytes:
    return fits_bytes(primary(np.asarray(flux, np.float32), **{"CRVAL1": 4000.0, "CDELT1": 2.0} | cards))


def _lamost() -> bytes:
    rows = np.array([FLUX, FLUX, WAVELENGTH, 0 * FLUX, 0 * FLUX], np.float32)
    return fits_bytes(primary(rows, TELESCOP="LAMOST", EXTEN0="Flux, Inverse, Wavelength, Andmask, Ormask"))


def _lamost_table() -> bytes:
    row = {"FLUX": FLUX, "IVAR": FLUX, "WAVELENGTH": WAVELENGTH, "ANDMASK": 0 * FLUX, "ORMASK": 0 * FLUX}
    return fits_bytes(primary(TELESCOP="LAMOST"), table({key: [value] for key, value in row.items()}, "COADD"))


def lamost_medium(*more: Any) -> bytes:
    """A medium-resolution file of LAMOST: both arms, an exposure of each, and ``more`` HDUs."""
    arms = {"COADD_B": 4950.0, "COADD_R": 6300.0, "B-1": 4950.0, "R-1": 6300.0}
    columns = {"FLUX": FLUX, "IVAR": FLUX, "ANDMASK": np.zeros(N, np.int16)}
    tables = [table(columns | {"LOGLAM": np.log10(start + 0.2 * np.arange(N))}, name) for name, start in arms.items()]
    return fits_bytes(primary(TELESCOP="LAMOST"), *tables, *more)


def _sdss() -> bytes:
    coadd = {"flux": FLUX, "loglam": np.log10(WAVELENGTH), "ivar": FLUX, "and_mask": np.zeros(N, int)}
    row = {"Z": [0.1], "CLASS": ["STAR"], "PLUG_RA": [1.0], "SN_MEDIAN": [[1.0] * 5]}
    return fits_bytes(primary(), table(coadd), table(row))


def plate(fibres: int = 3, **cards: Any) -> bytes:
    """A ``spPlate`` file to the data model of SDSS; the last fibre is on the sky."""
    flux = np.arange(1.0, fibres + 1)[:, np.newaxis] * np.ones(N)
    cards = {"COEFF0": 3.6, "COEFF1": 1e-4, "PLATEID": 3586, "MJD": 55181, "RUN2D": "v5_13_2"} | cards
    images = [fits.ImageHDU(np.float32(np.ones_like(flux)))]
    images += [fits.ImageHDU(np.zeros(flux.shape, np.int32)) for _ in range(2)]
    images.append(fits.ImageHDU(np.float32(np.ones_like(flux))))
    plug_map = {"FIBERID": np.arange(fibres) + 1, "RA": np.full(fibres, 10.0), "DEC": np.full(fibres, -5.0)}
    plug_map["OBJTYPE"] = np.array(["STAR_CATY_VAR"] * (fibres - 1) + ["SKY"])
    return fits_bytes(primary(np.float32(flux), **cards), *images, table(plug_map))


def zbest(fibres: int = 3) -> bytes:
    """A ``spZbest`` file: by turns a star without warning and a galaxy with ZWARNING 4; the model is 0.9 times the
    flux."""
    star = [n % 2 == 0 for n in range(fibres)]
    columns = {
        "FIBERID": np.arange(fibres) + 1,
        "CLASS": ["STAR" if one else "GALAXY" for one in star],
        "SUBCLASS": ["CV" if one else "" for one in star],
        "Z": np.float32([0.0001 if one else 0.4 for one in star]),
        "ZWARNING": [0 if one else 4 for one in star],
    }
    model = 0.9 * np.arange(1.0, fibres + 1)[:, np.newaxis] * np.ones(N)
    return fits_bytes(primary(), table(columns), fits.ImageHDU(np.float32(model)))


def desi(targets: int = 2, mask: bool = False, ids: Any = None, **fibermap: Any) -> bytes:
    """A coadd, or with repeated ``ids`` a ``spectra-*`` file; row n of every arm has the flux n + 1."""
    ids = np.arange(targets) + 1 if ids is None else np.asarray(ids)
    targets = len(ids)
    hdus: list[Any] = [primary(), table({"TARGETID": ids} | fibermap, "FIBERMAP")]
    for arm, start in (("B", 3600.0), ("R", 3624.0), ("Z", 3648.0)):
        hdus.append(fits.ImageHDU(start + 0.8 * np.arange(N), name=f"{arm}_WAVELENGTH"))
        flux = np.arange(1.0, targets + 1)[:, np.newaxis] * np.ones(N)
        hdus.append(fits.ImageHDU(np.float32(flux), name=f"{arm}_FLUX"))
        hdus.append(fits.ImageHDU(np.ones((targets, N), np.float32), name=f"{arm}_IVAR"))
        if mask:
            hdus.append(fits.CompImageHDU(np.zeros((targets, N), np.int32), name=f"{arm}_MASK"))
    return fits_bytes(*hdus)


def redrock(ids: Any = (1, 2), name: str = "REDSHIFTS") -> bytes:
    """The redshift table of a coadd: by turns a star without warning and a galaxy with ZWARN 4."""
    star = [n % 2 == 0 for n in range(len(ids))]
    columns = {
        "TARGETID": np.asarray(ids),
        "Z": [0.0001 if one else 0.4 for one in star],
        "ZERR": [1e-5] * len(ids),
        "ZWARN": [0 if one else 4 for one in star],
        "SPECTYPE": ["STAR" if one else "GALAXY" for one in star],
        "SUBTYPE": ["CV" if one else "" for one in star],
        "DELTACHI2": [50.0] * len(ids),
    }
    return fits_bytes(primary(), table(columns, name), table({"TARGETID": np.asarray(ids)}, "FIBERMAP"))


def mwm(rows: dict[str, int], visits: bool = False, **columns: Any) -> bytes:
    """An ``mwmStar`` file, or with ``visits`` an ``mwmVisit`` file, with so many rows in each HDU.

    Data model: sdss-astra.readthedocs.io, "MWM Combined Models"; names and forms as in specutils' test of its reader.
    """
    cards = {"V_ASTRA": "0.6.0", "SDSS_ID": 42, "GAIA3_ID": 23423, "RA": 198.4, "DEC": 67.1, "CARTON_0": "mwm_wd_core"}
    hdus: list[Any] = [primary(**cards)]
    for name in ("BOSS/APO", "BOSS/LCO", "APOGEE/APO", "APOGEE/LCO"):
        start, step = (3.5523, 1e-4) if name.startswith("BOSS") else (4.179, 6e-6)
        count = rows.get(name, 0)
        grid = 10 ** (start + step * np.arange(N))
        flux = np.arange(1.0, count + 1)[:, np.newaxis] * np.ones(N)
        values = {
            "sdss_id": np.full(count, 42),
            "telescope": np.full(count, "apo25m"),
            "snr": np.full(count, 50.0),
            "v_rad": np.full(count, 30.0),
            "flux": np.float32(flux),
            "ivar": np.float32(np.ones_like(flux)),
            "pixel_flags": np.zeros(flux.shape, np.int32),
            "continuum": np.float32(flux),
            "nmf_rectified_model_flux": np.full(flux.shape, 0.9, np.float32),
        }
        values |= {"mjd": 59800 + np.arange(count)} if visits else {"wavelength": np.tile(np.float32(grid), (count, 1))}
        hdu = table(values | {key: np.asarray(value)[:count] for key, value in columns.items()}, name)
        hdu.header["CRVAL"], hdu.header["CDELT"], hdu.header["NPIXELS"] = start, step, N
        hdus.append(hdu)
    return fits_bytes(*hdus)


def _marz() -> bytes:
    fibres = {"NAME": ["a", "b"], "TYPE": ["P", "S"], "RA": [0.1, 0.2], "DEC": [0.1, 0.2], "MAGNITUDE": [1.0, 2.0]}
    ones = np.ones((2, N), np.float32)
    rest = [fits.ImageHDU(ones, name=name) for name in ("VARIANCE", "SKY")]
    return fits_bytes(primary(ones, CRVAL1=4000.0, CDELT1=2.0), *rest, table(fibres, "FIBRES"))


def _multispec() -> bytes:
    axis = 'wtype=multispec spec1 = "1 1 0 4000.0 2.0 40 0. 1 1" spec2 = "2 2 0 4000. 2. 40 0. 1 1"'
    cards = {"WAT0_001": "system=multispec", "WAT2_001": axis[:60], "WAT2_002": axis[60:], "APNUM1": "1 1"}
    return fits_bytes(primary(np.ones((2, N), np.float32), **cards))


FITS = {
    "image": linear_image(),
    "image of an aperture": linear_image(WAT0_001="x", APNUM1="1"),
    "lamost": _lamost(),
    "lamost table": _lamost_table(),
    "lamost medium": lamost_medium(),
    "sdss": _sdss(),
    "desi": desi(),
    "desi with masks": desi(mask=True),
    "mwmStar": mwm({"BOSS/LCO": 1}),
    "mwmVisit": mwm({"BOSS/APO": 2, "APOGEE/APO": 1}, visits=True, in_stack=[True, True]),
    "plate": plate(),
    "marz": _marz(),
    "table": fits_bytes(primary(), table({"WAVELENGTH": WAVELENGTH, "FLUX": FLUX, "ERR": FLUX / 9})),
    "multispec": _multispec(),
    "ours": spectrum_file(),
    "image of bands": linear_image(np.ones((3, 2, N)), APNUM1="1", BANDID2="sigma"),
}
_ROWS = "\n".join(f"{w:.2f},{f:.3f},1.0" for w, f in zip(WAVELENGTH, FLUX, strict=True))
_SPACED = _ROWS.replace(",", "  ")
_ECSV = "# %ECSV 1.0\n# ---\n# datatype:\n# - {name: wave, unit: nm, datatype: float64}"
TEXT = {
    "csv": f"# a star\n# RA : 193.8\n# z = 0.1\nwavelength,flux,err\n{_ROWS}\n".encode(),
    "ecsv": f"{_ECSV}\nwave flux err\n{_SPACED}\n".encode(),
    "commented": f"% lambda flux err\n{_SPACED}\n".encode(),
    "spaced": _SPACED.encode(),
    "semicolons": ("\ufeff" + _ROWS.replace(",", ";")).encode(),
    "figaro": f'SET .Z.UNITS = "Jy"\n{_SPACED}'.encode(),
}


def catalog_entry() -> dict[str, Any]:
    """An object of an Open Astronomy Catalog: quantities are lists, numbers are text."""
    rows = [[f"{w:.3f}", f"{f * 1e-17:.5e}", "5e-18"] for w, f in zip(WAVELENGTH, FLUX, strict=True)]
    spectrum = {"u_wavelengths": "Angstrom", "u_fluxes": "erg/s/cm^2/Angstrom", "u_errors": "erg/s/cm^2/Angstrom"}
    spectrum |= {"time": "57696.0", "u_time": "MJD", "survey": "PESSTO", "filename": "a.asci"}
    return {
        "name": "AT1",
        "ra": [{"value": "20:11:13.290", "u_value": "hours"}],
        "dec": [{"value": "+01:02:30.56", "u_value": "degrees"}],
        "redshift": [{"value": "0.001"}],
        "claimedtype": [{"value": "CV"}],
        "spectra": [spectrum | {"data": rows}],
    }


def with_units(**units: str) -> dict[str, Any]:
    """A plain object with descending wavelengths."""
    arrays = {"wavelengths": WAVELENGTH[::-1].tolist(), "flux": [2.0] * N, "fluxErrors": [0.1] * N}
    return {"wavelengthUnits": "\\A", "fluxUnits": "erg/s/cm2/A", "ra": 10.0, "dec": -5.0} | arrays | units


def sparcl_record(release: str = "DESI-DR1", name: str = "aa") -> dict[str, Any]:
    mask = [0] * N
    mask[3] = 8
    return {
        "sparcl_id": name,
        "specid": 39627,
        "data_release": release,
        "redshift": 0.001,
        "redshift_warning": 0,
        "spectype": "STAR",
        "subtype": "CV",
        "ra": 10.0,
        "dec": -5.0,
        "wavelength": WAVELENGTH.tolist(),
        "flux": FLUX.tolist(),
        "ivar": [4.0] * N,
        "mask": mask,
        "model": (FLUX + 1).tolist(),
    }


def votable(fields: str, rows: list[tuple[float, ...]], **attributes: str) -> bytes:
    """A VOTable with these FIELD elements; ``attributes`` are of the TABLE."""
    given = "".join(f' {key}="{value}"' for key, value in attributes.items())
    cells = "".join("<TR>" + "".join(f"<TD>{value!r}</TD>" for value in row) + "</TR>" for row in rows)
    table = f"<TABLE{given}>{fields}<DATA><TABLEDATA>{cells}</TABLEDATA></DATA></TABLE>"
    space = 'xmlns="http://www.ivoa.net/xml/VOTable/v1.3"'
    text = f'<?xml version="1.0"?><VOTABLE version="1.3" {space}><RESOURCE>{table}</RESOURCE></VOTABLE>'
    return text.encode()


def ssa(ucd: str = "em.wl;obs.vac", unit: str = "nm", flux_unit: str = "erg.s**-1.cm**-2.Angstrom**-1") -> bytes:
    """A spectrum to the IVOA Spectral Data Model: columns are named by utype and UCD only."""
    kinds = (
        ("c0", "spec:Spectrum.Data.SpectralAxis.Value", ucd, unit),
        ("c1", "spec:Spectrum.Data.FluxAxis.Value", "phot.flux.density;em.wl", flux_unit),
        ("c2", "spec:Spectrum.Data.FluxAxis.Accuracy.StatError", "stat.error;phot.flux.density;em.wl", flux_unit),
    )
    fields = "".join(
        f'<FIELD name="{name}" ID="{name}" datatype="double" utype="{utype}" ucd="{ucd}" unit="{unit}"/>'
        for name, utype, ucd, unit in kinds
    )
    return votable(fields, [(w / 10, f, 0.5) for w, f in zip(WAVELENGTH.tolist(), FLUX.tolist(), strict=True)])


XML = {"ssa": ssa()}
JSON = {
    "catalog": json.dumps({"AT1": catalog_entry()}).encode(),
    "with units": json.dumps(with_units(fluxUnits="mJy")).encode(),
    "sparcl": json.dumps([sparcl_record()]).encode(),
    "our json": json.dumps(a_spectrum().to_json()).encode(),
}
GZIP = {f"{name}.gz": gzip.compress(content, mtime=0) for name, content in {**FITS, **TEXT}.items()}


def parquet_bytes(**columns: Any) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table({"wavelength": WAVELENGTH, "flux": FLUX} | columns), stream)
    return stream.getvalue()


PARQUET = {
    "parquet": parquet_bytes(),
    "parquet of lists": parquet_bytes(wavelength=[WAVELENGTH.tolist()] * 2, flux=[FLUX.tolist()] * 2),
}


def real_files() -> list[bytes]:
    real = [p for p in sorted(REAL.rglob("*.fits")) if p.stat().st_size < LARGEST_REAL] if REAL.is_dir() else []
    return [path.read_bytes() for path in real[:12]]


# ---- damaged, with the texts of the refusals

TWO_BITPIX = """
H4sIAAAAAAAEA+2ZsW/TUBDGO8B/0eENiCCE1NRJiTNUOGlNaylxrMSFIDHgKKaNlDip60qNxMDAwFBFHRhAYmBgYEAyAwMDAwNS
GBgYGBjYyj8ACMHI87uUKNyLS2lVtdHdkES/nL/v/NmRrEvFKFoFnbF5xrKKkkpllGTqsjqXzmTm1GSGHbjyhm0ZVaGHj1XZDHN8
3+myuhM4LOh2XNw0Ssxc1ahwxOfDleR63mar5vqsfXtPudFyvY1G29vA/ZzoVVs3F8fo2dJDYqEQi+2gLykBSoASoAQoAUqAEqAE
JimBCj0/Dy8nPT8Ps6BPlAAlQAlQApQAJUAJUALSBKJ1bMUomfMskTdMO5cv6AnemOUV9c+wWsNz/C4LnFrTZe5WAMtdqVYEj3X/
rBx8/yz22bPy/bOS5npN11sN1qJ9dn1vk814/7gSeopcLx3tx2V6vH9cWQulFZM/x//Dvn3Vb292WMfxnZYbuL58374Upzc7kp/Q
k6sMp429vjE5DRVGP9n2DUsX1yNxPXdNL+jmkr0c3YH/WfbVUrkIevxfBlGHUGNs4c98koFSErYPEvOJ+yVxJPOJ/Pgc/Perl8uH
P18xH+gdyXz0/8w+NwR9TQlQApQAJXAqE9BCbSoq7Zx4m7rytT+93p/2tXAR+PkB/95Td3vqFy1cBn5hwH+siNLCAvCLA/4zklnv
a6EF/NKA/+Iqu72sFtrAkW8VOPK9CRz53gKOfOvAke8acOTbBI58O8CRbwAc+W4BR753gCPfu8CR7z3gyPc+cOS7DRz57gBHvg+A
I9+HwJHvY+DI9wlw5PsUOPJ9Bhz5PgeOfF8AR74vgSPfV8CR72vgyPcNcOT7FjjyfQcc+b4Hjnw/AEe+H4Ej308RZxry/Qz9f/kK
SC8nLoEzJ24iGogSoAQmL4FvxbOPJu+sTscZ/QZE89EX/iwAAA==
"""
"""A gzip file that an earlier trial found: a table whose header has BITPIX twice."""


def _flipped(content: bytes) -> bytes:
    return content[: len(content) // 2] + bytes([content[len(content) // 2] ^ 0xFF]) + content[len(content) // 2 + 1 :]


def _pairs(pairs: Any) -> bytes:
    return "\n".join(f"{wavelength} {flux}" for wavelength, flux in pairs).encode()


def _claiming(content: bytes, key: str, value: int) -> bytes:
    """Return a FITS file with another value in place of a size of 40."""
    card = f"{key:<8}= {N:>20}".encode()
    assert card in content
    return content.replace(card, f"{key:<8}= {value:>20}".encode())


_BROKEN_OFF = "complete FITS|breaks off|FITS HDUs|DESI arms"
_RANGE = range(4000, 4050)
HUGE_IMAGE = _claiming(linear_image(), "NAXIS1", 2_500_000_000)
DAMAGED_FITS: dict[str, tuple[bytes, str]] = {
    **{
        f"{kind}, its first {length} bytes": (FITS[kind][:length], _BROKEN_OFF)
        for kind in ("image", "lamost", "sdss", "desi")
        for length in (100, 2880 + 20, (len(FITS[kind]) - 2880 + 8) // 2)
    },
    "an image that claims 10 GB": (HUGE_IMAGE, "a header that claims 10000"),
    "a table that claims a billion rows": (_claiming(FITS["sdss"], "NAXIS2", 10**9), "a header that claims"),
    "a picture": (linear_image(np.ones((50, 60))), "an image of 60 x 50 pixels"),
    "a cube": (linear_image(np.ones((3, 50, 60))), "an image of 60 x 50 x 3 pixels"),
    "a map of the sky": (linear_image(CTYPE1="RA---TAN"), "first axis is RA---TAN"),
    "no axis": (fits_bytes(primary(FLUX)), "without CRVAL1 and CDELT1"),
    "pixel numbers": (linear_image(CRVAL1=0.0, CDELT1=1.0), "an axis without unit"),
    "an axis below 0": (linear_image(np.ones(60), CRVAL1=9000.0, CDELT1=-200.0), "an axis from -2800 to 9000 Å"),
    "NaN alone": (linear_image(np.full(N, np.nan)), "no pixel with data"),
    "zeros alone": (linear_image(np.zeros(N)), "no pixel with data"),
    "four pixels": (linear_image(np.ones(4)), "4 pixels"),
    "basis vectors": (linear_image(EIGEN0=14.0, COEFF0=3.5), "a library of basis vectors"),
    "an empty HDU": (fits_bytes(primary()), "FITS HDUs"),
    "spZbest without its spPlate": (zbest(), "a table of redshifts without spectra"),
    "mwmStar without data": (mwm({}), "HDUs without a spectrum"),
    "redrock without its coadd": (redrock(), "a table of redshifts without spectra"),
    "a catalogue": (fits_bytes(primary(), table({"RA": [1.0], "Z": [0.1]})), "columns RA, Z"),
    "words for numbers": (fits_bytes(primary(), table({"wave": WAVELENGTH, "flux": ["x"] * N})), "not numbers"),
    "no letters, after the last HDU": (
        fits_bytes(primary()) + 2 * b"ZCMPTYPE=              garbage".ljust(2880),
        "a layout known here",
    ),
}
DAMAGED_GZIP: dict[str, tuple[bytes, str]] = {
    "nothing": (gzip.compress(b""), "an empty gzip file"),
    **{
        f"{kind}, {how}": (content, "damaged gzip data")
        for kind in ("lamost.gz", "csv.gz")
        for how, content in (
            ("cut", GZIP[kind][: len(GZIP[kind]) * 2 // 3]),
            ("with a byte flipped", _flipped(GZIP[kind])),
        )
    },
    "an image that claims 10 GB": (gzip.compress(HUGE_IMAGE), "a header that claims 10000"),
    # astropy uses the other of the two sizes and searches the data for the next header, for minutes.
    "two sizes": (base64.b64decode(TWO_BITPIX), "in a layout known here"),
}
DAMAGED_TEXT: dict[str, tuple[bytes, str]] = {
    "prose": (b"It was a dark night.\nThe seeing was poor.\n", "'The' in line 2, column 1, which is no number"),
    "prose with numbers": (b"In 1994 we observed 12 stars.\n", "column names without a line of data"),
    "comments alone": (b"# only\n# comments\n", "no line of data"),
    "one column": ("\n".join(map(str, range(4000, 4100))).encode(), "one column of numbers"),
    "five rows": (_pairs((n, 1.0) for n in range(4000, 4005)), "5 pixels"),
    "micrometres": (_pairs((w, 1.0) for w in np.linspace(0.35, 0.9, 50)), "an axis without unit from 0.35 to 0.9"),
    "going back": (_pairs((w, 1.0) for w in [*_RANGE, 4020]), "4049 Å followed by 4020 Å"),
    "NaN alone": (_pairs((w, "nan") for w in _RANGE), "no pixel with data"),
    "zeros alone": (_pairs((w, 0.0) for w in _RANGE), "no pixel with data"),
    "a catalogue": (b"ra,dec,mag\n" + b"1,2,3\n" * 50, "columns ra, dec, mag"),
    "parsnips": (b"wave [parsnip],flux\n" + _pairs((w, 1) for w in _RANGE).replace(b" ", b","), "in 'parsnip'"),
    "an end in words": (_pairs([(4000, 1.0)] * 5 + [(4010, "x")] * 5), "'x' in line 6, column 2"),
    "wavelengths of NaN": (
        b"wave,flux\n" + _pairs((w, 1) for w in [*range(4000, 4005), *["nan"] * 9]).replace(b" ", b","),
        "wavelengths in 5 of 14 pixels",
    ),
    "nothing": (b"", "an empty file"),
    "VOTable, cut": (XML["ssa"][:-200], "a damaged VOTable"),
    "VOTable of text": (
        XML["ssa"].replace(b"c1", b"c9").replace(b"FluxAxis", b"x").replace(b"phot", b"y"),
        "columns c0",
    ),
    "XML of another kind": (b"<?xml version='1.0'?><a>" + b"b" * 100 + b"</a>", "a damaged VOTable"),
    "VOTable of huge cells": (
        votable('<FIELD name="a" datatype="double" arraysize="99999999999"/>', []),
        "cells of 999",
    ),
    "JSON without units": (b'{"wavelengths": [1, 2], "flux": [1, 2]}', "JSON arrays without a unit"),
    "JSON of another kind": (b'{"a": 1}', "a JSON object with a"),
    "JSON, cut": (JSON["catalog"][:500], "damaged JSON"),
    "JSON, deep": (b"[" * 60_000, "damaged JSON"),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + bytes(100), "an HDF5 container"),
    "PNG": (b"\x89PNG\r\n\x1a\n" + bytes(100), "a PNG picture"),
    "binary": (b"\x00\x01\x02\x03" * 100, "a binary file"),
}
DAMAGED_PARQUET: dict[str, tuple[bytes, str]] = {
    "its first word alone": (b"PAR1" + bytes(100), "a damaged Parquet file"),
    "words for numbers": (parquet_bytes(flux=["x"] * N), "a column flux that is not numbers"),
    "nulls alone": (parquet_bytes(flux=[None] * N), "no pixel with data"),
}


def seeds(*tables: dict[str, Any]) -> list[bytes]:
    """Return the contents of tables, valid or damaged, of at most 100 kB."""
    contents = [row[0] if isinstance(row, tuple) else row for group in tables for row in group.values()]
    return [content for content in contents if len(content) < 100_000]


# ---- small files that decompress to large ones


def parquet_of_repeats(rows: int) -> bytes:
    """A list column with one repeated value: a few kilobytes for ``rows`` numbers."""
    values = pa.array(np.full(rows, 5000.0))
    lists = pa.ListArray.from_arrays(pa.array([0, rows], pa.int32()), values)
    stream = io.BytesIO()
    pq.write_table(pa.table({"wavelength": lists, "flux": lists}), stream, compression="zstd")
    return stream.getvalue()


def parquet_of_long_words(rows: int, length: int) -> bytes:
    """A dictionary column in which every row refers to one long word."""
    word = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array(["x" * length]))
    columns = pa.table({"wavelength": word, "flux": pa.array(np.full(rows, 1.0))})
    stream = io.BytesIO()
    pq.write_table(columns, stream, compression="zstd", store_schema=False)
    return stream.getvalue()


def fits_that_claims(**cards: object) -> bytes:
    """Return a DESI file with masks, with other values in the first card of each name."""
    raw = desi(targets=4, mask=True)
    for key, value in cards.items():
        start = raw.index(f"{key:8}= ".encode())
        raw = raw[:start] + f"{key:8}= {value:>20}".ljust(80).encode() + raw[start + 80 :]
    return raw
