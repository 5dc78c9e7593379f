"""The reviewers' own inspections of spectra: redshift, quality, issues, class and comment, per person and item."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agent.language import tr
from reviewer.rules.inspection import ISSUES, Inspection, Merged, merge
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

_SPECTRA = """
SELECT i.id, i.name, i.task, i.survey, s.redshift, s.catalogue_class, s.medium, s.ra, s.dec, s.details
FROM items i LEFT JOIN spectra s ON s.sha256 = i.spectrum
WHERE {where} AND EXISTS (SELECT 1 FROM inspections WHERE item = i.id)
ORDER BY i.id
"""


@dataclass(frozen=True)
class InspectedItem:
    """An item with the latest inspection of each person, in order of initials.

    :param ids: the survey's identifiers, e.g. ``targetid``
    :param ra: degrees, ICRS, as ``dec``; None if unknown
    :param medium: air or vacuum, of the wavelengths by which redshifts were read; "" without a spectrum
    :param pipeline_z: redshift of the file; None if it has none
    :param pipeline_class: class of the file
    """

    item_id: int
    name: str
    task: str
    survey: str
    ids: Mapping[str, str]
    ra: float | None
    dec: float | None
    medium: str
    medium_assumed: bool
    pipeline_z: float | None
    pipeline_class: str
    inspections: tuple[Inspection, ...]

    @property
    def merged(self) -> Merged:
        return merge(self.inspections, self.pipeline_z, self.pipeline_class)


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
                    raise KeyReused(tr("The key {key!r:.60} belongs to another inspection.", key=key))
                return _from_row(first)
            require_active(db, inspection.person)
            if not db.table("items").count_where("id = ?", [item_id]):
                raise NotFound(tr("There is no item {item_id}.", item_id=item_id))
            refuse_withheld(db, inspection.person, item_id)
            number = insert(db, "inspections", {"key": key, **values, "at": stamp(self._database.now())})
            self._database.log(
                db, inspection.person, "inspected", f"item {item_id}", {"number": number}, {"inspections": number}
            )
            return inspection

    def of_item(self, item_id: int) -> InspectedItem | None:
        """Return the inspections of an item; None if there are none."""
        return next(iter(self.of_items([item_id])), None)

    def of_items(self, items: Iterable[int]) -> list[InspectedItem]:
        """Return those of these items that have inspections, in order."""
        return self._inspected_items("i.id IN (SELECT value FROM json_each(:items))", json.dumps(list(items)))

    def all(self) -> list[InspectedItem]:
        """Return every item with inspections, in order."""
        return self._inspected_items("1")

    def _inspected_items(self, where: str, items: str = "") -> list[InspectedItem]:
        """Inspections that their author has emptied are left out."""
        with self._database.read() as db:
            rows = list(db.query(_LATEST.format(where=where.replace("i.id", "i.item")), {"items": items}))
            spectra = list(db.query(_SPECTRA.format(where=where), {"items": items})) if rows else []
            by_item: dict[int, list[Inspection]] = {}
            for row in rows:
                if not (inspected := _from_row(row)).empty:
                    by_item.setdefault(row["item"], []).append(inspected)
            return [_inspected(about, by_item[about["id"]]) for about in spectra if about["id"] in by_item]


def _inspected(about: Mapping[str, Any], inspections: list[Inspection]) -> InspectedItem:
    details = json.loads(about["details"] or "{}")
    return InspectedItem(
        item_id=about["id"],
        name=about["name"],
        task=about["task"],
        survey=about["survey"],
        ids=details.get("ids", {}),
        ra=about["ra"],
        dec=about["dec"],
        medium=about["medium"] or "",
        medium_assumed=bool(details.get("meta", {}).get("medium_assumed")),
        pipeline_z=about["redshift"],
        pipeline_class=about["catalogue_class"] or "",
        inspections=tuple(inspections),
    )


def _from_row(row: Mapping[str, Any]) -> Inspection:
    return Inspection(
        person=row["person"],
        z=row["z"],
        quality=row["quality"],
        issues="".join(letter for letter in ISSUES if letter in row["issues"]),
        spectype=row["spectype"],
        comment=row["comment"],
    )
