"""Our scripts and styles, and plotly.js from the folder ``vendor``: nothing comes from the network."""

from __future__ import annotations

import gzip
import hashlib
import re
from functools import cache
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, PlainTextResponse

HERE = Path(__file__).parent
PLOTLY = HERE / "vendor" / "plotly.min.js"
"""plotly.js 4.1.1 as its makers publish it with lines and bars alone. The whole of it, with maps and
three dimensions, is four times as long and takes a browser seven times as long to start."""

PLOTLY_KEPT = {"Cache-Control": "public, max-age=86400"}
_SERVED = {".js": "text/javascript", ".css": "text/css", ".json": "application/json"}
_OURS = re.compile(r"[a-z_]{1,60}\.(js|css|json)")

router = APIRouter()


@router.get("/ui/plotly.min.js")
def plotly_js(request: Request) -> Response:
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return FileResponse(PLOTLY, headers=PLOTLY_KEPT)
    return Response(
        packed_plotly(),
        media_type="text/javascript",
        headers={**PLOTLY_KEPT, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"},
    )


@router.get("/ui/{name}")
async def ours(name: str, request: Request) -> Response:
    path = HERE / name
    # The name is a stranger's: no path, no mark, not too long for the disk to be asked for it.
    if not _OURS.fullmatch(name) or not path.is_file():
        return PlainTextResponse("no such file", status_code=404)
    # The page asks for forty of them at once: from memory, in the event loop, none costs a thread.
    content, tag = _content(path, path.stat().st_mtime_ns)
    headers = {"Cache-Control": "no-cache", "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=_SERVED[path.suffix], headers=headers)


@cache
def _content(path: Path, changed: int) -> tuple[bytes, str]:
    """A file of ours as it was when it was last changed, and what it is known by."""
    content = path.read_bytes()
    return content, f'W/"{hashlib.sha256(content).hexdigest()[:16]}"'


@cache
def packed_plotly() -> bytes:
    """plotly.js for the wire. Packed once; each page asks for it."""
    return gzip.compress(PLOTLY.read_bytes(), compresslevel=1, mtime=0)
