"""What there is to draw from, once everything that may not be drawn is taken away; and what that was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reviewer.blind.balance import TooFew
from reviewer.blind.values import Candidate, Plan

_SHOWN = 10  # names or numbers listed in a sentence


@dataclass(frozen=True)
class Pool:
    """Candidates that enough scorers may see, by item; the gold ones apart.

    :param sources: the arms, in the plan's order; by name where the plan leaves them open
    :param notes: what was taken away, one sentence each
    """

    candidates: tuple[Candidate, ...]
    gold: tuple[Candidate, ...]
    sources: tuple[str, ...]
    tasks: tuple[str, ...]
    notes: tuple[str, ...]


def pool(plan: Plan, candidates: Iterable[Candidate]) -> Pool:
    """:raises TooFew: an item that the plan names is not there, or too few scorers may see it"""
    by_item = {candidate.item: candidate for candidate in candidates}
    _require(plan.items, by_item, "items")
    _require([gold.item for gold in plan.gold], by_item, "gold items")
    gold = tuple(by_item.pop(one.item) for one in sorted(plan.gold, key=lambda gold: gold.item))
    asked_for = [by_item[item] for item in sorted(by_item) if _is_asked_for(plan, by_item[item])]
    plain = [one for one in asked_for if plan.giveaways == "flag" or not one.gives_away]
    kept = [one for one in plain if _scorers_of(plan, one) >= plan.each]
    if plan.items and len(kept) < len(plan.items):
        raise TooFew(_why_not_all(plan, asked_for))
    return Pool(
        candidates=tuple(kept),
        gold=gold,
        sources=plan.sources or tuple(sorted({one.source for one in asked_for})),
        tasks=plan.tasks or tuple(sorted({one.task for one in asked_for})),
        notes=tuple(_notes(plan, len(asked_for) - len(plain), len(plain) - len(kept))),
    )


def named(names: Iterable[object]) -> str:
    """Names or numbers in a sentence; not more than can be read."""
    said = [str(name) for name in names]
    return ", ".join(said[:_SHOWN]) + (f" and {len(said) - _SHOWN} more" if len(said) > _SHOWN else "")


def _require(items: Iterable[int], there: dict[int, Candidate], what: str) -> None:
    missing = [item for item in items if item not in there]
    if missing:
        raise TooFew(f"{what}: found no item {named(missing)} in the database")


def _is_asked_for(plan: Plan, one: Candidate) -> bool:
    return (
        (not plan.items or one.item in plan.items)
        and (not plan.sources or one.source in plan.sources)
        and (not plan.tasks or one.task in plan.tasks)
    )


def _scorers_of(plan: Plan, one: Candidate) -> int:
    return sum(scorer not in one.barred for scorer in plan.scorers)


def _why_not_all(plan: Plan, asked_for: Sequence[Candidate]) -> str:
    """Which of the plan's own items cannot be drawn, and why."""
    there = {one.item: one for one in asked_for}
    said = []
    for item in plan.items:
        one = there.get(item)
        if one is None:
            said.append(f"item {item} is of no source and task that the plan names")
        elif plan.giveaways == "leave out" and one.gives_away:
            said.append(f"item {item} tells who wrote it")
        elif (may := _scorers_of(plan, one)) < plan.each:
            of = f"{may} of {len(plan.scorers)} scorers"
            said.append(f"item {item} may be seen by {of}, wanted {plan.each}")
    return f"items: {'; '.join(said[:_SHOWN])}"


def _notes(plan: Plan, giving_away: int, too_few: int) -> list[str]:
    notes = []
    if giving_away:
        notes.append(f"{giving_away} trajectories tell who wrote them and were left out.")
    if too_few:
        notes.append(
            f"{too_few} trajectories were left out because fewer than {plan.each} of the {len(plan.scorers)} "
            "scorers had no hand in them."
        )
    return notes
