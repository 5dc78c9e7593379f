"""Reading a plan's fields from JSON or TOML: each checked, each refusal naming the field."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields as fields_of
from typing import Any, TypeVar

from agent.text import OneLine

_Word = TypeVar("_Word", bound=str)


class PlanError(OneLine, ValueError):
    """A plan that cannot be carried out: which field, what was found, what was wanted."""

    def __init__(self, field: str, found: str, wanted: str) -> None:
        super().__init__(f"{field}: found {found}, wanted {wanted}")
        self.field = field
        self.found = found
        self.wanted = wanted


class Fields:
    """The fields of one table. :raises PlanError: it is none, or has a field that ``record`` has not"""

    def __init__(self, data: object, record: type[Any], where: str = "") -> None:
        if not isinstance(data, Mapping):
            raise PlanError(where.rstrip(".") or "plan", _shown(data), "a table of fields")
        known = [field.name for field in fields_of(record)]
        unknown = [str(name) for name in data if name not in known]
        if unknown:
            raise PlanError(f"{where}{unknown[0]}", "a field that there is not", f"one of {', '.join(known)}")
        self._data = data
        self._where = where

    def word(self, name: str) -> str:
        found = self.word_or_none(name)
        if found is None:
            raise PlanError(self._where + name, "nothing", "a text that is not empty")
        return found

    def word_or_none(self, name: str) -> str | None:
        found = self._data.get(name)
        if found is None:
            return None
        if not isinstance(found, str) or not found.strip():
            raise self._refusal(name, found, "a text that is not empty")
        return found.strip()

    def words(self, name: str) -> tuple[str, ...]:
        found = self._list(name)
        if not all(isinstance(one, str) and one.strip() for one in found):
            raise self._refusal(name, found, "a list of texts")
        return tuple(str(one).strip() for one in found)

    def one_of(self, name: str, choices: Sequence[_Word], default: _Word) -> _Word:
        found = self._data.get(name, default)
        for choice in choices:
            if found == choice:
                return choice
        raise self._refusal(name, found, f"one of {', '.join(choices)}")

    def whole(self, name: str, low: int, high: int | None = None, default: int | None = None) -> int:
        found = self.whole_or_none(name, low, high)
        if found is None:
            found = default
        if found is None:
            raise PlanError(self._where + name, "nothing", _range(low, high))
        return found

    def whole_or_none(self, name: str, low: int, high: int | None = None) -> int | None:
        found = self._data.get(name)
        if found is None:
            return None
        if not _is_whole(found) or found < low or (high is not None and found > high):
            raise self._refusal(name, found, _range(low, high))
        return int(found)

    def wholes(self, name: str) -> tuple[int, ...]:
        found = self._list(name)
        if not all(_is_whole(one) and one > 0 for one in found):
            raise self._refusal(name, found, "a list of items' numbers")
        return tuple(int(one) for one in found)

    def number_or_none(self, name: str) -> float | None:
        found = self._data.get(name)
        if found is None:
            return None
        if not _is_finite(found):
            raise self._refusal(name, found, "a number")
        return float(found)

    def flag_or_none(self, name: str) -> bool | None:
        found = self._data.get(name)
        if found is not None and not isinstance(found, bool):
            raise self._refusal(name, found, "true or false")
        return found

    def table(self, name: str) -> Mapping[str, Any]:
        found = self._data.get(name, {})
        if not isinstance(found, Mapping):
            raise self._refusal(name, found, "a table of fields")
        return found

    def tables(self, name: str) -> list[Any]:
        return list(self._list(name))

    def _list(self, name: str) -> Sequence[Any]:
        found = self._data.get(name, ())
        if not isinstance(found, list | tuple):
            raise self._refusal(name, found, "a list")
        return found

    def _refusal(self, name: str, found: object, wanted: str) -> PlanError:
        return PlanError(self._where + name, _shown(found), wanted)


def _is_whole(found: object) -> bool:
    """Whether it is a whole number of a size that the database can hold."""
    return isinstance(found, int) and not isinstance(found, bool) and abs(found) < 2**63


def _is_finite(found: object) -> bool:
    if isinstance(found, bool) or not isinstance(found, int | float):
        return False
    return abs(found) <= sys.float_info.max


def _range(low: int, high: int | None) -> str:
    return f"a whole number, {low} or more" if high is None else f"a whole number, {low} to {high}"


def _shown(found: object) -> str:
    return f"{found!r:.60}"
