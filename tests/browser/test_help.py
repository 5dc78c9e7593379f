"""The help menu, the tour, the documentation and the installed app."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import version

import pytest
from playwright.sync_api import Browser, Page, expect

from reviewer.rules.workflow import ROUNDS
from reviewer.store import Store
from tests.browser.support.kept_page import KeptPage, kept_page
from tests.browser.support.review_app import PASSWORD, open_tab, serving, signed_in
from tests.support.campaign import an_item

pytestmark = pytest.mark.browser

NEW = "NEW"
"""The only person here who has not seen the tour (``TOUR_SEEN``)."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One app for this file: two items, a coordinator and two reviewers."""
    db = tmp_path_factory.mktemp("help") / "annotations.db"
    with Store.open(db) as store:
        store.accounts.add_person("CO", "Cora", ["coordinator"], PASSWORD)
        store.accounts.add_person("RE", "Rosa", ["reviewer"], PASSWORD)
        store.accounts.add_person(NEW, "Nora", ["reviewer"], PASSWORD)
        for number in range(2):
            an_item(store, number)
    with serving(db) as address:
        yield address


@pytest.fixture(scope="module")
def kept(chromium: Browser, url: str) -> Iterator[KeptPage]:
    with kept_page(lambda: signed_in(chromium, url, "RE", PASSWORD)) as kept:
        yield kept


