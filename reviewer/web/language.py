"""The language of a request: the person's choice, in a cookie, otherwise the browser's; and the page's catalogue.

``Language`` sets it for everything that answers the request, threads included. Gradio's page exists once per language:
its own requests begin with the language of the page (``/zh/gradio_api/...``), which counts before the choice.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache

from fastapi import APIRouter, Request, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from agent import language
from agent.language import ENGLISH, NAMES, PSEUDO, TAGS, tr

COOKIE = "so-language"
LASTS = 365 * 86400
"""Seconds that a choice is kept."""
_OF_THE_PAGE = ("gradio_api/", "static/", "theme.css", "config")
"""What Gradio's page requests below its own address; everything else it requests below ``/``."""

router = APIRouter()


class Language:
    """Middleware that sets the language of each request. Plain ASGI, so that streams are not buffered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with language.speaking(of_request(Request(scope))):
            await self._app(scope, receive, send)


def of_request(request: Request) -> str:
    """Return the language in which a request is answered."""
    path = request.url.path
    if without_language(path) != path:
        return path.split("/", 2)[1]
    chosen = request.cookies.get(COOKIE)
    if chosen in language.offered():
        return chosen
    return language.best_of(_by_preference(request.headers.get("accept-language", "")))


def without_language(path: str) -> str:
    """Return the address of a request of Gradio's page without its language: ``/zh/gradio_api/upload`` is an upload."""
    code, _, rest = path[1:].partition("/")
    known = code != ENGLISH and code in language.offered() and rest.startswith(_OF_THE_PAGE)
    return f"/{rest}" if known else path


def _by_preference(header: str) -> list[str]:
    """The languages of an ``Accept-Language`` header, the most wanted first."""
    preferred: list[tuple[float, str]] = []
    for part in header.split(",")[:20]:
        tag, _, quality = part.partition(";")
        try:
            weight = float(quality.strip().removeprefix("q=") or 1)
        except ValueError:
            continue
        if weight > 0:
            preferred.append((-weight, tag.strip()))
    return [tag for _, tag in sorted(preferred, key=lambda pair: pair[0])]


def choose(response: Response, code: str, path: str) -> None:
    """Keep a choice in the browser, for an app at this path; an unknown language is ignored. The page's JavaScript
    writes the same cookie."""
    if code in language.offered():
        response.set_cookie(COOKIE, code, max_age=LASTS, path=path, samesite="lax")


def script_url(code: str) -> str:
    """The address of a language's catalogue, a script of the page's head, relative to the page."""
    return f"ui/language/{code}.js"


@router.get("/ui/language/{code}.js")
def script(code: str, request: Request) -> Response:
    """The messages of the browser modules in one language."""
    if code not in language.offered():
        return Response(tr("no such language"), status_code=404, media_type="text/plain")
    content, tag = _script(code)
    headers = {"Cache-Control": "no-cache", "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type="text/javascript", headers=headers)


@cache
def _script(code: str) -> tuple[bytes, str]:
    messages = {} if code in (ENGLISH, PSEUDO) else language.catalogue(code, "page")
    page = {
        "code": code,
        "tag": TAGS[code],
        "pseudo": code == PSEUDO,
        "choices": NAMES,
        "messages": {key: forms[0] if len(forms) == 1 else forms for key, forms in messages.items()},
    }
    # Gradio's own few words follow the browser's language, also where the person has chosen another one.
    content = (
        f"globalThis.so_language = {json.dumps(page, ensure_ascii=False)}\n"
        "document.documentElement.lang = so_language.tag\n"
        "Object.defineProperty(navigator, 'language', { get: () => so_language.tag, configurable: true })\n"
    ).encode()
    return content, f'W/"{hashlib.sha256(content).hexdigest()[:16]}"'
