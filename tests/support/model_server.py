"""A small server with OpenAI's chat API and given behaviour: correct, or wrong on purpose.

    with BadServer([Status(429, retry_after=0), Say("hello")]) as server:
        Endpoint(server.url, model="m") ...
        assert server.asked[0].body["model"] == "m"

Behaviours are used in order, the last one repeatedly; or a function of the request's body gives them (``talking``
makes one for whole conversations). As a program: ``python -m tests.support.model_server --port 8000 --delay 0.01``;
``--record FILE`` appends a line with the last message of each requested turn.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agent.conversation import Stop
from agent.policies import Sampling
from agent.policies.openai.endpoint import Delta, Endpoint, RequestLimits

DONE = "[DONE]"


class HangUp(Exception):
    """Close the connection immediately, also in the middle of an answer."""


@dataclass(frozen=True)
class Say:
    """A correct answer: ``text`` in ``pieces`` parts, ``delay`` seconds before each.

    ``deltas`` (e.g. tool calls) are sent unchanged before the text.
    """

    text: str = ""
    pieces: int = 4
    delay: float = 0.0
    finish: str | None = "stop"
    reasoning: str = ""
    deltas: Sequence[Mapping[str, Any]] = ()
    usage: tuple[int, int, int] | None = (100, 40, 7)
    """Prompt, cached, completion tokens."""
    done: bool = True
    tokens: Sequence[Mapping[str, Any]] = ()
    """The text as tokens with their log-probabilities (``logprobs.content``), in place of ``text`` and ``pieces``."""

    async def chunks(self, body: Mapping[str, Any]) -> AsyncIterator[str]:
        yield chunk({"role": "assistant", "content": ""})
        for delta in self.deltas:
            yield chunk(delta)
        for name, words in (("reasoning_content", self.reasoning), ("content", self.text)):
            for piece in parts(words, self.pieces):
                if self.delay:
                    await asyncio.sleep(self.delay)
                yield chunk({name: piece})
        for token in self.tokens:
            logprobs = {"logprobs": {"content": [token]}} if body.get("logprobs") else {}
            yield chunk({"content": token["token"]}, **logprobs)
        if self.finish:
            yield chunk({}, self.finish)
        if self.usage and body.get("stream_options", {}).get("include_usage"):
            yield usage(*self.usage)
        if self.done:
            yield DONE


@dataclass(frozen=True)
class Endless:
    """An endless answer; it ends after ``max_tokens`` words if it is ``obedient``."""

    word: str = "and on "
    obedient: bool = True
    delay: float = 0.0

    async def chunks(self, body: Mapping[str, Any]) -> AsyncIterator[str]:
        limit = body.get("max_tokens") if self.obedient else None
        for _ in itertools.count() if limit is None else range(limit):
            await asyncio.sleep(self.delay)
            yield chunk({"content": self.word})
        yield chunk({}, "length")
        yield DONE


@dataclass(frozen=True)
class Cut:
    """Sends ``text`` and closes the connection; without a text, closes it before any answer."""

    text: str = ""

    async def chunks(self, body: Mapping[str, Any]) -> AsyncIterator[str]:
        if not self.text:
            raise HangUp
        yield chunk({"content": self.text})
        raise HangUp


@dataclass(frozen=True)
class Stall:
    """Sends ``text``, if any, and then nothing, but keeps the connection open."""

    text: str = ""

    async def chunks(self, body: Mapping[str, Any]) -> AsyncIterator[str]:
        if self.text:
            yield chunk({"content": self.text})
        await asyncio.Event().wait()


@dataclass(frozen=True)
class Held:
    """Sends ``text`` to the middle of its thought, and the rest once ``go`` is set."""

    text: str
    go: threading.Event

    async def chunks(self, body: Mapping[str, Any]) -> AsyncIterator[str]:
        middle = self.text.index("</think>") // 2 + len("<think>") // 2
        yield chunk({"content": self.text[:middle]})
        while not self.go.is_set():
            await asyncio.sleep(0.005)
        yield chunk({"content": self.text[middle:]})
        yield chunk({}, "stop")
        yield DONE


@dataclass(frozen=True)
class Raw:
    """Sends these events unchanged, then ends the answer."""

    events: Sequence[str] = ()

    async def chunks(self, body: Mapping[str, Any]) -> AsyncIterator[str]:
        for event in self.events:
            yield event


@dataclass(frozen=True)
class Status:
    """A refusal. ``body`` is sent as JSON, or unchanged if it is text; None: an error object like OpenAI's."""

    status: int
    body: object = None
    retry_after: float | None = None
    kind: str = "application/json"

    def content(self) -> bytes:
        body = self.body
        if body is None:
            body = {"error": {"message": f"this is a {self.status}", "code": None, "param": None}}
        return (body if isinstance(body, str) else json.dumps(body)).encode()


Behaviour = Say | Endless | Cut | Stall | Held | Raw | Status
WEB_PAGE = Status(200, "<!DOCTYPE html><html><body>Welcome to nginx!</body></html>", kind="text/html")


