"""Whether the redshifts that a hint suggests are right.

    python -m tests.benchmarks.redshifts FOLDER [--half choose|report] [--wrong]

Spectra of galaxies and quasars are read without their redshift, and with one that is off by 0.1; a suggestion within
0.002 (1 + z) of the true one is right. Any redshift for a star, nova, nebula or blank sky is wrong. As few galaxies
have strong lines, spectra of nebulae are moved to redshifts too, and H II galaxies are simulated.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from agent.hints.unexplained import SMALLEST_Z, unexplained
from agent.lines import convert
from agent.simulate import simulate
from agent.spectrum import Spectrum
from tests.benchmarks.real_spectra import RealSpectrum, real_spectra
from tests.benchmarks.results import Results, command_line

TOLERANCE = 0.002  # of 1 + z
OFF = 0.1
MOVED = (0.02, 0.06, 0.11, 0.2, 0.31)
LEAST_SNR = 1.0  # below it a pipeline's redshift is noise
KNOWN = {
    "39633559463397282": 2.1166,
    "39633559467591522": 2.2250,
    "39633559463398815": 2.2286,
    "39633559467592484": 3.0356,
    "39633560340006508": 2.9985,
    "gp121903": 0.1955,
    "IZW18": 0.0025,
    "GALAXY_emission/eml": 0.1125,
}
"""Part of a path or target, and the redshift that its file lacks: catalogue of DESI, LiMe, five lines seen in it."""
Tally = Counter[tuple[str, str]]
"""Spectra by kind of case and outcome: right, wrong, or none (emission that no line explains, without a redshift)."""


def true_redshift(found: RealSpectrum) -> float | None:
    """Return the redshift of a real spectrum, 0 for a star, nebula or blank sky; None if it is unknown."""
    stated, label = found.spectrum.redshift, found.label
    known = [z for part, z in KNOWN.items() if part in f"{found.path} {found.spectrum.name}"]
    if known:
        return known[0]
    if label.startswith("odd_sky") or (found.tier == "unlabelled" and found.spectrum.snr_typical < LEAST_SNR):
        return 0.0
    if stated is not None and abs(stated) > SMALLEST_Z:
        return stated
    unknown = ("GALAXY", "HII", "QSO", "AGN", "UNLABELLED", "UNKNOWN", "odd_")
    return None if label.startswith(unknown) else 0.0


def count(found: RealSpectrum, tally: Tally) -> None:
    """Add the outcomes of one real spectrum."""
    spectrum, z = found.spectrum, true_redshift(found)
    if z is None or spectrum.frame == "rest":
        return
    if abs(z) > SMALLEST_Z:
        _add(tally, "galaxies and quasars, z missing", replace(spectrum, redshift=None), z)
        for wrong in (z - OFF, z + OFF):
            _add(tally, "galaxies and quasars, z off by 0.1", replace(spectrum, redshift=wrong), z)
    else:
        _add(tally, "stars, novae, nebulae", spectrum, 0.0)
    if found.label == "PLANETARY_NEBULA":
        for z in MOVED:
            vacuum = convert(spectrum.wavelength, spectrum.medium, "vacuum") * (1.0 + z)
            moved = replace(spectrum, wavelength=convert(vacuum, "vacuum", spectrum.medium), redshift=None)
            _add(tally, "nebulae, moved", moved, z)


def count_simulated(tally: Tally, seeds: int) -> None:
    """Add the outcomes of simulated spectra."""
    for seed in range(seeds):
        for survey in ("SDSS", "LAMOST", "DESI"):
            for kind in ("hii", "pn", "cv", "wr", "tts"):
                spectrum = simulate(kind, survey, 20.0, seed)
                z = float(str(spectrum.meta["redshift_true"])) if kind == "hii" else 0.0
                name = "simulated H II galaxies" if kind == "hii" else "simulated nebulae and stars"
                _add(tally, name, replace(spectrum, redshift=None), z)


def _add(tally: Tally, case: str, spectrum: Spectrum, z: float) -> None:
    strongest = unexplained(spectrum)
    if strongest is None:
        return
    if strongest.suggestion is None:
        tally[case, "none"] += 1
        return
    right = z > SMALLEST_Z and abs(strongest.suggestion.z - z) < TOLERANCE * (1.0 + z)
    tally[case, "right" if right else "wrong"] += 1
    if not right:
        tally[f"{spectrum.name}: z {z:.4f}, suggested {strongest.suggestion.z:.4f}", "listed"] += 1


def add_table(report: Results, tally: Tally) -> None:
    """One row per kind of case; only spectra with emission that no line explains at the redshift given are counted."""
    table = report.table({"suggested redshift": "", "right": "{}", "wrong": "{}", "none given": "{}"})
    for case in dict.fromkeys(case for case, outcome in tally if outcome != "listed"):
        table.row(case, tally[case, "right"], tally[case, "wrong"], tally[case, "none"])


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("folder", type=Path, help="folder of labelled spectra with MANIFEST.csv")
    parser.add_argument("--half", choices=["choose", "report"], default="report")
    parser.add_argument("--seeds", type=int, default=20, help="simulated spectra of each kind and survey")
    parser.add_argument("--wrong", action="store_true", help="list wrong suggestions")
    options = parser.parse_args()
    tally: Tally = Counter()
    for found in real_spectra(options.folder):
        if found.half == options.half:
            count(found, tally)
    count_simulated(tally, options.seeds)
    add_table(Results(), tally)
    if options.wrong:
        print(*(case for case, outcome in tally if outcome == "listed"), sep="\n")


if __name__ == "__main__":
    main()
