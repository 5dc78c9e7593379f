"""Input and output of the statistics: a table of scores with gaps, and an estimate with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from agent.errors import Refusal
from agent.language import deferred, tr
from agent.statistics import DEFAULT, FloatArray, Resampling, Statistic, percentile_interval, resampled

SCALE = (0, 1, 2, 3, 4, 5)
"""The scores that may be given, for coherence and for physical consistency alike."""


POPULATION_BOTH = "spectra and scorers like these"
POPULATION_SPECTRA = "spectra like these, these scorers"


class ScoresError(Refusal, ValueError):
    """Arrays that do not fit a statistic: which one, what was found, what was expected."""


@dataclass(frozen=True)
class Estimate:
    """A statistic with its interval, or the reason why it has none. Never NaN or infinite.

    :param value: None where the statistic is undefined; ``reason`` then says why
    :param low: lower end of the interval; None (as ``high``) where there is no interval, ``reason`` says why
    :param n: the number of ``n_of`` in the calculation
    :param definition: the calculation in a sentence, with its source
    :param reason: also a caution about a value that has an interval
    :param detail: further numbers and words, ready for JSON
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    definition: str
    reason: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)
    n_of: str = "items"

    def __post_init__(self) -> None:
        for name in ("value", "low", "high"):
            given = getattr(self, name)
            object.__setattr__(self, name, None if given is None else _finite(given, name))
        object.__setattr__(self, "n", int(self.n))
        object.__setattr__(self, "detail", _plain(dict(self.detail)))
        if (self.low is None) != (self.high is None) or (self.value is None and self.low is not None):
            raise ValueError("an interval has two ends, and only about a value")
        if not self.reason and (self.value is None or self.low is None):
            raise ValueError("a value or an interval is missing and no reason is given")

    @staticmethod
    def undefined(
        reason: str, n: int, definition: str, detail: Mapping[str, Any] | None = None, n_of: str = "items"
    ) -> Estimate:
        """Return an estimate without a value, with the reason."""
        return Estimate(None, None, None, n, definition, reason, detail or {}, n_of)

    def __str__(self) -> str:
        """Return ``0.71 (0.55 to 0.83), n = 48``, or ``undefined: every score is 5``."""
        return str(self.text)

    @property
    def text(self) -> str:
        """The form to show, as ``str``; ``tr`` translates it."""
        if self.value is None:
            return deferred("undefined: {reason}", reason=self.reason)
        value, n = _two(self.value), self.n
        if self.low is None or self.high is None:
            return deferred("{value} (no interval: {reason}), n = {n}", value=value, reason=self.reason, n=n)
        ends = {"value": value, "low": _two(self.low), "high": _two(self.high), "n": n}
        if self.reason:
            return deferred("{value} ({low} to {high}), n = {n}; {reason}", reason=self.reason, **ends)
        return deferred("{value} ({low} to {high}), n = {n}", **ends)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form; ``text`` is the form to show. ``localized`` translates its texts."""
        return {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "n": self.n,
            "n_of": self.n_of,
            "definition": self.definition,
            "reason": self.reason,
            "detail": dict(self.detail),
            "text": self.text,
        }


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of every scorer for every item.

    :param values: (n_items, n_raters), NaN where there is no score; copied and made read-only
    :raises ScoresError: a shape that does not fit the names, a name twice, an infinite score
    """

    items: tuple[str, ...]
    raters: tuple[str, ...]
    values: FloatArray

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=float)
        if values.shape != (len(self.items), len(self.raters)):
            raise ScoresError(
                tr(
                    "scores: an array of shape {shape} for {items} items and {raters} scorers; it must be "
                    "(items, scorers)",
                    shape=values.shape,
                    items=len(self.items),
                    raters=len(self.raters),
                )
            )
        for names in (self.items, self.raters):
            if len(set(names)) != len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise ScoresError(tr("scores: {name!r} is there twice; each may be there once", name=twice))
        if np.isinf(values).any():
            raise ScoresError(tr("scores: an infinite score; a score is a number, NaN where there is none"))
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    @staticmethod
    def of(rows: Iterable[tuple[str, str, float | None]]) -> Scores:
        """From (item, rater, score or None), in any order: items and raters are sorted, so that the same rows
        give the same intervals.

        :raises ScoresError: two scores of one rater for one item
        """
        given: dict[tuple[str, str], float] = {}
        for item, rater, score in rows:
            if (item, rater) in given:
                raise ScoresError(
                    tr("scores: {rater!r} has two scores for {item!r}; one counts", rater=rater, item=item)
                )
            given[item, rater] = math.nan if score is None else float(score)
        items = sorted({item for item, _ in given})
        raters = sorted({rater for _, rater in given})
        values = np.full((len(items), len(raters)), math.nan)
        rows_of, columns_of = ({name: i for i, name in enumerate(names)} for names in (items, raters))
        for (item, rater), score in given.items():
            values[rows_of[item], columns_of[rater]] = score
        return Scores(tuple(items), tuple(raters), values)

    @property
    def given(self) -> NDArray[np.bool_]:
        """(n_items, n_raters): where there is a score."""
        return ~np.isnan(self.values)

    def by(self, rater: str) -> FloatArray:
        """(n_items,): the scores of one rater.

        :raises ScoresError: no rater has that name
        """
        return self.values[:, self._column(rater)]

    def only(self, raters: Iterable[str]) -> Scores:
        """Return the same items with the scores of these raters only."""
        kept = tuple(raters)
        return Scores(self.items, kept, self.values[:, [self._column(rater) for rater in kept]])

    def item_means(self) -> FloatArray:
        """(n_items,): the mean of an item's scores, NaN for an item that nobody scored."""
        counts = self.given.sum(axis=1)
        sums = np.nansum(self.values, axis=1)
        return np.where(counts > 0, sums / np.maximum(counts, 1), math.nan)

    def _column(self, rater: str) -> int:
        if rater not in self.raters:
            raise ScoresError(
                tr("scores: no scorer {rater!r}; there are {names}", rater=rater, names=", ".join(self.raters) or "–")
            )
        return self.raters.index(rater)


