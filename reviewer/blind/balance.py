"""Balanced assignment of items to scorers and of sides to pairs; each scorer's order with repeats and gold items."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from agent.text import OneLine
from reviewer.blind.plan import Candidate

Node = tuple[str, object]


def assign_evenly(
    allowed: Sequence[frozenset[str]],
    each: int,
    scorers: Sequence[str],
    rng: Random,
    loads: Counter[str],
    strata: Sequence[object],
) -> list[list[str]]:
    """Assign ``each`` scorers to every item so that the loads of the scorers differ as little as possible.

    Greedy first: the scorer with the smallest load, then with the fewest items of the stratum, then at random.
    Then items are reassigned along chains of scorers while that brings two loads closer together; when no chain
    is left, the sum of squared loads is as small as the exclusions allow.

    :param allowed: for each item, the scorers who may see it; at least ``each`` of them
    :param loads: the present load of each scorer; updated in place
    :param strata: for each item, its stratum
    :return: for each item its scorers, in random order
    """
    seen: Counter[tuple[str, object]] = Counter()
    chosen: list[set[str]] = []
    for may, stratum in zip(allowed, strata, strict=True):
        among = [scorer for scorer in scorers if scorer in may]
        rng.shuffle(among)
        order = {scorer: (loads[scorer], seen[scorer, stratum]) for scorer in among}
        among.sort(key=order.__getitem__)
        chosen.append(set(among[:each]))
        loads.update(among[:each])
        seen.update((scorer, stratum) for scorer in among[:each])
    while _reassign_one(chosen, allowed, scorers, loads):
        pass
    assigned = [[scorer for scorer in scorers if scorer in some] for some in chosen]
    for some in assigned:
        rng.shuffle(some)
    return assigned


def _reassign_one(
    chosen: list[set[str]], allowed: Sequence[frozenset[str]], scorers: Sequence[str], loads: Counter[str]
) -> bool:
    """Move one item along a chain of scorers, from one with at least two more items than the last. False: no chain."""
    by_whom: dict[tuple[str, str], int] = {}
    for item, (has, may) in enumerate(zip(chosen, allowed, strict=True)):
        for giver in has:
            for taker in may - has:
                by_whom.setdefault((giver, taker), item)
    for start in sorted(scorers, key=lambda scorer: -loads[scorer]):
        came_from: dict[str, str] = {start: start}
        waiting = deque([start])
        while waiting:
            giver = waiting.popleft()
            if loads[giver] <= loads[start] - 2:
                _reassign_chain(giver, start, came_from, by_whom, chosen)
                loads[start] -= 1
                loads[giver] += 1
                return True
            for taker in scorers:
                if taker not in came_from and (giver, taker) in by_whom:
                    came_from[taker] = giver
                    waiting.append(taker)
    return False


def _reassign_chain(
    end: str,
    start: str,
    came_from: dict[str, str],
    by_whom: dict[tuple[str, str], int],
    chosen: list[set[str]],
) -> None:
    while end != start:
        giver = came_from[end]
        item = by_whom[giver, end]
        chosen[item].remove(giver)
        chosen[item].add(end)
        end = giver


def balanced_sides(showings: Sequence[tuple[int, str]], rng: Random) -> list[bool]:
    """Return for each showing of a pair (number) to a scorer whether its sides are swapped.

    Random and balanced: the numbers of swapped and unswapped showings differ by at most one for every pair, for
    every scorer, and in total. Showings are the edges of a graph between pairs and scorers. With one more node on
    either side every node has an even degree, so the edges form closed trails of even length; along each trail
    swapped and unswapped alternate.
    """
    edges: list[tuple[Node, Node]] = [(("pair", pair), ("scorer", scorer)) for pair, scorer in showings]
    degree = Counter(node for edge in edges for node in edge)
    spare_pair, spare_scorer = ("pair", None), ("scorer", None)
    odd = [node for node in degree if degree[node] % 2]
    edges += [(node, spare_scorer) if node[0] == "pair" else (spare_pair, node) for node in odd]
    if sum(node[0] == "pair" for node in odd) % 2:
        edges.append((spare_pair, spare_scorer))

    at: dict[Node, list[int]] = {}
    for number in rng.sample(range(len(edges)), len(edges)):
        for node in edges[number]:
            at.setdefault(node, []).append(number)
    swapped: dict[int, bool] = {}
    for begin in list(at):
        node, swap = begin, rng.random() < 0.5
        while (edge := _next_unused(at[node], swapped)) is not None:
            swapped[edge] = swap
            swap = not swap
            one, other = edges[edge]
            node = other if node == one else one
    return [swapped[number] for number in range(len(showings))]


def _next_unused(numbers: list[int], used: dict[int, bool]) -> int | None:
    while numbers:
        if numbers[-1] not in used:
            return numbers[-1]
        numbers.pop()
    return None


REPEAT_DISTANCE = 10
"""Smallest number of places between a first showing and its repeat; half of the list if it is shorter than 20."""


class TooFew(OneLine, ValueError):
    """A plan that needs more items or scorers than there are; the message has the numbers."""


@dataclass(frozen=True, eq=False)
class Showing:
    """One place in a scorer's order. ``first`` is the first showing of a repeat. Compared by identity."""

    shown: tuple[Candidate, ...]
    gold: bool = False
    first: Showing | None = None


def repeat_distance(distinct: int) -> int:
    """Return the smallest distance of a first showing and its repeat in a list of ``distinct`` showings."""
    return min(REPEAT_DISTANCE, max(1, distinct // 2))


def order_for_scorer(
    showings: Sequence[Showing], gold: Sequence[Showing], repeats: int, rng: Random, scorer: str
) -> list[Showing]:
    """Return a scorer's showings in random order, with repeats and then gold items inserted.

    Insertions only increase the distance of a repeat. A repeated pair has its sides swapped.

    :raises TooFew: the list is too short for so many repeats
    """
    order = rng.sample(list(showings), len(showings))
    gap = repeat_distance(len(order))
    early = order[: max(0, len(order) - gap + 1)]
    if repeats > len(early):
        raise TooFew(
            f"repeats: found {repeats} for {scorer}, who has {len(order)} showings; at {gap} places from "
            f"the first showing at most {len(early)} fit"
        )
    for first in rng.sample(early, repeats):
        place = rng.randint(order.index(first) + gap, len(order))
        order.insert(place, Showing(first.shown[::-1], first=first))
    return _insert_gold(order, rng.sample(list(gold), len(gold)), rng)


def _insert_gold(order: list[Showing], gold: Sequence[Showing], rng: Random) -> list[Showing]:
    """Insert one gold item at random into each of as many equally long stretches as there are gold items."""
    share = (len(order) + 1) / max(1, len(gold))
    spread = list(order)
    for number in reversed(range(len(gold))):
        low = int(number * share)
        high = max(low, int((number + 1) * share) - 1)
        spread.insert(rng.randint(low, min(high, len(order))), gold[number])
    return spread
