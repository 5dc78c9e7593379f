"""GRPO: real rounds of a real small model, compared with its traces token by token."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent.loop import Ended, inspect
from agent.policies import Sampling
from agent.policies.local.policy import Local
from agent.tasks import load as load_tasks
from agent.trajectory import Drafter
from agent.trajectory.tags import turn_text
from app import main
from tests.models.support.learned_set import asked
from tests.models.support.learned_traces import inspected, shown
from tests.models.support.rollouts import log_probabilities, runs, settings_for
from training.data import questions
from training.data.records import Question
from training.grpo import evidence, generators
from training.grpo.generators import TransformersGenerator, forbidden_ids
from training.grpo.learning import arguments_of, train, trainer_of
from training.grpo.rollout import Continuation, Limits, Request, Rollout, continue_rollouts, run_rollouts
from training.grpo.round import RoundBatch, RoundRunner
from training.grpo.settings import GrpoSettings
from training.grpo.trainer import _weigh
from training.miniature.examples import Errors, phrases, script_of, texts
from training.miniature.examples import inspected as inspected_by_script
from training.miniature.model import model_for, processor_for, shrunk
from training.miniature.spectra import questions as miniature_questions
from training.miniature.stages import SCALES
from training.model import Loaded, load
from training.render import END, Rendered, Renderer
from training.reward import Reward, score
from training.run import Run
from training.settings import ModelSettings, to_yaml
from training.sft import SftSettings
from training.sft import train as train_sft

pytestmark = pytest.mark.usefixtures("imported")

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 300  # seconds after which waiting for a process is given up
CLOCK = ("seconds", "seconds_writing", "seconds_drawing", "seconds_learning")
MEASURED = {
    *("step", "round", "epoch", "loss", "grad_norm", "learning_rate"),
    *("reward", "reward_std", "format_rate", "answer_rate", "yes_rate", "accuracy", "no_spread"),
    *("calls", "tool_error_rate", "turns", "tokens", "tokens_max", "spoken", "spoken_max", "truncated"),
    *("masked", "clip_low", "clip_high", "entropy", "kl_old", *CLOCK),
}
NOT_OF_A_ROUND = {
    *("step", "round", "epoch", "loss", "grad_norm", "learning_rate"),
    *("clip_low", "clip_high", "entropy", "kl_old", *CLOCK),
}
EVIDENCE = {"evidence", "evidence_tested", "removal_followed", "placebo_followed"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asked(tmp_path_factory.mktemp("questions") / "questions.jsonl")


@pytest.fixture(scope="module")
def question_list(data: Path) -> list[Question]:
    return questions([data])


@pytest.fixture
def settings(tiny_model: Path, data: Path, tmp_path: Path) -> GrpoSettings:
    return settings_for(tiny_model, data, tmp_path / "run")


@dataclass(frozen=True)
class Round:
    """One round as TRL prepared it for learning, and the same inspections run again separately."""

    trainer: Any
    loaded: Loaded
    renderer: Renderer
    output: dict[str, Any]
    rollouts: Sequence[Rollout]


@pytest.fixture(scope="module")
def one_round(
    tiny_model: Path, data: Path, question_list: list[Question], tmp_path_factory: pytest.TempPathFactory
) -> Round:
    settings = settings_for(tiny_model, data, tmp_path_factory.mktemp("round") / "run")
    loaded = load(settings.model)
    trainer = trainer_of(settings, loaded, question_list, Run(Path(settings.output)), arguments_of(settings, 2))
    trainer.model_wrapped = trainer.model
    trainer.model.train()
    rows = [dict(trainer.train_dataset[place]) for place in (0, 0, 0, 0, 1, 1, 1, 1)]
    output = trainer._generate_and_score_completions([dict(row) for row in rows])
    renderer = Renderer(loaded.processor)
    with trainer.writer.round(0):
        again = run_rollouts(
            [question_list[row["question"]] for row in rows],
            renderer,
            trainer.writer,
            Limits(settings.max_turns, settings.turn_tokens, settings.response_tokens),
            Drafter("model", "again"),
        )
    return Round(trainer, loaded, renderer, output, again.rollouts)


def spoken_of(one_round: Round) -> Any:
    return (one_round.output["completion_mask"] * one_round.output["tool_mask"]).bool()


def whole(rollout: Rollout) -> Rendered:
    return rollout.prompt + rollout.completion


def test_the_learned_tokens_are_the_sampled_tokens(one_round: Round) -> None:
    """This also shows that the same seed gives the same samples: two separate rollouts are compared."""
    output = one_round.output
    spoken = spoken_of(one_round)
    for row, rollout in enumerate(one_round.rollouts):
        prompt = output["prompt_ids"][row][output["prompt_mask"][row].bool()]
        assert prompt.tolist() == list(rollout.prompt.ids)
        completion = output["completion_mask"][row].bool()
        assert output["completion_ids"][row][completion].tolist() == list(rollout.completion.ids)
        assert spoken[row][completion].tolist() == list(rollout.completion.spoken)
        assert not spoken[row][~completion].any()
    assert output["num_items_in_batch"] == sum(sum(rollout.completion.spoken) for rollout in one_round.rollouts)
    assert output["num_images"] == [len(rollout.images) for rollout in one_round.rollouts]


def test_the_spoken_tokens_are_the_turns_of_the_trace(one_round: Round) -> None:
    tokenizer = one_round.loaded.processor.tokenizer
    for rollout in one_round.rollouts:
        found = runs(rollout.completion.ids, rollout.completion.spoken)
        texts = [tokenizer.decode(run).removesuffix(END).removesuffix("<|endoftext|>") for run in found]
        assert texts == list(rollout.turns)


def test_well_formed_traces_have_the_published_rendering(one_round: Round) -> None:
    tokenizer = one_round.loaded.processor.tokenizer
    well_formed = [
        rollout
        for rollout in one_round.rollouts
        if rollout.reason == "answered"
        and rollout.turns == tuple(turn_text(turn) for turn in rollout.trajectory.turns())
        and not rollout.trajectory.faults
    ]
    assert len(well_formed) >= 2
    for rollout in well_formed:
        expected = one_round.renderer.example(rollout.trajectory, rollout.images)
        assert tokenizer.decode(whole(rollout).ids) == tokenizer.decode(expected.ids)
        assert rollout.completion.images == expected.images[1:]


def test_rewards_are_scores_and_advantages_are_normalised_per_group(one_round: Round) -> None:
    scored = [score(rollout.response, rollout.question.label).score for rollout in one_round.rollouts]
    assert one_round.trainer.reward_funcs[0](None, None, None, scored=scored) == scored
    advantages = one_round.output["advantages"].tolist()
    assert any(advantages)
    for start in (0, 4):
        group = scored[start : start + 4]
        mean = sum(group) / 4
        spread = math.sqrt(sum((value - mean) ** 2 for value in group) / 3)
        expected = [(value - mean) / (spread + 1e-4) for value in group]
        assert advantages[start : start + 4] == pytest.approx(expected, abs=1e-4)


def test_the_trainers_probabilities_equal_those_without_a_batch(one_round: Round) -> None:
    """Compared without padding: pictures, positions and masks reach the model as in SFT and live."""
    import torch

    recorded, trainer = one_round.output["old_per_token_logps"], one_round.trainer
    for row, rollout in enumerate(one_round.rollouts):
        alone = log_probabilities(trainer.model, one_round.loaded.processor, rollout)
        spoken = torch.tensor(rollout.completion.spoken)
        assert torch.allclose(recorded[row, : len(alone)][spoken], alone[spoken], atol=2e-4)
    trainer.model.train()


def test_the_gradient_reaches_only_the_spoken_tokens(one_round: Round) -> None:
    """The gradient of the loss at each position of the last layer, which predicts the next token, is nonzero
    exactly before the spoken tokens of trajectories with an advantage."""
    import torch

    trainer, output = one_round.trainer, one_round.output
    rows = {key: value for key, value in output.items() if key != "old_per_token_logps"}
    last: list[Any] = []

    def keep(module: object, inputs: object, found: Any) -> None:
        found.last_hidden_state.retain_grad()
        last.append(found.last_hidden_state)

    language = trainer.model.model.language_model
    hook = language.register_forward_hook(keep)
    trainer.current_gradient_accumulation_steps = 1
    trainer.compute_loss(trainer.model, rows).backward()
    hook.remove()
    trainer.model.zero_grad()
    reached = last[0].grad.abs().sum(-1) > 0
    prompt = output["prompt_ids"].shape[1]
    expected = torch.zeros_like(reached)
    expected[:, prompt - 1 : -1] = spoken_of(one_round) & (output["advantages"].abs() > 1e-6)[:, None]
    assert expected.any()
    assert torch.equal(reached, expected)


def test_the_dapo_loss_is_the_mean_over_spoken_tokens(one_round: Round) -> None:
    """One update of the whole round: the sum of -advantage over all spoken tokens, divided by their number."""
    trainer, output = one_round.trainer, one_round.output
    rows = {key: value for key, value in output.items() if key != "old_per_token_logps"}
    trainer.current_gradient_accumulation_steps = trainer.args.steps_per_generation
    loss = trainer.compute_loss(trainer.model, rows).item()
    counts = [sum(rollout.completion.spoken) for rollout in one_round.rollouts]
    advantages = output["advantages"].tolist()
    expected = -sum(a * n for a, n in zip(advantages, counts, strict=True)) / sum(counts)
    assert loss == pytest.approx(expected, abs=1e-5)


def test_the_grpo_loss_is_the_mean_over_trajectories_of_their_means(one_round: Round) -> None:
    """As verl's token-mean over micro-batches of one trajectory: a long one weighs no more than a short one."""
    trainer, output = one_round.trainer, one_round.output
    rows = {key: value for key, value in output.items() if key != "old_per_token_logps"}
    trainer.current_gradient_accumulation_steps = 1
    trainer.loss_type = "grpo"
    try:
        loss = trainer.compute_loss(trainer.model, rows).item()
    finally:
        trainer.loss_type = "dapo"
    assert loss == pytest.approx(-float(output["advantages"].mean()), abs=1e-5)


