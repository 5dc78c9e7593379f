"""Why something was not kept or not put back: sentences for the person at the command line or on the page."""

from __future__ import annotations

from agent.sentence import OneLine


class KeepingError(OneLine):
    """Nothing was kept, or nothing put back; what was there is as it was."""


class BadArchive(KeepingError):
    """A plain archive, or a line of it, is not what its manifest or the schema says: where, and what."""


class BadBackup(KeepingError):
    """A backup that must not take the place of a database: damaged, changed, or not of one mind."""
