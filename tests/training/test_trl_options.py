"""Options for TRL and trackers in a settings file: what is refused before anything is imported or read."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from training.environment import vllm_missing
from training.grpo.settings import GrpoSettings
from training.run import Run, RunError
from training.settings import ModelSettings, SettingsError, read
from training.sft import SftSettings
from training.trl_options import check

CONFIGS = Path(__file__).resolve().parents[2] / "training" / "configs"


@pytest.mark.parametrize(
    ("kind", "config", "change", "expected"),
    [
        (SftSettings, "sft_qwen2_5_vl_7b", "trl.gradient_accumulation_steps=2", "use the setting `accumulation`"),
        (SftSettings, "sft_qwen2_5_vl_7b", "trl.packing=true", "training.render makes the tokens"),
        (GrpoSettings, "grpo_qwen2_5_vl_7b", "trl.num_generations=4", "use the setting `rollouts` instead"),
        (GrpoSettings, "grpo_qwen2_5_vl_7b", "trl.vllm_mode=server", "use the setting `vllm.mode` instead"),
        (GrpoSettings, "grpo_qwen2_5_vl_7b", "trl.use_liger_kernel=true", "bypasses the forward pass"),
    ],
)
def test_an_option_that_has_a_setting_is_refused_with_its_name(kind, config, change, expected):
    with pytest.raises(SettingsError) as caught:
        read(CONFIGS / f"{config}.yaml", kind, ["output=x", change])
    name = change.partition("=")[0]
    assert f"{name}: found an option that this program sets itself" in str(caught.value)
    assert expected in str(caught.value)


def test_other_options_are_kept_in_the_settings() -> None:
    settings = read(CONFIGS / "grpo_qwen2_5_vl_7b.yaml", GrpoSettings, ["output=x", "trl.optim=adamw_8bit"])
    assert settings.trl == {"optim": "adamw_8bit"}


def test_a_tracker_needs_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.setattr("training.trl_options._PACKAGES", {"trackio": ("absent_tracker",)})
    with pytest.raises(SettingsError, match="report_to: found trackio, which is not installed: pip install absent-"):
        check("sft", {}, ["trackio"])
    (tmp_path / "absent_tracker.py").touch()
    importlib.invalidate_caches()
    check("sft", {}, ["trackio"])


def test_vllm_is_needed_only_where_it_generates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.environment.find_spec", lambda name: None)
    assert vllm_missing("none") is None
    for mode in ("colocate", "server"):
        message = str(vllm_missing(mode))
        assert f"vllm.mode: found {mode}" in message
        assert "pip install vllm" in message
        assert "--set vllm.mode=none" in message


def test_a_run_of_a_release_without_a_setting_had_its_default(tmp_path: Path) -> None:
    settings = SftSettings(ModelSettings("Qwen/base"), str(tmp_path / "run"))
    run = Run(tmp_path / "run")
    run.begin("sft", settings)
    saved = run.folder / "settings.yaml"
    older = saved.read_text("utf-8").replace("trl: {}\n", "").replace("report_to: []\n", "")
    assert older != saved.read_text("utf-8")
    saved.write_text(older, "utf-8")
    run.check(settings, "resume")
    other = SftSettings(ModelSettings("Qwen/base"), str(tmp_path / "run"), trl={"optim": "sgd"})
    with pytest.raises(RunError, match="other settings"):
        run.check(other, "resume")
