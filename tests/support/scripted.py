"""A tokenizer of letters and a writer that has its turns written down: rollouts without a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from types import SimpleNamespace

from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.tasks import load
from agent.trajectory.steps import Verdict
from training.data.records import Question
from training.grpo.rollout import GeneratedTurn, Request
from training.render import ASSISTANT, Renderer

_MARKS = re.compile(r"<\|[a-z_]+\|>|.", re.DOTALL)


class Letters:
    """Every letter is a token, and so is every ``<|mark|>``; ids are given out as they come."""

    def __init__(self) -> None:
        self._tokens: list[str] = []
        self._ids: dict[str, int] = {}

    def convert_tokens_to_ids(self, given: str | list[str]) -> int | list[int]:
        return self._id(given) if isinstance(given, str) else [self._id(one) for one in given]

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return [self._id(token) for token in _MARKS.findall(text)]

    def decode(self, ids: Sequence[int], clean_up_tokenization_spaces: bool = True) -> str:
        return "".join(self._tokens[one] for one in ids)

    def _id(self, token: str) -> int:
        if token not in self._ids:
            self._ids[token] = len(self._tokens)
            self._tokens.append(token)
        return self._ids[token]


def renderer() -> Renderer:
    """Pictures have a token for every 100 x 100 pixels."""
    counted = SimpleNamespace(
        merge_size=1,
        get_number_of_image_patches=lambda height, width, _: -(-height // 100) * -(-width // 100),
    )
    return Renderer(SimpleNamespace(tokenizer=Letters(), image_processor=counted))


Script = Callable[[str, int], str]
"""From the conversation so far and the number of the turn (from 1) to what is said."""


class Scripted:
    """Says what a script says; ``asked`` has how many turns each call wrote."""

    def __init__(self, made: Renderer, script: Script, logprobs: bool = False) -> None:
        self.asked: list[int] = []
        self.requests: list[Request] = []
        self._tokenizer = made.processor.tokenizer
        self._script = script
        self._logprobs = logprobs
        end = self._tokenizer.convert_tokens_to_ids("<|im_end|>")
        self.ends = frozenset([end])
        self._end = end

    def anybody(self, waiting: int) -> bool:
        return waiting > 0

    def write(self, requests: Sequence[Request]) -> list[GeneratedTurn]:
        self.asked.append(len(requests))
        self.requests += requests
        return [self._written(one) for one in requests]

    def _written(self, request: Request) -> GeneratedTurn:
        text = self._tokenizer.decode(request.so_far.ids)
        said = self._script(text, text.count(ASSISTANT))
        ids = (*self._tokenizer.encode(said), self._end)[: request.limit]
        return GeneratedTurn(ids, tuple(-0.1 * n for n in range(len(ids))) if self._logprobs else None)


def star(kind: str = "cv", seed: int = 1) -> Spectrum:
    return simulate(kind, "LAMOST", 20.0, seed=seed)


def question(task: str = "cv", kind: str = "cv", label: Verdict = "YES", seed: int = 1) -> Question:
    """About a simulated spectrum."""
    name = f"{kind}-{seed}"
    return Question(name, name, load()[task], label, "simulated LAMOST", 20.0, True, lambda: star(kind, seed))
