"""Routes of similar items: like one item, like a few examples, and groups of alike traces.

Items that a person may not read yet are left out everywhere: what is like them would tell something of their answers.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field

from agent.language import tr
from reviewer.similar.facts import sentences
from reviewer.similar.grouping import FoundGroup, Grouping, Job
from reviewer.similar.ranking import PURITY
from reviewer.store import Item, NotAllowed, NotFound, QueueFilter
from reviewer.web.context import ContextDep, PersonDep
from reviewer.web.models import similar as answers
from reviewer.web.requests import Filter, ItemNumber, Selection, Sent, queue_filter
from reviewer.web.verdict_first import HIDDEN, VerdictFirstDep
from reviewer.web.visibility import VisibleDep, VisibleItems, require_visible

MOST_ROWS = 500
MOST_EXAMPLES = 200
_TYPICAL = 3

router = APIRouter(prefix="/api/v1", dependencies=[Depends(require_visible)])


class Examples(Sent):
    """Items of a kind, and items that are not."""

    examples: Annotated[list[ItemNumber], Field(min_length=1, max_length=MOST_EXAMPLES)]
    counterexamples: Annotated[list[ItemNumber], Field(max_length=MOST_EXAMPLES, default_factory=list)]
    filter: Filter | None = None
    limit: Annotated[int, Field(ge=1, le=MOST_ROWS)] = 50


class GroupsRequest(Sent):
    """What to group, all items without a selection, and into how many groups; None: chosen by their separation."""

    selection: Selection | None = None
    groups: Annotated[int | None, Field(ge=2, le=60)] = None


def _grouping(request: Request) -> Grouping:
    grouping: Grouping = request.app.state.grouping
    return grouping


GroupingDep = Annotated[Grouping, Depends(_grouping)]


@router.get("/item/{item_id}/similar")
def similar(
    person: PersonDep,
    context: ContextDep,
    visible: VisibleDep,
    first: VerdictFirstDep,
    item_id: int,
    queue_filter_sent: Annotated[QueueFilter, Depends(queue_filter)],
    by: Literal["text", "spectrum"] | None = None,
    limit: Annotated[int, Query(ge=1, le=MOST_ROWS)] = 20,
) -> answers.SimilarItems | answers.SimilarApproved:
    """The items of a filter whose texts and facts, or spectra, are most like this one's. Without ``by``: the approved
    items whose spectra are, for the Evidence panel.
    """
    opened = context.store.items.get(item_id)
    if by is None:
        return _approved(person, context, visible, first, opened)
    if first.hides(opened.row):
        return answers.SimilarItems(rows=[], indexed=0, items=0, complete=True, note=tr(HIDDEN))
    hidden = visible.unreadable()
    among = None if queue_filter_sent == QueueFilter() else visible.matching(queue_filter_sent)
    index, note = context.similar, ""
    if by == "text":
        nearest = index.by_text(item_id, opened.version.id, opened.version.trajectory, hidden, limit, among)
    elif opened.row.spectrum_sha256 is None:
        nearest, note = [], tr("This item has no spectrum to compare.")
    else:
        spectrum = context.gallery.spectrum(opened.row.spectrum_sha256)
        hashes = context.store.blind.scoring.hidden_hashes(person.initials)
        others = {item_id, *hidden}
        nearest = index.by_spectrum(spectrum, others, limit + len(hashes), among)
        if hashes:
            rows_near = context.store.queue.rows([item for item, _ in nearest])
            shown = {row.item_id for row in rows_near if row.spectrum_sha256 not in hashes}
            nearest = [neighbour for neighbour in nearest if neighbour[0] in shown]
        nearest = nearest[:limit]
    likeness = dict(nearest)
    rows = [
        answers.SimilarRow(**dict(row), similarity=round(likeness[row.id], 4)) for row in visible.rows_of([*likeness])
    ]
    corpus = index.corpus
    return answers.SimilarItems(
        rows=rows,
        indexed=int(corpus.items.size) if by == "text" else index.spectra_compared(),
        items=corpus.items_in_store,
        complete=index.complete,
        note=note,
    )


def _approved(
    person: PersonDep, context: ContextDep, visible: VisibleItems, first: VerdictFirstDep, opened: Item
) -> answers.SimilarApproved:
    """The approved items whose spectra are most like this one's. Their verdicts are final; nothing about this item's
    own votes or answer is in it, and items that this person still scores blind are left out.
    """
    if first.hides(opened.row):
        return answers.SimilarApproved(items=[], compared=0, note=tr(HIDDEN))
    if opened.row.spectrum_sha256 is None:
        return answers.SimilarApproved(items=[], compared=0, note=tr("This item has no spectrum to compare."))
    spectrum = context.gallery.spectrum(opened.row.spectrum_sha256)
    hashes = context.store.blind.scoring.hidden_hashes(person.initials)
    neighbours = context.similar.find(spectrum, {opened.id, *visible.items}, hashes)
    rows = []
    for near in neighbours.nearest:
        item = context.store.items.get(near.item_id)
        # It may have been reopened since the index was made.
        if item.row.state == "approved":
            rows.append(_approved_item(item, near.distance))
    note = (
        "" if neighbours.complete else tr("Still comparing: open this again in a few seconds for all approved items.")
    )
    if neighbours.complete and not neighbours.compared:
        note = tr("No item is approved yet.")
    return answers.SimilarApproved(items=rows, compared=neighbours.compared, note=note)


def _approved_item(item: Item, distance: float) -> answers.ApprovedItem:
    answer = item.version.trajectory.answer
    return answers.ApprovedItem(
        id=item.id,
        name=item.row.name,
        task=item.row.task,
        verdict=answer.verdict if answer else None,
        state=item.row.state,
        simulated=item.row.simulated,
        distance=round(distance, 4),
        spectrum=item.row.spectrum_sha256,
    )


# ---- by examples


@router.post("/similar")
def more_like_these(context: ContextDep, visible: VisibleDep, sent: Examples) -> answers.RankedItems:
    """All items, or those of a filter, by how much they are like the examples and unlike the counterexamples."""
    hidden = visible.unreadable()
    named = [*sent.examples, *sent.counterexamples]
    missing = context.store.queue.missing(sorted(set(named)))
    if missing:
        raise NotFound(tr("There is no item {number}.", number=missing[0]))
    if refused := sorted(hidden.intersection(named)):
        raise NotAllowed(tr("Item {number} cannot be an example: you may not read its trace yet.", number=refused[0]))
    among = None if sent.filter is None else visible.matching(sent.filter.query())
    corpus, ranking = context.similar.by_examples(sent.examples, sent.counterexamples, hidden, among)
    items = corpus.items[ranking.order]
    scores = dict(zip(items[: sent.limit].tolist(), ranking.probability[: sent.limit].tolist(), strict=True))
    texts = sentences()
    return answers.RankedItems(
        rows=[
            answers.RankedRow(**dict(row), score=round(max(scores[row.id], 0.0), 4))
            for row in visible.rows_of([*scores])
        ],
        few=ranking.few,
        cut=ranking.cut,
        purity=PURITY,
        ids=items[: ranking.cut].tolist(),
        reasons=[answers.CommonFact(text=texts[name], weight=round(weight, 2)) for name, weight in ranking.reasons],
        used=int(corpus.places(np.array(sorted(set(sent.examples)), dtype=np.int64)).size),
        indexed=int(corpus.items.size),
        items=corpus.items_in_store,
        complete=context.similar.complete,
    )


# ---- groups


@router.post("/groups")
def start_groups(
    person: PersonDep, visible: VisibleDep, grouping: GroupingDep, sent: GroupsRequest
) -> answers.ItemGroups:
    """Group the items of a selection, or all, in the background."""
    items = None if sent.selection is None else visible.selected(sent.selection)
    return _groups(grouping.start(person.initials, items, visible.unreadable(), sent.groups), visible)


@router.get("/groups")
def group_state(person: PersonDep, visible: VisibleDep, grouping: GroupingDep) -> answers.ItemGroups:
    """How far the person's latest grouping is, and its groups, the largest first; ``state`` is "none" without one."""
    job = grouping.job(person.initials)
    if job is None:
        return answers.ItemGroups(state="none", progress=0.0, items=0, missing=0, groups=[])
    return _groups(job, visible)


