"""Undo and redo of edits, and the numbers of steps in the history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from agent.simulate import simulate
from reviewer.store import Draft, Store
from tests.browser.support.kept_page import KeptPage, kept_page
from tests.browser.support.review_app import discard, reload_at, serving, settled, spec_o3, working_alone
from tests.support.campaign import a_trajectory

pytestmark = pytest.mark.browser

GALAXY = "spectra/sdss/GALAXY/spec-0266-51602-0013.fits"
STEPS = "window.specO3.review.drafting.steps"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[str]:
    db = tmp_path_factory.mktemp("undo") / "annotations.db"
    spec_o3("draft", shared / GALAXY, "--policy", "baseline", "--task", "cv", "--db", db)
    with serving(db) as address:
        yield address


@pytest.fixture(scope="module")
def kept(chromium: Browser, url: str) -> Iterator[KeptPage]:
    with kept_page(lambda: working_alone(chromium, url, 1)) as kept:
        yield kept


@pytest.fixture
def desk(kept: KeptPage, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The galaxy in revision, without unsent text."""
    with kept.of(request) as page:
        reload_at(page, 1)
        if page.locator(".decision-bar .round").inner_text() == "screening":
            page.keyboard.press("Shift+K")
        expect(page.locator(".decision-bar .round")).to_have_text("revision")
        settled(page)
        if page.evaluate("window.specO3.review.drafting.dirty"):
            discard(page)
        yield page


def written_thought(page: Page, text: str) -> Locator:
    """Add a thought after the first step and write it; return its card."""
    page.locator(".card .number").first.click()
    page.keyboard.press("Shift+A")
    expect(page.locator(".card textarea")).to_be_focused()
    page.keyboard.type(text)
    page.keyboard.press("Escape")
    card = page.locator(".card").nth(1)
    expect(card.locator(".text")).to_have_text(text)
    return card


def test_what_was_undone_once_too_often_can_be_brought_back(desk: Page) -> None:
    count = desk.locator(".card").count()
    written_thought(desk, "Broad lines only.")
    desk.keyboard.press("Delete")
    expect(desk.locator(".card")).to_have_count(count)
    desk.keyboard.press("Control+z")
    text = desk.locator(".card").nth(1).locator(".text")
    expect(text).to_have_text("Broad lines only.")
    desk.keyboard.press("Control+z")
    expect(text).not_to_contain_text("Broad lines only.")
    expect(desk.locator(".toasts")).to_contain_text("Ctrl Shift Z")
    for redo in ("Meta+Shift+Z", "Control+y"):
        desk.keyboard.press(redo)
        expect(text).to_have_text("Broad lines only.")
        desk.keyboard.press("Control+z")
        expect(text).not_to_contain_text("Broad lines only.")
    desk.keyboard.press("Control+Shift+Z")
    expect(text).to_have_text("Broad lines only.")
    desk.keyboard.press("Control+Shift+Z")
    expect(desk.locator(".card")).to_have_count(count)
    # A new change ends what can be done again.
    desk.keyboard.press("Control+z")
    expect(text).to_have_text("Broad lines only.")
    desk.locator(".card .number").nth(1).click()
    desk.keyboard.press("Enter")
    desk.keyboard.type(" Two.")
    desk.keyboard.press("Escape")
    desk.keyboard.press("Control+y")
    expect(text).to_have_text("Broad lines only. Two.")


def test_a_text_field_undoes_its_own_typing_and_leaves_other_steps(desk: Page) -> None:
    count = desk.locator(".card").count()
    card = written_thought(desk, "Kept words.")
    desk.keyboard.press("Enter")
    desk.keyboard.type(" More.")
    field = card.locator("textarea")
    for _ in range(12):
        desk.keyboard.press("Control+z")
    expect(field).to_have_value("Kept words.")
    expect(desk.locator(".card")).to_have_count(count + 1)
    desk.keyboard.press("Control+Shift+Z")
    expect(field).not_to_have_value("Kept words.")


@pytest.mark.smoke
def test_both_edges_of_a_window_are_one_undo_step_although_the_first_was_drawn(desk: Page) -> None:
    zoom = desk.locator(".card.zoom").first
    window = f"{STEPS}.find((s) => s.kind === 'zoom').arguments.wavelength_range"
    before = desk.evaluate(window)
    zoom.locator("[name=lo]").fill("6420")
    zoom.locator("[name=lo]").press("Tab")
    desk.wait_for_function(f"{window}[0] === 6420")
    zoom.locator("[name=hi]").fill("6840")
    zoom.locator("[name=hi]").press("Enter")
    desk.wait_for_function(f"{window}[1] === 6840")
    desk.keyboard.press("Control+z")
    assert desk.evaluate(window) == before
    desk.keyboard.press("Control+y")
    assert desk.evaluate(window) == [6420, 6840]


def test_the_history_numbers_steps_as_their_cards_do(desk: Page) -> None:
    last = desk.locator(".card").count()
    written_thought(desk, "An added thought.")
    desk.locator(".card .number").nth(1).click()
    desk.keyboard.press("a")
    added = desk.locator(".card.zoom").first
    expect(added.locator("img")).to_be_visible()
    expect(added.locator(".number")).to_have_text("3")
    version = desk.evaluate("window.specO3.review.current.item.version.number")
    desk.keyboard.press("Control+s")
    desk.wait_for_function(f"window.specO3.review.current.item.version.number === {version + 1}")
    desk.locator(".card .number").last.click()
    desk.keyboard.press("Enter")
    desk.keyboard.type(" No disc.")
    desk.keyboard.press("Escape")
    desk.keyboard.press("Control+s")
    desk.wait_for_function(f"window.specO3.review.current.item.version.number === {version + 2}")
    desk.keyboard.press("h")
    rows = desk.locator("dialog .diff-row .pill")
    expect(rows).to_have_text([f"answer {last + 2} changed"])
    desk.locator("dialog .version").nth(version).click()
    expect(rows).to_have_text(["think 2 added", "zoom 3 added"])


def test_the_history_names_who_wrote_a_text_before_its_import(chromium: Browser, tmp_path: Path) -> None:
    spectrum = simulate("cv", "LAMOST", 20.0, 1)
    imported = replace(a_trajectory(spectrum, medium=spectrum.medium), authors=("AA", "QQ"))
    with Store.open(tmp_path / "annotations.db") as store:
        store.items.add_all([Draft(imported, spectrum)])
    with serving(tmp_path / "annotations.db") as address, working_alone(chromium, address, 1) as page:
        expect(page.locator(".decision-bar .info")).to_contain_text("written by AA, QQ before the import")
        page.keyboard.press("h")
        expect(page.locator("dialog .version")).to_contain_text("v1 · written by AA, QQ before the import · ")
