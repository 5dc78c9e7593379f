"""Each scorer's order: traces of one spectrum far apart, hidden repeats later still, gold items spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from agent.language import tr
from reviewer.blind.balance import TooFew
from reviewer.blind.plan import Candidate

REPEAT_DISTANCE = 10
"""Smallest number of places between a first showing and its repeat; half of the list if it is shorter than 20."""
SPECTRUM_DISTANCE = 10
"""Smallest number of places between two traces of one spectrum; half of the scorer's spectra if there are fewer."""

Block = tuple[str, str]
"""Task and spectrum; a trace without a spectrum is a block of its own."""


@dataclass(frozen=True, eq=False)
class Showing:
    """One place in a scorer's order. ``first`` is the first showing of a repeat. Compared by identity."""

    shown: tuple[Candidate, ...]
    gold: bool = False
    first: Showing | None = None
    training: bool = False

    @property
    def block(self) -> Block:
        return block_of(self.shown[0])


def block_of(candidate: Candidate) -> Block:
    """Return the block of a trace."""
    return candidate.task, candidate.spectrum or f"item {candidate.item}"


def repeat_distance(distinct: int) -> int:
    """Return the smallest distance of a first showing and its repeat in a list of ``distinct`` showings."""
    return min(REPEAT_DISTANCE, max(1, distinct // 2))


def spectrum_distance(blocks: int) -> int:
    """Return the smallest distance of two traces of one spectrum in a list with so many spectra."""
    return min(SPECTRUM_DISTANCE, max(1, blocks // 2))


def order_for_scorer(
    showings: Sequence[Showing], gold: Sequence[Showing], repeats: int, rng: Random, scorer: str
) -> list[Showing]:
    """Return a scorer's showings in random order, with repeats and then gold items inserted.

    Every spectrum is shown once before any is shown again; which source comes first is balanced. Insertions only
    increase distances. A repeated pair has its sides swapped.

    :raises TooFew: the list is too short for so many repeats
    """
    order = _in_passes(showings, rng)
    gap = repeat_distance(len(order))
    early = order[: max(0, len(order) - gap + 1)]
    if repeats > len(early):
        raise TooFew(
            tr(
                "repeats: found {repeats} for {scorer}, who has {n_order} showings; at {gap} places from the "
                "first showing at most {n_early} fit",
                repeats=repeats,
                scorer=scorer,
                n_order=len(order),
                gap=gap,
                n_early=len(early),
            )
        )
    for first in rng.sample(early, repeats):
        places = range(order.index(first) + gap, len(order) + 1)
        order.insert(_far_from_block(order, first.block, places, gap, rng), Showing(first.shown[::-1], first=first))
    return _insert_gold(order, rng.sample(list(gold), len(gold)), rng)


def _in_passes(showings: Sequence[Showing], rng: Random) -> list[Showing]:
    """Return the showings in passes over the spectra, each pass in random order."""
    blocks: dict[Block, list[Showing]] = {}
    for showing in showings:
        blocks.setdefault(showing.block, []).append(showing)
    queues = _balanced_first(blocks, rng)
    gap = spectrum_distance(len(blocks))
    order: list[Showing] = []
    last: dict[Block, int] = {}
    while queues:
        waiting = rng.sample(list(queues), len(queues))
        while waiting:
            place = len(order)
            ready = [block for block in waiting if place - last.get(block, -gap) >= gap]
            # None is ready only where the last pass had fewer spectra: then the one that waited longest.
            block = ready[0] if ready else min(waiting, key=lambda block: last[block])
            waiting.remove(block)
            last[block] = place
            order.append(queues[block].pop())
        queues = {block: queue for block, queue in queues.items() if queue}
    return order


def _balanced_first(blocks: Mapping[Block, Sequence[Showing]], rng: Random) -> dict[Block, list[Showing]]:
    """Return each spectrum's showings, the last one to be shown first; each source comes first equally often."""
    firsts: dict[tuple[str, ...], int] = {}
    queues: dict[Block, list[Showing]] = {}
    for block in rng.sample(sorted(blocks), len(blocks)):
        queue = rng.sample(list(blocks[block]), len(blocks[block]))
        queue.sort(key=lambda showing: -firsts.get(_sources(showing), 0))
        firsts[_sources(queue[-1])] = firsts.get(_sources(queue[-1]), 0) + 1
        queues[block] = queue
    return queues


def _sources(showing: Showing) -> tuple[str, ...]:
    return tuple(sorted(candidate.source for candidate in showing.shown))


def _far_from_block(order: Sequence[Showing], block: Block, places: range, gap: int, rng: Random) -> int:
    """Return a random place that is far from the other traces of a spectrum too, if there is one."""
    others = [place for place, showing in enumerate(order) if showing.block == block]
    free = [at for at in places if all(place - at >= gap - 1 or at - place >= gap for place in others)]
    return rng.choice(free or list(places))


def _insert_gold(order: list[Showing], gold: Sequence[Showing], rng: Random) -> list[Showing]:
    """Insert one gold item at random into each of as many equally long stretches as there are gold items."""
    share = (len(order) + 1) / max(1, len(gold))
    spread = list(order)
    for number in reversed(range(len(gold))):
        low = int(number * share)
        high = max(low, int((number + 1) * share) - 1)
        spread.insert(rng.randint(low, min(high, len(order))), gold[number])
    return spread
