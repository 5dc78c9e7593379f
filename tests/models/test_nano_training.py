"""``spec-o3 nano`` at its smallest scale: killed and resumed; its model in transformers and in the numpy runtime."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.loop import Ended, Text, inspect
from agent.policies import Sampling
from agent.policies.local.policy import Local
from agent.policies.nano.folder import problem
from agent.policies.nano.policy import Nano
from app import main
from tests.conftest import ROOT
from training.nano.spectra import questions

PATIENCE = 900
SHORT = Sampling(max_tokens=12)


def command(folder: Path) -> list[str]:
    return [sys.executable, str(ROOT / "app.py"), "nano", "--out", str(folder), "--scale", "quick", "--json"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object], float]:
    """A training killed after its random weights and then finished: its folder, its result, and the modification
    time of the random weights."""
    folder = tmp_path_factory.mktemp("nano") / "run"
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    log = folder.parent / "log"
    with log.open("w") as stderr, subprocess.Popen(command(folder), stderr=stderr, env=environment) as first:
        deadline = time.monotonic() + PATIENCE
        while not (folder / "sft.pt").is_file():
            assert first.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.02)
        first.send_signal(signal.SIGKILL)
    made = (folder / "random" / "model.safetensors").stat().st_mtime
    done = subprocess.run(
        command(folder), capture_output=True, text=True, env=environment, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout), made


def test_a_killed_training_resumes_at_its_stage(trained: tuple[Path, dict[str, object], float]) -> None:
    folder, result, made = trained
    assert (folder / "random" / "model.safetensors").stat().st_mtime == made
    steps = [json.loads(line)["step"] for line in (folder / "sft.jsonl").open()]
    assert sorted(set(steps)) == [1, 2, 3]
    assert result["folder"] == str(folder / "nano")
    assert result["arms"]["measure"]["questions"] == 8


def test_the_finished_folder_is_small_and_usable(trained: tuple[Path, dict[str, object], float]) -> None:
    folder = trained[0] / "nano"
    assert problem(folder) is None
    assert sum(file.stat().st_size for file in folder.iterdir()) < 25e6
    card = (folder / "README.md").read_text("utf-8")
    assert card.startswith("---\nlicense: apache-2.0\nlibrary_name: transformers\n")
    assert "template spectra of real stars" in card
    assert "| cv | 1 |" in card
    assert json.loads((folder / "config.json").read_text())["torch_dtype"] == "float16"


def test_transformers_and_numpy_write_the_same(trained: tuple[Path, dict[str, object], float]) -> None:
    folder = trained[0] / "nano"
    for question in questions("test", 2):
        written = [
            "".join(
                event.text
                for event in inspect(question.spectrum(), question.task, policy, 2)
                if isinstance(event, Text)
            )
            for policy in (Nano(folder, SHORT), Local(str(folder), sampling=SHORT))
        ]
        assert written[0] == written[1]
        *_, last = inspect(question.spectrum(), question.task, Nano(folder, SHORT), 2)
        assert isinstance(last, Ended)


def test_a_finished_training_is_not_done_again(
    trained: tuple[Path, dict[str, object], float], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, result, _ = trained
    before = (folder / "sft.jsonl").stat().st_mtime_ns
    assert main(command(folder)[2:]) == 0
    assert json.loads(capsys.readouterr().out) == result
    assert (folder / "sft.jsonl").stat().st_mtime_ns == before
