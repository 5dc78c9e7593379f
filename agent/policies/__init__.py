"""Policies for the inspection loop (``agent.loop``), one module each, and the sampling settings they share."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from agent.language import tr


@dataclass(frozen=True)
class Sampling:
    """How tokens are sampled. Temperature 0 always takes the most likely token; ``max_tokens`` limits one turn.

    ``seed`` None: the server chooses one, so the result is repeatable only at temperature 0. ``logprobs``: also request
    the log-probabilities of the tokens, for the score of the answer (``agent.policies.yes_no``); the text is the same.

    :raises ValueError: a value outside its range, which the message names
    """

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 2048
    seed: int | None = None
    logprobs: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and 0 <= self.temperature <= 2):
            raise ValueError(
                tr("temperature: found {temperature}, expected a number from 0 to 2", temperature=self.temperature)
            )
        if not 0 < self.top_p <= 1:
            raise ValueError(tr("top_p: found {top_p}, expected a number above 0, at most 1", top_p=self.top_p))
        if self.max_tokens < 1:
            raise ValueError(tr("max_tokens: found {max_tokens}, expected 1 or more", max_tokens=self.max_tokens))
        if self.seed is not None and not 0 <= self.seed < 2**31:
            raise ValueError(
                tr("seed: found {seed}, expected a whole number from 0 to {value}", seed=self.seed, value=2**31 - 1)
            )

    def for_sample(self, number: int) -> Sampling:
        """Return the settings of sample ``number`` (from 0) of one spectrum: the number is added to the seed."""
        if self.seed is None:
            return self
        return replace(self, seed=(self.seed + number) % 2**31)

    def settings(self) -> dict[str, Any]:
        """Return them as ``Drafter.settings`` stores them; a seed of None and ``logprobs`` False are left out."""
        settings: dict[str, Any] = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
        }
        if self.seed is not None:
            settings["seed"] = self.seed
        if self.logprobs:
            settings["logprobs"] = True
        return settings


NATIVE = Sampling(temperature=1.0, max_tokens=8192)
"""Of a model with tool calls of its own, if nothing else is requested: the only temperature that OpenAI's reasoning
models accept, and a limit to which the hidden reasoning counts. The published models were run with ``Sampling()``."""
