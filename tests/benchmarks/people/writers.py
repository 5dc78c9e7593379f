"""How many people SQLite carries: waits of a decision at a growing number of writes per second; Markdown.

    python -m tests.benchmarks.people.writers [--items 1000000] [--rates 5 10 20 40 80] [--seconds 20] [--db-dir FOLDER]

Scripted people vote in a campaign of so many items. Each person takes a lease, saves text and decides: three writes
and as many reads as the page makes. Decisions begin at random times, so many per second, also while earlier ones
wait. "store": threads of one process, as the server's; "HTTP": requests to the app in a process of its own.
The limit is the rate at which the 95th percentile of a write passes 150 ms.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx

from reviewer.store import SUBMIT_SECONDS, QueueFilter, Store
from tests.benchmarks.people.campaign import campaign
from tests.benchmarks.results import Results
from tests.browser.support.review_app import PASSWORD, serving

LIMIT_MS = 150
WRITES = 3
"""Writes of a decision: the lease, the saved text, the decision."""
PEOPLE = 200
THREADS = 40
"""Requests that the server handles at once."""

Write = tuple[str, float]
Act = Callable[[str, int], list[Write]]
"""Let a person decide on an item; return each write and its seconds."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.people.writers", description=__doc__)
    parser.add_argument("--items", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--rates", type=float, nargs="+", default=[5, 10, 20, 40, 80], help="decisions per second")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each rate")
    parser.add_argument("--db-dir", type=Path, metavar="FOLDER", help="keep the campaign there")
    chosen = parser.parse_args()
    results = Results()
    table = results.table(
        {
            "by": "",
            "decisions per s": "{:.0f}",
            "writes per s": "{:.0f}",
            "done": "{:.0%}",
            "median write, ms": "{:.0f}",
            "95 % of writes, ms": "{:.0f}",
            "CPU of the server, cores": "{}",
        }
    )
    busy = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as temporary:
        made = campaign(chosen.items, chosen.db_dir or Path(temporary))
        database = shutil.copyfile(made, Path(temporary) / "annotations.db")
        items = prepared(Path(database))
        for how, acting in (("store", by_store), ("HTTP", by_http)):
            with acting(Path(database)) as act:
                for rate in chosen.rates:
                    table.row(how, *measured(act, items, rate, chosen.seconds))
    results.text(f"{chosen.items:,} items. Load of the machine before the first line: {busy:.1f}.")


def initials_of(number: int) -> str:
    return "".join(chr(ord("A") + number // 26**place % 26) for place in (1, 0)) + "X"


def prepared(database: Path) -> Iterator[int]:
    """Add people with a password; return the items of which each is decided once."""
    with Store.open(database) as store:
        for number in range(PEOPLE):
            store.accounts.add_person(initials_of(number), f"Person {number}", ["reviewer", "auditor"])
        first = initials_of(0)
        store.accounts.set_password(None, first, PASSWORD)
        with store.database.write() as db:
            (hashed,) = db.execute("SELECT password FROM people WHERE initials = ?", (first,)).fetchone()
            # Hashing two hundred passwords would take longer than a measurement.
            db.execute("UPDATE people SET password = ? WHERE name LIKE 'Person %'", (hashed,))
            found = db.execute("SELECT item FROM standings WHERE state = 'screening' LIMIT 60000").fetchall()
        items = [item for (item,) in found]
    random.Random(5).shuffle(items)
    return iter(items)


def measured(act: Act, items: Iterator[int], rate: float, seconds: float) -> tuple[object, ...]:
    """Let decisions begin at this rate; return the rates, the part that was done, and the waits."""
    rng, waits, lock = random.Random(int(rate)), [], threading.Lock()
    begun = 0
    used = time.process_time()

    def one(person: str, item: int) -> None:
        try:
            made = act(person, item)
        except Exception:
            return
        with lock:
            waits.extend(wait for _, wait in made)

    start = time.monotonic()
    with ThreadPoolExecutor(THREADS) as threads:
        while (now := time.monotonic()) < start + seconds:
            threads.submit(one, initials_of(rng.randrange(PEOPLE)), next(items))
            begun += 1
            time.sleep(max(0.0, start + begun / rate - now) if begun / rate > now - start else 0.0)
    took = time.monotonic() - start
    ranked = sorted(waits)
    late = 1e3 * ranked[int(0.95 * (len(ranked) - 1))]
    median = 1e3 * ranked[len(ranked) // 2]
    cores = f"{(time.process_time() - used) / took:.2f}" if act.__name__ == "in_store" else ""
    return begun / took, len(ranked) / took, len(ranked) / (WRITES * begun), median, late, cores


@contextmanager
def by_store(database: Path) -> Iterator[Act]:
    with Store.open(database, patience=SUBMIT_SECONDS) as store:

        def in_store(person: str, item_id: int) -> list[Write]:
            store.queue.page(QueueFilter(mine=True), person, after=item_id)
            version = store.items.get(item_id).version.id
            made: list[Write] = []
            at = time.perf_counter()
            lease = store.leases.take(person, item_id)
            made.append(("lease", (now := time.perf_counter()) - at))
            at = now
            store.leases.autosave(person=person, item_id=item_id, base_version_id=version, body={"text": "x" * 2000})
            made.append(("save", (now := time.perf_counter()) - at))
            at = now
            store.reviews.decide(
                person=person,
                item_id=item_id,
                version_id=version,
                verb="keep",
                key=random.randbytes(8).hex(),
                lease_token=lease.token,
            )
            made.append(("decide", time.perf_counter() - at))
            return made

        yield in_store


@contextmanager
def by_http(database: Path) -> Iterator[Act]:
    clients: dict[str, httpx.Client] = {}
    lock = threading.Lock()
    with serving(database) as url:

        def client_of(person: str) -> httpx.Client:
            with lock:
                if person not in clients:
                    clients[person] = httpx.Client(base_url=url, timeout=60)
                    answer = clients[person].post("/sign-in", data={"initials": person, "password": PASSWORD})
                    if answer.status_code != 303:
                        raise SystemExit(f"{person} could not sign in: {answer.status_code}")
                return clients[person]

        for number in range(THREADS):
            client_of(initials_of(number))

        def over_http(person: str, item_id: int) -> list[Write]:
            # Signing in hashes a password; those who have are enough.
            http = clients.get(person) or clients[initials_of(item_id % THREADS)]
            http.get(f"/api/v1/queue?mine=true&limit=50&after={item_id}").raise_for_status()
            item = http.get(f"/api/v1/item/{item_id}").json()
            made: list[Write] = []
            at = time.perf_counter()
            lease = http.post(f"/api/v1/item/{item_id}/lease", json={})
            lease.raise_for_status()
            made.append(("lease", (now := time.perf_counter()) - at))
            saved = {"base": item["version"]["id"], "steps": item["trajectory"]["steps"], "comment": "x" * 500}
            at = now
            http.post(f"/api/v1/item/{item_id}/autosave", json=saved).raise_for_status()
            made.append(("save", (now := time.perf_counter()) - at))
            decision = {"version": item["version"]["id"], "verb": "keep", "key": random.randbytes(8).hex()}
            at = now
            http.post(
                f"/api/v1/item/{item_id}/decide", json={**decision, "lease": lease.json()["lease"]}
            ).raise_for_status()
            made.append(("decide", time.perf_counter() - at))
            return made

        yield over_http
        for http in clients.values():
            http.close()


if __name__ == "__main__":
    main()
