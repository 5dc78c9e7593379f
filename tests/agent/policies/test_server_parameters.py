"""What a server does not take is left out of what it is asked, once and for all."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from agent.conversation import PolicyError
from agent.policies.openai.endpoint import Endpoint
from agent.policies.sampling import Sampling
from tests.support.asking import text, turn
from tests.support.bad_server import BadServer, Say, Status, problem


def refuses(name: str, message: str):
    """A server that refuses requests with the parameter ``name``."""

    def behaviour(body):
        return problem(400, message, "unsupported_parameter", name) if name in body else Say("Yes.")

    return behaviour


def test_a_parameter_that_is_not_taken_is_left_out_and_that_is_said_once():
    message = "Unsupported value: 'temperature' does not support 0 with this model."
    with BadServer(refuses("temperature", message)) as server:
        endpoint = Endpoint(server.url, "spec-o3")
        first, second = turn(endpoint), turn(endpoint)
    assert [delta.remark for delta in first if delta.remark] == [
        "the server does not take temperature: it was left out"
    ]
    assert [delta.remark for delta in second if delta.remark] == []
    assert len(server.chats) == 3
    assert endpoint.left_out == ("temperature",)


def test_max_tokens_goes_under_its_newer_name_without_a_word():
    message = "Unsupported parameter: 'max_tokens' is not supported with this model."
    with BadServer(refuses("max_tokens", message)) as server:
        endpoint = Endpoint(server.url, "spec-o3")
        assert [delta.remark for delta in turn(endpoint) if delta.remark] == []
    assert server.chats[1].body["max_completion_tokens"] == 2048
    assert endpoint.left_out == ()


def test_a_parameter_is_found_in_the_words_of_a_server_that_does_not_name_it():
    def behaviour(body):
        detail = [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]
        return Status(422, {"detail": detail}) if "seed" in body else Say("Yes.")

    with BadServer(behaviour) as server:
        endpoint = Endpoint(server.url, "spec-o3")
        assert text(turn(endpoint, Sampling(seed=1))) == "Yes."
    assert endpoint.left_out == ("seed",)


def test_many_threads_learn_what_is_not_taken_and_one_says_so():
    with BadServer(refuses("top_p", "unknown parameter top_p")) as server:
        endpoint = Endpoint(server.url, "spec-o3")
        with ThreadPoolExecutor(8) as pool:
            turns = list(pool.map(lambda _: turn(endpoint), range(24)))
    assert [text(deltas) for deltas in turns] == ["Yes."] * 24
    assert len([delta for deltas in turns for delta in deltas if delta.remark]) == 1


def test_a_server_that_takes_nothing_is_not_asked_for_ever():
    nothing = problem(400, "unsupported: temperature top_p max_tokens")
    with BadServer([nothing]) as server, pytest.raises(PolicyError, match=r"refused the request \(400\)"):
        turn(Endpoint(server.url, "spec-o3"))
    assert len(server.chats) == 4  # once for each that was named, and once with what is left
