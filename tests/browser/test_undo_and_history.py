"""Undo and redo of edits, and the numbers of steps in the history."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from agent.simulate import simulate
from reviewer.store import Draft, Store
from tests.browser.support.review_app import open_fields, serving, working_alone
from tests.support.campaign import a_trajectory

pytestmark = pytest.mark.browser

STEPS = "window.specO3.review.drafting.steps"


def written_thought(page: Page, text: str) -> Locator:
    """Add a thought after the first step and write it; return its card."""
    page.locator(".card .number").first.click()
    page.keyboard.press("Shift+J")
    expect(page.locator(".card textarea")).to_be_focused()
    page.keyboard.type(text)
    page.keyboard.press("Escape")
    card = page.locator(".card").nth(1)
    expect(card.locator(".text")).to_have_text(text)
    return card


def test_what_was_undone_once_too_often_can_be_brought_back(revising: Page) -> None:
    count = revising.locator(".card").count()
    written_thought(revising, "Broad lines only.")
    revising.keyboard.press("Delete")
    expect(revising.locator(".card")).to_have_count(count)
    revising.keyboard.press("Control+z")
    text = revising.locator(".card").nth(1).locator(".text")
    expect(text).to_have_text("Broad lines only.")
    revising.keyboard.press("Control+z")
    expect(text).not_to_contain_text("Broad lines only.")
    expect(revising.locator(".toasts")).to_contain_text("Ctrl Shift Z")
    for redo in ("Meta+Shift+Z", "Control+y"):
        revising.keyboard.press(redo)
        expect(text).to_have_text("Broad lines only.")
        revising.keyboard.press("Control+z")
        expect(text).not_to_contain_text("Broad lines only.")
    revising.keyboard.press("Control+Shift+Z")
    expect(text).to_have_text("Broad lines only.")
    revising.keyboard.press("Control+Shift+Z")
    expect(revising.locator(".card")).to_have_count(count)
    # A new change ends what can be done again.
    revising.keyboard.press("Control+z")
    expect(text).to_have_text("Broad lines only.")
    revising.locator(".card .number").nth(1).click()
    revising.keyboard.press("Enter")
    revising.keyboard.type(" Two.")
    revising.keyboard.press("Escape")
    revising.keyboard.press("Control+y")
    expect(text).to_have_text("Broad lines only. Two.")


def test_a_text_field_undoes_its_own_typing_and_leaves_other_steps(revising: Page) -> None:
    count = revising.locator(".card").count()
    card = written_thought(revising, "Kept words.")
    revising.keyboard.press("Enter")
    revising.keyboard.type(" More.")
    field = card.locator("textarea")
    for _ in range(12):
        revising.keyboard.press("Control+z")
    expect(field).to_have_value("Kept words.")
    expect(revising.locator(".card")).to_have_count(count + 1)
    revising.keyboard.press("Control+Shift+Z")
    expect(field).not_to_have_value("Kept words.")


@pytest.mark.smoke
def test_both_edges_of_a_window_are_one_undo_step_although_the_first_was_drawn(revising: Page) -> None:
    zoom = revising.locator(".card.zoom").first
    window = f"{STEPS}.find((s) => s.kind === 'zoom').arguments.wavelength_range"
    before = revising.evaluate(window)
    open_fields(revising, zoom)
    zoom.locator("[name=lo]").fill("6420")
    zoom.locator("[name=lo]").press("Tab")
    revising.wait_for_function(f"{window}[0] === 6420")
    zoom.locator("[name=hi]").fill("6840")
    zoom.locator("[name=hi]").press("Enter")
    revising.wait_for_function(f"{window}[1] === 6840")
    revising.keyboard.press("Control+z")
    assert revising.evaluate(window) == before
    revising.keyboard.press("Control+y")
    assert revising.evaluate(window) == [6420, 6840]


def test_the_history_numbers_steps_as_their_cards_do(revising: Page) -> None:
    last = revising.locator(".card").count()
    written_thought(revising, "An added thought.")
    revising.locator(".card .number").nth(1).click()
    revising.keyboard.press("Shift+A")
    added = revising.locator(".card.zoom").first
    expect(added).to_have_class(re.compile("selected"))
    revising.wait_for_function(f"{STEPS}.find((step) => step.kind === 'zoom')?.picture")
    expect(added.locator(".number")).to_have_text("3")
    version = revising.evaluate("window.specO3.review.current.item.version.number")
    revising.keyboard.press("Control+s")
    revising.wait_for_function(f"window.specO3.review.current.item.version.number === {version + 1}")
    revising.locator(".card .number").last.click()
    revising.keyboard.press("Enter")
    revising.keyboard.type(" No disc.")
    revising.keyboard.press("Escape")
    revising.keyboard.press("Control+s")
    revising.wait_for_function(f"window.specO3.review.current.item.version.number === {version + 2}")
    revising.keyboard.press("h")
    rows = revising.locator("dialog .diff-row .pill")
    expect(rows).to_have_text([f"answer {last + 2} changed"])
    revising.locator("dialog .version").nth(version).click()
    expect(rows).to_have_text(["think 2 added", "zoom 3 added"])


def test_the_history_names_who_wrote_a_text_before_its_import(chromium: Browser, tmp_path: Path) -> None:
    spectrum = simulate("cv", "LAMOST", 20.0, 1)
    imported = replace(a_trajectory(spectrum, medium=spectrum.medium), authors=("AA", "QQ"))
    with Store.open(tmp_path / "annotations.db") as store:
        store.items.add_all([Draft(imported, spectrum)])
    with serving(tmp_path / "annotations.db") as address, working_alone(chromium, address, 1) as page:
        expect(page.locator(".trace-head span").first).to_have_attribute(
            "title", re.compile("written by AA, QQ before the import")
        )
        page.keyboard.press("h")
        expect(page.locator("dialog .version")).to_contain_text("v1 · written by AA, QQ before the import · ")
