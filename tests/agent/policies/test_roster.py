"""The roster of policies: server files, replay, local weights and command-line options."""

import json
import os
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given, settings

from agent.cli.command import CannotRun
from agent.cli.policy_options import PolicyChoice, PolicyOptions, choice_from, roster_from
from agent.conversation import Conversation, Exchange, PolicyError, Stop
from agent.errors import Refusal
from agent.loop import Ended, inspect, run
from agent.policies import NATIVE, Sampling
from agent.policies.baseline.rule import Baseline
from agent.policies.local.model import INSTALL, Loaded, Weights
from agent.policies.local.policy import Local
from agent.policies.nano.folder import PICTURES
from agent.policies.native import Guidance, Native
from agent.policies.roster import URL, Replay, Roster, RosterError
from agent.policies.servers import PRESETS, Server, checked_url, read_servers
from agent.policies.spec_o3 import SpecO3
from agent.simulate import simulate
from agent.tasks import load
from agent.tool import overview
from agent.trajectory.steps import Answer
from agent.trajectory.tags import turn_text
from tests.support.cli import ROOT, parsed
from tests.support.model_server import BadServer
from tests.support.strategies import trajectories

SPECTRUM = simulate("cv", "LAMOST", 30, 3)
TASK = load()["cv"]
SECRET = "sk-do-not-show-me"
GOOD = """
[[server]]
key = "big"
url = "http://gpu.example.org:8000/v1/"
model = "Maxwell-Jia/spec-o3-7b"
title = "Spec-o3 7B"
temperature = 0.7
max_tokens = 900

[[server]]
key = "gpt"
url = "https://api.openai.com"
dialect = "native"
api_key_env = "MY_KEY"
"""


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch, tmp_path_factory):
    """No settings in the environment, and no packaged nano model."""
    monkeypatch.setattr("agent.policies.nano.folder.PACKAGED", tmp_path_factory.getbasetemp() / "no weights")
    for name in list(os.environ):
        if name.startswith(("SPEC_O3_", "OPENAI_")):
            monkeypatch.delenv(name)


@pytest.fixture
def file(tmp_path):
    def written(text: str):
        path = tmp_path / "servers.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return written


