"""The model in training: which parts learn, what is saved, and what cannot be loaded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agent.policies.local.model import Loaded as Live
from agent.policies.local.model import Weights
from tests.models.support.learned_traces import inspected as uncached_inspected
from training.model import Loaded, ModelError, load, part_of, resolved, save, trainable
from training.render import IMAGE, Rendered, Renderer, for_learning
from training.settings import Lora, ModelSettings

inspected = cache(uncached_inspected)


@pytest.fixture
def settings(random_model: Path) -> ModelSettings:
    return ModelSettings(str(random_model), dtype="float32")


@pytest.fixture
def lora(settings: ModelSettings) -> ModelSettings:
    return replace(settings, method="lora", lora=Lora(rank=4, alpha=8))


def _learns(loaded: Loaded) -> set[str | None]:
    return {part_of(name) for name, parameter in loaded.model.named_parameters() if parameter.requires_grad}


def _frozen(loaded: Loaded) -> set[str | None]:
    return {part_of(name) for name, parameter in loaded.model.named_parameters() if not parameter.requires_grad}


def _rendered(loaded: Loaded) -> list[Rendered]:
    renderer = Renderer(loaded.processor)
    return [renderer.example(trace.trajectory, trace.pictures) for trace in map(inspected, ("cv", "wd"))]


def _logits(model: Any, loaded: Loaded) -> Any:
    import torch

    with torch.no_grad():
        return model.eval()(**for_learning(_rendered(loaded), loaded.processor)).logits


def _change_weights(loaded: Loaded) -> None:
    """Change the weights as training would; a new adapter has no effect."""
    import torch

    torch.manual_seed(1)
    for name, parameter in loaded.model.named_parameters():
        if parameter.requires_grad and "lora_A" not in name:
            parameter.data += 0.05 * torch.randn_like(parameter)


@pytest.mark.parametrize(
    ("frozen", "learning"),
    [
        (("vision", "projector"), {None}),
        (("vision",), {None, "projector"}),
        (("projector",), {None, "vision"}),
        ((), {None, "vision", "projector"}),
    ],
)
def test_full_training_freezes_the_given_parts_only(
    settings: ModelSettings, frozen: Any, learning: set[str | None]
) -> None:
    loaded = load(replace(settings, frozen=frozen))
    assert _learns(loaded) == learning
    assert _frozen(loaded) == {None, "vision", "projector"} - learning
    learning_count, total = trainable(loaded.model)
    assert learning_count == sum(
        parameter.numel() for parameter in loaded.model.parameters() if parameter.requires_grad
    )
    assert total == sum(parameter.numel() for parameter in loaded.model.parameters())


def test_lora_is_on_the_language_layers_only(lora: ModelSettings) -> None:
    loaded = load(lora)
    assert _learns(loaded) == {None}
    learning = [name for name, parameter in loaded.model.named_parameters() if parameter.requires_grad]
    assert all("lora_" in name for name in learning)
    # Three layers, seven targets, two matrices each; the vision layers have a gate_proj as well.
    assert len(learning) == 3 * 7 * 2


def test_trained_parameters_are_float32_and_frozen_ones_have_the_given_dtype(
    settings: ModelSettings, lora: ModelSettings
) -> None:
    import torch

    for chosen in (settings, lora):
        loaded = load(replace(chosen, dtype="bfloat16"))
        held = {(parameter.requires_grad, parameter.dtype) for parameter in loaded.model.parameters()}
        assert held == {(True, torch.float32), (False, torch.bfloat16)}


def test_full_weights_load_in_live_vetting_unchanged(settings: ModelSettings, tmp_path: Path) -> None:
    import torch

    loaded = load(settings)
    _change_weights(loaded)
    save(loaded, tmp_path / "model")
    live = Live.load(Weights(str(tmp_path / "model")))
    assert torch.equal(_logits(live.model, loaded), _logits(loaded.model, loaded))
    assert live.processor.chat_template == loaded.processor.chat_template
    assert sorted(live.ends) == sorted(loaded.model.generation_config.eos_token_id)


def test_weights_are_saved_in_the_given_dtype(settings: ModelSettings, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    save(load(replace(settings, dtype="bfloat16")), tmp_path / "model")
    held = load_file(tmp_path / "model" / "model.safetensors").values()
    assert {str(tensor.dtype) for tensor in held} == {"torch.bfloat16"}
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    assert (config["torch_dtype"], config["text_config"]["use_cache"]) == ("bfloat16", True)


OLDER = "SPEC_O3_PYTHON_TRANSFORMERS_4"
"""Variable that names a Python with torch and transformers 4.55 to 4.57, for the test that opens a folder there."""
READS = """
import sys, torch
from transformers import AutoModelForImageTextToText, AutoProcessor, __version__
assert __version__.startswith("4."), f"found transformers {__version__}, expected 4.55 to 4.57"
folder, batch, text, found = sys.argv[1:]
processor = AutoProcessor.from_pretrained(folder)
model, loading = AutoModelForImageTextToText.from_pretrained(folder, torch_dtype="auto", output_loading_info=True)
batch = torch.load(batch)
model_inputs = {k: v for k, v in batch.items() if k not in ("mm_token_type_ids", "labels")}
with torch.no_grad():
    logits = model.eval()(**model_inputs).logits
