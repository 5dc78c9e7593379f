"""Nothing that a scorer's browser receives during a session reveals the source of a trace."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page

from agent import plot, tool
from reviewer.blind.plan import Plan
from reviewer.blind.titles import has_neutral_title
from reviewer.store import Draft, Store
from tests.browser.support.blind_app import blind, in_front
from tests.browser.support.review_app import run_timers, serving
from tests.browser.support.wire import relayed
from tests.support.blind_campaign import OMEGA, SETTINGS, ZETA, team, two_sources

PNG = b"\x89PNG\r\n\x1a\n"

pytestmark = pytest.mark.browser

OF_SHEETS = re.compile(r"/api/v1/blind/(work|sheet/[\w-]{8,}(/spectrum|/atlas|/picture/[01]/\d+|/score|/prefer)?)")


def _unpacked(body: bytes) -> bytes:
    """Decode the escaped letters of JSON; the spectrum's header and PNG chunks are plain in the body."""
    if b"\\u" not in body:
        return b""
    return re.sub(rb"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)).encode("utf-8", "replace"), body)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """An open session with one scorer: scores of eight traces and preferences of four pairs, with hidden repeats.

    The first picture of one source's traces was kept, as published: with the name of the file as its title.
    """
    drafts = [_with_file_name_in_picture(d) if d.trajectory.drafter.name == ZETA else d for d in two_sources(4)]
    db = team(tmp_path / "annotations.db", drafts)
    with Store.open(db) as store:
        plan = Plan("zq-session", ("SA",), mode="both", each=1, repeats=1, seed=3)
        store.blind.sessions.open("CO", store.blind.sessions.create("CO", plan, "the drawing").id, "the opening")
    return db


def _with_file_name_in_picture(draft: Draft) -> Draft:
    spectrum, trajectory = draft.spectrum, draft.trajectory
    wavelength = tool.tool_wavelength(replace(spectrum, redshift=trajectory.redshift))
    picture = plot.draw(wavelength, spectrum.flux, None, f"Spectrum: {spectrum.name}")
    name = plot.pixels_sha256(picture)
    return replace(draft, trajectory=replace(trajectory, overview=name), pictures={name: plot.png_bytes(picture)})


def needles(db: Path) -> Iterator[tuple[str, bytes]]:
    """Byte strings that must not be sent: plain, percent-encoded, and in base64 at all three alignments.

    Each has seven characters or more: a shorter one occurs by chance in a random token or in a picture's bytes.
    """
    with Store.open(db) as store:
        items = [store.items.get(number) for number in range(1, 9)]
    words = {
        ZETA,
        OMEGA,
        "zq-observe",
        "zq-endpoint",
        "zq-session",
        "zq_header",
        "zq_column",
        "ZQ-CLASS",
        "2031-07-13",
        "7788990",
        "4455667788990",
        "123.456789",
    }
    words |= {"-12.345678", str(SETTINGS["endpoint"])}
    for item in items:
        trajectory = item.version.trajectory
        pictures = {trajectory.overview, *(zoom.picture for zoom in trajectory.zooms)}
        words |= {str(item.row.spectrum_sha256), *(p for p in pictures if p), item.row.name}
    assert min(map(len, words)) >= 7
    for word in words:
        yield word, word.encode()
        yield word, quote(word, safe="").encode()
        for before in range(3 if len(word) > 8 else 0):
            coded = base64.b64encode(b" " * before + word.encode())
            yield word, coded[4 if before else 0 : -4]


def walk(page: Page, pages: dict[str, bytes]) -> list[str]:
    """Score the whole session by keyboard and open every card; return the elements' ids on each sheet."""
    ids = []
    count = page.locator(".blind .place").count()
    assert count == 9 + 5
    for place in range(1, count + 1):
        in_front(page, place)
        page.wait_for_function("[...document.querySelectorAll('.blind .card img')].every((i) => i.complete)")
        for summary in page.locator(".blind .overview summary:visible").all():
            summary.click()
        page.wait_for_function("[...document.querySelectorAll('.blind img')].every((i) => i.complete)")
        for picture in page.locator(".blind .card .picture").all():
            assert picture.locator("img").evaluate("(image) => image.naturalWidth") > 0
        ids.append(
            page.evaluate(
                """() => {
                  const found = document.querySelectorAll('.so-blind [id], dialog [id]')
                  return [...new Set([...found].map(({ id }) => id))].join()
                }"""
            )
        )
        pages[f"the page at {place}"] = page.content().encode()
        keys = ("1",) if page.evaluate("window.specO3.blind.scoring.isPair") else ("4", "3")
        for key in ("Escape", *keys, "Enter"):  # Escape leaves the summary, which Enter would toggle
            page.keyboard.press(key)
    page.locator(".blind .notice.done").wait_for()
    return ids


@pytest.mark.smoke
def test_nothing_that_reaches_a_scorers_browser_reveals_the_source(chromium: Browser, session: Path) -> None:
    pages: dict[str, bytes] = {}
    with serving(session) as app, relayed(app) as recorded, blind(chromium, recorded.url, "SA") as page:
        title = page.title()
        ids = walk(page, pages)
        for tab in ("Review", "Live", "Progress", "Data", "People", "Blind"):
            page.get_by_role("tab", name=tab).click()
            run_timers(page, 700)
            pages[f"the page in {tab}"] = page.content().encode()
            assert page.title() == title
    sent = recorded.sent()
    blind_only = {address: body for address, body in sent.items() if "/api/v1/blind/" in address}

    assert len([address for address in sent if "/picture/" in address]) > 30
    read = {a: body + _unpacked(body) for a, body in (sent | pages).items() if not _program(a)}
    found = {(word, address) for word, needle in needles(session) for address, body in read.items() if needle in body}
    assert found == set()
    for address, body in blind_only.items():
        assert OF_SHEETS.fullmatch(urlsplit(address).path), address
        assert urlsplit(address).query == "", address
        # Headers that every answer of the server has reveal nothing.
        specific = body.replace(b"'x-content-type-options'", b"").replace(b"'x-frame-options'", b"")
        assert not re.search(rb"\('(last-modified|etag|x-)", specific), address
        if "/picture/" in address:
            assert set(_chunks(body)) == {b"IHDR", b"IDAT", b"IEND"}, address
            with Image.open(io.BytesIO(body[body.index(PNG) :])) as seen:
                assert has_neutral_title(seen), address
        for word in (b'"drafter"', b'"label"', b'"item"', b'"version"', b'"source"', b'"faults"', b"LAMOST"):
            if not address.endswith("/work"):
                assert word not in body, (word, address)
    # One set of ids for all scores and one for all pairs.
    assert len(set(ids[:9])) == 1
    assert len(set(ids[9:])) == 1


def _program(address: str) -> bool:
    """Whether this is a file of the program: it does not depend on the items, but has the surveys' names."""
    path = urlsplit(address).path
    return path.startswith(("/ui/", "/assets/", "/static/", "/theme", "/gradio_api/startup")) or path.endswith(
        (".js", ".css", ".woff2")
    )


def _chunks(body: bytes) -> list[bytes]:
    at = body.index(PNG) + 8
    names: list[bytes] = []
    while at < len(body) and (not names or names[-1] != b"IEND"):
        names.append(body[at + 4 : at + 8])
        at += int.from_bytes(body[at : at + 4], "big") + 12
    return names
