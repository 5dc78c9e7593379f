"""Security headers of every answer: content security policy, no sniffing, no framing, no other origin.

The last line of defence: model text, comments and names are inserted as text everywhere; should a place be
missed, the text there still cannot run, load or send anything. Plain ASGI, so that streams are not buffered.
"""

from __future__ import annotations

import base64
import hashlib
import re

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent import language
from reviewer.web.language import script_url
from reviewer.web.proxies import base_in

CLOSED = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
"""For everything but pages: opened by itself, an answer can do nothing, whatever its bytes are."""

REPORT = f"{CLOSED} allow-scripts allow-downloads; style-src 'unsafe-inline'; img-src data: blob:"
"""For a report, which is one page with its style and scripts inside: nothing loads, and only what ``script_policy`` of
the report allows runs, which has no access to this app.
"""

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not "no-referrer": with it browsers send "Origin: null" with our own forms.
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

GRADIO_ASSETS = "/assets/"
"""Gradio's scripts and styles. The name of each has a hash of its content, so the browser may keep it for a year."""

IMMUTABLE = "public, max-age=31536000, immutable"

SAMP_HUB = "http://localhost:21012"
"""The hub of the person's machine, which asks them before a page may use it (SAMP 1.3, Web Profile)."""

_GRADIO_SCRIPTS = "/static/js/"
SCRIPTS = (GRADIO_ASSETS, _GRADIO_SCRIPTS, "/ui/")
"""Where the page's scripts are: Gradio's and ours. Not the whole origin: uploaded files are on it too."""

# Gradio (6.31) lets any site read its answers with the visitor's cookies unless it runs on localhost.
_CORS = ("access-control-allow-origin", "access-control-allow-credentials")
_INLINE_SCRIPT = re.compile(rb"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)


def page_policy(host: str, page: bytes, code: str) -> str:
    """Return the policy of the main page. Gradio's inline scripts hold the visitor's name and the address, so
    each answer allows exactly the scripts that it contains, by their hashes.

    :param host: this server's name as the browser sent it, with its port and the path of the app
    :param code: the language of the page; Gradio's page requests some of its files below its own address
    """
    own = () if code == language.ENGLISH else (f"/{code}{_GRADIO_SCRIPTS}",)
    scripts = [f"{host}{folder}" for folder in (*SCRIPTS, *own)]
    return "; ".join(
        (
            "default-src 'none'",
            # 'unsafe-eval': gr.HTML makes functions of its template and of js_on_load. Both are our own text;
            # values are arguments.
            _directive("script-src", *inline_hashes(page), "'unsafe-eval'", *scripts),
            # 'unsafe-inline': Gradio's components and Plotly write style attributes and style elements.
            "style-src 'self' 'unsafe-inline'",
            # data: Gradio's icons in its style sheets; blob: Plotly's.
            "img-src 'self' data: blob:",
            "font-src 'self'",
            f"connect-src 'self' {SAMP_HUB}",
            "manifest-src 'self'",
            "form-action 'self'",
            # Gradio's page has <base href="./">.
            "base-uri 'self'",
            "frame-ancestors 'none'",
        )
    )


def in_language(page: bytes, code: str) -> bytes:
    """Name the language of the main page, which Gradio calls English, and load its catalogue before any module runs.
    Gradio's one absolute address becomes relative."""
    page = page.replace(b'href="/manifest.json"', b'href="manifest.json"', 1)
    page = page.replace(b'lang="en"', f'lang="{language.TAGS[code]}"'.encode(), 1)
    return page.replace(b"<head>", f'<head>\n<script src="{script_url(code)}"></script>'.encode(), 1)


def inline_hashes(page: bytes) -> list[str]:
    """The CSP sources of the scripts that are written into a page."""
    digests = (hashlib.sha256(script).digest() for script in _INLINE_SCRIPT.findall(page))
    return [f"'sha256-{base64.b64encode(digest).decode('ascii')}'" for digest in digests]


class Headers:
    """Middleware that adds the headers to every answer. A route that sends a policy of its own keeps it.

    :param preload: the ``Link`` header of the main page
    """

    def __init__(self, app: ASGIApp, preload: str) -> None:
        self._app = app
        self._preload = preload

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["path"] == "/":
            await self._app(scope, receive, _Page(send, _host(scope), self._preload).send)
        else:
            named_by_content = scope["path"].startswith(GRADIO_ASSETS)
            await self._app(scope, receive, _guarded(send, keep=named_by_content))


def _guarded(send: Send, keep: bool) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            _set(headers, CLOSED)
            if keep and message["status"] == 200:
                headers.setdefault("Cache-Control", IMMUTABLE)
        await send(message)

    return guarded


class _Page:
    """Holds the main page back until it is complete: its policy names the scripts in it."""

    def __init__(self, send: Send, host: str, preload: str) -> None:
        self._send, self._host, self._preload = send, host, preload
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
            code = language.current()
            self._body = in_language(self._body, code)
            headers["Content-Length"] = str(len(self._body))
            _set(headers, page_policy(self._host, self._body, code))
            headers["Cache-Control"] = "no-store"
            headers["Link"] = self._preload
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


def document_policy(scope: Scope) -> str:
    """Return the policy of a page that only shows text: our styles, our script for the theme, and pictures."""
    scripts = _directive("script-src", f"{_host(scope)}/ui/")
    rest = "style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return f"default-src 'none'; {scripts}; {rest}"


def swagger_policy(scope: Scope, page: bytes) -> str:
    """Return the policy of the page that describes the API: Swagger UI from this server, and the script in the page."""
    scripts = _directive("script-src", *inline_hashes(page), f"{_host(scope)}/ui/swagger/")
    # 'unsafe-inline': Swagger UI writes style attributes. data: the icons in its style sheet.
    rest = "style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'"
    return f"default-src 'none'; {scripts}; {rest}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def _directive(name: str, *sources: str) -> str:
    return " ".join((name, *sources))


def _host(scope: Scope) -> str:
    """Return this server's name as the browser sent it, with its port and the path of the app."""
    name = next((value for key, value in scope["headers"] if key == b"host"), b"").decode("latin-1")
    # It becomes part of the policy: anything but a host and port could add a directive.
    return name + base_in(scope) if re.fullmatch(r"[A-Za-z0-9.\-\[\]:]+", name) else "'none'"
