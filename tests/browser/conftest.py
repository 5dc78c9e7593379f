"""Chromium for the tests of this folder; they fail without it and are never skipped."""

import shutil
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.support.kept_page import FAILED, KeptPage, kept_page
from tests.browser.support.review_app import discard, reload_at, serving, settled, spec_o3, working_alone
from tests.support.chromium import launch

GALAXY = "spectra/sdss/GALAXY/spec-0266-51602-0013.fits"
expect.set_options(timeout=60_000)  # also on a busy machine, on which a page takes many seconds to open


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        try:
            browser = launch(playwright)
        except Exception as error:
            pytest.fail(f"no Chromium could be started; install chromium or `playwright install chromium`: {error}")
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A page of 1100 x 900 pixels; an uncaught error on it fails the test."""
    errors: list[str] = []
    with chromium.new_context(viewport={"width": 1100, "height": 900}) as context:
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        yield page
    assert not errors, errors


@pytest.fixture(scope="session")
def galaxy(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Path:
    """A database with a galaxy at z = 0.1213, drafted by the baseline; rest and observed Hα are 800 Å apart."""
    db = tmp_path_factory.mktemp("galaxy") / "annotations.db"
    spec_o3("draft", shared / GALAXY, "--policy", "baseline", "--task", "cv", "--db", db)
    return db


@pytest.fixture(scope="module")
def kept_galaxy(chromium: Browser, galaxy: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeptPage]:
    db = Path(shutil.copy(galaxy, tmp_path_factory.mktemp("galaxy")))
    with serving(db) as url, kept_page(lambda: working_alone(chromium, url, 1)) as kept:
        yield kept


@pytest.fixture
def revising(kept_galaxy: KeptPage, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page of a person who works alone: the galaxy in revision, without unsent text, its texts compared."""
    with kept_galaxy.of(request) as page:
        reload_at(page, 1)
        if page.locator(".decision-bar .round").inner_text() == "screening":
            page.keyboard.press("Shift+K")
        expect(page.locator(".decision-bar .round")).to_have_text("revision")
        settled(page)
        if page.evaluate("window.specO3.review.drafting.dirty"):
            discard(page)
        page.wait_for_function("window.specO3.review.statements.known !== null")
        yield page


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report
