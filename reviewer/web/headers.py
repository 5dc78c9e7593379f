"""What every answer carries: a content security policy, no sniffing, no framing, no other origin.

The last line of defence: model text, comments and names are shown as text everywhere. Should a place be
missed, what was written there still cannot run, load or send anything.

Plain ASGI: Starlette's function middleware would buffer the events that Gradio streams.
"""

from __future__ import annotations

import re
import secrets

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CLOSED = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
"""Of everything but a page: opened by itself it is nothing, whatever its bytes are."""

REPORT = f"{CLOSED}; style-src 'unsafe-inline'"
"""Of a report that is one page with its style in it: it can be read, and nothing in it runs or loads."""

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not "no-referrer": with it browsers send "Origin: null" with our own forms.
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

SCRIPTS = ("/assets/", "/static/js/", "/ui/")
"""Where the page's scripts are: Gradio's and ours. Not the whole origin: what was uploaded is on it too."""

# Gradio (6.31) lets any site read its answers with the visitor's cookies unless it runs on localhost.
_CORS = ("access-control-allow-origin", "access-control-allow-credentials")


def page_policy(host: str, nonce: str) -> str:
    """The policy of the main page.

    Gradio's own inline scripts get the nonce from ours, which takes them into the page (gradio.js).

    :param host: as the browser called this server, with its port
    """
    scripts = [f"{host}{folder}" for folder in SCRIPTS]
    return "; ".join(
        (
            "default-src 'none'",
            # 'unsafe-eval': gr.HTML makes a function of its template and of js_on_load. Nobody gets in that
            # way: what is made so is text of ours, values are its arguments.
            _directive("script-src", f"'nonce-{nonce}'", "'unsafe-eval'", *scripts),
            # 'unsafe-inline': Gradio's components and Plotly write style attributes and style elements.
            "style-src 'self' 'unsafe-inline'",
            # data: are Gradio's icons in its style sheets; blob: Plotly's.
            "img-src 'self' data: blob:",
            "font-src 'self'",
            "connect-src 'self'",
            "manifest-src 'self'",
            "form-action 'self'",
            # Gradio's page has <base href="./">.
            "base-uri 'self'",
            "frame-ancestors 'none'",
        )
    )


class Headers:
    """Puts the headers on every answer, and the nonce into the page.

    A route that sends a policy of its own keeps it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["path"] == "/":
            await self._app(scope, receive, _Page(send, _host(scope)).send)
        else:
            await self._app(scope, receive, _guarded(send))


def _guarded(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            _set(MutableHeaders(scope=message), CLOSED)
        await send(message)

    return guarded


class _Page:
    """Holds an answer back until it is whole, and gives each ``<script`` of it the nonce."""

    def __init__(self, send: Send, host: str) -> None:
        self._send, self._host = send, host
        self._start: Message = {}
        self._body = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        if message["type"] != "http.response.body":
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if message.get("more_body"):
            return
        headers = MutableHeaders(scope=self._start)
        if headers.get("content-type", "").startswith("text/html"):
            nonce = secrets.token_urlsafe(16)
            _set(headers, page_policy(self._host, nonce))
            headers["Cache-Control"] = "no-store"
            self._body = self._body.replace(b"<script", f'<script nonce="{nonce}"'.encode())
            if "content-length" in headers and self._body:
                headers["Content-Length"] = str(len(self._body))
        else:
            _set(headers, CLOSED)
        await self._send(self._start)
        await self._send({"type": "http.response.body", "body": self._body})


def _set(headers: MutableHeaders, policy: str) -> None:
    for name in _CORS:
        del headers[name]
    for name, value in ALWAYS.items():
        headers[name] = value
    headers.setdefault("Content-Security-Policy", policy)


def _directive(name: str, *sources: str) -> str:
    return " ".join((name, *sources))


def _host(scope: Scope) -> str:
    name = next((value for key, value in scope["headers"] if key == b"host"), b"").decode("latin-1")
    # It goes into the policy's text: what is no host and port would be a directive of its own.
    return name if re.fullmatch(r"[A-Za-z0-9.\-\[\]:]+", name) else "'none'"
