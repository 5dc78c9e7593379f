"""Training runs: folder, lineage, log, resuming; their settings files and options for TRL."""

from __future__ import annotations

import importlib
import json
import socket
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic.dataclasses import dataclass as settings_dataclass

from agent.settings_file import Flag, Whole
from app import main
from training.cli.common import config_file
from training.environment import environment, is_first_process, vllm_missing
from training.grpo.settings import GrpoSettings
from training.model import ModelError, part_of, resolved
from training.run import COMPLETE, Run, RunError, Start, lineage
from training.settings import CLOSED, Lora, ModelSettings, Real, SettingsError, from_mapping, read, to_mapping, to_yaml
from training.sft import SftSettings
from training.specialist import learning
from training.trl_options import check


@dataclass(frozen=True)
class RunSettings:
    model: ModelSettings
    output: str
    seed: int = 0
    learning_rate: float = 1e-5


@pytest.fixture
def run_settings(tmp_path: Path) -> RunSettings:
    return RunSettings(ModelSettings("Qwen/base"), str(tmp_path / "run"))


@pytest.fixture
def run(run_settings: RunSettings) -> Run:
    return Run(Path(run_settings.output))


def _refused(run: Run, run_settings: RunSettings, start: Start) -> str:
    with pytest.raises(RunError) as caught:
        run.begin("sft", run_settings, start)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def _checkpoint(run: Run, step: int, complete: bool = True) -> None:
    folder = run.folder / f"checkpoint-{step}"
    folder.mkdir()
    if complete:
        (folder / COMPLETE).touch()


def test_a_new_run_records_its_settings_and_its_lineage(run: Run, run_settings: RunSettings) -> None:
    assert run.begin("sft", run_settings) is None
    assert read(run.folder / "settings.yaml", RunSettings) == run_settings
    assert json.loads((run.folder / "lineage.json").read_text()) == [
        {"kind": "base", "name": "Qwen/base"},
        {
            "kind": "sft",
            "name": run_settings.output,
            "from": {"model": "Qwen/base", "adapter": None, "method": "full"},
            "seed": 0,
        },
    ]
    assert not run.finished


def test_lineage_goes_back_to_the_base_through_runs(run: Run, run_settings: RunSettings, tmp_path: Path) -> None:
    run.begin("sft", run_settings)
    second = Run(tmp_path / "second")
    second.begin("grpo", replace(run_settings, model=ModelSettings(run_settings.output), output=str(second.folder)))
    kinds = [stage["kind"] for stage in lineage(ModelSettings(str(second.folder)))]
    assert kinds == ["base", "sft", "grpo"]
    assert lineage(ModelSettings("Qwen/base", adapter=str(second.folder / "model"))) == lineage(
        ModelSettings(str(second.folder / "model"))
    )


def test_a_run_is_not_written_over(run: Run, run_settings: RunSettings) -> None:
    run.begin("sft", run_settings)
    assert "holds an unfinished run: the same command continues it; --overwrite" in _refused(run, run_settings, "new")
    run.model.mkdir()
    for start in ("new", "resume"):
        message = _refused(run, run_settings, start)  # type: ignore[arg-type]
        assert "holds a finished run: choose another --out" in message
    run.append({"step": 1})
    _checkpoint(run, 1)
    assert run.begin("sft", run_settings, "again") is None
    assert (run.finished, run.logged(), run.checkpoint()) == (False, [], None)


def test_other_folders_are_left_unchanged(run: Run, run_settings: RunSettings) -> None:
    assert "holds no run to resume" in _refused(run, run_settings, "resume")
    run.folder.mkdir()
    (run.folder / "thesis.tex").touch()
    starts: tuple[Start, ...] = ("new", "again")
    for start in starts:
        assert "holds other files" in _refused(run, run_settings, start)
    assert (run.folder / "thesis.tex").exists()
    file = Run(run.folder / "thesis.tex")
    assert "is a file; expected a folder" in _refused(file, run_settings, "new")


def test_a_resumed_run_keeps_its_settings(run: Run, run_settings: RunSettings) -> None:
    run.begin("sft", run_settings)
    assert "(learning_rate: 1e-05 there, 0.1 now)" in _refused(run, replace(run_settings, learning_rate=0.1), "resume")
    other = replace(run_settings, model=replace(run_settings.model, max_pixels=3))
    assert "(model.max_pixels: None there, 3 now)" in _refused(run, other, "resume")
    (run.folder / "settings.yaml").write_text("[")
    assert "settings.yaml: cannot be read" in _refused(run, run_settings, "resume")


