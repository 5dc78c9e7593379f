"""An approved item with its text, spectrum, pictures and provenance, for an export.

Reading needs the database and is quick; drawing is slow, needs no database, and may run in another process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from agent import tool
from agent.errors import Refusal
from agent.language import deferred, joined
from agent.plot import RENDERER, pixels_sha256, png_bytes
from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from agent.trajectory.statements import disagreements
from agent.trajectory.tags import read_response, turn_text
from reviewer.rules.workflow import WITHDRAWALS
from reviewer.store import Store, Version


class NotTrainable(Refusal):
    """An approved item that cannot be training data: one sentence why."""


@dataclass(frozen=True)
class Picture:
    """One picture of a trace; ``drawn`` from the spectrum, or else kept because it cannot be drawn again."""

    sha256: str
    png: bytes
    drawn: bool


@dataclass(frozen=True)
class ApprovedItem:
    """One approved item as the database has it. ``stored`` are PNG bytes by the SHA-256 of the RGBA bytes, of
    the pictures that are kept; ``provenance`` is JSON. ``confirmed`` is False if the drafter could not tell
    and no person changed or confirmed its answer."""

    item_id: int
    trajectory: Trajectory
    spectrum: Spectrum | None
    stored: Mapping[str, bytes]
    provenance: Mapping[str, Any]
    confirmed: bool = True


def read_approved(store: Store, item_id: int) -> ApprovedItem | None:
    """Return the approved item; None if it is no longer approved."""
    item = store.items.get(item_id)
    if item.standing.state != "approved":
        return None
    versions = store.items.versions(item_id)
    before_import = versions[0].trajectory.authors
    authors = sorted({*before_import, *(v.author for v in versions if v.author)})
    trajectory = replace(item.version.trajectory, authors=tuple(authors))
    spectrum = None if item.row.spectrum_sha256 is None else store.spectra.get(item.row.spectrum_sha256)
    seen = trajectory.pictures
    kept = {sha256: store.spectra.picture(sha256) for sha256 in seen if sha256 is not None}
    stored = {sha256: png for sha256, png in kept.items() if png is not None}
    provenance = _provenance(store, item.key, trajectory, versions) | {"pictures": list(seen)}
    confirmed = not trajectory.cannot_tell or store.marks.answer_confirmed(item_id)
    return ApprovedItem(item_id, trajectory, spectrum, stored, provenance, confirmed)


def pictures(approved: ApprovedItem) -> tuple[Picture, ...]:
    """The pictures the model saw, in the order of the messages: stored ones as they are, the others drawn
    again and checked.

    :raises NotTrainable: the item cannot be training data
    """
    trajectory = approved.trajectory
    reason_unfit = [*_unconfirmed(approved), *trajectory.problems()] or _form_problems(trajectory)
    if reason_unfit:
        raise NotTrainable(joined(reason_unfit))
    return shown_pictures(approved)


def shown_pictures(approved: ApprovedItem) -> tuple[Picture, ...]:
    """The pictures of an item that need not be training data. :raises NotTrainable: one cannot be drawn"""
    trajectory = approved.trajectory
    calls = [{}, *(zoom.arguments if zoom.shows_spectrum else None for zoom in trajectory.zooms if zoom.drawn)]
    drawn = zip(calls, trajectory.pictures, strict=True)
    return tuple(_picture(approved, arguments, sha256) for arguments, sha256 in drawn)


def _unconfirmed(approved: ApprovedItem) -> list[str]:
    if approved.confirmed:
        return []
    why = approved.trajectory.cannot_tell
    unconfirmed = deferred(
        "the drafter cannot tell ({why}), and no person has changed or confirmed its answer", why=why
    )
    return [unconfirmed]


def _form_problems(trajectory: Trajectory) -> list[str]:
    """Whether the published reward would find fault with the form of what is about to be taught."""
    response = "\n".join(turn_text(turn) for turn in trajectory.turns())
    well_formed, _ = read_response(response)
    return [] if well_formed else [deferred("its form is not the published one")]


def _picture(approved: ApprovedItem, arguments: Mapping[str, Any] | None, sha256: str | None) -> Picture:
    if sha256 is None:
        raise NotTrainable(deferred("the first picture is not known"))
    if sha256 in approved.stored:
        return Picture(sha256, approved.stored[sha256], drawn=False)
    if arguments is None:
        raise NotTrainable(deferred("picture {sha256:.12}… is of the sky and is not stored", sha256=sha256))
    if approved.spectrum is None:
        raise NotTrainable(
            deferred("picture {sha256:.12}… is not stored and there is no spectrum to draw it from", sha256=sha256)
        )
    seen = tool.call(replace(approved.spectrum, redshift=approved.trajectory.redshift), arguments)
    if seen.image is None or pixels_sha256(seen.image) != sha256:
        raise NotTrainable(
            deferred(
                "picture {sha256:.12}… is drawn with other pixels here (renderer {renderer})",
                sha256=sha256,
                renderer=RENDERER,
            )
        )
    return Picture(sha256, png_bytes(seen.image), drawn=True)


def review_of(store: Store, item_id: int) -> dict[str, Any]:
    """Return who decided what of an item in any state, as JSON: the provenance of an export, and the state."""
    item, versions = store.items.get(item_id), store.items.versions(item_id)
    trajectory = item.version.trajectory
    return _provenance(store, item.key, trajectory, versions) | {"state": item.standing.state}


def _provenance(store: Store, key: str, trajectory: Trajectory, versions: Sequence[Version]) -> dict[str, Any]:
    """Return who did what, by initials. Comments and times stay in annotations.db, for the people there."""
    item_id = versions[0].item_id
    no_judgement = ("undo", *WITHDRAWALS)
    in_force = [
        r for r in store.items.history(item_id) if r.withdrawn_by is None and r.decision.verb not in no_judgement
    ]
    people = {v.author for v in versions if v.author} | {r.decision.person for r in in_force}
    approved = versions[-1]
    rules = in_force[-1].decision.rules if in_force else None
    return {
        "item": item_id,
        "key": key,
        "task": trajectory.task,
        "verdict": trajectory.answer.verdict if trajectory.answer else None,
        "label": trajectory.label,
        "simulated": trajectory.simulated,
        "drafter": trajectory.to_json()["drafter"],
        "spectrum": {"name": trajectory.spectrum_name, "sha256": trajectory.spectrum_sha256},
        "version": {"id": approved.id, "number": approved.number, "content_hash": approved.content_hash},
        "authors": list(trajectory.authors),
        "versions": [_version(v) for v in versions],
        "decisions": [
            {
                "round": r.decision.round,
                "verb": r.decision.verb,
                "reason": r.decision.reason,
                "person": r.decision.person,
                "version": r.version,
            }
            for r in in_force
        ],
        "marks": [
            {"step": m.step_id, "mark": m.mark, "person": m.person, "version_id": m.version_id}
            for m in store.marks.of_item(item_id)
        ],
        "rules": None if rules is None else asdict(rules),
        "disagreements": len(disagreements(trajectory, versions[0].trajectory)),
        "one_person": len(people) <= 1,
    }


def _version(version: Version) -> dict[str, Any]:
    return {
        "id": version.id,
        "number": version.number,
        "author": version.author,
        "reason": version.reason,
        "content_hash": version.content_hash,
    }
