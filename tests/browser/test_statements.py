"""Texts tied to pixels: disagreements on the card, and at the decision; numbers written anew."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from reviewer.rules.campaign import Rules
from reviewer.store import Store
from tests.browser.support.review_app import (
    PASSWORD,
    drag_window,
    held,
    let_go,
    picture,
    places,
    serving,
    settled,
    signed_in,
    wait_for,
    working_alone,
)

pytestmark = pytest.mark.browser

KNOWN = "window.specO3.review.statements.known !== null"
NOTE = re.compile(r"the text says 6402 to 6702 Å, the window of step 2 is 6[0-9.]+ – 6[0-9.]+ Å")
LONG = 380  # characters of a text that is folded
STEPS = "window.specO3.review.drafting.steps"


def moved(page: Page) -> None:
    """Drag the window of the first zoom; its texts quote the one before."""
    page.locator(".card.zoom .number").first.click()
    drag_window(page, 7100, 7400)
    page.wait_for_function(f"{STEPS}.find((s) => s.kind === 'zoom').arguments.wavelength_range[0] < 6400")
    expect(page.locator(".decision-bar .disagreements")).to_be_visible()


def test_a_draft_of_the_baseline_agrees_with_its_tool_calls_and_names_what_can_be_seen(revising: Page) -> None:
    expect(revising.locator(".decision-bar .disagreements")).to_have_count(0)
    shown = """(text) => {
      const whole = text.cloneNode(true)
      whole.querySelector('summary')?.remove()
      return whole.textContent
    }"""
    texts = revising.evaluate(f"{STEPS}.filter((s) => s.kind === 'think').map((s) => s.text)")
    for number, text in enumerate(texts):
        revising.locator(".card.think .number").nth(number).click()
        expect(revising.locator(".trace .tied-window.ok").first).to_be_attached()
        assert revising.locator(".trace .tied-number.ok").count() > 0
        expect(revising.locator(".trace .tied.stale")).to_have_count(0)
        assert revising.locator(".card.selected .text").evaluate(shown) == text
    long = next(number for number, text in enumerate(texts) if len(text) > LONG)
    revising.locator(".card.think .number").nth(long).click()
    rest = revising.locator(".card.selected .rest")
    assert rest.evaluate("(rest) => rest.open") is False
    rest.locator("summary").click()
    for number in (long - 1, long):
        revising.locator(".card.think .number").nth(number).click()
    assert revising.locator(".card.selected .rest").evaluate("(rest) => rest.open"), "who wants to read one, reads all"
    revising.evaluate("localStorage.removeItem('so-unfolded')")


@pytest.mark.smoke
def test_a_moved_window_is_amber_until_r_writes_the_texts_anew(revising: Page) -> None:
    moved(revising)
    expect(revising.locator(".card.zoom").first.locator("li.disagrees")).to_have_count(2)
    expect(revising.locator(".card.disagrees")).to_have_count(2)
    first = revising.locator(".card.think").first
    first.locator(".number").click()
    expect(first.locator(".tied.stale")).to_have_count(1)
    expect(first.locator(".tied.stale")).to_have_attribute("title", NOTE)
    expect(revising.locator(".decision-bar .disagreements")).to_contain_text("2 statements disagree")
    before = revising.evaluate(f"{STEPS}.map((s) => s.text)")
    revising.locator(".card.zoom .number").first.click()
    revising.keyboard.press("Shift+R")
    expect(revising.locator(".decision-bar .disagreements")).to_have_count(0)
    expect(revising.locator(".card.think.disagrees")).to_have_count(0)
    first.locator(".number").click()
    expect(first.locator("ins").first).to_be_visible()
    lo, hi = revising.evaluate(f"{STEPS}.find((s) => s.kind === 'zoom').arguments.wavelength_range")
    picture(revising, "review")
    texts = revising.evaluate(f"{STEPS}.filter((s) => s.kind === 'think').map((s) => s.text)")
    assert f"{lo:g} to {hi:g} Å" in texts[0]
    assert f"In the window {lo:g} to {hi:g} Å, S/N " in texts[1]
    revising.keyboard.press("Control+z")
    assert revising.evaluate(f"{STEPS}.map((s) => s.text)") == before
    expect(revising.locator(".decision-bar .disagreements")).to_be_visible()


def test_pointing_at_a_part_of_a_text_lights_it_up_and_choosing_it_shows_it(revising: Page) -> None:
    revising.evaluate("localStorage.setItem('so-unfolded', 'yes')")
    revising.locator(".card.think .number").nth(1).click()
    line = revising.locator(".card.think .tied-line", has_text="Hβ").first
    line.hover()
    lit = revising.locator(".so-full .so-lit")
    expect(lit).to_be_visible()
    ((at, _),) = places(revising, "full", 4862.7 * 1.1213164)
    box = lit.bounding_box()
    assert box is not None
    assert box["x"] <= at + 1
    assert at - 1 <= box["x"] + box["width"]
    revising.mouse.move(5, 5)
    expect(lit).to_be_hidden()
    line.focus()
    expect(lit).to_be_visible()
    revising.keyboard.press("Enter")
    expect(revising.locator(".so-step .so-lit")).to_be_visible()
    revising.locator(".card.think .tied-number.ok", has_text="±").first.click()
    expect(revising.locator(".card .measured", has_text="measured").first).to_contain_text("±")


def test_a_text_being_edited_lists_its_parts_and_marks_what_disagrees(revising: Page) -> None:
    revising.locator(".card .number").first.click()
    revising.keyboard.press("Enter")
    listed = revising.locator(".card .tied-list .tied-window", has_text="6402 to 6702 Å")
    expect(listed).to_be_visible()
    revising.keyboard.type(" So the next zoom: 6410 to 6710 Å.")
    stale = revising.locator(".card .tied-list .tied.stale")
    expect(stale).to_contain_text("6410 to 6710 Å")
    revising.keyboard.press("Escape")
    expect(revising.locator(".card.think").first.locator(".text .tied.stale")).to_have_text("6410 to 6710 Å")


def test_a_flipped_verdict_is_amber_and_has_to_be_confirmed(revising: Page) -> None:
    answer = revising.evaluate(f"{STEPS}.at(-1).verdict")
    other = "NO" if answer == "YES" else "YES"
    revising.locator(".card.answer .number").click()
    revising.locator(".card.answer select.verdict").select_option(other)
    expect(revising.locator(".card.think.disagrees")).to_have_count(1)
    expect(revising.locator(".decision-bar .disagreements")).to_contain_text("1 statement disagrees")
    revising.keyboard.press("Escape")
    revising.keyboard.press("k")
    dialog = revising.locator("dialog.panel")
    expect(dialog).to_contain_text(f"says {answer}; the answer is {other}")
    dialog.locator("button", has_text="Go to the first").click()
    expect(revising.locator(".card.selected .tied-verdict.stale")).to_be_visible()
    expect(revising.locator(".decision-bar .round")).to_have_text("revision")


@pytest.mark.smoke
def test_disagreements_are_confirmed_by_all_who_send_the_text_on(
    chromium: Browser, tmp_path: Path, galaxy: Path
) -> None:
    db = Path(shutil.copy(galaxy, tmp_path))
    with Store.open(db) as store:
        for initials, role in (("RV", "reviewer"), ("AA", "auditor"), ("VO", "auditor")):
            store.accounts.add_person(initials, f"Person {initials}", [role], password=PASSWORD)
        store.settings.set_rules(None, Rules(auditors=1, votes=1, approve_at=1, reject_at=1))
    with serving(db) as address:
        with signed_in(chromium, address, "RV", PASSWORD) as page:
            settled(page)
            page.keyboard.press("k")
            expect(page.locator(".decision-bar .round")).to_contain_text("revision")
            settled(page)
            page.wait_for_function(KNOWN)
            moved(page)
            confirmed(page, "Submit all the same", "Submitted")
        for initials, action, done in (("AA", "Pass", "Passed"), ("VO", "Approve", "Approved")):
            with signed_in(chromium, address, initials, PASSWORD) as page:
                settled(page)
                expect(page.locator(".card.think.disagrees").first).to_be_visible()
                if initials == "VO":  # a page that knows of nothing: the server refuses, and says what to confirm
                    page.evaluate("window.specO3.review.statements.disagreements = []")
                confirmed(page, f"{action} all the same", done)
    with Store.open(db) as store:
        counts = [entry.details.get("confirmed_disagreements") for entry in store.log.entries(what="decided")]
    assert counts == [None, 2, 2, 2]


def test_what_is_typed_after_a_cancelled_confirmation_is_kept(chromium: Browser, tmp_path: Path, galaxy: Path) -> None:
    """In no language does a cancelled confirmation count as a sent decision."""
    db = Path(shutil.copy(galaxy, tmp_path))
    with serving(db) as url, working_alone(chromium, url, 1) as page:
        page.keyboard.press("Shift+K")
        expect(page.locator(".decision-bar .round")).to_have_text("revision")
        settled(page)
        moved(page)
        page.context.add_cookies([{"name": "so-language", "value": "zh", "url": url}])
        page.reload()
        settled(page)
        expect(page.locator(".decision-bar .disagreements")).to_be_visible()
        page.keyboard.press("k")
        expect(page.locator("dialog.panel .confirm")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("dialog.panel")).to_have_count(0)
        page.keyboard.press("c")
        with page.expect_response(lambda answer: "/autosave" in answer.url):
            page.keyboard.type("the window was too wide")
        expect(page.locator(".so-review .notice.bad, .so-review .notice:has-text('undefined')")).to_have_count(0)
        page.reload()
        settled(page)
        expect(page.locator(".decision-bar .comment")).to_have_value("the window was too wide")


def confirmed(page: Page, action: str, done: str) -> None:
    page.keyboard.press("k")
    page.locator("dialog.panel button", has_text=action).click()
    expect(page.locator(".toasts")).to_contain_text(done)


def test_a_comment_being_typed_keeps_the_focus_when_the_comparison_arrives(revising: Page) -> None:
    """Without it, the next letters would be shortcuts: n opens the next item."""
    item = revising.evaluate("window.specO3.review.current.item.id")
    routes = held(revising, "/statements$")
    revising.locator(".card.zoom .number").first.click()
    drag_window(revising, 7100, 7400)
    revising.wait_for_function(f"{STEPS}.find((s) => s.kind === 'zoom').arguments.wavelength_range[0] < 6400")
    revising.keyboard.press("c")
    revising.keyboard.type("window m")
    wait_for(revising, routes)
    let_go(revising, routes)
    expect(revising.locator(".decision-bar .disagreements")).to_be_visible()
    revising.keyboard.type("oved, xn")
    expect(revising.locator(".decision-bar .comment")).to_have_value("window moved, xn")
    assert revising.evaluate("window.specO3.review.current.item.id") == item
