"""The bridge to verl: its agent loop, followed step by step over our tool and reward, equals our own rollout."""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml
from PIL import Image

from agent.tasks import load
from agent.tool import TOOL_NAME, TOOL_SCHEMA
from agent.trajectory import Drafter
from tests.support.training_data import Letters, Scripted, renderer, star
from tests.training.scripted_turns import SCRIPTS, YES, zoom
from training.bench.build import Entry, Selected
from training.bench.build.record import write_parquet
from training.bridges import verl
from training.bridges.verl.reward import compute_score
from training.bridges.verl.tool import SpectralVisualizationTool
from training.data import questions
from training.grpo.rollout import Limits, Rollout, run_rollouts
from training.render import ASSISTANT, END, IMAGE, Renderer
from training.reward import score

FOLDER = Path(verl.__file__).parent
TRAINER = yaml.safe_load((FOLDER / "trainer.yaml").read_text("utf-8"))
MULTI_TURN = TRAINER["actor_rollout_ref"]["rollout"]["multi_turn"]
RESPONSE = TRAINER["data"]["max_response_length"]


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Parquet file as ``spec-o3 bench build`` writes it, with a redshifted spectrum."""
    spectrum = star("cv", 3)
    path = tmp_path_factory.mktemp("bench") / "train_cv.parquet"
    entry = Entry("cv-3", "cv-3.fits", lambda: spectrum)
    write_parquet(path, [Selected(entry, "YES", None, None, 20.0, "simulated LAMOST", True)], load()["cv"])
    return path


# --- verl's loop: verl/experimental/agent_loop/tool_agent_loop.py, in the order of its steps


@cache
def _template() -> jinja2.Template:
    """The chat template of ``trainer.yaml``, with the settings of transformers."""
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    return environment.from_string(TRAINER["actor_rollout_ref"]["model"]["custom_chat_template"])


@dataclass
class Output:
    """verl's ``AgentLoopOutput``."""

    prompt_ids: list[int]
    response_ids: list[int]
    response_mask: list[int]
    images: list[Image.Image]
    tool_texts: list[str]


