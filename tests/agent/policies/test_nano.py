"""The nano model in numpy, and its policy: with random weights, or made to write a given turn.

That its numbers are those of transformers is in ``tests/models/test_nano.py``.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import log

import numpy as np
import pytest
from astropy.table import Table
from PIL import Image
from threadpoolctl import threadpool_info, threadpool_limits

from agent import tool
from agent.conversation import CannotTell, Conversation, Exchange, PolicyError, Remark, Score, Stop, Usage
from agent.loop import Ended, Text, inspect
from agent.policies import Sampling
from agent.policies.nano import folder as nano_folder
from agent.policies.nano import policy as nano_policy
from agent.policies.nano.model import KEPT, NanoModel
from agent.policies.nano.pictures import resized, smart_size
from agent.policies.nano.policy import NAME, Nano
from agent.policies.nano.tokens import Vocabulary, script
from agent.simulate import simulate
from agent.tasks import load
from tests.conftest import ROOT
from tests.support.cli import run
from tests.support.nano_model import change, made_to_write, put, write

pytest.importorskip("tokenizers")
pytest.importorskip("safetensors")

TASKS = load()
SPECTRUM = simulate("cv", "LAMOST", 20.0, seed=1)
SHORT = Sampling(max_tokens=12)
ANSWER = "<think>So it is a cataclysmic variable.</think><answer>\\boxed{YES} Hα, 5 Å.</answer>"


@pytest.fixture(scope="session")
def original(tmp_path_factory):
    return write(tmp_path_factory.mktemp("nano") / "model")


@pytest.mark.parametrize("task", TASKS.values(), ids=list(TASKS))
def test_the_weights_of_the_program_know_each_prompt_as_one_token(task):
    packaged = Vocabulary(nano_folder.read(nano_folder.PACKAGED))
    text = script(Conversation(SPECTRUM, task, tool.overview(SPECTRUM), 8))[2]
    assert task.prompt_without_reasons in text
    assert len(packaged.ids(text)) < 20


@pytest.fixture
def folder(original, tmp_path):
    """A copy of the model's folder, to change."""
    copied = tmp_path / "model"
    copied.mkdir()
    for file in original.iterdir():
        (copied / file.name).write_bytes(file.read_bytes())
    return copied


@pytest.fixture
def model(original):
    return NanoModel.load(original)


@pytest.fixture
def use(monkeypatch):
    """A function that puts a model in the place of the one that the policy would load."""
    return lambda model: monkeypatch.setattr(nano_policy, "model", lambda path: model)


def conversation(task: str = "cv", zooms: int = 0, seed: int = 1) -> Conversation:
    spectrum = simulate("cv", "LAMOST", 20.0, seed=seed)
    found = Conversation(spectrum, TASKS[task], tool.overview(spectrum), 8)
    for number in range(zooms):
        seen = tool.call(spectrum, {"label": "Hα", "wavelength_range": [6000 + 100 * number, 6700]})
        exchange = Exchange(f"<think>Zoom {number} on Hα.</think>", seen)
        found = replace(found, exchanges=(*found.exchanges, exchange), turns_left=7 - number)
    return found


def text_of(pieces) -> str:
    return "".join(piece for piece in pieces if isinstance(piece, str))


def usage_of(pieces) -> Usage:
    return next(piece for piece in pieces if isinstance(piece, Usage))


# ---- reading and writing


def test_a_turn_is_the_same_with_and_without_what_was_read_before(original, model):
    """Turn by turn in one conversation, each from a new model and each from the one that has read the turns before."""
    for zooms in (0, 1, 2):
        fresh = list(NanoModel.load(original).write(script(conversation(zooms=zooms)), SHORT))
        kept = list(model.write(script(conversation(zooms=zooms)), SHORT))
        assert text_of(kept) == text_of(fresh) != ""
        assert usage_of(fresh).cached == 0


