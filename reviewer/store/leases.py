"""Leases, which keep two people from working on one item, and autosaves of unsent text.

In screening, revision and adjudication one person holds an item; in audit and vote as many as decisions are
missing. A lease lasts 15 minutes from its last renewal and is checked in the transaction that writes.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from agent.language import deferred, tr, trn
from reviewer.rules.people import new_token
from reviewer.rules.workflow import Standing, work_refusal
from reviewer.store.accounts import find_person, require_active
from reviewer.store.blind.scoring import refuse_withheld
from reviewer.store.errors import HeldByAnother, LeaseLost, NotAllowed
from reviewer.store.history import History, version_by_id
from reviewer.store.sqlite.database import ALLOWANCE, Database, Transaction, stamp
from reviewer.store.values import Autosave, Lease, Version

LEASE_TIME = timedelta(minutes=15)

_WHY_ENDED = {
    "released": deferred("Your lease on item {item} was released"),
    "round over": deferred("Your lease on item {item} ended when the item left the round"),
    "expired": deferred("Your lease on item {item} ran out"),
    "deactivated": deferred("Your lease on item {item} ended when the account was deactivated"),
    "decided": deferred("Your lease on item {item} ended with the decision"),
}


class Leases:
    """Leases and autosaves."""

    def __init__(self, database: Database, history: History) -> None:
        self._database = database
        self._history = history

    def take(self, person: str, item_id: int) -> Lease:
        """Take the lease of an item in its present round; taken again by the same person, it is renewed.

        :raises NotFound: there is no such item or person
        :raises NotAllowed: the rules allow this person no action on the item now
        :raises HeldByAnother: others hold it, and no further decision is missing
        """
        with self._database.write() as db:
            return lease_from(self.take_row(db, person, item_id))

    def take_row(self, db: Transaction, person: str, item_id: int) -> sqlite3.Row:
        """Take a lease as ``take`` does, in a transaction that goes on."""
        who, now = find_person(db, person), self._history.standing(db, item_id)
        refuse_withheld(db, person, item_id)
        rules = self._history.current_rules(db)[1]
        sentence = work_refusal(now, rules, who)
        if sentence is not None:
            raise NotAllowed(sentence)
        running = self._running(db, item_id)
        for row in running:
            if row["person"] == person:
                return self.renew_row(db, row)
        if others_hold([row["person"] for row in running], person, now.missing):
            raise held(running)
        return self._insert(db, person, item_id, now)

    def held_by_others(self, person: str, item_id: int) -> HeldByAnother | None:
        """Return who holds the item so that this person cannot take it now; None if they can. Changes nothing.

        :raises NotFound: there is no such item
        """
        with self._database.read() as db:
            missing = self._history.standing(db, item_id).missing
            running = running_leases(db, self._database.steady(), item_id).get(item_id, [])
        return held(running) if others_hold([row["person"] for row in running], person, missing) else None

    def renew(self, token: str) -> Lease:
        """Extend a lease to 15 minutes from now. After the holder's own decision this changes nothing.

        :raises LeaseLost: it expired, was released, or the item left the round
        """
        with self._database.write() as db:
            row = db.execute("SELECT * FROM leases WHERE token = ?", (token,)).fetchone()
            if row is not None and row["ended"] == "decided":
                return lease_from(row)
            if row is None:
                raise LeaseLost(tr("There is no such lease."))
            return lease_from(self.renew_row(db, self.still_held(db, token, row["person"], row["item"])))

    def release(self, token: str) -> None:
        """Release a lease; nothing changes if it has ended already."""
        with self._database.write() as db:
            db.execute("UPDATE leases SET ended = 'released' WHERE token = ? AND ended IS NULL", (token,))

    def autosave(self, *, person: str, item_id: int, base_version_id: int, body: Mapping[str, Any]) -> Autosave:
        """Save unsent text, replacing what this person had saved on this version. Needs no lease.

        :raises NotFound: there is no such person, or the item has no such version
        :raises NotAllowed: the person is no longer active
        """
        return self.keep_unsent(person=person, item_id=item_id, base_version_id=base_version_id, body=body)

    def keep_unsent(
        self,
        *,
        person: str,
        item_id: int,
        base_version_id: int,
        body: Mapping[str, Any],
        refused: bool = False,
    ) -> Autosave:
        """Keep unsent text. ``refused``: of a refused save, so the account need not be active."""
        with self._database.write() as db:
            if refused:
                find_person(db, person)
            else:
                require_active(db, person)
            at = self._latest_time(db, person, item_id, base_version_id)
            version_by_id(db, item_id, base_version_id)
            db.execute(
                "INSERT INTO autosaves VALUES (?, ?, ?, ?, ?) ON CONFLICT (person, item, base_version) "
                "DO UPDATE SET body = excluded.body, at = excluded.at",
                (person, item_id, base_version_id, json.dumps(body, ensure_ascii=False), stamp(at)),
            )
        return Autosave(person, item_id, base_version_id, body, at)

    def _latest_time(self, db: Transaction, person: str, item_id: int, base_version_id: int) -> datetime:
        """Return the time for an autosave: now, but later than this person's autosaves of other versions.

        The latest one is shown to its writer, also after the clock was set back.
        """
        (last,) = db.execute(
            "SELECT max(at) FROM autosaves WHERE person = ? AND item = ? AND base_version <> ?",
            (person, item_id, base_version_id),
        ).fetchone()
        now = self._database.now()
        return now if last is None else max(now, datetime.fromisoformat(last) + timedelta(milliseconds=1))

    def autosaved(self, person: str, item_id: int) -> Autosave | None:
        """Return the latest unsent text of this person on this item, whatever version it is based on."""
        with self._database.read() as db:
            row = db.execute(
                "SELECT base_version, body, at FROM autosaves WHERE person = ? AND item = ? "
                "ORDER BY at DESC, base_version DESC LIMIT 1",
                (person, item_id),
            ).fetchone()
            if row is None:
                return None
            body, at = json.loads(row["body"]), datetime.fromisoformat(row["at"])
            return Autosave(person, item_id, row["base_version"], body, at)

    def discard_autosave(self, *, person: str, item_id: int, base_version_id: int) -> None:
        """Delete unsent text at its writer's request. :raises NotAllowed: the account is not active"""
        with self._database.write() as db:
            require_active(db, person)
            drop_autosave(db, person, item_id, base_version_id)

    def still_held(self, db: Transaction, token: str, person: str, item_id: int) -> sqlite3.Row:
        """Return the running lease of a token. :raises LeaseLost: this person has none on this item"""
        running = self._running(db, item_id)
        for row in running:
            if row["token"] == token and row["person"] == person:
                return row
        past = db.execute(
            "SELECT ended FROM leases WHERE token = ? AND person = ? AND item = ?", (token, person, item_id)
        ).fetchone()
        why = tr(_WHY_ENDED[past[0]], item=item_id) if past else tr("You do not hold this item")
        others = [row["person"] for row in running if row["person"] != person]
        if others:
            raise LeaseLost(tr("{why}; {who} has it now. Your text is kept.", why=why, who=others[0]), others[0])
        raise LeaseLost(tr("{why}; open it again to continue. Your text is kept.", why=why), None)

    def _running(self, db: Transaction, item_id: int) -> list[sqlite3.Row]:
        at = self._database.steady()
        db.execute(
            "UPDATE leases SET ended = 'expired' WHERE ended IS NULL AND (expires_at <= ? OR renewed_at > ?)",
            (stamp(at), stamp(at + ALLOWANCE)),
        )
        rows = db.execute("SELECT * FROM leases WHERE item = ? AND ended IS NULL ORDER BY id", (item_id,))
        return rows.fetchall()

    def _insert(self, db: Transaction, person: str, item_id: int, now: Standing) -> sqlite3.Row:
        at = self._database.steady()
        row: sqlite3.Row = db.execute(
            "INSERT INTO leases (token, item, person, round, taken_at, renewed_at, expires_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING *",
            (new_token(), item_id, person, now.round, stamp(at), stamp(at), stamp(at + LEASE_TIME)),
        ).fetchone()
        return row

    def renew_row(self, db: Transaction, row: sqlite3.Row) -> sqlite3.Row:
        at = self._database.steady()
        renewed: sqlite3.Row = db.execute(
            "UPDATE leases SET renewed_at = ?, expires_at = ? WHERE id = ? RETURNING *",
            (stamp(at), stamp(at + LEASE_TIME), row["id"]),
        ).fetchone()
        return renewed


