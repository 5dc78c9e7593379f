"""TRL's own GRPOTrainer with our tool and reward: its trajectories equal our rollouts for the same turns."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent.loop import NOT_RUN
from agent.tasks import load
from agent.tool import TOOL_SCHEMA
from agent.trajectory import Drafter
from tests.models.support.learned_traces import INSPECTED, shown
from training.bridges.trl_environment import (
    MAX_CALLS,
    RESPONSE_TEMPLATE,
    SpectralEnvironment,
    chat_template,
    reward,
    rows,
)
from training.data.records import Question
from training.grpo.rollout import GeneratedTurn, Limits, Request, run_rollouts
from training.render import END, Renderer
from training.reward import score


@pytest.fixture
def questions() -> list[Question]:
    tasks = load()
    return [
        Question(key, key, tasks[key], "YES", "simulated LAMOST", 20.0, True, partial(shown, key)) for key in INSPECTED
    ]


class Repeated:
    """Generates the turns of trajectories that exist already; ``ends`` as a generator has them."""

    def __init__(self, turns: Sequence[tuple[int, ...]], end: int) -> None:
        self.ends = frozenset([end])
        self._turns = list(turns)

    def any_waiting(self, waiting: int) -> bool:
        return waiting > 0

    def write(self, requests: Sequence[Request]) -> list[GeneratedTurn]:
        assert len(requests) == 1
        return [GeneratedTurn(self._turns.pop(0))]


def test_the_description_that_trl_makes_of_the_method_is_the_tools() -> None:
    pytest.importorskip("transformers")
    from transformers.utils import get_json_schema

    made = get_json_schema(SpectralEnvironment([]).spectral_visualization_tool)
    assert json.dumps(made) == json.dumps(TOOL_SCHEMA)


@pytest.mark.filterwarnings("ignore")  # TRL announces that the interface is experimental
def test_a_trajectory_of_trl_equals_our_rollout(tiny_model: Path, questions: list[Question], tmp_path: Path) -> None:
    pytest.importorskip("trl")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from trl import GRPOConfig, GRPOTrainer
    from datasets import Dataset
    from transformers import AutoProcessor

    generated: list[tuple[Any, ...]] = []

    class Recording(GRPOTrainer):
        def _generate(self, prompts: list[Any]) -> Any:
            generated.append(super()._generate(prompts))
            return generated[-1]

    processor = AutoProcessor.from_pretrained(tiny_model)
    processor.chat_template = processor.tokenizer.chat_template = chat_template()
    processor.tokenizer.response_template = RESPONSE_TEMPLATE
    rewarded: list[float] = []

    def kept(completions: Any, label: Any, **columns: Any) -> list[float]:
        rewarded.extend(found := reward(completions, label, **columns))
        return found

    trainer = Recording(
        model=str(tiny_model),
        reward_funcs=kept,
        args=GRPOConfig(
            output_dir=str(tmp_path),
            max_steps=1,
            per_device_train_batch_size=6,
            num_generations=2,
            max_completion_length=4096,
            max_tool_calling_iterations=MAX_CALLS,
            temperature=0.6,
            bf16=False,
            gradient_checkpointing=False,
            report_to="none",
            dataloader_pin_memory=False,
        ),
        train_dataset=Dataset.from_list(rows(questions)),
        environment_factory=partial(SpectralEnvironment, questions),
        processing_class=processor,
    )
    trainer.train()

    ((prompt_ids, completion_ids, tool_mask, _, _, _, images, _),) = generated
    end = processor.tokenizer.convert_tokens_to_ids(END)
    by_prompt = {question.task.prompt: question for question in questions}
    calls = 0
    for row in range(6):
        decoded = processor.tokenizer.decode(prompt_ids[row])
        (question,) = [one for prompt, one in by_prompt.items() if prompt in decoded]
        marked = zip(completion_ids[row], tool_mask[row], strict=True)
        turns = [tuple(token for token, _ in run) for spoken, run in groupby(marked, lambda pair: pair[1]) if spoken]
        writer = Repeated(turns, end)
        (ours,) = run_rollouts([question], Renderer(processor), writer, Limits(), Drafter("model", "tiny")).rollouts
        assert writer._turns == []
        assert prompt_ids[row] == list(ours.prompt.ids)
        assert completion_ids[row] == list(ours.completion.ids)
        assert tool_mask[row] == [int(spoken) for spoken in ours.completion.spoken]
        assert len(images[row]) == len(ours.images)
        for drawn, expected in zip(images[row], ours.images, strict=True):
            assert np.array_equal(np.asarray(drawn), np.asarray(expected))
        assert rewarded[row] == score(ours.response, question.label).score
        calls += sum(zoom.observation != NOT_RUN for zoom in ours.trajectory.zooms)
    assert calls > 0, "the tiny model zooms"
