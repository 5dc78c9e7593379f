"""Import of many drafts while a person works: rate, memory, and what the person waits for; Markdown.

    python -m tests.benchmarks.people.imports [--rows 10000 100000 1000000] [--own-spectra 5000]

Each line is a run of ``spec-o3 import`` into a new database. Drafts are on spectra that the database has, or, with
``--own-spectra``, each brings a spectrum of its own. Meanwhile another process decides on items of the same
database, twice per second; its waits are those of ``store.reviews.decide``.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from reviewer.exchange.imports import own_row
from reviewer.store import SUBMIT_SECONDS, QueueFilter, Store
from tests.benchmarks.bulk import measured
from tests.benchmarks.results import ROOT, Results, command_line, median_95_longest, times
from tests.benchmarks.store import add_items, invented_spectra, trajectory

PERSON_EVERY = 0.5
FIRST = 3000  # items on which the person decides


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 100_000, 1_000_000], metavar="N")
    parser.add_argument("--own-spectra", type=int, nargs="*", default=[5000], metavar="N")
    chosen = parser.parse_args()
    results = Results()
    columns = {"rows": "{:,}", "spectra": "", "s": "{:.0f}", "CPU s": "{:.0f}", "rows per CPU s": "{:.0f}"}
    memory = {"peak memory, MB": "{:.0f}", "database, MB": "{:.0f}"}
    waits = {"decisions of others": "{:,}", "95 % wait, ms": "{:.0f}", "longest, ms": "{:.0f}"}
    table = results.table({**columns, **memory, **waits})
    for rows in chosen.rows:
        table.row(rows, "stored before", *one_import(rows, own=False))
    for rows in chosen.own_spectra:
        table.row(rows, "each its own", *one_import(rows, own=True))


def one_import(rows: int, own: bool) -> tuple[float | int, ...]:
    with tempfile.TemporaryDirectory() as folder:
        database, file = Path(folder) / "annotations.db", Path(folder) / "rows.jsonl"
        with Store.open(database) as store:
            add_items(store, FIRST, random.Random(1))
        with file.open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(row) + "\n" for row in made(rows, own))
        over, waits = threading.Event(), []

        def work() -> None:
            with Store.open(database, patience=SUBMIT_SECONDS) as store:
                while not over.wait(PERSON_EVERY):
                    waits.append(decide_next(store))

        person = threading.Thread(target=work)
        person.start()
        command = [sys.executable, str(ROOT / "app.py"), "import", str(file), "--db", str(database)]
        seconds, worked, peak = measured(command)
        over.set()
        person.join()
        with Store.open(database) as store:
            here = store.queue.page(QueueFilter(batch=file.name), "", limit=1).total
        if here != rows:
            raise SystemExit(f"found {here} imported items, expected {rows}")
        late = median_95_longest(waits)[1:] if waits else (float("nan"), float("nan"))
        return seconds, worked, rows / worked, peak, database.stat().st_size / 1e6, len(waits), *late


def made(rows: int, own: bool) -> Iterator[dict[str, Any]]:
    """Yield rows of short texts, which compare with real ones in all but their length."""
    rng, generator = random.Random(2), np.random.default_rng(2)
    spectra = invented_spectra(np.random.default_rng(1))
    traces = [trajectory(rng, spectrum) for spectrum in spectra]
    for number in range(rows):
        spectrum, trace = spectra[number % len(spectra)], traces[number % len(spectra)]
        trace = replace(trace, task="cv", prompt=f"{number} {trace.prompt[:500]}")
        if own:
            flux = generator.normal(1.0, 0.1, spectrum.wavelength.size).astype("f4").astype(float)
            spectrum = replace(spectrum, flux=flux, name=f"{number}-{spectrum.name}")
            trace = replace(trace, spectrum_name=spectrum.name, spectrum_sha256=spectrum.sha256)
        yield own_row(trace, spectrum if own else None)


def decide_next(store: Store) -> float:
    """Decide on the next item as the page does; return the milliseconds of the decision itself."""
    item_id = store.queue.first_undone(QueueFilter(states=("screening",), mine=True), "GH")
    assert item_id is not None
    fields = {"version_id": store.items.get(item_id).version.id, "key": random.randbytes(8).hex()}
    lease = store.leases.take("GH", item_id).token
    decide = partial(store.reviews.decide, person="GH", item_id=item_id, verb="keep", lease_token=lease, **fields)
    return times(decide)[0]


if __name__ == "__main__":
    main()
