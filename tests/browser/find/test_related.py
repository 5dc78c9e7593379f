"""Similar items, a ranking by examples, and groups in the Find tab."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.find.pages import button, row, selected, total

pytestmark = pytest.mark.browser

SKY = set(range(3, 151, 3))
AGAIN = set(range(15, 151, 15))
"""The items that open a window three times."""


def shown(page: Page) -> list[int]:
    found: list[int] = page.locator(".so-find tbody.hit").evaluate_all(
        "(all) => all.map((one) => Number(one.dataset.item))"
    )
    return found


COMPARED = """async () => {
  for (const by of ['text', 'spectrum']) {
    for (;;) {
      const { complete, indexed } = await (await fetch(`/api/v1/item/3/similar?by=${by}`)).json()
      if (complete && indexed === 150) break
      await new Promise((done) => setTimeout(done, 200))
    }
  }
}"""


@pytest.fixture(autouse=True)
def all_compared(page: Page) -> None:
    """Wait until the index has all items: the server begins some seconds after its start."""
    page.evaluate(COMPARED)


def test_the_items_with_the_most_similar_text_come_first(page: Page) -> None:
    row(page, 3).get_by_role("button", name="Actions for item 3").click()
    page.get_by_role("menuitem", name="Similar text").click()
    expect(page.locator(".so-find .about")).to_contain_text("Similar to item 3 by the text of the trace")
    expect(page.locator(".so-find th.score")).to_have_text("Similarity")
    first = shown(page)[:20]
    assert set(first) <= SKY - {3}, first
    page.keyboard.press("Escape")
    total(page, 150)
    expect(page.locator(".so-find .about")).to_be_hidden()


def test_more_like_these_ranks_suggests_a_cut_and_learns_what_is_not_alike(page: Page) -> None:
    examples = [15, 30, 45, 60, 75]
    for item in examples:
        row(page, item).locator(".tick input").click()
    button(page, "More like these").click()
    about = page.locator(".so-find .about")
    expect(about).to_contain_text("More like 5 examples. In common: A window is opened three times or more.")
    expect(row(page, 30).locator(".name")).to_contain_text("example")
    ranked = shown(page)
    assert ranked[:5] == examples
    assert set(ranked[:10]) == AGAIN, ranked[:10]
    cut = page.locator(".so-find tbody.cut")
    expect(cut).to_contain_text("Suggested cut: the 5 items above are like your examples")
    button(page, "Select down to the cut").click()
    selected(page, "10 selected")
    page.keyboard.press("Backspace")
    selected(page, "Nothing selected")
    unlike = ranked[5]
    row(page, unlike).get_by_role("button", name="not like these").click()
    expect(row(page, unlike).get_by_role("button", name="not like these")).to_have_attribute("aria-pressed", "true")
    expect(about).to_contain_text("More like 5 examples, unlike 1 item.")
    button(page, "Rank again").click()
    expect(row(page, unlike)).to_have_count(0)
    expect(row(page, 30)).to_be_visible()


def test_groups_are_shown_as_cards_and_opened_in_the_table(page: Page) -> None:
    button(page, "Groups …").click()
    cards = page.locator(".so-find .group")
    expect(cards).not_to_have_count(0, timeout=120_000)
    expect(page.locator(".so-find .groups")).to_contain_text("of 150 items, the largest first.")
    size = int(re.sub(r"\D", "", cards.first.locator("header .muted").inner_text()))
    cards.first.get_by_role("button", name="Show these items").click()
    total(page, size)
    button(page, f"select all {size} that match").click()
    selected(page, f"{size} selected")
    expect(button(page, "Reject …")).to_be_enabled()
    button(page, "Back to the groups").click()
    expect(cards.first).to_be_visible()
    button(page, "back to the search").click()
    total(page, 150)