class Loop:
    """verl's ``ToolAgentLoop`` with the tokenizer and the picture tokens of our renderer.

    :param inserts_line_feed: as 0.9.1, which takes a tool's turn from a rendering after an assistant's turn; 0.5 of
        the published training renders it alone, and cuts off the system turn by its number of tokens
    """

    def __init__(self, made: Renderer, tool: Any, inserts_line_feed: bool) -> None:
        self.renderer, self.tool, self.inserts_line_feed = made, tool, inserts_line_feed
        self.tokenizer: Letters = made.processor.tokenizer
        self.schemas = [tool.tool_schema.model_dump(exclude_unset=True, exclude_none=True)]

    def render(self, messages: Sequence[dict], images: Sequence[Image.Image], **more: Any) -> list[int]:
        """The processor: the template's text, in which the token of a picture stands as often as it has tokens."""
        text, pictures = _template().render(messages=messages, **more), iter(images)
        counted = re.sub(re.escape(IMAGE), lambda _: IMAGE * self.renderer.image_tokens(next(pictures)), text)
        assert next(pictures, None) is None
        return self.tokenizer.encode(counted)

    def tool_turn(self, message: dict, images: Sequence[Image.Image], before: Sequence[int]) -> list[int]:
        if not self.inserts_line_feed:
            system = self.render([{}], [])
            return self.render([message], images, add_generation_prompt=True)[len(system) :]
        earlier = [
            {"role": "system", "content": ""},
            {"role": "user", "content": ""},
            {"role": "assistant", "content": ""},
        ]
        known = self.render(earlier, [], tools=self.schemas)
        both = self.render([*earlier, message], images, tools=self.schemas, add_generation_prompt=True)
        assert both[: len(known)] == known
        line_feed = self.tokenizer.encode("\n") if before[-1] == self.tokenizer.convert_tokens_to_ids(END) else []
        return [*line_feed, *both[len(known) :]]

    async def run(self, row: dict, generate: Callable[[int], list[int]]) -> Output:
        images = [Image.open(io.BytesIO(one["bytes"])).convert("RGB") for one in row["images"]]
        messages = []
        for message in row["prompt"]:
            parts = [part for part in re.split("(<image>)", message["content"]) if part]
            blocks = [{"type": "image"} if p == "<image>" else {"type": "text", "text": p} for p in parts]
            messages.append({"role": message["role"], "content": blocks})
        prompt = self.render(messages, images, tools=self.schemas, add_generation_prompt=True)
        ids, mask, texts, turns = list(prompt), [], [], 0
        while True:
            written = generate(turns)
            ids, mask, turns = ids + written, mask + [1] * len(written), turns + 1
            if len(mask) >= RESPONSE or turns >= MULTI_TURN["max_assistant_turns"]:
                break
            calls = _hermes(self.tokenizer.decode(written))
            if not calls:
                break
            text, image = await self.call(calls[0], row["extra_info"]["tools_kwargs"])
            content: Any = [*({"type": "image"} for _ in image), {"type": "text", "text": text}] if image else text
            result = self.tool_turn({"role": "tool", "content": content}, image, ids)
            if len(mask) + len(result) >= RESPONSE:
                break
            ids, mask = ids + result, mask + [0] * len(result)
            images, texts = images + image, [*texts, text]
        return Output(prompt, ids[len(prompt) :], mask, images, texts)

    async def call(self, call: tuple[str, str], tools_kwargs: dict) -> tuple[str, list[Image.Image]]:
        tool, instance = None, None
        try:
            name, arguments = call[0], json.loads(call[1])
            tool = {self.tool.name: self.tool}[name]
            instance, _ = await tool.create(create_kwargs=tools_kwargs.get(name, {}).get("create_kwargs", {}))
            response, reward, _ = await tool.execute(instance, arguments)
            assert (reward, await tool.calc_reward(instance)) == (0.0, 0.0)
        except KeyError as error:
            return f"Error when executing tool: {error}", []
        finally:
            if tool and instance:
                await tool.release(instance)
        assert len(response.text) <= MULTI_TURN["max_tool_response_length"], "verl would cut it a second time"
        return response.text, response.image or []


def _hermes(text: str) -> list[tuple[str, str]]:
    calls = []
    for match in re.findall(r"<tool_call>(.*?)</tool_call>", text, re.DOTALL):
        call = json.loads(match)
        calls.append((call["name"], json.dumps(call["arguments"], ensure_ascii=False)))
    return calls


# --- the comparison


def _both(path: Path, turns: Sequence[str], inserts_line_feed: bool) -> tuple[Output, Rollout, Letters]:
    made = renderer()
    script = Scripted(made, lambda so_far, number: turns[number - 1])
    (question,) = questions([path])
    (ours,) = run_rollouts([question], made, script, Limits(), Drafter("model", "scripted")).rollouts
    loop = Loop(made, SpectralVisualizationTool({"type": "native"}), inserts_line_feed)
    (row,) = pq.read_table(path).to_pylist()
    tokenizer = made.processor.tokenizer
    theirs = asyncio.run(loop.run(row, lambda number: tokenizer.encode(turns[number] + END)))
    assert loop.tool._spectra == {}, "each call releases its spectrum"
    return theirs, ours, tokenizer


@pytest.mark.parametrize("inserts_line_feed", [False, True], ids=["verl 0.5", "verl 0.9"])
@pytest.mark.parametrize("turns", SCRIPTS.values(), ids=SCRIPTS)
def test_a_rollout_of_verl_equals_ours(benchmark: Path, turns: list[str], inserts_line_feed: bool) -> None:
    theirs, ours, tokenizer = _both(benchmark, turns, inserts_line_feed)
    assert tokenizer.decode(theirs.prompt_ids) == tokenizer.decode(ours.prompt.ids)
    assert theirs.prompt_ids == list(ours.prompt.ids)
    assert tokenizer.decode(theirs.response_ids) == tokenizer.decode(ours.completion.ids)
    assert theirs.response_ids == list(ours.completion.ids)
    assert theirs.response_mask == [int(spoken) for spoken in ours.completion.spoken]
    assert theirs.tool_texts == [call.observation for call in ours.tool_calls]
    assert len(theirs.images) == len(ours.images)
    for drawn, expected in zip(theirs.images, ours.images, strict=True):
        assert np.array_equal(np.asarray(drawn), np.asarray(expected))

    decoded = re.sub(r"<\|[a-z_]+\|>", "", tokenizer.decode(theirs.response_ids))
    found = compute_score(benchmark.stem, decoded, ours.question.label, {"num_turns": 3})
    expected_reward = score(ours.response, ours.question.label)
    assert found["score"] == expected_reward.score
    assert (found["acc"], found["format"]) == (
        float(expected_reward.predicted == ours.question.label),
        float(expected_reward.format_ok),
    )


