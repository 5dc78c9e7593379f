"""A conversation reaches a Spec-o3 model as it was trained, and its beginning never changes."""

import json
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from agent.conversation import Conversation, Exchange
from agent.policies.spec_o3 import messages
from agent.simulate import simulate
from agent.tasks import load
from agent.tool import Observation
from agent.trajectory import Trajectory
from agent.trajectory.steps import Zoom
from agent.trajectory.tags import turn_text
from tests.agent.trajectory.test_messages import STOCK, as_trajectory, published_cases

SPECTRUM = simulate("cv", "LAMOST", 30, 3)
TASK = load()["cv"]
PICTURE = Image.new("RGBA", (8, 8), "white")
OPENING = "<|im_start|>assistant\n"


def seen(zoom: Zoom) -> Observation:
    return Observation(zoom.observation, PICTURE if zoom.ok else None, zoom.ok, None, "observed", 0.0)


def conversation(trajectory: Trajectory) -> tuple[Conversation, list[str]]:
    """What was said before the last turn, if that is not answered; and what is still to be said."""
    exchanges, unanswered = [], []
    for turn in trajectory.turns():
        zoom = turn[-1]
        if isinstance(zoom, Zoom) and zoom.observation:
            exchanges.append(Exchange(turn_text(turn), seen(zoom)))
        else:
            unanswered.append(turn_text(turn))
    task = SimpleNamespace(prompt=trajectory.prompt)
    return Conversation(SPECTRUM, task, PICTURE, 8, tuple(exchanges), trajectory.system), unanswered


def rendered(found: list[dict]) -> str:
    """As a server does: each picture a block of type image, then the stock template."""
    as_images = [
        message | {"content": [{"type": "image"} if b["type"] == "image_url" else b for b in message["content"]]}
        for message in found
    ]
    return STOCK.render(messages=as_images)


def test_a_conversation_is_sent_as_the_published_template_wrote_it(shared):
    cases = published_cases(shared)
    assert len(cases) >= 5
    for case in cases:
        before, unanswered = conversation(as_trajectory(case["messages"]))
        text = rendered(messages(before))
        text += "".join(f"{OPENING}{turn}<|im_end|>\n" for turn in unanswered)
        assert text == case["text"]


def test_a_picture_is_sent_as_a_png_data_url():
    before = Conversation(SPECTRUM, TASK, PICTURE, 8)
    block = messages(before)[1]["content"][0]
    assert block["type"] == "image_url"
    assert block["image_url"]["url"].startswith("data:image/png;base64,iVBOR")


@pytest.mark.parametrize("text", ["no tags at all", "<think>a\r\nb</think>", " \n", "Grüße <|im_start|>"])
def test_a_turn_is_sent_again_as_it_was_written(text):
    exchange = Exchange(text, Observation("Error: no.", None, False, None, "observed", 0.0))
    found = messages(Conversation(SPECTRUM, TASK, PICTURE, 7, (exchange,)))
    assert found[2] == {"role": "assistant", "content": [{"type": "text", "text": text}]}
    assert found[3]["content"][-1]["text"] == "Error: no.\n</tool_response>"


def test_the_mark_of_a_turns_end_is_not_sent_twice():
    exchange = Exchange("<think>a</think><|im_end|>", seen(Zoom("s1", {}, observation="Seen.", ok=True)))
    text = rendered(messages(Conversation(SPECTRUM, TASK, PICTURE, 7, (exchange,))))
    assert "<think>a</think><|im_end|>\n<|im_start|>user" in text


observations = st.builds(
    lambda text, ok: Observation(text, PICTURE if ok else None, ok, None, "observed", 0.0),
    st.text(max_size=60),
    st.booleans(),
)
exchanges = st.lists(st.builds(Exchange, st.text(max_size=80), observations), min_size=1, max_size=7)


@given(exchanges)
def test_what_was_sent_before_is_the_beginning_of_what_is_sent_next(said):
    """Byte for byte, or the server reads the whole conversation anew each turn."""
    sent = []
    for number in range(len(said) + 1):
        found = messages(Conversation(SPECTRUM, TASK, PICTURE, 8 - number, tuple(said[:number])))
        sent.append([json.dumps(message) for message in found])
    for earlier, later in pairwise(sent):
        assert later[: len(earlier)] == earlier
        assert len(later) == len(earlier) + 2
