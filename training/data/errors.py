"""What is wrong with training data: bad enough to stop, or a row to be left out."""

from __future__ import annotations

from dataclasses import dataclass

from agent.sentence import OneLine


class DataError(OneLine, ValueError):
    """Data that cannot be used: which file, row and field, what was found, what was wanted. One line."""

    def __init__(self, message: str) -> None:
        # A row may hold half characters, which no terminal can be sent.
        super().__init__(" ".join(message.encode("utf-8", "replace").decode().split()))


@dataclass(frozen=True)
class Dropped:
    """A row that was left out, and why. The data card counts them by reason."""

    key: str
    reason: str
