"""Preferences between two traces of a spectrum: rates, position bias, and Bradley-Terry strengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from agent.statistics import DEFAULT, FloatArray, Picks, Resampling, resampled, times_sampled
from reviewer.agreement.distribution import by_item, share
from reviewer.agreement.values import Estimate, ScoresError, with_interval

Verdict = Literal["a", "b", "equal", "both bad"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

Side = Literal["left", "right", "equal", "both bad"]
SIDES: tuple[Side, ...] = get_args(Side)

_RATE = "Preference: the share of all answers to pairs of {} and {} that were {}; the interval resamples pairs."
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
    """Answers to pairs, one place per answer in each array; several answers to a pair share its name.

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
            raise ScoresError(f"preferences: {same!r} is on both sides of a pair; expected two sources")

    @property
    def sources(self) -> tuple[str, ...]:
        """Return all sources that were compared, sorted."""
        return tuple(sorted({*self.a, *self.b}))

    def between(self, source: str, other: str) -> tuple[tuple[str, ...], tuple[Verdict, ...]]:
        """Return pairs and verdicts of the comparisons of two sources, with ``source`` as "a"."""
        turned: dict[Verdict, Verdict] = {"a": "b", "b": "a"}
        kept = [
            (pair, verdict if a == source else turned.get(verdict, verdict))
            for pair, a, b, verdict in zip(self.pairs, self.a, self.b, self.verdicts, strict=True)
            if {a, b} == {source, other}
        ]
        return tuple(pair for pair, _ in kept), tuple(verdict for _, verdict in kept)


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
        return share(hits, every, definition, resampling, none=none, n=len(pairs), n_of="answers", detail=detail)

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


def chosen(verdicts: Sequence[str], *wanted: str) -> NDArray[np.bool_]:
    """(n_answers,): which answers are one of these."""
    return np.array([one in wanted for one in verdicts], dtype=bool)


def same_length(pairs: Sequence[str], answers: Sequence[object]) -> None:
    """Check that there is one answer per pair. :raises ScoresError: there is not"""
    if len(pairs) != len(answers):
        raise ScoresError(f"preferences: {len(pairs)} pairs and {len(answers)} answers; expected one each")


def refuse_unknown(found: Sequence[str], known: Sequence[str]) -> None:
    """Check the answers. :raises ScoresError: one is unknown"""
    if strange := next((one for one in found if one not in known), None):
        raise ScoresError(f"preferences: {strange!r} is no answer; they are {', '.join(known)}")


ALPHA = 0.1
"""Strength of the regularisation. Ten wins of ten then make a lead of 3.4 and not an infinite one."""

_DEFINITION = (
    "Bradley-Terry strength: the log odds that a source is preferred to one of strength 0; the "
    "difference of two strengths is the log odds between them. A tie, of either kind, is half a win "
    "for each. Held finite by a normal prior (regularisation {:g}, choix); strengths add up to 0. "
    "Bradley & Terry 1952, Biometrika 39, 324."
)
_STEPS = 30


@dataclass(frozen=True)
class Strengths:
    """The strength of each source, strongest first.

    :param caution: which part of the order is due to the regularisation alone; empty if none
    """

    sources: Mapping[str, Estimate]
    caution: str = ""


def bradley_terry(votes: Votes, alpha: float = ALPHA, resampling: Resampling = DEFAULT) -> Strengths:
    """Return strengths by choix (maximum a posteriori, ``opt_pairwise``), pairs resampled for the intervals.

    n is the comparisons in which a source was; ``detail`` has its wins (half ones too) and its chance against
    a source of strength 0. Undefined for all when the sources form groups that were never compared with each
    other. When some never lost to others (Ford 1957: no finite strengths without
    regularisation), ``caution`` and each ``reason`` say so.

    :param alpha: regularisation, greater than 0; the prior's variance is 1 / (2 alpha)
    """
    if alpha <= 0:
        raise ValueError(f"alpha is {alpha:g}; it must be greater than 0")
    sources = votes.sources
    definition = _DEFINITION.format(alpha)
    per_pair = _wins(votes, sources)
    wins = per_pair.sum(axis=0)
    met = (wins + wins.T).sum(axis=1)
    if why := _apart(wins, sources):
        missing = {
            source: Estimate.undefined(why, int(met[i]), definition, n_of="comparisons")
            for i, source in enumerate(sources)
        }
        return Strengths(missing, why)
    if not sources:
        return Strengths({}, "nothing was compared")
    caution = _one_sided(wins, sources, alpha)
    values = _strengths_by_choix(wins, alpha)
    sizes = (len(per_pair),)
    statistic = partial(_resampled, per_pair, alpha)
    resamples = resampled(statistic, sizes, resampling.resamples, resampling.seed, 4 * len(sources) ** 2)
    found = {}
    for i in np.argsort(-values, kind="stable"):
        detail = {"wins": wins[i].sum(), "chance_against_strength_0": 1 / (1 + np.exp(-values[i]))}
        found[sources[i]] = with_interval(
            definition,
            float(values[i]),
            resamples[:, i],
            sizes,
            resampling,
            n=int(met[i]),
            n_of="comparisons",
            detail=detail,
            caution=caution,
            of="pairs",
        )
    return Strengths(found, caution)


