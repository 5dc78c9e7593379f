"""Finds texts of a page that are no messages: in the pseudo-language every message stands between ⟦ and ⟧."""

from __future__ import annotations

import re
from collections.abc import Iterator

from playwright.sync_api import Locator, Page, Request, expect

from agent import tasks
from tests.browser.support.review_app import PASSWORD, settled

DATA = (
    # Keys, commands and code.
    "kbd, code, pre",
    # A text that says in which language it is.
    "[lang]:not(html)",
    # The question and the guide of a class, and what the tool answered the model.
    "div.guide, .picture .refused, .picture img, .observation",
    # Entries of the audit log are shown as they are stored and covered by its hashes.
    ".audit-log tbody, .audit-log option:not([value=''])",
    # Names of files and items, and of spectral lines.
    "td.filename, .so-name, span.whole, .evidence button.line",
    # Names and kinds of templates, from the catalogues that they are of.
    ".evidence label.match > span:not(.number), .evidence .key li",
)
"""Selectors of what is not translated, beside data in Greek."""

_SAME = (
    *(re.escape(task.title) for task in tasks.load().values()),
    r"Spec-o3|spec-o3 [a-z -]+|rule-based baseline|nano \(demonstration model\)|Replay",
    r"LAMOST|SDSS|DESI|STAR|GALAXY|QSO|English",
    r"S/N|km/s|erg|FWHM|EW|ivar|ICRS|UTC|YES|NO|H[αβγδ]|He ?I+|Ca ?I+|\[[NOS] I+\]",
    r"CSV|FITS|VOTable|JSON|PNG|zip|SHA-256|[0-9]+:[0-9a-f]{64}",
    r"[a-z0-9]{4}(?:-[a-z0-9]{4}){3}",  # a password that the page made
    r"https?://\S*|ann@example.org=AB|Esc|Enter|Ctrl|Shift|Alt|Del",
)
SAME = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(_SAME)})(?![A-Za-z])|\.(?:csv|fits|jsonl)\b")
"""Names and symbols that every language writes the same, endings of files, names of policies, which traces
have, and titles of classes, which are in their files."""

_COLLECT = """([data]) => {
  const found = []
  const own = (text) => {
    for (let before = ''; before !== text; ) {
      before = text
      text = text.replace(/⟦[^⟦⟧]*⟧/g, ' ')
    }
    return text
  }
  const place = (element) =>
    [element.parentElement, element].map((e) => `${e?.localName}.${e?.getAttribute('class') ?? ''}`).join(' > ')
  const add = (element, kind, text) => {
    if (data && element.closest(data)) return
    const left = own(text ?? '').trim()
    if (/[A-Za-z]{2,}/.test(left)) found.push([`${place(element)} [${kind}]`, left])
  }
  add(document.querySelector('title'), 'title', document.title)
  for (const element of document.body.querySelectorAll('*')) {
    const box = element.matches('option, optgroup') ? element.closest('select') : element
    if (!box?.checkVisibility() || element.closest('script, style')) continue
    for (const name of ['title', 'aria-label', 'aria-description', 'aria-valuetext', 'placeholder', 'alt', 'label']) {
      if (element.hasAttribute(name)) add(element, name, element.getAttribute(name))
    }
    if (element.matches('input:not([type=checkbox], [type=radio]), textarea')) add(element, 'value', element.value)
    if (element.matches('tspan.line')) continue // a line of a title of an axis, which is read as a whole
    if (element.querySelector(':scope > tspan.line')) {
      add(element, 'text', [...element.children].map((line) => line.textContent).join(' '))
    }
    const text = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data).join(' ')
    if (text.trim()) add(element, 'text', text)
  }
  return found
}"""


_ASKS = re.compile(r"/api/v1/|/gradio_api/")
_QUIET = """() => new Promise((resolve) => {
  let timer = setTimeout(done, 120)
  const last = setTimeout(done, 1500)
  const seen = new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(done, 120) })
  function done() { seen.disconnect(); clearTimeout(timer); clearTimeout(last); resolve() }
  seen.observe(document.body, { subtree: true, childList: true, characterData: true })
})"""


def said(message: str) -> str:
    """How a message is written in the pseudo-language."""
    return f"⟦{message}⟧"


def shown_texts(page: Page, *data: str) -> Iterator[tuple[str, str]]:
    """Yield the place and the Latin text of all that a page shows or names now, without its data.

    :param data: selectors of further parts that are data
    """
    for where, text in page.evaluate(_COLLECT, [", ".join((*DATA, *data))]):
        yield where, SAME.sub("", text)


class Walk:
    """Collects the texts of a page that are no messages."""

    def __init__(self, page: Page, *data: str) -> None:
        self.page = page
        self.data = data
        self.found: dict[str, str] = {}
        self.messages = 0

        self.open_requests: set[Request] = set()
        page.on("request", lambda request: _ASKS.search(request.url) and self.open_requests.add(request))
        for event in ("requestfinished", "requestfailed"):
            page.on(event, lambda request: self.open_requests.discard(request))

    def settle(self) -> None:
        """Wait until the server has answered and the page has drawn it; a stream that stays open ends the wait."""
        for _ in range(40):
            self.page.evaluate(_QUIET)
            if not self.open_requests:
                return
        self.open_requests.clear()

    def look(self, where: str) -> None:
        """Note the texts that are shown now."""
        self.settle()
        for element, left in shown_texts(self.page, *self.data):
            if re.search(r"[A-Za-z]{3,}", left):
                self.found.setdefault(f"{element}: {left}", where)
        self.messages += self.page.locator("body").inner_text().count("⟦")

    def check(self, least: int = 20) -> None:
        """:param least: messages that were seen, at least: the page does speak the pseudo-language"""
        assert self.messages >= least, f"{self.messages} messages are too few: {self.page.url}"
        lines = [f"{where}: {text[:240]!r}" for text, where in self.found.items()]
        assert not lines, "\n".join([f"{len(lines)} texts are no messages:", *lines[:200]])

    # What the walk does in the page, by the English messages.

    def button(self, name: str, within: str = "body") -> Locator:
        return self.page.locator(within).get_by_role("button", name=said(name)).first

    def press(self, name: str, within: str = "body") -> None:
        """Press a button, and note what the page says then."""
        self.button(name, within).click()
        self.look(f"{within}, {name}")

    def key(self, key: str, sign: str) -> None:
        """Press a key, note what it opens, and close it."""
        self.page.keyboard.press(key)
        expect(self.page.locator(sign).first).to_be_visible()
        self.look(f"key {key}")
        self.page.keyboard.press("Escape")
        expect(self.page.locator(sign).first).to_be_hidden()

    def tab(self, name: str, sign: str) -> None:
        self.page.locator(f"#so-tab-{name}-button").click()
        expect(self.page.locator(sign).first).to_be_visible()
        self.look(name)


def sign_in(page: Page, person: str) -> None:
    page.fill("input[name=initials]", person)
    page.fill("input[name=password]", PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator(".so-review .decision-bar")).to_be_visible()
    settled(page)