@pytest.mark.parametrize("per_device", [4, 1])
@pytest.mark.parametrize("loss", ["grpo", "dapo", "bnpo", "dr_grpo"])
def test_the_mean_of_the_loss_is_over_the_groups_with_spread(one_round: Round, loss: str, per_device: int) -> None:
    """One update of a round of which the second group does not count, in forward passes of 4 or 1; by hand.

    Of `dr_grpo` a trajectory's sum is divided by the longest trajectory, not by the longest turn.
    """
    import torch
    from trl.trainer.utils import split_pixel_values_by_grid, split_tensor_dict, unsplit_pixel_values_by_grid

    trainer = one_round.trainer
    counts = torch.tensor([True] * 4 + [False] * 4)
    output = {name: value for name, value in one_round.output.items() if name != "old_per_token_logps"}
    output |= {"counts": counts, "tool_mask": output["tool_mask"] * counts[:, None]}
    output["num_items_in_batch"] = (output["tool_mask"] * output["completion_mask"]).sum()
    # Equal lengths would hide what is divided by what; this advantage is no mean of zero.
    output["advantages"] = torch.tensor([1.0, -0.5, 2.0, 0.25, 0.0, 0.0, 0.0, 0.0])
    number = 8 // per_device
    parts = split_tensor_dict(split_pixel_values_by_grid(output), number)
    buffered = [unsplit_pixel_values_by_grid(part) for part in parts]
    args = trainer.args
    before = args.gradient_accumulation_steps, args.steps_per_generation
    args.gradient_accumulation_steps = args.steps_per_generation = number
    trainer.current_gradient_accumulation_steps, trainer.loss_type = number, loss
    try:
        _weigh(trainer, buffered)
        measured = sum(trainer.compute_loss(trainer.model, part).item() for part in buffered)
    finally:
        args.gradient_accumulation_steps, args.steps_per_generation = before
        trainer.loss_type = "dapo"
    advantages, tokens = output["advantages"][:4], spoken_of(one_round)[:4].sum(1)
    assert len(set(tokens.tolist())) > 1
    by_token = float((advantages * tokens).sum() / tokens.sum())
    expected = {
        "grpo": float(advantages.mean()),
        "dapo": by_token,
        "bnpo": by_token if per_device == 4 else float(advantages.mean()),
        "dr_grpo": float((advantages * tokens).mean() / 1500),
    }
    assert measured == pytest.approx(-expected[loss], abs=1e-5)


