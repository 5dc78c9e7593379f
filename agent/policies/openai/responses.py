"""OpenAI's Responses API: a request of the Chat Completions API in its form, and its answers as pieces of a turn.

Some models take function tools only here (https://platform.openai.com/docs/api-reference/responses). Nothing is stored
at the server: the items of each turn, with their encrypted reasoning, are sent back whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agent.policies.openai.stream import CallPiece, Delta, usage_of

Item = Mapping[str, Any]

PATH = "/responses"
ITEMS = "output"
"""Field of a kept message with the items of its turn."""
_RENAMED = {"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"}
_ELSEWHERE = ("messages", "tools", "reasoning_effort", "response_format", "logprobs", "stream_options", "seed")
"""Fields of a chat request that are written otherwise here, or (``seed``, ``stream_options``) not at all."""
_CUT = {"max_output_tokens": "length", "content_filter": "content_filter"}


def request(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request for a chat request."""
    sent = {_RENAMED.get(name, name): value for name, value in body.items() if name not in _ELSEWHERE}
    include = ["reasoning.encrypted_content"]
    if body.get("logprobs"):
        include.append("message.output_text.logprobs")
    sent |= {"input": [item for message in body["messages"] for item in _items(message)]}
    sent |= {"store": False, "include": include}
    if tools := body.get("tools"):
        functions = [{"type": "function", "strict": False, **tool["function"]} for tool in tools]
        sent |= {"tools": functions, "parallel_tool_calls": False}
    if effort := body.get("reasoning_effort"):
        sent["reasoning"] = {**body.get("reasoning", {}), "effort": effort}
    if form := body.get("response_format"):
        sent["text"] = {"format": {"type": form["type"], **form.get("json_schema", {})}}
    return sent


def _items(message: Mapping[str, Any]) -> Iterator[Item]:
    if items := message.get(ITEMS):
        yield from items
        return
    if message["role"] == "tool":
        yield {"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}
        return
    content = message.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or ()
    kind = "output_text" if message["role"] == "assistant" else "input_text"
    if written := [_part(part, kind) for part in parts]:
        yield {"role": message["role"], "content": written}
    for call in message.get("tool_calls") or ():
        yield {"type": "function_call", "call_id": call["id"], **call["function"]}


def _part(part: Mapping[str, Any], kind: str) -> Item:
    if part["type"] == "image_url":
        return {"type": "input_image", "image_url": part["image_url"]["url"]}
    return {"type": kind, "text": part["text"]}


class ResponsesReader:
    """Reads the events of one answer, or a response that came whole."""

    def __init__(self) -> None:
        self.has_answer = False
        self.is_complete = False
        self._items: list[Item] = []

    def read(self, event: Mapping[str, Any]) -> Delta:
        """Return the piece in an event. A value that is absent or of another type is empty."""
        if event.get("object") == "response":
            return self._end(event, is_whole=True)
        kind, piece = str(event.get("type", "")), event.get("delta")
        piece = piece if isinstance(piece, str) else ""
        index = event.get("output_index")
        index = index if isinstance(index, int) else 0
        match kind.removeprefix("response."):
            case "output_text.delta":
                logprobs = event.get("logprobs")
                return Delta(text=piece, logprobs=tuple(logprobs) if isinstance(logprobs, list) else ())
            case "refusal.delta":
                return Delta(refusal=piece)
            case "reasoning_summary_text.delta" | "reasoning_text.delta":
                return Delta(reasoning=piece)
            case "output_item.added":
                calls = (_call(item, index, "") for item in _mappings([event.get("item")]))
                return Delta(calls=tuple(call for call in calls if call.name))
            case "function_call_arguments.delta":
                return Delta(calls=(CallPiece(index, "", "", piece),))
            case "completed" | "incomplete":
                response = event.get("response")
                return self._end(response if isinstance(response, Mapping) else {}, is_whole=False)
        return Delta()

    def message(self) -> dict[str, Any]:
        """Return the items of the turn as the server sent them."""
        return {"role": "assistant", ITEMS: list(self._items)}

    def _end(self, response: Mapping[str, Any], is_whole: bool) -> Delta:
        self._items = list(_mappings(response.get("output")))
        self.has_answer = bool(self._items) or response.get("status") == "incomplete"
        self.is_complete = True
        reason = response.get("incomplete_details")
        reason = reason.get("reason") if isinstance(reason, Mapping) else None
        usage = response.get("usage")
        end = Delta(
            finish=_CUT.get(str(reason), str(reason)) if reason else "stop",
            usage=usage_of(_chat_counts(usage)) if isinstance(usage, Mapping) else None,
        )
        if not is_whole:
            return end
        parts = [part for item in self._items for part in _mappings(item.get("content"))]
        spoken = [part for part in parts if part.get("type") != "reasoning_text"]
        thought = [part for item in self._items for part in _mappings(item.get("summary"))]
        thought += [part for part in parts if part.get("type") == "reasoning_text"]
        calls = (_call(item, at, item.get("arguments")) for at, item in enumerate(self._items))
        return Delta(
            text=_joined(spoken, "text"),
            reasoning=_joined(thought, "text"),
            refusal=_joined(spoken, "refusal"),
            calls=tuple(call for call in calls if call.name),
            logprobs=tuple(token for part in spoken for token in _mappings(part.get("logprobs"))),
            finish=end.finish,
            usage=end.usage,
        )


def _call(item: Item, index: int, arguments: object) -> CallPiece:
    """Return an item as a call; without a name if it is another kind of item."""
    if item.get("type") != "function_call":
        return CallPiece(index, "", "", "")
    return CallPiece(index, str(item.get("call_id") or ""), str(item.get("name") or ""), str(arguments or ""))


def _chat_counts(usage: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.get("input_tokens"),
        "completion_tokens": usage.get("output_tokens"),
        "prompt_tokens_details": usage.get("input_tokens_details"),
    }


def _joined(parts: Iterable[Item], field: str) -> str:
    return "".join(text for part in parts if isinstance(text := part.get(field), str))


def _mappings(values: object) -> Iterator[Item]:
    return (value for value in (values if isinstance(values, list) else ()) if isinstance(value, Mapping))
