"""Sign-in names: by which name the proxy that signs people in knows each person of this database."""

from __future__ import annotations

from contextlib import suppress

from agent.language import tr
from reviewer.rules.people import Person, PersonError
from reviewer.store.accounts import find_person, person_from, require_coordinator
from reviewer.store.errors import CannotWrite
from reviewer.store.sqlite.database import Database, stamp

LONGEST_LOGIN = 200


def clean_login(text: str) -> str:
    """Return a sign-in name in stored form: without spaces around it, in small letters, as mail addresses are compared.

    :raises PersonError: it is empty, too long, or has characters that cannot be printed
    """
    login = text.strip().casefold()
    if not 1 <= len(login) <= LONGEST_LOGIN or not login.isprintable():
        raise PersonError(
            tr(
                "Sign-in name: found {name}, expected 1 to {most} characters that can be printed.",
                name=repr(text[:60]),
                most=LONGEST_LOGIN,
            )
        )
    return login


class Logins:
    """The sign-in names of all people; each person has at most one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def person(self, login: str) -> Person | None:
        """Return the person with this sign-in name, active or not; None if nobody has it."""
        with self._database.read() as db:
            row = db.execute(
                "SELECT p.* FROM logins l JOIN people p ON p.initials = l.person WHERE l.login = ?", (login,)
            ).fetchone()
            return None if row is None else person_from(row)

    def of_people(self) -> dict[str, str]:
        """Return the sign-in names by initials."""
        with self._database.read() as db:
            return {person: login for login, person in db.execute("SELECT login, person FROM logins")}

    def set(self, by: str | None, initials: str, login: str) -> str:
        """Give a person a sign-in name in place of the last one; "" takes it away. Return it in stored form.

        :param by: a coordinator; None only for the owner of the file
        :raises NotAllowed: ``by`` is no coordinator
        :raises PersonError: the name cannot be used, or is that of another person
        """
        login = clean_login(login) if login.strip() else ""
        with self._database.write() as db:
            require_coordinator(db, by)
            person = find_person(db, initials).initials
            rows = dict(db.execute("SELECT login, person FROM logins WHERE login = ? OR person = ?", (login, person)))
            if rows.get(login, person) != person:
                raise PersonError(tr("The sign-in name {login} is that of {other}.", login=login, other=rows[login]))
            if set(rows) == ({login} if login else set()):
                return login
            db.execute("DELETE FROM logins WHERE person = ?", (person,))
            if login:
                db.execute("INSERT INTO logins VALUES (?, ?, ?)", (login, person, stamp(self._database.now())))
            self._database.log(db, by, "sign-in name set" if login else "sign-in name removed", person)
        return login

    def note_sign_in(self, person: str, origin: str) -> None:
        """Log that a person came through the proxy."""
        with suppress(CannotWrite), self._database.write() as db:
            self._database.log(db, person, "signed in", person, {"origin": origin, "by": "proxy"})
