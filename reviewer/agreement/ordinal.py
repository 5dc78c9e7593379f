"""Cumulative-link mixed model of ordinal scores with crossed random effects, by the Laplace approximation.

The model of R's ``ordinal::clmm`` with a logit link (Christensen 2018, Cumulative link models for ordinal regression
with the R package ordinal). statsmodels' OrderedModel has no random effects; a test compares with it without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from agent.statistics import FloatArray
from reviewer.agreement.mixed import Ratings, fit, indicators, random_effects
from reviewer.agreement.values import POPULATION_BOTH, Estimate

_DEFINITION = (
    "Log odds of a higher score, the first source against the second: cumulative-link mixed model, logit link; "
    "spectra, traces, scorers and scorers by source random; Laplace approximation, as in R's ordinal::clmm. The scale "
    "is taken as a rank order. Student's t with the degrees of freedom of the linear mixed model."
)
_NEWTON = 50
_ITERATIONS = 40
_SMALLEST, _LARGEST = np.log(1e-3), np.log(8.0)  # of the standard deviations of random effects, in logits
_FAR = 12.0
"""Logits: effects as large as this are those of a source whose scores are all at one end of the scale."""


@dataclass(frozen=True)
class OrdinalFit:
    """A fitted model.

    :param effects: of each source, in logits; the first by name is 0
    :param covariance: (n_sources - 1, n_sources - 1) of the other effects
    :param thresholds: between neighbouring scores that were given, in logits
    :param deviations: standard deviations of the random effects, in logits
    :param why_not: why it did not converge; empty if it did
    """

    sources: tuple[str, ...]
    effects: Mapping[str, float]
    covariance: FloatArray
    thresholds: FloatArray
    deviations: Mapping[str, float]
    spectra: int
    freedom: float | None
    why_not: str

    def difference(self, first: str, second: str, confidence: float = 0.95) -> Estimate:
        """Return the log odds that ``first`` has the higher score; n is the spectra.

        Undefined where the model did not converge. ``detail["odds_ratio"]`` is its exponential.
        """
        from scipy.stats import t

        detail: dict[str, Any] = {"population": POPULATION_BOTH, "standard_deviations": dict(self.deviations)}
        if self.why_not:
            return Estimate.undefined(self.why_not, self.spectra, _DEFINITION, detail, "spectra")
        contrast = np.array([(source == first) - (source == second) for source in self.sources[1:]], dtype=float)
        value = self.effects[first] - self.effects[second]
        error = float(np.sqrt(contrast @ self.covariance @ contrast))
        detail |= {"standard_error": error, "odds_ratio": float(np.exp(value))}
        if self.freedom is None:
            why = "the linear mixed model gives no degrees of freedom"
            return Estimate(value, None, None, self.spectra, _DEFINITION, why, detail, "spectra")
        half = float(t.ppf((1 + confidence) / 2, self.freedom)) * error
        detail["p_value"] = float(2 * t.sf(abs(value) / error, self.freedom))
        return Estimate(value, value - half, value + half, self.spectra, _DEFINITION, "", detail, "spectra")


@dataclass(frozen=True)
class _Data:
    """The given scores as categories 0, 1, …, with fixed effects (n, p) and random effects' indicators (n, q)."""

    category: np.ndarray[Any, np.dtype[np.intp]]
    categories: int
    fixed: FloatArray
    random: FloatArray
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class _Mode:
    """The most likely fixed and random effects for given deviations, and the log likelihood by Laplace's formula."""

    likelihood: float
    fixed: FloatArray  # thresholds, then effects
    random: FloatArray
    information: FloatArray  # of all of them

    @property
    def covariance(self) -> FloatArray:
        """Return the covariance of ``fixed``."""
        return cast(FloatArray, np.linalg.inv(self.information)[: len(self.fixed), : len(self.fixed)])


