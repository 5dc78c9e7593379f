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
    ``refusal`` is text with which the model declines. ``message``: the whole turn as the server sent it, with fields
    that only this server knows, once, with the usage.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[CallPiece, ...] = ()
    finish: str | None = None
    usage: Usage | None = None
    remark: str = ""
    model: str = ""
    logprobs: tuple[Mapping[str, Any], ...] = ()
    refusal: str = ""
    message: Mapping[str, Any] | None = None


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
    choice = choice_of(chunk)
    sent = _message_in(choice)
    thought, text, refusal = _parts(sent.get("content"))
    usage = chunk.get("usage")
    return Delta(
        text=text,
        reasoning=_text(sent.get("reasoning_content")) or _text(sent.get("reasoning")) or thought,
        calls=_calls(sent.get("tool_calls")) or _calls([{"function": sent.get("function_call")}]),
        finish=_text(choice.get("finish_reason")) or None,
        usage=usage_of(usage) if isinstance(usage, dict) else None,
        logprobs=_logprobs(choice.get("logprobs")),
        refusal=_text(sent.get("refusal")) or refusal,
    )


def choice_of(chunk: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first choice of a chunk; empty if it has none."""
    choices = chunk.get("choices")
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}


def _message_in(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    sent = choice.get("delta") or choice.get("message")
    return sent if isinstance(sent, dict) else {}


def _parts(content: object) -> tuple[str, str, str]:
    """Return thought, text and refusal of a content, which is a text or a list of parts: Mistral's reasoning models
    and some gateways send ``thinking`` and ``text`` parts.
    """
    if isinstance(content, str):
        return "", content, ""
    thought = text = refusal = ""
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            text += part
        elif isinstance(part, dict):
            kind = _text(part.get("type"))
            if kind in ("thinking", "reasoning"):
                thought += "".join(_parts(part.get("thinking") or part.get("reasoning") or part.get("text")))
            elif kind == "refusal":
                refusal += _text(part.get("refusal"))
            else:
                text += _text(part.get("text"))
    return thought, text, refusal


_ONCE = ("role", "type", "id", "index", "format", "object")
"""Fields that a stream may repeat with each piece; all other texts of a message are continued by the next piece."""


class ChatReader:
    """Reads the chunks of one chat completion, and keeps the message as the server sent it.

    The message is sent back with the next turn: some servers refuse a conversation without what they alone know of a
    turn (Gemini's thought signature, Kimi's reasoning).
    """

    is_complete = False
    """Nothing in a chunk says that it is the last: the event after it does."""

    def __init__(self) -> None:
        self._sent: dict[str, Any] = {}
        self.has_answer = False

    def read(self, chunk: Mapping[str, Any]) -> Delta:
        """Return the piece in a chunk, or in a completion that came whole."""
        choice = choice_of(chunk)
        self.has_answer = self.has_answer or bool(choice)
        self._sent = _continued(self._sent, _message_in(choice))
        return delta_of(chunk)

    def message(self) -> dict[str, Any]:
        """Return the message without fields that hold nothing, which a stricter server than the one that sent them
        refuses."""
        sent = {name: value for name, value in self._sent.items() if value not in (None, "", [], {})}
        if isinstance(calls := sent.get("tool_calls"), list):
            sent["tool_calls"] = [
                {name: value for name, value in call.items() if name != "index"}
                for call in calls
                if isinstance(call, dict)
            ]
        return {"role": "assistant", "content": None} | sent


def _continued(before: Any, piece: Any, name: str = "") -> Any:
    """Return a value of a message continued by its next piece."""
    if before in (None, "") or piece is None:
        return before if piece is None else piece
    if isinstance(before, dict) and isinstance(piece, dict):
        return before | {key: _continued(before.get(key), value, key) for key, value in piece.items()}
    if isinstance(before, list) and isinstance(piece, list):
        entries = list(before)
        for entry in piece:
            at = _place_of(entry, entries)
            if at is None:
                entries.append(entry)
            else:
                entries[at] = _continued(entries[at], entry)
        return entries
    if isinstance(before, str) and isinstance(piece, str):
        # Some servers send the whole name of a function with each piece.
        return before if name in _ONCE or (name == "name" and piece == before) else before + piece
    return piece


def _place_of(entry: Any, entries: list[Any]) -> int | None:
    """Return which of the entries the next piece of a list continues; None: it is a new one."""
    if not isinstance(entry, dict):
        return None
    if "index" not in entry:
        # Parts of a content have no index: text follows text.
        last = entries[-1] if entries and isinstance(entries[-1], dict) else {}
        continues = entry.keys() == last.keys() == {"type", "text"} and entry["type"] == last["type"]
        return len(entries) - 1 if continues else None
    for at, known in enumerate(entries):
        if isinstance(known, dict) and known.get("index") == entry["index"]:
            # Some servers give every call the index 0; a new id tells them apart.
            is_other = entry.get("id") and known.get("id") and entry["id"] != known["id"]
            if not is_other:
                return at
    return None


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
        arguments = function.get("arguments")
        if isinstance(arguments, dict | list):
            arguments = json.dumps(arguments, ensure_ascii=False)
        if function:
            place_of_call = index if isinstance(index, int) else place
            pieces.append(
                CallPiece(place_of_call, _text(call.get("id")), _text(function.get("name")), _text(arguments))
            )
    return tuple(pieces)


def _logprobs(listed: object) -> tuple[Mapping[str, Any], ...]:
    content = listed.get("content") if isinstance(listed, dict) else None
    return tuple(token for token in (content if isinstance(content, list) else ()) if isinstance(token, dict))


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """Return the counts of a chat completion."""
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
            refusal=self.text(delta.refusal),
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
