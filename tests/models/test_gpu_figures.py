"""The figures of one GPU, as far as a CPU can run them: every step with a tiny model, and the published sizes."""

from __future__ import annotations

import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image

from tests.benchmarks.models import gpu_figures
from tests.benchmarks.models.published_sizes import SCALES, config, processor, write
from tests.benchmarks.models.scripted import repeatable_token
from training.environment import missing
from training.render import Renderer

pytestmark = pytest.mark.skipif(missing() is not None, reason="no accelerate in this Python: run make test-models")

PUBLISHED = {"3b": 3_754_622_976, "7b": 8_292_166_656}
"""Parameters of Qwen2.5-VL-3B-Instruct and -7B-Instruct, as the index of their weights gives them."""


@pytest.fixture(scope="module", autouse=True)
def imported() -> None:
    """Import TRL without its warnings; it imports vLLM if that is installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from trl import GRPOTrainer
    assert GRPOTrainer


def rows(printed: str) -> list[dict[str, str]]:
    """The rows of the printed tables, by heading."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in printed.splitlines() if "|" in line]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]


def test_without_a_gpu_it_says_so_in_a_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert gpu_figures.main([]) == 0
    assert capsys.readouterr().out.strip() == gpu_figures.NO_GPU


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_sizes_are_the_published_ones(name: str) -> None:
    import torch
    from transformers import AutoModelForImageTextToText

    reads = processor(SCALES[name])
    with torch.device("meta"):
        model = AutoModelForImageTextToText.from_config(config(SCALES[name], reads))
    assert sum(parameter.numel() for parameter in model.parameters()) == PUBLISHED[name]
    limits = reads.image_processor.size
    assert (limits["shortest_edge"], limits["longest_edge"]) == (3136, 12845056)


def test_repetitions_of_the_forced_token_keep_their_ids() -> None:
    tokenizer = processor(SCALES["3b"]).tokenizer
    ids = [repeatable_token(tokenizer)] * 700
    assert tokenizer.encode(tokenizer.decode(ids), add_special_tokens=False) == ids


@pytest.mark.skipif(find_spec("vllm") is None, reason="no vllm in this Python: run make test-models")
def test_every_step_runs_on_a_cpu_with_a_tiny_model(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--zooms", "3", "--concurrency", "4", "--batches", "2", "--turn-tokens", "100", "--rollouts", "2"]
    assert gpu_figures.main(["--scale", "tiny", *options, "--python", sys.executable]) == 0
    serving, learning = capsys.readouterr().out.split("one GRPO round")
    (served,) = rows(serving)
    assert (served["zooms"], served["at once"], served["spectra"]) == ("3", "4", "8")
    assert served["written"] == "400"
    assert float(served["of them cached"].rstrip("%")) > 50
    (learned,) = rows(learning)
    assert (learned["trajectories"], learned["turns"]) == ("4", "4.0")
    assert float(learned["generate s"]) > 0
    assert float(learned["learn s"]) > 0


def test_a_written_folder_has_all_that_is_served_but_the_weights(tmp_path: Path) -> None:
    from transformers import AutoConfig, AutoProcessor

    folder = write(SCALES["7b"], tmp_path / "model")
    assert not list(folder.glob("*.safetensors"))
    assert AutoConfig.from_pretrained(folder).get_text_config().hidden_size == 3584
    picture = Image.new("RGB", (640, 430))
    assert Renderer(AutoProcessor.from_pretrained(folder)).image_tokens(picture) == 23 * 15
