"""Who gets past the door: what each request is asked before a route or an event of Gradio's hears of it.

Gradio mounts some seventy routes. The page needs about ten; the others are closed to everybody, among them
its proxy, its monitoring, its deep links, its code editor and whatever a later release adds. So is the one
that gives uploaded files back: nobody gets from here what a browser might take for a page.

Plain ASGI: Starlette's function middleware would buffer the events that Gradio streams.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from agent.text import whole_number
from reviewer.rules.people import Person
from reviewer.store import Store
from reviewer.web.auth import needs_passwords, person_of, reached_as_this_machine, same_site
from reviewer.web.context import plain

READING = ("GET", "HEAD")

FOR_ANYBODY: Mapping[str, tuple[str, ...]] = {
    "/sign-in": ("GET", "POST"),
    "/sign-out": ("POST",),
    "/favicon.ico": READING,
    "/manifest.json": READING,
    "/theme.css": READING,
}
"""Without a session: the way in, and what is in the released program anyway."""

FOLDERS_FOR_ANYBODY = ("/assets/", "/static/", "/ui/")
LONGEST_FILE_PATH = 200
"""Bytes of a path into these folders. Gradio asks the disk for any name, which fails over 255 of them."""

OF_THE_PAGE: Mapping[str, tuple[str, ...]] = {
    "/": READING,
    "/page": ("GET",),
    "/config": ("GET",),
    "/gradio_api/info": ("GET",),
    "/gradio_api/app_id": ("GET",),
    "/gradio_api/startup-events": ("GET",),
    "/gradio_api/theme.css": ("GET",),
    "/gradio_api/queue/join": ("POST",),
    "/gradio_api/queue/data": ("GET",),
    "/gradio_api/run/predict": ("POST",),
    "/gradio_api/cancel": ("POST",),
    "/gradio_api/reset": ("POST",),
    "/gradio_api/upload": ("POST",),
    "/gradio_api/upload_progress": ("GET",),
}
"""What Gradio's page asks for, for whoever is signed in. What an event may do is asked again by its handler
(``edge.asking``)."""

FOLDERS_OF_THE_PAGE = ("/gradio_api/heartbeat/",)

OURS = "/api/"
"""Each route under it asks who it is itself (``desk.signed_in``), and answers a page's way."""

UPLOAD = "/gradio_api/upload"
PERSON = "spec_o3_person"
"""Where in the scope it is written who asks."""


class Gate:
    """Refuses what comes from elsewhere, under a wrong name, without a session, or for a closed route.

    :param local: nobody but this machine can reach the app
    :param public: the address people reach it at, where that is a proxy's (``https://review.example.org``)
    """

    def __init__(self, app: ASGIApp, store: Store, local: bool, public: str | None = None) -> None:
        self._app, self._store, self._local = app, store, local
        self._public = urlsplit(public).netloc if public else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            # Nothing here speaks it, and browsers open one across origins without asking.
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] == "http":
            request = Request(scope)
            answer = self._refuse_origin(request)
            if answer is None and not _asks_for_itself(request.method, request.url.path):
                # Looking a session up waits for the disk: not on the event loop.
                answer = await run_in_threadpool(self._refuse, request, scope)
            if answer is not None:
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _refuse(self, request: Request, scope: Scope) -> Response | None:
        path = request.url.path
        if request.method not in OF_THE_PAGE.get(path, ()) and not path.startswith(FOLDERS_OF_THE_PAGE):
            return plain(404, "closed", "There is no such page here.")
        person = person_of(request, self._store, self._local)
        if person is None and path == "/":
            return RedirectResponse("/sign-in", status_code=303)
        if person is None:
            return plain(401, "signed_out", "You are signed out. Sign in again.")
        scope[PERSON] = person.initials
        if path == UPLOAD and not self._may_bring_in(person):
            return plain(403, "not_allowed", f"Files come in by a coordinator; {person.initials} is none.")
        return None

    def _refuse_origin(self, request: Request) -> Response | None:
        host = request.headers.get("host")
        if self._public is not None and host != self._public:
            return plain(403, "wrong_name", f"This app is open under the name {self._public} only.")
        alone = self._local and not reached_as_this_machine(request.headers)
        if alone and not needs_passwords(self._store.people()):
            return plain(
                403,
                "wrong_name",
                "Without passwords this app is open under this machine's own name only, http://127.0.0.1 and "
                "its port. Under another name people sign in: set passwords in the People tab.",
            )
        if not same_site(request.headers, request.method):
            return plain(403, "other_site", "This request came from another web site and was refused.")
        return None

    def _may_bring_in(self, person: Person) -> bool:
        return person.is_any("coordinator") or self._store.rules().solo


def _asks_for_itself(method: str, path: str) -> bool:
    if method in READING and path.startswith(FOLDERS_FOR_ANYBODY):
        return len(path.encode()) <= LONGEST_FILE_PATH and "\0" not in path
    return path.startswith(OURS) or method in FOR_ANYBODY.get(path, ())


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