def problem(status: int, message: str, code: str | None = None, parameter: str | None = None) -> Status:
    """Return a refusal with an error object like OpenAI's and vLLM's."""
    return Status(status, {"error": {"message": message, "code": code, "param": parameter}})


def chunk(delta: Mapping[str, Any], finish: str | None = None, **more: Any) -> str:
    """Return one event of a chat completion in vLLM's form.

    :param more: further fields of the choice
    """
    choice = {"index": 0, "delta": delta, "finish_reason": finish, **more}
    return json.dumps({"id": "c", "object": "chat.completion.chunk", "choices": [choice]})


def usage(prompt: int, cached: int, completion: int) -> str:
    """Return the event with the token counts."""
    details = {"cached_tokens": cached}
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, "prompt_tokens_details": details}
    return json.dumps({"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": counts})


def completion(chunks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the whole chat completion that these chunks would stream."""
    if errors := [found for found in chunks if found.get("error")]:
        return dict(errors[0])
    message: dict[str, Any] = {"role": "assistant"}
    calls: dict[int, dict[str, Any]] = {}
    made: dict[str, Any] = {"id": "c", "object": "chat.completion", "usage": None}
    finish = None
    logprobs: list[Any] = []
    for found in chunks:
        if "model" in found:
            made["model"] = found["model"]
        made["usage"] = found.get("usage") or made["usage"]
        for choice in found["choices"]:
            finish = choice["finish_reason"] or finish
            logprobs += (choice.get("logprobs") or {}).get("content", ())
            for name in ("content", "reasoning_content"):
                if name in choice["delta"]:
                    message[name] = message.get(name, "") + choice["delta"][name]
            for piece in choice["delta"].get("tool_calls", ()):
                call = calls.setdefault(piece["index"], {"id": "", "type": "function", "function": {}})
                call["id"] = call["id"] or piece.get("id", "")
                for name, words in piece["function"].items():
                    call["function"][name] = call["function"].get(name, "") + words
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return made | {"choices": [choice | ({"logprobs": {"content": logprobs}} if logprobs else {})]}


def parts(text: str, number: int) -> list[str]:
    """Split a text into about ``number`` parts."""
    size = max(1, -(-len(text) // number))
    return [text[start : start + size] for start in range(0, len(text), size)]


def look(lo: float, hi: float, label: str = "Hα", thought: str = "A closer look.") -> str:
    """Return a turn that calls the tool."""
    arguments = {"label": label, "wavelength_range": [lo, hi]}
    call = {"name": "spectral_visualization_tool", "arguments": arguments}
    return f"<think>{thought}</think>\n<tool_call>\n{json.dumps(call, ensure_ascii=False)}\n</tool_call>"


def answer(verdict: str, explanation: str = "Balmer emission.", thought: str = "It is clear.") -> str:
    """Return a turn that answers."""
    return rf"<think>{thought}</think><answer>\boxed{{{verdict}}} {explanation}</answer>"


TRAJECTORY = (look(6400, 6700), look(4800, 4920, "Hβ"), answer("YES"))


def talking(
    turns: Sequence[str] = TRAJECTORY, delay: float = 0.0, pieces: int = 8
) -> Callable[[Mapping[str, Any]], Behaviour]:
    """Return a behaviour for any number of conversations at once: each gets the turns in order."""

    def behaviour(body: Mapping[str, Any]) -> Behaviour:
        done = sum(message["role"] == "assistant" for message in body["messages"])
        return Say(turns[min(done, len(turns) - 1)], pieces, delay)

    return behaviour


class Paced:
    """A behaviour as of ``talking``, in which each turn stops in the middle of its thought until ``let`` is called."""

    def __init__(self, turns: Sequence[str]) -> None:
        self._turns = turns
        self._go = [threading.Event() for _ in turns]

    def __call__(self, body: Mapping[str, Any]) -> Behaviour:
        done = sum(message["role"] == "assistant" for message in body["messages"])
        turn = min(done, len(self._turns) - 1)
        return Held(self._turns[turn], self._go[turn])

    def let(self, *turns: int) -> None:
        """Let these turns (from 0) go on; without a number all of them."""
        for turn in turns or range(len(self._go)):
            self._go[turn].set()


__all__ = [
    "DONE",
    "TRAJECTORY",
    "WEB_PAGE",
    "Asked",
    "BadServer",
    "Behaviour",
    "Cut",
    "Endless",
    "Held",
    "Paced",
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
    """A received request; ``body`` is None if it had none."""

    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass
class BadServer:
    """The server, in its own thread, while the ``with`` block runs.

    ``left`` counts answers that the client did not wait for, ``open`` those in progress.
    """

    answers: Sequence[Behaviour] | Callable[[Mapping[str, Any]], Behaviour] = field(default_factory=talking)
    models: Sequence[str] = ("spec-o3",)
    well: bool = True
    """Whether it answers requests about itself; if not, it sends a web page."""
    context: int = 32768
    tools: Literal["shown", "dropped", "refused", "unknown"] = "shown"
    """What becomes of the tools of a request, as the client finds out by short requests (``probes``)."""
    probe: Behaviour | None = None
    """What it answers to those instead."""
    owner: str = "vllm"
    """Who it says owns its models: the client knows by it which server this is."""
    answers_probes: bool = True
    """False: they are turns like others, for ``answers``."""
    probes: int = 0
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
        """Stop listening and drop every connection, like a killed server."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def wait(self, condition: Callable[[], bool], seconds: float = 60.0) -> bool:
        """Wait until ``condition`` is true; return whether it became true in time."""
        until = time.monotonic() + seconds
        while not condition() and time.monotonic() < until:
            time.sleep(0.005)
        return condition()

    async def _end(self) -> None:
        self._server.close()
        # A connection that was just accepted takes a few rounds of the loop to become a task. If it stayed
        # open, its client would wait for ever.
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
                        writer.write(plain(Status(400)))  # the client begins a TLS handshake
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
        request = Asked(first.split(" ")[1], headers, json.loads(content) if content else None)
        if self.answers_probes and is_probe(request.body):
            return request
        self.asked.append(request)
        return request

    async def _serve(self, request: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        """Answer one request; return what was already read of the next."""
        behaviour = self._behaviour(request)
        if isinstance(behaviour, Status):
            writer.write(plain(behaviour))
            await writer.drain()
            return b""
        self.open += 1
        answering = asyncio.ensure_future(self._stream(behaviour, request.body, writer))
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
        if not body.get("stream"):
            await self._whole(behaviour, body, writer)
            return
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

    async def _whole(self, behaviour: Behaviour, body: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
        """Send the answer in one piece, made of the same chunks as a stream."""
        assert not isinstance(behaviour, Status)
        chunks = [event async for event in behaviour.chunks(body | {"stream_options": {"include_usage": True}})]
        parsed = [event for event in chunks if event != DONE]
        try:
            whole = json.dumps(completion([json.loads(event) for event in parsed]))
        except (ValueError, TypeError, AttributeError, KeyError):
            whole = "\n".join(parsed)  # wrong on purpose
        content = whole.encode()
        writer.write(head(200, {"content-type": "application/json", "content-length": str(len(content))}) + content)
        await writer.drain()

    def _behaviour(self, request: Asked) -> Behaviour:
        if self.api_key and request.headers.get("authorization") != f"Bearer {self.api_key}":
            given = request.headers.get("authorization", "").removeprefix("Bearer ")
            return problem(401, f"Incorrect API key provided: {given}", "invalid_api_key")
        if request.path not in ("/v1/chat/completions", "/v1/responses"):
            return self._about_itself(request.path) if self.well else WEB_PAGE
        if self.answers_probes and is_probe(request.body):
            self.probes += 1
            return self._probe("tools" in request.body)
        if callable(self.answers):
            return self.answers(request.body)
        return self.answers[min(len(self.chats), len(self.answers)) - 1]

    @property
    def chats(self) -> list[Asked]:
        """The requests for a turn, without those about the server itself."""
        return [request for request in self.asked if request.body is not None]

    def _probe(self, with_tools: bool) -> Behaviour:
        if self.probe is not None:
            return self.probe
        if with_tools and self.tools == "refused":
            return problem(
                400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
            )
        tokens = 220 if with_tools and self.tools == "shown" else 20
        return Say("Hi", usage=None if self.tools == "unknown" else (tokens, 0, 1))

    def _about_itself(self, path: str) -> Status:
        match path:
            case "/v1/models":
                listed = [
                    {"id": name, "object": "model", "owned_by": self.owner, "max_model_len": self.context}
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


def is_probe(body: Mapping[str, Any] | None) -> bool:
    """Whether a request only counts the tokens of a short message."""
    return body is not None and body.get("messages") == [{"role": "user", "content": "Hello"}]


def plain(answer: Status) -> bytes:
    """Return a whole answer as bytes."""
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
    parser.add_argument("--record", help="file to which the requested turns are appended")
    arguments = parser.parse_args()
    answers = talking(delay=arguments.delay, pieces=arguments.pieces)

    def recorded(body: Mapping[str, Any]) -> Behaviour:
        with open(arguments.record, "a") as file:
            file.write(json.dumps(body["messages"][-1]["content"]) + "\n")
        return answers(body)

    with BadServer(recorded if arguments.record else answers, port=arguments.port) as server:
        print(f"serving on {server.url}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()


MESSAGES = [{"role": "user", "content": [{"type": "text", "text": "Is it a star?"}]}]
HASTY = RequestLimits(connect=2.0, first=20.0, between=20.0, tries=3, pause=0.01, longest_pause=0.05)
KEY = "sk-do-not-tell"


def turn(endpoint: Endpoint, sampling: Sampling | None = None, whole: bool = False) -> list[Delta]:
    return list(endpoint.stream(MESSAGES, sampling or Sampling(), Stop(), whole=whole))


def text(deltas: list[Delta]) -> str:
    return "".join(delta.text for delta in deltas)
