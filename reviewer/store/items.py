"""Items: adding drafted trajectories with their spectra, and reading one item with its versions and history."""

from __future__ import annotations

import json
import pickle
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from agent.language import tr
from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from reviewer.rules.workflow import Decision, Standing
from reviewer.store.accounts import require_active
from reviewer.store.errors import CannotWrite, NotFound, WrongSpectrum
from reviewer.store.history import History, version_by_id, version_from
from reviewer.store.queue import read_rows
from reviewer.store.spectra import Spectra, insert_picture, insert_spectrum
from reviewer.store.sqlite.database import Database, Transaction, stamp
from reviewer.store.sqlite.texts import index_trace, trace_text
from reviewer.store.values import Added, Draft, Item, Recorded, Version

Entry = TypeVar("Entry")


class DiskQueue(Generic[Entry]):
    """Disk-backed FIFO queue: any number of entries in little memory, read once.

    The file has no name and disappears with the process. It lies in the database's folder, because the
    system's folder for temporary files may be in memory.
    """

    def __init__(self, folder: Path) -> None:
        """Create the file of the queue. :raises CannotWrite: nothing can be written in that folder"""
        self._folder = folder
        self._number = 0
        try:
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        except OSError as error:
            raise self._refused(error) from error

    def put(self, entry: Entry) -> None:
        """Append an entry. :raises CannotWrite: the disk is full"""
        try:
            pickle.dump(entry, self._file, pickle.HIGHEST_PROTOCOL)
        except OSError as error:
            raise self._refused(error) from error
        self._number += 1

    def __len__(self) -> int:
        return self._number

    def __iter__(self) -> Iterator[Entry]:
        """Yield the entries in their order. :raises CannotWrite: the disk is full"""
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
            # The rest of the buffer is not needed; a full disk was reported by an earlier call.
            if kind is None:
                raise self._refused(error) from error

    def _refused(self, error: OSError) -> CannotWrite:
        return CannotWrite(tr("{folder}: {strerror}. Nothing was saved.", folder=self._folder, strerror=error.strerror))


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


_BATCH = 100  # drafts whose spectra are written in one transaction
_SPECTRA = 25
"""Drafts of a part whose spectra are written in one transaction: megabytes that are flushed to the disk."""
_DESCRIBED = 1000  # spectra whose description is cached

AT_A_TIME = 2000
"""Items per transaction, some tenths of a millisecond each: a submit of another person waits as long."""
# Seconds between two transactions: SQLite checks ten times per second whether a lock is free.
_PAUSE = 0.12


