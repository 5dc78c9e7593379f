"""A long import on the Data tab: its progress, cancel, a reload of the page, resume, and its result."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from reviewer.exchange.imports import own_row
from reviewer.store import QueueFilter, Store
from tests.browser.support.review_app import PASSWORD, serving
from tests.browser.test_progress_library_people import enter, open_tab
from tests.support.campaign import a_spectrum, a_trajectory

ROWS = 3000
SLOW = "import time; sleep = time.sleep; time.sleep = lambda seconds: sleep(30 * seconds)\n"
"""An import that pauses 30 times as long between its parts: it does not end before the page has looked."""
WIDTHS = (390, 1366)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with rows of a stored spectrum, and a database with a coordinator."""
    spectrum = a_spectrum()
    with Store.open(tmp_path / "annotations.db") as store:
        store.accounts.add_person("AA", "Alma", ["reviewer", "coordinator"], PASSWORD)
        store.spectra.add(spectrum)
    folder = tmp_path / "night"
    folder.mkdir()
    trace = a_trajectory(spectrum)
    with (folder / "trajectories.jsonl").open("w", encoding="utf-8") as file:
        for number in range(ROWS):
            file.write(json.dumps(own_row(replace(trace, prompt=f"Spectrum {number}?"), None)) + "\n")
    return folder


def nothing_is_cut_off(page: Page) -> list[str]:
    """The texts of the form that are wider than their place, or outside of the page."""
    return page.evaluate(
        """() => [...document.querySelectorAll('.so-data :is(p, progress, button)')]
          .filter((e) => e.getClientRects().length)
          .filter((e) => e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > innerWidth + 1)
          .map((e) => e.outerHTML.slice(0, 120))"""
    )


def items(database: Path) -> int:
    with Store.open(database) as store:
        # The app has added its demo, too.
        return store.queue.page(QueueFilter(batch="trajectories.jsonl"), "", limit=1).total


def test_a_long_import_shows_its_progress_and_is_cancelled_and_resumed(page: Page, files: Path, tmp_path: Path) -> None:
    database = tmp_path / "annotations.db"
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "sitecustomize.py").write_text(SLOW, encoding="ascii")  # of the process that imports
    options = ("--no-backups", "--import-from", files)
    with serving(database, *options, PYTHONPATH=str(tmp_path / "slow")) as address:
        enter(page, address, "AA", PASSWORD)
        open_tab(page, "Data")
        page.get_by_role("button", name="Import …").click()
        page.get_by_label("Or a file or folder on the server's disk").fill("/etc/passwd")
        page.get_by_role("button", name="Import", exact=True).click()
        expect(page.get_by_text("expected a file or folder inside")).to_be_visible()
        page.get_by_label("Or a file or folder on the server's disk").fill(str(files))
        page.get_by_role("button", name="Import", exact=True).click()
        job = page.get_by_role("region", name="Import")
        bar = job.get_by_role("progressbar")
        expect(bar).to_be_visible()
        expect(job.get_by_text("Importing trajectories.jsonl: step")).to_be_visible()
        expect(job).to_contain_text("per second")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            expect(bar).to_be_visible()
            assert nothing_is_cut_off(page) == [], width
        # Anybody who opens the tab sees it.
        page.reload()
        open_tab(page, "Data")
        expect(bar).to_be_visible()
        expect(page.get_by_text("step 2 of 2, adding rows")).to_be_visible()
        page.get_by_role("button", name="Cancel import").click()
        expect(page.get_by_text("The import of trajectories.jsonl was cancelled:")).to_be_visible()
        here = items(database)
        assert 0 < here < ROWS
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            assert nothing_is_cut_off(page) == [], width
        resume = page.get_by_role("button", name="Resume import")
        resume.click()
        expect(page.get_by_text("Importing trajectories.jsonl: step 2 of 2")).to_be_visible()
        # A page that is still loading when the server stops would report errors.
        page.goto("about:blank")
        page.context.clear_cookies()
    # The server was stopped during the import: the next one offers to go on.
    with serving(database, *options) as address:
        enter(page, address, "AA", PASSWORD)
        expect(page.locator(".so-review .decision-bar")).to_be_visible()
        open_tab(page, "Data")
        expect(page.get_by_text("was interrupted, because its program ended")).to_be_visible()
        page.get_by_role("button", name="Resume import").click()
        expect(page.get_by_text(f"{ROWS:,} new items in the queue.".replace(",", "\u202f"))).to_be_visible(
            timeout=180_000
        )
        expect(page.get_by_role("button", name="Resume import")).to_be_hidden()
    assert items(database) == ROWS
