"""A reply with tool calls of its own to the tagged text of ``agent.trajectory.tags``, as it streams, and back.

A model behind such an interface says three things: reasoning (where the server shows it), words, and calls.
In tagged text they become ``<think>``, the model's own tags or ``<think>`` where it wrote none, and
``<tool_call>``. Words go out as they come; only what may be the beginning of a tag waits for the rest of it,
so that the text is the same however the stream was cut. Calls are written at the end, when all are whole: of
several a server may send the pieces in turn. Nothing is mended: what is wrong with them, ``wire.parse`` says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agent.policies.openai.endpoint import CallPiece, Delta
from agent.tool import TOOL_NAME
from agent.trajectory.tags import between, parse

TAGS = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<answer>", "</answer>")
MARKS = (*TAGS, "\\boxed")
"""Where a thought without tags ends: the model goes on in tags of its own, or answers."""

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
    """One reply while it streams: ``add`` and ``end`` give the text that is certain so far.

    ``spoiled`` is whether tags stood in the reasoning. There they are no tags, so they are written ‹so›; else
    a model that only thinks of ``<answer>`` would have answered.
    """

    def __init__(self) -> None:
        self.spoiled = False
        self._channel: Channel | None = None
        self._begun = False  # something of this run of one channel is out
        self._open = False  # a <think> that we wrote is open
        self._own_tags = False  # the words are in the model's own tags: they pass as they are
        self._held = ""
        self._calls: list[_Call] = []
        self._at: dict[int, _Call] = {}

    def add(self, delta: Delta) -> str:
        """What can be said after this piece of the reply."""
        text = self._said("reasoning", delta.reasoning) + self._said("words", delta.text)
        for piece in delta.calls:
            self._add_call(piece)
        return text

    def end(self) -> str:
        """The rest: what was held back, the end of the thought, the calls."""
        text = self._released() + ("</think>" if self._open else "")
        self._open = False
        return text + "".join(call_text(call.name, call.arguments) for call in self._calls)

    def _said(self, channel: Channel, text: str) -> str:
        if not text:
            return ""
        before = ""
        if channel != self._channel:
            before = self._released()
            self._channel, self._begun, self._own_tags = channel, False, False
        self._held += text
        return before + self._certain(final=False)

    def _released(self) -> str:
        """What was held back, now that nothing more of it comes."""
        text = self._certain(final=True)
        self._held = ""
        return text

    def _certain(self, final: bool) -> str:
        """What of the held text can go out; the rest stays held. White space that begins a run waits."""
        if not self._begun and not self._held.strip():
            return ""
        return self._reasoning(final) if self._channel == "reasoning" else self._words(final)

    def _reasoning(self, final: bool) -> str:
        before = "" if self._begun else self._thinking()
        self._begun = True
        said = self._take(TAGS, final)
        cleaned = _TAG.sub(lambda tag: f"‹{tag[0][1:-1]}›", said)
        self.spoiled |= cleaned != said
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
        if not self._own_tags and (found := _MARK.search(self._held)):
            thought, self._held = self._held[: found.start()], self._held[found.start() :]
            before += thought + self._left_to(found[0])
        return before + self._take(() if self._own_tags else MARKS, final)

    def _left_to(self, mark: str) -> str:
        """What goes before the model's own mark: the end of the thought that is open, if it does not end it
        itself.
        """
        close = "</think>" if self._open and mark != "</think>" else ""
        self._open, self._own_tags = False, True
        return close

    def _thinking(self) -> str:
        """What goes before a thought: the tag, or a blank line where one is open."""
        if self._open:
            return "\n\n"
        self._open = True
        return "<think>"

    def _take(self, marks: Iterable[str], final: bool) -> str:
        """Let go of the held text, all but what may become a mark."""
        upto = len(self._held) - (0 if final else _unfinished(self._held, marks))
        taken, self._held = self._held[:upto], self._held[upto:]
        return taken

    def _add_call(self, piece: CallPiece) -> None:
        call = self._at.get(piece.index)
        # Some servers give every call the index 0; a new id tells them apart.
        if call is None or (piece.id and call.id and piece.id != call.id):
            call = self._at[piece.index] = _Call(piece.id)
            self._calls.append(call)
        call.id = call.id or piece.id
        # Some send the whole name with each piece.
        if piece.name != call.name:
            call.name += piece.name
        call.arguments += piece.arguments


def call_text(name: str, arguments: str) -> str:
    """A call as tagged text. ``arguments`` is JSON as the model wrote it, broken or not; what is no object
    is passed as a JSON text.
    """
    written = arguments if arguments.lstrip()[:1] in ("{", '"') else json.dumps(arguments, ensure_ascii=False)
    named = json.dumps(name, ensure_ascii=False)
    return f'\n<tool_call>\n{{"name": {named}, "arguments": {written}}}\n</tool_call>'


def assistant_message(text: str, call_id: str) -> dict[str, Any]:
    """An earlier turn as the API takes it: the words before its first call, and the call that was run, with
    its arguments as they were written where they say what was run.
    """
    call = parse(text).call
    if call is None:
        return {"role": "assistant", "content": text}
    words = text.partition("<tool_call>")[0].removesuffix("\n")
    function = {
        # An API refuses the conversation over a name that it would not have allowed.
        "name": call.name if _NAME.fullmatch(call.name) else TOOL_NAME,
        "arguments": _as_written(text, call.arguments),
    }
    called = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": words or None, "tool_calls": [called]}


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
    """How many characters at the end may be the beginning of a mark."""
    return max(
        (n for mark in marks for n in range(1, min(len(mark), len(text) + 1)) if text.endswith(mark[:n])),
        default=0,
    )
