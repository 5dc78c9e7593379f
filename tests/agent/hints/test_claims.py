"""Claims and other parts of texts that are compared with the data."""

from __future__ import annotations

import csv
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.hints.claims import Claim, claims_of, compare
from agent.hints.evidence import Evidence
from agent.hints.spans import SpanReader
from agent.lines import air_to_vacuum, lines
from agent.loop import run
from agent.policies.baseline.rule import Baseline
from agent.simulate import simulate
from agent.spectrum import Spectrum, SpectrumError
from agent.spectrum.readers import read
from agent.tasks import load
from agent.trajectory import Answer, Drafter, Think, Trajectory, Zoom
from agent.trajectory.statements import text_of_step

GRID = 10 ** np.arange(np.log10(3800.0), np.log10(9000.0), 1e-4)
WAVELENGTH = {line.name: line.at("vacuum") for line in lines()}


def spectrum(*parts: tuple[str, float, float], snr: float = 40.0) -> Evidence:
    """A flat continuum with Gaussians (line, height, FWHM in km/s), in vacuum at rest."""
    flux = np.ones_like(GRID)
    for name, height, fwhm in parts:
        velocity = (GRID / WAVELENGTH[name] - 1) * 299_792.458
        flux += height * np.exp(-0.5 * (velocity * 2.3548 / fwhm) ** 2)
    flux += np.random.default_rng(3).standard_normal(flux.size) / snr
    return Evidence(Spectrum(GRID, flux, np.full(flux.shape, snr**2), redshift=0.0))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hα is in strong emission.", [Claim("Hα", "emission", True)]),
        ("The Hβ line shows broad absorption.", [Claim("Hβ", "broad", True), Claim("Hβ", "absorption", True)]),
        (
            "No Hα emission is seen, but He II 4686 is in emission.",
            [Claim("Hα", "emission", False), Claim("He II 4686", "emission", True)],
        ),
        ("The spectrum lacks TiO bands.", [Claim("TiO", "band", False)]),
        ("Strong C2 Swan bands; no CN band.", [Claim("C2", "band", True), Claim("CN", "band", False)]),
        ("Hα is double-peaked.", [Claim("Hα", "two maxima", True)]),
        ("There is no broad Hβ emission.", [Claim("Hβ", "broad", False)]),
        ("The Balmer lines are in absorption.", [Claim("Hα", "absorption", True), Claim("Hβ", "absorption", True)]),
        ("A clear 4000 Å break is present.", [Claim("4000 Å break", "break", True)]),
        ("CaH bands are deep.", [Claim("CaH", "band", True)]),
    ],
)
def test_a_statement_is_a_claim(text: str, expected: list[Claim]) -> None:
    assert sorted(map(str, claims_of(text))) == sorted(map(str, expected))


@pytest.mark.parametrize(
    "text",
    [
        "I should check whether Hα is in emission.",
        "Next I zoom on Hα emission.",
        "If it is a CV, Hα would show double-peaked emission.",
        "Is there Hα emission?",
        "Hα emission: equivalent width −46.3 ± 1.2 Å, bound: below −8 Å: met.",
        "Not measurable: Hβ breadth (outburst) (the line is in emission).",
        "Typical carbon stars have strong C2 bands.",
        "The continuum rises to the red.",
        "Hα shows an absorption trough with an emission core.",
        "",
    ],
)
def test_a_plan_a_question_or_a_rule_is_no_claim(text: str) -> None:
    assert claims_of(text) == ()


@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    for claim in claims_of(text):
        assert str(claim)


BROAD_EMISSION = (("Hα", 2.0, 1500.0), ("Hβ", 1.0, 1500.0))
ABSORPTION = (("Hα", -0.4, 1200.0), ("Hβ", -0.5, 1300.0))


@pytest.mark.parametrize(
    ("parts", "text", "verdict"),
    [
        (BROAD_EMISSION, "Hα is in emission.", "agrees"),
        (BROAD_EMISSION, "There is no Hα emission.", "contradicts"),
        (BROAD_EMISSION, "Hα is in absorption.", "contradicts"),
        (BROAD_EMISSION, "Hα is broad.", "agrees"),
        (BROAD_EMISSION, "Hα is narrow.", "contradicts"),
        ((("Hα", 2.0, 620.0),), "Hα is narrow.", "contradicts"),  # 4σ above the bound
        (ABSORPTION, "The Balmer lines are in absorption.", "agrees"),
        (ABSORPTION, "Hα is double-peaked.", "contradicts"),
        ((), "There is no Hα emission.", "agrees"),
        ((), "Hβ appears in emission.", "contradicts"),
        ((), "Strong TiO bands are present.", "contradicts"),
        ((), "No TiO bands are seen.", "agrees"),
        ((("Hα", 2.0, 250.0),), "Hα is double-peaked.", "contradicts"),
        (BROAD_EMISSION, "A line at Lyα is in emission; Lyα emission.", "cannot be told"),
    ],
)
def test_a_claim_is_compared_with_the_data(parts, text, verdict):
    data = spectrum(*parts, snr=100.0)
    compared = [compare(claim, data) for claim in claims_of(text)]
    assert compared
    for one in compared:
        assert one.verdict == verdict, one
        assert one.reason