def test_resuming_drops_everything_after_the_last_complete_checkpoint(run: Run, run_settings: RunSettings) -> None:
    run.begin("sft", run_settings)
    for step in range(1, 8):
        run.append({"step": step, "loss": 1 / step})
    with run.log.open("a") as log:
        log.write('{"step": 8, "lo')
    _checkpoint(run, 4)
    _checkpoint(run, 6)
    _checkpoint(run, 10, complete=False)
    assert run.begin("sft", run_settings, "resume") == run.folder / "checkpoint-6"
    assert [line["step"] for line in run.logged()] == [1, 2, 3, 4, 5, 6]
    assert sorted(folder.name for folder in run.folder.glob("checkpoint-*")) == ["checkpoint-4", "checkpoint-6"]
    assert len(json.loads((run.folder / "environment.json").read_text())) == 2


def test_a_run_killed_before_its_first_checkpoint_starts_again(run: Run, run_settings: RunSettings) -> None:
    run.begin("sft", run_settings)
    run.append({"step": 1})
    assert run.begin("sft", run_settings, "resume") is None
    assert run.logged() == []


def test_a_log_is_valid_json_for_any_numbers(run: Run, run_settings: RunSettings) -> None:
    import numpy as np

    run.begin("sft", run_settings)
    run.append({"step": 1, "loss": float("nan"), "norm": np.float32(0.5), "what": "λ\u2028", "none": None})
    assert run.logged() == [{"step": 1, "loss": None, "norm": 0.5, "what": "λ\u2028", "none": None}]


def test_the_environment_is_recorded_without_the_host_name_by_the_first_process(monkeypatch):
    found = environment()
    assert found["packages"]["numpy"]
    assert found["processes"] == 1
    assert socket.gethostname() not in json.dumps(found)
    assert is_first_process()
    monkeypatch.setenv("RANK", "3")
    assert not is_first_process()


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("model.visual.blocks.0.attn.qkv.weight", "vision"),
        ("model.visual.merger.mlp.0.weight", "projector"),
        ("visual.merger.ln_q.weight", "projector"),
        ("model.language_model.layers.0.mlp.gate_proj.weight", None),
        ("base_model.model.model.language_model.layers.0.self_attn.q_proj.lora_A.default.weight", None),
    ],
)
def test_parameters_are_assigned_to_parts_by_name(name: str, part: str | None) -> None:
    assert part_of(name) == part


def test_the_folder_of_a_run_can_be_given_for_its_weights(tmp_path: Path) -> None:
    weights = tmp_path / "run" / "model"
    weights.mkdir(parents=True)
    (weights / "config.json").write_text("{}")
    model = ModelSettings(str(tmp_path / "run"))
    assert resolved(model).name == str(weights)
    (weights / "config.json").unlink()
    (weights / "adapter_config.json").write_text('{"base_model_name_or_path": "Qwen/base"}')
    assert (resolved(model).name, resolved(model).adapter) == ("Qwen/base", str(weights))
    with pytest.raises(ModelError, match="is an adapter, and takes no other on it"):
        resolved(replace(model, adapter="other"))
    assert resolved(ModelSettings("Qwen/base")) == ModelSettings("Qwen/base")


def test_shipped_settings_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = config_file("sft_qwen2_5_vl_7b")
    assert found.is_file()
    assert config_file("sft_qwen2_5_vl_7b.yaml") == found
    Path("sft_qwen2_5_vl_7b.yaml").touch()
    assert config_file("sft_qwen2_5_vl_7b.yaml") == Path("sft_qwen2_5_vl_7b.yaml")
    assert config_file("none") == Path("none")


def test_without_trl_the_command_prints_what_installs_it(capsys, monkeypatch):
    import training.environment

    monkeypatch.setattr(training.environment, "find_spec", lambda name: None if name == "trl" else object())
    assert main(["sft", "--config", "sft_qwen2_5_vl_7b"]) == 2
    assert capsys.readouterr().err == "spec-o3: training needs trl: pip install 'spec-o3[train]'\n"


@settings_dataclass(frozen=True, config=CLOSED)
class Inner:
    width: Whole = 3
    kinds: tuple[str, ...] = ("a",)


@settings_dataclass(frozen=True, config=CLOSED)
class Outer:
    name: str
    rate: Real = 2e-5
    count: Whole = 1
    dry: Flag = False
    way: Literal["up", "down"] = "up"
    limit: Whole | None = None
    inner: Inner = field(default_factory=Inner)
    extra: dict[str, Any] = field(default_factory=dict)


KNOWN = "expected one of name, rate, count, dry, way, limit, inner, extra"


def _read(tmp_path: Path, text: str, *changes: str) -> Outer:
    file = tmp_path / "run.yaml"
    file.write_text(text, encoding="utf-8")
    return read(file, Outer, changes)


