"""Candidates that can be sampled for a plan, and notes on those that cannot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from agent.language import deferred, tr
from reviewer.blind.balance import TooFew
from reviewer.blind.plan import Candidate, Plan

_SHOWN = 10  # names or numbers listed in a sentence


@dataclass(frozen=True)
class Eligible:
    """Candidates that enough scorers may see, by item; gold and training items separately.

    :param sources: the arms of the comparison, in the plan's order; by name where the plan leaves them open
    :param notes: what was left out, one sentence each
    """

    candidates: tuple[Candidate, ...]
    gold: tuple[Candidate, ...]
    training: tuple[Candidate, ...]
    sources: tuple[str, ...]
    tasks: tuple[str, ...]
    notes: tuple[str, ...]


def eligible(plan: Plan, candidates: Iterable[Candidate]) -> Eligible:
    """Return what can be sampled.

    :raises TooFew: an item of the plan, or a source of its primary comparison, does not exist, or too few scorers may
        see an item
    """
    all_items = {candidate.item: candidate for candidate in candidates}
    by_item = {item: _with_exposures(plan, candidate) for item, candidate in all_items.items()}
    _require(plan.items, by_item, deferred("items: found no item {missing} in the database"))
    gold_items = [gold.item for gold in plan.gold]
    _require(gold_items, by_item, deferred("gold items: found no item {missing} in the database"))
    _require(plan.training, by_item, deferred("training items: found no item {missing} in the database"))
    gold = tuple(by_item.pop(one.item) for one in sorted(plan.gold, key=lambda gold: gold.item))
    training = tuple(all_items[item] for item in plan.training)  # seeing it again does no harm
    for item in plan.training:
        del by_item[item]
    matching = [by_item[item] for item in sorted(by_item) if _matches_plan(plan, by_item[item])]
    plain = [one for one in matching if plan.giveaways == "flag" or not one.gives_away]
    kept = [one for one in plain if len(allowed_scorers(plan, [one])) >= plan.each]
    if plan.items and len(kept) < len(plan.items):
        raise TooFew(_missing_items(plan, matching))
    sources = plan.sources or tuple(sorted({one.source for one in matching}))
    _require_compared(plan, sources)
    return Eligible(
        candidates=tuple(kept),
        gold=gold,
        training=training,
        sources=sources,
        tasks=plan.tasks or tuple(sorted({one.task for one in matching})),
        notes=tuple(_notes(plan, len(matching) - len(plain), len(plain) - len(kept))),
    )


def allowed_scorers(plan: Plan, traces: Iterable[Candidate]) -> frozenset[str]:
    """Return the scorers who are barred from none of the traces."""
    return frozenset(plan.scorers).difference(*(one.barred for one in traces))


def listed(names: Iterable[object]) -> str:
    """Return names or numbers for a message, at most ten of them."""
    words = [str(name) for name in names]
    shown = ", ".join(words[:_SHOWN])
    return deferred("{names} and {n} more", names=shown, n=len(words) - _SHOWN) if len(words) > _SHOWN else shown


def _with_exposures(plan: Plan, one: Candidate) -> Candidate:
    return replace(one, barred=one.barred | one.exposed) if plan.earlier == "bar" and one.exposed else one


def _require(items: Iterable[int], there: dict[int, Candidate], message: str) -> None:
    missing = [item for item in items if item not in there]
    if missing:
        raise TooFew(tr(message, missing=listed(missing)))


def _require_compared(plan: Plan, sources: Sequence[str]) -> None:
    """Check that the sources of the primary comparison are there; the plan knows only sources that it names itself."""
    missing = [one for one in (plan.analysis.first, plan.analysis.second) if one is not None and one not in sources]
    if missing:
        there = listed(sources) or tr("none")
        raise TooFew(
            tr(
                "analysis: found no trajectory of {missing}, expected two of the sources {there}",
                missing=listed(missing),
                there=there,
            )
        )


def _matches_plan(plan: Plan, one: Candidate) -> bool:
    return (
        (not plan.items or one.item in plan.items)
        and (not plan.sources or one.source in plan.sources)
        and (not plan.tasks or one.task in plan.tasks)
    )


def _missing_items(plan: Plan, matching: Sequence[Candidate]) -> str:
    """Return a sentence with the plan's own items that cannot be sampled, and why."""
    there = {one.item: one for one in matching}
    problems = []
    for item in plan.items:
        one = there.get(item)
        if one is None:
            problems.append(tr("item {item} has no source and task of the plan", item=item))
        elif plan.giveaways == "leave out" and one.gives_away:
            problems.append(tr("item {item} reveals its author", item=item))
        elif (may := len(allowed_scorers(plan, [one]))) < plan.each:
            problems.append(
                tr(
                    "item {item} may be seen by {may} of {scorers} scorers, expected {each}",
                    item=item,
                    may=may,
                    scorers=len(plan.scorers),
                    each=plan.each,
                )
            )
    return tr("items: {problems}", problems="; ".join(problems[:_SHOWN]))


def _notes(plan: Plan, giving_away: int, too_few: int) -> list[str]:
    notes = []
    if giving_away:
        notes.append(
            deferred("{giving_away} trajectories reveal their authors and were left out.", giving_away=giving_away)
        )
    if too_few:
        notes.append(
            deferred(
                "{too_few} trajectories were left out because fewer than {each} of the {n_scorers} scorers "
                "may score them.",
                too_few=too_few,
                each=plan.each,
                n_scorers=len(plan.scorers),
            )
        )
    return notes