def test_a_file_lists_servers_with_their_defaults(file):
    big, gpt = read_servers(file(GOOD))
    assert (big.url, big.dialect, big.title) == ("http://gpu.example.org:8000/v1", "spec-o3", "Spec-o3 7B")
    assert big.sampling() == Sampling(temperature=0.7, max_tokens=900)
    assert (gpt.url, gpt.dialect, gpt.title) == ("https://api.openai.com/v1", "native", "gpt")
    assert gpt.sampling() == NATIVE
    big, _ = read_servers(file(GOOD.replace('url = "http://gpu.example.org:8000/v1/"', 'urls = ["http://a:1"]')))
    assert big.url == "http://a:1/v1"
    with pytest.raises(RosterError, match="one \\[\\[server\\]\\] table per server, in double brackets"):
        read_servers(file('[server]\nkey = "a"\nurl = "http://h/v1"\n'))


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("title =", "titel =", "server big, titel: found an unknown field, expected one of key, url, urls, model, "),
        ('key = "gpt"', 'key = "big"', "server 2, key: found 'big' twice"),
        ('key = "gpt"', 'key = "baseline"', "server 2, key: found 'baseline'"),
        ('key = "gpt"', 'key = "My GPT"', "server 2, key: found 'My GPT'"),
        ('key = "gpt"', "key = 4", "server 2, key: found 4, expected a text"),
        ("https://api.openai.com", "api.openai.com", "server gpt, url: found 'api.openai.com'"),
        ("https://api.openai.com", "http://host:99999/v1", "server gpt, url: found 'http://host:99999"),
        ("https://api.openai.com", "http://ho st/v1", "server gpt, url: found 'http://ho st/v1'"),
        ('url = "https://api.openai.com"', "", "server gpt, url: found nothing"),
        ('url = "https://api.openai.com"', "urls = []", "server gpt, urls: found [], expected a list with one address"),
        ('url = "https://api.openai.com"', 'urls = ["b"]', "server gpt, urls: found 'b', expected an addr"),
        (
            'url = "https://api.openai.com"',
            'urls = ["http://a", "http://b"]',
            "server gpt, urls: found 2 addresses, expected one: `spec-o3 serve --replicas N`, Ray Serve or a proxy",
        ),
        (
            'url = "https://api.openai.com"',
            'url = "http://a"\nurls = ["http://b"]',
            "server gpt, url, urls: found both, expected url alone",
        ),
        ('"native"', '"openai"', "server gpt, dialect: found 'openai', expected 'spec-o3', 'qwen3.5' or 'native'"),
        ("0.7", '"warm"', "server big, temperature: found 'warm', expected a number"),
        ("0.7", "7", "server big, temperature: found 7.0, expected a number from 0 to 2"),
        ("900", "0", "server big, max_tokens: found 0, expected 1 or more"),
        ("900", "true", "server big, max_tokens: found True, expected a whole number"),
        ('"MY_KEY"', '"MY_KEY"\napi_key_file = "k"', "server gpt, api_key_env, api_key_file: found both"),
        ("[[server]]", "[server]", "broken TOML"),
        ("[[server]]", "[[servers]]", "servers: found an unknown field, expected one of server; did you mean server?"),
    ],
)
def test_a_problem_in_a_file_names_the_file_and_the_field(file, old, new, complaint):
    path = file(GOOD.replace(old, new))
    with pytest.raises(RosterError) as refused:
        read_servers(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    "line",
    [
        f'api_key = "{SECRET}"',
        f'api_key_env = "{SECRET}"',
        f'url = "http://me:{SECRET}@host/v1"',
        f'url = "http://host/v1?key={SECRET}"',
        f'urls = ["http://host/v1?key={SECRET}"]',
    ],
)
def test_a_key_in_the_wrong_place_is_not_shown_in_the_message(file, line):
    fields = {"key": 'key = "a"', "url": 'url = "http://host/v1"'}
    fields[line.partition(" ")[0]] = line
    with pytest.raises(RosterError) as refused:
        read_servers(file("[[server]]\n" + "\n".join(fields.values())))
    assert SECRET not in str(refused.value)


def test_a_named_file_must_exist_but_the_one_in_the_database_folder_is_optional(tmp_path):
    with pytest.raises(RosterError, match="No such file"):
        Roster.load(tmp_path / "none.toml")
    assert Roster.load(database_folder=tmp_path).server("spec-o3").url == URL


def test_the_default_server_is_always_listed(file, monkeypatch):
    keys = [entry.key for entry in Roster.load(file(GOOD)).entries()]
    assert keys == ["baseline", "spec-o3", "big", "gpt", "replay"]
    monkeypatch.setenv("SPEC_O3_SERVER", "http://other:9000")
    assert Roster.load().server("spec-o3").url == "http://other:9000/v1"
    assert Roster.load(url="http://third:1/v1").server("spec-o3").url == "http://third:1/v1"
    own = Roster.load(file(GOOD.replace('"big"', '"spec-o3"')))
    assert own.server("spec-o3").url == "http://gpu.example.org:8000/v1"
    monkeypatch.setenv("SPEC_O3_SERVER", "nowhere")
    with pytest.raises(RosterError, match="SPEC_O3_SERVER: address: found 'nowhere'"):
        Roster.load()


def test_the_file_is_found_by_name_in_the_environment_or_in_the_database_folder(file, tmp_path, monkeypatch):
    path = file(GOOD)
    assert Roster.load(database_folder=tmp_path).server("big")
    monkeypatch.setenv("SPEC_O3_SERVERS", str(path))
    assert Roster.load().server("big")
    other = tmp_path / "other.toml"
    other.write_text('[[server]]\nkey = "o"\nurl = "http://h/v1"\n')
    assert Roster.load(other, database_folder=tmp_path).server("big") is None


