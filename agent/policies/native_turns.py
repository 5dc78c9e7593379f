"""Turns of the native dialect: a streamed reply becomes tagged text, and an earlier turn an API message again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agent.policies.openai.responses import ITEMS
from agent.policies.openai.stream import CallPiece, Delta
from agent.tool import TOOL_NAME
from agent.trajectory.tags import Call, between, parse

TAGS = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<answer>", "</answer>")
MARKS = (*TAGS, "\\boxed")
"""A thought without tags ends where one of these begins."""

_TAG = re.compile("|".join(TAGS))
_MARK = re.compile("|".join(map(re.escape, MARKS)))
_WRITTEN = re.compile(r'\{"name": "(?:[^"\\]|\\.)*", "arguments": (.*)\}', re.DOTALL)
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

Channel = Literal["reasoning", "words"]


@dataclass
class _Call:
    id: str
    name: str = ""
    arguments: str = ""


class Reply:
    """Converts one streamed reply with native tool calls to tagged text; ``add`` and ``end`` return what is certain.

    Reasoning becomes ``<think>``, words keep the model's own tags or become ``<think>``, calls become
    ``<tool_call>`` at the end, because a server may interleave their fragments. Only a possible beginning of a tag
    is held back, so the text does not depend on how the stream was cut. Nothing is repaired here.

    ``spoiled``: there were tags inside the reasoning. They are written ‹so›; otherwise a model that only considers
    ``<answer>`` would have answered.
    """

    def __init__(self) -> None:
        self.spoiled = False
        self._channel: Channel | None = None
        self._begun = False  # some text of this run of one channel was returned
        self._open = False  # our own <think> is open
        self._own_tags = False  # the words are in the model's own tags and pass unchanged
        self._held = ""
        self._calls: list[_Call] = []
        self._at: dict[int, _Call] = {}

    def add(self, delta: Delta) -> str:
        """Return the text that is certain after this piece."""
        text = self._append("reasoning", delta.reasoning) + self._append("words", delta.text)
        for piece in delta.calls:
            self._add_call(piece)
        return text

    def end(self) -> str:
        """Return the rest: held-back text, the end of the thought, the calls."""
        text = self._released() + ("</think>" if self._open else "")
        self._open = False
        return text + "".join(call_text(call.name, call.arguments) for call in self._calls)

    def _append(self, channel: Channel, text: str) -> str:
        if not text:
            return ""
        before = ""
        if channel != self._channel:
            before = self._released()
            self._channel, self._begun, self._own_tags = channel, False, False
        self._held += text
        return before + self._certain(final=False)

    def _released(self) -> str:
        """Return the held-back text, because nothing follows it."""
        text = self._certain(final=True)
        self._held = ""
        return text

    def _certain(self, final: bool) -> str:
        """Return the certain part of the held text. White space at the start of a run is held back."""
        if not self._begun and not self._held.strip():
            return ""
        return self._reasoning(final) if self._channel == "reasoning" else self._words(final)

    def _reasoning(self, final: bool) -> str:
        before = "" if self._begun else self._thinking()
        self._begun = True
        written = self._take(TAGS, final)
        cleaned = _TAG.sub(lambda tag: f"‹{tag[0][1:-1]}›", written)
        self.spoiled |= cleaned != written
        return before + cleaned

    def _words(self, final: bool) -> str:
        before = ""
        if not self._begun:
            start = self._held.lstrip()
            if not final and _unfinished(start, MARKS) == len(start):
                return ""
            self._begun = True
            mark = _MARK.match(start)
            before = self._thinking() if mark is None else self._left_to(mark[0])
        if not self._own_tags and (match := _MARK.search(self._held)):
            thought, self._held = self._held[: match.start()], self._held[match.start() :]
            before += thought + self._left_to(match[0])
        return before + self._take(() if self._own_tags else MARKS, final)

    def _left_to(self, mark: str) -> str:
        """Return what precedes the model's own tag: the end of an open thought, unless the tag ends it."""
        close = "</think>" if self._open and mark != "</think>" else ""
        self._open, self._own_tags = False, True
        return close

    def _thinking(self) -> str:
        """Return what precedes a thought: the tag, or a blank line if one is open."""
        if self._open:
            return "\n\n"
        self._open = True
        return "<think>"

    def _take(self, marks: Iterable[str], final: bool) -> str:
        """Take the held text except a possible beginning of a tag."""
        upto = len(self._held) - (0 if final else _unfinished(self._held, marks))
        taken, self._held = self._held[:upto], self._held[upto:]
        return taken

    def _add_call(self, piece: CallPiece) -> None:
        call = self._at.get(piece.index)
        # Some servers give every call the index 0; a new id tells them apart, or a name after complete arguments.
        if call is None or (piece.id and call.id and piece.id != call.id) or (piece.name and _is_json(call.arguments)):
            call = self._at[piece.index] = _Call(piece.id)
            self._calls.append(call)
        call.id = call.id or piece.id
        # Some send the whole name with each piece.
        if piece.name != call.name:
            call.name += piece.name
        call.arguments += piece.arguments


