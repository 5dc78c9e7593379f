"""Gradio's page in a further language: built at its first request, in that language, and served beside the English one.

Its address is ``/`` like that of the English page; what it requests itself begins with its language
(``/zh/gradio_api/...``), so that an open page keeps working when another language is chosen in the same browser.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import copy_context
from threading import Lock
from urllib.parse import quote

import gradio as gr
from fastapi import FastAPI
from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import Receive, Scope, Send

from agent import language
from agent.language import tr


class PageInLanguage(BaseRoute):
    """The route of the page in one language.

    :param build: returns an app that has Gradio's page mounted at ``/CODE``; called in that language
    :param at_root: it has the page mounted at ``/``
    """

    def __init__(self, code: str, build: Callable[[], FastAPI], at_root: bool = False) -> None:
        self._at_root = at_root
        self.code = code
        self.path = f"/{code}"
        self._build = build
        self._built: FastAPI | None = None
        self._building = Lock()
        self._serving = False
        self._life: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()

    @property
    def app(self) -> FastAPI:
        """The app, built if it is not yet there: 0.2 s and 5 MB."""
        with self._building:
            if self._built is None:
                with language.speaking(self.code):
                    self._built = self._build()
            return self._built

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match the main page for who reads this language, and all that the page itself requests."""
        path = scope["path"]
        if scope["type"] != "http":
            return Match.NONE, {}
        if path == "/" and language.current() == self.code:
            return Match.FULL, {"path": f"{self.path}/", "raw_path": f"{self.path}/".encode()}
        return (Match.FULL if path.startswith(f"{self.path}/") else Match.NONE), {}

    def url_path_for(self, name: str, /, **path_params: object) -> object:  # type: ignore[override]
        raise NoMatchFound(name, dict(path_params))

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._built
        if app is None:
            app = await asyncio.to_thread(lambda: self.app)
        if self._serving and self._life is None:
            await self._start(app)
        if self._at_root:
            path = scope["path"].removeprefix(self.path)
            scope = {**scope, "path": path, "raw_path": quote(path).encode()}
        await app(scope, receive, send)

    async def _start(self, app: FastAPI) -> None:
        """Start the workers of the page's events. They live in a task of their own, in the page's language, and with
        them everything that they run."""
        started = asyncio.Event()

        async def live() -> None:
            try:
                async with app.router.lifespan_context(app):
                    started.set()
                    await self._stopping.wait()
            finally:
                started.set()

        context = copy_context()
        context.run(language.language.set, self.code)
        self._life = asyncio.create_task(live(), context=context)
        await started.wait()

    def serve(self) -> None:
        """The server has started."""
        self._serving = True

    async def stop(self) -> None:
        """The server stops."""
        self._serving = False
        self._stopping.set()
        if self._life is not None:
            await self._life


def own_words() -> gr.I18n:
    """What Gradio's parts say in our forms, in the language of the context. Their other words are Gradio's own
    translations: it takes the language from ``navigator.language``, which our script of the page's head sets."""
    words = {
        "upload_text.drop_file": tr("Drop files here"),
        "common.or": tr("or"),
        "upload_text.click_to_upload": tr("click to choose them"),
        "common.clear": tr("Clear"),
        # What a screen reader hears while a button is at work.
        "common.loading": tr("Loading"),
        "common.complete": tr("Done"),
        "common.error": tr("Error"),
        "status.queue_position": tr("In queue: {position} of {size}"),
        # The button beside files that are chosen; Gradio has no text for it in any language.
        "common.upload": tr("Add files"),
        "file.uploading": tr("Uploading …"),
    }
    # A language that Gradio does not have is English there.
    return gr.I18n(**{language.TAGS[language.current()] if language.current() in language.NAMES else "en": words})
