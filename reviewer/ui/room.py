"""Whether there is room for what somebody sends, before the first byte of it is kept.

Gradio writes an upload to its folder as it comes; on a full disk it answers "Internal Server Error" and
leaves the part that fitted.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from agent.digits import whole_number

UPLOAD = "/gradio_api/upload"
SPARE = 10_000_000
"""Bytes that are left free: the database may live on the same disk."""


class Room:
    """Refuses an upload that the disk cannot take. Plain ASGI, so that nothing is buffered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wanted = _length(scope)
        answer = _refusal(wanted) if wanted else None
        await (answer or self._app)(scope, receive, send)


def _length(scope: Scope) -> int:
    if scope["type"] != "http" or scope["path"] != UPLOAD:
        return 0
    return told_length(Request(scope).headers) or 0


def told_length(headers: Mapping[str, str]) -> int | None:
    """How many bytes a request says it has; None where it does not say, or not so that it can be meant."""
    return whole_number(headers.get("content-length", ""))


def _refusal(wanted: int) -> PlainTextResponse | None:
    # Not above: the server answers before Gradio is imported.
    from gradio.utils import get_upload_folder

    folder = get_upload_folder()
    try:
        free = shutil.disk_usage(folder).free
    except FileNotFoundError:  # made by the first upload
        return None
    if free >= wanted + SPARE:
        return None
    return PlainTextResponse(
        f"No room: {wanted / 1e6:.0f} MB were sent, and the disk that keeps uploads has {free / 1e6:.0f} MB "
        "left. Nothing was kept. Whoever runs the server has to make room.",
        status_code=507,
    )
