"""What a backup is called, and which are kept: of the last days, weeks and months one each."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

DAILY, WEEKLY, MONTHLY = 7, 4, 6
"""How many days, weeks and months keep their last backup. Only those count that have one, so that a machine
that was off for a year still has them all."""
_TIME = "%Y%m%dT%H%M%SZ"
_AHEAD = timedelta(minutes=5)  # by which two machines' clocks may differ


def folder_beside(database: Path) -> Path:
    """Where backups go unless told otherwise."""
    return database.resolve().parent / "backups"


def name_at(database: Path, at: datetime) -> str:
    """``annotations-20261121T160839Z``: the name of a backup, without its ending."""
    return f"{database.stem}-{at.astimezone(UTC).strftime(_TIME)}"


def time_of(database: Path, name: str) -> datetime | None:
    """When a backup of this database was made, by its name; None: it is none of its backups."""
    found = re.fullmatch(re.escape(database.stem) + r"-(\d{8}T\d{6}Z)", name)
    if found is None:
        return None
    try:
        return datetime.strptime(found[1], _TIME).replace(tzinfo=UTC)
    except ValueError:
        return None


def kept(times: Collection[datetime], now: datetime) -> set[datetime]:
    """Which of the backups made at these times (UTC) are kept: the last one of each of the last seven days,
    four weeks (Monday to Sunday) and six months that have one. Whatever is later than now was made by a clock
    that went wrong: it is kept, and counts for no day.
    """
    ahead = {at for at in times if at > now + _AHEAD}
    past = sorted(set(times) - ahead, reverse=True)
    return ahead | {
        at
        for period, most in ((_day, DAILY), (_week, WEEKLY), (_month, MONTHLY))
        for at in _last_of_each(past, period, most)
    }


def _last_of_each(
    newest_first: Sequence[datetime], period: Callable[[datetime], Hashable], most: int
) -> list[datetime]:
    last: dict[Hashable, datetime] = {}
    for at in newest_first:
        last.setdefault(period(at), at)
    return list(last.values())[:most]


def _day(at: datetime) -> Hashable:
    return at.date()


def _week(at: datetime) -> Hashable:
    return at.isocalendar()[:2]


def _month(at: datetime) -> Hashable:
    return at.year, at.month
