"""Simulated spectra of all kinds as any spectrograph might deliver them, for a model that is to judge real ones.

Sampling, resolution, coverage, S/N, flux calibration and units vary far more than in the three surveys. Each spectrum
comes with the same spectrum almost without noise, from which it is known what the picture can show. Vacuum Å.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.random import Generator
from scipy.ndimage import gaussian_filter1d

from agent.simulate import CLASSES, KINDS, simulate, simulated_for, state_of, truth
from agent.simulate.instrument import SURVEYS, Survey
from agent.simulate.profiles import FloatArray
from agent.spectrum import Spectrum
from agent.tasks import Task, load
from agent.trajectory.steps import Verdict
from training.data import source_of
from training.data.records import Question

Part = Literal["sft", "grpo", "validation", "test"]
PARTS: tuple[Part, ...] = ("sft", "grpo", "validation", "test")
_SHARE = 10_000_000
"""Seeds that each part has to itself: no spectrum is in two parts."""
POSITIVE: Mapping[Part, float] = MappingProxyType({"sft": 0.35, "grpo": 0.2, "validation": 0.2, "test": 0.2})
"""Share of questions whose answer is YES. In lists of candidates few are: GRPO moves the model to fewer YES."""
ANY_KIND = 0.65
"""Of the other questions, the share about any kind instead of one that the task's class is mistaken for."""
CLEAN = 1e6
"""S/N of the spectrum without visible noise."""
WHITE_DWARFS: Mapping[str, float] = MappingProxyType(
    {"DA": 0.45, "DB": 0.15, "DC": 0.08, "DZ": 0.09, "DQ": 0.12, "DO": 0.11}
)
"""Shares of the types among white dwarfs: rare types more often than in the sky."""
SHORTEST = 1000.0
"""Å that a file has at least; where both ends would leave less, neither is cut."""


@dataclass(frozen=True)
class Simulated:
    """A spectrum, what it is, and the same pixels without noise.

    :param clean: flux without noise, with the inverse variance of ``spectrum``; zero for a blank sky
    """

    task: str
    kind: str
    state: str
    spectrum: Spectrum
    clean: Spectrum

    @property
    def label(self) -> Verdict:
        return truth(self.kind, self.task)


def simulated(part: Part, number: int) -> Simulated:
    """Return spectrum ``number`` of a part, below 50,000; the tasks follow in turn, and equal arguments give equal
    spectra.
    """
    rng = np.random.default_rng([PARTS.index(part), number])
    task = CLASSES[number % len(CLASSES)]
    kind = _kind(task, POSITIVE[part], rng)
    first = (PARTS.index(part) + 1) * _SHARE + number
    survey = list(SURVEYS)[int(rng.integers(len(SURVEYS)))]
    instrument = SURVEYS[survey] if rng.random() < 0.4 else _instrument(rng)
    snr = float(np.exp(rng.uniform(np.log(3), np.log(120))))
    redshift = round(float(rng.normal(0, 0.0004)), 6) if rng.random() < 0.3 and kind not in ("qso", "hii") else 0.0
    seed = _seed(first, kind, survey, rng)
    noisy = simulate(kind, survey, snr, seed, redshift, instrument)
    clean = simulate(kind, survey, CLEAN, seed, redshift, instrument)
    flux = np.zeros_like(clean.flux) if kind == "sky" else np.array(clean.flux)
    factor = _factor(noisy.wavelength, flux, rng)
    spoiled = _spikes(np.array(noisy.flux), noisy.ivar, rng) * factor
    seen = _range(noisy.wavelength, rng)
    drawn = replace(
        noisy,
        wavelength=noisy.wavelength[seen],
        flux=spoiled[seen],
        ivar=(noisy.ivar / factor**2)[seen],
        mask=noisy.mask[seen],
    )
    return Simulated(task, kind, str(noisy.meta["state"]), drawn, replace(drawn, flux=(flux * factor)[seen]))


def question(part: Part, number: int) -> Question:
    """Return the question about a spectrum of a part. The spectrum is simulated once more when it is needed."""
    known = simulated(part, number)
    return Question(
        key=f"{part} {number}",
        source=source_of(known.spectrum.name),
        task=tasks()[known.task],
        label=known.label,
        survey=known.spectrum.survey,
        snr=round(known.spectrum.snr["median"], 1),
        simulated=True,
        spectrum=lambda: simulated(part, number).spectrum,
    )


