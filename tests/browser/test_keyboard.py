"""Review by keyboard alone: from the demo to an approved trajectory."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from reviewer.drafting import demo
from reviewer.store import Draft, Store
from tests.browser.support.review_app import serving, settled
from tests.support.chromium import profile

pytestmark = pytest.mark.browser


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


@pytest.fixture(scope="module")
def demo_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "annotations.db"
    with Store.open(path) as store:
        store.items.add_all(Draft(trajectory, spectrum, batch="demo") for spectrum, trajectory in demo.demo_items())
    return path


@pytest.fixture
def alone(chromium: Browser, tmp_path: Path, demo_database: Path):  # type: ignore[no-untyped-def]
    """A page at the demo's first item after a sign-in by keyboard, and the database."""
    errors: list[str] = []
    db = tmp_path / "annotations.db"
    shutil.copyfile(demo_database, db)
    with serving(db) as url, profile(chromium) as context:
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url)
        expect(page.locator("input[name=initials]")).to_be_focused()
        page.keyboard.type("CD")
        press(page, "Enter")
        expect(page.locator(".so-review .card").first).to_be_visible()
        settled(page)
        yield page, db
    assert not errors, errors


@pytest.mark.smoke
def test_one_item_from_screening_to_approval_without_a_mouse(alone: tuple[Page, Path]) -> None:
    page, db = alone
    bar = page.locator(".decision-bar .round")
    item = page.evaluate("window.specO3.review.current.item.id")
    press(page, "?")
    expect(page.locator("dialog.panel")).to_contain_text("my verdict first")
    press(page, "Escape")
    expect(page.locator("dialog.panel")).to_be_hidden()

    press(page, "ArrowRight", "y")
    expect(page.locator(".card.selected .mark.set.good")).to_be_visible()
    press(page, "Shift+K")
    expect(bar).to_have_text("revision")
    settled(page)
    press(page, "Enter")  # go on in the new round

    first_zoom = page.locator(".card.zoom").first
    while "selected" not in (first_zoom.get_attribute("class") or ""):
        press(page, "ArrowRight" if page.locator(".card.selected .number").inner_text() == "1" else "ArrowLeft")
    before = first_zoom.locator("img").get_attribute("src")
    press(page, "Enter")
    page.keyboard.type("6400")
    press(page, "Tab")
    press(page, "Tab")
    press(page, "Escape")
    expect(first_zoom.locator("img")).not_to_have_attribute("src", before or "")
    press(page, "ArrowLeft", "Enter")
    page.keyboard.type(" Seen again by CD.")
    # Two thoughts name the window as it was: their numbers follow it.
    press(page, "Escape", "Shift+R", "ArrowRight", "ArrowRight", "Shift+R", "c")
    page.keyboard.type("wider window")
    press(page, "Escape")
    press(page, "Shift+K")
    expect(bar).to_have_text("audit")
    settled(page)
    press(page, "Enter", "Shift+K")  # Enter goes on in the new round
    expect(bar).to_have_text("vote")
    settled(page)
    press(page, "Enter", "Shift+K")
    expect(page.locator(".decision-bar .decided")).to_have_text("approved")

    store = Store.open(db)
    try:
        kept = store.items.get(item)
        assert kept.standing.state == "approved"
        assert kept.version.reason == "wider window"
        assert kept.version.author == "CD"
        assert kept.version.trajectory.zooms[0].arguments["wavelength_range"][0] == 6400
        assert "Seen again by CD." in kept.version.trajectory.to_json()["steps"][0]["text"]
        assert [m.mark for m in store.marks.of_item(item)] == ["supported"]
    finally:
        store.close()


@pytest.mark.smoke
def test_rejecting_asks_for_a_reason_and_undo_takes_it_back(alone: tuple[Page, Path]) -> None:
    page, db = alone
    item = page.evaluate("window.specO3.review.current.item.id")
    press(page, "x", "Enter")
    expect(page.locator("dialog.panel .note")).to_have_text("Choose a reason.")
    press(page, "2", "Enter")
    expect(page.locator(".toasts").first).to_contain_text("Rejected")
    page.wait_for_function("(id) => window.specO3.review.current.item.id !== id", arg=item)
    press(page, "u")
    page.wait_for_function("(id) => window.specO3.review.current.item.id === id", arg=item)
    store = Store.open(db)
    try:
        assert store.items.get(item).standing.state == "screening"
        verbs = [r.decision.verb for r in store.items.history(item)]
        assert verbs == ["reject", "undo"]
    finally:
        store.close()


