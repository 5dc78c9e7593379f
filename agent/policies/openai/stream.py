"""Stream of an OpenAI-compatible server: server-sent events in, pieces of a turn (``Delta``) out, key redacted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent.conversation import Usage
from agent.errors import Refusal
from agent.language import deferred

END = "[DONE]"
"""Data of the last event of an answer."""
LONGEST_LINE = 8 * 2**20
"""Maximum bytes without a line feed; a longer line is not this format."""


@dataclass(frozen=True)
class CallPiece:
    """A fragment of one native tool call: append ``name`` and ``arguments`` to the earlier fragments with the same
    ``index``. ``id`` comes once, in the first."""

    index: int
    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Delta:
    """One piece of a turn as it arrived; most fields of most pieces are empty.

    ``reasoning`` is text that the server marks as reasoning. ``finish`` is the API's reason ("stop", "length",
    "tool_calls", "content_filter"), once, near the end. ``remark`` comes from the endpoint: what it
    left out of the request. ``model`` is what the server calls the model that answered, with the usage. ``logprobs``:
    per token of the piece its text and alternatives with their log-probabilities, as the server sent them.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[CallPiece, ...] = ()
    finish: str | None = None
    usage: Usage | None = None
    remark: str = ""
    model: str = ""
    logprobs: tuple[Mapping[str, Any], ...] = ()


class MalformedStream(Refusal):
    """The data is not in the expected format: what was found instead."""


class ServerEvents:
    """Incremental parser of server-sent events."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[str] = []

    def feed(self, received: bytes) -> list[str]:
        """Return the data of each event that is now complete. Comments, which keep a connection alive, are dropped.

        :raises MalformedStream: a line does not end, or is not UTF-8
        """
        *lines, self._rest = (self._rest + received).split(b"\n")
        if len(self._rest) > LONGEST_LINE:
            raise MalformedStream(deferred("a line of more than {longest_line} bytes", longest_line=LONGEST_LINE))
        return [event for line in lines if (event := self._line(line)) is not None]

    def end(self) -> list[str]:
        """Return an event that was not closed by an empty line when the connection ended."""
        return [event for line in (self._rest, b"") if (event := self._line(line)) is not None]

    def _line(self, raw: bytes) -> str | None:
        if raw in (b"", b"\r"):
            event, self._data = "\n".join(self._data), []
            return event or None
        if raw.startswith(b"data:"):
            try:
                self._data.append(raw[5:].decode().strip())
            except UnicodeDecodeError:
                raise MalformedStream(deferred("bytes that are not UTF-8: {raw!r}", raw=raw[:40])) from None
        return None


def parsed(event: str) -> dict[str, Any]:
    """Parse the JSON object of one event.

    :raises MalformedStream: it is not a JSON object
    """
    try:
        event_data = json.loads(event)
    except (ValueError, RecursionError):
        raise MalformedStream(deferred("something that is not JSON: {event!r}", event=event[:60])) from None
    if not isinstance(event_data, dict):
        raise MalformedStream(deferred("JSON that is not an object: {event!r}", event=event[:60]))
    return event_data


def delta_of(chunk: Mapping[str, Any]) -> Delta:
    """Return the piece in one chunk of a chat completion, or all of a completion that came whole. A value that is
    absent or of another type is empty.
    """
    choices = chunk.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    content = choice.get("delta", choice.get("message"))
    content = content if isinstance(content, dict) else {}
    usage = chunk.get("usage")
    return Delta(
        text=_text(content.get("content")) or _text(content.get("refusal")),
        reasoning=_text(content.get("reasoning_content")) or _text(content.get("reasoning")),
        calls=_calls(content.get("tool_calls")),
        finish=_text(choice.get("finish_reason")) or None,
        usage=_usage(usage) if isinstance(usage, dict) else None,
        logprobs=_logprobs(choice.get("logprobs")),
    )


def model_of(chunk: Mapping[str, Any]) -> str:
    """Return the server's name of the model that answers, "" if missing."""
    return _text(chunk.get("model"))


def _calls(calls: object) -> tuple[CallPiece, ...]:
    pieces = []
    for place, call in enumerate(calls if isinstance(calls, list) else ()):
        if not isinstance(call, dict):
            continue
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        index = call.get("index")
        pieces.append(
            CallPiece(
                index if isinstance(index, int) else place,
                _text(call.get("id")),
                _text(function.get("name")),
                _text(function.get("arguments")),
            )
        )
    return tuple(pieces)


def _logprobs(listed: object) -> tuple[Mapping[str, Any], ...]:
    content = listed.get("content") if isinstance(listed, dict) else None
    return tuple(token for token in (content if isinstance(content, list) else ()) if isinstance(token, dict))


def _usage(usage: Mapping[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details")
    return Usage(
        requests=1,
        prompt=_count(usage.get("prompt_tokens")),
        cached=_count(details.get("cached_tokens")) if isinstance(details, dict) else 0,
        completion=_count(usage.get("completion_tokens")),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


REDACTED = "[key]"
SHORTEST_SECRET = 6
"""Characters; a shorter key ("none", "x") is not a secret, and redacting it would damage ordinary words."""


class Redactor:
    """Redact a secret in texts, values and the pieces of one turn, also where it spans pieces. None: nothing."""

    def __init__(self, secret: str | None) -> None:
        self._secret = secret if secret and len(secret) >= SHORTEST_SECRET else None
        self._held: dict[str, str] = {}

    def text(self, text: str) -> str:
        return text.replace(self._secret, REDACTED) if self._secret else text

    def value(self, given: object) -> object:
        """Redact all texts of a JSON value, including field names."""
        match given:
            case str():
                return self.text(given)
            case Mapping():
                return {self.text(str(name)): self.value(entry) for name, entry in given.items()}
            case list():
                return [self.value(entry) for entry in given]
        return given

    def delta(self, delta: Delta) -> Delta:
        """Redact a piece of the turn. What may be the beginning of the secret is held back for the next piece."""
        if self._secret is None:
            return delta
        return replace(
            delta,
            text=self._piece("text", delta.text),
            reasoning=self._piece("reasoning", delta.reasoning),
            finish=delta.finish and self.text(delta.finish),
            calls=tuple(self._call(call) for call in delta.calls),
        )

    def rest(self) -> Delta:
        """Return what was held back and is not the secret, at the end of the turn."""
        held, self._held = self._held, {}
        calls = tuple(
            CallPiece(int(place.removeprefix("call ")), "", "", words)
            for place, words in held.items()
            if place.startswith("call ") and words
        )
        return Delta(text=held.get("text", ""), reasoning=held.get("reasoning", ""), calls=calls)

    def _call(self, call: CallPiece) -> CallPiece:
        arguments = self._piece(f"call {call.index}", call.arguments)
        return replace(call, id=self.text(call.id), name=self.text(call.name), arguments=arguments)

    def _piece(self, place: str, words: str) -> str:
        assert self._secret is not None
        words = self.text(self._held.pop(place, "") + words)
        held = _beginning_of(self._secret, words)
        if held:
            self._held[place] = words[len(words) - held :]
        return words[: len(words) - held]


def _beginning_of(secret: str, words: str) -> int:
    """Return how many of the last characters are the beginning of ``secret``."""
    most = min(len(secret) - 1, len(words))
    return next((n for n in range(most, 0, -1) if words.endswith(secret[:n])), 0)