def lease_from(row: sqlite3.Row) -> Lease:
    return Lease(
        token=row["token"],
        item_id=row["item"],
        person=row["person"],
        round=row["round"],
        expires_at=datetime.fromisoformat(row["expires_at"]),
        ended=row["ended"] is not None,
    )


def drop_autosave(db: Transaction, person: str, item_id: int, base_version_id: int) -> None:
    db.execute(
        "DELETE FROM autosaves WHERE person = ? AND item = ? AND base_version = ?",
        (person, item_id, base_version_id),
    )


def drop_sent_comment(db: Transaction, person: str, version: Version) -> None:
    """Delete the autosaved comment after a decision; edited steps, which a decision does not send, stay."""
    row = db.execute(
        "SELECT body FROM autosaves WHERE person = ? AND item = ? AND base_version = ?",
        (person, version.item_id, version.id),
    ).fetchone()
    if row is None:
        return
    body, steps = json.loads(row["body"]), version.trajectory.to_json()["steps"]
    if body.get("steps", steps) == steps:
        drop_autosave(db, person, version.item_id, version.id)
        return
    db.execute(
        "UPDATE autosaves SET body = ? WHERE person = ? AND item = ? AND base_version = ?",
        (json.dumps({**body, "comment": ""}, ensure_ascii=False), person, version.item_id, version.id),
    )


def running_leases(db: Transaction, at: datetime, item_id: int | None = None) -> dict[int, list[sqlite3.Row]]:
    """Return the leases that run at a time by item, in order; of all items, or of one."""
    of_item = "" if item_id is None else "item = :item AND"
    rows = db.execute(
        f"SELECT * FROM leases WHERE {of_item} ended IS NULL AND expires_at > :now AND renewed_at <= :latest "
        "ORDER BY id",
        {"now": stamp(at), "latest": stamp(at + ALLOWANCE), "item": item_id},
    )
    leases: dict[int, list[sqlite3.Row]] = {}
    for row in rows:
        leases.setdefault(row["item"], []).append(row)
    return leases


def others_hold(holders: Sequence[str], person: str, missing: int) -> bool:
    """Return whether others hold an item of which ``missing`` decisions are missing, so that a person cannot take it.

    :param holders: the people with a running lease
    """
    return person not in holders and len(holders) >= max(1, missing)


def held(running: list[sqlite3.Row]) -> HeldByAnother:
    """Return the refusal of an item on which others have these leases."""
    holders = tuple(row["person"] for row in running)
    until = max(datetime.fromisoformat(row["expires_at"]) for row in running)
    names = " and ".join(holders)
    message = trn("{names} is working on this item.", "{names} are working on this item.", len(holders), names=names)
    return HeldByAnother(message, holders, until)
