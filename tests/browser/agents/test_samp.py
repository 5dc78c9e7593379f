"""SAMP on the page: a real hub with two programs, through the server and by the Web Profile."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import urlopen

import pytest
from astropy.table import Table
from playwright.sync_api import Browser, Page, Route, expect

from agent.simulate import simulate
from agent.spectrum.table import written
from agent.trajectory import Answer, Think
from reviewer.rules.workflow import Rules
from reviewer.samp import ITEM
from reviewer.store import Store
from tests.browser.support.review_app import choose_more, serving, show_item, working_alone
from tests.reviewer.web.conftest import a_trace
from tests.support.services.samp_hub import Program, a_hub

pytestmark = pytest.mark.browser

TABLE, SPECTRUM = "table.load.votable", "spectrum.load.ssa-generic"
ROW, POINT = "table.highlight.row", "coord.pointAt.sky"


def make(path: Path) -> None:
    """Three items with positions."""
    with closing(Store.open(path)) as store:
        store.accounts.add_person("AB", "AB", ("reviewer", "auditor", "coordinator"))
        store.settings.set_rules("AB", Rules(solo=True))
        for number in (1, 2, 3):
            spectrum = replace(simulate("cv", "SDSS", 20.0, number), ra=10.0 * number, dec=5.5, ids={})
            trace = a_trace(spectrum, Think("s1", "Emission."), Answer("s2", "YES", "emission"))
            store.items.add(trace, store.spectra.add(spectrum), batch="samp")


@contextmanager
def files_of(folder: Path) -> Iterator[str]:
    """A program's own web server, as TOPCAT and SPLAT have; yield its address."""
    handler = functools.partial(SimpleHTTPRequestHandler, directory=folder)
    handler.log_message = lambda *_: None  # type: ignore[attr-defined]
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    "web", [pytest.param(False, marks=pytest.mark.smoke, id="through the server"), pytest.param(True, id="web profile")]
)
def test_spectra_tables_and_rows_go_both_ways(chromium: Browser, tmp_path: Path, web: bool) -> None:
    make(tmp_path / "annotations.db")
    (folder := tmp_path / "theirs").mkdir()
    Table({"name": ["a", "b"], "ra": [30.0, 200.0], "dec": [5.5, 5.5]}).write(folder / "theirs.vot", format="votable")
    (folder / "star.vot").write_bytes(written(simulate("wd", "SDSS", 30.0, 9), (), "vot"))
    with (
        a_hub(tmp_path, web) as hub,
        files_of(folder) as theirs,
        serving(tmp_path / "annotations.db") as url,
        working_alone(chromium, url, 1) as page,
    ):
        if web:
            by_web_profile(page, hub._web_port)
        topcat, splat = Program("TOPCAT", TABLE, ROW), Program("SPLAT", SPECTRUM, POINT)
        choose_more(page, "TOPCAT, Aladin, SPLAT, DS9 …")
        panel = page.get_by_role("dialog", name="SAMP")
        panel.get_by_role("button", name="Connect").click()
        expect(panel.get_by_role("status")).to_have_text("Connected with TOPCAT, SPLAT.")
        for width in (390, 1366):
            page.set_viewport_size({"width": width, "height": 800})
            for button in panel.get_by_role("button").all():
                expect(button).to_be_in_viewport(ratio=1)

        panel.get_by_role("button", name="Send the spectrum").click()
        expect(panel.get_by_role("status")).to_have_text("Sent to SPLAT.")
        mtype, sent = received(page, splat)
        assert mtype == SPECTRUM
        assert b"Spectrum.Data.SpectralAxis.Value" in urlopen(sent["url"]).read()
        panel.get_by_role("button", name="Send the list").click()
        expect(panel.get_by_role("status")).to_have_text("Sent to TOPCAT.")
        mtype, sent = received(page, topcat)
        assert mtype == TABLE
        (file := tmp_path / "ours.vot").write_bytes(urlopen(sent["url"]).read())
        assert Table.read(file, format="votable")[ITEM].tolist() == [1, 2, 3]
        panel.get_by_role("button", name="Point at the object").click()
        assert received(page, splat) == (POINT, {"ra": "10", "dec": "5.5"})
        page.keyboard.press("Escape")

        # Highlighted there: opened here. Opened here: highlighted there.
        topcat.tell(ROW, **{"table-id": sent["table-id"], "url": sent["url"], "row": "2"})
        page.wait_for_function("() => window.specO3.review.current.item.id === 3")
        show_item(page, 2)
        assert received(page, topcat) == (ROW, {"table-id": sent["table-id"], "url": sent["url"], "row": "1"})

        topcat.tell(TABLE, url=f"{theirs}/theirs.vot", name="candidates", **{"table-id": "t9"})
        expect(page.get_by_text("TOPCAT sends the table “candidates”.")).to_be_visible()
        page.get_by_role("button", name="Find its objects here").click()
        expect(page.get_by_role("tab", name="Find")).to_have_attribute("aria-selected", "true")
        expect(page.locator(".so-find").get_by_text("candidates").first).to_be_visible()
        topcat.tell(ROW, **{"table-id": "t9", "row": "0"})
        page.wait_for_function("() => window.specO3.review.current.item.id === 3")

        page.get_by_role("tab", name="Review").click()
        script = Program("a script")
        script.tell(TABLE, url=f"{theirs}/none.vot", name="no file")
        script.disconnect()
        page.get_by_role("button", name="Find its objects here").click()
        expect(page.locator(".so-review .notice", has_text="cannot be read")).to_be_visible()
        splat.tell(SPECTRUM, url=f"{theirs}/star.vot", name="a star", meta={}, **{"spectrum-id": "s1"})
        page.get_by_role("button", name="Put it on the Live bench").click()
        expect(page.get_by_role("tab", name="Live")).to_have_attribute("aria-selected", "true")
        expect(page.locator(".so-live .rows").get_by_text("star.vot")).to_be_visible()


def received(page: Page, program: Program) -> tuple[str, dict[str, str]]:
    """The next message of a program; meanwhile the requests of the page are answered."""
    while program.is_waiting:
        page.wait_for_timeout(20)
    return program.message()


def by_web_profile(page: Page, port: int) -> None:
    """The page's hub is on the person's machine, not on the server's: at the port of the test's hub."""

    def forwarded(route: Route) -> None:
        answer = route.fetch(url=route.request.url.replace(":21012", f":{port}"))
        # The hub names its address in the answer to the registration.
        route.fulfill(response=answer, body=answer.text().replace(f":{port}/", ":21012/"))

    page.route("**/api/v1/samp", lambda route: route.fulfill(json={"here": False}))
    page.route("http://localhost:21012/**", forwarded)
