"""A Spec-o3 model behind a server: what it is sent, and what is made of what it says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

from agent.conversation import Conversation, Piece, Remark
from agent.policies.dialect import TOOL_BLOCK_SHA256, messages
from agent.policies.endpoint import Endpoint
from agent.policies.sampling import Sampling
from agent.sentence import one_line
from agent.trajectory import Drafter

_FINISHED = ("stop", "eos", "tool_calls")


class Served:
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
