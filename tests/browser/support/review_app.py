"""The real app as a process, and helpers for tests of the Review tab."""

from __future__ import annotations

import os
import re
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Browser, Locator, Page, Route, expect

from reviewer.store import Store
from tests.support import cli
from tests.support.chromium import profile

ROOT = Path(__file__).resolve().parents[3]
PASSWORD = "correct horse battery"
TABS = ("Review", "Find", "Live", "Blind", "Progress", "Data", "People")
PICTURES = os.environ.get("SPEC_O3_SCREENSHOTS")
"""Folder for the README's pictures; if unset, none are taken."""


def spec_o3(*arguments: str | Path) -> str:
    """Run a command of the program; return its output."""
    done = cli.run(*arguments)
    assert done.returncode == 0, f"{arguments}: {done.stdout}\n{done.stderr}"
    return done.stdout


@contextmanager
def serving(db: Path, *options: object, host: str = "", **environment: str) -> Iterator[str]:
    """Run the app over ``db`` until the block ends; yield its address.

    :param host: the host that requests have to name
    """
    port = cli.free_port()
    process = start(db, port, *options, host=host, **environment)
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.wait(timeout=30)


def start(db: Path, port: int, *options: object, host: str = "", **environment: str) -> cli.Running:
    """Start the app as a process and wait until it answers."""
    log = db.with_suffix(".log")
    arguments = ("app", "--db", db, "--port", port, "--no-browser", *options)
    process = cli.start(*arguments, out=log, env=environment)
    request = urllib.request.Request(f"http://127.0.0.1:{port}/sign-in", headers={"Host": host} if host else {})
    for _ in range(2400):
        assert process.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(request, timeout=2).close()
            return process
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the app did not answer within two minutes")


@contextmanager
def serving_here(store: Store, **options: Any) -> Iterator[str]:
    """Run the app in this process, which can patch it; yield its address."""
    from reviewer import server  # gradio takes seconds to import

    port = cli.free_port()
    address = f"http://127.0.0.1:{port}"
    built = server.build(store, local=True, **options)
    app = uvicorn.Server(uvicorn.Config(built, port=port, log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=app.run, daemon=True)
    thread.start()
    while not app.started:
        assert thread.is_alive(), "the app ended before it served"
        time.sleep(0.02)
    try:
        yield address
    finally:
        app.should_exit = True
        thread.join(timeout=10)


@contextmanager
def signed_in(chromium: Browser, url: str, initials: str, password: str | None = None) -> Iterator[Page]:
    """A person's page at the first waiting item; an uncaught error on it fails the test."""
    with _opened_page(chromium, url) as page:
        page.fill("input[name=initials]", initials)
        if password:
            page.fill("input[name=password]", password)
        page.keyboard.press("Enter")
        expect(page.locator(".so-review .decision-bar")).to_be_visible()
        yield page


@contextmanager
def working_alone(chromium: Browser, url: str, item: int) -> Iterator[Page]:
    """The page of a person who works alone, at an item; only the first page of an app asks for the initials."""
    with _opened_page(chromium, url) as page:
        if "sign-in" in page.url:
            page.fill("input[name=initials]", "AB")
            page.keyboard.press("Enter")
        expect(page.locator(".decision-bar .round")).to_be_visible()
        show_item(page, item)
        yield page


@contextmanager
def _opened_page(chromium: Browser, url: str) -> Iterator[Page]:
    errors: list[str] = []
    with profile(chromium) as context:
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url)
        yield page
    assert not errors, errors


def show_item(page: Page, item: int) -> None:
    """Show an item of the Review tab and wait until it is settled."""
    page.evaluate("(id) => window.specO3.review.open(id)", item)
    page.wait_for_function("(id) => window.specO3.review.current?.item.id === id", arg=item)
    settled(page)


def show_anew(page: Page, item: int, other: int) -> None:
    """Show an item of the Review tab as it is first shown, which it is after another one."""
    page.get_by_role("tab", name="Review").click()
    show_item(page, other)
    show_item(page, item)


def reload_at(page: Page, item: int) -> None:
    """Load the page again, as at the first visit, and show an item of the Review tab."""
    page.evaluate("() => { localStorage.clear(); sessionStorage.clear() }")
    page.reload()
    expect(page.locator(".decision-bar .round")).to_be_visible()
    show_item(page, item)


def settled(page: Page) -> None:
    """Wait until the current item is painted, its place in the queue is known, and it is measured."""
    page.wait_for_function("window.specO3?.review.current?.place")
    expect(page.locator(".trace .hints .waiting")).to_have_count(0)


