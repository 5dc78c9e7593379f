"""Routes of the Review tab. They are thin: the store enforces the rules in the transaction that writes."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response

from agent.language import localized, tr
from agent.trajectory import TrajectoryError
from agent.trajectory.steps import object_of
from reviewer.pictures import as_stated, png_in_base64, revise, zoom_json, zoom_step
from reviewer.rules.inspection import ISSUES, QUALITIES, SPECTRAL_TYPES, Inspection, InspectionError
from reviewer.rules.workflow import REASONS
from reviewer.store import TRIAL_OUTCOMES, Lease, NotAllowed, QueueFilter
from reviewer.web import requests
from reviewer.web.access import may_manage
from reviewer.web.context import FOREVER, NOT_STORED, ContextDep, PersonDep, program_version
from reviewer.web.live import SpectrumDep
from reviewer.web.payload import (
    atlas_json,
    autosave_stamp,
    decision_json,
    exposures_json,
    inspection_json,
    item_json,
    model_json,
    spectrum_bytes,
    stamp,
)
from reviewer.web.statements import hints_json, statements_json
from reviewer.web.verdict_first import VerdictFirstDep, hash_of, item_of_alias, neutral_spectrum, require_verdict
from reviewer.web.visibility import VisibleDep, require_visible

Filter = Annotated[QueueFilter, Depends(requests.queue_filter)]
_JUDGED = [Depends(require_verdict)]

router = APIRouter(prefix="/api/v1", dependencies=[Depends(require_visible)])


@router.get("/me")
def me(person: PersonDep, context: ContextDep) -> dict[str, Any]:
    """Who you are, the rules in force, and the words that the page needs."""
    return {
        "initials": person.initials,
        "name": person.name,
        "roles": sorted(person.roles),
        "has_password": person.has_password,
        "rules": asdict(context.store.settings.rules()),
        "version": tr(program_version()),
        "reasons": localized(REASONS),
        "scales": {"qualities": localized(QUALITIES), "issues": localized(ISSUES), "spectypes": SPECTRAL_TYPES},
        "problems": list(context.problems),
        "backups": tr(context.backups.problem)
        if context.backups is not None and may_manage(person, context.store)
        else "",
        "clock": _clock_warning(context.store.log.clock_behind()),
        "tasks": {
            key: {"title": task.title, "question": task.question, "guide": task.guide}
            for key, task in context.tasks.items()
        },
    }


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
    context: ContextDep, visible: VisibleDep, wanted: Filter, after: int | None = None, limit: int = 60
) -> dict[str, Any]:
    """Rows of the queue in the order of their numbers; ``after``: the last number that you have."""
    stamp = context.store.log.head().number  # before the rows, so that a change meanwhile is noticed
    rows, total = visible.rows(wanted, after, max(1, min(limit, 200)))
    return {"rows": rows, "total": total, "stamp": stamp}


@router.get("/queue/stamp")
def queue_stamp(person: PersonDep, context: ContextDep) -> dict[str, int]:
    """A number that grows with every change of an item, so that pages load their list only then."""
    return {"stamp": context.store.log.head().number}


@router.get("/facets")
def facets(person: PersonDep, context: ContextDep) -> dict[str, list[str] | dict[str, str]]:
    """Values to filter by; those of ``trial`` and ``order`` only where an item has a trial, or P(YES). ``assigned`` are
    the people to whom an item can be assigned; ``names`` has their names, and those of people who have left the team
    and to whom items are still assigned, by initials."""
    found: dict[str, list[str] | dict[str, str]] = {
        name: list(values) for name, values in context.store.queue.facets().items()
    }
    found["trial"] = list(TRIAL_OUTCOMES) if context.store.trust.any_trials() else []
    found["order"] = ["value"] if context.store.trust.any_scores() else []
    people, assignees = context.store.accounts.people(), context.store.assignments.people()
    found["assigned"] = [one.initials for one in people if one.active]
    found["names"] = {one.initials: one.name for one in people if one.active or one.initials in assignees}
    return found


@router.get("/first")
def first(visible: VisibleDep, wanted: Filter, after: int | None = None) -> dict[str, Any]:
    """The next item after this one that waits for the person; ``from_start``: the search began again at the first."""
    found = None if after is None else visible.next_undone(after, wanted)
    if found is not None:
        return {"id": found, "from_start": False}
    return {"id": visible.first_undone(wanted), "from_start": after is not None}


@router.post("/next")
def next_by_value(visible: VisibleDep, wanted: Filter, sent: requests.NextWanted) -> dict[str, Any]:
    """The next item by value of information, whose showing is recorded; ``id`` is None if none with P(YES) waits."""
    found = visible.next_by_value(sent.shown, wanted, sent.key)
    return found or {"id": None, "arm": None, "probability": None}


@router.get("/place/{item_id}")
def place(visible: VisibleDep, item_id: int, wanted: Filter) -> dict[str, Any]:
    """Where an item is in the list of a filter: how many come before it, the next ones and the previous one."""
    return {
        "next": visible.neighbours(item_id, wanted, 3),
        "back": visible.neighbours(item_id, wanted, 1, backwards=True),
        "before": visible.position(item_id, wanted),
    }


@router.get("/item/{item_id}")
def item(person: PersonDep, context: ContextDep, item_id: int, first: VerdictFirstDep) -> dict[str, Any]:
    """An item with its present version, its state, and what you may do."""
    found = context.store.items.get(item_id)
    return item_json(context.store, found, person, context.tasks.get(found.row.task), first.hides(found.row))


@router.get("/item/{item_id}/history")
def history(person: PersonDep, context: ContextDep, item_id: int, first: VerdictFirstDep) -> dict[str, Any]:
    """The versions and decisions of an item that you may see, oldest first."""
    found = context.store.items.get(item_id)
    shown = item_json(context.store, found, person, context.tasks.get(found.row.task), first.hides(found.row))
    if shown["hidden"] or shown["standing"]["withheld"]:
        # People who may still judge independently see only what is open to them.
        return {"versions": [], "decisions": shown["standing"]["decisions"], "withheld": True}
    return {
        "withheld": False,
        "versions": [
            {
                "number": v.number,
                "author": v.author,
                "before_import": list(v.trajectory.authors) if v.number == 1 else [],
                "reason": v.reason,
                "at": v.at.isoformat(),
                "steps": v.trajectory.to_json()["steps"],
            }
            for v in context.store.items.versions(item_id)
        ],
        "decisions": [
            {
                **decision_json(r.decision),
                "version": r.version,
                "at": r.at.isoformat(),
                "withdrawn": r.withdrawn_by is not None,
            }
            for r in context.store.items.history(item_id)
        ],
    }


@router.get("/spectrum/{sha256}")
def spectrum(person: PersonDep, context: ContextDep, sha256: str) -> Response:
    """A spectrum by its hash; by the alias of a hidden item, without what tells the class."""
    found, headers = context.gallery.spectrum(hash_of(context.store, sha256)), FOREVER
    item_id = item_of_alias(sha256)
    if item_id is not None:
        found, headers = neutral_spectrum(found, item_id), NOT_STORED
    return Response(spectrum_bytes(found), media_type="application/octet-stream", headers=headers)


@router.get("/spectrum/{sha256}/model")
def model(spectrum: SpectrumDep) -> dict[str, Any]:
    """The model that the survey's pipeline fitted to a spectrum."""
    return model_json(spectrum)