tokenizer = processor.tokenizer
torch.save({
    "wrong": {key: list(names) for key, names in loading.items() if names},
    "logits": logits, "dtype": model.dtype, "ids": tokenizer.encode(open(text).read()),
    "special": sorted(tokenizer.all_special_ids), "ends": (tokenizer.eos_token_id, tokenizer.pad_token_id),
    "template": processor.chat_template, "size": dict(processor.image_processor.size),
}, found)
"""


@pytest.mark.parametrize("merged", [False, True])
def test_saved_files_have_the_layout_of_the_published_checkpoints(
    lora: ModelSettings, settings: ModelSettings, tmp_path: Path, merged: bool
) -> None:
    loaded = load(lora if merged else settings)
    save(loaded, tmp_path / "model", merge=merged)
    files = {path.name: json.loads(path.read_text()) for path in (tmp_path / "model").glob("*.json")}
    config = files["config.json"]
    text = config["text_config"]
    assert (config["torch_dtype"], text["torch_dtype"]) == ("float32", "float32")
    assert "dtype" not in config | text
    # transformers 4.57 knows neither rope_parameters nor the outer tie_word_embeddings: it would take its defaults.
    assert (text["rope_theta"], text["rope_scaling"]["mrope_section"]) == (10000.0, [4, 6, 6])
    assert "rope_parameters" not in text
    assert text["tie_word_embeddings"] is config["tie_word_embeddings"] is True
    tokens = files["tokenizer_config.json"]
    assert "<|im_start|>" in tokens["additional_special_tokens"]
    assert "extra_special_tokens" not in tokens
    assert files["preprocessor_config.json"]["size"] == dict(loaded.processor.image_processor.size)
    assert files["video_preprocessor_config.json"]["video_processor_type"] == "Qwen2VLVideoProcessor"
    assert files["processor_config.json"] == {"processor_class": "Qwen2_5_VLProcessor"}


def test_the_processor_of_a_saved_adapter_has_the_published_layout(lora: ModelSettings, tmp_path: Path) -> None:
    save(load(lora), tmp_path / "model")
    assert "extra_special_tokens" not in (tmp_path / "model" / "tokenizer_config.json").read_text()
    assert (tmp_path / "model" / "preprocessor_config.json").is_file()


def test_a_saved_folder_opens_in_transformers_4_with_the_same_logits(settings: ModelSettings, tmp_path: Path) -> None:
    import torch

    python = os.environ.get(OLDER)
    if not python:
        pytest.skip(f"{OLDER} names no Python with transformers 4.57")
    loaded = load(replace(settings, max_pixels=28 * 28 * 16))
    _change_weights(loaded)
    save(loaded, tmp_path / "model")
    learned, words = inspected("cv"), tmp_path / "text"
    words.write_text("\n".join(learned.texts), encoding="utf-8")
    batch = for_learning(_rendered(loaded), loaded.processor)
    torch.save(batch, tmp_path / "batch")
    command = [python, "-c", READS, *map(str, (tmp_path / "model", tmp_path / "batch", words, tmp_path / "found"))]
    subprocess.run(command, check=True, env=os.environ | {"HF_HUB_OFFLINE": "1"})
    found, tokenizer = torch.load(tmp_path / "found"), loaded.processor.tokenizer
    assert found["wrong"] == {}
    read = batch["attention_mask"].bool()  # what stands at padding is used by neither
    assert torch.equal(found["logits"][read], _logits(loaded.model, loaded)[read])
    assert found["dtype"] == torch.float32
    assert found["ids"] == tokenizer.encode(words.read_text("utf-8"))
    assert found["special"] == sorted(tokenizer.all_special_ids)
    assert found["ends"] == (tokenizer.eos_token_id, tokenizer.pad_token_id)
    assert found["template"] == loaded.processor.chat_template
    assert found["size"] == dict(loaded.processor.image_processor.size)


def test_an_adapter_loads_in_live_vetting_and_names_its_base(lora: ModelSettings, tmp_path: Path) -> None:
    import torch

    loaded = load(lora)
    _change_weights(loaded)
    save(loaded, tmp_path / "run" / "model")
    live = Live.load(Weights(lora.name, str(tmp_path / "run" / "model")))
    assert torch.equal(_logits(live.model, loaded), _logits(loaded.model, loaded))
    # The folder of the run can be given instead of its weights, and names their base model.
    again = load(ModelSettings(str(tmp_path / "run"), method="lora", dtype="float32"))
    assert (again.base, again.is_adapter) == (lora.name, True)
    assert torch.equal(_logits(again.model, again), _logits(loaded.model, loaded))


def test_a_merged_adapter_is_a_complete_model(lora: ModelSettings, tmp_path: Path) -> None:
    import torch

    loaded = load(lora)
    _change_weights(loaded)
    before = _logits(loaded.model, loaded)
    save(loaded, tmp_path / "model", merge=True)
    live = Live.load(Weights(str(tmp_path / "model")))
    assert torch.allclose(_logits(live.model, loaded), before, atol=1e-4)


def test_full_training_on_an_adapter_begins_with_the_adapters_weights(lora: ModelSettings, tmp_path: Path) -> None:
    import torch

    loaded = load(lora)
    _change_weights(loaded)
    save(loaded, tmp_path / "model")
    on = load(replace(lora, adapter=str(tmp_path / "model"), method="full"))
    assert not on.is_adapter
    assert torch.allclose(_logits(on.model, on), _logits(loaded.model, loaded), atol=1e-4)
    assert _learns(on) == {None}


def test_saving_replaces_the_old_folder_and_leaves_no_partial_files(settings: ModelSettings, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "old").touch()
    save(load(settings), tmp_path / "model")
    assert not (tmp_path / "model" / "old").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_pixel_limits_hold_for_learning_and_are_saved(settings: ModelSettings, tmp_path: Path) -> None:
    loaded = load(replace(settings, min_pixels=28 * 28 * 4, max_pixels=28 * 28 * 9))
    assert max(Renderer(loaded.processor).image_tokens(picture) for picture in inspected("cv").pictures) <= 9
    save(loaded, tmp_path / "model")
    live = Live.load(Weights(str(tmp_path / "model")))
    assert live.processor.image_processor.size == loaded.processor.image_processor.size


def test_rows_of_a_batch_give_the_same_result_as_each_alone(settings: ModelSettings) -> None:
    import torch

    loaded = load(settings)
    rendered = _rendered(loaded)
    assert len(rendered[0]) != len(rendered[1])
    image = loaded.processor.tokenizer.convert_tokens_to_ids(IMAGE)
    batch = for_learning(rendered, loaded.processor)
    assert (batch["input_ids"] == image).sum() == batch["mm_token_type_ids"].sum()
    batch.pop("labels")
    with torch.no_grad():
        together = loaded.model.eval()(**batch).logits
    for row, example in enumerate(rendered):
        alone = for_learning([example], loaded.processor)
        alone.pop("labels")
        with torch.no_grad():
            expected = loaded.model(**alone).logits[0]
        read = batch["attention_mask"][row].bool()
        assert torch.allclose(together[row][read], expected, atol=1e-4)


def test_a_batch_equals_the_processors_output_for_the_whole_text(settings: ModelSettings) -> None:
    """And so equals the model's input in live vetting: ids, pixels, and which tokens belong to a picture."""
    import torch

    loaded = load(settings)
    trace = inspected("cv")
    text = loaded.processor.apply_chat_template(trace.messages)
    pictures = [picture.convert("RGB") for picture in trace.pictures]
    whole = loaded.processor(text=[text], images=pictures, return_tensors="pt")
    batch = for_learning(_rendered(loaded)[:1], loaded.processor)
    batch.pop("labels")
    n = batch["input_ids"].shape[1]
    assert set(batch) == set(whole)
    for name, ours in batch.items():
        theirs = whole[name][:, :n] if name in ("input_ids", "attention_mask", "mm_token_type_ids") else whole[name]
        assert torch.equal(ours, theirs.to(ours.dtype)), name


