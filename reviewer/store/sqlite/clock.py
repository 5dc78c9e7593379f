"""Time as the store takes it: the machine's clock for what happened, a steady one for what runs out.

A machine's clock may be set back while people work. What happened is stored with the time that the machine
tells, and its order is told by numbers. What was given for a time (leases, sessions, the pause after wrong
passwords) runs by a clock that goes on where the machine's went back, so that nothing lives longer than it
was given. Another process cannot know how far the machine's clock once was: what was given at a later time
than its own present is over for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]

ALLOWANCE = timedelta(minutes=1)
"""How far apart the clocks of two processes on one file may be, and what set-back is told to nobody."""


def utc_now() -> datetime:
    return datetime.now(UTC)


def stamp(at: datetime) -> str:
    """A time as it is stored: UTC, ISO 8601, always milliseconds, so that text order is time order."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds")


def _standing_still() -> float:
    return 0.0


class Times:
    """The two clocks of one process.

    :param clock: what the machine tells
    :param elapsed: seconds since any moment, never set back; the machine's own with the machine's own clock,
        and one that stands still beside any other, which is then the only one that moves
    """

    def __init__(self, clock: Clock = utc_now, elapsed: Callable[[], float] | None = None) -> None:
        self._clock = clock
        self._elapsed = elapsed or (time.monotonic if clock is utc_now else _standing_still)
        self._lock = threading.Lock()
        self._latest = self.now()
        self._seen_at = self._elapsed()

    def now(self) -> datetime:
        """What the machine's clock tells, UTC."""
        return self._clock().astimezone(UTC)

    def steady(self) -> datetime:
        """What the machine's clock tells; once it was set back, what it told before and the seconds since."""
        with self._lock:
            told, elapsed = self.now(), self._elapsed()
            went_on = self._latest + timedelta(seconds=elapsed - self._seen_at)
            self._latest, self._seen_at = max(told, went_on), elapsed
            return self._latest
