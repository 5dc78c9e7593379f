"""Sampling a session: which spectra and trajectories, who sees them, in which order, on which side.

Pure and seeded: the same plan and candidates give the same session in whatever order the candidates come,
except for the random tokens. A block is a task and a spectrum with the traces of it; blocks are sampled within strata.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, product
from random import Random

from reviewer.blind.balance import TooFew, assign_evenly, balanced_sides
from reviewer.blind.order import Block, Showing, block_of, order_for_scorer
from reviewer.blind.plan import Assignment, Candidate, Kind, Plan, SampledSession
from reviewer.rules.people import new_token

_SHOWN = 10  # names or numbers listed in a sentence
_COMBINATIONS = 50  # of several traces by one source of one spectrum, tried until enough scorers may see them


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
    """Return what can be sampled. :raises TooFew: an item of the plan does not exist, or too few scorers may see it"""
    by_item = {candidate.item: _with_exposures(plan, candidate) for candidate in candidates}
    _require(plan.items, by_item, "items")
    _require([gold.item for gold in plan.gold], by_item, "gold items")
    _require(plan.training, by_item, "training items")
    gold = tuple(by_item.pop(one.item) for one in sorted(plan.gold, key=lambda gold: gold.item))
    training = tuple(by_item.pop(item) for item in plan.training)
    matching = [by_item[item] for item in sorted(by_item) if _matches_plan(plan, by_item[item])]
    plain = [one for one in matching if plan.giveaways == "flag" or not one.gives_away]
    kept = [one for one in plain if _count_allowed_scorers(plan, one) >= plan.each]
    if plan.items and len(kept) < len(plan.items):
        raise TooFew(_missing_items(plan, matching))
    return Eligible(
        candidates=tuple(kept),
        gold=gold,
        training=training,
        sources=plan.sources or tuple(sorted({one.source for one in matching})),
        tasks=plan.tasks or tuple(sorted({one.task for one in matching})),
        notes=tuple(_notes(plan, len(matching) - len(plain), len(plain) - len(kept))),
    )


def listed(names: Iterable[object]) -> str:
    """Return names or numbers for a sentence, at most ten of them."""
    words = [str(name) for name in names]
    return ", ".join(words[:_SHOWN]) + (f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else "")


def _with_exposures(plan: Plan, one: Candidate) -> Candidate:
    return replace(one, barred=one.barred | one.exposed) if plan.earlier == "bar" and one.exposed else one


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
Blocks = list[list[Candidate]]
Stratum = tuple[str, ...]  # the task, and what the plan adds to it; in the separate design the sources first


def sample(plan: Plan, candidates: Iterable[Candidate], token: Callable[[], str] = new_token) -> SampledSession:
    """Sample a session from the candidates.

    :param candidates: at most one per item, gold and training items included
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
                _allowed(there.gold, scorer, gold=True) if kind == "scores" else [],
                plan.repeats,
                _random_stream(plan, f"{kind} order of {scorer}"),
                scorer,
            )
            if kind == "scores":
                lists[scorer][kind] = [*_allowed(there.training, scorer, training=True), *lists[scorer][kind]]
    assignments = [one for scorer, by_kind in lists.items() for one in _assignments(scorer, by_kind, plan.kinds, token)]
    notes += _barred_notes(plan, "gold", there.gold) + _barred_notes(plan, "training", there.training)
    return SampledSession(plan, tuple(assignments), (*there.notes, *notes, *_exposure_notes(plan, units)))


def _random_stream(plan: Plan, purpose: str) -> Random:
    # One stream per purpose: adding gold items or pairs does not change which items are scored.
    return Random(f"{plan.seed}: {purpose}")


def _sample_units(plan: Plan, there: Eligible) -> tuple[dict[Kind, list[Unit]], list[str]]:
    """Return what is shown, by kind, and notes on what had to be left out."""
    if "pair" in plan.kinds and len(there.sources) < 2:
        found = f"found {listed(there.sources) or 'none'}"
        raise TooFew(f"Pairs need trajectories of two sources or more; {found}.")
    if plan.items:
        blocks, notes = _named_blocks(there)
    elif plan.design == "separate":
        return _sample_separately(plan, there)
    else:
        blocks, notes = _sample_blocks(plan, there)
    units: dict[Kind, list[Unit]] = {}
    if "pair" in plan.kinds:
        units["pair"] = [pair for block in blocks for pair in _pairs_of(plan, there, block)]
        if not units["pair"]:
            raise TooFew("There are no pairs to sample: no spectrum has trajectories of two sources.")
    if "scores" in plan.kinds:
        units["scores"] = [(one,) for block in blocks for one in block]
    return units, notes


