"""Waiting times in the Live tab, and the cost of a live run compared with the bare loop; Markdown, milliseconds.

    python -m tests.benchmarks.live_page [--runs N]

Runs the real app and the tests' model server, which answers at once. The page, in headless Chromium: from the key
that starts a run until the first card, the first picture and the verdict are painted. The server without a browser:
a whole run until its last event, compared with ``agent.loop.run`` with the same policy, spectrum and server.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import httpx
from playwright.sync_api import Page, sync_playwright

from agent import tasks
from agent.loop import run
from agent.policies.openai.endpoint import Endpoint
from agent.policies.spec_o3 import SpecO3
from agent.spectrum import read
from tests.benchmarks.loop import scripted_server
from tests.benchmarks.results import Results, command_line, median_95_longest
from tests.browser.support.live_app import choose, drop, live, name_servers, team, write_csv
from tests.browser.support.review_app import PASSWORD, serving
from tests.support.chromium import launch
from tests.support.model_server import TRAJECTORY

RUNS = 20
WARMING = 3
PEOPLE = ("AA", "BB")
SAMPLES = 8
TASK = "cv"

PRESSED = """() => new Promise((done) => {
  const desk = window.specO3.live
  const before = desk.shownRun
  const find = (selector) => document.querySelector(`.so-live .live-trace ${selector}`)
  const waited = [
    () => find('.card .text')?.textContent,
    () => find('.card.zoom img')?.complete && find('.card.zoom img').naturalWidth,
    () => find('.ending .outcome'),
  ]
  const times = waited.map(() => null)
  const start = performance.now()
  document.dispatchEvent(new KeyboardEvent('keydown', { key: 'r', bubbles: true }))
  const check = () => {
    const fresh = desk.shownRun !== before
    const now = waited.flatMap((is, at) => (fresh && times[at] === null && is() ? [at] : []))
    for (const at of now) times[at] = 0
    requestAnimationFrame(() => setTimeout(() => {
      for (const at of now) times[at] = performance.now() - start
      if (times.every((time) => time > 0)) done(times)
    }, 0))
    if (times.includes(null)) requestAnimationFrame(check)
  }
  check()
})"""


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of each kind, after {WARMING} ({RUNS})")
    runs = parser.parse_args().runs
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        model = stack.enter_context(scripted_server())
        name_servers(folder, {"model": model})
        file = folder / "star.csv"
        write_csv(file)
        url = stack.enter_context(serving(team(folder / "annotations.db", *PEOPLE)))
        results = Results()
        _pages(results, url, file, runs)
        _server_side(results, url, model, file, runs)


# ---- the page


def _pages(results: Results, url: str, file: Path, runs: int) -> None:
    numbers = {"median": "{:.0f}", "95th percentile": "{:.0f}", "longest": "{:.0f}"}
    table = results.table({"policy": "", "from key press to": "", **numbers})
    with sync_playwright() as playwright:
        browser = launch(playwright)
        with live(browser, url, PEOPLE[0]) as page:
            drop(page, file)
            for policy, named in (("baseline", "baseline"), ("model", "a server that answers at once")):
                choose(page, policy, TASK)
                times = _presses(page, runs)
                for what, column in zip(("first step", "first picture", "verdict"), times, strict=True):
                    table.row(named, what, *median_95_longest(column))
        browser.close()


def _presses(page: Page, runs: int) -> list[list[float]]:
    """Milliseconds of each run, by event: first step, first picture, verdict."""
    times = []
    for _ in range(WARMING + runs):
        # The shortest pause of a person; meanwhile the last run is cleaned up.
        page.wait_for_timeout(700)
        times.append(list(map(float, page.evaluate(PRESSED))))
    return [list(column) for column in zip(*times[WARMING:], strict=True)]


# ---- the server


class Visitor:
    """A person signed in without a browser, with one spectrum on the bench."""

    def __init__(self, url: str, initials: str, file: Path) -> None:
        self._http = httpx.Client(base_url=url, timeout=120)
        self._http.post("/sign-in", data={"initials": initials, "password": PASSWORD})
        sent = self._http.post("/api/v1/live/files", files={"files": (file.name, file.read_bytes())})
        sent.raise_for_status()
        self._row = sent.json()["added"][0]["id"]

    def run(self, samples: int) -> None:
        """Start a run and read all its events."""
        request = {"bench": self._row, "task": TASK, "policy": "model", "samples": samples}
        begun = self._http.post("/api/v1/live/runs", json=request)
        begun.raise_for_status()
        last = ""
        with self._http.stream("GET", f"/api/v1/live/runs/{begun.json()['run']}/events") as events:
            for line in events.iter_lines():
                last = line or last
        if '"over"' not in last or '"done"' not in last:
            raise SystemExit(f"a run did not end well: {last}")


def _server_side(results: Results, url: str, model: str, file: Path, runs: int) -> None:
    task, spectrum, policy = tasks.load()[TASK], read(file), SpecO3(Endpoint(model))
    visitors = [Visitor(url, initials, file) for initials in PEOPLE]

    def bare() -> None:
        if run(spectrum, task, policy).answer is None:
            raise SystemExit("the bare loop came to no answer")

    cases: list[tuple[str, int, list[Callable[[], None]]]] = [
        ("one run", 1, [partial(visitors[0].run, 1)]),
        ("two people, a run each", len(visitors), [partial(visitor.run, 1) for visitor in visitors]),
        (f"one run of {SAMPLES} samples", SAMPLES, [partial(visitors[0].run, SAMPLES)]),
    ]
    numbers = dict.fromkeys(("bare loop, ms per turn", "live, ms per turn", "live, 95th percentile"), "{:.1f}")
    table = results.table({"at once": "", "turns": "{}", **numbers, "live takes": "{:.2f} ×"})
    for name, traces, people in cases:
        alone, watched = _in_turns([bare] * traces, people, runs)
        turns = traces * len(TRAJECTORY)
        per_turn = [[taken / turns for taken in times] for times in (alone, watched)]
        (bare_median, *_), (median, late, _) = map(median_95_longest, per_turn)
        table.row(name, turns, bare_median, median, late, median / bare_median)
    results.text(
        "ms per turn: the whole time by the turns of all traces, drawing the full spectrum included. "
        "A page gets at most 25 events per second, so up to 40 ms of a live run are waiting, not work."
    )


def _in_turns(
    ways: Sequence[Callable[[], None]], others: Sequence[Callable[[], None]], runs: int
) -> tuple[list[float], list[float]]:
    """Run both alternately, so that other load affects both equally; milliseconds of each round."""
    times: tuple[list[float], list[float]] = ([], [])
    with ThreadPoolExecutor(max(len(ways), len(others))) as threads:
        for _ in range(WARMING + runs):
            for together, taken in zip((ways, others), times, strict=True):
                start = time.perf_counter()
                for done in [threads.submit(way) for way in together]:
                    done.result()
                taken.append(1000 * (time.perf_counter() - start))
    return times[0][WARMING:], times[1][WARMING:]


if __name__ == "__main__":
    main()
