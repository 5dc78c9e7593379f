"""One trajectory through the real app: from a LAMOST file to training data and back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from reviewer.rules.campaign import Rules
from reviewer.store import Store
from tests.browser.support.review_app import PASSWORD, drag_window, picture, serving, settled, signed_in, spec_o3

pytestmark = pytest.mark.browser

LAMOST_FILE = "spectra/lamost/STAR_A0/spec-55939-GAC_061N46_V3_sp07-078.fits"
ADDED = " The Balmer wings reach far: an A star, no disc."


@pytest.fixture
def team(tmp_path: Path, shared: Path) -> Path:
    """A database with one baseline draft on a real LAMOST spectrum, and four people with passwords."""
    db = tmp_path / "annotations.db"
    spec_o3("draft", shared / LAMOST_FILE, "--policy", "baseline", "--task", "cv", "--db", db)
    store = Store.open(db)
    people = (("RV", "reviewer"), ("AA", "auditor"), ("AB", "auditor"), ("CO", "coordinator"))
    for initials, role in people:
        store.accounts.add_person(initials, f"Person {initials}", [role], password=PASSWORD)
    store.settings.set_rules(None, Rules())
    store.close()
    return db


def button(page: Page, text: str) -> None:
    page.locator(".decision-bar button:not(.link)", has_text=text).first.click()


def test_from_a_lamost_file_to_training_data_and_back(chromium: Browser, team: Path, tmp_path: Path) -> None:
    with serving(team) as url:
        with signed_in(chromium, url, "RV", PASSWORD) as page:
            screen_and_revise(page)
        for initials in ("AA", "AB"):
            with signed_in(chromium, url, initials, PASSWORD) as page:
                settled(page)
                expect(page.locator(".decision-bar .round")).to_contain_text("audit")
                picture(page, f"audit-{initials.lower()}")
                button(page, "Pass")
                expect(page.locator(".toasts")).to_contain_text("Passed")
        for initials in ("AA", "AB"):
            with signed_in(chromium, url, initials, PASSWORD) as page:
                settled(page)
                button(page, "Approve")
                expect(page.locator(".toasts")).to_contain_text("Approved")
        with signed_in(chromium, url, "CO", PASSWORD) as page:
            page.get_by_role("tab", name="Progress").click()
            expect(page.locator(".so-progress .plot .main-svg").first).to_be_visible()
            picture(page, "progress")
    exported_and_read_back(team, tmp_path)


def screen_and_revise(page: Page) -> None:
    settled(page)
    button(page, "Keep")
    expect(page.locator(".decision-bar .round")).to_contain_text("revision")
    settled(page)
    think = page.locator(".card.think").first
    think.locator(".text").dblclick()
    think.locator("textarea").press("End")
    think.locator("textarea").press_sequentially(ADDED)
    page.keyboard.press("Escape")
    expect(think.locator("ins")).to_contain_text("no disc")
    zoom = page.locator(".card.zoom").first
    zoom.locator(".window").click()
    before = zoom.locator("img").get_attribute("src")
    drag_window(page, 6400, 6700)
    expect(zoom.locator("img")).not_to_have_attribute("src", before or "")
    lo, hi = (float(zoom.locator(f"[name={name}]").input_value()) for name in ("lo", "hi"))
    assert abs(lo - 6400) < 8
    assert abs(hi - 6700) < 8
    zoom.locator(".number").click()
    page.keyboard.press("Shift+R")
    expect(page.locator(".card.think ins", has_text=f"{hi:g}").first).to_be_visible()
    expect(page.locator(".so-top .saved")).to_contain_text("saved")
    page.locator(".decision-bar .comment").fill("wider window, and what the wings mean")
    picture(page, "review")
    button(page, "Save and submit")
    expect(page.locator(".toasts")).to_contain_text("Submitted")


def exported_and_read_back(db: Path, tmp_path: Path) -> None:
    folder = tmp_path / "exports"
    spec_o3("export", "--out", folder / "first", "--db", db, "--by", "CO")
    manifest = json.loads((folder / "first" / "manifest.json").read_text())
    rows = json.loads((folder / "first" / "train_sharegpt.json").read_text())
    assert len(rows) == 1
    assert any(ADDED.strip() in turn["value"] for turn in rows[0]["conversations"])
    assert (folder / "first" / rows[0]["images"][0]).is_file()
    assert manifest["counts"]["items"] == 1
    again = tmp_path / "again.db"
    spec_o3("import", folder / "first" / "trajectories.jsonl", "--db", again)
    one, other = Store.open(db), Store.open(again)
    try:
        approved = one.items.get(1).version
        assert other.items.get(1).version.trajectory == replace(approved.trajectory, authors=("RV",))
        assert one.spectra.get(one.items.get(1).row.spectrum_sha256 or "") == other.spectra.get(
            other.items.get(1).row.spectrum_sha256 or ""
        )
        assert one.items.get(1).standing.state == "approved"
        assert {d.person for d in one.items.get(1).standing.decisions} >= {"AA", "AB"}
    finally:
        one.close()
        other.close()
