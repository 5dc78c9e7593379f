"""A walk through the sign-in page, the Review tab and the Live tab in the pseudo-language: a text outside ⟦ and ⟧ is
no message. The other tabs are in test_every_tab.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.language.walk import Walk, sign_in
from tests.browser.support.live_app import RUN, drop, write_csv

pytestmark = pytest.mark.browser
RUN_DATA = (
    ".welcome > p, .so-live .text, .so-live .facts .label, .so-live .so-readout, .so-live .so-badge, "
    ".run-head .turn[title]"
)
"""The question of the class, and what the agent wrote in its run."""


def test_the_sign_in_page(page: Page) -> None:
    walk = Walk(page)
    walk.look("sign-in")
    page.fill("input[name=initials]", "AA")
    page.fill("input[name=password]", "wrong password")
    page.keyboard.press("Enter")
    expect(page.locator("[role=alert]")).to_be_visible()
    walk.look("sign-in refused")
    walk.check(least=10)


def test_the_review_tab_its_menus_and_dialogs(page: Page) -> None:
    sign_in(page, "AA")
    walk = Walk(page)
    walk.look("review")
    for key, sign in (("?", "dialog.panel"), ("g", "dialog.panel")):
        page.keyboard.press(key)
        expect(page.locator(sign)).to_be_visible()
        walk.look(f"key {key}")
        page.keyboard.press("Escape")
    page.keyboard.press("Shift+H")
    for step in range(6):
        expect(page.locator(".so-tour")).to_be_visible()
        walk.look(f"tour {step + 1}")
        page.locator(".so-tour button.primary").click()
    page.locator(".so-help .help").click()
    walk.look("help menu")
    page.locator(".so-menu .entry").nth(3).click()
    expect(page.locator("dialog.panel .rounds")).to_be_visible()
    walk.look("rounds")
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+E")
    tabs = page.locator(".so-evidence [role=tab]")
    for number in range(tabs.count()):
        tabs.nth(number).click()
        walk.look(f"evidence {number + 1}")
    page.keyboard.press("Shift+E")
    page.locator(".so-review .so-legend-button").click()
    walk.look("legend")
    page.keyboard.press("Escape")
    page.locator(".so-review .facts-line .more").first.click()
    walk.look("facts")
    page.keyboard.press("Escape")
    for key in ("f", "i", "w", "F", "I", "W", "s", "l"):
        page.locator(".so-review .spectrum").first.hover()
        page.keyboard.press(key)
        walk.look(f"spectrum, key {key}")
        page.keyboard.press("Escape")
    walk.check()


def test_the_live_tab(page: Page, tmp_path: Path) -> None:
    sign_in(page, "AA")
    page.locator("#so-tab-live-button").click()
    expect(page.locator(RUN)).to_be_visible()
    page.wait_for_function("window.specO3?.live")
    walk = Walk(page, RUN_DATA)
    walk.look("live, empty")
    for button in (".settings", ".download", ".health"):
        opener = page.locator(f".so-live {button}").first
        if opener.is_enabled():
            opener.click()
            walk.look(f"live {button}")
            page.keyboard.press("Escape")
    page.keyboard.press("/")
    expect(page.locator("dialog.panel")).to_be_visible()
    walk.look("live library")
    page.keyboard.press("Escape")
    write_csv(tmp_path / "ξ.csv")
    drop(page, tmp_path / "ξ.csv")
    expect(page.locator(".so-live .row")).to_have_count(1)
    walk.look("live, a spectrum")
    page.keyboard.press("r")
    expect(page.locator(".so-live .ending")).to_be_visible()
    walk.look("live, a run")
    page.locator(".so-live .download").click()
    walk.look("live, downloads")
    page.keyboard.press("Escape")
    page.keyboard.press("p")
    walk.look("live, sent")
    walk.check()


def test_a_text_that_is_no_message_is_found(page: Page) -> None:
    sign_in(page, "AA")
    page.evaluate("document.querySelector('.so-top').append('Some words')")
    walk = Walk(page)
    walk.look("planted")
    with pytest.raises(AssertionError, match="Some words"):
        walk.check()
