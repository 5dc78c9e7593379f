"""GRPO's log-probabilities with random weights of many layers. Each token is improbable there, so that a fault in
positions, masks or pictures shows, which a tiny model that has learned, sure of each token, hides.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.models.support.learned_set import asked
from tests.models.support.rollouts import DRAFTER, log_probabilities, settings_for
from training.data import questions
from training.grpo.learning import arguments_of, trainer_of
from training.grpo.rollout import Limits, run_rollouts
from training.miniature.model import Size, model_for
from training.model import load, processor
from training.render import Renderer
from training.run import Run
from training.settings import ModelSettings

pytestmark = pytest.mark.usefixtures("imported")

LAYERS, SCALE = 36, 4.0
"""Weights of a width of 128, times four, carry as much from layer to layer as those of a width of 2,048."""
SAME, FAULT = 1e-3, 0.02
"""Largest difference of a log-probability by the order of sums in float32; least mean difference by a fault."""


@pytest.fixture(scope="module")
def model(random_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch

    folder = tmp_path_factory.mktemp("many") / "model"
    reads = processor(ModelSettings(str(random_model)))
    torch.manual_seed(0)
    deep = model_for(reads.tokenizer, Size(layers=LAYERS))
    for weight in deep.parameters():
        weight.data *= SCALE if weight.dim() > 1 else 1.0
    deep.save_pretrained(folder)
    reads.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asked(tmp_path_factory.mktemp("questions") / "questions.jsonl")


@dataclass
class Scored:
    """Two sampled trajectories of different length as the trainer reads them, and their log-probabilities alone."""

    read: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    expected: list[Any]

    def gaps(self, **changes: Any) -> Any:
        """Return the absolute differences of the assistant's tokens, with some of the trainer's inputs changed."""
        import torch

        model, ids, mask, *rest = self.arguments
        with torch.no_grad():
            found, *_ = self.read(model, ids, changes.pop("attention_mask", mask), *rest, **{**self.options, **changes})
        return torch.cat([(row[: len(alone)] - alone).abs() for row, alone in zip(found, self.expected, strict=True)])


@pytest.fixture(scope="module")
def scored(model: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Scored:
    limits = {"max_turns": 2, "turn_tokens": 40, "response_tokens": 600}
    chosen = replace(settings_for(model, data, tmp_path_factory.mktemp("run")), rollouts=2, **limits)
    loaded, given = load(chosen.model), questions([data])
    trainer: Any = trainer_of(chosen, loaded, given, Run(Path(chosen.output)), arguments_of(chosen, 2))
    trainer.model_wrapped = trainer.model
    read, calls = trainer._get_per_token_logps_and_entropies, []

    def recorded(*arguments: Any, **options: Any) -> Any:
        calls.append((arguments, options))
        return read(*arguments, **options)

    trainer._get_per_token_logps_and_entropies = recorded
    places = (0, 0, 2, 2)
    trainer._generate_and_score_completions([{**trainer.train_dataset[0], "question": place} for place in places])
    with trainer.writer.round(0):
        asked_again = [given[place] for place in places]
        found = run_rollouts(asked_again, Renderer(loaded.processor), trainer.writer, Limits(2, 40, 600), DRAFTER)
    assert len({len(rollout.prompt) for rollout in found.rollouts}) == 2, "some rows are padded"
    expected = [log_probabilities(trainer.model, loaded.processor, rollout) for rollout in found.rollouts]
    ((arguments, options),) = calls
    return Scored(read, arguments, options, expected)


def test_a_padded_batch_gives_what_each_conversation_gives_alone(scored: Scored) -> None:
    gaps = scored.gaps()
    assert len(gaps) == 4 * 40
    assert float(gaps.max()) < SAME
    assert min(float(alone.mean()) for alone in scored.expected) < -3, "no token is sure"


@pytest.mark.parametrize("fault", ["positions of words", "padding is read", "another picture"])
def test_a_fault_shows(scored: Scored, fault: str) -> None:
    mask, options = scored.arguments[2], scored.options
    change = {
        "positions of words": {"mm_token_type_ids": options["mm_token_type_ids"] * 0},
        "padding is read": {"attention_mask": mask.clone().fill_(1)},
        "another picture": {"pixel_values": options["pixel_values"].flip(0)},
    }[fault]
    assert float(scored.gaps(**change).mean()) > FAULT


def test_a_real_vllm_gives_the_same(model: Path, data: Path, tmp_path: Path) -> None:
    if find_spec("vllm") is None:
        pytest.skip("no vllm in this Python: run make test-models")
    line = [sys.executable, "-m", "tests.models.support.colocated", model, data, tmp_path / "run", "1"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run([*map(str, line)], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-3000:]
    (found,) = json.loads(done.stdout.splitlines()[-1])["rounds"]
    assert found["tokens"] > 100
    assert found["gap"] < FAULT / 2, "its kernels round in other places: 0.004 was measured"
