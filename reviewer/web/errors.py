"""HTTP answers for exceptions: a status, a kind that the page tests, and a message."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse

from agent.conversation import PolicyError
from agent.language import tr
from agent.spectrum import SpectrumError
from agent.text import OneLine
from agent.trajectory import TrajectoryError
from reviewer.blind.balance import TooFew
from reviewer.blind.plan import PlanError
from reviewer.errors import internal_error
from reviewer.exchange.exports import ExportError
from reviewer.live.bench import BenchFull
from reviewer.live.runs import TooManyRunning
from reviewer.store import (
    BadSearch,
    Disagreement,
    HeldByAnother,
    KeyReused,
    LeaseLost,
    NotAllowed,
    NotFound,
    StoreError,
    VersionMoved,
)
from reviewer.store.team.actions import SelectionChanged
from reviewer.web.auth import TooManyWrongTokens, follows_link, sign_in_address
from reviewer.web.context import Context, NobodySignedIn, SomebodyElse, TokenNotAccepted, plain
from reviewer.web.models.bulk import BulkPreview
from reviewer.web.pictures import PictureDiffers
from reviewer.web.proxies import base_of

_KINDS: tuple[tuple[type[Exception], int, str], ...] = (
    # What is written for a person is never an internal error; those below have a kind of their own.
    (OneLine, 422, "refused"),
    (NotAllowed, 403, "not_allowed"),
    (LeaseLost, 409, "lease_lost"),
    (KeyReused, 409, "key_reused"),
    (NotFound, 404, "not_found"),
    (BadSearch, 422, "bad_search"),
    (StoreError, 503, "store"),
    (SpectrumError, 422, "spectrum"),
    (TrajectoryError, 422, "trajectory"),
    (PictureDiffers, 409, "picture_differs"),
    (SomebodyElse, 409, "other_person"),
    (TooManyWrongTokens, 429, "too_many"),
    (ExportError, 409, "export"),
    (PolicyError, 409, "policy"),
    (TooManyRunning, 409, "busy"),
    (BenchFull, 409, "bench_full"),
    (PlanError, 422, "plan"),
    (TooFew, 409, "too_few"),
)


def install(app: FastAPI) -> None:
    """Give ``app`` an answer for every exception; tracebacks go to the log only."""
    for exception, status, kind in _KINDS:
        app.add_exception_handler(exception, _answer(status, kind))
    app.add_exception_handler(NobodySignedIn, _signed_out)
    app.add_exception_handler(TokenNotAccepted, _token)
    app.add_exception_handler(HeldByAnother, _held)
    app.add_exception_handler(VersionMoved, _moved)
    app.add_exception_handler(Disagreement, _disagreement)
    app.add_exception_handler(SelectionChanged, _selection_changed)
    app.add_exception_handler(RequestValidationError, _bad_request)
    app.add_exception_handler(OverflowError, _too_large)
    app.add_exception_handler(Exception, _bug)


def _answer(status: int, kind: str) -> Any:
    def answer(request: Request, error: Exception) -> JSONResponse:
        return plain(status, kind, str(error) or kind)

    return answer


def _signed_out(request: Request, error: Exception) -> Response:
    if follows_link(request.headers, request.method):  # e.g. the link of a download
        after = request.scope["path"] + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(base_of(request) + sign_in_address(after), status_code=303)
    return plain(401, "signed_out", str(error))


def _token(request: Request, error: Exception) -> JSONResponse:
    answer = plain(401, "signed_out", str(error))
    answer.headers["WWW-Authenticate"] = "Bearer"
    return answer


def _held(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HeldByAnother)
    return plain(409, "held", str(error), until=error.until.isoformat())


def _moved(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, VersionMoved)
    theirs = error.theirs
    return plain(
        409,
        "version_moved",
        str(error),
        number=theirs.number,
        author=theirs.author,
        steps=theirs.trajectory.to_json()["steps"],
    )


def _disagreement(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Disagreement)
    return plain(
        409, "disagreement", str(error), statements=[{"step": step, "text": text} for step, text in error.statements]
    )


def _selection_changed(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, SelectionChanged)
    preview = BulkPreview.model_validate(error.preview).model_dump(mode="json", by_alias=True)
    return plain(409, "selection_changed", str(error), preview=preview)


def _bad_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"][1:]) or tr("the request")
    return plain(422, "bad_request", f"{field}: {first['msg']}")


def _too_large(request: Request, error: Exception) -> JSONResponse:
    # SQLite's numbers end at 2^63; Python's, and those of JSON, do not end.
    return plain(422, "bad_request", tr("A number in this request does not fit in 64 bits."))


def _bug(request: Request, error: Exception) -> JSONResponse:
    context: Context = request.app.state.context
    try:
        # A stored value of a type that this program never writes fails where it is used, as a bug does.
        context.store.database.require_sound()
    except StoreError as damage:
        return plain(503, "store", str(damage))
    return plain(500, "bug", internal_error(f"{request.method} {request.url.path}", error))
