"""Candidates that can be sampled for a plan, and notes on those that cannot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from agent.language import deferred, deferredn, tr
from reviewer.blind.balance import TooFew
from reviewer.blind.plan import Candidate, Lack, Plan

_SHOWN = 10  # names or numbers listed in a sentence


@dataclass(frozen=True)
class Eligible:
    """Candidates that enough scorers may see, by item; gold and training items separately.

    :param drafters: in the plan's order; by name where the plan leaves them open
    :param notes: what was left out, one sentence each
    """

    candidates: tuple[Candidate, ...]
    gold: tuple[Candidate, ...]
    training: tuple[Candidate, ...]
    drafters: tuple[str, ...]
    tasks: tuple[str, ...]
    notes: tuple[str, ...]


def eligible(plan: Plan, candidates: Iterable[Candidate]) -> Eligible:
    """Return what can be sampled.

    :raises TooFew: an item of the plan, or a source of its primary comparison, does not exist, too few scorers may
        see an item, an item of the plan has no text of its version, or a source would be of a person and of a machine
    """
    by_item: dict[int, list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda text_of: (text_of.item, plan.texts.index(text_of.text))):
        by_item.setdefault(candidate.item, []).append(candidate)
    _require(plan.items, by_item, deferred("items: found no item {missing} in the database"))
    gold_items = sorted(gold.item for gold in plan.gold)
    _require(gold_items, by_item, deferred("gold items: found no item {missing} in the database"))
    _require(plan.training, by_item, deferred("training items: found no item {missing} in the database"))
    # Of both texts, the draft is the one for practice and for calibration: it is the last of an item.
    gold = tuple(_with_exposures(plan, by_item.pop(item)[-1]) for item in gold_items)
    training = tuple(by_item[item][-1] for item in plan.training)  # seeing it again does no harm
    for item in plan.training:
        del by_item[item]
    _require_texts(gold, deferred("gold items: {problems}"))
    _require_texts(training, deferred("training items: {problems}"))
    items = [[_with_exposures(plan, text) for text in texts] for texts in by_item.values()]
    matching = [texts for texts in items if _matches_plan(plan, texts[0])]
    usable = [texts for texts in matching if texts[0].lacks is None]
    plain = [texts for texts in usable if plan.giveaways == "flag" or not any(text.gives_away for text in texts)]
    kept = [texts for texts in plain if len(allowed_scorers(plan, texts)) >= plan.each]
    if plan.items and len(kept) < len(plan.items):
        raise TooFew(_missing_items(plan, matching))
    drafters = plan.sources or tuple(sorted({texts[0].drafter for texts in (usable or matching)}))
    shown = [text for texts in usable for text in texts]
    _require_one_author(shown)
    _require_compared(plan, list(dict.fromkeys((*plan.sources, *sorted({text_of.source for text_of in shown})))))
    lacking = Counter(texts[0].lacks for texts in matching if texts[0].lacks is not None)
    return Eligible(
        candidates=tuple(text for texts in kept for text in texts),
        gold=gold,
        training=training,
        drafters=drafters,
        tasks=plan.tasks or tuple(sorted({texts[0].task for texts in usable})),
        notes=tuple(_notes(plan, lacking, len(usable) - len(plain), len(plain) - len(kept))),
    )


def allowed_scorers(plan: Plan, traces: Iterable[Candidate]) -> frozenset[str]:
    """Return the scorers who are barred from none of the traces."""
    return frozenset(plan.scorers).difference(*(trace.barred for trace in traces))


def listed(names: Iterable[object]) -> str:
    """Return names or numbers for a message, at most ten of them."""
    words = [str(name) for name in names]
    shown = ", ".join(words[:_SHOWN])
    return deferred("{names} and {n} more", names=shown, n=len(words) - _SHOWN) if len(words) > _SHOWN else shown


def _with_exposures(plan: Plan, candidate: Candidate) -> Candidate:
    return (
        replace(candidate, barred=candidate.barred | candidate.exposed)
        if plan.earlier == "bar" and candidate.exposed
        else candidate
    )


def _require(items: Iterable[int], present: Mapping[int, object], message: str) -> None:
    missing = [item for item in items if item not in present]
    if missing:
        raise TooFew(tr(message, missing=listed(missing)))


_LACKS: Mapping[Lack, str] = {
    "edited before import": deferred("people revised item {item} before it was imported, so its draft is not here"),
    "not approved": deferred("item {item} is not approved"),
    "unchanged": deferred("item {item} was approved as it was drafted, so it has one text, not two"),
}


def _require_texts(items: Iterable[Candidate], message: str) -> None:
    """Check that named items have a text of the plan's version. :raises TooFew: some have none"""
    problems = [tr(_LACKS[item.lacks], item=item.item) for item in items if item.lacks is not None]
    if problems:
        raise TooFew(tr(message, problems="; ".join(problems[:_SHOWN])))


