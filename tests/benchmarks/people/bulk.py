"""Bulk actions in a campaign of 100,000 traces: preview, action and undo of thousands of items; Markdown.

    python -m tests.benchmarks.people.bulk [--items 100000] [--repeats 5] [--db-dir FOLDER]

Calls of the store on items that are sampled at random from all that can change. The processor time does not depend on
other work on the machine; the seconds do. Everybody else waits with their writes during an action and an undo.
"""

from __future__ import annotations

import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from reviewer.store import Store
from reviewer.store.team.actions import MOST_CHANGED, Action, Assign, Reject, SetBatch
from tests.benchmarks.people.campaign import campaign
from tests.benchmarks.results import Results, Table, command_line

SIZE = 5000
Result = TypeVar("Result")
ACTIONS: tuple[tuple[str, Action, int], ...] = (
    ("reject, with a comment", Reject("bad_data", "The sky lines of this plate are not subtracted."), SIZE),
    ("assign to two people", Assign(("AB", "CD")), SIZE),
    ("set the batch", SetBatch("checked"), SIZE),
    ("reject, the most at once", Reject("bad_data"), MOST_CHANGED["reject"]),
    ("set the batch, the most at once", SetBatch("checked"), MOST_CHANGED["batch"]),
    ("assign, the most at once", Assign(("AB",)), MOST_CHANGED["assign"]),
)


class Watch:
    """Seconds and processor time of the calls of one kind."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.used: list[float] = []

    def run(self, call: Callable[[], Result]) -> Result:
        start, before = time.perf_counter(), time.thread_time()
        made = call()
        self.seconds.append(time.perf_counter() - start)
        self.used.append(time.thread_time() - before)
        return made


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--items", type=int, default=100_000, metavar="N")
    parser.add_argument("--repeats", type=int, default=5, metavar="N")
    parser.add_argument("--db-dir", type=Path, metavar="FOLDER", help="keep the campaign there")
    chosen = parser.parse_args()
    results = Results()
    numbers = {"median, s": "{:.2f}", "CPU, s": "{:.2f}"}
    table = results.table({"what": "", "items": "{:,}", "call": "", **numbers})
    with tempfile.TemporaryDirectory() as temporary:
        made = campaign(chosen.items, chosen.db_dir or Path(temporary))
        path = shutil.copyfile(made, Path(temporary) / "copy.db")
        with Store.open(path) as store:
            for name, action, items in ACTIONS:
                measure(table, store, name, action, min(items, chosen.items // 2), chosen.repeats)
            assign_all(store, chosen.items)
            counted = Watch()
            for _ in range(chosen.repeats):
                store.statistics._counted.clear()
                counted.run(store.statistics.counts)
            row(table, "Progress, every item assigned", chosen.items, "figures", counted)


def measure(table: Table, store: Store, name: str, action: Action, size: int, repeats: int) -> None:
    rng = random.Random(size)
    watches = {"preview": Watch(), "action": Watch(), "undo": Watch()}
    state = "AND state NOT IN ('approved', 'rejected')" if isinstance(action, Reject) else ""
    with store.database.read() as db:
        all_items = [item for (item,) in db.execute(f"SELECT item FROM standings WHERE true {state}")]
    # Items that the person may not decide are in the selection, but do not change.
    shown = store.bulk.preview("GH", rng.sample(all_items, 1000), action)
    wanted = min(len(all_items), round(size * 1000 / shown.items))
    for _ in range(repeats):
        items = rng.sample(all_items, wanted)
        while (more := store.bulk.preview("GH", items, action).items - size) > 0:
            items = items[:-more]
        shown = watches["preview"].run(partial(store.bulk.preview, "GH", items, action))
        done = watches["action"].run(partial(store.bulk.apply, "GH", items, action, shown.token, uuid4().hex))
        watches["undo"].run(partial(store.bulk.undo, "GH", done.id, uuid4().hex))
    for call, watch in watches.items():
        row(table, name, done.items, call, watch)


def assign_all(store: Store, items: int) -> None:
    action = Assign(("AB", "CD", "EF"))
    for start in range(0, items, MOST_CHANGED["assign"] // 3):
        chosen = range(start + 1, min(items, start + MOST_CHANGED["assign"] // 3) + 1)
        token = store.bulk.preview("GH", chosen, action).token
        store.bulk.apply("GH", chosen, action, token, uuid4().hex)


def row(table: Table, name: str, items: int, call: str, watch: Watch) -> None:
    table.row(name, items, call, statistics.median(watch.seconds), statistics.median(watch.used))


if __name__ == "__main__":
    main()
