"""The page in Chinese: what is English in it is marked so, and the forms fit a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from reviewer.ui.page import STATIC
from tests.browser.page.test_layout import faults

pytestmark = pytest.mark.browser


@pytest.fixture
def page(desk: Page) -> Page:
    desk.context.add_cookies([{"name": "so-language", "value": "zh", "url": desk.url}])
    desk.reload()
    desk.wait_for_function("window.specO3?.review?.current?.place")
    return desk


def test_traces_and_guides_are_marked_as_english_and_hints_look_unlike_typed_text(page: Page) -> None:
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    page.locator(".so-review .card.think header").first.click()
    for english in (".trace .brief", ".trace .card div.text"):
        expect(page.locator(f".so-review {english}").first).to_have_attribute("lang", "en")
    field = page.locator(".so-review .decision-bar .comment")
    expect(field).to_have_attribute("placeholder", re.compile("评论"))
    colours = field.evaluate("(e) => [getComputedStyle(e, '::placeholder').color, getComputedStyle(e).color]")
    assert colours[0] != colours[1]
    page.keyboard.press("g")
    expect(page.locator(".so-review .evidence .guide-text p").first).to_have_attribute("lang", "en")


def test_the_forms_fit_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for tab, sign in (("data", ".so-data tbody tr"), ("people", "#so-tab-people tbody .row-button")):
        page.locator(f"#so-tab-{tab}-button").click()
        expect(page.locator(sign).first).to_be_visible()
        assert faults(page) == []


def test_no_stylesheet_has_words_of_its_own() -> None:
    """They would be English in every language."""
    for sheet in sorted(STATIC.rglob("*.css")):
        words = re.findall(r"content:[^;}]*\"[^\";]*[A-Za-z]{2}[^\";]*\"", sheet.read_text(encoding="utf-8"))
        assert not words, f"{sheet.name}: {words}"
