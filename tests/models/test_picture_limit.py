"""The limit of the size of a picture in a real vLLM: what it reserves memory for; our pictures stay as they are."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent import plot
from agent.vllm.pictures import picture_limit
from training.grpo.settings import GrpoSettings
from training.grpo.vllm import engine_options
from training.settings import ModelSettings

PUBLISHED = {"shortest_edge": 3136, "longest_edge": 12845056}
"""``min_pixels`` and ``max_pixels`` of Qwen2.5-VL."""


@pytest.fixture
def published_limits(tiny_model: Path, tmp_path: Path) -> Path:
    """The tiny model with the published limits of pictures."""
    folder = shutil.copytree(tiny_model, tmp_path / "model")
    file = folder / "processor_config.json"
    settings = json.loads(file.read_text(encoding="utf-8"))
    settings["image_processor"]["size"] = PUBLISHED
    file.write_text(json.dumps(settings), encoding="utf-8")
    return folder


@pytest.mark.filterwarnings("ignore")  # of torch, when vLLM is imported
def test_vllm_computes_with_the_limit_and_reads_our_pictures_as_without_it(published_limits: Path) -> None:
    pytest.importorskip("vllm")
    model = str(published_limits)
    limit = picture_limit(model)
    assert limit is not None
    kwargs = engine_options(GrpoSettings(ModelSettings(model), "run"))["mm_processor_kwargs"]
    assert kwargs == {"max_pixels": limit.pixels}
    images = pictures()
    most, read = processed(model, None, images)
    most_limited, read_limited = processed(model, kwargs, images)
    assert (most, most_limited) == (limit.own_tokens, limit.tokens) == (16384, 640)
    assert read["prompt_token_ids"] == read_limited["prompt_token_ids"]
    for before, after in zip(read["mm_kwargs"]["image"], read_limited["mm_kwargs"]["image"], strict=True):
        assert before["pixel_values"].data.equal(after["pixel_values"].data)


def pictures() -> list[Any]:
    """Draw the largest overview and zooms of all sizes."""
    wavelength = np.linspace(3600.0, 10000.0, 12000)
    flux = np.random.default_rng(3).normal(-2.5e-17, 1e-17, wavelength.size)
    windows = (None, (6500.0, 6530.0), (6500.0, 6650.0), (6400.0, 7300.0), (3600.0, 10000.0))
    return [plot.draw(wavelength, flux, window) for window in windows]


def processed(model: str, kwargs: dict[str, int] | None, images: list[Any]) -> tuple[int, Any]:
    """Return the most tokens of a picture, and a prompt with pictures as vLLM's engine gets it."""
    from vllm.config import ModelConfig
    from vllm.multimodal import MULTIMODAL_REGISTRY
    from vllm.multimodal.processing.context import TimingContext
    from vllm.multimodal.processing.inputs import ProcessorInputs

    limits = {"image": len(images), "video": 0}
    config = ModelConfig(model=model, max_model_len=4096, mm_processor_kwargs=kwargs, limit_mm_per_prompt=limits)
    processor = MULTIMODAL_REGISTRY.create_processor(config)
    most = processor.info.get_mm_max_tokens_per_item(config.max_model_len, {"image": 1})["image"]
    mark = processor.info.get_tokenizer().convert_tokens_to_ids("<|image_pad|>")
    items = processor.info.parse_mm_data({"image": images})
    return most, processor.apply(ProcessorInputs([mark] * len(images), items), TimingContext())
