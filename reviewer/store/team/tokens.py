"""Tokens: access to the API for scripts, in the name of a person. Only the SHA-256 of a token is stored."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from agent.language import tr
from reviewer.rules.people import Person, token_hash
from reviewer.store.accounts import find_person, person_from, require_active
from reviewer.store.errors import CannotWrite, NotAllowed, NotFound, StoreError
from reviewer.store.sqlite.database import Database, insert, stamp

PREFIX = "so3_"
"""Tokens begin with it, so that programs that search for secrets in files find them."""
_FORM = re.compile(PREFIX + r"[A-Za-z0-9_-]{43}")
LIFETIMES = (30, 90, 365)
"""Days after which a token can end; it can also have no end."""
LONGEST_NAME = 60
MOST = 50
"""Tokens in force of one person."""
USED_EVERY = timedelta(minutes=1)
"""The last use of a token is written at most this often."""


@dataclass(frozen=True)
class Token:
    """A token in force or past its end, without its secret.

    :param may_write: False: it opens only what reads
    :param expires_at: None: it has no end
    :param used_at: the last use, to the minute; None: never
    """

    id: int
    person: str
    name: str
    may_write: bool
    made_at: datetime
    expires_at: datetime | None
    used_at: datetime | None


class TokenRefused(StoreError):
    """A token that opens nothing.

    :param known: it was a token of this database, so it is no attempt to guess one
    """

    def __init__(self, sentence: str, known: bool) -> None:
        super().__init__(sentence)
        self.known = known


class Tokens:
    """The tokens of all people."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def make(self, person: str, name: str, may_write: bool, days: int | None) -> tuple[Token, str]:
        """Make a token for a person; return it with its secret, which is not stored.

        :param days: how long it lasts, one of ``LIFETIMES``; None: it has no end
        :raises NotAllowed: the name or number of days cannot be used, the person is not active, or has ``MOST`` tokens
        """
        name = " ".join(name.split())
        if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
            raise NotAllowed(
                tr(
                    "Name of the token: found {name}, expected 1 to {most} characters that can be printed.",
                    name=repr(name[:80]),
                    most=LONGEST_NAME,
                )
            )
        if days is not None and days not in LIFETIMES:
            raise NotAllowed(tr("A token ends after 30, 90 or 365 days, or never; found {days} days.", days=days))
        secret = PREFIX + secrets.token_urlsafe(32)
        with self._database.write() as db:
            require_active(db, person)
            now = self._database.steady()
            (active,) = db.execute(
                "SELECT count(*) FROM tokens WHERE person = ? AND revoked_at IS NULL "
                "AND (expires_at IS NULL OR expires_at > ?)",
                (person, stamp(now)),
            ).fetchone()
            if active >= MOST:
                raise NotAllowed(tr("{person} has {most} tokens. Revoke one first.", person=person, most=MOST))
            ends = None if days is None else stamp(now + timedelta(days=days))
            row = {"person": person, "name": name, "may_write": int(may_write), "made_at": stamp(now)}
            number = insert(db, "tokens", {"hash": token_hash(secret), **row, "expires_at": ends})
            details = {"token": number, "name": name, "may_write": may_write, "expires_at": ends}
            self._database.log(db, person, "token made", person, details)
            return _token_from(db.table("tokens").get(number)), secret

    def listed(self, person: str, everybody: bool = False) -> list[Token]:
        """Return the tokens of a person that nobody has revoked, newest first; also those past their end.

        :param everybody: the tokens of all people
        :raises NotAllowed: ``everybody``, and the person is no coordinator
        """
        with self._database.read() as db:
            if everybody and not find_person(db, person).is_any("coordinator"):
                raise NotAllowed(
                    tr("Only a coordinator sees the tokens of others; {person} is not one.", person=person)
                )
            whose, values = ("1", []) if everybody else ("person = ?", [person])
            rows = db.table("tokens").rows_where(f"{whose} AND revoked_at IS NULL", values, order_by="id DESC")
            return [_token_from(row) for row in rows]

    def revoke(self, by: str, token_id: int) -> None:
        """End a token, as its person or as a coordinator. A second time changes nothing.

        :raises NotFound: there is no such token, or it belongs to another person and ``by`` is no coordinator
        """
        with self._database.write() as db:
            row = next(db.table("tokens").rows_where("id = ?", [token_id]), None)
            leads = require_active(db, by).is_any("coordinator")
            if row is None or not (row["person"] == by or leads):
                raise NotFound(tr("You have no token {token}.", token=token_id))
            if row["revoked_at"] is not None:
                return
            db.execute("UPDATE tokens SET revoked_at = ? WHERE id = ?", (stamp(self._database.now()), token_id))
            self._database.log(db, by, "token revoked", row["person"], {"token": token_id, "name": row["name"]})

    def use(self, secret: str) -> tuple[Token, Person]:
        """Return the token with this secret and its person, and note that it was used.

        :raises TokenRefused: it is unknown, revoked, past its end, or its person is not active
        """
        if not _FORM.fullmatch(secret):
            raise TokenRefused(
                tr("Found a token of another form, expected {prefix} and 43 characters.", prefix=PREFIX), known=True
            )
        now = self._database.steady()
        with self._database.read() as db:
            row = db.execute(
                "SELECT t.*, t.name AS token_name, p.* FROM tokens t JOIN people p ON p.initials = t.person "
                "WHERE t.hash = ?",
                (token_hash(secret),),
            ).fetchone()
            if row is None:
                raise TokenRefused(tr("There is no such token. Make one in the People tab."), known=False)
            token, person = _token_from({**row, "name": row["token_name"]}), person_from(row)
        if row["revoked_at"] is not None or not person.active:
            raise TokenRefused(tr("The token “{name}” was revoked.", name=token.name), known=True)
        if token.expires_at is not None and token.expires_at <= now:
            ended = tr(
                "The token “{name}” ended on {day}. Make a new one in the People tab.",
                name=token.name,
                day=f"{token.expires_at:%Y-%m-%d}",
            )
            raise TokenRefused(ended, known=True)
        if token.used_at is None or abs(now - token.used_at) > USED_EVERY:
            self._note_use(token.id, now)
        return token, person

    def _note_use(self, token_id: int, now: datetime) -> None:
        # A full disk must not stop a script from reading.
        with suppress(CannotWrite), self._database.write() as db:
            db.execute("UPDATE tokens SET used_at = ? WHERE id = ?", (stamp(now), token_id))


def _token_from(row: Mapping[str, Any]) -> Token:
    times = {name: row[name] and datetime.fromisoformat(row[name]) for name in ("made_at", "expires_at", "used_at")}
    return Token(id=row["id"], person=row["person"], name=row["name"], may_write=bool(row["may_write"]), **times)
