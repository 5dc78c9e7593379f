"""Sampling a session: which trajectories, who sees them, in which order, on which side.

Pure and seeded: the same plan and candidates give the same session in whatever order the candidates come,
except for the random tokens. Strata are source and task; for pairs two sources and a task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from random import Random

from reviewer.blind.balance import Showing, TooFew, assign_evenly, balanced_sides, order_for_scorer
from reviewer.blind.plan import Assignment, Candidate, Kind, Plan, SampledSession
from reviewer.rules.people import new_token

_SHOWN = 10  # names or numbers listed in a sentence


@dataclass(frozen=True)
class Eligible:
    """Candidates that enough scorers may see, by item; gold items separately.

    :param sources: the arms of the comparison, in the plan's order; by name where the plan leaves them open
    :param notes: what was left out, one sentence each
    """

    candidates: tuple[Candidate, ...]
    gold: tuple[Candidate, ...]
    sources: tuple[str, ...]
    tasks: tuple[str, ...]
    notes: tuple[str, ...]


def eligible(plan: Plan, candidates: Iterable[Candidate]) -> Eligible:
    """Return what can be sampled. :raises TooFew: an item of the plan does not exist, or too few scorers may see it"""
    by_item = {candidate.item: candidate for candidate in candidates}
    _require(plan.items, by_item, "items")
    _require([gold.item for gold in plan.gold], by_item, "gold items")
    gold = tuple(by_item.pop(one.item) for one in sorted(plan.gold, key=lambda gold: gold.item))
    matching = [by_item[item] for item in sorted(by_item) if _matches_plan(plan, by_item[item])]
    plain = [one for one in matching if plan.giveaways == "flag" or not one.gives_away]
    kept = [one for one in plain if _count_allowed_scorers(plan, one) >= plan.each]
    if plan.items and len(kept) < len(plan.items):
        raise TooFew(_missing_items(plan, matching))
    return Eligible(
        candidates=tuple(kept),
        gold=gold,
        sources=plan.sources or tuple(sorted({one.source for one in matching})),
        tasks=plan.tasks or tuple(sorted({one.task for one in matching})),
        notes=tuple(_notes(plan, len(matching) - len(plain), len(plain) - len(kept))),
    )


def listed(names: Iterable[object]) -> str:
    """Return names or numbers for a sentence, at most ten of them."""
    words = [str(name) for name in names]
    return ", ".join(words[:_SHOWN]) + (f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else "")


def _require(items: Iterable[int], there: dict[int, Candidate], what: str) -> None:
    missing = [item for item in items if item not in there]
    if missing:
        raise TooFew(f"{what}: found no item {listed(missing)} in the database")


def _matches_plan(plan: Plan, one: Candidate) -> bool:
    return (
        (not plan.items or one.item in plan.items)
        and (not plan.sources or one.source in plan.sources)
        and (not plan.tasks or one.task in plan.tasks)
    )


def _count_allowed_scorers(plan: Plan, one: Candidate) -> int:
    return sum(scorer not in one.barred for scorer in plan.scorers)


def _missing_items(plan: Plan, matching: Sequence[Candidate]) -> str:
    """Return a sentence with the plan's own items that cannot be sampled, and why."""
    there = {one.item: one for one in matching}
    problems = []
    for item in plan.items:
        one = there.get(item)
        if one is None:
            problems.append(f"item {item} has no source and task of the plan")
        elif plan.giveaways == "leave out" and one.gives_away:
            problems.append(f"item {item} reveals its author")
        elif (may := _count_allowed_scorers(plan, one)) < plan.each:
            of = f"{may} of {len(plan.scorers)} scorers"
            problems.append(f"item {item} may be seen by {of}, expected {plan.each}")
    return f"items: {'; '.join(problems[:_SHOWN])}"


def _notes(plan: Plan, giving_away: int, too_few: int) -> list[str]:
    notes = []
    if giving_away:
        notes.append(f"{giving_away} trajectories reveal their authors and were left out.")
    if too_few:
        notes.append(
            f"{too_few} trajectories were left out because fewer than {plan.each} of the {len(plan.scorers)} "
            "scorers may score them."
        )
    return notes


Unit = tuple[Candidate, ...]  # one trajectory, or the two of a pair
Stratum = tuple[tuple[str, ...], str]  # one source, or two, and a task


