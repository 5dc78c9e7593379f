"""Parts of texts that are tied to pixels, with what is measured there again."""

from __future__ import annotations

import csv
import random
from collections import Counter
from pathlib import Path

import pytest

from agent.hints.spans import SpanReader
from agent.loop import run
from agent.policies.baseline.rule import Baseline
from agent.simulate import simulate
from agent.spectrum import SpectrumError
from agent.spectrum.readers import read
from agent.tasks import load
from agent.trajectory import Answer, Drafter, Think, Trajectory, Zoom
from agent.trajectory.statements import text_of_step

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
