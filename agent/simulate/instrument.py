"""Effects of telescope and spectrograph: resolution, pixels, noise, sky, air, calibration; vacuum Å."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from agent.lines import air_to_vacuum
from agent.simulate.profiles import STEP, FloatArray, broaden


@dataclass(frozen=True)
class Survey:
    """A spectrograph, as far as it is simulated.

    :param wavelength: pixel centres, vacuum Å
    :param arms: (blue end in Å, resolving power λ/FWHM) from blue to red
    :param joins: where arms meet, in Å
    :param level: log₁₀ of the median flux, lowest and highest
    :param calibration: 1σ of the slow error of the flux calibration
    :param air_corrected: whether the pipeline divides out the absorption by the Earth's atmosphere
    """

    wavelength: FloatArray
    arms: tuple[tuple[float, float], ...]
    joins: tuple[float, ...]
    flux_unit: str
    level: tuple[float, float]
    calibration: float
    air_corrected: bool


def _log_grid(start: float, stop: float) -> FloatArray:
    # Four decimals: the last bit of a power differs between processors, and a spectrum must not.
    steps = np.arange(round(np.log10(start) * 1e4), round(np.log10(stop) * 1e4) + 1)
    points: FloatArray = np.round(10 ** (steps * 1e-4), 4)
    return points


_CGS = "1e-17 erg/s/cm2/Angstrom"
SURVEYS = {
    # LAMOST LRS: Cui et al. (2012, RAA 12, 1197), Luo et al. (2015, RAA 15, 1095). SDSS: Smee et al. (2013,
    # AJ 146, 32). DESI: Abareshi et al. (2022, AJ 164, 207).
    "LAMOST": Survey(
        wavelength=_log_grid(3700, 9100),
        arms=((0, 1800),),
        joins=(5800,),
        flux_unit="relative",
        level=(1.7, 3.6),
        calibration=0.06,
        air_corrected=False,
    ),
    "SDSS": Survey(
        wavelength=_log_grid(3800, 9200),
        arms=((0, 1850), (6000, 2200)),
        joins=(6000,),
        flux_unit=_CGS,
        level=(0.7, 2.2),
        calibration=0.02,
        air_corrected=True,
    ),
    "DESI": Survey(
        wavelength=np.round(np.arange(3600, 9824.01, 0.8), 1),
        arms=((0, 2600), (5780, 3800), (7570, 4600)),
        joins=(5780, 7570),
        flux_unit=_CGS,
        level=(0.3, 1.7),
        calibration=0.015,
        air_corrected=True,
    ),
}

_SKY_LINES = (
    # Brightest airglow, air Å (Osterbrock et al. 1996, PASP 108, 277), with a rough relative brightness.
    (5577.3, 5.0), (5892.9, 1.0), (6300.3, 3.0), (6363.8, 1.0), (6498.7, 0.3), (6533.0, 0.3), (6863.9, 0.7),
    (6923.2, 0.7), (7276.4, 1.0), (7316.3, 1.2), (7340.9, 1.0), (7369.4, 0.7), (7401.9, 0.6), (7524.1, 0.5),
    (7571.7, 0.5), (7715.0, 0.6), (7750.6, 1.2), (7794.1, 1.5), (7821.5, 1.2), (7841.3, 0.8), (7913.7, 1.6),
    (7964.7, 1.5), (7993.3, 1.5), (8025.8, 1.0), (8344.6, 1.6), (8399.2, 2.0), (8430.2, 1.8), (8465.4, 1.5),
    (8493.4, 0.9), (8504.6, 0.9), (8778.4, 0.8), (8827.1, 2.0), (8885.9, 2.2), (8919.6, 2.0), (8943.4, 1.0),
    (8958.1, 1.4), (9001.1, 1.2), (9038.1, 1.0), (9313.0, 1.5), (9376.0, 2.0), (9439.7, 2.0), (9502.8, 1.5),
    (9719.8, 1.2), (9791.3, 1.0),
)  # fmt: skip
_AIR_BANDS = (
    # Head or blue end in vacuum Å, tail in Å, depth through one air mass (Stevenson 1994, MNRAS 267, 904,
    # rounded).
    (6869.0, 25, 0.35), (7171.0, 60, 0.12), (7596.0, 30, 0.75), (8138.0, 80, 0.12), (8230.0, 60, 0.10),
    (8945.0, 120, 0.18), (9300.0, 200, 0.45),
)  # fmt: skip


@dataclass(frozen=True)
class Exposure:
    """The output of the pipeline: flux, ivar (0 = no data) and flags on a survey's pixels."""

    flux: FloatArray
    ivar: FloatArray
    mask: NDArray[np.bool_]


def observe(wavelength: FloatArray, source: FloatArray, survey: Survey, snr: float, rng: Generator) -> Exposure:
    """Observe ``source``, given on the working grid ``wavelength``, at a median S/N of ``snr`` per pixel.

    A source of zeros is a sky fibre: noise of unit level. Flux and ivar are rounded to float32, as surveys
    store them.
    """
    truth, level, _ = calibrated(wavelength, source, survey, rng)
    empty = not truth.any()
    sky = _sky(survey.wavelength)
    variance = (np.maximum(truth, 0) / level + 0.7 + 0.35 * sky) / _throughput(survey)
    sigma = np.sqrt(variance)
    # The same random numbers in the same order for any snr, so that one seed is one object at any S/N.
    noise, residual = rng.normal(size=truth.size), rng.normal(0, 0.5, size=len(_SKY_LINES))
    sigma *= (0.05 * level) if empty else np.median(truth / sigma) / max(snr, 0.1)
    flux = truth + sigma * (noise + _sky_residuals(survey.wavelength, residual))
    return _spoil(flux, sigma, rng)