def sample(plan: Plan, candidates: Iterable[Candidate], token: Callable[[], str] = new_token) -> SampledSession:
    """Sample a session from the candidates.

    :param candidates: at most one per item, gold items included
    :raises TooFew: too few candidates, or scorers who may see them; the message names them, with numbers
    """
    there = eligible(plan, candidates)
    try:
        units, notes = _sample_units(plan, there)
    except TooFew as few:
        raise TooFew(" ".join((str(few), *there.notes))) from None
    lists: dict[str, dict[Kind, list[Showing]]] = {scorer: {} for scorer in plan.scorers}
    loads: Counter[str] = Counter()
    for kind in plan.kinds:
        showings = _assign_showings(plan, units[kind], loads, _random_stream(plan, f"{kind} shared out"))
        for scorer in plan.scorers:
            lists[scorer][kind] = order_for_scorer(
                showings[scorer],
                _gold_showings(there.gold, scorer) if kind == "scores" else [],
                plan.repeats,
                _random_stream(plan, f"{kind} order of {scorer}"),
                scorer,
            )
    assignments = [one for scorer, by_kind in lists.items() for one in _assignments(scorer, by_kind, plan.kinds, token)]
    return SampledSession(plan, tuple(assignments), (*there.notes, *notes, *_gold_notes(plan, there.gold)))


def _random_stream(plan: Plan, purpose: str) -> Random:
    # One stream per purpose: adding gold items or pairs does not change which items are scored.
    return Random(f"{plan.seed}: {purpose}")


def _sample_units(plan: Plan, there: Eligible) -> tuple[dict[Kind, list[Unit]], list[str]]:
    """Return what is shown, by kind, and notes on what had to be left out."""
    pairs: list[Unit] = []
    notes: list[str] = []
    units: dict[Kind, list[Unit]] = {}
    if "pair" in plan.kinds:
        strata = _pair_strata(plan, there, _random_stream(plan, "partners"))
        pairs, shortfalls = _sample_strata(plan, strata, frozenset(), _random_stream(plan, "pairs"), "pairs")
        units["pair"] = pairs
        notes += shortfalls
    if "scores" in plan.kinds:
        # Prefer the items of the pairs, so that preferences and scores are of the same items.
        first = frozenset(candidate.item for unit in pairs for candidate in unit)
        by_stratum: dict[Stratum, list[Unit]] = {
            ((source,), task): [] for source, task in product(there.sources, there.tasks)
        }
        for candidate in there.candidates:
            by_stratum[(candidate.source,), candidate.task].append((candidate,))
        units["scores"], shortfalls = _sample_strata(
            plan, by_stratum, first, _random_stream(plan, "scores"), "trajectories"
        )
        notes += shortfalls
    return units, notes


def _pair_strata(plan: Plan, there: Eligible, rng: Random) -> dict[Stratum, list[Unit]]:
    """Return pairs of trajectories of one spectrum for every two sources; of several by one source, a random one."""
    if len(there.sources) < 2:
        found = f"found {listed(there.sources) or 'none'}"
        raise TooFew(f"Pairs need trajectories of two sources or more; {found}.")
    by_spectrum: dict[tuple[str, str], dict[str, list[Candidate]]] = {}
    for candidate in there.candidates:
        if candidate.spectrum is not None:
            of_it = by_spectrum.setdefault((candidate.task, candidate.spectrum), {})
            of_it.setdefault(candidate.source, []).append(candidate)
    strata: dict[Stratum, list[Unit]] = {
        (two, task): [] for two, task in product(combinations(there.sources, 2), there.tasks)
    }
    for task, spectrum in sorted(by_spectrum):
        of_it = by_spectrum[task, spectrum]
        for one, other in combinations([source for source in there.sources if source in of_it], 2):
            some, others = (rng.sample(of_it[source], len(of_it[source])) for source in (one, other))
            enough = (unit for unit in product(some, others) if len(_allowed_scorers(plan, unit)) >= plan.each)
            if (unit := next(enough, None)) is not None:
                strata[(one, other), task].append(unit)
    return strata


