"""Views: filters with a name, and lists of items with one. They belong to a person, who can share them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from agent.language import tr
from reviewer.store.accounts import require_active
from reviewer.store.errors import NotAllowed, NotFound
from reviewer.store.sqlite.database import Database, Transaction, insert, stamp
from reviewer.store.values import QueueFilter

MOST_LISTED = 100_000
"""Items of a list."""
LONGEST_NAME = 200
"""Characters of the name of a view."""
_FIELDS = [field.name for field in fields(QueueFilter) if field.name != "states"]


@dataclass(frozen=True)
class View:
    """A filter or a list of items, with a name.

    :param person: to whom it belongs
    :param shared: others can open it
    :param filter: what was saved with it, as JSON; empty for a list
    :param items: number of items of a list; None: it is a filter
    """

    id: int
    name: str
    person: str
    shared: bool
    filter: Mapping[str, Any]
    items: int | None
    changed_at: datetime

    @property
    def query(self) -> QueueFilter:
        """The items of the view as a filter of the queue."""
        if self.items is not None:
            return QueueFilter(listed=self.id)
        known = {name: self.filter[name] for name in _FIELDS if self.filter.get(name) not in ("", None)}
        return QueueFilter(**known, states=tuple(self.filter.get("state", ())))


class Views:
    """Saves, changes and deletes views; each change is logged."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(
        self,
        *,
        person: str,
        name: str,
        filter: Mapping[str, Any] | None = None,
        items: Sequence[int] | None = None,
        shared: bool = False,
    ) -> View:
        """Save a filter, or a list of items, under a name.

        :param filter: JSON of a filter, checked by the caller
        :param items: numbers of items; either these or a filter
        :raises NotAllowed: the person is not active, has a view of that name, or the name or the list is too long
        :raises NotFound: an item does not exist
        """
        name = _checked_name(name)
        with self._database.write() as db:
            require_active(db, person)
            _require_free(db, person, name)
            now = stamp(self._database.now())
            row = {"name": name, "person": person, "shared": int(shared), "filter": "{}", "items": None}
            number = insert(db, "views", {**row, "made_at": now, "changed_at": now})
            details = {"name": name, "shared": shared, **_save(db, number, filter, items)}
            self._database.log(db, person, "view created", f"view {number}", details)
            return _view(_row(db, number))

    def change(
        self,
        *,
        person: str,
        view_id: int,
        name: str | None = None,
        shared: bool | None = None,
        filter: Mapping[str, Any] | None = None,
        items: Sequence[int] | None = None,
    ) -> View:
        """Rename a view, share it or end that, or replace its filter or items; None leaves a field as it is.

        :raises NotFound: there is no such view, it was deleted, or it is another person's and not shared; or an item
            does not exist
        :raises NotAllowed: it belongs to another person and ``person`` is no coordinator; as in ``create``
        """
        with self._database.write() as db:
            before = self._may_change(db, person, view_id)
            details: dict[str, object] = {}
            if name is not None and (name := _checked_name(name)) != before.name:
                _require_free(db, before.person, name)
                details["name"] = name
            if shared is not None and shared != before.shared:
                details["shared"] = shared
            for column, value in details.items():
                db.execute(f"UPDATE views SET {column} = ? WHERE id = ?", (value, view_id))
            if filter is not None or items is not None:
                details |= _save(db, view_id, filter, items)
            if details:
                db.execute("UPDATE views SET changed_at = ? WHERE id = ?", (stamp(self._database.now()), view_id))
                self._database.log(db, person, "view changed", f"view {view_id}", details)
            return _view(_row(db, view_id))

    def delete(self, *, person: str, view_id: int) -> None:
        """Delete a view. :raises NotFound: as in ``change`` :raises NotAllowed: as in ``change``"""
        with self._database.write() as db:
            before = self._may_change(db, person, view_id)
            db.execute("UPDATE views SET deleted_at = ? WHERE id = ?", (stamp(self._database.now()), view_id))
            db.execute("DELETE FROM view_items WHERE view = ?", (view_id,))
            self._database.log(db, person, "view deleted", f"view {view_id}", {"name": before.name})

    def of_person(self, person: str) -> list[View]:
        """Return the views that a person can open, by name: their own ones first, then those that others share."""
        sql = (
            "SELECT * FROM views WHERE deleted_at IS NULL AND (person = :person OR shared = 1) "
            "ORDER BY person <> :person, name, person"
        )
        with self._database.read() as db:
            return [_view(row) for row in db.execute(sql, {"person": person})]

    def get(self, person: str | None, view_id: int) -> View:
        """Return a view that the person can open; None: the owner of the file, who can open all.

        :raises NotFound: there is no such view, it was deleted, or it is another person's and not shared
        """
        with self._database.read() as db:
            return require_view(db, person, view_id)

    def named(self, name: str) -> list[View]:
        """Return the views of this name, of all people."""
        with self._database.read() as db:
            rows = db.execute("SELECT * FROM views WHERE deleted_at IS NULL AND name = ? ORDER BY id", (name,))
            return [_view(row) for row in rows]

    def require_list(self, person: str, view_id: int) -> View:
        """Return a view that is a list. :raises NotFound: as in ``get`` :raises NotAllowed: it is a filter"""
        with self._database.read() as db:
            return require_list(db, person, view_id)

    def _may_change(self, db: Transaction, person: str, view_id: int) -> View:
        who = require_active(db, person)
        view = require_view(db, person, view_id)
        if view.person != person and not who.is_any("coordinator"):
            raise NotAllowed(
                tr(
                    "View {number} ({name}) belongs to {person}. Only {person} or a coordinator can change it; "
                    "save it under another name.",
                    number=view_id,
                    name=view.name,
                    person=view.person,
                )
            )
        return view