@router.get("/groups/{number}")
def group_items(person: PersonDep, visible: VisibleDep, grouping: GroupingDep, number: int) -> answers.GroupMembers:
    """All items of one group, in order of their number. :param number: of the group, counted from 1"""
    job = grouping.job(person.initials)
    if job is None or not 1 <= number <= len(job.groups):
        raise NotFound(tr("There is no group {number}.", number=number))
    group, hidden = job.groups[number - 1], visible.unreadable()
    items = sorted(item for item in group.items.tolist() if item not in hidden)
    return answers.GroupMembers(number=number, facts=_facts(group), words=group.words, items=items)


def _groups(job: Job, visible: VisibleItems) -> answers.ItemGroups:
    hidden = visible.unreadable() if job.groups else frozenset()
    return answers.ItemGroups(
        state=job.stage,
        progress=round(job.progress, 2),
        items=job.items,
        missing=job.missing,
        groups=[_group(number, group, hidden, visible) for number, group in enumerate(job.groups, start=1)],
    )


def _group(number: int, group: FoundGroup, hidden: frozenset[int], visible: VisibleItems) -> answers.ItemGroup:
    readable = ~np.isin(group.items, np.fromiter(hidden, dtype=np.int64, count=len(hidden)))
    items, states = group.items[readable], group.states[readable]
    names, counts = np.unique(states, return_counts=True)
    return answers.ItemGroup(
        number=number,
        facts=_facts(group),
        words=group.words,
        size=int(items.size),
        states=dict(zip(names.tolist(), counts.tolist(), strict=True)),
        typical=visible.rows_of(items[:_TYPICAL].tolist()),
    )


def _facts(group: FoundGroup) -> list[str]:
    texts = sentences()
    return [texts[name] for name in group.facts]
