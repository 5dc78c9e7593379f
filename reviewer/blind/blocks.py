"""What a session shows: spectra with a trace of every source, the plan's own items, or the traces of each source for
themselves. A block is a task and a spectrum with the traces of it; blocks are sampled within strata.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, islice, product
from random import Random

from agent.language import deferred, deferredn, joined, tr
from reviewer.blind.balance import TooFew
from reviewer.blind.eligible import Eligible, allowed_scorers, listed
from reviewer.blind.order import Block, block_of
from reviewer.blind.plan import Candidate, Kind, Plan, source_name

_COMBINATIONS = 50  # of several traces by one source of one spectrum, tried until enough scorers may see them

Unit = tuple[Candidate, ...]
"""What one question shows: one trajectory, or the two of a pair."""
Stratum = tuple[str, ...]
"""The task, and what the plan adds to it; in the separate design the source or the two sources first."""
Traces = list[Candidate]


def random_stream(plan: Plan, purpose: str) -> Random:
    """Return a stream of its own for each purpose, so that gold items or pairs do not change which items are scored."""
    return Random(f"{plan.seed}: {purpose}")


def sample_units(plan: Plan, sampled: Eligible) -> tuple[dict[Kind, list[Unit]], list[str]]:
    """Return what is shown, by kind, and notes on what was left out. :raises TooFew: too few spectra or trajectories"""
    if "pair" in plan.kinds and len(sampled.drafters) < (1 if plan.version == "both" else 2):
        sources = f"found {listed(sampled.drafters) or 'none'}"
        raise TooFew(tr("Pairs need trajectories of two sources or more; {found}.", found=sources))
    if plan.items:
        blocks, notes = _named_blocks(sampled)
    elif plan.design == "separate":
        return _sample_separately(plan, sampled)
    else:
        blocks, notes = _sample_blocks(plan, sampled)
    units: dict[Kind, list[Unit]] = {}
    if "pair" in plan.kinds:
        units["pair"] = [pair for block in blocks for pair in _pairs_of(plan, sampled, block)]
        if not units["pair"]:
            raise TooFew(tr("There are no pairs to sample: no spectrum has trajectories of two sources."))
    if "scores" in plan.kinds:
        units["scores"] = [(trace,) for block in blocks for trace in block]
    return units, notes


def strata_of(plan: Plan, candidates: Iterable[Candidate]) -> dict[Block, Stratum]:
    """Return each block's stratum: the task, and the survey and the label if the plan names them, where one of the
    block's traces has them.
    """
    return {
        block: (block[0], *(next((v for trace in traces if (v := getattr(trace, name))), "") for name in plan.strata))
        for block, traces in _by_block(candidates).items()
    }


def stratum_name(plan: Plan, stratum: Stratum) -> Stratum:
    """Return a stratum with words for an unknown survey or label."""
    task, *values = stratum
    return task, *(value or f"no {name}" for name, value in zip(plan.strata, values, strict=True))


def _by_block(candidates: Iterable[Candidate]) -> dict[Block, Traces]:
    blocks: dict[Block, Traces] = {}
    for candidate in candidates:
        blocks.setdefault(block_of(candidate), []).append(candidate)
    return {block: blocks[block] for block in sorted(blocks)}


def _pairs_of(plan: Plan, sampled: Eligible, block: Sequence[Candidate]) -> list[Unit]:
    """Return a block's pairs of every two sources, which enough scorers may see. A drafter's own two are the draft and
    the approved text of one item.
    """
    both = plan.version == "both"
    ordered = sorted(
        block,
        key=lambda candidate: (
            sampled.drafters.index(candidate.drafter),
            plan.texts.index(candidate.text) if both else 0,
        ),
    )
    pairs = combinations(ordered, 2) if block[0].spectrum is not None else ()
    return [
        two
        for two in pairs
        if (two[0].drafter != two[1].drafter or two[0].item == two[1].item)
        and len(allowed_scorers(plan, two)) >= plan.each
    ]


def _named_blocks(sampled: Eligible) -> tuple[list[Traces], list[str]]:
    """Return the plan's own items by spectrum."""
    blocks = list(_by_block(sampled.candidates).values())
    lacking = sum(len({trace.drafter for trace in block}) < len(sampled.drafters) for block in blocks)
    if not blocks:
        raise TooFew(tr("There are no trajectories to sample: none at all."))
    return blocks, [
        deferred(
            "{lacking} of {n_blocks} spectra lack a trajectory of a source.", lacking=lacking, n_blocks=len(blocks)
        )
    ] if lacking else []