def test_the_next_turn_reads_only_its_new_tokens(model):
    first = list(model.write(script(conversation()), SHORT))
    before = conversation()
    seen = tool.call(SPECTRUM, {"wavelength_range": [6400, 6700]})
    after = replace(before, exchanges=(Exchange(text_of(first), seen),))
    second = usage_of(list(model.write(script(after), SHORT)))
    # All of the first turn's prompt was kept; what was written is kept where its text has the same tokens.
    assert usage_of(first).prompt <= second.cached < second.prompt
    assert [kept.cache.length for kept in model._kept][-1] >= second.prompt


def test_another_conversation_finds_the_system_turn_read_already(model):
    list(model.write(script(conversation()), SHORT))
    other = script(conversation(seed=2))
    system = len(model.vocabulary.ids(other[0]))
    assert usage_of(list(model.write(other, SHORT))).cached == system > 100
    without = script(replace(conversation(seed=3), with_tool=False))
    assert usage_of(list(model.write(without, SHORT))).cached < system


def test_many_threads_write_the_same_as_one(original, model):
    """More conversations than are kept, several at a time; afterwards numpy has its threads back."""
    scripts = [script(conversation(zooms=number % 2, seed=number)) for number in range(KEPT + 4)]
    with threadpool_limits(2, "blas"):
        before = blas_threads()
        with ThreadPoolExecutor(4) as pool:
            texts = list(pool.map(lambda turns: text_of(model.write(turns, SHORT)), scripts))
        alone = NanoModel.load(original)
        assert texts == [text_of(alone.write(turns, SHORT)) for turns in scripts]
        assert len(model._kept) == KEPT
        assert blas_threads()[: len(before)] == before
        assert 2 in before


def blas_threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_the_pixels_decide_and_not_only_the_size_of_a_picture(model):
    given = [model.input(script(conversation(seed=seed))) for seed in (1, 2)]
    assert (given[0].ids == given[1].ids).all()
    assert (given[0].identity != given[1].identity).any()
    texts = [text_of(model.write(script(conversation(seed=seed)), SHORT)) for seed in (1, 2)]
    assert texts[0] != texts[1]


def test_the_same_seed_gives_the_same_text_and_each_turn_has_its_own_numbers(model):
    wild = Sampling(temperature=1.5, max_tokens=20, seed=4)
    written = [text_of(model.write(script(conversation()), wild, number)) for number in (0, 0, 1)]
    assert written[0] == written[1] != written[2]
    other = text_of(model.write(script(conversation()), wild.for_sample(1), 0))
    assert other not in written


def test_top_p_leaves_only_the_most_likely_tokens(model):
    greedy = text_of(model.write(script(conversation()), SHORT))
    narrow = Sampling(temperature=2.0, top_p=1e-6, max_tokens=12, seed=1)
    assert text_of(model.write(script(conversation()), narrow)) == greedy


def test_a_turn_ends_by_itself_or_is_cut_at_its_limit_with_a_remark(model):
    made_to_write(model, [5] * 10)
    pieces = list(model.write(script(conversation()), Sampling(max_tokens=10)))
    assert Remark("cut at its limit of 10 tokens") in pieces
    assert usage_of(pieces).completion == 10
    end = min(model.vocabulary.ends)
    made_to_write(model, [*model.vocabulary.ids(ANSWER), end])
    pieces = list(model.write(script(conversation()), Sampling(max_tokens=100)))
    assert text_of(pieces) == ANSWER
    assert not any(isinstance(piece, Remark) for piece in pieces)
    assert usage_of(pieces).completion == len(model.vocabulary.ids(ANSWER)) + 1


def test_a_character_of_several_tokens_is_written_once_it_is_complete(model):
    written = "Hα at 5 Å, 光谱 😀"
    ids = model.vocabulary.ids(written)
    assert len(ids) > len(written)
    made_to_write(model, [*ids, min(model.vocabulary.ends)])
    pieces = [piece for piece in model.write(script(conversation()), Sampling()) if isinstance(piece, str)]
    assert "".join(pieces) == written
    assert len(pieces) > 5
    assert not any("\ufffd" in piece for piece in pieces)


