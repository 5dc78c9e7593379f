"""Settings of a run: strict, because a misspelt learning rate that is silently the default costs a day."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.settings import Lora, ModelSettings, SettingsError, from_mapping, read, to_mapping, to_yaml
from training.sft import SftSettings


@dataclass(frozen=True)
class Inner:
    width: int = 3
    kinds: tuple[str, ...] = ("a",)


@dataclass(frozen=True)
class Outer:
    name: str
    rate: float = 2e-5
    count: int = 1
    dry: bool = False
    way: Literal["up", "down"] = "up"
    limit: int | None = None
    inner: Inner = field(default_factory=Inner)
    extra: dict[str, Any] = field(default_factory=dict)


def _read(tmp_path: Path, text: str, *changes: str) -> Outer:
    file = tmp_path / "run.yaml"
    file.write_text(text, encoding="utf-8")
    return read(file, Outer, changes)


def _problem(tmp_path: Path, text: str, *changes: str) -> str:
    with pytest.raises(SettingsError) as caught:
        _read(tmp_path, text, *changes)
    told = str(caught.value)
    assert "\n" not in told
    return told


def test_what_is_left_out_has_its_default(tmp_path: Path) -> None:
    assert _read(tmp_path, "name: x") == Outer("x")


def test_a_rate_without_a_point_is_a_number_though_yaml_reads_text(tmp_path: Path) -> None:
    assert _read(tmp_path, "name: x\nrate: 1e-6").rate == 1e-6
    assert _read(tmp_path, "name: x", "rate=3e-5").rate == 3e-5
    assert _read(tmp_path, "name: x\nrate: 1").rate == 1.0


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("name: x\nraet: 1", "raet: no such setting; did you mean rate?"),
        ("name: x\ninner: {widht: 1}", "inner.widht: no such setting; did you mean width?"),
        ("name: x\nzzz: 1", "zzz: no such setting; there are name, rate"),
        ("count: 1", "name: found nothing, wanted a value"),
        ("name: x\nrate: fast", "rate: found 'fast', wanted a number"),
        ("name: x\nrate: true", "rate: found True, wanted a number"),
        ("name: x\ncount: 1.5", "count: found 1.5, wanted a whole number"),
        ("name: x\ncount: true", "count: found True, wanted a whole number"),
        ("name: x\ndry: 1", "dry: found 1, wanted true or false"),
        ("name: [x]", "name: found ['x'], wanted text"),
        ("name: x\nway: left", "way: found 'left', wanted up or down"),
        ("name: x\nlimit: much", "limit: found 'much', wanted a whole number"),
        ("name: x\ninner: 3", "inner: found 3, wanted settings as `key: value` lines"),
        ("name: x\ninner: {kinds: a}", "inner.kinds: found 'a', wanted a list"),
        ("name: x\ninner: {kinds: [a, 1]}", "inner.kinds[1]: found 1, wanted text"),
        ("name: x\nextra: 3", "extra: found 3, wanted key: value lines"),
        ("- a", "found list, wanted settings as `key: value` lines"),
        ("", "found NoneType, wanted settings"),
        ("name: [", "found no YAML"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_file_and_key(tmp_path: Path, text: str, wanted: str) -> None:
    told = _problem(tmp_path, text)
    assert told.startswith(f"{tmp_path / 'run.yaml'}: ")
    assert wanted in told


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none\.yaml: No such file"):
        read(tmp_path / "none.yaml", Outer)


def test_a_change_on_the_command_line_wins_and_reaches_inside(tmp_path: Path) -> None:
    changed = _read(tmp_path, "name: x\ncount: 2", "count=3", "inner.kinds=[b, c]", "limit=null", "name=y=z")
    assert changed == Outer("y=z", count=3, inner=Inner(kinds=("b", "c")))


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ("count", "found 'count', wanted key=value"),
        ("coutn=3", "coutn: no such setting; did you mean count?"),
        ("name.first=3", "name is no group of settings"),
        ("inner=[", "wanted a value in YAML"),
    ],
)
def test_a_change_that_cannot_be_made(tmp_path: Path, change: str, wanted: str) -> None:
    assert wanted in _problem(tmp_path, "name: x", change)


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
def test_what_is_written_beside_the_weights_reads_back_the_same(settings: SftSettings) -> None:
    import yaml

    assert from_mapping(yaml.safe_load(to_yaml(settings)), SftSettings, "x") == settings
    assert from_mapping(to_mapping(settings), SftSettings, "x") == settings


def test_a_path_with_a_next_line_character_comes_back() -> None:
    import yaml

    settings = SftSettings(ModelSettings("base"), "run\x85two")
    assert from_mapping(yaml.safe_load(to_yaml(settings)), SftSettings, "x") == settings


def test_what_is_written_has_the_defaults_too() -> None:
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
    ],
)
def test_sft_refuses_values_that_make_no_sense(key: str, value: object) -> None:
    given = {"model": {"name": "base"}, "output": "run", key: value}
    with pytest.raises(SettingsError, match=rf"^x: {key}: "):
        from_mapping(given, SftSettings, "x")