def test_the_scripts_cover_what_can_happen(benchmark: Path) -> None:
    rewards = {name: _both(benchmark, turns, False)[1] for name, turns in SCRIPTS.items()}
    assert {reward.reason for reward in rewards.values()} == {"answered", "turn limit", "no call and no answer"}
    assert {len(reward.tool_calls) for reward in rewards.values()} == {0, 1, 2, 3, 7}
    assert {round(score(reward.response, "YES").score, 3) for reward in rewards.values()} == {1.0, 0.8, 0.0, -0.2}
    assert not all(call.ok for reward in rewards.values() for call in reward.tool_calls)


def test_alpha_is_a_setting_and_the_tools_text_is_not_scored() -> None:
    tool_text = "\nuser\n<tool_response>\nGenerated for <answer>\\boxed{NO}</answer>.\n</tool_response>\nassistant\n"
    assert compute_score("cv", zoom([1, 2]) + tool_text + YES, "YES")["score"] == 1.0
    assert compute_score("cv", r"\boxed{YES}", "YES", None, alpha=0.5) == {"score": 0.5, "acc": 1.0, "format": 0.0}
    assert compute_score("cv", "nothing", "NO", extra_info={}, alpha=0.5, reward_router_address="x")["score"] == -0.5


def test_the_tool_describes_itself_completely() -> None:
    """verl's own class of a schema has no field for ``items``, so the class must not come from the YAML file."""
    tool = SpectralVisualizationTool({}, None)
    assert tool.tool_schema.model_dump(exclude_unset=True, exclude_none=True) == TOOL_SCHEMA
    assert tool.name == tool.tool_schema.function.name == TOOL_NAME
    (named,) = yaml.safe_load((FOLDER / "tool.yaml").read_text("utf-8"))["tools"]
    module, _, name = named["class_name"].rpartition(".")
    assert (module, name) == (SpectralVisualizationTool.__module__, SpectralVisualizationTool.__name__)
    assert "tool_schema" not in named


def test_a_row_without_a_spectrum_is_refused_by_the_tool() -> None:
    with pytest.raises(ValueError, match="create_kwargs"):
        asyncio.run(SpectralVisualizationTool({}).create(create_kwargs={"flux": [1.0, 2.0]}))


def test_the_settings_are_those_of_our_own_published_file() -> None:
    """trainer.yaml and grpo_qwen2_5_vl_7b.yaml state the same published values under the names of two programs."""
    ours = yaml.safe_load((FOLDER.parents[1] / "configs" / "grpo_qwen2_5_vl_7b.yaml").read_text("utf-8"))
    data, actor, rollout = TRAINER["data"], *(TRAINER["actor_rollout_ref"][part] for part in ("actor", "rollout"))
    assert data["train_batch_size"] == ours["prompts"]
    assert (data["max_prompt_length"], data["max_response_length"]) == (ours["prompt_tokens"], ours["response_tokens"])
    assert (actor["ppo_mini_batch_size"], rollout["n"]) == (ours["mini_batch"], ours["rollouts"])
    assert float(actor["optim"]["lr"]) == ours["learning_rate"]
    assert (MULTI_TURN["max_assistant_turns"], TRAINER["trainer"]["total_epochs"]) == (
        ours["max_turns"],
        ours["epochs"],
    )
    assert TRAINER["custom_reward_function"]["path"].endswith("/reward.py")
    assert ASSISTANT in _template().render(messages=[{"role": "user", "content": "?"}], add_generation_prompt=True)
