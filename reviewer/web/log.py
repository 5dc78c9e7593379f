"""The server's log: one line an event, whatever text from outside is quoted in it.

A path, a file name or an exception's message may hold line feeds and escape sequences. Written as they are
they would forge entries, or drive the terminal of whoever reads the log. What follows an entry (a traceback)
is set off by a bar, and no entry begins with one.
"""

from __future__ import annotations

import logging

from agent.text import one_line, visible

LONGEST = 2_000
"""Characters of an entry."""
_BAR = "    | "


class OneLineFormatter(logging.Formatter):
    """Time, level, logger and message in one line; a traceback below it, each line behind a bar."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        return one_line(super().formatMessage(record), LONGEST)

    def formatException(self, ei: logging._SysExcInfoType) -> str:
        return _behind_bars(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:
        return _behind_bars(super().formatStack(stack_info))


def install() -> None:
    """Send what every logger of this process has to say to standard error, in this form."""
    handler = logging.StreamHandler()
    handler.setFormatter(OneLineFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)


def _behind_bars(text: str) -> str:
    # splitlines() knows more ends of lines than a terminal does; all of them begin a new bar.
    return "\n".join(_BAR + visible(line) for line in text.splitlines())
