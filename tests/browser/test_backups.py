"""Backups on the page: only coordinators see and make them, and a failure is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from reviewer.store import Store
from tests.browser.support.review_app import PASSWORD, serving, signed_in
from tests.support.campaign import an_item

pytestmark = pytest.mark.browser


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "campaign.db"
    with Store.open(path) as store:
        store.accounts.add_person("CO", "Dr CO", ["coordinator"], PASSWORD)
        store.accounts.add_person("RE", "Dr RE", ["reviewer"], PASSWORD)
        an_item(store)
    return path


@pytest.mark.smoke
def test_a_coordinator_makes_a_backup_and_a_reviewer_sees_none(chromium: Browser, db: Path) -> None:
    with serving(db) as url:
        with signed_in(chromium, url, "CO", PASSWORD) as page:
            page.get_by_role("tab", name="Data").click()
            expect(page.get_by_text("None yet. The first one is made")).to_be_visible()
            page.get_by_role("button", name="Back up now").click()
            expect(page.get_by_text("was made and checked.")).to_be_visible()
        with signed_in(chromium, url, "RE", PASSWORD) as page:
            page.get_by_role("tab", name="Data").click()
            expect(page.get_by_text("Only coordinators can import and export")).to_be_visible()
            expect(page.get_by_role("button", name="Back up now")).to_be_hidden()
    with Store.open(db) as store:
        # The program makes its own one a minute after the start.
        (entry,) = [entry for entry in store.log.entries(what="backup made") if entry.person == "CO"]
    made = db.parent / "backups" / entry.subject
    with Store.open(made) as store:
        assert store.upkeep.verify() == []
    # A failed backup is reported next to the button.
    made.parent.rename(db.parent / "moved")
    (db.parent / "backups").write_text("in the way")
    with serving(db) as url, signed_in(chromium, url, "CO", PASSWORD) as page:
        page.get_by_role("tab", name="Data").click()
        page.get_by_role("button", name="Back up now").click()
        expect(page.get_by_text("backups: File exists. No backup was made.").first).to_be_visible()
