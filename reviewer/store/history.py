"""Reads the facts of an item and derives its standing.

The tables ``standings`` and ``barred`` store the result, so that the queue does not derive 100,000 histories.
Only ``History.keep`` writes them, in the transaction that appends the fact; a bulk action sets the batch.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from agent.language import tr
from agent.trajectory import Trajectory, Verdict
from reviewer.rules.workflow import Decision, Fact, Rules, Standing, VersionMade, barred, standing
from reviewer.store.errors import NotFound
from reviewer.store.sqlite.database import Transaction, stamp
from reviewer.store.values import Version

# Versions and decisions in the order they happened: a decision names the version that was current then. Few texts
# name their authors, and a search for the key costs less than reading the JSON.
_HISTORY = """
SELECT number, 0 AS decided, id, author AS person, NULL AS version, NULL AS round, NULL AS verb,
       NULL AS reason, NULL AS comment, NULL AS withdraws, NULL AS rules, at,
       CASE WHEN number = 1 AND instr(body, '"authors":[') > 0 THEN (
           SELECT json_group_array(value) FROM json_each(body, '$.authors')
           WHERE value IN (SELECT initials FROM people)
       ) END AS before_import
FROM versions WHERE item = :item
UNION ALL
SELECT v.number, 1, d.id, d.person, d.version, d.round, d.verb,
       d.reason, d.comment, d.withdraws, d.rules, d.at, NULL
FROM decisions d JOIN versions v ON v.id = d.version WHERE d.item = :item
ORDER BY 1, 2, 3
"""

_REFRESH = """
INSERT INTO standings (item, state, version, number, "cast", compared, disagreement, decided_at,
                       task, survey, snr, drafter, batch, simulated)
SELECT id, :state, :version, :number, :cast, :compared, :disagreement, :decided_at,
       task, survey, snr, drafter_name,
       coalesce((SELECT c.batch FROM batch_changes c WHERE c.item = :item ORDER BY c.id DESC LIMIT 1), batch), simulated
FROM items WHERE id = :item
ON CONFLICT (item) DO UPDATE SET
    state = excluded.state, version = excluded.version, number = excluded.number, "cast" = excluded."cast",
    compared = excluded.compared, disagreement = excluded.disagreement, decided_at = excluded.decided_at
"""

_IMPORTED_BY = """
SELECT v.item FROM versions v CROSS JOIN standings s ON s.item = v.item
WHERE v.number = 1 AND instr(v.body, '"authors":[') > 0 AND s.state IN ('audit', 'vote', 'adjudication')
  AND EXISTS (SELECT 1 FROM json_each(v.body, '$.authors') WHERE value = :person)
