"""A person who types in the real page, in Chromium, while the app is killed."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import TypeVar

from playwright.sync_api import Error, sync_playwright

from tests.support.chromium import TOUR_SEEN, launch

LETTER_MS = 25
"""Milliseconds between two letters: a fast typist."""
OF_PAGE = 60_000
"""Milliseconds for each step of the page; the machine is busy because the app starts again and again."""
TIMES = 3
"""How many times a page is opened until typing can begin."""

# The current item is painted, and its place in the queue is known.
_READY = """(item) => {
  const { current } = window.specO3?.review ?? {}
  return current?.item.id === item && current.place
}"""
_TEXT = "window.specO3.review.drafting.steps.find((step) => step.kind === 'think').text"
_SENT = "() => { const d = window.specO3.review.drafting; return !d.pending && !d.sent.length }"

Found = TypeVar("Found")


class CouldNotBegin(Exception):
    """No page became ready for typing, although it was opened several times."""


class Typist:
    """A person's page at an item in revision, which no other person edits.

    ``not_ready`` lists the pages on which typing could not begin, and which were opened again.
    """

    def __init__(self, url: str, initials: str, password: str, item: int, rng: random.Random) -> None:
        self._url, self._initials, self._password, self._item = url, initials, password, item
        self._rng = rng
        self._words = 0
        self.not_ready: list[str] = []

    def __enter__(self) -> Typist:
        with ExitStack() as stack:
            playwright = stack.enter_context(sync_playwright())
            browser = launch(playwright)
            stack.callback(browser.close)
            self._context = browser.new_context(viewport={"width": 1366, "height": 768})
            self._context.add_init_script(TOUR_SEEN)
            self._context.set_default_timeout(OF_PAGE)
            self._page = self._context.new_page()
            self._page.goto(self._url)
            self._page.fill("input[name=initials]", self._initials)
            self._page.fill("input[name=password]", self._password)
            self._page.keyboard.press("Enter")
            # The page of the sign-in forbids eval, which wait_for_function needs.
            self._page.wait_for_url(lambda url: "/sign-in" not in url)
            self._page.wait_for_function("window.specO3?.review?.current")
            self._on_page(self._text, anew=True)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with suppress(Error):  # after Ctrl C in a terminal the browser has ended by itself
            self._stack.close()

    def type_during_a_kill(self, kill: Callable[[], None], restart: Callable[[], None], closed: bool) -> str:
        """Type, kill the app at some letter, continue typing, and check the whole text after the restart.

        :param closed: close the page while there is no server; else reload it after it sent the text
        :returns: what is missing, as a sentence; empty if nothing is
        :raises CouldNotBegin: no page was ready for typing, before or after the restart
        """
        typed = self._type(kill)
        taken = self._text()
        if taken != typed:
            return _differs("while there was no server", taken, typed)
        if closed:
            self._page.wait_for_timeout(600)
            self._page.close()
            restart()
        else:
            restart()
            try:
                self._page.wait_for_function(_SENT)
            except Error as problem:
                return f"the page did not send what was typed: {_first_line(problem)}"
        found = self._on_page(self._text, anew=True)
        how = "closed while the server was away" if closed else "closed after it was sent"
        return "" if found == typed else _differs(how, found, typed)

    def _type(self, kill: Callable[[], None]) -> str:
        """Type before and after the kill; return the expected text."""
        before = self._on_page(self._text_after_placing_the_cursor, anew=False)
        words, more = self._some_words(), self._some_words()
        at = threading.Timer(self._rng.uniform(0, len(words) * LETTER_MS / 1000), kill)
        at.start()
        try:
            self._page.keyboard.type(words, delay=LETTER_MS)
        finally:
            at.join()
        self._page.keyboard.type(more, delay=LETTER_MS)
        return before + words + more

    def _on_page(self, step: Callable[[], Found], anew: bool) -> Found:
        """Do a step on the page or on a new one; if it fails, try again on another new page."""
        for attempt in range(TIMES):
            try:
                if anew or attempt:
                    self._open()
                return step()
            except Error as problem:
                self.not_ready.append(f"{self._page.url}: {_first_line(problem)}")
        raise CouldNotBegin(f"no page to type in after {TIMES} tries: {self.not_ready[-1]}")

    def _open(self) -> None:
        """Open the item in a new page of the same browser."""
        if not self._page.is_closed():
            self._page.close()
        self._page = self._context.new_page()
        self._page.goto(f"{self._url}/#item={self._item}")
        self._page.wait_for_function(_READY, arg=self._item)

    def _text(self) -> str:
        return str(self._page.evaluate(_TEXT))

    def _text_after_placing_the_cursor(self) -> str:
        card = self._page.locator(".so-review .card.think").first
        card.locator(".text").dblclick()
        card.locator("textarea").press("Control+End")
        return self._text()

    def _some_words(self) -> str:
        self._words += 1
        return f" word {self._words} and a few more letters"


def _differs(how: str, found: str, typed: str) -> str:
    return f"the page, {how}: found …{found[-80:]!r}, typed …{typed[-80:]!r}"


def _first_line(problem: Error) -> str:
    return problem.message.partition("\n")[0]
