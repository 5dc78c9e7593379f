"""One page for the tests of its layout and of its accessibility."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser, Page, expect

from reviewer.drafting import demo
from reviewer.store import Draft, Store
from tests.browser.support.review_app import PASSWORD, serving, signed_in


@pytest.fixture(scope="module")
def desk(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The page of a person with every role, whose bar is the longest."""
    db = tmp_path_factory.mktemp("page") / "annotations.db"
    with closing(Store.open(db)) as store:
        store.accounts.add_person("CO", "Person CO", ["reviewer", "auditor", "coordinator"], password=PASSWORD)
        store.accounts.add_person("RE", "Rosa Eder", ["reviewer"], password=PASSWORD)
        store.items.add_all(Draft(t, s, batch="demo") for s, t in demo.demo_items())
    with serving(db) as url, signed_in(chromium, url, "CO", PASSWORD) as page:
        page.wait_for_function("window.specO3?.review?.current?.place")
        expect(page.get_by_role("tab", name="People", exact=True)).to_be_visible()
        yield page