def test_a_turn_cut_within_a_character_ends_with_a_replacement(model):
    made_to_write(model, model.vocabulary.ids("光"))
    assert text_of(model.write(script(conversation()), Sampling(max_tokens=1))) == "\ufffd"


def test_a_picture_token_is_never_written(model):
    read = model.language.logits

    def picture_first(states):
        found = read(states)
        found[:, list(model.vocabulary.never)] = 1e6
        return found

    model.language.logits = picture_first
    written = text_of(model.write(script(conversation()), SHORT))
    assert written
    assert "<|image_pad|>" not in written
    assert "<|video_pad|>" not in written


def test_a_picture_token_in_a_text_is_refused(model):
    with pytest.raises(PolicyError, match="the mark of a picture"):
        list(model.write(script(replace(conversation(), system="Mind <|image_pad|>.")), SHORT))


def test_a_conversation_that_is_too_long_is_refused_with_both_numbers(folder):
    change(folder, "config.json", text_config__max_position_embeddings=100)
    with pytest.raises(PolicyError, match=r"has \d+ tokens and the model holds 100: allow fewer turns"):
        list(NanoModel.load(folder).write(script(conversation()), SHORT))


def test_a_stop_ends_the_turn_and_keeps_the_text(original):
    stop, texts = Stop(), []
    events = inspect(SPECTRUM, TASKS["cv"], Nano(original, Sampling(max_tokens=2000)), stop=stop)
    for event in events:
        if isinstance(event, Text):
            texts.append(event.text)
            if len(texts) == 3:
                stop.set()
    assert isinstance(event, Ended)
    assert event.reason == "stopped"
    assert len(texts) == 3


def test_a_stop_is_noticed_while_the_conversation_is_read(model):
    assert list(model.write(script(conversation()), SHORT, halted=lambda: True)) == []
    assert usage_of(list(model.write(script(conversation()), SHORT))).completion == 12


def test_a_closed_turn_leaves_a_usable_model(original, model):
    turn = model.write(script(conversation()), SHORT)
    next(turn)
    turn.close()
    expected = text_of(NanoModel.load(original).write(script(conversation()), SHORT))
    again = list(model.write(script(conversation()), SHORT))
    assert text_of(again) == expected
    assert usage_of(again).cached == usage_of(again).prompt - 1


def test_weights_in_half_precision_are_read(tmp_path, original):
    half = NanoModel.load(write(tmp_path / "half", dtype="float16"))
    assert (half.folder.path / "model.safetensors").stat().st_size < 0.6 * (
        original / "model.safetensors"
    ).stat().st_size
    assert half.language.embedding.dtype == np.float32
    assert text_of(half.write(script(conversation()), SHORT))


# ---- the score


def odds_of(model, ids, logits, text=None) -> list[float]:
    made_to_write(model, [*ids, min(model.vocabulary.ends)], logits)
    pieces = list(model.write(script(conversation()), Sampling()))
    if text is not None:
        assert text_of(pieces) == text
    return [piece.log_odds for piece in pieces if isinstance(piece, Score)]


def test_the_score_is_the_log_odds_at_the_token_that_begins_the_word(model):
    y, n, no = (model.vocabulary.ids(text)[0] for text in ("Y", "N", "NO"))
    small_y = model.vocabulary.ids("y")[0]
    before = model.vocabulary.ids("<think>Clear.</think><answer>\\boxed{")
    ids = [*before, *model.vocabulary.ids("YES"), *model.vocabulary.ids("}</answer>")]
    found = odds_of(model, ids, {n: log(0.1), small_y: log(0.2)}, "<think>Clear.</think><answer>\\boxed{YES}</answer>")
    assert no == n or model.vocabulary.texts[no] == "NO"
    # 1 + 0.2 against 0.1, and what else begins either word has e to the power of −20.
    assert found == [pytest.approx(log(1.2 / 0.1), abs=1e-4)]
    assert y != n


