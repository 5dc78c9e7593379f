"""The queue of the Review tab: visible filters, a list that follows the server, and the keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from agent.trajectory.statements import disagreements
from reviewer.drafting import demo
from reviewer.rules.campaign import Rules
from reviewer.store import Draft, Store
from tests.browser.support.review_app import PASSWORD, answered, held, serving, settled, show_item, signed_in, wait_for
from tests.support.drawn_traces import decide, revise

pytestmark = pytest.mark.browser

REQUEST = "Quote the Balmer decrement too, and say how far the wings of Hβ reach on both sides of the line."


@pytest.fixture
def app(tmp_path: Path) -> Iterator[tuple[str, Store]]:
    """The app with five demo items; RV wrote item 4, which AA has returned."""
    with Store.open(tmp_path / "annotations.db") as store:
        items = list(demo.demo_items())[:5]
        store.items.add_all(
            Draft(trajectory, spectrum, batch="odd" if at % 2 else "even")
            for at, (spectrum, trajectory) in enumerate(items, start=1)
        )
        for initials, role in (("RV", "reviewer"), ("AA", "auditor")):
            store.accounts.add_person(initials, f"Person {initials}", [role], password=PASSWORD)
        store.settings.set_rules(None, Rules())
        decide(store, "RV", 4, "keep")
        text = store.items.get(4).version.trajectory.to_json()["steps"][0]["text"]
        revise(store, "RV", 4, f"{text} Seen again.")
        confirmed = len(disagreements(store.items.get(4).version.trajectory))
        decide(store, "RV", 4, "submit", confirmed=confirmed)
        decide(store, "AA", 4, "return", comment=REQUEST, confirmed=confirmed)
        with serving(store.path) as url:
            yield url, store


def rows(page: Page) -> list[int]:
    found: list[int] = page.evaluate("[...document.querySelectorAll('.rows .row')].map((r) => Number(r.dataset.item))")
    return found


def shown(page: Page) -> int:
    return int(page.evaluate("window.specO3.review.current.item.id"))


@pytest.mark.smoke
def test_a_returned_item_opens_first_with_the_request_over_its_trace(chromium: Browser, app: tuple[str, Store]) -> None:
    with signed_in(chromium, app[0], "RV", PASSWORD) as page:
        settled(page)
        assert shown(page) == 4
        banner = page.locator(".trace .request")
        expect(banner).to_contain_text("AA returned this on")
        expect(banner).to_contain_text(REQUEST)
        expect(page.locator(".rows [data-item='4'] .pill").first).to_have_text("returned")
        for width in (1366, 820, 390):
            page.set_viewport_size({"width": width, "height": 900})
            assert banner.evaluate("(b) => b.scrollWidth <= b.clientWidth"), width


def test_next_waiting_continues_after_the_item_shown_and_begins_again_at_the_end(
    chromium: Browser, app: tuple[str, Store]
) -> None:
    with signed_in(chromium, app[0], "RV", PASSWORD) as page:
        settled(page)
        show_item(page, 2)
        page.keyboard.press("Shift+N")
        page.wait_for_function("window.specO3.review.current.item.id === 3")
        show_item(page, 5)
        page.keyboard.press("Shift+N")
        expect(page.locator(".toasts")).to_contain_text("From the start of the queue.")


@pytest.mark.smoke
def test_each_active_filter_is_shown_and_can_be_removed(chromium: Browser, app: tuple[str, Store]) -> None:
    with signed_in(chromium, app[0], "RV", PASSWORD) as page:
        settled(page)
        chips = page.locator(".queue .chips .pill span")
        expect(chips).to_have_text(["waiting for me"])
        expect(page.locator(".queue-title")).to_contain_text("5 waiting · this is no. 4")
        page.keyboard.press("/")
        page.locator(".filter [name=batch]").select_option("odd")
        page.keyboard.press("Escape")
        expect(chips).to_have_text(["waiting for me", "batch odd"])
        expect(page.locator(".queue-title")).to_contain_text("3 waiting")
        expect(page.locator(".queue .pinned")).to_contain_text("not in this filter")
        expect(page.locator(".queue .pinned .row")).to_have_attribute("data-item", "4")
        page.reload()
        expect(chips).to_have_text(["waiting for me", "batch odd"])
        expect(page.locator(".queue .short.filtered")).to_be_visible()
        page.keyboard.press("q")
        page.get_by_role("button", name="remove the filter batch odd").click()
        expect(chips).to_have_text(["waiting for me"])
        expect(page.locator(".queue-title")).to_contain_text("5 waiting")


@pytest.mark.smoke
def test_the_list_follows_what_others_decide(chromium: Browser, app: tuple[str, Store]) -> None:
    url, store = app
    with signed_in(chromium, url, "RV", PASSWORD) as page:
        settled(page)
        assert rows(page) == [1, 2, 3, 4, 5]
        decide(store, "RV", 2, "reject", reason="bad_data")
        page.evaluate("window.specO3.review.queue.check()")
        expect(page.locator(".rows .row")).to_have_count(4)
        assert rows(page) == [1, 3, 4, 5]
        expect(page.locator(".queue-title")).to_contain_text("4 waiting · this is no. 3")


def test_names_of_an_earlier_request_are_not_shown_once_verdicts_come_first(
    chromium: Browser, app: tuple[str, Store]
) -> None:
    with signed_in(chromium, app[0], "RV", PASSWORD) as page:
        settled(page)
        name = page.locator("#so-row-1 .name")
        before = name.text_content() or ""
        routes = held(page, r"/api/v1/queue\?(?!.*verdict_first)")
        page.evaluate("void window.specO3.review.queue.refresh()")
        wait_for(page, routes)
        page.keyboard.press("p")
        expect(name).not_to_have_text(before)
        hidden = name.text_content() or ""
        answered(page, routes[0])
        assert name.text_content() == hidden


def test_the_rows_are_reached_and_opened_with_the_keyboard(chromium: Browser, app: tuple[str, Store]) -> None:
    with signed_in(chromium, app[0], "RV", PASSWORD) as page:
        settled(page)
        box = page.get_by_role("listbox", name="Queue")
        box.focus()
        expect(box).to_have_attribute("aria-activedescendant", "so-row-4")
        page.keyboard.press("Home")
        page.keyboard.press("ArrowDown")
        expect(box).to_have_attribute("aria-activedescendant", "so-row-2")
        page.keyboard.press("Enter")
        page.wait_for_function("window.specO3.review.current.item.id === 2")
        expect(page.locator("#so-row-2")).to_have_attribute("aria-selected", "true")
