"""Number of survey files of a folder that are read correctly, and the reading times, alone and against astropy.

    python -m tests.benchmarks.readers [FOLDER]

FOLDER has spectra and a MANIFEST.csv with the columns path, layout, wave_min, wave_max (Å; 0: no spectrum). A file
counts as read if its wavelength range is that of the manifest (to 0.02 Å or 3e-5), otherwise as wrong; manifests
have errors too. Times are medians per layout, each the best of three reads, file cache warm.

Against astropy: files made here, each read by us and by ``astropy.io`` in turns. The ratio of two neighbouring readings
says more than times of different days: below 1 we take less processor time than astropy takes for the arrays alone.
"""

from __future__ import annotations

import csv
import gzip
import io
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
from astropy.io import fits
from astropy.table import Table

from agent.spectrum import SeveralSpectra, Spectrum, SpectrumError, read, read_all
from tests.benchmarks.results import Results, command_line, times


def first_spectrum(path: Path) -> Spectrum:
    """The spectrum of a file, or the first of several."""
    try:
        return read(path)
    except SeveralSpectra:
        return next(read_all(path))


def outcome(path: Path, wave_min: float, wave_max: float) -> str:
    try:
        wavelength = first_spectrum(path).wavelength
    except SpectrumError:
        return "refused"
    ends = zip(wavelength[[0, -1]], (wave_min, wave_max), strict=True)
    return "read" if all(abs(a - b) < max(0.02, 3e-5 * b) for a, b in ends) else "wrong"


def best_of_three(path: Path, wave_min: float, wave_max: float) -> tuple[str, float]:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        result = outcome(path, wave_min, wave_max)
        times.append(1000 * (time.perf_counter() - start))
    return result, min(times)


PIXELS = 4000
PAIRS = 60
CATALOGUE = 236
"""Columns of the catalogue row in an SDSS file."""


def made_files() -> dict[str, tuple[bytes, Callable[[Path], object]]]:
    """Return files of the common layouts, each with the function that reads its arrays with astropy."""
    random = np.random.default_rng(1)
    wavelength, flux = 3700.0 * 10 ** (1e-4 * np.arange(PIXELS)), random.normal(10, 1, PIXELS)
    single, zeros = flux.astype("f4"), np.zeros(PIXELS, "i4")
    axis = {"CRVAL1": 3700.0, "CDELT1": 1.5, "CRPIX1": 1.0, "CTYPE1": "WAVE", "CUNIT1": "Angstrom"}
    lamost = {"TELESCOP": "LAMOST", "EXTEN0": "Flux, Inverse, Wavelength, Andmask, Ormask"}
    rows = np.array([single, single, wavelength, zeros, zeros], "f4")
    spectrum = {"flux": single, "loglam": np.log10(wavelength).astype("f4"), "ivar": single}
    others = {"and_mask": zeros, "or_mask": zeros, "wdisp": single, "sky": single, "model": single}
    catalogue = {f"COLUMN{n}": [1.0] for n in range(CATALOGUE - 2)} | {"Z": [0.1], "CLASS": ["STAR"]}
    plain = Table({"WAVELENGTH": wavelength, "FLUX": flux, "ERROR": flux / 9})
    plain["WAVELENGTH"].unit = "Angstrom"
    made: dict[str, tuple[bytes, Callable[[Path], object]]] = {
        "linear image": (fits_file(image(single, axis)), image_by_astropy),
        "SDSS spec": (fits_file(image(None, {}), table(spectrum | others), table(catalogue)), tables_by_astropy),
        "LAMOST image": (fits_file(image(rows, lamost)), image_by_astropy),
        "LAMOST image, gzip": (gzip.compress(fits_file(image(rows, lamost))), image_by_astropy),
        "binary table": (fits_file(image(None, {}), fits.BinTableHDU(plain)), tables_by_astropy),
    }
    for form in ("csv", "ecsv"):
        text = io.StringIO()
        plain.rename_columns(plain.colnames, ["wavelength", "flux", "error"])
        plain.write(text, format=f"ascii.{form}")
        made[f"{form.upper()} of {PIXELS:,} rows"] = (text.getvalue().encode(), by_astropy_table(f"ascii.{form}"))
    return made


def image(data: object, cards: dict[str, object]) -> fits.PrimaryHDU:
    hdu = fits.PrimaryHDU(data)
    hdu.header.update(cards)
    return hdu


def table(columns: dict[str, object]) -> fits.BinTableHDU:
    return fits.BinTableHDU(Table(columns))


def fits_file(*hdus: object) -> bytes:
    stream = io.BytesIO()
    fits.HDUList(list(hdus)).writeto(stream)
    return stream.getvalue()


def image_by_astropy(path: Path) -> object:
    with fits.open(path, memmap=False) as hdus:
        return hdus[0].data.astype(float), hdus[0].header["NAXIS1"]


def tables_by_astropy(path: Path) -> object:
    """Read three columns of the first table, and a number of the second if there is one."""
    with fits.open(path, memmap=False) as hdus:
        columns = [hdus[1].data[name].astype(float) for name in hdus[1].columns.names[:3]]
        return columns, hdus[2].data["Z"] if len(hdus) > 2 else None


def by_astropy_table(form: str) -> Callable[[Path], object]:
    return lambda path: Table.read(path, format=form)


def against_astropy(results: Results) -> None:
    results.text(f"The same made files, {PAIRS} pairs of readings, processor time.")
    paired = results.table({"file": "", "ours, ms": "{:.2f}", "astropy, ms": "{:.2f}", "ours / astropy": "{:.2f}"})
    with tempfile.TemporaryDirectory() as folder:
        for name, (content, by_astropy) in made_files().items():
            path = Path(folder) / "x"
            path.write_bytes(content)
            pairs = []
            for _ in range(PAIRS + 3):
                ours = times(lambda path=path: first_spectrum(path), clock=time.process_time)
                theirs = times(lambda path=path, read=by_astropy: read(path), clock=time.process_time)
                pairs.append((*ours, *theirs))
            pairs = pairs[3:]  # without the first, which import
            ratio = statistics.median(ours / theirs for ours, theirs in pairs)
            paired.row(name, *(statistics.median(values) for values in zip(*pairs, strict=True)), ratio)


def on_real_files(folder: Path, shown: Results) -> None:
    results: dict[str, list[tuple[str, float]]] = defaultdict(list)
    with open(folder / "MANIFEST.csv", newline="", encoding="utf-8") as manifest:
        for row in csv.DictReader(manifest):
            ends = float(row["wave_min"]), float(row["wave_max"])
            key = f"{row['path'].split('/')[0]}: {row['layout']}".replace("|", "/")
            results[key].append(best_of_three(folder / row["path"], *ends))
    formats = {"layout": "", "read": "{}", "refused": "{}", "wrong": "{}", "median ms": "{:.1f}"}
    counted = shown.table(formats)
    for layout, files in [*sorted(results.items()), ("**all**", [f for fs in results.values() for f in fs])]:
        counts = [sum(r == kind for r, _ in files) for kind in ("read", "refused", "wrong")]
        counted.row(layout, *counts, statistics.median(t for _, t in files))


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="real files; without it only the comparison is measured")
    chosen = parser.parse_args().folder
    all_results = Results()
    if chosen is not None:
        on_real_files(chosen, all_results)
    against_astropy(all_results)
