"""The miniature proof at its smallest scale: every stage runs, is killed and resumes; its model inspects."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.loop import Ended, inspect
from agent.policies import Sampling
from agent.policies.local.policy import Local
from app import main
from tests.conftest import ROOT
from training.miniature.model import shrunk
from training.miniature.results import CLAIMS
from training.miniature.spectra import questions
from training.miniature.stages import MODELS, SCALES

QUICK = SCALES["quick"]
PATIENCE = 900


def command(folder: Path, *options: str) -> list[str]:
    line = [sys.executable, str(ROOT / "app.py"), "miniature", "--out", str(folder)]
    return [*line, "--scale", "quick", "--seeds", "0", "--json", *options]


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object], float]:
    """A proof killed after its cold start and then finished: its folder, its result, and the modification time of
    the base model."""
    folder = tmp_path_factory.mktemp("miniature") / "proof"
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    log = folder.parent / "log"
    with log.open("w") as stderr, subprocess.Popen(command(folder), stderr=stderr, env=environment) as first:
        deadline = time.monotonic() + PATIENCE
        while not (folder / "seed-0" / "sft" / "model").is_dir():
            assert first.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        first.send_signal(signal.SIGKILL)
    made = (folder / "seed-0" / "base" / "model.safetensors").stat().st_mtime
    assert not (folder / "result.json").exists()
    second = subprocess.run(
        command(folder), capture_output=True, text=True, env=environment, timeout=PATIENCE, check=False
    )
    assert second.returncode == 0, second.stderr
    return folder, json.loads(second.stdout), made


def test_a_killed_proof_resumes_where_it_was(proof: tuple[Path, dict[str, object], float]) -> None:
    folder, result, made = proof
    assert (folder / "seed-0" / "base" / "model.safetensors").stat().st_mtime == made
    log = [json.loads(line) for line in (folder / "seed-0" / "grpo" / "log.jsonl").open()]
    assert [line["step"] for line in log if "reward" in line] == list(range(1, QUICK.grpo.rounds + 1))
    assert [line["step"] for line in log if "validation_reward" in line] == list(range(QUICK.grpo.rounds + 1))
    assert result["simulated"] is True
    assert [row["model"] for row in result["rows"]] == list(MODELS)
    assert all(row["n"] == QUICK.bench for row in result["rows"])


def test_table_and_curves_are_written(proof: tuple[Path, dict[str, object], float]) -> None:
    folder, result, _ = proof
    table = (folder / "table.md").read_text("utf-8")
    assert table == result["table"]
    assert "SFT + GRPO, no tool" in table
    assert "Corrected text teaches better than drafted text of the same answer" in table
    assert "states its shape" in table
    assert [claim["holds"] for claim in result["claims"]] == [False] * len(CLAIMS)
    assert "simulated" in table
    curves = (folder / "curves.svg").read_text("utf-8")
    assert "GRPO: reward" in curves
    assert "simulated" in curves


def test_the_stages_are_in_the_lineage(proof: tuple[Path, dict[str, object], float]) -> None:
    folder, _, _ = proof
    lineage = json.loads((folder / "seed-0" / "grpo" / "lineage.json").read_text("utf-8"))
    assert [stage["kind"] for stage in lineage] == ["base", "sft", "grpo"]
    scores = json.loads((folder / "seed-0" / "bench" / "grpo-no-tool" / "scores.json").read_text("utf-8"))
    assert scores["name"] == "miniature (SFT + RL, without the tool)"
    assert scores["simulated"] == "yes"


def test_the_trained_model_inspects_live(proof: tuple[Path, dict[str, object], float]) -> None:
    folder, _, _ = proof
    question = questions("bench", 1)[0]
    policy = Local(str(folder / "seed-0" / "grpo" / "model"), sampling=Sampling(max_tokens=16))
    assert policy.check().ok
    *_, last = inspect(question.spectrum(), question.task, policy, max_turns=2)
    assert isinstance(last, Ended)
    assert last.reason in ("answered", "turn limit", "no call and no answer")
    assert last.trajectory.simulated
    assert last.usage.completion > 0


def test_a_finished_proof_is_not_done_again(
    proof: tuple[Path, dict[str, object], float], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, result, _ = proof
    log = folder / "seed-0" / "grpo" / "log.jsonl"
    before = log.stat().st_mtime_ns
    assert main(command(folder)[2:]) == 0
    assert json.loads(capsys.readouterr().out) == result
    assert log.stat().st_mtime_ns == before


def test_a_shrunk_picture_equals_the_processors_version_of_the_large_one(
    proof: tuple[Path, dict[str, object], float],
) -> None:
    from agent import tool
    from training.model import processor
    from training.settings import ModelSettings

    folder, _, _ = proof
    images = processor(ModelSettings(str(folder / "seed-0" / "base"))).image_processor
    large = tool.overview(questions("bench", 1)[0].spectrum()).convert("RGB")
    whole = images(images=[large], return_tensors="pt")
    small = images(images=[shrunk(large, QUICK.size)], return_tensors="pt")
    assert whole["image_grid_thw"].tolist() == small["image_grid_thw"].tolist()
    assert (whole["pixel_values"] == small["pixel_values"]).all()
    # White paper is 0.
    assert float(whole["pixel_values"].max()) == pytest.approx(0.0, abs=1e-6)
