"""The store: everything the parts offer, behind one name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from reviewer.people import Person
from reviewer.store.connection import Base, Clock, utc_now
from reviewer.store.values import (
    Added, Autosave, CommittedVerdict, Draft, Export, Item, Lease, Mark, MarkKind, OwnVerdict, Progress, QueueFilter,
    QueuePage, Recorded, Session, Version,
)
from reviewer.workflow import Rules, Standing, Verb


class Store(Base):
    """annotations.db. Safe to use from many threads; several processes may open one file."""

    @classmethod
    def open(cls, path: Path | str, clock: Clock = utc_now) -> Store:
        """Open the database, creating it or bringing its schema up to date. :raises NotAnnotations, NewerSchema:"""
        raise NotImplementedError

    # -- spectra and pictures
    def add_spectrum(self, spectrum: Spectrum) -> str:
        """Keep a spectrum, exactly; its sha256. One that is there already is not written again."""
        raise NotImplementedError
    def spectrum(self, sha256: str) -> Spectrum:
        """The spectrum as it went in. :raises NotFound:"""
        raise NotImplementedError
    def has_spectrum(self, sha256: str) -> bool: raise NotImplementedError
    def add_picture(self, sha256: str, png: bytes) -> None:
        """Keep a picture that cannot be drawn again, by the SHA-256 of its RGBA bytes."""
        raise NotImplementedError
    def picture(self, sha256: str) -> bytes | None:
        """PNG bytes, None where none is stored (then it is drawn from the spectrum)."""
        raise NotImplementedError

    # -- items
    def add_item(self, trajectory: Trajectory, spectrum_sha256: str | None = None, batch: str = "", key: str | None = None) -> int: raise NotImplementedError
    def add_items(self, drafts: Iterable[Draft], progress: Callable[[int], None] | None = None) -> list[Added]:
        """All of them in one transaction, or none."""
        raise NotImplementedError
    def item(self, item_id: int) -> Item:
        """:raises NotFound:"""
        raise NotImplementedError
    def versions(self, item_id: int) -> list[Version]: raise NotImplementedError
    def version(self, version_id: int) -> Version: raise NotImplementedError
    def history(self, item_id: int) -> list[Recorded]: raise NotImplementedError
    def standing(self, item_id: int) -> Standing: raise NotImplementedError

    # -- queue
    def queue(self, filter: QueueFilter, person: str, after: int | None = None, limit: int = 50) -> QueuePage: raise NotImplementedError
    def first_undone(self, filter: QueueFilter, person: str) -> int | None:
        """The first item of the filter that this person may act on now; None if there is none."""
        raise NotImplementedError
    def neighbours(self, item_id: int, filter: QueueFilter, person: str, n: int = 3, backwards: bool = False) -> list[int]:
        """The next (or previous) n ids of the filter, nearest first."""
        raise NotImplementedError
    def position(self, item_id: int, filter: QueueFilter, person: str) -> int:
        """How many items of the filter come before this one, for "i of N"."""
        raise NotImplementedError
    def facets(self) -> Mapping[str, Sequence[str]]:
        """What can be filtered by: the values that occur, under task, survey, drafter, batch, state."""
        raise NotImplementedError
    def counts(self, task: str | None = None, batch: str | None = None) -> Progress: raise NotImplementedError

    # -- reviewing
    def save_version(self, person: str, item_id: int, base_version_id: int, trajectory: Trajectory, reason: str, key: str, lease_token: str) -> Version:
        """:raises VersionMoved, LeaseLost, NotAllowed: each keeps the text among the person's autosaves"""
        raise NotImplementedError
    def decide(self, person: str, item_id: int, version_id: int, verb: Verb, key: str, lease_token: str, reason: str = "", comment: str = "") -> Standing:
        """:raises VersionMoved, LeaseLost, NotAllowed, KeyReused:"""
        raise NotImplementedError
    def undo(self, person: str, item_id: int, key: str) -> Standing: raise NotImplementedError
    def mark(self, person: str, item_id: int, version_id: int, step_id: str, mark: MarkKind, key: str, note: str = "") -> Mark: raise NotImplementedError
    def marks(self, item_id: int) -> list[Mark]:
        """The marks in force, of all versions: the latest of each person on each step, cleared ones left out."""
        raise NotImplementedError
    def commit_verdict(self, person: str, item_id: int, version_id: int, verdict: OwnVerdict) -> CommittedVerdict:
        """Once per person and version; the same again is the same, another is refused. :raises NotAllowed:"""
        raise NotImplementedError
    def verdicts(self, item_id: int) -> list[CommittedVerdict]: raise NotImplementedError

    # -- leases and unsent text
    def lease(self, person: str, item_id: int) -> Lease:
        """:raises NotAllowed: there is nothing this person may do with the item now. :raises HeldByAnother:"""
        raise NotImplementedError
    def renew(self, token: str) -> Lease:
        """:raises LeaseLost:"""
        raise NotImplementedError
    def release(self, token: str) -> None: raise NotImplementedError
    def autosave(self, person: str, item_id: int, base_version_id: int, body: Mapping[str, Any]) -> Autosave: raise NotImplementedError
    def autosaved(self, person: str, item_id: int) -> Autosave | None:
        """The latest unsent text of this person on this item, whatever version it was drawn from."""
        raise NotImplementedError
    def discard_autosave(self, person: str, item_id: int, base_version_id: int) -> None: raise NotImplementedError

    # -- people
    def add_person(self, initials: str, name: str, roles: Iterable[str], password: str | None = None, by: str | None = None) -> Person:
        """``by`` a coordinator; None for the first person and for spec-o3's own command line."""
        raise NotImplementedError
    def work_alone(self, initials: str) -> Person:
        """The person who works alone here, made from their initials without a password, with every role.
        Only while nobody has a password. :raises NotAllowed:"""
        raise NotImplementedError
    def person(self, initials: str) -> Person: raise NotImplementedError
    def people(self) -> list[Person]: raise NotImplementedError
    def set_roles(self, by: str | None, initials: str, roles: Iterable[str]) -> Person: raise NotImplementedError
    def set_password(self, by: str | None, initials: str, password: str) -> None: raise NotImplementedError
    def deactivate(self, by: str | None, initials: str) -> None: raise NotImplementedError
    def reactivate(self, by: str | None, initials: str) -> None: raise NotImplementedError
    def sign_in(self, initials: str, password: str, origin: str = "") -> Session:
        """:raises SignInRefused:"""
        raise NotImplementedError
    def signed_in(self, token: str) -> Person | None: raise NotImplementedError
    def sign_out(self, token: str) -> None: raise NotImplementedError

    # -- settings, exports, upkeep
    def rules(self) -> Rules: raise NotImplementedError
    def set_rules(self, person: str | None, rules: Rules) -> None: raise NotImplementedError
    def setting(self, name: str, default: Any = None) -> Any: raise NotImplementedError
    def set_setting(self, person: str | None, name: str, value: Any) -> None: raise NotImplementedError
    def record_export(self, person: str, name: str, manifest: Mapping[str, Any]) -> Export: raise NotImplementedError
    def exports(self) -> list[Export]: raise NotImplementedError
    def approved(self, task: str | None = None, batch: str | None = None) -> list[int]: raise NotImplementedError
    def backup(self, path: Path | str) -> None: raise NotImplementedError
    def rebuild(self) -> int: raise NotImplementedError
    def verify(self) -> list[str]: raise NotImplementedError
