"""Somebody typing in the real page, in Chromium, while the app is killed under them."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from types import TracebackType

from playwright.sync_api import Page, sync_playwright

from benchmarks.next_item import CHROMIUM_ARGUMENTS, system_chromium

LETTER_MS = 25
"""Between two letters: a fast typist."""
OF_PAGE = 60_000

_READY = "window.specO3?.review?.current?.item.id === ITEM && window.specO3.review.lease"
_TEXT = "window.specO3.review.drafting.steps.find((step) => step.kind === 'think').text"
_HEARD = "() => { const d = window.specO3.review.drafting; return !d.pending && !d.unheard }"


class Typist:
    """A page of somebody's own, at one item in revision, which nobody else touches."""

    def __init__(self, url: str, initials: str, password: str, item: int, rng: random.Random) -> None:
        self._url, self._initials, self._password, self._item = url, initials, password, item
        self._rng = rng
        self._words = 0

    def __enter__(self) -> Typist:
        self._playwright = sync_playwright().start()
        self._browser = self._playwright.chromium.launch(
            executable_path=system_chromium(), args=CHROMIUM_ARGUMENTS
        )
        self._context = self._browser.new_context(viewport={"width": 1366, "height": 768})
        self._page = self._context.new_page()
        self._page.goto(self._url)
        self._page.fill("input[name=initials]", self._initials)
        self._page.fill("input[name=password]", self._password)
        self._page.keyboard.press("Enter")
        self._page.wait_for_function("window.specO3?.review?.current", timeout=OF_PAGE)
        self._opens()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._browser.close()
        self._playwright.stop()

    def through_a_kill(self, kill: Callable[[], None], restart: Callable[[], None], closed: bool) -> str:
        """Type, be cut off at some letter, type on, and look for all of it after the restart.

        :param closed: the page is closed while there is no server; else it is loaded again once it was heard
        :returns: what is missing, as a sentence; empty if nothing is
        """
        self._puts_the_cursor_there()
        words = self._some_words()
        at = threading.Timer(self._rng.uniform(0, len(words) * LETTER_MS / 1000), kill)
        at.start()
        self._page.keyboard.type(words, delay=LETTER_MS)
        at.join()
        self._page.keyboard.type(self._some_words(), delay=LETTER_MS)
        typed = str(self._page.evaluate(_TEXT))
        if closed:
            self._page.wait_for_timeout(600)
            self._page.close()
            restart()
        else:
            restart()
            self._page.wait_for_function(_HEARD, timeout=OF_PAGE)
            self._page.close(run_before_unload=False)
        self._opens()
        found = str(self._page.evaluate(_TEXT))
        how = "closed while the server was away" if closed else "closed after it was sent"
        return "" if found == typed else f"the page, {how}: found …{found[-80:]!r}, typed …{typed[-80:]!r}"

    def _opens(self) -> None:
        """The item in a new page of the same browser."""
        if not self._page.is_closed():
            self._page.close()
        page: Page = self._context.new_page()
        page.goto(f"{self._url}/#item={self._item}")
        page.wait_for_function(_READY.replace("ITEM", str(self._item)), timeout=OF_PAGE)
        self._page = page

    def _puts_the_cursor_there(self) -> None:
        card = self._page.locator(".so-review .card.think").first
        card.locator(".text").dblclick()
        card.locator("textarea").press("Control+End")

    def _some_words(self) -> str:
        self._words += 1
        return f" word {self._words} and a few more letters"
