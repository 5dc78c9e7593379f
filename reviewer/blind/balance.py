"""Balanced assignment of spectra to scorers, and of sides to pairs."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations
from math import exp
from random import Random

from agent.errors import Refusal

Node = tuple[str, object]


class TooFew(Refusal, ValueError):
    """A plan that needs more items or scorers than there are; the message has the numbers."""

    kind = "too_few"
    status = 409


def assign_evenly(
    allowed: Sequence[frozenset[str]],
    each: int,
    scorers: Sequence[str],
    rng: Random,
    loads: Counter[str],
    strata: Sequence[object],
    sizes: Sequence[int] | None = None,
) -> list[list[str]]:
    """Assign ``each`` scorers to every block (a spectrum with its questions), as a balanced incomplete block design.

    In this order of importance: the loads of the scorers differ as little as possible; every two scorers share the
    same number of blocks; every scorer has the same share of each stratum. Where nobody is barred and all blocks have
    one size, loads differ by at most one, and the numbers of shared blocks by at most one wherever such a design
    exists (with loads that differ, it may not: 50 blocks for 4 of 6 scorers need a difference of two).

    Greedy first, then improved: blocks are reassigned along chains of scorers until no chain brings two loads closer
    together; then scorers of two blocks are exchanged, which keeps all loads, by simulated annealing of the sum of
    squares of the shared numbers; then blocks exchange all their scorers, which keeps those too.

    :param allowed: for each block, the scorers who may see it; at least ``each`` of them
    :param loads: the present load of each scorer, in questions; updated in place
    :param strata: for each block, its stratum
    :param sizes: for each block, its number of questions; default one
    :return: for each block its scorers, in random order
    """
    sizes = [1] * len(allowed) if sizes is None else sizes
    chosen = _assign_greedily(allowed, each, scorers, rng, loads, strata, sizes)
    while _reassign_one(chosen, allowed, scorers, loads, sizes):
        pass
    if 1 <= each < len(scorers):
        design = _Design(chosen, allowed, sizes, rng)
        if each > 1:
            design.balance_shared(scorers)
        design.balance_strata(strata)
    assigned = [[scorer for scorer in scorers if scorer in some] for some in chosen]
    for some in assigned:
        rng.shuffle(some)
    return assigned


def shared_counts(assigned: Iterable[Collection[str]], scorers: Sequence[str]) -> dict[tuple[str, str], int]:
    """Return for every two scorers, in the given order, how many blocks both have."""
    counts = dict.fromkeys(combinations(scorers, 2), 0)
    for some in assigned:
        for two in combinations([scorer for scorer in scorers if scorer in some], 2):
            counts[two] += 1
    return counts


def _assign_greedily(
    allowed: Sequence[frozenset[str]],
    each: int,
    scorers: Sequence[str],
    rng: Random,
    loads: Counter[str],
    strata: Sequence[object],
    sizes: Sequence[int],
) -> list[set[str]]:
    """Choose the scorer with the smallest load, then with the fewest blocks shared with those already chosen for this
    block, then with the fewest blocks of the stratum, then at random. Large blocks come first.
    """
    seen: Counter[tuple[str, object]] = Counter()
    shared: Counter[tuple[str, str]] = Counter()
    chosen: list[set[str]] = [set() for _ in allowed]
    for block in sorted(range(len(allowed)), key=lambda block: -sizes[block]):
        among = [scorer for scorer in scorers if scorer in allowed[block]]
        rng.shuffle(among)
        some, stratum = chosen[block], strata[block]
        while len(some) < each:
            best = min(
                among, key=lambda free: (loads[free], sum(shared[free, other] for other in some), seen[free, stratum])
            )
            among.remove(best)
            shared.update(two for other in some for two in ((best, other), (other, best)))
            some.add(best)
        loads.update(dict.fromkeys(some, sizes[block]))
        seen.update((scorer, stratum) for scorer in some)
    return chosen


def _reassign_one(
    chosen: list[set[str]],
    allowed: Sequence[frozenset[str]],
    scorers: Sequence[str],
    loads: Counter[str],
    sizes: Sequence[int],
) -> bool:
    """Move blocks of one size along a chain of scorers whose first load is larger than the last by more than that size.
    False: there is no such chain.
    """
    for size in sorted(set(sizes)):
        by_whom: dict[tuple[str, str], int] = {}
        for block, (has, may) in enumerate(zip(chosen, allowed, strict=True)):
            if sizes[block] == size:
                for giver in has:
                    for taker in may - has:
                        by_whom.setdefault((giver, taker), block)
        if _reassign_along(by_whom, size, chosen, scorers, loads):
            return True
    return False


def _reassign_along(
    by_whom: dict[tuple[str, str], int],
    size: int,
    chosen: list[set[str]],
    scorers: Sequence[str],
    loads: Counter[str],
) -> bool:
    for start in sorted(scorers, key=lambda scorer: -loads[scorer]):
        came_from: dict[str, str] = {start: start}
        waiting = deque([start])
        while waiting:
            giver = waiting.popleft()
            if loads[start] - loads[giver] > size:
                _reassign_chain(giver, start, came_from, by_whom, chosen)
                loads[start] -= size
                loads[giver] += size
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
        block = by_whom[giver, end]
        chosen[block].remove(giver)
        chosen[block].add(end)
        end = giver


EXCHANGES = 30_000
"""Largest number of exchanges that are tried, for shared blocks and for strata each."""

_WARM, _COLD = 3.0, 0.4
"""First and last temperature: a change of the sum of squares is a multiple of 2."""


class _Design:
    """The scorers of blocks, improved by exchanges between two blocks of one size. All loads stay as they are."""

    def __init__(
        self, chosen: list[set[str]], allowed: Sequence[frozenset[str]], sizes: Sequence[int], rng: Random
    ) -> None:
        self._chosen = chosen
        self._allowed = allowed
        self._rng = rng
        by_size: dict[int, list[int]] = {}
        for block, size in enumerate(sizes):
            by_size.setdefault(size, []).append(block)
        self._groups = [blocks for blocks in by_size.values() if len(blocks) > 1]
        self._weights = [len(blocks) for blocks in self._groups]

    def _two_blocks(self, tries: int) -> Iterator[tuple[int, int]]:
        """Yield random pairs of blocks of one size."""
        if self._groups:
            for blocks in self._rng.choices(self._groups, self._weights, k=tries):
                yield blocks[int(self._rng.random() * len(blocks))], blocks[int(self._rng.random() * len(blocks))]

    def balance_shared(self, scorers: Sequence[str]) -> None:
        """Exchange one scorer of a block for one of another until all shared numbers differ by at most one; if that is
        not reached, keep what differs least.
        """
        rng, chosen = self._rng, self._chosen
        counts: Counter[tuple[str, str]] = Counter()
        for two, number in shared_counts(chosen, scorers).items():
            counts[two] = counts[two[::-1]] = number
        total, pairs = sum(counts.values()) // 2, len(scorers) * (len(scorers) - 1) // 2
        number, more = divmod(total, pairs)
        least = pairs * number**2 + more * (2 * number + 1)
        now = sum(number**2 for number in counts.values()) // 2
        best, kept = (max(counts.values()) - min(counts.values()), now), [set(some) for some in chosen]
        for at, (two_block, other) in enumerate(self._two_blocks(EXCHANGES)):
            if best[1] == least:
                break
            only, only_other = sorted(chosen[two_block] - chosen[other]), sorted(chosen[other] - chosen[two_block])
            if not only:
                continue
            out, into = only[int(rng.random() * len(only))], only_other[int(rng.random() * len(only))]
            if into not in self._allowed[two_block] or out not in self._allowed[other]:
                continue
            # Besides the two, those in one of the blocks only: in both, they lose one shared block and gain another.
            left, right = [u for u in only if u != out], [u for u in only_other if u != into]
            change = 2 * (
                sum(counts[into, u] - counts[out, u] + 1 for u in left)
                + sum(counts[out, u] - counts[into, u] + 1 for u in right)
            )
            temperature = _WARM * (_COLD / _WARM) ** (at / EXCHANGES)
            if change > 0 and rng.random() >= exp(-change / temperature):
                continue
            for gains, loses, others in ((into, out, left), (out, into, right)):
                for u in others:
                    for two, by in ((gains, u), 1), ((u, gains), 1), ((loses, u), -1), ((u, loses), -1):
                        counts[two] += by
            chosen[two_block].symmetric_difference_update((out, into))
            chosen[other].symmetric_difference_update((out, into))
            now += change
            if (spread := (max(counts.values()) - min(counts.values()), now)) < best:
                best, kept = spread, [set(some) for some in chosen]
        chosen[:] = kept

    def balance_strata(self, strata: Sequence[object]) -> None:
        """Exchange all scorers of two blocks of different strata where that evens out the strata of the scorers."""
        chosen = self._chosen
        seen = Counter((scorer, stratum) for some, stratum in zip(chosen, strata, strict=True) for scorer in some)
        if len(set(strata)) < 2:
            return
        for two_block, other in self._two_blocks(EXCHANGES):
            stratum_here, stratum_there = strata[two_block], strata[other]
            if stratum_here == stratum_there or not (
                chosen[two_block] <= self._allowed[other] and chosen[other] <= self._allowed[two_block]
            ):
                continue
            only, only_other = chosen[two_block] - chosen[other], chosen[other] - chosen[two_block]
            change = sum(seen[u, stratum_there] - seen[u, stratum_here] + 1 for u in only) + sum(
                seen[u, stratum_here] - seen[u, stratum_there] + 1 for u in only_other
            )
            if change > 0:
                continue
            for scorers, leaves, enters in (
                (only, stratum_here, stratum_there),
                (only_other, stratum_there, stratum_here),
            ):
                for scorer in scorers:
                    seen[scorer, leaves] -= 1
                    seen[scorer, enters] += 1
            chosen[two_block], chosen[other] = chosen[other], chosen[two_block]


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
            first_node, other = edges[edge]
            node = other if node == first_node else first_node
    return [swapped[number] for number in range(len(showings))]


def _next_unused(numbers: list[int], used: dict[int, bool]) -> int | None:
    while numbers:
        if numbers[-1] not in used:
            return numbers[-1]
        numbers.pop()
    return None
