"""Whether a server is well, said before it is asked."""

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from agent.conversation import Stop
from agent.policies.openai.endpoint import Endpoint
from agent.policies.openai.errors import unreachable
from agent.policies.openai.health import examine
from agent.policies.sampling import Sampling
from tests.support.asking import KEY, MESSAGES, turn
from tests.support.bad_server import BadServer, Say, Stall


def test_a_server_that_is_well_says_who_it_is_and_how_busy():
    stop = Stop()
    with BadServer([Stall()], models=["Maxwell-Jia/spec-o3-7b"]) as server, ThreadPoolExecutor() as pool:
        waiting = pool.submit(list, Endpoint(server.url, "any").stream(MESSAGES, Sampling(), stop))
        assert server.wait(lambda: server.open == 1)
        health = Endpoint(server.url).check()
        stop.set()
        assert waiting.result(timeout=10) == []
    assert health.ok
    assert health.sentence == (
        "vLLM 0.12.0 serves Maxwell-Jia/spec-o3-7b, 32,768 tokens of context; 1 running, 0 waiting."
    )
    assert (health.server, health.version, health.context) == ("vLLM", "0.12.0", 32768)
    assert (health.running, health.waiting) == (1, 0)


def test_a_model_that_is_not_served_is_found_out_before_it_is_asked():
    with BadServer(models=["a", "b"]) as server:
        health = Endpoint(server.url, "c").check()
    assert (health.ok, health.sentence) == (False, f"{server.url} does not serve c. It serves a, b.")


@pytest.mark.parametrize(
    ("server", "wanted"),
    [
        (
            BadServer(well=False),
            "is no model server: it answered something else. Its address usually ends in /v1.",
        ),
        (BadServer(models=[]), "serves no model."),
        (BadServer(api_key=KEY), "wants an API key, and has none (401)."),
    ],
)
def test_what_is_wrong_with_a_server_is_said(server, wanted):
    with server:
        health = Endpoint(server.url).check()
    assert not health.ok
    assert wanted in health.sentence


def test_no_server_is_said_with_how_to_start_one():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        health = Endpoint(url).check()
    assert health.sentence == f"No server at {url}. Start one: spec-o3 serve --model Maxwell-Jia/spec-o3-3b"


def test_a_server_elsewhere_is_not_told_to_be_started_here():
    said = str(unreachable(ConnectionRefusedError(), "http://gpu.example.org:8000/v1", 5.0))
    assert said.endswith("Is it running, and does a firewall let this machine through?")


def test_a_server_that_never_answers_is_not_waited_for_long():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        health = Endpoint(f"http://127.0.0.1:{silent.getsockname()[1]}/v1").check()
    assert "No answer from" in health.sentence


def test_facts_are_asked_once():
    with BadServer([Say("Yes.")]) as server:
        endpoint = Endpoint(server.url)
        endpoint.check()
        for _ in range(3):
            endpoint.facts()
            turn(endpoint)
    assert [asked.path for asked in server.asked].count("/v1/models") == 1


def test_an_adapter_has_the_context_of_the_model_that_it_adapts():
    cards = [
        {"id": "base", "owned_by": "vllm", "max_model_len": 4096},
        {"id": "first", "owned_by": "vllm", "parent": "base", "max_model_len": None},
    ]

    async def fetch(url: str) -> object:
        return {"data": cards} if url.endswith("/models") else {}

    assert asyncio.run(examine("http://127.0.0.1:1/v1", "first", fetch)).context == 4096
