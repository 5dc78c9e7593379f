"""Webhooks: addresses that get a message of each approved or returned item and each export, and the deliveries.

Triggers write the events and what is to be delivered in the transaction of the change, for each webhook whose column
``events`` is a list that names the event. While a webhook is stopped, the column is an object that has the list: so
nothing is written that nobody would take.
``reviewer/web/background/webhooks.py`` delivers. Secrets are stored as they are, because messages are signed with them.
"""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from agent.language import tr
from reviewer.store.accounts import require_coordinator
from reviewer.store.errors import NotAllowed, NotFound
from reviewer.store.sqlite.database import ALLOWANCE, Database, Transaction, insert, stamp
from reviewer.store.team.addresses import clean_url

Event = Literal["approved", "returned", "exported"]
EVENTS: tuple[Event, ...] = get_args(Event)
PAUSES = tuple(timedelta(seconds=s) for s in (5, 60, 600, 3600, 21600))
"""How long to wait after the first, second, ... failed attempt; after the last one the event is given up."""
STOPS_AFTER = 10
"""A webhook is stopped when so many events in a row were given up: after three days without an answer."""
LONGEST_WAIT = timedelta(days=7)
"""An event that has waited longer is dropped, e.g. of a receiver that answers, but too slowly."""
KEPT = timedelta(days=30)
"""How long finished deliveries are listed."""
LONGEST_ANSWER = 300
MOST = 20
"""Webhooks of one database."""


@dataclass(frozen=True)
class Webhook:
    """A webhook, without its secret.

    :param waiting: the number of events that are still to be delivered
    :param lost: the number of listed events that were not delivered: given up or dropped
    :param stopped_at: when it was stopped; None: it is not
    :param silent_since: the last delivery before it was stopped, or when the webhook was added
    """

    id: int
    url: str
    events: tuple[Event, ...]
    person: str
    made_at: datetime
    waiting: int
    lost: int = 0
    stopped_at: datetime | None = None
    silent_since: datetime | None = None


@dataclass(frozen=True)
class WebhookEvent:
    """What happened: to an item (of a task), or an export with a name."""

    id: int
    kind: Event
    at: datetime
    item: int | None
    task: str | None
    export: int | None
    name: str | None


@dataclass(frozen=True)
class Delivery:
    """An event for one webhook.

    :param answer: what the last attempt got, as a sentence
    :param next_at: when the next attempt is due; None: delivered, or given up
    """

    event: WebhookEvent
    attempts: int
    next_at: datetime | None
    delivered_at: datetime | None
    answer: str


@dataclass(frozen=True)
class Target:
    """Where the messages of a webhook go, and the secret that signs them."""

    id: int
    url: str
    secret: str


_EVENT = """
SELECT d.*, e.kind, e.item, e.export, e.at, s.task, x.name
FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event
LEFT JOIN standings s ON s.item = e.item LEFT JOIN exports x ON x.id = e.export
"""
# Of its own accord SQLite reads all that was delivered before.
_FIRST_WAITING = f"""{_EVENT} WHERE d.webhook = :webhook AND d.event = (
    SELECT min(event) FROM webhook_deliveries INDEXED BY webhook_deliveries_waiting
    WHERE webhook = :webhook AND next_at IS NOT NULL)
"""


