"""The interactive spectrum in the host of MCP's own package, over ``/mcp`` of the real app."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, Route, expect

from agent.simulate import simulate
from reviewer.store import Draft, Store
from reviewer.web.auth import start_alone
from tests.browser.support.review_app import picture, serving_here
from tests.support.campaign import a_trajectory

HERE = Path(__file__).parent
PACKAGES = HERE.parents[1] / "js/node_modules"
TYPES = {".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript"}
CHOSEN = re.compile(r"Window (\d+\.\d) to (\d+\.\d) Å")
OPENED = {"path": "item-1", "reasoning": "The first."}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, Store]]:
    """The app with a simulated CV as item 1: its address and the token of a person."""
    with Store.open(tmp_path_factory.mktemp("agents") / "annotations.db") as store:
        start_alone(store, "AB")
        spectrum = simulate("cv", "DESI", 12, 4)
        store.items.add_all([Draft(a_trajectory(spectrum), spectrum, "november")])
        with serving_here(store) as address:
            yield address, store.tokens.make("AB", "an agent", True, None)[1], store


def _serve(route: Route) -> None:
    name = route.request.url.split("/host/")[1]
    path = HERE / name if name == "host.html" else PACKAGES / name
    route.fulfill(body=path.read_bytes(), content_type=TYPES[path.suffix])


def shown(page: Page, served: tuple[str, str, Store], theme: str = "light") -> tuple[FrameLocator, dict[str, Any]]:
    """Open a spectrum in the host; return the frame of the app and the result of the call."""
    address, token, _ = served
    page.route("**/host/**", _serve)
    page.goto(f"{address}/host/host.html")
    page.wait_for_function("window.ready")
    result = page.evaluate("given => window.start(...given)", [token, "open_spectrum", OPENED, theme])
    frame = page.frame_locator("iframe")
    expect(frame.locator("#status")).to_have_text("Whole spectrum. Drag to choose a window.")
    return frame, result


def drag(page: Page, canvas: Locator, start: float, end: float) -> None:
    """Drag over a canvas, between two places given as parts of its width."""
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + start * box["width"], box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + end * box["width"], box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()


def pixels(canvas: Locator) -> str:
    drawn: str = canvas.evaluate("canvas => canvas.toDataURL()")
    return drawn


def colours(canvas: Locator) -> int:
    """Return how many different colours a canvas shows."""
    return int(
        canvas.evaluate(
            """canvas => {
                const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
                return new Set(new Uint32Array(data.buffer)).size;
            }"""
        )
    )


def test_a_dragged_window_is_asked_for_and_shown(page: Page, served: tuple[str, str, Store]) -> None:
    frame, result = shown(page, served)
    handle = re.match("handle: (.+)\n", result["content"][0]["text"])
    assert handle is not None
    view, whole = frame.locator("#view"), frame.locator("#whole")
    assert colours(view) > 3
    before, band_before = pixels(view), pixels(whole)
    expect(view).to_have_attribute("aria-label", re.compile("Å, observed frame, vacuum"))
    drag(page, view, 0.4, 0.6)
    expect(frame.locator("#status")).to_have_text(CHOSEN)
    first = CHOSEN.search(frame.locator("#status").inner_text())
    assert first is not None
    low, high = map(float, first.groups())
    assert 4500 < low < high < 9000
    assert colours(view) > 3
    assert pixels(view) != before
    assert pixels(whole) != band_before, "the window is no band in the whole spectrum"
    expect(view).to_have_attribute("aria-label", re.compile(f"^Spectrum from {low:.1f} to {high:.1f}"))
    view.hover()
    expect(frame.locator("#readout")).to_have_text(re.compile(r"^\d+\.\d Å: flux -?\d"))
    # Without a pointer: the other window, by the fields; then back.
    frame.locator("#from").fill("6400")
    frame.locator("#to").fill("6700")
    frame.locator("#to").press("Enter")
    expect(frame.locator("#status")).to_have_text("Window 6400.0 to 6700.0 Å")
    view.focus()
    view.press("ArrowRight")
    expect(frame.locator("#readout")).to_have_text(re.compile(r"^65\d\d\.\d Å: flux -?\d"))
    frame.get_by_role("button", name="Whole spectrum").click()
    expect(view).not_to_have_attribute("aria-label", re.compile("from 6400"))
    told = page.evaluate("window.told")
    assert [f"{low:g} to {high:g}" in told[0], "6400 to 6700" in told[1]] == [True, True]
    # What the person chose is part of the agent's trace.
    verdict = {"handle": handle[1], "reasoning": "so", "task": "cv", "verdict": "NO", "explanation": "Nothing."}
    submitted = page.evaluate("given => client.callTool({ name: 'submit_verdict', arguments: given })", verdict)
    item = int(re.findall(r"item (\d+)", submitted["content"][0]["text"])[0])
    thought, zoom, _, second, *_ = served[2].items.get(item).version.trajectory.steps
    assert thought.text == "window chosen by the person"
    assert zoom.arguments == {"wavelength_range": [low, high]}
    assert second.arguments == {"wavelength_range": [6400, 6700]}


def test_a_window_without_data_is_refused_in_words(page: Page, served: tuple[str, str, Store]) -> None:
    frame, _ = shown(page, served)
    before = pixels(frame.locator("#view"))
    frame.locator("#from").fill("100")
    frame.locator("#to").fill("200")
    frame.get_by_role("button", name="Show window").click()
    expect(frame.locator("#status")).to_have_text(re.compile("outside the available data range"))
    assert pixels(frame.locator("#view")) == before


@pytest.mark.parametrize("width", [390, 800])
def test_it_fits_and_follows_the_theme(page: Page, served: tuple[str, str, Store], width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    frame, _ = shown(page, served, "dark")
    drag(page, frame.locator("#view"), 0.5, 0.7)
    expect(frame.locator("#status")).to_have_text(CHOSEN)
    body = frame.locator("body")
    assert body.evaluate("body => body.scrollWidth <= innerWidth && body.scrollHeight <= innerHeight + 8")
    dark = body.evaluate("body => getComputedStyle(body).backgroundColor")
    picture(page, f"app-dark-{width}")
    page.evaluate("bridge.setHostContext({ theme: 'light' })")
    expect(body).not_to_have_css("background-color", dark)
    picture(page, f"app-light-{width}")
