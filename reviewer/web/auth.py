"""Identify the person behind a request by a cookie, with or without passwords.

With a password, the cookie is the random token of a session in the store. While nobody has a password, it is
``alone:`` and the initials, proves nothing, and is accepted from this machine only.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Protocol
from urllib.parse import quote, unquote, urlsplit

from starlette.requests import Request
from starlette.responses import Response

from reviewer.rules.campaign import Rules
from reviewer.rules.people import Person, clean_initials
from reviewer.store import Session, Store

SIGNED_OUT = "You are signed out. Sign in again; nothing was sent."
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

    :param local: only this machine can reach the app; otherwise everybody needs a password
    """
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


def needs_passwords(people: list[Person]) -> bool:
    """Return whether everyone signs in with a password, because at least one person has one."""
    return any(person.has_password for person in people)


def start_alone(store: Store, initials: str) -> Person:
    """Let a person work here without a password. The first person may do every round alone: the rules are set to
    single-user mode, which every export records. Rules that were set before are left as they are.

    :raises PersonError: the initials cannot be used
    :raises NotAllowed: somebody here has a password
    """
    first = not store.accounts.people()
    person = store.accounts.work_alone(clean_initials(initials))
    if first and store.settings.rules() == Rules():
        store.settings.set_rules(person.initials, Rules(solo=True))
    return person


def set_session_cookie(response: Response, request: Request, session: Session) -> None:
    """Set the cookie of a person who signed in; it ends with the session."""
    _set(response, request, session.token, session.expires_at)


def set_alone_cookie(response: Response, request: Request, person: Person) -> None:
    """Set the cookie of a person who works here without a password, for a year."""
    _set(response, request, ALONE + quote(person.initials), datetime.now(UTC) + timedelta(days=365))


def _set(response: Response, request: Request, value: str, expires: datetime) -> None:
    response.set_cookie(
        COOKIE,
        value,
        expires=expires,
        path="/",
        httponly=True,
        samesite="strict",
        # Over plain HTTP a secure cookie would be dropped; behind a proxy with TLS it must not leak to HTTP.
        secure=request.url.scheme == "https",
    )


def clear_cookie(response: Response) -> None:
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")


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
