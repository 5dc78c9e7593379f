"""Why the store refused something: one exception a situation, each a sentence for the person who gets it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from agent.text import OneLine

if TYPE_CHECKING:
    from agent.trajectory import Trajectory
    from reviewer.store.values import Version


class StoreError(OneLine):
    """Something annotations.db would not do. Nothing was half-written."""


class NotAnnotations(StoreError):
    """The file is no annotations database: another program's, or not SQLite at all."""


class NewerSchema(StoreError):
    """The file was written by a newer release of this program."""


class NotFound(StoreError):
    """There is no such item, version, spectrum, picture or person."""


class WrongSpectrum(StoreError):
    """A trajectory came with another spectrum than the one it was drawn from."""


class CannotWrite(StoreError):
    """The file cannot be written: disk full, read-only, or another program holds it. Nothing was saved."""


class FileGone(CannotWrite):
    """The file that is open no longer has its name: it was moved, deleted or replaced. Nothing was saved."""


class Damaged(StoreError):
    """What is in the file cannot be what this program wrote. Nothing was saved."""


def restore_instead(path: Path, found: object) -> str:
    """What to do about a damaged file."""
    return (
        f"{path}: the file is damaged ({found}). Nothing was saved. Stop what uses it and bring a backup "
        "back with `spec-o3 restore BACKUP`; this file is kept beside it."
    )


class InUse(StoreError):
    """Another program has the file open, and this needs it for itself. Nothing was changed."""


class NotAllowed(StoreError):
    """The rules do not let this person do this now; the message is the sentence why."""


class HeldByAnother(NotAllowed):
    """Somebody else is working on the item: ``holders`` (initials), until ``until`` at the latest."""

    def __init__(self, sentence: str, holders: tuple[str, ...], until: datetime) -> None:
        super().__init__(sentence)
        self.holders = holders
        self.until = until


class LeaseLost(StoreError):
    """The lease this was done under has ended. ``holder``: who has the item now, None if it is free.

    What was being saved is kept among the person's autosaves.
    """

    def __init__(self, sentence: str, holder: str | None = None) -> None:
        super().__init__(sentence)
        self.holder = holder


class VersionMoved(StoreError):
    """The item has a newer version than the one this was drawn from; nothing was merged.

    :param theirs: the version that is current now
    :param yours: what was being saved, also kept among the person's autosaves; None for a decision
    """

    def __init__(self, sentence: str, theirs: Version, yours: Trajectory | None = None) -> None:
        super().__init__(sentence)
        self.theirs = theirs
        self.yours = yours


class KeyReused(StoreError):
    """An idempotency key came a second time with something else: a fault of the page, not of the person."""


class SignInRefused(StoreError):
    """Initials and password do not match, the account is inactive, or there were too many attempts."""