def choose_more(page: Page, entry: str, desk: str = "review") -> None:
    """Choose an entry of the menu of the toolbar."""
    page.locator(f".so-{desk} .so-more").click()
    page.locator(f".so-{desk} .so-menu:popover-open .entry", has_text=entry).click()


def open_fields(page: Page, zoom: Locator) -> None:
    """Open the fields of a zoom in the revision round."""
    zoom.locator(".number").click()
    page.keyboard.press("Enter")
    expect(zoom.locator("[name=lo]")).to_be_focused()


def open_tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()
    sign = {
        "Review": ".so-review .card",
        "Find": ".so-find tbody.hit",
        "Live": ".so-live .decision-bar .run",
        "Blind": ".so-blind button:visible",
        "Progress": ".so-progress .tile",
        "People": ".so-people tbody tr",
        "Data": ".so-data tbody tr",
    }[name]
    expect(page.locator(sign).first).to_be_visible()


def discard(page: Page) -> None:
    """Discard a restored text, and wait until the item is drawn without it."""
    page.locator(".notice button", has_text="Discard it").click()
    expect(page.locator(".so-review .toasts")).to_contain_text("Discarded")
    expect(page.locator(".notice")).to_be_hidden()
    settled(page)


def picture(page: Page, name: str) -> None:
    """Save a picture for the README, if ``PICTURES`` is set."""
    if PICTURES:
        expect(page.locator(".toast")).to_have_count(0)
        page.wait_for_timeout(700)
        Path(PICTURES).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(PICTURES) / f"{name}.png"))


def drag_window(page: Page, start: float, end: float) -> None:
    """Shift and drag on the full spectrum, from one observed wavelength (Å) to another."""
    page.keyboard.down("Shift")
    drag(page, "full", start, end)
    page.keyboard.up("Shift")


def drag(page: Page, panel: str, start: float, end: float) -> None:
    """Drag on a panel, "full" or "step", from one observed wavelength (Å) to another."""
    (x0, y0), (x1, y1) = places(page, panel, start, end)
    page.mouse.move(x0, y0)
    page.mouse.down()
    page.mouse.move((x0 + x1) / 2, y1, steps=3)
    page.mouse.move(x1, y1, steps=3)
    page.mouse.up()


def places(page: Page, panel: str, *wavelengths: float) -> list[list[float]]:
    """Return points on the page: wavelengths of the data (Å) at half height of a panel."""
    return list(
        page.evaluate(
            """([panel, wavelengths]) => {
              const { host, geometry } = window.specO3.review.spectrum[panel]
              const box = host.getBoundingClientRect()
              return wavelengths.map((w) => [box.x + geometry.x(w), box.y + (geometry.top + geometry.bottom) / 2])
            }""",
            [panel, wavelengths],
        )
    )


def frames(page: Page) -> None:
    """Wait until the page has painted twice, and has run what it had put off until then."""
    page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
    )


def comes_true(what: Locator, function: str) -> None:
    """Wait until a function of the element returns true. A handle would stay at an element that is drawn anew."""
    for _ in range(1200):
        if what.evaluate(function):
            return
        what.page.wait_for_timeout(50)
    raise AssertionError(f"within a minute never true of {what}: {function}")


def run_timers(page: Page, milliseconds: int) -> None:
    """Wait until the page has run the timers that it has set for this time at most: they run in order."""
    page.evaluate("(time) => new Promise((done) => setTimeout(done, time))", milliseconds)
    frames(page)


def held(page: Page, address: str) -> list[Route]:
    """Keep the requests to an address back; ``route.continue_()`` sends one."""
    routes: list[Route] = []
    page.route(re.compile(address), lambda route: routes.append(route))
    return routes


def wait_for(page: Page, routes: list[Route], number: int = 1) -> None:
    """Wait until so many requests are held back."""
    for _ in range(1200):
        if len(routes) >= number:
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"found {len(routes)} requests, expected {number}")


def let_go(page: Page, routes: list[Route]) -> None:
    """Send all requests that are held back, and hold back no more."""
    for route in routes:
        route.continue_()
    page.unroute_all()


def answered(page: Page, *routes: Route) -> None:
    """Send requests that were held back, and wait until the page has done what it does with their answers."""
    for route in routes:
        with page.expect_response(lambda response, sent=route.request: response.request == sent) as answer:
            route.continue_()
        answer.value.finished()
    # What is requested now is answered later, so the earlier answers have been read.
    page.evaluate("fetch(location.pathname, { method: 'HEAD', cache: 'no-store' }).then(() => {})")
    frames(page)
