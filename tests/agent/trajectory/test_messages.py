"""Under the stock chat template our messages give the text that the published template gave."""

import json
from itertools import pairwise
from pathlib import Path

import jinja2
import pytest
from hypothesis import given

from agent.trajectory import Answer, Drafter, Think, Trajectory, TrajectoryError, Zoom, parse
from tests.support.strategies import trajectories

# Qwen2.5-VL's stock rule: every turn between its marks, blocks one after the other, an image as three tokens.
STOCK = jinja2.Template(
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% for block in message.content %}"
    "{% if block.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% else %}{{ block.text }}{% endif %}"
    "{% endfor %}<|im_end|>\n{% endfor %}",
    keep_trailing_newline=True,
)


def published_cases(shared: Path) -> list[dict]:
    """The cases one tool call a turn can say: with the tool block, nothing left to generate."""
    lines = (shared / "conformance" / "chat_template_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["tools"] and not case["add_generation_prompt"]]
    return [case for case in cases if not _two_tool_turns(case["messages"])]


def _two_tool_turns(messages: list[dict]) -> bool:
    roles = [message["role"] for message in messages]
    return ("tool", "tool") in pairwise(roles)


def as_trajectory(messages: list[dict]) -> Trajectory:
    """The trajectory that the published messages tell."""
    steps, prompt = [], ""
    for message in messages:
        content = message["content"]
        if message["role"] == "user":
            prompt = content[1]["text"].removeprefix("\n")
        elif message["role"] == "assistant":
            turn = parse(content)
            call = message.get("tool_calls", [{}])[0].get("function") or turn.call
            steps.append(Think(f"s{len(steps)}", turn.thought))
            if call:
                arguments = call["arguments"] if isinstance(call, dict) else call.arguments
                steps.append(Zoom(f"s{len(steps)}", arguments))
            else:
                steps.append(Answer(f"s{len(steps)}", turn.answer.verdict, turn.answer.explanation))
        elif message["role"] == "tool":
            zoom, ok = steps.pop(), not isinstance(content, str)
            text = content[1]["text"] if ok else content
            steps.append(Zoom(zoom.id, zoom.arguments, observation=text, ok=ok))
    return Trajectory("cc", prompt, "", None, tuple(steps), Drafter("unknown", ""))


def test_a_trajectory_reaches_the_model_as_the_published_template_wrote_it(shared):
    cases = published_cases(shared)
    assert len(cases) >= 5
    for case in cases:
        messages = as_trajectory(case["messages"]).to_messages()
        assert STOCK.render(messages=messages) == case["text"]


@given(trajectories())
def test_there_is_a_place_for_every_picture_and_every_turn_but_the_last_is_answered(trajectory):
    wanted = len(trajectory.pictures)
    messages = trajectory.to_messages([f"{n}.png" for n in range(wanted)])
    blocks = [block for message in messages for block in message["content"]]
    assert [b["image"] for b in blocks if b["type"] == "image"] == [f"{n}.png" for n in range(wanted)]
    roles = [message["role"] for message in messages]
    assert roles == ["system", "user"] + ["assistant", "user"] * len(trajectory.zooms) + ["assistant"]


def test_too_few_pictures_are_refused():
    trajectory = Trajectory("cc", "?", "", None, (), Drafter("unknown", ""))
    with pytest.raises(TrajectoryError, match="images: found 0, wanted 1"):
        trajectory.to_messages([])
