"""Who may do what over HTTP: every request is checked here before a route sees it.

Gradio mounts some seventy routes. The page needs about ten; the others are closed, among them its proxy, monitoring,
deep links, downloads of uploaded files and whatever a later release adds. Plain ASGI, so that streams are not buffered.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from cachetools import TTLCache
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from agent.language import offered, tr
from reviewer.rules.people import Person
from reviewer.store import Store
from reviewer.store.accounts import origin_of
from reviewer.web.auth import (
    SIGNED_OUT,
    needs_passwords,
    person_of,
    reached_as_this_machine,
    same_site,
    sign_in_address,
    token_in,
)
from reviewer.web.bodies import UPLOAD
from reviewer.web.context import TokenNotAccepted, plain, sender_of
from reviewer.web.language import without_language
from reviewer.web.proxies import Login, NotBelieved, ProxyLogin, base_of, keep_login, login_of

READING = ("GET", "HEAD")

PUBLIC: Mapping[str, tuple[str, ...]] = {
    "/sign-in": ("GET", "POST"),
    "/sign-out": ("POST",),
    "/favicon.ico": READING,
    "/manifest.json": READING,
    "/pwa_icon/192": ("GET",),
    "/pwa_icon/512": ("GET",),
    "/theme.css": READING,
}
"""Open without a session: signing in, and files of the released program."""

PUBLIC_FOLDERS = ("/assets/", "/static/", "/ui/", "/samp/")
LONGEST_FILE_PATH = 200
"""Bytes of a path into these folders. Gradio looks any name up on the disk, which fails over 255 bytes."""

GRADIO: Mapping[str, tuple[str, ...]] = {
    "/": READING,
    "/config": ("GET",),
    "/gradio_api/info": ("GET",),
    "/gradio_api/startup-events": ("GET",),
    "/gradio_api/theme.css": ("GET",),
    "/gradio_api/upload": ("POST",),
    "/gradio_api/upload_progress": ("GET",),
}
"""What Gradio's page requests, open to people who are signed in; the page in another language puts that before the
address (``/zh/gradio_api/config``). The page has no Gradio events, so their routes are closed.

``/gradio_api/app_id`` stays closed: Gradio's page would reload itself when it is answered after the server was lost,
whatever the person is typing."""

GRADIO_FOLDERS = ("/gradio_api/heartbeat/",)

DOCUMENTS = "/docs/"
"""Our documents, open to people who are signed in; a browser without a session is sent to sign in."""

OURS = "/api/v1/"
"""Each route under it checks itself who sends the request (``context.signed_in``). One that may have a body is checked
here too, before the body is read."""

MCP = "/mcp"
"""Where people's agents call the spectrum tools, with a token and nothing else (``reviewer.web.mcp``)."""

PERSON = "spec_o3_person"
"""Key in the scope for the initials of the person who sent the request."""


def is_own(first: str) -> bool:
    """Return whether addresses of this app begin with this part of a path."""
    own = (*PUBLIC, *PUBLIC_FOLDERS, *GRADIO, *GRADIO_FOLDERS, DOCUMENTS, OURS, MCP)
    return first in {*(path.split("/")[1] for path in own if path != "/"), *offered()}


def may_manage(person: Person, store: Store) -> bool:
    """Return whether a person may import, export and make backups: a coordinator, or anyone in a database where one
    person works alone."""
    return person.is_any("coordinator") or store.settings.rules().solo


