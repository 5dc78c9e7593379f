"""Simulated spectra of the miniature proof: pairs of look-alikes that share what the overview shows.

Both members of a pair have the same continuum, and lines of the same height; what tells them apart is the shape of
these lines within a few Å, which the small pictures of this model show only in a zoom. All wavelengths are vacuum.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.random import Generator

from agent import simulate
from agent.lines import air_to_vacuum
from agent.simulate.atoms import balmer_wavelength
from agent.simulate.instrument import SURVEYS, observe
from agent.simulate.profiles import (
    C_KM_S,
    FloatArray,
    absorb_gaussian,
    emit_disc,
    emit_gaussian,
    grid,
    planck,
    reddening,
)
from agent.spectrum import Spectrum
from agent.tasks import Task, read
from agent.trajectory.steps import Verdict
from training.data import source_of
from training.data.records import Question

CLEAR = 2.0
"""The traces of the cold start are of spectra without reddening and of so many times the S/N of all other parts:
experts write them about clear cases, and only labels are known of the others."""
REDDENING = (0.9, 1.5)
"""Range of the colour excess E(B-V) in mag of all other parts: the blue lines are the faintest."""

TASKS = Path(__file__).with_name("tasks")
Shape = Literal["two peaks", "one peak", "three lines", "one line", "broad", "narrow", "no line"]

HALPHA, HBETA, HGAMMA = (balmer_wavelength(upper) for upper in (3, 4, 5))
NII = (air_to_vacuum(6548.05), air_to_vacuum(6583.45))
SURVEY = "LAMOST"


@dataclass(frozen=True)
class Target:
    """A line and the window in Å, vacuum, that shows its shape."""

    name: str
    window: tuple[int, int]


LINES = {
    "Hα": Target("Hα", (6463, 6663)),
    "Hβ": Target("Hβ", (4761, 4961)),
    "Hγ": Target("Hγ", (4240, 4440)),
}


@dataclass(frozen=True)
class Pair:
    """A task: the shape of its lines in a member of the class and in a look-alike, and the lines to zoom on.

    :param targets: lines that all have this shape, the bluest first
    :param add: adds the lines of a member (True) or of a look-alike to the flux on the working grid
    """

    yes: Shape
    no: Shape
    targets: tuple[Target, ...]
    add: Callable[[FloatArray, FloatArray, Generator, bool], None]
    snr: tuple[float, float]


def _disc(flux: FloatArray, wavelength: FloatArray, rng: Generator, member: bool) -> None:
    ew, decrement, rim = rng.uniform(20, 60), rng.uniform(0.6, 0.9), rng.uniform(350, 600)
    for number, centre in enumerate((HALPHA, HBETA, HGAMMA)):
        shown = flux.copy()
        emit_disc(shown, wavelength, centre, ew * decrement**number, rim, inner=0.2)
        flux += shown - flux if member else _one_line(wavelength, shown - flux, centre)


def _nebula(flux: FloatArray, wavelength: FloatArray, rng: Generator, member: bool) -> None:
    ew, ratio, fwhm = rng.uniform(15, 50), rng.uniform(0.35, 0.9), rng.uniform(150, 350)
    shown = flux.copy()
    for centre, part in zip((HALPHA, *NII), (1.0, ratio / 3, ratio), strict=True):
        emit_gaussian(shown, wavelength, centre, ew * part, fwhm)
    flux += shown - flux if member else _one_line(wavelength, shown - flux, HALPHA)


def _compact(flux: FloatArray, wavelength: FloatArray, rng: Generator, member: bool) -> None:
    tau, narrow, factor = rng.uniform(0.35, 0.7), rng.uniform(7, 10), rng.uniform(1.6, 2.4)
    fwhm = narrow * factor if member else narrow
    for centre in (HALPHA, HBETA, HGAMMA):
        absorb_gaussian(flux, wavelength, centre, tau * fwhm * AREA, fwhm)


AREA = float(np.sqrt(np.pi / np.log(16)))
"""Area of a Gaussian of height and FWHM 1."""


def _one_line(wavelength: FloatArray, line: FloatArray, centre: float) -> FloatArray:
    """Return one Gaussian at ``centre`` with the height and the area of ``line``."""
    height = float(line.max())
    fwhm = float(np.trapezoid(line, wavelength)) / (height * AREA)
    profile: FloatArray = height * np.exp(-4 * np.log(2) * ((wavelength - centre) / fwhm) ** 2)
    return profile


PAIRS: Mapping[str, Pair] = {
    "mini_disc": Pair("two peaks", "one peak", (LINES["Hγ"], LINES["Hα"]), _disc, (7.0, 20.0)),
    "mini_nii": Pair("three lines", "one line", (LINES["Hα"],), _nebula, (7.0, 20.0)),
    "mini_broad": Pair("broad", "narrow", (LINES["Hγ"], LINES["Hα"]), _compact, (12.0, 30.0)),
}


def spectrum_of(
    task: str, member: bool, seed: int, snr: tuple[float, float] | None = None, e_bv: tuple[float, float] = REDDENING
) -> Spectrum:
    """Return a spectrum of a member of the task's class, or of its look-alike, as LAMOST would deliver it.

    Equal arguments give equal spectra; with the other ``member`` continuum, strengths and S/N are the same.

    :param snr: range of the median S/N per pixel; None: that of the task
    :param e_bv: range of the colour excess E(B-V) in mag
    """
    pair = PAIRS[task]
    rng = np.random.default_rng([seed, zlib.crc32(task.encode())])
    instrument = SURVEYS[SURVEY]
    wavelength = grid(float(instrument.wavelength[0]) - 60, float(instrument.wavelength[-1]) + 60)
    flux = planck(wavelength, float(np.exp(rng.uniform(np.log(5000), np.log(20000)))))
    ratio = round(float(rng.uniform(*(snr or pair.snr))), 1)
    pair.add(flux, wavelength, rng, member)
    flux *= reddening(wavelength, float(rng.uniform(*e_bv)))
    shape = pair.yes if member else pair.no
    exposure = observe(wavelength * (1 + rng.normal(0, 30) / C_KM_S), flux, instrument, ratio, rng)
    name = f"simulated-{task.replace('_', '-')}-{'yes' if member else 'no'}-{seed:08d}.fits"
    meta, about = {"seed": seed, "shape": shape}, {"redshift": 0.0, "catalogue_class": f"simulated {shape}"}
    return simulate.spectrum_of(exposure, instrument, SURVEY, ratio, meta, name=name, **about)


SHAPES: tuple[Shape, ...] = ("two peaks", "one peak", "three lines", "one line", "broad", "narrow", "no line")


def practice_spectrum(number: int) -> tuple[Spectrum, Shape, float, tuple[float, float]]:
    """Return a spectrum with one line anywhere, of good S/N, with its shape, its wavelength and a window around it.

    It belongs to no task: what is practised with it stands for what a pretrained model can see already.
    """
    rng = np.random.default_rng([_FIRST["pictures"] * _SHARE, number])
    shape = SHAPES[int(rng.integers(len(SHAPES)))]
    instrument = SURVEYS[SURVEY]
    wavelength = grid(float(instrument.wavelength[0]) - 60, float(instrument.wavelength[-1]) + 60)
    flux = planck(wavelength, float(np.exp(rng.uniform(np.log(4000), np.log(20000)))))
    flux *= reddening(wavelength, float(rng.uniform(0.0, 1.8)))
    centre = float(rng.uniform(4300, 8300))
    ew = float(rng.uniform(15, 50)) * centre / 6563
    if shape == "two peaks":
        emit_disc(flux, wavelength, centre, ew, rng.uniform(350, 700), inner=0.2)
    elif shape in ("one peak", "one line"):
        emit_gaussian(flux, wavelength, centre, ew, rng.uniform(*((900, 1600) if shape == "one peak" else (150, 500))))
    elif shape == "three lines":
        fwhm, ratio = rng.uniform(150, 350), rng.uniform(0.35, 0.9)
        for offset, part in ((-0.00222, ratio / 3), (0.0, 1.0), (0.00315, ratio)):
            emit_gaussian(flux, wavelength, centre * (1 + offset), ew * part, fwhm)
    elif shape != "no line":
        fwhm = rng.uniform(16, 30) if shape == "broad" else rng.uniform(6, 10)
        absorb_gaussian(flux, wavelength, centre, rng.uniform(0.35, 0.7) * fwhm * AREA, fwhm)
    snr = round(float(rng.uniform(15, 50)), 1)
    exposure, name = observe(wavelength, flux, instrument, snr, rng), f"simulated-practice-{number:08d}.fits"
    spectrum = simulate.spectrum_of(exposure, instrument, SURVEY, snr, {"shape": shape}, name=name, redshift=0.0)
    middle, half = centre + rng.uniform(-40, 40), rng.uniform(80, 140)
    return spectrum, shape, centre, (round(middle - half, 1), round(middle + half, 1))


Part = Literal["pictures", "sft", "grpo", "validation", "bench"]

_FIRST: Mapping[Part, int] = {"pictures": 1, "sft": 2, "grpo": 3, "validation": 4, "bench": 6}
_SHARE = 10_000_000
"""Seeds of simulated spectra that each part has to itself: no spectrum is in two parts."""


def questions(part: Part, count: int) -> list[Question]:
    """Return the first ``count`` questions of a part; equal arguments give equal questions.

    The tasks follow in turn; half of the spectra of each are members of its class.
    """
    known = {key: read(TASKS / f"{key}.toml") for key in PAIRS}
    return [_question(part, number, known) for number in range(count)]


def _question(part: Part, number: int, known: Mapping[str, Task]) -> Question:
    task = tuple(PAIRS)[number % len(PAIRS)]
    seed = _FIRST[part] * _SHARE + number
    # Of two questions in a row about a task one is YES, in random order.
    place, second = divmod(number // len(PAIRS), 2)
    coin = np.random.default_rng([_FIRST[part], number % len(PAIRS), place]).integers(2)
    label: Verdict = "YES" if coin == second else "NO"
    low, high = PAIRS[task].snr
    clear = {"snr": (CLEAR * low, CLEAR * high), "e_bv": (0.0, 0.0)} if part == "sft" else {}
    make = partial(spectrum_of, task, label == "YES", seed, **clear)
    drawn = make()
    return Question(
        key=f"{part} {number}",
        source=source_of(drawn.name),
        task=known[task],
        label=label,
        survey=drawn.survey,
        snr=drawn.snr["median"],
        simulated=True,
        spectrum=make,
    )
