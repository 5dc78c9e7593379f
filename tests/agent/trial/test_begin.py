"""An inspection that begins from earlier turns: texts are kept, pictures come from the spectrum that is given."""

from dataclasses import replace

import pytest

from agent import tool
from agent.loop import inspect, run
from agent.policies.baseline.rule import Baseline
from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.tasks import Task, load
from agent.trajectory import Trajectory
from agent.trajectory.tags import turn_text


@pytest.fixture(scope="module")
def task() -> Task:
    return load()["cv"]


@pytest.fixture(scope="module")
def spectrum() -> Spectrum:
    return simulate("cv", "SDSS", 20.0, 0)


@pytest.fixture(scope="module")
def trace(spectrum: Spectrum, task: Task) -> Trajectory:
    return run(spectrum, task, Baseline())


def _begun(spectrum: Spectrum, task: Task, texts: list[str], max_turns: int = 8) -> Trajectory:
    *_, ended = inspect(spectrum, task, Baseline(), max_turns, begin=texts)
    return ended.trajectory


def test_beginning_from_its_own_turns_gives_the_same_trace(spectrum: Spectrum, task: Task, trace: Trajectory) -> None:
    texts = [turn_text(turn) for turn in trace.turns()]
    for kept in range(len(texts)):
        assert _begun(spectrum, task, texts[:kept]).to_json() == trace.to_json()


def test_pictures_of_earlier_turns_show_the_given_spectrum(spectrum: Spectrum, task: Task, trace: Trajectory) -> None:
    other = replace(spectrum, flux=spectrum.flux[::-1])
    texts = [turn_text(turn) for turn in trace.turns()][:2]
    begun = _begun(other, task, texts)
    expected = [tool.call(other, dict(zoom.arguments)).picture for zoom in trace.zooms[:2]]
    assert [zoom.picture for zoom in begun.zooms[:2]] == expected
    assert expected != [zoom.picture for zoom in trace.zooms[:2]]
    assert begun.spectrum_sha256 == other.sha256


def test_the_baseline_describes_the_window_that_was_called(spectrum: Spectrum, task: Task, trace: Trajectory) -> None:
    """Also where the edited spectrum would lead it to other windows."""
    texts = [turn_text(turn) for turn in trace.turns()][:1]
    flat = replace(spectrum, flux=spectrum.flux * 0 + spectrum.flux.mean())
    begun = _begun(flat, task, texts)
    lo, hi = trace.zooms[0].arguments["wavelength_range"]
    assert f"In the window {lo} to {hi} Å" in begun.steps[2].text  # type: ignore[union-attr]


def test_turns_that_cannot_be_begun_from_are_refused(spectrum: Spectrum, task: Task, trace: Trajectory) -> None:
    texts = [turn_text(turn) for turn in trace.turns()]
    with pytest.raises(ValueError, match="no tool call in turn 1"):
        _begun(spectrum, task, texts[-1:])
    with pytest.raises(ValueError, match="found 2 turns, expected fewer than the 2"):
        _begun(spectrum, task, texts[:2], max_turns=2)
