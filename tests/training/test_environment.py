"""The environment of other trainers: its episodes equal the rollouts of our own."""

from __future__ import annotations

import json
import re

import jinja2
import numpy as np
import pytest

from agent.policies.local.chat_template import DIALECT
from agent.trajectory import Drafter
from tests.support.training_data import Scripted, question, renderer
from tests.training.scripted_turns import NO, SCRIPTS, YES, zoom
from training.bridges.environment import Environment
from training.grpo.rollout import Limits, Rollout, run_rollouts
from training.render import IMAGE, Renderer
from training.reward import score

DRAFTER = Drafter("model", "scripted")
QUESTION = question(seed=3)
MALFORMED = [
    "<think>First.</think><tool_call>\n{'wavelength_range': [6500, 6600]}\n</tool_call>",
    '<tool_call>{"name": "spectral_visualization_tool", "arguments": {"wavelength_range": [6500, 6600]',
    "<think>Done.</think><answer>YES</answer>",
]


def _rolled(made: Renderer, turns: list[str], with_tool: bool = True) -> Rollout:
    writer = Scripted(made, lambda so_far, number: turns[number - 1])
    (rollout,) = run_rollouts([QUESTION], made, writer, Limits(), DRAFTER, with_tool).rollouts
    return rollout


@pytest.mark.parametrize("turns", [*SCRIPTS.values(), MALFORMED], ids=[*SCRIPTS, "malformed calls"])
def test_an_episode_equals_a_rollout(turns: list[str]) -> None:
    made = renderer()
    rollout = _rolled(made, turns)
    environment = Environment(drafter=DRAFTER)
    messages = environment.reset(QUESTION)
    steps = [environment.step(text) for text in turns]

    assert environment.trajectory == rollout.trajectory
    assert [step.done for step in steps] == [False] * (len(turns) - 1) + [True]
    assert steps[-1].info["reason"] == rollout.reason
    expected = score(rollout.response, QUESTION.label)
    assert [step.reward for step in steps] == [0.0] * (len(turns) - 1) + [expected.score]
    assert environment.reward() == expected
    assert steps[-1].info["format_ok"] == expected.format_ok
    assert len(environment.pictures) == len(rollout.images)
    for drawn, rolled in zip(environment.pictures, rollout.images, strict=True):
        assert np.array_equal(np.asarray(drawn), np.asarray(rolled))

    # The messages, in Qwen2.5-VL's own chat template, are the text of the rollout's tokens.
    for text, step in zip(turns, steps, strict=True):
        messages.append({"role": "assistant", "content": [{"type": "text", "text": text}]})
        messages += [] if step.observation is None else [step.observation]
    assert messages == environment.messages
    pictures = iter(environment.pictures)
    written = jinja2.Template(DIALECT).render(messages=messages)
    counted = re.sub(re.escape(IMAGE), lambda _: IMAGE * made.image_tokens(next(pictures)), written)
    assert counted.removesuffix("\n") == made.processor.tokenizer.decode((rollout.prompt + rollout.completion).ids)


def test_without_the_tool_there_is_one_turn() -> None:
    environment = Environment(with_tool=False, drafter=DRAFTER)
    system = environment.reset(QUESTION)[0]
    assert "<tools>" not in json.dumps(system)
    observation, reward, done, info = environment.step(NO)
    assert (observation, reward, done, info["predicted"]) == (None, 0.0, True, "NO")
    assert environment.trajectory == _rolled(renderer(), [NO], with_tool=False).trajectory


def test_an_environment_is_used_again_from_the_beginning() -> None:
    environment = Environment(max_turns=2, alpha=0.5, drafter=DRAFTER)
    environment.reset(QUESTION)
    environment.step(zoom([6500, 6600]))
    first = environment.reset(QUESTION)  # in the middle of an episode
    assert (len(environment.messages), len(environment.pictures)) == (2, 1)
    assert environment.step(zoom([4800, 4920])).info["ok"] is True
    ended = environment.step(r"\boxed{YES}")
    assert (ended.reward, ended.done) == (0.5, True)
    assert [zoom.arguments["wavelength_range"] for zoom in environment.trajectory.zooms] == [[4800, 4920]]
    again = environment.reset(QUESTION)
    assert [message["role"] for message in again] == [message["role"] for message in first] == ["system", "user"]
    assert environment.step(YES).reward == 1.0


def test_a_step_without_an_episode_is_refused() -> None:
    environment = Environment()
    with pytest.raises(RuntimeError, match=r"expected reset\(\) first"):
        environment.step(YES)
    with pytest.raises(RuntimeError, match=r"expected reset\(\) first"):
        environment.reward()
    environment.reset(QUESTION)
    with pytest.raises(RuntimeError, match="expected steps until done"):
        assert environment.trajectory
    environment.step(YES)
    with pytest.raises(RuntimeError, match=r"expected reset\(\) first"):
        environment.step(YES)
