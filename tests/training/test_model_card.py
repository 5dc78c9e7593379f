"""Model cards: their facts, licences, scores, and the folder for the hub. Without torch: weights are small arrays."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from huggingface_hub import ModelCard
from safetensors.numpy import save_file

import app
from agent.simulate import files
from tests.support.training_data import an_export
from training.data import card, examples
from training.data.inputs import inputs
from training.model_card.card import BEGIN, END, renew
from training.model_card.facts import CardError, curve, without_paths
from training.model_card.licences import BASES, licence
from training.run import Run
from training.settings import ModelSettings, SettingsError, from_mapping

SEVEN = "Qwen/Qwen2.5-VL-7B-Instruct"
CONFIG = {"model_type": "qwen2_5_vl", "_name_or_path": "/home/astronomer/base"}


@dataclass(frozen=True)
class Settings:
    model: ModelSettings
    output: str
    data: tuple[str, ...] = ()
    seed: int = 3
    learning_rate: float = 1e-5


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    (tmp_path / "exports").mkdir()
    return an_export(tmp_path / "exports", "one", ("YES", "NO", "YES"))


Made = Callable[..., Run]


@pytest.fixture
def finished(tmp_path: Path, exported: Path) -> Made:
    """Makes a run that trained from an export; its weights are one small array."""

    def made(folder: str = "run", finish: bool = True, **model: Any) -> Run:
        run = Run(tmp_path / folder)
        settings = Settings(ModelSettings(**{"name": SEVEN} | model), str(run.folder), (str(exported),))
        run.begin("sft", settings)
        found = card(examples([exported]))
        run.save_card(found.to_json(), found.markdown())
        for step, loss in enumerate((2.0, 1.0, 0.5), start=1):
            run.append({"step": step, "loss": loss})
        run.append({"step": 2, "eval_loss": 0.75})
        run.append({"step": 3, "eval_loss": 0.875})
        if finish:
            run.model.mkdir()
            save_file({"weight": np.zeros(3, np.float32)}, run.model / "model.safetensors", {"format": "pt"})
            (run.model / "config.json").write_text(json.dumps(CONFIG))
            (run.model / "tokenizer.json").write_text("{}")
            (run.model / "training_args.bin").write_bytes(b"pickle")
            (run.model / "checkpoint-3").mkdir()
        return run

    return made


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the bench: the baseline on simulated spectra."""
    folder = tmp_path_factory.mktemp("bench")
    orders = files.orders(["cv", "fgk"] * 4, ["LAMOST"], (8.0, 40.0), seed=3)
    list(files.write(folder / "sky", orders, ["cv"]))
    data = ["--data", str(folder / "sky"), "--labels", str(folder / "sky" / "labels.csv")]
    arguments = ["bench", *data, "--out", str(folder / "my-bench"), "--name", "my-model", "--gallery", "0"]
    assert app.main([*arguments, "--concurrency", "1"]) == 0
    return folder / "my-bench"


