"""Our scripts and styles, and plotly.js from the folder ``vendor``: nothing comes from the network."""

from __future__ import annotations

import gzip
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, PlainTextResponse

from agent import lines
from agent.tasks import Task

HERE = Path(__file__).parents[2] / "ui" / "static"
PLOTLY = HERE.parent / "vendor" / "plotly.min.js"
"""plotly.js 4.1.1 as its makers publish it with lines and bars alone. The whole of it, with maps and
three dimensions, is four times as long and takes a browser seven times as long to start."""

PLOTLY_KEPT = {"Cache-Control": "public, max-age=86400"}
_SERVED = {".js": "text/javascript", ".css": "text/css", ".json": "application/json"}
_OURS = re.compile(r"[a-z_]{1,60}/[a-z_]{1,60}\.(js|css|json)")

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


@router.get("/ui/{name:path}")
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


SAME_LINE = 2.0
"""Å within which a task file's wavelength and the line list's are the same line or band head."""


def known_lines(task: Task | None = None) -> list[dict[str, Any]]:
    """The line list and the heads of the molecular bands, at rest; a task's own are marked."""
    places = _places(task) if task else []

    def entry(of: lines.Line | lines.Band, wavelength: float, kind: str, major: bool) -> dict[str, Any]:
        own = any(lo <= of.at("vacuum") <= hi for lo, hi in places)
        return {
            "name": of.name,
            "wavelength": wavelength,
            "medium": of.medium,
            "kind": kind,
            "major": major,
            "task": own,
        }

    # Heads of molecular bands are drawn unasked only where the task is about them.
    return [
        *(entry(line, line.wavelength, line.kind, line.major) for line in lines.lines()),
        *(entry(band, band.head, "absorption", False) for band in lines.bands()),
    ]


def _places(task: Task) -> list[tuple[float, float]]:
    """Where a task's lines and heads are, vacuum Å: what it names, or the span of one that names nothing."""
    places = []
    for feature in (f.in_medium("vacuum") for f in task.features if f.kind != "slope"):
        named = [(w - SAME_LINE, w + SAME_LINE) for w in feature.wavelengths]
        places += named or [feature.span]
    return places
