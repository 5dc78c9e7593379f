"""What a scorer's browser is sent, and what it sends back. Under a token there is only what the store puts on
the sheet, the spectrum's numbers, and pictures that are nothing but pixels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from io import BytesIO
from typing import Annotated, Any

from fastapi import APIRouter, Response
from PIL import Image
from pydantic import Field

from agent.plot.png import png_bytes
from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from reviewer.blind.plan import CANNOT_TELL, SCORES, Preference
from reviewer.blind.sheet import pictures_of
from reviewer.store import NotFound
from reviewer.web.context import At, Context, Who
from reviewer.web.payload import atlas_json, spectrum_bytes
from reviewer.web.pictures import PictureDiffers
from reviewer.web.requests import Key, Sent, Text

HEADERS = {"Cache-Control": "private, max-age=86400"}
"""Of spectra and pictures: the same for each, whatever lies behind."""

Dimension = Annotated[int, Field(ge=0, le=SCORES[-1], strict=True)] | None
"""A score; null: cannot tell."""

Steps = Annotated[tuple[Annotated[str, Field(max_length=20)], ...], Field(max_length=200)]
"""The sheet's ids of steps."""

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
def work(person: Who, at: At) -> list[dict[str, Any]]:
    """The open sessions in which this person scores: what is asked in each, and the places in their order."""
    sessions: dict[int, list[dict[str, Any]]] = {}
    for one in at.store.blind.scoring.assignments(person.initials):
        place = {"token": one.token, "kind": one.kind, "place": one.place, "answered": one.answered}
        sessions.setdefault(one.session, []).append(place)
    rubrics = {session: at.store.blind.scoring.rubric(person.initials, session) for session in sessions}
    return [
        {"session": session, "rubric": rubrics[session].to_json(), "places": places}
        for session, places in sessions.items()
    ]


@router.get("/sheet/{token}")
def sheet(person: Who, at: At, token: str) -> dict[str, Any]:
    return at.store.blind.scoring.sheet(token, person.initials).to_json()


@router.get("/sheet/{token}/spectrum")
def spectrum(person: Who, at: At, token: str) -> Response:
    sha256 = at.store.blind.scoring.source(token, person.initials).spectrum
    if sha256 is None:
        raise NotFound("There are only pictures here, no spectrum.")
    packed = spectrum_bytes(nameless(at.gallery.spectrum(sha256)))
    return Response(packed, media_type="application/octet-stream", headers=HEADERS)


@router.get("/sheet/{token}/atlas")
def atlas(person: Who, at: At, token: str) -> dict[str, Any]:
    """Lines of the question, sky bands, and arm joins without the name of whose arms they are."""
    behind = at.store.blind.scoring.source(token, person.initials)
    survey = at.gallery.spectrum(behind.spectrum).survey if behind.spectrum is not None else ""
    found = atlas_json(survey, at.tasks.get(behind.trajectories[0].task))
    for band in found["bands"]:
        if band["kind"] == "arm join":
            band["name"] = "arm join"
    return found


@router.get("/sheet/{token}/picture/{trace}/{number}")
def picture(person: Who, at: At, token: str, trace: int, number: int) -> Response:
    """A picture by its number on the sheet; of a pair, trace 0 is on the left."""
    behind = at.store.blind.scoring.source(token, person.initials)
    shown = behind.trajectories[trace : trace + 1] if trace >= 0 else ()
    names = pictures_of(shown[0]) if shown else ()
    if not 0 <= number < len(names):
        raise NotFound("There is no such picture here.")
    png = _pixels(at, names[number], behind.spectrum, shown[0])
    return Response(png, media_type="image/png", headers=HEADERS)


@router.post("/sheet/{token}/score")
def score(person: Who, at: At, token: str, sent: Scored) -> dict[str, Any]:
    given = at.store.blind.scoring.score(
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
def prefer(person: Who, at: At, token: str, sent: Preferred) -> dict[str, Any]:
    return asdict(
        at.store.blind.scoring.prefer(
            person=person.initials, token=token, preference=sent.preference, key=sent.key, comment=sent.comment
        )
    )


def nameless(spectrum: Spectrum) -> Spectrum:
    """The numbers of a spectrum and what they mean, without anything that says of which object they are. The
    redshift stays: the lines are drawn at it."""
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


def _pixels(at: Context, name: str, spectrum: str | None, trajectory: Trajectory) -> bytes:
    """A picture of a trace, written anew from its pixels: a file that somebody imported may carry more.

    :raises NotFound: it cannot be had; in the same words for every reason
    """
    try:
        png = at.gallery.picture(name, spectrum, trajectory.redshift, _arguments(trajectory, name))
        with Image.open(BytesIO(png)) as opened:
            return png_bytes(opened)
    except (PictureDiffers, NotFound, OSError):
        raise NotFound("This picture cannot be shown here.") from None


def _arguments(trajectory: Trajectory, name: str) -> Mapping[str, Any]:
    """What the tool was asked for this picture: nothing for the first one, which is the whole spectrum."""
    if name == trajectory.overview:
        return {}
    return next(zoom.arguments for zoom in trajectory.zooms if zoom.picture == name)