def _require_one_author(candidates: Iterable[Candidate]) -> None:
    """Check that no name of a source stands for texts of different authors or kinds. :raises TooFew: one does"""
    known: dict[str, tuple[object, ...]] = {}
    for candidate in candidates:
        of = (candidate.drafter, candidate.text, candidate.by_person)
        if known.setdefault(candidate.source, of) != of:
            raise TooFew(
                tr(
                    "{name} is the name of two sources with different authors or kinds of text. Choose other sources, "
                    "or the batch of one of them.",
                    name=candidate.source,
                )
            )


def _require_compared(plan: Plan, sources: Sequence[str]) -> None:
    """Check that the sources of the primary comparison are there; the plan knows only sources that it names itself."""
    missing = [
        source for source in (plan.analysis.first, plan.analysis.second) if source is not None and source not in sources
    ]
    if missing:
        sources_listed = listed(sources) or tr("none")
        raise TooFew(
            tr(
                "analysis: found no trajectory of {missing}, expected two of the sources {there}",
                missing=listed(missing),
                there=sources_listed,
            )
        )


def _matches_plan(plan: Plan, candidate: Candidate) -> bool:
    return (
        (not plan.items or candidate.item in plan.items)
        and (not plan.sources or candidate.drafter in plan.sources)
        and (not plan.tasks or candidate.task in plan.tasks)
    )


def _missing_items(plan: Plan, matching: Iterable[Sequence[Candidate]]) -> str:
    """Return a sentence with the plan's own items that cannot be sampled, and why."""
    matching_of = {texts[0].item: texts for texts in matching}
    problems = []
    for item in plan.items:
        texts = matching_of.get(item)
        if texts is None:
            problems.append(tr("item {item} has no source and task of the plan", item=item))
        elif (lacks := texts[0].lacks) is not None:
            problems.append(tr(_LACKS[lacks], item=item))
        elif plan.giveaways == "leave out" and any(text.gives_away for text in texts):
            problems.append(tr("item {item} reveals its author", item=item))
        elif (may := len(allowed_scorers(plan, texts))) < plan.each:
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


def _lack_note(lack: Lack, number: int) -> str:
    """Return how many items have no text of the plan's version, and why."""
    if lack == "edited before import":
        return deferredn(
            "{n} item was left out because people revised it before it was imported: its draft is not here.",
            "{n} items were left out because people revised them before they were imported: their drafts are not here.",
            number,
        )
    if lack == "not approved":
        return deferredn(
            "{n} item was left out because it is not approved.",
            "{n} items were left out because they are not approved.",
            number,
        )
    return deferredn(
        "{n} item was left out because it was approved as it was drafted: it has one text, not two.",
        "{n} items were left out because they were approved as they were drafted: they have one text, not two.",
        number,
    )


def _notes(plan: Plan, lacking: Mapping[Lack, int], giving_away: int, too_few: int) -> list[str]:
    notes = [_lack_note(lack, number) for lack, number in sorted(lacking.items())]
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
