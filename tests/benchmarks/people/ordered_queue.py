"""Times of the queue ordered by value of information, on one large task.

    python -m tests.benchmarks.people.ordered_queue --items 100000

The items have invented trajectories, and a tenth of them decisions up to any round. How long others wait is measured
by a thread that opens a write transaction every 20 ms while P(YES) of every item is recorded.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import numpy as np

from reviewer.store import Draft, QueueFilter, ScoreRow, Store, TrialRow
from tests.benchmarks.results import Results, Table
from tests.benchmarks.store import SPECTRA, decide_all, invented_spectra, trajectory

CALLS = 100
TRIALS = 1000
CV = QueueFilter(task="cv")


def filled(store: Store, items: int) -> list[int]:
    """Add people and items of one task; a tenth of them gets decisions."""
    rng = random.Random(items)
    for initials in ("AB", "CD", "EF", "GH"):
        store.accounts.add_person(initials, initials, ["reviewer", "auditor", "coordinator"])
    spectra = invented_spectra(np.random.default_rng(1))

    def drafts() -> Iterator[Draft]:
        for number in range(items):
            spectrum = spectra[number % SPECTRA]
            made = replace(trajectory(rng, spectrum), task="cv", spectrum_name=f"{number:06d}-{spectrum.name}")
            yield Draft(made, spectrum, batch=f"batch {number % 5}", key=str(number))

    ids = [added.item_id for added in store.items.add_all(drafts())]
    decide_all(store, rng.sample(ids, items // 10), rng)
    return ids


def times(call: Callable[[], object], calls: int) -> list[float]:
    """Return the seconds of each call."""
    found = []
    for _ in range(calls):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return found


def row(table: Table, what: str, seconds: list[float]) -> None:
    table.row(what, len(seconds), *(1e3 * float(np.quantile(seconds, q)) for q in (0.5, 0.95, 1.0)))


def waits_of_others(store: Store, write: Callable[[], object]) -> tuple[float, list[float]]:
    """Return the seconds of ``write`` and, of every write transaction that a second connection makes meanwhile, those
    until it is committed.
    """
    ready, done = threading.Event(), threading.Event()
    waited: list[float] = []

    def others() -> None:
        with Store.open(store.path) as other:
            while not done.is_set():
                waited.extend(times(lambda: other.settings.set("GH", "benchmark", 1), 1))
                ready.set()
                time.sleep(0.02)

    thread = threading.Thread(target=others)
    thread.start()
    ready.wait(60)
    waited.clear()
    (seconds,) = times(write, 1)
    done.set()
    thread.join()
    return seconds, waited


def measure(results: Results, items: int) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "annotations.db") as store:
        ids = filled(store, items)
        p = np.random.default_rng(2).beta(0.3, 1.0, items)
        scores = [ScoreRow(item, float(value), {"vote": 1.5}) for item, value in zip(ids, p, strict=True)]
        seconds, waited = waits_of_others(store, lambda: store.trust.record_scores(None, "cv", {}, scores))
        results.text(f"{items:,} items of one task; P(YES) of all was recorded in {seconds:.1f} s.")
        table = results.table(
            {"what": "", "calls": "{:,}", "median (ms)": "{:.1f}", "95 % (ms)": "{:.1f}", "longest (ms)": "{:.1f}"}
        )
        row(table, "another person's write meanwhile", waited)

        def show() -> None:
            assert store.triage.show(person="AB", filter=CV, key=uuid4().hex) is not None

        row(table, "choose the next item, first", times(show, 1))
        row(table, "choose the next item, later", times(show, CALLS))
        waiting = iter([item for item in ids if store.items.standing(item).state == "screening"])

        def decide() -> None:
            decide_all(store, [next(waiting)], random.Random(0))

        later = []
        for _ in range(CALLS):
            decide()
            later += times(show, 1)
        row(table, "choose the next item after a decision", later)
        hashes = [store.items.get(item).version.content_hash for item in ids[:TRIALS]]
        store.trust.record_trials(None, [TrialRow(one, bool(n % 2), {}, item=ids[n]) for n, one in enumerate(hashes)])
        for outcome in ("passed", "untested"):
            wanted = replace(CV, trial=outcome)
            count = times(lambda wanted=wanted: store.queue.page(wanted, "AB"), 20)  # type: ignore[misc]
            row(table, f"rows and count of the queue, trial {outcome}", count)
        row(table, "all cases of the task", times(lambda: store.trust.cases("cv"), 3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=100_000)
    measure(Results(), parser.parse_args().items)


if __name__ == "__main__":
    main()
