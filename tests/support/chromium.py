"""Chromium for tests, trials and benchmarks: where it is, and the arguments with which it is started."""

from __future__ import annotations

import shutil

from playwright.sync_api import Browser, Playwright

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


def system_chromium() -> str | None:
    """The system's Chromium or Chrome; None where only Playwright's own can be used."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if (found := shutil.which(name))), None)


def launch(playwright: Playwright) -> Browser:
    """Start Chromium; the caller closes it.

    :raises playwright.sync_api.Error: there is none
    """
    return playwright.chromium.launch(executable_path=system_chromium(), args=ARGUMENTS)
