"""Routes of the Review tab. They are thin: the store enforces the rules in the transaction that writes."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response

from agent.language import tr
from agent.trajectory import TrajectoryError
from agent.trajectory.steps import object_of
from reviewer.drafting.demo import BATCH as DEMO
from reviewer.pictures import as_stated, png_in_base64, revise, zoom_step
from reviewer.rules.inspection import ISSUES, QUALITIES, SPECTRAL_TYPES, Inspection, InspectionError
from reviewer.rules.item_numbers import item_of_alias
from reviewer.rules.workflow import REASONS
from reviewer.store import TRIAL_OUTCOMES, NotAllowed, QueueFilter, Store
from reviewer.web import requests
from reviewer.web.access import may_manage
from reviewer.web.context import FOREVER, IN_ONE_LANGUAGE, NOT_STORED, ContextDep, PersonDep, program_version
from reviewer.web.live import SpectrumDep
from reviewer.web.models import Done, evidence, media, sent, work
from reviewer.web.models import item as item_answers
from reviewer.web.models import queue as queue_answers
from reviewer.web.payload import (
    atlas_of,
    autosave_stamp,
    exposures_of,
    fields_of_decision,
    item_for,
    pipeline_model,
    spectrum_bytes,
    stamp,
    standing_for,
    steps_of,
)
from reviewer.web.statements import hints_of, statements_of
from reviewer.web.verdict_first import VerdictFirstDep, hash_of, neutral_spectrum, require_verdict
from reviewer.web.visibility import VisibleDep, require_visible

Filter = Annotated[QueueFilter, Depends(requests.queue_filter)]
PNG, BYTES = "image/png", "application/octet-stream"
_JUDGED = [Depends(require_verdict)]

router = APIRouter(prefix="/api/v1", dependencies=[Depends(require_visible)])


@router.get("/me")
def me(person: PersonDep, context: ContextDep) -> queue_answers.Person:
    """Who you are, the rules in force, and the words that the page needs."""
    backups = context.backups if may_manage(person, context.store) else None
    return queue_answers.Person(
        initials=person.initials,
        name=person.name,
        roles=sorted(person.roles),
        has_password=person.has_password,
        rules=queue_answers.Rules.model_validate(context.store.settings.rules()),
        version=tr(program_version()),
        reasons=REASONS,
        scales=queue_answers.Scales(qualities=QUALITIES, issues=ISSUES, spectypes=SPECTRAL_TYPES),
        problems=context.problems,
        backups="" if backups is None else tr(backups.problem),
        demo=_demo_items(context.store),
        clock=_clock_warning(context.store.log.clock_behind()),
        tasks={key: queue_answers.TaskText.model_validate(task) for key, task in context.tasks.items()},
    )


def _demo_items(store: Store) -> int:
    """Return the number of items if all are of the demo, else 0."""
    items = store.queue.page(QueueFilter(batch=DEMO), "", limit=1).total
    return items if items and items == store.queue.page(QueueFilter(), "", limit=1).total else 0


def _clock_warning(behind: timedelta | None) -> str:
    if behind is None:
        return ""
    return tr(
        "The server's clock was set back {behind:.0f} minutes. The order of all records is kept, but "
        "displayed times may be wrong; please check the server clock.",
        behind=behind / timedelta(minutes=1),
    )


@router.get("/queue")
def queue(
    context: ContextDep, visible: VisibleDep, queue_filter: Filter, after: int | None = None, limit: int = 60
) -> queue_answers.QueuePage:
    """Rows of the queue in the order of their numbers; ``after``: the last number that you have."""
    stamp = context.store.log.head().number  # before the rows, so that a change meanwhile is noticed
    rows, total = visible.rows(queue_filter, after, max(1, min(limit, 200)))
    return queue_answers.QueuePage(rows=rows, total=total, stamp=stamp)


@router.get("/queue/stamp")
def queue_stamp(person: PersonDep, context: ContextDep) -> queue_answers.QueueStamp:
    """A number that grows with every change of an item, so that pages load their list only then, and the numbers on
    the page's tabs."""
    return queue_answers.QueueStamp(
        stamp=context.store.log.head().number,  # before the rest, so that a change meanwhile is noticed
        waiting=sum(context.store.queue.waiting(person.initials).values()),
        sessions=context.store.blind.scoring.sessions_waiting(person.initials),
    )