def calibrated(
    wavelength: FloatArray, source: FloatArray, survey: Survey, rng: Generator
) -> tuple[FloatArray, float, float]:
    """Return the noiseless flux of each pixel with the errors of its calibration, the level of the noise, and the
    factor that turned ``source`` into ``survey.flux_unit`` (0 for a source of zeros).
    """
    truth = _to_pixels(wavelength, _resolve(wavelength, source, survey), survey.wavelength)
    truth = truth * _air(survey, rng) * _calibration_error(survey, rng)
    level = 10 ** rng.uniform(*survey.level)
    factor = float(level / np.median(truth)) if truth.any() else 0.0
    return (truth * factor if truth.any() else truth), level, factor


def _resolve(wavelength: FloatArray, source: FloatArray, survey: Survey) -> FloatArray:
    seen = np.empty_like(source)
    ends = [start for start, _ in survey.arms[1:]] + [np.inf]
    for (start, power), stop in zip(survey.arms, ends, strict=True):
        arm = (wavelength >= start) & (wavelength < stop)
        seen[arm] = broaden(source, 1 / (power * STEP))[arm]
    return seen


def _to_pixels(wavelength: FloatArray, source: FloatArray, pixels: FloatArray) -> FloatArray:
    """Return the mean flux over each pixel: what a detector counts, not the value at its middle."""
    middle = 0.5 * (pixels[1:] + pixels[:-1])
    edges = np.concatenate([[2 * pixels[0] - middle[0]], middle, [2 * pixels[-1] - middle[-1]]])
    total = np.concatenate([[0.0], np.cumsum(0.5 * (source[1:] + source[:-1]) * np.diff(wavelength))])
    mean: FloatArray = np.diff(np.interp(edges, wavelength, total)) / np.diff(edges)
    return mean


def _air(survey: Survey, rng: Generator) -> FloatArray:
    """Return the absorption by oxygen and water: full if the pipeline leaves it in, otherwise a few per cent of over-
    or undercorrection.
    """
    share = rng.uniform(0.3, 0.9) if not survey.air_corrected and rng.random() < 0.7 else rng.normal(0, 0.06)
    depth = np.zeros_like(survey.wavelength)
    for head, tail, deepest in _AIR_BANDS:
        beyond = survey.wavelength - head
        depth += deepest * np.clip(beyond / 6 + 1, 0, 1) * np.exp(-np.maximum(beyond, 0) / tail) * (beyond > -6)
    factor: FloatArray = 1 - share * np.minimum(depth, 0.95)
    return factor


def _calibration_error(survey: Survey, rng: Generator) -> FloatArray:
    """Return the error of the flux calibration: a slow wave, and a step at each join of two arms."""
    x = np.linspace(-1, 1, survey.wavelength.size)
    wave = sum(rng.normal(0, survey.calibration) * np.cos(k * np.pi * x + rng.uniform(0, 6)) for k in (1, 2, 3))
    factor: FloatArray = np.exp(wave)
    for join in survey.joins:
        factor = factor * (1 + rng.normal(0, survey.calibration / 2) * (survey.wavelength > join))
    return factor


def _throughput(survey: Survey) -> FloatArray:
    """Return the throughput: it falls to a fifth at the two ends and to a half at a join."""
    w = survey.wavelength
    ends = np.clip((w - w[0]) / 500, 0.2, 1) * np.clip((w[-1] - w) / 400, 0.2, 1)
    for join in survey.joins:
        ends = ends * (1 - 0.5 * np.exp(-(((w - join) / 80) ** 2)))
    through: FloatArray = ends
    return through


def _sky(pixels: FloatArray) -> FloatArray:
    """Return the brightness of the night sky in its lines, FWHM 4 Å."""
    return _lines_of(pixels, np.array([strength for _, strength in _SKY_LINES]))


def _sky_residuals(pixels: FloatArray, share: FloatArray) -> FloatArray:
    """Return the residuals of each sky line, in units of the noise: an S-shaped or one-sided spike."""
    return _lines_of(pixels, share * np.array([strength for _, strength in _SKY_LINES]))


def _lines_of(pixels: FloatArray, strength: FloatArray) -> FloatArray:
    total = np.zeros_like(pixels)
    for (air, _), height in zip(_SKY_LINES, strength, strict=True):
        centre = air_to_vacuum(air)
        low, high = np.searchsorted(pixels, (centre - 10, centre + 10))
        total[low:high] += height * np.exp(-0.5 * ((pixels[low:high] - centre) / 1.7) ** 2)
    return total


def _spoil(flux: FloatArray, sigma: FloatArray, rng: Generator) -> Exposure:
    """Add dead columns (ivar 0, flagged), and cosmic rays, of which the pipeline flags two in three."""
    flux, ivar = flux.copy(), 1 / sigma**2
    mask = np.zeros(flux.size, dtype=bool)
    for _ in range(rng.poisson(1.0)):
        start = int(rng.integers(0, flux.size - 8))
        dead = slice(start, start + int(rng.integers(2, 8)))
        ivar[dead], mask[dead] = 0, True
        flux[dead] = np.interp(
            np.arange(flux.size)[dead], (dead.start - 1, dead.stop), (flux[dead.start - 1], flux[dead.stop])
        )
    for _ in range(rng.poisson(1.2)):
        hit = int(rng.integers(1, flux.size - 3))
        hit_pixels = slice(hit, hit + int(rng.integers(1, 4)))
        flux[hit_pixels] += sigma[hit_pixels] * rng.uniform(5, 30)
        mask[hit_pixels] |= bool(rng.random() < 0.67)
    return Exposure(_as_stored(flux), _as_stored(ivar), mask)


def _as_stored(values: FloatArray) -> FloatArray:
    stored: FloatArray = values.astype(np.float32).astype(np.float64)
    return stored
