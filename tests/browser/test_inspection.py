"""Reviewers' own inspection of a spectrum, and "cannot tell" as a verdict, in the real app."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from reviewer.store import Draft
from tests.browser.support.review_app import serving, show_item, signed_in
from tests.support.drawn_traces import a_spectrum, a_store, a_trace

pytestmark = pytest.mark.browser

WHY = "no data at Hα"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One app for this file with three people; the drafter cannot tell of items 4 and 5."""
    db = tmp_path_factory.mktemp("inspection") / "annotations.db"
    spectra = [a_spectrum(f"spectrum-{n}.fits", redshift=0.001 * n) for n in range(6)]
    with a_store(db, solo=True) as store:
        store.items.add_all(
            [Draft(a_trace(s, "NO", cannot_tell=WHY if n in (3, 4) else ""), s) for n, s in enumerate(spectra)]
        )
    with serving(db) as address:
        yield address


@pytest.fixture
def desk(chromium: Browser, url: str) -> Iterator[Page]:
    """The page of the reviewer AA."""
    with signed_in(chromium, url, "AA") as page:
        yield page


def fetched(page: Page, path: str) -> Any:
    """JSON of the server, as the person of this page gets it."""
    return page.evaluate("(path) => fetch(path).then((answer) => answer.json())", path)


@pytest.mark.smoke
def test_a_comma_decides_that_nobody_can_tell_without_a_dialog(desk: Page) -> None:
    show_item(desk, 3)
    expect(desk.get_by_role("button", name="Cannot tell ,")).to_be_enabled()
    desk.keyboard.press(",")
    expect(desk.locator(".toasts")).to_contain_text("Decided: nobody can tell from these data.")
    expect(desk.locator("dialog.panel")).to_have_count(0)
    show_item_once_decided(desk, 3)
    expect(desk.locator(".decision-bar .decided")).to_have_text("cannot tell")
    assert fetched(desk, "/api/v1/item/3")["standing"]["decisions"][0]["reason"] == "Cannot tell from these data"


def show_item_once_decided(page: Page, item: int) -> None:
    """Show an item that nobody can lease."""
    page.evaluate("(id) => window.specO3.review.open(id)", item)
    page.wait_for_function("(id) => window.specO3.review.current?.item.id === id", arg=item)


@pytest.mark.smoke
def test_a_draft_that_cannot_tell_says_so_until_a_person_confirms_its_answer(desk: Page) -> None:
    show_item(desk, 1)
    expect(desk.locator(".trace .cannot-tell")).to_have_count(0)
    show_item(desk, 4)
    banner = desk.locator(".trace .cannot-tell")
    banner.get_by_text("The drafter cannot tell").click()
    expect(banner.get_by_text(f"{WHY}.")).to_be_visible()
    expect(banner).to_contain_text("It becomes training data only if a person changes the answer or confirms it.")
    banner.get_by_role("button", name="Confirm NO").click()
    expect(banner).to_contain_text("A person has changed or confirmed the answer since.")
    expect(banner.get_by_role("button")).to_have_count(0)
    assert fetched(desk, "/api/v1/item/4")["answer_confirmed"] is True
    assert fetched(desk, "/api/v1/item/5")["answer_confirmed"] is False