def fit_ordinal(ratings: Ratings) -> OrdinalFit:
    """Fit the model to the scores of two or more sources. :raises ScoresError: there is no score"""
    linear = fit(ratings)
    sources = linear.sources
    names, columns = random_effects(ratings, these_scorers=False)
    given, category = np.unique(ratings.values, return_inverse=True)
    data = _Data(
        category=np.asarray(category, dtype=np.intp),
        categories=len(given),
        fixed=indicators(ratings.sources, sources)[:, 1:],
        random=np.concatenate(columns, axis=1) if columns else np.zeros((len(category), 0)),
        sizes=tuple(column.shape[1] for column in columns),
    )
    why = ""
    if len(given) < 2:
        why = f"every score is {given[0]:g}"
    elif len(sources) < 2:
        why = "there is one source only"
    freedom = None
    if len(sources) > 1:
        freedom = linear.difference(sources[0], sources[1]).detail.get("degrees_of_freedom")
    logs, mode = np.full(len(names), np.log(0.5)), None
    if not why:
        logs, mode, why = _best(data, logs)
    cuts = len(given) - 1
    effects = np.zeros(len(sources) - 1) if mode is None else mode.fixed[cuts:]
    return OrdinalFit(
        sources=sources,
        effects=dict(zip(sources, [0.0, *map(float, effects)], strict=True)),
        covariance=np.zeros((len(sources) - 1,) * 2) if mode is None else mode.covariance[cuts:, cuts:],
        thresholds=np.zeros(0) if mode is None else mode.fixed[:cuts],
        deviations=dict(zip(names, map(float, np.exp(logs)), strict=True)),
        spectra=linear.spectra,
        freedom=cast("float | None", freedom),
        why_not=why,
    )


def _best(data: _Data, logs: FloatArray) -> tuple[FloatArray, _Mode | None, str]:
    """Return the log deviations with the largest likelihood, the mode there, and why it did not converge."""
    from scipy.optimize import minimize

    shares = np.cumsum(np.bincount(data.category, minlength=data.categories))[:-1] / len(data.category)
    start = np.concatenate([np.log(shares / (1 - shares)), np.zeros(data.fixed.shape[1])])
    last = _Mode(-np.inf, start, np.zeros(data.random.shape[1]), np.zeros((0, 0)))

    def minus(at: FloatArray) -> float:
        nonlocal last
        reached = _mode(data, at, last.fixed, last.random)
        if reached is None:
            return 1e10
        last = reached
        return -reached.likelihood

    if len(logs):
        bounds = [(_SMALLEST, _LARGEST)] * len(logs)
        options = {"maxiter": _ITERATIONS, "ftol": 1e-8, "gtol": 1e-4, "eps": 1e-3}
        optimum = minimize(minus, logs, method="L-BFGS-B", bounds=bounds, options=options)
        logs = np.asarray(optimum.x, dtype=float)
        if not optimum.success and optimum.status != 2:
            return logs, None, "the cumulative-link model did not converge"
    mode = _mode(data, logs, last.fixed, last.random)
    if mode is None:
        return logs, None, "the cumulative-link model did not converge"
    if (abs(mode.fixed[data.categories - 1 :]) > _FAR).any():
        return logs, None, "the scores of one source are all at one end of the scale"
    if (logs > _LARGEST - 1e-3).any():
        return logs, None, "the cumulative-link model did not converge: a random effect has no finite spread"
    return (*_refined(data, logs, mode), "") if len(logs) else (logs, mode, "")


def _refined(data: _Data, logs: FloatArray, mode: _Mode) -> tuple[FloatArray, _Mode]:
    """Return the maximum of Laplace's formula in all parameters, from where fixed and random effects were joint."""
    from scipy.optimize import minimize

    p, last = len(mode.fixed), mode

    def minus(at: FloatArray) -> float:
        nonlocal last
        tried = _mode(data, at[p:], at[:p], last.random, hold=True)
        if tried is None:
            return 1e10
        last = tried
        return -tried.likelihood

    start = np.concatenate([mode.fixed, logs])
    bounds = [(None, None)] * p + [(_SMALLEST, _LARGEST)] * len(logs)
    options = {"maxiter": _ITERATIONS, "ftol": 1e-9, "gtol": 1e-3, "eps": 1e-4}
    at = np.asarray(minimize(minus, start, method="L-BFGS-B", bounds=bounds, options=options).x, dtype=float)
    tried = _mode(data, at[p:], at[:p], last.random, hold=True)
    return (logs, mode) if tried is None or tried.likelihood < mode.likelihood else (at[p:], tried)


