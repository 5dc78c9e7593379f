"""A Gaussian fitted to a line: centre, height and full width at half maximum, with errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agent.language import deferred
from agent.lines import survey
from agent.measure.continuum import adjacent_bands, excess
from agent.measure.pixels import FloatArray, shown
from agent.measure.profile import SPEED_OF_LIGHT, Profile, line_profile
from agent.measure.values import Measured, Undefined, Window
from agent.spectrum import Spectrum

FWHM_PER_SIGMA = 2.0 * np.sqrt(2.0 * np.log(2.0))


@dataclass(frozen=True)
class LineFit:
    """One Gaussian on a straight continuum. Errors include the continuum's and are scaled up if the fit is poor.

    :param depth: 1 − F/C at the centre: positive in absorption, negative in emission
    :param centre: Å
    :param fwhm: km/s, as seen, the spectrograph's own width included
    :param instrument: the spectrograph's FWHM there in km/s, None where the survey is not a known one
    :param reduced_chi2: well above 1 says that the line is no Gaussian (broad wings, two peaks)
    """

    depth: Measured
    centre: Measured
    fwhm: Measured
    instrument: float | None
    reduced_chi2: float

    def velocity(self, rest_wavelength: float) -> Measured:
        """Return c (λ − λ0) / λ0 of the centre in km/s; ``rest_wavelength`` in Å in the spectrum's medium."""
        scale = SPEED_OF_LIGHT / rest_wavelength
        return Measured((self.centre.value - rest_wavelength) * scale, self.centre.error * scale, "km/s")

    @property
    def intrinsic_fwhm(self) -> Measured | Undefined:
        """Return the FWHM in km/s, with the instrument's subtracted in quadrature."""
        if self.instrument is None:
            return Undefined(deferred("the survey's resolving power is not known"))
        squared = self.fwhm.value**2 - self.instrument**2
        if squared <= (2.0 * self.fwhm.error) ** 2:
            return Undefined(
                deferred("not resolved: the instrument's own FWHM is {instrument:.0f} km/s", instrument=self.instrument)
            )
        value = float(np.sqrt(squared))
        return Measured(value, self.fwhm.error * self.fwhm.value / value, "km/s")


def instrument_fwhm(spectrum: Spectrum, wavelength: float) -> float | None:
    """Return the FWHM of the spectrograph in km/s at a wavelength (Å) of the spectrum's frame; None for an unknown
    survey.

    The typical resolving power of the survey is taken as linear from 3700 to 9100 Å, observed. Where the spectrum is at
    rest, the file's redshift gives the observed wavelength.
    """
    known = survey(spectrum.survey)
    if known is None:
        return None
    stretch = 1.0 + (spectrum.redshift or 0.0) if spectrum.frame == "rest" else 1.0
    resolving_power = np.interp(wavelength * stretch, (3700.0, 9100.0), known.resolving_power)
    return float(SPEED_OF_LIGHT / resolving_power)


def fwhm(spectrum: Spectrum, window: Window, side_bands: Sequence[Window] | None = None) -> Measured | Undefined:
    """Return the FWHM of the line in a window in km/s, from ``fit_line``."""
    fit = fit_line(spectrum, window, side_bands)
    return fit if isinstance(fit, Undefined) else fit.fwhm


def fit_line(spectrum: Spectrum, window: Window, side_bands: Sequence[Window] | None = None) -> LineFit | Undefined:
    """Fit a Gaussian to the strongest feature of ``window``, with a straight continuum over the window and
    ``side_bands``.

    Undefined if data are missing, nothing exceeds 3σ, or no single peak fits.
    """
    bands = adjacent_bands(window) if side_bands is None else tuple(side_bands)
    profile = line_profile(spectrum, window, bands)
    if isinstance(profile, Undefined):
        return profile
    x, y, sigma = profile.wavelength, profile.depth, profile.sigma
    start = _start(profile)
    for band in bands:
        side = line_profile(spectrum, band, bands)
        # A side band that is only partly covered was already used for the continuum.
        if not isinstance(side, Undefined):
            quiet = np.abs(side.depth) < 5.0 * np.maximum(side.sigma, np.std(side.depth))
            x, y, sigma = (
                np.append(a, b[quiet]) for a, b in ((x, side.wavelength), (y, side.depth), (sigma, side.sigma))
            )
    solved = _fitted(x, y, sigma, start, window)
    if solved is None:
        return Undefined(deferred("no single peak fits in {window}", window=shown(window)))
    best, covariance, reduced = solved
    error = np.sqrt(np.diag(covariance))
    if abs(best[0]) < 3.0 * error[0]:
        return Undefined(deferred("nothing above 3σ in {window}", window=shown(window)))
    to_fwhm = FWHM_PER_SIGMA * SPEED_OF_LIGHT / best[1]
    return LineFit(
        depth=Measured(float(best[0]), float(error[0])),
        centre=Measured(float(best[1]), float(error[1]), "Å"),
        fwhm=Measured(float(best[2] * to_fwhm), float(error[2] * to_fwhm), "km/s"),
        instrument=instrument_fwhm(spectrum, float(best[1])),
        reduced_chi2=reduced,
    )


