"""vLLM's log, read line by line: what somebody who waits wants to know of it.

What is matched was seen in vLLM 0.32's logs and sources. A line that reads otherwise is passed over; its
figure is then missing from the report.
"""

from __future__ import annotations

import re
from collections import deque

from agent.serving.causes import cause

KEPT = 2000  # lines in which the cause of an end is looked for

_ENGINE = re.compile(r"^\(\w+ pid=\d+\)")
_MARKS = re.compile(r"^(?:\(\w+ pid=\d+\) )?(?:[A-Z]+ [\d-]+ [\d:]+ \[[^\]]*\] )?")
_WEIGHTS = re.compile(r"Model loading took ([\d.]+) (?:GiB|GB)(?: memory)? and ([\d.]+) seconds")
_READ = re.compile(r"Loading weights took ([\d.]+) seconds")
_LEFT = re.compile(r"Available KV cache memory: ([\d.]+) GiB|Explicitly set \(([\d.]+)/[\d.]+\) ?GiB for KV")
_TOKENS = re.compile(r"KV cache size: ([\d,]+) tokens")
_PASSED_ON = re.compile(
    r"Resolved architecture: \S+|Loading safetensors checkpoint shards: +\d+%.*?\| \d+/\d+|"
    r"torch\.compile (?:takes|took) [\d.]+ ?s|Graph capturing finished in [\d.]+ secs?"
)


class VllmLog:
    """What the log has told so far.

    ``weights`` and ``cache`` are GiB of each engine, ``tokens`` what the caches of all engines hold; None
    where the log has not said.
    """

    def __init__(self) -> None:
        self.weights: float | None = None
        self.cache: float | None = None
        self._tokens: dict[str, int] = {}
        self._tail: deque[str] = deque(maxlen=KEPT)

    @property
    def tokens(self) -> int | None:
        return sum(self._tokens.values()) if self._tokens else None

    @property
    def last(self) -> str:
        """The last line that says anything, without process, time and place."""
        words = (_MARKS.sub("", line).strip() for line in reversed(self._tail))
        return next(filter(None, words), "")

    def read(self, line: str) -> str | None:
        """Take a line in; what of it is for the person who waits, if anything."""
        line = line.strip()
        if not line:
            return None
        self._tail.append(line)
        if found := _WEIGHTS.search(line):
            self.weights = float(found[1])
            return f"weights loaded: {found[1]} GiB in {float(found[2]):.1f} s"
        if found := _READ.search(line):
            return f"weights read in {float(found[1]):.1f} s"
        if found := _LEFT.search(line):
            self.cache = float(found[1] or found[2])
            return f"memory for the cache: {self.cache:g} GiB"
        if found := _TOKENS.search(line):
            engine = _ENGINE.match(line)
            self._tokens[engine[0] if engine else ""] = int(found[1].replace(",", ""))
            return f"the cache holds {found[1]} tokens"
        found = _PASSED_ON.search(line)
        return found[0] if found else None

    def why(self, status: int | None) -> str:
        """Why the server ended, and what to do. ``status`` is its exit status, negative for a signal."""
        return cause("\n".join(self._tail), status)
