"""Logs of Inspect, OpenTelemetry and Claude Code give the words, calls, results and pictures that were written."""

from pathlib import Path

import pytest

from agent.foreign import detect, read
from tests.agent.foreign import logs_claude_code, logs_inspect, logs_otel
from tests.agent.foreign.turns import an_example, events

WRITERS = {
    "inspect": logs_inspect.examples,
    "otel": logs_otel.examples,
    "openinference": logs_otel.inference_examples,
    "claude-code": logs_claude_code.examples,
}


def check(name: str, number: int, folder: Path) -> None:
    trajectory, spectrum = an_example(number)
    path = WRITERS[name](trajectory, spectrum, folder)
    (trace,) = read(path)
    assert trace.events == events(trajectory, spectrum, system=name != "claude-code")
    assert (trace.format, trace.faults, detect(path)) == (name, (), name if name != "openinference" else "otel")


@pytest.mark.parametrize("name", WRITERS)
def test_twenty_logs(name, tmp_path):
    for number in range(20):
        check(name, number, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", WRITERS)
def test_two_hundred_logs(name, tmp_path):
    for number in range(200):
        check(name, number, tmp_path)