def _sample_blocks(plan: Plan, sampled: Eligible) -> tuple[list[Traces], list[str]]:
    """Sample spectra within strata, and take one trajectory of every source of each."""
    rng = random_stream(plan, "spectra")
    # A trace whose spectrum is not stored cannot be paired with another source's; with one source there is no need.
    usable = [
        candidate for candidate in sampled.candidates if candidate.spectrum is not None or len(sampled.drafters) == 1
    ]
    lacking: Counter[str] = Counter()
    incomplete = unseen = unknown = 0
    strata: dict[Stratum, list[Traces]] = {}
    stratum_of = strata_of(plan, usable)
    for block, members in _by_block(usable).items():
        stratum = stratum_of[block]
        missing = set(sampled.drafters) - {member.drafter for member in members}
        lacking.update(missing)
        incomplete += bool(missing)
        complete = None if missing else _complete_block(plan, sampled.drafters, members, rng)
        unseen += not missing and complete is None
        if plan.number is not None and not all(stratum):
            unknown += complete is not None
            continue
        strata.setdefault(stratum, []).extend([complete] if complete else [])
    notes = _block_notes(plan, incomplete, lacking, unseen, len(sampled.candidates) - len(usable))
    if unknown:
        notes.append(
            deferred(
                "{unknown} spectra were left out because their {names} is not known.",
                unknown=unknown,
                names=" or ".join(plan.strata),
            )
        )
    _require_blocks(plan, sampled, strata)
    if absent := [task for task in sampled.tasks if not any(blocks for of, blocks in strata.items() if of[0] == task)]:
        notes.append(
            deferred(
                "No spectra of {absent} were sampled: none has a trajectory of every source.", absent=listed(absent)
            )
        )
    if plan.number is not None:
        # A class that the plan does not name may lack a source; then it is not compared.
        numbers = {of: len(blocks) for of, blocks in strata.items() if plan.tasks or of[0] not in absent}
        numbers |= {(task,): 0 for task in absent if plan.tasks and not any(of[0] == task for of in strata)}
        short = {of: number for of, number in numbers.items() if number < plan.number}
        if short:
            counts = "; ".join(
                tr("{n} of {what}", n=number, what=", ".join(of)) for of, number in sorted(short.items())
            )
            text = tr(
                "Found {found}, expected {number} spectra of each: lower the number, or add trajectories.",
                found=counts,
                number=plan.number,
            )
            raise TooFew(" ".join((text, *map(tr, notes))))
        strata = {of: blocks for of, blocks in strata.items() if of in numbers}
    sizes = {of: len(blocks) if plan.number is None else plan.number for of, blocks in strata.items()}
    return [block for of, blocks in sorted(strata.items()) for block in rng.sample(blocks, sizes[of])], notes


def _require_blocks(plan: Plan, sampled: Eligible, strata: Mapping[Stratum, Sequence[Traces]]) -> None:
    """Check that there is a block. :raises TooFew: there is none, with what there is instead"""
    if any(strata.values()):
        return
    counts = Counter((candidate.source, candidate.task) for candidate in sampled.candidates)
    if not counts:
        raise TooFew(tr("There are no trajectories to sample: none at all."))
    counts_text = "; ".join(
        tr("{n} of {task} by {source}", n=n, task=task, source=source) for (source, task), n in sorted(counts.items())
    )
    raise TooFew(
        tr(
            "No spectrum has a trajectory of every source ({sources}) that {each} scorers may see; found "
            "{found}. With the design “separate” each source is sampled for itself.",
            sources=listed(sampled.drafters),
            each=plan.each,
            found=counts_text,
        )
    )


def _complete_block(plan: Plan, drafters: Sequence[str], members: Sequence[Candidate], rng: Random) -> Traces | None:
    """Return the texts of one item of each drafter that enough scorers may see together; of several by one, a random
    one.
    """
    items = _by_item(members)
    by_drafter = [[texts for texts in items if texts[0].drafter == drafter] for drafter in drafters]
    choices = product(*(rng.sample(some, len(some)) for some in by_drafter))
    units = ([text for texts in chosen for text in texts] for chosen in islice(choices, _COMBINATIONS))
    return next((unit for unit in units if len(allowed_scorers(plan, unit)) >= plan.each), None)


def _by_item(members: Iterable[Candidate]) -> list[Unit]:
    """Return the texts of each item: one, or the approved text and the draft."""
    items: dict[int, Traces] = {}
    for member in members:
        items.setdefault(member.item, []).append(member)
    return [tuple(texts) for texts in items.values()]


def _block_notes(plan: Plan, incomplete: int, lacking: Counter[str], unseen: int, without: int) -> list[str]:
    notes = []
    if incomplete:
        which = joined(
            (
                deferred("{source} in {n}", source=source, n=number)
                for source, number in sorted(lacking.items())
                if number
            ),
            ", ",
        )
        notes.append(
            deferredn(
                "{n} spectrum was left out because a source has no trajectory of it ({which}).",
                "{n} spectra were left out because a source has no trajectory of them ({which}).",
                incomplete,
                which=which,
            )
        )
    if unseen:
        notes.append(
            deferred(
                "{unseen} spectra were left out because fewer than {each} of the {n_scorers} scorers may "
                "score all their trajectories.",
                unseen=unseen,
                each=plan.each,
                n_scorers=len(plan.scorers),
            )
        )
    if without:
        notes.append(
            deferred("{without} trajectories were left out because their spectrum is not stored.", without=without)
        )
    return notes


