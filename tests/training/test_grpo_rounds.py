"""How a round is divided, asked, seeded and measured; the shipped settings and launch files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from training.grpo.round import TrajectoryMetrics, round_metrics
from training.grpo.settings import GrpoSettings, VllmSettings, batches, derived_seed, rounds, schedule
from training.settings import ModelSettings, SettingsError, from_mapping, read

CONFIGS = Path(__file__).resolve().parents[2] / "training" / "configs"
LAUNCH = sorted((CONFIGS / "launch").glob("*.yaml"))
SHIPPED = sorted(CONFIGS.glob("grpo_*.yaml"))
PUBLISHED = ("grpo_qwen2_5_vl_3b.yaml", "grpo_qwen2_5_vl_7b.yaml")
SETTINGS = GrpoSettings(ModelSettings("base"), "run")


@pytest.mark.parametrize(("processes", "accumulated"), [(1, 256), (8, 32), (16, 16)])
def test_a_published_round_is_the_same_on_any_number_of_gpus(processes: int, accumulated: int) -> None:
    share = batches(SETTINGS, processes)
    assert share.accumulated == accumulated
    assert share.updates == 2
    assert share.per_device * processes * share.round == 64 * 8


@given(
    prompts=st.integers(1, 64),
    rollouts=st.integers(2, 16),
    mini=st.integers(1, 64),
    device=st.integers(1, 16),
    processes=st.integers(1, 16),
)
def test_a_round_is_shared_without_rest_or_refused(
    prompts: int, rollouts: int, mini: int, device: int, processes: int
) -> None:
    settings = replace(SETTINGS, prompts=prompts, rollouts=rollouts, mini_batch=mini, per_device=device)
    try:
        share = batches(settings, processes)
    except SettingsError:
        assert prompts % mini or mini * rollouts % (processes * device)
        return
    assert share.round * device * processes == prompts * rollouts
    assert share.accumulated * device * processes == mini * rollouts
    assert share.updates * mini == prompts


@pytest.mark.parametrize(
    ("changed", "processes", "said"),
    [
        ({"mini_batch": 48}, 8, "mini_batch: found 48, wanted a divisor of prompts (64)"),
        ({"per_device": 3}, 8, "32 x 8 = 256 trajectories, which 8 processes of per_device 3 cannot share"),
        ({"vllm": VllmSettings("colocate", tensor_parallel=3)}, 8, "tensor_parallel: found 3, wanted a divisor of"),
    ],
)
def test_what_cannot_be_shared_is_refused_in_one_line(changed: dict, processes: int, said: str) -> None:
    with pytest.raises(SettingsError) as refused:
        batches(replace(SETTINGS, **changed), processes)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("rollouts", 1, "rollouts: found 1, wanted 2 or more"),
        ("temperature", 0.0, "temperature: found 0.0, wanted above 0"),
        ("top_p", 1.5, "top_p: found 1.5, wanted above 0, at most 1"),
        ("turn_tokens", 0, "turn_tokens: found 0, wanted 1 or more, or null"),
        ("merge", True, "wanted `method: lora`"),
        ("rolouts", 8, "did you mean rollouts?"),
    ],
)
def test_settings_that_make_no_sense_are_refused(key: str, value: object, said: str) -> None:
    with pytest.raises(SettingsError) as refused:
        from_mapping({"model": {"name": "base"}, "output": "run", key: value}, GrpoSettings, "file")
    assert said in str(refused.value)


def test_each_epoch_asks_every_question_once_but_for_a_rest() -> None:
    settings = replace(SETTINGS, prompts=4, mini_batch=2, epochs=3)
    order = schedule(settings, 11)
    assert rounds(settings, 11) == len(order) == 6
    epochs = [[n for one in order[start : start + 2] for n in one] for start in (0, 2, 4)]
    assert all(len(set(epoch)) == 8 for epoch in epochs)
    assert epochs[0] != epochs[1]
    assert schedule(replace(settings, rounds=3), 11) == order[:3]
    assert schedule(replace(settings, seed=1), 11) != order


def test_the_published_questions_make_52_rounds_an_epoch() -> None:
    assert rounds(SETTINGS, 3364) == 3 * 52


def test_too_few_questions_are_refused() -> None:
    with pytest.raises(SettingsError, match="prompts: found 64 a round, but only 63 questions"):
        rounds(SETTINGS, 63)


def test_seeds_differ_by_place_and_do_not_change() -> None:
    places = [(seed, number, rank) for seed in (0, 1) for number in (0, 1) for rank in (0, 1)]
    assert len({derived_seed(*place) for place in places}) == len(places)
    assert derived_seed(42, 3, 0, 1) == derived_seed(42, 3, 0, 1) < 2**63


def an_outcome(reward: float, **known: object) -> TrajectoryMetrics:
    base = TrajectoryMetrics(reward, True, True, "YES", "YES", 2, 0, 3, 300, 100, False)
    return replace(base, **known)


def test_a_hand_made_round_is_measured_as_defined() -> None:
    found = round_metrics(
        [
            an_outcome(1.0),
            an_outcome(0.0, predicted="NO", calls=0, turns=1, tokens=100, spoken=60),
            an_outcome(-0.2, format_ok=False, answered=False, predicted="perhaps", calls=4, errors=2, turns=5),
            an_outcome(-0.2, format_ok=False, answered=False, predicted="", calls=2, errors=0, truncated=True),
        ],
        2,
    )
    assert found == {
        "reward": pytest.approx(0.15),
        "reward_std": pytest.approx(0.497494, abs=1e-6),
        "format_rate": 0.5,
        "answer_rate": 0.5,
        "yes_rate": 0.25,
        "accuracy": 0.25,
        "calls": 2.0,
        "tool_error_rate": 0.25,
        "turns": 3.0,
        "tokens": 250.0,
        "tokens_max": 300,
        "spoken": 90.0,
        "spoken_max": 100,
        "truncated": 0.25,
        "no_spread": 0.5,
    }


def test_without_a_call_there_is_no_error_rate() -> None:
    assert round_metrics([an_outcome(1.0, calls=0)] * 2, 2)["tool_error_rate"] is None


def test_a_group_that_is_not_whole_is_refused() -> None:
    with pytest.raises(ValueError, match="whole groups of 8"):
        round_metrics([an_outcome(1.0)] * 9, 8)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
@pytest.mark.parametrize("processes", [1, 8])
def test_shipped_settings_can_be_read_and_shared(path: Path, processes: int) -> None:
    settings = read(path, GrpoSettings)
    share = batches(settings, processes)
    assert share.updates == 2
    assert share.per_device * share.round * processes == settings.prompts * settings.rollouts


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_settings_are_the_published(name: str) -> None:
    settings = read(CONFIGS / name, GrpoSettings)
    assert (settings.prompts, settings.rollouts, settings.mini_batch, settings.epochs) == (64, 8, 32, 3)
    assert (settings.learning_rate, settings.kl, settings.alpha) == (1e-6, 0.0, 0.2)
    assert (settings.clip_low, settings.clip_high, settings.dual_clip) == (0.2, 0.2, 3.0)
    assert (settings.loss, settings.scale) == ("dapo", "group")
    assert (settings.temperature, settings.top_p, settings.max_turns) == (1.0, 1.0, 8)
    assert (settings.prompt_tokens, settings.response_tokens) == (2048, 32768)
    assert settings.save_rounds == 10


@pytest.mark.parametrize("path", LAUNCH, ids=lambda path: path.stem)
def test_launch_files_name_processes_that_share_the_published_round(path: Path) -> None:
    launch = yaml.safe_load(path.read_text("utf-8"))
    assert launch["num_processes"] == {"NO": 1}.get(launch["distributed_type"], 8 * launch["num_machines"])
    assert launch["mixed_precision"] == "bf16"
    assert batches(SETTINGS, launch["num_processes"]).updates == 2
    if launch["distributed_type"] == "DEEPSPEED":
        zero = launch["deepspeed_config"]
        assert f"zero{zero['zero_stage']}" in path.stem
        assert zero["zero3_init_flag"] == (zero["zero_stage"] == 3)
