"""Policy for a served Spec-o3 model, and its conversation as API messages with pictures as data URLs.

Rendered by Qwen2.5-VL's stock chat template the messages are byte for byte what the checkpoints were trained on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from PIL import Image

from agent.conversation import Conversation, Piece, PolicyError, Remark
from agent.policies import Sampling
from agent.policies.openai.endpoint import Endpoint
from agent.policies.yes_no import pieces_of_score
from agent.text import one_line
from agent.tool import MEASURE, TOOL_BLOCK, tool_block
from agent.trajectory import Drafter
from agent.trajectory.messages import data_url, tool_result

Block = dict[str, Any]
Message = dict[str, Any]

TOOL_BLOCK_SHA256 = hashlib.sha256(TOOL_BLOCK.encode()).hexdigest()
END = "<|im_end|>"
"""End of a turn in the template, which adds it; a server that leaves it in the text would repeat it."""


def messages(conversation: Conversation) -> list[Message]:
    """Return system turn (with the tool block if there is a tool), question, then turns and tool results.

    The server must pass blocks to the template as blocks, as vLLM does for this template by itself
    (``--chat-template-content-format auto`` means ``openai``); ``string`` would reorder pictures and text. Turns are
    sent again exactly as written, so that the server's prefix cache applies.
    """
    messages = [
        _message(
            "system", _text(conversation.system + (tool_block(conversation.measure) if conversation.with_tool else ""))
        ),
        _message("user", _picture(conversation.overview), _text("\n" + conversation.prompt)),
    ]
    for exchange in conversation.exchanges:
        messages.append(_message("assistant", _text(exchange.text.removesuffix(END))))
        if (seen := exchange.observation) is not None:
            messages.append(tool_result(seen.text, None if seen.image is None else _picture(seen.image)))
    return messages


def tool_settings(measure: bool) -> dict[str, Any]:
    """Return what a trace records of the tools that were offered."""
    if not measure:
        return {"tool_block_sha256": TOOL_BLOCK_SHA256}
    return {MEASURE: True, "tool_block_sha256": hashlib.sha256(tool_block(measure).encode()).hexdigest()}


def _message(role: str, *blocks: Block) -> Message:
    return {"role": role, "content": list(blocks)}


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _picture(image: Image.Image) -> Block:
    return {"type": "image_url", "image_url": {"url": data_url(image)}}


_FINISHED = ("stop", "eos", "tool_calls")


class SpecO3:
    """The policy. It has no state: each turn follows from the conversation and the server.

    :param stream: request each turn piece by piece; False: whole, where nobody watches it being written
    :param measure: offer the ``measure`` tool, for a model that was trained with it
    """

    def __init__(
        self, endpoint: Endpoint, sampling: Sampling | None = None, stream: bool = True, measure: bool = False
    ) -> None:
        self.measure = measure
        self.endpoint = endpoint
        self.sampling = sampling or Sampling()
        self.stream = stream

    @property
    def drafter(self) -> Drafter:
        """The model, its sampling and its server; checks the server if that has not happened yet."""
        facts = self.endpoint.facts()
        settings: dict[str, Any] = {"dialect": "spec-o3", **tool_settings(self.measure)}
        settings |= self.sampling.settings()
        left_out = settings.keys() & self.endpoint.left_out
        settings |= dict.fromkeys(left_out, "left out: not taken by the server")
        reported = {"server": facts.server, "server_version": facts.version, "context": facts.context}
        settings |= {name: value for name, value in reported.items() if value}
        return Drafter("model", self.endpoint.model or facts.model, settings)

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """Yield the next turn unchanged, as it arrives, and the score of an answer if log-probabilities are requested.

        Reasoning that the server splits off gets its ``<think>`` tags back, which the model wrote and must see again.
        """
        probe = self.endpoint.probe([], self.sampling, conversation.stop, seconds=None)
        if probe is not None and probe.pictures == "ignored":
            raise PolicyError(self.endpoint.blindness)
        thinking = False
        written = ""
        tokens: list[Mapping[str, Any]] = []
        pieces = self.endpoint.stream(messages(conversation), self.sampling, conversation.stop, whole=not self.stream)
        with closing(pieces):
            for delta in pieces:
                if delta.reasoning:
                    written += (piece := delta.reasoning if thinking else f"<think>{delta.reasoning}")
                    yield piece
                    thinking = True
                if delta.text:
                    written += (piece := f"</think>{delta.text}" if thinking else delta.text)
                    yield piece
                    thinking = False
                tokens += delta.logprobs
                if delta.remark:
                    yield Remark(delta.remark)
                if delta.finish is not None and delta.finish not in _FINISHED:
                    yield Remark(self._cut(delta.finish))
                if delta.usage is not None:
                    yield delta.usage
        if self.sampling.logprobs and "logprobs" not in self.endpoint.left_out:
            yield from pieces_of_score(written, tokens)

    def _cut(self, finish: str) -> str:
        match finish:
            case "length":
                return f"cut at its limit of {self.sampling.max_tokens} tokens"
            case "content_filter":
                return "cut by the server's content filter"
        return f"ended by the server: {one_line(finish, 80)}"
