"""Time from the key press ``n`` to the next item painted, in headless Chromium; Markdown, milliseconds.

    python -m tests.benchmarks.next_item --items 100 10000 100000 [--db-dir FOLDER]

Makes a database (or copies one that an earlier run left in FOLDER). "at reading pace": 1.5 s between presses, so
that the next items are in the page's cache; "key held down": none. "10 filters": ten of the queue's filters are set.
"20 people": 19 scripted ones work over HTTP meanwhile, each on a new item about every ten seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, expect, sync_playwright

from agent import plot, tool
from agent.simulate import CLASSES, simulate
from agent.spectrum import Spectrum
from agent.tasks import load
from agent.trajectory import Answer, Drafter, Step, Think, Trajectory, Zoom
from reviewer.store import Draft, Store
from tests.benchmarks.results import Results, Table, command_line, median_95_longest
from tests.benchmarks.store import kept_database
from tests.browser.support.review_app import PASSWORD, serving, settled
from tests.support.chromium import TOUR_SEEN, launch

SPECTRA = 60
"""Number of different spectra, which the items share: more than any cache of the page keeps."""
PRESSES = 40
WINDOWS = ([6400, 6700], [4800, 4920], [5100, 5250])
TEXT = "The continuum is blue and the Balmer lines are in absorption; the wings reach beyond ±25 Å. "

PEOPLE = 20
PAUSE = 2.5
"""Mean seconds between two actions of a scripted person; an item takes four actions."""
FILTER = {
    "text": "simulated",
    "mine": "true",
    "state": "screening",
    "survey": "simulated LAMOST",
    "drafter": "benchmark",
    "batch": "benchmark",
    "snr_min": "0.1",
    "snr_max": "10000",
    "disagreement": "false",
    "simulated": "true",
}
"""All filters of the queue except the class, of which the items have many."""

TIMED = """() => new Promise((done) => {
  const desk = window.specO3.review
  const before = desk.current.item.id
  const start = performance.now()
  document.dispatchEvent(new KeyboardEvent('keydown', { key: 'n', bubbles: true }))
  const check = () => {
    if (desk.current.item.id === before) return requestAnimationFrame(check)
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - start), 0))
  }
  check()
})"""


def drafted(spectrum: Spectrum, task: str, prompt: str) -> Trajectory:
    """A trajectory of the usual length (three zooms) with the hashes of its pictures."""
    steps: list[Step] = []
    for at, window in enumerate(WINDOWS):
        arguments = {"wavelength_range": window, "label": f"look {at}"}
        seen = tool.call(spectrum, arguments)
        picture = plot.pixels_sha256(seen.image) if seen.image else None
        steps.append(Think(f"s{2 * at + 1}", TEXT * 3))
        steps.append(
            Zoom(f"s{2 * at + 2}", arguments, seen.frame, seen.z, spectrum.medium, seen.text, seen.ok, picture)
        )
    steps += [Think("s7", TEXT * 2), Answer("s8", "NO", TEXT)]
    return Trajectory(
        task,
        prompt,
        spectrum.name,
        spectrum.sha256,
        tuple(steps),
        Drafter("model", "benchmark"),
        redshift=spectrum.redshift,
        medium=spectrum.medium,
        simulated=True,
    )


@cache
def pairs() -> list[tuple[Spectrum, Trajectory]]:
    tasks = load()
    kinds = [CLASSES[n % len(CLASSES)] for n in range(SPECTRA)]
    spectra = [simulate(kind, "LAMOST", 20.0, 5000 + n) for n, kind in enumerate(kinds)]
    return [(s, drafted(s, k, tasks[k].prompt)) for s, k in zip(spectra, kinds, strict=True)]


def drafts(made: list[tuple[Spectrum, Trajectory]], items: int) -> Iterator[Draft]:
    for n in range(items):
        spectrum, trajectory = made[n % len(made)]
        first = trajectory.steps[0]
        assert isinstance(first, Think)
        numbered = replace(trajectory, steps=(replace(first, text=f"{n}. {first.text}"), *trajectory.steps[1:]))
        yield Draft(numbered, spectrum, batch="benchmark", key=f"benchmark-{n}")


def filled(items: int, kept: Path) -> Path:
    """Return a database of ``items`` trajectories in ``kept``; make it if it does not exist."""

    def fill(path: Path) -> None:
        with closing(Store.open(path)) as store:
            store.items.add_all(drafts(pairs(), items))

    return kept_database(kept / f"{items}.db", fill)


def presses(page: Page, pause_ms: int) -> list[float]:
    times = []
    for _ in range(PRESSES):
        page.wait_for_timeout(pause_ms)
        times.append(float(page.evaluate(TIMED)))
    return times


# ---- the other people


def initials_of(number: int) -> str:
    return f"P{chr(ord('A') + number)}"


@contextmanager
def others_at_work(url: str, how_many: int) -> Iterator[None]:
    """Run scripted people in their own process until the block ends."""
    command = [sys.executable, "-m", "tests.benchmarks.next_item", "--people-at", url, "--people", str(how_many)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        if process.stdout.readline().strip() != "at work":
            raise SystemExit("the scripted people could not sign in")
        yield
        if process.poll() is not None:
            raise SystemExit("the scripted people stopped before the end")
    finally:
        process.terminate()
        process.wait(timeout=30)


async def be_people(url: str, how_many: int) -> None:
    async with asyncio.TaskGroup() as group:
        signed_in = asyncio.Barrier(how_many + 1)
        for number in range(how_many):
            group.create_task(_person(url, number, (number + 0.5) / how_many, signed_in))
        await signed_in.wait()
        print("at work", flush=True)


async def _person(url: str, number: int, place: float, signed_in: asyncio.Barrier) -> None:
    """:param place: where in the queue this person begins, 0 to 1; different for each"""
    rng = random.Random(number)
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        answer = await http.post("/sign-in", data={"initials": initials_of(number), "password": PASSWORD})
        if answer.status_code != 303:
            raise SystemExit(f"{initials_of(number)} could not sign in: {answer.status_code}")
        await signed_in.wait()
        total = (await _fetch(http, "/api/v1/queue?mine=true&limit=1"))["total"]
        at = int(place * total)
        while True:
            at = await _one_item(http, at, rng)


async def _one_item(http: httpx.AsyncClient, after: int, rng: random.Random) -> int:
    """Send the page's requests while a person reads an item and keeps it; return the item's number."""
    rows = (await _fetch(http, f"/api/v1/queue?mine=true&limit=1&after={after}"))["rows"]
    if not rows:
        await _pause(rng)
        return 0
    at = int(rows[0]["id"])
    item = (await _fetch(http, f"/api/v1/item/{at}/opening?mine=true"))["item"]
    await http.get(f"/api/v1/spectrum/{item['row']['spectrum']}")
    await _fetch(http, f"/api/v1/item/{at}/checks")
    for step in item["trajectory"]["steps"]:
        if step.get("picture"):
            query = {"arguments": json.dumps(step["arguments"]), "spectrum": item["row"]["spectrum"]}
            (await http.get(f"/api/v1/picture/{step['picture']}", params=query)).raise_for_status()
    await _pause(rng)
    # The first change of an item leases it.
    lease = await http.post(f"/api/v1/item/{at}/lease", json={})
    if lease.status_code != 200:
        return at
    await _pause(rng)
    version = item["version"]["id"]
    mark = {"version": version, "step": "s1", "mark": "supported", "key": rng.randbytes(8).hex()}
    (await http.post(f"/api/v1/item/{at}/mark", json=mark)).raise_for_status()
    await _pause(rng)
    decision = {"version": version, "verb": "keep", "key": rng.randbytes(8).hex(), "lease": lease.json()["lease"]}
    (await http.post(f"/api/v1/item/{at}/decide", json=decision)).raise_for_status()
    await _pause(rng)
    return at


async def _fetch(http: httpx.AsyncClient, path: str) -> dict[str, Any]:
    answer = await http.get(path)
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


async def _pause(rng: random.Random) -> None:
    await asyncio.sleep(rng.uniform(0.5, 1.5) * PAUSE)


# ---- the person who presses


def measure(page: Page, table: Table, items: int, how: str = "") -> None:
    expect(page.locator(".so-review .card").first).to_be_visible(timeout=60_000)
    settled(page)
    # The first few pay for the browser's own warming up.
    for _ in range(PRESSES // 10):
        page.wait_for_timeout(1500)
        page.evaluate(TIMED)
    table.row(items, f"at reading pace{how}", *median_95_longest(presses(page, 1500)))
    if items >= 2 * PRESSES + 20 and not how:
        table.row(items, "key held down", *median_95_longest(presses(page, 0)))


def arriving(browser: Browser, url: str, initials: str, filters: dict[str, str], password: str = "") -> Page:
    """Open a page, with the queue's filter as an earlier visit would have left it, and sign in."""
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.add_init_script(TOUR_SEEN)
    page.add_init_script(f"localStorage.setItem('so-filter', {json.dumps(json.dumps(filters))})")
    page.goto(url)
    # A person who works alone does not have to sign in again.
    if page.url.endswith("/sign-in"):
        page.fill("input[name=initials]", initials)
        if password:
            page.fill("input[name=password]", password)
        page.keyboard.press("Enter")
    return page