def _problem(settings: ModelSettings) -> str:
    with pytest.raises(ModelError) as caught:
        load(settings)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    return message


@pytest.fixture
def copied(settings: ModelSettings, tmp_path: Path) -> Path:
    return Path(shutil.copytree(settings.name, tmp_path / "copied"))


def test_a_missing_folder(settings: ModelSettings) -> None:
    assert "/no/where: no such folder; expected a model" in _problem(replace(settings, name="/no/where"))


def test_a_folder_without_a_model(settings: ModelSettings, tmp_path: Path) -> None:
    assert "is not a model: found no config.json in it" in _problem(replace(settings, name=str(tmp_path)))


def test_truncated_weights(settings: ModelSettings, copied: Path) -> None:
    file = copied / "model.safetensors"
    file.write_bytes(file.read_bytes()[:100_000])
    assert f"{copied} cannot be loaded: " in _problem(replace(settings, name=str(copied)))


def test_missing_weights_are_not_replaced_by_random_ones(settings: ModelSettings, copied: Path) -> None:
    from safetensors.torch import load_file, save_file

    file = copied / "model.safetensors"
    held = load_file(file)
    held.pop(removed := next(name for name in held if "layers.1." in name))
    save_file(held, file, metadata={"format": "pt"})
    message = _problem(replace(settings, name=str(copied)))
    assert message.startswith(f"{copied}: weights are missing or of another shape: ")
    assert message.endswith(removed.partition("layers")[2])