def new_secret() -> str:
    """Return a new secret in the form of the Standard Webhooks specification: 256 random bits."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode("ascii")


class Webhooks:
    """The webhooks of the database and their deliveries."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, by: str, url: str, events: Sequence[str]) -> tuple[Webhook, str]:
        """Add a webhook; return it with its secret. Events from before are not delivered.

        :raises NotAllowed: ``by`` is no coordinator, the address or the events cannot be used, or there are ``MOST``
        """
        url = clean_url(url)
        chosen = tuple(event for event in EVENTS if event in events)
        if not chosen or len(chosen) != len(set(events)):
            raise NotAllowed(
                tr(
                    "Events of the webhook: found {found}, expected one or more of {all}.",
                    found=", ".join(events)[:80] or "none",
                    all=", ".join(EVENTS),
                )
            )
        secret = new_secret()
        with self._database.write() as db:
            require_coordinator(db, by)
            if db.table("webhooks").count_where("deleted_at IS NULL") >= MOST:
                raise NotAllowed(tr("There are {most} webhooks. Delete one first.", most=MOST))
            row = {"url": url, "secret": secret, "events": json.dumps(chosen), "person": by}
            number = insert(db, "webhooks", {**row, "made_at": stamp(self._database.now())})
            # Not the whole address: many have a key in their path.
            details = {"host": urlsplit(url).netloc, "events": list(chosen)}
            self._database.log(db, by, "webhook added", f"webhook {number}", details)
            return self._webhook(db, number), secret

    def delete(self, by: str, webhook_id: int) -> None:
        """Delete a webhook and its secret; nothing more is sent to it.

        :raises NotAllowed: ``by`` is no coordinator
        :raises NotFound: there is no such webhook
        """
        with self._database.write() as db:
            require_coordinator(db, by)
            host = urlsplit(self._webhook(db, webhook_id).url).netloc
            at = stamp(self._database.now())
            db.execute("UPDATE webhooks SET deleted_at = ?, secret = '' WHERE id = ?", (at, webhook_id))
            db.execute("DELETE FROM webhook_deliveries WHERE webhook = ?", (webhook_id,))
            self._database.log(db, by, "webhook deleted", f"webhook {webhook_id}", {"host": host})

    def start(self, by: str, webhook_id: int) -> Webhook:
        """Start a webhook again that was stopped: it gets the events from now on.

        :raises NotAllowed: ``by`` is no coordinator, or the webhook is not stopped
        :raises NotFound: there is no such webhook
        """
        with self._database.write() as db:
            require_coordinator(db, by)
            webhook = self._webhook(db, webhook_id)
            if webhook.stopped_at is None:
                raise NotAllowed(tr("Webhook {webhook} is not stopped.", webhook=webhook_id))
            db.execute("UPDATE webhooks SET events = ? WHERE id = ?", (json.dumps(webhook.events), webhook_id))
            host = urlsplit(webhook.url).netloc
            self._database.log(db, by, "webhook started", f"webhook {webhook_id}", {"host": host})
            return self._webhook(db, webhook_id)

    def listed(self, by: str) -> list[Webhook]:
        """Return all webhooks, oldest first. :raises NotAllowed: ``by`` is no coordinator"""
        with self._database.read() as db:
            require_coordinator(db, by)
            numbers = db.execute("SELECT id FROM webhooks WHERE deleted_at IS NULL ORDER BY id").fetchall()
            return [self._webhook(db, number) for (number,) in numbers]

    def deliveries(self, by: str, webhook_id: int, limit: int = 20) -> list[Delivery]:
        """Return the last deliveries of a webhook, newest event first.

        :raises NotAllowed: ``by`` is no coordinator
        :raises NotFound: there is no such webhook
        """
        with self._database.read() as db:
            require_coordinator(db, by)
            self._webhook(db, webhook_id)
            sql = f"{_EVENT} WHERE d.webhook = ? ORDER BY d.event DESC LIMIT ?"
            return [_delivery_from(row) for row in db.execute(sql, (webhook_id, limit))]

    def target(self, by: str, webhook_id: int) -> Target:
        """Return where to send a test message.

        :raises NotAllowed: ``by`` is no coordinator
        :raises NotFound: there is no such webhook
        """
        with self._database.read() as db:
            require_coordinator(db, by)
            self._webhook(db, webhook_id)
            return _targets(db, webhook_id)[0]

    def due(self) -> list[tuple[Target, Delivery]]:
        """Return the first waiting event of each webhook, where its next attempt is due."""
        now = self._database.steady()
        # After the clock was set back, a time may be further ahead than the longest pause: it has come too.
        latest = stamp(now + PAUSES[-1] + ALLOWANCE)
        deliveries = []
        with self._database.read() as db:
            for target in _targets(db):
                row = db.execute(_FIRST_WAITING, {"webhook": target.id}).fetchone()
                if row is not None and not stamp(now) < row["next_at"] < latest:
                    deliveries.append((target, _delivery_from(row)))
        return deliveries

    def record(self, webhook_id: int, event: int, delivered: bool, answer: str) -> None:
        """Record an attempt. A failed one is repeated after the next of ``PAUSES``; after the last it is given up, and
        after ``STOPS_AFTER`` events in a row the webhook is stopped."""
        now = self._database.steady()
        waiting = "webhook = ? AND event = ? AND next_at IS NOT NULL"
        with self._database.write() as db:
            row = db.execute(f"SELECT attempts FROM webhook_deliveries WHERE {waiting}", (webhook_id, event)).fetchone()
            if row is None:
                return  # deleted meanwhile
            attempts = row[0] + 1
            again = None if delivered or attempts > len(PAUSES) else stamp(now + PAUSES[attempts - 1])
            db.execute(
                "UPDATE webhook_deliveries SET attempts = ?, next_at = ?, delivered_at = ?, answer = ? "
                f"WHERE {waiting}",
                (attempts, again, stamp(now) if delivered else None, answer[:LONGEST_ANSWER], webhook_id, event),
            )
            if again is None and not delivered and self._is_silent(db, webhook_id):
                self._stop(db, webhook_id)

    def _is_silent(self, db: Transaction, webhook_id: int) -> bool:
        """Return whether the last ``STOPS_AFTER`` events that were tried to the end were all given up."""
        tried = (
            "SELECT delivered_at FROM webhook_deliveries WHERE webhook = ? AND next_at IS NULL "
            "AND (delivered_at IS NOT NULL OR attempts > ?) ORDER BY event DESC LIMIT ?"
        )
        ends = [at for (at,) in db.execute(tried, (webhook_id, len(PAUSES), STOPS_AFTER))]
        return len(ends) == STOPS_AFTER and not any(ends)

    def _stop(self, db: Transaction, webhook_id: int) -> None:
        """Write nothing more that is to be delivered to a webhook, and drop what waits."""
        webhook = self._webhook(db, webhook_id)
        delivered = "SELECT max(delivered_at) FROM webhook_deliveries WHERE webhook = ?"
        since = db.execute(delivered, (webhook_id,)).fetchone()[0] or stamp(webhook.made_at)
        stopped = {"events": webhook.events, "stopped_at": stamp(self._database.steady()), "silent_since": since}
        db.execute("UPDATE webhooks SET events = ? WHERE id = ?", (json.dumps(stopped), webhook_id))
        dropped = db.execute(
            "UPDATE webhook_deliveries SET next_at = NULL, answer = ? WHERE webhook = ? AND next_at IS NOT NULL",
            (tr("Dropped: the webhook is stopped."), webhook_id),
        ).rowcount
        details = {"host": urlsplit(webhook.url).netloc, "count": dropped}
        self._database.log(db, None, "webhook stopped", f"webhook {webhook_id}", details)

    def tidy(self) -> None:
        """Drop what has waited longer than ``LONGEST_WAIT``, and delete what has been listed for ``KEPT``."""
        now = self._database.now()
        before = stamp(now - KEPT)
        with self._database.write() as db:
            waited = "next_at IS NOT NULL AND event IN (SELECT id FROM webhook_events WHERE at < ?)"
            db.execute(
                f"UPDATE webhook_deliveries SET next_at = NULL, answer = ? WHERE {waited}",
                (tr("Dropped: it waited for {days} days.", days=LONGEST_WAIT.days), stamp(now - LONGEST_WAIT)),
            )
            old = "SELECT id FROM webhook_events WHERE at < ?"
            db.execute(f"DELETE FROM webhook_deliveries WHERE next_at IS NULL AND event IN ({old})", (before,))
            db.execute(
                "DELETE FROM webhook_events WHERE at < ? AND id NOT IN (SELECT event FROM webhook_deliveries)",
                (before,),
            )

    def _webhook(self, db: Transaction, webhook_id: int) -> Webhook:
        row = db.execute(
            "SELECT w.*, (SELECT count(*) FROM webhook_deliveries d INDEXED BY webhook_deliveries_waiting "
            "WHERE d.webhook = w.id AND d.next_at IS NOT NULL) AS waiting, (SELECT count(*) FROM webhook_deliveries d "
            "WHERE d.webhook = w.id AND d.next_at IS NULL AND d.delivered_at IS NULL) AS lost FROM webhooks w "
            "WHERE w.id = ? AND w.deleted_at IS NULL",
            (webhook_id,),
        ).fetchone()
        if row is None:
            raise NotFound(tr("There is no webhook {webhook}.", webhook=webhook_id))
        kept = json.loads(row["events"])
        stopped = kept if isinstance(kept, dict) else {"events": kept}
        return Webhook(
            id=row["id"],
            url=row["url"],
            events=tuple(stopped["events"]),
            person=row["person"],
            made_at=datetime.fromisoformat(row["made_at"]),
            waiting=row["waiting"],
            lost=row["lost"],
            stopped_at=_moment(stopped.get("stopped_at")),
            silent_since=_moment(stopped.get("silent_since")),
        )


