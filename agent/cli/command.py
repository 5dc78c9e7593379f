"""What a command of the ``spec-o3`` program is, so that each room can add its own to ``app.py``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TextIO, TypeVar

Item = TypeVar("Item")

DONE, BAD_NEWS, CANNOT_RUN = 0, 1, 2
"""Exit status: done; ran, and the answer is bad news; could not run."""

PATIENCE = 2.0  # seconds until a bar appears
BETWEEN = 0.2  # seconds between two drawings of it


class CannotRun(Exception):
    """A command that cannot do its work: what, why, and what to do about it."""


@dataclass(frozen=True)
class Command:
    """One command: ``add`` declares its arguments, ``run`` does it and gives the exit status."""

    name: str
    help: str
    add: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def say(arguments: argparse.Namespace, result: dict[str, Any], text: str) -> None:
    """Print the result: as one JSON object if ``--json`` was given, else as the text for a person."""
    print(json.dumps(result, ensure_ascii=False) if arguments.json else text)


def progress(items: Iterable[Item], total: int | None, what: str) -> Iterator[Item]:
    """The same items, with a bar on stderr if they take longer than two seconds."""
    with Bar(total, what) as bar:
        for number, item in enumerate(items):
            bar.at(number)
            yield item


class Bar:
    """A progress bar for whoever looks at a terminal; nothing at all where stderr is a file or a pipe."""

    def __init__(self, total: int | None, what: str, out: TextIO | None = None) -> None:
        self._total = total
        self._what = what
        self._out = sys.stderr if out is None else out
        self._since = time.monotonic()
        self._next = self._since + PATIENCE
        self._width = 0

    def expect(self, total: int | None) -> None:
        """How many there are to do, where that turns out on the way."""
        self._total = total

    def at(self, done: int, also: str = "") -> None:
        """Say how many are done, and what else there is to say at the end of the line."""
        now = time.monotonic()
        if now < self._next or not self._out.isatty():
            return
        self._next = now + BETWEEN
        self._draw(self._line(done, now - self._since) + also)

    def _line(self, done: int, seconds: float) -> str:
        rate = f", {_rate(done / seconds)}" if done else ""
        if not self._total:
            return f"{self._what}: {done}{rate}"
        left = f", {_span(seconds / done * max(0, self._total - done))} left" if done else ""
        filled = "█" * min(20, 20 * done // self._total)
        return f"{self._what} {filled:░<20} {done} of {self._total}{left}{rate}"

    def _draw(self, line: str) -> None:
        self._out.write("\r" + line.ljust(self._width))
        self._out.flush()
        self._width = len(line)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._width:
            self._draw("")
            self._out.write("\r")


def _rate(per_second: float) -> str:
    """2.4/s; what is slower than one a second, by the minute."""
    return f"{per_second:.1f}/s" if per_second >= 1 else f"{60 * per_second:.1f}/min"


def _span(seconds: float) -> str:
    """A time as people say it: 45 s, 12 min, 3 h 5 min."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
