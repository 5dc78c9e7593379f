"""Which of two traces of a spectrum is better: how often each source won, and whether the left side did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from reviewer.agreement.bootstrap import DEFAULT, Resampling
from reviewer.agreement.means import by_item, share
from reviewer.agreement.values import Estimate, ScoresError

Verdict = Literal["a", "b", "equal", "both bad"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

Side = Literal["left", "right", "equal", "both bad"]
SIDES: tuple[Side, ...] = get_args(Side)

_RATE = (
    "Preference: the share of all answers to pairs of {} and {} that were {}; the interval resamples pairs."
)
_DECIDED = (
    "Preference among decided answers: the share that chose {} over {}, ties of both kinds left out; "
    "the interval resamples pairs."
)
_POSITION = (
    "Position bias: the share of decided answers that chose the left trace; 0.5 is none, as sides are "
    "drawn by coin. p is the two-sided exact binomial test against 0.5, which takes answers to be "
    "independent."
)


@dataclass(frozen=True)
class Votes:
    """Answers to pairs, one place in each array for each answer; several answers to a pair share its name.

    :param pairs: which pair was shown: the unit that is resampled
    :param a: the source of one trace, ``b`` of the other; left and right are already undone
    :param verdicts: which of the two was better, or which kind of tie
    :raises ScoresError: arrays of different lengths, an unknown verdict, a source against itself
    """

    pairs: tuple[str, ...]
    a: tuple[str, ...]
    b: tuple[str, ...]
    verdicts: tuple[Verdict, ...]

    def __post_init__(self) -> None:
        lengths = {name: len(getattr(self, name)) for name in ("pairs", "a", "b", "verdicts")}
        if len(set(lengths.values())) > 1:
            raise ScoresError(f"preferences: lengths {lengths}; they must be the same")
        refuse_unknown(self.verdicts, VERDICTS)
        if same := next((a for a, b in zip(self.a, self.b, strict=True) if a == b), None):
            raise ScoresError(f"preferences: {same!r} is on both sides of a pair; two sources are wanted")

    @property
    def sources(self) -> tuple[str, ...]:
        """Everybody who was compared, sorted."""
        return tuple(sorted({*self.a, *self.b}))

    def between(self, source: str, other: str) -> tuple[tuple[str, ...], tuple[Verdict, ...]]:
        """Pairs and verdicts of the comparisons of two sources, with ``source`` as "a"."""
        turned: dict[Verdict, Verdict] = {"a": "b", "b": "a"}
        kept = [
            (pair, verdict if a == source else turned.get(verdict, verdict))
            for pair, a, b, verdict in zip(self.pairs, self.a, self.b, self.verdicts, strict=True)
            if {a, b} == {source, other}
        ]
        return tuple(pair for pair, _ in kept), tuple(verdict for _, verdict in kept)


@dataclass(frozen=True)
class Preference:
    """How one source fares against another.

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
    """How often one source was chosen over another, ties of either kind apart.

    n is the answers; ``detail`` has the counts and the number of pairs, by which the interval is resampled
    (Wilson's where resamples say nothing: see ``means.share``). Undefined when the two never met;
    ``preferred`` also when every answer was a tie.
    """
    pairs, verdicts = votes.between(source, other)
    counts = {verdict: verdicts.count(verdict) for verdict in VERDICTS}
    detail = {
        "wins": counts["a"],
        "losses": counts["b"],
        "equal": counts["equal"],
        "both_bad": counts["both bad"],
        "pairs": len(set(pairs)),
    }

    def rate(words: str, hit: Verdict) -> Estimate:
        hits, every = by_item(pairs, chosen(verdicts, hit), np.ones(len(pairs)))
        definition = _RATE.format(source, other, words)
        none = f"{source} and {other} were never compared"
        return share(
            hits, every, definition, resampling, none=none, n=len(pairs), n_of="answers", detail=detail
        )

    wins, decided = by_item(pairs, chosen(verdicts, "a"), chosen(verdicts, "a", "b"))
    every_tie = "every answer was a tie" if pairs else f"{source} and {other} were never compared"
    preferred = share(
        wins,
        decided,
        _DECIDED.format(source, other),
        resampling,
        none=every_tie,
        n=counts["a"] + counts["b"],
        n_of="decided answers",
        detail=detail,
    )
    return Preference(
        source,
        other,
        rate(f"for {source}", "a"),
        rate(f"for {other}", "b"),
        rate("ties, equal", "equal"),
        rate("ties, both bad", "both bad"),
        preferred,
    )


def position_bias(pairs: Sequence[str], sides: Sequence[Side], resampling: Resampling = DEFAULT) -> Estimate:
    """How often the left trace won, among answers that chose one; n is how many did.

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


def chosen(verdicts: Sequence[str], *wanted: str) -> NDArray[np.bool_]:
    """(n_answers,): which answers are one of these."""
    return np.array([one in wanted for one in verdicts], dtype=bool)


def same_length(pairs: Sequence[str], answers: Sequence[object]) -> None:
    """:raises ScoresError: not one answer for each"""
    if len(pairs) != len(answers):
        raise ScoresError(f"preferences: {len(pairs)} pairs and {len(answers)} answers; one each is wanted")


def refuse_unknown(found: Sequence[str], known: Sequence[str]) -> None:
    """:raises ScoresError: something that is not an answer"""
    if strange := next((one for one in found if one not in known), None):
        raise ScoresError(f"preferences: {strange!r} is no answer; they are {', '.join(known)}")
