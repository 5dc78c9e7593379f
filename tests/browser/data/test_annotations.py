"""The dialog of the Data tab that imports annotations of Label Studio."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from reviewer.rules.workflow import Rules
from reviewer.store import Store
from tests.browser.support.review_app import open_tab, serving, working_alone
from tests.support.campaign import an_item

FILES = Path(__file__).resolve().parents[2] / "reviewer" / "exchange" / "annotations"


@pytest.mark.browser
@pytest.mark.smoke
def test_annotations_are_checked_and_imported_with_links_to_their_items(chromium: Browser, tmp_path: Path) -> None:
    db = tmp_path / "annotations.db"
    with Store.open(db) as store:
        store.accounts.add_person("AA", "Alma", ["reviewer", "coordinator"])
        store.settings.set_rules("AA", Rules(solo=True))
        keys = [store.items.get(an_item(store, number)).key for number in (1, 2)]
    text = (FILES / "label_studio.json").read_text(encoding="utf-8")
    for number, key in enumerate(keys, start=1):
        text = text.replace(f'"k{number}"', f'"{key}"')
    (tmp_path / "export.json").write_text(text, encoding="utf-8")
    (tmp_path / "bad.json").write_text(text.replace(keys[1], "gone"), encoding="utf-8")
    with serving(db) as url, working_alone(chromium, url, 1) as page:
        open_tab(page, "Data")
        page.get_by_role("button", name="Annotations …").click()
        sheet, message = page.locator("dialog.panel"), page.locator("dialog.panel .told")
        sheet.get_by_role("button", name="Check only").click()
        expect(sheet.get_by_role("alert")).to_have_text("Add a file first.")
        sheet.get_by_label("Files", exact=True).set_input_files(tmp_path / "bad.json")
        expect(sheet).to_contain_text("bad.json")
        sheet.get_by_role("button", name="Import annotations").click()
        expect(message).to_contain_text("Nothing was imported: 1 annotation cannot be used.")
        expect(sheet.locator(".details td").nth(1)).to_have_text("task 102, annotation 5")
        sheet.get_by_role("checkbox").check()
        sheet.get_by_role("button", name="Check only").click()
        expect(message).to_contain_text("1 comment would be added.")
        sheet.get_by_role("textbox").fill("ann@example.org=AA\nnonsense")
        sheet.get_by_role("button", name="Import annotations").click()
        expect(sheet.get_by_role("alert")).to_have_text("found 'nonsense', expected AUTHOR=INITIALS")
        sheet.get_by_role("textbox").fill("ann@example.org=AA")
        sheet.get_by_role("button", name="Import annotations").click()
        expect(message).to_contain_text("1 comment added.")
        expect(message).to_contain_text("1 annotation that cannot be used was skipped.")
        message.get_by_role("link", name="#1").click()
        expect(page.locator(".so-review .item .name")).to_have_text(re.compile("spec-0001"))
    with Store.open(db) as store:
        (thread,) = store.comments.of_item(1, "AA").threads
        assert (thread.comments[0].person, thread.comments[0].source) == ("AA", "Label Studio: ann@example.org")
