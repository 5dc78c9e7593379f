"""What the tests' own server can be told to answer: the truth, half of it, nothing, or a web page."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

DONE = "[DONE]"


class HangUp(Exception):
    """The connection is closed here and now, whatever was promised."""


@dataclass(frozen=True)
class Say:
    """A proper answer: ``text`` in ``pieces`` parts, ``delay`` seconds before each. ``deltas`` are sent
    before the text as they are: tool calls, for one.
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

    async def chunks(self, body: Mapping[str, Any]) -> AsyncIterator[str]:
        yield chunk({"role": "assistant", "content": ""})
        for delta in self.deltas:
            yield chunk(delta)
        for name, words in (("reasoning_content", self.reasoning), ("content", self.text)):
            for piece in parts(words, self.pieces):
                if self.delay:
                    await asyncio.sleep(self.delay)
                yield chunk({name: piece})
        if self.finish:
            yield chunk({}, self.finish)
        if self.usage and body.get("stream_options", {}).get("include_usage"):
            yield usage(*self.usage)
        if self.done:
            yield DONE


@dataclass(frozen=True)
class Endless:
    """Never comes to an end; at ``max_tokens`` words if it is ``obedient``."""

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
    """Says ``text`` and closes the connection in the middle; without a text, before any answer."""

    text: str = ""

    async def chunks(self, body: Mapping[str, Any]) -> AsyncIterator[str]:
        if not self.text:
            raise HangUp
        yield chunk({"content": self.text})
        raise HangUp


@dataclass(frozen=True)
class Stall:
    """Says ``text``, if any, and then nothing more, for as long as anybody listens."""

    text: str = ""

    async def chunks(self, body: Mapping[str, Any]) -> AsyncIterator[str]:
        if self.text:
            yield chunk({"content": self.text})
        await asyncio.Event().wait()


@dataclass(frozen=True)
class Raw:
    """Events exactly as given, whatever they are, and the end of the answer."""

    events: Sequence[str] = ()

    async def chunks(self, body: Mapping[str, Any]) -> AsyncIterator[str]:
        for event in self.events:
            yield event


@dataclass(frozen=True)
class Status:
    """A refusal. ``body`` is sent as JSON, or as it is if it is text; None: an error object as OpenAI's."""

    status: int
    body: object = None
    retry_after: float | None = None
    kind: str = "application/json"

    def content(self) -> bytes:
        body = self.body
        if body is None:
            body = {"error": {"message": f"this is a {self.status}", "code": None, "param": None}}
        return (body if isinstance(body, str) else json.dumps(body)).encode()


Behaviour = Say | Endless | Cut | Stall | Raw | Status
WEB_PAGE = Status(200, "<!DOCTYPE html><html><body>Welcome to nginx!</body></html>", kind="text/html")


def problem(status: int, message: str, code: str | None = None, parameter: str | None = None) -> Status:
    """A refusal with an error object as OpenAI's and vLLM's."""
    return Status(status, {"error": {"message": message, "code": code, "param": parameter}})


def chunk(delta: Mapping[str, Any], finish: str | None = None) -> str:
    """One event of a chat completion, as vLLM writes it."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps({"id": "c", "object": "chat.completion.chunk", "choices": [choice]})


def usage(prompt: int, cached: int, completion: int) -> str:
    """The event that counts tokens."""
    details = {"cached_tokens": cached}
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, "prompt_tokens_details": details}
    return json.dumps({"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": counts})


def parts(text: str, number: int) -> list[str]:
    """The text in about ``number`` parts."""
    size = max(1, -(-len(text) // number))
    return [text[start : start + size] for start in range(0, len(text), size)]


def look(lo: float, hi: float, label: str = "Hα", thought: str = "A closer look.") -> str:
    """A turn that calls the tool."""
    arguments = {"label": label, "wavelength_range": [lo, hi]}
    call = {"name": "spectral_visualization_tool", "arguments": arguments}
    return f"<think>{thought}</think>\n<tool_call>\n{json.dumps(call, ensure_ascii=False)}\n</tool_call>"


def answer(verdict: str, explanation: str = "Balmer emission.", thought: str = "It is clear.") -> str:
    """A turn that answers."""
    return rf"<think>{thought}</think><answer>\boxed{{{verdict}}} {explanation}</answer>"


TRAJECTORY = (look(6400, 6700), look(4800, 4920, "Hβ"), answer("YES"))


def talking(
    turns: Sequence[str] = TRAJECTORY, delay: float = 0.0, pieces: int = 8
) -> Callable[[Mapping[str, Any]], Behaviour]:
    """Holds any number of conversations at once: turn n is said to whoever has heard n - 1 of them."""

    def behaviour(body: Mapping[str, Any]) -> Behaviour:
        heard = sum(message["role"] == "assistant" for message in body["messages"])
        return Say(turns[min(heard, len(turns) - 1)], pieces, delay)

    return behaviour
