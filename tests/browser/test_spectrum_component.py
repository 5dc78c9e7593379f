"""The spectrum view as a Gradio component, in a real Gradio app."""

import socket
import threading
import time
from collections.abc import Iterator

import gradio as gr
import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from playwright.sync_api import Page, expect

from agent.simulate import simulate
from reviewer.ui import spectrum_view
from reviewer.ui.spectrum_view import Item, SpectrumView, StepWindow, spectrum_item

pytestmark = pytest.mark.browser


def item(name: str, lo: float = 6500) -> Item:
    spectrum = simulate("cv", "LAMOST", snr=15, seed=3)
    return spectrum_item(spectrum, name, windows=[StepWindow("s2", 2, lo, lo + 130, label="Hα")], selected="s2")


def blocks() -> gr.Blocks:
    with gr.Blocks() as page:
        view = SpectrumView(item("first"), height=600)
        told = gr.Textbox(label="told")
        move, other = gr.Button("move window"), gr.Button("other item")
        move.click(lambda: item("first", lo=4800), outputs=view)
        other.click(lambda: gr.update(value=item("second"), height=500), outputs=view)

        def dragged(event: gr.EventData) -> str:
            return f"{event.id} {event.lo:.0f} {event.hi:.0f}"

        def selected(event: gr.EventData) -> str:
            return f"selected {event.id}"

        view.input(dragged, outputs=told)
        view.select(selected, outputs=told)
    return page


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    app = FastAPI()
    plotly = spectrum_view.PLOTLY_FOLDER / "plotly.min.js"
    app.get("/ui/plotly.min.js")(lambda: FileResponse(plotly))
    app.mount("/ui", StaticFiles(directory=spectrum_view.MODULES_FOLDER))
    gr.mount_gradio_app(app, blocks(), path="/")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server ended before it had started"
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}/"
    server.should_exit = True
    thread.join(timeout=10)


@pytest.fixture
def app(page: Page, address: str) -> Page:
    page.goto(address)
    page.wait_for_function("document.querySelector('.spectrum-view-root')?.spectrumView?.full?.gd", timeout=30_000)
    page.evaluate("window.view = document.querySelector('.spectrum-view-root').spectrumView")
    return page


def test_the_value_is_drawn_and_python_moves_a_window_without_touching_the_zoom(app: Page) -> None:
    assert app.evaluate("view.step.gd.layout.xaxis.range[0]") == pytest.approx(6500 - 0.08 * 130)
    app.evaluate("view.command('zoom-in')")
    zoomed = app.evaluate("view.full.range")
    app.get_by_role("button", name="move window").click()
    app.wait_for_function("view.step.gd.layout.xaxis.range[0] < 4800")
    assert app.evaluate("view.full.range") == zoomed


def test_another_item_from_python_is_shown_whole_at_the_height_given_with_it(app: Page) -> None:
    app.evaluate("view.command('zoom-in')")
    app.get_by_role("button", name="other item").click()
    app.wait_for_function("document.querySelector('.spectrum-view-root').spectrumView.item.id === 'second'")
    view = "document.querySelector('.spectrum-view-root')"
    app.wait_for_function(f"{view}.clientHeight === 500 && {view}.spectrumView.full.range === null")


def test_a_dragged_window_and_a_clicked_number_reach_python(app: Page) -> None:
    app.locator(".so-step .so-edge.so-hi").focus()
    app.keyboard.press("Shift+ArrowRight")
    told = app.get_by_label("told")
    expect(told).to_have_value("s2 6500 6645")
    app.evaluate("view.update({ selected: null })")
    app.locator(".so-full .so-badge").click()
    expect(told).to_have_value("selected s2")
