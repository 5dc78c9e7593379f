"""GRPO: settings, rounds, rollouts and rewards."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from agent.loop import Ended, Started, ToolResult, inspect
from agent.policies.baseline.rule import Baseline
from agent.tasks import load
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Answer, Zoom
from agent.trajectory.tags import turn_text
from app import main
from tests.support.training_data import Script, Scripted, question, renderer, star
from training.environment import generation_problem
from training.grpo.rollout import GeneratedTurn, Limits, Request, Rollout, run_rollouts
from training.grpo.round import TrajectoryMetrics, round_metrics, validation_metrics
from training.grpo.settings import Engine, GrpoSettings, VllmSettings, batches, derived_seed, rounds, schedule
from training.render import IMAGE, Renderer
from training.reward import Reward, score
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
def test_a_round_is_divided_without_remainder_or_refused(prompts, rollouts, mini, device, processes):
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
    ("changed", "processes", "message"),
    [
        ({"mini_batch": 48}, 8, "mini_batch: found 48, expected a divisor of prompts (64)"),
        ({"per_device": 3}, 8, "32 x 8 = 256 trajectories, which 8 processes of per_device 3 cannot share"),
        ({"vllm": VllmSettings("colocate", tensor_parallel=3)}, 8, "tensor_parallel: found 3, expected a divisor of"),
    ],
)
def test_settings_that_cannot_be_divided_are_refused_in_one_line(changed: dict, processes: int, message: str) -> None:
    with pytest.raises(SettingsError) as refused:
        batches(replace(SETTINGS, **changed), processes)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("rollouts", 1, "rollouts: found 1, expected a whole number, 2 or more"),
        ("temperature", 0.0, "temperature: found 0.0, expected a number above 0"),
        ("top_p", 1.5, "top_p: found 1.5, expected a number above 0 and at most 1"),
        ("turn_tokens", 0, "turn_tokens: found 0, expected a whole number, 1 or more, or null"),
        ("merge", True, "expected `method: lora`"),
        ("rolouts", 8, "did you mean rollouts?"),
    ],
)
def test_settings_that_make_no_sense_are_refused(key: str, value: object, message: str) -> None:
    with pytest.raises(SettingsError) as refused:
        from_mapping({"model": {"name": "base"}, "output": "run", key: value}, GrpoSettings, "file")
    assert message in str(refused.value)


def test_each_epoch_uses_every_question_once_except_a_remainder() -> None:
    settings = replace(SETTINGS, prompts=4, mini_batch=2, epochs=3)
    order = schedule(settings, ["cv"] * 11)
    assert rounds(settings, 11) == len(order) == 6
    epochs = [[n for prompts in order[start : start + 2] for n in prompts] for start in (0, 2, 4)]
    assert all(len(set(epoch)) == 8 for epoch in epochs)
    assert epochs[0] != epochs[1]
    assert schedule(replace(settings, rounds=3), ["cv"] * 11) == order[:3]
    assert schedule(replace(settings, seed=1), ["cv"] * 11) != order


def test_stratified_rounds_have_every_task_and_label_in_the_share_of_the_data() -> None:
    strata = [("cv", "YES")] * 20 + [("cv", "NO")] * 60 + [("wd", "YES")] * 10 + [("wd", "NO")] * 10
    settings = replace(SETTINGS, prompts=10, mini_batch=10, epochs=2, stratified=True)
    order = schedule(settings, strata)
    for half in (order[:10], order[10:]):
        assert sorted(question for one in half for question in one) == list(range(100))
    for one in order:
        found = Counter(strata[question] for question in one)
        assert 1 <= found["cv", "YES"] <= 3
        assert 5 <= found["cv", "NO"] <= 7
        assert found["wd", "YES"] <= 2
    assert order[:10] != order[10:]
    at_random = schedule(replace(settings, stratified=False), strata)
    assert {Counter(strata[question] for question in one)["cv", "NO"] for one in at_random} - {5, 6, 7}


def test_the_published_questions_make_52_rounds_per_epoch_and_too_few_are_refused() -> None:
    assert rounds(SETTINGS, 3364) == 3 * 52
    with pytest.raises(SettingsError, match="prompts: found 64 a round, but only 63 questions"):
        rounds(SETTINGS, 63)


def test_derived_seeds_are_different_and_reproducible() -> None:
    places = [(seed, number, rank) for seed in (0, 1) for number in (0, 1) for rank in (0, 1)]
    assert len({derived_seed(*place) for place in places}) == len(places)
    assert derived_seed(42, 3, 0, 1) == derived_seed(42, 3, 0, 1) < 2**63


def an_outcome(reward: float, **known: object) -> TrajectoryMetrics:
    base = TrajectoryMetrics("cv", reward, True, True, "YES", "YES", 2, 0, 3, 300, 100, False)
    return replace(base, **known)


def test_the_metrics_of_a_small_round_agree_with_a_calculation_by_hand() -> None:
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


def test_metrics_without_a_call_or_a_whole_group() -> None:
    assert round_metrics([an_outcome(1.0, calls=0)] * 2, 2)["tool_error_rate"] is None
    with pytest.raises(ValueError, match="whole groups of 8"):
        round_metrics([an_outcome(1.0)] * 9, 8)


def test_the_numbers_of_a_validation_have_the_mean_f1_of_the_tasks() -> None:
    found = validation_metrics(
        [
            an_outcome(1.0, task="cv"),
            an_outcome(0.0, task="cv", predicted="NO"),
            an_outcome(0.0, task="cc", label="NO"),
            an_outcome(1.0, task="cc"),
            an_outcome(1.0, task="cc"),
            an_outcome(1.0, task="wd", label="NO", predicted="NO"),
        ]
    )
    # cv: 2·1/(2+1); cc: 2·2/(2+3); wd has neither a YES nor an answer YES.
    assert found["f1"] == pytest.approx((2 / 3 + 4 / 5) / 2)
    assert found["accuracy"] == pytest.approx(4 / 6)
    assert found["reward"] == pytest.approx(4 / 6)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
@pytest.mark.parametrize("processes", [1, 8])
def test_shipped_settings_can_be_read_and_divided(path: Path, processes: int) -> None:
    settings = read(path, GrpoSettings)
    share = batches(settings, processes)
    assert share.updates == 2
    assert share.per_device * share.round * processes == settings.prompts * settings.rollouts


@pytest.mark.parametrize("name", PUBLISHED)
def test_shipped_settings_have_the_published_values(name: str) -> None:
    settings = read(CONFIGS / name, GrpoSettings)
    assert (settings.prompts, settings.rollouts, settings.mini_batch, settings.epochs) == (64, 8, 32, 3)
    assert (settings.learning_rate, settings.kl, settings.alpha) == (1e-6, 0.0, 0.2)
    assert (settings.clip_low, settings.clip_high, settings.dual_clip) == (0.2, 0.2, 3.0)
    assert (settings.loss, settings.scale) == ("grpo", "group")
    assert (settings.temperature, settings.top_p, settings.max_turns) == (1.0, 1.0, 8)
    assert (settings.prompt_tokens, settings.response_tokens) == (2048, 32768)
    assert (settings.save_rounds, settings.validate_rounds) == (10, 10)
    assert not settings.mask_unfinished
    assert not settings.filter_groups
    assert settings.warmup == 0
    # Stated in the file: the default is another.
    assert yaml.safe_load((CONFIGS / name).read_text("utf-8"))["vllm"]["correction"] == "none"
    assert settings.vllm.correction == "none"
    assert VllmSettings().correction == "token_truncate"


@pytest.mark.parametrize("path", [*LAUNCH, *SHIPPED, *CONFIGS.glob("sft_*.yaml")], ids=lambda path: path.stem)
def test_files_that_have_not_been_run_say_so_in_their_first_line(path: Path) -> None:
    assert path.read_text("utf-8").startswith("# NOT YET RUN")


@pytest.mark.parametrize("mode", ["none", "colocate", "server"])
@pytest.mark.parametrize("fsdp", [None, "false", "true", "1"])
def test_the_trained_model_cannot_generate_under_fsdp(
    mode: Engine, fsdp: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Refused before the data, which is not there, and before torch, which need not be there."""
    monkeypatch.delenv("ACCELERATE_USE_FSDP", raising=False)
    if fsdp:
        monkeypatch.setenv("ACCELERATE_USE_FSDP", fsdp)
    bad = mode == "none" and fsdp in ("true", "1")
    assert bool(generation_problem(mode, {})) == bad
    assert bool(generation_problem(mode, {"fsdp": "full_shard"})) == (mode == "none")
    options = ["--set", f"vllm.mode={mode}", "--data", str(tmp_path / "none"), "--dry-run"]
    assert main(["grpo", "--config", "grpo_qwen2_5_vl_7b", *options]) == 2
    problem = capsys.readouterr().err
    assert problem.count("\n") == 1
    assert ("found none under FSDP" in problem) == bad


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_settings_generate_with_a_vllm_that_sleeps_while_the_model_learns(path: Path) -> None:
    vllm = read(path, GrpoSettings).vllm
    assert (vllm.mode, vllm.sleep, vllm.tensor_parallel) == ("colocate", True, 1)
    assert SETTINGS.vllm.mode == "none", "nothing else needs vLLM"


