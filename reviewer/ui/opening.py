"""What stands in the page's head before Gradio is there: styles, the theme, and the Review desk itself.

Gradio puts the markup that it is given for the head into the page by script, once its own page is up, which
takes a second. So ours is written into the page as it is sent, and Gradio's program is held back: the browser
fetches every script of the Review desk at once, the desk opens the first item, starts Gradio, and moves into
its tab when that is there (opening.js).
"""

from __future__ import annotations

import re
from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HERE = Path(__file__).parent
STYLES = ("theme", "spectrum_view", "trace_view", "review", "live", "blind", "progress")
SCRIPT = "opening.js"
_HEAD = b"<head>"
_BODY = re.compile(rb"<body[^>]*>")
# Gradio 6.31. Where another version starts otherwise, it starts by itself, beside the desk.
_PROGRAM = re.compile(rb'<script type="module" crossorigin src="(\./assets/[\w.-]+\.js)"></script>')
_HELD_BACK = rb'<link rel="modulepreload" crossorigin href="\1" id="gradio-program">'
_IMPORTED = re.compile(r"""^(?:import|export)\b[^;'"]*?['"]\./([\w.]+)['"]""", re.MULTILINE)


class Opening:
    """Writes ``head()`` and ``styles()`` into Gradio's page. Plain ASGI, as the page's headers are."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._head = _HEAD + head().encode()
        self._styles = rb"\g<0>" + styles().encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != "/":
            await self._app(scope, receive, send)
            return
        start: Message = {}
        body = b""

        async def whole(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                start = message
                return
            if message["type"] != "http.response.body":
                return  # what a test client is told beside the answer
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            headers = MutableHeaders(scope=start)
            if headers.get("content-type", "").startswith("text/html"):
                body = _PROGRAM.sub(_HELD_BACK, body.replace(_HEAD, self._head, 1), count=1)
                body = _BODY.sub(self._styles, body, count=1)
                headers["Content-Length"] = str(len(body))
            await send(start)
            await send({"type": "http.response.body", "body": body})

        await self._app(scope, receive, whole)


def head() -> str:
    """The markup: nothing in it is inline, so that the page's policy need not allow what is."""
    return "\n".join(
        (
            "",
            '<script src="/ui/first_theme.js"></script>',
            '<script src="/ui/plotly.min.js" async></script>',
            f'<script type="module" src="/ui/{SCRIPT}"></script>',
            *(f'<link rel="modulepreload" href="/ui/{name}">' for name in modules(SCRIPT)),
            *(f'<link rel="preload" as="style" href="/ui/{name}.css">' for name in STYLES),
            '<link rel="preload" as="fetch" crossorigin href="/ui/keymap.json">',
            '<link rel="preload" as="fetch" crossorigin href="/api/me">',
        )
    )


def styles() -> str:
    """Our styles, at the beginning of the body: Gradio adds its own to the end of the head while it starts,
    and of two rules of one weight the later one in the page counts."""
    return "".join(f'\n<link rel="stylesheet" href="/ui/{name}.css">' for name in STYLES)


def modules(first: str) -> list[str]:
    """The modules that ``first`` imports, and that they import, in the order in which a browser meets them.

    Told of them at once, it need not read one to learn of the next.
    """
    found = [first]
    for name in found:
        text = (HERE / name).read_text(encoding="utf-8")
        found += [other for other in dict.fromkeys(_IMPORTED.findall(text)) if other not in found]
    return found[1:]
