"""How many requests the Review page sends for what a person does most. They are counted, not timed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from reviewer.drafting import demo
from reviewer.rules.campaign import Rules
from reviewer.store import Draft, Store
from tests.browser.support.review_app import PASSWORD, serving, settled, signed_in

pytestmark = pytest.mark.browser

ITEMS = 4
REGULAR = re.compile(r"queue(/stamp)?$")
"""The check of the list every ten seconds, and the list if it has changed."""
SCREENING = json.dumps({"state": "screening"})
IDLE = 2500
"""ms after which nothing that the page does by itself is left to do."""


class Requests(list[str]):
    """What a page requests of the API, except for the regular check and what the browser has kept."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self._pictures: set[str] = set()
        page.on("request", self._note)

    def _note(self, request: Request) -> None:
        _, _, path = request.url.partition("/api/v1/")
        name = path.partition("?")[0]
        if not path or REGULAR.search(name) or request.url in self._pictures:
            return
        if name.startswith("picture/"):
            self._pictures.add(request.url)  # never changes, so the browser asks the server once
        self.append(f"{request.method} {name}")


@pytest.fixture
def desk(chromium: Browser, tmp_path: Path) -> Iterator[tuple[Page, Requests]]:
    """The page of a reviewer at the first of four items that are screened; the others have been fetched ahead."""
    with Store.open(tmp_path / "annotations.db") as store:
        items = list(demo.demo_items())[:ITEMS]
        store.items.add_all(Draft(trajectory, spectrum) for spectrum, trajectory in items)
        store.accounts.add_person("RV", "Person RV", ["reviewer"], password=PASSWORD)
        store.settings.set_rules(None, Rules())
        with serving(store.path) as url, signed_in(chromium, url, "RV", PASSWORD) as page:
            page.evaluate(f"localStorage.setItem('so-filter', {json.dumps(SCREENING)})")
            page.goto("about:blank")  # what the first page fetches is not counted
            requests = Requests(page)
            page.goto(url)
            shows(page, 1)
            for _ in range(1200):
                if len([request for request in requests if "spectrum/" in request]) == ITEMS:
                    break
                page.wait_for_timeout(50)
            page.wait_for_timeout(IDLE)
            yield page, requests


def shows(page: Page, item: int) -> None:
    page.wait_for_function("(id) => window.specO3?.review?.current?.item.id === id", arg=item)
    settled(page)


def test_requests_of_opening_an_item_going_to_the_next_and_deciding(desk: tuple[Page, Requests]) -> None:
    page, requests = desk
    for item in range(1, ITEMS + 1):
        about = sorted(request for request in requests if f"item/{item}/" in request)
        # What the server has measured before comes with the opening.
        assert about in ([f"GET item/{item}/opening"], [f"GET item/{item}/checks", f"GET item/{item}/opening"])
    assert len([request for request in requests if "spectrum/" in request]) == ITEMS
    # A next item that was fetched ahead is compared with the server.
    requests.clear()
    page.keyboard.press("n")
    shows(page, 2)
    page.wait_for_timeout(IDLE)
    assert requests == ["GET item/2/opening"]
    # A decision brings the next item.
    requests.clear()
    page.keyboard.press("k")
    shows(page, 3)
    expect(page.locator(".so-review .queue .rows [data-item]")).to_have_count(ITEMS - 1)
    expect(page.locator(".so-review .queue-title")).to_contain_text(f"{ITEMS - 1} items")
    page.wait_for_timeout(IDLE)
    assert requests == ["POST item/2/decide"]
    # Pictures are fetched once they are shown, and then ahead.
    requests.clear()
    page.keyboard.press("a")
    expect(page.locator(".so-review .so-agent img")).to_be_visible()
    page.wait_for_timeout(IDLE)
    assert [name for name in requests if "picture/" not in name] == []
    assert len(requests) == 1
