"""Logs of all formats become trajectories: the steps, windows and pictures of the run that was logged."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.foreign import FORMATS, read
from agent.trajectory import Think, Trajectory
from agent.trajectory.steps import Step
from tests.agent.foreign import logs_atif, logs_claude_code, logs_inspect, logs_otel
from tests.agent.foreign.generated import converter
from tests.agent.foreign.turns import an_example, prompt_of

WRITERS = {
    "atif": logs_atif.examples,
    "inspect": logs_inspect.examples,
    "otel": logs_otel.examples,
    "openinference": logs_otel.inference_examples,
    "claude-code": logs_claude_code.examples,
}


def steps_of(trajectory: Trajectory) -> list[Step]:
    """The steps as a log can hold them: thoughts without the spaces around them, none that is empty, no ids."""
    steps = [
        replace(s, id="", text=s.text.strip()) if isinstance(s, Think) else replace(s, id="") for s in trajectory.steps
    ]
    return [step for step in steps if not isinstance(step, Think) or step.text]


def is_the_run(name: str, number: int, folder: Path) -> None:
    trajectory, spectrum = an_example(number)
    (trace,) = read(WRITERS[name](trajectory, spectrum, folder))
    converted = converter(spectrum).convert(trace)
    back = converted.trajectory
    assert steps_of(back) == steps_of(trajectory)
    assert [zoom.window_observed for zoom in back.zooms] == [zoom.window_observed for zoom in trajectory.zooms]
    assert back.pictures == trajectory.pictures
    assert (back.task, back.prompt.strip()) == (trajectory.task, prompt_of(trajectory).strip())
    assert (converted.pictures, converted.spectrum) == ({}, spectrum)
    assert back.faults == ("after its answer the agent wrote: Done.",)


def test_every_format_has_a_writer() -> None:
    assert WRITERS.keys() == FORMATS.keys()


@pytest.mark.parametrize("name", WRITERS)
def test_ten_logs_of_each_format(name: str, tmp_path: Path) -> None:
    for number in range(10):
        is_the_run(name, number, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", WRITERS)
def test_two_hundred_logs_of_each_format(name: str, tmp_path: Path) -> None:
    for number in range(200):
        is_the_run(name, number, tmp_path)
