"""The paper's own figures (``published.toml``), each with where it was read."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from training.bench.outcomes import Outcome

FILE = Path(__file__).with_name("published.toml")
OTHER_DATA = "other data than the rows above"
SAME_NUMBERS = "as many questions of each task as the runs marked SpecVI-Bench above"
_TASKS = ("cv", "cc", "ss", "gm", "wd")


@dataclass(frozen=True)
class Published:
    """A row of the paper: percent by task, and "mean". ``tasks`` are those that the mean is over."""

    name: str
    kind: str
    source: str
    f1: Mapping[str, float]
    accuracy: Mapping[str, float] = field(default_factory=dict)
    tasks: tuple[str, ...] = _TASKS


@cache
def published() -> tuple[Published, ...]:
    """All rows, in the file's order; ``source`` in words."""
    data = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return tuple(
        Published(
            name=row["name"],
            kind=row["kind"],
            source=data["sources"][row["source"]],
            f1=row["f1"],
            accuracy=row.get("accuracy", {}),
            tasks=tuple(row.get("tasks", _TASKS)),
        )
        for row in data["row"]
    )


@cache
def _questions() -> Mapping[str, int]:
    about: Mapping[str, int] = tomllib.loads(FILE.read_text(encoding="utf-8"))["about"]["questions"]
    return about


def is_specvi(outcomes: Iterable[Outcome]) -> bool:
    """Whether these are answers to SpecVI-Bench, as far as the number of questions of each task tells."""
    given = list(outcomes)
    return not any(one.simulated for one in given) and Counter(one.task for one in given) == _questions()
