"""Exceptions of the store, one per situation. Each message is a sentence for the person who reads it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.errors import Refusal
from agent.language import tr, trn

if TYPE_CHECKING:
    from agent.trajectory import Trajectory
    from reviewer.store.values import Version


class StoreError(Refusal):
    """The store refused or failed; nothing was partially written."""

    kind = "store"
    status = 503


class NotAnnotations(StoreError):
    """The file is not an annotations database: it belongs to another program, or is not SQLite."""


class NewerSchema(StoreError):
    """The file was written by a newer release of this program."""


class OlderSchema(StoreError):
    """The file was written by a program from before the first release."""


class NotFound(StoreError):
    """There is no such item, version, spectrum, picture or person."""

    kind = "not_found"
    status = 404


class WrongSpectrum(StoreError):
    """A trajectory was given with another spectrum than its own."""


class CannotWrite(StoreError):
    """The file cannot be written: disk full, read-only, or locked by another program. Nothing was saved."""


class FileGone(CannotWrite):
    """The open file was moved, deleted or replaced. Nothing was saved."""


class Damaged(StoreError):
    """The file's content is damaged. Nothing was saved."""


def restore_instead(path: Path, fault: object) -> str:
    """Return the message for a damaged file, with what to do."""
    return tr(
        "{path}: the file is damaged ({found}). Nothing was saved. Stop every program that uses it "
        "and restore a backup with `spec-o3 restore BACKUP`; the damaged file is kept in the same "
        "folder.",
        path=path,
        found=fault,
    )


class InUse(StoreError):
    """Another program has the file open, and exclusive access is needed. Nothing was changed."""


class NotAllowed(StoreError):
    """The rules do not allow this person to do this now; the message gives the reason."""

    kind = "not_allowed"
    status = 403


class BadSearch(StoreError):
    """A search of words that cannot be carried out; the message says what to write instead."""

    kind = "bad_search"
    status = 422


class HeldByAnother(NotAllowed):
    """Other people are working on the item: ``holders`` (initials), until ``until`` at the latest."""

    kind = "held"
    status = 409

    def __init__(self, sentence: str, holders: tuple[str, ...], until: datetime) -> None:
        super().__init__(sentence)
        self.holders = holders
        self.until = until

    @property
    def details(self) -> dict[str, Any]:
        return {"until": self.until.isoformat()}


class LeaseLost(StoreError):
    """The lease has ended. ``holder``: who has the item now, None if nobody has it.

    The text that was being saved is kept as an autosave of its writer.
    """

    kind = "lease_lost"
    status = 409

    def __init__(self, sentence: str, holder: str | None = None) -> None:
        super().__init__(sentence)
        self.holder = holder


class VersionMoved(StoreError):
    """The item has a newer version than the one this is based on; nothing was merged.

    :param theirs: the version that is current now
    :param yours: what was being saved, also kept among the person's autosaves; None for a decision
    """

    kind = "version_moved"
    status = 409

    def __init__(self, sentence: str, theirs: Version, yours: Trajectory | None = None) -> None:
        super().__init__(sentence)
        self.theirs = theirs
        self.yours = yours

    @property
    def details(self) -> dict[str, Any]:
        steps = self.theirs.trajectory.to_json()["steps"]
        return {"number": self.theirs.number, "author": self.theirs.author, "steps": steps}


class Disagreement(StoreError):
    """The texts disagree with their tool calls or with the answer, and the decision does not confirm that.

    :param statements: the id of the step that has the text, and a sentence, of each
    """

    kind = "disagreement"
    status = 409

    def __init__(self, statements: tuple[tuple[str, str], ...]) -> None:
        super().__init__(
            trn(
                "Not decided: {n} statement disagrees with the tool calls or the answer ({first}). Correct the text, "
                "return it, or confirm it with the decision.",
                "Not decided: {n} statements disagree with the tool calls or the answer ({first}). Correct the text, "
                "return it, or confirm each of them with the decision.",
                len(statements),
                first="; ".join(text for _, text in statements[:3]),
            )
        )
        self.statements = statements

    @property
    def details(self) -> dict[str, Any]:
        return {"statements": [{"step": step, "text": text} for step, text in self.statements]}


class KeyReused(StoreError):
    """An idempotency key was used again for another request: an error of the page, not of the person."""

    kind = "key_reused"
    status = 409


class SignInRefused(StoreError):
    """Initials and password do not match, the account is inactive, or there were too many attempts."""

    kind = "sign_in"
    status = 403
