"""Linear mixed model of scores with crossed random effects of spectra and scorers, fitted by restricted maximum
likelihood (REML), with gaps in the table of scores.

statsmodels' MixedLM gives the same estimates (tests compare them), but no degrees of freedom, which matter with three
to six scorers, and needs seconds where a power calculation needs hundreds of fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, cast

import numpy as np

from agent.statistics import FloatArray
from reviewer.agreement.values import POPULATION_BOTH, POPULATION_SPECTRA, Estimate, ScoresError

Component = Literal["spectrum", "trace", "scorer", "scorer by source", "rest"]

_DIFFERENCE = (
    "Difference of two sources' mean scores, the first less the second, by a linear mixed model: sources fixed; "
    "spectra, traces, scorers and scorers by source random (REML). The interval is Student's t with Satterthwaite's "
    "degrees of freedom; the component of scorers by source is not cut at 0, as in Hillis 2007, Statistics in "
    "Medicine 26, 596."
)
_MEAN = (
    "Mean score of a source by a linear mixed model: spectra, traces, scorers and scorers by source random (REML), so "
    "that gaps in the table and severe scorers are allowed for. Student's t, Satterthwaite's degrees of freedom."
)
_SEVERITY = (
    "Severity: a scorer's level less the mean level of all scorers, by a linear mixed model with scorers fixed and "
    "spectra and traces random (REML), so that scorers with different traces can be compared; negative is more severe."
)
_BY_SCORER = (
    "One scorer's difference of two sources' mean scores, the first less the second, by a linear mixed model with "
    "scorers fixed and spectra and traces random (REML)."
)
MIN_SCORERS = 3
"""With two scorers the spread between scorers has one degree of freedom, and intervals are useless."""
MIN_SPECTRA = 10
RAISED = 3.0
"""For the degrees of freedom the mean square of scorers counts this many times. With the few degrees of freedom of
three scorers it is too small as often as too large, and where it is too small the plain formula takes the other terms
for the larger ones and gives too many degrees of freedom: coverage is then 92 instead of 95 % (simulation:
docs/blind/statistics.md).
"""
OF_SCORERS = ("scorer", "scorer by source")
_ITERATIONS = 60
_LARGEST_RATIO = 1e6


@dataclass(frozen=True)
class Ratings:
    """Scores, one place per score in each field.

    :param values: (n,), finite
    :param spectra: the spectrum (and task) of each; ``items``: the trace; ``scorers``; ``sources``
    :raises ScoresError: fields of different lengths, or a score that is not finite
    """

    values: FloatArray
    spectra: tuple[str, ...]
    items: tuple[str, ...]
    scorers: tuple[str, ...]
    sources: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", np.asarray(self.values, dtype=float))
        lengths = {name: len(getattr(self, name)) for name in ("values", "spectra", "items", "scorers", "sources")}
        if len(set(lengths.values())) > 1:
            raise ScoresError(f"ratings: lengths {lengths}; they must be the same")
        if not np.isfinite(self.values).all():
            raise ScoresError("ratings: a score that is not a finite number; leave out what was not scored")

    def only(self, kept: Sequence[bool]) -> Ratings:
        """Return the scores where ``kept`` is true."""
        chosen = np.flatnonzero(np.asarray(kept, dtype=bool))
        names = (self.spectra, self.items, self.scorers, self.sources)
        return Ratings(self.values[chosen], *(tuple(name[i] for i in chosen) for name in names))

    def of(self, *sources: str) -> Ratings:
        """Return the scores of these sources."""
        return self.only([source in sources for source in self.sources])


@dataclass(frozen=True)
class MixedFit:
    """A fitted model.

    :param cells: the fixed effects, (scorer, source); the scorer is "" where scorers are random
    :param means: (n_cells,)
    :param covariance: (n_cells, n_cells) of the means
    :param components: variances; that of scorers by source may be below 0, which stands for none. Empty where each mean
        is of one score
    :param spectra: their number; so is ``scorers``, which is 1 where scorers are fixed
    :param why_not: why there can be no interval; empty if there can
    """

    population: str
    cells: tuple[tuple[str, str], ...]
    means: FloatArray
    covariance: FloatArray
    components: Mapping[str, float]
    spectra: int
    scorers: int
    why_not: str
    # For the degrees of freedom: with the variances of scorers raised, see ``RAISED``.
    _raised: FloatArray  # (n_cells, n_cells), the covariance of the means
    _gradients: FloatArray  # (n_cells, n_cells, n_free): of that covariance by each free variance
    _uncertainty: FloatArray  # (n_free, n_free): asymptotic covariance of the variances

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(source for _, source in self.cells))

    def difference(self, first: str, second: str, confidence: float = 0.95) -> Estimate:
        """Return the mean of ``first`` less that of ``second``.

        n is the spectra. ``detail`` has the standard error, the degrees of freedom and the two-sided p value.
        """
        return self._estimate(self._mean_of(first) - self._mean_of(second), _DIFFERENCE, confidence)

    def mean(self, source: str, confidence: float = 0.95) -> Estimate:
        """Return the mean score of a source. n is the spectra."""
        return self._estimate(self._mean_of(source), _MEAN, confidence)

    def equivalence(self, first: str, second: str, margin: float) -> Estimate:
        """Return the difference with its 90 % interval: the sources are equivalent if it lies within the margin.

        Two one-sided tests at 5 %: Schuirmann 1987, J. Pharmacokinetics and Biopharmaceutics 15, 657.
        ``detail["equivalent"]`` is the answer, None without an interval.
        """
        difference = self.difference(first, second, confidence=0.90)
        within = (
            None
            if difference.low is None or difference.high is None
            else -margin < difference.low and difference.high < margin
        )
        words = f"Equivalence: the 90 % interval of the difference lies within ±{margin:g}. {_DIFFERENCE}"
        detail = {**difference.detail, "margin": margin, "equivalent": within}
        return Estimate(
            difference.value, difference.low, difference.high, difference.n, words, difference.reason, detail, "spectra"
        )

    def severity(self, scorer: str) -> Estimate:
        """Return a scorer's level less the mean of all scorers; for a fit with these scorers only."""
        own = np.array([cell == scorer for cell, _ in self.cells], dtype=float)
        return self._estimate(own / own.sum() - 1 / len(own), _SEVERITY, 0.95)

    def difference_by(self, scorer: str, first: str, second: str) -> Estimate:
        """Return one scorer's difference of two sources; for a fit with these scorers only."""
        contrast = np.zeros(len(self.cells))
        contrast[self.cells.index((scorer, first))] += 1
        contrast[self.cells.index((scorer, second))] -= 1
        return self._estimate(contrast, _BY_SCORER, 0.95)

    def _mean_of(self, source: str) -> FloatArray:
        own = np.array([cell == source for _, cell in self.cells], dtype=float)
        return cast(FloatArray, own / own.sum())

    def _estimate(self, contrast: FloatArray, definition: str, confidence: float) -> Estimate:
        from scipy.stats import t

        value = float(contrast @ self.means)
        detail: dict[str, object] = {"population": self.population, "components": dict(self.components)}
        if self.why_not:
            return Estimate(value, None, None, self.spectra, definition, self.why_not, detail, "spectra")
        variance = float(contrast @ self.covariance @ contrast)
        gradient = np.einsum("i,ijk,j->k", contrast, self._gradients, contrast)
        spread = float(gradient @ self._uncertainty @ gradient)
        raised = float(contrast @ self._raised @ contrast)
        freedom = max(self.scorers - 1.0, 2 * raised**2 / spread) if spread > 0 else float(self.spectra - 1)
        error = float(np.sqrt(variance))
        half = float(t.ppf((1 + confidence) / 2, freedom)) * error
        detail |= {"standard_error": error, "degrees_of_freedom": freedom}
        detail["p_value"] = float(2 * t.sf(abs(value) / error, freedom)) if error > 0 else None
        return Estimate(value, value - half, value + half, self.spectra, definition, "", detail, "spectra")