def _wins(votes: Votes, sources: tuple[str, ...]) -> FloatArray:
    """(n_pairs, n_sources, n_sources): how often the row's source beat the column's, a tie half for each."""
    names = {name: i for i, name in enumerate(sources)}
    pairs = {name: i for i, name in enumerate(sorted(set(votes.pairs)))}
    wins = np.zeros((len(pairs), len(sources), len(sources)))
    for pair, a, b, verdict in zip(votes.pairs, votes.a, votes.b, votes.verdicts, strict=True):
        for_a = {"a": 1.0, "b": 0.0}.get(verdict, 0.5)
        wins[pairs[pair], names[a], names[b]] += for_a
        wins[pairs[pair], names[b], names[a]] += 1 - for_a
    return wins


def _groups(wins: FloatArray, sources: tuple[str, ...], connection: str) -> list[list[str]]:
    from scipy.sparse.csgraph import connected_components

    _, label = connected_components(wins > 0, connection=connection)
    return [[source for source, its in zip(sources, label, strict=True) if its == one] for one in np.unique(label)]


def _apart(wins: FloatArray, sources: tuple[str, ...]) -> str:
    if not sources:
        return ""
    groups = _groups(wins, sources, "weak")
    if len(groups) == 1:
        return ""
    return "never compared, directly or through others: " + " | ".join(", ".join(one) for one in groups)


def _one_sided(wins: FloatArray, sources: tuple[str, ...], alpha: float) -> str:
    groups = _groups(wins, sources, "strong")
    if len(groups) == 1:
        return ""
    index = {source: i for i, source in enumerate(sources)}
    never_lost, never_won = [], []
    for group in groups:
        inside = [index[source] for source in group]
        outside = [i for i in range(len(sources)) if i not in inside]
        if wins[np.ix_(outside, inside)].sum() == 0:
            never_lost.append(", ".join(group))
        elif wins[np.ix_(inside, outside)].sum() == 0:
            never_won.append(", ".join(group))
    sentences = [f"{one} never lost to another" for one in never_lost]
    sentences += [f"{one} never won against another" for one in never_won]
    return f"{'; '.join(sentences)}: only the regularisation ({alpha:g}) keeps the strengths finite"


def _strengths_by_choix(wins: FloatArray, alpha: float) -> FloatArray:
    """Return strengths by choix. It takes whole wins, so every comparison counts twice and the prior is doubled."""
    from choix import opt_pairwise

    twice = np.rint(2 * wins).astype(int)
    data = [(int(i), int(j)) for i, j in np.argwhere(twice) for _ in range(twice[i, j])]
    found = opt_pairwise(len(wins), data, alpha=2 * alpha, method="Newton-CG", tol=1e-8)
    return cast(FloatArray, np.asarray(found, dtype=float))


def _resampled(per_pair: FloatArray, alpha: float, picks: Picks) -> FloatArray:
    """(resamples, n_sources): the same maximum for every resample, by Newton's method on all of them at once."""
    n_pairs, n_sources, _ = per_pair.shape
    wins = (times_sampled(picks, n_pairs) @ per_pair.reshape(n_pairs, -1)).reshape(-1, n_sources, n_sources)
    met = wins + wins.transpose(0, 2, 1)
    strengths = np.zeros((len(picks), n_sources))
    prior = 2 * alpha * np.eye(n_sources)
    for _ in range(_STEPS):
        apart = strengths[:, :, None] - strengths[:, None, :]
        chance = 1 / (1 + np.exp(-apart))
        gradient = (wins - met * chance).sum(axis=2) - 2 * alpha * strengths
        curvature = met * chance * (1 - chance)
        hessian = prior - curvature
        hessian[:, range(n_sources), range(n_sources)] += curvature.sum(axis=2)
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        # Far from the maximum a full Newton step may overshoot; two units are far on a scale of log odds.
        strengths = strengths + step / np.maximum(1.0, abs(step).max(axis=1, keepdims=True) / 2)
        if abs(step).max() < 1e-9:
            break
    return cast(FloatArray, strengths)
