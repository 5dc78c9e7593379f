"""Which stored spectra are of one object, in memory. Spectra are never changed or deleted: only new ones are read."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock

from agent.spectrum.objects import Identity, identity_of, objects, observed_at
from reviewer.store.sqlite.database import Database

AT_ONCE = 2000
"""Stored spectra that a request reads and groups itself, some tens of milliseconds; more are left to the thread
of ``reviewer.similar``.
"""
_NEW = """
SELECT rowid, sha256, name, ra, dec, json_extract(details, '$.ids') AS ids, json_extract(details, '$.meta') AS meta
FROM spectra WHERE rowid > ? ORDER BY rowid LIMIT 1000
"""


@dataclass(frozen=True)
class Epoch:
    """One spectrum of an object. ``mjd``: when it was observed; None: not stated."""

    sha256: str
    mjd: float | None


class Objects:
    """The objects of the stored spectra, by the positions and names in their files."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = Lock()
        self._last = self._grouped = 0
        self._identities: dict[str, Identity] = {}
        self._mjd: dict[str, float | None] = {}
        self._epochs: dict[str, tuple[Epoch, ...]] = {}

    def update(self) -> None:
        """Read new spectra, and group all: about a second for 100,000."""
        with self._lock:
            self._read()
            if self._last == self._grouped:
                return
            members: defaultdict[int, list[Epoch]] = defaultdict(list)
            known = list(self._identities)
            for sha256, first in zip(known, objects([*self._identities.values()]).tolist(), strict=True):
                members[first].append(Epoch(sha256, self._mjd[sha256]))
            several = (sorted(of, key=_when) for of in members.values() if len(of) > 1)
            self._epochs = {epoch.sha256: of for each in several if (of := tuple(each)) for epoch in of}
            self._grouped = self._last

    def epochs(self, sha256: str) -> tuple[tuple[Epoch, ...], bool]:
        """Return the spectra of the object of a spectrum, itself too, by date; none if it is the only one. Second:
        whether new spectra are still to be read.
        """
        last = self._stored()
        if last != self._grouped and last <= AT_ONCE:
            self.update()
        return self._epochs.get(sha256, ()), last == self._grouped

    def identities(self, hashes: Iterable[str]) -> dict[str, Identity]:
        """Return what the files say of the objects of these spectra."""
        with self._lock:
            self._read()
            return {sha256: self._identities[sha256] for sha256 in hashes if sha256 in self._identities}

    def dates(self, hashes: Iterable[str]) -> dict[str, float | None]:
        """Return the MJD at which each of these spectra was observed; None: not stated."""
        with self._lock:
            self._read()
            return {sha256: self._mjd[sha256] for sha256 in hashes if sha256 in self._mjd}

    def _stored(self) -> int:
        with self._database.read() as db:
            return int(db.execute("SELECT coalesce(max(rowid), 0) FROM spectra").fetchone()[0])

    def _read(self) -> None:
        while True:
            with self._database.read() as db:
                rows = db.execute(_NEW, (self._last,)).fetchall()
            for row in rows:
                ids, meta = json.loads(row["ids"] or "{}"), json.loads(row["meta"] or "{}")
                self._identities[row["sha256"]] = identity_of(row["name"], ids, row["ra"], row["dec"])
                self._mjd[row["sha256"]] = observed_at(ids, meta)
            if not rows:
                return
            self._last = rows[-1]["rowid"]


def _when(epoch: Epoch) -> tuple[bool, float]:
    return epoch.mjd is None, epoch.mjd or 0.0
