"""Sign-in through a proxy: the proxy names the person in a header, which is believed from the proxy's addresses only.

Off unless ``spec-o3 app --proxy-login-header`` is given. docs/access.md describes the proxy's side.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, cast
from urllib.parse import quote, unquote, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from agent.cli.command import CannotRun
from agent.errors import Refusal
from agent.language import tr
from reviewer.rules.people import PersonError
from reviewer.store.team.logins import clean_login

THIS_MACHINE = ("127.0.0.1", "::1")
"""Addresses from which a proxy's forwarded headers are trusted, and by default the header with the person."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{1,60}")
_OTHER_MEANING = {"authorization", "cookie", "host", "origin", "referer", "forwarded", "via", "x-real-ip"} | {
    f"x-forwarded-{what}" for what in ("for", "host", "port", "proto", "prefix", "server", "scheme", "uri", "method")
}
_LEAST_PREFIX = {4: 8, 6: 16}
"""A shorter prefix names so large a part of the internet that it cannot be meant."""


@dataclass(frozen=True)
class ProxyLogin:
    """How a proxy names the person who signed in there.

    :param header: the name of the header
    :param addresses: from which it is believed
    :param only: passwords are not accepted
    """

    header: str
    addresses: tuple[IPv4Network | IPv6Network, ...]
    only: bool = False

    @classmethod
    def parse(cls, header: str, addresses: str | None = None, only: bool = False) -> ProxyLogin:
        """Return the settings from the command line.

        :param addresses: addresses or networks with commas between; None: those of this machine
        :raises CannotRun: the header or an address cannot be used
        """
        if not _NAME.fullmatch(header) or header.lower() in _OTHER_MEANING:
            raise CannotRun(
                tr(
                    "--proxy-login-header: found {header}, expected the name of a header in which only your proxy "
                    "names people, e.g. X-Forwarded-Email",
                    header=repr(header[:80]),
                )
            )
        named = THIS_MACHINE if addresses is None else [part.strip() for part in addresses.split(",")]
        return cls(header.lower(), tuple(_network(part) for part in named), only)

    def trusts(self, peer: str | None) -> bool:
        """Return whether the header is believed from this address, that of the TCP connection."""
        try:
            address = ip_address(peer or "")
        except ValueError:
            return False
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        return any(address in network for network in self.addresses)

    def name_in(self, request: Request) -> str | None:
        """Return the sign-in name that a request carries; None if it carries none.

        :raises NotBelieved: it comes from another address, more than once, or is no name
        """
        values = request.headers.getlist(self.header)
        if not values:
            return None
        peer = peer_of(request)
        if not self.trusts(peer):
            raise NotBelieved(
                tr(
                    "Refused: the header {header} is accepted from the sign-in proxy only, and this request came from "
                    "{peer}.",
                    header=self.header,
                    peer=peer or "?",
                )
            )
        if len(values) > 1:
            raise NotBelieved(tr("Refused: found the header {header} more than once.", header=self.header))
        if not values[0].strip():
            return None
        try:
            return clean_login(values[0].encode("latin-1").decode("utf-8"))
        except (PersonError, UnicodeError):
            raise NotBelieved(
                tr("Refused: the header {header} holds no sign-in name that can be used.", header=self.header)
            ) from None


class NotBelieved(Refusal):
    """A request with the header of the proxy, which does not come from it or is malformed."""

    kind = "not_the_proxy"
    status = 403


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        network = ip_network(text)
    except ValueError:
        network = None
    if network is None or network.prefixlen < _LEAST_PREFIX[network.version]:
        raise CannotRun(
            tr(
                "--proxy-login-from: found {address}, expected addresses or networks of your proxy, e.g. 127.0.0.1 or "
                "10.0.5.0/24",
                address=repr(text[:80]),
            )
        )
    return network


class Forwarded:
    """Applies the forwarded headers of trusted proxies, keeps the address of the TCP connection, and takes the path of
    the app off the path of each request: behind it, the app is at ``/``, whether the proxy has taken it off or not.

    :param trusted: addresses and networks of the proxies; none: the headers do not count
    :param public: the address of the proxy through which alone the app is reached, which may have a path
    """

    def __init__(self, app: ASGIApp, trusted: Sequence[str], public: str | None = None) -> None:
        # uvicorn and starlette name the same types differently.
        self._app: ASGIApp = cast(Any, ProxyHeadersMiddleware)(app, list(trusted)) if trusted else app
        self._public = public
        self._base = path_of(public)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            client = scope.get("client")
            state = {**(scope.get("state") or {}), _PEER: client[0] if client else None, _LOGIN: None}
            scope = {**scope, "state": {**state, _PUBLIC: self._public}}
            if self._base and scope["path"] == unquote(self._base):
                # The addresses of the page are relative to a path that ends in a slash.
                await RedirectResponse(f"{self._base}/", status_code=308)(scope, receive, send)
                return
            if self._base:
                scope |= self._below(scope)
        await self._app(scope, receive, send)

    def _below(self, scope: Scope) -> dict[str, Any]:
        """Return what is different in a request where the app is not at the root of its host."""
        path, raw, base = scope["path"], scope.get("raw_path") or b"", unquote(self._base)
        if path.startswith(f"{base}/"):
            path = path.removeprefix(base)
            raw = quote(path).encode()
        headers = [(name, _first_of_each(value) if name == b"cookie" else value) for name, value in scope["headers"]]
        return {"path": path, "raw_path": raw, "headers": headers}


def _first_of_each(cookies: bytes) -> bytes:
    """Return a Cookie header with one cookie of each name. A browser sends that of the longest path first; the others
    belong to other apps of the host."""
    first: dict[bytes, bytes] = {}
    for cookie in cookies.split(b";"):
        first.setdefault(cookie.partition(b"=")[0].strip(), cookie.strip())
    return b"; ".join(first.values())


def path_of(public: str | None) -> str:
    """Return the path at which a proxy serves the app, without a slash at its end: "" at the root of its host."""
    return "" if public is None else urlsplit(public).path.rstrip("/")


_PEER, _LOGIN, _PUBLIC = "spec_o3_peer", "spec_o3_login", "spec_o3_public"


def public_of(request: Request) -> str | None:
    """Return the address of the proxy through which alone the app is reached; None: there is none."""
    public: str | None = getattr(request.state, _PUBLIC, None)
    return public


def base_of(request: Request) -> str:
    """Return the path with which the addresses of the app begin: "", or "/review"."""
    return path_of(public_of(request))


def base_in(scope: Scope) -> str:
    """Return ``base_of`` the request of a scope."""
    return base_of(Request(scope))


@dataclass(frozen=True)
class Login:
    """What the access control found in a request. It is in the request's state, which no client can write.

    :param name: the sign-in name by the proxy; None: the request had none
    :param only: passwords are not accepted
    """

    name: str | None
    only: bool


def keep_login(request: Request, login: Login) -> None:
    setattr(request.state, _LOGIN, login)


def login_of(request: object) -> Login | None:
    """Return what ``keep_login`` kept in a request of Starlette or Gradio; None where the proxy signs nobody in."""
    login = getattr(getattr(request, "state", None), _LOGIN, None)
    return login if isinstance(login, Login) else None


def peer_of(request: Request) -> str | None:
    """Return the address of the TCP connection, whatever forwarded headers say."""
    peer: str | None = getattr(request.state, _PEER, None)
    return peer
