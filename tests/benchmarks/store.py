"""Response times of annotations.db, and its size.

    python -m tests.benchmarks.store --items 100 10000 100000
    python -m tests.benchmarks.store --size FOLDER_OF_SURVEY_FILES
    python -m tests.benchmarks.store --sky 1000000

The first: median and 95th percentile of 200 calls (counts: 20; decisions: one per five items at most) on databases
with invented trajectories in every round. The second: the file size with 1,000 trajectories, each on its own
spectrum (flux of a survey file times random factors, rounded to float32). The third: records of catalogues, and the
route of the sky panel on simulated spectra, once without and then with what the app has computed.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from fastapi.testclient import TestClient

from agent.simulate import simulate
from agent.simulate.sky import sky_of
from agent.sky.records import SkyRecord, record_text
from agent.spectrum import Spectrum, SpectrumError, read_all
from agent.trajectory import Answer, Drafter, Think, Trajectory, Zoom
from reviewer import server
from reviewer.rules.workflow import Verb
from reviewer.store import Draft, QueueFilter, QueuePage, Store
from reviewer.store.spectra import encode, insert_spectrum
from reviewer.store.sqlite.database import Transaction
from reviewer.web import sky
from reviewer.web.auth import ALONE, COOKIE
from tests.benchmarks.results import Results, Table, command_line, median_95_longest, times
from tests.support.campaign import Desk

CALLS = 200
SPECTRA = 50
SENTENCE = "the flux rises blueward of the Balmer jump while emission near 6563 Å is broad and double peaked"

# Decisions on an item, from none to all rounds.
DECISIONS: tuple[tuple[tuple[str, Verb], ...], ...] = (
    (),
    (("AB", "keep"),),
    (("AB", "keep"), ("AB", "submit")),
    (("AB", "keep"), ("AB", "submit"), ("CD", "pass")),
    (("AB", "keep"), ("AB", "submit"), ("CD", "pass"), ("EF", "pass")),
    (("AB", "keep"), ("AB", "submit"), ("CD", "pass"), ("EF", "pass"), ("CD", "approve")),
    (("AB", "keep"), ("AB", "submit"), ("CD", "pass"), ("EF", "pass"), ("CD", "approve"), ("EF", "approve")),
    (("AB", "reject"),),
)


def text(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(SENTENCE.split(), k=words))


def trajectory(rng: random.Random, spectrum: Spectrum) -> Trajectory:
    """Three zooms and an answer, of the length of a real trajectory."""
    steps: list[Think | Zoom | Answer] = []
    for number in range(3):
        low = rng.uniform(4000, 8000)
        arguments = {"wavelength_range": [low, low + 200], "label": "window"}
        steps.append(Think(f"s{2 * number + 1}", text(rng, 90)))
        steps.append(Zoom(f"s{2 * number + 2}", arguments, observation=text(rng, 20), picture=rng.randbytes(32).hex()))
    steps += [Think("s7", text(rng, 90)), Answer("s8", rng.choice(("YES", "NO")), text(rng, 40))]
    return Trajectory(
        task=rng.choice(("cv", "carbon", "white_dwarf", "m_giant")),
        prompt=text(rng, 350),
        spectrum_name=spectrum.name,
        spectrum_sha256=spectrum.sha256,
        steps=tuple(steps),
        drafter=Drafter("model", rng.choice(("spec-o3-3b", "spec-o3-7b"))),
        overview=rng.randbytes(32).hex(),
    )


def invented_spectra(rng: np.random.Generator) -> list[Spectrum]:
    wavelength = 10 ** np.linspace(np.log10(3700.0), np.log10(9000.0), 3800)
    return [
        Spectrum(
            wavelength,
            rng.normal(1.0, 0.1, wavelength.size).astype("f4").astype(float),
            np.full(wavelength.size, 100.0),
            survey=("LAMOST", "SDSS", "DESI")[n % 3],
            name=f"spec-{55000 + n}-F{n:04d}_sp01-{n:03d}.fits",
            ids={"obsid": str(100_000_000 + n)},
            snr={"r": float(rng.uniform(2, 60))},
        )
        for n in range(SPECTRA)
    ]


def add_items(store: Store, items: int, rng: random.Random, **fields: str) -> list[int]:
    """Add people and items. :param fields: of all trajectories"""
    for initials in ("AB", "CD", "EF", "GH"):
        store.accounts.add_person(initials, initials, ["reviewer", "auditor", "coordinator"])
    spectra = invented_spectra(np.random.default_rng(1))

    def drafts() -> Iterator[Draft]:
        for number in range(items):
            spectrum = spectra[number % SPECTRA]
            made = replace(trajectory(rng, spectrum), spectrum_name=f"{number:06d}-{spectrum.name}", **fields)
            yield Draft(made, spectrum, batch=f"batch {number % 5}", key=str(number))

    return [added.item_id for added in store.items.add_all(drafts())]


def decide_all(store: Store, ids: list[int], rng: random.Random) -> None:
    """Add decisions that leave items in every round, in random order.

    Uses the store's own parts, but without a lease and an fsync for each of hundreds of thousands.
    """
    with store.database.write() as db:
        for item_id in ids:
            for person, verb in rng.choice(DECISIONS):
                append_decision(store, db, item_id, person, verb)


def append_decision(store: Store, db: Transaction, item: int, person: str, verb: Verb, comment: str = "") -> None:
    now = store.history.standing(db, item)
    key = f"{item} {now.round} {person}"
    decision = {"person": person, "item": item, "version": now.version_id, "verb": verb, "reason": "", "key": key}
    store.reviews.append_decision(db, {**decision, "round": now.round, "withdraws": None, "comment": comment})
    store.history.refresh(db, item)


def kept_database(path: Path, fill: Callable[[Path], None]) -> Path:
    """Return a database that an earlier run left; make it if there is none. One that is half made has another name."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part.db")
        for left in path.parent.glob(f"{part.name}*"):
            left.unlink()
        fill(part)
        part.rename(path)
    return path


