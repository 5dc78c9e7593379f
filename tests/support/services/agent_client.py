"""An agent's client of the MCP server, in this process, for tests that are not asynchronous."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client import Client
from mcp_types import Implementation
from PIL import Image

from agent.mcp.desk import Submitted
from agent.plot import pixels_sha256
from agent.spectrum import Spectrum
from agent.tasks import load_all


@dataclass
class Answered:
    """The result of a call: its text, whether it is an error, and the hash of the pixels of its picture."""

    text: str
    is_error: bool
    picture: str | None


class AgentClient:
    def __init__(self, client: Client, portal: BlockingPortal) -> None:
        self.client = client
        self._portal = portal

    def ask(self, method: str, *given: Any) -> Any:
        """Return the result of a method of the SDK's client."""
        return self._portal.call(getattr(self.client, method), *given)

    def call(self, tool: str, **arguments: Any) -> Answered:
        result = self.ask("call_tool", tool, {"reasoning": "because", **arguments})
        text, *pictures = result.content
        assert len(pictures) < 2
        return Answered(text.text, result.is_error, _pixels(pictures[0].data) if pictures else None)

    def open(self, path: str, **arguments: Any) -> str:
        """Open a spectrum; return its handle."""
        return handle_in(self.call("open_spectrum", path=path, **arguments).text)


def handle_in(text: str) -> str:
    """Return the handle in the answer of ``open_spectrum``."""
    handle = re.match("handle: (.+)\n", text)
    assert handle is not None, text
    return handle[1]


@contextmanager
def agent_client(server: Any, name: str = "an-agent", mode: str = "auto") -> Iterator[AgentClient]:
    """Yield a client that is connected to the server.

    :param mode: "legacy": with the handshake and the session of protocol versions before 2026-07-28
    """
    client = Client(server, mode=mode, client_info=Implementation(name=name, version="1.2"))
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
        yield AgentClient(client, portal)


def _pixels(data: str) -> str:
    with Image.open(io.BytesIO(base64.b64decode(data))) as picture:
        assert picture.mode == "RGBA"
        return pixels_sha256(picture)


class KnownSpectra(dict):
    """Spectra by path."""

    def find(self, path: str, target: str | None, client: object) -> Spectrum | None:
        return self.get(path)


class Tray:
    """A desk that keeps what is submitted to it."""

    def __init__(self) -> None:
        self.traces = []
        self.known, _ = load_all([])

    def tasks(self):
        return self.known

    def submit(self, trajectory, spectrum, client):
        self.traces.append(trajectory)
        return Submitted(len(self.traces), True)

    def queue(self, client):
        return ()
