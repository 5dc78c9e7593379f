"""Spectra as any spectrograph might deliver them, for a model that is to judge real ones: simulated, and templates.

Sampling, resolution, coverage, S/N, flux calibration and units vary far more than in the three surveys. The templates
are real: their noise, resolution, reddening, velocity and faults are those of the simulator. Many spectra are edited:
a line or band removed, added or mirrored, so that nothing but the data says what is there. Vacuum Å, or air.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.random import Generator
from scipy.ndimage import gaussian_filter1d

from agent.lines.air_vacuum import vacuum_to_air
from agent.measure import rest
from agent.simulate import CLASSES, KINDS, simulate, simulated_for, spectrum_of, state_of, truth
from agent.simulate.instrument import SURVEYS, Survey, observe
from agent.simulate.profiles import C_KM_S, FloatArray, grid, reddening
from agent.spectrum import Spectrum
from agent.tasks import Task, load
from agent.templates import Template, bundled
from agent.trajectory.steps import Verdict
from agent.trial import edits
from agent.trial.edits import Edited, NotEdited
from agent.trial.subjects import subjects_of_task
from agent.trial.typical import typical_of
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


TEMPLATES = 0.4
"""Share of the spectra of the cold start that are made from a template."""
CLASS_OF: Mapping[str, str] = MappingProxyType(
    {"O": "o", "B": "b", "A": "a", "WD": "wd", "carbon": "cc", "S": "ss", "M giant": "gm"}
)
"""The task whose answer is YES for a kind of template."""
HELD_OUT = frozenset(json.loads(Path(__file__).with_name("held_out.json").read_text("utf-8")))
"""Templates of objects in the half ``report`` of the labelled real spectra, on which figures are measured."""
EDITED = 0.5
"""Share of the spectra of the cold start that are edited."""
IN_AIR, ASSUMED = 0.25, 0.5
"""Share of the spectra whose wavelengths are in air, and of these the share of which no file says so."""
KNOWN_VELOCITY = 0.3
"""Share of the templates whose velocity the catalogue knows."""


@dataclass(frozen=True)
class Known:
    """A spectrum and what it is.

    :param kind: of the simulator or of the template
    :param label: the right answer; of an edited spectrum that of the spectrum before the edit
    """

    task: str
    kind: str
    state: str
    spectrum: Spectrum
    label: Verdict


def known_spectrum(part: Part, number: int) -> Known:
    """Return spectrum ``number`` of a part, below 50,000; the tasks follow in turn, and equal arguments give equal
    spectra.
    """
    rng = np.random.default_rng([PARTS.index(part), number])
    task = CLASSES[number % len(CLASSES)]
    learns = part == "sft"
    if learns and task != "cv" and rng.random() < TEMPLATES:
        known = _of_template(task, POSITIVE[part], number, rng)
    else:
        known = _simulated(part, number, task, rng)
    if learns and rng.random() < EDITED:
        known = replace(known, spectrum=_edited(known.spectrum, tasks()[task], rng))
    return known


def _simulated(part: Part, number: int, task: str, rng: Generator) -> Known:
    kind = _kind(task, POSITIVE[part], rng)
    first = (PARTS.index(part) + 1) * _SHARE + number
    survey, instrument, snr = _setting(rng)
    redshift = round(float(rng.normal(0, 0.0004)), 6) if rng.random() < 0.3 and kind not in ("qso", "hii") else 0.0
    seed = _seed(first, kind, survey, rng)
    noisy = simulate(kind, survey, snr, seed, redshift, instrument)
    return Known(task, kind, str(noisy.meta["state"]), _delivered(noisy, rng), truth(kind, task))


def _setting(rng: Generator) -> tuple[str, Survey, float]:
    survey = list(SURVEYS)[int(rng.integers(len(SURVEYS)))]
    instrument = SURVEYS[survey] if rng.random() < 0.4 else _instrument(rng)
    return survey, instrument, float(np.exp(rng.uniform(np.log(3), np.log(120))))


@cache
def templates() -> tuple[Template, ...]:
    """Return the templates that are learned from: those that the figures of the model are not measured on."""
    return tuple(
        template
        for template in bundled().templates
        if template.coverage[0] < 4200 and template.coverage[1] > 6700 and _is_learned(template)
    )


def _is_learned(template: Template) -> bool:
    return template.about.id not in HELD_OUT


def _of_template(task: str, positive: float, number: int, rng: Generator) -> Known:
    """Return a template as a survey might have observed it."""
    members = [t for t in templates() if CLASS_OF.get(t.about.kind) == task]
    others = [t for t in templates() if CLASS_OF.get(t.about.kind) != task]
    is_member = bool(members) and rng.random() < positive
    among = members if is_member else others
    template = among[int(rng.integers(len(among)))]
    survey, instrument, snr = _setting(rng)
    low, high = template.coverage
    velocity = rng.normal(0, 60)
    wide = grid(float(instrument.wavelength[0]) - 60, float(instrument.wavelength[-1]) + 60)
    at_rest = wide / (1 + velocity / C_KM_S)
    z = round(velocity / C_KM_S, 6) if rng.random() < KNOWN_VELOCITY else 0.0
    seen = np.isfinite(template.flux)
    flux = np.interp(at_rest, template.wavelength[seen], np.maximum(template.flux[seen], 0.0))
    e_bv = float(rng.exponential(0.15)) if rng.random() < 0.5 else 0.0
    exposure = observe(wide, flux * reddening(wide, e_bv), instrument, snr, rng)
    name = f"template-{template.about.id}-{number:05d}.fits"
    meta = {"kind": template.about.kind, "seed": number, "state": template.about.subtype}
    noisy = spectrum_of(exposure, instrument, survey, snr, meta, name=name, redshift=z, catalogue_class="")
    covered = (noisy.wavelength > low + 5) & (noisy.wavelength < high - 5)
    cut = slice(int(np.argmax(covered)), int(covered.size - np.argmax(covered[::-1])))
    verdict: Verdict = "YES" if is_member else "NO"
    return Known(task, template.about.kind, template.about.subtype, _delivered(_cut(noisy, cut), rng), verdict)


def _cut(spectrum: Spectrum, part: slice) -> Spectrum:
    return replace(
        spectrum,
        wavelength=spectrum.wavelength[part],
        flux=spectrum.flux[part],
        ivar=spectrum.ivar[part],
        mask=spectrum.mask[part],
    )


def _delivered(noisy: Spectrum, rng: Generator) -> Spectrum:
    """Return a spectrum as a file holds it: calibration, unit, spikes, range and medium."""
    factor = _factor(noisy.wavelength, np.array(noisy.flux), rng)
    flux = _spikes(np.array(noisy.flux), noisy.ivar, rng) * factor
    spoiled = _cut(replace(noisy, flux=flux, ivar=noisy.ivar / factor**2), _range(noisy.wavelength, rng))
    if rng.random() < IN_AIR:
        meta = {**spoiled.meta, **({"medium_assumed": True} if rng.random() < ASSUMED else {})}
        spoiled = replace(spoiled, wavelength=vacuum_to_air(spoiled.wavelength), medium="air", meta=meta)
    return spoiled


def _edited(spectrum: Spectrum, task: Task, rng: Generator) -> Spectrum:
    """Return the spectrum with up to two lines or bands of the task removed, added or mirrored."""
    subjects = subjects_of_task(task, spectrum.medium)
    for _ in range(1 + int(rng.random() < 0.4)):
        subject = subjects[int(rng.integers(len(subjects)))]
        at_rest, chance = rest(spectrum), rng.random()
        edit: Edited | NotEdited
        if chance < 0.5:
            edit = edits.remove(spectrum, at_rest, subject, rng)
        elif chance < 0.85 or subject.line is None:
            typical = typical_of(subject, task.key)
            strength = float(np.exp(rng.normal(0, 0.3)))
            if subject.sense != "band":
                typical = replace(typical, strength=typical.strength * strength, fwhm=typical.fwhm * strength**0.5)
            edit = edits.inject(spectrum, at_rest, subject, typical, rng)
        else:
            edit = edits.flip(spectrum, at_rest, subject, rng)
        if isinstance(edit, Edited):
            spectrum = edit.spectrum
    return spectrum


def question(part: Part, number: int) -> Question:
    """Return the question about a spectrum of a part. The spectrum is simulated once more when it is needed."""
    known = known_spectrum(part, number)
    return Question(
        key=f"{part} {number}",
        source=source_of(known.spectrum.name),
        task=tasks()[known.task],
        label=known.label,
        survey=known.spectrum.survey,
        snr=round(known.spectrum.snr["median"], 1),
        simulated=True,
        spectrum=lambda: known_spectrum(part, number).spectrum,
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
