"""The check for one GPU, as far as a CPU can run it: everything but vLLM, with a tiny model."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.benchmarks.models import gpu
from training.cli.common import config_file
from training.environment import missing
from training.grpo.settings import GrpoSettings
from training.settings import read
from training.sft import SftSettings

pytestmark = pytest.mark.skipif(missing() is not None, reason="no accelerate in this Python: run make test-models")


def test_without_a_gpu_it_says_so(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert gpu.main([]) == 2
    assert capsys.readouterr().out == "found no CUDA GPU, expected one with about 40 GB for the 3B model\n"


def test_the_settings_of_both_commands_are_valid(tmp_path: Path) -> None:
    made = gpu.commands(gpu.MODEL, tmp_path / "traces.jsonl", tmp_path)
    kinds = {"sft": SftSettings, "grpo": GrpoSettings}
    for name, command in made.items():
        changes = [value for option, value in pairwise(command) if option == "--set"]
        settings = read(config_file(command[command.index("--config") + 1]), kinds[name], changes)
        assert settings.model.method == "lora"
    assert settings.vllm.mode == "colocate"
    assert settings.vllm.correction != "none"


def test_with_a_tiny_model_and_without_vllm_both_commands_run(tiny_model: Path, tmp_path: Path) -> None:
    well, found = gpu.check(str(tiny_model), tmp_path, engine="none")
    assert well, found
    assert found.startswith("3 steps of SFT, 2 rounds of GRPO (")
