"""Options of a settings file that are passed on to TRL's configuration classes."""

from __future__ import annotations

import dataclasses
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from agent.language import Message
from training.environment import missing
from training.grpo import learning
from training.grpo.settings import GrpoSettings, VllmSettings
from training.settings import ModelSettings, SettingsError
from training.sft import SftSettings, arguments_of
from training.trl_options import REFUSED, Stage, check, configured

pytestmark = pytest.mark.skipif(missing() is not None, reason="no TRL in this Python: run make test-models")
MODEL = ModelSettings("none", dtype="float32")


def sft(folder: Path, **options: Any) -> SftSettings:
    return SftSettings(MODEL, str(folder), gradient_checkpointing=False, **options)


def grpo(folder: Path, **options: Any) -> GrpoSettings:
    return GrpoSettings(MODEL, str(folder), prompts=2, mini_batch=1, gradient_checkpointing=False, **options)


def test_options_reach_trls_arguments(tmp_path: Path) -> None:
    options = {"optim": "adafactor", "adam_epsilon": 1e-6, "neftune_noise_alpha": 5.0}
    found = arguments_of(sft(tmp_path, trl=options), False)
    assert (found.optim, found.adam_epsilon, found.neftune_noise_alpha) == ("adafactor", 1e-6, 5.0)
    rounds = learning.arguments_of(grpo(tmp_path, trl={"importance_sampling_level": "sequence"}), 3)
    assert rounds.importance_sampling_level == "sequence"
    assert rounds.report_to == []


@pytest.mark.parametrize("stage", ["sft", "grpo"])
def test_an_unknown_option_is_refused_with_the_closest_names(stage: Stage) -> None:
    with pytest.raises(SettingsError, match=r"trl\.adam_epsilonn: found an option .* lacks, expected .*adam_epsilon"):
        check(stage, {"adam_epsilonn": 1.0}, [])


def test_a_value_that_trl_refuses_is_one_line() -> None:
    with pytest.raises(SettingsError, match="trl: found optim with a value that TRL refuses") as caught:
        configured("sft", {"output_dir": "x", "use_cpu": True, "bf16": False}, {"optim": "none_such"}, [])
    assert "\n" not in str(caught.value)


def test_every_argument_that_this_program_sets_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And every refused name is one of TRL: a renamed option would otherwise pass unseen."""
    import trl

    seen: dict[str, set[str]] = {}

    def record(stage: Stage, ours: dict[str, Any], *others: Any) -> None:
        seen[stage] = seen.get(stage, set()) | set(ours)

    monkeypatch.setattr("training.sft.configured", record)
    monkeypatch.setattr("training.grpo.learning.configured", record)
    arguments_of(sft(tmp_path), True)
    vllm = VllmSettings(mode="colocate", correction="token_mask")
    learning.arguments_of(grpo(tmp_path, vllm=vllm), 3)
    for stage, kind in (("sft", trl.SFTConfig), ("grpo", trl.GRPOConfig)):
        assert seen[stage] - set(REFUSED[stage]) == set()
        names = {field.name for field in dataclasses.fields(kind) if field.init}
        assert set(REFUSED[stage]) - names == set()


def test_each_named_setting_exists() -> None:
    for stage, settings in (("sft", SftSettings), ("grpo", GrpoSettings)):
        known = {field.name for field in dataclasses.fields(settings)}
        known |= {f"vllm.{field.name}" for field in dataclasses.fields(VllmSettings)}
        known |= {f"model.{field.name}" for field in dataclasses.fields(ModelSettings)}
        named = {one for one in REFUSED[stage].values() if not isinstance(one, Message)}
        assert {"output", "seed", "model.dtype"} <= named
        assert named - known == set()


def test_a_tracker_reaches_trls_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("trackio")
    module.__spec__ = types.SimpleNamespace(name="trackio", origin=None, loader=None)  # type: ignore[assignment]
    monkeypatch.setitem(sys.modules, "trackio", module)
    assert arguments_of(sft(tmp_path, report_to=("trackio",)), False).report_to == ["trackio"]
