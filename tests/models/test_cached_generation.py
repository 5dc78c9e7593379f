"""Generation with a KV cache over the turns, compared with the same model reading each conversation alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agent import tool
from tests.models.support.rollouts import Generator, alone, generation, largest_gap, question, rolled
from training.grpo.cached import CachedGeneration
from training.grpo.generators import forbidden_ids
from training.grpo.rollout import Request
from training.model import Loaded, load
from training.render import Rendered, Renderer
from training.settings import ModelSettings


@pytest.fixture(scope="module")
def loaded(tiny_model: Path) -> Loaded:
    return load(ModelSettings(str(tiny_model), dtype="float32"))


def test_greedy_turns_are_those_of_the_model_without_a_cache(loaded: Loaded) -> None:
    mixed = [question("cv", 1), question("cv", 1), question("dme", 2), question("wd", 3, "wd"), question("cv", 1)]
    tokenizer = loaded.processor.tokenizer
    forbidden = forbidden_ids(tokenizer)
    found = rolled(loaded, mixed, Generator(generation(loaded)))
    assert len({len(one.completion) for one in found}) > 1, "the conversations have different lengths"
    assert any(len(one.turns) > 1 for one in found)
    for one in found:
        whole = one.prompt + one.completion
        logits = alone(loaded.model, loaded.processor, whole)
        logits[:, forbidden] = float("-inf")
        for at, spoken in enumerate(one.completion.spoken, len(one.prompt)):
            if spoken:
                assert int(logits[at - 1].argmax()) == whole.ids[at]


def test_sampled_conversations_are_read_with_the_right_probabilities(loaded: Loaded) -> None:
    """The next token of every conversation, after turns of different lengths, has the logits of a whole reading."""
    import torch

    seen: list[tuple[list[Rendered], Any]] = []

    class Watched(CachedGeneration):
        def _read(self, batch: Any, given: Sequence[Rendered]) -> Any:
            logits = super()._read(batch, given)
            seen.append((list(given), logits.clone()))
            return logits

    plain = generation(loaded, at_once=4)
    watched = Watched(plain.model, plain.processor, plain.ends, plain.forbidden, 4)
    rolled(loaded, [question("cv", n // 3) for n in range(9)], Generator(watched, sampled=True))
    assert len(seen) > 3, "some conversations went to a second turn"
    for given, logits in seen:
        for one, row in zip(given, logits, strict=True):
            assert torch.allclose(row, alone(loaded.model, loaded.processor, one)[-1], atol=2e-4)


def test_the_probability_of_each_sampled_token_is_that_of_a_forward_pass(loaded: Loaded) -> None:
    """What is learned from was sampled from the model that learns: token by token, over several turns."""
    recorded = generation(loaded, at_once=4, logprobs=True)
    found = rolled(loaded, [question("cv", n // 3) for n in range(9)], Generator(recorded, sampled=True))
    gap, compared = largest_gap(loaded, found)
    assert gap < 2e-4
    assert compared > 500


def test_equal_questions_are_read_once(loaded: Loaded) -> None:
    widths = []

    class Counted(CachedGeneration):
        def _read(self, batch: Any, given: Sequence[Rendered]) -> Any:
            widths.append(len(given))
            return super()._read(batch, given)

    plain = generation(loaded)
    counted = Counted(plain.model, plain.processor, plain.ends, plain.forbidden, 16)
    rolled(loaded, [question("cv", 1)] * 6 + [question("dme", 2)] * 6, Generator(counted))
    assert widths[0] == 2


def test_a_turn_keeps_to_its_own_limit(loaded: Loaded) -> None:
    renderer = Renderer(loaded.processor)
    given = question("cv", 1)
    opening = renderer.opening("You are a helpful assistant.", given.task.prompt, tool.overview(given.spectrum()))
    writer = Generator(generation(loaded))
    written = writer.write([Request(opening, 3, 0), Request(opening, 9, 1)])
    assert [len(one.ids) for one in written] == [3, 9]
    assert written[0].ids == written[1].ids[:3]
