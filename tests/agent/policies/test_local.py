"""A model in this process: what is said where it cannot be had. What it does, tests/models tests."""

import sys

import pytest

from agent.conversation import PolicyError, Stop
from agent.loop import Ended, inspect
from agent.policies.local.model import Loaded
from agent.policies.local.policy import Local
from agent.policies.local.weights import INSTALL, Weights
from agent.policies.roster import Roster
from agent.policies.sampling import Sampling
from agent.simulate import simulate
from agent.tasks import load

SPECTRUM = simulate("cv", "LAMOST", 30, 3)
TASK = load()["cv"]


@pytest.fixture
def folder(tmp_path):
    """A folder that looks like a model, as far as can be seen without loading it."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    (tmp_path / "adapter").mkdir()
    (tmp_path / "adapter" / "adapter_config.json").write_text("{}")
    return tmp_path


@pytest.fixture
def without_torch(monkeypatch):
    monkeypatch.setattr("agent.policies.local.weights.find_spec", lambda name: None if name == "torch" else name)


def test_what_is_no_model_is_said_to_be_none(folder):
    model, adapter = str(folder / "model"), str(folder / "adapter")
    for weights, complaint in (
        (Weights(str(folder / "none")), "no such folder"),
        (Weights("./none"), "no such folder"),
        (Weights("spec-o3-3b"), "a folder, or a name as Maxwell-Jia/spec-o3-3b"),
        (Weights(str(folder)), "is not a model: found no config.json in it"),
        (Weights(adapter), "holds an adapter, not a model: give it with --adapter"),
        (Weights(model, model), "is not a PEFT adapter: found no adapter_config.json"),
    ):
        assert complaint in (weights.problem() or "")


@pytest.mark.usefixtures("without_torch")
def test_what_is_not_installed_is_named_with_the_command_that_installs_it(folder):
    policy = Local(str(folder / "model"))
    health = policy.check()
    assert not health.ok
    assert health.sentence == f"a model in this process needs torch: {INSTALL}"
    *_, end = inspect(SPECTRUM, TASK, policy)
    assert isinstance(end, Ended)
    assert (end.reason, end.detail) == ("policy failed", health.sentence)


def test_a_hub_name_may_be_one():
    assert "folder" not in (Weights("Maxwell-Jia/spec-o3-3b").problem() or "")


def test_a_trace_names_the_model_without_the_folders_around_it(folder):
    drafter = Local(str(folder / "model"), str(folder / "adapter"), sampling=Sampling(seed=4)).drafter
    assert (drafter.kind, drafter.name) == ("model", "model + adapter")
    assert drafter.settings["seed"] == 4
    assert str(folder) not in repr(drafter)
    assert Local("Maxwell-Jia/spec-o3-3b").drafter.name == "Maxwell-Jia/spec-o3-3b"


def test_a_stopped_inspection_does_not_begin_to_load(folder, monkeypatch):
    loads: list[Weights] = []
    monkeypatch.setattr(Loaded, "load", loads.append)
    stop = Stop()
    stop.set()
    *_, end = inspect(SPECTRUM, TASK, Local(str(folder / "model")), stop=stop)
    assert isinstance(end, Ended)
    assert (end.reason, loads) == ("stopped", [])


def test_an_error_nobody_foresaw_is_not_hidden(folder, monkeypatch):
    def broken(weights: Weights) -> Loaded:
        raise ZeroDivisionError

    monkeypatch.setattr(Loaded, "load", broken)
    with pytest.raises(ZeroDivisionError):
        list(inspect(SPECTRUM, TASK, Local(str(folder / "model"))))


def test_the_roster_lists_a_model_in_this_process_where_one_is_named(folder, monkeypatch):
    assert "local" not in [entry.key for entry in Roster.load().entries()]
    with pytest.raises(PolicyError, match="nobody here is called 'local'"):
        Roster.load().policy("local")
    monkeypatch.setenv("SPEC_O3_MODEL", str(folder / "model"))
    roster = Roster.load()
    assert roster.entry("local").samples_ok
    policy = roster.policy("local", Sampling(temperature=0.5))
    assert isinstance(policy, Local)
    assert policy.sampling.temperature == 0.5
    assert roster.health("local") == policy.check()


def test_torch_is_not_imported_before_a_model_is_loaded(folder):
    import subprocess

    code = (
        "import sys; from agent.policies.roster import Roster; r = Roster.load();"
        "[r.health(e.key) for e in r.entries() if e.kind != 'server'];"
        "print([m for m in ('torch', 'transformers', 'openai', 'peft') if m in sys.modules])"
    )
    environment = {"SPEC_O3_MODEL": str(folder / "model"), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
