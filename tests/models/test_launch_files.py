"""The shipped launch files, as accelerate itself reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from training.environment import missing

pytestmark = pytest.mark.skipif(missing() is not None, reason="no accelerate in this Python: run make test-models")
LAUNCH = Path(__file__).resolve().parents[2] / "training" / "configs" / "launch"
FILES = sorted(LAUNCH.glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_accelerate_reads_the_file(path: Path) -> None:
    from accelerate.commands.config.config_args import load_config_from_file

    found = load_config_from_file(str(path))
    assert found.mixed_precision == "bf16"
    assert found.num_processes == {"one_gpu": 1, "two_nodes_zero3": 16}.get(path.stem, 8)


def test_the_options_of_fsdp_are_those_that_the_launcher_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Through accelerate's launcher: file, environment of a process, and the plugin that it makes there."""
    import torch
    from accelerate.commands.launch import _validate_launch_command, launch_command_parser
    from accelerate.utils import FullyShardedDataParallelPlugin
    from accelerate.utils.launch import prepare_multi_gpu_env

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 8)
    path = str(LAUNCH / "eight_gpus_fsdp.yaml")
    arguments = launch_command_parser().parse_args(["--config_file", path, "app.py", "sft"])
    arguments, *_ = _validate_launch_command(arguments)
    assert arguments.use_fsdp
    for name, value in prepare_multi_gpu_env(arguments).items():
        monkeypatch.setenv(name, value)
    plugin = FullyShardedDataParallelPlugin()
    assert plugin.fsdp_version == 2
    assert plugin.reshard_after_forward is True
    assert str(plugin.state_dict_type) == "StateDictType.FULL_STATE_DICT"
    assert plugin.transformer_cls_names_to_wrap == ["Qwen2_5_VLDecoderLayer", "Qwen2_5_VLVisionBlock"]


def test_the_layers_that_fsdp_wraps_are_those_of_the_model(random_model: Path) -> None:
    import yaml
    from transformers import AutoModelForImageTextToText

    names = yaml.safe_load((LAUNCH / "eight_gpus_fsdp.yaml").read_text("utf-8"))["fsdp_config"]
    wrapped = set(names["fsdp_transformer_layer_cls_to_wrap"].split(","))
    model = AutoModelForImageTextToText.from_pretrained(random_model)
    found = {type(module).__name__ for module in model.modules()}
    assert wrapped <= found
    assert wrapped == set(model._no_split_modules)