def _pairs_of(plan: Plan, there: Eligible, block: Sequence[Candidate]) -> list[Unit]:
    """Return a block's pairs of every two sources, which enough scorers may see."""
    ordered = sorted(block, key=lambda one: (there.sources.index(one.source), one.item))
    pairs = combinations(ordered, 2) if block[0].spectrum is not None else ()
    return [two for two in pairs if two[0].source != two[1].source and len(_allowed_scorers(plan, two)) >= plan.each]


def _by_block(candidates: Iterable[Candidate]) -> dict[Block, list[Candidate]]:
    blocks: dict[Block, list[Candidate]] = {}
    for one in candidates:
        blocks.setdefault(block_of(one), []).append(one)
    return {block: blocks[block] for block in sorted(blocks)}


def _named_blocks(there: Eligible) -> tuple[Blocks, list[str]]:
    """Return the plan's own items by spectrum."""
    blocks = list(_by_block(there.candidates).values())
    lacking = sum(len({one.source for one in block}) < len(there.sources) for block in blocks)
    if not blocks:
        raise TooFew("There are no trajectories to sample: none at all.")
    return blocks, [f"{lacking} of {len(blocks)} spectra lack a trajectory of a source."] if lacking else []


def _sample_blocks(plan: Plan, there: Eligible) -> tuple[Blocks, list[str]]:
    """Sample spectra within strata, and take one trajectory of every source of each."""
    rng = _random_stream(plan, "spectra")
    strata: dict[Stratum, Blocks] = {}
    lacking: Counter[str] = Counter()
    incomplete = unseen = 0
    # A trace whose spectrum is not stored cannot be paired with another source's; with one source there is no need.
    usable = [one for one in there.candidates if one.spectrum is not None or len(there.sources) == 1]
    for members in _by_block(usable).values():
        missing = set(there.sources) - {one.source for one in members}
        lacking.update(missing)
        incomplete += bool(missing)
        if missing:
            continue
        block = _complete_block(plan, there.sources, members, rng)
        if block is None:
            unseen += 1
        else:
            strata.setdefault(_stratum(plan, block[0]), []).append(block)
    without = len(there.candidates) - len(usable)
    notes = _block_notes(plan, incomplete, lacking, unseen, without)
    if not strata:
        counts = Counter((one.source, one.task) for one in there.candidates)
        if not counts:
            raise TooFew("There are no trajectories to sample: none at all.")
        found = "; ".join(f"{n} of {task} by {source}" for (source, task), n in sorted(counts.items()))
        raise TooFew(
            f"No spectrum has a trajectory of every source ({listed(there.sources)}) that {plan.each} scorers may see; "
            f"found {found}. With the design “separate” each source is sampled for itself."
        )
    if absent := [task for task in there.tasks if not any(stratum[0] == task for stratum in strata)]:
        notes.append(f"No spectra of {listed(absent)} were sampled: none has a trajectory of every source.")
    if plan.number is not None:
        short = {stratum: blocks for stratum, blocks in strata.items() if len(blocks) < plan.number}
        if short or (absent and plan.tasks):
            found = "; ".join(f"{len(blocks)} of {', '.join(stratum)}" for stratum, blocks in sorted(short.items()))
            found = "; ".join(filter(None, [found, *(f"0 of {task}" for task in absent)]))
            raise TooFew(f"Found {found}, expected {plan.number} spectra of each.")
    chosen: Blocks = []
    for _, blocks in sorted(strata.items()):
        chosen += rng.sample(blocks, len(blocks) if plan.number is None else plan.number)
    return chosen, notes


