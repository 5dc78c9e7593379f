"""A conversation as a Spec-o3 model is sent it: the messages of ``agent.trajectory.messages``, pictures as data URLs.

Rendered by Qwen2.5-VL's stock chat template this is the text the checkpoints were trained on, byte for byte,
as long as the server hands the template each block as a block. vLLM finds out by itself to do so for this
template (``--chat-template-content-format auto`` comes to ``openai``). Under ``string`` it would put every
picture of a message before its text, and line feeds between its texts: not what the model was trained on.

Turns are sent again exactly as they were written, so what was sent before is always the beginning of what is
sent next, and a server's prefix cache holds to the last turn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from PIL import Image

from agent.conversation import Conversation, Piece, Remark
from agent.policies import Sampling
from agent.policies.openai.endpoint import Endpoint
from agent.text import one_line
from agent.tool import TOOL_BLOCK
from agent.trajectory import Drafter
from agent.trajectory.messages import data_url, tool_result

Block = dict[str, Any]
Message = dict[str, Any]

TOOL_BLOCK_SHA256 = hashlib.sha256(TOOL_BLOCK.encode()).hexdigest()
END = "<|im_end|>"
"""What ends a turn under the template. It writes one itself, so a server that leaves it in the text would
have it twice."""


def messages(conversation: Conversation) -> list[Message]:
    """System turn, with the tool block if there is a tool; the question; then turns and tool results."""
    found = [
        _message("system", _text(conversation.system + (TOOL_BLOCK if conversation.with_tool else ""))),
        _message("user", _picture(conversation.overview), _text("\n" + conversation.prompt)),
    ]
    for exchange in conversation.exchanges:
        found.append(_message("assistant", _text(exchange.text.removesuffix(END))))
        if (seen := exchange.observation) is not None:
            found.append(tool_result(seen.text, None if seen.image is None else _picture(seen.image)))
    return found


def _message(role: str, *blocks: Block) -> Message:
    return {"role": role, "content": list(blocks)}


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _picture(image: Image.Image) -> Block:
    return {"type": "image_url", "image_url": {"url": data_url(image)}}


_FINISHED = ("stop", "eos", "tool_calls")


class SpecO3:
    """The policy. It keeps nothing: each turn follows from the conversation, and from the server."""

    def __init__(self, endpoint: Endpoint, sampling: Sampling | None = None) -> None:
        self.endpoint = endpoint
        self.sampling = sampling or Sampling()

    @property
    def drafter(self) -> Drafter:
        """Which model, how it was asked, by what it was served. Asks the server if no turn has yet."""
        facts = self.endpoint.facts()
        settings: dict[str, Any] = {"dialect": "spec-o3", "tool_block_sha256": TOOL_BLOCK_SHA256}
        settings |= self.sampling.settings()
        left_out = settings.keys() & self.endpoint.left_out
        settings |= dict.fromkeys(left_out, "left out: not taken by the server")
        told = {"server": facts.server, "server_version": facts.version, "context": facts.context}
        settings |= {name: value for name, value in told.items() if value}
        return Drafter("model", self.endpoint.model or facts.model, settings)

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """The next turn, untouched, as it comes. A server that splits the thinking off has it put back in its
        tags: the model wrote them, and is to see them again.
        """
        thinking = False
        pieces = self.endpoint.stream(messages(conversation), self.sampling, conversation.stop)
        with closing(pieces):
            for delta in pieces:
                if delta.reasoning:
                    yield delta.reasoning if thinking else f"<think>{delta.reasoning}"
                    thinking = True
                if delta.text:
                    yield f"</think>{delta.text}" if thinking else delta.text
                    thinking = False
                if delta.remark:
                    yield Remark(delta.remark)
                if delta.finish is not None and delta.finish not in _FINISHED:
                    yield Remark(self._cut(delta.finish))
                if delta.usage is not None:
                    yield delta.usage

    def _cut(self, finish: str) -> str:
        match finish:
            case "length":
                return f"cut at its limit of {self.sampling.max_tokens} tokens"
            case "content_filter":
                return "cut by the server's content filter"
        return f"ended by the server: {one_line(finish, 80)}"
