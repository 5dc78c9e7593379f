"""The index: facts and word vectors of all traces and shapes of all spectra, in files beside the database.

``annotations.db.similar/`` can be deleted at any time. ``Index.fill`` reads what is missing from the store in small
pieces, and publishes a ``Corpus`` of plain arrays, which queries work on.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from agent.similarity import SIZE as SHAPE_SIZE
from agent.similarity import shape_vector
from agent.spectrum import SpectrumError
from agent.trajectory import Trajectory
from reviewer.similar import facts, wordings, words
from reviewer.similar.files import Keys, Table
from reviewer.similar.of_claims import Compared, compared
from reviewer.similar.of_texts import facts_of_texts
from reviewer.similar.wordings import Wordings, WordingsError
from reviewer.similar.words import Texts, Words, WordsError
from reviewer.store import NotFound, Store
from reviewer.store.team.traces import CurrentTrace

log = logging.getLogger("spec_o3.similar")

GROWTH = 3.0
"""Growth of the corpus after which the model of words is fitted again, and wordings are learned again."""
MOST_FITTED = 10_000
"""Traces of the sample on which the model is fitted."""
MOST_COMPARED = 3000
"""Traces of the sample from which wordings are learned."""
UNUSUAL = 0.7
"""Surprise from which an answer is unusual after its last thought."""
PUBLISHED = 20.0
"""Seconds between two publications while the index is filled."""
_PIECE = 16
_PAGE = 2000
_SEED = 1

Pause = Callable[[], None]
_Learned = TypeVar("_Learned", Words, Wordings)

_FACTS = np.dtype([("key", "i8"), ("claims", "u1"), ("facts", "u1", (len(facts.FACTS),))])
_WORDS = np.dtype([("key", "i8"), ("surprise", "f2"), ("vector", "f2", (words.SIZE,))])
_CLAIMS = [facts.NUMBER[name] for name in facts.CLAIMS]
_SHAPES = np.dtype([("key", "i8"), ("vector", "f2", (SHAPE_SIZE,))])


def key_of(sha256: str | None) -> int:
    """Return the key of a spectrum: 60 bits of its hash; 0 without one."""
    return int(sha256[:15], 16) if sha256 else 0


@dataclass(frozen=True)
class Corpus:
    """The traces that are indexed, by item number, and the spectra.

    :param spectra: keys of the items' spectra (n,); 0 for none
    :param words: (n, words.SIZE); ``facts`` (n, n_facts), 0 or 1; ``claims``: whether claims were compared (n,)
    :param model: of the words; None if there are no traces
    :param items_in_store: number of items, those that are not indexed yet included
    """

    items: Keys
    versions: Keys
    spectra: Keys
    words: NDArray[np.float16]
    facts: NDArray[np.uint8]
    claims: NDArray[np.bool_]
    model: Words | None = None
    items_in_store: int = 0

    @classmethod
    def empty(cls) -> Corpus:
        none = np.zeros(0, dtype=np.int64)
        return cls(
            none,
            none,
            none,
            np.zeros((0, words.SIZE), dtype=np.float16),
            np.zeros((0, len(facts.FACTS)), dtype=np.uint8),
            np.zeros(0, dtype=np.bool_),
        )

    def of(self, rows: NDArray[np.intp]) -> Corpus:
        """Return the corpus of these rows only, in their order."""
        columns = ("items", "versions", "spectra", "words", "facts", "claims")
        return replace(self, **{name: getattr(self, name)[rows] for name in columns})

    def place(self, item: int) -> int | None:
        """Return the row of an item; None if it is not indexed."""
        at = int(np.searchsorted(self.items, item))
        return at if at < self.items.size and self.items[at] == item else None

    def places(self, items: Keys) -> NDArray[np.intp]:
        """Return the rows of those of the items that are indexed, in the order of the items."""
        at = np.minimum(np.searchsorted(self.items, items), max(self.items.size - 1, 0))
        return at[self.items[at] == items] if self.items.size else np.zeros(0, np.intp)


@dataclass
class Index:
    """The files of one database and the corpus made of them.

    :param folder: ``annotations.db.similar``
    """

    store: Store
    folder: Path
    corpus: Corpus = field(default_factory=Corpus.empty)

    def __post_init__(self) -> None:
        self.shapes = Table(self.folder, "shapes", _SHAPES)
        self._facts = Table(self.folder, f"facts{facts.VERSION}", _FACTS)
        self._words = Table(self.folder, "words", _WORDS)
        self._model: Words | None = None
        self._wordings: Wordings | None = None
        self._made_of: tuple[object, ...] = (None,) * 5  # what the corpus was made of

    @property
    def has_files(self) -> bool:
        """Whether the folder has files of vectors: people may delete it."""
        return any(self.folder.glob("*.npy"))

    def load(self, writing: bool) -> None:
        """Read the files. :param writing: remove damaged ones and those that are no longer needed"""
        if writing:
            for left in self.folder.glob("*.part"):  # of a process that was killed while it wrote
                left.unlink(missing_ok=True)
        self._load_model(writing)
        self._wordings = _read(Wordings.read, self.folder / "wordings.json", writing)
        for table in (self._facts, self._words, self.shapes):
            table.load(writing)

    def fill(self, approved: Sequence[int], pause: Pause, published: Callable[[], None]) -> None:
        """Compute what is missing, in small pieces: shapes of approved items, texts, other shapes, claims.

        :param approved: items whose spectra come first
        :param pause: called after each piece of some milliseconds; it may raise an exception to stop
        :param published: called after each publication of the corpus; the first when approved items have their shapes
        :raises OSError: the files cannot be written
        """
        self.folder.mkdir(mode=0o700, exist_ok=True)
        items, versions, hashes = self._current(pause)
        first = set(approved)
        order = sorted(range(items.size), key=lambda at: (items[at] not in first, -items[at]))
        self._add_shapes([hashes[at] for at in order if items[at] in first], pause)
        self._publish(items, versions, hashes, pause)
        published()
        self._add_texts(items, versions, hashes, pause, published)
        self._add_shapes([hashes[at] for at in order], pause)
        published()
        self._add_claims(items, versions, hashes, pause, published)
        self._facts.compact(versions)
        self._words.compact(versions)
        self.shapes.compact(np.unique(_keys(hashes)))
        self._publish(items, versions, hashes, pause)
        published()

    def show(self, pause: Pause) -> None:
        """Publish what the files have, without computing anything: another process fills them."""
        self._publish(*self._current(pause), pause)

    def described(self, trajectory: Trajectory) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
        """Return the vector of words and the facts of a trace that is not indexed, without its claims."""
        names = facts_of_texts(trajectory)
        model = self.corpus.model
        if model is None:
            return np.zeros(words.SIZE, dtype=np.float32), facts.with_families(facts.row(names)[np.newaxis])[0]
        vectors, surprise = model.transform([Texts.of(trajectory)])
        row = facts.row({*names, "verdict: unusual"} if surprise[0] >= UNUSUAL else names)
        return vectors[0], facts.with_families(row[np.newaxis])[0]

    def _current(self, pause: Pause) -> tuple[Keys, Keys, list[str | None]]:
        rows: list[CurrentTrace] = []
        while page := self.store.traces.current(rows[-1].item if rows else 0, _PAGE):
            rows += page
            pause()
        items = np.array([row.item for row in rows], dtype=np.int64)
        return items, np.array([row.version for row in rows], dtype=np.int64), [row.spectrum for row in rows]

    # ---- texts

    def _add_texts(
        self, items: Keys, versions: Keys, hashes: list[str | None], pause: Pause, published: Callable[[], None]
    ) -> None:
        if versions.size and (self._model is None or versions.size > GROWTH * self._model.fitted):
            self._fit(versions, pause)
        assert self._model is not None or not versions.size
        last = time.monotonic()
        missing = versions[~(self._facts.known(versions) & self._words.known(versions))]
        for some in _pieces(missing):
            self._add_piece(some, pause)
            if time.monotonic() - last > PUBLISHED:
                self._publish(items, versions, hashes, pause)
                published()
                last = time.monotonic()
        self._publish(items, versions, hashes, pause)
        published()

    def _add_piece(self, versions: Keys, pause: Pause) -> None:
        assert self._model is not None
        traces = self.store.traces.of_versions(versions.tolist())
        have = self._facts.known(versions)
        texts = np.zeros(len(traces), dtype=_WORDS)
        rows = []
        for number, (version, trajectory) in enumerate(traces.items()):
            vectors, surprise = self._model.transform([Texts.of(trajectory)])
            texts[number] = version, surprise[0], vectors[0]
            if not have[int(np.flatnonzero(versions == version)[0])]:
                row = np.zeros(1, dtype=_FACTS)
                row["key"], row["facts"] = version, facts.row(facts_of_texts(trajectory))
                rows.append(row)
            pause()
        self._words.add(texts)
        if rows:
            self._facts.add(np.concatenate(rows))

    def _fit(self, versions: Keys, pause: Pause) -> None:
        """Fit the model on a sample, write it, and remove the vectors of the model before."""
        sample = versions
        if versions.size > MOST_FITTED:
            sample = np.array(sorted(random.Random(_SEED).sample(versions.tolist(), MOST_FITTED)), dtype=np.int64)
        corpus: list[Texts] = []
        for some in _pieces(sample):
            corpus += [Texts.of(trajectory) for trajectory in self.store.traces.of_versions(some.tolist()).values()]
            pause()
        self._model = words.fit(corpus, versions.size, pause)
        self._words.clear()
        self._model.write(self.folder / "model.npz")

    def _load_model(self, writing: bool) -> None:
        self._model = _read(Words.read, self.folder / "model.npz", writing)
        if self._model is None and writing:
            self._words.clear()

    # ---- spectra

    def _add_shapes(self, hashes: Sequence[str | None], pause: Pause) -> None:
        distinct = list(dict.fromkeys(sha256 for sha256 in hashes if sha256))
        known = self.shapes.known(_keys(distinct))
        for number, sha256 in enumerate(s for s, is_known in zip(distinct, known, strict=True) if not is_known):
            row = np.zeros(1, dtype=_SHAPES)
            row["key"], row["vector"] = key_of(sha256), self._shape(sha256)
            self.shapes.add(row)
            pause()
            if number % 1000 == 999:
                self.shapes.flush()
        self.shapes.flush()

    def _shape(self, sha256: str) -> NDArray[np.float32] | float:
        try:
            vector = shape_vector(self.store.spectra.get(sha256))
        except (NotFound, SpectrumError):
            vector = None
        return np.nan if vector is None else vector

    # ---- claims

    def _add_claims(
        self, items: Keys, versions: Keys, hashes: list[str | None], pause: Pause, published: Callable[[], None]
    ) -> None:
        last = time.monotonic()
        rows = self._facts.rows(versions)
        places = np.flatnonzero(rows["claims"] == 0)
        read: dict[int, Compared] = {}
        if places.size and (self._wordings is None or versions.size > GROWTH * self._wordings.fitted):
            read = self._learn_wordings(versions, hashes, pause)
            places = np.arange(versions.size)
        for number, place in enumerate(places.tolist()):
            row = rows[place : place + 1].copy()
            claims = read.pop(place, None) or self._compared(int(versions[place]), hashes[place])
            row["claims"] = 1
            row["facts"][0, _CLAIMS] = 0
            for name in claims.all_facts(self._wordings):
                row["facts"][0, facts.NUMBER[name]] = 1
            if row["key"][0]:
                self._facts.add(row)
            pause()
            if number % 1000 == 999 or time.monotonic() - last > PUBLISHED:
                self._publish(items, versions, hashes, pause)
                published()
                last = time.monotonic()

    def _learn_wordings(self, versions: Keys, hashes: list[str | None], pause: Pause) -> dict[int, Compared]:
        """Learn which wordings are read wrongly, from a sample; return its claims by row, so that none is measured
        twice. The claims of all traces have to be judged again then.
        """
        places = range(versions.size)
        sample = sorted(random.Random(_SEED).sample(places, MOST_COMPARED)) if len(places) > MOST_COMPARED else places
        read = {}
        for place in sample:
            read[place] = self._compared(int(versions[place]), hashes[place])
            pause()
        self._wordings = wordings.fit([claims.readings for claims in read.values()], versions.size)
        self._wordings.write(self.folder / "wordings.json")
        return read

    def _compared(self, version: int, sha256: str | None) -> Compared:
        trajectory = self.store.traces.of_versions([version]).get(version)
        if trajectory is None:
            return Compared()
        stated = trajectory.spectrum_sha256 if trajectory.medium_set_by else sha256
        if stated is None:
            return Compared()
        try:
            return compared(trajectory, self.store.spectra.get(stated))
        except (NotFound, SpectrumError):
            return Compared()

    def _publish(self, items: Keys, versions: Keys, hashes: list[str | None], pause: Pause) -> None:
        """Write what was added and make the corpus of it, unless it is made of the same already."""
        for table in (self._facts, self._words, self.shapes):
            table.flush()
            pause()
        made_of = (items, versions, self._facts.contents, self._words.contents, self._model)
        if all(part is other for part, other in zip(made_of, self._made_of, strict=True)):
            return
        is_known = self._facts.known(versions) & self._words.known(versions)
        pause()
        measured = self._facts.rows(versions[is_known])
        pause()
        texts = self._words.rows(versions[is_known])
        pause()
        vectors = np.array(texts["vector"])
        pause()
        fact_rows = np.array(measured["facts"])
        fact_rows[:, facts.NUMBER["verdict: unusual"]] = texts["surprise"] >= UNUSUAL
        fact_rows = facts.with_families(fact_rows)
        pause()
        self.corpus = Corpus(
            items=items[is_known],
            versions=versions[is_known],
            spectra=_keys(hashes)[is_known],
            words=vectors,
            facts=fact_rows,
            claims=measured["claims"] > 0,
            model=self._model,
            items_in_store=items.size,
        )
        self._made_of = made_of


def _read(read: Callable[[Path], _Learned], path: Path, writing: bool) -> _Learned | None:
    """Read what was learned; None without a file. :param writing: remove a damaged one"""
    try:
        return read(path)
    except FileNotFoundError:
        return None
    except (OSError, WordsError, WordingsError) as problem:
        log.warning("similar items: %s; it is made again", problem)
        if writing:
            path.unlink(missing_ok=True)
        return None


def _keys(hashes: Sequence[str | None]) -> Keys:
    return np.array([key_of(sha256) for sha256 in hashes], dtype=np.int64)


def _pieces(keys: Keys) -> Iterator[Keys]:
    return (keys[start : start + _PIECE] for start in range(0, keys.size, _PIECE))
