"""Secrets leave a log before anything of it is stored; what is no secret stays as it is."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings

from agent.foreign.record import Call, ForeignTrace, Result, Words
from agent.foreign.secrets import REMOVED, scrubbed
from agent.trajectory import Trajectory
from tests.support.strategies import json_values, trajectories

ROOT = Path(__file__).resolve().parents[3]
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\n-----END RSA PRIVATE KEY-----"
SECRETS = [
    *("sk-proj-" + "aB3" * 10, "sk-ant-api03-" + "xY9_" * 8, "AIza" + "Sy1" * 11 + "Zz", "AKIAIOSFODNN7EXAMPLE"),
    *("ghp_" + "a1B2" * 9, "github_pat_" + "a1B2" * 10, "hf_" + "aBcD" * 9, "xoxb-123456789012-abcdefGHIJ"),
    *(JWT, PEM, "gsk_" + "a1B2" * 12, "so3_" + "a1-B2_c" * 6 + "Z"),
]
BEHIND = {
    "Authorization: Bearer abc123DEF456ghi789": "abc123DEF456ghi789",
    "postgres://ada:s3cret-pw@db.example.org/x": "s3cret-pw",
    "export DEEPSEEK_API_KEY='9f8e7d6c5b4a'": "9f8e7d6c5b4a",
    '{"api_key": "Zx81-aa-bb-cc"}': "Zx81-aa-bb-cc",
    "password=hunter2hunter2": "hunter2hunter2",
    "SPECO3_TOKEN=abcdefghijkl": "abcdefghijkl",
}
HONEST = [
    *("sha256: " + "0123456789abcdef" * 4, "wavelength_range: [6500.25, 6600]", "Hα at 6562.8 Å, EW = -12.3456789"),
    *("The key: broad emission.", "token: continuum", "tokens=1234567890", "the secret: He II 4686", "z = 0.0123"),
    *("https://www.sdss.org/dr18/spec-4055-55359-0596.fits", "key = 6562.8012345", "spec-55859-F5902_sp01-034.fits"),
    *("task-specific features", "ask-the-expert-about-this-line-please", "risk-averse-classification-of-stars"),
]


def a_trace(text: str) -> ForeignTrace:
    events = (
        Words("user", text),
        Call("c1", "f", {"a": [text], "api_key": "whatever it is", "n": 1}),
        Result("c1", text),
    )
    return ForeignTrace("atif", "a.json", "agent", "model", events, own={"x": {"y": text}})


@pytest.mark.parametrize("secret", [*SECRETS, *BEHIND])
def test_a_secret_is_removed_everywhere(secret: str) -> None:
    clean = scrubbed(a_trace(f"before {secret} after"))
    assert BEHIND.get(secret, secret) not in repr(clean)
    assert clean.events[0].text.startswith("before ")
    assert clean.events[0].text.endswith("after")
    assert clean.events[1].arguments["api_key"] == REMOVED
    assert clean.faults == ("5 secrets were removed",)


@pytest.mark.parametrize("text", HONEST)
def test_an_honest_text_stays(text: str) -> None:
    clean = scrubbed(a_trace(text))
    assert (clean.events[0].text, clean.events[2].text, clean.own) == (text, text, {"x": {"y": text}})
    assert clean.faults == ("1 secret was removed",)  # the argument api_key


@given(trajectories())
def test_a_trajectory_stays(trajectory: Trajectory) -> None:
    form = trajectory.to_json()
    clean = scrubbed(ForeignTrace("atif", "a.json", "", "", (), own=form))
    assert (clean.own, clean.faults) == (form, ())


def test_the_trajectories_of_the_demo_stay() -> None:
    demo = json.loads((ROOT / "reviewer/drafting/demo.json").read_text(encoding="utf-8"))
    clean = scrubbed(ForeignTrace("atif", "a.json", "", "", (), own={"demo": demo}))
    assert (clean.own["demo"], clean.faults) == (demo, ())


@settings(max_examples=50)
@given(json_values)
def test_arguments_can_be_stored(value: object) -> None:
    nested: object = [value, float("nan"), "\ud800"]
    for _ in range(40):
        nested = [nested]
    clean = scrubbed(ForeignTrace("atif", "a", "", "", (Call("c", "f", {"a": nested, "b": [float("inf"), "\ud800"]}),)))
    json.dumps(clean.events[0].arguments, allow_nan=False, ensure_ascii=False).encode()
    assert clean.faults == ("arguments nest deeper than 20 levels: the inner values were left out",)
