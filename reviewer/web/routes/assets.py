"""Our scripts and styles, and plotly.js from the installed plotly package: nothing comes from the network."""

from __future__ import annotations

import gzip
import hashlib
import re
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, Thread

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, PlainTextResponse

from agent.language import tr
from reviewer.web.headers import IMMUTABLE
from reviewer.web.openapi import SWAGGER, swagger_file

STATIC = Path(__file__).parents[2] / "ui" / "static"
PLOTLY_URL = f"/ui/plotly-{version('plotly')}.min.js"

_IMMUTABLE = {"Cache-Control": IMMUTABLE}
"""Another version of plotly has another URL."""
_SERVED = {".js": "text/javascript", ".css": "text/css", ".json": "application/json"}
_OUR_NAMES = re.compile(r"[a-z_]{1,60}/[a-z_]{1,60}\.(js|css|json)")
_compressing = Lock()

router = APIRouter()


@router.get(PLOTLY_URL)
def plotly_js(request: Request) -> Response:
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return FileResponse(plotly_file(), media_type="text/javascript", headers=_IMMUTABLE)
    return Response(
        compressed_plotly(),
        media_type="text/javascript",
        headers={**_IMMUTABLE, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"},
    )


@router.get("/ui/swagger/{name}")
def swagger_ui(name: str) -> Response:
    if name not in SWAGGER:
        return PlainTextResponse(tr("no such file"), status_code=404)
    path = swagger_file(name)
    return FileResponse(path, media_type=_SERVED[path.suffix], headers={"Cache-Control": "no-cache"})


@router.get("/ui/{name:path}")
async def static_file(name: str, request: Request) -> Response:
    path = STATIC / name
    # The name is untrusted: no path, no special characters, short enough to look up on the disk.
    if not _OUR_NAMES.fullmatch(name) or not path.is_file():
        return PlainTextResponse(tr("no such file"), status_code=404)
    # The page requests forty of them at once: served from memory on the event loop, none needs a thread.
    content, tag = _content(path, path.stat().st_mtime_ns)
    headers = {"Cache-Control": "no-cache", "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=_SERVED[path.suffix], headers=headers)


@cache
def _content(path: Path, changed: int) -> tuple[bytes, str]:
    """A file's bytes and ETag, read again only when the file has changed."""
    content = path.read_bytes()
    return content, f'W/"{hashlib.sha256(content).hexdigest()[:16]}"'


def plotly_file() -> Path:
    """plotly.js in the installed package, found without importing it."""
    package = find_spec("plotly")
    assert package is not None
    assert package.origin is not None
    return Path(package.origin).parent / "package_data" / "plotly.min.js"


def compressed_plotly() -> bytes:
    """plotly.js compressed with gzip, once per process; takes a third of a second."""
    with _compressing:
        return _compressed_plotly()


@cache
def _compressed_plotly() -> bytes:
    return gzip.compress(plotly_file().read_bytes(), compresslevel=1, mtime=0)


def prepare_plotly() -> None:
    """Compress plotly.js in a thread, so that the first page does not wait for it."""
    Thread(target=compressed_plotly, name="compress plotly.js", daemon=True).start()
