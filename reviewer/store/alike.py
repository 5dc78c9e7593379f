"""What people decided on the same texts, and what they said where the truth is known: for the Progress tab.

Nothing of a round that is still open is in any of it: whoever may yet decide is told of nobody's decision.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from reviewer.store.facts import Facts
from reviewer.workflow import Round, State

# Those of a version and round that two or more people decided in; the number of the others is not needed.
_TOGETHER = """
SELECT * FROM (
    SELECT s.task, d.round, d.version, d.person, d.verb,
           count(*) OVER (PARTITION BY d.version, d.round) AS deciders
    FROM decisions d JOIN standings s ON s.item = d.item
    WHERE d.round IN ('audit', 'vote') AND d.verb <> 'undo'
          AND d.id NOT IN (SELECT withdraws FROM decisions WHERE withdraws IS NOT NULL)
          AND NOT (s.state = d.round AND s.version = d.version) {}
) WHERE deciders > 1 ORDER BY round, task, version, person
"""

# While an audit or a vote goes on, what is known of it stays with those who have decided.
_APART = """
FROM standings s
WHERE s.disagreement = 1 AND s.state NOT IN ('audit', 'vote')
      AND s.item NOT IN (SELECT value FROM json_each(:hidden)) {}
"""
_APART_ITEMS = """
SELECT s.item, i.name, s.task, s.state, d.round, d.verb, count(*) AS people
FROM (SELECT s.* {} ORDER BY s.item DESC LIMIT :most) s
JOIN items i ON i.id = s.item
JOIN decisions d ON d.item = s.item AND d.version = s.version
WHERE d.round IN ('audit', 'vote') AND d.verb <> 'undo'
      AND d.id NOT IN (SELECT withdraws FROM decisions WHERE withdraws IS NOT NULL)
GROUP BY s.item, d.round, d.verb ORDER BY s.item DESC, d.round, d.verb
"""

# The first verdict on an item: a later one was given by somebody who knew what came of the first.
_ON_GOLD = """
SELECT v.person, v.item, v.verdict, i.label
FROM verdicts v JOIN items i ON i.id = v.item JOIN standings s ON s.item = v.item
WHERE i.label IS NOT NULL AND s.state IN ('approved', 'rejected')
      AND v.id IN (SELECT min(id) FROM verdicts GROUP BY item, person) {}
ORDER BY v.person, v.item
"""

_MOVED_ON = """
SELECT (SELECT max(id) FROM decisions), (SELECT max(id) FROM verdicts), (SELECT max(id) FROM versions),
       (SELECT max(id) FROM settings)
"""


class DecidedTogether(NamedTuple):
    """A decision in force on a version that somebody else decided on in the same round."""

    round: Round
    task: str
    version: str
    person: str
    verb: str


class OnGold(NamedTuple):
    """A person's first committed verdict on a decided item whose label is known."""

    person: str
    item: str
    verdict: str
    label: str


@dataclass(frozen=True)
class Apart:
    """An item on whose current version people pulled in different directions, in a round that is over.

    :param said: how many people decided what, by round
    """

    item: int
    name: str
    task: str
    state: State
    said: Mapping[Round, Mapping[str, int]]


class Alike(Facts):
    """Reading only; each figure is one query."""

    def decided_together(
        self, task: str | None = None, batch: str | None = None
    ) -> tuple[DecidedTogether, ...]:
        """Every decision of audit and vote that has another to be compared with, in rounds that are over."""
        sql = _TOGETHER.format(_chosen(task, batch))
        with self._reading() as db:
            rows = db.execute(sql, {"task": task, "batch": batch}).fetchall()
        return tuple(
            DecidedTogether(row["round"], row["task"], str(row["version"]), row["person"], row["verb"])
            for row in rows
        )

    def apart(
        self,
        task: str | None = None,
        batch: str | None = None,
        hidden: Collection[int] = (),
        most: int = 50,
    ) -> tuple[int, tuple[Apart, ...]]:
        """How many items people disagree on, and the latest of them.

        :param hidden: items to leave out, such as those that the person who asks scores blind
        """
        of = _APART.format(_chosen(task, batch))
        asked: dict[str, Any] = {"task": task, "batch": batch, "most": most}
        asked["hidden"] = json.dumps(sorted(hidden))
        with self._reading() as db:
            (total,) = db.execute(f"SELECT count(*) {of}", asked).fetchone()
            rows = db.execute(_APART_ITEMS.format(of), asked).fetchall()
        said: dict[int, dict[Round, Counter[str]]] = {}
        first: dict[int, sqlite3.Row] = {}
        for row in rows:
            first.setdefault(row["item"], row)
            said.setdefault(row["item"], {}).setdefault(row["round"], Counter())[row["verb"]] = row["people"]
        return total, tuple(
            Apart(item, row["name"], row["task"], row["state"], said[item]) for item, row in first.items()
        )

    def on_gold(self, task: str | None = None, batch: str | None = None) -> tuple[OnGold, ...]:
        """Committed verdicts on items with a known label, once the item is approved or rejected."""
        with self._reading() as db:
            rows = db.execute(_ON_GOLD.format(_chosen(task, batch)), {"task": task, "batch": batch})
            return tuple(
                OnGold(row["person"], str(row["item"]), row["verdict"], row["label"]) for row in rows
            )

    def facts_so_far(self) -> tuple[int | None, ...]:
        """Changes whenever one of the figures here may."""
        with self._reading() as db:
            return tuple(db.execute(_MOVED_ON).fetchone())


def _chosen(task: str | None, batch: str | None) -> str:
    named = {"task": task, "batch": batch}
    return "".join(f" AND s.{name} = :{name}" for name, value in named.items() if value is not None)
