"""Labelled spectra simulated from published physics, for the demo, the tests, the baseline and the miniature training.

Features, errors and survey faults are realistic, the mix of classes is not: no measure of performance on the sky.
Recipes are in ``stars`` and ``emitters``, the spectrographs in ``instrument``. No real spectrum is read.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.random import Generator

from agent.language import tr
from agent.simulate import emitters, stars
from agent.simulate.atoms import interstellar_lines
from agent.simulate.instrument import SURVEYS, Exposure, Survey, calibrated, observe
from agent.simulate.profiles import C_KM_S, FloatArray, grid, reddening
from agent.simulate.stars import Recipe
from agent.spectrum import Spectrum
from agent.tasks import Task, load
from agent.tasks.values import Simulated
from agent.trajectory.steps import Verdict

_RECIPES: Mapping[str, Callable[[FloatArray, Generator], Recipe]] = MappingProxyType(
    {
        "cv": emitters.cataclysmic_variable,
        "cc": stars.carbon_star,
        "ss": stars.s_star,
        "gm": stars.m_giant,
        "wd": stars.white_dwarf,
        "o": stars.o_star,
        "b": stars.b_star,
        "a": stars.a_star,
        "dme": stars.active_m_dwarf,
        "dm": stars.m_dwarf,
        "fgk": stars.fgk_star,
        "gba": stars.carbon_like_giant,
        "sd": stars.hot_subdwarf,
        "be": stars.be_star,
        "tts": emitters.t_tauri_star,
        "qso": emitters.quasar,
        "hii": emitters.star_forming_galaxy,
        "pn": emitters.planetary_nebula,
        "wr": emitters.wolf_rayet_star,
        "sky": emitters.blank_sky,
    }
)

CLASSES = ("cv", "cc", "ss", "gm", "wd", "o", "b", "a")
"""Kinds that are a task's own class."""
LOOK_ALIKES: Mapping[str, str] = MappingProxyType(
    {
        "dme": "active M dwarf",
        "dm": "M dwarf",
        "fgk": "F, G or K star",
        "gba": "barium or CH giant",
        "sd": "hot subdwarf",
        "be": "Be star",
        "tts": "T Tauri star",
        "qso": "quasar",
        "hii": "H II galaxy",
        "pn": "planetary nebula",
        "wr": "Wolf-Rayet star",
        "sky": "blank sky",
    }
)
"""Kinds that are mistaken for one, in words."""
KINDS = tuple(_RECIPES)

TRICKY_REDSHIFTS: Mapping[str, tuple[float, ...]] = MappingProxyType(
    # A broad or narrow line falls near Hα or Hβ: Hβ, Mg II, C III] or C IV there; for galaxies Hα stays near
    # home.
    {"qso": (0.35, 0.735, 1.346, 1.548, 2.138, 2.44, 3.238), "hii": (0.004, 0.012, 0.03, 0.06)}
)


def truth(kind: str, task: str | Task) -> Verdict:
    """Return the right answer of a task for a kind. A Be star is a B star; a hot subdwarf is neither O, B nor white
    dwarf.

    :param task: the key of a task of the program, or a task
    :raises KeyError: no such kind, or nothing is simulated for the task
    """
    _require(kind)
    return "YES" if kind in simulated_for(task).kinds else "NO"


def simulated_for(task: str | Task) -> Simulated:
    """Return the kinds that are simulated for a task, as its file states them.

    :raises KeyError: no such task, the file states none, or one that there is not
    """
    if isinstance(task, str):
        if task not in _tasks():
            raise KeyError(tr("no task {task!r}; there are {names}", task=task, names=", ".join(_tasks())))
        task = _tasks()[task]
    if task.simulated is None:
        raise KeyError(
            tr(
                "nothing is simulated for {key!r}: its task file has no table [simulated]",
                key=task.key,
            )
        )
    for kind in (*task.simulated.kinds, *task.simulated.look_alikes):
        _require(kind)
    return task.simulated


@cache
def _tasks() -> dict[str, Task]:
    return load()


def _require(kind: str) -> None:
    if kind not in _RECIPES:
        raise KeyError(tr("no kind {kind!r}; there are {names}", kind=kind, names=", ".join(KINDS)))


