"""Approved traces as in-context examples: chosen without a leak, in the messages of the native dialect."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from agent.conversation import PolicyError
from agent.loop import inspect
from agent.policies.examples import Examples
from agent.policies.local.model import Weights
from agent.policies.native import Native
from agent.policies.openai.endpoint import Endpoint
from agent.policies.roster import Roster
from agent.policies.servers import Server
from agent.simulate import simulate
from agent.tasks import load
from agent.tool import MEASURE_SCHEMA, TOOL_SCHEMA
from tests.support.drawn_traces import a_spectrum, a_trace
from tests.support.model_server import BadServer, Say, answer
from tests.support.training_data import an_export, own_lines

ITEM, TASK = simulate("cv", "LAMOST", 30, 3), load()["cv"]


def pool(folder: Path, *more) -> Path:
    """Eight approved traces, each of an object of its own, of which every second is a NO."""
    spectra = [replace(a_spectrum(f"{n}.fits"), ra=10.0 + n, dec=5.0) for n in range(8)]
    traces = [(a_trace(s, "NO" if n % 2 else "YES"), s) for n, s in enumerate(spectra)]
    return own_lines(folder / "approved.jsonl", *traces, *more)


def verdicts(chosen) -> list[str]:
    return [candidate.trajectory.answer.verdict for candidate in chosen]


def test_the_choice_is_balanced_and_the_same_for_every_spectrum(tmp_path):
    examples = Examples(pool(tmp_path), 4, 24)
    chosen = examples.chosen("cv", ITEM)
    assert verdicts(chosen) in (["YES", "NO"] * 2, ["NO", "YES"] * 2)
    assert examples.chosen("cv", simulate("wd", "SDSS", 10, 1)) == chosen
    assert examples.chosen("wd", ITEM) == ()
    again = pickle.loads(pickle.dumps(examples))
    assert [c.key for c in again.chosen("cv", ITEM)] == [c.key for c in chosen]
    assert again.settings() == examples.settings() != Examples(tmp_path / "approved.jsonl", 3, 24).settings()
    assert len(Examples(tmp_path / "approved.jsonl", 3, 24).chosen("cv", ITEM)) == 3


def test_an_example_of_the_same_object_gives_way_to_the_next_with_the_same_answer(tmp_path):
    examples = Examples(pool(tmp_path), 4, 24)
    usual = examples.chosen("cv", ITEM)
    for place, left in enumerate(usual):
        same = left.spectrum
        another_night = replace(ITEM, name="other.fits", ra=same.ra, dec=same.dec + 0.5 / 3600)
        renamed = replace(ITEM, name=same.name + ".gz")
        for item in (same, another_night, renamed):
            chosen = examples.chosen("cv", item)
            assert left not in chosen
            assert verdicts(chosen) == verdicts(usual)
            assert [c for c in usual if c not in chosen] == [usual[place]]
            assert examples.has_object_of(item)
    assert not examples.has_object_of(ITEM)


def test_what_gives_the_label_away_or_lacks_its_pictures_is_left_out_and_said(tmp_path):
    spectrum = replace(a_spectrum("told.fits"), ra=50.0, dec=0.0)
    trace = a_trace(spectrum)
    think, *rest = trace.steps
    told = trace.with_steps((replace(think, text="As the ground truth is YES, Hα."), *rest))
    bare = a_trace(a_spectrum("bare.fits"), "NO")
    wrong = replace(a_trace(a_spectrum("wrong.fits"), "NO"), label="YES")
    examples = Examples(own_lines(tmp_path / "x.jsonl", (told, spectrum), (bare, None), (wrong, None)), 4, 24)
    assert examples.chosen("cv", ITEM) == ()
    assert {name: why[:24] for name, why in examples.left_out.items()} == {
        "told.fits": "its text reveals that th",
        "bare.fits": "the picture of the full ",
        "wrong.fits": "its answer is not its la",
    }
    # A trace with more pictures than its share of the budget is not used.
    assert Examples(pool(tmp_path), 4, 4).candidates == ()
    with pytest.raises(PolicyError, match="no complete export"):
        Examples(tmp_path)


def test_a_model_sees_both_tools_and_the_examples_of_an_export(tmp_path):
    examples = Examples(an_export(tmp_path), 2, 24)
    measuring = {"name": "measure", "arguments": '{"feature": "Hα"}'}
    call = {"index": 0, "id": "c", "type": "function", "function": measuring}

    def talking(body):
        measured = any("Hα at 6564.6" in str(message["content"]) for message in body["messages"])
        return Say(answer("YES")) if measured else Say("Hα.", deltas=[{"tool_calls": [call]}], finish="tool_calls")

    with BadServer(talking, models=["m"]) as server:
        endpoint = Endpoint(server.url, "m")
        plain = Native(endpoint)
        list(inspect(ITEM, TASK, plain))
        policy = Native(endpoint, measure=True, examples=examples)
        trace = list(inspect(ITEM, TASK, policy))[-1].trajectory
        first, shown = server.chats[0].body, server.chats[-1].body
    assert first["tools"] == [TOOL_SCHEMA]
    assert shown["tools"] == [TOOL_SCHEMA, MEASURE_SCHEMA]
    assert [zoom.tool for zoom in trace.zooms] == ["measure"]
    assert trace.faults == ()
    roles = [message["role"] for message in shown["messages"]]
    # Of each example: the question, a zoom with its picture, a refused zoom, the answer.
    example = ["user", "assistant", "tool", "user", "assistant", "tool", "assistant"]
    assert roles == ["system", *example * 2, "user", "assistant", "tool"]
    ids = [m["tool_call_id"] for m in shown["messages"] if m["role"] == "tool"]
    assert len(set(ids)) == len(ids) == 5
    texts = json.dumps(shown["messages"], ensure_ascii=False)
    assert texts.count("data:image/png;base64,") == 2 * 2 + 1
    # The text is the revised one.
    assert texts.count("Begin with Hα at 6563 Å.") == 2
    settings = trace.drafter.settings
    assert {"measure": True, **examples.settings()}.items() <= settings.items()
    assert not any("measure" in name or "example" in name for name in plain.drafter.settings)


def test_a_published_checkpoint_gets_neither(tmp_path):
    server = Server(key="mine", url="http://127.0.0.1:9/v1", model="runs-sft")
    own = replace(Weights("x"), model="my-model")
    roster = Roster([server, server.model_copy(update={"key": "spec-o3", "model": None})], own)
    for key in ("mine", "local"):
        assert roster.policy(key, measure=True).drafter.settings["measure"] is True
        assert "measure" not in roster.policy(key).drafter.settings
    named = Roster([server.model_copy(update={"model": "Maxwell-Jia/spec-o3-7b", "measure": True})])
    for refusing, key in ((roster, "spec-o3"), (named, "mine"), (roster, "baseline")):
        with pytest.raises(PolicyError, match="cannot be offered the measure tool"):
            refusing.policy(key, measure=None if refusing is named else True)
    with pytest.raises(PolicyError, match="takes no examples"):
        roster.policy("mine", examples=Examples(pool(tmp_path)))