def timed(table: Table, items: int, what: str, call: Callable[[], object], calls: int = CALLS) -> None:
    table.row(items, what, *median_95_longest(times(call, calls))[:2])


def answer_times(results: Results, items: int) -> None:
    rng = random.Random(items)
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "annotations.db") as store:
        start = time.perf_counter()
        ids = add_items(store, items, rng)
        added = time.perf_counter()
        decide_all(store, ids, rng)
        decided = time.perf_counter()
        filled = results.table({"items": "{:,}", "added, s": "{:.1f}", "decided, s": "{:.1f}"})
        filled.row(items, added - start, decided - added)
        numbers = {"median, ms": "{:.2f}", "95th percentile, ms": "{:.2f}"}
        table = results.table({"items in the database": "{:,}", "what": "", **numbers})
        for name, chosen in filters(items).items():
            timed(table, items, f"queue: {name}", partial(page, store, chosen, "GH", rng, items))
        mine = QueueFilter(mine=True)
        timed(table, items, "queue: mine, of the person who did most", partial(page, store, mine, "AB", rng, items))
        timed(table, items, "first_undone", partial(store.queue.first_undone, mine, "GH"))
        timed(table, items, "neighbours, 3", lambda: store.queue.neighbours(rng.randrange(items), mine, "GH", 3))
        timed(table, items, "position", lambda: store.queue.position(rng.randrange(items), mine, "GH"))
        timed(table, items, "item", lambda: store.items.get(rng.randrange(items) + 1))
        timed(table, items, "facets", store.queue.facets)
        timed(table, items, "counts", store.statistics.counts, 20)
        timed(table, items, "lease + decide", partial(decide_one, store), min(CALLS, items // 5))
        version_id = store.items.get(1).version.id
        timed(
            table,
            items,
            "autosave",
            lambda: store.leases.autosave(
                person="GH", item_id=1, base_version_id=version_id, body={"text": "x" * 5000}
            ),
        )


def filters(items: int) -> dict[str, QueueFilter]:
    return {
        "everything": QueueFilter(),
        "mine to do": QueueFilter(mine=True),
        "one task, mine": QueueFilter(task="cv", mine=True),
        "one state": QueueFilter(states=("vote",)),
        "survey, S/N range, drafter": QueueFilter(survey="SDSS", snr_min=10, snr_max=30, drafter="spec-o3-3b"),
        "name, one match": QueueFilter(text=f"{items // 2:06d}-spec"),
        "survey id, one item in fifty": QueueFilter(text="100000007"),
    }


def page(store: Store, chosen: QueueFilter, person: str, rng: random.Random, items: int) -> QueuePage:
    return store.queue.page(chosen, person, after=rng.randrange(items))


def decide_one(store: Store) -> None:
    item_id = store.queue.first_undone(QueueFilter(states=("screening", "vote"), mine=True), "GH")
    assert item_id is not None
    screening = store.items.standing(item_id).state == "screening"
    Desk(store).decide("GH", item_id, "keep" if screening else "approve")


def measure_size(results: Results, folder: Path, items: int = 1000) -> None:
    found = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        try:
            found += list(read_all(path))[:20]
        except SpectrumError:
            continue
    if not found:
        raise SystemExit(f"{folder}: found no spectrum in it, expected survey files")
    rng, generator = random.Random(0), np.random.default_rng(0)

    def drafts() -> Iterator[Draft]:
        for number in range(items):
            original = found[number % len(found)]
            factor = generator.uniform(0.5, 2.0, original.flux.size)
            flux = (original.flux * factor).astype("f4").astype(float)
            ivar = (original.ivar / factor**2).astype("f4").astype(float)
            spectrum = replace(original, flux=flux, ivar=ivar, name=f"{number}-{original.name}")
            yield Draft(trajectory(rng, spectrum), spectrum)

    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "annotations.db"
        with Store.open(path) as store:
            store.items.add_all(drafts())
        pixels = sum(len(s) for s in found) / len(found)
        results.text(
            f"{items} trajectories on spectra like {len(found)} real ones (mean {pixels:.0f} pixels): "
            f"{path.stat().st_size / 1e6:.1f} MB"
        )


SURVEYS = ("SDSS", "DESI")


def sky_times(results: Results, records: int) -> None:
    """Time the records and the panel of simulated spectra among so many records of other spectra."""
    rng = random.Random(records)
    kinds = ("cv", "gm", "wd", "qso")
    spectra = [simulate(kind, survey, 20.0, seed) for seed in range(25) for kind in kinds for survey in SURVEYS]
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "annotations.db") as store:
        store.accounts.add_person("AB", "AB", ["reviewer"])
        known = [(spectrum.sha256, record) for spectrum in spectra for record in sky_of(spectrum)]
        for spectrum in spectra:
            store.items.add(trajectory(rng, spectrum), store.spectra.add(spectrum))
        others = fill_sky(store, [record for _, record in known], records, rng)
        start = time.perf_counter()
        store.sky.add(known, pause=0.0)
        results.text(
            f"{records:,} records of {len(others):,} spectra, and {len(known)} of {len(spectra)} others, added "
            f"in {time.perf_counter() - start:.2f} s; the file has {store.path.stat().st_size / 1e9:.2f} GB."
        )
        numbers = {"median, ms": "{:.2f}", "95th percentile, ms": "{:.2f}", "longest, ms": "{:.2f}"}
        table = results.table({"records": "{:,}", "what": "", **numbers})
        app = server.build(store, local=True)
        client = TestClient(app, base_url="http://127.0.0.1", cookies={COOKIE: f"{ALONE}AB"})

        def panel(number: int) -> None:
            answer = client.get(f"/api/v1/spectrum/{spectra[number % len(spectra)].sha256}/sky")
            assert answer.status_code == 200, answer.text
            assert answer.json()["catalogues"]

        first = iter(range(len(spectra)))
        sky.prepare()
        calls: dict[str, tuple[Callable[[], object], int]] = {
            "records of a spectrum": (lambda: store.sky.of(rng.choice(others)), CALLS),
            "panel, first time": (lambda: panel(next(first)), len(spectra)),
            "panel, again": (lambda: panel(rng.randrange(len(spectra))), CALLS),
        }
        for what, (call, times_of_it) in calls.items():
            table.row(records, what, *median_95_longest(times(call, times_of_it)))
        app.state.context.similar.close()


def fill_sky(store: Store, like: list[SkyRecord], records: int, rng: random.Random) -> list[str]:
    """Add records with the texts of these to spectra of two pixels, four to each; return the spectra."""
    texts = [(record.catalogue, record.status, record_text(record)) for record in like]
    row = encode(Spectrum(np.array([5000.0, 5001.0]), np.ones(2), np.ones(2))) | {"added_at": "2026"}
    columns = [name for name in row if name not in ("pixels", "wavelength_type", "wavelength", "sparkline")]
    spectra = [rng.randbytes(32).hex() for _ in range(records // 4)]
    with store.database.write() as db:
        insert_spectrum(db, row)
        spectrum = f"INSERT INTO spectra ({', '.join(columns)}) VALUES ({', '.join(f':{name}' for name in columns)})"
        db.conn.executemany(spectrum, ({**row, "sha256": sha256} for sha256 in spectra))
        db.conn.executemany(
            "INSERT INTO sky_records (spectrum, catalogue, sha256, status, body, at) VALUES (?, ?, ?, ?, ?, '2026')",
            (
                (sha256, f"{catalogue}_{n}", rng.randbytes(32).hex(), status, body)
                for sha256 in spectra
                for n, (catalogue, status, body) in enumerate(rng.choices(texts, k=4))
            ),
        )
    return spectra


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--items", type=int, nargs="+", help="sizes of the databases to time")
    parser.add_argument("--size", type=Path, metavar="FOLDER", help="survey files for the size of a database")
    parser.add_argument("--sky", type=int, metavar="N", help="number of records of catalogues")
    arguments = parser.parse_args()
    results = Results()
    if arguments.sky:
        sky_times(results, arguments.sky)
    for items in arguments.items or ():
        answer_times(results, items)
    if arguments.size:
        measure_size(results, arguments.size)


if __name__ == "__main__":
    main()
