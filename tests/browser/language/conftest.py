"""The app with the pseudo-language, and a browser in which it is chosen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from agent.language import PSEUDO
from tests.browser.language.campaign import campaign
from tests.browser.language.walk import sign_in
from tests.browser.support.review_app import serving
from tests.support.chromium import profile


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return campaign(tmp_path_factory.mktemp("language") / "annotations.db")


@pytest.fixture(scope="session")
def url(database: Path) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPEC_O3_PSEUDO", "1")
        with serving(database) as address:
            yield address


@contextmanager
def pseudo_page(chromium: Browser, url: str) -> Iterator[Page]:
    """A page in the pseudo-language; an uncaught error on it fails the test."""
    errors: list[str] = []
    with profile(chromium) as context:
        context.add_cookies([{"name": "so-language", "value": PSEUDO, "url": url}])
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url)
        yield page
    assert not errors, errors


@pytest.fixture
def page(chromium: Browser, url: str) -> Iterator[Page]:
    with pseudo_page(chromium, url) as page:
        yield page


@pytest.fixture(scope="module")
def desk(chromium: Browser, url: str) -> Iterator[Page]:
    """The page of a person with all roles, for all tests of a module."""
    with pseudo_page(chromium, url) as page:
        sign_in(page, "AA")
        yield page