def test_each_key_gives_its_policy(file, monkeypatch):
    monkeypatch.setenv("MY_KEY", SECRET)
    roster = Roster.load(file(GOOD))
    trajectory = run(SPECTRUM, TASK, Baseline())
    assert isinstance(roster.policy("baseline"), Baseline)
    assert isinstance(roster.policy("replay", trajectory=trajectory), Replay)
    big, gpt = roster.policy("big"), roster.policy("gpt", Sampling(seed=3), guidance=Guidance("YES"))
    assert isinstance(big, SpecO3)
    assert big.sampling == Sampling(temperature=0.7, max_tokens=900)
    assert isinstance(gpt, Native)
    assert (gpt.sampling.seed, gpt.guidance) == (3, Guidance("YES"))
    assert roster.policy("big").endpoint is big.endpoint


def test_commands_request_whole_turns_unless_the_file_says_otherwise(file):
    line = "[[server]]\nkey = '{}'\nurl = 'http://gpu:8000/v1'\n"
    roster = Roster(read_servers(file(line.format("a") + line.format("b") + "stream = true\n")))
    assert not any(roster.server(key).tool_in_words for key in "ab")
    assert [PolicyChoice(key, roster, Sampling())().stream for key in "ab"] == [False, True]
    assert roster.policy("a").stream


def test_unknown_policies_and_wrong_uses_raise_readable_errors(file):
    roster = Roster.load(file(GOOD))
    with pytest.raises(PolicyError, match="found no policy 'gpt-9', expected one of baseline, spec-o3, big"):
        roster.policy("gpt-9")
    with pytest.raises(PolicyError, match="found no policy"):
        roster.health("gpt-9")
    with pytest.raises(PolicyError, match="none was given"):
        roster.policy("replay")
    with pytest.raises(PolicyError, match="cannot use a label"):
        roster.policy("big", guidance=Guidance("NO"))
    with pytest.raises(PolicyError, match="server gpt: api_key_env: found no environment variable MY_KEY"):
        roster.policy("gpt")
    assert "MY_KEY" in roster.health("gpt").sentence


def key_file(folder, mode: int, text: str = SECRET + "\n"):
    path = folder / "the.key"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_key_from_a_private_file_is_sent_and_is_in_no_trace(file, tmp_path):
    key_file(tmp_path, 0o600)
    with BadServer(models=["spec-o3"], api_key=SECRET) as server:
        path = file(f'[[server]]\nkey = "a"\nurl = "{server.url}"\napi_key_file = "the.key"\n')
        roster = Roster.load(path)
        assert roster.health("a").ok
        trajectory = run(SPECTRUM, TASK, roster.policy("a"))
    assert trajectory.answer is not None
    assert SECRET not in json.dumps(trajectory.to_json()) + repr(roster.entries()) + repr(roster.server("a"))


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_key_that_others_can_read_is_refused(tmp_path, mode):
    server = Server(key="a", url=URL, api_key_file=key_file(tmp_path, mode))
    roster = Roster([server])
    with pytest.raises(PolicyError, match=f"found mode {mode:04o}, which lets others .*chmod 600"):
        roster.policy("a")
    health = roster.health("a")
    assert not health.ok
    assert SECRET not in health.sentence


def test_a_key_file_without_a_key_is_refused(tmp_path):
    for text in ("", "two words"):
        with pytest.raises(RosterError, match="no key, or more than one word"):
            Server(key="a", url=URL, api_key_file=key_file(tmp_path, 0o600, text)).api_key()
    with pytest.raises(RosterError, match="No such file"):
        Server(key="a", url=URL, api_key_file=tmp_path / "none").api_key()


def test_a_servers_health_is_cached_for_many_callers():
    now = [0.0]
    with BadServer(models=["spec-o3"]) as server:
        roster = Roster([Server(key="a", url=server.url)], clock=lambda: now[0])
        with ThreadPoolExecutor(8) as pool:
            assert all(health.ok for health in pool.map(roster.health, ["a"] * 24))
        assert [request.path for request in server.asked].count("/v1/models") == 1
        now[0] = 6.0
        roster.health("a")
        assert [request.path for request in server.asked].count("/v1/models") == 2
    now[0] = 12.0
    gone = roster.health("a")
    assert not gone.ok
    assert server.url in gone.sentence