@router.get("/spectrum/{sha256}/exposures")
def exposures(spectrum: SpectrumDep) -> dict[str, Any]:
    """The single exposures of a spectrum."""
    return exposures_json(spectrum)


@router.get("/atlas")
def atlas(person: PersonDep, context: ContextDep, survey: str = "", task: str = "") -> dict[str, Any]:
    """The spectral lines of a task, the sky bands, and the arm joins of a survey."""
    return atlas_json(survey, context.tasks.get(task))


@router.get("/item/{item_id}/hints")
def item_hints(context: ContextDep, item_id: int, first: VerdictFirstDep, version: int | None = None) -> dict[str, Any]:
    """The hints on each zoom of an item's present version."""
    found = context.store.items.get(item_id)
    return {"hints": {} if first.hides(found.row) else hints_json(context, found)}


@router.post("/item/{item_id}/statements", dependencies=_JUDGED)
def statements(context: ContextDep, visible: VisibleDep, item_id: int, sent: requests.Texts) -> dict[str, Any]:
    """Compare the texts of these steps with their tool calls and the data; nothing is stored."""
    return statements_json(context, visible.item(item_id), sent.steps)


@router.get("/picture/{name}")
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
    return Response(png, media_type="image/png", headers=FOREVER)


@router.post("/look")
def tool_call(context: ContextDep, visible: VisibleDep, sent: requests.ToolCall) -> dict[str, Any]:
    """Draw the zoom of a tool call on an item's spectrum and measure its hints; nothing is stored."""
    found = visible.item(sent.item)
    sha256 = found.row.spectrum_sha256
    if sha256 is None:
        raise TrajectoryError(tr("This item has no spectrum, so no new picture can be drawn."))
    trajectory = found.version.trajectory
    step = zoom_step(context.gallery, sha256, trajectory, "new", sent.arguments)
    spectrum = as_stated(context.gallery.spectrum(sha256), trajectory)
    return {
        "step": zoom_json(step),
        "png": png_in_base64(context.gallery, sha256, trajectory, step),
        "hints": localized(context.hints(spectrum, step, context.tasks.get(found.row.task))) if step.ok else [],
    }


@router.post("/item/{item_id}/lease")
def lease(person: PersonDep, context: ContextDep, item_id: int) -> dict[str, Any]:
    """Take the lease of an item: while you hold it, nobody else can decide."""
    return {
        **_lease_json(context.store.leases.take(person.initials, item_id)),
        "stamp": stamp(context.store.items.get(item_id)),
    }


@router.post("/renew")
def renew(person: PersonDep, context: ContextDep, sent: requests.LeaseToken) -> dict[str, Any]:
    """Renew a lease before it ends."""
    return _lease_json(context.store.leases.renew(sent.lease))


