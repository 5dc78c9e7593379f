"""What catalogues answered about the objects of stored spectra (``agent.sky``): records are appended, each one once,
and the last one of a spectrum and catalogue is the present one.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from agent.language import tr
from agent.sky.records import Sky, SkyRecord, record_from
from reviewer.store.audit.chain import canonical, sha256_of
from reviewer.store.spectra import spectrum_exists
from reviewer.store.sqlite.database import Database, Transaction, stamp

# In the order of catalogues; the inner query reads the index alone.
_PRESENT = """
SELECT sha256, body FROM sky_records WHERE id IN (
    SELECT max(id) FROM sky_records WHERE spectrum IN (SELECT value FROM json_each(?)) GROUP BY catalogue
) ORDER BY catalogue
"""
_KNOWN = "SELECT 1 FROM sky_records WHERE spectrum = ? AND catalogue = ? AND sha256 = ?"
_INSERT = """
INSERT INTO sky_records (spectrum, catalogue, sha256, status, body, at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
_AT_A_TIME = 1000  # records of a transaction, and the characters of their texts: light curves are long
_MOST_TEXT = 4_000_000
_PAUSE = 0.03  # seconds between two transactions, for other writers

_Row = tuple[str, str, str, str, str]
"""Spectrum, catalogue, SHA-256, status, body."""


@dataclass(frozen=True)
class SkyAdded:
    """What became of records.

    :param added: new ones by catalogue and status
    :param known: that were stored already
    :param without_spectrum: the spectra of those that were left out, because no such spectrum is stored
    """

    added: Mapping[tuple[str, str], int]
    known: int
    without_spectrum: tuple[str, ...]


class SkyRecords:
    """The records of spectra, added by the owner of the file. They are facts: nothing is changed or deleted."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def any(self) -> bool:
        """Return whether there is any record."""
        with self._database.read() as db:
            return db.execute("SELECT 1 FROM sky_records LIMIT 1").fetchone() is not None

    def of(self, *spectra: str) -> Sky:
        """Return the present records of a spectrum, or of several of one object, one per catalogue; maybe none."""
        with self._database.read() as db:
            rows = db.execute(_PRESENT, (json.dumps(spectra),)).fetchall()
        with self._database.decoding():
            return Sky.of(record_from(body, tr("record {sha256:.12}…", sha256=sha256)) for sha256, body in rows)

    def add(
        self,
        rows: Iterable[tuple[str, SkyRecord]],
        source: str = "",
        progress: Callable[[int], None] | None = None,
        pause: float = _PAUSE,
    ) -> SkyAdded:
        """Add those records that are not stored. Each thousand is a transaction with an entry in the log; between two
        of them others can save. If a later one fails, the earlier ones stay, and the same call continues.

        :param rows: records, each with the SHA-256 of its spectrum
        :param source: from which file, for the log
        :param progress: called with the number of rows done
        :raises CannotWrite: the disk is full, or another program has locked the file
        """
        added: Counter[tuple[str, str]] = Counter()
        missing: dict[str, None] = {}
        done = known = 0
        for prepared in _batches(rows):
            with self._database.read() as db:
                stored = {row[0] for row in prepared if spectrum_exists(db, row[0])}
                new = [row for row in prepared if row[0] in stored and not db.execute(_KNOWN, row[:3]).fetchone()]
            missing |= dict.fromkeys(row[0] for row in prepared if row[0] not in stored)
            done += len(prepared)
            known += sum(row[0] in stored for row in prepared) - len(new)
            if new:
                if added:
                    time.sleep(pause)
                with self._database.write() as db:
                    added += self._insert(db, new, source)
            if progress is not None:
                progress(done)
        return SkyAdded(added, known, tuple(missing))

    def _insert(self, db: Transaction, rows: list[_Row], source: str) -> Counter[tuple[str, str]]:
        before = _last(db)
        at = stamp(self._database.now())
        # Another program may have added some meanwhile, and a file may have a record twice.
        added = Counter((row[1], row[3]) for row in rows if db.execute(_INSERT, (*row, at)).rowcount)
        if added:
            counts = {f"{catalogue}: {status}": n for (catalogue, status), n in sorted(added.items())}
            facts = {"sky_records": (before + 1, _last(db))}
            details = {"count": added.total(), "records": counts}
            self._database.log(db, None, "sky records added", source, details, facts)
        return added


def _last(db: Transaction) -> int:
    return int(db.execute("SELECT coalesce(max(id), 0) FROM sky_records").fetchone()[0])


def _batches(rows: Iterable[tuple[str, SkyRecord]]) -> Iterator[list[_Row]]:
    batch: list[_Row] = []
    text = 0
    for spectrum, record in rows:
        body = canonical(record.to_json()).decode()
        batch.append((spectrum, record.catalogue, sha256_of(body), record.status, body))
        text += len(body)
        if len(batch) == _AT_A_TIME or text > _MOST_TEXT:
            yield batch
            batch, text = [], 0
    if batch:
        yield batch
