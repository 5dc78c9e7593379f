"""Errors of a model or its server are recorded in the trace: whole inspections, and none raises."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from agent.conversation import Stop
from agent.loop import MAX_CHARACTERS, Ended, inspect
from agent.policies import Sampling
from agent.policies.openai.endpoint import Endpoint, RequestLimits
from agent.policies.spec_o3 import SpecO3
from agent.simulate import simulate
from agent.tasks import load
from agent.trajectory.steps import Think, Zoom
from tests.agent.test_loop import Script
from tests.support.model_server import BadServer, Cut, Endless, Say, Stall, answer, look, problem, talking

SPECTRUM = simulate("cv", "LAMOST", 30, 3)
TASK = load()["cv"]
HASTY = RequestLimits(connect=2.0, first=20.0, between=20.0, tries=2, pause=0.01)
CALL = '{"name": "spectral_visualization_tool", "arguments": {"label": "Hα", "wavelength_range": %s}}'


def inspected(server: BadServer, sampling: Sampling | None = None, max_turns: int = 8) -> Ended:
    policy = SpecO3(Endpoint(server.url, "spec-o3", None, HASTY), sampling)
    *_, last = inspect(SPECTRUM, TASK, policy, max_turns)
    assert isinstance(last, Ended)
    assert last.trajectory.from_json(last.trajectory.to_json()) == last.trajectory
    return last


def ended(*turns: str) -> Ended:
    """How an inspection ends whose model writes these turns, the last again and again."""
    *_, last = inspect(SPECTRUM, TASK, Script(turns))
    assert isinstance(last, Ended)
    return last


def calling(window: str) -> str:
    return f"<think>Look.</think>\n<tool_call>\n{CALL % window}\n</tool_call>"


# Errors of the model


def test_a_call_of_another_tool_gets_an_error_and_the_inspection_continues():
    end = ended(calling("[6400, 6700]").replace("spectral_visualization_tool", "simbad"), answer("NO"))
    zoom = end.trajectory.zooms[0]
    assert (zoom.ok, zoom.picture) == (False, None)
    assert zoom.observation == "Error when executing tool: 'simbad'"
    assert end.trajectory.faults == ("turn 1: a call of 'simbad'",)
    assert end.reason == "answered"


@pytest.mark.parametrize("window", ["[20000, 21000]", "[NaN, 6700]", "[6400]"])
def test_a_window_that_cannot_be_drawn_gets_an_error_and_the_inspection_continues(window):
    end = ended(calling(window), calling("[6400, 6700]"), answer("YES"))
    wrong, right = end.trajectory.zooms
    assert (wrong.ok, right.ok) == (False, True)
    assert wrong.observation.startswith("Error: The specified wavelength range [")
    assert wrong.observation.endswith(".")
    assert window != "[20000, 21000]" or "[20000, 21000] is invalid" in wrong.observation
    assert end.reason == "answered"
    assert end.trajectory.faults == ()


def test_the_model_gets_its_error_as_text_without_a_picture():
    with BadServer(talking([calling("[6700, 6400]"), answer("NO")])) as server:
        inspected(server)
    message = server.chats[1].body["messages"][-1]
    assert [block["type"] for block in message["content"]] == ["text", "text"]
    assert "[6700, 6400] is invalid" in message["content"][1]["text"]


def test_text_without_tags_is_kept_as_a_thought():
    end = ended("This is a cataclysmic variable.")
    assert end.reason == "no call and no answer"
    assert end.trajectory.steps == (Think("s1", "This is a cataclysmic variable."),)
    assert end.trajectory.faults == ("turn 1: no <think> tags",)


def test_an_empty_reply_ends_the_inspection():
    end = ended("")
    assert (end.reason, end.trajectory.steps) == ("no call and no answer", ())
    assert end.usage.requests <= 1


def test_endless_text_of_a_server_without_limit_is_cut_and_the_connection_closed():
    with BadServer([Endless("and on and on " * 50, obedient=False)]) as server:
        end = inspected(server, Sampling(max_tokens=50))
        assert server.wait(lambda: server.left == 1 and server.open == 0)
    assert end.reason == "no call and no answer"
    assert f"turn 1: cut after {MAX_CHARACTERS} characters" in end.trajectory.faults


# Errors of the server


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (Cut("<think>Half a thou"), "broke off in the middle of its answer"),
        (problem(429, "slow down"), "is overloaded (429): slow down."),
    ],
)
def test_a_server_error_ends_the_inspection_and_keeps_the_steps_so_far(behaviour, expected):
    with BadServer([Say(look(6400, 6700)), behaviour]) as server:
        end = inspected(server)
    assert end.reason == "policy failed"
    assert expected in end.detail
    assert [type(step) for step in end.trajectory.steps[:2]] == [Think, Zoom]
    fault = "cut short while it was being written" if isinstance(behaviour, Cut) else "nothing was written"
    assert end.trajectory.faults == (f"turn 2: {fault}",)


def test_a_server_that_hangs_does_not_affect_inspections_with_another():
    stop = Stop()
    hanging = threading.Event()
    with BadServer([Stall("<think>Hm")]) as bad, BadServer(talking()) as good, ThreadPoolExecutor() as pool:

        def wait_for_the_bad_one() -> Ended:
            policy = SpecO3(Endpoint(bad.url, "spec-o3"))
            *_, last = inspect(SPECTRUM, TASK, policy, stop=stop)
            hanging.set()
            return last

        stuck = pool.submit(wait_for_the_bad_one)
        assert bad.wait(lambda: bad.open == 1)
        ends = [inspected(good) for _ in range(3)]
        assert not hanging.is_set()
        stop.set()
        assert stuck.result(timeout=60).reason == "stopped"
    assert [end.trajectory.answer.verdict for end in ends] == ["YES"] * 3


def test_a_server_that_fails_one_inspection_does_not_affect_its_others():
    def behaviour(body):
        return Cut("<think>Hm") if body["seed"] == 3 else talking(delay=0.005)(body)

    with BadServer(behaviour) as server:
        endpoint = Endpoint(server.url, "spec-o3", None, HASTY)

        def reason_of(seed: int) -> str:
            *_, last = inspect(SPECTRUM, TASK, SpecO3(endpoint, Sampling(seed=seed)))
            assert isinstance(last, Ended)
            return last.reason

        with ThreadPoolExecutor(8) as pool:
            reasons = list(pool.map(reason_of, range(8)))
    assert reasons == ["policy failed" if seed == 3 else "answered" for seed in range(8)]