def _mode(data: _Data, logs: FloatArray, fixed: FloatArray, random: FloatArray, hold: bool = False) -> _Mode | None:
    """Maximise the likelihood of fixed and random effects jointly for given deviations, by Newton's method.

    The random effects are in units of their deviations. None: no maximum was found.

    :param hold: the fixed effects stay as they are
    """
    from scipy.sparse import csr_array

    cuts, n = data.categories - 1, len(data.category)
    # Nearly all of it is 0: a score is of one source, spectrum, trace and scorer.
    effects = csr_array(np.concatenate([data.fixed, data.random * np.repeat(np.exp(logs), data.sizes)], axis=1))
    # A score lies between two thresholds, of which the lowest and the highest score have one.
    rows, inside = np.arange(n), np.zeros((n, cuts + 2))
    inside[rows, data.category + 1] = 1
    upper, lower = inside[:, 1:-1], np.roll(inside, -1, axis=1)[:, 1:-1]
    parameters = np.concatenate([fixed, random])
    penalty = np.concatenate([np.zeros(len(fixed)), np.ones(len(random))])

    def value(at: FloatArray) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        ends = np.concatenate([[-np.inf], at[:cuts], [np.inf]])
        linear = effects @ at[cuts:]
        f_high, f_low = _logistic(ends[data.category + 1] - linear), _logistic(ends[data.category] - linear)
        chance = f_high - f_low
        if (chance <= 0).any() or (np.diff(at[:cuts]) <= 0).any():
            return -np.inf, f_high, f_low, chance
        return float(np.log(chance).sum() - 0.5 * (penalty * at**2).sum()), f_high, f_low, chance

    now, f_high, f_low, chance = value(parameters)
    if not np.isfinite(now):
        return None
    information = np.diag(penalty)
    for _ in range(_NEWTON):
        # First and second derivatives of the log likelihood by the two ends of each score.
        a, b = f_high * (1 - f_high) / chance, f_low * (1 - f_low) / chance
        aa, bb, ab = a * a - a * (1 - 2 * f_high), b * b + b * (1 - 2 * f_low), a * b
        gradient = np.concatenate([upper.T @ a - lower.T @ b, effects.T @ (b - a)]) - penalty * parameters
        mixed = upper.T @ (ab[:, None] * lower)
        of_ends = upper.T @ (aa[:, None] * upper) + lower.T @ (bb[:, None] * lower) - mixed - mixed.T
        across = -(effects.T @ ((aa - ab)[:, None] * upper + (bb - ab)[:, None] * lower)).T
        of_effects = (effects.T @ effects.multiply((aa + bb - 2 * ab)[:, None])).toarray()
        information = np.block([[of_ends, across], [across.T, of_effects]]) + np.diag(penalty)
        step = np.zeros(len(parameters))
        moved = slice(len(fixed) if hold else 0, None)
        try:
            step[moved] = np.linalg.solve(information[moved, moved], gradient[moved])
        except np.linalg.LinAlgError:
            return None
        size = 1.0
        while True:
            tried = parameters + size * step
            reached = value(tried)
            if reached[0] >= now - 1e-10 or size < 1e-6:
                break
            size /= 2
        if not np.isfinite(reached[0]):
            return None
        parameters, (now, f_high, f_low, chance) = tried, reached
        if float(abs(gradient @ step)) < 1e-10:
            break
    inner = information[len(fixed) :, len(fixed) :]
    sign, determinant = np.linalg.slogdet(inner) if len(random) else (1.0, 0.0)
    if sign <= 0:
        return None
    return _Mode(now - 0.5 * float(determinant), parameters[: len(fixed)], parameters[len(fixed) :], information)


def _logistic(x: FloatArray) -> FloatArray:
    return 0.5 * (1 + np.tanh(0.5 * x))
