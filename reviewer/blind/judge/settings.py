"""The settings of a model judge, and the presets of ``presets.toml`` for models whose settings are documented.

Together with model, prompt and rubric they are the configuration of a judge; each judgement records them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from agent.errors import Refusal
from agent.language import tr
from agent.policies import Sampling
from agent.settings_file import Number, Problem, Table, Text, Whole, load_toml, validate
from reviewer.blind.plan import DIMENSIONS, Dimension

FILE = Path(__file__).with_name("presets.toml")

Sees = Literal["pictures", "measured values", "text"]
"""What a judge gets of the spectrum: the trace's pictures, numbers measured in its windows, or nothing."""
SEES: tuple[Sees, ...] = get_args(Sees)
Reasoning = Literal["on", "off", "server"]
"""Whether the model reasons before it answers; "server": as the server and its chat template have it."""
REASONING: tuple[Reasoning, ...] = get_args(Reasoning)
Place = Literal["system", "user"]

SAMPLING = Sampling(temperature=0.0, max_tokens=4096, seed=0)


@dataclass(frozen=True)
class JudgeSettings:
    """What a judge sees, how it is sampled, and what is in the request.

    :param dimensions: the dimensions to score; a judge of one gets no pairs, as that question is about both
    :param separately: one request per dimension, so that the first score does not influence the second
    :param samples: answers per question; sample n is sent with the seed plus n - 1
    :param system: text of the system message, before the instructions
    :param instructions_in: where the instructions are; "user" for models whose system message is only a switch
    :param reasoning: recorded, and with "on" no JSON schema is sent. What switches it is ``system`` or ``template``
    :param template: the request's ``chat_template_kwargs``, e.g. {"enable_thinking": true}; nothing is sent if empty
    :param context: tokens that a prompt and its answer may have together; None: what the server reports
    :param preset: the preset that the settings come from; "" for none
    :raises ValueError: fewer than one sample, or than one token of context
    """

    sees: Sees = "pictures"
    dimensions: tuple[Dimension, ...] = DIMENSIONS
    separately: bool = False
    samples: int = 1
    system: str = ""
    instructions_in: Place = "system"
    reasoning: Reasoning = "server"
    template: Mapping[str, Any] = field(default_factory=dict)
    sampling: Sampling = SAMPLING
    context: int | None = None
    preset: str = ""

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise ValueError(tr("samples: found {samples}, expected 1 or more", samples=self.samples))
        if self.context is not None and self.context < 1:
            raise ValueError(tr("context: found {context}, expected 1 or more", context=self.context))

    @property
    def sends_schema(self) -> bool:
        """Whether ``response_format`` is sent. A server without a reasoning parser applies it from the first token,
        which would forbid the reasoning.
        """
        return self.reasoning != "on"

    @property
    def requests(self) -> tuple[tuple[Dimension, ...], ...]:
        """The dimensions of each request about one trace."""
        return tuple((dimension,) for dimension in self.dimensions) if self.separately else (self.dimensions,)

    def to_json(self) -> dict[str, Any]:
        """Return the settings as a judgement records them."""
        return {
            "sees": self.sees,
            "dimensions": list(self.dimensions),
            "separately": self.separately,
            "samples": self.samples,
            "system": self.system,
            "instructions_in": self.instructions_in,
            "reasoning": self.reasoning,
            "chat_template_kwargs": dict(self.template),
            "context": self.context,
            "seed": None,
            **self.sampling.settings(),
        }


class PresetError(Refusal, ValueError):
    """A preset that does not exist, or a fault in ``presets.toml``."""


class Mode(Table):
    """What switches the reasoning of a model on or off, and how to sample then."""

    system: str = ""
    chat_template_kwargs: Mapping[str, Any] = Field(default_factory=dict)
    temperature: Number = SAMPLING.temperature
    top_p: Number = SAMPLING.top_p


class Preset(Table):
    """Settings for one model.

    :param source: where they are documented, and what is inferred
    :param reasoning: the mode that is used unless another is chosen
    """

    source: Text
    sees: Sees
    instructions_in: Place = "system"
    context: Annotated[Whole | None, Field(ge=1, description="a whole number, 1 or more")] = None
    max_tokens: Annotated[Whole, Field(ge=1, description="a whole number, 1 or more")] = SAMPLING.max_tokens
    reasoning: Literal["on", "off"]
    on: Mode
    off: Mode


@cache
def presets() -> Mapping[str, Preset]:
    """Return the presets that come with the program, by name. :raises PresetError: the file has a fault"""

    def fault(problem: Problem) -> PresetError:
        return PresetError(str(problem))

    tables = load_toml(FILE, fault)
    return {name: validate(Preset, table, FILE.name, fault, f"{name}, ") for name, table in tables.items()}


def preset_settings(name: str, reasoning: Reasoning | None = None) -> JudgeSettings:
    """Return the settings of a preset.

    :param reasoning: "on" or "off" instead of the preset's own; "server": neither system text nor template arguments
    :raises PresetError: there is no such preset
    """
    preset = presets().get(name)
    if preset is None:
        raise PresetError(
            tr("--preset: found {name!r:.60}, expected one of {names}", name=name, names=", ".join(sorted(presets())))
        )
    chosen = reasoning or preset.reasoning
    mode = {"on": preset.on, "off": preset.off, "server": Mode()}[chosen]
    return JudgeSettings(
        sees=preset.sees,
        system=mode.system,
        instructions_in=preset.instructions_in,
        reasoning=chosen,
        template=mode.chat_template_kwargs,
        sampling=replace(SAMPLING, temperature=mode.temperature, top_p=mode.top_p, max_tokens=preset.max_tokens),
        context=preset.context,
        preset=name,
    )