def _complete_block(
    plan: Plan, sources: Sequence[str], members: Sequence[Candidate], rng: Random
) -> list[Candidate] | None:
    """Return one trajectory of each source that enough scorers may see together; of several by one, a random one."""
    by_source = [[one for one in members if one.source == source] for source in sources]
    choices = product(*(rng.sample(some, len(some)) for some in by_source))
    enough = (list(unit) for unit in islice(choices, _COMBINATIONS) if len(_allowed_scorers(plan, unit)) >= plan.each)
    return next(enough, None)


def _stratum(plan: Plan, one: Candidate) -> Stratum:
    values = {"survey": one.survey or "no survey", "label": one.label or "no label"}
    return one.task, *(values[name] for name in plan.strata)


def _block_notes(plan: Plan, incomplete: int, lacking: Counter[str], unseen: int, without: int) -> list[str]:
    notes = []
    if incomplete:
        which = ", ".join(f"{source} in {number}" for source, number in sorted(lacking.items()) if number)
        notes.append(f"{incomplete} spectra were left out because a source has no trajectory of them ({which}).")
    if unseen:
        notes.append(
            f"{unseen} spectra were left out because fewer than {plan.each} of the {len(plan.scorers)} scorers may "
            "score all their trajectories."
        )
    if without:
        notes.append(f"{without} trajectories were left out because their spectrum is not stored.")
    return notes


def _sample_separately(plan: Plan, there: Eligible) -> tuple[dict[Kind, list[Unit]], list[str]]:
    """Sample the trajectories of each source for themselves, and pairs of every two sources."""
    units: dict[Kind, list[Unit]] = {}
    notes: list[str] = []
    paired: frozenset[int] = frozenset()
    if "pair" in plan.kinds:
        strata: dict[Stratum, list[Unit]] = {
            (*two, task): [] for two, task in product(combinations(there.sources, 2), there.tasks)
        }
        for members in _by_block(there.candidates).values():
            shuffled = _random_stream(plan, f"partners {block_of(members[0])}").sample(members, len(members))
            for two in {two[0].source + "\n" + two[1].source: two for two in _pairs_of(plan, there, shuffled)}.values():
                strata.setdefault((two[0].source, two[1].source, *_stratum(plan, two[0])), []).append(two)
        units["pair"], more = _sample_strata(plan, strata, frozenset(), _random_stream(plan, "pairs"), "pairs")
        notes += more
        # Prefer the items of the pairs, so that preferences and scores are of the same items.
        paired = frozenset(one.item for unit in units["pair"] for one in unit)
    if "scores" in plan.kinds:
        single: dict[Stratum, list[Unit]] = {(one, task): [] for one, task in product(there.sources, there.tasks)}
        for one in there.candidates:
            single.setdefault((one.source, *_stratum(plan, one)), []).append((one,))
        units["scores"], more = _sample_strata(plan, single, paired, _random_stream(plan, "scores"), "trajectories")
        notes += more
    return units, notes


def _sample_strata(
    plan: Plan, strata: Mapping[Stratum, list[Unit]], first: frozenset[int], rng: Random, what: str
) -> tuple[list[Unit], list[str]]:
    """Sample units of each stratum, first those with an item of ``first``: as planned, or within a task the number that
    every source has.
    """
    arms = 2 if what == "pairs" else 1
    strata = {key: units for key, units in strata.items() if units or not plan.strata}
    notes = []
    wanted = dict.fromkeys(strata, plan.number or 0)
    if plan.number is not None:
        short = {stratum: units for stratum, units in strata.items() if len(units) < (plan.number or 0)}
        if short:
            raise TooFew(
                f"Found {_stratum_counts(short, arms)}, expected {plan.number} {what} of each source and task."
            )
    else:
        fewest: dict[Stratum, int] = {}
        for stratum, units in strata.items():
            of = stratum[arms:]
            fewest[of] = min(len(units), fewest.get(of, len(units)))
        wanted = {stratum: fewest[stratum[arms:]] for stratum in strata}
        for of in (of for of, number in fewest.items() if not number):
            of_task = {stratum: units for stratum, units in strata.items() if stratum[arms:] == of}
            notes.append(f"No {what} of the task {', '.join(of)} were sampled: {_stratum_counts(of_task, arms)}.")
    chosen: list[Unit] = []
    for stratum, units in strata.items():
        shuffled = rng.sample(units, len(units))
        shuffled.sort(key=lambda unit: not any(candidate.item in first for candidate in unit))
        chosen += shuffled[: wanted[stratum]]
    if not chosen:
        raise TooFew(f"There are no {what} to sample: {_stratum_counts(strata, arms)}.")
    return chosen, notes


