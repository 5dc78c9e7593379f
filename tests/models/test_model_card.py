"""Model cards of real finished runs, and their repository folders as transformers and PEFT open them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import app
from tests.models.support.learned_set import written
from tests.models.support.learned_traces import INSPECTED, inspected, shown
from training.grpo.settings import GrpoSettings
from training.settings import ModelSettings, to_yaml
from training.sft import SftSettings

pytestmark = pytest.mark.usefixtures("imported")

SEVEN = "Qwen/Qwen2.5-VL-7B-Instruct"


@pytest.fixture(scope="module")
def cold(random_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a cold start of one step."""
    folder = tmp_path_factory.mktemp("cold")
    settings = SftSettings(
        ModelSettings(str(random_model), dtype="float32"),
        str(folder / "cold-start"),
        (str(written(folder / "set").parent),),
        batch_size=1,
        max_steps=1,
        gradient_checkpointing=False,
    )
    _run("sft", settings)
    return folder / "cold-start"


def _run(command: str, settings: Any) -> None:
    config = Path(f"{settings.output}.yaml")
    config.write_text(to_yaml(settings))
    assert app.main([command, "--config", str(config), "--json"]) == 0


def _data_of(model: Path) -> dict[str, Any]:
    from huggingface_hub import ModelCard

    found: dict[str, Any] = ModelCard.load(model / "README.md").data.to_dict()
    return found


def test_a_cold_start_has_a_card_and_opens_from_its_repository(cold: Path, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForImageTextToText, AutoProcessor

    found, text = _data_of(cold / "model"), (cold / "model" / "README.md").read_text("utf-8")
    assert (found["license"], found["library_name"]) == ("unknown", "transformers")
    assert "base_model" not in found, "the base is a folder of this machine"
    assert f"{len(INSPECTED)} traces" in text
    assert "| sft | train\\_sharegpt\\.json | file |" in text
    assert "| steps | 1 |" in text
    assert "max_steps: 1" in text
    assert str(cold.parent) not in text
    (cold / "model" / "optimizer.pt").touch()
    assert app.main(["model", "card", str(cold), "--license", "mit"]) == 0
    assert app.main(["model", "push", str(cold), "--out", str(tmp_path / "hub")]) == 0
    hub = tmp_path / "hub"
    assert _data_of(hub)["license"] == "mit"
    assert not {file.suffix for file in hub.iterdir()} & {".pt", ".bin", ".pkl"}
    ours, theirs = (AutoModelForImageTextToText.from_pretrained(one).state_dict() for one in (cold / "model", hub))
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert AutoProcessor.from_pretrained(hub).chat_template


def test_an_adapter_from_labels_has_a_card_with_both_stages(cold: Path, tmp_path: Path) -> None:
    from peft import PeftModel
    from transformers import AutoModelForImageTextToText

    lines = []
    for key in INSPECTED:
        trace = replace(inspected(key).trajectory, label="YES")
        lines.append(json.dumps(trace.to_json() | {"spectrum_data": shown(key).to_json()}) + "\n")
    (tmp_path / "questions.jsonl").write_text("".join(lines), "utf-8")
    settings = GrpoSettings(
        ModelSettings(str(cold), method="lora", dtype="float32", license="cc-by-4.0"),
        str(tmp_path / "labels"),
        (str(tmp_path / "questions.jsonl"),),
        prompts=2,
        rollouts=2,
        mini_batch=2,
        per_device=2,
        rounds=1,
        max_turns=2,
        turn_tokens=40,
        response_tokens=1500,
        writing_batch=4,
        gradient_checkpointing=False,
    )
    _run("grpo", settings)
    model = tmp_path / "labels" / "model"
    found, text = _data_of(model), (model / "README.md").read_text("utf-8")
    assert (found["license"], found["library_name"]) == ("cc-by-4.0", "peft")
    assert {"grpo", "lora"} <= set(found["tags"])
    assert "| sft | cold-start |" in text
    assert "| grpo | labels | cold-start | lora |" in text
    assert "| reward, first and last |" in text
    assert "3 questions" in text
    assert "| sft | train\\_sharegpt" in text, "the data of the earlier stage"
    assert "| grpo | questions\\.jsonl | file |" in text
    push = ["model", "push", str(model), "--out", str(tmp_path / "hub")]
    assert app.main(push) == 2, "its base is a folder"
    assert app.main([*push, "--base", SEVEN]) == 0
    assert json.loads((tmp_path / "hub" / "adapter_config.json").read_text())["base_model_name_or_path"] == SEVEN
    base = AutoModelForImageTextToText.from_pretrained(cold / "model")
    assert PeftModel.from_pretrained(base, tmp_path / "hub").peft_config["default"].r == settings.model.lora.rank