@router.get("/facets")
def facets(person: PersonDep, context: ContextDep) -> queue_answers.Facets:
    """Values to filter by; those of ``trial`` and ``order`` only where an item has a trial, or P(YES). ``assigned`` are
    the people to whom an item can be assigned; ``names`` has their names, and those of people who have left the team
    and to whom items are still assigned, by initials."""
    people, assignees = context.store.accounts.people(), context.store.assignments.people()
    return queue_answers.Facets.model_validate(
        {
            **context.store.queue.facets(),
            "trial": TRIAL_OUTCOMES if context.store.trust.any_trials() else (),
            "order": ["value"] if context.store.trust.any_scores() else [],
            "assigned": [person.initials for person in people if person.active],
            "names": {
                person.initials: person.name for person in people if person.active or person.initials in assignees
            },
        }
    )


@router.get("/first")
def first(visible: VisibleDep, queue_filter: Filter, after: int | None = None) -> queue_answers.NextItem:
    """The next item after this one that waits for the person; ``from_start``: the search began again at the first."""
    later = None if after is None else visible.next_undone(after, queue_filter)
    if later is not None:
        return queue_answers.NextItem(id=later, from_start=False)
    return queue_answers.NextItem(id=visible.first_undone(queue_filter), from_start=after is not None)


@router.post("/next")
def next_by_value(visible: VisibleDep, queue_filter: Filter, sent: requests.NextRequest) -> queue_answers.NextByValue:
    """The next item by value of information, whose showing is recorded; ``id`` is None if none with P(YES) waits."""
    return visible.next_by_value(sent.shown, queue_filter, sent.key)


@router.get("/place/{item_id}")
def place(visible: VisibleDep, item_id: int, queue_filter: Filter) -> queue_answers.Place:
    """Where an item is in the list of a filter: how many come before it, the next ones and the previous one."""
    return queue_answers.Place(
        next=visible.neighbours(item_id, queue_filter, 3),
        back=visible.neighbours(item_id, queue_filter, 1, backwards=True),
        before=visible.position(item_id, queue_filter),
    )


@router.get("/item/{item_id}", response_model=item_answers.Item)
def item(person: PersonDep, context: ContextDep, item_id: int, first: VerdictFirstDep) -> Response:
    """An item with its present version, its state, and what you may do."""
    stored = context.store.items.get(item_id)
    task = context.tasks.get(stored.row.task)
    return sent(item_for(context.store, stored, person, task, first.hides(stored.row)))


@router.get("/item/{item_id}/history")
def history(person: PersonDep, context: ContextDep, item_id: int, first: VerdictFirstDep) -> item_answers.History:
    """The versions and decisions of an item that you may see, oldest first."""
    stored = context.store.items.get(item_id)
    hidden = first.hides(stored.row)
    standing = standing_for(stored.standing, context.store.settings.rules(), person, hidden)
    if hidden or standing.withheld:
        # People who may still judge independently see only what is open to them.
        decisions = [item_answers.RecordedDecision(**dict(decision)) for decision in standing.decisions]
        return item_answers.History(withheld=True, versions=[], decisions=decisions)
    return item_answers.History(
        withheld=False,
        versions=[
            item_answers.VersionText(
                number=version.number,
                author=version.author,
                before_import=version.trajectory.authors if version.number == 1 else (),
                reason=version.reason,
                at=version.at,
                steps=steps_of(version.trajectory),
            )
            for version in context.store.items.versions(item_id)
        ],
        decisions=[
            item_answers.RecordedDecision(
                **fields_of_decision(recorded.decision),
                version=recorded.version,
                at=recorded.at,
                withdrawn=recorded.withdrawn_by is not None,
            )
            for recorded in context.store.items.history(item_id)
        ],
    )


@router.get("/spectrum/{sha256}", **media(BYTES))
def spectrum(person: PersonDep, context: ContextDep, sha256: str) -> Response:
    """A spectrum by its hash; by the alias of a hidden item, without what tells the class."""
    spectrum_read, headers = context.gallery.spectrum(hash_of(context.store, sha256)), IN_ONE_LANGUAGE
    item_id = item_of_alias(sha256)
    if item_id is not None:
        spectrum_read, headers = neutral_spectrum(spectrum_read, item_id), NOT_STORED
    return Response(spectrum_bytes(spectrum_read), media_type=BYTES, headers=headers)


