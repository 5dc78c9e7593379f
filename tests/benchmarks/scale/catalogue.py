"""How long a catalogue takes: its facts among many selected items, its pictures, and both again in ``verify``.

    python -m tests.benchmarks.scale.catalogue --items 100000

The items share 50 spectra, so the catalogue has at most 50 objects.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from agent import tasks
from reviewer.catalogue import pictures
from reviewer.catalogue.bundle import build, verify
from reviewer.catalogue.facts import Facts, Wish, collect
from reviewer.catalogue.objects import Rows
from reviewer.store import Store
from tests.benchmarks.results import Results
from tests.benchmarks.store import add_items, decide_all


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    items: int = parser.parse_args().items
    rng, wish = random.Random(items), Wish(tasks.load()["cv"])
    with tempfile.TemporaryDirectory() as place, Store.open(Path(place) / "annotations.db") as store:
        decide_all(store, add_items(store, items, rng, task="cv"), rng)
        table = Results().table({"selected items": "{:,}", "what": "", "s": "{:.1f}", "memory so far, MB": "{:,.0f}"})

        def timed(what: str, call: Callable[[], object]) -> None:
            start = time.perf_counter()
            call()
            used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
            table.row(items, what, time.perf_counter() - start, used)

        folder, out = Path(place) / "facts", Path(place) / "out"
        timed("facts read from the database and written", lambda: collect(store, wish, folder))
        timed("facts read back, objects grouped and measured", lambda: Rows.of(Facts.read(folder)))
        objects = len(Rows.of(Facts.read(folder)).objects)
        drawn = objects + -(-objects // pictures.PER_PAGE)
        timed(
            f"the whole catalogue of {objects} objects: {drawn} pictures, each as PDF and PNG",
            lambda: build(store, wish, out),
        )
        timed("verify", lambda: verify(out))


if __name__ == "__main__":
    main()
