"""Other sessions that preceded a session: what its coordinator checks, and what its report states."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class UnopenedSession:
    """A session that was created and not opened.

    :param discarded: when it was closed without opening; None if it was left
    """

    session: int
    seed: int
    created: datetime
    discarded: datetime | None


@dataclass(frozen=True)
class EarlierSession:
    """A session that was opened earlier and showed some of the same items.

    :param items: how many of this session's items it showed
    :param scorers: who score in both
    """

    session: int
    opened: datetime
    items: int
    scorers: tuple[str, ...]


@dataclass(frozen=True)
class SessionHistory:
    """What preceded a session: as it was when it opened, or as it is now if it has not been open.

    :param unopened: other sessions with a source and task in common, by anyone, that were created and not opened until
        then. Many of them may mean that a seed was chosen for its sample
    :param earlier: sessions that were opened before and showed some of the same items
    """

    unopened: tuple[UnopenedSession, ...]
    earlier: tuple[EarlierSession, ...]