@router.get("/spectrum/{sha256}/model")
def model(spectrum: SpectrumDep) -> evidence.PipelineModel:
    """The model that the survey's pipeline fitted to a spectrum."""
    return pipeline_model(spectrum)


@router.get("/spectrum/{sha256}/exposures")
def exposures(spectrum: SpectrumDep) -> evidence.Exposures:
    """The single exposures of a spectrum."""
    return exposures_of(spectrum)


@router.get("/atlas", response_model=evidence.Atlas)
def atlas(person: PersonDep, context: ContextDep, survey: str = "", task: str = "") -> Response:
    """The spectral lines of a task, the sky bands, and the arm joins of a survey."""
    return sent(atlas_of(survey, context.tasks.get(task)))


@router.get("/item/{item_id}/hints")
def item_hints(
    context: ContextDep, item_id: int, first: VerdictFirstDep, version: int | None = None
) -> evidence.ItemHints:
    """The hints on each zoom of an item's present version."""
    stored = context.store.items.get(item_id)
    return evidence.ItemHints(hints={} if first.hides(stored.row) else hints_of(context, stored))


@router.post("/item/{item_id}/statements", dependencies=_JUDGED)
def statements(context: ContextDep, visible: VisibleDep, item_id: int, sent: requests.Texts) -> evidence.Statements:
    """Compare the texts of these steps with their tool calls and the data; nothing is stored."""
    return statements_of(context, visible.item(item_id), sent.steps)


@router.get("/picture/{name}", **media(PNG))
def picture(
    person: PersonDep,
    context: ContextDep,
    name: str,
    spectrum: str | None = None,
    redshift: float | None = None,
    arguments: str = "{}",
) -> Response:
    """A picture of a tool call, as PNG."""
    sha256 = None if spectrum is None else hash_of(context.store, spectrum)
    png = context.gallery.picture(name, sha256, redshift, _json_object(arguments))
    return Response(png, media_type=PNG, headers=FOREVER)


@router.post("/zoom")
def zoom(context: ContextDep, visible: VisibleDep, sent: requests.ToolCall) -> evidence.ZoomPreview:
    """Draw the zoom of a tool call on an item's spectrum and measure its hints; nothing is stored."""
    stored = visible.item(sent.item)
    sha256 = stored.row.spectrum_sha256
    if sha256 is None:
        raise TrajectoryError(tr("This item has no spectrum, so no new picture can be drawn."))
    trajectory = stored.version.trajectory
    step = zoom_step(context.gallery, sha256, trajectory, "new", sent.arguments)
    spectrum = as_stated(context.gallery.spectrum(sha256), trajectory)
    hints = context.hints(spectrum, step, context.tasks.get(stored.row.task)) if step.ok else []
    return evidence.ZoomPreview(
        step=item_answers.ZoomDrawn.model_validate(step),
        png=png_in_base64(context.gallery, sha256, trajectory, step),
        hints=[evidence.Hint.model_validate(hint) for hint in hints],
    )


@router.post("/item/{item_id}/lease")
def lease(person: PersonDep, context: ContextDep, item_id: int) -> work.LeaseTaken:
    """Take the lease of an item: while you hold it, nobody else can decide."""
    taken = context.store.leases.take(person.initials, item_id)
    return work.LeaseTaken(
        lease=taken.token,
        round=taken.round,
        until=taken.expires_at,
        ended=taken.ended,
        stamp=stamp(context.store.items.get(item_id)),
    )


@router.post("/renew")
def renew(person: PersonDep, context: ContextDep, sent: requests.LeaseToken) -> work.Lease:
    """Renew a lease before it ends."""
    return work.Lease.model_validate(context.store.leases.renew(sent.lease))


@router.post("/release")
def release(person: PersonDep, context: ContextDep, sent: requests.LeaseToken) -> Done:
    """Give a lease back."""
    context.store.leases.release(sent.lease)
    return Done()