def _sample_separately(plan: Plan, sampled: Eligible) -> tuple[dict[Kind, list[Unit]], list[str]]:
    """Sample the trajectories of each source for themselves, and pairs of every two sources."""
    units: dict[Kind, list[Unit]] = {}
    notes: list[str] = []
    stratum_of = strata_of(plan, sampled.candidates)
    known = [
        candidate for candidate in sampled.candidates if plan.number is None or all(stratum_of[block_of(candidate)])
    ]
    if unknown := len(sampled.candidates) - len(known):
        notes.append(
            deferred(
                "{unknown} trajectories were left out because their {names} is not known.",
                unknown=unknown,
                names=" or ".join(plan.strata),
            )
        )
    named = {block: stratum_name(plan, of) for block, of in stratum_of.items()}
    strata = sorted({named[block_of(trace)] for trace in known})
    strata += [(task,) for task in sampled.tasks if not any(of[0] == task for of in strata)]
    paired: frozenset[int] = frozenset()
    if "pair" in plan.kinds:
        arms = [arm for drafter in sampled.drafters for arm in _arms(plan, drafter)]
        pairs: dict[Stratum, list[Unit]] = {(*two, *of): [] for two, of in product(combinations(arms, 2), strata)}
        for block, members in _by_block(known).items():
            shuffled = random_stream(plan, f"partners {block}").sample(members, len(members))
            # Of several traces by one source, one is in the pair: the last, as the order is random.
            for two in {_two_arms(plan, two): two for two in _pairs_of(plan, sampled, shuffled)}.values():
                pairs[*_two_arms(plan, two), *named[block]].append(two)
        units["pair"], more = _sample_strata(plan, pairs, frozenset(), random_stream(plan, "pairs"), True)
        notes += more
        # Prefer the items of the pairs, so that preferences and scores are of the same items.
        paired = frozenset(trace.item for unit in units["pair"] for trace in unit)
    if "scores" in plan.kinds:
        single: dict[Stratum, list[Unit]] = {(trace, *of): [] for trace, of in product(sampled.drafters, strata)}
        for texts in _by_item(known):
            single[texts[0].drafter, *named[block_of(texts[0])]].append(texts)
        chosen, more = _sample_strata(plan, single, paired, random_stream(plan, "scores"), False)
        units["scores"] = [(text,) for texts in chosen for text in texts]
        notes += more
    return units, notes


def _arms(plan: Plan, drafter: str) -> tuple[str, ...]:
    """Return what a drafter's pairs are sampled by: the drafter, or the two sources of its texts."""
    return tuple(source_name(drafter, text) for text in plan.texts) if plan.version == "both" else (drafter,)


def _two_arms(plan: Plan, two: Unit) -> tuple[str, str]:
    first, second = (trace.source if plan.version == "both" else trace.drafter for trace in two)
    return first, second


def _sample_strata(
    plan: Plan, strata: Mapping[Stratum, list[Unit]], first: frozenset[int], rng: Random, of_pairs: bool
) -> tuple[list[Unit], list[str]]:
    """Sample units of each stratum, first those with an item of ``first``: as planned, or within a task the number that
    every source has.
    """
    arms = 2 if of_pairs else 1
    notes = []
    if plan.number is not None:
        numbers = dict.fromkeys(strata, plan.number)
        if short := {stratum: units for stratum, units in strata.items() if len(units) < plan.number}:
            counted, number = tr(_stratum_counts(short, arms)), plan.number
            if of_pairs:
                raise TooFew(
                    tr("Found {found}, expected {number} pairs of each source and task.", found=counted, number=number)
                )
            raise TooFew(
                tr(
                    "Found {found}, expected {number} trajectories of each source and task.",
                    found=counted,
                    number=number,
                )
            )
    else:
        fewest: dict[Stratum, int] = {}
        for stratum, units in strata.items():
            of = stratum[arms:]
            fewest[of] = min(len(units), fewest.get(of, len(units)))
        numbers = {stratum: fewest[stratum[arms:]] for stratum in strata}
        for of in (of for of, number in fewest.items() if not number):
            of_task = {stratum: units for stratum, units in strata.items() if stratum[arms:] == of}
            values = {"names": ", ".join(of), "found": _stratum_counts(of_task, arms)}
            notes.append(
                deferred("No pairs of the task {names} were sampled: {found}.", **values)
                if of_pairs
                else deferred("No trajectories of the task {names} were sampled: {found}.", **values)
            )
    chosen: list[Unit] = []
    for stratum, units in strata.items():
        shuffled = rng.sample(units, len(units))
        shuffled.sort(key=lambda unit: not any(candidate.item in first for candidate in unit))
        chosen += shuffled[: numbers[stratum]]
    if not chosen:
        counted = tr(_stratum_counts(strata, arms))
        raise TooFew(
            tr("There are no pairs to sample: {found}.", found=counted)
            if of_pairs
            else tr("There are no trajectories to sample: {found}.", found=counted)
        )
    return chosen, notes


def _stratum_counts(strata: Mapping[Stratum, Sequence[Unit]], arms: int) -> str:
    counts = [
        deferred(
            "{n} of {what} by {sources}",
            n=len(units),
            what=", ".join(stratum[arms:]),
            sources=" / ".join(stratum[:arms]),
        )
        for stratum, units in strata.items()
    ]
    return joined(counts) if counts else deferred("none at all")
