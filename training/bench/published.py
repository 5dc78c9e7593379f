"""The paper's own figures (``published.toml``)."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from training.bench.outcomes import Outcome

PUBLISHED_FILE = Path(__file__).with_name("published.toml")
_TASKS = ("cv", "cc", "ss", "gm", "wd")


@dataclass(frozen=True)
class Published:
    """A row of the paper: percent by task, and "mean". ``tasks`` are those that the mean is over; ``approximate``:
    the source gives its figures as approximate.
    """

    name: str
    kind: str
    source: str
    f1: Mapping[str, float]
    accuracy: Mapping[str, float] = field(default_factory=dict)
    tasks: tuple[str, ...] = _TASKS
    approximate: bool = False


@cache
def _file() -> Mapping[str, Any]:
    return tomllib.loads(PUBLISHED_FILE.read_text(encoding="utf-8"))


@cache
def published() -> tuple[Published, ...]:
    """Return all published rows, in the file's order; ``source`` in words."""
    return tuple(
        Published(
            name=row["name"],
            kind=row["kind"],
            source=_file()["sources"][row["source"]],
            f1=row["f1"],
            accuracy=row.get("accuracy", {}),
            tasks=tuple(row.get("tasks", _TASKS)),
            approximate=row.get("approximate", False),
        )
        for row in _file()["row"]
    )


def statements(tasks: Collection[str]) -> list[str]:
    """Return what the paper states without a score about these tasks."""
    return [statement["text"] for statement in _file()["statement"] if set(tasks) & set(statement["tasks"])]


def is_specvi(outcomes: Iterable[Outcome]) -> bool:
    """Return whether these are answers to SpecVI-Bench, judged by the number of questions of each task."""
    given = list(outcomes)
    counts = Counter(outcome.task for outcome in given)
    return not any(outcome.simulated for outcome in given) and counts == _file()["about"]["questions"]
