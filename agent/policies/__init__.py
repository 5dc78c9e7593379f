"""Policies for the inspection loop (``agent.loop``), one module each, and the sampling settings they share."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agent.language import tr

OWN_FIELDS = frozenset(
    (
        *(
            "messages",
            "model",
            "input",
            "tools",
            "n",
            "stream",
            "stream_options",
            "store",
            "include",
            "response_format",
        ),
        *("temperature", "top_p", "max_tokens", "max_completion_tokens", "max_output_tokens", "seed", "logprobs"),
        *("top_logprobs", "reasoning_effort"),
    )
)
"""Fields of a request that ``Sampling.extra_body`` may not set: each has its own setting, or belongs to the program."""
EFFORT = re.compile("[a-z]{1,20}")
"""A reasoning effort: servers have their own words."""


@dataclass(frozen=True)
class Sampling:
    """How tokens are sampled. Temperature 0 always takes the most likely token; ``max_tokens`` limits one turn.

    ``seed`` None: the server chooses one, so the result is repeatable only at temperature 0. ``logprobs``: also request
    the log-probabilities of the tokens, for the score of the answer (``agent.policies.yes_no``); the text is the same.
    ``reasoning_effort`` (none, minimal, low, medium, high, ...) and ``extra_body``, further fields of each request, are
    for model servers: None and empty unless they are set.

    :raises ValueError: a value outside its range, which the message names
    """

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 2048
    seed: int | None = None
    logprobs: bool = False
    reasoning_effort: str | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict, hash=False)

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
        if self.reasoning_effort is not None and not EFFORT.fullmatch(self.reasoning_effort):
            raise ValueError(
                tr(
                    "reasoning_effort: found {effort!r}, expected a word such as none, low, medium or high",
                    effort=self.reasoning_effort,
                )
            )
        if own := sorted(OWN_FIELDS & self.extra_body.keys()):
            raise ValueError(tr("extra_body: found {names}, which this program sets itself", names=", ".join(own)))

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
        if self.reasoning_effort is not None:
            settings["reasoning_effort"] = self.reasoning_effort
        if self.extra_body:
            settings["extra_body"] = dict(self.extra_body)
        return settings


NATIVE = Sampling(temperature=1.0, max_tokens=8192)
"""Of a model with tool calls of its own, if nothing else is requested: the only temperature that OpenAI's reasoning
models accept, and a limit to which the hidden reasoning counts. The published models were run with ``Sampling()``."""

EXAMPLES = 4
"""Approved traces that such a model is shown first, where a person asks for examples."""
EXAMPLES_BUDGET = 24
"""Pictures of all these examples together at most."""
