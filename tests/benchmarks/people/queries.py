"""What people wait for in a campaign of a million items: queue, search, Progress, Library; Markdown.

    python -m tests.benchmarks.people.queries [--items 20000 1000000] [--db-dir FOLDER]

Median and 95th percentile of calls of the store, and the processor time of the median call, which other work on the
machine does not change. Figures that the server keeps until the next change are calculated at each call.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from agent.tasks import load
from reviewer.store import QueueFilter, Store
from reviewer.web.routes.progress import AgreementCache
from tests.benchmarks.people.campaign import campaign
from tests.benchmarks.results import Results, Table, command_line, median_95_longest
from tests.benchmarks.store import filters, page

CALLS = 40
FEW = 5
"""Calls of what takes long."""


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--items", type=int, nargs="+", default=[20_000, 1_000_000], metavar="N")
    parser.add_argument("--db-dir", type=Path, metavar="FOLDER", help="keep the campaigns there")
    chosen = parser.parse_args()
    results = Results()
    numbers = {"median, ms": "{:.1f}", "95 %, ms": "{:.1f}", "CPU, ms": "{:.1f}"}
    table = results.table({"items": "{:,}", "what": "", **numbers})
    with tempfile.TemporaryDirectory() as temporary:
        for items in chosen.items:
            with Store.open(campaign(items, chosen.db_dir or Path(temporary))) as store:
                queue(table, store, items)
                progress(table, store, items)


def queue(table: Table, store: Store, items: int) -> None:
    rng = random.Random(1)
    mine = QueueFilter(mine=True)
    chosen = {
        **filters(items),
        "mine, of the person who did most": mine,
        "text that every name has": QueueFilter(text="sp01"),
        "text that every name has, mine, votes on one task": QueueFilter(
            text="sp01", mine=True, task="cv", states=("vote",)
        ),
        "text of two letters that no name has": QueueFilter(text="zz"),
    }
    for name, wanted in chosen.items():
        who = "AB" if "did most" in name else "GH"
        timed(table, items, f"list: {name}", partial(page, store, wanted, who, rng, items))
    for name, wanted in (("mine", mine), ("mine, text that every name has", QueueFilter(text="sp01", mine=True))):
        timed(
            table,
            items,
            f"next three: {name}",
            lambda wanted=wanted: store.queue.neighbours(rng.randrange(items), wanted, "GH", 3),
        )
        timed(
            table,
            items,
            f"place: {name}",
            lambda wanted=wanted: store.queue.position(rng.randrange(items), wanted, "GH"),
        )
    timed(table, items, "first to do", partial(store.queue.first_undone, mine, "GH"))
    timed(table, items, "item", lambda: store.items.get(rng.randrange(items) + 1))


def progress(table: Table, store: Store, items: int) -> None:
    tasks = load()

    def counted(task: str | None, batch: str | None) -> None:
        store.statistics._counted.clear()
        store.statistics.counts(task, batch)

    timed(table, items, "Progress: figures", partial(counted, None, None), FEW)
    timed(table, items, "Progress: figures of a task", partial(counted, "cv", None), FEW)
    timed(table, items, "Progress: figures of a batch", partial(counted, None, "batch 1"), FEW)
    timed(table, items, "Progress: agreement", lambda: AgreementCache().figures(store, tasks, None, None), FEW)
    timed(table, items, "Progress: disagreements", store.statistics.disagreements, FEW)
    timed(table, items, "Library: batches", store.withdrawals.batches, FEW)
    timed(table, items, "Library: filters", store.queue.facets, FEW)


def timed(table: Table, items: int, what: str, call: Callable[[], object], calls: int = CALLS) -> None:
    seconds, used = [], []
    for _ in range(calls):
        start, before = time.perf_counter(), time.thread_time()
        call()
        seconds.append(time.perf_counter() - start)
        used.append(time.thread_time() - before)
    median, late, _ = median_95_longest(seconds)
    table.row(items, what, *(1e3 * value for value in (median, late, statistics.median(used))))


if __name__ == "__main__":
    main()