def call_text(name: str, arguments: str) -> str:
    """Return a call as tagged text. ``arguments`` is JSON as the model wrote it, broken or not; anything but an
    object is passed as a JSON text.
    """
    written = arguments if arguments.lstrip()[:1] in ("{", '"') else json.dumps(arguments, ensure_ascii=False)
    named = json.dumps(name, ensure_ascii=False)
    return f'\n<tool_call>\n{{"name": {named}, "arguments": {written}}}\n</tool_call>'


def assistant_message(text: str, call_id: str) -> dict[str, Any]:
    """Return an earlier turn as an API message: the words before its first call, and the call that was run, with
    its arguments as the model wrote them if they match.
    """
    call = parse(text).call
    if call is None:
        return {"role": "assistant", "content": text}
    words = text.partition("<tool_call>")[0].removesuffix("\n")
    function = {
        # An API rejects a conversation with a function name that it does not allow.
        "name": call.name if _NAME.fullmatch(call.name) else TOOL_NAME,
        "arguments": _as_written(text, call.arguments),
    }
    called = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": words or None, "tool_calls": [called]}


def server_message(message: Mapping[str, Any], text: str, call_id: str) -> tuple[dict[str, Any], str] | None:
    """Return an earlier turn as its server sent it, with the one call that was run, and the id of this call.

    :param call_id: for a call without an id
    :return: None if the call in it is not the one that was run: the turn is then written anew from its text
    """
    run = parse(text).call
    items = message.get(ITEMS)
    calls = message.get("tool_calls")
    if run is None or not isinstance(items or calls, list):
        return None
    if items:
        functions = [item for item in items if item.get("type") == "function_call"]
        if not functions or not _calls(functions[0], run) or not functions[0].get("call_id"):
            return None
        # An API wants an answer for each call.
        return {**message, ITEMS: [item for item in items if item not in functions[1:]]}, functions[0]["call_id"]
    first = calls[0] if calls and isinstance(calls[0], Mapping) else {}
    function = first.get("function")
    if not isinstance(function, Mapping) or not _calls(function, run):
        return None
    call_id = first.get("id") or call_id
    return {**message, "tool_calls": [{"type": "function", **first, "id": call_id}]}, call_id


def _calls(function: Mapping[str, Any], run: Call) -> bool:
    """Whether a function call of an API is the call that was run."""
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return False
    return function.get("name") == run.name and arguments == run.arguments


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _as_written(text: str, arguments: Mapping[str, Any]) -> str:
    for block in between(text, "<tool_call>\n", "\n</tool_call>"):
        written = _WRITTEN.fullmatch(block)
        try:
            if written is not None and json.loads(written[1]) == arguments:
                return str(written[1])
        except ValueError:
            continue
    return json.dumps(dict(arguments), ensure_ascii=False)


def _unfinished(text: str, marks: Iterable[str]) -> int:
    """Return how many characters at the end may be the beginning of a tag."""
    return max(
        (n for mark in marks for n in range(1, min(len(mark), len(text) + 1)) if text.endswith(mark[:n])),
        default=0,
    )
