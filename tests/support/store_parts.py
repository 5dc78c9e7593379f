"""The public methods of every part of the store, by the names that callers use."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

INTERNAL = {"database", "history"}
"""Parts that only the other parts call, inside their own transactions."""


def public_methods(part: object, prefix: str = "") -> dict[str, Callable[..., Any]]:
    """``{"reviews.decide": <function>, ...}``; parts within parts are included."""
    found = {
        prefix + name: method
        for name, method in inspect.getmembers(type(part), inspect.isfunction)
        if not name.startswith("_")
    }
    for name, inner in vars(part).items():
        is_part = type(inner).__module__.startswith("reviewer.store.")
        if is_part and not name.startswith("_") and name not in INTERNAL:
            found |= public_methods(inner, f"{prefix}{name}.")
    return found
