"""Whether a database is of one mind: what is looked at before one is put in the place of another."""

from __future__ import annotations

from pathlib import Path

from reviewer.keeping.errors import BadBackup
from reviewer.store import CannotWrite, Head, Store

_TOLD = 3


def require_sound(store: Store, named: Path, known: Head | None) -> None:
    """SQLite's own checks, the standings against the facts they come from, and the facts against the log.

    :param named: what the sentence calls the database
    :param known: the head of its log, where that was written down elsewhere
    :raises BadBackup: the first of what is wrong
    """
    try:
        wrong = store.verify(known)
    except CannotWrite:
        raise
    except Exception as error:
        # What is read in the check is not to be trusted: rows that no reader expects are what it may find.
        raise BadBackup(f"{named}: it cannot be read through: {error}") from error
    if wrong:
        more = f", and {len(wrong) - _TOLD} more" if len(wrong) > _TOLD else ""
        raise BadBackup(f"{named}: {'; '.join(wrong[:_TOLD])}{more}")
