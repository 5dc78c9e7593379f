"""A page that the tests of a module share, because opening one takes seconds of processor time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

import pytest
from playwright.sync_api import Page, expect

FAILED = pytest.StashKey[bool]()
"""Of a test: whether its setup or its call has failed; set in conftest.py."""


class KeptPage:
    """Opened for the first test that needs it, and anew after a test that failed."""

    def __init__(self, opening: Callable[[], AbstractContextManager[Page]]) -> None:
        self._opening = opening
        self._opened = ExitStack()
        self._page: Page | None = None
        self._errors: list[str] = []

    @contextmanager
    def of(self, request: pytest.FixtureRequest) -> Iterator[Page]:
        """The page for one test, which an uncaught error on the page fails."""
        page = self._page or self._open()
        self._errors.clear()
        yield page
        if request.node.stash.get(FAILED, False):
            self.close()
        else:
            tidy(page)
            assert not self._errors, self._errors

    def _open(self) -> Page:
        page = self._page = self._opened.enter_context(self._opening())
        page.on("pageerror", lambda error: self._errors.append(str(error)))
        return page

    def close(self) -> None:
        self._page = None
        self._opened.close()


@contextmanager
def kept_page(opening: Callable[[], AbstractContextManager[Page]]) -> Iterator[KeptPage]:
    kept = KeptPage(opening)
    try:
        yield kept
    finally:
        kept.close()


def tidy(page: Page) -> None:
    """Take back what a test does to a page: routes, size, dialogs, messages, focus, other pages."""
    for other in page.context.pages:
        if other != page:
            other.close()
    page.context.unroute_all()
    page.unroute_all()
    page.context.set_offline(False)
    page.set_viewport_size({"width": 1366, "height": 768})
    page.mouse.move(0, 0)
    if page.locator("dialog[open]").count():
        page.keyboard.press("Escape")
        expect(page.locator("dialog[open]")).to_have_count(0)
    page.evaluate(
        "document.activeElement?.blur(); for (const toast of document.querySelectorAll('.toast')) toast.remove()"
    )