@dataclass(frozen=True)
class _Described:
    """What an item copies from its spectrum for the search."""

    sha256: str | None
    survey: str = ""
    snr: float | None = None
    ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Prepared:
    """A draft ready to be written, so that the write lock is held only while rows are inserted.

    ``row`` is its row in ``items`` without the time, ``text`` the text of the index of names, ``words`` that of the
    index of traces.
    """

    key: str
    row: Mapping[str, object]
    text: str
    words: str
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
        """Add one item and return its id. An existing key adds nothing and returns the id of its item.

        :param spectrum_sha256: of a stored spectrum; None if there is only the trajectory
        :param key: the permanent key of the item; by default the trajectory's content hash
        :raises WrongSpectrum: the spectrum is not the trajectory's
        :raises NotFound: the spectrum is not stored
        """
        return self.add_all([Draft(trajectory, spectrum_sha256, batch, key)], by=by)[0].item_id

    def add_all(
        self,
        drafts: Iterable[Draft],
        progress: Callable[[int], None] | None = None,
        by: str | None = None,
    ) -> list[Added]:
        """Add all of the drafts, or none if one is refused.

        Spectra and pictures are written first, a hundred drafts at a time, and the texts wait in a queue on
        the disk, so that a campaign of any size fits into memory and others can write in between. If a later
        draft is refused, spectra and pictures stay, unused and harmless.
        Items are written after every draft was checked, two thousand per transaction, with a pause in between
        for other writers. Only a full disk, a lock or a kill can interrupt this: then the items of the
        finished transactions are complete, and adding the same drafts again adds the rest.

        :param progress: called with the number of drafts prepared so far
        :param by: who adds them; None for the owner of the file
        :raises WrongSpectrum: naming the trajectory; no item was added
        :raises NotFound: a draft names a spectrum that is not stored; no item was added
        :raises NotAllowed: ``by`` is no longer active; no item was added
        :raises CannotWrite: as in every write; the message says how many items were added, if any
        """
        with DiskQueue[_Prepared](self._database.path.resolve().parent) as prepared:
            described: dict[str, _Described] = {}
            incoming = iter(drafts)
            while some := list(islice(incoming, _BATCH)):
                self._add_spectra(some)
                for draft in some:
                    prepared.put(self._prepare(draft, described))
                if progress is not None:
                    progress(len(prepared))
            return self._add_in_batches(prepared, by)

    def add_part(
        self, drafts: Sequence[Draft], by: str | None, also: Callable[[Transaction, Sequence[Added]], None]
    ) -> None:
        """Add a few drafts in one transaction; their spectra and pictures are written before it.

        :param also: called at the end of the transaction with the result of each draft, to write with them
        :raises WrongSpectrum: naming the trajectory; no item was added
        :raises NotAllowed: ``by`` is no longer active; no item was added
        """
        for start in range(0, len(drafts), _SPECTRA):
            self._add_spectra(drafts[start : start + _SPECTRA])
        described: dict[str, _Described] = {}
        prepared = [self._prepare(draft, described) for draft in drafts]
        at = stamp(self._database.now())
        with self._database.write() as db:
            if by is not None:
                require_active(db, by)
            added = [self._add(db, item, at) for item in prepared]
            self._log_added(db, by, [item.item_id for item in added if item.new])
            also(db, added)

    def _add_in_batches(self, prepared: DiskQueue[_Prepared], by: str | None) -> list[Added]:
        added: list[Added] = []
        incoming = iter(prepared)
        while len(added) < len(prepared):
            if added:
                time.sleep(_PAUSE)
            try:
                added += self._add_all(islice(incoming, AT_A_TIME), by)
            except CannotWrite as error:
                if not added:
                    raise
                raise CannotWrite(
                    tr(
                        "{n_added} of {n_prepared} items were added, the others were not. Import the file again to "
                        "add the rest. The error was: {error}",
                        n_added=len(added),
                        n_prepared=len(prepared),
                        error=error,
                    )
                ) from error
        return added

    def _add_all(self, prepared: Iterable[_Prepared], by: str | None) -> list[Added]:
        at = stamp(self._database.now())
        with self._database.write() as db:
            if by is not None:
                require_active(db, by)
            added = [self._add(db, item, at) for item in prepared]
            self._log_added(db, by, [item.item_id for item in added if item.new])
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

    def _add_spectra(self, drafts: Sequence[Draft]) -> None:
        spectra = {d.spectrum.sha256: d.spectrum for d in drafts if isinstance(d.spectrum, Spectrum)}
        pictures = {sha256: png for d in drafts for sha256, png in d.pictures.items()}
        rows = self._spectra.prepare(spectra.values())
        if not rows and not pictures:
            return
        with self._database.write() as db:
            for row in rows:
                insert_spectrum(db, row)
            for sha256, png in pictures.items():
                insert_picture(db, sha256, png)

    def _prepare(self, draft: Draft, described: dict[str, _Described]) -> _Prepared:
        content_hash = draft.trajectory.content_hash()
        spectrum = self._describe(draft, described)
        key = draft.key or content_hash
        stored = draft.trajectory.to_json()
        return _Prepared(
            key=key,
            row=_item_row(draft, key, spectrum),
            text="\n".join((draft.trajectory.spectrum_name, *spectrum.ids)),
            words=trace_text(stored),
            content_hash=content_hash,
            body=body_of(stored),
        )

    def _describe(self, draft: Draft, described: dict[str, _Described]) -> _Described:
        expected = draft.trajectory.spectrum_sha256
        given = draft.spectrum.sha256 if isinstance(draft.spectrum, Spectrum) else draft.spectrum
        if given is None:
            given = expected if expected is not None and self._spectra.exists(expected) else None
        elif expected is not None and given != expected:
            raise WrongSpectrum(
                tr(
                    "{spectrum_name}: found the spectrum {given:.12}…, expected {expected:.12}…, the spectrum of "
                    "the trajectory",
                    spectrum_name=draft.trajectory.spectrum_name,
                    given=given,
                    expected=expected,
                )
            )
        if given is None:
            return _Described(None)
        if given not in described:
            if len(described) == _DESCRIBED:
                described.clear()
            spectrum = draft.spectrum if isinstance(draft.spectrum, Spectrum) else self._spectra.get(given)
            ids = tuple(spectrum.ids.values())
            described[given] = _Described(given, spectrum.survey, spectrum.snr_typical, ids)
        return described[given]

    def _add(self, db: Transaction, prepared: _Prepared, at: str) -> Added:
        known = db.execute("SELECT id FROM items WHERE key = ?", (prepared.key,)).fetchone()
        if known is not None:
            return Added(known[0], new=False)
        item_id = db.execute(_INSERT, {**prepared.row, "at": at}).lastrowid
        assert item_id is not None
        db.execute("INSERT INTO items_text (rowid, text) VALUES (?, ?)", (item_id, prepared.text))
        first = {
            "key": f"draft:{prepared.key}",
            "item": item_id,
            "number": 1,
            "content_hash": prepared.content_hash,
            "parent": None,
            "author": None,
            "reason": "draft",
            "body": prepared.body,
            "at": at,
        }
        insert_version(db, first, prepared.words)
        self._history.refresh(db, item_id)
        return Added(item_id, new=True)

    def get(self, item_id: int) -> Item:
        """Return an item: standing, current text, row of the queue. :raises NotFound: there is no such item"""
        now = stamp(self._database.steady())
        with self._database.read() as db:
            row = db.execute("SELECT key, label, added_at FROM items WHERE id = ?", (item_id,)).fetchone()
            if row is None:
                raise NotFound(tr("There is no item {item_id}.", item_id=item_id))
            current = self._history.standing(db, item_id)
            (line,) = read_rows(db, [item_id], self._history.current_rules(db)[1], now)
            version = version_by_id(db, item_id, current.version_id)
            if line.spectrum_sha256 is not None and version.trajectory.medium_set_by:
                # A person stated the medium: the version refers to the spectrum with it.
                line = replace(line, spectrum_sha256=version.trajectory.spectrum_sha256)
            return Item(
                id=item_id,
                key=row["key"],
                row=line,
                label=row["label"],
                standing=current,
                version=version,
                added_at=datetime.fromisoformat(row["added_at"]),
            )

    def standing(self, item_id: int) -> Standing:
        """Return the standing of an item, derived from its facts. :raises NotFound: there is no such item"""
        with self._database.read() as db:
            return self._history.standing(db, item_id)

    def versions(self, item_id: int) -> list[Version]:
        """Return every version of an item, oldest first. :raises NotFound: there is no such item"""
        with self._database.read() as db:
            rows = db.execute("SELECT * FROM versions WHERE item = ? ORDER BY number", (item_id,)).fetchall()
            if not rows:
                raise NotFound(tr("There is no item {item_id}.", item_id=item_id))
            return [version_from(row) for row in rows]

    def version(self, version_id: int) -> Version:
        """Return one version. :raises NotFound: there is no such version"""
        with self._database.read() as db:
            row = db.execute("SELECT * FROM versions WHERE id = ?", (version_id,)).fetchone()
            if row is None:
                raise NotFound(tr("There is no version with the id {version_id}.", version_id=version_id))
            return version_from(row)

    def history(self, item_id: int) -> list[Recorded]:
        """Return every decision on an item, oldest first, with undone ones and the undos."""
        with self._database.read() as db:
            facts = self._history.facts(db, item_id)
        numbers = {fact.id: fact.number for fact, _ in facts if not isinstance(fact, Decision)}
        decisions = [(fact, at) for fact, at in facts if isinstance(fact, Decision)]
        undone = {d.withdraws: d.id for d, _ in decisions if d.withdraws is not None}
        return [Recorded(d, numbers[d.version_id], at, undone.get(d.id)) for d, at in decisions]


def insert_version(db: Transaction, row: dict[str, Any], words: str) -> int:
    """Append a version, also to the index of traces, and return its id.

    :param words: the text that is searched
    """
    version_id = db.execute(_INSERT_VERSION, row).lastrowid
    assert version_id is not None
    index_trace(db, row["item"], row["number"], words)
    return version_id


def body_of(trajectory: Mapping[str, Any]) -> str:
    """Return the stored form of a trajectory's JSON: text that other SQLite tools can read."""
    return json.dumps(trajectory, ensure_ascii=False, separators=(",", ":"))


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