def test_a_round_is_weighed_before_it_is_learned_from(one_round: Round, monkeypatch: pytest.MonkeyPatch) -> None:
    """TRL shuffles trajectories over the updates: in each, weight times the share that counts is 1."""
    trainer = one_round.trainer
    settings = replace(trainer.runner._settings, filter_groups=True)
    given = [Reward(value, "YES", True) for value in (1.0, 0.0, 1.0, 0.8, 1.0, 1.0, 1.0, 1.0)]
    monkeypatch.setattr(trainer.runner, "_settings", settings)
    monkeypatch.setattr(trainer.runner, "_rewards", lambda *_: given)
    monkeypatch.setattr(trainer, "_buffered_inputs", None)
    monkeypatch.setattr(trainer, "loss_type", "grpo")
    rows = [dict(trainer.train_dataset[place]) for place in (0, 0, 0, 0, 1, 1, 1, 1)]
    trainer._prepare_inputs(rows)
    parts, each = trainer._buffered_inputs, trainer.args.gradient_accumulation_steps
    assert (len(parts), each) == (4, 2)
    assert sum(int(part["counts"].sum()) for part in parts) == 4
    for start in (0, 2):
        update = parts[start : start + each]
        share = sum(float(part["counts"].float().mean()) for part in update) / each
        assert {part["weight"] for part in update} == {1 / share if share else 1.0}
    for part in parts:
        assert ((part["tool_mask"] * part["completion_mask"]).sum(1) > 0).tolist() == part["counts"].tolist()