@pytest.mark.parametrize("path", LAUNCH, ids=lambda path: path.stem)
def test_launch_files_have_process_counts_that_divide_the_published_round(path: Path) -> None:
    launch = yaml.safe_load(path.read_text("utf-8"))
    assert launch["num_processes"] == {"NO": 1}.get(launch["distributed_type"], 8 * launch["num_machines"])
    assert launch["mixed_precision"] == "bf16"
    assert batches(SETTINGS, launch["num_processes"]).updates == 2
    if launch["distributed_type"] == "DEEPSPEED":
        zero = launch["deepspeed_config"]
        assert f"zero{zero['zero_stage']}" in path.stem
        assert zero["zero3_init_flag"] == (zero["zero_stage"] == 3)


DRAFTER = Drafter("model", "scripted")
ZOOM_TURN = """<think>Look.</think>
<tool_call>
{"name": "spectral_visualization_tool", "arguments": {"label": "Hα", "wavelength_range": [6500, 6600]}}
</tool_call>"""
ZOOM_OUTSIDE_DATA = ZOOM_TURN.replace("[6500, 6600]", "[1, 2]")
BROKEN_CALL = "<think>Look.</think><tool_call>wavelength</tool_call>"
ANSWER = r"<think>Seen.</think><answer>\boxed{YES} It flickers.</answer>"