def _problem(tmp_path: Path, text: str, *changes: str) -> str:
    with pytest.raises(SettingsError) as caught:
        _read(tmp_path, text, *changes)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_missing_settings_have_defaults_and_rates_may_lack_a_point(tmp_path: Path) -> None:
    assert _read(tmp_path, "name: x") == Outer("x")
    assert _read(tmp_path, "name: x\nrate: 1e-6").rate == 1e-6
    assert _read(tmp_path, "name: x", "rate=3e-5").rate == 3e-5
    assert _read(tmp_path, "name: x\nrate: 1").rate == 1.0
    changed = _read(tmp_path, "name: x\ncount: 2", "count=3", "inner.kinds=[b, c]", "limit=null", "name=y=z")
    assert changed == Outer("y=z", count=3, inner=Inner(kinds=("b", "c")))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name: x\nraet: 1", f"raet: found an unknown field, {KNOWN}; did you mean rate?"),
        (
            "name: x\ninner: {widht: 1}",
            "inner.widht: found an unknown field, expected one of width, kinds; did you mean width?",
        ),
        ("count: 1", "name: found nothing, expected a value"),
        ("name: x\nrate: fast", "rate: found 'fast', expected a number"),
        ("name: x\nrate: true", "rate: found True, expected a number"),
        ("name: x\ninner: {kinds: a}", "inner.kinds: found 'a', expected a list"),
        ("name: x\nextra: 3", "extra: found 3, expected a table of keys and values"),
        ("- a", "file: found list, expected settings as `key: value` lines"),
        ("", "file: found nothing, expected settings"),
        ("name: [", "file: found broken YAML"),
    ],
)
def test_a_problem_is_reported_in_one_line_with_file_and_key(tmp_path: Path, text: str, expected: str) -> None:
    message = _problem(tmp_path, text)
    assert message.startswith(f"{tmp_path / 'run.yaml'}: ")
    assert expected in message


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none\.yaml: file: found .*No such file"):
        read(tmp_path / "none.yaml", Outer)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("count", "found 'count', expected key=value"),
        ("coutn=3", f"coutn: found an unknown field, {KNOWN}; did you mean count?"),
        ("name.first=3", "name is not a group of settings"),
        ("inner=[", "expected a value in YAML"),
    ],
)
def test_an_invalid_change_is_refused(tmp_path: Path, change: str, expected: str) -> None:
    assert expected in _problem(tmp_path, "name: x", change)


_settings = st.builds(
    SftSettings,
    model=st.builds(
        ModelSettings,
        name=st.text(min_size=1),
        adapter=st.none() | st.text(),
        method=st.just("lora"),
        frozen=st.lists(st.sampled_from(["vision", "projector"])).map(tuple),
        lora=st.builds(Lora, rank=st.integers(1, 999), dropout=st.floats(0, 1)),
        max_pixels=st.none() | st.integers(1, 10**7),
    ),
    output=st.text(min_size=1),
    data=st.lists(st.text()).map(tuple),
    learning_rate=st.floats(1e-12, 1.0),
    merge=st.booleans(),
)


@given(_settings)
def test_written_settings_read_back_the_same(settings: SftSettings) -> None:
    import yaml

    assert from_mapping(yaml.safe_load(to_yaml(settings)), SftSettings, "x") == settings
    assert from_mapping(to_mapping(settings), SftSettings, "x") == settings


def test_written_settings_include_the_defaults_and_read_back() -> None:
    import yaml

    settings = SftSettings(ModelSettings("base"), "run\x85two")
    assert from_mapping(yaml.safe_load(to_yaml(settings)), SftSettings, "x") == settings
    written = to_mapping(SftSettings(ModelSettings("base"), "run"))
    assert written["learning_rate"] == 2e-5
    assert written["model"]["lora"]["rank"] == 64


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("batch_size", 0),
        ("accumulation", -1),
        ("epochs", 0),
        ("learning_rate", -1e-5),
        ("warmup", 1.0),
        ("held_out", 1.5),
        ("save_steps", 0),
        ("max_steps", 0),
        ("max_length", 0),
        ("merge", True),
        ("keep_best", True),
    ],
)
def test_sft_refuses_values_that_make_no_sense(key: str, value: object) -> None:
    values = {"model": {"name": "base"}, "output": "run", key: value}
    with pytest.raises(SettingsError, match=rf"^x: {key}: "):
        from_mapping(values, SftSettings, "x")


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


def test_the_loss_of_the_specialist_weighs_both_classes_alike() -> None:
    yes = np.array([True] + [False] * 99)
    assert learning._loss(np.full(100, -20.0), yes) == pytest.approx(10)  # the one YES is missed: half of its loss
    assert learning._loss(np.where(yes, 20.0, -20.0), yes) == pytest.approx(0, abs=1e-6)