def test_an_address_is_completed_and_checked():
    assert checked_url(" http://localhost:8000 ", "--server", "address") == "http://localhost:8000/v1"
    assert checked_url("https://h/api/v3/", "--server", "address") == "https://h/api/v3"
    assert checked_url("http://[::1]:8000/v1", "--server", "address") == "http://[::1]:8000/v1"


def chosen(*options: str, samples: int = 1):
    arguments = parsed(PolicyOptions, *options)
    return choice_from(arguments, roster_from(arguments), samples)


def test_options_set_the_address_of_a_model_and_its_sampling(file):
    choice = chosen("--policy", "spec-o3", "--server", "http://h:1", "--model", "m", "--temperature", "0.7")
    policy = choice(2)
    assert isinstance(policy, SpecO3)
    assert (policy.endpoint.url, policy.endpoint.model) == ("http://h:1/v1", "m")
    assert policy.sampling == Sampling(temperature=0.7)
    assert chosen("--policy", "spec-o3", "--logprobs")().sampling == Sampling(logprobs=True)
    seeded = chosen("--policy", "big", "--servers", str(file(GOOD)), "--seed", "5")
    assert seeded(2).sampling == Sampling(temperature=0.7, max_tokens=900, seed=7)
    assert seeded(1).endpoint is seeded(2).endpoint


def test_openai_uses_the_native_dialect_and_a_key_from_the_environment(monkeypatch):
    with pytest.raises(CannotRun, match="needs a key: set OPENAI_API_KEY"):
        chosen("--policy", "openai", "--model", "gpt-5")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with pytest.raises(CannotRun, match="needs --model"):
        chosen("--policy", "openai")
    policy = chosen("--policy", "openai", "--model", "gpt-5")(guidance=Guidance("NO"))
    assert isinstance(policy, Native)
    assert policy.endpoint.url == "https://api.openai.com/v1"
    assert policy.sampling.temperature == NATIVE.temperature
    monkeypatch.setenv("OPENAI_BASE_URL", "http://proxy:1/v1")
    assert chosen("--policy", "openai", "--model", "gpt-5")().endpoint.url == "http://proxy:1/v1"


def test_a_key_file_is_not_used_for_another_address(file, tmp_path):
    key_file(tmp_path, 0o600)
    with BadServer(models=["spec-o3"]) as server:
        path = file('[[server]]\nkey = "spec-o3"\nurl = "http://h/v1"\napi_key_file = "the.key"\n')
        policy = chosen("--policy", "spec-o3", "--servers", str(path), "--server", server.url)()
        run(SPECTRUM, TASK, policy)
    assert SECRET not in json.dumps([dict(request.headers) for request in server.asked])


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("--policy gpt-9", "--policy: found 'gpt-9', expected one of baseline, local, nano, openai, replay, spec-o3"),
        ("--temperature 1", "--temperature has no effect with --policy baseline, which takes --sky"),
        ("--policy spec-o3 --adapter x", "--adapter has no effect with --policy spec-o3"),
        ("--policy local", "--policy local needs --model"),
        ("--policy nano --adapter x", "--adapter has no effect with --policy nano"),
        ("--policy nano --model none", "found no such folder, expected the folder of a nano model"),
        ("--policy local --model ./nowhere", "no such folder"),
        ("--policy replay", "none was given"),
        ("--policy replay --trajectory nowhere.json", "--trajectory nowhere.json: .*No such file"),
        ("--policy spec-o3 --server h:8000", "--server: address: found 'h:8000'"),
        ("--policy spec-o3 --api-key-file nowhere", "api_key_file: found .*No such file"),
        ("--servers nowhere.toml", "nowhere.toml: file: found .*No such file"),
    ],
)
def test_options_that_make_no_sense_are_refused_with_a_message(options, complaint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Refusal, match=complaint):
        chosen(*options.split())


