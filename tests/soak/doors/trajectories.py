"""Traces and what they grow from: a model's turns, a server's stream, the journal of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agent.batch.journal import Journal, JournalError
from agent.policies.native_replies import Reply, assistant_message
from agent.policies.openai.stream import BadStream, Delta, ServerEvents, delta_of, parsed
from agent.trajectory import Trajectory, tags
from agent.trajectory.steps import TrajectoryError
from tests.soak.doors.samples import a_trajectory, json_or_none, sharegpt_rows
from tests.soak.mutations import spoiled_json, spoiled_text
from tests.soak.trying import DidNotHold, Door, Try, refused_by
from training.reward import score


def trajectories() -> list[bytes]:
    rows = [a_trajectory().to_json(), a_trajectory(redshift=0.1, faults=("a fault",)).to_json()]
    return [json.dumps(row, ensure_ascii=False).encode() for row in rows] + sharegpt_rows()[1:]


def turns() -> list[bytes]:
    arguments = '{"wavelength_range": [4010, 4060.5], "label": "Hα"}'
    call = f'{{"name": "spectral_visualization_tool", "arguments": {arguments}}}'
    quoted = json.dumps({"name": "x", "arguments": '{"wavelength_range": [1e999, NaN]}'})
    texts = (
        f"<think>Look.</think>\n<tool_call>\n{call}\n</tool_call>",
        "<think>Seen.</think><answer>\\boxed{YES} Broad.</answer>",
        f"I look. {call}",
        f"<tool_call>{call[:-2]}</tool_call><tool_call>{{'wavelength_range': (1, 2)}}</tool_call>",
        "<answer>**no**</answer></think>\\boxed{NO}<|im_end|>",
        f"<tool_call>```json\n{quoted}\n```</tool_call>",
        "\x03b1 H\x02 \x1b[31m \x00b1 5 6500\x005",
    )
    return [text.encode() for text in texts]


def streams() -> list[bytes]:
    def event(**delta: Any) -> str:
        return "data: " + json.dumps({"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})

    call = {
        "index": 0,
        "id": "c",
        "function": {"name": "spectral_visualization_tool", "arguments": '{"label": "x"}'},
    }
    told = [
        event(role="assistant", content="<think>Lo"),
        event(content="ok.</think>"),
        event(reasoning_content="hm <answer>"),
    ]
    told += [event(tool_calls=[call]), event(tool_calls=[call | {"id": None}])]
    usage = 'data: {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 7}}'
    return [
        "\n\n".join([*told, usage, "data: [DONE]", ""]).encode(),
        b": alive\n\ndata: {}\n\ndata: {\ndata: }\n\n",
    ]


def journals() -> list[bytes]:
    row = a_trajectory().to_json() | {"source": {"file": "a.fits", "target": ""}, "sample": 0}
    return [(json.dumps(row) + "\n" + json.dumps(row | {"sample": 1}) + "\n").encode()]


def _trajectory(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        value = json_or_none(data)
        if isinstance(value, dict):
            with refused_by(TrajectoryError):
                _same_again(
                    Trajectory.from_sharegpt(value) if "conversations" in value else Trajectory.from_json(value)
                )

    return attempt


def _same_again(trajectory: Trajectory) -> None:
    text = json.dumps(trajectory.to_json(), allow_nan=False, ensure_ascii=False).encode()
    if Trajectory.from_json(json.loads(text)) != trajectory:
        raise DidNotHold("a trajectory that its own JSON form does not give back")
    trajectory.content_hash()
    trajectory.problems()
    trajectory.to_messages()
    for zoom in trajectory.zooms:
        assert zoom.window_observed is None or len(zoom.window_observed) == 2


def _turn(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        text = (
            data.decode("utf-8", "surrogatepass" if len(data) % 2 else "replace")
            if _is_text(data)
            else data.decode("latin-1")
        )
        turn = tags.parse(text)
        steps = {
            "thought": turn.thought,
            "call": turn.call and dict(turn.call.arguments),
            "faults": turn.faults,
        }
        if turn.answer:
            steps["answer"] = turn.answer.explanation
        json.dumps(steps, allow_nan=False, ensure_ascii=False).encode()
        for fault in turn.faults:
            if "\n" in fault or len(fault) > 500:
                raise DidNotHold(f"a fault of {len(fault)} characters: {fault[:80]!r}")
        assistant_message(text, "c1")
        score(text, "YES")

    return attempt


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _stream(folder: Path) -> Try:
    """What a model server streams, cut at any place, to tagged text and on to a turn."""

    def attempt(data: bytes) -> None:
        events, reply = ServerEvents(), Reply()
        text = ""
        with refused_by(BadStream):
            cut = len(data) // 3
            told = events.feed(data[:cut]) + events.feed(data[cut:]) + events.end()
            for event in (one for one in told if one != "[DONE]"):
                delta: Delta = delta_of(parsed(event))
                text += reply.add(delta)
        text += reply.end()
        tags.parse(text)

    return attempt


def _journal(folder: Path) -> Try:
    settings = {"task": "cv", "n": 1}

    def attempt(data: bytes) -> None:
        path = folder / "results.jsonl"
        path.write_bytes(data)
        (folder / "results.jsonl.run.json").write_text(json.dumps({"schema": "spec-o3/run/1"} | settings), "utf-8")
        with refused_by(JournalError, where=folder), Journal(path, settings) as journal:
            for inspected in journal.inspected():
                _ = inspected.file

    return attempt


DOORS = (
    Door("trajectory", _trajectory, trajectories, spoiled_json),
    Door("turn", _turn, turns, spoiled_text),
    Door("stream", _stream, streams, spoiled_text),
    Door("journal", _journal, journals, spoiled_json),
)
