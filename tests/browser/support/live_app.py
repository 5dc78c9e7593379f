"""Helpers for tests of the Live tab."""

from __future__ import annotations

import base64
import contextlib
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Locator, Page, expect

from agent.simulate import simulate
from agent.spectrum import Spectrum
from reviewer.store import Store
from tests.browser.support.review_app import PASSWORD, signed_in

RUN = ".so-live .decision-bar .run"


def team(db: Path, *initials: str) -> Path:
    """A database with these people, each with a password and their own bench."""
    store = Store.open(db)
    try:
        for person in initials:
            store.accounts.add_person(person, f"Person {person}", ["reviewer", "coordinator"], password=PASSWORD)
    finally:
        store.close()
    return db


def name_servers(folder: Path, servers: Mapping[str, str]) -> None:
    """Write a ``servers.toml`` next to the database: key and address of each server."""
    tables = [f'[[server]]\nkey = "{key}"\nurl = "{url}"\n' for key, url in servers.items()]
    (folder / "servers.toml").write_text("\n".join(tables))


def write_csv(path: Path, seed: int = 1, redshift: float | None = None) -> Spectrum:
    """Write a simulated cataclysmic variable as plain columns (vacuum, Å), shifted to ``redshift``."""
    made = simulate("cv", "LAMOST", 25.0, seed=seed)
    stretch = 1.0 + (redshift or 0.0)
    comments = ["# wavelengths: vacuum"] + ([f"# redshift = {redshift}"] if redshift else [])
    sigma = [i**-0.5 if i > 0 else 1e3 for i in made.ivar]
    rows = [f"{w * stretch:.3f},{f:.5g},{s:.4g}" for w, f, s in zip(made.wavelength, made.flux, sigma, strict=True)]
    path.write_text("\n".join([*comments, "wavelength,flux,error", *rows]) + "\n")
    return made


@contextmanager
def live(chromium: Browser, url: str, initials: str) -> Iterator[Page]:
    """A person's page with the Live tab open."""
    with signed_in(chromium, url, initials, PASSWORD) as page:
        open_live(page)
        yield page


def open_live(page: Page) -> None:
    page.get_by_role("tab", name="Live").click()
    expect(page.locator(RUN)).to_be_visible()
    page.wait_for_function("window.specO3?.live")


def drop(page: Page, *paths: Path) -> None:
    """Drop files on the tab, as a file manager does."""
    files = [{"name": p.name, "data": base64.b64encode(p.read_bytes()).decode()} for p in paths]
    page.evaluate(
        """(files) => {
          const data = new DataTransfer()
          for (const { name, data: text } of files) {
            data.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name))
          }
          const tab = document.querySelector('.so-live')
          for (const kind of ['dragover', 'drop']) {
            tab.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }))
          }
        }""",
        files,
    )
    expect(row(page, paths[-1].name)).to_be_visible()
    page.wait_for_function("(name) => window.specO3.live.current?.row.name === name", arg=paths[0].name)


def choose(page: Page, policy: str, task: str = "cv", samples: int = 1) -> None:
    """Choose policy, question and number of samples."""
    page.locator(".so-live .policy select").select_option(policy)
    page.get_by_label("Question").select_option(task)
    if samples > 1:
        page.get_by_label("Samples", exact=True).fill(str(samples))
    page.evaluate("document.activeElement.blur()")


def let_each_event_be_drawn(page: Page) -> None:
    """Give the page every event of a run in a frame of its own, however fast the run is; nothing is left out."""
    page.evaluate(
        """() => {
          const add = EventSource.prototype.addEventListener
          const frame = () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
          let before = Promise.resolve()
          EventSource.prototype.addEventListener = function (kind, listener) {
            add.call(this, kind, (event) => { before = before.then(() => listener(event)).then(frame) })
          }
        }"""
    )


def row(page: Page, name: str) -> Locator:
    return page.locator(".so-live .queue .row", has=page.locator(f'[title="{name}"]'))


def cards(page: Page) -> Locator:
    """Return the complete cards."""
    return page.locator(".so-live .card:not(.growing)")


def shown(page: Page, what: str) -> Any:
    """Evaluate an expression on the page; ``run`` and ``trace`` are those shown."""
    return page.evaluate(
        f"(() => {{ const {{ shownRun: run, shownTrace: trace }} = window.specO3.live; return {what} }})()"
    )


class Cable:
    """A TCP relay to the app that tests can cut, with all its connections, and mend."""

    def __init__(self, url: str) -> None:
        self._to = urlsplit(url)
        self._whole = True
        self._lock = threading.Lock()
        self._ends: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/"

    def __enter__(self) -> Cable:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.close()
        self.cut()

    def cut(self) -> None:
        with self._lock:
            self._whole = False
            for end in self._ends:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            self._ends.clear()

    def mend(self) -> None:
        self._whole = True

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                with self._lock:
                    if not self._whole:
                        near.close()
                        continue
                    far = socket.create_connection((self._to.hostname or "", self._to.port or 80))
                    self._ends += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=_copy, args=(one, other), daemon=True).start()


def _copy(one: socket.socket, other: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := one.recv(65536):
            other.sendall(piece)
    with contextlib.suppress(OSError):
        other.shutdown(socket.SHUT_RDWR)