@contextmanager
def unreported(db: Transaction) -> Iterator[None]:
    """Report nothing that the block changes: an undo brings a state back that was reported when the item got it."""
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM webhook_events").fetchone()
    yield
    db.execute("DELETE FROM webhook_deliveries WHERE event > ?", (last,))
    db.execute("DELETE FROM webhook_events WHERE id > ?", (last,))


def drop_waiting(db: Transaction) -> int:
    """Delete what is still to be delivered: in a restored backup it may have been delivered already."""
    return db.execute("DELETE FROM webhook_deliveries WHERE next_at IS NOT NULL").rowcount


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _targets(db: Transaction, webhook_id: int | None = None) -> list[Target]:
    rows = db.execute(
        "SELECT id, url, secret FROM webhooks WHERE deleted_at IS NULL AND (:id IS NULL OR id = :id) ORDER BY id",
        {"id": webhook_id},
    )
    return [Target(*row) for row in rows.fetchall()]


def _delivery_from(row: Mapping[str, Any]) -> Delivery:
    event = WebhookEvent(
        id=row["event"],
        kind=row["kind"],
        at=datetime.fromisoformat(row["at"]),
        item=row["item"],
        task=row["task"],
        export=row["export"],
        name=row["name"],
    )
    # '': due since the event; triggers have no clock of ours.
    next_at = row["next_at"] if row["next_at"] is None else datetime.fromisoformat(row["next_at"] or row["at"])
    delivered_at = row["delivered_at"] and datetime.fromisoformat(row["delivered_at"])
    return Delivery(event, row["attempts"], next_at, delivered_at, row["answer"])
