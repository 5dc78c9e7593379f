"""What rooms above this one have ``spec-o3 doctor`` look at: what is in a database, say, is not known here.

A room says so when its commands are imported, and imports what it needs when it is asked to look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.doctor.capabilities import Where
    from agent.doctor.finding import Finding

    Look = Callable[[Where], Iterator[Finding]]

_LOOKS: dict[str, list[Look]] = {}


def look_also(name: str, look: Look) -> None:
    """Look at the capability of this name in this way too, after what is known of it here."""
    _LOOKS.setdefault(name, []).append(look)


def also(name: str) -> tuple[Look, ...]:
    """What was asked for with ``look_also``."""
    return tuple(_LOOKS.get(name, ()))
