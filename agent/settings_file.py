"""Settings and task files: TOML or YAML text to checked pydantic models.

Every problem becomes one ``Problem``, which reads "file: field: found X, expected Y". Where a field has a
``Field(description=...)``, the description is what was expected.
"""

from __future__ import annotations

import difflib
import tomllib
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, Strict, StringConstraints, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from agent.language import deferred, deferredn, tr

Model = TypeVar("Model")

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Whole = Annotated[int, Strict()]
Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Flag = Annotated[bool, Strict()]

DEEPEST = 20
"""Levels of nested values in a YAML file; settings use three."""

_EXPECTED = {
    "missing": deferred("a value"),
    "string_type": deferred("a text"),
    "int_type": deferred("a whole number"),
    "int_from_float": deferred("a whole number"),
    "int_parsing": deferred("a whole number"),
    "float_type": deferred("a number"),
    "float_parsing": deferred("a number"),
    "finite_number": deferred("a finite number"),
    "bool_type": deferred("true or false"),
    "bool_parsing": deferred("true or false"),
    "list_type": deferred("a list"),
    "tuple_type": deferred("a list"),
    "dict_type": deferred("a table of keys and values"),
    "mapping_type": deferred("a table of keys and values"),
    "model_type": deferred("a table of keys and values"),
    "model_attributes_type": deferred("a table of keys and values"),
    "dataclass_type": deferred("a table of keys and values"),
    "json_invalid": deferred("valid {language}", language="JSON"),
    "string_unicode": deferred("a text without lone surrogates"),
    "int_parsing_size": deferred("a number that fits in 64 bits"),
}

_EXPECTED_WITHIN: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "greater_than": lambda limits: deferred("a number above {limit}", limit=limits["gt"]),
    "greater_than_equal": lambda limits: deferred("{limit} or more", limit=limits["ge"]),
    "less_than": lambda limits: deferred("a number below {limit}", limit=limits["lt"]),
    "less_than_equal": lambda limits: deferred("{limit} or less", limit=limits["le"]),
    "string_too_short": lambda limits: (
        deferred("a text that is not empty")
        if limits["min_length"] == 1
        else deferred("a text of {n} characters or more", n=limits["min_length"])
    ),
    "string_too_long": lambda limits: deferredn(
        "a text of {n} character or less", "a text of {n} characters or less", limits["max_length"]
    ),
    "too_short": lambda limits: deferredn(
        "a list of {n} value or more", "a list of {n} values or more", limits["min_length"]
    ),
    "too_long": lambda limits: deferredn(
        "a list of {n} value or less", "a list of {n} values or less", limits["max_length"]
    ),
    "literal_error": lambda limits: str(limits["expected"]),
    "union_tag_invalid": lambda limits: str(limits["expected_tags"]),
    "union_tag_not_found": lambda limits: deferred("a table with the key {key}", key=limits["discriminator"]),
}
"""What was expected where pydantic gives the limits of the value."""


_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")


class Problem(NamedTuple):
    """One thing that is wrong in a file: where, what was found and what was expected."""

    source: str
    field: str
    actual: str
    expected: str

    @property
    def sentence(self) -> str:
        """All of it; shown in the language of the context."""
        words = {"source": self.source, "field": self.field, "found": self.actual, "expected": self.expected}
        return deferred("{source}: {field}: found {found}, expected {expected}", **words)

    def __str__(self) -> str:
        return tr(self.sentence)


class Mismatch(ValueError):
    """Raised by a validator that words its own problem, for example not to quote a secret.

    :param field: replaces the name of the field, as where two fields contradict each other
    """

    def __init__(self, actual: str, expected: str, field: str = "") -> None:
        super().__init__(actual, expected, field)
        self.actual = actual
        self.expected = expected
        self.field = field