"""


class History:
    """Facts, rules and standings, read inside the transaction of the caller."""

    def __init__(self) -> None:
        self._rules_read: dict[int, Rules] = {}

    def current_rules(self, db: Transaction) -> tuple[int, Rules]:
        (number,) = db.execute("SELECT max(id) FROM settings WHERE name = 'rules'").fetchone()
        return number, self.rules_by_id(db, number)

    def rules_by_id(self, db: Transaction, setting: int) -> Rules:
        # A row of settings never changes, so it is read once.
        if setting not in self._rules_read:
            (value,) = db.execute("SELECT value FROM settings WHERE id = ?", (setting,)).fetchone()
            self._rules_read[setting] = Rules(**json.loads(value))
        return self._rules_read[setting]

    def facts(self, db: Transaction, item_id: int) -> list[tuple[Fact, datetime]]:
        """Return the versions and decisions of an item, oldest first. :raises NotFound: there is no such item"""
        facts = [
            (self._fact(db, row), datetime.fromisoformat(row["at"])) for row in db.execute(_HISTORY, {"item": item_id})
        ]
        if not facts:
            raise NotFound(tr("There is no item {item_id}.", item_id=item_id))
        return facts

    def _fact(self, db: Transaction, row: sqlite3.Row) -> Fact:
        if not row["decided"]:
            before_import = frozenset(json.loads(row["before_import"] or "[]"))
            return VersionMade(row["id"], row["number"], row["person"], before_import)
        return Decision(
            id=row["id"],
            version_id=row["version"],
            person=row["person"],
            round=row["round"],
            verb=row["verb"],
            reason=row["reason"],
            comment=row["comment"],
            withdraws=row["withdraws"],
            rules=self.rules_by_id(db, row["rules"]),
        )

    def standing(self, db: Transaction, item_id: int) -> Standing:
        rules = self.current_rules(db)[1]
        return standing((fact for fact, _ in self.facts(db, item_id)), rules)

    def refresh(self, db: Transaction, item_id: int) -> Standing:
        """Derive the standing after a fact was appended, and end the leases of a finished round."""
        new = derived(self.facts(db, item_id), self.current_rules(db)[1], item_id)
        self.keep(db, item_id, new)
        return new.standing

    def keep(self, db: Transaction, item_id: int, new: Derived) -> None:
        """Store what was derived after a fact was appended, and end the leases of a finished round."""
        db.execute(_REFRESH, new.row)
        db.execute("DELETE FROM barred WHERE item = ?", (item_id,))
        db.conn.executemany("INSERT INTO barred VALUES (?, ?)", [(person, item_id) for person in new.barred])
        db.execute(
            "UPDATE leases SET ended = 'round over' WHERE item = ? AND ended IS NULL AND round IS NOT ?",
            (item_id, new.standing.round),
        )

    def refresh_imported(self, db: Transaction, person: str) -> None:
        """Bar a new person from the open items whose text they wrote before it was imported."""
        for (item_id,) in db.execute(_IMPORTED_BY, {"person": person}).fetchall():
            self.refresh(db, item_id)


@dataclass(frozen=True)
class Derived:
    """The stored form of a standing: its row, and who may not act in the present round."""

    standing: Standing
    row: dict[str, object]
    barred: tuple[str, ...]


def derived(facts: Sequence[tuple[Fact, datetime]], rules: Rules, item_id: int) -> Derived:
    """Return the derived rows of an item, from its facts alone."""
    now = standing((fact for fact, _ in facts), rules)
    made_at = {fact.id: at for fact, at in facts if isinstance(fact, Decision)}
    deciding = now.decisions[-1] if now.decided_by else None
    return derived_from(now, rules, item_id, made_at[deciding.id] if deciding else None)


def derived_from(now: Standing, rules: Rules, item_id: int, decided_at: datetime | None) -> Derived:
    """Return the derived rows of an item from its standing.

    :param decided_at: the time of the decision that decided it; None: it is not decided
    """
    row: dict[str, object] = {
        "item": item_id,
        "state": now.state,
        "version": now.version_id,
        "number": now.version,
        "cast": len(now.cast),
        "compared": int(now.compared),
        "disagreement": int(now.disagreement),
        "decided_at": None if decided_at is None else stamp(decided_at),
    }
    return Derived(now, row, tuple(sorted(barred(now, rules))))


def rules_json(rules: Rules) -> str:
    return json.dumps(asdict(rules), sort_keys=True)


def version_from(row: sqlite3.Row) -> Version:
    """Return a version with its text."""
    return Version(
        id=row["id"],
        item_id=row["item"],
        number=row["number"],
        content_hash=row["content_hash"],
        parent_id=row["parent"],
        author=row["author"],
        reason=row["reason"],
        trajectory=Trajectory.from_json(json.loads(row["body"])),
        at=datetime.fromisoformat(row["at"]),
    )


def draft_of(db: Transaction, item_id: int) -> Trajectory:
    """Return the text of an item's first version."""
    (body,) = db.execute("SELECT body FROM versions WHERE item = ? AND number = 1", (item_id,)).fetchone()
    return Trajectory.from_json(json.loads(body))


def version_by_id(db: Transaction, item_id: int, version_id: int) -> Version:
    """Return a version of this item. :raises NotFound: the item has no such version"""
    row = db.execute("SELECT * FROM versions WHERE id = ? AND item = ?", (version_id, item_id)).fetchone()
    if row is None:
        raise NotFound(
            tr("Item {item_id} has no version with the id {version_id}.", item_id=item_id, version_id=version_id)
        )
    return version_from(row)


# ---- verdicts

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
    """Verdicts of versions by their id, read from the stored JSON without building trajectories, and cached: a version
    never changes."""

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
