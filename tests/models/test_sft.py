"""The cold start (SFT): real steps of a real small model; its loss compared with the traces per token."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.loop import Ended, inspect
from agent.policies import Sampling
from agent.policies.local.policy import Local
from agent.tasks import load as load_tasks
from agent.trajectory.tags import turn_text
from app import main
from tests.models.support.learned_set import written
from tests.models.support.learned_traces import inspected, shown
from tests.models.support.rollouts import runs
from training.data import examples
from training.data.records import Example
from training.model import load
from training.render import UNSPOKEN, Renderer
from training.run import Run
from training.settings import ModelSettings, read, to_yaml
from training.sft import Collator, SftSettings, arguments_of, token_counts, train, trainer_of
from training.sft import mask_text as printed

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 300  # seconds after which waiting for a process is given up


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Use one thread, as the killed processes do: sums in another order give other digits."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("set")).parent


@pytest.fixture(scope="module")
def learned(data: Path) -> list[Example]:
    return examples([data])


@pytest.fixture
def settings(random_model: Path, data: Path, tmp_path: Path) -> SftSettings:
    return SftSettings(
        ModelSettings(str(random_model), dtype="float32"),
        str(tmp_path / "run"),
        (str(data),),
        batch_size=1,
        accumulation=2,
        epochs=2,
        save_steps=2,
        learning_rate=1e-3,
        gradient_checkpointing=False,
    )


def _numbers(run: Run) -> list[dict[str, Any]]:
    """The log without the times."""
    return [{key: value for key, value in line.items() if key != "seconds"} for line in run.logged()]


def _batch(settings: SftSettings, learned: Sequence[Example]) -> tuple[Any, dict[str, Any]]:
    loaded = load(settings.model)
    collator = Collator(learned, loaded.processor, settings.with_tool)
    return loaded, collator([{"place": place} for place in range(len(learned))])


def test_labels_are_the_assistants_tokens(settings: SftSettings, learned: list[Example]) -> None:
    loaded, batch = _batch(settings, learned)
    tokenizer = loaded.processor.tokenizer
    for row, example in enumerate(learned):
        texts = [turn_text(turn) + "<|im_end|>" for turn in example.trajectory.turns()]
        expected = [tokenizer.encode(text, add_special_tokens=False) for text in texts]
        labelled = batch["labels"][row] != UNSPOKEN
        assert runs(batch["labels"][row].tolist(), labelled.tolist()) == expected
        assert (batch["labels"][row][labelled] == batch["input_ids"][row][labelled]).all()
        assert batch["attention_mask"][row][labelled].all()


def test_the_gradient_reaches_only_the_spoken_tokens(settings: SftSettings, learned: list[Example]) -> None:
    """The gradient of the trainer's loss at each position of the last layer, which predicts the next token, is
    nonzero exactly before the spoken tokens."""
    import torch

    loaded, batch = _batch(settings, learned)
    trainer = trainer_of(settings, loaded, learned, (), arguments_of(settings, False))
    last: list[Any] = []

    def keep(module: object, inputs: object, output: Any) -> None:
        output.last_hidden_state.retain_grad()
        last.append(output.last_hidden_state)

    loaded.model.model.language_model.register_forward_hook(keep)
    trainer.compute_loss(loaded.model.train(), dict(batch)).backward()
    reached = last[0].grad.abs().sum(-1) > 0
    expected = torch.zeros_like(reached)
    expected[:, :-1] = batch["labels"][:, 1:] != UNSPOKEN
    assert torch.equal(reached, expected)


def test_the_loss_is_the_mean_over_spoken_tokens(settings: SftSettings, learned: list[Example]) -> None:
    import torch

    loaded, batch = _batch(settings, learned)
    trainer = trainer_of(settings, loaded, learned, (), arguments_of(settings, False))
    with torch.no_grad():
        ours = trainer.compute_loss(loaded.model.eval(), dict(batch))
    renderer = Renderer(loaded.processor)
    losses: list[float] = []
    for row, example in enumerate(learned):
        rendered = renderer.example(example.trajectory, example.pictures())
        inputs = {key: value for key, value in batch.items() if key != "labels"}
        with torch.no_grad():
            predicted = loaded.model(**inputs).logits[row].log_softmax(-1)
        losses += [
            -predicted[at - 1, token].item()
            for at, (token, spoken) in enumerate(zip(rendered.ids, rendered.spoken, strict=True))
            if spoken
        ]
    assert ours.item() == pytest.approx(sum(losses) / len(losses), rel=1e-5)


def test_accumulating_is_the_same_as_one_large_batch(settings: SftSettings, learned: list[Example]) -> None:
    """Although the examples have different numbers of spoken tokens."""
    import torch

    pair = [replace(settings, output=settings.output + name, max_steps=2) for name in ("1", "3")]
    accumulated = train(replace(pair[0], batch_size=1, accumulation=3), learned)
    large_batch = train(replace(pair[1], batch_size=3, accumulation=1), learned)
    for left, right in zip(_numbers(accumulated), _numbers(large_batch), strict=True):
        assert left["loss"] == pytest.approx(right["loss"], rel=1e-5)
        assert left["grad_norm"] == pytest.approx(right["grad_norm"], rel=1e-3)
    weights = [
        load(ModelSettings(str(run.folder), dtype="float32")).model.state_dict() for run in (accumulated, large_batch)
    ]
    assert all(torch.allclose(weights[0][name], weights[1][name], atol=1e-4) for name in weights[0])


@pytest.mark.parametrize("method", ["full", "lora"])
def test_the_loss_falls_and_frozen_parts_do_not_change(
    settings: SftSettings, learned: list[Example], method: Any
) -> None:
    import torch

    settings = replace(settings, model=replace(settings.model, method=method), epochs=8, learning_rate=3e-3)
    run = train(settings, learned)
    losses = [line["loss"] for line in run.logged()]
    assert losses[-1] < losses[0] - 0.5
    before = load(settings.model).model.state_dict()
    after = load(replace(settings.model, name=str(run.folder))).model.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed
    assert not any("visual" in name for name in changed)
    if method == "lora":
        assert all("lora_" in name for name in changed)


def test_the_folder_of_a_run_records_the_run(settings: SftSettings, learned: list[Example]) -> None:
    run = train(replace(settings, held_out=0.3), learned[1:], learned[:1])
    assert {path.name for path in run.folder.iterdir()} == {
        *("settings.yaml", "environment.json", "lineage.json", "log.jsonl", "model"),
        *("checkpoint-2",),
    }
    assert read(run.folder / "settings.yaml", SftSettings) == replace(settings, held_out=0.3)
    base, stage = json.loads((run.folder / "lineage.json").read_text())
    assert base == {"kind": "base", "name": settings.model.name}
    assert (stage["kind"], stage["from"]["method"]) == ("sft", "full")
    environment = json.loads((run.folder / "environment.json").read_text())[0]
    assert {"torch", "transformers", "trl"} <= set(environment["packages"])
    steps = [line for line in run.logged() if "loss" in line]
    assert [line["step"] for line in steps] == [1, 2]
    assert [line["step"] for line in run.logged() if "eval_loss" in line] == [2]


def test_the_seed_decides_how_a_new_adapter_begins(
    settings: SftSettings, learned: list[Example], tmp_path: Path
) -> None:
    import torch
    from safetensors.torch import load_file

    settings = replace(settings, model=replace(settings.model, method="lora"), max_steps=1)

    def trained(name: str, seed: int) -> dict[str, torch.Tensor]:
        run = train(replace(settings, output=str(tmp_path / name), seed=seed), learned)
        return load_file(run.model / "adapter_model.safetensors")

    first, again, other = trained("first", 1), trained("again", 1), trained("other", 2)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not any(torch.equal(first[name], other[name]) for name in first if "lora_A" in name)


@pytest.mark.parametrize(("method", "rate"), [("full", 0.5), ("lora", 2.0)])
def test_the_weights_with_the_lowest_held_out_loss_are_kept(
    settings: SftSettings, learned: list[Example], tmp_path: Path, method: Any, rate: float
) -> None:
    """At a far too high rate the held-out loss is mostly higher after the second step: a seed with which it is."""
    import torch
    from safetensors.torch import load_file

    settings = replace(
        settings,
        model=replace(settings.model, method=method),
        max_steps=2,
        save_steps=1,
        schedule="constant",
        warmup=0.0,
        learning_rate=rate,
        held_out=0.3,
    )

    def trained(name: str, **changes: Any) -> tuple[Run, dict[str, torch.Tensor]]:
        run = train(replace(settings, output=str(tmp_path / name), **changes), learned[1:], learned[:1])
        (file,) = run.model.glob("*model.safetensors")
        return run, load_file(file)

    def rises(run: Run) -> bool:
        losses = {line["step"]: line["eval_loss"] for line in run.logged() if "eval_loss" in line}
        return losses[1] < losses[2]

    tried = ((seed, *trained(f"kept-{seed}", seed=seed, keep_best=True)) for seed in range(8))
    seed, weights = next((seed, weights) for seed, run, weights in tried if rises(run))
    _, last = trained("last", seed=seed)
    _, expected = trained("short", seed=seed, max_steps=1)
    assert all(torch.equal(weights[name], expected[name]) for name in expected)
    assert not all(torch.equal(last[name], expected[name]) for name in expected)


def test_a_killed_and_resumed_run_equals_an_uninterrupted_run(
    settings: SftSettings, learned: list[Example], capsys: pytest.CaptureFixture[str]
) -> None:
    """Killed with SIGKILL between two checkpoints and resumed: the log is that of an uninterrupted run."""
    # So many steps that it is not done before it is killed.
    settings = replace(settings, epochs=6)
    killed = Run(Path(settings.output))
    config = Path(settings.output + ".yaml")
    config.write_text(to_yaml(settings))
    line = [sys.executable, str(ROOT / "app.py"), "sft", "--config", str(config)]
    variables = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(line, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + PATIENCE
        while len(killed.logged()) < 3 and process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert killed.checkpoint() is not None
    assert not killed.finished
    status, _, err = _run_command(capsys, settings)
    assert status == 0, err
    alone = train(replace(settings, output=settings.output + "-alone"), learned)
    assert _numbers(killed) == _numbers(alone)
    assert len(_numbers(killed)) == 12
    weights = [(run.model / "model.safetensors").read_bytes() for run in (killed, alone)]
    assert weights[0] == weights[1]
    assert len(json.loads((killed.folder / "environment.json").read_text())) == 2


def test_an_adapter_resumes_from_its_checkpoint(settings: SftSettings, learned: list[Example]) -> None:
    settings = replace(settings, model=replace(settings.model, method="lora"), epochs=2, save_steps=2)
    alone = train(settings, learned)
    resumed = replace(settings, output=settings.output + "-again")
    shutil.copytree(alone.folder, resumed.output)
    shutil.rmtree(Path(resumed.output) / "model")
    shutil.rmtree(Path(resumed.output) / "checkpoint-4")
    (Path(resumed.output) / "settings.yaml").write_text(to_yaml(resumed))
    again = train(resumed, learned, start="resume")
    assert _numbers(again) == _numbers(alone)
    weights = [(run.model / "adapter_model.safetensors").read_bytes() for run in (again, alone)]
    assert weights[0] == weights[1]


def test_the_trained_model_works_in_the_inspection_loop(
    settings: SftSettings, tiny_model: Path, learned: list[Example]
) -> None:
    """The trained tiny model has memorised the traces; a small step on them does not change that."""
    settings = replace(settings, model=replace(settings.model, name=str(tiny_model)), learning_rate=1e-5, max_steps=2)
    run = train(settings, learned)
    assert run.logged()[0]["loss"] < 0.1
    policy = Local(str(run.model), sampling=Sampling(temperature=0.0, max_tokens=256))
    events = list(inspect(shown("cv"), load_tasks()["cv"], policy))
    assert isinstance(events[-1], Ended)
    found, known = events[-1].trajectory, inspected("cv").trajectory
    assert [turn_text(turn) for turn in found.turns()] == [turn_text(turn) for turn in known.turns()]


def test_without_the_tool_one_turn_is_learned(settings: SftSettings, learned: list[Example]) -> None:
    run = train(replace(settings, with_tool=False, max_steps=1), learned)
    assert run.finished
    _, batch = _batch(replace(settings, with_tool=False), learned)
    assert all(len(runs(row.tolist(), (row != UNSPOKEN).tolist())) == 1 for row in batch["labels"])
    assert len(batch["image_grid_thw"]) == len(learned)


def test_the_printed_mask_agrees_with_the_mask(settings: SftSettings, learned: list[Example]) -> None:
    loaded = load(settings.model)
    renderer = Renderer(loaded.processor)
    example = learned[0]
    rendered = renderer.example(example.trajectory, example.pictures())
    tokenizer = loaded.processor.tokenizer
    text = printed(rendered, tokenizer, colours=False)
    texts = [turn_text(turn) + "<|im_end|>" for turn in example.trajectory.turns()]
    assert [part.partition("⟧")[0] for part in text.split("⟦")[1:]] == texts
    assert text.count("<|image_pad|>×") == len(rendered.images)
    assert text.count("<|image_pad|>") == len(rendered.images)
    coloured = printed(rendered, tokenizer, colours=True)
    assert all(f"\x1b[1;32m{line}\x1b[0m" in coloured for line in texts[-1].splitlines())
    counted = token_counts(rendered, tokenizer)
    assert counted.spoken == sum(rendered.spoken)
    assert counted.image == sum(map(renderer.image_tokens, rendered.images))
    assert counted.spoken + counted.prompt + counted.tool + counted.image == len(rendered)


def _run_command(capsys: pytest.CaptureFixture[str], settings: SftSettings, *more: str) -> tuple[int, str, str]:
    config = Path(settings.output + ".yaml")
    config.write_text(to_yaml(settings))
    status = main(["sft", "--config", str(config), *more])
    out, err = capsys.readouterr()
    return status, out, err


def test_a_dry_run_prints_everything_and_writes_nothing(
    settings: SftSettings, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = _run_command(capsys, settings, "--dry-run")
    assert status == 0
    for words in ("3 examples of 3 spectra", "⟦<think>", "spoken (the loss", "parameters learn", "4 steps of 2"):
        assert words in out
    status, out, _ = _run_command(capsys, settings, "--show-mask", "2", "--json")
    assert json.loads(out)["example"].endswith(":2")
    assert not Path(settings.output).exists()


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--set", "lerning_rate=1"], "lerning_rate: found an unknown field, expected one of "),
        (["--data", "/no/where"], "/no/where: found no such file or folder"),
        (["--set", "data=[]"], "data: found nothing, expected an export"),
        (["--set", "model.name=/no/where"], "/no/where: no such folder; expected a model"),
        (["--set", "max_length=100"], "found no example of 100 tokens or fewer among 3"),
        (["--show-mask", "4"], "--show-mask: found 4, expected 1 to 3"),
        (["--config", "none.yaml"], "none.yaml: file: found "),
    ],
)
def test_bad_settings_are_reported_in_one_line(
    settings: SftSettings, capsys: pytest.CaptureFixture[str], more: list[str], expected: str
) -> None:
    status, _, err = _run_command(capsys, settings, *more)
    assert status == 2
    assert expected in err
    assert err.count("\n") == 1
    assert not Path(settings.output).exists()


def test_a_missing_picture_is_named(settings: SftSettings, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = written(tmp_path / "set")
    (file.parent / "images" / "lf_cc_0_2.png").unlink()
    status, _, err = _run_command(capsys, settings, "--data", str(file))
    assert (status, err.count("\n")) == (2, 1)
    assert "lf_cc_0_2.png" in err


def test_sources_of_the_test_data_are_refused_or_dropped(
    settings: SftSettings, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    test = written(tmp_path / "test")
    row = json.loads(test.read_text())[0]
    test.write_text(json.dumps([{**row, "ground_truth": "YES", "spectrum_data": shown("cv").to_json()}]))
    options = ["--set", f"test=[{test}]"]
    status, _, err = _run_command(capsys, settings, *options)
    assert (status, err.count("\n")) == (2, 1)
    assert "1 spectrum is in the training and in the test data" in err
    status, out, _ = _run_command(capsys, settings, *options, "--set", "drop_leaks=true", "--dry-run")
    assert status == 0
    assert "its spectrum is in the test data" in out


def test_a_folder_that_holds_a_run_is_kept(
    settings: SftSettings, learned: list[Example], capsys: pytest.CaptureFixture[str]
) -> None:
    settings = replace(settings, max_steps=1)
    run = train(settings, learned)
    status, _, err = _run_command(capsys, settings)
    assert (status, err.count("\n")) == (2, 1)
    assert "holds a finished run: choose another --out, or --overwrite" in err
    (run.model).rename(run.folder / "moved")
    status, _, err = _run_command(capsys, settings, "--set", "learning_rate=1e-4")
    assert (status, err.count("\n")) == (2, 1)
    assert "other settings (learning_rate: 0.001 there, 0.0001 now)" in err


@pytest.mark.parametrize("config", sorted((ROOT / "training" / "configs").glob("sft_*.yaml")), ids=lambda f: f.stem)
def test_shipped_settings_can_be_read_and_used(config: Path, tmp_path: Path) -> None:
    settings = read(config, SftSettings, [f"output={tmp_path}"])
    assert settings.batch_size * settings.accumulation * (1 if settings.model.method == "lora" else 8) == 32
    arguments = arguments_of(replace(settings, model=replace(settings.model, dtype="float32")), False)
    assert arguments.lr_scheduler_type == "cosine"
    assert arguments.get_warmup_steps(150) == 8
