"""A small server with OpenAI's chat API that answers as it is told to: well, or badly on purpose.

    with BadServer([Status(429, retry_after=0), Say("hello")]) as server:
        Endpoint(server.url, model="m") ...
        assert server.asked[0].body["model"] == "m"

Each request is answered by the next behaviour of the list, the last one for ever; or by what a function of
the request's body gives (``talking`` makes one that holds whole conversations). As a program it serves until
it is ended: ``python tests/support/bad_server.py --port 8000 --delay 0.01``.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support.bad_answers import (
    DONE,
    TRAJECTORY,
    WEB_PAGE,
    Behaviour,
    Cut,
    Endless,
    HangUp,
    Raw,
    Say,
    Stall,
    Status,
    answer,
    chunk,
    look,
    parts,
    problem,
    talking,
    usage,
)

__all__ = [
    "DONE",
    "TRAJECTORY",
    "WEB_PAGE",
    "Asked",
    "BadServer",
    "Behaviour",
    "Cut",
    "Endless",
    "Raw",
    "Say",
    "Stall",
    "Status",
    "answer",
    "chunk",
    "look",
    "parts",
    "problem",
    "talking",
    "usage",
]


@dataclass(frozen=True)
class Asked:
    """A request as it came; ``body`` is None where there was none."""

    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass
class BadServer:
    """The server, on a thread of its own, from ``with`` to its end.

    ``left`` counts answers whose end was not waited for, ``open`` those that are being given.
    """

    answers: Sequence[Behaviour] | Callable[[Mapping[str, Any]], Behaviour] = field(default_factory=talking)
    models: Sequence[str] = ("spec-o3",)
    well: bool = True
    """Whether it answers what is asked about itself; if not, with a web page."""
    context: int = 32768
    api_key: str | None = None
    port: int = 0
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    left: int = 0
    open: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> BadServer:
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        listening = asyncio.start_server(self._accept, "127.0.0.1", self.port, backlog=1024)
        self._server = asyncio.run_coroutine_threadsafe(listening, self._loop).result()
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening and drop every connection, as a server does that is killed."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def wait(self, condition: Callable[[], bool], seconds: float = 10.0) -> bool:
        """Wait until ``condition`` holds; whether it came to hold in time."""
        until = time.monotonic() + seconds
        while not condition() and time.monotonic() < until:
            time.sleep(0.005)
        return condition()

    async def _end(self) -> None:
        self._server.close()
        # A connection that was just accepted takes a few rounds of the loop to become a task. Left open, it
        # would be a server that listens and never answers.
        for _ in range(8):
            for task in self._tasks:
                task.cancel()
            await asyncio.sleep(0)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            with contextlib.suppress(HangUp, ConnectionError, asyncio.IncompleteReadError):
                ahead = b""
                while True:
                    ahead = ahead or await reader.readexactly(1)
                    if not ahead.isalpha():
                        writer.write(plain(Status(400)))  # somebody begins to speak TLS
                        raise HangUp
                    ahead = await self._serve(await self._request(reader, ahead), reader, writer)
        except asyncio.CancelledError:
            pass  # the server is being closed; asyncio would report it as an error
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _request(self, reader: asyncio.StreamReader, ahead: bytes) -> Asked:
        received = ahead + await reader.readuntil(b"\r\n\r\n")
        first, *lines = received.decode("latin-1").rstrip("\r\n").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        content = await reader.readexactly(int(headers.get("content-length", 0)))
        asked = Asked(first.split(" ")[1], headers, json.loads(content) if content else None)
        self.asked.append(asked)
        return asked

    async def _serve(self, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        """Answer one request; gives what was already read of the next."""
        behaviour = self._behaviour(asked)
        if isinstance(behaviour, Status):
            writer.write(plain(behaviour))
            await writer.drain()
            return b""
        self.open += 1
        answering = asyncio.ensure_future(self._stream(behaviour, asked.body, writer))
        listening = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait((answering, listening), return_when=asyncio.FIRST_COMPLETED)
            if not answering.done() and not listening.result():
                self.left += 1
                raise HangUp
            await answering
            return listening.result() if listening.done() else b""
        except ConnectionError:
            self.left += 1
            raise
        finally:
            self.open -= 1
            answering.cancel()
            listening.cancel()
            await asyncio.gather(answering, listening, return_exceptions=True)

    async def _stream(self, behaviour: Behaviour, body: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
        assert not isinstance(behaviour, Status)
        begun = False
        async for event in behaviour.chunks(body):
            if not begun:
                writer.write(head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"}))
                begun = True
            data = f"data: {event}\n\n".encode()
            writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            await writer.drain()
        if not begun:
            writer.write(head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"}))
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    def _behaviour(self, asked: Asked) -> Behaviour:
        if self.api_key and asked.headers.get("authorization") != f"Bearer {self.api_key}":
            given = asked.headers.get("authorization", "").removeprefix("Bearer ")
            return problem(401, f"Incorrect API key provided: {given}", "invalid_api_key")
        if asked.path != "/v1/chat/completions":
            return self._about_itself(asked.path) if self.well else WEB_PAGE
        if callable(self.answers):
            return self.answers(asked.body)
        return self.answers[min(len(self.chats), len(self.answers)) - 1]

    @property
    def chats(self) -> list[Asked]:
        """The requests for a turn, without those about the server itself."""
        return [asked for asked in self.asked if asked.body is not None]

    def _about_itself(self, path: str) -> Status:
        match path:
            case "/v1/models":
                listed = [
                    {"id": name, "object": "model", "owned_by": "vllm", "max_model_len": self.context}
                    for name in self.models
                ]
                return Status(200, {"object": "list", "data": listed})
            case "/version":
                return Status(200, {"version": "0.12.0"})
            case "/metrics":
                gauges = (("running", self.open), ("waiting", 0))
                lines = [f'vllm:num_requests_{name}{{engine="0"}} {float(n)}' for name, n in gauges]
                return Status(200, "\n".join(lines) + "\n", kind="text/plain; version=0.0.4")
        return problem(404, "Not Found")


def plain(answer: Status) -> bytes:
    """A whole answer."""
    content = answer.content()
    headers = {"content-type": answer.kind, "content-length": str(len(content))}
    if answer.retry_after is not None:
        headers["retry-after"] = f"{answer.retry_after:g}"
    return head(answer.status, headers) + content


def head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} .", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each piece")
    parser.add_argument("--pieces", type=int, default=8, help="pieces of a turn")
    arguments = parser.parse_args()
    answers = talking(delay=arguments.delay, pieces=arguments.pieces)
    with BadServer(answers, port=arguments.port) as server:
        print(f"serving on {server.url}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