@dataclass(frozen=True)
class _Products:
    """Cross products of the responses, the fixed effects and the random effects' indicators."""

    n: int
    xx: FloatArray
    xy: FloatArray
    yy: float
    zx: FloatArray
    zy: FloatArray
    zz: FloatArray
    blocks: tuple[slice, ...]


@dataclass(frozen=True)
class _State:
    """The restricted likelihood at given variances with its derivatives by them, and the fixed effects.

    :param variances: of the rest, then of each factor
    :param weights: (q, q); the matrix K of ``_state``
    """

    variances: FloatArray
    likelihood: float
    score: FloatArray
    information: FloatArray
    covariance: FloatArray
    means: FloatArray
    zvx: FloatArray
    weights: FloatArray


def fit(ratings: Ratings, these_scorers: bool = False) -> MixedFit:
    """Fit the model.

    Fisher scoring on the variances: Searle, Casella & McCulloch 1992, Variance Components, chapter 6. An effect that
    cannot be told from another one (every spectrum with one trace, every trace with one score) is left out.

    :param these_scorers: scorers are fixed, one mean for each scorer and source, and a source's mean is the mean over
        scorers: what is found holds for these scorers. Otherwise scorers are random: it holds for scorers like these
    :raises ScoresError: there is no score
    """
    if not len(ratings.values):
        raise ScoresError("ratings: found no score, expected at least one")
    whom = ratings.scorers if these_scorers else ("",) * len(ratings.values)
    of = tuple(zip(whom, ratings.sources, strict=True))
    cells = tuple(sorted(set(of)))
    saturated = len(ratings.values) <= len(cells)  # nothing is left from which to estimate variances
    names, columns = ((), []) if saturated else random_effects(ratings, these_scorers)
    fixed = indicators(of, cells)
    shift = float(ratings.values.mean())  # smaller numbers, smaller rounding errors
    products = _products(ratings.values - shift, fixed, columns)
    state, free, converged = _maximise(names, products, columns)
    free = sorted({*free, *(i + 1 for i, name in enumerate(names) if name in OF_SCORERS)})
    ratios = _raised(names, state.variances, columns)
    raised = _state(products, ratios, state.variances[0])
    information = _information_of_ratios(raised, ratios)[np.ix_(free, free)]
    return MixedFit(
        population=POPULATION_SPECTRA if these_scorers else POPULATION_BOTH,
        cells=cells,
        means=state.means + shift,
        covariance=state.covariance,
        components={} if saturated else dict(zip(("rest", *names), map(float, state.variances), strict=True)),
        spectra=len(set(ratings.spectra)),
        scorers=1 if these_scorers else len(set(ratings.scorers)),
        why_not=_why_no_interval(ratings, cells, these_scorers, converged),
        _raised=raised.covariance,
        _gradients=_gradients(fixed, columns, products, raised, free),
        _uncertainty=cast(FloatArray, np.linalg.pinv(information)),
    )