@pytest.mark.smoke
def test_no_key_acts_while_typing_and_plain_arrows_decide_nothing(alone: tuple[Page, Path]) -> None:
    page, db = alone
    item = page.evaluate("window.specO3.review.current.item.id")
    press(page, "c")
    page.keyboard.type("kxnvu?")
    expect(page.locator(".decision-bar .comment")).to_have_value("kxnvu?")
    press(page, "Escape", *["ArrowRight"] * 12, *["ArrowLeft"] * 12)
    assert page.evaluate("window.specO3.review.current.item.id") == item
    store = Store.open(db)
    try:
        assert store.items.history(item) == []
    finally:
        store.close()


@pytest.mark.smoke
def test_my_verdict_first_hides_what_tells_the_answer_until_it_is_given(alone: tuple[Page, Path]) -> None:
    page, _ = alone
    header, rows = page.locator(".so-review header.item"), page.locator(".so-review .queue .rows")
    expect(header).to_contain_text("simulated")
    press(page, "p")
    expect(page.locator(".decision-bar .ask")).to_be_visible()
    expect(header.locator(".name")).to_have_text("item 1")
    expect(rows.locator("[data-item='1'] .name")).to_contain_text("item 1")
    expect(page.locator(".card.zoom").first).to_be_visible()
    expect(page.locator(".card:not(.zoom)")).to_have_count(0)
    page.wait_for_function("window.specO3.review.spectrum.scene")
    shown = page.evaluate("document.body.innerHTML.replaceAll(/<style[^]*?<.style>/g, '')")
    desk = page.evaluate("document.querySelector('.so-review').outerHTML")
    assert "simulated" not in desk, desk[desk.index("simulated") - 200 :][:400]
    assert "baseline" not in desk
    assert "simulated-" not in shown
    press(page, "k")
    expect(page.locator(".decision-bar .ask")).to_be_visible()
    press(page, "9")
    expect(page.locator(".card.answer")).to_have_count(1)
    expect(header).to_contain_text("simulated")
    expect(rows.locator("[data-item='1'] .name")).to_contain_text("simulated")


@pytest.mark.smoke
def test_unsent_text_is_restored_after_a_reload(alone: tuple[Page, Path]) -> None:
    page, _ = alone
    press(page, "Shift+K")
    expect(page.locator(".decision-bar .round")).to_have_text("revision")
    settled(page)
    while page.locator(".card.selected .number").inner_text() != "1":
        press(page, "ArrowLeft")
    press(page, "Enter")
    page.keyboard.type(" Half a thought")
    expect(page.locator(".so-top .saved")).to_contain_text("saved")
    page.wait_for_function("!window.specO3.review.drafting.pending && !window.specO3.review.drafting.sent.length")
    page.reload()
    expect(page.locator(".notice")).to_contain_text("unsent text")
    expect(page.locator(".card.think").first).to_contain_text("Half a thought")