def questions(part: Part, count: int) -> list[Question]:
    """Return the first ``count`` questions of a part."""
    return [question(part, number) for number in range(count)]


@lru_cache(maxsize=1)
def tasks() -> dict[str, Task]:
    """Return the program's own tasks with the prompt that a nano model reads."""
    return {key: task.with_prompt(task.prompt_without_reasons, "ours") for key, task in load().items()}


def _kind(task: str, positive: float, rng: Generator) -> str:
    if rng.random() < positive:
        return "be" if task == "b" and rng.random() < 0.2 else task
    others: Sequence[str] = KINDS if rng.random() < ANY_KIND else simulated_for(task).look_alikes
    others = [kind for kind in others if truth(kind, task) == "NO"]
    return others[int(rng.integers(len(others)))]


def _seed(first: int, kind: str, survey: str, rng: Generator) -> int:
    """Return a seed that gives the kind; for a white dwarf, one of a type chosen by ``WHITE_DWARFS``."""
    if kind != "wd":
        return first
    state = str(rng.choice(list(WHITE_DWARFS), p=list(WHITE_DWARFS.values())))
    seeds = range(first, first + _SHARE, _SHARE // 200)
    return next((seed for seed in seeds if state_of(kind, survey, seed) == state), first)


def _instrument(rng: Generator) -> Survey:
    """Return a spectrograph of random sampling, resolution and quality; long ranges, as archives have them."""
    start, stop = rng.uniform(3200, 4000), rng.uniform(7000, 10400)
    step = float(np.exp(rng.uniform(np.log(0.6), np.log(5))))
    if rng.random() < 0.5:
        wavelength = np.arange(start, stop, step)
    else:
        wavelength = np.exp(np.arange(np.log(start), np.log(stop), step / 6000))
    power = float(np.exp(rng.uniform(np.log(600), np.log(5000))))
    return Survey(
        wavelength=np.round(wavelength, 4),
        arms=((0, min(power, 6000 / step)),),
        joins=(float(rng.uniform(5500, 6100)),) if rng.random() < 0.4 else (),
        flux_unit="relative",
        level=(0.0, 4.0),
        calibration=float(rng.uniform(0.01, 0.2)),
        air_corrected=bool(rng.random() < 0.6),
    )


def _factor(wavelength: FloatArray, clean: FloatArray, rng: Generator) -> FloatArray:
    """Return what the flux is multiplied by: a slow wrong calibration, a normalisation, a unit."""
    x = (wavelength - wavelength[0]) / (wavelength[-1] - wavelength[0])
    factor: FloatArray = np.ones_like(wavelength)
    if rng.random() < 0.5:
        factor = np.exp(rng.normal(0, 0.5) * (x - 0.5) + rng.normal(0, 0.4) * (x - 0.5) ** 2)
    if rng.random() < 0.12 and clean.any():
        pixels = rng.uniform(150, 600) / float(np.median(np.diff(wavelength)))
        smooth = gaussian_filter1d(clean, pixels, mode="nearest")
        factor = 1 / np.maximum(smooth, 0.02 * smooth.max())
    if rng.random() < 0.3:
        factor = factor * 10.0 ** rng.integers(-17, -12)
    return factor


def _spikes(flux: FloatArray, ivar: FloatArray, rng: Generator) -> FloatArray:
    """Return the flux with hot pixels that no flag marks, some as high as the spectrum."""
    if rng.random() < 0.2:
        level = float(np.abs(np.median(flux))) + 3 / np.sqrt(float(np.median(ivar)))
        for _ in range(1 + rng.poisson(1.0)):
            flux[int(rng.integers(flux.size))] += level * rng.normal(0, 1.2)
    return flux


def _range(wavelength: FloatArray, rng: Generator) -> slice:
    """Return the part of the pixels that is in the file: mostly all, at times without much of one end."""
    start, stop = float(wavelength[0]), float(wavelength[-1])
    chance = rng.random()
    if chance < 0.30:
        start = rng.uniform(start, 4000)
    elif chance < 0.36:
        start = rng.uniform(4000, 5800)
    chance = rng.random()
    if chance < 0.30:
        stop = rng.uniform(7300, stop) if stop > 7300 else stop
    elif chance < 0.37:
        stop = rng.uniform(5400, 7300)
    if stop - start < SHORTEST:
        start, stop = float(wavelength[0]), float(wavelength[-1])
    low, high = np.searchsorted(wavelength, (start, stop))
    return slice(int(low), int(high) + 1)