class Access:
    """Refuses requests from another site, under a wrong host name, without a session, or for a closed route.

    :param local: only this machine can reach the app
    :param public: the address of the proxy through which people reach the app (``https://review.example.org``)
    :param login: how that proxy names people who signed in there; None: it does not
    """

    def __init__(
        self, app: ASGIApp, store: Store, local: bool, public: str | None = None, login: ProxyLogin | None = None
    ) -> None:
        self._app, self._store, self._local, self._login = app, store, local, login
        self._public = urlsplit(public).netloc if public else None
        self._noted: TTLCache[tuple[str, str], bool] = TTLCache(4096, ttl=86_400)
        self._lock = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            # Nothing here uses websockets, and browsers open them across origins without a check.
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] == "http":
            request = Request(scope)
            answer = self._refuse_login(request) or self._refuse_origin(request)
            check = None if answer is not None else self._check_of(request)
            if check is not None:
                # Looking a session up waits for the disk: not on the event loop.
                answer = await run_in_threadpool(_answer_of, check, request)
            if answer is not None:
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _check_of(self, request: Request) -> Callable[[Request], Response | None] | None:
        """Return what has to be checked before a request is read; None: nothing."""
        if request.url.path == MCP:
            return _refuse_without_token
        if not _checks_itself(request.method, without_language(request.url.path)):
            return self._refuse
        if request.url.path.startswith(OURS) and request.method not in READING:
            # The framework would read the body before the route checks who sent it.
            return _refuse_stranger
        return None

    def _refuse(self, request: Request) -> Response | None:
        scope = request.scope
        path = without_language(request.url.path)
        document = request.method == "GET" and path.startswith(DOCUMENTS)
        if request.method not in GRADIO.get(path, ()) and not path.startswith(GRADIO_FOLDERS) and not document:
            return plain(404, "closed", tr("There is no such page here."))
        person = person_of(request, self._store, self._local)
        if person is None and (path == "/" or document):
            return RedirectResponse(base_of(request) + sign_in_address(path), status_code=303)
        if person is None:
            return plain(401, "signed_out", tr(SIGNED_OUT))
        scope[PERSON] = person.initials
        if path == "/":
            self._note_sign_in(request, person)
            # Gradio's page loads a stored state, or another page, by what the query names.
            scope["query_string"] = b""
        if path == UPLOAD and not may_manage(person, self._store):
            return plain(
                403,
                "not_allowed",
                tr("Only coordinators upload files; {initials} is not one.", initials=person.initials),
            )
        return None

    def _note_sign_in(self, request: Request, person: Person) -> None:
        """Log that a person whom the proxy names opened the page, once per day and origin."""
        login = login_of(request)
        if login is None or login.name != self._store.logins.of_people().get(person.initials):
            return
        origin = origin_of(request.client.host if request.client else "")
        with self._lock:
            is_new = (person.initials, origin) not in self._noted
            self._noted[person.initials, origin] = True
        if is_new:
            self._store.logins.note_sign_in(person.initials, origin)

    def _refuse_login(self, request: Request) -> Response | None:
        """Keep the sign-in name that the proxy gives; refuse a request that carries one and is not from the proxy."""
        if self._login is None:
            return None
        try:
            keep_login(request, Login(self._login.name_in(request), self._login.only))
        except NotBelieved as refusal:
            return plain(refusal.status, refusal.kind, str(refusal))
        return None

    def _refuse_origin(self, request: Request) -> Response | None:
        host = request.headers.get("host")
        if self._public is not None and host != self._public:
            return plain(
                403, "wrong_name", tr("This app can be reached under the name {public} only.", public=self._public)
            )
        alone = self._local and not reached_as_this_machine(request.headers)
        if alone and not needs_passwords(self._store.accounts.people()):
            return plain(
                403,
                "wrong_name",
                tr(
                    "Without passwords this app is open under this machine's own name only: http://127.0.0.1 and "
                    "its port. To use another name, set passwords in the People tab."
                ),
            )
        # A token is no cookie: another site cannot make a browser send it.
        by_token = request.url.path.startswith(OURS) and token_in(request) is not None
        if not by_token and not same_site(request.headers, request.method):
            return plain(403, "other_site", tr("This request came from another web site and was refused."))
        return None


def _refuse_stranger(request: Request) -> None:
    """Find the sender of a request, for its route. :raises NobodySignedIn: there is none"""
    sender_of(request)


def _refuse_without_token(request: Request) -> None:
    """Find the person whose agent sends a request. :raises TokenNotAccepted: there is no token, or it opens nothing"""
    if token_in(request) is None:
        raise TokenNotAccepted(
            tr("found no token, expected the header “Authorization: Bearer” with a token from the People tab")
        )
    sender_of(request)


def _answer_of(check: Callable[[Request], Response | None], request: Request) -> Response | None:
    """Return what a check answers; an exception gets the answer that it gets in a route."""
    try:
        return check(request)
    except Exception as error:
        handlers = request.app.exception_handlers
        kinds = (kind for kind in type(error).__mro__ if kind in handlers and kind is not Exception)
        handler = next((handlers[kind] for kind in kinds), None)
        if handler is None:
            raise
        answer: Response = handler(request, error)
        return answer


def _checks_itself(method: str, path: str) -> bool:
    if method in READING and path.startswith(PUBLIC_FOLDERS):
        return len(path.encode()) <= LONGEST_FILE_PATH and "\0" not in path
    return path.startswith(OURS) or method in PUBLIC.get(path, ())