def test_the_score_counts_whole_phrases(tmp_path):
    phrases = ("<answer>\\boxed{YES}", "<answer>\\boxed{NO}", "</answer>", "<answer>")
    model = NanoModel.load(write(tmp_path / "phrases", phrases=phrases))
    yes, no = (model.vocabulary.ids(text)[0] for text in phrases[:2])
    ids = [*model.vocabulary.ids("Clear. "), no, *model.vocabulary.ids("</answer>")]
    assert odds_of(model, ids, {yes: log(0.25)}) == [pytest.approx(log(0.25), abs=1e-4)]


def test_without_both_classes_or_an_answer_there_is_no_score(tmp_path, model):
    phrases = ("<answer>\\boxed{YES}", "</answer>", "<answer>")
    model = NanoModel.load(write(tmp_path / "one", phrases=phrases))
    assert odds_of(model, [*model.vocabulary.ids("<answer>\\boxed{YES}")], {}, "<answer>\\boxed{YES}") == []
    assert odds_of(model, model.vocabulary.ids("<think>YES or NO?</think>"), {}) == []
    assert odds_of(model, model.vocabulary.ids("<answer>\\boxed{MAYBE}</answer>"), {}) == []


def test_the_score_belongs_to_the_box_in_the_answer(model):
    """A box in the thought, of the other class, does not count."""
    n = model.vocabulary.ids("N")[0]
    text = "<think>Not \\boxed{NO} at all.</think><answer>\\boxed{YES}</answer>"
    found = odds_of(model, model.vocabulary.ids(text), {n: -3.0}, text)
    assert len(found) == 1
    assert found[0] > 2


def test_the_trace_has_the_score_and_the_weights(model, use, original):
    use(model)
    n = model.vocabulary.ids("N")[0]
    made_to_write(model, [*model.vocabulary.ids(ANSWER), min(model.vocabulary.ends)], {n: -2.0})
    *_, end = inspect(SPECTRUM, TASKS["cv"], Nano(original))
    assert (end.reason, end.trajectory.faults, end.trajectory.answer.verdict) == ("answered", (), "YES")
    assert end.trajectory.answer.score == pytest.approx(2.0, abs=0.01)
    drafter = end.trajectory.drafter
    assert (drafter.kind, drafter.name) == ("model", NAME)
    digest = hashlib.sha256((original / "model.safetensors").read_bytes()).hexdigest()
    assert drafter.settings["weights_sha256"] == digest
    assert drafter.settings["temperature"] == 0.0
    assert str(original) not in json.dumps(dict(drafter.settings))


# ---- abstain.json


@pytest.fixture
def abstaining(folder):
    put(
        folder,
        "abstain.json",
        {"version": "1.2", "tasks": ["cv", "wd"], "abstain": {"wd": "on real spectra F1 is 0.4"}},
    )
    return folder


def answered(folder, use, task):
    model = NanoModel.load(folder)
    use(model)
    made_to_write(model, [*model.vocabulary.ids(ANSWER), min(model.vocabulary.ends)])
    *_, end = inspect(SPECTRUM, TASKS[task], Nano(folder))
    return end


def test_a_class_that_did_not_pass_is_left_to_a_person(abstaining, use):
    end = answered(abstaining, use, "wd")
    assert end.trajectory.answer.verdict == "YES"
    assert end.trajectory.cannot_tell == "on real spectra F1 is 0.4"
    assert end.trajectory.drafter.settings["weights_version"] == "1.2"
    assert answered(abstaining, use, "cv").trajectory.cannot_tell == ""


