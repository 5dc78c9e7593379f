"""Power of a planned session by simulation: the chance that its primary comparison shows a true difference, with the
analysis that the report makes. Also the simulated scores themselves, for benchmarks and tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.language import tr
from agent.processes import one_thread
from agent.statistics import FloatArray, wilson
from reviewer.agreement.mixed import MIN_SCORERS, MIN_SPECTRA, Ratings, fit
from reviewer.blind.plan import SCORES, PlanError

CENTRE = 3.0
"""Mean score of the sources together."""


@dataclass(frozen=True)
class Spread:
    """Standard deviations of the simulated scores, in points of the scale before rounding.

    Of spectra (how hard they are), of traces of one spectrum, of scorers (severity), of a scorer's taste for a source,
    and of what is left. The defaults are assumptions; a pilot session's report has them for real scorers.
    """

    spectrum: float = 0.6
    trace: float = 0.5
    scorer: float = 0.4
    taste: float = 0.1
    rest: float = 0.7


DEFAULT = Spread()


@dataclass(frozen=True)
class Power:
    """The share of simulated sessions whose interval excludes 0, with Wilson's 95 % interval of that share."""

    power: float
    low: float
    high: float
    difference: float
    simulations: int
    sentence: str

    def to_json(self) -> dict[str, Any]:
        names = ("power", "low", "high", "difference", "simulations", "sentence")
        return {name: getattr(self, name) for name in names}


def power(
    spectra: int,
    scorers: int,
    each: int,
    difference: float = 0.3,
    sources: int = 2,
    simulations: int = 200,
    seed: int = 1,
    spread: Spread = DEFAULT,
) -> Power:
    """Simulate sessions on the same spectra and count how often the primary comparison shows the difference.

    :param spectra: number of spectra, each with a trace of every source
    :param each: scorers per spectrum
    :param difference: true mean of the first source less that of the second, in points of the scale
    :param sources: 2 or more; only the scores of the two sources of the primary comparison are analysed
    :raises PlanError: too few spectra or scorers for an interval, ``each`` does not fit, or a number below its least
    """
    if spectra < MIN_SPECTRA:
        raise PlanError(
            "spectra",
            str(spectra),
            tr("{min_spectra} or more; with fewer no interval is given", min_spectra=MIN_SPECTRA),
        )
    if scorers < MIN_SCORERS:
        raise PlanError(
            "scorers",
            str(scorers),
            tr("{min_scorers} or more; with fewer no claim is made about scorers", min_scorers=MIN_SCORERS),
        )
    if not 1 <= each <= scorers:
        raise PlanError("each", str(each), tr("1 to {most}", most=scorers))
    if sources < 2:
        raise PlanError("sources", str(sources), tr("two or more"))
    if simulations < 1:
        raise PlanError("simulations", str(simulations), tr("one or more"))
    rng = np.random.default_rng([seed, spectra, scorers, each, sources])
    hits = 0
    for _ in range(simulations):
        who = panel(rng, scorers, sources, spread)
        ratings = simulated(rng, spectra, who, each, (difference, *(0.0,) * (sources - 1)), spread=spread)
        with one_thread():
            contrast = fit(ratings.of("A", "B")).difference("A", "B")
        hits += contrast.low is not None and contrast.high is not None and not contrast.low <= 0 <= contrast.high
    share = hits / simulations
    low, high = wilson(share, simulations)
    values: dict[str, Any] = {
        "scorers": scorers,
        "each": each,
        "spectra": spectra,
        "sources": sources,
        "share": 100 * share,
        "low": 100 * low,
        "high": 100 * high,
        "difference": difference,
    }
    if each < scorers:
        sentence = tr(
            "{scorers} scorers, {each} per spectrum, {spectra} spectra, {sources} sources: {share:.0f} % ({low:.0f} to "
            "{high:.0f}) chance to show a difference of {difference:g}.",
            **values,
        )
    else:
        sentence = tr(
            "{scorers} scorers, {spectra} spectra, {sources} sources: {share:.0f} % ({low:.0f} to {high:.0f}) chance "
            "to show a difference of {difference:g}.",
            **values,
        )
    return Power(share, low, high, difference, simulations, sentence)


@dataclass(frozen=True)
class Panel:
    """Simulated scorers: how severe each is, (n_scorers,), and their taste for each source, (n_scorers, n_sources)."""

    severity: FloatArray
    taste: FloatArray


def panel(rng: np.random.Generator, scorers: int, sources: int, spread: Spread = DEFAULT) -> Panel:
    """Return new scorers."""
    return Panel(rng.normal(0, spread.scorer, scorers), rng.normal(0, spread.taste, (scorers, sources)))


def simulated(
    rng: np.random.Generator,
    spectra: int,
    who: Panel,
    each: int,
    levels: Sequence[float],
    missing: float = 0.0,
    spread: Spread = DEFAULT,
) -> Ratings:
    """Return the scores of one simulated session, whole numbers of the scale; sources are A, B, …

    :param each: scorers per spectrum, in balanced blocks
    :param levels: of each source, added to ``CENTRE``
    :param missing: share of answers "cannot tell", at random
    """
    scorers, sources = who.taste.shape
    values: FloatArray = (
        CENTRE
        + np.asarray(levels, dtype=float)
        + who.severity[:, None]
        + who.taste
        + rng.normal(0, spread.spectrum, (spectra, 1, 1))
        + rng.normal(0, spread.trace, (spectra, 1, sources))
        + rng.normal(0, spread.rest, (spectra, scorers, sources))
    )
    values = np.clip(np.rint(values), SCORES[0], SCORES[-1])
    keep = rng.random(values.shape) >= missing
    if each < scorers:
        keep &= _balanced_blocks(rng, spectra, scorers, each)[:, :, None]
    i, j, s = np.nonzero(keep)
    names = [chr(ord("A") + n) for n in range(sources)]
    return Ratings(
        values[keep],
        spectra=tuple(map(str, i)),
        items=tuple(f"{spectrum}/{source}" for spectrum, source in zip(i, s, strict=True)),
        scorers=tuple(map(str, j)),
        sources=tuple(names[source] for source in s),
    )


def _balanced_blocks(rng: np.random.Generator, spectra: int, scorers: int, each: int) -> NDArray[np.bool_]:
    """(spectra, scorers): who scores which spectrum. The scorer with the smallest load comes first, then the one with
    the fewest spectra shared with those already chosen, then a random one.
    """
    blocks = np.zeros((spectra, scorers), dtype=bool)
    loads, shared = np.zeros(scorers), np.zeros((scorers, scorers))
    for block in blocks:
        for _ in range(each):
            best = np.lexsort((rng.random(scorers), shared @ block, np.where(block, np.inf, loads)))[0]
            shared[best] += block
            shared[:, best] += block
            block[best] = True
        loads += block
    return blocks
