"""The order in which one scorer is asked: their own, with repeats far from the first showing and gold items
spread among the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from agent.sentence import OneLine
from reviewer.blind.values import Candidate

APART = 10
"""Places between a first showing and its repeat, at least; half of the list where it is shorter than 20."""


class TooFew(OneLine, ValueError):
    """A plan that asks for more than there is; the sentence has the numbers."""


@dataclass(frozen=True, eq=False)
class Asked:
    """One place in a scorer's order. ``again`` is the first showing of a repeat. Two are never equal."""

    shown: tuple[Candidate, ...]
    gold: bool = False
    again: Asked | None = None


def apart(distinct: int) -> int:
    """How far apart a first showing and its repeat are in a list of so many different ones."""
    return min(APART, max(1, distinct // 2))


def in_order(
    asked: Sequence[Asked], gold: Sequence[Asked], repeats: int, rng: Random, scorer: str
) -> list[Asked]:
    """Shuffled, then repeats put in, then gold. What is put in only moves others further apart.

    A repeated pair has its sides swapped. Only what comes early enough can be repeated far enough behind.

    :raises TooFew: the list is too short for so many repeats
    """
    order = rng.sample(list(asked), len(asked))
    gap = apart(len(order))
    early = order[: max(0, len(order) - gap + 1)]
    if repeats > len(early):
        raise TooFew(
            f"repeats: found {repeats} for {scorer}, who has {len(order)} to look at; at {gap} places from "
            f"its first showing there is room for {len(early)}"
        )
    for first in rng.sample(early, repeats):
        place = rng.randint(order.index(first) + gap, len(order))
        order.insert(place, Asked(first.shown[::-1], again=first))
    return _spread(order, rng.sample(list(gold), len(gold)), rng)


def _spread(order: list[Asked], gold: Sequence[Asked], rng: Random) -> list[Asked]:
    """One gold item in each stretch of the order; as many stretches, equally long, as gold items."""
    share = (len(order) + 1) / max(1, len(gold))
    spread = list(order)
    for number in reversed(range(len(gold))):
        low = int(number * share)
        high = max(low, int((number + 1) * share) - 1)
        spread.insert(rng.randint(low, min(high, len(order))), gold[number])
    return spread