NO_LIMITS = Limits()


def rollout_of(script: Script, limits: Limits = NO_LIMITS, logprobs: bool = False) -> Rollout:
    made = renderer()
    writer = Scripted(made, script, logprobs)
    (rollout,) = run_rollouts([question()], made, writer, limits, DRAFTER).rollouts
    return rollout


def baseline(task: str, kind: str, seed: int) -> tuple[Trajectory, list[Image.Image]]:
    """The measuring baseline's trace, with the pictures it was shown."""
    pictures = []
    for event in inspect(star(kind, seed), load()[task], Baseline()):
        if isinstance(event, Started):
            pictures.append(event.overview)
        elif isinstance(event, ToolResult) and event.picture is not None:
            pictures.append(event.picture)
        elif isinstance(event, Ended):
            return event.trajectory, pictures
    raise AssertionError("an inspection ends with Ended")


@pytest.mark.parametrize(("task", "kind"), [("cv", "cv"), ("cc", "cc"), ("wd", "sd"), ("gm", "cv")])
def test_a_rollout_equals_the_rendering_of_its_trace(task: str, kind: str) -> None:
    trace, pictures = baseline(task, kind, 3)
    turns = [turn_text(turn) for turn in trace.turns()]
    made = renderer()
    writer = Scripted(made, lambda so_far, number: turns[number - 1])
    (rollout,) = run_rollouts([question(task, kind, seed=3)], made, writer, Limits(), DRAFTER).rollouts
    expected = made.example(trace, pictures)
    assert rollout.prompt.ids + rollout.completion.ids == expected.ids
    assert rollout.prompt.spoken + rollout.completion.spoken == expected.spoken
    assert [picture.tobytes() for picture in rollout.images] == [image.tobytes() for image in expected.images]
    # The score comes beside the text of the policy; a rollout has the text alone.
    written = tuple(replace(step, score=None) if isinstance(step, Answer) else step for step in trace.steps)
    assert rollout.trajectory.steps == written
    assert rollout.reason == "answered"
    assert not rollout.truncated
    assert rollout.response == "\n".join(turns)


def test_all_open_inspections_are_written_in_one_batch_per_turn() -> None:
    made = renderer()

    def script(so_far: str, number: int) -> str:
        return ANSWER if number == (1 if load()["wd"].prompt in so_far else 3) else ZOOM_TURN

    writer = Scripted(made, script)
    inspected = [question("cv"), question("wd", "sd"), question("cv", seed=2)]
    found = run_rollouts(inspected, made, writer, Limits(), DRAFTER).rollouts
    assert writer.asked == [3, 2, 2]
    assert [len(rollout.turns) for rollout in found] == [3, 1, 3]
    assert [rollout.question for rollout in found] == inspected


