"""The server's log: one line per entry, whatever text is quoted in it.

A path, file name or message may contain line feeds and escape sequences, which could forge entries or control the
reader's terminal. The lines of a traceback begin with a bar; no entry does.
"""

from __future__ import annotations

import logging

from agent.text import one_line, visible

LONGEST = 2_000
"""Most characters per entry."""
_BAR = "    | "


class OneLineFormatter(logging.Formatter):
    """Time, level, logger and message in one line; a traceback below it, each line behind a bar."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        return one_line(super().formatMessage(record), LONGEST)

    def formatException(self, ei: logging._SysExcInfoType) -> str:
        return _with_bars(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:
        return _with_bars(super().formatStack(stack_info))


def install() -> None:
    """Send the messages of all loggers to standard error, in this form."""
    handler = logging.StreamHandler()
    handler.setFormatter(OneLineFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)


def _with_bars(text: str) -> str:
    # splitlines() knows more ends of lines than a terminal does; all of them begin a new bar.
    return "\n".join(_BAR + visible(line) for line in text.splitlines())