def _start(profile: Profile) -> FloatArray:
    """Return the initial parameters: the strongest feature after smoothing, with the width that its area and height
    give.
    """
    size = max(3, min(9, profile.depth.size // 8) | 1)
    smooth = np.convolve(np.pad(profile.depth, size // 2, mode="edge"), np.full(size, 1.0 / size), mode="valid")
    at = int(np.argmax(np.abs(smooth)))
    height = float(smooth[at])
    area = float((profile.depth * profile.width).sum())
    pixel, window = float(np.median(profile.width)), float(profile.wavelength[-1] - profile.wavelength[0])
    sigma = np.clip(abs(area / (height or 1.0)) / 2.507, 1.5 * pixel, max(2.0 * pixel, window / 5))
    return np.array([height, profile.wavelength[at], sigma, 0.0, 0.0])


def _fitted(
    x: FloatArray, y: FloatArray, sigma: FloatArray, start: FloatArray, window: Window
) -> tuple[FloatArray, FloatArray, float] | None:
    """Fit (height, centre, σ, offset, tilt) by least squares: the best values (5,), their covariance (5, 5) and
    χ²/ν.

    None where the fit leaves the window, becomes narrower than half a pixel or wider than the window, or does
    not converge.
    """
    from scipy.optimize import leastsq

    if x.size < start.size or not np.isfinite((y, sigma)).all():
        return None
    narrowest = 0.5 * float(np.median(np.abs(np.diff(x))))
    middle, half = (window[0] + window[1]) / 2, (window[1] - window[0]) / 2

    def residual_of(values: FloatArray) -> FloatArray:
        return _model(x, y, sigma, values, middle, half)[0]

    def jacobian_of(values: FloatArray) -> FloatArray:
        return -_model(x, y, sigma, values, middle, half)[1]

    # MINPACK's Levenberg-Marquardt; least_squares(method="lm") is the same with a millisecond of checks around it.
    best, *_, status = leastsq(residual_of, start, Dfun=jacobian_of, full_output=True, ftol=1e-7, xtol=1e-7, maxfev=100)
    best[2] = abs(best[2])
    inside = window[0] <= best[1] <= window[1] and narrowest < best[2] < half
    if not (status in (1, 2, 3, 4) and inside):
        return None
    freedom = max(1, x.size - 5)
    residual, jacobian = _model(x, y, sigma, best, middle, half)
    inverse = np.asarray(np.linalg.pinv(jacobian.T @ jacobian), dtype=np.float64)
    if not (np.isfinite(inverse).all() and (np.diag(inverse) > 0).all()):
        return None
    return best, inverse * excess(residual, freedom), float(residual @ residual) / freedom


def _model(
    x: FloatArray, y: FloatArray, sigma: FloatArray, values: FloatArray, middle: float, half: float
) -> tuple[FloatArray, FloatArray]:
    """Return residuals (n,) and derivatives of the model (n, 5), both in units of ``sigma``."""
    height, centre, width, offset, tilt = values
    distance = (x - centre) / width
    bell = np.exp(-0.5 * distance**2)
    lever = (x - middle) / half
    slopes = (
        bell,
        height * bell * distance / width,
        height * bell * distance**2 / width,
        np.ones_like(x),
        lever,
    )
    residual = (y - height * bell - offset - tilt * lever) / sigma
    return residual, np.stack(slopes, axis=1) / sigma[:, None]
