"""A Spec-o3 model behind a server, as a policy: requests, streamed text, and the drafter in the trace."""

import threading

import pytest

from agent.conversation import PolicyError, Stop, Usage
from agent.loop import Ended, Text, ToolResult, inspect, run
from agent.policies import Sampling
from agent.policies.openai.endpoint import Endpoint, RequestLimits
from agent.policies.spec_o3 import SpecO3
from agent.simulate import simulate
from agent.tasks import load
from agent.tool import TOOL_BLOCK
from agent.trajectory.steps import Think
from tests.support.model_server import TRAJECTORY, BadServer, Say, Stall, look, problem, talking

SPECTRUM = simulate("cv", "LAMOST", 30, 3)
TASK = load()["cv"]
MODEL = "Maxwell-Jia/spec-o3-7b"


def last(server: BadServer, sampling: Sampling | None = None) -> Ended:
    *_, end = inspect(SPECTRUM, TASK, SpecO3(Endpoint(server.url, MODEL), sampling))
    assert isinstance(end, Ended)
    return end


def test_a_whole_inspection_runs_with_the_server():
    with BadServer(talking(), models=[MODEL]) as server:
        end = last(server)
    assert (end.reason, end.trajectory.answer.verdict) == ("answered", "YES")
    assert [zoom.ok for zoom in end.trajectory.zooms] == [True, True]
    assert end.trajectory.faults == ()
    assert end.usage == Usage(requests=3, prompt=300, cached=120, completion=21)


def test_streamed_text_is_passed_on_unchanged():
    with BadServer(talking(pieces=9), models=[MODEL]) as server:
        events = list(inspect(SPECTRUM, TASK, SpecO3(Endpoint(server.url, MODEL))))
    pieces = [event.text for event in events if isinstance(event, Text) and event.turn == 1]
    assert "".join(pieces) == TRAJECTORY[0]
    assert len(pieces) == 9


def test_each_request_begins_with_the_whole_of_the_one_before():
    with BadServer(talking(), models=[MODEL]) as server:
        last(server)
    first, second, third = (chat.body["messages"] for chat in server.chats)
    assert first[0]["content"][0]["text"].endswith(TOOL_BLOCK)
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert second[2]["content"][0]["text"] == TRAJECTORY[0]
    assert [block["type"] for block in second[3]["content"]] == ["text", "image_url", "text"]
    assert all("tools" not in chat.body for chat in server.chats)


def test_the_trace_names_the_model_its_settings_and_its_server():
    with BadServer(talking(), models=[MODEL]) as server:
        drafter = last(server, Sampling(temperature=1.0, seed=7)).trajectory.drafter
    assert (drafter.kind, drafter.name) == ("model", MODEL)
    expected = {
        "dialect": "spec-o3",
        "temperature": 1.0,
        "top_p": 1.0,
        "max_tokens": 2048,
        "seed": 7,
        "server": "vLLM",
        "server_version": "0.12.0",
        "context": 32768,
    }
    assert expected.items() <= drafter.settings.items()
    assert len(drafter.settings["tool_block_sha256"]) == 64
    assert server.url not in str(drafter)


def test_a_model_that_was_not_named_is_named_in_the_trace():
    with BadServer(talking(), models=[MODEL]) as server:
        assert run(SPECTRUM, TASK, SpecO3(Endpoint(server.url))).drafter.name == MODEL


def test_a_setting_that_the_server_refused_is_not_recorded_as_used():
    def behaviour(body):
        refusal = problem(400, "unsupported", "unsupported_value", "temperature")
        return refusal if "temperature" in body else talking()(body)

    with BadServer(behaviour, models=[MODEL]) as server:
        end = last(server)
    assert end.trajectory.drafter.settings["temperature"] == "left out: not taken by the server"
    assert end.trajectory.faults == ("turn 1: the server does not take temperature: it was left out",)


