"""Identify the person behind a request: by a cookie with or without passwords, a proxy's header, or a script's token.

With a password, the cookie is the random token of a session in the store. While nobody has a password, it is
``alone:`` and the initials, proves nothing, and is accepted from this machine only. Tokens open the API only.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from ipaddress import ip_address
from typing import Protocol
from urllib.parse import quote, unquote, urlencode, urlsplit

from cachetools import LRUCache
from starlette.requests import Request
from starlette.responses import Response

from agent.errors import Refusal
from agent.language import deferred, tr
from reviewer.rules.campaign import Rules
from reviewer.rules.people import Person, clean_initials
from reviewer.store import CannotWrite, Session, Store, Token, TokenRefused
from reviewer.store.accounts import ATTEMPT_WINDOW, MAX_PER_ORIGIN, SESSION_TIME, origin_of
from reviewer.store.team.tokens import PREFIX
from reviewer.web.proxies import base_of, login_of, public_of

SIGNED_OUT = deferred("You are signed out. Sign in again; nothing was sent.")
COOKIE = "spec_o3_session"
ALONE = "alone:"
_OF_A_PROXY = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


class FromBrowser(Protocol):
    """What identifies a person: a request of Starlette or of Gradio."""

    @property
    def cookies(self) -> Mapping[str, str]: ...

    @property
    def headers(self) -> Mapping[str, str]: ...


def person_of(request: FromBrowser, store: Store, local: bool) -> Person | None:
    """Return the active person who sent this request, None if they have to sign in.

    The person whom a trusted proxy names comes before that of a cookie. Tokens do not count here.

    :param local: only this machine can reach the app; otherwise everybody needs a password
    """
    login = login_of(request)
    if login is not None:
        named = None if login.name is None else store.logins.person(login.name)
        if named is not None:
            return named if named.active else None
        if login.only:
            return None
    value = request.cookies.get(COOKIE) or ""
    if value and not value.startswith(ALONE):
        person = store.accounts.signed_in(value)
        if person is not None:
            return person
    if not local or not reached_as_this_machine(request.headers):
        return None
    everybody = store.accounts.people()
    if needs_passwords(everybody):
        return None
    active = [person for person in everybody if person.active]
    if len(active) == 1:
        return active[0]
    claimed = unquote(value.removeprefix(ALONE)) if value.startswith(ALONE) else ""
    return next((person for person in active if person.initials == claimed), None)


def sign_in_address(after: str) -> str:
    """Return the address of the sign-in page that opens another page afterwards.

    :param after: path and query of that page; "/" for the app
    """
    return "/sign-in" if after == "/" else f"/sign-in?{urlencode({'next': after})}"


def follows_link(headers: Mapping[str, str], method: str) -> bool:
    """Whether a browser follows a link or an address, so that a person sees the answer as a page."""
    return method == "GET" and headers.get("sec-fetch-mode") == "navigate"


def needs_passwords(people: list[Person]) -> bool:
    """Return whether everyone signs in with a password, because at least one person has one."""
    return any(person.has_password for person in people)


def start_alone(store: Store, initials: str) -> Person:
    """Let a person work here without a password. The first person may do every round alone: the rules are set to
    single-user mode, which every export records. Rules that were set before are left as they are.

    :raises PersonError: the initials cannot be used
    :raises NotAllowed: a person of this database has a password
    """
    first = not store.accounts.people()
    person = store.accounts.work_alone(clean_initials(initials))
    if first and store.settings.rules() == Rules():
        store.settings.set_rules(person.initials, Rules(solo=True))
    return person


def set_session_cookie(response: Response, request: Request, session: Session) -> None:
    """Set the cookie of a person who signed in; it ends with the longest session."""
    _set(response, request, session.token, SESSION_TIME)


def set_alone_cookie(response: Response, request: Request, person: Person) -> None:
    """Set the cookie of a person who works here without a password, for a year."""
    _set(response, request, ALONE + quote(person.initials), timedelta(days=365))


def _set(response: Response, request: Request, value: str, lasts: timedelta) -> None:
    response.set_cookie(
        COOKIE,
        value,
        # Counted by the browser's clock from now on: a date of ours would end at once where the two clocks disagree.
        max_age=int(lasts.total_seconds()),
        path=f"{base_of(request)}/",
        httponly=True,
        samesite="strict",
        # Over plain HTTP a secure cookie would be dropped. A proxy of ours has TLS, whatever headers it sends: behind
        # it the cookie must not leak to HTTP.
        secure=request.url.scheme == "https" or public_of(request) is not None,
    )


def clear_cookie(response: Response, request: Request) -> None:
    response.delete_cookie(COOKIE, path=f"{base_of(request)}/", httponly=True, samesite="strict")


def token_in(request: Request) -> str | None:
    """Return the token of a script in a request, None if it has none.

    Only the scheme "Bearer" with our prefix counts: proxies put credentials of their own into this header.
    """
    for value in request.headers.getlist("authorization"):
        scheme, _, credentials = value.partition(" ")
        if scheme.lower() == "bearer" and credentials.strip().startswith(PREFIX):
            return credentials.strip()
    return None


class TooManyWrongTokens(Refusal):
    """An origin sent too many tokens that do not exist."""

    kind = "too_many"
    status = 429


class TokenChecks:
    """Finds the people of tokens, and limits how many wrong ones an origin may send, as for passwords.

    Counted are only tokens that never existed: a script whose token has ended shuts nobody out. A token that is valid
    is accepted whatever others at the same address have sent.

    :param clock: seconds, never set back
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._wrong: LRUCache[str, deque[float]] = LRUCache(4096)

    def use(self, secret: str, address: str) -> tuple[Token, Person]:
        """Return the token with this secret, and its person.

        :raises TokenRefused: it opens nothing
        :raises TooManyWrongTokens: it does not exist, and the origin of the address sent too many such tokens within
            the last minutes
        """
        try:
            return self._store.tokens.use(secret)
        except TokenRefused as refusal:
            if not refusal.known:
                self._count(origin_of(address))
            raise

    def _count(self, origin: str) -> None:
        """Count a token that does not exist. :raises TooManyWrongTokens: there were too many"""
        with self._lock:
            recent = self._recent(origin)
            if len(recent) >= MAX_PER_ORIGIN:
                minutes = int(ATTEMPT_WINDOW.total_seconds() // 60)
                raise TooManyWrongTokens(
                    tr("Too many tokens from this address that do not exist; wait {minutes} minutes.", minutes=minutes)
                )
            recent.append(self._clock())
            self._wrong[origin] = recent
            is_last = len(recent) == MAX_PER_ORIGIN
        if is_last:
            with suppress(CannotWrite):
                self._store.log.note(None, "tokens refused", "unknown", origin=origin, count=MAX_PER_ORIGIN)

    def _recent(self, origin: str) -> deque[float]:
        recent = self._wrong.get(origin) or deque()
        while recent and recent[0] < self._clock() - ATTEMPT_WINDOW.total_seconds():
            recent.popleft()
        return recent


READS_BY_POST = frozenset(
    f"/api/v1/{path}"
    for path in (
        "zoom",
        "item/{item_id}/statements",
        "log/check",
        "blind/preview",
        "blind/power",
        "bulk/preview",
        "find/rows",
        "similar",
    )
)
"""Routes that change nothing although their method is POST, because what they are asked is long."""


def may_use(token: Token, method: str, route: str) -> bool:
    """Return whether a token opens a route with this method; ``route`` as declared, e.g. ``/api/v1/item/{item_id}``."""
    return token.may_write or method in ("GET", "HEAD") or (method == "POST" and route in READS_BY_POST)


def same_site(headers: Mapping[str, str], method: str) -> bool:
    """Whether a request came from our own page, from the address bar, or over a link to the page.

    Browsers send the origin with every POST and with requests of scripts. Other programs send none, and have no
    cookie that another site could misuse.
    """
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != headers.get("host"):
        return False
    if headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
        return True
    # A link or a bookmark may open a page; other sites may request nothing else.
    return method in ("GET", "HEAD") and headers.get("sec-fetch-mode") == "navigate"


def reached_as_this_machine(headers: Mapping[str, str]) -> bool:
    """Whether the browser used a name of this machine. A web site whose name points at 127.0.0.1 can reach the
    port from a visitor's browser, but cannot change the name that the browser sends. Requests through a proxy may
    come from anywhere, whatever name they carry."""
    if any(name in headers for name in _OF_A_PROXY):
        return False
    name = urlsplit(f"//{headers.get('host', '')}").hostname or ""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
