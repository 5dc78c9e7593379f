"""Who sees what, evenly: items shared out among scorers, and left and right shared out among pairs."""

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
    """``each`` scorers for every item, so that scorers' loads differ as little as they can.

    Greedy first: the least loaded, then whoever has seen least of the item's stratum, then chance. Then
    items are handed on along chains of scorers while that brings two loads nearer to each other; when no
    chain is left, the sum of squared loads is as small as exclusions allow.

    :param allowed: for each item, those who may see it; at least ``each`` of them
    :param loads: what each scorer has already; counted up in place
    :param strata: for each item, what it is one of
    :return: for each item its scorers, in an order that means nothing
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
    shared = [[scorer for scorer in scorers if scorer in some] for some in chosen]
    for some in shared:
        rng.shuffle(some)
    return shared


def _reassign_one(
    chosen: list[set[str]], allowed: Sequence[frozenset[str]], scorers: Sequence[str], loads: Counter[str]
) -> bool:
    """Take one item off somebody who has at least two more than somebody at the end of a chain."""
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
    """For each showing of a pair (number) to a scorer, whether its sides are swapped.

    By chance, and balanced: swapped and not swapped differ by one at most for every pair, for every scorer,
    and in all. Showings are the edges of a graph between pairs and scorers. Joined with one more node on
    either side every node has an even degree, so the edges fall into closed trails of even length; along
    each of them the coin alternates.
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
        node, coin = begin, rng.random() < 0.5
        while (edge := _next_unused(at[node], swapped)) is not None:
            swapped[edge] = coin
            coin = not coin
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
"""Places between a first showing and its repeat, at least; half of the list where it is shorter than 20."""


class TooFew(OneLine, ValueError):
    """A plan that asks for more than there is; the sentence has the numbers."""


@dataclass(frozen=True, eq=False)
class Showing:
    """One place in a scorer's order. ``again`` is the first showing of a repeat. Two are never equal."""

    shown: tuple[Candidate, ...]
    gold: bool = False
    again: Showing | None = None


def repeat_distance(distinct: int) -> int:
    """How far apart a first showing and its repeat are in a list of so many different ones."""
    return min(REPEAT_DISTANCE, max(1, distinct // 2))


def order_for_scorer(
    asked: Sequence[Showing], gold: Sequence[Showing], repeats: int, rng: Random, scorer: str
) -> list[Showing]:
    """Shuffled, then repeats put in, then gold. What is put in only moves others further apart.

    A repeated pair has its sides swapped. Only what comes early enough can be repeated far enough behind.

    :raises TooFew: the list is too short for so many repeats
    """
    order = rng.sample(list(asked), len(asked))
    gap = repeat_distance(len(order))
    early = order[: max(0, len(order) - gap + 1)]
    if repeats > len(early):
        raise TooFew(
            f"repeats: found {repeats} for {scorer}, who has {len(order)} to look at; at {gap} places from "
            f"its first showing there is room for {len(early)}"
        )
    for first in rng.sample(early, repeats):
        place = rng.randint(order.index(first) + gap, len(order))
        order.insert(place, Showing(first.shown[::-1], again=first))
    return _insert_gold(order, rng.sample(list(gold), len(gold)), rng)


def _insert_gold(order: list[Showing], gold: Sequence[Showing], rng: Random) -> list[Showing]:
    """One gold item in each stretch of the order; as many stretches, equally long, as gold items."""
    share = (len(order) + 1) / max(1, len(gold))
    spread = list(order)
    for number in reversed(range(len(gold))):
        low = int(number * share)
        high = max(low, int((number + 1) * share) - 1)
        spread.insert(rng.randint(low, min(high, len(order))), gold[number])
    return spread
