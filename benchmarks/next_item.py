"""How long a person waits for the next item: from the key press to spectrum and trace painted, in Chromium.

    python -m benchmarks.next_item --items 100 10000 100000 [--db-dir FOLDER]

Fills a database (or copies the one an earlier run left in FOLDER), starts the real app in a process of
its own, opens it in headless Chromium without a GPU and presses ``n``. The clock runs from the key event
until the frame after the one in which the item was drawn. "at reading pace" leaves a second and a half
between presses, as a person does at the very least, so that the next items are there before they are asked
for; "key held down" leaves none. Markdown, milliseconds.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from agent import plot, tool
from agent.simulate import CLASSES, simulate
from agent.spectrum import Spectrum
from agent.tasks import load
from agent.trajectory import Answer, Drafter, Step, Think, Trajectory, Zoom
from reviewer.store import Draft, Store

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "browser"))

from conftest import CHROMIUM_ARGUMENTS, system_chromium
from review_app import serving, settled

SPECTRA = 60
"""Each made and its pictures drawn once; more than any cache of the page keeps, and the items take turns."""
PRESSES = 40
WINDOWS = ([6400, 6700], [4800, 4920], [5100, 5250])
TEXT = "The continuum is blue and the Balmer lines are in absorption; the wings reach beyond ±25 Å. "

TIMED = """() => new Promise((done) => {
  const desk = window.specO3.review
  const before = desk.current.item.id
  const start = performance.now()
  document.dispatchEvent(new KeyboardEvent('keydown', { key: 'n', bubbles: true }))
  const look = () => {
    if (desk.current.item.id === before) return requestAnimationFrame(look)
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - start), 0))
  }
  look()
})"""


def drafted(spectrum: Spectrum, task: str, prompt: str) -> Trajectory:
    """A trajectory of the usual length (three zooms) with the pictures it would have shown."""
    steps: list[Step] = []
    for at, window in enumerate(WINDOWS):
        arguments = {"wavelength_range": window, "label": f"look {at}"}
        seen = tool.call(spectrum, arguments)
        picture = plot.pixels_sha256(seen.image) if seen.image else None
        steps.append(Think(f"s{2 * at + 1}", TEXT * 3))
        steps.append(
            Zoom(
                f"s{2 * at + 2}",
                arguments,
                seen.frame,
                seen.z,
                spectrum.medium,
                seen.text,
                seen.ok,
                picture,
            )
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
        told = replace(trajectory, steps=(replace(first, text=f"{n}. {first.text}"), *trajectory.steps[1:]))
        yield Draft(told, spectrum, batch="benchmark", key=f"benchmark-{n}")


def filled(items: int, kept: Path) -> Path:
    """A database of ``items`` trajectories in ``kept``, made if it is not there."""
    db = kept / f"{items}.db"
    if not db.exists():
        made_here = kept / f"{items}.being-made.db"
        made_here.unlink(missing_ok=True)
        with closing(Store.open(made_here)) as store:
            store.add_items(drafts(pairs(), items))
        made_here.rename(db)
    return db


def presses(page: Page, pause_ms: int) -> list[float]:
    times = []
    for _ in range(PRESSES):
        page.wait_for_timeout(pause_ms)
        times.append(float(page.evaluate(TIMED)))
    return times


def row(items: int, how: str, times: list[float]) -> str:
    ranked = sorted(times)
    return (
        f"| {items:,} | {how} | {statistics.median(times):.0f} "
        f"| {ranked[int(0.95 * (len(ranked) - 1))]:.0f} | {ranked[-1]:.0f} |"
    )


def measure(page: Page, url: str, items: int) -> None:
    page.goto(url)
    page.fill("input[name=initials]", "AB")
    page.keyboard.press("Enter")
    expect(page.locator(".so-review .card").first).to_be_visible(timeout=60_000)
    settled(page)
    # The first few pay for the browser's own warming up.
    for _ in range(PRESSES // 10):
        page.wait_for_timeout(1500)
        page.evaluate(TIMED)
    print(row(items, "at reading pace", presses(page, 1500)), flush=True)
    if items >= 2 * PRESSES + 20:
        print(row(items, "key held down", presses(page, 0)), flush=True)


def main(sizes: list[int], db_dir: Path | None) -> None:
    print("| trajectories | pressed | median | 95th percentile | longest |\n|---:|---|---:|---:|---:|")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=system_chromium(), args=CHROMIUM_ARGUMENTS)
        kept = db_dir or Path(folder) / "filled"
        kept.mkdir(parents=True, exist_ok=True)
        for items in sizes:
            # A copy: who signs in and what is leased stays out of the database that is kept.
            db = shutil.copy(filled(items, kept), Path(folder) / f"{items}.db")
            with serving(db) as url:
                page = browser.new_page(viewport={"width": 1366, "height": 768})
                measure(page, url, items)
                page.close()
        browser.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, nargs="+", default=[100, 10_000, 100_000])
    parser.add_argument("--db-dir", type=Path, help="keep the filled databases here, and take them from here")
    given = parser.parse_args()
    main(given.items, given.db_dir)
