"""The real app under faults: killed and restarted at the same address, on a full disk, on a locked database."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Locator, Page, WebError, expect

from reviewer.drafting import demo
from reviewer.rules.campaign import Rules
from reviewer.store import Draft, Store
from tests.browser.support.review_app import PASSWORD, settled, start
from tests.support import cli
from tests.support.campaign import Desk
from tests.support.chromium import profile

PEOPLE = {"RV": ["reviewer"], "RB": ["reviewer"], "RC": ["reviewer"], "CO": ["coordinator", "reviewer"]}


class App:
    """The app as a process, always at the same address."""

    def __init__(self, db: Path) -> None:
        self.db = db
        self.disk: Path | None = None  # its disk, if tests can fill it
        self.port = cli.free_port()
        self.url = f"http://127.0.0.1:{self.port}/"
        self.process: cli.Running | None = None

    def start(self) -> None:
        self.process = start(self.db, self.port)

    def kill(self) -> None:
        """Send SIGKILL, as the kernel does when memory runs out."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process = None

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=30)


def team_of_four(db: Path, in_revision: int, in_screening: int) -> Path:
    """A database with a team of four with passwords; first items in revision (kept by RC), then items to screen."""
    with Store.open(db) as store:
        for initials, roles in PEOPLE.items():
            store.accounts.add_person(initials, f"Person {initials}", roles, password=PASSWORD)
        store.settings.set_rules(None, Rules())
        total = in_revision + in_screening
        store.items.add_all(Draft(t, s, batch="faults") for s, t in islice(demo.demo_items(), total))
        desk = Desk(store)
        for item in range(1, in_revision + 1):
            desk.until(item, ("RC", "keep"))
            store.leases.release(store.leases.take("RC", item).token)
    return db


@contextmanager
def tiny_disk(folder: Path, megabytes: int) -> Iterator[bool]:
    """Mount a file system on ``folder`` if this process may; yield whether it could."""
    made = os.geteuid() == 0 and _mounted(folder, megabytes)
    try:
        yield made
    finally:
        if made:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _mounted(folder: Path, megabytes: int) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@contextmanager
def full(folder: Path) -> Iterator[None]:
    """Fill the disk of ``folder`` completely."""
    ballast = folder / "ballast"
    try:
        with ballast.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
        yield
    finally:
        ballast.unlink()


@contextmanager
def locked(db: Path) -> Iterator[None]:
    """Lock the database by another program."""
    code = (
        "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "db.execute('BEGIN EXCLUSIVE'); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(db)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        yield
        assert holder.stdin is not None
        holder.stdin.close()


def sign_in(page: Page, initials: str, password: str = PASSWORD) -> None:
    page.fill("input[name=initials]", initials)
    page.fill("input[name=password]", password)
    page.keyboard.press("Enter")
    # The page of the sign-in forbids eval, which wait_for_function needs.
    page.wait_for_url(lambda url: "/sign-in" not in url)


@contextmanager
def visitor(chromium: Browser, *, private: bool = False) -> Iterator[BrowserContext]:
    """A person's browser; an uncaught error of our scripts fails the test."""
    errors: list[str] = []

    def note(seen: WebError) -> None:
        # Gradio's own scripts do not catch errors of a lost server.
        if "/ui/" in str(seen.error.stack):
            errors.append(str(seen.error.stack))

    with profile(chromium, private=private) as context:
        context.on("weberror", note)
        try:
            yield context
        finally:
            context.remove_listener("weberror", note)
    assert not errors, errors


def enter(page: Page, app: App, initials: str) -> None:
    """Sign in without the sign-in page."""
    form = {"initials": initials, "password": PASSWORD}
    page.context.request.post(f"{app.url}sign-in", form=form, max_redirects=0)


def at_item(page: Page, app: App, item: int, initials: str) -> None:
    """Open an item and wait until it is settled; sign in first if necessary."""
    opened(page, app, item, initials)
    settled(page)


def opened(page: Page, app: App, item: int, initials: str) -> None:
    """Open an item, also one that another person holds; sign in first if necessary."""
    if not page.context.cookies():
        enter(page, app, initials)
    page.goto("about:blank")  # otherwise only the #item changes and no page is loaded
    page.goto(f"{app.url}#item={item}")
    page.wait_for_function("(id) => window.specO3?.review.current?.item.id === id", arg=item, timeout=60_000)


def first_thought(page: Page) -> Locator:
    """Open the card of the first thought."""
    card = page.locator(".so-review .card.think").first
    card.locator(".number").click()
    return card


def write(page: Page, text: str) -> Locator:
    """Type at the end of the first thought; return its card."""
    card = page.locator(".so-review .card.think").first
    if not card.locator("textarea").count():
        card.locator(".brief").dblclick()
    card.locator("textarea").press("End")
    card.locator("textarea").press_sequentially(text)
    return card


def unsent_here(page: Page) -> list[str]:
    """Return the names under which the browser keeps unsent text of any person."""
    names: list[str] = page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('so-kept'))")
    return names


def unsent(page: Page) -> Locator:
    """The button that counts what was not sent, and opens its list."""
    return page.locator(".so-top .unsent")


def all_sent(page: Page) -> None:
    """Wait until nothing waits to be sent, also what was begun a moment ago and is not on the list yet."""
    page.wait_for_function("() => !Object.keys(localStorage).some((name) => name.startsWith('so-outbox'))")
    expect(unsent(page)).to_be_hidden()


def strip(page: Page) -> Locator:
    return page.locator(".so-away")


def notice(page: Page) -> Locator:
    return page.locator(".so-review .notice")


def saved(page: Page) -> None:
    """Wait until the server has saved everything."""
    expect(page.locator(".so-top .saved")).to_have_text(re.compile(r"^saved \d"))
    page.wait_for_function("!window.specO3.review.drafting.pending && !window.specO3.review.drafting.sent.length")