@pytest.fixture
def desk(kept: KeptPage, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page of a reviewer."""
    with kept.of(request) as page:
        open_tab(page, "Review")
        yield page


@pytest.mark.smoke
def test_the_help_menu_is_used_by_keyboard_and_no_key_reaches_the_item_behind(desk: Page) -> None:
    button, menu = desk.locator(".so-help .help"), desk.locator(".so-help .so-menu")
    button.focus()
    desk.keyboard.press("Enter")
    expect(menu.get_by_role("menuitem", name="Keys")).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "true")
    round_before = desk.locator(".decision-bar .round").inner_text()
    desk.keyboard.press("k")
    desk.keyboard.press("ArrowUp")
    expect(menu.get_by_role("menuitemradio", name="中文")).to_be_focused()
    desk.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(button).to_be_focused()
    expect(desk.locator(".decision-bar .round")).to_have_text(round_before)


def test_the_help_menu_opens_keys_guide_and_rounds_and_names_the_version(desk: Page) -> None:
    button, menu, panel = (
        desk.locator(".so-help .help"),
        desk.locator(".so-help .so-menu"),
        desk.locator("dialog.panel"),
    )
    for entry, title in (("Keys", "Keys"), ("The five rounds", "The five rounds")):
        button.click()
        menu.get_by_role("menuitem", name=entry).click()
        expect(panel.locator("h2")).to_have_text(title)
        desk.keyboard.press("Escape")
        expect(panel).to_have_count(0)
    button.click()
    menu.get_by_role("menuitem", name="The five rounds").click()
    assert [name.lower() for name in panel.locator("li strong").all_inner_texts()] == list(ROUNDS)
    expect(panel).to_contain_text("2 people check the submitted version")
    desk.keyboard.press("Escape")
    button.click()
    expect(menu).to_contain_text(f"Spec-o3 {version('spec-o3')}")
    menu.get_by_role("menuitem", name="Class guide").click()
    expect(desk.locator(".so-review .evidence .guide-text")).to_be_visible()
    desk.get_by_role("button", name="Close the evidence").click()


OVERLAP = """() => {
  const [ring, card] = ['.so-tour-ring', '.so-tour'].map((one) => document.querySelector(one).getBoundingClientRect())
  const apart = ring.right <= card.left || card.right <= ring.left || ring.bottom <= card.top || card.bottom <= ring.top
  const inside = card.left >= 0 && card.top >= 0 && card.right <= innerWidth && card.bottom <= innerHeight
  return { apart, inside, seen: ring.width > 8 && ring.height > 8 }
}"""


def test_the_tour_has_four_steps_and_opens_once_for_each_person(chromium: Browser, url: str) -> None:
    with signed_in(chromium, url, NEW, PASSWORD) as page:
        card = page.locator(".so-tour")
        expect(card).to_be_visible()
        expect(card.locator(".primary")).to_be_focused()
        titles = []
        for number in range(1, 5):
            expect(card.locator("h2")).to_contain_text(f"{number} of 4")
            titles.append(card.locator("h2").evaluate("(title) => title.firstChild.textContent"))
            page.keyboard.press("ArrowRight")
        expect(card).to_have_count(0)
        assert titles == ["Your queue", "The spectrum", "The trace", "Your decision"]
        page.reload()
        expect(page.locator(".so-review .decision-bar .round")).to_be_visible()
        page.wait_for_function("window.specO3?.review.current?.place")
        expect(card).to_have_count(0)
        page.keyboard.press("Shift+H")
        expect(card).to_be_visible()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
        expect(card.locator("h2")).to_contain_text("1 of 4")
        page.keyboard.press("k")  # decides nothing while the card has the focus
        page.keyboard.press("Escape")
        expect(card).to_have_count(0)
        expect(page.locator(".decision-bar .round")).to_have_text("screening")


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (390, 844)])
def test_no_card_of_the_tour_covers_what_it_speaks_of(desk: Page, width: int, height: int) -> None:
    desk.set_viewport_size({"width": width, "height": height})
    desk.locator(".so-help .help").click()
    desk.get_by_role("menuitem", name="Tour").click()
    for number in range(1, 5):
        expect(desk.locator(".so-tour h2")).to_contain_text(f"{number} of 4")
        desk.wait_for_function(f"() => Object.values(({OVERLAP})()).every(Boolean)")
        desk.keyboard.press("ArrowRight")
    expect(desk.locator(".so-tour")).to_have_count(0)
    assert desk.locator(".so-review").evaluate("(page) => page.scrollTop") == 0


def test_the_tour_begins_at_the_queues_button_where_the_queue_is_a_drawer_and_ends_with_the_tab(desk: Page) -> None:
    desk.set_viewport_size({"width": 390, "height": 844})
    desk.locator(".so-help .help").click()
    desk.get_by_role("menuitem", name="Tour").click()
    expect(desk.locator(".so-review .open-queue")).to_be_visible()
    desk.wait_for_function(
        """() => {
          const [ring, button] = ['.so-tour-ring', '.so-review .open-queue'].map((at) => document.querySelector(at))
          return ring && Math.abs(ring.getBoundingClientRect().x + 4 - button.getBoundingClientRect().x) < 2
        }"""
    )
    desk.get_by_role("tab", name="Progress").click()
    expect(desk.locator(".so-tour")).to_have_count(0)
    desk.locator(".so-help .help").click()
    desk.get_by_role("menuitem", name="Tour").click()
    expect(desk.locator(".so-review .decision-bar .round")).to_be_visible()
    expect(desk.locator(".so-tour h2")).to_contain_text("1 of 4")


def test_the_documentation_opens_in_the_theme_of_the_page_without_a_violation_of_its_policy(desk: Page) -> None:
    desk.evaluate("localStorage.setItem('so-theme', 'dark')")
    desk.locator(".so-help .help").click()
    with desk.context.expect_page() as opened:
        desk.get_by_role("menuitem", name="Documentation").click()
    page, problems = opened.value, []
    page.on("console", lambda message: problems.append(message.text))
    page.get_by_role("link", name="How to review").first.click()
    expect(page.locator("h1")).to_have_text("How to review")
    expect(page.locator("nav a[aria-current=page]")).to_have_text("How to review")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.locator("main a[href$='hints.md']").first.click()
    expect(page.locator("h1")).to_contain_text("Hints")
    assert problems == []


@pytest.mark.smoke
def test_a_coordinator_reads_and_verifies_the_audit_log_and_a_reviewer_has_no_entry_to_it(
    chromium: Browser, url: str, desk: Page
) -> None:
    desk.locator(".so-help .help").click()
    expect(desk.get_by_role("menuitem", name="Audit log")).to_have_count(0)
    with signed_in(chromium, url, "CO", PASSWORD) as page:
        page.get_by_role("tab", name="Progress").click()
        page.get_by_role("button", name="Audit log").click()
        log = page.locator("dialog.panel .audit-log")
        expect(log.locator("tbody tr", has_text="signed in").first).to_contain_text("CO")
        expect(log.get_by_role("button", name="← Newer")).to_be_disabled()
        log.get_by_label("What").select_option("items added")
        expect(log.locator("tbody tr")).to_have_count(2)
        log.get_by_label("Item number").fill("2")
        log.get_by_label("Item number").press("Enter")
        expect(log.locator("tbody tr")).to_have_count(1)
        log.get_by_role("button", name="Verify").click()
        expect(log.locator(".note.good")).to_contain_text("all facts they cover are unchanged")


def test_the_page_can_be_installed_as_an_app(desk: Page) -> None:
    # The name and the icons of Gradio would be valid as well.
    session = desk.context.new_cdp_session(desk)
    answer = session.send("Page.getAppManifest")
    assert answer["errors"] == []
    manifest = json.loads(answer["data"])
    assert manifest["name"] == "Spec-o3"
    assert session.send("Page.getInstallabilityErrors")["installabilityErrors"] == []
    assert {icon["purpose"] for icon in manifest["icons"]} == {"any", "maskable"}