class Table(BaseModel):
    """Base of every model read from a file: frozen, unknown fields refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


MakeError = Callable[[Problem], Exception]
"""An exception class that takes a ``Problem``, or a function that returns an exception."""


def validate(model: type[Model], data: object, source: str, error: MakeError, prefix: str = "") -> Model:
    """Return ``data`` as ``model``: a pydantic model, a dataclass, or any type that pydantic knows.

    :param source: the file, named in the error
    :param prefix: stands before the name of each field, such as "feature 1, "
    :raises Exception: what ``error`` makes of the first problem
    """
    try:
        return TypeAdapter(model).validate_python(data)
    except ValidationError as invalid:
        raise error(_problem(model, data, invalid, source, prefix)) from None


def load_toml(path: Path, error: MakeError) -> dict[str, Any]:
    """Return the values of a TOML file. :raises Exception: what ``error`` makes of an unreadable file"""
    text = _text_of(path, error)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as broken:
        # In addition to tomllib's own errors: a number of 5,000 digits, brackets a thousand levels deep.
        _refuse_syntax(path, "TOML", broken, error)


def load_yaml(path: Path, error: MakeError) -> Any:
    """Return the value of a YAML file. :raises Exception: what ``error`` makes of an unreadable file"""
    import yaml

    text = _text_of(path, error)
    try:
        return parse_yaml(text)
    except (yaml.YAMLError, ValueError, RecursionError) as broken:
        _refuse_syntax(path, "YAML", broken, error)


def parse_yaml(text: str) -> Any:
    """Return the value of a YAML text without aliases: nine lines of aliases can expand to a billion values.

    :raises yaml.YAMLError: broken YAML, a tag other than plain values, an alias, or values nested too deep
    :raises ValueError: an impossible number or date
    """
    import yaml

    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError(tr("found the alias *{anchor}, expected every value written out", anchor=event.anchor))
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            # Parsing time grows with the square of the depth.
            raise yaml.YAMLError(tr("found values nested {depth} deep, expected settings", depth=depth))
    return yaml.safe_load(text)


def shown(value: object) -> str:
    """Return a value as it is quoted in a problem."""
    return deferred("nothing") if value is None else f"{value!r:.60}"


def _text_of(path: Path, error: MakeError) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as unreadable:
        raise error(Problem(str(path), "file", str(unreadable), deferred("a readable UTF-8 text file"))) from None


def _refuse_syntax(path: Path, language: str, broken: Exception, error: MakeError) -> NoReturn:
    error_text = " ".join(str(broken).split())
    problem = deferred("broken {language} ({error})", language=language, error=error_text)
    raise error(Problem(str(path), "file", problem, deferred("valid {language}", language=language))) from None


def _problem(model: Any, data: object, invalid: ValidationError, source: str, prefix: str) -> Problem:
    problems = invalid.errors(include_url=False)
    # A misspelt name comes before the field that is missing because of it.
    first = next((problem for problem in problems if problem["type"] in _UNKNOWN), problems[0])
    kind, location = first["type"], first["loc"]
    path, value, info, fields = _followed(model, data, location)
    name = _dotted(path)
    custom = first.get("ctx", {}).get("error")
    if isinstance(custom, Mismatch):
        field, actual, expected = custom.field or name, custom.actual, custom.expected
    elif kind in _UNKNOWN:
        near = difflib.get_close_matches(str(path[-1]), fields, 1, 0.6)
        hint = deferred("; did you mean {near}?", near=near[0]) if near else ""
        field, actual, expected = (
            name,
            deferred("an unknown field"),
            deferred("one of {fields}{hint}", fields=", ".join(fields), hint=hint),
        )
    elif info is not None and info.description:
        field, actual, expected = name, shown(value), info.description
    else:
        actual, expected = in_words(first)
        field = name
    return Problem(source, f"{prefix}{field}" if field else prefix.rstrip(", ") or "file", actual, expected)


def in_words(error: Any) -> tuple[str, str]:
    """Return the found and the expected value of an entry of pydantic's ``errors()``, in our words for usual types."""
    kind, value, limits = error["type"], error["input"], error.get("ctx", {})
    actual = shown(value)
    if kind == "missing":
        actual = deferred("nothing")
    elif kind in _UNKNOWN:
        return actual, deferred("no such field")
    elif kind == "string_too_long":
        actual = deferredn("{n} character", "{n} characters", len(value))
    elif kind in ("too_long", "too_short"):
        actual = deferredn("{n} value", "{n} values", limits["actual_length"])
    elif kind == "json_invalid":
        actual = deferred("broken {language} ({error})", language="JSON", error=limits["error"])
    words = _EXPECTED_WITHIN.get(kind)
    return actual, words(limits) if words else _EXPECTED.get(kind) or _plain_message(error["msg"])


def _plain_message(message: str) -> str:
    """Return pydantic's own message as what was expected, without its "Input should be"."""
    message = message.removeprefix("Input should be ").removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _followed(
    model: Any, data: object, location: Sequence[int | str]
) -> tuple[list[int | str], object, FieldInfo | None, list[str]]:
    """Follow an error's location through the data, up to the first field with a description.

    Return the path, the value there (None if missing), the field, and the names of its sibling fields.
    Names that pydantic adds for the members of a union are left out of the path.
    """
    path: list[int | str] = []
    value: object = data
    info: FieldInfo | None = None
    models = list(_models_in(model))
    fields: list[str] = []
    for number, part in enumerate(location):
        last = number == len(location) - 1
        if isinstance(value, Mapping):
            if part not in value and not (last or any(part in _fields_of(kind) for kind in models)):
                continue
            known = {name: field for kind in models for name, field in _fields_of(kind).items()}
            fields, info = list(known), known.get(str(part))
            models = list(_models_in(info.annotation)) if info else models
            path.append(part)
            value = value.get(part)
            if info is not None and info.description:
                break
        elif isinstance(value, list | tuple) and isinstance(part, int) and part < len(value):
            path.append(part)
            value = value[part]
    return path, value, info, fields


def _models_in(annotation: Any) -> Iterator[Any]:
    if isinstance(annotation, type) and _fields_of(annotation):
        yield annotation
    for inner in typing.get_args(annotation):
        yield from _models_in(inner)


def _fields_of(model: Any) -> dict[str, FieldInfo]:
    """Return the fields of a pydantic model or dataclass; none for any other type."""
    fields = getattr(model, "__pydantic_fields__", None) if isinstance(model, type) else None
    return dict(fields) if fields else {}


def _dotted(path: Sequence[int | str]) -> str:
    """Return a path as ``model.frozen[0]``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
