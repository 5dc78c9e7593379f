"""Dialogs of the Review tab: one rule for Enter, input methods, and text that is not lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from reviewer.drafting import demo
from reviewer.store import Draft, Store
from tests.browser.support.kept_page import KeptPage, kept_page
from tests.browser.support.review_app import serving, settled, show_anew, show_item, working_alone

pytestmark = pytest.mark.browser

TYPED = "no emission at Hα, and the slope is that of a K star"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The app with eight demo items in screening, and its database."""
    db = tmp_path_factory.mktemp("dialogs") / "annotations.db"
    with Store.open(db) as store:
        store.items.add_all(Draft(trajectory, spectrum) for spectrum, trajectory in list(demo.demo_items())[:8])
    with serving(db) as url:
        yield url, db


@pytest.fixture(scope="module")
def db(app: tuple[str, Path]) -> Path:
    return app[1]


@pytest.fixture(scope="module")
def kept(chromium: Browser, app: tuple[str, Path]) -> Iterator[KeptPage]:
    with kept_page(lambda: working_alone(chromium, app[0], 8)) as kept:
        yield kept


@pytest.fixture
def page(kept: KeptPage, request: pytest.FixtureRequest) -> Iterator[Page]:
    with kept.of(request) as page:
        page.evaluate("localStorage.clear()")  # texts of earlier dialogs
        yield page


def verbs(db: Path, item: int) -> list[str]:
    with Store.open(db) as store:
        return [record.decision.verb for record in store.items.history(item)]


def compose(page: Page, text: str) -> None:
    """Begin a word with an input method, as Chinese and Japanese keyboards do, without accepting it."""
    page.context.new_cdp_session(page).send(
        "Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)}
    )


def test_a_key_that_closes_a_dialog_is_no_key_of_the_page(page: Page, db: Path) -> None:
    show_anew(page, 1, other=8)
    page.keyboard.press("x")
    page.keyboard.press("Enter")
    expect(page.locator("dialog.panel .note")).to_have_text("Choose a reason.")
    page.keyboard.press("5")
    expect(page.locator("dialog.panel .note")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_have_text(["Rejected."])
    assert verbs(db, 1) == ["reject"]


@pytest.mark.smoke
def test_enter_sends_a_dialog_from_its_text_too_and_shift_enter_makes_a_line(page: Page, db: Path) -> None:
    show_anew(page, 2, other=8)
    page.keyboard.press("x")
    page.keyboard.press("7")
    page.keyboard.type("first")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("second")
    expect(page.locator("dialog.panel footer")).to_contain_text("new line")
    page.keyboard.press("Enter")
    expect(page.locator(".toasts")).to_contain_text("Rejected.")
    with Store.open(db) as store:
        assert [r.decision.comment for r in store.items.history(2)] == ["first\nsecond"]


def test_enter_that_accepts_a_word_of_an_input_method_sends_nothing(page: Page, db: Path) -> None:
    show_anew(page, 3, other=8)
    dialog = page.locator("dialog.panel")
    for key, title in (("m", "Note on step"), ("x", "Reject")):
        page.keyboard.press(key)
        expect(dialog).to_contain_text(title)
        if key == "x":
            page.keyboard.press("5")
        dialog.locator("textarea").focus()
        compose(page, "fashexian")
        page.keyboard.press("Enter")
        expect(dialog).to_be_visible()
        page.keyboard.insert_text("发射线")
        expect(dialog.locator("textarea")).to_have_value(re.compile("^发射线"))
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
    page.keyboard.press("c")
    compose(page, "xi")
    page.keyboard.press("Enter")
    expect(page.locator(".decision-bar .comment")).to_be_focused()
    assert verbs(db, 3) == []
    with Store.open(db) as store:
        assert store.marks.of_item(3) == []


@pytest.mark.smoke
def test_text_of_a_closed_dialog_is_offered_again_until_it_is_sent(page: Page, db: Path) -> None:
    show_anew(page, 5, other=8)
    text = page.locator("dialog.panel textarea")
    page.keyboard.press("x")
    page.keyboard.press("3")
    text.fill(TYPED)
    page.keyboard.press("Escape")
    expect(text).to_have_count(0)
    page.keyboard.press("x")
    expect(text).to_have_value(TYPED)
    page.mouse.click(5, 300)  # on the backdrop
    expect(text).to_have_count(0)

    show_item(page, 6)
    page.keyboard.press("x")
    expect(text).to_have_value("")
    page.keyboard.press("Escape")

    page.reload()
    expect(page.locator(".decision-bar .round")).to_be_visible()
    show_item(page, 5)
    page.keyboard.press("x")
    expect(text).to_have_value(TYPED)
    expect(page.locator("dialog.panel input:checked")).to_have_attribute("value", "hallucinated")
    page.keyboard.press("Enter")
    expect(page.locator(".toasts")).to_contain_text("Rejected.")
    assert page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('so-dialog'))") == []
    assert verbs(db, 5) == ["reject"]


@pytest.mark.parametrize("closing", ["dialog.requestClose()", "dialog.querySelector('header button').click()"])
def test_a_closed_dialog_gives_the_focus_back_at_once_and_never_later(page: Page, closing: str) -> None:
    show_anew(page, 7, other=8)
    page.locator(".so-review .trace .history").focus()
    page.keyboard.press("m")
    expect(page.locator("dialog.panel textarea")).to_be_focused()
    left, back, later = page.evaluate(
        f"""async () => {{
          const dialog = document.querySelector('dialog.panel')
          {closing}
          const left = document.querySelectorAll('dialog.panel').length
          const back = document.activeElement.className
          const key = new KeyboardEvent('keydown', {{ key: ';', code: 'Semicolon', bubbles: true }})
          document.activeElement.dispatchEvent(key)
          // The event of the closed dialog comes.
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))
          return [left, back, document.activeElement.getAttribute('aria-label')]
        }}"""
    )
    assert left == 0
    assert "history" in back
    assert later == "New comment"


@pytest.mark.smoke
def test_a_note_that_was_not_saved_is_offered_for_its_own_step_only(page: Page) -> None:
    show_anew(page, 7, other=8)
    text = page.locator("dialog.panel textarea")
    page.keyboard.press("m")
    text.fill(TYPED)
    page.keyboard.press("Escape")
    expect(text).to_be_hidden()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("m")
    expect(text).to_have_value("")
    page.keyboard.press("Escape")
    expect(text).to_be_hidden()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("m")
    expect(text).to_have_value(TYPED)
    page.keyboard.press("Enter")
    expect(page.locator(".card.selected")).to_contain_text(TYPED)
    settled(page)
