"""Limits of request bodies, for all routes, those of Gradio included: their length, their place on the disk, and how
many long ones are parsed at the same time.

Access has already checked the sender of what arrives here. Plain ASGI, so that answers are not buffered.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from anyio import CapacityLimiter
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.language import tr
from agent.text import whole_number
from reviewer.live.bench import LARGEST_FOLDER
from reviewer.samp import LARGEST_FILE
from reviewer.web.context import plain
from reviewer.web.language import without_language

UPLOAD = "/gradio_api/upload"
UPLOAD_FOLDER = "GRADIO_TEMP_DIR"
"""Environment variable with the folder in which Gradio stores uploaded files."""

LARGEST = 4_000_000
"""Bytes of a body. The longest that the page sends is a selection of 100,000 items, 1 MB."""
LARGEST_FORM = 4096
"""Bytes of a sign-in: initials and a password fit well within them."""
LONG = 100_000
"""Bytes of JSON that may become some megabytes of Python's objects: 25 times as many."""
LONG_AT_ONCE = 2
"""Requests with a body longer than that which are worked on at the same time; others wait for their turn."""
SPARE = 10_000_000
"""Bytes that stay free: the database may be on the same disk."""


@dataclass(frozen=True)
class _Upload:
    """A route that stores files, and how often each byte is on the disk at one moment."""

    largest: int
    copies: int


_UPLOADS: Mapping[str, _Upload] = {
    UPLOAD: _Upload(LARGEST_FOLDER, copies=1),
    # The form is spooled, and each file of it is copied to the bench.
    "/api/v1/live/files": _Upload(LARGEST_FOLDER, copies=2),
    "/api/v1/samp/rows": _Upload(LARGEST_FILE, copies=1),
}
_FORMS = ("/sign-in", "/sign-out")


class BodyLimits:
    """Refuses bodies that are too long (413), and uploads without a length (411) or without a place (507).

    A body that is no upload is read here, however it is sent; it is in memory once, and is parsed at its turn.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._long = CapacityLimiter(LONG_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path, headers = without_language(scope["path"]), Request(scope).headers
        declared = declared_length(headers)
        upload = _UPLOADS.get(path) if scope["method"] == "POST" else None
        if upload is not None:
            await (_refusal(path, upload, declared) or self._app)(scope, receive, send)
            return
        largest = LARGEST_FORM if path in _FORMS else LARGEST
        if declared == 0 or (declared is None and "transfer-encoding" not in headers and scope["method"] != "POST"):
            await self._app(scope, receive, send)
            return
        body = None if declared is not None and declared > largest else await _read(receive, largest)
        if body is None:
            await _too_long(path, largest)(scope, receive, send)
        elif body["type"] != "http.request":
            return  # the client has left
        elif len(body["body"]) <= LONG:
            await self._app(scope, _again(body, receive), send)
        else:
            async with self._long:
                await self._app(scope, _again(body, receive), send)


async def _read(receive: Receive, largest: int) -> Message | None:
    """Return the whole body as one message, or that the client has left; None: it is longer than ``largest`` bytes."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return message
        body += message.get("body", b"")
        if len(body) > largest:
            return None
        if not message.get("more_body", False):
            return {"type": "http.request", "body": bytes(body), "more_body": False}


def _again(body: Message, receive: Receive) -> Receive:
    """Return a ``receive`` that gives a body that was read, then what follows it."""
    waiting = [body]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


def declared_length(headers: Mapping[str, str]) -> int | None:
    """The length that a request declares, in bytes; None if there is none or it is not a usable number."""
    return whole_number(headers.get("content-length", ""))


def _answer(path: str, status: int, kind: str, text: str) -> Response:
    # The browser shows the answer to these as it is.
    return PlainTextResponse(text, status) if path in _FORMS else plain(status, kind, text)


def _too_long(path: str, largest: int) -> Response:
    text = tr(
        "found a request of more than {largest:.3g} MB, expected at most that. Nothing was saved.",
        largest=largest / 1_000_000,
    )
    return _answer(path, 413, "too_long", text)


def _refusal(path: str, upload: _Upload, length: int | None) -> Response | None:
    """Return why an upload is not accepted; None if there is a place for it."""
    if length is None:
        text = tr("found an upload without a length, expected the header Content-Length. Nothing was saved.")
        return _answer(path, 411, "no_length", text)
    if length > upload.largest:
        return _too_long(path, upload.largest)
    needed = length * upload.copies
    folder = os.environ.get(UPLOAD_FOLDER) or Path(tempfile.gettempdir()) / "gradio"
    try:
        free = shutil.disk_usage(folder if path == UPLOAD else tempfile.gettempdir()).free
    except FileNotFoundError:  # made by the first upload
        free = shutil.disk_usage(tempfile.gettempdir()).free
    if free >= needed + SPARE:
        return None
    text = tr(
        "The disk is full: found {free:.0f} MB free for uploads, expected room for {wanted:.0f} MB. "
        "Nothing was saved. Free some space on the server.",
        free=free / 1000000.0,
        wanted=needed / 1000000.0,
    )
    return _answer(path, 507, "disk_full", text)
