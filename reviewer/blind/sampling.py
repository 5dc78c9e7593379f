"""Drawing a session: which trajectories, who sees them, in which order, on which side.

Pure and seeded: the same plan and candidates give the same session, in whatever order the candidates come,
but for the tokens. Strata are source and task; for pairs two sources and a task. A scorer is asked for all
their scores before the first pair, so that no comparison colours a score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, product
from random import Random

from reviewer.blind.balance import Asked, TooFew, coins, in_order, share_out
from reviewer.blind.eligible import Pool, named, pool
from reviewer.blind.values import Assignment, Candidate, Drawn, Kind, Plan
from reviewer.rules.people import new_token

__all__ = ["TooFew", "draw"]

Unit = tuple[Candidate, ...]  # one trajectory, or the two of a pair
Stratum = tuple[tuple[str, ...], str]  # one source, or two, and a task


def draw(plan: Plan, candidates: Iterable[Candidate], token: Callable[[], str] = new_token) -> Drawn:
    """Draw a session from the candidates.

    :param candidates: at most one for an item; the gold items among them
    :raises TooFew: of candidates or of scorers who may; the sentence says of which, how many, and what was
        wanted
    """
    there = pool(plan, candidates)
    try:
        units, notes = _units(plan, there)
    except TooFew as few:
        raise TooFew(" ".join((str(few), *there.notes))) from None
    lists: dict[str, dict[Kind, list[Asked]]] = {scorer: {} for scorer in plan.scorers}
    loads: Counter[str] = Counter()
    for kind in plan.kinds:
        showings = _showings(plan, units[kind], loads, _rng(plan, f"{kind} shared out"))
        for scorer in plan.scorers:
            lists[scorer][kind] = in_order(
                showings[scorer],
                _gold(there.gold, scorer) if kind == "scores" else [],
                plan.repeats,
                _rng(plan, f"{kind} order of {scorer}"),
                scorer,
            )
    assignments = [one for scorer, by_kind in lists.items() for one in _assignments(scorer, by_kind, plan.kinds, token)]
    return Drawn(plan, tuple(assignments), (*there.notes, *notes, *_gold_notes(plan, there.gold)))


def _rng(plan: Plan, purpose: str) -> Random:
    # One stream a purpose: asking for gold items or pairs as well does not change which items are scored.
    return Random(f"{plan.seed}: {purpose}")


def _units(plan: Plan, there: Pool) -> tuple[dict[Kind, list[Unit]], list[str]]:
    """What is shown, by kind; and what had to be left out."""
    pairs: list[Unit] = []
    notes: list[str] = []
    units: dict[Kind, list[Unit]] = {}
    if "pair" in plan.kinds:
        strata = _paired(plan, there, _rng(plan, "partners"))
        pairs, said = _chosen(plan, strata, frozenset(), _rng(plan, "pairs"), "pairs")
        units["pair"] = pairs
        notes += said
    if "scores" in plan.kinds:
        # What is compared is scored too, as far as it goes: preferences and scores of the same items.
        first = frozenset(candidate.item for unit in pairs for candidate in unit)
        by_stratum: dict[Stratum, list[Unit]] = {
            ((source,), task): [] for source, task in product(there.sources, there.tasks)
        }
        for candidate in there.candidates:
            by_stratum[(candidate.source,), candidate.task].append((candidate,))
        units["scores"], said = _chosen(plan, by_stratum, first, _rng(plan, "scores"), "trajectories")
        notes += said
    return units, notes


def _paired(plan: Plan, there: Pool, rng: Random) -> dict[Stratum, list[Unit]]:
    """Every two sources' trajectories of one spectrum; of several by one source, one by chance."""
    if len(there.sources) < 2:
        found = f"found {named(there.sources) or 'none'}"
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
            enough = (unit for unit in product(some, others) if len(_may_see(plan, unit)) >= plan.each)
            if (unit := next(enough, None)) is not None:
                strata[(one, other), task].append(unit)
    return strata


