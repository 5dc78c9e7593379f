"""The table of assigned items in the Progress tab."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, expect

from reviewer.store import Store
from reviewer.store.team.actions import Assign
from tests.browser.support.review_app import PASSWORD, open_tab, serving, signed_in
from tests.support.campaign import TO_AUDIT, Desk, an_item, people

pytestmark = pytest.mark.browser


@pytest.fixture
def database(tmp_path: Path) -> Path:
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        store.accounts.set_password("CO", "CO", PASSWORD)
        for number in range(5):
            an_item(store, number)
        Desk(store).until(2, *TO_AUDIT)
        Desk(store).until(3, ("RE", "reject"))
    return tmp_path / "annotations.db"


def test_progress_shows_where_the_items_of_each_person_wait(chromium: Browser, database: Path) -> None:
    with serving(database) as url, signed_in(chromium, url, "CO", PASSWORD) as page:
        open_tab(page, "Progress")
        card = page.locator(".so-progress section", has=page.get_by_role("heading", name="Assigned"))
        expect(card).to_contain_text("No item is assigned to anybody.")
        with Store.open(database) as store:
            for items, who in (([1, 2, 3], ("RE", "AU")), ([4], ("AU",))):
                action = Assign(who)
                store.bulk.apply("CO", items, action, store.bulk.preview("CO", items, action).token, uuid4().hex)
        page.get_by_role("button", name="Refresh").click()
        expect(card.locator("tbody tr")).to_have_count(2)
        assert card.locator("thead th").all_inner_texts() == ["Person", "Assigned", "Waiting in", "Decided"]
        rows = [row.locator("td").all_inner_texts() for row in card.locator("tbody tr").all()]
        assert [[cell.replace("\xa0", " ") for cell in row] for row in rows] == [
            ["AU", "4", "Screening 2, Audit 1", "1"],
            ["RE", "3", "Screening 1, Audit 1", "1"],
        ]
        for width in (1366, 820, 390):
            page.set_viewport_size({"width": width, "height": 800})
            card.scroll_into_view_if_needed()
            box, inside = card.bounding_box(), card.locator("table").bounding_box()
            assert box is not None
            assert inside is not None
            assert 0 <= box["x"] <= inside["x"]
            assert inside["x"] + inside["width"] <= box["x"] + box["width"] <= width