def unshared(scores: Scores) -> str:
    """Return why agreement is undefined: no item has two scores. Empty if one has."""
    raters = int(scores.given.any(axis=0).sum())
    if raters == 0:
        return deferred("nobody gave a score")
    if raters == 1:
        return deferred("there is one scorer only")
    return "" if (scores.given.sum(axis=1) > 1).any() else deferred("no item was scored by two scorers")


def estimate(
    definition: str,
    value: float,
    statistic: Statistic,
    sizes: tuple[int, ...],
    resampling: Resampling = DEFAULT,
    *,
    width: int = 1,
    n: int | None = None,
    n_of: str = "items",
    detail: Mapping[str, Any] | None = None,
    caution: str = "",
    of: Literal["items", "pairs"] = "items",
) -> Estimate:
    """Return a value with the bootstrap interval of its statistic, as ``with_interval`` of its resamples."""
    resamples = resampled(statistic, sizes, resampling.resamples, resampling.seed, width)
    return with_interval(
        definition, value, resamples, sizes, resampling, n=n, n_of=n_of, detail=detail, caution=caution, of=of
    )


def with_interval(
    definition: str,
    value: float,
    resamples: FloatArray,
    sizes: tuple[int, ...],
    resampling: Resampling = DEFAULT,
    *,
    n: int | None = None,
    n_of: str = "items",
    detail: Mapping[str, Any] | None = None,
    caution: str = "",
    of: Literal["items", "pairs"] = "items",
) -> Estimate:
    """Return a value with the percentile interval of its resamples, or the reason why there is none.

    :param resamples: (resamples,), NaN for a resample without a value; ``detail`` receives their number
    :param n: what the value rests on, if that is not the number of items
    :param caution: replaces any reason for having no interval
    :param of: what the items are called in a reason
    """
    ends, why = _interval(resamples, min(sizes), of, resampling)
    known = dict(detail or {})
    if undefined := int(np.isnan(resamples).sum()):
        known["resamples_without_value"] = undefined
    low, high = ends or (None, None)
    return Estimate(value, low, high, sum(sizes) if n is None else n, definition, caution or why, known, n_of)


MIN_CLUSTERS = 20
"""With fewer spectra a jackknife interval of an agreement statistic covers less than it states (docs)."""


