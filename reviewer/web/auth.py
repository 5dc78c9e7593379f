"""Who is asking: the session cookie, and getting in without a password where one person works alone.

There are two kinds of cookie value. Somebody with a password carries the random token of a session in the
store. On a machine of one's own, while nobody has a password, the value is ``alone:`` and the initials: it
says who of those who work here this is, and proves nothing, because there is nothing to prove it against. It
stops counting with the first password, and was never accepted from beyond the machine.
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
    """The active person who sent this request; None sends them to the sign-in page.

    :param local: only this machine can reach the app; without it nobody gets in without a password
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
    """Whether this is a team: somebody has a password, so everybody signs in with one."""
    return any(person.has_password for person in people)


def start_alone(store: Store, initials: str) -> Person:
    """Let somebody work here without a password. The first ever may do every round alone: the rules say so
    from then on, and so does every export. Rules that somebody has set before are left as they are.

    :raises PersonError: the initials cannot be used
    :raises NotAllowed: somebody here has a password
    """
    first = not store.accounts.people()
    person = store.accounts.work_alone(clean_initials(initials))
    if first and store.settings.rules() == Rules():
        store.settings.set_rules(person.initials, Rules(solo=True))
    return person


def set_session_cookie(response: Response, request: Request, session: Session) -> None:
    """The cookie of somebody who signed in; it ends when the session does."""
    _set(response, request, session.token, session.expires_at)


def set_alone_cookie(response: Response, request: Request, person: Person) -> None:
    """The cookie of somebody who works here without a password; kept for a year."""
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

    Browsers name the origin of every POST, and of what a script reads. A program that is no browser names
    none, and carries no cookie that another site could misuse.
    """
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != headers.get("host"):
        return False
    if headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
        return True
    # A link or a bookmark opens a page; nothing else is anybody else's to fetch.
    return method in ("GET", "HEAD") and headers.get("sec-fetch-mode") == "navigate"


def reached_as_this_machine(headers: Mapping[str, str]) -> bool:
    """Whether the address bar says localhost. A web site whose name was made to point at 127.0.0.1 can reach
    the port from a visitor's browser, but cannot change the name that the browser sends. A proxy on this
    machine stands for whoever is behind it, whatever name it was told to use."""
    if any(name in headers for name in _OF_A_PROXY):
        return False
    name = urlsplit(f"//{headers.get('host', '')}").hostname or ""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