@router.post("/release")
def release(person: PersonDep, context: ContextDep, sent: requests.LeaseToken) -> dict[str, Any]:
    """Give a lease back."""
    context.store.leases.release(sent.lease)
    return {}


@router.post("/item/{item_id}/autosave")
def autosave(person: PersonDep, context: ContextDep, item_id: int, sent: requests.Autosaved) -> dict[str, Any]:
    """Save unsent text. If another page of the same person has saved text here meanwhile, that text is replaced, and
    the answer contains it, so that this page can keep it."""
    body = {"steps": sent.steps, "comment": sent.comment}
    before = context.store.leases.autosaved(person.initials, item_id)
    made = context.store.leases.autosave(person=person.initials, item_id=item_id, base_version_id=sent.base, body=body)
    replaced = None
    if before is not None and before.base_version_id == sent.base and dict(before.body) != body:
        written = autosave_stamp(before)
        replaced = None if written == sent.after else {"at": written, "body": dict(before.body)}
    return {"at": autosave_stamp(made), "replaced": replaced}


@router.post("/item/{item_id}/discard")
def discard(person: PersonDep, context: ContextDep, item_id: int, sent: requests.Autosaved) -> dict[str, Any]:
    """Delete your unsent text on a version."""
    context.store.leases.discard_autosave(person=person.initials, item_id=item_id, base_version_id=sent.base)
    return {}


@router.post("/item/{item_id}/version", dependencies=_JUDGED)
def version(person: PersonDep, context: ContextDep, item_id: int, sent: requests.Saved) -> dict[str, Any]:
    """Save a new version of an item's steps; it needs your lease."""
    base = context.store.items.version(sent.base).trajectory
    revised = revise(base, sent.steps, context.gallery)
    made = context.store.reviews.save_version(
        person=person.initials,
        item_id=item_id,
        base_version_id=sent.base,
        trajectory=revised,
        reason=sent.reason,
        key=sent.key,
        lease_token=sent.lease,
    )
    return {"version": made.id, "number": made.number, "at": made.at.isoformat()}


@router.post("/item/{item_id}/medium", dependencies=_JUDGED)
def medium(person: PersonDep, context: ContextDep, item_id: int, sent: requests.MediumStated) -> dict[str, Any]:
    """State whether the wavelengths are of air or vacuum, where the file does not; it needs your lease."""
    made = context.store.reviews.set_medium(
        person=person.initials,
        item_id=item_id,
        base_version_id=sent.base,
        medium=sent.medium,
        key=sent.key,
        lease_token=sent.lease,
    )
    return {"version": made.id, "number": made.number, "at": made.at.isoformat()}


@router.post("/item/{item_id}/undo")
def undo(person: PersonDep, context: ContextDep, item_id: int, sent: requests.Undone) -> dict[str, Any]:
    """Take back your last decision on an item, as long as nobody has built on it."""
    return {
        "state": context.store.reviews.undo(person=person.initials, item_id=item_id, key=sent.key).state,
        "stamp": stamp(context.store.items.get(item_id)),
    }


@router.post("/item/{item_id}/mark", dependencies=_JUDGED)
def mark(person: PersonDep, context: ContextDep, item_id: int, sent: requests.Marked) -> dict[str, Any]:
    """Mark one step of a version, or clear your mark."""
    made = context.store.marks.add(
        person=person.initials,
        item_id=item_id,
        version_id=sent.version,
        step_id=sent.step,
        mark=sent.mark,
        key=sent.key,
        note=sent.note,
    )
    return {"at": made.at.isoformat()}


@router.post("/item/{item_id}/inspection")
def inspection(person: PersonDep, context: ContextDep, item_id: int, sent: requests.Inspected) -> dict[str, Any]:
    """Record your own redshift, quality, issues and class of an item's spectrum."""
    values = sent.model_dump(exclude={"key"})
    try:
        found = Inspection(person.initials, **values)
    except InspectionError as error:
        raise NotAllowed(str(error)) from error
    return inspection_json(context.store.inspections.add(item_id=item_id, inspection=found, key=sent.key))


@router.post("/item/{item_id}/verdict")
def verdict(person: PersonDep, context: ContextDep, item_id: int, sent: requests.OwnVerdictGiven) -> dict[str, Any]:
    """Commit your own verdict on a version, before you see those of others."""
    made = context.store.marks.commit_verdict(
        person=person.initials, item_id=item_id, version_id=sent.version, verdict=sent.verdict
    )
    return {"verdict": made.verdict, "at": made.at.isoformat()}


def _json_object(text: str) -> dict[str, Any]:
    """Parse a JSON object. :raises TrajectoryError: it is no JSON object"""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = text
    return object_of({"arguments": found}, "arguments")


def _lease_json(lease: Lease) -> dict[str, Any]:
    return {
        "lease": lease.token,
        "round": lease.round,
        "until": lease.expires_at.isoformat(),
        "ended": lease.ended,
    }