def test_groups_of_all_processes_are_weighed_together() -> None:
    """This process has none of the first update's groups with spread, the other one all; of the second, a half."""
    import torch

    other = torch.tensor([1.0, 0.5])
    trainer = SimpleNamespace(
        args=SimpleNamespace(gradient_accumulation_steps=2),
        loss_type="grpo",
        accelerator=SimpleNamespace(reduce=lambda shares, reduction: (shares + other) / 2),
    )
    parts = [{"counts": torch.tensor(row)} for row in ([False], [False], [True], [False])]
    _weigh(trainer, parts)
    assert [part["weight"] for part in parts] == [2.0, 2.0, 2.0, 2.0]
    other[:] = 0
    _weigh(trainer, parts)
    assert [part["weight"] for part in parts] == [1.0, 1.0, 4.0, 4.0]


def test_evidence_on_trial_changes_the_rewards_alone(
    one_round: Round,
    tiny_model: Path,
    data: Path,
    question_list: list[Question],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same round with the reward for evidence: real continuations, the same trajectories, and only their rewards
    differ, by the weight where the evidence held.
    """
    # The shortened texts of the tiny model claim no feature: here every text of even length does.
    monkeypatch.setattr(evidence.Written, "claims", lambda self, subject: len(self.text) % 2 == 0)
    settings = replace(settings_for(tiny_model, data, tmp_path / "run"), evidence=0.5, traces=8)
    trainer = trainer_of(settings, one_round.loaded, question_list, Run(tmp_path / "run"), arguments_of(settings, 2))
    trainer.model_wrapped = trainer.model
    rows = [dict(trainer.train_dataset[place]) for place in (0, 0, 0, 0, 1, 1, 1, 1)]
    batch = trainer.runner.run(rows, trainer.writer, save_traces=True)
    assert batch.completion_ids == [list(rollout.completion.ids) for rollout in one_round.rollouts]
    published = [score(rollout.response, rollout.question.label).score for rollout in one_round.rollouts]
    added = [mine - theirs for mine, theirs in zip(batch.rewards, published, strict=True)]
    numbers = trainer.runner.numbers
    assert set(numbers) == (MEASURED - NOT_OF_A_ROUND) | EVIDENCE
    assert numbers["evidence_tested"] > 0
    assert numbers["removal_followed"] is not None
    assert all(one in (0.0, pytest.approx(0.5)) for one in added)
    assert sum(added) / 8 == pytest.approx(0.5 * numbers["evidence"])
    assert numbers["reward"] == pytest.approx(sum(batch.rewards) / 8)
    traces = [json.loads(line) for file in trainer.runner._run.traces.iterdir() for line in file.open("rb")]
    assert any("removal_followed" in trace["drafter"]["settings"] for trace in traces)


def test_a_continuation_of_a_real_model_is_that_of_its_whole_conversation(
    one_round: Round, question_list: list[Question]
) -> None:
    """Greedy, on the unedited spectrum: the turns after the prefix are those that the model wrote itself."""
    writer, limits = one_round.trainer.writer, Limits(8, 200, 1500)
    drafter = Drafter("model", "again")
    with writer.round(5, greedy=True):
        first = run_rollouts(question_list, one_round.renderer, writer, limits, drafter).rollouts
        pairs = [Continuation(one, number, one.question.spectrum()) for one in first for number in (1, 2)]
        again = continue_rollouts(pairs, one_round.renderer, writer, limits, drafter, len(first)).rollouts
    assert len(again) == 2 * len(first)
    for continuation, found in zip(pairs, again, strict=True):
        assert found.completion.ids == continuation.rollout.completion.ids
        assert found.trajectory.steps == continuation.rollout.trajectory.steps


def test_a_forward_pass_has_no_column_of_padding_alone(one_round: Round) -> None:
    """Each pass is cut to its own rows, and gives the same values as the width that TRL pads the round to."""
    import torch

    trainer, output = one_round.trainer, one_round.output
    width = output["completion_ids"].shape[1]
    ids = torch.cat([output["prompt_ids"], output["completion_ids"]], 1)
    mask = torch.cat([output["prompt_mask"], output["completion_mask"]], 1)
    pictures = {key: output[key] for key in ("pixel_values", "image_grid_thw", "mm_token_type_ids", "num_images")}
    widths = []
    hook = trainer.model.model.language_model.register_forward_hook(
        lambda module, inputs, found: widths.append(found.last_hidden_state.shape[1])
    )
    with torch.no_grad():
        cut = trainer._get_per_token_logps_and_entropies(trainer.model, ids, mask, width, batch_size=1, **pictures)
        hook.remove()
        whole_width = super(type(trainer), trainer)._get_per_token_logps_and_entropies(
            trainer.model, ids, mask, width, batch_size=1, **pictures
        )
    assert widths == [len(rollout.prompt) + len(rollout.completion) for rollout in one_round.rollouts]
    assert cut[0].shape == (8, width)
    assert torch.allclose(cut[0] * output["completion_mask"], whole_width[0] * output["completion_mask"], atol=2e-5)


def test_the_dual_clip_is_that_of_verl(one_round: Round) -> None:
    """min(c |A|, max(r, clip(r)) |A|) for a negative advantage, -min(r, clip(r)) A for a positive one."""
    import torch

    trainer, output = one_round.trainer, one_round.output
    shift = torch.tensor([-2.0, -0.5, -0.1, 0.0, 0.1, 0.5, 2.0, 3.0])
    rows = {**output, "advantages": torch.tensor([1.0, -1.0] * 4)}
    new = trainer._get_per_token_logps_and_entropies
    with torch.no_grad():
        now = new(
            trainer.model,
            torch.cat([output["prompt_ids"], output["completion_ids"]], 1),
            torch.cat([output["prompt_mask"], output["completion_mask"]], 1),
            output["completion_ids"].shape[1],
            **{key: output[key] for key in ("pixel_values", "image_grid_thw", "mm_token_type_ids")},
            num_images=output["num_images"],
        )[0]
    for sign in (1.0, -1.0):
        rows["advantages"] = torch.full((8,), sign)
        rows["old_per_token_logps"] = now - shift[:, None]
        trainer.current_gradient_accumulation_steps = trainer.args.steps_per_generation
        loss = trainer.compute_loss(trainer.model, rows).item()
        ratio = shift.exp()
        clipped = ratio.clamp(0.8, 1.2)
        if sign > 0:
            losses = -torch.minimum(ratio, clipped)
        else:
            losses = torch.minimum(torch.tensor(3.0), torch.maximum(ratio, clipped))
        counts = spoken_of(one_round).sum(1)
        assert loss == pytest.approx(float((losses * counts).sum() / counts.sum()), abs=1e-4)


def test_the_checkpoints_own_sampling_settings_are_ignored(one_round: Round) -> None:
    """E.g. its repetition penalty, which would change the output of a model that repeats its tags."""
    trainer, loaded = one_round.trainer, one_round.loaded
    settings = loaded.model.generation_config
    assert settings.repetition_penalty == 1.05
    before = settings.to_dict()
    writer = TransformersGenerator(trainer, 4, temperature=1e-4, top_p=1.0, seed=0)
    request = Request(one_round.rollouts[0].prompt, 200)
    texts = []
    for penalty in (1.0, 50.0):
        settings.repetition_penalty = penalty
        settings.top_k = 1 if penalty == 1.0 else 7
        with writer.round(0):
            texts.append(writer.write([request])[0].ids)
    settings.update(**before)
    assert texts[0] == texts[1]


def test_a_turn_keeps_to_its_own_limit_and_order_in_a_batch(one_round: Round) -> None:
    writer = TransformersGenerator(one_round.trainer, 2, temperature=1.0, top_p=1.0, seed=3)
    prompts = [rollout.prompt for rollout in one_round.rollouts]
    limits = [5, 200, 1, 30]
    with writer.round(0):
        requests = [Request(p, n, row) for row, (p, n) in enumerate(zip(prompts, limits, strict=False))]
        written = writer.write(requests)
    assert [len(turn.ids) <= limit for turn, limit in zip(written, limits, strict=True)] == [True] * 4
    assert len(written[2].ids) == 1
    assert written[1].ids[-1] in writer.ends
    assert not any(token in writer.ends for turn in written for token in turn.ids[:-1])


def test_marks_of_pictures_are_never_written(
    random_model: Path, data: Path, question_list: list[Question], tmp_path: Path
) -> None:
    settings = settings_for(random_model, data, tmp_path / "run")
    loaded = load(settings.model)
    trainer = trainer_of(settings, loaded, question_list, Run(tmp_path), arguments_of(settings, 2))
    trainer.model_wrapped = trainer.model
    prompt = Renderer(loaded.processor).opening("s", "p", inspected("cv").pictures[0])
    with trainer.writer.round(0):
        written = trainer.writer.write([Request(prompt, 300, row) for row in range(16)])
    forbidden = forbidden_ids(loaded.processor.tokenizer)
    assert len(forbidden) == 2
    assert not set(forbidden) & {token for turn in written for token in turn.ids}


def numbers(run: Run) -> list[dict[str, Any]]:
    """The log without the times."""
    return [{key: value for key, value in line.items() if key not in CLOCK} for line in run.logged()]


@pytest.fixture(scope="module")
def learned(
    tiny_model: Path, data: Path, question_list: list[Question], tmp_path_factory: pytest.TempPathFactory
) -> Run:
    settings = settings_for(tiny_model, data, tmp_path_factory.mktemp("learned") / "run")
    return train(settings, question_list)


@pytest.mark.parametrize("mini_batch", [1, 2])
def test_the_gap_to_the_generator_is_logged_without_a_correction(
    mini_batch: int, settings: GrpoSettings, question_list: list[Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Probabilities as of another engine, each 0.25 lower; with two updates per round, or one, and without any loss."""
    monkeypatch.setattr(generators, "CachedGeneration", partial(generators.CachedGeneration, logprobs=True))
    run = RoundRunner.run

    def shifted(*arguments: Any) -> RoundBatch:
        batch = run(*arguments)
        assert batch.logprobs is not None
        lower = [[value - 0.25 for value in row] for row in batch.logprobs]
        lower[0][batch.spoken[0].index(1)] = math.nan  # the engine could not give it
        return replace(batch, logprobs=lower)

    monkeypatch.setattr(RoundRunner, "run", shifted)
    for number, more in enumerate(({}, {"turn_tokens": 4, "mask_unfinished": True})):
        changed = replace(settings, rounds=1, mini_batch=mini_batch, output=f"{settings.output}-{number}", **more)
        (line,) = train(changed, question_list).logged()
        # Tokens of pictures were left out of the generator's distribution, and the updates move the model.
        assert line["vllm_gap"] == pytest.approx(0.25, abs=2e-3)
        assert (line["grad_norm"] == 0) == bool(more)


@pytest.mark.parametrize("option", ["mask_unfinished", "filter_groups"])
def test_trajectories_that_carry_no_loss_are_counted(
    option: str, settings: GrpoSettings, question_list: list[Question]
) -> None:
    """``mask_unfinished`` with turns too short for an answer; ``filter_groups`` where all rewards are equal."""
    short = replace(settings, turn_tokens=4, rounds=1, **{option: True})
    run = train(short, question_list)
    (line,) = run.logged()
    assert line["masked"] == 1.0
    assert line["grad_norm"] == 0.0
    (line,) = train(
        replace(settings, rounds=1, output=f"{settings.output}-2", **{option: True}), question_list
    ).logged()
    assert line["masked"] == pytest.approx(line["truncated"] if option == "mask_unfinished" else line["no_spread"])


def test_the_best_weights_of_the_validation_are_the_result(
    settings: GrpoSettings, question_list: list[Question]
) -> None:
    """At this learning rate the model forgets its form, so that the weights before the first round are best."""
    import torch

    harmful = replace(settings, learning_rate=0.05, rounds=4, validate_rounds=1, patience=2, keep_checkpoints=1)
    run = train(harmful, question_list, validation=question_list)
    validated = [line for line in run.logged() if "validation_reward" in line]
    rewards = [line["validation_reward"] for line in validated]
    assert rewards.index(max(rewards)) == 0
    assert len(rewards) == 3, "it stopped after two validations without a better reward"
    assert {"validation_accuracy", "validation_f1", "validation_format_rate", "step", "round"} <= set(validated[0])
    begun, kept = load(settings.model).model.state_dict(), load(ModelSettings(str(run.model), dtype="float32")).model
    assert all(torch.equal(begun[name], value) for name, value in kept.state_dict().items())
    assert not (run.folder / "best").exists()


def test_every_round_is_one_line_of_the_log(learned: Run) -> None:
    lines = learned.logged()
    assert [line["round"] for line in lines] == [1, 2]
    assert [line["step"] for line in lines] == [2, 4]
    for line in lines:
        assert set(line) - {"gpu_gib"} == MEASURED
        assert line["turns"] <= 8
        assert line["kl_old"] >= 0
    assert 0 < lines[0]["format_rate"] <= 1  # two of eight here: how well it writes is not this test's subject
    assert lines[0]["calls"] > 1
    assert any(line["grad_norm"] > 0 for line in lines)


def test_the_trained_model_inspects_live(learned: Run) -> None:
    policy = Local(str(learned.model), sampling=Sampling(temperature=0.0, max_tokens=256))
    events = list(inspect(shown("cv"), load_tasks()["cv"], policy))
    assert isinstance(events[-1], Ended)
    assert events[-1].reason == "answered"
    assert events[-1].trajectory.zooms


def test_sample_traces_can_be_imported_for_review(learned: Run, tmp_path: Path) -> None:
    """Imported with the program's own command."""
    pytest.importorskip("sqlite_utils")
    file = learned.traces / "round-00001.jsonl"
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert len(rows) == 3
    for row in rows:
        settings = row["drafter"]["settings"]
        assert row["drafter"]["kind"] == "model"
        assert (settings["run"], settings["round"]) == ("run", 1)
        assert settings["reward"] in (1.0, 0.8, 0.0, -0.2)
        assert row["label"] in ("YES", "NO")
    line = [sys.executable, str(ROOT / "app.py"), "import", str(file), "--db", str(tmp_path / "s.db")]
    done = subprocess.run([*line, "--json"], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    imported = json.loads(done.stdout)
    assert len(imported["added"]) + imported["known"] == 3
    assert imported["problems"] == []


def test_a_killed_and_resumed_run_equals_an_uninterrupted_run(
    settings: GrpoSettings, learned: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Killed with SIGKILL after a round and resumed: rollouts, log and weights equal those of an uninterrupted run.
    Two of three questions are used per round, so an epoch is one round."""
    killed = Run(Path(settings.output))
    config = Path(settings.output + ".yaml")
    config.write_text(to_yaml(settings))
    line = [sys.executable, str(ROOT / "app.py"), "grpo", "--config", str(config)]
    variables = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(line, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        deadline = time.monotonic() + PATIENCE
        while killed.checkpoint() is None and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert not killed.finished
    status, out, err = run_command(capsys, settings, "--json")
    assert status == 0, err
    assert json.loads(out)["last"]["round"] == 2
    assert numbers(killed) == numbers(learned)
    # The weights changed before the kill, so resuming from another state would show.
    assert [line["grad_norm"] > 0 for line in numbers(killed)] == [True] * 2
    for run in (killed, learned):
        assert sorted(path.name for path in run.traces.iterdir()) == [f"round-{n:05d}.jsonl" for n in (1, 2)]
    weights = [(run.model / "model.safetensors").read_bytes() for run in (killed, learned)]
    assert weights[0] == weights[1]


def test_the_reward_rises(tmp_path: Path) -> None:
    """A model that answers YES or NO by chance is rewarded for YES: within six rounds it mostly answers YES."""
    import torch

    size = SCALES["quick"].size
    cases = enumerate(miniature_questions("sft", 24))
    shrink = partial(shrunk, size=size)
    chance = [
        inspected_by_script(case, script_of(case, place, Errors(misread=0.5)), shrink, False) for place, case in cases
    ]
    processor = processor_for(texts(chance), size, phrases(sorted({one.trajectory.prompt for one in chance})))
    torch.manual_seed(0)
    model_for(processor.tokenizer, size).save_pretrained(tmp_path / "random")
    processor.save_pretrained(tmp_path / "random")
    cold = train_sft(
        SftSettings(
            model=ModelSettings(str(tmp_path / "random"), frozen=(), dtype="float32"),
            output=str(tmp_path / "sft"),
            with_tool=False,
            max_length=1024,
            max_steps=100,
            batch_size=12,
            learning_rate=2e-3,
            beta2=0.95,
            save_steps=1000,
            gradient_checkpointing=False,
        ),
        chance,
    )
    rewards: list[float] = []
    train(
        GrpoSettings(
            model=ModelSettings(str(cold.model), frozen=(), dtype="float32"),
            output=str(tmp_path / "grpo"),
            with_tool=False,
            prompts=4,
            rollouts=8,
            mini_batch=4,
            per_device=32,
            rounds=6,
            learning_rate=3e-4,
            prompt_tokens=512,
            response_tokens=64,
            gradient_checkpointing=False,
        ),
        [replace(miniature_question, label="YES") for miniature_question in miniature_questions("grpo", 24)],
        on_step=lambda step, steps, line: rewards.append(line["reward"]),
    )
    # 0.43, 0.44, then 0.83 to 0.95; a round of 32 answers by chance has a standard deviation of 0.09.
    assert sum(rewards[-2:]) / 2 > sum(rewards[:2]) / 2 + 0.25


def test_without_the_tool_there_is_one_turn(settings: GrpoSettings, question_list: list[Question]) -> None:
    run = train(replace(settings, with_tool=False, rounds=1), question_list)
    (line,) = run.logged()
    assert (line["turns"], line["calls"], line["tool_error_rate"]) == (1.0, 0.0, None)


def test_an_adapter_can_be_trained(settings: GrpoSettings, question_list: list[Question]) -> None:
    """With one update per round, which needs no old probabilities, and with a KL term to the initial model."""
    lora = replace(settings.model, method="lora")
    run = train(replace(settings, model=lora, rounds=1, mini_batch=2, kl=0.01), question_list)
    (line,) = run.logged()
    assert line["kl_old"] == 0.0
    assert line["kl_start"] == pytest.approx(0.0, abs=1e-6)
    assert (run.model / "adapter_config.json").is_file()
    policy = Local(settings.model.name, str(run.model), sampling=Sampling(max_tokens=256))
    assert isinstance(list(inspect(shown("cv"), load_tasks()["cv"], policy))[-1], Ended)


def run_command(capsys: pytest.CaptureFixture[str], settings: GrpoSettings, *more: str) -> tuple[int, str, str]:
    config = Path(settings.output + ".yaml")
    config.write_text(to_yaml(settings))
    status = main(["grpo", "--config", str(config), *more])
    out, err = capsys.readouterr()
    return status, out, err


def test_a_dry_run_counts_and_writes_nothing(settings: GrpoSettings, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run_command(capsys, settings, "--dry-run")
    assert status == 0
    assert "3 spectra" in out
    assert "2 rounds of 2 x 4, learned from in 2 updates each" in out
    assert not Path(settings.output).exists()


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--set", "rolouts=4"], "rolouts: found an unknown field, expected one of "),
        (["--set", "mini_batch=3"], "mini_batch: found 3, expected a divisor of prompts (2)"),
        (["--set", "prompts=4"], "prompts: found 4 a round, but only 3 questions"),
        (["--set", "response_tokens=32768"], "expected at most the 8192 tokens of"),
        (["--set", "prompt_tokens=100"], "prompt_tokens: "),
        (["--set", "tasks=[cv, ss]"], "tasks: found no question of ss"),
        (["--data", "/no/where"], "/no/where: found no such"),
        (["--model", "/no/where"], "/no/where: no such folder; expected a model"),
    ],
)
def test_bad_settings_are_reported_in_one_line(
    settings: GrpoSettings, capsys: pytest.CaptureFixture[str], more: list[str], expected: str
) -> None:
    status, _, err = run_command(capsys, settings, *more)
    assert status == 2
    assert expected in err
    assert err.count("\n") == 1
    # The length of a question is known only after its picture has been drawn.
    assert Path(settings.output).exists() == (expected == "prompt_tokens: ")


def test_spectra_of_the_test_data_are_refused_or_dropped(
    settings: GrpoSettings, capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    test = tmp_path / "test.jsonl"
    test.write_text(data.read_text("utf-8").splitlines()[0] + "\n", "utf-8")
    status, _, err = run_command(capsys, settings, "--test", str(test), "--dry-run")
    assert status == 2
    assert "1 spectrum is in the training and in the test data" in err
    status, out, _ = run_command(capsys, settings, "--test", str(test), "--set", "drop_leaks=true", "--dry-run")
    assert status == 0
    assert "its spectrum is in the test or validation data" in out
