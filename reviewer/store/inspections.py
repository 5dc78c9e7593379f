"""The reviewers' own inspections of spectra: redshift, quality, issues, class and comment, per person and item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reviewer.rules.inspection import ISSUES, Inspection
from reviewer.store.accounts import require_active
from reviewer.store.blind.scoring import refuse_withheld
from reviewer.store.errors import KeyReused, NotFound
from reviewer.store.sqlite.database import Database, insert, stamp

# The latest of each person counts; earlier ones stay in the table.
_LATEST = """
SELECT * FROM inspections i
WHERE {where} AND id = (SELECT max(id) FROM inspections WHERE item = i.item AND person = i.person)
ORDER BY item, person
"""


class Inspections:
    """What each person found in a spectrum. They need no lease and do not change a standing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, *, item_id: int, inspection: Inspection, key: str) -> Inspection:
        """Store an inspection, which replaces the person's earlier one. The same key again changes nothing.

        :raises NotFound: there is no such item
        :raises NotAllowed: the person is not active, or scores the item in a blind session
        :raises KeyReused: the key was used for another inspection
        """
        values = {
            "item": item_id,
            "person": inspection.person,
            "z": inspection.z,
            "quality": inspection.quality,
            "issues": inspection.issues,
            "spectype": inspection.spectype,
            "comment": inspection.comment,
        }
        with self._database.write() as db:
            first = next(db.table("inspections").rows_where("key = ?", [key]), None)
            if first is not None:
                if any(first[name] != value for name, value in values.items()):
                    raise KeyReused(f"The key {key!r:.60} belongs to another inspection.")
                return _from_row(first)
            require_active(db, inspection.person)
            if not db.table("items").count_where("id = ?", [item_id]):
                raise NotFound(f"There is no item {item_id}.")
            refuse_withheld(db, inspection.person, item_id)
            number = insert(db, "inspections", {"key": key, **values, "at": stamp(self._database.now())})
            self._database.log(
                db, inspection.person, "inspected", f"item {item_id}", {"number": number}, {"inspections": number}
            )
            return inspection

    def of_item(self, item_id: int) -> list[Inspection]:
        """Return the latest inspection of each person, in order of initials; without those that were emptied."""
        with self._database.read() as db:
            rows = db.query(_LATEST.format(where="item = ?"), [item_id])
            return [found for row in rows if not (found := _from_row(row)).empty]

    def all(self) -> Iterator[tuple[int, list[Inspection]]]:
        """Yield the items with inspections, in order, and the latest inspection of each person."""
        with self._database.read() as db:
            rows = list(db.query(_LATEST.format(where="1")))
        by_item: dict[int, list[Inspection]] = {}
        for row in rows:
            if not (found := _from_row(row)).empty:
                by_item.setdefault(row["item"], []).append(found)
        yield from by_item.items()


def _from_row(row: Mapping[str, Any]) -> Inspection:
    return Inspection(
        person=row["person"],
        z=row["z"],
        quality=row["quality"],
        issues="".join(letter for letter in ISSUES if letter in row["issues"]),
        spectype=row["spectype"],
        comment=row["comment"],
    )