def _why_no_interval(ratings: Ratings, cells: Sequence[tuple[str, str]], these_scorers: bool, converged: bool) -> str:
    spectra, scorers = len(set(ratings.spectra)), len(set(ratings.scorers))
    if np.ptp(ratings.values) == 0:
        return f"every score is {ratings.values[0]:g}"
    if len(ratings.values) <= len(cells):
        return "each mean is of one score"
    if these_scorers and len(cells) < scorers * len(set(ratings.sources)):
        return "a scorer has no score of one of the sources"
    if not these_scorers and scorers < MIN_SCORERS:
        return f"found {scorers} {'scorer' if scorers == 1 else 'scorers'}, expected {MIN_SCORERS} or more"
    if spectra < MIN_SPECTRA:
        return f"fewer than {MIN_SPECTRA} spectra"
    return "" if converged else "the fit of the mixed model did not converge"


def random_effects(ratings: Ratings, these_scorers: bool) -> tuple[tuple[Component, ...], list[FloatArray]]:
    """Return the random effects that can be told apart, each with its indicator matrix, (n, n_levels).

    :param these_scorers: scorers are no random effect
    """
    n = len(ratings.values)
    spectra, items, scorers = set(ratings.spectra), set(ratings.items), set(ratings.scorers)
    tastes = tuple(zip(ratings.scorers, ratings.sources, strict=True))
    several = len(set(ratings.sources)) > 1
    effects: list[tuple[Component, Sequence[object]]] = []
    if 1 < len(spectra) < len(items):
        effects.append(("spectrum", ratings.spectra))
    if 1 < len(items) < n:
        effects.append(("trace", ratings.items))
    if 1 < len(scorers) < n and not these_scorers:
        effects.append(("scorer", ratings.scorers))
    if several and not these_scorers and 1 < len(scorers) < len(set(tastes)) < n:
        effects.append(("scorer by source", tastes))
    return tuple(name for name, _ in effects), [indicators(names, tuple(dict.fromkeys(names))) for _, names in effects]


