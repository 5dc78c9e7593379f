"""Times to list the targets of a large DESI coadd and to read one of them; Markdown, milliseconds.

    python -m tests.benchmarks.coadd [--targets 500]

Writes a file in the layout of DESI's coadds (flux, ivar and mask of three arms per target); the time that astropy
needs to read the whole file is given for comparison.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from astropy.io import fits

from agent.spectrum.readers import opened
from tests.benchmarks.results import Results, command_line, median_95_longest, times

ARMS = {"B": (3600.0, 2751), "R": (5760.0, 2326), "Z": (7520.0, 2881)}
"""First wavelength (Å) and pixels of each arm, 0.8 Å apart, as DESI's coadds have them."""
RUNS = 20


def coadd(path: Path, targets: int) -> Path:
    rng = np.random.default_rng(1)
    ids = fits.Column("TARGETID", "K", array=1000 + np.arange(targets))
    kinds = fits.Column("OBJTYPE", "3A", array=np.full(targets, "TGT"))
    hdus = [fits.PrimaryHDU(), fits.BinTableHDU.from_columns([ids, kinds], name="FIBERMAP")]
    for arm, (first, pixels) in ARMS.items():
        flux = rng.normal(1, 0.1, (targets, pixels)).astype("f4")
        hdus.append(fits.ImageHDU(first + 0.8 * np.arange(pixels), name=f"{arm}_WAVELENGTH"))
        hdus.append(fits.ImageHDU(flux, name=f"{arm}_FLUX"))
        hdus.append(fits.ImageHDU(np.full_like(flux, 100), name=f"{arm}_IVAR"))
        hdus.append(fits.ImageHDU(np.zeros(flux.shape, "i4"), name=f"{arm}_MASK"))
    fits.HDUList(hdus).writeto(path)
    return path


def list_targets(path: Path) -> None:
    with opened(path) as found:
        assert found.names


def read_one(path: Path, target: str) -> None:
    with opened(path) as found:
        found.read(target)


def read_all(path: Path) -> None:
    with fits.open(path, memmap=False) as hdus:
        for hdu in hdus:
            assert hdu.name == "PRIMARY" or hdu.data is not None


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--targets", type=int, default=500, help="number of targets in the file (500)")
    targets = parser.parse_args().targets
    with tempfile.TemporaryDirectory() as folder:
        path = coadd(Path(folder) / "coadd.fits", targets)
        middle = str(1000 + targets // 2)
        results = Results()
        results.text(f"{targets} targets, {path.stat().st_size / 1e6:.0f} MB, in the machine's file cache.")
        table = results.table({"until": "", "median": "{:.1f}", "longest": "{:.1f}"})
        for what, action in (
            ("the targets are listed", lambda: list_targets(path)),
            ("one target is read", lambda: read_one(path, middle)),
            ("astropy has read it all", lambda: read_all(path)),
        ):
            median, _, longest = median_95_longest(times(action, RUNS))
            table.row(what, median, longest)


if __name__ == "__main__":
    main()