def test_without_an_answer_nothing_is_left_out(abstaining, use):
    model = NanoModel.load(abstaining)
    use(model)
    made_to_write(model, [*model.vocabulary.ids("<think>Unclear.</think>"), min(model.vocabulary.ends)])
    pieces = list(Nano(abstaining).turn(conversation("wd")))
    assert not any(isinstance(piece, CannotTell) for piece in pieces)


def test_a_task_that_the_model_was_not_trained_on_is_refused(abstaining):
    *_, end = inspect(SPECTRUM, TASKS["ss"], Nano(abstaining))
    assert end.reason == "policy failed"
    assert end.detail == f"{NAME} was not trained on the task 'ss'; it knows cv, wd"


# ---- the folder


@pytest.mark.parametrize(
    ("file", "changes", "complaint"),
    [
        ("config.json", {"model_type": "llama"}, "config.json: model_type: found 'llama', expected 'qwen2_5_vl'"),
        ("config.json", {"text_config": None}, "config.json: text_config: found nothing, expected a value"),
        ("config.json", {"text_config__hidden_size": "64"}, "text_config.hidden_size: found '64', expected a whole"),
        ("config.json", {"text_config__num_attention_heads": 5}, "found 5, expected a divisor of hidden_size .64"),
        (
            "config.json",
            {"text_config__rope_parameters__mrope_section": [2, 3, 4]},
            "mrope_section: found the sum 9, expected numbers with the sum 8",
        ),
        ("config.json", {"vision_config__out_hidden_size": 32}, "out_hidden_size: found 32, expected 64"),
        ("config.json", {"text_config__intermediate_size": 100}, r"found the shape \(96, 64\), expected \(100, 64\)"),
        ("config.json", {"text_config__num_hidden_layers": 3}, r"model.layers.2.*: found nothing, expected an array"),
        ("config.json", {"text_config__vocab_size": 20}, r"expected less than the vocab_size 20|expected \(20, 64\)"),
        ("config.json", {"tie_word_embeddings": False}, "lm_head.weight: found nothing"),
        ("preprocessor_config.json", {"image_std": [0.0, 1.0, 1.0]}, "image_std.*expected numbers above 0"),
        ("preprocessor_config.json", {"patch_size": 16}, "patch_size of the pictures: found 16, expected 14"),
        ("generation_config.json", {"eos_token_id": None}, "eos_token_id"),
    ],
)
def test_a_setting_that_does_not_fit_is_named_with_its_file(folder, file, changes, complaint):
    change(folder, file, **changes)
    with pytest.raises(PolicyError, match=complaint):
        NanoModel.load(folder)


@pytest.mark.parametrize("file", ["config.json", "model.safetensors", "tokenizer.json", "generation_config.json"])
def test_a_missing_or_broken_file_is_named(folder, file):
    (folder / file).write_bytes(b"{]")
    with pytest.raises(PolicyError, match=f"{file}: file: found .*, expected"):
        NanoModel.load(folder)
    (folder / file).unlink()
    health = Nano(folder).check()
    assert not health.ok
    assert f"found no {file}" in health.sentence


def test_abstain_names_only_known_tasks(folder):
    put(folder, "abstain.json", {"version": "1", "tasks": ["cv"], "abstain": {"wd": "no"}})
    with pytest.raises(PolicyError, match="abstain: found 'wd', expected one of the tasks: cv"):
        NanoModel.load(folder)


def test_the_health_of_a_usable_folder(abstaining):
    health = Nano(abstaining).check()
    assert health.ok
    assert health.sentence == f"{NAME}, in this process, for cv, wd"
    assert health.context == 4096


def test_the_settings_of_transformers_5_are_read_too(folder):
    settings = json.loads((folder / "preprocessor_config.json").read_text(encoding="utf-8"))
    (folder / "preprocessor_config.json").unlink()
    put(folder, "processor_config.json", {"processor_class": "Qwen2_5_VLProcessor", "image_processor": settings})
    assert text_of(NanoModel.load(folder).write(script(conversation()), SHORT))