def _chosen(
    plan: Plan, strata: Mapping[Stratum, list[Unit]], first: frozenset[int], rng: Random, what: str
) -> tuple[list[Unit], list[str]]:
    """So many of each stratum; those with an item of ``first`` before others."""
    wanted, notes = (
        ({stratum: len(units) for stratum, units in strata.items()}, []) if plan.items else _numbers(plan, strata, what)
    )
    chosen: list[Unit] = []
    for stratum, units in strata.items():
        shuffled = rng.sample(units, len(units))
        shuffled.sort(key=lambda unit: not any(candidate.item in first for candidate in unit))
        chosen += shuffled[: wanted[stratum]]
    if not chosen:
        raise TooFew(f"There are no {what} to draw: {_counted(strata)}.")
    return chosen, notes


def _numbers(plan: Plan, strata: Mapping[Stratum, list[Unit]], what: str) -> tuple[dict[Stratum, int], list[str]]:
    """How many of each stratum: as planned, or within a task the number that every arm has."""
    if plan.number is not None:
        short = {stratum: units for stratum, units in strata.items() if len(units) < plan.number}
        if short:
            raise TooFew(f"Wanted {plan.number} {what} of each source and task, found {_counted(short)}.")
        return dict.fromkeys(strata, plan.number), []
    fewest: dict[str, int] = {}
    for (_, task), units in strata.items():
        fewest[task] = min(len(units), fewest.get(task, len(units)))
    notes = []
    for task in (task for task, number in fewest.items() if not number):
        of_task = {stratum: units for stratum, units in strata.items() if stratum[1] == task}
        notes.append(f"No {what} of the task {task} were drawn: {_counted(of_task)}.")
    return {stratum: fewest[stratum[1]] for stratum in strata}, notes


def _counted(strata: Mapping[Stratum, Sequence[Unit]]) -> str:
    said = [f"{len(units)} of {task} by {' and '.join(arm)}" for (arm, task), units in strata.items()]
    return "; ".join(said) or "none at all"


def _showings(plan: Plan, units: Sequence[Unit], loads: Counter[str], rng: Random) -> dict[str, list[Asked]]:
    """Who is shown what, pairs with their sides."""
    strata = [tuple(candidate.source for candidate in unit) for unit in units]
    allowed = [_may_see(plan, unit) for unit in units]
    shared = share_out(allowed, plan.each, plan.scorers, rng, loads, strata)
    showings: dict[str, list[Asked]] = {scorer: [] for scorer in plan.scorers}
    # The coin is balanced within each two sources, else A could stand left of B more often than right of it.
    for arm in dict.fromkeys(strata):
        of_arm = [(n, scorer) for n, some in enumerate(shared) if strata[n] == arm for scorer in some]
        for (n, scorer), swapped in zip(of_arm, coins(of_arm, rng), strict=True):
            showings[scorer].append(Asked(units[n][::-1] if swapped else units[n]))
    return showings


def _may_see(plan: Plan, unit: Unit) -> frozenset[str]:
    return frozenset(plan.scorers).difference(*(candidate.barred for candidate in unit))


def _gold(gold: Sequence[Candidate], scorer: str) -> list[Asked]:
    return [Asked((candidate,), gold=True) for candidate in gold if scorer not in candidate.barred]


def _gold_notes(plan: Plan, gold: Sequence[Candidate]) -> list[str]:
    return [
        f"The gold item {candidate.item} is not shown to {named(out)}, who had a hand in it."
        for candidate in gold
        if (out := [scorer for scorer in plan.scorers if scorer in candidate.barred])
    ]


def _assignments(
    scorer: str, by_kind: Mapping[Kind, Sequence[Asked]], kinds: Sequence[Kind], token: Callable[[], str]
) -> list[Assignment]:
    tokens: dict[Asked, str] = {}
    made: list[Assignment] = []
    for kind in kinds:
        for asked in by_kind[kind]:
            tokens[asked] = token()
            made.append(
                Assignment(
                    token=tokens[asked],
                    scorer=scorer,
                    kind=kind,
                    place=len(made) + 1,
                    shown=asked.shown,
                    repeat_of=None if asked.again is None else tokens[asked.again],
                    gold=asked.gold,
                )
            )
    return made