def test_an_adapter_of_another_model(lora: ModelSettings, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = tmp_path / "adapter"
    save(load(lora), folder)
    file = folder / "adapter_model.safetensors"
    held = load_file(file)
    first = next(iter(held))
    save_file({**held, first: held[first].new_zeros(4, 999)}, file)
    message = _problem(replace(lora, adapter=str(folder)))
    assert "size mismatch" in message
    held.pop(first)
    save_file(held, file)
    message = _problem(replace(lora, adapter=str(folder)))
    assert "missing adapter keys" in message


def test_lora_on_layers_that_the_model_lacks(lora: ModelSettings) -> None:
    assert _problem(replace(lora, lora=Lora(targets=("x_proj",)))).startswith("model.lora.targets: ")


def test_a_name_on_the_hub_without_a_network(
    settings: ModelSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import huggingface_hub.constants
    import huggingface_hub.file_download

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    message = _problem(replace(settings, name="nobody/no-such-model"))
    assert message == (
        "nobody/no-such-model cannot be loaded: it is not on this machine and the Hub cannot be reached; "
        "give a folder that has it"
    )


def test_an_adapter_that_does_not_name_its_base(lora: ModelSettings, tmp_path: Path) -> None:
    save(load(lora), tmp_path / "model")
    config = tmp_path / "model" / "adapter_config.json"
    config.write_text("{}")
    with pytest.raises(ModelError, match="found no base_model_name_or_path"):
        resolved(ModelSettings(str(tmp_path)))