@pytest.mark.smoke
def test_keys_follow_the_person_on_other_layouts(alone: tuple[Page, Path]) -> None:
    page, db = alone
    item = page.evaluate("window.specO3.review.current.item.id")

    def typed(key: str, code: str, key_code: int = 0, **held: bool) -> None:
        page.evaluate(
            """([key, code, keyCode, held]) => {
              const event = new KeyboardEvent('keydown', {key, code, keyCode, bubbles: true, cancelable: true, ...held})
              ;(document.activeElement ?? document.body).dispatchEvent(event)
            }""",
            [key, code, key_code, held],
        )

    def decisions() -> list[str]:
        store = Store.open(db)
        try:
            return [r.decision.verb for r in store.items.history(item)]
        finally:
            store.close()

    dialog, toasts = page.locator("dialog.panel"), page.locator(".so-review .toasts")
    # An input method is on: said once, and nothing acts.
    typed("Process", "KeyK", 229)
    expect(toasts).to_contain_text("An input method is on")
    typed("Process", "KeyX", 229)
    expect(toasts.locator(".toast")).to_have_count(1)
    expect(dialog).to_have_count(0)
    # In a field an input method writes text, and nothing is said.
    expect(toasts.locator(".toast")).to_have_count(0)
    press(page, "c")
    typed("Process", "KeyK", 229)
    press(page, "Escape")
    expect(toasts.locator(".toast")).to_have_count(0)

    for key, code, shift in (("？", "Slash", True), ("?", "Minus", True)):
        typed(key, code, shiftKey=shift)
        expect(dialog).to_contain_text("Keys")
        press(page, "Escape")
        expect(dialog).to_have_count(0)
    # The digits of dialogs, too: x with a Russian layout, 2 with AZERTY.
    typed("ч", "KeyX")
    expect(dialog).to_contain_text("Reject: why?")
    typed("é", "Digit2")
    expect(dialog.locator("input[type=radio]").nth(1)).to_be_checked()
    press(page, "Escape")
    expect(dialog).to_have_count(0)
    # Caps Lock: u undoes, and decides nothing.
    typed("U", "KeyU")
    expect(toasts).to_contain_text("no decision here that can be undone")
    assert decisions() == []
    typed("Л", "KeyK")
    page.wait_for_function("(id) => window.specO3.review.current.item.id !== id", arg=item)
    assert decisions() == ["keep"]


def test_every_text_names_the_key_of_its_action(alone: tuple[Page, Path]) -> None:
    page, _ = alone
    bar = page.locator(".decision-bar")
    expect(bar.get_by_role("button", name="Cannot tell ,")).to_be_visible()
    press(page, "p")
    expect(bar.locator(".ask")).to_be_visible()
    for name in ("YES 7", "NO 8", "cannot tell 9"):
        expect(bar.get_by_role("button", name=name, exact=True)).to_be_visible()
    press(page, "9")
    expect(page.locator(".so-review .toasts")).to_contain_text("The key , decides the item so.")


def test_after_a_click_with_the_mouse_the_keys_are_those_of_the_desk(alone: tuple[Page, Path]) -> None:
    page, _ = alone
    press(page, "Shift+K")
    expect(page.locator(".decision-bar .round")).to_have_text("revision")
    settled(page)
    item = page.evaluate("window.specO3.review.current.item.id")

    def nothing_has_the_focus() -> None:
        page.wait_for_function("document.activeElement === document.body")

    rows = page.locator(".so-review .queue .rows")
    rows.locator(f"[data-item='{item + 1}']").click()
    page.wait_for_function("(id) => window.specO3.review.current.item.id === id", arg=item + 1)
    nothing_has_the_focus()
    # Also after a dialog that was opened by a button.
    page.locator(".decision-bar button", has_text="Reject").click()
    press(page, "Escape")
    expect(page.locator("dialog.panel")).to_have_count(0)
    nothing_has_the_focus()
    page.locator(".decision-bar button.next").click()
    page.wait_for_function("(id) => window.specO3.review.current.item.id > id", arg=item + 1)
    nothing_has_the_focus()
    rows.locator(f"[data-item='{item}']").click()
    page.wait_for_function("(id) => window.specO3.review.current.item.id === id", arg=item)
    settled(page)
    page.locator(".card.answer").click()
    press(page, "ArrowLeft", "Enter")
    expect(page.locator(".card.selected textarea")).to_be_focused()
    page.keyboard.type(" Written after a click.")
    press(page, "Escape")
    # Whoever reaches the list by Tab moves in it, and stays in it.
    rows.focus()
    press(page, "ArrowDown", "Enter")
    page.wait_for_function("(id) => window.specO3.review.current.item.id !== id", arg=item)
    expect(rows).to_be_focused()

    page.get_by_role("tab", name="Live").click()
    expect(page.locator(".so-live .decision-bar .run")).to_be_visible()
    nothing_has_the_focus()
    press(page, "?")
    expect(page.locator("dialog.panel")).to_contain_text("run all of the bench")
