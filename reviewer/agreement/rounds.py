"""The same numbers for review: how far the people of a round decide alike, and each of them on gold."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from agent.statistics import DEFAULT, FloatArray, Resampling
from reviewer.agreement.distribution import by_item, share
from reviewer.agreement.reliability import krippendorff_alpha
from reviewer.agreement.values import Estimate, Scores, ScoresError, unshared

_RAW = (
    "Raw agreement: of two people who decided on the same item, the chance that they decided alike, "
    "averaged over items. Fleiss 1971, Psychological Bulletin 76, 378 (his mean P)."
)
_GOLD = "Calibration on gold: the share of a reviewer's decisions on gold items that are the expected one."

Group = TypeVar("Group", bound=Hashable)


@dataclass(frozen=True)
class RoundAgreement:
    """How alike people decide: the raw agreement, and what of it is beyond chance."""

    raw: Estimate
    alpha: Estimate


def round_agreement(
    items: Sequence[str], people: Sequence[str], verbs: Sequence[str], resampling: Resampling = DEFAULT
) -> RoundAgreement:
    """Agreement of categorical decisions: raw, and Krippendorff's alpha (nominal).

    n is the items that two or more people decided on. Both are undefined when there is none, alpha also when
    all decided alike throughout (raw agreement is then 1) and with one such item.

    :param items: (n_decisions,); one decision of one person on one item in each place
    :raises ScoresError: arrays of different lengths, or two decisions of one person on one item
    """
    scores, names = _coded(items, people, verbs)
    counts = (scores.values[:, :, None] == np.arange(len(names))).sum(axis=1).astype(float)
    alike, several = _alike(counts)
    detail = {"decisions": {name: int(n) for name, n in zip(names, counts.sum(axis=0), strict=True)}}
    nobody = "nobody decided anything"
    why = unshared(scores).replace("nobody gave a score", nobody).replace("scorer", "reviewer")
    why = why.replace("was scored by", "was decided on by")
    raw = share(alike, several, _RAW, resampling, none=why, detail=detail)
    alpha = krippendorff_alpha(scores, "nominal", resampling)
    if alpha.value is None:
        used = [name for name, n in zip(names, counts[several > 0].sum(axis=0), strict=True) if n]
        one_item = "only one item was decided on by two reviewers"
        alpha = replace(alpha, reason=why or (f"every decision is {used[0]}" if len(used) == 1 else one_item))
    return RoundAgreement(raw, alpha)


def agreement_by(
    groups: Sequence[Group],
    items: Sequence[str],
    people: Sequence[str],
    verbs: Sequence[str],
    resampling: Resampling = DEFAULT,
) -> dict[Group, RoundAgreement]:
    """``round_agreement`` for each group, such as (round, task), in the order in which they first come."""
    if len(groups) != len(items):
        raise ScoresError(f"decisions: {len(groups)} groups for {len(items)} decisions; one each is wanted")
    places: dict[Group, list[int]] = {}
    for place, group in enumerate(groups):
        places.setdefault(group, []).append(place)
    found = {}
    for group, own in places.items():
        of_items, of_people, of_verbs = ([array[i] for i in own] for array in (items, people, verbs))
        found[group] = round_agreement(of_items, of_people, of_verbs, resampling)
    return found


def gold_agreement(
    items: Sequence[str], given: Sequence[str], expected: Sequence[str], resampling: Resampling = DEFAULT
) -> Estimate:
    """How often one reviewer decided on gold items as expected; n is the decisions. Undefined without any.

    :param items: (n_decisions,); an item may come again
    :raises ScoresError: arrays of different lengths
    """
    if not len(items) == len(given) == len(expected):
        raise ScoresError(
            f"decisions: {len(items)} items, {len(given)} decisions, {len(expected)} expected; one each is wanted"
        )
    right = [own == wanted for own, wanted in zip(given, expected, strict=True)]
    hits, every = by_item(items, right, np.ones(len(right)))
    none = "no gold item was decided on"
    return share(hits, every, _GOLD, resampling, none=none, n=len(right), n_of="decisions on gold items")


def _coded(items: Sequence[str], people: Sequence[str], verbs: Sequence[str]) -> tuple[Scores, list[str]]:
    if not len(items) == len(people) == len(verbs):
        raise ScoresError(
            f"decisions: {len(items)} items, {len(people)} people, {len(verbs)} decisions; one each is wanted"
        )
    names = sorted(set(verbs))
    return Scores.of(
        (item, person, names.index(verb)) for item, person, verb in zip(items, people, verbs, strict=True)
    ), names


def _alike(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n_items,) each: the share of its pairs of decisions that are alike; 1 where there is a pair."""
    made = counts.sum(axis=1)
    several = made > 1
    pairs = np.where(several, made * (made - 1), 1)
    return (counts * (counts - 1)).sum(axis=1) / pairs, several.astype(float)
