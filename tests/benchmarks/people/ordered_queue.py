"""Times of the queue ordered by value of information, on one large task.

    python -m tests.benchmarks.people.ordered_queue --items 100000

The items have invented trajectories, and a tenth of them decisions up to any round. How long others wait is measured
by a thread that opens a write transaction every 20 ms while P(YES) of every item is recorded.
"""

from __future__ import annotations

import random
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import numpy as np

from reviewer.store import QueueFilter, ScoreRow, Store, TrialRow
from tests.benchmarks.results import Results, Table, command_line, median_95_longest, times
from tests.benchmarks.store import add_items, decide_all

CALLS = 100
TRIALS = 1000
CV = QueueFilter(task="cv")


def filled(store: Store, items: int) -> list[int]:
    """Add people and items of one task; a tenth of them gets decisions."""
    rng = random.Random(items)
    ids = add_items(store, items, rng, task="cv")
    decide_all(store, rng.sample(ids, items // 10), rng)
    return ids


def row(table: Table, what: str, ms: list[float]) -> None:
    table.row(what, len(ms), *median_95_longest(ms))


def waits_of_others(store: Store, write: Callable[[], object]) -> tuple[float, list[float]]:
    """Return the milliseconds of ``write``, and of each write transaction of another connection meanwhile."""
    ready, done = threading.Event(), threading.Event()
    waited: list[float] = []

    def others() -> None:
        with Store.open(store.path) as other:
            while not done.is_set():
                waited.extend(times(lambda: other.settings.set("GH", "benchmark", 1)))
                ready.set()
                time.sleep(0.02)

    thread = threading.Thread(target=others)
    thread.start()
    ready.wait(60)
    waited.clear()
    (ms,) = times(write)
    done.set()
    thread.join()
    return ms, waited


def measure(results: Results, items: int) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "annotations.db") as store:
        ids = filled(store, items)
        p = np.random.default_rng(2).beta(0.3, 1.0, items)
        scores = [ScoreRow(item, float(value), {"vote": 1.5}) for item, value in zip(ids, p, strict=True)]
        ms, waited = waits_of_others(store, lambda: store.trust.record_scores(None, "cv", {}, scores))
        results.text(f"{items:,} items of one task; P(YES) of all was recorded in {ms / 1000:.1f} s.")
        table = results.table(
            {"what": "", "calls": "{:,}", "median (ms)": "{:.1f}", "95 % (ms)": "{:.1f}", "longest (ms)": "{:.1f}"}
        )
        row(table, "another person's write meanwhile", waited)

        def show() -> None:
            assert store.triage.show(person="AB", filter=CV, key=uuid4().hex) is not None

        row(table, "choose the next item, first", times(show))
        row(table, "choose the next item, later", times(show, CALLS))
        waiting = iter([item for item in ids if store.items.standing(item).state == "screening"])

        later = []
        for _ in range(CALLS):
            decide_all(store, [next(waiting)], random.Random(0))
            later += times(show)
        row(table, "choose the next item after a decision", later)
        hashes = [store.items.get(item).version.content_hash for item in ids[:TRIALS]]
        store.trust.record_trials(
            None, [TrialRow(content, bool(n % 2), {}, item=ids[n]) for n, content in enumerate(hashes)]
        )
        for outcome in ("passed", "untested"):
            wanted = replace(CV, trial=outcome)
            count = times(lambda wanted=wanted: store.queue.page(wanted, "AB"), 20)  # type: ignore[misc]
            row(table, f"rows and count of the queue, trial {outcome}", count)
        row(table, "all cases of the task", times(lambda: store.trust.cases("cv"), 3))


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    measure(Results(), parser.parse_args().items)


if __name__ == "__main__":
    main()