def simulate(
    kind: str, survey: str, snr: float, seed: int, redshift: float = 0.0, instrument: Survey | None = None
) -> Spectrum:
    """Simulate one spectrum of ``kind`` as ``survey`` would deliver it; equal arguments give equal spectra, bit for
    bit.

    The name (``simulated-cv-0042.fits``) and ``catalogue_class`` state what it is; ``meta`` has
    ``simulated`` = True, ``kind``, ``state``, the sampled values (temperature or subtype, ``e_bv``),
    ``redshift_true`` and the seed.

    :param kind: one of ``KINDS``
    :param survey: "LAMOST", "SDSS" or "DESI"; ``Spectrum.survey`` then reads "simulated LAMOST"
    :param snr: median signal-to-noise per pixel
    :param redshift: the catalogue value, kept as ``Spectrum.redshift``. The source is there, but for a
        radial velocity of some tens of km/s that the catalogue does not know. Quasars and galaxies left at 0
        stand at a tricky redshift that the catalogue knows for every second seed.
    :param instrument: another spectrograph than the survey's own; the source stays the same
    :raises KeyError: no such kind or survey, naming those there are
    """
    _require(kind)
    if survey not in SURVEYS:
        raise KeyError(tr("no survey {survey!r}; there are {names}", survey=survey, names=", ".join(SURVEYS)))
    rng = _generator(kind, survey, seed)
    instrument = instrument or SURVEYS[survey]
    redshift, true_redshift = _redshifts(kind, redshift, seed, rng)
    observed = _working_grid(instrument)
    flux, facts = _source(kind, observed, true_redshift, rng)
    rounded = {key: round(value, 4) if isinstance(value, float) else value for key, value in facts.items()}
    meta = {"kind": kind, "seed": seed, "redshift_true": round(true_redshift, 6), **rounded}
    name, label = f"simulated-{kind}-{seed:04d}.fits", f"simulated {LOOK_ALIKES.get(kind, kind.upper())}"
    exposure = observe(observed, flux, instrument, snr, rng)
    return spectrum_of(exposure, instrument, survey, snr, meta, name=name, redshift=redshift, catalogue_class=label)


@dataclass(frozen=True)
class Source:
    """What a simulated spectrum shows, without noise, from 3000 to 11,200 Å.

    :param wavelength: vacuum Å, observed frame, (n,)
    :param flux: in the spectrum's unit, (n,); ``intrinsic`` is without interstellar extinction
    """

    wavelength: FloatArray
    flux: FloatArray
    intrinsic: FloatArray


def source_of(spectrum: Spectrum) -> Source:
    """Return the source of a spectrum that ``simulate`` made with its survey's own instrument.

    :raises KeyError: it is none of them
    """
    kind, seed = str(spectrum.meta["kind"]), int(spectrum.meta["seed"] or 0)
    survey = spectrum.survey.removeprefix("simulated ")
    for redshift in (0.0, spectrum.redshift or 0.0):
        rng = _generator(kind, survey, seed)
        _, true_redshift = _redshifts(kind, redshift, seed, rng)
        if round(true_redshift, 6) == spectrum.meta["redshift_true"]:
            break
    near, wide = _working_grid(SURVEYS[survey]), grid(3000, 11_200)
    state = rng.bit_generator.state
    factor = calibrated(near, _source(kind, near, true_redshift, rng)[0], SURVEYS[survey], rng)[2]
    # The same random numbers again: the object is the same on any grid.
    spectra = []
    for e_bv in (float(spectrum.meta["e_bv"] or 0), 0.0):
        rng.bit_generator.state = state
        spectra.append(factor * _source(kind, wide, true_redshift, rng, e_bv)[0])
    return Source(wide, *spectra)


def _working_grid(instrument: Survey) -> FloatArray:
    return grid(float(instrument.wavelength[0]) - 60, float(instrument.wavelength[-1]) + 60)


def _source(
    kind: str, observed: FloatArray, redshift: float, rng: Generator, e_bv: float | None = None
) -> tuple[FloatArray, stars.Facts]:
    """Return the flux on a grid of observed wavelengths, reddened (by ``e_bv`` if given), and the sampled values."""
    flux, facts = _RECIPES[kind](observed / (1 + redshift), rng)
    e_bv = float(facts["e_bv"]) if e_bv is None else e_bv
    flux = flux * reddening(observed, e_bv)
    interstellar_lines(flux, observed, e_bv)
    return flux, facts


def spectrum_of(
    exposure: Exposure, instrument: Survey, survey: str, snr: float, meta: Mapping[str, Any], **fields: Any
) -> Spectrum:
    """Return an exposure as a spectrum whose ``survey`` and ``meta`` say that it is simulated."""
    return Spectrum(
        wavelength=instrument.wavelength,
        flux=exposure.flux,
        ivar=exposure.ivar,
        mask=exposure.mask,
        flux_unit=instrument.flux_unit,
        survey=f"simulated {survey}",
        snr={"median": float(snr)},
        meta={"simulated": True, **meta},
        **fields,
    )


def state_of(kind: str, survey: str, seed: int) -> str:
    """Return the state, such as "DB", of the spectrum that ``simulate`` makes of these, without making it."""
    rng = _generator(kind, survey, seed)
    _redshifts(kind, 0.0, seed, rng)
    return str(_RECIPES[kind](grid(5000, 5100), rng)[1]["state"])


def _generator(kind: str, survey: str, seed: int) -> Generator:
    return np.random.default_rng([seed, zlib.crc32(kind.encode()), zlib.crc32(survey.encode())])


def _redshifts(kind: str, redshift: float, seed: int, rng: Generator) -> tuple[float, float]:
    """Return the catalogue redshift and the true one."""
    cosmological = redshift
    if kind in TRICKY_REDSHIFTS and redshift == 0.0:
        cosmological = float(rng.choice(TRICKY_REDSHIFTS[kind])) * rng.uniform(0.99, 1.01)
        redshift = round(cosmological, 5) if seed % 2 else 0.0
    return redshift, (1 + cosmological) * (1 + rng.normal(0, 45) / C_KM_S) - 1
