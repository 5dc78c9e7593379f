"""Settings, the rules among them, and the record of exports: appended, never changed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from agent.language import tr
from reviewer.rules.workflow import Rules
from reviewer.store.accounts import require_active, require_coordinator
from reviewer.store.errors import NotFound
from reviewer.store.history import History, rules_json
from reviewer.store.sqlite.database import Database, Transaction, insert, stamp
from reviewer.store.values import Export

_WITHOUT_LISTS = """
SELECT id, name, person, at, json_remove(manifest, '$.files', '$.items') AS manifest FROM exports WHERE id = ?
"""


class Settings:
    """Settings and exports of a campaign."""

    def __init__(self, database: Database, history: History) -> None:
        self._database = database
        self._history = history
        self._exports_read: dict[int, Export] = {}

    def rules(self) -> Rules:
        """Return the rules in force."""
        with self._database.read() as db:
            return self._history.current_rules(db)[1]

    def set_rules(self, person: str | None, rules: Rules) -> None:
        """Put other rules in force. They apply at once to open rounds, and to rounds that an earlier change of the
        rules has closed. A round closed by its last decision stays closed.

        :param person: a coordinator; None only for the owner of the file
        :raises NotAllowed: ``person`` is no coordinator
        """
        with self._database.write() as db:
            require_coordinator(db, person)
            if self._history.current_rules(db)[1] == rules:
                return
            before = self._history.current_rules(db)[1]
            number = self._append_setting(db, person, "rules", rules_json(rules))
            rules_were = {"before": asdict(before), "rules": asdict(rules)}
            self._database.log(db, person, "rules set", "rules", rules_were, {"settings": number})
            for item_id in _may_change(db):
                self._history.refresh(db, item_id)

    def get(self, name: str, default: Any = None) -> Any:
        """Return the latest value of a setting; ``default`` if it was never set."""
        with self._database.read() as db:
            rows = db.table("settings").rows_where("name = ?", [name], order_by="id DESC", limit=1)
            row = next(rows, None)
            return default if row is None else json.loads(row["value"])

    def set(self, person: str | None, name: str, value: Any) -> None:
        """Store a setting; ``value`` is any JSON value. Rules are set by ``set_rules``.

        :raises NotAllowed: ``person`` is no coordinator
        :raises ValueError: the name is "rules"
        """
        if name == "rules":
            raise ValueError(tr("rules are set by set_rules, which checks them"))
        with self._database.write() as db:
            require_coordinator(db, person)
            number = self._append_setting(db, person, name, json.dumps(value, ensure_ascii=False))
            self._database.log(db, person, "setting set", name, facts={"settings": number})

    def record_export(self, person: str, name: str, manifest: Mapping[str, Any]) -> Export:
        """Record an export with its manifest.

        :raises NotFound: there is no such person
        :raises NotAllowed: the account is not active
        """
        at = self._database.now()
        with self._database.write() as db:
            require_active(db, person)
            text = json.dumps(manifest, ensure_ascii=False)
            number = insert(db, "exports", {"name": name, "person": person, "manifest": text, "at": stamp(at)})
            self._database.log(db, person, "exported", name, facts={"exports": number})
        return Export(number, name, person, manifest, at)

    def exports(self) -> list[Export]:
        """Return every export, oldest first, with its manifest without the lists of files and items."""
        with self._database.read() as db:
            numbers = [number for (number,) in db.execute("SELECT id FROM exports ORDER BY id")]
            # A row of exports never changes, and its manifest has megabytes: it is read once.
            for number in numbers:
                if number not in self._exports_read:
                    row = db.execute(_WITHOUT_LISTS, (number,)).fetchone()
                    self._exports_read[number] = _export_from(row)
        return [self._exports_read[number] for number in numbers]

    def export(self, export_id: int) -> Export:
        """Return an export with its whole manifest. :raises NotFound: there is no such export"""
        with self._database.read() as db:
            row = db.execute("SELECT * FROM exports WHERE id = ?", (export_id,)).fetchone()
            if row is None:
                raise NotFound(tr("There is no export {export_id}.", export_id=export_id))
            return _export_from(row)

    def _append_setting(self, db: Transaction, person: str | None, name: str, value: str) -> int:
        at = stamp(self._database.now())
        return insert(db, "settings", {"name": name, "value": value, "person": person, "at": at})


def _export_from(row: sqlite3.Row) -> Export:
    return Export(
        id=row["id"],
        name=row["name"],
        person=row["person"],
        manifest=json.loads(row["manifest"]),
        at=datetime.fromisoformat(row["at"]),
    )


def _may_change(db: Transaction) -> list[int]:
    """Return the items whose standing can change with the rules: those in an open round, and closed ones whose votes
    or audits are too few to close the round under the rules of the last of them."""
    items = db.execute(
        """
        WITH closing AS (
            SELECT s.item, s.state, max(d.id) AS last, sum(d.round = 'vote') AS votes, sum(d.round = 'audit') AS audits,
                   max(d.round NOT IN ('audit', 'vote')) AS by_one_person
            FROM standings s JOIN decisions d ON d.item = s.item AND d.version = s.version
            WHERE ((s.state = 'approved' AND d.verb = 'approve')
                   OR (s.state IN ('rejected', 'cannot tell') AND d.verb = 'reject'))
                AND NOT EXISTS (SELECT 1 FROM decisions u WHERE u.withdraws = d.id)
            GROUP BY s.item
        )
        SELECT item FROM standings WHERE state IN ('audit', 'vote', 'adjudication')
        UNION
        SELECT c.item FROM closing c JOIN decisions d ON d.id = c.last JOIN settings r ON r.id = d.rules
        WHERE NOT c.by_one_person
            AND c.votes < json_extract(r.value, iif(c.state = 'approved', '$.approve_at', '$.reject_at'))
            AND c.audits < json_extract(r.value, '$.auditors')
        """
    )
    return [item_id for (item_id,) in items.fetchall()]