def test_two_maxima_agree_with_their_separation() -> None:
    centre = air_to_vacuum(6562.79)
    velocity = (GRID / centre - 1) * 299_792.458
    flux = 1 + sum(2 * np.exp(-0.5 * ((velocity - v) * 2.3548 / 450) ** 2) for v in (-500, 500))
    flux += np.random.default_rng(3).standard_normal(flux.size) / 40
    data = Evidence(Spectrum(GRID, flux, np.full(flux.shape, 1600.0), redshift=0.0))
    (claim,) = claims_of("Hα is double-peaked.")
    found = compare(claim, data)
    assert found.verdict == "agrees"
    assert found.reason.startswith("two maxima 1\N{NARROW NO-BREAK SPACE}0")


def test_noise_decides_nothing() -> None:
    data = spectrum(snr=1.5)
    for text in ("Hα is in emission.", "There is no Hα emission.", "Strong TiO bands are present."):
        assert [compare(claim, data).verdict for claim in claims_of(text)] == ["cannot be told"]


SPECTRA = 12


@pytest.fixture(scope="module")
def cv():
    return simulate("cv", "LAMOST", 25, 1, 0.0)


@pytest.fixture(scope="module")
def reader(cv):
    return SpanReader(cv, cv.redshift, load()["cv"])


def spans_of(reader: SpanReader, text: str) -> list[tuple[str, str, str]]:
    zoom = Zoom("z", {"wavelength_range": [6402.0, 6702.0]}, medium="vacuum")
    steps = (Think("a", "Zoom."), zoom, Think("t", text), Answer("e", "YES"))
    trajectory = Trajectory("cv", "?", "a.fits", None, steps, Drafter("person", "AB"))
    return [(text[s.start : s.end], s.kind, s.status) for s in reader.spans(trajectory)["t"]]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Hα has FWHM 9000 km/s.", "9000"),
        ("The FWHM of Hα is FWHM = 9000 km s^-1.", "9000"),
        ("The equivalent width of −900 Å of Hα is large: EW = −900 Å.", None),
        ("For Hα, EW = −900 Å.", "−900"),
        ("Hα: velocity of 4000 km/s.", "4000"),
        ("TiO5 = 3.5 here.", "3.5"),
        ("In the window 6402 to 6702 Å, S/N 999.0 per pixel.", "999.0"),
    ],
)
def test_a_number_that_the_data_contradict_is_stale_and_can_be_written_anew(reader, text, number):
    stale = [words for words, kind, status in spans_of(reader, text) if (kind, status) == ("number", "stale")]
    assert stale == ([number] if number else [])


@pytest.mark.parametrize(
    "text",
    [
        "Hα and Hβ have FWHM 9000 km/s.",  # of which line?
        "The FWHM is 9000 km/s.",
        "A width of 900 Å would be needed.",
        "S/N 999 is typical of such stars.",
        "The total is +900.0; YES needs more than 0.",
        "It runs over 900 km/s of velocity.",
    ],
)
def test_a_number_that_is_of_no_line_for_certain_has_no_status(reader, text):
    assert [found for found in spans_of(reader, text) if found[1] == "number"] == []


def test_lines_and_wavelengths_have_a_place_and_no_status(reader):
    found = spans_of(reader, "A 🜚 star: Hβ and He II 4686 in emission, a trough at 5170 Å.")
    assert found == [("Hβ", "line", "unknown"), ("He II 4686", "line", "unknown"), ("5170 Å", "wavelength", "unknown")]


def test_places_are_on_the_axis_of_the_data():
    spectrum = simulate("hii", "DESI", 20, 8, 0.031)
    trajectory = run(spectrum, load()["cv"], Baseline())
    spans = SpanReader(spectrum, trajectory.redshift, load()["cv"]).spans(trajectory)
    first = trajectory.steps[0]
    span = next(s for s in spans[first.id] if s.kind == "line" and text_of_step(first)[s.start : s.end] == "Hα")
    assert span.range is not None
    assert span.range[0] < 6564.6 * (1 + (spectrum.redshift or 0)) < span.range[1]


def test_drafts_of_the_baseline_on_real_spectra_agree_with_their_tool_calls_and_data(shared: Path):
    folder = shared / "spectra"
    with (folder / "MANIFEST.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    random.Random(5).shuffle(rows)
    tasks = load()
    counts: Counter[tuple[str, str]] = Counter()
    stale = []
    for row, key in zip(rows[:SPECTRA], random.Random(6).choices(sorted(tasks), k=SPECTRA), strict=True):
        try:
            spectrum = read(folder / row["path"])
        except SpectrumError:
            continue
        trajectory = run(spectrum, tasks[key], Baseline())
        for step_id, spans in SpanReader(spectrum, trajectory.redshift, tasks[key]).spans(trajectory).items():
            text = text_of_step(trajectory.step(step_id))
            ends = [0]
            for span in spans:
                assert ends[-1] <= span.start < span.end <= len(text)
                ends.append(span.end)
                counts[span.kind, span.status] += 1
                if span.status == "stale":
                    stale.append((row["path"], text[span.start : span.end], span.note))
    assert stale == []
    assert counts["window", "ok"] > 3 * SPECTRA
    assert counts["number", "ok"] > 6 * SPECTRA
