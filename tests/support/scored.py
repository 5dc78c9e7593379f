"""Scores for tests of the statistics: published tables and random tables with gaps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from agent.statistics import FloatArray, Resampling
from reviewer.agreement.mixed import Ratings
from reviewer.agreement.values import Estimate, Scores
from reviewer.blind.power import Spread, panel, simulated

NONE = float("nan")
QUICK = Resampling(resamples=60)

# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C: four observers, twelve units.
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
        [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
    ]
).T

# Shrout & Fleiss 1979, Psychological Bulletin 86, 420, table 2: six targets, four judges.
SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float
)


def table(values: FloatArray | Sequence[Sequence[float]]) -> Scores:
    """(n_items, n_raters), with names i0, i1, ... and S1, S2, ..."""
    array = np.array(values, dtype=float)
    items = tuple(f"i{i}" for i in range(array.shape[0]))
    return Scores(items, tuple(f"S{i + 1}" for i in range(array.shape[1])), array)


def campaign(items: int = 100, raters: int = 6, seed: int = 1) -> Scores:
    """Scores as in a session: items differ, scorers have errors and different severity."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(3.8, 0.8, items)[:, None]
    given = quality + rng.normal(0, 0.7, (items, raters)) + np.linspace(-0.3, 0.3, raters)
    return table(np.clip(np.rint(given), 0, 5))


def tables(least_items: int = 0, least_raters: int = 0) -> st.SearchStrategy[FloatArray]:
    """Scores from 0 to 5 with gaps, in tables small enough that degenerate cases occur."""
    shapes = st.tuples(st.integers(least_items, 8), st.integers(least_raters, 4))
    cell = st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 5.0, NONE, NONE])
    return shapes.flatmap(lambda shape: arrays.arrays(float, shape, elements=cell))


def of_equal(estimate: Estimate, other: Estimate) -> bool:
    """Return whether both have the same value or both are undefined."""
    if estimate.value is None or other.value is None:
        return estimate.value is other.value
    return abs(estimate.value - other.value) < 1e-9


def simulated_ratings(
    seed: int, spectra: int, scorers: int, missing: float = 0.0, difference: float = 0.0, **spread: float
) -> Ratings:
    """Scores of a simulated session with two sources, A and B."""
    rng, sizes = np.random.default_rng(seed), Spread(**spread)
    return simulated(rng, spectra, panel(rng, scorers, 2, sizes), scorers, (difference, 0.0), missing, sizes)
