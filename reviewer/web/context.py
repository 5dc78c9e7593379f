"""Shared by all routes: the context, the person who sent the request, and the form of error answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from typing import Annotated, Any
from urllib.parse import unquote

from anyio import CapacityLimiter
from fastapi import Depends, Request
from fastapi.responses import JSONResponse

from agent import hints as measured
from agent.errors import Refusal
from agent.language import deferred, tr
from agent.measure import Window
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.text import one_line
from agent.trajectory import Zoom
from reviewer.backup.backups import DailyBackups
from reviewer.pictures import Cache, Gallery
from reviewer.rules.people import Person
from reviewer.similar.background import Similar
from reviewer.store import NotAllowed, Store, Token, TokenRefused
from reviewer.web.auth import SIGNED_OUT, TokenChecks, may_use, person_of, token_in
from reviewer.web.background.webhooks import WebhookSender
from reviewer.web.documents import Documents
from reviewer.web.proxies import ProxyLogin

PASSWORD_CHECKS = 4
"""Passwords that are checked at the same time."""
FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}
IN_ONE_LANGUAGE = {**FOREVER, "Vary": "Cookie, Accept-Language"}
"""Of an answer that never changes but has texts in the language of the request."""
NOT_STORED = {"Cache-Control": "no-store"}


_SENDER = "spec_o3_sender"
"""Key in a request's state, which no client can write."""
PAGE_OF = "X-Spec-O3-Person"
"""Header with the initials of the page's person: several people may use one browser one after the other."""


class NobodySignedIn(Refusal):
    """A request without a session. The page keeps unsent text and asks the person to sign in."""

    kind = "signed_out"
    status = 401


class TokenNotAccepted(NobodySignedIn):
    """A request with a token that opens nothing."""


class OtherPerson(Refusal):
    """A request from a page of one person, while another person has signed in in the same browser."""

    kind = "other_person"
    status = 409


@dataclass(frozen=True)
class Context:
    """What the routes work on; the app keeps one in ``app.state.context``."""

    store: Store
    gallery: Gallery
    tasks: Mapping[str, Task]
    local: bool
    similar: Similar
    problems: tuple[str, ...] = ()
    backups: DailyBackups | None = None
    documents: Documents = field(default_factory=Documents)
    password_checks: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(PASSWORD_CHECKS))
    measured: Cache[str, list[dict[str, str]]] = field(default_factory=lambda: Cache(4096))
    login: ProxyLogin | None = None
    webhooks: WebhookSender | None = None
    tokens: TokenChecks = field(init=False)
    aids: Cache[tuple[str, ...], Any] = field(default_factory=lambda: Cache(2048))
    """What routes/aids.py has computed: line tables, ranked templates, loci; keys begin with the kind."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", TokenChecks(self.store))

    def hints(
        self,
        spectrum: Spectrum,
        zoom: Zoom,
        task: Task | None,
        thought: str = "",
        others: Sequence[Window] | None = None,
    ) -> list[dict[str, str]]:
        """Return the hints of a zoom and of the thought on it; measured once per spectrum, window, task and thought.

        Their texts are messages, which ``localized`` shows in the language of a request.
        """
        key = json.dumps(
            [
                spectrum.sha256,
                spectrum.meta.get("medium_assumed"),
                task.key if task else None,
                zoom.frame,
                zoom.z,
                dict(zoom.arguments),
                others,
                thought,
            ],
            default=str,
        )

        def measure() -> list[dict[str, str]]:
            hints = measured.hints(spectrum, zoom, task, thought, others)
            return [{"level": h.level, "kind": h.kind, "text": h.text, "why": h.why} for h in hints]

        return self.measured.get(key, measure)


def context_of(request: Request) -> Context:
    context: Context = request.app.state.context
    return context


def sender_of(request: Request) -> tuple[Person, Token | None]:
    """Return who sent a request, and the token with which it came; looked up once per request. With a token, cookies
    do not count.

    :raises NobodySignedIn: there is no session, or the token opens nothing
    :raises TooManyWrongTokens: the address sent too many tokens that do not exist
    """
    known: tuple[Person, Token | None] | None = getattr(request.state, _SENDER, None)
    if known is None:
        context, secret = context_of(request), token_in(request)
        if secret is not None:
            known = _by_token(request, context, secret)
        else:
            person = person_of(request, context.store, context.local)
            if person is None:
                raise NobodySignedIn(tr(SIGNED_OUT))
            known = (person, None)
        setattr(request.state, _SENDER, known)
    return known


def signed_in(request: Request) -> Person:
    """Return the person who sent the request.

    :raises NobodySignedIn: there is no session, or the token opens nothing
    :raises TooManyWrongTokens: the address sent too many tokens that do not exist
    :raises NotAllowed: the token is to read only
    :raises OtherPerson: the page belongs to another person; its request would be done in the wrong name
    """
    person, token = sender_of(request)
    route = getattr(request.scope.get("route"), "path", "")
    if token is not None and not may_use(token, request.method, route):
        raise NotAllowed(tr("The token “{name}” may only read; this request changes something.", name=token.name))
    opened_by = unquote(request.headers.get(PAGE_OF, person.initials))
    if opened_by != person.initials:
        raise OtherPerson(
            tr(
                "This page belongs to {opened_by:.10}, but {initials} has signed in since. Nothing more is "
                "sent from it; text of {opened_by:.10} is kept for {opened_by:.10}.",
                opened_by=opened_by,
                initials=person.initials,
            )
        )
    return person


PersonDep = Annotated[Person, Depends(signed_in)]


def _by_token(request: Request, context: Context, secret: str) -> tuple[Person, Token]:
    try:
        token, person = context.tokens.use(secret, request.client.host if request.client else "")
    except TokenRefused as refusal:
        raise TokenNotAccepted(str(refusal)) from None
    return person, token


def by_session(request: Request, person: PersonDep) -> Person:
    """Return the person who sent the request from a session. :raises NotAllowed: it came with a token"""
    if token_in(request) is not None:
        raise NotAllowed(tr("A token cannot do this. Sign in on the page."))
    return person


@cache
def program_version() -> str:
    """The version of the installed package; words where the program runs from its folder."""
    try:
        return installed_version("spec-o3")
    except PackageNotFoundError:
        return deferred("(run from its folder, not installed)")


SessionDep = Annotated[Person, Depends(by_session)]
"""For routes that tokens do not open."""
ContextDep = Annotated[Context, Depends(context_of)]


def plain(status: int, kind: str, error: str, **detail: Any) -> JSONResponse:
    """An error answer for the page: a stable kind, a message for the person, and details."""
    return JSONResponse({"kind": kind, "error": one_line(error), "detail": detail}, status_code=status)