def line(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    capsys.readouterr()
    status = app.main(["model", *map(str, arguments)])
    read = capsys.readouterr()
    return status, read.out, read.err


def test_inputs_are_recorded_by_hash_and_people_by_number(exported: Path, tmp_path: Path) -> None:
    cached = tmp_path / "hub" / "datasets--Some--Bench" / "train.jsonl"
    cached.parent.mkdir(parents=True)
    cached.write_bytes(b"{}\n")
    (tmp_path / "spectra").mkdir()
    (tmp_path / "spectra" / "one.fits").write_bytes(b"12345")
    export, file, folder = inputs([exported, cached, tmp_path / "spectra", tmp_path / "nothing"])
    manifest = json.loads((exported / "manifest.json").read_text())
    assert (export["name"], export["kind"], export["traces"]) == ("one", "export", 3)
    assert export["reviewers"] == len(manifest["people"]) > 0
    assert export["decisions"] == sum(len(item["decisions"]) for item in manifest["items"]) > 0
    assert not any(person in json.dumps(export) for person in manifest["people"])
    assert file == {
        "name": "train.jsonl",
        "kind": "file",
        "bytes": 3,
        "sha256": "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356",
        "dataset": "Some/Bench",
    }
    assert folder == {"name": "spectra", "kind": "folder", "files": 1, "bytes": 5}


def test_a_card_has_the_facts_of_its_run(finished: Made, tmp_path: Path) -> None:
    run = finished()
    readme = renew(run.folder)
    text = readme.read_text("utf-8")
    found = ModelCard.load(readme).data.to_dict()
    assert (found["license"], found["base_model"]) == ("apache-2.0", SEVEN)
    assert (found["pipeline_tag"], found["library_name"]) == ("image-text-to-text", "transformers")
    assert found["base_model_relation"] == "finetune"
    assert "sft" in found["tags"]
    assert "model-index" not in found
    assert "3 traces" in text
    assert "| cv | 2 | 1 |" in text
    assert "| loss, first and last | 2, 0.5 |" in text
    assert "0.75 at step 2, of 2 measurements" in text
    digest = inputs([run.folder.parent / "exports" / "one"])[0]["sha256"]
    assert f"`{digest}`" in text
    assert "seed: 3" in text
    assert "Certificate: none" in text
    assert "nothing is known about its quality" in text
    assert str(tmp_path) not in text
    (run.model / "certificate.json").write_text("{}")
    assert "Certificate: `certificate.json`, SHA-256 44136fa355b3678a" in renew(run.model).read_text("utf-8")


def test_a_run_from_an_adapter_names_all_stages(finished: Made, tmp_path: Path) -> None:
    first = finished()
    second = finished("second", name=str(first.folder))
    (second.model / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": SEVEN}))
    found = ModelCard.load(renew(second.folder)).data.to_dict()
    assert (found["base_model"], found["base_model_relation"], found["library_name"]) == (SEVEN, "adapter", "peft")
    assert "| sft | run |" in (second.model / "README.md").read_text("utf-8")


def test_the_licence_is_that_of_the_base_or_stated(finished: Made, tmp_path: Path) -> None:
    small = {"license": "other", "license_name": "qwen-research"}
    assert licence([], "Qwen/Qwen2.5-VL-3B-Instruct").items() >= small.items()
    assert licence([], SEVEN) == BASES[SEVEN] == {"license": "apache-2.0"}
    assert licence([], "Someone/model") == {"license": "unknown"}
    stages = [{"kind": "base"}, {"from": {"license": "mit"}}, {"from": {"model": "x"}}]
    assert licence(stages, SEVEN) == {"license": "mit"}
    assert licence(stages, SEVEN, "my-own") == {"license": "other", "license_name": "my-own"}

    run = finished(name=str(tmp_path / "weights"))
    text = renew(run.folder).read_text("utf-8")
    assert text.startswith("---\nlicense: unknown\n")
    assert "--license NAME" in text
    assert renew(run.folder, license="mit").read_text("utf-8").startswith("---\nlicense: mit\n")
    # What was stated stays stated.
    assert renew(run.folder).read_text("utf-8").startswith("---\nlicense: mit\n")
    stated = finished("stated", name=str(tmp_path / "weights"), license="cc-by-4.0")
    assert renew(stated.folder).read_text("utf-8").startswith("---\nlicense: cc-by-4.0\n")
    with pytest.raises(SettingsError, match=r"model\.license: found 'My Licence', expected the name of a licence"):
        from_mapping({"model": {"name": "x", "license": "My Licence"}, "output": "y"}, _sft(), "file")


def _sft() -> Any:
    from training.sft import SftSettings

    return SftSettings


def test_scores_of_the_bench_are_added_with_intervals_and_renewed(finished, report, capsys):
    run = finished()
    assert line(capsys, "card", run.folder, "--bench", report)[0] == 0
    scores = json.loads((report / "scores.json").read_text())["scores"]
    readme = run.model / "README.md"
    (mean, _, one, _) = ModelCard.load(readme).data.eval_results
    assert (mean.metric_type, mean.metric_value) == ("f1", round(scores["f1"]["value"], 4))
    assert mean.metric_args["interval_95_low"] == round(scores["f1"]["lo"], 4)
    assert (one.task_name, one.metric_value) == ("Spectral vetting: cv", round(scores["tasks"][0]["f1"]["value"], 4))
    low, high = (100 * scores["f1"][end] for end in ("lo", "hi"))
    assert f"[{low:.1f}, {high:.1f}]" in readme.read_text("utf-8")
    assert "All scores are of simulated spectra" in readme.read_text("utf-8")

    own = "Please write to the authors.\n\n| my | table |"
    readme.write_text(readme.read_text("utf-8").replace(f"{BEGIN}\n\n{END}", f"{BEGIN}\n\n{own}\n\n{END}"), "utf-8")
    status, out, _ = line(capsys, "card", run.model, "--bench", report, "--json")
    assert (status, json.loads(out)["scores"]) == (0, ["my-model"])
    assert own in readme.read_text("utf-8")
    assert len(ModelCard.load(readme).data.eval_results) == 4, "a renewed score replaces the earlier one"


def test_a_card_of_another_origin_is_kept(finished: Made, capsys: pytest.CaptureFixture[str], report: Path) -> None:
    run = finished()
    (run.model / "README.md").write_text("# Mine")
    status, _, err = line(capsys, "card", run.folder)
    assert (status, err.count("\n")) == (2, 1)
    assert "without the marks of your own text" in err
    assert (run.model / "README.md").read_text() == "# Mine"
    status, _, err = line(capsys, "card", run.folder, "--bench", report.parent / "sky")
    assert status == 2
    assert "scores.json: No such file or directory; expected the folder of a run of the bench" in err


def test_a_bench_that_is_not_finished_gives_no_scores(finished, report, tmp_path, capsys):
    found = json.loads((report / "scores.json").read_text())
    (tmp_path / "scores.json").write_text(json.dumps(found | {"open": 4}))
    status, _, err = line(capsys, "card", finished().folder, "--bench", tmp_path)
    assert status == 2
    assert "found a run with 4 samples to come, expected a finished one" in err


def test_a_repository_has_only_what_the_hub_needs(finished, tmp_path, capsys):
    run = finished()
    renew(run.folder)
    status, out, _ = line(capsys, "push", run.folder, "--out", tmp_path / "hub")
    assert status == 0
    assert out.splitlines()[-1] == f"hf upload YOUR-NAME/hub {tmp_path / 'hub'} ."
    names = {"README.md", "card.json", "config.json", "tokenizer.json", "model.safetensors", ".gitattributes"}
    assert {file.name for file in (tmp_path / "hub").iterdir()} == names
    assert "left out: checkpoint-3, training_args.bin" in out
    assert "licence" not in out
    assert json.loads((tmp_path / "hub" / "config.json").read_text()) == {"model_type": "qwen2_5_vl"}
    assert "*.safetensors filter=lfs" in (tmp_path / "hub" / ".gitattributes").read_text()
    status, _, err = line(capsys, "push", run.folder, "--out", tmp_path / "hub")
    assert (status, err.count("\n")) == (2, 1)
    assert "found other files, expected a new or empty folder" in err


def test_an_unknown_licence_is_named_before_the_upload(finished, tmp_path, capsys):
    run = finished(name=str(tmp_path / "weights"))
    renew(run.folder)
    status, out, _ = line(capsys, "push", run.folder, "--out", tmp_path / "hub", "--repository", "We/nano")
    assert status == 0
    *_, warning, last = out.splitlines()
    assert "licence is unknown: state it with `spec-o3 model card" in warning
    assert last.startswith("hf upload We/nano ")


def test_an_unfinished_run_is_not_published(finished: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = finished(finish=False)
    for command in (("push", run.folder, "--out", tmp_path / "hub"), ("card", run.folder)):
        status, _, err = line(capsys, *command)
        assert (status, err.count("\n")) == (2, 1)
        assert "found an unfinished training run, without model/: the same command continues it" in err
    assert not (tmp_path / "hub").exists()


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("chat_template.jinja", "{# /home/astronomer/x #}", "chat_template.jinja: found '/home/astronomer'"),
        ("generation_config.json", '{"a": {"cache": "/scratch/one"}}', "generation_config.json: found '/scratch/one'"),
        ("README.md", "---\nlicense: [\n---\n", "README.md: the hub's reader of cards refuses it"),
        ("README.md", "---\nlicense: mine\ntags: [x]\n---\n", "license: found 'mine', expected one that the hub has"),
        ("README.md", "# No metadata", "README.md: license: found nothing, expected a value"),
        ("README.md", "---\nlicense: other\ntags: [x]\n---\n", "README.md: license_name: found nothing"),
        ("README.md", "---\nlicense: mit\ntags: [x]\nbase_model: a/b/c\n---\n", "refuses it"),
        ("model.safetensors.index.json", '{"weight_map": {"a": "b.safetensors"}}', "found no b.safetensors"),
        ("adapter_config.json", '{"base_model_name_or_path": "/x/y"}', "give it with --base ORGANISATION/NAME"),
        ("model.safetensors", "cut", "found no header of safetensors"),
    ],
)
def test_what_the_hub_or_the_owner_would_not_want_is_refused(finished, tmp_path, capsys, file, text, expected):
    run = finished()
    renew(run.folder)
    (run.model / file).write_text(text)
    status, _, err = line(capsys, "push", run.model, "--out", tmp_path / "hub")
    assert (status, err.count("\n")) == (2, 1)
    assert expected in err
    assert not (tmp_path / "hub").exists()


def test_sizes_and_names_that_the_hub_refuses(finished, tmp_path, capsys, monkeypatch):
    run = finished()
    renew(run.folder)
    push = ("push", run.folder, "--out", tmp_path / "hub")
    status, _, err = line(capsys, *push, "--repository", "we/my--model")
    assert (status, err.count("\n")) == (2, 1)
    assert "--repository: " in err
    (run.model / "merges.txt").write_text("a b\n" * 1000)
    monkeypatch.setattr("training.model_card.repository.LARGEST_IN_GIT", 3999)
    assert "merges.txt: found 4,000 bytes, expected at most 3,999 outside LFS" in line(capsys, *push)[2]
    (run.model / "merges.txt").unlink()
    (run.model / "tokenizer.json").write_text(" " * 5000)
    monkeypatch.setattr("training.model_card.repository.LARGEST_IN_GIT", 4999)
    assert line(capsys, *push)[0] == 0, "the tokenizer is in LFS"
    monkeypatch.setattr("training.model_card.repository.LARGEST", 50)
    again = ("push", run.folder, "--out", tmp_path / "again")
    assert "expected at most 50: save smaller parts" in line(capsys, *again)[2]
    assert not (tmp_path / "again").exists()


def test_the_curve_names_first_and_last_values_and_the_best_validation() -> None:
    lines = [
        {"step": 0, "validation_reward": 0.5, "validation_f1": 0.4},
        {"step": 2, "reward": 0.25, "loss": 0.0},
        {"step": 4, "reward": 0.75, "loss": None},
        {"step": 4, "validation_reward": 0.9, "validation_f1": None},
        {"step": 6, "validation_reward": 0.9, "validation_f1": 0.8},
    ]
    assert curve(lines) == {
        "steps": 6,
        "loss": {"first": 0.0, "last": 0.0},
        "reward": {"first": 0.25, "last": 0.75},
        "validation_reward": {"best": 0.9, "step": 4, "times": 3},
    }
    assert curve([]) == {"steps": 0}


def test_settings_keep_no_path_and_no_machine() -> None:
    settings = {"model": {"name": SEVEN}, "data": ["/data/exports/one/", "C:\\x\\two"], "vllm": {"host": "gpu-17"}}
    assert without_paths(settings) == {"model": {"name": SEVEN}, "data": ["one", "two"], "vllm": {}}


def test_own_paths_in_a_card_or_in_the_header_of_weights_are_found(finished: Made, tmp_path: Path) -> None:
    from training.model_card.repository import prepare

    run = finished()
    readme = renew(run.folder)
    text = readme.read_text("utf-8")
    readme.write_text(text.replace(END, f"Weights are in {run.model}.\n\n{END}"), "utf-8")
    with pytest.raises(CardError, match=r"README\.md: found '.*', a path of this machine"):
        prepare(run.folder, tmp_path / "hub")
    readme.write_text(text, "utf-8")
    save_file({"weight": np.zeros(3, np.float32)}, run.model / "model.safetensors", {"from": str(run.model)})
    with pytest.raises(CardError, match=r"model\.safetensors: found '.*', a path of this machine"):
        prepare(run.folder, tmp_path / "hub")


def test_the_base_of_an_adapter_can_be_named(finished: Made, tmp_path: Path) -> None:
    run = finished()
    (run.model / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": str(tmp_path)}))
    renew(run.folder)
    command = ["model", "push", str(run.folder), "--out", str(tmp_path / "hub"), "--base", SEVEN]
    assert app.main(command) == 0
    adapter = json.loads((tmp_path / "hub" / "adapter_config.json").read_text())
    assert adapter == {"base_model_name_or_path": SEVEN}


def test_settings_of_other_runs_are_not_changed_by_the_licence(tmp_path: Path) -> None:
    """A run that was begun before the setting existed can be resumed."""
    run = Run(tmp_path / "run")
    settings = Settings(ModelSettings("Qwen/base"), str(run.folder))
    run.begin("sft", settings)
    file = run.folder / "settings.yaml"
    file.write_text(file.read_text().replace("  license: null\n", ""))
    assert "license" not in file.read_text()
    assert run.begin("sft", replace(settings), "resume") is None
