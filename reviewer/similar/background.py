"""Similar items: one background thread that fills the index, and the queries of the routes.

The thread works in pieces of some milliseconds and sleeps twice as long after each, so that requests are answered
meanwhile. Of several servers over one database, the one that has the lock on ``annotations.db.similar/`` fills the
files; the others read them.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread

import numpy as np
from numpy.typing import NDArray

from agent import locks
from agent.similarity import shape_vector
from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from reviewer.similar import ranking
from reviewer.similar.index import Corpus, Index, key_of
from reviewer.similar.ranking import Ranking
from reviewer.similar.shapes import Shapes
from reviewer.store import Head, Store, StoreError

log = logging.getLogger("spec_o3.similar")

MOST = 5000
"""Approved items that are compared: the newest."""
REFRESH = 60.0
"""Seconds after which changed and new items are searched for again."""
PATIENCE = 0.5
"""Seconds that a request waits for the first results: enough for a hundred approved items."""
_SLEEP = 2.0
"""Seconds of sleep per second of work in the background."""
_START = 10.0
"""Seconds after the start of the server before the thread begins."""


@dataclass(frozen=True)
class Neighbour:
    """An item and its distance: 0 the same shape, 1 nothing in common."""

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


class _Stopped(Exception):
    """The server stops."""


@dataclass
class _Pace:
    """Sleeps after each piece of work, and ends it when the server stops."""

    stopped: Event
    since: float = field(default_factory=time.thread_time)

    def __call__(self) -> None:
        worked = time.thread_time() - self.since
        if self.stopped.wait(min(max(_SLEEP * worked, 0.001), 1.0)):
            raise _Stopped
        self.since = time.thread_time()


class Similar:
    """Similar items of one store."""

    def __init__(self, store: Store, most: int = MOST) -> None:
        self._store = store
        self._most = most
        self.index = Index(store, store.path.with_name(f"{store.path.name}.similar"))
        self._shapes = Shapes(self.index.shapes)
        self._approved: tuple[tuple[int, str], ...] = ()
        self._lock = Lock()
        self._stopped = Event()
        self._ready = Event()
        self._thread: Thread | None = None
        self._timer: Thread | None = None
        self._finished = -np.inf
        self._complete_at: Head | None = None

    @property
    def corpus(self) -> Corpus:
        """The traces that are indexed so far; a request for them starts a search for new ones."""
        self._refresh()
        self._ready.wait(PATIENCE)
        return self.index.corpus

    @property
    def complete(self) -> bool:
        """Whether the thread has nothing to do."""
        return self._thread is None

    # ---- queries

    def find(
        self, spectrum: Spectrum, hidden: Collection[int] = (), hashes: Collection[str] = (), number: int = 8
    ) -> Neighbours:
        """Return the nearest approved items of other spectra.

        :param hidden: items that must not be returned
        :param hashes: of spectra whose items must not be returned
        """
        self._refresh()
        self._ready.wait(PATIENCE)
        vector, complete = shape_vector(spectrum), self._ready.is_set()
        # The same spectrum under another question says nothing about likeness, and could give an answer away.
        approved = [(item, sha256) for item, sha256 in self._approved if item not in hidden]
        keys = np.array([key_of(sha256) for _, sha256 in self._approved], dtype=np.int64)
        compared = int(self.index.shapes.known(keys).sum()) if keys.size else 0
        if vector is None or not approved:
            return Neighbours((), compared, complete)
        approved = [(item, s) for item, s in approved if s not in hashes and s != spectrum.sha256]
        apart = self._shapes.distances(vector, np.array([key_of(s) for _, s in approved], dtype=np.int64))
        nearest = [
            Neighbour(approved[at][0], float(apart[at]))
            for at in np.argsort(apart, kind="stable")[:number]
            if np.isfinite(apart[at])
        ]
        return Neighbours(tuple(nearest), compared, complete)

    def by_spectrum(
        self, spectrum: Spectrum, hidden: Collection[int], number: int, among: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        """Return the items whose spectra are most like one, with their likeness: 1 the same shape.

        :param among: the only items that are compared
        """
        corpus, vector = self.corpus, shape_vector(spectrum)
        if vector is None:
            return []
        if among is not None:
            corpus = corpus.of(np.flatnonzero(chosen(corpus, among)))
        keys, apart = self._shapes.nearest(vector, of=None if among is None else corpus.spectra)
        order = np.argsort(corpus.spectra, kind="stable")
        known = corpus.spectra[order]
        nearest: list[tuple[int, float]] = []
        for key, distance in zip(keys.tolist(), apart.tolist(), strict=True):
            first, last = np.searchsorted(known, (key, key + 1))
            items = sorted(corpus.items[order[first:last]].tolist())
            nearest += [(item, 1.0 - distance) for item in items if item not in hidden]
            if len(nearest) >= number:
                break
        return nearest[:number]

    def spectra_compared(self) -> int:
        """Return the number of indexed items whose spectra are compared; those without a spectrum count."""
        spectra = self.index.corpus.spectra
        return int(((spectra == 0) | self._shapes.has(spectra)).sum())

    def by_text(
        self,
        item: int,
        version: int,
        trajectory: Trajectory,
        hidden: Collection[int],
        number: int,
        among: Collection[int] | None = None,
    ) -> list[tuple[int, float]]:
        """Return the items whose traces are most like one, with their likeness: 1 the same words and facts.

        :param among: the only items that are returned
        """
        corpus = self.corpus
        if not corpus.items.size:
            return []
        place = corpus.place(item)
        if place is not None and corpus.versions[place] == version:
            words, own = corpus.words[place].astype(np.float32), corpus.facts[place]
        else:
            words, own = self.index.described(trajectory)
        likeness = ranking.alike(corpus, words, own)
        likeness[~shown(corpus, {item, *hidden})] = -np.inf
        if among is not None:
            likeness[~chosen(corpus, among)] = -np.inf
        best = np.argsort(-likeness, kind="stable")[:number]
        return [(int(corpus.items[at]), float(likeness[at])) for at in best if np.isfinite(likeness[at])]

    def by_examples(
        self,
        examples: Sequence[int],
        counterexamples: Sequence[int],
        hidden: Collection[int],
        among: Collection[int] | None = None,
    ) -> tuple[Corpus, Ranking]:
        """Rank all items that are not hidden by a few examples; examples that are not indexed yet do not count.

        :param among: the only items that are ranked
        """
        corpus = without(self.corpus, hidden)
        ours = (np.array(sorted(set(items)), dtype=np.int64) for items in (examples, counterexamples))
        positive, unwanted = (corpus.places(items).tolist() for items in ours)
        if not positive:
            none = np.zeros(0)
            return corpus, Ranking(none.astype(np.intp), none, 0, ())
        ranked = None if among is None else chosen(corpus, among)

        def spectra(rows: Sequence[int]) -> NDArray[np.float64]:
            keys, likeness = self._shapes.likeness(corpus.spectra[list(rows)])
            at = np.minimum(np.searchsorted(keys, corpus.spectra), max(keys.size - 1, 0))
            likeness_of = np.full((corpus.items.size, len(rows)), np.nan)
            known = keys[at] == corpus.spectra if keys.size else np.zeros(at.size, dtype=bool)
            likeness_of[known] = likeness[at[known]]
            return likeness_of

        return corpus, ranking.rank(corpus, positive, unwanted, spectra, ranked)

    # ---- the thread

    def start(self) -> None:
        """Keep the index up to date from now on."""

        def keep() -> None:
            wait = _START
            while not self._stopped.wait(wait):
                self._refresh()
                wait = REFRESH

        self._timer = Thread(target=keep, name="similar items, timer", daemon=True)
        self._timer.start()

    def wait(self, seconds: float) -> None:
        """Wait until the running search has ended."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def close(self) -> None:
        """End the thread."""
        with self._lock:  # a thread that is being started is waited for
            self._stopped.set()
        self.wait(5.0)

    def refresh(self) -> None:
        """Search for changes at the next request, however soon that is."""
        self._finished, self._complete_at = -np.inf, None

    def _refresh(self) -> None:
        """Start the thread if the index is out of date and none is running."""
        with self._lock:
            if self._thread is not None or self._stopped.is_set() or time.monotonic() - self._finished < REFRESH:
                return
            thread = Thread(target=self._run, name="similar items", daemon=True)
            thread.start()
            # Only a thread that runs can be waited for. It cannot end before this: its end takes the lock.
            self._thread = thread

    def _run(self) -> None:
        try:
            self._update(_Pace(self._stopped))
        except _Stopped:
            pass
        except (StoreError, OSError) as problem:
            log.warning("similar items: %s", problem)
        except Exception:  # a database that is closed while the app stops, or a bug: the page does without
            log.exception("similar items: the search failed")
        finally:
            with self._lock:
                self._thread, self._finished = None, time.monotonic()
            self._ready.set()

    def _update(self, pace: _Pace) -> None:
        self._store.objects.update()
        head = self._store.log.head()  # before the items are read: every later change has a later entry
        if head == self._complete_at and self.index.has_files:
            return
        approved = self._store.queue.approved()[-self._most :]
        with one_writer(self.index.folder) as writing:
            self.index.load(writing)
            rows = self._store.queue.rows(approved)
            self._approved = tuple(
                (row.item_id, row.spectrum_sha256) for row in reversed(rows) if row.spectrum_sha256 is not None
            )

            def published() -> None:
                self._shapes.update(self.index.corpus.spectra, pace)
                self._ready.set()

            if writing:
                self.index.fill(approved, pace, published)
                self._complete_at = head
            else:
                self.index.show(pace)
                published()


def shown(corpus: Corpus, hidden: Collection[int]) -> NDArray[np.bool_]:
    """Return which rows are of items that are not hidden (n,)."""
    return ~chosen(corpus, hidden)


def chosen(corpus: Corpus, items: Collection[int]) -> NDArray[np.bool_]:
    """Return which rows are of these items (n,)."""
    return np.isin(corpus.items, np.fromiter(items, dtype=np.int64, count=len(items)))


def without(corpus: Corpus, hidden: Collection[int]) -> Corpus:
    """Return the corpus without some items."""
    if not hidden:
        return corpus
    rows = np.flatnonzero(shown(corpus, hidden))
    return corpus.of(rows)


@contextmanager
def one_writer(folder: Path) -> Iterator[bool]:
    """Yield whether this process may write the files; the lock ends with the process."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as problem:
        log.warning("similar items: %s cannot be written: %s", folder, problem.strerror)
        yield False
        return
    try:
        try:
            is_ours = locks.take(handle)
        except OSError:
            is_ours = False
        yield is_ours
    finally:
        os.close(handle)