def test_samples_that_cannot_differ_are_refused(file):
    with pytest.raises(CannotRun, match="--samples: found 5, expected 1: baseline gives the same answer each time"):
        chosen(samples=5)
    with pytest.raises(CannotRun, match="5 at temperature 0 are identical; set --temperature"):
        chosen("--policy", "spec-o3", samples=5)
    assert chosen("--policy", "spec-o3", "--temperature", "0.7", samples=5).key == "spec-o3"
    assert isinstance(chosen()(), Baseline)
    samples = {entry.key: entry.samples_ok for entry in Roster.load(file(GOOD)).entries()}
    assert samples == {"baseline": False, "spec-o3": True, "big": True, "gpt": True, "replay": False}


def test_a_trace_in_a_file_is_replayed(tmp_path):
    original = run(SPECTRUM, TASK, Baseline())
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(original.to_json()), encoding="utf-8")
    arguments = parsed(PolicyOptions, "--policy", "replay", "--trajectory", path)
    again = run(SPECTRUM, TASK, choice_from(arguments, roster_from(arguments))())
    assert len(again.zooms) > 1
    assert replace(again, drafter=original.drafter) == original


ORIGINAL = run(SPECTRUM, TASK, Baseline())
OVERVIEW = overview(SPECTRUM)


def test_a_replay_keeps_the_drafter_and_ends_where_the_trace_ends():
    drafter = run(SPECTRUM, TASK, Replay(ORIGINAL)).drafter
    assert (drafter.kind, drafter.name) == (ORIGINAL.drafter.kind, ORIGINAL.drafter.name)
    assert dict(drafter.settings) == {**ORIGINAL.drafter.settings, "replayed": True}
    cut = ORIGINAL.with_steps(tuple(s for s in ORIGINAL.steps if not isinstance(s, Answer))[:-1])
    *_, end = inspect(SPECTRUM, TASK, Replay(cut))
    assert isinstance(end, Ended)
    assert end.reason == "no call and no answer"
    assert end.trajectory.steps == cut.steps


@settings(max_examples=50)
@given(trajectories())
def test_any_stored_trace_is_replayed_turn_by_turn(trajectory):
    turns = [turn_text(turn) for turn in trajectory.turns()]
    exchanges: tuple[Exchange, ...] = ()
    for text in [*turns, ""]:
        conversation = Conversation(SPECTRUM, TASK, OVERVIEW, 8, exchanges)
        assert "".join(Replay(trajectory).turn(conversation)) == text
        exchanges = (*exchanges, Exchange(text, None))


