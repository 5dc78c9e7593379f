"""Gradio's part of the app, made when somebody asks for it or when nobody asks for anything else.

Importing Gradio takes the processor two seconds. The Review desk does not need it, so the server answers the
desk first: Gradio is imported when the page asks for its part, which it does once the first item is painted,
or a moment after the start when no page is there. Until it is made, whoever asks for something of it waits.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

UNASKED = 2.0
"""Seconds after the start at which it is made though nobody has asked. A page that is opened meanwhile waits
for the processor beside it, so not at once."""
PAGE = "/page"
"""Where the page finds Gradio's own page, to take in what is in it (gradio.js)."""


class GradioPart:
    """An ASGI app in front of the one that ``make`` makes, once.

    :param make: imports Gradio and makes the app; called in a thread of its own
    """

    def __init__(self, make: Callable[[], FastAPI]) -> None:
        self._make = make
        self._making = threading.Lock()
        self._made: FastAPI | None = None
        self._asked: asyncio.Event | None = None
        self._running: asyncio.Future[FastAPI] | None = None

    def app(self) -> FastAPI:
        """The app; it is made here if it was not yet."""
        with self._making:
            if self._made is None:
                self._made = self._make()
            return self._made

    @property
    def routes(self) -> list[BaseRoute]:
        return self.app().routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._asked is None or self._running is None:
            app: ASGIApp = await run_in_threadpool(self.app)
        else:
            self._asked.set()
            try:
                # Whoever goes away while waiting takes nobody else's waiting along.
                app = await asyncio.shield(self._running)
            except asyncio.CancelledError:
                # The server was stopped before it was made; the page asks again.
                app = PlainTextResponse("The server is being stopped.", status_code=503)
        await app(scope, receive, send)

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """While the server runs: when the part is made, it begins, and it ends with the server."""
        self._asked, ending = asyncio.Event(), asyncio.Event()
        self._running = asyncio.get_running_loop().create_future()
        life = asyncio.create_task(self._live(self._asked, self._running, ending))
        try:
            yield
        finally:
            ending.set()
            self._asked.set()
            await life
            self._asked = self._running = None

    async def _live(self, asked: asyncio.Event, running: asyncio.Future[FastAPI], ending: asyncio.Event) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(asked.wait(), UNASKED)
        if ending.is_set():
            running.cancel()
            return
        try:
            app = await run_in_threadpool(self.app)
            async with app.router.lifespan_context(app):
                running.set_result(app)
                await ending.wait()
        except Exception as problem:
            if running.done():
                raise
            # Those who wait are told, each as of any error; the rest of the app goes on.
            running.set_exception(problem)


class GradiosPage:
    """Gradio's own page, at ``PAGE``: for Gradio it is asked for as ever."""

    def __init__(self, gradio: ASGIApp) -> None:
        self._gradio = gradio

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._gradio({**scope, "path": "/", "raw_path": b"/", "query_string": b""}, receive, send)