def jackknife(
    definition: str,
    value: float,
    statistic: Statistic,
    clusters: Sequence[str],
    *,
    fisher: bool = True,
    fewest: int = MIN_CLUSTERS,
    freedom: int | None = None,
    detail: Mapping[str, Any] | None = None,
    caution: str = "",
    confidence: float = DEFAULT.confidence,
) -> Estimate:
    """Return a value with its jackknife interval over clusters: a spectrum's traces stay together.

    Student's t, for statistics of -1 to 1 on Fisher's z scale: their percentile intervals cover 83 to 92 % where they
    state 95 (docs/blind/statistics.md). Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapter 11; Fisher
    1921, Metron 1, 3. It holds for spectra like these and for the scorers of the session.

    :param statistic: of ``Picks``, the items that are kept
    :param clusters: (n_items,), the spectrum of each item
    :param fisher: whether the statistic is between -1 and 1, else the interval is symmetrical about the value
    :param fewest: no interval is given for fewer clusters
    :param freedom: degrees of freedom; default: the number of clusters less one
    """
    from scipy.stats import t

    known = {"population": POPULATION_SPECTRA, **(detail or {})}
    _, number = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    groups = int(number.max()) + 1 if len(number) else 0

    def without(why: str) -> Estimate:
        return Estimate(value, None, None, len(clusters), definition, caution or why, known)

    if groups < fewest:
        return without(deferred("fewer than {fewest} spectra", fewest=fewest))
    if fisher and abs(value) >= 1 - 1e-12:
        return without(deferred("the value is at the end of its range"))
    kept = [np.flatnonzero(number != index) for index in range(groups)]
    left = np.empty(groups)
    for size in {len(left_out) for left_out in kept}:  # all of one length at once
        same = [index for index in range(groups) if len(kept[index]) == size]
        left[same] = statistic(np.stack([kept[left_out] for left_out in same]))
    if np.isnan(left).any() or (fisher and (abs(left) >= 1).any()):
        return without(deferred("without one of the spectra it has no value, too much is alike"))
    centre, left = (np.arctanh(value), np.arctanh(left)) if fisher else (value, left)
    error = math.sqrt((groups - 1) / groups * float(((left - centre) ** 2).sum()))
    if error <= 1e-12 * max(1.0, abs(value)):
        return without(deferred("it is the same without any of the spectra"))
    half = float(t.ppf((1 + confidence) / 2, groups - 1 if freedom is None else freedom)) * error
    low, high = (float(np.tanh(end)) if fisher else float(end) for end in (centre - half, centre + half))
    return Estimate(value, low, high, len(clusters), definition, caution, known)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p values adjusted for their number: Holm 1979, Scandinavian Journal of Statistics 6, 65.

    A claim is made where the adjusted value is below 5 %; the chance of any false claim is then at most 5 %.
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = highest
    return tuple(adjusted)


def _interval(
    resamples: FloatArray, smallest: int, of: Literal["items", "pairs"], resampling: Resampling
) -> tuple[tuple[float, float] | None, str]:
    if smallest < resampling.few:
        few = resampling.few
        return None, (
            deferred("fewer than {few} pairs", few=few)
            if of == "pairs"
            else deferred("fewer than {few} items", few=few)
        )
    ends = percentile_interval(resamples, resampling.confidence, resampling.undefined_at_most)
    defined = resamples[~np.isnan(resamples)]
    if ends is None:
        undefined = len(resamples) - len(defined)
        return None, deferred(
            "{undefined} of {n} resamples have no value, too much in them is alike",
            undefined=undefined,
            n=len(resamples),
        )
    if np.ptp(defined) <= 1e-12 * max(1.0, float(np.abs(defined).max())):
        return None, deferred("every resample gave the same value")
    return ends, ""


def _finite(number: Any, name: str) -> float:
    plain = float(number)
    if not math.isfinite(plain):
        raise ValueError(f"{name} is {plain}; a statistic without a value is None, with a reason")
    return plain


def _plain(given: Any) -> Any:
    """Return a value ready for JSON: no array, no numpy number, no NaN."""
    if isinstance(given, Mapping):
        return {str(name): _plain(value) for name, value in given.items()}
    if isinstance(given, (list, tuple, np.ndarray)):
        return [_plain(value) for value in given]
    if isinstance(given, np.generic):
        given = given.item()
    return _finite(given, "a detail") if isinstance(given, float) else given


def _two(number: float) -> str:
    text = f"{number:.2f}"
    return text[1:] if text == "-0.00" else text.replace("-", "\N{MINUS SIGN}")