def test_reasoning_that_the_server_split_off_is_put_back_into_its_tags():
    with BadServer([Say("<answer>\\boxed{NO} Too cool.</answer>", reasoning="TiO bands.")]) as server:
        events = list(inspect(SPECTRUM, TASK, SpecO3(Endpoint(server.url))))
    text = "".join(event.text for event in events if isinstance(event, Text))
    assert text == "<think>TiO bands.</think><answer>\\boxed{NO} Too cool.</answer>"
    assert events[-1].trajectory.faults == ()


@pytest.mark.parametrize(
    ("finish", "expected"),
    [
        ("length", "turn 1: cut at its limit of 300 tokens"),
        ("content_filter", "turn 1: cut by the server's content filter"),
        ("abort", "turn 1: ended by the server: abort"),
    ],
)
def test_an_answer_that_was_cut_is_a_fault(finish, expected):
    with BadServer([Say("<think>It is", finish=finish)], models=[MODEL]) as server:
        faults = last(server, Sampling(max_tokens=300)).trajectory.faults
    assert faults == (expected, "turn 1: <think> not closed")


@pytest.mark.parametrize(("answer", "stream"), [(Stall("<think>Hm"), True), (Stall(), False)])
def test_a_stopped_inspection_frees_the_server_at_once_and_keeps_its_steps(answer, stream):
    with BadServer([Say(look(6400, 6700)), answer], models=[MODEL]) as server:
        stop = Stop()
        events = inspect(SPECTRUM, TASK, SpecO3(Endpoint(server.url, MODEL), stream=stream), stop=stop)
        for event in events:
            if isinstance(event, ToolResult):
                break
        stopping = threading.Thread(target=lambda: server.wait(lambda: server.open == 1) and stop.set())
        stopping.start()
        *_, end = events
        stopping.join()
        assert server.wait(lambda: server.left == 1 and server.open == 0)
    assert isinstance(end, Ended)
    assert (end.reason, end.detail) == ("stopped", "stopped in turn 2")
    assert end.trajectory.steps[0] == Think("s1", "A closer look.")
    assert len(end.trajectory.zooms) == 1


def test_the_trace_is_the_same_whole_and_streamed():
    with BadServer(talking(), models=[MODEL]) as server:
        ends = [
            list(inspect(SPECTRUM, TASK, SpecO3(Endpoint(server.url, MODEL), stream=stream)))[-1]
            for stream in (True, False)
        ]
        assert [chat.body["stream"] for chat in server.chats] == [True] * 3 + [False] * 3
    assert ends[0] == ends[1]
    assert ends[1].usage.requests == 3


def test_without_a_server_a_policy_still_has_its_name():
    with BadServer() as server:
        pass
    policy = SpecO3(Endpoint(server.url, MODEL, None, RequestLimits(tries=1)))
    assert policy.drafter.name == MODEL
    with pytest.raises(PolicyError, match="No server at"):
        run(SPECTRUM, TASK, policy)


# Sampling


def test_samples_of_one_spectrum_have_different_seeds():
    seeds = [Sampling(1.0, seed=40).for_sample(number).seed for number in range(3)]
    assert seeds == [40, 41, 42]
    assert Sampling(seed=2**31 - 1).for_sample(1).seed == 0
    assert Sampling().for_sample(5) == Sampling()


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"temperature": -0.1}, "temperature: found -0.1, expected a number from 0 to 2"),
        ({"temperature": float("nan")}, "temperature: found nan, expected a number from 0 to 2"),
        ({"top_p": 0.0}, "top_p: found 0.0, expected a number above 0, at most 1"),
        ({"max_tokens": 0}, "max_tokens: found 0, expected 1 or more"),
        ({"seed": -1}, "seed: found -1, expected a whole number from 0 to 2147483647"),
    ],
)
def test_a_setting_out_of_range_is_refused(wrong, expected):
    with pytest.raises(ValueError, match=expected):
        Sampling(**wrong)
