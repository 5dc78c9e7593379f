"""Items: a drafted trajectory and its spectrum on their way in, everything about one item on the way out."""

from __future__ import annotations

import json
import pickle
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from reviewer.rules.workflow import Decision, Standing
from reviewer.store.accounts import require_active
from reviewer.store.errors import CannotWrite, NotFound, WrongSpectrum
from reviewer.store.history import History, version_by_id, version_from
from reviewer.store.queue import read_rows
from reviewer.store.spectra import Spectra, encode, insert_picture, insert_spectrum
from reviewer.store.sqlite.database import Database, Transaction, stamp
from reviewer.store.values import Added, Draft, Item, Recorded, Version

Entry = TypeVar("Entry")


class DiskQueue(Generic[Entry]):
    """Any number of things in little memory: put in, then gone through once."""

    def __init__(self, folder: Path) -> None:
        """:raises CannotWrite: nothing can be written in that folder"""
        self._folder = folder
        self._number = 0
        try:
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        except OSError as error:
            raise self._refused(error) from error

    def put(self, one: Entry) -> None:
        """:raises CannotWrite: the disk is full"""
        try:
            pickle.dump(one, self._file, pickle.HIGHEST_PROTOCOL)
        except OSError as error:
            raise self._refused(error) from error
        self._number += 1

    def __len__(self) -> int:
        return self._number

    def __iter__(self) -> Iterator[Entry]:
        """:raises CannotWrite: the disk is full"""
        try:
            self._file.seek(0)
            for _ in range(self._number):
                yield pickle.load(self._file)
        except OSError as error:
            raise self._refused(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: object, where: TracebackType | None) -> None:
        try:
            self._file.close()
        except OSError as error:
            # What could not be written is not wanted any more; a disk that is full was told before.
            if kind is None:
                raise self._refused(error) from error

    def _refused(self, error: OSError) -> CannotWrite:
        return CannotWrite(f"{self._folder}: {error.strerror}. Nothing was saved.")


_INSERT = """
INSERT INTO items
    (key, spectrum, name, task, drafter_kind, drafter_name, label, simulated, batch, survey, snr, added_at)
VALUES
    (:key, :spectrum, :name, :task, :drafter_kind, :drafter_name, :label, :simulated, :batch, :survey, :snr,
     :at)
"""
_INSERT_VERSION = """
INSERT INTO versions (key, item, number, content_hash, parent, author, reason, body, at)
VALUES (:key, :item, :number, :content_hash, :parent, :author, :reason, :body, :at)
"""


_TOGETHER = 100  # drafts whose spectra are written in one transaction
_REMEMBERED = 1000  # spectra of which is remembered what an item copies of them

AT_A_TIME = 2000
"""Items that are written in one transaction, some tenths of a millisecond each: a submit waits so long."""
# SQLite looks every tenth of a second whether the lock it waits for is free.
_A_MOMENT = 0.12


@dataclass(frozen=True)
class _Described:
    """What an item copies of its spectrum, to be found by."""

    sha256: str | None
    survey: str = ""
    snr: float | None = None
    ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Prepared:
    """A draft with everything slow already done: the write lock is held only while rows are written. ``row``
    is its line in ``items`` but for the time, ``text`` what it is found by."""

    key: str
    row: Mapping[str, object]
    text: str
    content_hash: str
    body: str


