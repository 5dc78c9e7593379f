"""Output of a model or its server, damaged in any way: it is read, or refused in a sentence, in bounded time."""

from __future__ import annotations

import json
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from agent.policies.native import Reply, assistant_message
from agent.policies.openai.stream import MalformedStream, ServerEvents, delta_of, parsed
from agent.trajectory import Trajectory, parse
from agent.trajectory.steps import TrajectoryError
from tests.conftest import ROOT
from tests.support.inputs import model_output
from tests.support.inputs.damage import damaged_bytes, damaged_json, damaged_text
from tests.support.inputs.refusals import refused_by
from tests.support.inputs.rows import json_or_none, trajectories
from training.reward import score

TURNS = model_output.turns()
STREAMS = model_output.streams()


def test_any_text_of_a_model_is_read_in_bounded_time() -> None:
    # The operating system ends the process when its limit of CPU time is used up.
    command = [sys.executable, "-m", model_output.__name__]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout) == (0, "read\n"), done.stderr[-2000:]


@given(
    (damaged_text(TURNS) | damaged_bytes(TURNS)).map(lambda data: data.decode("utf-8", "replace"))
    | st.text(st.characters(categories=None))  # half characters too
)
def test_any_turn_is_read_and_its_faults_are_short_lines(text: str) -> None:
    turn = parse(text)
    values = [turn.thought, turn.call and dict(turn.call.arguments), turn.answer and turn.answer.explanation]
    json.dumps([*values, turn.faults], allow_nan=False, ensure_ascii=False).encode()
    assert all(len(fault) <= 500 and "\n" not in fault for fault in turn.faults)
    assistant_message(text, "c1")
    score(text, "YES")


@given(damaged_text(STREAMS) | damaged_bytes(STREAMS), st.floats(0, 1))
def test_any_stream_of_a_server_is_read_or_refused_in_a_sentence(data: bytes, share: float) -> None:
    events, reply = ServerEvents(), Reply()
    cut = int(share * len(data))
    text = ""
    with refused_by(MalformedStream):
        for event in events.feed(data[:cut]) + events.feed(data[cut:]) + events.end():
            if event != "[DONE]":
                text += reply.add(delta_of(parsed(event)))
    parse(text + reply.end())


@given(damaged_json(trajectories()))
def test_any_trajectory_is_read_or_refused_in_a_sentence(text: bytes) -> None:
    value = json_or_none(text)
    if not isinstance(value, dict):
        return
    with refused_by(TrajectoryError):
        published = "conversations" in value
        trajectory = Trajectory.from_sharegpt(value) if published else Trajectory.from_json(value)
        written = json.dumps(trajectory.to_json(), allow_nan=False, ensure_ascii=False).encode()
        assert Trajectory.from_json(json.loads(written)) == trajectory
        trajectory.content_hash()
        trajectory.problems()
        trajectory.to_messages()
        assert all(zoom.window_observed is None or len(zoom.window_observed) == 2 for zoom in trajectory.zooms)