def test_the_layout_of_the_published_checkpoints_is_read_too(folder):
    """Rotary parameters in two fields, as training writes them for transformers 4 and 5."""
    before = text_of(NanoModel.load(folder).write(script(conversation()), SHORT))
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    rotary = config["text_config"].pop("rope_parameters")
    config["text_config"] |= {"rope_theta": rotary.pop("rope_theta"), "rope_scaling": rotary}
    put(folder, "config.json", config)
    assert text_of(NanoModel.load(folder).write(script(conversation()), SHORT)) == before


def test_neither_torch_nor_transformers_is_imported(original):
    """In a new process, with both made impossible to import."""
    code = (
        "import sys; sys.modules.update(torch=None, torchvision=None, transformers=None)\n"
        "from pathlib import Path; from agent.loop import inspect; from agent.policies import Sampling\n"
        "from agent.policies.nano.policy import Nano\n"
        "from agent.simulate import simulate; from agent.tasks import load\n"
        f"policy = Nano(Path({str(original)!r}), Sampling(max_tokens=5))\n"
        "*_, end = inspect(simulate('cv', 'LAMOST', 20.0, 1), load()['cv'], policy)\n"
        "print(end.reason, end.usage.completion)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout == "no call and no answer 5\n", done.stderr


# ---- pictures


@pytest.mark.parametrize(
    ("height", "width", "expected"),
    [(472, 792, (112, 168)), (28, 28, (84, 84)), (30, 2000, (28, 1204)), (100, 100, (112, 112))],
)
def test_a_picture_gets_a_size_that_the_model_takes(height, width, expected):
    assert smart_size(height, width, 28, 8 * 784, 28 * 784) == expected


def test_a_picture_of_extreme_shape_is_refused():
    with pytest.raises(PolicyError, match="found a picture of 2000 × 9 pixels"):
        smart_size(9, 2000, 28, 784, 78400)


def test_a_picture_is_resized_to_the_bytes_of_torchvision():
    """The digest is that of torchvision 0.28's resize (bicubic, antialiased) of this picture, in three sizes."""
    rng = np.random.default_rng(7)
    pixels = rng.integers(0, 256, (180, 300, 3), dtype=np.uint8)
    sizes = ((84, 140), (28, 252), (196, 308))
    digest = hashlib.sha256(b"".join(resized(pixels, *size).tobytes() for size in sizes)).hexdigest()
    assert digest == TORCHVISION
    pillow = [
        np.array(Image.fromarray(pixels).resize(size[::-1], Image.Resampling.BICUBIC)).tobytes() for size in sizes
    ]
    assert hashlib.sha256(b"".join(pillow)).hexdigest() != TORCHVISION


TORCHVISION = "bb990d0559e2dc4fd639e16ad68cdc7d3744c3754c0917aa1923c06589e543b7"


# ---- the command


def test_spectra_are_inspected_from_the_command_line_in_processes(original, tmp_path):
    for seed in (1, 2):
        spectrum = simulate("cv", "LAMOST", 20.0, seed=seed)
        columns = {name: getattr(spectrum, name) for name in ("wavelength", "flux", "ivar")}
        Table(columns).write(tmp_path / f"{seed}.csv")
    options = ("--task", "cv", "--policy", "nano", "--model", original, "--max-tokens", 8, "--json", "--processes", 2)
    done = run("inspect", *options, "--out", "results.jsonl", "1.csv", "2.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["spectra"], summary["this_run"]["inspected"]) == (2, 2)
    assert summary["this_run"]["tokens"]["completion"] == 16
    lines = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    drafters = [line["drafter"] for line in lines]
    assert [drafter["name"] for drafter in drafters] == [NAME] * 2
    assert len(drafters[0]["settings"]["weights_sha256"]) == 64
