"""People, passwords and sign-in sessions, and the limits on sign-in attempts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from agent.language import tr
from reviewer.rules.people import (
    ROLES,
    Person,
    PersonError,
    Role,
    checked_password,
    clean_initials,
    clean_name,
    clean_roles,
    hash_password,
    new_token,
    password_matches,
    token_hash,
)
from reviewer.store.errors import CannotWrite, NotAllowed, NotFound, SignInRefused
from reviewer.store.history import History
from reviewer.store.sqlite.database import ALLOWANCE, Database, Transaction, insert, stamp
from reviewer.store.team.mentions import add_person_mentions
from reviewer.store.values import Session

ATTEMPT_WINDOW = timedelta(minutes=15)
MAX_PER_PERSON_AND_ORIGIN = 5
MAX_PER_ORIGIN = 30
MAX_PER_PERSON = 20
ORIGIN_KNOWN_FOR = timedelta(days=30)
"""How long an origin counts as known after a successful sign-in."""

# Failed attempts since the last successful one.
_OF_BOTH = """
SELECT count(*) FROM sign_ins WHERE initials = :initials AND origin = :origin AND at BETWEEN :since AND :until
    AND id > (SELECT coalesce(max(id), 0) FROM sign_ins
              WHERE initials = :initials AND origin = :origin AND ok)
"""
_OF_ORIGIN = "SELECT count(*) FROM sign_ins WHERE origin = :origin AND NOT ok AND at BETWEEN :since AND :until"
_OF_PERSON = "SELECT count(*) FROM sign_ins WHERE initials = :initials AND NOT ok AND at BETWEEN :since AND :until"
_KNOWN_ORIGIN = "SELECT 1 FROM sign_ins WHERE initials = :initials AND origin = :origin AND ok AND at >= :remembered"


def origin_of(address: str) -> str:
    """Return the origin of an address: the address itself, or the /64 network of an IPv6 address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address[:100]
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ip_network((parsed, 64), strict=False).network_address) + "/64"


