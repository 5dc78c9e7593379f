"""The turns of a conversation as one server takes them: what it was found to take, and the messages arranged for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from agent.policies.openai.errors import ErrorResponse

Message = Mapping[str, Any]
PictureTurn = Literal["user", "assistant", "tool"]
"""Where the picture of a tool's answer stands: in a user turn, in a user turn after a short assistant turn, or in the
answer itself."""

INSTEAD = {"max_tokens": "max_completion_tokens"}
"""OpenAI's reasoning models reject the old name; servers of open models know only the old one."""
PARTS = {"top_logprobs": "logprobs"}
"""Parameters that make no sense without another one: both are left out."""
BETWEEN = "I look at the picture."
"""The assistant turn between a tool's answer and its picture: Mistral's models take no user turn after a tool's."""
NO_SIGNATURE = "skip_thought_signature_validator"
"""For a call that another model wrote, as Google documents it (ai.google.dev/gemini-api/docs/thought-signatures)."""

_NEXT_PICTURE_TURN: Mapping[PictureTurn, PictureTurn] = {"user": "assistant", "assistant": "tool"}
_KNOWN = ("role", "content", "tool_calls", "tool_call_id")
_KNOWN_OF_CALL = ("id", "type", "function")
_SIGNATURE = re.compile(r"thought_signature", re.IGNORECASE)
_THOUGHT = re.compile(
    r"(?:reasoning_content|thinking).{0,40}(?:missing|required|must)|missing.{0,20}reasoning", re.IGNORECASE
)
_MORE_FIELDS = re.compile(r"extra (?:inputs|fields)|additional propert|unknown (?:name|field)", re.IGNORECASE)
_TAGGED_THOUGHT = re.compile(r"\A\s*<think>(.*?)</think>", re.DOTALL)


@dataclass(frozen=True)
class Habits:
    """What a server was found to take; each refusal that can be helped gives the next.

    ``instead``: parameters sent under another name, or (None) not at all. ``has_responses`` False: it was tried and is
    not there. ``streams``: it streams also what is requested whole. ``takes_fields`` False: of an earlier turn only
    what the Chat Completions API names. ``signs``: calls that it did not write carry a signature. ``splits``: thoughts
    that it did not write stand in ``reasoning_content``.
    """

    instead: Mapping[str, str | None] = field(default_factory=dict)
    api: Literal["chat", "responses"] = "chat"
    has_responses: bool = True
    streams: bool = False
    picture_turn: PictureTurn = "user"
    takes_fields: bool = True
    signs: bool = False
    splits: bool = False

    def without(self, name: str) -> Habits:
        """Return the habits of a server that rejects the parameter ``name``, as it was sent."""
        given = next((old for old, now in self.instead.items() if now == name), name)
        given = PARTS.get(given, given)
        now = None if given in self.instead else INSTEAD.get(given)
        parts = {part: None for part, whole in PARTS.items() if whole == given}
        return replace(self, instead={**self.instead, given: now, **parts})

    def after(self, response: ErrorResponse, messages: Sequence[Message]) -> Habits | None:
        """Return the habits with which a refused conversation is sent again; None: no change helps."""
        if self.api == "responses":
            no_route = response.status in (404, 405) and not response.names_responses_api
            return replace(self, api="chat", has_responses=False) if no_route else None
        if response.names_responses_api and self.has_responses:
            return replace(self, api="responses")
        if response.refuses_role_order and self.picture_turn in _NEXT_PICTURE_TURN:
            return replace(self, picture_turn=_NEXT_PICTURE_TURN[self.picture_turn])
        if response.status not in (400, 422):
            return None
        if _SIGNATURE.search(response.message) and not self.signs:
            return replace(self, signs=True)
        if _THOUGHT.search(response.message) and not self.splits:
            return replace(self, splits=True)
        more = set(_more_fields(messages))
        if self.takes_fields and more and (_MORE_FIELDS.search(response.message) or _names(response.message, more)):
            return replace(self, takes_fields=False)
        return None

    def parameters(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body without rejected parameters, and with the names that the server knows."""
        renamed = {self.instead.get(name, name): value for name, value in body.items()}
        if self.streams:
            renamed |= {"stream": True, self.instead.get("stream_options", "stream_options"): {"include_usage": True}}
        return {name: value for name, value in renamed.items() if name is not None}

    def arranged(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Return the messages as the server takes them; in ``messages`` a picture stands in a user turn."""
        if self.picture_turn == "user" and self.takes_fields and not (self.signs or self.splits):
            return messages
        arranged: list[Message] = []
        for message in messages:
            if message["role"] == "assistant":
                arranged.append(self._turn(message))
                continue
            if message["role"] == "user" and arranged and arranged[-1]["role"] == "tool":
                if self.picture_turn == "tool":
                    answer = arranged.pop()
                    parts = [{"type": "text", "text": answer["content"]}, *message["content"]]
                    message = {**answer, "content": parts}
                elif self.picture_turn == "assistant":
                    arranged.append({"role": "assistant", "content": BETWEEN})
            arranged.append(message)
        return arranged

    def _turn(self, message: Message) -> Message:
        if not self.takes_fields:
            message = {name: value for name, value in message.items() if name in _KNOWN}
            if calls := message.get("tool_calls"):
                plain = [{name: call[name] for name in _KNOWN_OF_CALL if name in call} for call in calls]
                message = {**message, "tool_calls": plain}
        if self.signs and (calls := message.get("tool_calls")) and not calls[0].get("extra_content"):
            signature = {"google": {"thought_signature": NO_SIGNATURE}}
            message = {**message, "tool_calls": [{**calls[0], "extra_content": signature}, *calls[1:]]}
        if self.splits and "reasoning_content" not in message:
            content = message.get("content")
            thought = _TAGGED_THOUGHT.match(content) if isinstance(content, str) else None
            rest = content[thought.end() :] if thought and isinstance(content, str) else content
            message = {**message, "content": rest or None, "reasoning_content": thought[1] if thought else "-"}
        return message


def _more_fields(messages: Sequence[Message]) -> Iterator[str]:
    """Yield the names of fields of assistant turns that the Chat Completions API does not name."""
    for message in messages:
        if message["role"] == "assistant":
            yield from (name for name in message if name not in _KNOWN)
            for call in message.get("tool_calls") or ():
                yield from (name for name in call if name not in _KNOWN_OF_CALL)


def _names(text: str, names: set[str]) -> bool:
    return any(re.search(rf"\b{re.escape(name)}\b", text) for name in names)
