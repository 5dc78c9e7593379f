"""The summary of a session in a few sentences that claim no more than the intervals allow."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.agreement.values import Estimate
from reviewer.blind.plan import Dimension
from reviewer.blind.report.figures import two_decimals, value_with_interval
from reviewer.blind.report.judges import JudgeStatistics
from reviewer.blind.report.statistics import Difference, DimensionStatistics, PairStatistics
from reviewer.blind.report.tables import Statistics
from reviewer.blind.results import Results

TITLES: dict[Dimension, str] = {"coherence": "Coherence", "consistency": "Physical consistency"}

TENTATIVE, RELIABLE = 0.667, 0.8
"""Krippendorff 2004, Content Analysis, 2nd edition, page 241: below the first no conclusions from such data,
between the two tentative ones.
"""


def summary(results: Results, found: Statistics) -> tuple[str, ...]:
    """Return the sentences, the most important first."""
    return (
        _size(results),
        *(sentence for one in found.scores for sentence in _of_scores(one)),
        *(() if found.pairs is None else _of_pairs(found.pairs)),
        *(sentence for one in found.judges for sentence in _of_judge(one)),
    )


def _size(results: Results) -> str:
    questions = [one for kind in results.plan.kinds for one in results.first(kind)]
    answered = [one for one in questions if one.answer is not None]
    scorers = {one.scorer for one in answered}
    if not answered:
        return f"No result: found no answer to any of {_many(len(questions), 'question')}."
    traces = {version for one in answered for version in one.shown}
    return (
        f"{_many(len(scorers), 'person', 'people')} gave {len(answered)} of {len(questions)} answers about "
        f"{_many(len(traces), 'trace')}; repeats and gold items are not counted here."
    )


def _of_scores(found: DimensionStatistics) -> Iterator[str]:
    title = TITLES[found.dimension]
    for apart in found.differences:
        yield f"{title}: {_difference(apart)}"
    if len(found.differences) > 1:
        yield (
            f"{title}: {len(found.differences)} differences were tested, and their intervals are not "
            "corrected for that."
        )
    yield f"{title}: {_alpha(found.agreement[''].alpha)}"


def _difference(apart: Difference) -> str:
    one, first, second = apart.best, apart.first, apart.second
    how = ", on the same spectra" if apart.paired.value is not None else ""
    if one.value is None:
        return f"{first} and {second} cannot be compared: {one.reason}."
    if one.low is None or one.high is None:
        return (
            f"the mean of {first} less that of {second} is {two_decimals(one.value)}{how}; no interval can be given "
            f"({one.reason}), so nothing is claimed."
        )
    if one.low > 0 or one.high < 0:
        above, below = (first, second) if one.low > 0 else (second, first)
        size = f"the mean of {first} less that of {second} is {value_with_interval(one)}"
        return f"{above} was scored higher than {below}{how}: {size}."
    return (
        f"no difference between {first} and {second} is shown{how}: {value_with_interval(one)}; the interval "
        "includes 0, which does not show that they are alike."
    )


def _alpha(alpha: Estimate) -> str:
    if alpha.value is None:
        return f"how far scorers agree is undefined: {alpha.reason}."
    if alpha.low is None or alpha.high is None:
        return f"Krippendorff's alpha is {two_decimals(alpha.value)}, without an interval ({alpha.reason})."
    start = f"scorers agree with Krippendorff's alpha {value_with_interval(alpha)}; "
    if alpha.high < TENTATIVE:
        return f"{start}all of the interval is below {TENTATIVE}, too little for conclusions by his rule."
    if alpha.low >= RELIABLE:
        return f"{start}all of the interval is at {RELIABLE} or above, reliable by his rule."
    if alpha.low >= TENTATIVE:
        return f"{start}by his rule conclusions are tentative ({TENTATIVE} or above, not surely {RELIABLE})."
    return f"{start}the interval reaches below {TENTATIVE}, the least that his rule allows tentative conclusions."


def _of_pairs(found: PairStatistics) -> Iterator[str]:
    for rate in found.rates:
        one = rate.preferred
        if one.value is None or one.low is None or one.high is None:
            yield f"Preference: {rate.source} against {rate.other} is undefined: {one.reason}."
            continue
        of = f"of {one.n} decided answers {_percent(one)} chose {rate.source} over {rate.other}"
        ties = one.detail["equal"] + one.detail["both_bad"]
        aside = f"; {_many(ties, 'tie')} aside"
        if one.low > 0.5 or one.high < 0.5:
            won = rate.source if one.low > 0.5 else rate.other
            yield f"Preference: {won} was preferred: {of}{aside}."
        else:
            yield f"Preference: neither is shown to be preferred: {of}{aside}; the interval includes 50 %."
    bias = found.position
    if bias.low is not None and bias.high is not None and not bias.low <= 0.5 <= bias.high:
        side = "left" if bias.low > 0.5 else "right"
        yield f"Scorers leaned to the {side} side: {_percent(bias)} of decided answers chose the left trace."


def _of_judge(found: JudgeStatistics) -> Iterator[str]:
    for dimension, one in found.scores.items():
        title = TITLES[dimension]
        rank = one.correlation
        if rank.value is None or rank.low is None:
            yield f"Judge {found.judge}, {title.lower()}: rank correlation with people: {rank}."
            continue
        shown = "" if rank.low > 0 else "; the interval does not exclude that there is none"
        yield f"Judge {found.judge}, {title.lower()}: rank correlation with people {value_with_interval(rank)}{shown}."
    if found.pairs is not None and found.pairs.flips.value is not None:
        yield (
            f"Judge {found.judge} changed its choice with the order in {_percent(found.pairs.flips)} of "
            f"{_many(found.pairs.flips.n, 'pair')}; these count as ties."
        )


def _percent(one: Estimate) -> str:
    """``63 % (51 to 74)``."""
    if one.value is None:
        return str(one)
    ends = "" if one.low is None or one.high is None else f" ({100 * one.low:.0f} to {100 * one.high:.0f})"
    return f"{100 * one.value:.0f} %{ends}"


def _many(count: int, one: str, several: str = "") -> str:
    return f"{count} {one if count == 1 else several or one + 's'}"