@pytest.fixture
def folder(tmp_path):
    """A folder with the files that mark a model and an adapter, enough for checks that load nothing."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    (tmp_path / "adapter").mkdir()
    (tmp_path / "adapter" / "adapter_config.json").write_text("{}")
    return tmp_path


@pytest.fixture
def without_torch(monkeypatch):
    monkeypatch.setattr("agent.policies.local.model.find_spec", lambda name: None if name == "torch" else name)


def test_weights_that_are_no_model_have_a_problem(folder):
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
    assert "folder" not in (Weights("Maxwell-Jia/spec-o3-3b").problem() or "")


@pytest.mark.usefixtures("without_torch")
def test_a_missing_package_is_named_with_the_command_that_installs_it(folder):
    policy = Local(str(folder / "model"))
    health = policy.check()
    assert not health.ok
    assert health.sentence == f"a model in this process needs torch: {INSTALL}"
    *_, end = inspect(SPECTRUM, TASK, policy)
    assert isinstance(end, Ended)
    assert (end.reason, end.detail) == ("policy failed", health.sentence)


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


def test_an_unexpected_error_is_not_hidden(folder, monkeypatch):
    def broken(weights: Weights) -> Loaded:
        raise ZeroDivisionError

    monkeypatch.setattr(Loaded, "load", broken)
    with pytest.raises(ZeroDivisionError):
        list(inspect(SPECTRUM, TASK, Local(str(folder / "model"))))


def test_the_roster_lists_a_local_model_if_the_environment_names_one(folder, monkeypatch):
    assert "local" not in [entry.key for entry in Roster.load().entries()]
    with pytest.raises(PolicyError, match="found no policy 'local'"):
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


# ---- the nano model


def test_a_nano_model_is_listed_only_where_there_is_one(tmp_path, monkeypatch):
    assert "nano" not in [entry.key for entry in Roster.load().entries()]
    with pytest.raises(CannotRun, match="--policy nano needs --model, a folder: no weights came with this"):
        chosen("--policy", "nano")
    monkeypatch.setenv("SPEC_O3_NANO", str(tmp_path))
    roster = Roster.load()
    entry = roster.entry("nano")
    assert (entry.title, entry.kind, entry.samples_ok) == ("nano (demonstration model)", "nano", True)
    assert not roster.is_checkpoint("nano")
    health = roster.health("nano")
    assert not health.ok
    assert "found no config.json, model.safetensors" in health.sentence
    assert roster.with_local(Weights("x")).with_server(roster.server("spec-o3")).nano == tmp_path


def test_the_packaged_nano_model_needs_no_configuration(tmp_path, monkeypatch):
    for name in ("config.json", "model.safetensors", "tokenizer.json", "generation_config.json", *PICTURES[:1]):
        (tmp_path / name).write_bytes(b"")
    monkeypatch.setattr("agent.policies.nano.folder.PACKAGED", tmp_path)
    roster = Roster.load()
    assert [entry.key for entry in roster.entries()] == ["baseline", "nano", "spec-o3", "replay"]
    monkeypatch.setattr("agent.policies.nano.folder.find_spec", lambda name: None)
    health = roster.health("nano")
    assert not health.ok
    assert health.sentence == "a nano model needs tokenizers and safetensors: pip install tokenizers safetensors"


def test_each_preset_is_a_server_and_is_in_the_documents(file):
    presets = tomllib.loads(PRESETS.read_text(encoding="utf-8"))
    page = (ROOT / "docs/servers.md").read_text(encoding="utf-8")
    tables = [
        f'[[server]]\nkey = "{name}-1"\npreset = "{name}"\n' + ("" if "url" in preset else 'url = "https://x.org/v1"\n')
        for name, preset in presets.items()
    ]
    servers = read_servers(file("\n".join(tables)))
    assert [server.dialect for server in servers] == ["native"] * len(presets)
    assert all(f"| `{name}` |" in page for name in presets)
    assert next(server for server in servers if server.key == "mistral-1").habits().picture_turn == "assistant"


def test_the_table_of_a_server_comes_before_its_preset(file, tmp_path):
    table = '[[server]]\nkey = "g"\npreset = "gemini"\nurl = "http://127.0.0.1:9/v1"\napi_key_file = "g.key"\n'
    (server,) = read_servers(file(f'{table}reasoning_effort = "low"\nextra_body = {{ n_best = 2 }}\n'))
    assert (server.url, server.api_key_env, server.api_key_file) == ("http://127.0.0.1:9/v1", None, tmp_path / "g.key")
    sampling = server.sampling()
    assert (sampling.reasoning_effort, sampling.extra_body, sampling.temperature) == ("low", {"n_best": 2}, 1.0)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('preset = "gemni"', "server g, preset: found 'gemni', expected one of openai, gemini"),
        ('preset = "vllm"\nreasoning_effort = "Much"', "server g, reasoning_effort: found 'Much', expected a word"),
        ('preset = "vllm"\nextra_body = { model = "m" }', "server g, extra_body: found model, expected no field"),
        ('preset = "vllm"\npicture_turn = "system"', "picture_turn"),
    ],
)
def test_a_wrong_field_of_a_server_of_others_is_named(file, line, words):
    with pytest.raises(RosterError) as raised:
        read_servers(file(f'[[server]]\nkey = "g"\n{line}\n'))
    assert words in str(raised.value)


def test_effort_and_further_fields_are_options(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    options = parsed(
        PolicyOptions,
        *(
            "--policy",
            "openai",
            "--model",
            "gpt-5",
            "--reasoning-effort",
            "low",
            "--extra-body",
            '{"verbosity": "low"}',
        ),
    )
    sampling = choice_from(options, roster_from(options)).sampling
    assert (sampling.reasoning_effort, sampling.extra_body) == ("low", {"verbosity": "low"})
    wrong = parsed(PolicyOptions, "--policy", "baseline", "--reasoning-effort", "low")
    with pytest.raises(CannotRun, match="--reasoning-effort"):
        choice_from(wrong, roster_from(wrong))
