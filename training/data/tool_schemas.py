"""Whether data were made with the tool that models here are told of.

What is rendered for training is our tool block, whatever the data say, so a call that another tool would have
taken would be learned under the wrong description. An export states its tool whole and must agree with ours
word for word. In published rows the words of a description do not matter, as long as the same calls are
allowed; that a row has other words is one of its trajectory's faults.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from agent.tool import TOOL_SCHEMA
from training.data.records import DataError

# The block's own words speak of <tools></tools> before they give them.
_BLOCK = re.compile(r"<tools>(?!</tools>)(.*?)</tools>", re.DOTALL)


class ToolSchemas:
    """The tool schemas met so far, by who stated them; one that differs from another is refused."""

    def __init__(self) -> None:
        self._stated: dict[str, str] = {}

    def meet(self, schema: object, where: str) -> None:
        """:raises DataError: another was met before (a mixture), or it is not ours"""
        canonical = json.dumps(schema, sort_keys=True)
        for other, place in self._stated.items():
            if other != canonical:
                raise DataError(
                    f"mixture of tool schemas: {where} has {_called(canonical)}, {place} has "
                    f"{_called(other)}; wanted data made with one tool"
                )
        self._stated[canonical] = where
        ours = json.dumps(TOOL_SCHEMA, sort_keys=True)
        if canonical != ours:
            raise DataError(
                f"{where}: tool: found the schema {_called(canonical)}, wanted {_called(ours)}, the tool "
                "that models are trained with here"
            )


def stated_in(system: str) -> object | None:
    """The tool schema in a system turn, None where it states none; ours where it allows the same calls.

    :raises ValueError: there is a tool block, but no single tool in it
    """
    block = _BLOCK.search(system)
    if block is None:
        return None
    try:
        schema = json.loads(block[1], strict=False)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"found {block[1].strip()!r:.60} between <tools> and </tools>, wanted one tool") from error
    return TOOL_SCHEMA if _calls(schema) == _calls(TOOL_SCHEMA) else schema


def _calls(schema: object) -> object:
    """What decides which calls are allowed: names, types, and what must be there."""
    if not isinstance(schema, Mapping) or not isinstance(schema.get("function"), Mapping):
        return schema
    function: Mapping[str, Any] = schema["function"]
    return function.get("name"), _types(function.get("parameters"))


def _types(value: object) -> object:
    if not isinstance(value, Mapping):
        return sorted(value, key=str) if isinstance(value, list) else value
    return {
        key: _named_types(inner) if key == "properties" else _types(inner)
        for key, inner in value.items()
        if key != "description" and inner not in (None, [], {})
    }


def _named_types(properties: object) -> object:
    """The same of properties, one of which may itself be called ``description``."""
    if not isinstance(properties, Mapping):
        return properties
    return {name: _types(inner) for name, inner in properties.items()}


def _called(canonical: str) -> str:
    """A schema in a word: the tool's name, and enough of a hash to tell two apart."""
    schema = json.loads(canonical)
    function = schema.get("function") if isinstance(schema, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    return f"{str(name or 'no name')[:60]} ({hashlib.sha256(canonical.encode()).hexdigest()[:12]})"
