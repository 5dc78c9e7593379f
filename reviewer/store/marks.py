"""Marks on single steps, and the verdicts that reviewers commit before they see others' verdicts."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from agent.language import tr
from reviewer.store.accounts import require_active
from reviewer.store.blind.scoring import refuse_withheld
from reviewer.store.errors import KeyReused, NotAllowed, NotFound
from reviewer.store.history import version_by_id, version_from
from reviewer.store.sqlite.database import Database, Transaction, insert, stamp
from reviewer.store.sqlite.texts import MARK, index_remark
from reviewer.store.values import MARKS, OWN_VERDICTS, CommittedVerdict, Mark, MarkKind, OwnVerdict

# The latest of each person on each step of each version; "cleared" takes a mark away by being the latest.
_IN_FORCE = """
SELECT * FROM marks WHERE id IN (SELECT max(id) FROM marks WHERE item = ? GROUP BY version, step, person)
AND mark <> 'cleared' ORDER BY id
"""

_JUDGED = """
SELECT n.value FROM json_each(:items) n
WHERE EXISTS (SELECT 1 FROM verdicts WHERE item = n.value AND person = :person)
      OR EXISTS (SELECT 1 FROM versions WHERE author = :person AND item = n.value)
"""


class Marks:
    """Marks and committed verdicts. They need no lease and do not change a standing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        *,
        person: str,
        item_id: int,
        version_id: int,
        step_id: str,
        mark: MarkKind,
        key: str,
        note: str = "",
    ) -> Mark:
        """Mark one step of one version; "cleared" removes one's own mark. The same key again changes nothing.

        :raises NotFound: the item has no such version, the version no such step
        :raises NotAllowed: the mark is none of ``MARKS``, or the person is not active
        :raises KeyReused: the key was used for another mark
        """
        if mark not in MARKS:
            raise NotAllowed(tr("A mark is one of {names}; {mark!r:.40} is not.", names=", ".join(MARKS), mark=mark))
        values = {
            "item": item_id,
            "version": version_id,
            "step": step_id,
            "person": person,
            "mark": mark,
            "note": note.strip(),
        }
        with self._database.write() as db:
            first = next(db.table("marks").rows_where("key = ?", [key]), None)
            if first is not None:
                if any(first[name] != value for name, value in values.items()):
                    raise KeyReused(tr("The key {key!r:.60} belongs to another mark.", key=key))
                return _mark_from(first)
            require_active(db, person)
            refuse_withheld(db, person, item_id)
            _require_step(db, item_id, version_id, step_id)
            number = insert(db, "marks", {"key": key, **values, "at": stamp(self._database.now())})
            index_remark(db, MARK, number, note.strip())
            details = {"version": version_id, "step": step_id, "mark": mark}
            self._database.log(db, person, "marked", f"item {item_id}", details, {"marks": number})
            return _mark_from(db.table("marks").get(number))

    def of_item(self, item_id: int) -> list[Mark]:
        """Return the marks in force on every version: each person's latest per step, without cleared ones."""
        with self._database.read() as db:
            return [_mark_from(row) for row in db.execute(_IN_FORCE, (item_id,))]

    def commit_verdict(self, *, person: str, item_id: int, version_id: int, verdict: OwnVerdict) -> CommittedVerdict:
        """Commit one's own verdict on a version. The same verdict again changes nothing; another one is refused.

        :raises NotFound: the item has no such version
        :raises NotAllowed: another was committed before, it is none of ``OWN_VERDICTS``, or the person is not
            active
        """
        if verdict not in OWN_VERDICTS:
            raise NotAllowed(
                tr(
                    "A verdict is one of {names}; {verdict!r:.40} is not.",
                    names=", ".join(OWN_VERDICTS),
                    verdict=verdict,
                )
            )
        with self._database.write() as db:
            require_active(db, person)
            refuse_withheld(db, person, item_id)
            version_by_id(db, item_id, version_id)
            table = db.table("verdicts")
            own = {"item": item_id, "version": version_id, "person": person}
            row = next(table.rows_where("item = :item AND person = :person AND version = :version", own), None)
            if row is None:
                at = stamp(self._database.now())
                row = table.get(insert(db, "verdicts", {**own, "verdict": verdict, "at": at}))
                details = {"version": version_id, "verdict": verdict}
                self._database.log(db, person, "verdict committed", f"item {item_id}", details, {"verdicts": row["id"]})
            if row["verdict"] != verdict:
                raise NotAllowed(
                    tr("{person} has already committed {row} for this version.", person=person, row=row["verdict"])
                )
            return _verdict_from(row)

    def answer_confirmed(self, item_id: int) -> bool:
        """Return whether a person stands behind the present answer of an item whose drafter could not tell.

        True if a person changed the step of the answer, marked it as supported by the data, or committed the same
        verdict as their own.
        """
        with self._database.read() as db:
            versions = db.execute("SELECT * FROM versions WHERE item = ? ORDER BY id", (item_id,)).fetchall()
            answers = {row["id"]: version_from(row).trajectory.answer for row in versions}
            present = answers[versions[-1]["id"]] if versions else None
            if present is None:
                return False
            if present != answers[versions[0]["id"]]:
                return True
            supported = any(
                row["mark"] == "supported" and row["step"] == present.id and answers[row["version"]] == present
                for row in db.execute(_IN_FORCE, (item_id,))
            )
            verdicts = db.execute("SELECT verdict FROM verdicts WHERE item = ?", (item_id,))
            return supported or any(verdict == present.verdict for (verdict,) in verdicts)

    def judged(self, person: str, items: Sequence[int]) -> set[int]:
        """Return those of the items on which this person has committed a verdict or of which they wrote a version."""
        with self._database.read() as db:
            return judged(db, person, items)

    def verdicts(self, item_id: int) -> list[CommittedVerdict]:
        """Return every verdict committed on any version of an item, oldest first."""
        with self._database.read() as db:
            rows = db.table("verdicts").rows_where("item = ?", [item_id], order_by="id")
            return [_verdict_from(row) for row in rows]


def judged(db: Transaction, person: str, items: Collection[int]) -> set[int]:
    """Return those of the items on which this person has committed a verdict or of which they wrote a version."""
    if not items:
        return set()
    rows = db.execute(_JUDGED, {"person": person, "items": json.dumps(list(items))})
    return {item_id for (item_id,) in rows}


def _require_step(db: Transaction, item_id: int, version_id: int, step_id: str) -> None:
    version = version_by_id(db, item_id, version_id)
    if step_id not in {step.id for step in version.trajectory.steps}:
        raise NotFound(
            tr(
                "Version {number} of item {item_id} has no step {step_id!r:.20}.",
                number=version.number,
                item_id=item_id,
                step_id=step_id,
            )
        )


def _mark_from(row: Mapping[str, Any]) -> Mark:
    return Mark(
        id=row["id"],
        item_id=row["item"],
        version_id=row["version"],
        step_id=row["step"],
        person=row["person"],
        mark=row["mark"],
        note=row["note"],
        at=datetime.fromisoformat(row["at"]),
    )


def _verdict_from(row: Mapping[str, Any]) -> CommittedVerdict:
    return CommittedVerdict(
        item_id=row["item"],
        version_id=row["version"],
        person=row["person"],
        verdict=row["verdict"],
        at=datetime.fromisoformat(row["at"]),
    )