class OneAtATime:
    """A continuous generator that ends the turn of the newest conversation first; ``ended`` are the rows in order."""

    def __init__(self, made: Renderer, script: Script, stops: bool = False) -> None:
        self.ended: list[int] = []
        self._scripted = Scripted(made, script)
        self._open: list[Request] = []
        self._stops = stops
        self.ends = self._scripted.ends

    def submit(self, requests: Sequence[Request]) -> None:
        self._open += requests

    def collect(self) -> list[tuple[int, GeneratedTurn]]:
        if self._stops:
            return []
        request = self._open.pop()
        self.ended.append(request.row)
        (turn,) = self._scripted.write([request])
        return [(request.row, turn)]


def test_an_inspection_goes_to_its_next_turn_while_others_wait_for_theirs() -> None:
    made = renderer()

    def script(so_far: str, number: int) -> str:
        return ANSWER if number == (1 if load()["wd"].prompt in so_far else 3) else ZOOM_TURN

    writer = OneAtATime(made, script)
    inspected = [question("cv"), question("wd", "sd"), question("cv", seed=2)]
    found = run_rollouts(inspected, made, writer, Limits(), DRAFTER).rollouts
    assert writer.ended == [2, 2, 2, 1, 0, 0, 0]
    lock_step = run_rollouts(inspected, made, Scripted(made, script), Limits(), DRAFTER).rollouts
    assert [one.completion.ids for one in found] == [one.completion.ids for one in lock_step]
    assert [one.question for one in found] == inspected


def test_a_generator_that_ends_no_turn_is_refused() -> None:
    made = renderer()
    with pytest.raises(RuntimeError, match="ended none of 1 turns"):
        run_rollouts([question()], made, OneAtATime(made, lambda so_far, number: ANSWER, True), Limits(), DRAFTER)


def test_a_repeated_question_is_inspected_twice() -> None:
    made = renderer()
    repeated = question()
    found = run_rollouts(
        [repeated, repeated], made, Scripted(made, lambda so_far, number: ANSWER), Limits(), DRAFTER
    ).rollouts
    assert len(found) == 2
    assert found[0].completion == found[1].completion


def test_the_call_of_the_last_turn_is_not_run() -> None:
    rollout = rollout_of(lambda so_far, number: ZOOM_TURN)
    assert rollout.reason == "turn limit"
    assert len(rollout.turns) == 8
    assert len(rollout.tool_calls) == 7
    assert len(rollout.trajectory.zooms) == 8
    assert rollout.completion.spoken[-1]
    nine = rollout_of(lambda so_far, number: ZOOM_TURN, Limits(turns=9))
    assert len(nine.tool_calls) == 8


def test_a_wrong_call_gets_an_answer_without_a_picture() -> None:
    rollout = rollout_of(lambda so_far, number: ZOOM_OUTSIDE_DATA if number == 1 else ANSWER)
    assert rollout.reason == "answered"
    assert [zoom.ok for zoom in rollout.tool_calls] == [False]
    assert len(rollout.images) == 1


def test_a_call_that_cannot_be_read_ends_the_rollout() -> None:
    rollout = rollout_of(lambda so_far, number: BROKEN_CALL)
    assert rollout.reason == "no call and no answer"
    assert len(rollout.turns) == 1
    assert all(rollout.completion.spoken)
    assert not rollout.truncated


def test_a_turn_is_cut_at_its_limit() -> None:
    rollout = rollout_of(lambda so_far, number: "<think>" + "on and " * 100, Limits(turn=50))
    assert rollout.truncated
    assert len(rollout.completion) == 50
    assert "cut at its limit of 50 tokens" in rollout.trajectory.faults[0]


def test_a_cut_turn_with_a_complete_call_is_closed() -> None:
    made = renderer()
    letters = made.processor.tokenizer
    limit = len(letters.encode(ZOOM_TURN))
    writer = Scripted(made, lambda so_far, number: ZOOM_TURN if number == 1 else ANSWER)
    (rollout,) = run_rollouts([question()], made, writer, Limits(turn=limit), DRAFTER).rollouts
    assert rollout.reason == "answered"
    assert rollout.truncated
    after = rollout.completion.ids[limit : limit + 2]
    assert letters.decode(after) == "<|im_end|>\n"
    assert rollout.completion.spoken[limit - 1 : limit + 1] == (True, False)