def _stratum_counts(strata: Mapping[Stratum, Sequence[Unit]], arms: int) -> str:
    counts = [
        f"{len(units)} of {', '.join(stratum[arms:])} by {' and '.join(stratum[:arms])}"
        for stratum, units in strata.items()
    ]
    return "; ".join(counts) or "none at all"


def _assign_showings(plan: Plan, units: Sequence[Unit], loads: Counter[str], rng: Random) -> dict[str, list[Showing]]:
    """Return the showings of each scorer, pairs with their sides. All units of a spectrum go to the same scorers, as
    far as enough of them may see all.
    """
    blocks = _blocks_of_units(plan, units)
    allowed = [_allowed_scorers(plan, [one for unit in block for one in unit]) for block in blocks]
    strata = [(tuple(sorted({one.source for one in block[0]})), *_stratum(plan, block[0][0])) for block in blocks]
    shared = assign_evenly(allowed, plan.each, plan.scorers, rng, loads, strata, [len(block) for block in blocks])
    who = {id(unit): some for block, some in zip(blocks, shared, strict=True) for unit in block}
    showings: dict[str, list[Showing]] = {scorer: [] for scorer in plan.scorers}
    arms = [tuple(candidate.source for candidate in unit) for unit in units]
    # Sides are balanced within each two sources, else A could be left of B more often than right of it.
    for arm in dict.fromkeys(arms):
        of_arm = [(n, scorer) for n, unit in enumerate(units) if arms[n] == arm for scorer in who[id(unit)]]
        for (n, scorer), swapped in zip(of_arm, balanced_sides(of_arm, rng), strict=True):
            showings[scorer].append(Showing(units[n][::-1] if swapped else units[n]))
    return showings


def _blocks_of_units(plan: Plan, units: Sequence[Unit]) -> list[list[Unit]]:
    """Return the units by spectrum; those of a spectrum apart where fewer scorers than planned may see all of them."""
    by_block: dict[Block, list[Unit]] = {}
    for unit in units:
        by_block.setdefault(block_of(unit[0]), []).append(unit)
    blocks: list[list[Unit]] = []
    for block in by_block.values():
        together = len(_allowed_scorers(plan, [one for unit in block for one in unit])) >= plan.each
        blocks += [block] if together else [[unit] for unit in block]
    return blocks


def _allowed_scorers(plan: Plan, unit: Iterable[Candidate]) -> frozenset[str]:
    return frozenset(plan.scorers).difference(*(candidate.barred for candidate in unit))


def _allowed(items: Sequence[Candidate], scorer: str, gold: bool = False, training: bool = False) -> list[Showing]:
    """Return showings of the gold or training items that a scorer may see."""
    return [Showing((one,), gold=gold, training=training) for one in items if scorer not in one.barred]


def _barred_notes(plan: Plan, what: str, items: Sequence[Candidate]) -> list[str]:
    return [
        f"The {what} item {candidate.item} is not shown to {listed(out)}, who worked on it."
        for candidate in items
        if (out := [scorer for scorer in plan.scorers if scorer in candidate.barred])
    ]


def _exposure_notes(plan: Plan, units: Mapping[Kind, Sequence[Unit]]) -> list[str]:
    """Return how many of the sampled traces were shown to each scorer before."""
    traces = {one.item: one for some in units.values() for unit in some for one in unit}
    seen = {scorer: sum(scorer in one.exposed for one in traces.values()) for scorer in plan.scorers}
    if plan.earlier == "bar" or not any(seen.values()):
        return []
    counts = ", ".join(f"{scorer} {number}" for scorer, number in seen.items() if number)
    return [f"Of {len(traces)} traces, some were shown to scorers in earlier sessions: {counts}."]


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
                    training=showing.training,
                )
            )
    return made