class Items:
    """Items, their versions and their history."""

    def __init__(self, database: Database, history: History, spectra: Spectra) -> None:
        self._database = database
        self._history = history
        self._spectra = spectra

    def add(
        self,
        trajectory: Trajectory,
        spectrum_sha256: str | None = None,
        batch: str = "",
        key: str | None = None,
        by: str | None = None,
    ) -> int:
        """One item; its id. A key that is there already adds nothing and gives the id of the first.

        :param spectrum_sha256: of a spectrum that was added; None where there is only the trajectory
        :param key: names the item for ever; the trajectory's content hash if not given
        :raises WrongSpectrum: the spectrum is not the one the trajectory was drawn from
        :raises NotFound: the spectrum is not stored
        """
        return self.add_all([Draft(trajectory, spectrum_sha256, batch, key)], by=by)[0].item_id

    def add_all(
        self,
        drafts: Iterable[Draft],
        progress: Callable[[int], None] | None = None,
        by: str | None = None,
    ) -> list[Added]:
        """All of the drafts, or none of them if one is refused.

        Spectra and pictures go in first, a hundred drafts at a time, and the texts wait on the disk, so that
        a campaign of any size fits into memory and others can write meanwhile. If a later draft is refused
        spectra and pictures stay, unused and harmless.
        Items go in once every draft has been looked at, two thousand in a transaction, with a moment between
        for whoever waits to write. Only a full disk, a lock or a kill can come between the transactions: then
        whole items of the first ones are there, and the same drafts again bring the rest.

        :param progress: called with the number of drafts prepared so far
        :param by: who brings them in; None for whoever holds the file itself
        :raises WrongSpectrum: naming the trajectory; no item was added
        :raises NotFound: a draft names a spectrum that is not stored; no item was added
        :raises NotAllowed: ``by`` is no longer active; no item was added
        :raises CannotWrite: as everywhere; it says how many items were added, if any were
        """
        with DiskQueue[_Prepared](self._database.path.resolve().parent) as prepared:
            described: dict[str, _Described] = {}
            coming = iter(drafts)
            while some := list(islice(coming, _TOGETHER)):
                self._add_what_they_show(some)
                for draft in some:
                    prepared.put(self._prepare(draft, described))
                if progress is not None:
                    progress(len(prepared))
            return self._add_by_turns(prepared, by)

    def _add_by_turns(self, prepared: DiskQueue[_Prepared], by: str | None) -> list[Added]:
        added: list[Added] = []
        coming = iter(prepared)
        while len(added) < len(prepared):
            if added:
                time.sleep(_A_MOMENT)
            try:
                added += self._add_all(islice(coming, AT_A_TIME), by)
            except CannotWrite as error:
                if not added:
                    raise
                raise CannotWrite(
                    f"{len(added)} of {len(prepared)} items were added, the others were not: add the same "
                    f"again, and the rest follows. What stopped it: {error}"
                ) from error
        return added

    def _add_all(self, prepared: Iterable[_Prepared], by: str | None) -> list[Added]:
        at = stamp(self._database.now())
        with self._database.write() as db:
            if by is not None:
                require_active(db, by)
            added = [self._add(db, one, at) for one in prepared]
            self._log_added(db, by, [one.item_id for one in added if one.new])
            return added

    def _log_added(self, db: Transaction, by: str | None, items: Sequence[int]) -> None:
        if not items:
            return
        first, last = items[0], items[-1]
        versions = db.execute(
            "SELECT min(id), max(id) FROM versions WHERE item BETWEEN ? AND ? AND number = 1", (first, last)
        ).fetchone()
        bound = {"items": (first, last), "versions": tuple(versions)}
        subject = f"item {first}" if first == last else f"items {first} to {last}"
        self._database.log(db, by, "items added", subject, {"count": len(items)}, bound)

    def _add_what_they_show(self, drafts: Sequence[Draft]) -> None:
        spectra = {d.spectrum.sha256: d.spectrum for d in drafts if isinstance(d.spectrum, Spectrum)}
        pictures = {sha256: png for d in drafts for sha256, png in d.pictures.items()}
        rows = [encode(s) for sha256, s in spectra.items() if not self._spectra.exists(sha256)]
        if not rows and not pictures:
            return
        at = stamp(self._database.now())
        with self._database.write() as db:
            for row in rows:
                insert_spectrum(db, {**row, "added_at": at})
            for sha256, png in pictures.items():
                insert_picture(db, sha256, png)

    def _prepare(self, draft: Draft, described: dict[str, _Described]) -> _Prepared:
        content_hash = draft.trajectory.content_hash()
        spectrum = self._describe(draft, described)
        key = draft.key or content_hash
        return _Prepared(
            key=key,
            row=_item_row(draft, key, spectrum),
            text="\n".join((draft.trajectory.spectrum_name, *spectrum.ids)),
            content_hash=content_hash,
            body=body_of(draft.trajectory),
        )

    def _describe(self, draft: Draft, described: dict[str, _Described]) -> _Described:
        drawn_from = draft.trajectory.spectrum_sha256
        given = draft.spectrum.sha256 if isinstance(draft.spectrum, Spectrum) else draft.spectrum
        if given is None:
            given = drawn_from if drawn_from is not None and self._spectra.exists(drawn_from) else None
        elif drawn_from is not None and given != drawn_from:
            raise WrongSpectrum(
                f"{draft.trajectory.spectrum_name}: found the spectrum {given:.12}…, "
                f"wanted {drawn_from:.12}…, from which the trajectory was drawn"
            )
        if given is None:
            return _Described(None)
        if given not in described:
            if len(described) == _REMEMBERED:
                described.clear()
            spectrum = draft.spectrum if isinstance(draft.spectrum, Spectrum) else self._spectra.get(given)
            ids = tuple(spectrum.ids.values())
            described[given] = _Described(given, spectrum.survey, spectrum.snr_typical, ids)
        return described[given]

    def _add(self, db: Transaction, one: _Prepared, at: str) -> Added:
        known = db.execute("SELECT id FROM items WHERE key = ?", (one.key,)).fetchone()
        if known is not None:
            return Added(known[0], new=False)
        item_id = db.execute(_INSERT, {**one.row, "at": at}).lastrowid
        assert item_id is not None
        db.execute("INSERT INTO items_text (rowid, text) VALUES (?, ?)", (item_id, one.text))
        first = {
            "key": f"draft:{one.key}",
            "item": item_id,
            "number": 1,
            "content_hash": one.content_hash,
            "parent": None,
            "author": None,
            "reason": "draft",
            "body": one.body,
            "at": at,
        }
        insert_version(db, first)
        self._history.refresh(db, item_id)
        return Added(item_id, new=True)

    def get(self, item_id: int) -> Item:
        """Where it stands, its text, its line in the queue. :raises NotFound: there is no such item."""
        now = stamp(self._database.steady())
        with self._database.read() as db:
            row = db.execute("SELECT key, label, added_at FROM items WHERE id = ?", (item_id,)).fetchone()
            if row is None:
                raise NotFound(f"There is no item {item_id}.")
            stands = self._history.standing(db, item_id)
            (line,) = read_rows(db, [item_id], self._history.current_rules(db)[1], now)
            return Item(
                id=item_id,
                key=row["key"],
                row=line,
                label=row["label"],
                standing=stands,
                version=version_by_id(db, item_id, stands.version_id),
                added_at=datetime.fromisoformat(row["added_at"]),
            )

    def standing(self, item_id: int) -> Standing:
        """Where an item stands, derived from its facts. :raises NotFound: there is no such item."""
        with self._database.read() as db:
            return self._history.standing(db, item_id)

    def versions(self, item_id: int) -> list[Version]:
        """Every text of an item, oldest first. :raises NotFound: there is no such item."""
        with self._database.read() as db:
            rows = db.execute("SELECT * FROM versions WHERE item = ? ORDER BY number", (item_id,)).fetchall()
        if not rows:
            raise NotFound(f"There is no item {item_id}.")
        return [version_from(row) for row in rows]

    def version(self, version_id: int) -> Version:
        """One text. :raises NotFound: there is no such version."""
        with self._database.read() as db:
            row = db.execute("SELECT * FROM versions WHERE id = ?", (version_id,)).fetchone()
        if row is None:
            raise NotFound(f"There is no version with the id {version_id}.")
        return version_from(row)

    def history(self, item_id: int) -> list[Recorded]:
        """Every decision on an item, oldest first, undone ones and the undos themselves included."""
        with self._database.read() as db:
            facts = self._history.facts(db, item_id)
        numbers = {fact.id: fact.number for fact, _ in facts if not isinstance(fact, Decision)}
        decisions = [(fact, at) for fact, at in facts if isinstance(fact, Decision)]
        undone = {d.withdraws: d.id for d, _ in decisions if d.withdraws is not None}
        return [Recorded(d, numbers[d.version_id], at, undone.get(d.id)) for d, at in decisions]


def insert_version(db: Transaction, row: dict[str, Any]) -> int:
    """Append a version; its id."""
    version_id = db.execute(_INSERT_VERSION, row).lastrowid
    assert version_id is not None
    return version_id


def body_of(trajectory: Trajectory) -> str:
    """A trajectory as it is stored: JSON that a person with another SQLite tool can read."""
    return json.dumps(trajectory.to_json(), ensure_ascii=False, separators=(",", ":"))


def _item_row(draft: Draft, key: str, spectrum: _Described) -> dict[str, object]:
    trajectory = draft.trajectory
    return {
        "key": key,
        "spectrum": spectrum.sha256,
        "name": trajectory.spectrum_name,
        "task": trajectory.task,
        "drafter_kind": trajectory.drafter.kind,
        "drafter_name": trajectory.drafter.name,
        "label": trajectory.label,
        "simulated": trajectory.simulated,
        "batch": draft.batch,
        "survey": spectrum.survey,
        "snr": spectrum.snr,
    }
