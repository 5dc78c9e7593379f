"""Text from outside is shown as text on every page, never as markup or code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tests.browser.support.blind_app import in_front, open_blind
from tests.browser.support.hostile_campaign import ELSEWHERE, PASSWORD, SHORT, campaign, nasty
from tests.browser.support.live_app import RUN, choose, drop, name_servers, open_live, write_csv
from tests.browser.support.review_app import serving, settled, signed_in
from tests.support.model_server import BadServer, answer, look, talking

pytestmark = pytest.mark.browser
TURNS = (look(6400, 6700, nasty("said label"), nasty("said")), answer("YES", nasty("said why"), nasty("said 2")))
FILE_NAME = "zq-file <img src=x onerror=harmed=12> ${harmed=13} \u202egpj.csv"

PLANTED = """(elsewhere) => [...document.querySelectorAll(
    '.planted, [onerror], [onload], [onmouseover], [onfocus], [src], [href], iframe'
  )].filter((found) => {
    const address = found.getAttribute('src') ?? found.getAttribute('href')
    if (address === null || found.matches('.planted, [onerror], iframe')) return true
    const url = new URL(address, location.href)
    return url.host === elsewhere || url.protocol === 'javascript:'
  }).map((found) => found.outerHTML.slice(0, 200))"""
"""Elements that exist only if a text was interpreted as markup."""

OPEN_CARD = """(text) => {
  const card = document.querySelector('.so-live .card.selected').cloneNode(true)
  card.querySelector('.rest > summary')?.remove()
  return card.textContent.includes(text)
}"""
"""Whether the open card has this text, which may be folded after its beginning."""

BEYOND = """() => document.documentElement.scrollWidth > innerWidth ? ['the page'] :
  [...document.querySelectorAll('button, input, select, textarea, .pill, .session, section, dialog')]
  .filter((part) => {
    const place = part.getBoundingClientRect()
    return part.checkVisibility() && place.width > 0 && (place.left < -1 || place.right > innerWidth + 1)
  }).map((part) => part.outerHTML.slice(0, 200))"""
"""Controls that a long text has pushed out of the window."""

OPEN_TEXT_HAS = """(text) => {
  const shown = document.querySelector('.blind .card.selected .text')?.cloneNode(true)
  shown?.querySelector('summary')?.remove()
  return shown?.textContent.includes(text)
}"""
"""Whether the text of the open step of a blind sheet has these words; a button that unfolds it may be between them."""


WHOLE = """(text) => {
  const copy = text.cloneNode(true)
  copy.querySelector('summary')?.remove()
  return copy.textContent
}"""
"""A text with what is folded."""


class Watched:
    """Records actions of a page that no text may cause."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self._host = page, urlsplit(url).netloc
        self.found: list[str] = []
        page.on("request", lambda request: self._on_request(request.url))
        page.on("console", self._on_console)
        page.on("dialog", lambda dialog: self.found.append(f"dialog: {dialog.message}"))

    def _on_request(self, address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("data", "blob") and parts.netloc != self._host:
            self.found.append(f"request: {address}")

    def _on_console(self, message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text or "Content-Security-Policy" in message.text:
            self.found.append(message.text)

    def shows(self, *fields: str) -> None:
        """Check that these fields are shown unchanged and that no text was interpreted."""
        for field in fields:
            expect(self.page.locator("body")).to_contain_text(nasty(field)[:200])
        self.is_harmless()

    def is_harmless(self) -> None:
        assert self.page.evaluate("window.harmed") is None
        assert self.page.evaluate(PLANTED, ELSEWHERE) == []
        assert self.page.evaluate(BEYOND) == []
        assert self.found == []


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("hostile")
    with BadServer(talking(TURNS)) as model:
        name_servers(folder, {"nasty": model.url})
        with serving(campaign(folder)) as address:
            yield address


@contextmanager
def watched(chromium: Browser, url: str, initials: str) -> Iterator[tuple[Page, Watched]]:
    with signed_in(chromium, url, initials, PASSWORD) as page:
        watch = Watched(page, url)
        page.reload()
        expect(page.locator(".so-review .decision-bar")).to_be_visible()
        yield page, watch


@pytest.mark.smoke
def test_review(chromium: Browser, url: str) -> None:
    with watched(chromium, url, "RE") as (page, watch):
        page.evaluate("location.hash = 'item=1'")
        page.wait_for_function("window.specO3?.review.current?.item.id === 1")
        settled(page)
        for card, field in ((0, "revision"), (2, "thought"), (3, "observation"), (5, "explanation")):
            page.locator(".so-review .card .number").nth(card).click()
            text = page.locator(".so-review .card.selected :is(.text, .refused)").last
            expect(text).to_be_visible()
            if more := text.locator("summary").all():
                more[0].click()
            assert nasty(field)[:200] in text.evaluate(WHOLE)
            watch.is_harmless()
        page.keyboard.press("h")
        expect(page.locator("dialog .history")).to_be_visible()
        watch.shows("why revised", "kept", "submitted", "returned")
        page.keyboard.press("Escape")
        page.keyboard.press("g")
        page.keyboard.press("Escape")
        page.keyboard.press("q")
        watch.is_harmless()


@pytest.mark.smoke
def test_progress_data_and_people(chromium: Browser, url: str) -> None:
    with watched(chromium, url, "CO") as (page, watch):
        page.get_by_role("tab", name="Progress", exact=True).click()
        chart = page.locator(".so-progress svg text", has_text="zq-title").first
        expect(chart).to_contain_text(nasty("title")[:40])
        watch.is_harmless()
        page.get_by_role("tab", name="Data", exact=True).click()
        page.get_by_role("button", name="Add spectra …").click()
        option = page.get_by_label("Question: is it a …").locator("option", has_text="zq-title")
        expect(option).to_contain_text(nasty("title")[:200])
        watch.is_harmless()
        page.keyboard.press("Escape")
        page.get_by_role("tab", name="People", exact=True).click()
        expect(page.get_by_role("cell", name=SHORT, exact=True)).to_be_visible()
        watch.is_harmless()


@pytest.mark.smoke
def test_blind_set_up_sheet_and_report(chromium: Browser, url: str) -> None:
    with watched(chromium, url, "CO") as (page, watch):
        open_blind(page)
        expect(page.locator(".session")).to_have_count(2)
        watch.shows("session")
        page.goto(url + "api/v1/blind/sessions/1/report.html")
        expect(page.locator("figure .main-svg").first).to_be_visible()
        assert page.evaluate("getComputedStyle(document.querySelector('section')).borderTopWidth") == "1px"
        assert page.evaluate("getComputedStyle(document.querySelector('.points path')).fill") != "rgb(0, 0, 0)"
        watch.shows("session", "title")
    with watched(chromium, url, "AU") as (page, watch):
        open_blind(page)
        in_front(page, 1)
        watch.shows("label")
        # A step shows its text once it is open.
        for key, field in (("ArrowLeft", "thought"), ("ArrowRight", "explanation")):
            for _ in range(page.locator(".blind .steps").first.locator(".card").count()):
                page.keyboard.press(key)
            page.wait_for_function(OPEN_TEXT_HAS, arg=nasty(field)[:200])
            watch.is_harmless()


@pytest.mark.smoke
def test_live(chromium: Browser, url: str, tmp_path: Path) -> None:
    file = tmp_path / FILE_NAME
    write_csv(file)
    with watched(chromium, url, "CO") as (page, watch):
        open_live(page)
        drop(page, file)
        choose(page, "nasty", "nasty")
        page.locator(RUN).click()
        expect(page.locator(".so-live .card.answer")).to_be_visible()
        for card, field in (("think", "said"), ("zoom", "said label"), ("answer", "said why")):
            page.locator(f".so-live .card.{card} .number").first.click()
            page.wait_for_function(OPEN_CARD, arg=nasty(field)[:200])
            watch.is_harmless()