def team(db: Path) -> None:
    with closing(Store.open(db)) as store:
        for initials in ("AB", *map(initials_of, range(PEOPLE - 1))):
            store.accounts.add_person(initials, initials, ["reviewer", "auditor", "coordinator"], password=PASSWORD)


def main(sizes: list[int], db_dir: Path | None) -> None:
    numbers = {"median": "{:.0f}", "95th percentile": "{:.0f}", "longest": "{:.0f}"}
    table = Results().table({"trajectories": "{:,}", "pressed": "", **numbers})
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = launch(playwright)
        kept = db_dir or Path(folder) / "filled"
        for items in sizes:
            # A copy, so that sign-ins and leases do not get into the kept database.
            db = Path(shutil.copy(filled(items, kept), Path(folder) / f"{items}.db"))
            with serving(db) as url:
                for filters, how in (({"mine": "true"}, ""), (FILTER, f", {len(FILTER)} filters")):
                    page = arriving(browser, url, "AB", filters)
                    measure(page, table, items, how)
                    page.context.close()
            if items != max(sizes):
                continue
            crowded = Path(shutil.copy(filled(items, kept), Path(folder) / "crowded.db"))
            team(crowded)
            with serving(crowded) as url, others_at_work(url, PEOPLE - 1):
                for filters, how in (({"mine": "true"}, ""), (FILTER, f", {len(FILTER)} filters")):
                    page = arriving(browser, url, "AB", filters, PASSWORD)
                    measure(page, table, items, f"{how}, {PEOPLE} people")
                    page.context.close()
        browser.close()


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--items", type=int, nargs="+", default=[100, 10_000, 100_000])
    parser.add_argument("--db-dir", type=Path, help="keep the filled databases here, and take them from here")
    parser.add_argument("--people-at", metavar="URL", help=argparse.SUPPRESS)
    parser.add_argument("--people", type=int, default=PEOPLE - 1, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.people_at:
        asyncio.run(be_people(given.people_at, given.people))
    else:
        main(given.items, given.db_dir)
