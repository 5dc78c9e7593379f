"""Chromium for tests, trials and benchmarks: where it is, and the arguments with which it is started."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from string import ascii_uppercase
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Error, Page, Playwright

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Playwright attaches a debugger, for which V8 looks up the source line of every exception, also of those that
    # plotly.js catches while it loads: without this it parses that file three times more, 0.7 s per page.
    "--js-flags=--no-enable-lazy-source-positions",
]

_ALL_WITH_TWO_LETTERS = " ".join(map("".join, product(ascii_uppercase, repeat=2)))
TOUR_SEEN = f"""
try {{
  if (!localStorage.getItem('so-tour')) localStorage.setItem('so-tour', '{_ALL_WITH_TWO_LETTERS}')
}} catch {{ /* a page without storage */ }}
"""
"""Script for new pages: everyone with initials of two letters has seen the tour, which otherwise opens at the first
visit."""


def system_chromium() -> str | None:
    """The system's Chromium or Chrome; None where only Playwright's own can be used.

    The shell is the same browser without its windows and menus, which take half of the processor time of a new page.
    """
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if (found := shutil.which(name))), None)


def launch(playwright: Playwright) -> Browser:
    """Start Chromium; the caller closes it.

    :raises playwright.sync_api.Error: there is none
    """
    return playwright.chromium.launch(executable_path=system_chromium(), args=ARGUMENTS)


_idle: list[BrowserContext] = []


@contextmanager
def profile(browser: Browser, *, private: bool = False) -> Iterator[BrowserContext]:
    """A browser profile of 1366 x 768 pixels without cookies, kept text or open pages.

    It is emptied and used again by a later test, whose pages then load faster: scripts are cached and compiled.

    :param private: nobody used it before, and nobody will; for a test that changes the profile itself
    """
    context = next((one for one in _idle if one.browser is browser and not private), None)
    if context is None:
        context = browser.new_context(viewport={"width": 1366, "height": 768})
        context.add_init_script(TOUR_SEEN)
        context.set_default_timeout(60_000)
    else:
        _idle.remove(context)
    visited: set[str] = set()

    def follow(page: Page) -> None:
        page.on("framenavigated", lambda frame: visited.add(frame.url))

    context.on("page", follow)
    try:
        yield context
    finally:
        context.remove_listener("page", follow)
        if private or not _emptied(context, visited):
            context.close()
        else:
            _idle.append(context)


def _emptied(context: BrowserContext, visited: set[str]) -> bool:
    """Whether pages, cookies and what pages have kept are gone."""
    try:
        for page in context.pages:
            page.close()
        context.unroute_all()
        context.set_offline(False)
        context.clear_cookies()
        page = context.new_page()
        session = context.new_cdp_session(page)
        origins = {f"{parts.scheme}://{parts.netloc}" for parts in map(urlsplit, visited) if parts.netloc}
        for origin in origins:
            kept = {"origin": origin, "storageTypes": "local_storage,indexeddb,cache_storage"}
            session.send("Storage.clearDataForOrigin", kept)
        page.close()
    except Error:
        return False
    return True
