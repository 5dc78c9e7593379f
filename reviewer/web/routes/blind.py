"""Routes of the scorers in the Blind tab. A token gives only the sheet, the spectrum's numbers, and pictures
without metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from io import BytesIO
from typing import Annotated, Any

from fastapi import APIRouter, Response
from PIL import Image
from pydantic import Field

from agent.plot import png_bytes
from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from reviewer.blind.plan import CANNOT_TELL, SCORES, Preference
from reviewer.blind.sheet import pictures_of
from reviewer.store import NotFound
from reviewer.web.context import Context, ContextDep, PersonDep
from reviewer.web.payload import atlas_json, spectrum_bytes
from reviewer.web.pictures import PictureDiffers
from reviewer.web.requests import Key, Sent, Text

HEADERS = {"Cache-Control": "private, max-age=86400"}
"""Of spectra and pictures: the same for each source."""

Dimension = Annotated[int, Field(ge=0, le=SCORES[-1], strict=True)] | None
"""A score; null: cannot tell."""

Steps = Annotated[tuple[Annotated[str, Field(max_length=20)], ...], Field(max_length=200)]
"""Ids of steps on the sheet."""

router = APIRouter(prefix="/api/blind")


class Scored(Sent):
    coherence: Dimension
    consistency: Dimension
    comment: Text = ""
    wrong_steps: Steps = ()
    key: Key


class Preferred(Sent):
    preference: Preference
    comment: Text = ""
    key: Key


@router.get("/work")
def work(person: PersonDep, context: ContextDep) -> list[dict[str, Any]]:
    """Return the open sessions in which this person scores, each with its rubric and its sheets in order."""
    sessions: dict[int, list[dict[str, Any]]] = {}
    for one in context.store.blind.scoring.assignments(person.initials):
        place = {"token": one.token, "kind": one.kind, "place": one.place, "answered": one.answered}
        sessions.setdefault(one.session, []).append(place)
    rubrics = {session: context.store.blind.scoring.rubric(person.initials, session) for session in sessions}
    return [
        {"session": session, "rubric": rubrics[session].to_json(), "places": places}
        for session, places in sessions.items()
    ]


@router.get("/sheet/{token}")
def sheet(person: PersonDep, context: ContextDep, token: str) -> dict[str, Any]:
    return context.store.blind.scoring.sheet(token, person.initials).to_json()


@router.get("/sheet/{token}/spectrum")
def spectrum(person: PersonDep, context: ContextDep, token: str) -> Response:
    sha256 = context.store.blind.scoring.source(token, person.initials).spectrum
    if sha256 is None:
        raise NotFound("This sheet has pictures only, no spectrum.")
    packed = spectrum_bytes(nameless(context.gallery.spectrum(sha256)))
    return Response(packed, media_type="application/octet-stream", headers=HEADERS)


@router.get("/sheet/{token}/atlas")
def atlas(person: PersonDep, context: ContextDep, token: str) -> dict[str, Any]:
    """Return lines, sky bands, and arm joins without the survey's arm names."""
    source = context.store.blind.scoring.source(token, person.initials)
    survey = context.gallery.spectrum(source.spectrum).survey if source.spectrum is not None else ""
    found = atlas_json(survey, context.tasks.get(source.trajectories[0].task))
    for band in found["bands"]:
        if band["kind"] == "arm join":
            band["name"] = "arm join"
    return found


@router.get("/sheet/{token}/picture/{trace}/{number}")
def picture(person: PersonDep, context: ContextDep, token: str, trace: int, number: int) -> Response:
    """Return a picture by its number on the sheet; in a pair, trace 0 is on the left."""
    source = context.store.blind.scoring.source(token, person.initials)
    shown = source.trajectories[trace : trace + 1] if trace >= 0 else ()
    names = pictures_of(shown[0]) if shown else ()
    if not 0 <= number < len(names):
        raise NotFound("There is no such picture on this sheet.")
    png = _pixels(context, names[number], source.spectrum, shown[0])
    return Response(png, media_type="image/png", headers=HEADERS)


@router.post("/sheet/{token}/score")
def score(person: PersonDep, context: ContextDep, token: str, sent: Scored) -> dict[str, Any]:
    given = context.store.blind.scoring.score(
        person=person.initials,
        token=token,
        coherence=CANNOT_TELL if sent.coherence is None else sent.coherence,
        consistency=CANNOT_TELL if sent.consistency is None else sent.consistency,
        key=sent.key,
        comment=sent.comment,
        wrong_steps=sent.wrong_steps,
    )
    return asdict(given)


@router.post("/sheet/{token}/prefer")
def prefer(person: PersonDep, context: ContextDep, token: str, sent: Preferred) -> dict[str, Any]:
    return asdict(
        context.store.blind.scoring.prefer(
            person=person.initials, token=token, preference=sent.preference, key=sent.key, comment=sent.comment
        )
    )


def nameless(spectrum: Spectrum) -> Spectrum:
    """Return a spectrum without anything that identifies the object. The redshift stays: the lines need it."""
    return replace(
        spectrum,
        name="spectrum",
        survey="",
        ids={},
        ra=None,
        dec=None,
        snr={},
        catalogue_class="",
        meta={},
    )


def _pixels(context: Context, name: str, spectrum: str | None, trajectory: Trajectory) -> bytes:
    """Return a picture of a trace, encoded again from its pixels: an imported file may contain metadata.

    :raises NotFound: it is not available; the same message for every reason
    """
    try:
        png = context.gallery.picture(name, spectrum, trajectory.redshift, _arguments(trajectory, name))
        with Image.open(BytesIO(png)) as opened:
            return png_bytes(opened)
    except (PictureDiffers, NotFound, OSError):
        raise NotFound("This picture cannot be shown here.") from None


def _arguments(trajectory: Trajectory, name: str) -> Mapping[str, Any]:
    """Return the tool's arguments for this picture; empty for the first one, which is the whole spectrum."""
    if name == trajectory.overview:
        return {}
    return next(zoom.arguments for zoom in trajectory.zooms if zoom.picture == name)
