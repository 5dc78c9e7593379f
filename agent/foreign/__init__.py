"""Traces of other agents: read from their logs, and ours written in their formats.

``read`` gives the runs of a log as ``ForeignTrace``; ``agent.foreign.convert`` makes trajectories of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agent.foreign.record import ForeignTrace, ForeignTraceError
from agent.language import tr

__all__ = ["FORMATS", "ForeignTrace", "ForeignTraceError", "detect", "read"]

FORMATS: Mapping[str, str] = {
    "atif": "agent.foreign.atif",
    "inspect": "agent.foreign.inspect_log",
    "otel": "agent.foreign.otel",
    "openinference": "agent.foreign.otel",
    "claude-code": "agent.foreign.claude_code",
}
"""The modules that read each format, imported when they are needed. A module may read two; its traces say which."""


def _reader(name: str) -> Any:
    """Return the module that reads a format: its ``recognises(path, head)``, which never raises, is True if a file that
    begins with these 4,096 bytes is of the format; ``traces(path)`` yields its runs.
    """
    return importlib.import_module(FORMATS[name])


def detect(path: Path) -> str | None:
    """Return the format of a file, by its content; None if it is of none of them. :raises OSError: unreadable"""
    with path.open("rb") as file:
        head = file.read(4096)
    return next((name for name in FORMATS if _reader(name).recognises(path, head)), None)


def read(path: Path, name: str | None = None) -> Iterator[ForeignTrace]:
    """Yield the runs in a log, one after the other.

    :param name: one of ``FORMATS``; None: by the content
    :raises ForeignTraceError: the file cannot be read, or is of none of the formats; of several rows or samples, after
        the others, those that cannot
    """
    try:
        chosen = name or detect(path)
        if chosen is None:
            raise ForeignTraceError(
                tr("{path}: found no log of an agent, expected one of {names}", path=path, names=", ".join(FORMATS))
            )
        yield from _reader(chosen).traces(path)
    except RecursionError:
        raise ForeignTraceError(tr("{where}: nested too deeply to be read", where=path)) from None
    except OSError as error:
        raise ForeignTraceError(tr("{path}: {strerror}", path=path, strerror=error.strerror or error)) from error
