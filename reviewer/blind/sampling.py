"""Sampling a session: which spectra and trajectories, who sees them, in which order, on which side.

Pure and seeded: the same plan and candidates give the same session in whatever order the candidates come,
except for the random tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random

from agent.language import deferred, tr
from reviewer.blind.balance import TooFew, assign_evenly, balanced_sides
from reviewer.blind.blocks import Unit, random_stream, sample_units, strata_of
from reviewer.blind.eligible import allowed_scorers, eligible, listed
from reviewer.blind.order import Block, Showing, block_of, order_for_scorer
from reviewer.blind.plan import Assignment, Candidate, Kind, Plan, SampledSession
from reviewer.rules.people import new_token


def sample(plan: Plan, candidates: Iterable[Candidate], token: Callable[[], str] = new_token) -> SampledSession:
    """Sample a session from the candidates.

    :param candidates: gold and training items included; of each item one, or its draft and its approved text
    :raises TooFew: too few candidates, or scorers who may see them; the message names them, with numbers
    """
    allowed = eligible(plan, candidates)
    try:
        units, notes = sample_units(plan, allowed)
    except TooFew as few:
        raise TooFew(" ".join((str(few), *map(tr, allowed.notes)))) from None
    who = _assign_units(plan, [unit for kind in plan.kinds for unit in units[kind]])
    lists: dict[str, dict[Kind, list[Showing]]] = {scorer: {} for scorer in plan.scorers}
    for kind in plan.kinds:
        showings = _showings(plan, units[kind], who, random_stream(plan, f"{kind} sides"))
        for scorer in plan.scorers:
            lists[scorer][kind] = order_for_scorer(
                showings[scorer],
                _allowed(allowed.gold, scorer, gold=True) if kind == "scores" else [],
                plan.repeats,
                random_stream(plan, f"{kind} order of {scorer}"),
                scorer,
            )
            if kind == "scores":
                lists[scorer][kind] = [*_allowed(allowed.training, scorer, training=True), *lists[scorer][kind]]
    assignments = [
        assignment
        for scorer, by_kind in lists.items()
        for assignment in _assignments(scorer, by_kind, plan.kinds, token)
    ]
    notes += _barred_notes(plan, False, allowed.gold) + _barred_notes(plan, True, allowed.training)
    return SampledSession(plan, tuple(assignments), (*allowed.notes, *notes, *_exposure_notes(plan, assignments)))


def _assign_units(plan: Plan, units: Sequence[Unit]) -> dict[Unit, list[str]]:
    """Return the scorers of each unit. All units of a spectrum go to the same scorers, as far as enough of them may see
    all its traces.
    """
    by_block: dict[Block, list[Unit]] = {}
    for unit in units:
        by_block.setdefault(block_of(unit[0]), []).append(unit)
    shared: list[list[Unit]] = []
    for block in by_block.values():
        together = len(allowed_scorers(plan, _traces(block))) >= plan.each
        shared += [block] if together else [[unit] for unit in block]
    stratum_of = strata_of(plan, _traces(units))
    assigned = assign_evenly(
        [allowed_scorers(plan, _traces(block)) for block in shared],
        plan.each,
        plan.scorers,
        random_stream(plan, "scorers"),
        Counter(),
        [(*sorted({trace.source for trace in _traces(block)}), *stratum_of[block_of(block[0][0])]) for block in shared],
        [len(block) for block in shared],
    )
    return {unit: scorers for block, scorers in zip(shared, assigned, strict=True) for unit in block}


def _traces(units: Iterable[Unit]) -> list[Candidate]:
    return [trace for unit in units for trace in unit]


def _showings(
    plan: Plan, units: Sequence[Unit], who: Mapping[Unit, Sequence[str]], rng: Random
) -> dict[str, list[Showing]]:
    """Return the showings of each scorer, pairs with their sides."""
    showings: dict[str, list[Showing]] = {scorer: [] for scorer in plan.scorers}
    arms = [tuple(candidate.source for candidate in unit) for unit in units]
    # Sides are balanced within each two sources, else A could be left of B more often than right of it.
    for arm in dict.fromkeys(arms):
        of_arm = [(n, scorer) for n, unit in enumerate(units) if arms[n] == arm for scorer in who[unit]]
        for (n, scorer), swapped in zip(of_arm, balanced_sides(of_arm, rng), strict=True):
            showings[scorer].append(Showing(units[n][::-1] if swapped else units[n]))
    return showings


def _allowed(items: Sequence[Candidate], scorer: str, gold: bool = False, training: bool = False) -> list[Showing]:
    """Return showings of the gold or training items that a scorer may see."""
    return [Showing((item,), gold=gold, training=training) for item in items if scorer not in item.barred]


def _barred_notes(plan: Plan, training: bool, items: Sequence[Candidate]) -> list[str]:
    if training:
        text = deferred("The training item {item} is not shown to {people}, who worked on it.")
    elif plan.earlier == "bar":
        text = deferred(
            "The gold item {item} is not shown to {people}, who worked on it or saw it in an earlier session."
        )
    else:
        text = deferred("The gold item {item} is not shown to {people}, who worked on it.")
    return [
        deferred(text, item=candidate.item, people=listed(out))
        for candidate in items
        if (out := [scorer for scorer in plan.scorers if scorer in candidate.barred])
    ]


def _exposure_notes(plan: Plan, assignments: Iterable[Assignment]) -> list[str]:
    """Return how many of a scorer's traces were shown to them in earlier sessions."""
    traces: dict[str, dict[int, Candidate]] = {scorer: {} for scorer in plan.scorers}
    for assignment in assignments:
        if not assignment.training:
            traces[assignment.scorer].update({trace.version: trace for trace in assignment.shown})
    seen = {scorer: sum(scorer in own_trace.exposed for own_trace in mine.values()) for scorer, mine in traces.items()}
    return [
        deferred(
            "{number} of {n_traces} traces were shown to {scorer} in an earlier session.",
            number=number,
            n_traces=len(traces[scorer]),
            scorer=scorer,
        )
        for scorer, number in seen.items()
        if number
    ]


def _assignments(
    scorer: str, by_kind: Mapping[Kind, Sequence[Showing]], kinds: Sequence[Kind], token: Callable[[], str]
) -> list[Assignment]:
    tokens: dict[Showing, str] = {}
    assignments: list[Assignment] = []
    for kind in kinds:
        for showing in by_kind[kind]:
            tokens[showing] = token()
            assignments.append(
                Assignment(
                    token=tokens[showing],
                    scorer=scorer,
                    kind=kind,
                    place=len(assignments) + 1,
                    shown=showing.shown,
                    repeat_of=None if showing.first is None else tokens[showing.first],
                    gold=showing.gold,
                    training=showing.training,
                )
            )
    return assignments
