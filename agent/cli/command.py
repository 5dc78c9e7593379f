"""What every command of the ``spec-o3`` program shares: its declaration, exit status, result, progress bar and end."""

from __future__ import annotations

import json
import shutil
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol, TextIO, TypeVar

from agent.errors import Refusal
from agent.language import tr

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
    """One command, of a module that is imported only when the command's options are declared.

    The module has a class of its options, ``Options``, and a function ``run`` that takes an instance and returns the
    exit status; one with several commands has ``ImportOptions`` and ``run_import`` for ``import``.

    :param module: empty if the command only has subcommands
    """

    name: str
    help: str
    module: str = ""
    subcommands: tuple[Command, ...] = ()

    def options(self) -> type | None:
        """Return the class with the options; None if it only has subcommands."""
        return self._named(f"{self.name.capitalize()}Options", "Options") if self.module else None

    def run(self, options: object) -> int:
        """Execute it; return the exit status."""
        status: int = self._named(f"run_{self.name}", "run")(options)
        return status

    def _named(self, own: str, only: str) -> Any:
        module = import_module(self.module)
        return getattr(module, own, None) or getattr(module, only)


class Output(Protocol):
    """Options of a command that can print its result as JSON."""

    json: bool


class _Printed:
    """Whether texts for a person are printed."""

    quiet = False


def be_quiet(quiet: bool) -> None:
    """Print no summary, no note and no progress from now on, or print them again."""
    _Printed.quiet = quiet


def note(text: str) -> None:
    """Print a note about the command's work on stderr."""
    if not _Printed.quiet:
        print(f"spec-o3: {text}", file=sys.stderr, flush=True)


def delete_results(*results: Path) -> None:
    """Delete the results of earlier runs, with what was written beside them, as ``--overwrite`` asks.

    :raises CannotRun: a file or folder is there that no run wrote
    """
    for path in filter(Path.exists, results):
        settings = path / "run.json" if path.is_dir() else path.with_name(f"{path.name}.run.json")
        if not settings.is_file():
            raise CannotRun(
                tr("{path}: found something that no run wrote; --overwrite only deletes results of a run", path=path)
            )
        if path.is_dir():
            shutil.rmtree(path)
            continue
        for ending in ("", ".failed.jsonl", ".trials.jsonl"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        shutil.rmtree(path.with_name(f"{path.name}.pictures"), ignore_errors=True)
        settings.unlink()


def refuse_ignored(arguments: object, reason: str, *options: str) -> None:
    """Refuse options that a command would ignore.

    :param reason: why, as a sentence
    :param options: e.g. ``--dry-run``; of those that are not given the value is None, False or empty
    :raises CannotRun: one of them is given
    """
    for option in options:
        if getattr(arguments, option.lstrip("-").replace("-", "_")) not in (None, False, "", []):
            raise CannotRun(tr("{option} would be ignored: {reason}", option=option, reason=reason))


def print_result(arguments: Output, result: dict[str, Any], text: str) -> None:
    """Print the result: one JSON object if ``--json`` was given, otherwise ``text``, unless it is to be quiet."""
    if arguments.json:
        print(json.dumps(result, ensure_ascii=False))
    elif not _Printed.quiet:
        print(text)


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
        disable = True if _Printed.quiet else None
        self._bar = tqdm(
            desc=what,
            total=total,
            file=out,
            leave=False,
            disable=disable,
            delay=BAR_DELAY,
            mininterval=0.2,
            smoothing=0,
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
