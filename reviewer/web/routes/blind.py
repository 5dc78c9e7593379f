"""Routes of the scorers in the Blind tab. A token gives only the sheet, the spectrum's numbers, and pictures
without metadata.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from agent.language import tr
from agent.plot import png_bytes
from agent.spectrum import Spectrum
from reviewer.blind.pictures import PictureUnavailable, list_pictures, neutral_picture
from reviewer.blind.plan import CANNOT_TELL, SCORES, Preference
from reviewer.store import NotFound
from reviewer.web.context import ContextDep, PersonDep
from reviewer.web.models import blind as answers
from reviewer.web.models import media
from reviewer.web.models.evidence import Atlas
from reviewer.web.payload import atlas_of, spectrum_bytes
from reviewer.web.requests import Key, Sent, Text

HEADERS = {"Cache-Control": "private, max-age=86400"}
"""Of spectra and pictures: the same for each source."""

Dimension = Annotated[int, Field(ge=0, le=SCORES[-1], strict=True)] | None
"""A score; null: cannot tell."""

Steps = Annotated[tuple[Annotated[str, Field(max_length=20)], ...], Field(max_length=200)]
"""Ids of steps on the sheet."""

router = APIRouter(prefix="/api/v1/blind")


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
def work(person: PersonDep, context: ContextDep) -> list[answers.SessionWork]:
    """Return the open sessions in which this person scores, each with its rubric and its sheets in order."""
    scoring = context.store.blind.scoring
    sessions: dict[int, list[answers.SheetPlace]] = {}
    for assignment in scoring.assignments(person.initials):
        sessions.setdefault(assignment.session, []).append(answers.SheetPlace.model_validate(assignment))
    return [
        answers.SessionWork(session=session, rubric=scoring.rubric(person.initials, session), places=places)
        for session, places in sessions.items()
    ]


@router.get("/sheet/{token}")
def sheet(person: PersonDep, context: ContextDep, token: str) -> answers.Sheet:
    """A sheet to score: one trace, or a pair, without what tells its source."""
    return answers.Sheet.model_validate(context.store.blind.scoring.sheet(token, person.initials))


@router.get("/sheet/{token}/spectrum", **media("application/octet-stream"))
def spectrum(person: PersonDep, context: ContextDep, token: str) -> Response:
    """The spectrum of a sheet as binary, without its name."""
    sha256 = context.store.blind.scoring.source(token, person.initials).spectrum
    if sha256 is None:
        raise NotFound(tr("This sheet has pictures only, no spectrum."))
    packed = spectrum_bytes(nameless(context.gallery.spectrum(sha256)), reading=False)
    return Response(packed, media_type="application/octet-stream", headers=HEADERS)


@router.get("/sheet/{token}/atlas")
def atlas(person: PersonDep, context: ContextDep, token: str) -> Atlas:
    """Return lines, sky bands, and arm joins without the survey's arm names."""
    source = context.store.blind.scoring.source(token, person.initials)
    survey = context.gallery.spectrum(source.spectrum).survey if source.spectrum is not None else ""
    shown = atlas_of(survey, context.tasks.get(source.trajectories[0].task))
    bands = [band.model_copy(update={"name": band.kind}) if band.kind == "arm join" else band for band in shown.bands]
    return shown.model_copy(update={"bands": bands})


@router.get("/sheet/{token}/picture/{trace}/{number}", **media("image/png"))
def picture(person: PersonDep, context: ContextDep, token: str, trace: int, number: int) -> Response:
    """Return a picture with the neutral title, by its number on the sheet; in a pair, trace 0 is on the left.

    :raises NotFound: there is none of this number, or it is not available; the same message for every reason
    """
    source = context.store.blind.scoring.source(token, person.initials)
    shown = source.trajectories[trace : trace + 1] if trace >= 0 else ()
    pictures = list_pictures(shown[0]) if shown else ()
    if not 0 <= number < len(pictures):
        raise NotFound(tr("There is no such picture on this sheet."))
    try:
        drawn = neutral_picture(context.store.spectra, pictures[number], source.spectrum, shown[0].redshift)
    except PictureUnavailable:
        raise NotFound(tr("This picture cannot be shown here.")) from None
    # Encoded from its pixels: the file of a kept picture may contain metadata.
    return Response(png_bytes(drawn.image), media_type="image/png", headers=HEADERS)


@router.post("/sheet/{token}/score")
def score(person: PersonDep, context: ContextDep, token: str, sent: Scored) -> answers.SheetScores:
    """Score the trace of a sheet."""
    given = context.store.blind.scoring.score(
        person=person.initials,
        token=token,
        coherence=CANNOT_TELL if sent.coherence is None else sent.coherence,
        consistency=CANNOT_TELL if sent.consistency is None else sent.consistency,
        key=sent.key,
        comment=sent.comment,
        wrong_steps=sent.wrong_steps,
    )
    return answers.SheetScores.model_validate(given)


@router.post("/sheet/{token}/prefer")
def prefer(person: PersonDep, context: ContextDep, token: str, sent: Preferred) -> answers.SheetPreference:
    """Say which trace of a pair you prefer."""
    given = context.store.blind.scoring.prefer(
        person=person.initials, token=token, preference=sent.preference, key=sent.key, comment=sent.comment
    )
    return answers.SheetPreference.model_validate(given)


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
