"""Response times for coordinators and scorers in a blind scoring session; Markdown.

    python -m tests.benchmarks.people.blind_session [--scorers 6] [--items 100] [--runs 10]

Invented traces of two sources, each pair on its own spectrum. Measured: making the session through the store;
opening each item over HTTP, for every scorer; making the report's files in memory (the first report, which imports
the statistics, is given separately). Measured alone, at larger sizes: assigning spectra to scorers, and the strengths
of four sources.
"""

from __future__ import annotations

import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from uuid import uuid4

import httpx
import uvicorn

from agent.simulate import simulate
from agent.trajectory import Drafter
from reviewer import server
from reviewer.agreement.davidson import davidson
from reviewer.blind.balance import assign_evenly
from reviewer.blind.plan import PREFERENCES, Plan
from reviewer.exchange import blind_report
from reviewer.store import BlindWork, Draft, Store
from tests.benchmarks.results import Results, command_line, median_95_longest, times
from tests.benchmarks.store import trajectory
from tests.support.cli import free_port
from tests.support.preferences import of_four_sources

SOURCES = ("spec-o3-7b", "gpt-5")
TASK = "cv"


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--scorers", type=int, default=6, help="people who score (6)")
    parser.add_argument("--items", type=int, default=100, help="traces, an even number (100)")
    parser.add_argument("--runs", type=int, default=10, help="number of sessions and of reports (10)")
    chosen = parser.parse_args()
    people = tuple(chr(ord("A") + n) * 2 for n in range(chosen.scorers))
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "annotations.db") as store:
        fill(store, people, chosen.items)

        def create() -> int:
            return store.blind.sessions.create(None, plan(people, chosen.items), uuid4().hex).id

        creating = times(create, chosen.runs)
        session = create()
        store.blind.sessions.open(None, session, uuid4().hex)
        opening = list(opened(store, people))
        store.blind.sessions.close(None, session, uuid4().hex)
        (first,) = times(lambda: blind_report.files(store, None, session))
        reporting = times(lambda: blind_report.files(store, None, session), chosen.runs)
        size = len(blind_report.as_html(store, None, session)) / 1e3
        questions = sum(scorer.assigned for scorer in store.blind.sessions.progress(None, session))
    results = Results()
    results.text(f"{chosen.scorers} scorers, {chosen.items} traces, {questions} questions in all.")
    table = results.table({"": "", "times": "{}", "median, ms": "{:.1f}", "95th percentile, ms": "{:.1f}"})
    table.row(*row("draw the session", creating))
    table.row(*row("open an item", opening))
    table.row(*row("make the report", reporting))
    votes = of_four_sources()
    davidson(votes)  # the first use of the statistics is not measured
    for each in (2, 5):
        assigning = times(partial(assign, 500, each), chosen.runs)
        table.row(*row(f"assign 500 spectra to {each} of 8 scorers each", assigning))
    strengths = times(lambda: davidson(votes), chosen.runs)
    table.row(*row("strengths of four sources, 2,000 resamples of 600 votes", strengths))
    results.text(f"The first report of a process took {first:.0f} ms; its page has {size:.0f} kB.")


def assign(spectra: int, each: int) -> None:
    """Assign spectra of five strata evenly to scorers, ``each`` of the eight to every spectrum."""
    scorers = "ABCDEFGH"
    strata = [number % 5 for number in range(spectra)]
    assign_evenly([frozenset(scorers)] * spectra, each, scorers, random.Random(1), Counter(), strata)


def plan(people: tuple[str, ...], items: int) -> Plan:
    # A short list has no place for five repeats.
    repeats = min(5, items // 20)
    return Plan("benchmark", people, mode="both", sources=SOURCES, each=min(3, len(people)), repeats=repeats)


def fill(store: Store, people: Sequence[str], items: int) -> None:
    for initials in people:
        store.accounts.add_person(initials, initials, ["reviewer", "coordinator"])
    rng = random.Random(1)

    def drafts() -> Iterator[Draft]:
        for number in range(items // 2):
            spectrum = simulate("cv", "LAMOST", 20.0, number)
            for source in SOURCES:
                made = replace(trajectory(rng, spectrum), task=TASK, drafter=Drafter("model", source))
                yield Draft(replace(made, label=rng.choice(("YES", "NO"))), spectrum)

    store.items.add_all(drafts())


def opened(store: Store, people: Sequence[str]) -> Iterator[float]:
    """Milliseconds until sheet and spectrum of an item arrived, for every item of every scorer.

    Each is answered before the next is opened, by a score that depends on the trace, with random errors.
    """
    rng = random.Random(2)
    quality: dict[str, float] = {}
    with serving(store) as address:
        for person in people:
            with httpx.Client(base_url=address, cookies={"spec_o3_session": f"alone:{person}"}) as client:
                client.get("/api/v1/blind/work").raise_for_status()
                for work in store.blind.scoring.assignments(person):
                    start = time.perf_counter()
                    for path in (f"/api/v1/blind/sheet/{work.token}", f"/api/v1/blind/sheet/{work.token}/spectrum"):
                        client.get(path).raise_for_status()
                    yield 1000 * (time.perf_counter() - start)
                    answer(store, person, work, rng, quality)


def answer(store: Store, person: str, work: BlindWork, rng: random.Random, quality: dict[str, float]) -> None:
    if work.kind == "pair":
        store.blind.scoring.prefer(person=person, token=work.token, preference=rng.choice(PREFERENCES), key=uuid4().hex)
        return
    shown = store.blind.scoring.source(work.token, person).trajectories[0].content_hash()
    level = quality.setdefault(shown, rng.gauss(3.5, 1.0))
    scores = [max(0, min(5, round(rng.gauss(level, 0.7)))) for _ in range(2)]
    store.blind.scoring.score(
        person=person, token=work.token, coherence=scores[0], consistency=scores[1], key=uuid4().hex
    )


@contextmanager
def serving(store: Store) -> Iterator[str]:
    port = free_port()
    app = uvicorn.Server(uvicorn.Config(server.build(store, local=True), port=port, log_level="warning"))
    thread = threading.Thread(target=app.run, daemon=True)
    thread.start()
    while not app.started:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        app.should_exit = True
        thread.join(timeout=10)


def row(what: str, ms: Sequence[float]) -> tuple[str, int, float, float]:
    median, late, _ = median_95_longest(ms)
    return what, len(ms), median, late


if __name__ == "__main__":
    main()
