"""Settings of a training run: one YAML file to one frozen dataclass, strictly.

A key that no setting has is refused with the nearest one that there is, because a misspelt learning rate that
is silently the default costs a day. What is left out has its default; ``to_yaml`` writes all of it, so that
the file beside the weights says everything.
"""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from agent.text import OneLine

Settings = TypeVar("Settings")

Method = Literal["full", "lora"]
Part = Literal["vision", "projector"]


DEEPEST = 20
"""Levels of settings inside of settings; there are three."""


class SettingsError(OneLine, ValueError):
    """A setting that cannot be used: which file and key, what was found, what was wanted."""


@dataclass(frozen=True)
class Lora:
    """LoRA on the linear layers that read; names as PEFT takes them."""

    rank: int = 64
    alpha: int = 128
    dropout: float = 0.0
    targets: tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True)
class ModelSettings:
    """Which weights, and what of them learns.

    :param name: a folder (this program's own run folders too), or the name of a repository on the Hub
    :param frozen: parts that do not learn under ``full``; published: both
    :param max_pixels: pictures larger than this are shrunk for the model; None leaves the checkpoint's own
        limits, as published for GRPO. Also ``min_pixels``.
    """

    name: str
    adapter: str | None = None
    method: Method = "full"
    frozen: tuple[Part, ...] = ("vision", "projector")
    lora: Lora = dataclasses.field(default_factory=Lora)
    dtype: Literal["bfloat16", "float16", "float32"] = "bfloat16"
    attention: Literal["sdpa", "flash_attention_2", "eager"] = "sdpa"
    min_pixels: int | None = None
    max_pixels: int | None = None


def read(path: Path, kind: type[Settings], changes: Sequence[str] = ()) -> Settings:
    """The settings of a YAML file.

    :param changes: ``key=value`` or ``model.name=value``, as given on the command line; values are YAML
    :raises SettingsError: no such file, no YAML, a key that is unknown or missing, or a value of another type
    """
    import yaml

    try:
        data = loaded(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SettingsError(f"{path}: found no YAML ({' '.join(str(error).split())})") from error
    if not isinstance(data, dict):
        raise SettingsError(f"{path}: found {type(data).__name__}, wanted settings as `key: value` lines")
    for change in changes:
        _change(data, change)
    return from_mapping(data, kind, str(path))


def loaded(text: str) -> Any:
    """The value of a YAML text without aliases: nine lines of them can stand for a billion values, which no
    message could show and no run folder hold.

    :raises yaml.YAMLError: no YAML, a tag that asks for more than plain values, or an alias
    :raises ValueError: a number or a date that there is not
    """
    import yaml

    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError(f"found the alias *{event.anchor}, wanted every value written out")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            # The time that brackets take grows with the square of their depth.
            raise yaml.YAMLError(f"found values {depth} deep, wanted settings")
    return yaml.safe_load(text)


def from_mapping(data: Mapping[str, Any], kind: type[Settings], source: str) -> Settings:
    """Settings from plain values; ``source`` is named in errors. :raises SettingsError: as ``read``"""
    value: Settings = _of(data, kind, source, "")
    return value


def to_mapping(settings: Any) -> dict[str, Any]:
    """Plain values, defaults included; ``from_mapping`` gives the same settings back."""
    plain: dict[str, Any] = _plain(dataclasses.asdict(settings))
    return plain


def to_yaml(settings: Any) -> str:
    """As a file; ``read`` gives the same settings back."""
    import yaml

    plain = to_mapping(settings)
    text: str = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)
    if "\x85" in text:
        # PyYAML reads a "next line" that it wrote as it is back as a line feed; an escape comes back right.
        text = yaml.safe_dump(plain, sort_keys=False, allow_unicode=False)
    return text


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def _change(data: dict[str, Any], change: str) -> None:
    import yaml

    name, equals, text = change.partition("=")
    if not equals:
        raise SettingsError(f"found {change!r}, wanted key=value")
    *outer, last = name.split(".")
    inside = data
    for key in outer:
        inside = inside.setdefault(key, {})
        if not isinstance(inside, dict):
            raise SettingsError(f"{name}: {key} is no group of settings")
    try:
        inside[last] = loaded(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SettingsError(f"{name}: found {text!r}, wanted a value in YAML") from error


def _of(value: Any, kind: Any, source: str, where: str) -> Any:
    """``value`` as ``kind``: a dataclass, a tuple, a Literal, a union with None, or a plain type."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        return _dataclass(value, kind, source, where)
    if origin in (types.UnionType, typing.Union):
        if value is None and type(None) in inner:
            return None
        return _of(value, next(one for one in inner if one is not type(None)), source, where)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise _wrong(source, where, value, "a list")
        return tuple(_of(one, inner[0], source, f"{where}[{n}]") for n, one in enumerate(value))
    if origin is Literal:
        if value not in inner:
            raise _wrong(source, where, value, " or ".join(str(one) for one in inner))
        return value
    if origin in (dict, Mapping):
        if not isinstance(value, Mapping):
            raise _wrong(source, where, value, "key: value lines")
        return dict(value)
    return _plain_of(value, kind, source, where)


def _plain_of(value: Any, kind: Any, source: str, where: str) -> Any:
    if kind is Any:
        return value
    if kind is float:
        # YAML reads 1e-6 (no point) as text.
        try:
            number = None if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            number = None
        if number is None:
            raise _wrong(source, where, value, "a number")
        return number
    if kind is int and isinstance(value, bool):
        raise _wrong(source, where, value, "a whole number")
    if not isinstance(value, kind):
        wanted = {int: "a whole number", str: "text", bool: "true or false"}.get(kind, kind.__name__)
        raise _wrong(source, where, value, wanted)
    return value


def _dataclass(value: Any, kind: Any, source: str, where: str) -> Any:
    if not isinstance(value, Mapping):
        raise _wrong(source, where, value, "settings as `key: value` lines")
    hints = typing.get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    given = {}
    for key, inner in value.items():
        full = f"{where}.{key}" if where else str(key)
        if key not in fields:
            near = difflib.get_close_matches(str(key), fields, 1, 0.6)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(fields)}"
            raise SettingsError(f"{source}: {full}: no such setting; {hint}")
        given[key] = _of(inner, hints[key], source, full)
    for name, field in fields.items():
        needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if needed and name not in given:
            full = f"{where}.{name}" if where else name
            raise SettingsError(f"{source}: {full}: found nothing, wanted a value")
    try:
        return kind(**given)
    except SettingsError as error:
        raise SettingsError(f"{source}: {error}") from error


def _wrong(source: str, where: str, value: Any, wanted: str) -> SettingsError:
    return SettingsError(f"{source}: {where}: found {value!r:.60}, wanted {wanted}")
