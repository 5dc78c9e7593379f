"""Approved items whose spectra are most like a given one; their vectors are computed once, in a background thread."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from threading import Event, Lock, Thread

import numpy as np
from numpy.typing import NDArray

from agent.similarity import SIZE, Vector, distances, shape_vector
from agent.spectrum import Spectrum, SpectrumError
from reviewer.store import NotFound, QueueFilter, Store, StoreError

log = logging.getLogger("spec_o3.similar")

MOST = 5000
"""Approved items that are compared: the newest."""
REFRESH = 60.0
"""Seconds after which a request starts a search for items approved since."""
PATIENCE = 0.5
"""Seconds that a request waits for the search: enough for the first hundred items."""
_PAGE = 500
_APPROVED = QueueFilter(states=("approved",))


@dataclass(frozen=True)
class Neighbour:
    """An approved item and its distance: 0 the same shape, 1 nothing in common."""

    item_id: int
    distance: float


@dataclass(frozen=True)
class Neighbours:
    """The nearest items.

    :param compared: number of items in the index
    :param complete: False while the thread is still computing
    """

    nearest: tuple[Neighbour, ...]
    compared: int
    complete: bool


@dataclass(frozen=True)
class _Index:
    """Items (n,), their spectra's hashes and vectors (n, SIZE)."""

    items: tuple[int, ...]
    hashes: tuple[str, ...]
    vectors: NDArray[np.float32]


class SimilarSpectra:
    """An index of the approved items' spectra, kept in memory: 4 kB each."""

    def __init__(self, store: Store, most: int = MOST) -> None:
        self._store = store
        self._most = most
        self._index = _Index((), (), np.zeros((0, SIZE), dtype=np.float32))
        self._vectors: dict[str, Vector | None] = {}
        self._lock = Lock()
        self._stopped = Event()
        self._thread: Thread | None = None
        self._finished = -np.inf

    def find(
        self, spectrum: Spectrum, hidden: Collection[int] = (), hashes: Collection[str] = (), number: int = 8
    ) -> Neighbours:
        """Return the nearest approved items of other spectra.

        :param hidden: items that must not be returned
        :param hashes: of spectra whose items must not be returned
        """
        self._refresh()
        self.wait(PATIENCE)
        with self._lock:
            index, complete = self._index, self._thread is None
        vector = shape_vector(spectrum)
        if vector is None or not index.items:
            return Neighbours((), len(index.items), complete)
        apart = distances(vector, index.vectors)
        nearest: list[Neighbour] = []
        for at in np.argsort(apart, kind="stable"):
            if len(nearest) == number or not np.isfinite(apart[at]):
                break
            # The same spectrum under another question says nothing about likeness, and could give an answer away.
            sha256 = index.hashes[at]
            if index.items[at] not in hidden and sha256 not in hashes and sha256 != spectrum.sha256:
                nearest.append(Neighbour(index.items[at], float(apart[at])))
        return Neighbours(tuple(nearest), len(index.items), complete)

    def wait(self, seconds: float) -> None:
        """Wait until the running search has ended."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def close(self) -> None:
        """End the thread."""
        self._stopped.set()
        self.wait(5.0)

    def _refresh(self) -> None:
        """Start the thread if the index is out of date and none is running."""
        with self._lock:
            if self._thread is not None or self._stopped.is_set() or time.monotonic() - self._finished < REFRESH:
                return
            self._thread = Thread(target=self._run, name="similar spectra", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        try:
            self._update()
        except StoreError as problem:
            log.warning("similar spectra: %s", problem)
        except Exception:  # a database that is closed while the app stops, or a bug: the page does without
            log.exception("similar spectra: the search failed")
        finally:
            with self._lock:
                self._thread, self._finished = None, time.monotonic()

    def _update(self) -> None:
        """Read the approved items and compute the vectors that are missing, publishing the index as it grows."""
        rows: deque[tuple[int, str]] = deque(maxlen=self._most)
        after: int | None = None
        while not self._stopped.is_set():
            page = self._store.queue.page(_APPROVED, "", after, _PAGE).rows
            rows.extend((row.item_id, row.spectrum_sha256) for row in page if row.spectrum_sha256 is not None)
            if len(page) < _PAGE:
                break
            after = page[-1].item_id
        newest_first = list(reversed(rows))
        for number, (_, sha256) in enumerate(newest_first, start=1):
            if self._stopped.is_set():
                return
            if sha256 not in self._vectors:
                self._vectors[sha256] = self._vector(sha256)
                # Let the threads of waiting requests run.
                time.sleep(0.001)
            if number % _PAGE == 0:
                self._publish(newest_first[:number])
        self._publish(newest_first)
        wanted = {sha256 for _, sha256 in newest_first}
        self._vectors = {sha256: vector for sha256, vector in self._vectors.items() if sha256 in wanted}

    def _vector(self, sha256: str) -> Vector | None:
        try:
            return shape_vector(self._store.spectra.get(sha256))
        except (NotFound, SpectrumError):
            return None

    def _publish(self, rows: list[tuple[int, str]]) -> None:
        known = [(item, sha256, self._vectors[sha256]) for item, sha256 in rows]
        usable = [(item, sha256, vector) for item, sha256, vector in known if vector is not None]
        vectors = np.zeros((len(usable), SIZE), dtype=np.float32)
        for row, (_, _, vector) in zip(vectors, usable, strict=True):
            row[:] = vector
        made = _Index(tuple(u[0] for u in usable), tuple(u[1] for u in usable), vectors)
        with self._lock:
            self._index = made
