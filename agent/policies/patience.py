"""How long a server is waited for, and how often it is asked again."""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """All in seconds but ``tries``, which counts requests for one turn, the first among them.

    ``first`` is long because a busy server queues: vLLM opens the answer when the request gets its place in
    the batch. ``between`` is for a server that has begun and hangs.
    """

    connect: float = 5.0
    first: float = 600.0
    between: float = 120.0
    tries: int = 5
    pause: float = 0.5
    longest_pause: float = 30.0

    def before_next(self, tried: int, told: float | None = None) -> float:
        """Seconds until the next try after ``tried`` of them: doubled each time, spread at random so that
        many who failed together do not come back together, no less than the server ``told``, but never more
        than the longest pause (an hour's ``Retry-After`` is for somebody else to wait).
        """
        doubled = min(self.pause * 2.0 ** (tried - 1), self.longest_pause)
        own = doubled * random.uniform(0.5, 1.0)
        return min(max(own, told or 0.0), self.longest_pause)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server wants to be left alone (``Retry-After``: RFC 9110, section 10.2.3: seconds or a
    date; ``retry-after-ms`` is OpenAI's); None if it does not say.
    """
    if (thousandths := _number(headers.get("retry-after-ms"))) is not None:
        return thousandths / 1000.0
    told = headers.get("retry-after")
    if (seconds := _number(told)) is not None:
        return seconds
    try:
        date = email.utils.parsedate_to_datetime(told or "")
    except ValueError:
        return None
    return max(date.timestamp() - time.time(), 0.0)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0.0 <= number < float("inf") else None
