"""What the interactive picture is sent: the curve at the resolution of a screen, and only where an app can show it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from anyio.from_thread import start_blocking_portal
from mcp.client import Client
from mcp.client.extension import advertise
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID

from agent.mcp import app
from agent.mcp.server import server
from agent.spectrum import Spectrum
from tests.support.services.agent_client import KnownSpectra, Tray

N = 20_000


def a_spectrum(**other: object) -> Spectrum:
    flux = np.ones(N)
    flux[[777, 12_345]] = 50.0, -20.0
    return Spectrum(np.linspace(4000.0, 9000.0, N), flux, **other)


def test_narrow_lines_survive_at_the_resolution_of_a_screen() -> None:
    spectrum = a_spectrum()
    drawn = app.at_screen(spectrum.wavelength, spectrum.flux)
    assert len(drawn["wavelength"]) <= 2 * app.BINS
    assert drawn["wavelength"] == sorted(drawn["wavelength"])
    for pixel in (777, 12_345):
        place = drawn["flux"].index(spectrum.flux[pixel])
        assert drawn["wavelength"][place] == pytest.approx(spectrum.wavelength[pixel], abs=0.001)
    few = app.at_screen(spectrum.wavelength[:900], spectrum.flux[:900])
    assert len(few["flux"]) == 900


def test_frame_and_medium_are_those_of_the_tool() -> None:
    moved = a_spectrum(redshift=0.25, medium="air", meta={"medium_assumed": True})
    numbers = app.numbers(moved, "h", (5000.0, 5001.0))
    assert (numbers["frame"], numbers["z"], numbers["medium"], numbers["assumed"]) == ("rest", 0.25, "air", True)
    assert numbers["all"]["wavelength"][0] == 3200.0
    assert (min(numbers["inWindow"]["wavelength"]), max(numbers["inWindow"]["wavelength"])) == pytest.approx(
        (5000.1, 5000.9), abs=0.2
    )


def test_the_page_needs_nothing_from_anywhere() -> None:
    assert re.findall(r"https?:|src=|href=|@import|url\(", app.page()) == []


@pytest.mark.parametrize("apps", [True, False])
def test_only_a_client_with_apps_is_sent_the_numbers(apps: bool) -> None:
    extensions = [advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})] if apps else []
    client = Client(server(Tray(), KnownSpectra(x=a_spectrum())), extensions=extensions)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
        given = {"path": "x", "reasoning": "because"}
        result = portal.call(client.call_tool, "open_spectrum", given)
    assert (app.META in (result.meta or {})) is apps
    assert result.structured_content is None
    assert [part.type for part in result.content] == ["text", "image"]
