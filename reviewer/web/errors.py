"""HTTP answers for exceptions: a status, a kind that the page tests, and a message."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse

from agent.errors import Refusal
from agent.language import tr
from agent.settings_file import in_words
from reviewer.errors import internal_error
from reviewer.store import StoreError
from reviewer.store.team.actions import SelectionChanged
from reviewer.web.auth import follows_link, sign_in_address
from reviewer.web.context import Context, NobodySignedIn, TokenNotAccepted, plain
from reviewer.web.models.bulk import BulkPreview
from reviewer.web.proxies import base_of


def install(app: FastAPI) -> None:
    """Give ``app`` an answer for every exception; tracebacks go to the log only."""
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(SelectionChanged, _selection_changed)
    app.add_exception_handler(NobodySignedIn, _signed_out)
    app.add_exception_handler(TokenNotAccepted, _token)
    app.add_exception_handler(RequestValidationError, _bad_request)
    app.add_exception_handler(OverflowError, _too_large)
    app.add_exception_handler(Exception, _bug)


def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Refusal)
    return plain(error.status, error.kind, str(error) or error.kind, **error.details)


def _signed_out(request: Request, error: Exception) -> Response:
    if follows_link(request.headers, request.method):  # e.g. the link of a download
        after = request.scope["path"] + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(base_of(request) + sign_in_address(after), status_code=303)
    return _refused(request, error)


def _token(request: Request, error: Exception) -> JSONResponse:
    answer = _refused(request, error)
    answer.headers["WWW-Authenticate"] = "Bearer"
    return answer


def _selection_changed(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, SelectionChanged)
    preview = BulkPreview.model_validate(error.preview).model_dump(mode="json", by_alias=True)
    return plain(error.status, error.kind, str(error), preview=preview)


def _bad_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = [] if first["type"] == "json_invalid" else first["loc"][1:]
    value, expected = in_words(first)
    return plain(
        422,
        "bad_request",
        tr(
            "{field}: found {found}, expected {expected}",
            field=".".join(map(str, place)) or tr("the request"),
            found=value,
            expected=expected,
        ),
    )


def _too_large(request: Request, error: Exception) -> JSONResponse:
    # SQLite's numbers end at 2^63; Python's, and those of JSON, do not end.
    return plain(422, "bad_request", tr("A number in this request does not fit in 64 bits."))


def _bug(request: Request, error: Exception) -> JSONResponse:
    context: Context = request.app.state.context
    try:
        # A stored value of a type that this program never writes fails where it is used, as a bug does.
        context.store.database.require_sound()
    except StoreError as damage:
        return _refused(request, damage)
    return plain(500, "bug", internal_error(f"{request.method} {request.url.path}", error))