def indicators(names: Sequence[object], levels: Sequence[object]) -> FloatArray:
    """(n, n_levels): 1 where the name is the level, else 0."""
    place = {level: number for number, level in enumerate(levels)}
    out = np.zeros((len(names), len(levels)))
    out[np.arange(len(names)), [place[name] for name in names]] = 1.0
    return out


def _products(values: FloatArray, fixed: FloatArray, columns: Sequence[FloatArray]) -> _Products:
    every = np.concatenate(columns, axis=1) if columns else np.zeros((len(values), 0))
    ends = np.cumsum([0, *(column.shape[1] for column in columns)])
    return _Products(
        n=len(values),
        xx=fixed.T @ fixed,
        xy=fixed.T @ values,
        yy=float(values @ values),
        zx=every.T @ fixed,
        zy=every.T @ values,
        zz=every.T @ every,
        blocks=tuple(slice(int(a), int(b)) for a, b in pairwise(ends)),
    )


def _state(products: _Products, ratios: FloatArray, rest: float | None = None) -> _State:
    """Return score and expected information of the restricted likelihood, and the fixed effects.

    With V = s W and W = I + Z D Z', everything follows from cross products: W^-1 = I - Z K Z', K = D (I + Z'Z D)^-1.

    :param ratios: of each factor's variance to that of the rest
    :param rest: the variance of the rest, s; None: the best one for these ratios
    """
    d = np.repeat(ratios, [block.stop - block.start for block in products.blocks])
    q, m = len(d), len(ratios)
    inner = np.eye(q) + products.zz * d[None, :]
    k = d[:, None] * np.linalg.inv(inner)
    zk = products.zz @ k
    zx = products.zx - zk @ products.zx
    xx = products.xx - products.zx.T @ k @ products.zx
    xy = products.xy - products.zx.T @ k @ products.zy
    unit = np.linalg.inv(xx)
    means = unit @ xy
    p = len(means)
    ypy = max(float(products.yy - products.zy @ k @ products.zy - xy @ means), 0.0)
    if rest is None:
        rest = max(ypy / max(products.n - p, 1), 1e-12)
    g = (products.zz - zk @ products.zz - zx @ unit @ zx.T) / rest  # Z'PZ
    u = (products.zy - zk @ products.zy - zx @ means) / rest  # Z'Py
    own = rest * ratios
    traces = np.array([np.trace(g[b, b]) for b in products.blocks])
    squares = np.array([u[b] @ u[b] for b in products.blocks])
    crossed = np.array([[(g[a, b] ** 2).sum() for b in products.blocks] for a in products.blocks]).reshape(m, m)
    trace_p = (products.n - p - own @ traces) / rest
    zppz = (traces - crossed @ own) / rest
    trace_pp = (trace_p - own @ zppz) / rest
    yppy = (ypy / rest - own @ squares) / rest
    score = 0.5 * np.concatenate([[yppy - trace_p], squares - traces])
    information = np.empty((m + 1, m + 1))
    information[0, 0] = trace_pp
    information[0, 1:] = information[1:, 0] = zppz
    information[1:, 1:] = crossed
    logs = (products.n - p) * np.log(rest) + np.linalg.slogdet(inner)[1] + np.linalg.slogdet(xx)[1]
    return _State(
        variances=np.concatenate([[rest], own]),
        likelihood=-0.5 * float(logs + ypy / rest),
        score=score,
        information=0.5 * information,
        covariance=cast(FloatArray, rest * unit),
        means=means,
        zvx=zx / rest,
        weights=k,
    )