def _sample_strata(
    plan: Plan, strata: Mapping[Stratum, list[Unit]], first: frozenset[int], rng: Random, what: str
) -> tuple[list[Unit], list[str]]:
    """Sample units of each stratum, first those with an item of ``first``."""
    wanted, notes = (
        ({stratum: len(units) for stratum, units in strata.items()}, [])
        if plan.items
        else _stratum_sizes(plan, strata, what)
    )
    chosen: list[Unit] = []
    for stratum, units in strata.items():
        shuffled = rng.sample(units, len(units))
        shuffled.sort(key=lambda unit: not any(candidate.item in first for candidate in unit))
        chosen += shuffled[: wanted[stratum]]
    if not chosen:
        raise TooFew(f"There are no {what} to sample: {_stratum_counts(strata)}.")
    return chosen, notes


def _stratum_sizes(plan: Plan, strata: Mapping[Stratum, list[Unit]], what: str) -> tuple[dict[Stratum, int], list[str]]:
    """Return the number per stratum: as planned, or within a task the number that every arm has."""
    if plan.number is not None:
        short = {stratum: units for stratum, units in strata.items() if len(units) < plan.number}
        if short:
            raise TooFew(f"Found {_stratum_counts(short)}, expected {plan.number} {what} of each source and task.")
        return dict.fromkeys(strata, plan.number), []
    fewest: dict[str, int] = {}
    for (_, task), units in strata.items():
        fewest[task] = min(len(units), fewest.get(task, len(units)))
    notes = []
    for task in (task for task, number in fewest.items() if not number):
        of_task = {stratum: units for stratum, units in strata.items() if stratum[1] == task}
        notes.append(f"No {what} of the task {task} were sampled: {_stratum_counts(of_task)}.")
    return {stratum: fewest[stratum[1]] for stratum in strata}, notes


def _stratum_counts(strata: Mapping[Stratum, Sequence[Unit]]) -> str:
    counts = [f"{len(units)} of {task} by {' and '.join(arm)}" for (arm, task), units in strata.items()]
    return "; ".join(counts) or "none at all"


def _assign_showings(plan: Plan, units: Sequence[Unit], loads: Counter[str], rng: Random) -> dict[str, list[Showing]]:
    """Return the showings of each scorer, pairs with their sides."""
    strata = [tuple(candidate.source for candidate in unit) for unit in units]
    allowed = [_allowed_scorers(plan, unit) for unit in units]
    shared = assign_evenly(allowed, plan.each, plan.scorers, rng, loads, strata)
    showings: dict[str, list[Showing]] = {scorer: [] for scorer in plan.scorers}
    # Sides are balanced within each two sources, else A could be left of B more often than right of it.
    for arm in dict.fromkeys(strata):
        of_arm = [(n, scorer) for n, some in enumerate(shared) if strata[n] == arm for scorer in some]
        for (n, scorer), swapped in zip(of_arm, balanced_sides(of_arm, rng), strict=True):
            showings[scorer].append(Showing(units[n][::-1] if swapped else units[n]))
    return showings


def _allowed_scorers(plan: Plan, unit: Unit) -> frozenset[str]:
    return frozenset(plan.scorers).difference(*(candidate.barred for candidate in unit))


def _gold_showings(gold: Sequence[Candidate], scorer: str) -> list[Showing]:
    return [Showing((candidate,), gold=True) for candidate in gold if scorer not in candidate.barred]


def _gold_notes(plan: Plan, gold: Sequence[Candidate]) -> list[str]:
    return [
        f"The gold item {candidate.item} is not shown to {listed(out)}, who worked on it."
        for candidate in gold
        if (out := [scorer for scorer in plan.scorers if scorer in candidate.barred])
    ]


def _assignments(
    scorer: str, by_kind: Mapping[Kind, Sequence[Showing]], kinds: Sequence[Kind], token: Callable[[], str]
) -> list[Assignment]:
    tokens: dict[Showing, str] = {}
    made: list[Assignment] = []
    for kind in kinds:
        for showing in by_kind[kind]:
            tokens[showing] = token()
            made.append(
                Assignment(
                    token=tokens[showing],
                    scorer=scorer,
                    kind=kind,
                    place=len(made) + 1,
                    shown=showing.shown,
                    repeat_of=None if showing.first is None else tokens[showing.first],
                    gold=showing.gold,
                )
            )
    return made
