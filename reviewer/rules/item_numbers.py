"""Item numbers: ranges as people write them, and the alias under which the spectrum of an item is served."""

from __future__ import annotations

import re

from agent.errors import Refusal
from agent.language import tr
from agent.text import whole_number

_ALIAS = re.compile(r"item-([1-9][0-9]{0,17})")


class ItemNumbersError(Refusal, ValueError):
    """A text that is no range of item numbers; the message says what was found and what was expected."""


def item_numbers(text: str) -> tuple[int, int] | None:
    """Read ``12-48``, ``#12 to #48`` or ``12``; None if the text is empty.

    :raises ItemNumbersError: it is something else
    """
    if not text.strip():
        return None
    ends = text.replace("#", "").replace("–", "-").replace("to", "-").split("-")
    numbers = [whole_number(end.strip()) for end in ends]
    first, last = numbers[0], numbers[-1]
    if len(numbers) > 2 or first is None or last is None or not 0 < first <= last:
        raise ItemNumbersError(
            tr("Items: found {found:.40}, expected one item number, or two as in 12-48", found=repr(text.strip()))
        )
    return first, last


def alias(item_id: int) -> str:
    """Return the name under which the spectrum of a hidden item is served, in place of its hash."""
    return f"item-{item_id}"


def item_of_alias(name: str) -> int | None:
    """Return the item whose spectrum has this alias; None if the name is no alias."""
    match = _ALIAS.fullmatch(name)
    return int(match[1]) if match else None
