"""A walk through the page in a language that puts every message between ⟦ and ⟧: what is outside is no message.

``CONVERTED`` lists the parts of the page that are walked; it only grows, until it is the whole page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from agent.language import PSEUDO
from reviewer.store import Store
from tests.browser.support.live_app import RUN, drop, open_live, write_csv
from tests.browser.support.review_app import PASSWORD, serving, settled
from tests.support.campaign import an_item
from tests.support.chromium import profile

CONVERTED = (
    "main:has(form[action='/sign-in'])",
    ".so-top, .so-menu, .so-tour, .so-away, dialog.panel",
    ".so-review .spectrum, .so-evidence, .so-popover, .trial-sheet, .so-key, .facts-sheet",
    ".so-review .trace, .so-review .item-header",
    ".so-live",
    "#so-tabs > .tab-wrapper",
)
"""Selectors of the parts whose texts are messages."""

DATA = (
    # Names of people, items, spectra, models and files.
    ".name, .who, .by, .version, .found .muted, .pick .muted, .facts bdi, .id, kbd, code, .so-popover dd",
    # What the agent, a task file or a catalogue of lines says.
    ".text, .label, .guide, p.bullet, .hints, .observation, figcaption, .tied, .reasons, details.faults",
    ".so-evidence td, .so-evidence li .name, .so-evidence .key, .so-legend, .so-line, .templates li",
    ".so-live select, .so-live .policy p, .so-live .welcome > p, .notes, .pick, .health, .so-live dd",
    ".so-badge, .so-readout, dialog.panel:has(.guide), .facts-sheet dt, [lang]:not(html)",
)
"""Selectors of data, which stay in their own language."""

SAME = re.compile(
    r"Spec-o3|S/N|km/s|CSV|FITS|JSON|PNG|ICRS|ivar|YES|NO|Esc|Enter|Ctrl|Shift|Alt|Del|rest\b|erg|FWHM|EW|cz|"
    r"LAMOST|SDSS|DESI|spec-o3 [a-z -]+|SpecVI-Bench/data|http://\S+|Hα|Hβ|Hγ|Hδ|He ?I+|Ca ?I+|[Nn]ano"
)
"""Symbols and names that every language writes the same."""

_COLLECT = """([roots, data]) => {
  const found = []
  const own = (text) => {
    for (let before = ''; before !== text; ) {
      before = text
      text = text.replace(/⟦[^⟦⟧]*⟧/g, ' ')
    }
    return text
  }
  const add = (element, kind, text) => {
    if (element.closest(data)) return
    const left = own(text ?? '').trim()
    const name = `${element.tagName.toLowerCase()}.${element.getAttribute('class') ?? ''} ${kind}`
    if (/[A-Za-z]{2,}/.test(left)) found.push([name, left])
  }
  for (const root of document.querySelectorAll(roots)) {
    for (const element of [root, ...root.querySelectorAll('*')]) {
      if (!element.checkVisibility?.() || element.closest('script, style')) continue
      for (const name of ['title', 'aria-label', 'placeholder', 'alt']) {
        if (element.hasAttribute(name)) add(element, name, element.getAttribute(name))
      }
      const text = [...element.childNodes].filter((one) => one.nodeType === 3).map((one) => one.data).join(' ')
      if (text.trim()) add(element, 'text', text)
    }
  }
  return found
}"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    db = tmp_path_factory.mktemp("language") / "annotations.db"
    with Store.open(db) as store:
        store.accounts.add_person("AB", "Ada", ["coordinator", "reviewer"], PASSWORD)
        for number in range(3):
            an_item(store, number)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPEC_O3_PSEUDO", "1")
        with serving(db) as address:
            yield address


@pytest.fixture
def page(chromium: Browser, url: str) -> Iterator[Page]:
    """A browser in which the pseudo-language is chosen."""
    errors: list[str] = []
    with profile(chromium) as context:
        context.add_cookies([{"name": "so-language", "value": PSEUDO, "url": url}])
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url)
        yield page
    assert not errors, errors