@pytest.mark.parametrize("limit", [30, 300])
def test_a_response_stays_within_its_limit_and_never_ends_with_text_of_the_tool(limit: int) -> None:
    made = renderer()
    writer = Scripted(made, lambda so_far, number: ZOOM_TURN)
    (rollout,) = run_rollouts([question()], made, writer, Limits(response=limit), DRAFTER).rollouts
    assert rollout.truncated
    assert len(rollout.completion) <= limit
    assert rollout.completion.spoken[-1]
    # The picture that did not fit is not part of the completion.
    mark = made.processor.tokenizer.convert_tokens_to_ids(IMAGE)
    assert rollout.completion.ids.count(mark) == sum(map(made.image_tokens, rollout.completion.images))


def test_without_the_tool_there_is_one_turn_and_no_mention_of_the_tool() -> None:
    made = renderer()
    writer = Scripted(made, lambda so_far, number: ANSWER)
    (rollout,) = run_rollouts([question()], made, writer, Limits(), DRAFTER, with_tool=False).rollouts
    assert rollout.reason == "answered"
    assert "tool" not in made.processor.tokenizer.decode(rollout.prompt.ids)
    (calling,) = run_rollouts(
        [question()], made, Scripted(made, lambda so_far, number: ZOOM_TURN), Limits(), DRAFTER, with_tool=False
    ).rollouts
    assert calling.reason == "turn limit"
    assert calling.tool_calls == ()


def test_log_probabilities_are_aligned_with_the_generated_tokens() -> None:
    rollout = rollout_of(lambda so_far, number: ZOOM_TURN if number < 3 else ANSWER, logprobs=True)
    assert rollout.logprobs is not None
    assert len(rollout.logprobs) == len(rollout.completion)
    expected: list[float] = []
    place = 0
    for spoken in rollout.completion.spoken:
        place = place + 1 if spoken else 0
        expected.append(-0.1 * (place - 1) if spoken else 0.0)
    assert list(rollout.logprobs) == pytest.approx(expected)
    assert rollout_of(lambda so_far, number: ANSWER).logprobs is None


def test_the_number_of_picture_tokens_agrees_with_the_pictures() -> None:
    made = renderer()
    writer = Scripted(made, lambda so_far, number: ZOOM_TURN if number < 4 else ANSWER)
    (rollout,) = run_rollouts([question()], made, writer, Limits(), DRAFTER).rollouts
    mark = made.processor.tokenizer.convert_tokens_to_ids(IMAGE)
    ids = rollout.prompt.ids + rollout.completion.ids
    assert ids.count(mark) == sum(made.image_tokens(image) for image in rollout.images)
    assert len(rollout.images) == 4
    assert all(isinstance(zoom, Zoom) and zoom.ok for zoom in rollout.tool_calls)


@pytest.mark.parametrize("count", [0, 51])
def test_a_writer_that_ignores_the_limit_is_refused(count: int) -> None:
    made = renderer()

    class NoLimitWriter(Scripted):
        def write(self, requests: Sequence[Request]) -> list[GeneratedTurn]:
            return [GeneratedTurn((0,) * count) for _ in requests]

    with pytest.raises(ValueError, match=f"gave {count} tokens, expected 1 to 50"):
        run_rollouts([question()], made, NoLimitWriter(made, lambda so_far, number: ""), Limits(turn=50), DRAFTER)


def test_every_published_score_is_reproduced(shared):
    lines = (shared / "conformance" / "reward_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    assert cases
    for case in cases:
        reward = score(case["response"], case["ground_truth"])
        assert (reward.score, reward.predicted) == (case["score"], case["predicted"]), case["response"]


@pytest.mark.parametrize(
    ("response", "truth", "reward"),
    [
        (r"<think>a</think><answer>\boxed{YES}</answer>", "YES", Reward(1.0, "YES", True)),
        (r"<think>a</think><answer>\boxed{YES}</answer>", "NO", Reward(0.0, "YES", True)),
        (r"<think>a</think>\boxed{NO}", "NO", Reward(0.8, "NO", False)),
        ("", "NO", Reward(-0.2, "", False)),
        (r"<think>a</think><answer>\boxed{}</answer> so yes", "YES", Reward(0.8, "YES", False)),
        ("<think>a</think>\nneither\n  of  both \n\n", "YES", Reward(-0.2, "of both", False)),
    ],
)
def test_form_and_class_are_scored_separately(response, truth, reward):
    assert score(response, truth) == reward


def test_the_penalty_for_bad_form_can_be_set():
    assert score(r"\boxed{NO}", "NO", alpha=0.5).score == 0.5


@given(st.text(), st.sampled_from(["YES", "NO"]))
def test_every_text_gets_one_of_four_scores(response, truth):
    assert score(response, truth).score in (1.0, 0.8, 0.0, -0.2)
