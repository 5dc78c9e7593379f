"""What every command of the ``spec-o3`` program shares: its declaration, exit status, result, progress bar and end."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from agent.errors import Refusal
from agent.language import tr
from agent.text import whole_number

if TYPE_CHECKING:
    from agent.conversation import Stop

Item = TypeVar("Item")

DONE, CHECK_FAILED, CANNOT_RUN = 0, 1, 2
"""Exit status: done; completed, the check failed; could not run."""

BAR_DELAY = 2.0
"""Seconds until a progress bar appears."""


class CannotRun(Refusal):
    """A command cannot do its work: what, why, and what to do about it."""


@dataclass(frozen=True)
class Command:
    """One command: ``add`` declares its arguments, ``run`` executes it and returns the exit status."""

    name: str
    help: str
    add: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def lazy(name: str, help: str, module: str, add: str = "add", run: str = "run") -> Command:
    """Return a command of a module that is imported only when the command's arguments are declared.

    :param add: the module's function that declares the arguments
    :param run: the module's function that executes the command
    """

    def function(name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(import_module(module), name)
        return found

    return Command(name, help, lambda parser: function(add)(parser), lambda arguments: int(function(run)(arguments)))


def at_least_one(text: str) -> int:
    """Read an argument that is a whole number of 1 or more. :raises ArgumentTypeError: it is not"""
    number = whole_number(text)
    if number is None or number < 1:
        raise argparse.ArgumentTypeError(tr("found {text!r}, expected a whole number, 1 or more", text=text))
    return number


def port_number(text: str) -> int:
    """Read an argument that is a TCP port. :raises ArgumentTypeError: it is not from 1 to 65535"""
    number = whole_number(text)
    if number is None or not 1 <= number <= 65535:
        raise argparse.ArgumentTypeError(
            tr("found {text!r}, expected a port: a whole number from 1 to 65535", text=text)
        )
    return number


def existing_folder(text: str) -> Path:
    """Read an argument that names a folder to read. :raises ArgumentTypeError: there is no such folder"""
    path = Path(text)
    if not path.is_dir():
        found = tr("a file") if path.exists() else tr("nothing")
        raise argparse.ArgumentTypeError(tr("{path}: found {found}, expected a folder", path=path, found=found))
    return path


def output_file(text: str) -> Path:
    """Read an argument that names a file to write. :raises ArgumentTypeError: it is a folder, or ends in none"""
    path = Path(text)
    if path.name in ("", "..") or path.is_dir():
        raise argparse.ArgumentTypeError(tr("{path}: found a folder, expected the name of a file", path=path))
    return path


def output_folder(text: str) -> Path:
    """Read an argument that names a folder to write, which gets a name of its own, so that others can be made next to
    it. :raises ArgumentTypeError: it is the root of a disk"""
    path = Path(text)
    if path.name in ("", ".."):
        path = path.resolve()
    if not path.name:
        raise argparse.ArgumentTypeError(tr("{path}: found the root of a disk, expected a folder on it", path=path))
    return path


def refuse_ignored(arguments: argparse.Namespace, reason: str, *options: str) -> None:
    """Refuse options that a command would ignore.

    :param reason: why, as a sentence
    :param options: e.g. ``--dry-run``; of those that are not given the value is None, False or empty
    :raises CannotRun: one of them is given
    """
    for option in options:
        if getattr(arguments, option.lstrip("-").replace("-", "_")) not in (None, False, "", []):
            raise CannotRun(tr("{option} would be ignored: {reason}", option=option, reason=reason))


def print_result(arguments: argparse.Namespace, result: dict[str, Any], text: str) -> None:
    """Print the result: one JSON object if ``--json`` was given, otherwise ``text``."""
    print(json.dumps(result, ensure_ascii=False) if arguments.json else text)


def progress(items: Iterable[Item], total: int | None, what: str) -> Iterator[Item]:
    """Yield the items, with a progress bar on stderr."""
    with ProgressBar(total, what) as bar:
        for number, item in enumerate(items):
            bar.at(number)
            yield item


class ProgressBar:
    """A tqdm bar that appears after two seconds, only on a terminal, and is cleared at the end."""

    def __init__(self, total: int | None, what: str, out: TextIO | None = None) -> None:
        from tqdm import tqdm

        # smoothing=0: the mean rate of the whole run. disable=None: nothing where stderr is a file or a pipe.
        self._bar = tqdm(
            desc=what, total=total, file=out, leave=False, disable=None, delay=BAR_DELAY, mininterval=0.2, smoothing=0
        )

    def expect(self, total: int | None) -> None:
        """Set the total, if it becomes known or changes during the work."""
        self._bar.total = total

    def at(self, done: int, note: str = "") -> None:
        """Show how many are done, and a note at the end of the line."""
        if note:
            self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(done - self._bar.n)

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()


@contextmanager
def stop_on_signal(stop: Stop) -> Iterator[None]:
    """Within the block, the first Ctrl C (or SIGTERM) sets ``stop`` and the second one interrupts."""

    def on_signal(number: int, _: FrameType | None) -> None:
        signal.signal(number, before[number])
        print(tr("\nstopping; finished inspections are kept. Press Ctrl C again to quit at once"), file=sys.stderr)
        # Not here: the interrupted code may hold the lock that set() takes.
        threading.Thread(target=stop.set).start()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {int(number): signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