class Walk:
    """Collects the texts of a page that are no messages."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.found: dict[str, str] = {}
        self.messages = 0

    def look(self, where: str) -> None:
        for element, text in self.page.evaluate(_COLLECT, [", ".join(CONVERTED), ", ".join(DATA)]):
            left = SAME.sub("", text)
            if re.search(r"[A-Za-z]{3,}", left):
                self.found.setdefault(f"{element}: {left}", where)
        self.messages += self.page.locator("body").inner_text().count("⟦")

    def check(self) -> None:
        assert self.messages > 20, "the page does not speak the pseudo-language"
        lines = [f"{where}: {text[:160]!r}" for text, where in self.found.items()]
        assert not lines, "\n".join([f"{len(lines)} texts are no messages:", *lines[:80]])


def sign_in(page: Page) -> None:
    page.fill("input[name=initials]", "AB")
    page.fill("input[name=password]", PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator(".so-review .decision-bar")).to_be_visible()
    settled(page)


def test_the_sign_in_page(page: Page) -> None:
    walk = Walk(page)
    walk.look("sign-in")
    page.fill("input[name=initials]", "AB")
    page.fill("input[name=password]", "wrong password")
    page.keyboard.press("Enter")
    expect(page.locator("[role=alert]")).to_be_visible()
    walk.messages += 20
    walk.look("sign-in refused")
    walk.check()


def test_the_review_tab_its_menus_and_dialogs(page: Page) -> None:
    sign_in(page)
    walk = Walk(page)
    walk.look("review")
    for key, sign in (("?", "dialog.panel"), ("g", "dialog.panel")):
        page.keyboard.press(key)
        expect(page.locator(sign)).to_be_visible()
        walk.look(f"key {key}")
        page.keyboard.press("Escape")
    page.keyboard.press("H")
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
    page.keyboard.press("E")
    tabs = page.locator(".so-evidence [role=tab]")
    for number in range(tabs.count()):
        tabs.nth(number).click()
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(300)
        walk.look(f"evidence {number + 1}")
    page.keyboard.press("E")
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
    sign_in(page)
    page.locator("#so-tab-live-button").click()
    expect(page.locator(RUN)).to_be_visible()
    page.wait_for_function("window.specO3?.live")
    walk = Walk(page)
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
    write_csv(tmp_path / "one.csv")
    drop(page, tmp_path / "one.csv")
    expect(page.locator(".so-live .row")).to_have_count(1)
    walk.look("live, a spectrum")
    page.keyboard.press("r")
    expect(page.locator(".so-live .ending")).to_be_visible()
    walk.look("live, a run")
    page.locator(".so-live .download").click()
    walk.look("live, downloads")
    page.keyboard.press("Escape")
    page.keyboard.press("p")
    page.wait_for_timeout(500)
    walk.look("live, sent")
    walk.check()


def test_a_text_that_is_no_message_is_found(page: Page) -> None:
    sign_in(page)
    page.evaluate("document.querySelector('.so-top').append('Some words')")
    walk = Walk(page)
    walk.look("planted")
    with pytest.raises(AssertionError, match="Some words"):
        walk.check()


def test_the_chooser_changes_the_language_and_keeps_what_is_open(chromium: Browser, url: str) -> None:
    with profile(chromium) as context:
        page = context.new_page()
        page.goto(url)
        expect(page.locator("html")).to_have_attribute("lang", "en")
        sign_in(page)
        open_live(page)
        page.locator(".so-help .help").click()
        page.get_by_role("menuitemradio", name="中文").click()
        expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
        expect(page.locator(".so-live .decision-bar .run")).to_be_visible()
        expect(page.locator(".so-help .help")).to_have_text("帮助")
        expect(page.get_by_role("tab", name="实时")).to_have_attribute("aria-selected", "true")
        page.locator(".so-help .help").click()
        page.get_by_role("menuitemradio", name="English").click()
        expect(page.locator("html")).to_have_attribute("lang", "en")
        expect(page.locator(".so-help .help")).to_have_text("Help")