@router.post("/item/{item_id}/autosave")
def autosave(person: PersonDep, context: ContextDep, item_id: int, sent: requests.Autosaved) -> work.TextSaved:
    """Save unsent text. If another page of the same person has saved text here meanwhile, that text is replaced, and
    the answer contains it, so that this page can keep it."""
    body = {"steps": sent.steps, "comment": sent.comment}
    before = context.store.leases.autosaved(person.initials, item_id)
    saved = context.store.leases.autosave(person=person.initials, item_id=item_id, base_version_id=sent.base, body=body)
    replaced = None
    if before is not None and before.base_version_id == sent.base and dict(before.body) != body:
        written = autosave_stamp(before)
        replaced = None if written == sent.after else work.ReplacedText(at=written, body=dict(before.body))
    return work.TextSaved(at=autosave_stamp(saved), replaced=replaced)


@router.post("/item/{item_id}/discard")
def discard(person: PersonDep, context: ContextDep, item_id: int, sent: requests.Autosaved) -> Done:
    """Delete your unsent text on a version."""
    context.store.leases.discard_autosave(person=person.initials, item_id=item_id, base_version_id=sent.base)
    return Done()


@router.post("/item/{item_id}/version", dependencies=_JUDGED)
def version(person: PersonDep, context: ContextDep, item_id: int, sent: requests.Saved) -> work.VersionSaved:
    """Save a new version of an item's steps; it needs your lease."""
    base = context.store.items.version(sent.base).trajectory
    revised = revise(base, sent.steps, context.gallery)
    saved = context.store.reviews.save_version(
        person=person.initials,
        item_id=item_id,
        base_version_id=sent.base,
        trajectory=revised,
        reason=sent.reason,
        key=sent.key,
        lease_token=sent.lease,
    )
    return work.VersionSaved.model_validate(saved)


@router.post("/item/{item_id}/medium", dependencies=_JUDGED)
def medium(person: PersonDep, context: ContextDep, item_id: int, sent: requests.MediumStated) -> work.VersionSaved:
    """State whether the wavelengths are of air or vacuum, where the file does not; it needs your lease."""
    saved = context.store.reviews.set_medium(
        person=person.initials,
        item_id=item_id,
        base_version_id=sent.base,
        medium=sent.medium,
        key=sent.key,
        lease_token=sent.lease,
    )
    return work.VersionSaved.model_validate(saved)


@router.post("/item/{item_id}/undo")
def undo(person: PersonDep, context: ContextDep, item_id: int, sent: requests.Undone) -> work.DecisionUndone:
    """Take back your last decision on an item, as long as nobody has built on it."""
    standing = context.store.reviews.undo(person=person.initials, item_id=item_id, key=sent.key)
    return work.DecisionUndone(state=standing.state, stamp=stamp(context.store.items.get(item_id)))


@router.post("/item/{item_id}/mark", dependencies=_JUDGED)
def mark(person: PersonDep, context: ContextDep, item_id: int, sent: requests.Marked) -> work.MarkSaved:
    """Mark one step of a version, or clear your mark."""
    saved = context.store.marks.add(
        person=person.initials,
        item_id=item_id,
        version_id=sent.version,
        step_id=sent.step,
        mark=sent.mark,
        key=sent.key,
        note=sent.note,
    )
    return work.MarkSaved.model_validate(saved)


@router.post("/item/{item_id}/inspection")
def inspection(
    person: PersonDep, context: ContextDep, item_id: int, sent: requests.Inspected
) -> item_answers.Inspection:
    """Record your own redshift, quality, issues and class of an item's spectrum."""
    values = sent.model_dump(exclude={"key"})
    try:
        given = Inspection(person.initials, **values)
    except InspectionError as error:
        raise NotAllowed(str(error)) from error
    saved = context.store.inspections.add(item_id=item_id, inspection=given, key=sent.key)
    return item_answers.Inspection.model_validate(saved)


@router.post("/item/{item_id}/verdict")
def verdict(
    person: PersonDep, context: ContextDep, item_id: int, sent: requests.OwnVerdictGiven
) -> work.VerdictCommitted:
    """Commit your own verdict on a version, before you see those of others."""
    committed = context.store.marks.commit_verdict(
        person=person.initials, item_id=item_id, version_id=sent.version, verdict=sent.verdict
    )
    return work.VerdictCommitted.model_validate(committed)


def _json_object(text: str) -> dict[str, Any]:
    """Parse a JSON object. :raises TrajectoryError: it is no JSON object"""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    return object_of({"arguments": value}, "arguments")
