"""The mixed model of a session's scores: its input, and means and differences of sources for both populations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from reviewer.agreement.mixed import MixedFit, Ratings, fit
from reviewer.agreement.values import POPULATION_BOTH, POPULATION_SPECTRA, Estimate
from reviewer.blind import results as tables
from reviewer.blind.plan import Dimension
from reviewer.blind.report.names import Names
from reviewer.blind.results import Results, ShownTrace

POPULATION_JUDGES = "spectra like these, these judges"
IN_WORDS = {
    POPULATION_BOTH: "for spectra and scorers like these",
    POPULATION_SPECTRA: "for spectra like these and only these scorers",
    POPULATION_JUDGES: "for spectra like these and only these judges",
}

_DIFFERENCE = (
    "Difference of two sources' mean scores, the first less the second, these scorers: by the same model with scorers "
    "fixed, averaged over them, and spectra and traces random."
)
_MEAN = (
    "Mean score of a source, these scorers: by the same model with scorers fixed, averaged over them, and spectra and "
    "traces random."
)


@dataclass(frozen=True)
class ByPopulation:
    """One number twice: for spectra and scorers like these, and for spectra like these and only these scorers."""

    new_scorers: Estimate
    these_scorers: Estimate

    @property
    def widest(self) -> Estimate:
        """Return the number for the widest population for which it has an interval; where it has none, the first."""
        new = self.new_scorers
        return self.these_scorers if new.low is None and self.these_scorers.low is not None else new


def population(estimate: Estimate) -> str:
    """Return what an interval holds for; empty where there is none. A bootstrap takes the scorers as given."""
    if estimate.low is None:
        return ""
    return str(estimate.detail.get("population", POPULATION_SPECTRA))


def p_value(estimate: Estimate) -> float | None:
    """Return the two-sided p value; None where there is none."""
    p = estimate.detail.get("p_value")
    return None if p is None else float(p)


def without_interval(estimate: Estimate, reason: str) -> Estimate:
    """Return the value alone, with the reason why no interval is given."""
    return (
        estimate
        if estimate.value is None
        else Estimate(
            estimate.value, None, None, estimate.n, estimate.definition, reason, estimate.detail, estimate.n_of
        )
    )


def spectrum_unit(trace: ShownTrace) -> str:
    """Return the unit that is sampled: spectrum and task, or the item where there is no spectrum."""
    return f"item {trace.item}" if trace.spectrum is None else f"{trace.task} {trace.spectrum}"


def spectrum_units(results: Results, items: Sequence[str]) -> list[str]:
    """(n_items,): the unit of each item, which goes by its number."""
    units = {trace.key: spectrum_unit(trace) for trace in results.traces.values()}
    return [units[item] for item in items]


def ratings(results: Results, names: Names, dimension: Dimension) -> Ratings:
    """Return the scores that count, with scorers by their names in the report."""
    table = tables.score_table(results, dimension)
    traces = {trace.key: trace for trace in results.traces.values()}
    rows, columns = np.nonzero(table.given)
    of = [traces[table.items[row]] for row in rows]
    return Ratings(
        table.values[rows, columns],
        tuple(map(spectrum_unit, of)),
        tuple(table.items[row] for row in rows),
        tuple(names.scorers[table.raters[column]] for column in columns),
        tuple(rated.source for rated in of),
    )


def fitted(scores: Ratings, these_scorers: bool = False) -> MixedFit:
    """Return the fitted model; one of the last fits again, if it was of the same scores.

    :raises ScoresError: there is no score
    """
    values = tuple(scores.values.tolist())
    return _fitted(values, scores.spectra, scores.items, scores.scorers, scores.sources, these_scorers)


@lru_cache(maxsize=64)
def _fitted(values: tuple[float, ...], *fields: Any) -> MixedFit:
    *names, these_scorers = fields
    return fit(Ratings(np.array(values), *names), these_scorers)


def differences(scores: Ratings, first: str, second: str) -> ByPopulation:
    """Return the difference of two sources from the scores of these two alone."""
    kept = scores.of(first, second)
    missing = [source for source in (first, second) if source not in kept.sources]
    if missing:
        reason = f"no trace of {' and '.join(missing)} has a score"
        none = Estimate.undefined(reason, len(set(kept.spectra)), _DIFFERENCE, n_of="spectra")
        return ByPopulation(none, none)
    these = fitted(kept, these_scorers=True).difference(first, second)
    return ByPopulation(fitted(kept).difference(first, second), replace(these, definition=_DIFFERENCE))


def means(scores: Ratings, sources: Sequence[str]) -> dict[str, ByPopulation]:
    """Return the mean of each source."""
    none = Estimate.undefined("nobody gave a score", 0, _MEAN, n_of="spectra")
    if not len(scores.values):
        return {source: ByPopulation(none, none) for source in sources}
    fit, these = fitted(scores), fitted(scores, these_scorers=True)
    return {
        source: ByPopulation(_mean(fit, scores, source), replace(_mean(these, scores, source), definition=_MEAN))
        if source in fit.sources
        else ByPopulation(none, none)
        for source in sources
    }


def _mean(fit: MixedFit, scores: Ratings, source: str) -> Estimate:
    """Return the mean with the number of the source's own spectra, and without the p value against 0."""
    mean = fit.mean(source)
    detail = {name: value for name, value in mean.detail.items() if name != "p_value"}
    return replace(mean, n=len(set(scores.of(source).spectra)), detail=detail)
