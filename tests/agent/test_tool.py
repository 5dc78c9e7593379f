"""The tool answers in the published words, in the right frame, and never raises at the model."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import plot, tool
from agent.plot.curve import pixels_to_draw
from agent.spectrum import Spectrum

WAVELENGTH = np.linspace(4000.0, 7000.0, 80)
FLUX = np.sin(WAVELENGTH / 50.0) + 2.0


def a_spectrum(**changes) -> Spectrum:
    return Spectrum(**{"wavelength": WAVELENGTH, "flux": FLUX, "ivar": np.ones(80), **changes})


def test_every_published_answer_is_given_word_for_word(shared: Path, monkeypatch):
    # The words do not depend on the pixels, which tests/agent/test_plot.py checks; drawing all takes half a minute.
    def refuse_or_nothing(wavelength, flux, window, title):
        pixels_to_draw(wavelength, flux, window)
        return "picture"

    monkeypatch.setattr(tool, "draw", refuse_or_nothing)
    folder = shared / "conformance"
    arrays = np.load(folder / "plots" / "spectra.npz")
    cases = [json.loads(line) for line in (folder / "tool_cases.jsonl").read_text(encoding="utf-8").splitlines()]
    assert cases
    for case in cases:
        wavelength, flux = (arrays[f"{case['spectrum']}.{what}"] for what in ("wavelength", "flux"))
        filled = np.interp(wavelength, wavelength[np.isfinite(flux)], flux[np.isfinite(flux)])
        seen = tool.call(a_given_spectrum(wavelength, filled, case["redshift"]), case["arguments"])
        assert (seen.text, seen.image is not None, seen.ok) == (case["text"], case["image"], case["success"])


def a_given_spectrum(wavelength, flux, redshift) -> Spectrum:
    return Spectrum(wavelength=wavelength, flux=flux, ivar=np.ones(flux.size), redshift=redshift)


def test_the_picture_is_the_published_one_of_the_same_window():
    seen = tool.call(a_spectrum(), {"wavelength_range": [5000, 6000], "label": "Hβ"})
    assert seen.picture == plot.pixels_sha256(plot.draw(WAVELENGTH, FLUX, (5000, 6000)))
    assert (seen.window, seen.frame, seen.z) == ((5000.0, 6000.0), "observed", 0.0)


def test_a_redshift_moves_the_spectrum_and_its_windows_to_the_rest_frame():
    seen = tool.call(a_spectrum(redshift=0.25), {"wavelength_range": [4000, 4800]})
    assert seen.picture == plot.pixels_sha256(plot.draw(WAVELENGTH / 1.25, FLUX, (4000, 4800)))
    assert (seen.frame, seen.z) == ("rest", 0.25)


@pytest.mark.parametrize("redshift", [None, 0.0])
def test_no_redshift_and_a_redshift_of_zero_leave_the_spectrum_where_it_is(redshift):
    assert tool.frame_of(a_spectrum(redshift=redshift)) == ("observed", 0.0)
    assert tool.tool_wavelength(a_spectrum(redshift=redshift)).tolist() == WAVELENGTH.tolist()


def test_a_spectrum_already_at_rest_is_not_shifted_again():
    at_rest = a_spectrum(frame="rest", redshift=0.25)
    assert tool.tool_wavelength(at_rest).tolist() == WAVELENGTH.tolist()
    assert tool.frame_of(at_rest) == ("rest", 0.25)


def test_the_overview_is_the_full_picture_of_the_tool_without_the_name_of_the_file():
    named = a_spectrum(redshift=0.1, name="spec-1-2-3.fits")
    assert plot.pixels_sha256(tool.overview(named)) == tool.call(named, {}).picture
    assert plot.pixels_sha256(tool.overview(named)) == tool.call(a_spectrum(redshift=0.1), {}).picture


def test_a_long_answer_is_cut_in_its_middle():
    text = tool.call(a_spectrum(), {"wavelength_range": ["x" * 5000]}).text
    assert len(text) == 1024 + len("...(truncated)...")
    assert text[512:].startswith("...(truncated)...")
    assert text.endswith("available data range [4000.0, 7000.0].")


@pytest.mark.parametrize("arguments", [None, [5000, 6000], "5000", 7])
def test_arguments_that_are_no_object_are_an_error_the_model_can_read(arguments):
    seen = tool.call(a_spectrum(), arguments)
    assert not seen.ok
    assert seen.text.startswith("Error when executing tool: ")


def test_another_tool_is_an_error_the_model_can_read():
    assert tool.call(a_spectrum(), {}, name="image_zoom").text == "Error when executing tool: 'image_zoom'"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)


@settings(max_examples=60, deadline=None)
@given(asked=json_values.filter(lambda v: v is not None), label=json_values)
def test_whatever_the_model_asks_is_answered(asked, label):
    seen = tool.call(a_spectrum(), {"wavelength_range": asked, "label": label})
    assert seen.ok == (seen.image is not None)
    assert seen.text


@pytest.mark.parametrize("window", [[5000, 10**400], [-(10**400), 6000], [5000, float("inf")]])
def test_numbers_beyond_all_bounds_are_answered(window):
    assert tool.call(a_spectrum(), {"wavelength_range": window}).text


def test_the_system_text_is_the_published_template_s(shared: Path):
    cases = (shared / "conformance" / "chat_template_cases.jsonl").read_text(encoding="utf-8").splitlines()
    with_tools = [case for case in map(json.loads, cases) if case["tools"]]
    assert with_tools
    for case in with_tools:
        assert case["tools"] == [tool.TOOL_SCHEMA]
        system = case["text"].partition("<|im_end|>")[0]
        assert system.removeprefix("<|im_start|>system\n").endswith(tool.TOOL_BLOCK.lstrip("\n"))