def require_list(db: Transaction, person: str | None, view_id: int) -> View:
    """Return a view that is a list. :raises NotFound: as in ``require_view`` :raises NotAllowed: it is a filter"""
    view = require_view(db, person, view_id)
    if view.items is None:
        raise NotAllowed(
            tr("View {number} ({name}) is a filter, expected a list of items.", number=view_id, name=view.name)
        )
    return view


def require_view(db: Transaction, person: str | None, view_id: int) -> View:
    """Return a view that the person can open; None: the owner of the file, who can open all.

    :raises NotFound: there is no such view, it was deleted, or it is another person's and not shared
    """
    row = _row(db, view_id)
    if row is None:
        raise NotFound(tr("There is no view {number}.", number=view_id))
    if person not in (None, row["person"]) and not row["shared"]:
        raise NotFound(tr("View {number} is not shared with you. Ask for it to be shared.", number=view_id))
    if row["deleted_at"] is not None:
        raise NotFound(
            tr(
                "View {number} ({name}) was deleted on {day}.",
                number=view_id,
                name=row["name"],
                day=row["deleted_at"][:10],
            )
        )
    return _view(row)


def _save(
    db: Transaction, view_id: int, filter: Mapping[str, Any] | None, items: Sequence[int] | None
) -> dict[str, object]:
    """Replace what a view holds, and return what the log says of it."""
    assert (filter is None) != (items is None)
    db.execute("DELETE FROM view_items WHERE view = ?", (view_id,))
    if items is None:
        text = json.dumps(filter, ensure_ascii=False, sort_keys=True)
        db.execute("UPDATE views SET filter = ?, items = NULL WHERE id = ?", (text, view_id))
        return {"items": None}
    listed = sorted(set(items))
    if len(listed) > MOST_LISTED:
        raise NotAllowed(
            tr("Found {found} items, expected {most} at most in a list.", found=len(listed), most=MOST_LISTED)
        )
    missing = db.execute(
        "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT id FROM items) LIMIT 1", (json.dumps(listed),)
    ).fetchone()
    if missing is not None:
        raise NotFound(tr("There is no item {number}.", number=missing[0]))
    db.conn.executemany("INSERT INTO view_items VALUES (?, ?)", ((view_id, item) for item in listed))
    db.execute("UPDATE views SET filter = '{}', items = ? WHERE id = ?", (len(listed), view_id))
    return {"items": len(listed)}


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not name:
        raise NotAllowed(tr("A view needs a name."))
    if len(name) > LONGEST_NAME:
        raise NotAllowed(
            tr("The name has {found} characters, expected {most} at most.", found=len(name), most=LONGEST_NAME)
        )
    return name


def _require_free(db: Transaction, person: str, name: str) -> None:
    sql = "SELECT 1 FROM views WHERE person = ? AND name = ? AND deleted_at IS NULL"
    if db.execute(sql, (person, name)).fetchone() is not None:
        raise NotAllowed(
            tr("{person} has a view with the name {name} already. Choose another name.", person=person, name=name)
        )


def _row(db: Transaction, view_id: int) -> Any:
    return db.execute("SELECT * FROM views WHERE id = ?", (view_id,)).fetchone()


def _view(row: sqlite3.Row) -> View:
    return View(
        id=row["id"],
        name=row["name"],
        person=row["person"],
        shared=bool(row["shared"]),
        filter=json.loads(row["filter"]),
        items=row["items"],
        changed_at=datetime.fromisoformat(row["changed_at"]),
    )
