"""Verdicts of versions by their id, read from the stored JSON without building trajectories, and cached."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from agent.trajectory import Verdict
from reviewer.store.sqlite.database import Transaction

OPPOSITE: Mapping[Verdict, Verdict] = {"YES": "NO", "NO": "YES"}

# The verdict of the last answer; nearly always that is the last step.
_VERDICTS = """
SELECT id, CASE json_extract(body, '$.steps[#-1].kind')
    WHEN 'answer' THEN json_extract(body, '$.steps[#-1].verdict')
    ELSE (
        SELECT json_extract(value, '$.verdict') FROM json_each(body, '$.steps')
        WHERE json_extract(value, '$.kind') = 'answer' ORDER BY key DESC LIMIT 1
    ) END
FROM versions WHERE id IN (SELECT value FROM json_each(?))
"""
_AT_A_TIME = 500


class Verdicts:
    """A cache of verdicts: a version never changes."""

    def __init__(self) -> None:
        self._known: dict[int, Verdict | None] = {}

    def of(self, db: Transaction, versions: Iterable[int]) -> Mapping[int, Verdict | None]:
        """Return a mapping that has at least these versions; None: neither YES nor NO."""
        missing = [version for version in versions if version not in self._known]
        for start in range(0, len(missing), _AT_A_TIME):
            some = json.dumps(missing[start : start + _AT_A_TIME])
            for version, verdict in db.execute(_VERDICTS, (some,)):
                self._known[version] = verdict if verdict in OPPOSITE else None
        return self._known
