"""Turns of fixed length with a scripted end: what a model with random weights needs to go through an inspection.

The model writes a fixed number of tokens; the tool call or the answer at the end of the turn is put there by us.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent.conversation import Conversation, Piece
from agent.policies import Sampling
from agent.policies.openai.endpoint import Endpoint
from agent.policies.spec_o3 import SpecO3
from training.grpo.generators import RoundGenerator
from training.grpo.rollout import ContinuousGenerator, GeneratedTurn, Request
from training.render import END

WINDOWS = ((6400, 6700), (4760, 4980), (3900, 4400), (5000, 5600), (8400, 8700))
"""Windows of the zooms, in Å; each is within a LAMOST spectrum."""
FORCED = 100
"""Bias on the logit of the one token that the model then writes."""


def end_of_turn(turn: int, zooms: int, verdict: str = "NO") -> str:
    """Return the tool call of a turn (from 0), or after ``zooms`` calls the answer."""
    if turn >= zooms:
        return f"<answer>\\boxed{{{verdict}}} No feature of the class.</answer>"
    arguments = {"label": f"window {turn + 1}", "wavelength_range": WINDOWS[turn % len(WINDOWS)]}
    call = json.dumps({"name": "spectral_visualization_tool", "arguments": arguments})
    return f"\n<tool_call>\n{call}\n</tool_call>"


def repeatable_token(tokenizer: Any) -> int:
    """Return a token whose repetitions are the same ids again when their text is tokenized.

    :raises ValueError: there is none
    """
    for text, token in sorted(tokenizer.get_vocab().items()):
        written = tokenizer.decode([token] * 50)
        if text.isascii() and text.isalpha() and tokenizer.encode(written, add_special_tokens=False) == [token] * 50:
            return int(token)
    raise ValueError("the tokenizer has no token that can be repeated")


@dataclass(frozen=True)
class FixedLength(Sampling):
    """Sampling of exactly ``max_tokens`` tokens by vLLM, all of them ``token``, so that their text keeps its ids."""

    token: int = 0

    def settings(self) -> dict[str, Any]:
        forced = {"ignore_eos": True, "min_tokens": self.max_tokens, "logit_bias": {str(self.token): FORCED}}
        return super().settings() | forced


class Scripted(SpecO3):
    """The served policy with turns of fixed length: the end of each is added to what the model wrote.

    :param zooms: tool calls before the answer
    """

    def __init__(self, endpoint: Endpoint, sampling: FixedLength, zooms: int) -> None:
        super().__init__(endpoint, sampling, stream=False)
        self.zooms = zooms

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        yield from super().turn(conversation)
        yield end_of_turn(len(conversation.exchanges), self.zooms)


def longest_end(tokenizer: Any, zooms: int) -> int:
    """Return the tokens of the longest end of a turn, its end token included."""
    ends = [end_of_turn(turn, zooms, verdict) for turn in range(zooms + 1) for verdict in ("YES", "NO")]
    return max(len(_ids(tokenizer, text)) for text in ends)


def _ids(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer.encode(text + END, add_special_tokens=False))


class _Forced:
    """A generator of GRPO rounds in which every turn has ``length`` tokens of the model and then a scripted end, which
    is a tool call or the answer. This part holds the turns of each trajectory; the subclasses pass them on.

    The limit of a turn must be at least ``length`` and ``longest_end``. A turn that the model ended early is filled up
    by its last token; ``written`` counts the tokens of the model itself in the latest round.
    """

    def __init__(self, inner: RoundGenerator, tokenizer: Any, length: int, zooms: int) -> None:
        self.ends = inner.ends
        self.written = 0
        self._inner: Any = inner
        self._tokenizer = tokenizer
        self._length = length
        self._zooms = zooms
        self._turns: dict[int, int] = {}
        self._open: dict[int, Request] = {}

    def round(self, number: int, greedy: bool = False) -> Any:
        self.written = 0
        self._turns.clear()
        self._open.clear()
        return self._inner.round(number, greedy)

    def _of_model(self, requests: Sequence[Request]) -> list[Request]:
        """Return the requests with the limit of what the model writes itself."""
        return [replace(one, limit=self._own(one)) for one in requests]

    def _own(self, request: Request) -> int:
        """Return the tokens that the model writes: ``length``, or what the limit leaves besides the end."""
        return max(1, min(self._length, request.limit - len(self._end(request.row))))

    def _finished(self, request: Request, turn: GeneratedTurn) -> GeneratedTurn:
        """Return the turn with its end."""
        end, wanted = self._end(request.row), self._own(request)
        self._turns[request.row] = self._turns.get(request.row, 0) + 1
        own = [token for token in turn.ids if token not in self.ends]
        self.written += len(own)
        ids = (*own, *[own[-1] if own else end[0]] * (wanted - len(own)), *end)
        logprobs = None
        if turn.logprobs is not None:
            logprobs = (*turn.logprobs[: len(own)], *[0.0] * (len(ids) - len(own)))
        return GeneratedTurn(ids, logprobs)

    def _end(self, row: int) -> list[int]:
        text = end_of_turn(self._turns.get(row, 0), self._zooms, "YES" if row % 2 else "NO")
        return _ids(self._tokenizer, text)


class ForcedLockStep(_Forced):
    """The same for a lock-step generator."""

    def any_waiting(self, waiting: int) -> bool:
        return bool(self._inner.any_waiting(waiting))

    def write(self, requests: Sequence[Request]) -> list[GeneratedTurn]:
        written = self._inner.write(self._of_model(requests))
        return [self._finished(*pair) for pair in zip(requests, written, strict=True)]


class ForcedContinuous(_Forced):
    """The same for a continuous generator."""

    def submit(self, requests: Sequence[Request]) -> None:
        self._open |= {one.row: one for one in requests}
        self._inner.submit(self._of_model(requests))

    def collect(self) -> list[tuple[int, GeneratedTurn]]:
        return [(row, self._finished(self._open.pop(row), turn)) for row, turn in self._inner.collect()]


def forced(inner: RoundGenerator, tokenizer: Any, length: int, zooms: int) -> ForcedLockStep | ForcedContinuous:
    """Return ``inner`` with turns in which the model writes ``length`` tokens before a scripted end."""
    kind = ForcedContinuous if isinstance(inner, ContinuousGenerator) else ForcedLockStep
    return kind(inner, tokenizer, length, zooms)
