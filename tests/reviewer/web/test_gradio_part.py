"""Gradio's part of the app: made once, when it is asked for or a moment after the start."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from reviewer.ui import gradio_part
from reviewer.ui.gradio_part import GradioPart


class Part:
    """What stands for Gradio, and what happened to it, in order."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.happened: list[str] = []
        self.fault = fault
        self.begun = threading.Event()

    def make(self) -> FastAPI:
        self.happened.append("made")
        if self.fault:
            raise self.fault

        @asynccontextmanager
        async def life(_: FastAPI) -> AsyncIterator[None]:
            self.happened.append("begun")
            self.begun.set()
            yield
            self.happened.append("ended")

        app = FastAPI(lifespan=life)
        app.get("/of-gradio")(lambda: "here")
        return app


def served(part: Part) -> FastAPI:
    gradio = GradioPart(part.make)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        async with gradio.lifespan():
            yield

    app = FastAPI(lifespan=life)
    app.get("/ours")(lambda: "here")
    app.mount("/", gradio)
    return app


@pytest.fixture
def never_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradio_part, "UNASKED", 3600.0)


@pytest.mark.usefixtures("never_unasked")
def test_ours_is_answered_without_it_and_whoever_asks_for_it_waits_for_one_making() -> None:
    part = Part()
    with TestClient(served(part)) as client:
        assert client.get("/ours").json() == "here"
        assert part.happened == []
        with ThreadPoolExecutor(8) as many:
            answers = [many.submit(client.get, "/of-gradio") for _ in range(8)]
            assert [answer.result().json() for answer in answers] == ["here"] * 8
        assert part.happened == ["made", "begun"]
    assert part.happened == ["made", "begun", "ended"]


def test_unasked_it_is_made_a_moment_after_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradio_part, "UNASKED", 0.01)
    part = Part()
    with TestClient(served(part)):
        assert part.begun.wait(30)
    assert part.happened == ["made", "begun", "ended"]


@pytest.mark.usefixtures("never_unasked")
def test_a_server_that_ends_before_never_makes_it() -> None:
    part = Part()
    with TestClient(served(part)):
        pass
    assert part.happened == []


@pytest.mark.usefixtures("never_unasked")
def test_where_it_cannot_be_made_whoever_asks_is_told_and_ours_goes_on() -> None:
    part = Part(RuntimeError("no Gradio here"))
    with TestClient(served(part), raise_server_exceptions=False) as client:
        assert [client.get("/of-gradio").status_code for _ in range(2)] == [500, 500]
        assert client.get("/ours").json() == "here"
    assert part.happened == ["made"]
