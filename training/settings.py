"""Settings of a training run: one YAML file to one frozen settings object, strictly checked.

An unknown key is refused with the nearest known one, because a misspelt learning rate that silently keeps its
default costs a day. ``to_yaml`` writes every setting, defaults included, next to the weights.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypeVar

from pydantic import BeforeValidator, ConfigDict, Field, Strict
from pydantic.dataclasses import dataclass

from agent.errors import Refusal
from agent.language import tr
from agent.settings_file import Mismatch, Problem, Whole, load_yaml, parse_yaml, validate

Settings = TypeVar("Settings")

Method = Literal["full", "lora"]
Part = Literal["vision", "projector"]

CLOSED = ConfigDict(extra="forbid")
"""Configuration of every settings class: unknown keys are refused."""


def _number(value: object) -> object:
    """Return a text such as ``1e-6`` as a number: YAML reads a number without a point as text."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            raise Mismatch(f"{value!r:.60}", "a number") from None
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise Mismatch(tr("a number of too many digits"), "a number") from None
    return value


Real = Annotated[float, Strict(), BeforeValidator(_number)]
Texts = tuple[str, ...]
AtLeast0 = Annotated[Whole, Field(ge=0, description="a whole number, 0 or more")]
AtLeast1 = Annotated[Whole, Field(ge=1, description="a whole number, 1 or more")]
AtLeast1OrNull = Annotated[Whole | None, Field(ge=1, description="a whole number, 1 or more, or null")]
Positive = Annotated[Real, Field(gt=0, description="a number above 0")]
Fraction = Annotated[Real, Field(ge=0, lt=1, description="a fraction from 0 to below 1")]

LicenceOrNull = Annotated[
    str | None,
    Field(pattern=r"^[a-z0-9][a-z0-9.+-]*$", description="the name of a licence: small letters, digits, and . + -"),
]


class SettingsError(Refusal, ValueError):
    """A setting that cannot be used: which file and key, what was found, what was expected."""


@dataclass(frozen=True, config=CLOSED)
class Lora:
    """LoRA on the language layers; parameter names as in PEFT."""

    rank: Whole = 64
    alpha: Whole = 128
    dropout: Real = 0.0
    targets: Texts = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True, config=CLOSED)
class ModelSettings:
    """Which weights to load, and which of their parts are trained.

    :param name: a folder (a run folder of this program too), or the name of a repository on the Hub
    :param dialect: the form of tools, thoughts and calls in which it learns (``agent.trajectory.forms``); its folder
        keeps it. None: the one in which it was trained before, else that of Spec-o3
    :param frozen: parts that are not trained under ``full``; published: both
    :param license: of these weights, for the model card, where this program does not know it: a name of the Hugging
        Face hub (``mit``, ``apache-2.0``), or another
    :param max_pixels: larger pictures are reduced for the model; None keeps the checkpoint's own limits, as
        published for GRPO. Also ``min_pixels``.
    """

    name: str
    adapter: str | None = None
    dialect: Literal["spec-o3", "qwen3.5"] | None = None
    method: Method = "full"
    frozen: tuple[Part, ...] = ("vision", "projector")
    lora: Lora = dataclasses.field(default_factory=Lora)
    dtype: Literal["bfloat16", "float16", "float32"] = "bfloat16"
    attention: Literal["sdpa", "flash_attention_2", "eager"] = "sdpa"
    min_pixels: Whole | None = None
    max_pixels: Whole | None = None
    license: LicenceOrNull = None


class Mergeable(Protocol):
    """Settings of a run that may merge its LoRA adapter into the weights at the end."""

    @property
    def merge(self) -> bool: ...

    @property
    def model(self) -> ModelSettings: ...


Run = TypeVar("Run", bound=Mergeable)


def check_merge(settings: Run) -> Run:
    """Return the settings. :raises Mismatch: ``merge`` without an adapter to merge"""
    if settings.merge and settings.model.method != "lora":
        raise Mismatch(tr("true with `method: full`, which has nothing to merge"), tr("`method: lora`"), "merge")
    return settings


def read(path: Path, kind: type[Settings], changes: Sequence[str] = ()) -> Settings:
    """Return the settings of a YAML file.

    :param changes: ``key=value`` or ``model.name=value``, as given on the command line; values are YAML
    :raises SettingsError: no such file, broken YAML, an unknown or missing key, or a value of another type
    """
    data = load_yaml(path, SettingsError)
    if not isinstance(data, dict):
        kind_read = type(data).__name__ if data is not None else tr("nothing")
        raise SettingsError(Problem(str(path), "file", kind_read, tr("settings as `key: value` lines")))
    for change in changes:
        _change(data, change)
    return from_mapping(data, kind, str(path))


def from_mapping(data: Mapping[str, Any], kind: type[Settings], source: str) -> Settings:
    """Return settings from plain values; ``source`` is named in errors. :raises SettingsError: as ``read``"""
    return validate(kind, data, source, SettingsError)


def to_mapping(settings: Any) -> dict[str, Any]:
    """Return plain values, defaults included; ``from_mapping`` gives the same settings back."""
    mapping: dict[str, Any] = plain(dataclasses.asdict(settings))
    return mapping


def to_yaml(settings: Any) -> str:
    """Return the text of a settings file; ``read`` gives the same settings back."""
    import yaml

    values = to_mapping(settings)
    text: str = yaml.safe_dump(values, sort_keys=False, allow_unicode=True)
    if "\x85" in text:
        # PyYAML reads an unescaped "next line" character back as a line feed.
        text = yaml.safe_dump(values, sort_keys=False, allow_unicode=False)
    return text


def plain(value: Any) -> Any:
    """Return a setting's value as YAML has it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value


def _change(data: dict[str, Any], change: str) -> None:
    import yaml

    name, equals, text = change.partition("=")
    if not equals:
        raise SettingsError(tr("found {change!r}, expected key=value", change=change))
    *outer, last = name.split(".")
    inside = data
    for key in outer:
        inside = inside.setdefault(key, {})
        if not isinstance(inside, dict):
            raise SettingsError(tr("{name}: {key} is not a group of settings", name=name, key=key))
    try:
        inside[last] = parse_yaml(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SettingsError(tr("{name}: found {text!r}, expected a value in YAML", name=name, text=text)) from error
