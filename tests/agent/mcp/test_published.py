"""The published tool over MCP: the same texts, error flags and pixels as without it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from agent import tool
from agent.mcp.server import server
from agent.plot.curve import pixels_to_draw
from agent.spectrum import Spectrum
from agent.tool import TOOL_NAME, TOOL_SCHEMA
from tests.support.services.agent_client import KnownSpectra, Tray, agent_client

WAVELENGTH = np.linspace(4000.0, 7000.0, 80)
SPECTRUM = Spectrum(WAVELENGTH, np.sin(WAVELENGTH / 50.0) + 2.0, np.ones(80), redshift=0.05)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_call_has_the_answer_of_the_published_tool(mode):
    calls = [
        {"wavelength_range": [4500, 5500]},
        {"wavelength_range": [4500.0, 5500], "label": "Hβ"},
        {"wavelength_range": [4500.5, 5500.25], "label": ""},
        {},
        {"wavelength_range": None, "label": 7},
        {"wavelength_range": [5500, 4500]},
        {"wavelength_range": ["4500", "5500"]},
        {"wavelength_range": [[4500], 5500]},
        {"wavelength_range": "4500-5500"},
        {"wavelength_range": {"min": 4500}},
        {"wavelength_range": [4500, 5500, 6500]},
        {"wavelength_range": [5000.001, 5000.002]},
        {"wavelength_range": [True, 10**30], "label": {"of": [1]}},
    ]
    with agent_client(server(Tray(), KnownSpectra(x=SPECTRUM)), mode=mode) as agent:
        handle = agent.open("x")
        for arguments in calls:
            expected = tool.call(SPECTRUM, arguments)
            answered = agent.call(TOOL_NAME, handle=handle, **arguments)
            assert (answered.text, answered.is_error) == (expected.text, not expected.ok)
            assert answered.picture == expected.picture


def test_the_description_is_the_published_one_with_a_handle_and_the_reasoning():
    with agent_client(server(Tray(), KnownSpectra())) as agent:
        (listed,) = (each for each in agent.ask("list_tools").tools if each.name == TOOL_NAME)
    published = TOOL_SCHEMA["function"]
    assert listed.description == published["description"]
    schema = json.loads(json.dumps(listed.input_schema))
    assert schema["required"][:2] == ["handle", "reasoning"]
    del schema["required"][:2], schema["properties"]["handle"], schema["properties"]["reasoning"]
    assert schema == published["parameters"]


def test_every_published_text_is_reproduced_exactly(shared: Path, monkeypatch):
    # Drawing all takes half a minute; the pixels are compared below.
    def check_without_drawing(wavelength, flux, window, title):
        pixels_to_draw(wavelength, flux, window)
        return Image.new("RGBA", (1, 1))

    monkeypatch.setattr(tool, "draw", check_without_drawing)
    folder = shared / "conformance"
    cases = [json.loads(line) for line in (folder / "tool_cases.jsonl").read_text(encoding="utf-8").splitlines()]
    spectra = {}
    with np.load(folder / "plots" / "spectra.npz") as arrays:
        for name, redshift in {(case["spectrum"], case["redshift"]) for case in cases}:
            wavelength, flux = (arrays[f"{name}.{what}"] for what in ("wavelength", "flux"))
            filled = np.interp(wavelength, wavelength[np.isfinite(flux)], flux[np.isfinite(flux)])
            spectra[f"{name} {redshift}"] = Spectrum(wavelength, filled, np.ones(flux.size), redshift=redshift)
    with agent_client(server(Tray(), KnownSpectra(spectra))) as agent:
        handles = {name: agent.open(name) for name in spectra}
        wrong = []
        # The SDK's client cannot send NaN; tests/reviewer/test_agent_desk.py sends it over stdio.
        for case in (case for case in cases if "nan" not in case["text"]):
            handle = handles[f"{case['spectrum']} {case['redshift']}"]
            answered = agent.call(TOOL_NAME, handle=handle, **case["arguments"])
            if (answered.text, answered.picture is not None, not answered.is_error) != (
                case["text"],
                case["image"],
                case["success"],
            ):
                wrong.append(case)
    assert len(cases) == 288
    assert wrong == []


def test_every_published_picture_of_our_title_has_the_same_pixels(shared: Path):
    folder = shared / "conformance" / "plots"
    cases = [case for case in json.loads((folder / "cases.json").read_text()) if case["title"] == tool.TITLE]
    spectra = KnownSpectra()
    with np.load(folder / "spectra.npz") as arrays:
        for name in {case["spectrum"] for case in cases}:
            wavelength, flux = (arrays[f"{name}.{what}"] for what in ("wavelength", "flux"))
            drawn = np.flatnonzero(np.isfinite(wavelength) & np.isfinite(flux))
            drawn = drawn[np.argsort(wavelength[drawn], kind="stable")]
            if len(drawn) > 1 and (np.diff(wavelength[drawn]) > 0).all():
                spectra[name] = Spectrum(wavelength[drawn], flux[drawn], np.ones(len(drawn)))
    compared = [case for case in cases if "file" in case and case["spectrum"] in spectra]
    with agent_client(server(Tray(), spectra)) as agent:
        wrong = []
        for case in compared:
            if case["wavelength_range"] is None:
                answered = agent.call("open_spectrum", path=case["spectrum"])
            else:
                handle = agent.open(case["spectrum"])
                answered = agent.call(TOOL_NAME, handle=handle, wavelength_range=case["wavelength_range"])
            if answered.picture != case["pixels_sha256"]:
                wrong.append(case["file"])
    assert len(compared) > 40
    assert wrong == []
