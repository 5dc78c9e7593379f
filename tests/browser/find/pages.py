"""Helpers for tests of the Find tab."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from reviewer.store import Store

App = tuple[str, Store]


def total(page: Page, items: int) -> None:
    """Wait until this many items are found."""
    expect(page.locator(".so-find .total")).to_have_text(re.compile(rf"^{items} items?$"))


def reload_find(page: Page) -> None:
    """Load the page again with the Find tab open; it lists the views that there are now."""
    page.reload()
    total(page, 150)


def search(page: Page, words: str) -> None:
    page.get_by_role("searchbox", name="Search in traces and comments").fill(words)


def filter_by(page: Page, name: str, value: str) -> None:
    page.locator(f".so-find .filter [name={name}]").select_option(value)


def row(page: Page, item: int) -> Locator:
    return page.locator(f".so-find tbody[data-item='{item}']")


def dialog(page: Page) -> Locator:
    return page.locator("dialog.panel")


def button(page: Page, name: str) -> Locator:
    return page.locator(".so-find").get_by_role("button", name=name, exact=True)


def selected(page: Page, words: str) -> None:
    expect(page.locator(".so-find .counts strong")).to_have_text(words)
