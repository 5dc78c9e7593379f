"""Preferences between two traces of a spectrum: rates, and position bias. Strengths of sources are in ``davidson``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from agent.statistics import DEFAULT, FloatArray, Resampling, wilson
from reviewer.agreement.clustered import SOURCES, TwoWay, two_way, variance
from reviewer.agreement.distribution import by_item, share
from reviewer.agreement.mixed import MIN_SCORERS
from reviewer.agreement.values import POPULATION_BOTH, POPULATION_SPECTRA, Estimate, ScoresError

Verdict = Literal["a", "b", "equal", "both bad"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

Side = Literal["left", "right", "equal", "both bad"]
SIDES: tuple[Side, ...] = get_args(Side)

_RATE = "Preference: the share of all answers to pairs of two sources that were {}; the interval resamples pairs."
_DECIDED = "Preference among decided answers: the share that chose the first source, ties of both kinds left out. "
_DECIDED_BY_PAIRS = (
    "The interval resamples pairs and takes the scorers as given. p is against 1/2: Student's t on the log odds, "
    "clustered by pair; with Wilson's interval the exact binomial test, each pair counted once."
)
_DECIDED_BY_BOTH = (
    "The interval is Wilson's with Student's t, and p (against 1/2) is of the same test, for as many independent "
    "answers as would have the same standard error (Korn & Graubard 1998, Survey Methodology 24, 193); pairs and "
    "scorers both count as samples. "
)
_POSITION = (
    "Position bias: the share of decided answers that chose the left trace; 0.5 is none, as each source is on the left "
    "as often as on the right. The interval resamples pairs. p is the two-sided exact binomial test against 0.5, which "
    "takes answers to be independent."
)


@dataclass(frozen=True)
class Votes:
    """Answers to pairs, one place per answer in each array; several answers to a pair share its name.

    :param pairs: which pair was shown: the unit that is resampled
    :param a: the source of one trace, ``b`` of the other; left and right are already undone
    :param verdicts: which of the two was better, or which kind of tie
    :param scorers: who answered; empty if that is not known, or the same for all
    :raises ScoresError: arrays of different lengths, an unknown verdict, a source against itself
    """

    pairs: tuple[str, ...]
    a: tuple[str, ...]
    b: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    scorers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        fields = ("pairs", "a", "b", "verdicts", *(("scorers",) if self.scorers else ()))
        lengths = {name: len(getattr(self, name)) for name in fields}
        if len(set(lengths.values())) > 1:
            raise ScoresError(f"preferences: lengths {lengths}; they must be the same")
        refuse_unknown(self.verdicts, VERDICTS)
        if same := next((a for a, b in zip(self.a, self.b, strict=True) if a == b), None):
            raise ScoresError(f"preferences: {same!r} is on both sides of a pair; expected two sources")

    @property
    def sources(self) -> tuple[str, ...]:
        """Return all sources that were compared, sorted."""
        return tuple(sorted({*self.a, *self.b}))

    def between(self, source: str, other: str) -> Votes:
        """Return the comparisons of two sources, with ``source`` as "a"."""
        turned: dict[Verdict, Verdict] = {"a": "b", "b": "a"}
        kept = [i for i, both in enumerate(zip(self.a, self.b, strict=True)) if set(both) == {source, other}]
        return Votes(
            tuple(self.pairs[i] for i in kept),
            (source,) * len(kept),
            (other,) * len(kept),
            tuple(
                self.verdicts[i] if self.a[i] == source else turned.get(self.verdicts[i], self.verdicts[i])
                for i in kept
            ),
            tuple(self.scorers[i] for i in kept) if self.scorers else (),
        )


@dataclass(frozen=True)
class Preference:
    """Preference rates of one source against another.

    :param wins: share of all answers; so are ``losses``, ``equal`` and ``both_bad``, which add up to 1
    :param preferred: wins among decided answers, wins and losses
    """

    source: str
    other: str
    wins: Estimate
    losses: Estimate
    equal: Estimate
    both_bad: Estimate
    preferred: Estimate


def preference_rate(votes: Votes, source: str, other: str, resampling: Resampling = DEFAULT) -> Preference:
    """Return how often one source was chosen over another, with ties of either kind separate.

    n is the answers; ``detail`` has the counts and the number of pairs, by which the interval is resampled
    (Wilson's where resamples say nothing: see ``distribution.share``). Undefined when the two never met;
    ``preferred`` also when every answer was a tie.

    With at least ``MIN_SCORERS`` scorers, the interval of ``preferred`` holds for new spectra and new scorers; else,
    and where all decided answers are the same, for new spectra and these scorers. ``detail["population"]`` says which,
    ``detail["p_value"]`` is two-sided against 1/2. The other rates are always of these scorers.
    """
    met = votes.between(source, other)
    counts = {verdict: met.verdicts.count(verdict) for verdict in VERDICTS}
    detail = {
        "wins": counts["a"],
        "losses": counts["b"],
        "equal": counts["equal"],
        "both_bad": counts["both bad"],
        "pairs": len(set(met.pairs)),
        "population": POPULATION_SPECTRA,
    }

    def rate(words: str, hit: Verdict) -> Estimate:
        hits, every = by_item(met.pairs, chosen(met.verdicts, hit), np.ones(len(met.pairs)))
        definition = _RATE.format(words)
        none = f"{source} and {other} were never compared"
        return share(hits, every, definition, resampling, none=none, n=len(met.pairs), n_of="answers", detail=detail)

    return Preference(
        source,
        other,
        rate("for the first", "a"),
        rate("for the second", "b"),
        rate("ties, equal", "equal"),
        rate("ties, both bad", "both bad"),
        _preferred(met, source, other, detail, resampling),
    )


def _preferred(met: Votes, source: str, other: str, detail: dict[str, Any], resampling: Resampling) -> Estimate:
    """Return the share of wins among decided answers, from the comparisons of these two sources."""
    from scipy.stats import t

    definition = _DECIDED
    kept = np.flatnonzero(chosen(met.verdicts, "a", "b"))
    won = chosen([met.verdicts[i] for i in kept], "a").astype(float)
    pairs = [met.pairs[i] for i in kept]
    both = _over_both(won, pairs, [met.scorers[i] for i in kept] if met.scorers else [], resampling)
    if both is not None:
        value, error, freedom = float(won.mean()), float(both.errors[0]), float(both.freedom[0])
        independent = 1 / (error**2 * value * (1 - value))
        low, high = wilson(value, independent, z=float(both.quantiles(resampling.confidence)[0]))
        known = detail | {
            "interval": "Wilson with Student's t, by pair and scorer",
            "population": POPULATION_BOTH,
            "scorers": both.scorers,
            "p_value": 2 * t.sf(2 * abs(value - 0.5) * np.sqrt(independent), freedom),
            "standard_error_log_odds": error,
            "independent_answers": independent,
            "degrees_of_freedom": freedom,
        }
        words = definition + _DECIDED_BY_BOTH + SOURCES
        return Estimate(value, low, high, len(won), words, "", known, "decided answers")
    wins, decided = by_item(pairs, won, np.ones(len(won)))
    share_won = share(
        wins,
        decided,
        definition + _DECIDED_BY_PAIRS,
        resampling,
        none="every answer was a tie" if met.pairs else f"{source} and {other} were never compared",
        n=len(won),
        n_of="decided answers",
        detail=detail,
    )
    if share_won.value is None:
        return share_won
    return replace(share_won, detail={**share_won.detail, "p_value": _p_by_pairs(won, pairs, share_won)})


def _over_both(won: FloatArray, pairs: Sequence[str], scorers: Sequence[str], resampling: Resampling) -> TwoWay | None:
    """Return the standard error of the log odds, None with too few scorers or pairs or where nothing varies."""
    few = len(set(scorers)) < MIN_SCORERS or len(set(pairs)) < resampling.few
    if few or won.min() == won.max():
        return None
    variances = two_way(_of_log_odds(won), pairs, scorers)
    return variances if variances.errors[0] > 0 else None


def _of_log_odds(won: FloatArray) -> FloatArray:
    """(n_answers, 1): what each answer adds to the log odds of the share of wins."""
    rate = won.mean()
    return cast(FloatArray, ((won - rate) / (len(won) * rate * (1 - rate)))[:, None])


def _p_by_pairs(won: FloatArray, pairs: Sequence[str], estimate: Estimate) -> float:
    from scipy.stats import binomtest, t

    n, rate = len(set(pairs)), float(won.mean())
    if str(estimate.detail["interval"]).startswith("Wilson") or (spread := variance(_of_log_odds(won), pairs)[0]) <= 0:
        return float(binomtest(round(rate * n), n).pvalue)
    return float(2 * t.sf(abs(np.log(rate / (1 - rate))) / np.sqrt(spread), n - 1))


def position_bias(pairs: Sequence[str], sides: Sequence[Side], resampling: Resampling = DEFAULT) -> Estimate:
    """Return how often the left trace won among answers that chose one; n is their number.

    ``detail["p_value"]`` is scipy's exact binomial test. Undefined when no answer chose a side.

    :param pairs: (n_answers,), the pair that was shown
    :param sides: (n_answers,), as it was shown, not mapped to sources
    :raises ScoresError: arrays of different lengths, or an unknown side
    """
    from scipy.stats import binomtest

    refuse_unknown(sides, SIDES)
    same_length(pairs, sides)
    left, decided = by_item(pairs, chosen(sides, "left"), chosen(sides, "left", "right"))
    n = int(decided.sum())
    detail: dict[str, float] = {"left": int(left.sum()), "right": n - int(left.sum())}
    if n:
        detail["p_value"] = float(binomtest(int(left.sum()), n).pvalue)
    none = "no answer chose a side"
    return share(left, decided, _POSITION, resampling, none=none, n=n, n_of="decided answers", detail=detail)


def chosen(verdicts: Sequence[str], *words: str) -> NDArray[np.bool_]:
    """(n_answers,): which answers are one of these."""
    return np.array([verdict in words for verdict in verdicts], dtype=bool)


def same_length(pairs: Sequence[str], answers: Sequence[object]) -> None:
    """Check that there is one answer per pair. :raises ScoresError: there is not"""
    if len(pairs) != len(answers):
        raise ScoresError(f"preferences: {len(pairs)} pairs and {len(answers)} answers; expected one each")


def refuse_unknown(given: Sequence[str], known: Sequence[str]) -> None:
    """Check the answers. :raises ScoresError: one is unknown"""
    if strange := next((word for word in given if word not in known), None):
        raise ScoresError(f"preferences: {strange!r} is no answer; they are {', '.join(known)}")
