"""The app as a program that waits before a line of its results, so that a test can kill it in the middle of a run.

``python -m tests.support.held RESULTS LINES ARGUMENTS`` is ``python app.py ARGUMENTS``, but after so many lines in the
file ``RESULTS`` it writes none.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import app
from agent.batch.journal import Journal
from agent.batch.run import Outcome


def is_left(group: int) -> bool:
    """Whether a process of this group still runs; one that has ended, but has not been waited for, does not."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            state, _, its_group = stat.read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state != "Z":
                return True
    return False


def hold(results: str, lines: int) -> None:
    """Let a journal of this name wait for ever before its next line."""
    add = Journal.add

    def add_or_wait(self: Journal, outcome: Outcome, more: Mapping[str, Any] | None = None) -> None:
        if self.path.name == results and self.done >= lines:
            threading.Event().wait()
        add(self, outcome, more)

    Journal.add = add_or_wait  # type: ignore[method-assign]


if __name__ == "__main__":
    hold(sys.argv[1], int(sys.argv[2]))
    sys.argv[1:] = sys.argv[3:]
    raise SystemExit(app.main())
