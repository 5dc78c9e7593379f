"""Review by keyboard alone: from the demo to an approved trajectory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from reviewer.drafting import demo
from reviewer.store import Draft, Store
from tests.browser.support.kept_page import KeptPage, kept_page
from tests.browser.support.review_app import serving, settled
from tests.support.chromium import profile

pytestmark = pytest.mark.browser
ITEMS = count(1)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The app over the demo items, and its database."""
    db = tmp_path_factory.mktemp("demo") / "annotations.db"
    with Store.open(db) as store:
        store.items.add_all(Draft(trajectory, spectrum, batch="demo") for spectrum, trajectory in demo.demo_items())
    with serving(db) as url:
        yield url, db


@pytest.fixture(scope="module")
def kept(chromium: Browser, app: tuple[str, Path]) -> Iterator[KeptPage]:
    with kept_page(lambda: signed_in_by_keyboard(chromium, app[0])) as kept:
        yield kept


@contextmanager
def signed_in_by_keyboard(chromium: Browser, url: str) -> Iterator[Page]:
    with profile(chromium) as context:
        page = context.new_page()
        page.goto(url)
        if "sign-in" in page.url:  # only the first page of an app asks for the initials of a person who works alone
            expect(page.locator("input[name=initials]")).to_be_focused()
            page.keyboard.type("CD")
            press(page, "Enter")
        expect(page.locator(".so-review .card").first).to_be_visible()
        yield page


@pytest.fixture
def page(kept: KeptPage, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page at an item that no test before has decided: their numbers rise."""
    with kept.of(request) as page:
        item = next(ITEMS)
        page.evaluate(
            "(item) => { localStorage.clear(); sessionStorage.clear(); location.hash = `#item=${item}` }", item
        )
        page.reload()
        page.wait_for_function("(item) => window.specO3?.review.current?.item.id === item", arg=item)
        settled(page)
        yield page


@pytest.fixture
def db(app: tuple[str, Path]) -> Path:
    return app[1]


@pytest.mark.smoke
def test_one_item_from_screening_to_approval_without_a_mouse(page: Page, db: Path) -> None:
    bar = page.locator(".decision-bar .round")
    item = page.evaluate("window.specO3.review.current.item.id")
    press(page, "?")
    expect(page.locator("dialog.panel")).to_contain_text("as the agent saw it")
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
    picture = "window.specO3.review.drafting.steps.find((s) => s.kind === 'zoom').picture"
    before = page.evaluate(picture)
    press(page, "Enter")
    page.keyboard.type("6400")
    press(page, "Tab")
    press(page, "Tab")
    press(page, "Escape")
    page.wait_for_function(f"(before) => {picture} !== before", arg=before)
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

    with Store.open(db) as store:
        stored = store.items.get(item)
        assert stored.standing.state == "approved"
        assert stored.version.reason == "wider window"
        assert stored.version.author == "CD"
        assert stored.version.trajectory.zooms[0].arguments["wavelength_range"][0] == 6400
        assert "Seen again by CD." in stored.version.trajectory.to_json()["steps"][0]["text"]
        assert [mark.mark for mark in store.marks.of_item(item)] == ["supported"]


@pytest.mark.smoke
def test_rejecting_asks_for_a_reason_and_undo_takes_it_back(page: Page, db: Path) -> None:
    item = page.evaluate("window.specO3.review.current.item.id")
    press(page, "x", "Enter")
    expect(page.locator("dialog.panel .note")).to_have_text("Choose a reason.")
    press(page, "2", "Enter")
    expect(page.locator(".toasts").first).to_contain_text("Rejected")
    page.wait_for_function("(id) => window.specO3.review.current.item.id !== id", arg=item)
    press(page, "u")
    page.wait_for_function("(id) => window.specO3.review.current.item.id === id", arg=item)
    with Store.open(db) as store:
        assert store.items.get(item).standing.state == "screening"
        assert [record.decision.verb for record in store.items.history(item)] == ["reject", "undo"]


@pytest.mark.smoke
def test_no_key_acts_while_typing_and_plain_arrows_decide_nothing(page: Page, db: Path) -> None:
    item = page.evaluate("window.specO3.review.current.item.id")
    press(page, "c")
    page.keyboard.type("kxnvu?")
    expect(page.locator(".decision-bar .comment")).to_have_value("kxnvu?")
    press(page, "Escape", *["ArrowRight"] * 12, *["ArrowLeft"] * 12)
    assert page.evaluate("window.specO3.review.current.item.id") == item
    with Store.open(db) as store:
        assert store.items.history(item) == []


@pytest.mark.smoke
def test_my_verdict_first_hides_what_tells_the_answer_until_it_is_given(page: Page) -> None:
    header, rows = page.locator(".so-review header.item"), page.locator(".so-review .queue .rows")
    bar = page.locator(".decision-bar")
    item = page.evaluate("window.specO3.review.current.item.id")
    name = rows.locator(f"[data-item='{item}'] .name")
    expect(header).to_contain_text("simulated")
    expect(name).to_contain_text("demo-")
    expect(bar.get_by_role("button", name="Cannot tell ,")).to_be_visible()
    press(page, "p")
    expect(bar.locator(".ask")).to_be_visible()
    for key in ("YES 7", "NO 8", "cannot tell 9"):
        expect(bar.get_by_role("button", name=key, exact=True)).to_be_visible()
    expect(header.locator(".name")).to_have_text(f"item {item}")
    expect(name).to_contain_text(f"item {item}")
    expect(page.locator(".card.zoom").first).to_be_visible()
    expect(page.locator(".card:not(.zoom)")).to_have_count(0)
    page.wait_for_function("window.specO3.review.spectrum.scene")
    shown = page.evaluate("document.body.innerHTML.replaceAll(/<style[^]*?<.style>/g, '')")
    desk = page.evaluate("document.querySelector('.so-review').outerHTML")
    assert "simulated" not in desk, desk[desk.index("simulated") - 200 :][:400]
    assert "baseline" not in desk
    assert "demo-" not in shown
    press(page, "k")
    expect(bar.locator(".ask")).to_be_visible()
    press(page, "9")
    expect(page.locator(".so-review .toasts")).to_contain_text("The key , decides the item so.")
    expect(page.locator(".card.answer")).to_have_count(1)
    expect(header).to_contain_text("simulated")
    expect(name).to_contain_text("demo-")


@pytest.mark.smoke
def test_keys_follow_the_person_on_other_layouts(page: Page, db: Path) -> None:
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
        with Store.open(db) as store:
            return [record.decision.verb for record in store.items.history(item)]

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


def test_after_a_click_with_the_mouse_the_keys_are_those_of_the_desk(page: Page) -> None:
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
