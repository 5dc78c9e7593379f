"""Trust pages of a first start: the demo has P(YES) and trials; the bar stays at the top; the open filter fits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from reviewer.drafting.demo_trust import NOT_PASSED, PASSED
from tests.browser.page.test_accessibility import SMALL, add_axe, use_theme, violations
from tests.browser.support.kept_page import KeptPage, kept_page
from tests.browser.support.review_app import open_tab, serving, show_anew, working_alone

pytestmark = pytest.mark.browser

LIST = 60_000
"""Milliseconds; the first figures load scikit-learn."""
ON_TOP = """() => [...document.querySelectorAll('.so-top, .so-top h1')].map((one) => {
  const { left, right, top, bottom } = one.getBoundingClientRect()
  const [x, y] = [(left + right) / 2, (top + bottom) / 2]
  const bar = document.elementsFromPoint(x, y).find((e) => e.matches('.tab-wrapper'))
  return bar ? getComputedStyle(bar).backgroundColor : null
})"""
"""Background of the bar behind the name of the app and behind the account; null where the bar is not there."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app started with an empty database, so with the demo."""
    folder: Path = tmp_path_factory.mktemp("demo trust")
    with serving(folder / "annotations.db") as address:
        yield address


@pytest.fixture(scope="module")
def kept(chromium: Browser, url: str) -> Iterator[KeptPage]:
    with kept_page(lambda: working_alone(chromium, url, PASSED)) as kept:
        yield kept


@pytest.fixture
def desk(kept: KeptPage, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page at the item whose trial has passed."""
    with kept.of(request) as page:
        show_anew(page, PASSED, other=NOT_PASSED)
        yield page


def test_the_demo_says_that_it_is_one_and_names_no_class(desk: Page) -> None:
    desk.keyboard.press("Shift+H")
    expect(desk.locator(".so-tour p")).to_contain_text(
        "Demo: 40 simulated spectra. Some drafts are wrong on purpose: find them."
    )
    desk.keyboard.press("Escape")
    expect(desk.locator(".so-review .item .name")).to_have_text(f"demo-{PASSED:04d}")
    expect(desk.locator(".so-review .item")).to_contain_text("simulated")
    open_tab(desk, "Live")
    chosen = desk.locator(".so-live .policy select option:checked")
    expect(chosen).to_have_text("rule-based baseline")


def trust_section(page: Page) -> None:
    open_tab(page, "Progress")
    page.locator("section.trust").scroll_into_view_if_needed()
    expect(page.locator("section.trust .results li")).to_have_count(2, timeout=LIST)


def test_the_trust_section_of_the_demo_has_figures_and_says_that_they_are_simulated(desk: Page) -> None:
    trust_section(desk)
    section = desk.locator("section.trust")
    expect(section.get_by_label("Class")).to_have_value("cv")
    expect(section.locator(".simulated")).to_contain_text("all items of this policy are simulated")
    expect(section.locator(".rates")).to_contain_text("of 10 spectra")
    expect(section.locator(".sides li.refused").first).to_contain_text("not certified")
    expect(section.get_by_role("link", name="What is promised, and how")).to_have_attribute(
        "href", re.compile(r"/docs/trust\.md$")
    )
    broken = section.locator(".sides li").evaluate_all("all => all.filter((li) => / %/.test(li.textContent)).length")
    assert broken == 0


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)])
def test_the_bar_stays_behind_the_name_and_the_account_when_a_tab_is_scrolled(
    desk: Page, size: tuple[int, int]
) -> None:
    desk.set_viewport_size({"width": size[0], "height": size[1]})
    trust_section(desk)
    desk.evaluate("scrollTo(0, 500)")
    desk.wait_for_function("scrollY > 200")
    colours = desk.evaluate(ON_TOP)
    shown = colours[:1] if size[0] < 960 else colours  # the name is outside a narrow window
    assert all(colour and colour != "rgba(0, 0, 0, 0)" for colour in shown), colours
    desk.locator("section.trust").get_by_label("Class").focus()
    top = desk.locator("section.trust").get_by_label("Class").bounding_box()
    bar = desk.locator("#so-tabs > .tab-wrapper").bounding_box()
    assert top is not None
    assert bar is not None
    assert top["y"] >= bar["y"] + bar["height"]


def test_the_open_filter_has_all_fields_in_a_window_of_768_pixels(desk: Page) -> None:
    desk.set_viewport_size({"width": 1366, "height": 768})
    desk.keyboard.press("/")
    form = desk.locator(".so-review form.filter")
    order = form.locator("[name=order]")
    expect(order).to_be_in_viewport(ratio=1)
    order.select_option("value")
    expect(order).to_be_in_viewport(ratio=1)
    expect(form.get_by_role("button", name="show everything")).to_be_in_viewport(ratio=1)
    expect(desk.locator(".queue .row").first).to_be_in_viewport(ratio=0.5)
    form.get_by_role("button", name="show everything").click()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_the_trust_pages(desk: Page, theme: str) -> None:
    add_axe(desk)
    use_theme(desk, theme)
    desk.locator(".trial-badge").click()
    sheet = desk.locator(".trial-sheet:popover-open")
    expect(sheet).to_contain_text("random seed")
    assert violations(desk) == []
    desk.keyboard.press("Escape")
    desk.locator(".card.zoom header").first.click()
    desk.locator(".card.zoom details.followed summary").click()
    desk.locator("button.trial").first.click()
    sheet.get_by_role("button", name="Show the edited window").click()
    desk.wait_for_function("document.querySelectorAll('.trial-sheet:popover-open img')[1]?.naturalWidth > 100")
    assert violations(desk) == []
    desk.keyboard.press("Escape")
    trust_section(desk)
    expect(desk.locator("section.trust .asof")).to_have_text("")
    assert violations(desk) == []
    assert desk.evaluate(SMALL) == []
