"""What a model is told, and what the loop does, where there is no tool to look closer with."""

from __future__ import annotations

from collections.abc import Iterator

from agent.conversation import Conversation, Piece
from agent.loop import Ended, Started, inspect
from agent.policies.baseline.rule import Baseline
from agent.policies.native import Native
from agent.policies.openai.endpoint import Endpoint
from agent.policies.spec_o3 import messages
from agent.simulate import simulate
from agent.tasks import load
from agent.trajectory import Drafter, Zoom


class Asked:
    """Looks first, whatever it is told; keeps the conversation it was given."""

    drafter = Drafter("model", "asked")

    def __init__(self, says: str) -> None:
        self.says = says
        self.seen: list[Conversation] = []

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        self.seen.append(conversation)
        yield self.says


LOOK = '<think>a</think><tool_call>{"name": "spectral_visualization_tool", "arguments": {}}</tool_call>'


def test_one_turn_and_no_word_of_a_tool() -> None:
    policy = Asked(r"<think>a</think><answer>\boxed{NO} b</answer>")
    started, *_, ended = inspect(
        simulate("cv", "LAMOST", 20.0, seed=1), load()["cv"], policy, max_turns=8, with_tool=False
    )
    assert isinstance(started, Started)
    assert isinstance(ended, Ended)
    assert started.max_turns == 1
    assert ended.reason == "answered"
    assert ended.trajectory.drafter.settings["with_tool"] is False
    (conversation,) = policy.seen
    assert messages(conversation)[0]["content"] == [{"type": "text", "text": conversation.system}]
    native = Native(Endpoint("http://127.0.0.1:9/v1")).messages(conversation)
    assert "no tool" in native[0]["content"]
    assert "call the tool" not in native[0]["content"]


def test_a_call_is_not_run() -> None:
    *_, ended = inspect(simulate("cv", "LAMOST", 20.0, seed=1), load()["cv"], Asked(LOOK), max_turns=8, with_tool=False)
    assert isinstance(ended, Ended)
    assert ended.reason == "turn limit"
    (zoom,) = (step for step in ended.trajectory.steps if isinstance(step, Zoom))
    assert not zoom.ok
    assert zoom.picture is None


def test_the_baseline_answers_at_once() -> None:
    *_, ended = inspect(simulate("cv", "LAMOST", 20.0, seed=1), load()["cv"], Baseline(), with_tool=False)
    assert isinstance(ended, Ended)
    assert ended.reason == "answered"
    assert not ended.trajectory.zooms
