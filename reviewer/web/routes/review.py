"""The Review page's HTTP routes. They carry; the rules are the store's, checked there in each transaction."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response

from agent.trajectory import TrajectoryError
from agent.trajectory.steps import object_of
from reviewer.rules.workflow import REASONS
from reviewer.store import Lease, NotFound, QueueFilter
from reviewer.web import requests
from reviewer.web.access import may_manage
from reviewer.web.context import FOREVER, At, Who
from reviewer.web.payload import (
    atlas_json,
    autosave_stamp,
    decision_json,
    item_json,
    progress_json,
    spectrum_bytes,
    stamp,
    template_json,
)
from reviewer.web.pictures import looked, png_in_base64, revise, seen_json
from reviewer.web.visibility import Kept, refuse_withheld

Filter = Annotated[QueueFilter, Depends(requests.queue_filter)]

router = APIRouter(prefix="/api", dependencies=[Depends(refuse_withheld)])


@router.get("/me")
def me(person: Who, at: At) -> dict[str, Any]:
    return {
        "initials": person.initials,
        "name": person.name,
        "roles": sorted(person.roles),
        "has_password": person.has_password,
        "rules": asdict(at.store.settings.rules()),
        "reasons": REASONS,
        "problems": list(at.problems),
        "backups": at.backups.problem if at.backups is not None and may_manage(person, at.store) else "",
        "clock": _clock(at.store.log.clock_behind()),
        "tasks": {
            key: {"title": task.title, "question": task.question, "guide": task.guide} for key, task in at.tasks.items()
        },
    }


def _clock(behind: timedelta | None) -> str:
    if behind is None:
        return ""
    return (
        f"The clock of the machine this runs on was set back {behind / timedelta(minutes=1):.0f} minutes. "
        "The order of everything is kept, but times are shown as it tells them: somebody should look at it."
    )


@router.get("/queue")
def queue(kept: Kept, wanted: Filter, after: int | None = None, limit: int = 60) -> dict[str, Any]:
    rows, total = kept.rows(wanted, after, max(1, min(limit, 200)))
    return {"rows": rows, "total": total}


@router.get("/facets")
def facets(person: Who, at: At) -> dict[str, list[str]]:
    return {name: list(values) for name, values in at.store.queue.facets().items()}


@router.get("/first")
def first(kept: Kept, wanted: Filter) -> dict[str, int | None]:
    return {"id": kept.first_undone(wanted)}


@router.get("/place/{item_id}")
def place(person: Who, at: At, kept: Kept, item_id: int, wanted: Filter) -> dict[str, Any]:
    return {
        "next": kept.neighbours(item_id, wanted, 3),
        "back": kept.neighbours(item_id, wanted, 1, backwards=True),
        "before": at.store.queue.position(item_id, wanted, person.initials),
    }


@router.get("/item/{item_id}")
def item(person: Who, at: At, item_id: int, verdict_first: bool = False) -> dict[str, Any]:
    found = at.store.items.get(item_id)
    return item_json(at.store, found, person, at.tasks.get(found.row.task), verdict_first)


@router.get("/item/{item_id}/history")
def history(person: Who, at: At, item_id: int, verdict_first: bool = False) -> dict[str, Any]:
    found = at.store.items.get(item_id)
    shown = item_json(at.store, found, person, at.tasks.get(found.row.task), verdict_first)
    if shown["hidden"] or shown["standing"]["withheld"]:
        # Somebody who may still judge independently is told what is open to them, and no more.
        return {"versions": [], "decisions": shown["standing"]["decisions"], "withheld": True}
    return {
        "withheld": False,
        "versions": [
            {
                "number": v.number,
                "author": v.author,
                "reason": v.reason,
                "at": v.at.isoformat(),
                "steps": v.trajectory.to_json()["steps"],
            }
            for v in at.store.items.versions(item_id)
        ],
        "decisions": [
            {
                **decision_json(r.decision),
                "version": r.version,
                "at": r.at.isoformat(),
                "withdrawn": r.withdrawn_by is not None,
            }
            for r in at.store.items.history(item_id)
        ],
    }


@router.get("/spectrum/{sha256}")
def spectrum(person: Who, at: At, sha256: str) -> Response:
    return Response(spectrum_bytes(at.gallery.spectrum(sha256)), media_type="application/octet-stream", headers=FOREVER)


@router.get("/atlas")
def atlas(person: Who, at: At, survey: str = "", task: str = "") -> dict[str, Any]:
    return atlas_json(survey, at.tasks.get(task))


@router.get("/template")
def template(person: Who, task: str) -> dict[str, Any]:
    made = template_json(task)
    if made is None:
        raise NotFound("There is no simulated spectrum of this class to compare with.")
    return made


@router.get("/item/{item_id}/hints")
def item_hints(person: Who, at: At, item_id: int, version: int | None = None) -> dict[str, Any]:
    found = at.store.items.get(item_id)
    sha256, task = found.row.spectrum_sha256, at.tasks.get(found.row.task)
    if sha256 is None:
        return {"hints": {}}
    spectrum = at.gallery.spectrum(sha256)
    return {"hints": {z.id: at.hints(spectrum, z, task) for z in found.version.trajectory.zooms}}


@router.get("/picture/{name}")
def picture(
    person: Who,
    at: At,
    name: str,
    spectrum: str | None = None,
    redshift: float | None = None,
    arguments: str = "{}",
) -> Response:
    png = at.gallery.picture(name, spectrum, redshift, _object_in(arguments))
    return Response(png, media_type="image/png", headers=FOREVER)


@router.post("/look")
def look(at: At, kept: Kept, sent: requests.Look) -> dict[str, Any]:
    found = kept.item(sent.item)
    sha256 = found.row.spectrum_sha256
    if sha256 is None:
        raise TrajectoryError("This item came without its spectrum, so no new picture can be drawn.")
    trajectory = found.version.trajectory
    step = looked(at.gallery, sha256, trajectory, "new", sent.arguments)
    spectrum = at.gallery.spectrum(sha256)
    return {
        "step": seen_json(step),
        "png": png_in_base64(at.gallery, sha256, trajectory, step),
        "hints": at.hints(spectrum, step, at.tasks.get(found.row.task)) if step.ok else [],
    }


@router.post("/item/{item_id}/lease")
def lease(person: Who, at: At, item_id: int) -> dict[str, Any]:
    return {**_lease_json(at.store.leases.take(person.initials, item_id)), "stamp": stamp(at.store.items.get(item_id))}


@router.post("/renew")
def renew(person: Who, at: At, sent: requests.LeaseToken) -> dict[str, Any]:
    return _lease_json(at.store.leases.renew(sent.lease))


@router.post("/release")
def release(person: Who, at: At, sent: requests.LeaseToken) -> dict[str, Any]:
    at.store.leases.release(sent.lease)
    return {}


@router.post("/item/{item_id}/autosave")
def autosave(person: Who, at: At, item_id: int, sent: requests.Autosaved) -> dict[str, Any]:
    """Keep unsent text. Where another page of the same person has written here meanwhile, the answer holds
    what that page wrote: it is replaced here, and the page that hears of it keeps it."""
    body = {"steps": sent.steps, "comment": sent.comment}
    before = at.store.leases.autosaved(person.initials, item_id)
    made = at.store.leases.autosave(person=person.initials, item_id=item_id, base_version_id=sent.base, body=body)
    replaced = None
    if before is not None and before.base_version_id == sent.base and dict(before.body) != body:
        written = autosave_stamp(before)
        replaced = None if written == sent.after else {"at": written, "body": dict(before.body)}
    return {"at": autosave_stamp(made), "replaced": replaced}


@router.post("/item/{item_id}/discard")
def discard(person: Who, at: At, item_id: int, sent: requests.Autosaved) -> dict[str, Any]:
    at.store.leases.discard_autosave(person=person.initials, item_id=item_id, base_version_id=sent.base)
    return {}


@router.post("/item/{item_id}/version")
def version(person: Who, at: At, item_id: int, sent: requests.Saved) -> dict[str, Any]:
    base = at.store.items.version(sent.base).trajectory
    revised = revise(base, sent.steps, at.gallery)
    made = at.store.reviews.save_version(
        person=person.initials,
        item_id=item_id,
        base_version_id=sent.base,
        trajectory=revised,
        reason=sent.reason,
        key=sent.key,
        lease_token=sent.lease,
    )
    return {"version": made.id, "number": made.number, "at": made.at.isoformat()}


@router.post("/item/{item_id}/decide")
def decide(person: Who, at: At, item_id: int, sent: requests.Decided) -> dict[str, Any]:
    standing = at.store.reviews.decide(
        person=person.initials,
        item_id=item_id,
        version_id=sent.version,
        verb=sent.verb,
        key=sent.key,
        lease_token=sent.lease,
        reason=sent.reason,
        comment=sent.comment,
    )
    return {"state": standing.state, **progress_json(standing), "stamp": stamp(at.store.items.get(item_id))}


@router.post("/item/{item_id}/undo")
def undo(person: Who, at: At, item_id: int, sent: requests.Undone) -> dict[str, Any]:
    return {
        "state": at.store.reviews.undo(person=person.initials, item_id=item_id, key=sent.key).state,
        "stamp": stamp(at.store.items.get(item_id)),
    }


@router.post("/item/{item_id}/mark")
def mark(person: Who, at: At, item_id: int, sent: requests.Marked) -> dict[str, Any]:
    made = at.store.marks.add(
        person=person.initials,
        item_id=item_id,
        version_id=sent.version,
        step_id=sent.step,
        mark=sent.mark,
        key=sent.key,
        note=sent.note,
    )
    return {"at": made.at.isoformat()}


@router.post("/item/{item_id}/verdict")
def verdict(person: Who, at: At, item_id: int, sent: requests.OwnVerdictGiven) -> dict[str, Any]:
    made = at.store.marks.commit_verdict(
        person=person.initials, item_id=item_id, version_id=sent.version, verdict=sent.verdict
    )
    return {"verdict": made.verdict, "at": made.at.isoformat()}


def _object_in(text: str) -> dict[str, Any]:
    """:raises TrajectoryError: it is no JSON object"""
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
