"""Similar items, *more like these* and groups: what they find of planted failures, and how long they take; Markdown.

    python -m tests.benchmarks.people.similar [--traces 10000] [--spectra 250] [--items 100000] [--db-dir FOLDER]

Failures: eight kinds, 1 % of the traces each, in wordings on which nothing was chosen (``planted``, ``wordings``). For
each kind, five examples are drawn at random, 20 times. Speed: a campaign of ``--items`` items whose vectors are those
of the planted traces with noise; requests go through the routes.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from fastapi.testclient import TestClient
from numpy.typing import NDArray

from agent.hints.evidence import at_rest, evidence
from agent.similarity import SIZE, distances, shape_vector
from reviewer import server
from reviewer.similar import ranking
from reviewer.similar.groups import groups
from reviewer.similar.index import Corpus, Index, key_of
from reviewer.similar.of_claims import compared
from reviewer.similar.of_texts import facts_of_texts
from reviewer.similar.shapes import Shapes
from reviewer.similar.words import Texts
from reviewer.store import Draft, Store
from tests.benchmarks.people.campaign import campaign
from tests.benchmarks.people.planted import FAILURES, Base, Planted, bases, planted
from tests.benchmarks.people.wordings import REPORTING, SETS
from tests.benchmarks.results import Results, Table

EXAMPLES = 5
DRAWS = 20
SEEDS = {
    "first": 3,
    "second": 57,
    "third": 101,
    "fourth": 202,
    "fifth": 811,
    "sixth": 1289,
    "seventh": 2503,
    "eighth": 4001,
    REPORTING: 5003,
}
CALLS = 40
PASSWORD = "Balmer decrement"
_NOTHING: Callable[[], None] = lambda: None  # noqa: E731


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.people.similar", description=__doc__)
    parser.add_argument("--traces", type=int, default=10_000, metavar="N")
    parser.add_argument("--spectra", type=int, default=250, metavar="N", help="simulated spectra that they share")
    parser.add_argument("--items", type=int, default=100_000, metavar="N", help="items of the measurement of speed")
    parser.add_argument("--db-dir", type=Path, metavar="FOLDER", help="keep the databases there")
    parser.add_argument("--wordings", choices=SETS, default=REPORTING, help="settings were chosen on the other sets")
    chosen = parser.parse_args()
    results = Results()
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.db_dir or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        made, found = traces(chosen.traces, chosen.spectra, chosen.wordings)
        with indexed(folder / "planted.db", made, results) as index:
            kinds = np.array([one.failure for one in made])
            corpus = index.corpus
            assert corpus.items.size == len(made)
            failures(results, corpus, kinds)
            found_groups(results, corpus, kinds)
        rates(results, made)
        if chosen.items:
            speed(results, folder, chosen.items, corpus)
            spectra_speed(results, folder, chosen.items, found)


def traces(number: int, spectra: int, wordings: str) -> tuple[list[Planted], list[Base]]:
    seed = SEEDS[wordings]
    found = bases(spectra, seed)
    return list(planted(found, number, seed, SETS[wordings])), found


@contextmanager
def indexed(path: Path, made: Sequence[Planted], results: Results) -> Iterator[Index]:
    """Yield the index of these traces, made through a store."""
    for left in path.parent.glob(f"{path.name}*"):
        if left.is_file():
            left.unlink()
    with Store.open(path) as store:
        drafts = (Draft(one.trajectory, one.base.spectrum, key=f"planted-{n}") for n, one in enumerate(made))
        store.items.add_all(drafts)
        index = Index(store, path.with_name(f"{path.name}.similar"))
        index.folder.mkdir(exist_ok=True)
        start = time.process_time()
        index.fill([], _NOTHING, _NOTHING)
        seconds = time.process_time() - start
        size = sum(file.stat().st_size for file in index.folder.iterdir()) / 1e6
        results.text(
            f"{len(made):,} traces over {len({one.base.spectrum.sha256 for one in made})} spectra: indexed in "
            f"{seconds:.0f} s of processor time; files {size:.0f} MB."
        )
        yield index


# ---- failures


def failures(results: Results, corpus: Corpus, kinds: NDArray[np.str_]) -> None:
    """Recall at a purity of 0.9 by the best cut that anybody could choose, and what the suggested cut reaches."""
    rng = np.random.default_rng(1)
    share = {"recall at purity ≥ 0.9": "{:.2f}", "lowest of 20": "{:.2f}", "words only": "{:.2f}"}
    cut = {"cut: purity": "{:.2f}", "lowest": "{:.2f}", "cut: recall": "{:.2f}", "no cut": "{:.0f} %"}
    table = results.table({"failure": "", "traces": "{}", **share, **cut})
    words_only = _without_facts(corpus)
    for kind in FAILURES:
        where = np.flatnonzero(kinds == kind)
        reached, plain, purity, recall, without = [], [], [], [], 0
        for _ in range(DRAWS):
            examples = rng.choice(where, EXAMPLES, replace=False).tolist()
            found = ranking.rank(corpus, examples)
            right = kinds[found.order] == kind
            reached.append(_recall(right))
            plain.append(_recall(kinds[ranking.rank(words_only, examples).order] == kind))
            recall.append(right[: found.cut].sum() / right.sum())
            if found.cut:
                purity.append(float(right[: found.cut].mean()))
            without += not found.cut
        row = [float(np.mean(reached)), float(min(reached)), float(np.mean(plain))]
        pure = [float(np.mean(purity)), float(min(purity))] if purity else [None, None]
        table.row(kind, int(where.size), *row, *pure, float(np.mean(recall)), 100 * without / DRAWS)


def _recall(right: NDArray[np.bool_]) -> float:
    """Return the recall at the longest beginning of the ranking whose purity is 0.9 or more."""
    hits = np.cumsum(right)
    good = np.flatnonzero(hits >= 0.9 * np.arange(1, right.size + 1))
    return float(hits[good[-1]] / right.sum()) if good.size else 0.0


def _without_facts(corpus: Corpus) -> Corpus:
    columns = {name: getattr(corpus, name) for name in ("items", "versions", "spectra", "words", "claims")}
    return Corpus(**columns, facts=np.zeros_like(corpus.facts), model=corpus.model)


def found_groups(results: Results, corpus: Corpus, kinds: NDArray[np.str_]) -> None:
    """For each failure, the group that has most of it."""
    start = time.process_time()
    made = groups(corpus, np.arange(corpus.items.size), 24)
    seconds = time.process_time() - start
    results.text(f"24 groups of {corpus.items.size:,} traces, {seconds:.1f} s of processor time:")
    numbers = {"part in one group": "{:.2f}", "size of the group": "{}", "its purity": "{:.2f}"}
    table = results.table({"failure": "", **numbers, "the group's first fact": ""})
    for kind in FAILURES:
        total = int((kinds == kind).sum())
        best = max(made, key=lambda group: int((kinds[group.rows] == kind).sum()))
        inside = int((kinds[best.rows] == kind).sum())
        table.row(kind, inside / total, int(best.rows.size), inside / best.rows.size, next(iter(best.facts), ""))


# ---- speed


def rates(results: Results, made: Sequence[Planted]) -> None:
    """Processor time per trace of what the background thread does, without caches of earlier traces."""
    of_spectra: dict[str, Planted] = {one.base.spectrum.sha256: one for one in made}
    some = list(of_spectra.values())[:100]
    texts = _each(lambda one: facts_of_texts(one.trajectory), some)
    words = _each(lambda one: Texts.of(one.trajectory), some)

    def claims(one: Planted) -> None:
        at_rest.cache_clear()
        evidence.cache_clear()
        compared(one.trajectory, one.base.spectrum)

    table = results.table(
        {"in the background": "", "processor time, ms": "{:.1f}", "per hour, two thirds asleep": "{:,.0f}"}
    )
    for name, seconds in (
        ("facts of texts and tool calls, a trace", texts + words),
        ("claims compared with a spectrum, a trace", _each(claims, some)),
        ("shape, a spectrum", _each(lambda one: shape_vector(one.base.spectrum), some)),
    ):
        table.row(name, 1e3 * seconds, 3600 / (3 * seconds))


def _each(call: Callable[[Planted], object], some: Sequence[Planted]) -> float:
    start = time.process_time()
    for one in some:
        call(one)
    return (time.process_time() - start) / len(some)


def speed(results: Results, folder: Path, number: int, corpus: Corpus) -> None:
    """The routes over a campaign whose vectors are those of the planted traces with noise."""
    with Store.open(campaign(number, folder)) as store:
        store.accounts.set_password(None, "AB", PASSWORD)
        app = server.build(store, local=True)
        similar = app.state.context.similar
        similar._finished = time.monotonic() + 1e6  # the thread does not start: the vectors are set here
        similar._ready.set()
        set_vectors(similar.index, store, corpus)
        with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as client:
            client.post("/sign-in", data={"initials": "AB", "password": PASSWORD})
            table = results.table(
                {"items": "{:,}", "request": "", "median, ms": "{:.0f}", "95 %, ms": "{:.0f}", "CPU, ms": "{:.0f}"}
            )
            rng = np.random.default_rng(1)

            def item() -> int:
                return int(rng.integers(1, number))

            timed(table, number, "similar by text", lambda: client.get(f"/api/v1/item/{item()}/similar?by=text"))
            examples = lambda: {"examples": [item() for _ in range(5)], "counterexamples": [item()]}  # noqa: E731
            timed(table, number, "more like these", lambda: client.post("/api/v1/similar", json=examples()))
            for wanted in (24, None):
                start, used = time.perf_counter(), time.process_time()
                client.post("/api/v1/groups", json={"groups": wanted})
                while (state := client.get("/api/v1/groups").json())["state"] in ("waiting", "running"):
                    time.sleep(0.2)
                assert state["state"] == "done", state
                name = f"{wanted} groups" if wanted else "groups, number chosen"
                passed = 1e3 * (time.perf_counter() - start)
                table.row(number, name, passed, None, 1e3 * (time.process_time() - used))
    results.text(f"Peak memory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB.")


def set_vectors(index: Index, store: Store, corpus: Corpus) -> None:
    """Give every item of the store the vector and the facts of a planted trace, with noise."""
    rng = np.random.default_rng(2)
    rows: list[Any] = []
    while page := store.traces.current(rows[-1].item if rows else 0):
        rows += page
    taken = rng.integers(0, corpus.items.size, len(rows))
    vectors = corpus.words[taken].astype(np.float32)
    vectors += rng.normal(0, 0.02, vectors.shape).astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    index.corpus = Corpus(
        items=np.array([row.item for row in rows]),
        versions=np.array([row.version for row in rows]),
        spectra=np.array([key_of(row.spectrum) for row in rows]),
        words=vectors.astype(np.float16),
        facts=corpus.facts[taken],
        claims=np.ones(len(rows), dtype=bool),
        model=corpus.model,
        items_in_store=len(rows),
    )


def spectra_speed(results: Results, folder: Path, number: int, found: Sequence[Base]) -> None:
    """The nearest of ``number`` spectra: simulated shapes with noise, in the files of an index."""
    shapes = [vector for one in found if (vector := shape_vector(one.spectrum)) is not None]
    rng = np.random.default_rng(3)
    place = folder / "shapes"
    place.mkdir(exist_ok=True)
    table_of_shapes = Index(None, place).shapes  # type: ignore[arg-type]
    table_of_shapes.clear()
    for start in range(0, number, 4096):
        rows = np.zeros(min(4096, number - start), dtype=table_of_shapes.dtype)
        rows["key"] = np.arange(start, start + rows.size) + 1
        taken = rng.integers(0, len(shapes), rows.size)
        noise = rng.normal(0, 0.03, (rows.size, SIZE))
        rows["vector"] = np.array([shapes[at] for at in taken]) * rng.uniform(0.7, 1.3, (rows.size, 1)) + noise
        table_of_shapes.add(rows)
        table_of_shapes.flush()
    search = Shapes(table_of_shapes)
    used = time.process_time()
    search.update(np.arange(number) + 1)
    made = time.process_time() - used
    table = results.table(
        {"spectra": "{:,}", "call": "", "median, ms": "{:.0f}", "95 %, ms": "{:.0f}", "CPU, ms": "{:.0f}"}
    )
    timed(table, number, "nearest spectra", lambda: search.nearest(shapes[rng.integers(len(shapes))]))
    rows = table_of_shapes.rows(np.arange(number) + 1)["vector"].astype(np.float32) if number <= 100_000 else None
    agreeing = []
    for _ in range(20 if rows is not None else 0):
        vector = shapes[rng.integers(len(shapes))]
        keys, _ = search.nearest(vector)
        exact = np.argsort(distances(vector, rows), kind="stable")[:20] + 1
        agreeing.append(len(set(exact.tolist()) & set(keys[:20].tolist())) / 20)
    size = sum(file.stat().st_size for file in place.iterdir()) / 1e6
    results.text(
        f"Of the 20 nearest of {number:,} spectra, {100 * float(np.mean(agreeing)):.0f} % are found; the files have "
        f"{size:.0f} MB; the short vectors are made in {made:.1f} s of processor time after a start."
    )


def timed(table: Table, items: int, what: str, call: Callable[[], object]) -> None:
    seconds, used = [], []
    for _ in range(CALLS):
        start, before = time.perf_counter(), time.process_time()
        answer = call()
        assert getattr(answer, "status_code", 200) == 200, getattr(answer, "text", "")
        seconds.append(1e3 * (time.perf_counter() - start))
        used.append(1e3 * (time.process_time() - before))
    table.row(items, what, float(np.median(seconds)), float(np.quantile(seconds, 0.95)), float(np.median(used)))


if __name__ == "__main__":
    main()
