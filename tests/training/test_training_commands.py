"""What the training commands share: settings by name, dry runs without torch, tasks of one's own, beginning again."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

import app
from agent.cli.command import CannotRun
from agent.tasks import FOLDER
from tests.support.cli import parsed
from tests.support.training_data import published_set
from training.cli.common import start_of, start_over
from training.cli.sft import Options
from training.run import Run

needs_no_torch = pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed")


@pytest.fixture
def own_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The key of a task in the folder ``tasks``, and two labelled spectra in ``sky``."""
    monkeypatch.chdir(tmp_path)
    assert app.main(["simulate", "--out", "sky", "--task", "cv", "--n", "2", "--quiet"]) == 0
    text = (FOLDER / "cv.toml").read_text(encoding="utf-8").replace('key = "cv"', 'key = "polar"')
    Path("tasks").mkdir()
    Path("tasks/polar.toml").write_text(text.replace("aliases = ", "aliases = [] # "), encoding="utf-8")
    files = sorted(path.name for path in Path("sky").glob("*.fits"))
    Path("labels.csv").write_text("file,label\n" + f"{files[0]},YES\n{files[1]},NO\n")
    return "polar"


@pytest.mark.parametrize("command", ["sft", "grpo"])
def test_the_settings_are_checked_before_torch(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main([command, "--config", "nosuch", "--out", "x"]) == 2
    assert capsys.readouterr().err.startswith("spec-o3: nosuch: file: found ")


@needs_no_torch
def test_a_dry_run_of_sft_counts_what_it_can_without_torch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = published_set(tmp_path / "set", range(4))
    given = ["sft", "--config", "sft_qwen2_5_vl_7b", "--data", str(data), "--out", str(tmp_path / "run")]
    assert app.main([*given, "--dry-run", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["card"]["rows"] == 4
    assert printed["steps"] >= 1
    assert app.main([*given, "--dry-run"]) == 0
    assert "were not counted: training needs torch" in capsys.readouterr().out
    assert app.main(given) == 2
    assert not (tmp_path / "run").exists()


def test_grpo_takes_labels_and_tasks_of_ones_own(own_task: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["grpo", "--config", "grpo_qwen2_5_vl_3b", "--data", "sky", "--labels", "labels.csv", "--out", "run"]
    settings = ["--set", "prompts=2", "mini_batch=2", "--set", f"tasks=[{own_task}]"]
    assert app.main([*given, *settings, "--tasks", "tasks", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["card"]["rows"] == 2
    assert app.main([*given, *settings, "--dry-run"]) == 2
    assert "'polar'" in capsys.readouterr().err


def test_drafts_are_made_for_a_task_of_ones_own(own_task: str) -> None:
    given = ["draft", "sky", "--task", own_task, "--tasks", "tasks", "--labels", "labels.csv", "--out", "d.jsonl"]
    assert app.main(given) == 0
    rows = [json.loads(line) for line in Path("d.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["task"] for row in rows] == [own_task] * 2
    assert app.main([*given, "--overwrite"]) == 0
    assert len(Path("d.jsonl").read_text(encoding="utf-8").splitlines()) == 2


def test_a_run_continues_unless_it_is_to_be_deleted(tmp_path: Path) -> None:
    given, run = ["--config", "x"], Run(tmp_path)
    assert start_of(parsed(Options, *given), run) == "new"
    (tmp_path / "settings.yaml").write_text("")
    assert start_of(parsed(Options, *given), run) == "resume"
    assert start_of(parsed(Options, *given, "--overwrite"), run) == "again"


def test_only_what_the_command_wrote_is_deleted(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(CannotRun, match="found other files"):
        start_over(tmp_path, "proof.json")
    (tmp_path / "proof.json").write_text("{}")
    start_over(tmp_path, "proof.json")
    assert not tmp_path.exists()
    start_over(tmp_path, "proof.json")