def count_attempt(db: Transaction, initials: str, origin: str, at: datetime) -> int:
    """Record an attempt as failed until it succeeds, and return its number.

    :raises SignInRefused: there were too many attempts; this one is not counted
    """
    values = {
        "initials": initials,
        "origin": origin,
        "since": stamp(at - ATTEMPT_WINDOW),
        "until": stamp(at + ALLOWANCE),
        "remembered": stamp(at - ORIGIN_KNOWN_FOR),
    }

    def failed(query: str) -> int:
        return int(db.execute(query, values).fetchone()[0])

    closed = failed(_OF_BOTH) >= MAX_PER_PERSON_AND_ORIGIN
    if not closed and db.execute(_KNOWN_ORIGIN, values).fetchone() is None:
        closed = failed(_OF_ORIGIN) >= MAX_PER_ORIGIN or failed(_OF_PERSON) >= MAX_PER_PERSON
    if closed:
        minutes = int(ATTEMPT_WINDOW.total_seconds() // 60)
        raise SignInRefused(tr("Too many attempts; wait {minutes} minutes, or ask a coordinator.", minutes=minutes))
    db.execute("DELETE FROM sign_ins WHERE at < :remembered", values)
    return insert(db, "sign_ins", {"initials": initials, "origin": origin, "ok": 0, "at": stamp(at)})


SESSION_TIME = timedelta(days=7)
UNUSED_TIME = timedelta(days=1)
RENEWED_EVERY = timedelta(hours=1)
"""The expiry time of a session in use is written at most this often."""


def find_person(db: Transaction, initials: str) -> Person:
    """Return a person. :raises NotFound: nobody has these initials"""
    row = db.execute("SELECT * FROM people WHERE initials = ?", (initials,)).fetchone()
    if row is None:
        raise NotFound(tr("There is nobody with the initials {initials!r:.10}.", initials=initials))
    return person_from(row)


def require_active(db: Transaction, person: str) -> Person:
    """Return an active person. :raises NotAllowed: the account is not active"""
    account = find_person(db, person)
    if not account.active:
        raise NotAllowed(tr("{person} is no longer active here.", person=person))
    return account


def require_coordinator(db: Transaction, by: str | None) -> None:
    """Check that ``by`` may manage the campaign; None stands for the owner of the file.

    :raises NotAllowed: the person is not an active coordinator
    """
    if by is None:
        return
    person = find_person(db, by)
    if not person.active or not person.is_any("coordinator"):
        raise NotAllowed(tr("Only a coordinator can do this; {by} is not one.", by=by))


def person_from(row: Mapping[str, Any]) -> Person:
    return Person(
        initials=row["initials"],
        name=row["name"],
        roles=frozenset(json.loads(row["roles"])),
        active=bool(row["active"]),
        has_password=row["password"] is not None,
    )


def end_tokens(db: Transaction, at: datetime, person: str | None = None) -> int:
    """Revoke the tokens for scripts of a person, by default of everybody; return their number."""
    return db.execute(
        "UPDATE tokens SET revoked_at = :at WHERE revoked_at IS NULL AND (:person IS NULL OR person = :person)",
        {"at": stamp(at), "person": person},
    ).rowcount


class Accounts:
    """People, passwords and sessions.

    ``by`` is the coordinator who does it. None stands for the owner of the file: the command line and the
    first start. The web page must never pass None for a visitor who is not signed in.
    """

    def __init__(self, database: Database, history: History) -> None:
        self._database = database
        self._history = history

    def add_person(
        self,
        initials: str,
        name: str,
        roles: Iterable[str],
        password: str | None = None,
        by: str | None = None,
    ) -> Person:
        """Add a person. Initials are never reused, not even after the account is deactivated.

        :raises PersonError: initials, name, roles or password cannot be used, or the initials are taken
        :raises NotAllowed: ``by`` is no coordinator
        """
        initials, name, known_roles = (
            clean_initials(initials),
            clean_name(name),
            clean_roles(frozenset(roles)),
        )
        kept = None if password is None else hash_password(checked_password(password, initials, name))
        with self._database.write() as db:
            require_coordinator(db, by)
            if db.table("people").count_where("initials = ?", [initials]):
                raise PersonError(tr("initials: {initials} is taken", initials=initials))
            self._insert(db, {"initials": initials, "name": name, "password": kept}, known_roles, by)
            return find_person(db, initials)

    def _insert(self, db: Transaction, row: Mapping[str, str | None], roles: Iterable[Role], by: str | None) -> None:
        initials = str(row["initials"])
        sorted_roles = sorted(roles)
        at = stamp(self._database.now())
        insert(db, "people", {**row, "roles": json.dumps(sorted_roles), "added_at": at})
        self._database.log(db, by, "person added", initials, {"roles": sorted_roles}, people=(initials,))
        self._history.refresh_imported(db, initials)
        add_person_mentions(db, initials)

    def work_alone(self, initials: str) -> Person:
        """Return the person of single-user mode, with every role and no password; added at the first call.

        :raises PersonError: the initials cannot be used
        :raises NotAllowed: someone has a password, so signing in is needed; or the account is not active
        """
        initials = clean_initials(initials)
        with self._database.write() as db:
            if db.execute("SELECT 1 FROM people WHERE password IS NOT NULL").fetchone():
                raise NotAllowed(tr("Several people use this database: sign in with initials and password."))
            if not db.table("people").count_where("initials = ?", [initials]):
                self._insert(db, {"initials": initials, "name": initials}, ROLES, None)
            person = find_person(db, initials)
            if not person.active:
                raise NotAllowed(tr("{initials} is no longer active here.", initials=initials))
            return person

    def person(self, initials: str) -> Person:
        """Return a person. :raises NotFound: there is nobody with these initials"""
        with self._database.read() as db:
            return find_person(db, initials.strip().upper())

    def require_coordinator(self, by: str | None) -> None:
        """Check before a long run that ``by`` may record its result; None stands for the owner of the file.

        :raises NotAllowed: the person is not an active coordinator
        """
        with self._database.read() as db:
            require_coordinator(db, by)

    def people(self) -> list[Person]:
        """Return everyone, deactivated accounts included, by initials."""
        with self._database.read() as db:
            return [person_from(row) for row in db.table("people").rows_where(order_by="initials")]

    def set_roles(self, by: str | None, initials: str, roles: Iterable[str]) -> Person:
        """Change the roles of a person, like ``change``."""
        return self.change(by, initials, roles=roles)

    def change(
        self, by: str | None, initials: str, name: str | None = None, roles: Iterable[str] | None = None
    ) -> Person:
        """Change the name that is shown for a person, their roles, or both; None: it stays. Their initials, which
        identify them, and their earlier decisions stay.

        :raises NotAllowed: ``by`` is no coordinator, or no coordinator would remain
        :raises PersonError: the name is empty or too long, or the roles cannot be used
        """
        known = None if roles is None else clean_roles(frozenset(roles))
        name = None if name is None else clean_name(name)
        with self._database.write() as db:
            require_coordinator(db, by)
            person = find_person(db, initials)
            if name not in (None, person.name):
                db.execute("UPDATE people SET name = ? WHERE initials = ?", (name, initials))
                self._database.log(db, by, "name changed", initials, people=(initials,))
            if known not in (None, person.roles):
                db.execute("UPDATE people SET roles = ? WHERE initials = ?", (json.dumps(sorted(known)), initials))
                self._require_remaining_coordinator(db, person)
                roles_were = {"before": sorted(person.roles), "roles": sorted(known)}
                self._database.log(db, by, "roles changed", initials, roles_were, people=(initials,))
            return find_person(db, initials)

    def set_password(self, by: str | None, initials: str, password: str) -> None:
        """Set a password, as the person or as a coordinator; every session of the person ends.

        :raises NotAllowed: ``by`` is neither
        :raises PersonError: the password is too short
        """
        kept = hash_password(checked_password(password, initials, self.person(initials).name))
        with self._database.write() as db:
            find_person(db, initials)
            if by == initials:
                require_active(db, initials)
            else:
                require_coordinator(db, by)
            db.execute("UPDATE people SET password = ? WHERE initials = ?", (kept, initials))
            ended = {"sessions ended": self._end_sessions(db, initials)}
            self._database.log(db, by, "password set", initials, ended, people=(initials,))

    def deactivate(self, by: str | None, initials: str) -> None:
        """Deactivate an account: its leases, sessions and tokens end, and its decisions stay.

        :raises NotAllowed: ``by`` is no coordinator, or this is the last one
        """
        with self._database.write() as db:
            require_coordinator(db, by)
            changed = find_person(db, initials)
            db.execute("UPDATE people SET active = 0 WHERE initials = ?", (initials,))
            self._require_remaining_coordinator(db, changed)
            leases = db.execute(
                "UPDATE leases SET ended = 'deactivated' WHERE person = ? AND ended IS NULL", (initials,)
            ).rowcount
            ended = {"leases ended": leases, "sessions ended": self._end_sessions(db, initials)}
            ended["tokens ended"] = end_tokens(db, self._database.now(), initials)
            self._database.log(db, by, "deactivated", initials, ended, people=(initials,))

    def reactivate(self, by: str | None, initials: str) -> None:
        """Activate an account again. :raises NotAllowed: ``by`` is no coordinator"""
        with self._database.write() as db:
            require_coordinator(db, by)
            find_person(db, initials)
            db.execute("UPDATE people SET active = 1 WHERE initials = ?", (initials,))
            self._database.log(db, by, "reactivated", initials, people=(initials,))

    def sign_in(self, initials: str, password: str, origin: str = "") -> Session:
        """Start a session. It lasts a week, and ends earlier after a day without use.

        :param origin: where the attempt comes from, e.g. the client's address
        :raises SignInRefused: there were too many attempts; or the initials or the password are wrong, without
            saying which
        """
        initials, origin = initials.strip().upper()[:10], origin_of(origin)
        attempt, kept = self._proven(initials, password, origin, tr("Initials and password do not match."))
        token, at = new_token(), self._database.steady()
        with self._database.write() as db:
            if self._password_of(db, initials) != kept:
                raise SignInRefused(tr("The account was changed a moment ago; sign in again."))
            db.execute("UPDATE sign_ins SET ok = 1 WHERE id = ?", (attempt,))
            db.execute("DELETE FROM sessions WHERE expires_at <= ?", (stamp(at),))
            times = {"started_at": stamp(at), "expires_at": stamp(at + UNUSED_TIME)}
            insert(db, "sessions", {"token_hash": token_hash(token), "person": initials, **times})
            self._database.log(db, initials, "signed in", initials, {"origin": origin})
        return Session(token, initials)

    def prove(self, initials: str, password: str, origin: str = "") -> None:
        """Check the password of a person who is signed in; attempts are counted like those to sign in.

        :raises SignInRefused: it is wrong, or there were too many attempts
        """
        wrong = tr("The present password does not match; nothing was changed.")
        attempt, _ = self._proven(initials, password, origin_of(origin), wrong)
        with self._database.write() as db:
            db.execute("UPDATE sign_ins SET ok = 1 WHERE id = ?", (attempt,))

    def signed_in(self, token: str) -> Person | None:
        """Return the person of a session; None if it has ended, expired or never existed.

        Its use extends it to one day from now, and to a week in all at most.
        """
        at = self._database.steady()
        with self._database.read() as db:
            row = db.execute(
                "SELECT p.*, s.started_at, s.expires_at "
                "FROM sessions s JOIN people p ON p.initials = s.person "
                "WHERE s.token_hash = ? AND s.ended_at IS NULL AND s.expires_at > ? AND s.started_at <= ? "
                "AND p.active",
                (token_hash(token), stamp(at), stamp(at + ALLOWANCE)),
            ).fetchone()
            if row is None:
                return None
            last = datetime.fromisoformat(row["started_at"]) + SESSION_TIME
            ends = min(at + UNUSED_TIME, last)
            renew = ends - datetime.fromisoformat(row["expires_at"]) > RENEWED_EVERY
            person = person_from(row)
        if renew:
            self._extend(token, ends)
        return person

    def _extend(self, token: str, ends: datetime) -> None:
        # A full disk must not stop people from reading; the session then keeps its last expiry time.
        with suppress(CannotWrite), self._database.write() as db:
            db.execute(
                "UPDATE sessions SET expires_at = ? WHERE token_hash = ? AND ended_at IS NULL",
                (stamp(ends), token_hash(token)),
            )

    def sign_out(self, token: str) -> None:
        """End a session; nothing changes if it has ended already."""
        with self._database.write() as db:
            ended = db.execute(
                "UPDATE sessions SET ended_at = ? WHERE token_hash = ? AND ended_at IS NULL RETURNING person",
                (stamp(self._database.steady()), token_hash(token)),
            ).fetchone()
            if ended is not None:
                self._database.log(db, ended[0], "signed out", ended[0])

    def _proven(self, initials: str, password: str, origin: str, wrong: str) -> tuple[int, str | None]:
        attempt, kept = self._attempt(initials, origin)
        if not password_matches(password, kept):
            self._log_refused(initials, origin)
            raise SignInRefused(wrong)
        return attempt, kept

    def _attempt(self, initials: str, origin: str) -> tuple[int, str | None]:
        """Count an attempt before it is checked, so that parallel attempts cannot pass the limit."""
        with self._database.write() as db:
            return count_attempt(db, initials, origin, self._database.steady()), self._password_of(db, initials)

    def _password_of(self, db: Transaction, initials: str) -> str | None:
        row = db.execute("SELECT password FROM people WHERE initials = ? AND active", (initials,)).fetchone()
        return None if row is None else row[0]

    def _log_refused(self, initials: str, origin: str) -> None:
        with self._database.write() as db:
            # People sometimes type a password into the field for initials: only existing initials are logged.
            known = db.execute("SELECT 1 FROM people WHERE initials = ?", (initials,)).fetchone()
            self._database.log(db, None, "sign-in refused", initials if known else "unknown", {"origin": origin})

    def _end_sessions(self, db: Transaction, initials: str) -> int:
        """End every session of a person and return their number."""
        return db.execute(
            "UPDATE sessions SET ended_at = ? WHERE person = ? AND ended_at IS NULL",
            (stamp(self._database.steady()), initials),
        ).rowcount

    def _require_remaining_coordinator(self, db: Transaction, changed: Person) -> None:
        people = [person_from(row) for row in db.table("people").rows_where("active")]
        leading = [person for person in people if person.is_any("coordinator")]
        if not leading:
            raise NotAllowed(tr("At least one coordinator must stay active; make another person coordinator first."))
        # Once one person has a password, nobody can sign in without one, not even to set it.
        could_sign_in = changed.has_password and changed.is_any("coordinator")
        if could_sign_in and not any(person.has_password for person in leading):
            names = ", ".join(person.initials for person in leading)
            raise NotAllowed(
                tr("There has to be a coordinator who can sign in; set a password for {names} first.", names=names)
            )
