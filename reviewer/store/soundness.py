"""Damage to the file, found before anybody works on it."""

from __future__ import annotations

from reviewer.store.connection import Base
from reviewer.store.errors import Damaged, restore_instead

# Spectra, pictures and the texts of versions are nearly all of the file, and each is checked against its
# hash when it is read; reading them all would make a start take as long as the disk does.
_LARGE = ("versions", "pictures", "spectra")


class Soundness(Base):
    """What the app asks before it opens its doors."""

    def require_sound(self) -> None:
        """Check that the file may be written, and the pages of every table of facts but the large ones, which
        `verify` checks as well.

        :raises CannotWrite: it may not, or another program holds it
        :raises Damaged: SQLite finds a fault in one of the tables
        """
        with self._writing() as db:
            # IMMEDIATE alone does not touch the file; what is written here is what is there.
            (version,) = db.execute("PRAGMA user_version").fetchone()
            db.execute(f"PRAGMA user_version = {version}")
        with self._reading() as db:
            tables = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            for table in sorted(set(tables) - set(_LARGE)):
                (found,) = db.execute(f"PRAGMA quick_check('{table}')").fetchone()
                if found != "ok":
                    raise Damaged(restore_instead(self.path, f"table {table}: {found}"))
