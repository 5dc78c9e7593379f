"""Chromium for the tests of this folder; they fail without it and are never skipped."""

from collections.abc import Generator, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.support.kept_page import FAILED
from tests.support.chromium import launch

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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report
