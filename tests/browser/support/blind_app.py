"""Helpers for tests of the Blind tab."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, expect

from tests.browser.support.review_app import signed_in
from tests.support.blind_campaign import PASSWORD


@contextmanager
def blind(chromium: Browser, url: str, initials: str) -> Iterator[Page]:
    """A person's page with the Blind tab open."""
    with signed_in(chromium, url, initials, PASSWORD) as page:
        open_blind(page)
        yield page


def open_blind(page: Page) -> None:
    page.get_by_role("tab", name="Blind").click()
    page.wait_for_function("window.specO3?.blind")


def in_front(page: Page, place: int) -> None:
    """Wait until the sheet at this place is shown."""
    expect(page.locator(".blind .place.current")).to_have_text(str(place))
    page.wait_for_function(f"window.specO3.blind.scoring.current?.sheet.place === {place}")
