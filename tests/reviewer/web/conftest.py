"""Browsers of people, routes without Gradio's page, and drafted traces."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.testclient import TestClient

from agent import plot, tool
from agent.spectrum import Spectrum
from agent.tasks import load
from agent.trajectory import Drafter, Step, Trajectory, Zoom
from reviewer import server
from reviewer.live.events import Log, server_sent
from reviewer.store import Store
from reviewer.ui import page
from reviewer.web.auth import ALONE, COOKIE


@pytest.fixture(scope="module")
def without_page() -> Iterator[None]:
    """Build apps without Gradio's page, which takes a third of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "mount", lambda app, *_: app)
        yield


def client_of(app: FastAPI | Store, initials: str) -> TestClient:
    """The browser of a person, where nobody has a password."""
    app = server.build(app, local=True) if isinstance(app, Store) else app
    cookies = {COOKIE: f"{ALONE}{initials}"}
    return TestClient(app, base_url="http://127.0.0.1", follow_redirects=False, cookies=cookies)


def a_zoom(spectrum: Spectrum, step: str, arguments: Mapping[str, Any]) -> Zoom:
    """The step of a window that the tool has drawn."""
    seen = tool.call(spectrum, dict(arguments))
    assert seen.image is not None
    picture = plot.pixels_sha256(seen.image)
    return Zoom(step, arguments, seen.frame, seen.z, spectrum.medium, seen.text, True, picture)


def a_trace(spectrum: Spectrum, *steps: Step, drafter: str = "a drafter", label: str | None = "YES") -> Trajectory:
    return Trajectory(
        task="cv",
        prompt=load()["cv"].prompt,
        spectrum_name=spectrum.name,
        spectrum_sha256=spectrum.sha256,
        steps=steps,
        drafter=Drafter("model", drafter),
        redshift=spectrum.redshift,
        medium=spectrum.medium,
        label=label,
        simulated=True,
    )


def events_of(log: Log, after: int = 0) -> list[dict[str, Any]]:
    """All events of a log that ends, as a page receives them."""

    async def received() -> str:
        return "".join([part async for part in server_sent(log, after)])

    text = asyncio.run(asyncio.wait_for(received(), 60))
    blocks = [block.split("\n", 1) for block in text.split("\n\n") if block.startswith("id: ")]
    numbers = [int(number.removeprefix("id: ")) for number, _ in blocks]
    assert numbers == list(range(after + 1, after + 1 + len(numbers)))
    return [json.loads(data.removeprefix("data: ")) for _, data in blocks]


@contextmanager
def serving(app: FastAPI) -> Iterator[tuple[str, uvicorn.Server]]:
    """The app on a port of its own, as it is served."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        # From now on, connections wait until the server accepts them.
        listening.listen()
        config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=2)
        running = uvicorn.Server(config)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", running
        finally:
            running.should_exit = True
            thread.join(timeout=60)
            assert not thread.is_alive()