def _maximise(
    names: Sequence[Component], products: _Products, columns: Sequence[FloatArray]
) -> tuple[_State, list[int], bool]:
    """Return the state at the maximum, which parameters are free (not held at a bound), and whether it converged.

    The parameters are the ratios of the variances to that of the rest, which has a closed form; Fisher scoring with
    steps halved until the restricted likelihood increases.
    """
    m = len(names)
    # V stays positive definite: an indicator matrix ZZ' has its largest count as largest eigenvalue.
    counts = [column.sum(axis=0).max() for column in columns]
    low = np.array(
        [-0.999 / count if name == OF_SCORERS[1] else 0.0 for name, count in zip(names, counts, strict=True)]
    )
    ratios = np.full(m, 0.2)
    state, done = _state(products, ratios), False
    for _ in range(_ITERATIONS):
        free = _free(state, ratios, low)
        step = np.zeros(m)
        if free:
            # The information of the ratios, with the variance of the rest profiled out.
            information = _information_of_ratios(state, ratios)
            cross = information[0, 1:][free]
            profiled = information[1:, 1:][np.ix_(free, free)] - np.outer(cross, cross) / information[0, 0]
            score = state.variances[0] * state.score[1:][free]
            step[free] = np.linalg.lstsq(profiled, score, rcond=None)[0]
        size, better = 1.0, None
        while better is None and size > 1e-4:
            tried = np.clip(ratios + size * step, low, _LARGEST_RATIO)
            state_tried = _state(products, tried)
            if state_tried.likelihood >= state.likelihood - 1e-12 * abs(state.likelihood):
                better = state_tried
            size /= 2
        if better is None:
            done = True
            break
        moved, gained = float(abs(tried - ratios).max(initial=0.0)), better.likelihood - state.likelihood
        ratios, state = tried, better
        if moved < 1e-6 or gained < 1e-9:
            done = True
            break
    return state, [0, *(i + 1 for i in _free(state, ratios, low))], done


def _free(state: _State, ratios: FloatArray, low: FloatArray) -> list[int]:
    """Return the ratios that are not held at their lower bounds."""
    return [i for i in range(len(ratios)) if ratios[i] > low[i] + 1e-9 or state.score[1 + i] > 0]


def _information_of_ratios(state: _State, ratios: FloatArray) -> FloatArray:
    """Return the information of (variance of the rest, ratios) from that of the variances."""
    jacobian = _jacobian(state.variances[0], ratios)
    return jacobian.T @ state.information @ jacobian


def _jacobian(rest: float, ratios: FloatArray) -> FloatArray:
    jacobian = np.diag(np.concatenate([[1.0], np.full(len(ratios), rest)]))
    jacobian[1:, 0] = ratios
    return jacobian


def _raised(names: Sequence[Component], variances: FloatArray, columns: Sequence[FloatArray]) -> FloatArray:
    """Return the ratios of the variances to that of the rest, the mean squares of scorers ``RAISED`` times as large."""
    ratios: FloatArray = variances[1:] / variances[0]
    of_scorers = [i for i, name in enumerate(names) if name in OF_SCORERS]
    ratios[of_scorers] *= RAISED
    if of_scorers:
        last = of_scorers[-1]
        ratios[last] += (RAISED - 1) * float(np.mean(1 / columns[last].sum(axis=0)))
    return ratios


def _gradients(
    fixed: FloatArray,
    columns: Sequence[FloatArray],
    products: _Products,
    state: _State,
    free: Sequence[int],
) -> FloatArray:
    """(n_cells, n_cells, n_free): the means' covariance differentiated by the variance of the rest and the ratios."""
    rest = state.variances[0]
    every = np.concatenate(columns, axis=1) if columns else np.zeros((products.n, 0))
    vx = (fixed - every @ (state.weights @ products.zx)) / rest
    inner = [vx.T @ vx, *(state.zvx[block].T @ state.zvx[block] for block in products.blocks)]
    by_variance = np.stack([state.covariance @ product @ state.covariance for product in inner], axis=2)
    by_parameter: FloatArray = by_variance @ _jacobian(rest, state.variances[1:] / rest)
    return by_parameter[:, :, list(free)]
