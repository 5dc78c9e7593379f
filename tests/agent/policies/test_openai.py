"""The client of a model server: requests, streams, failures, health and parameters."""

import asyncio
import json
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.conversation import PolicyError, Stop, Usage
from agent.policies import Sampling
from agent.policies.openai.client import ChatApi, connection, connections, run_coroutine
from agent.policies.openai.endpoint import Delta, Endpoint, RequestLimits
from agent.policies.openai.errors import ServerFailure, retry_after, unreachable
from agent.policies.openai.health import check_server
from agent.policies.openai.stream import LONGEST_LINE, MalformedStream, ServerEvents
from tests.support.model_server import (
    DONE,
    HASTY,
    KEY,
    MESSAGES,
    WEB_PAGE,
    BadServer,
    Cut,
    Endless,
    Raw,
    Say,
    Stall,
    Status,
    chunk,
    problem,
    text,
    turn,
    usage,
)


def test_text_is_streamed_and_the_token_counts_come_last():
    with BadServer([Say("It is a star.", pieces=5)]) as server:
        deltas = turn(Endpoint(server.url, "spec-o3"))
    assert len([delta for delta in deltas if delta.text]) == 5
    assert text(deltas) == "It is a star."
    assert [delta.finish for delta in deltas if delta.finish] == ["stop"]
    message = {"role": "assistant", "content": "It is a star."}
    assert deltas[-1] == Delta(usage=Usage(requests=1, prompt=100, cached=40, completion=7), message=message)


def joined(deltas: list[Delta]) -> tuple:
    calls: dict[int, list[str]] = {}
    for call in (call for delta in deltas for call in delta.calls):
        known = calls.setdefault(call.index, ["", "", ""])
        calls[call.index] = [a + b for a, b in zip(known, (call.id, call.name, call.arguments), strict=True)]
    finish = [delta.finish for delta in deltas if delta.finish]
    return text(deltas), "".join(delta.reasoning for delta in deltas), calls, finish, deltas[-1].usage


CALLS = [
    {"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": "look", "arguments": ""}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": '{"a": 1}'}}]},
    {"tool_calls": [{"index": 1, "id": "call_2", "function": {"name": "look", "arguments": "{}"}}]},
]


@pytest.mark.parametrize(
    "answer",
    [
        Say("It is a star.", reasoning="Narrow Hα.", finish="length"),
        Say("Calling.", deltas=CALLS, finish="tool_calls"),
        Say("Half", finish="content_filter", usage=None),
        Say(f"The key is {KEY}, I think.", reasoning=KEY),
    ],
)
def test_a_whole_turn_is_the_same_as_a_streamed_one_and_takes_one_piece(answer):
    with BadServer([answer]) as server:
        endpoint = Endpoint(server.url, "spec-o3", KEY)
        streamed, whole = turn(endpoint), turn(endpoint, whole=True)
        assert [chat.body["stream"] for chat in server.chats] == [True, False]
        assert "stream_options" not in server.chats[1].body
    assert joined(streamed) == joined(whole)
    assert len(whole) == 2 < len(streamed)
    assert KEY not in repr(whole)


@pytest.mark.parametrize(
    "bad",
    [
        problem(400, "This model's maximum context length is 4096 tokens."),
        WEB_PAGE,
        Status(503),
        Cut(),
        Raw([json.dumps({"error": {"message": "out of memory", "code": 500}})]),
    ],
)
def test_an_error_is_worded_the_same_whole_and_streamed(bad):
    found = []
    with BadServer([bad]) as server:
        for whole in (False, True):
            endpoint = Endpoint(server.url, "spec-o3", None, HASTY)
            with pytest.raises(PolicyError) as failed:
                turn(endpoint, whole=whole)
            found.append((type(failed.value), re.sub(r"in \d+ s", "", str(failed.value)), len(server.chats)))
    assert found[1] == (*found[0][:2], 2 * found[0][2])


def test_a_whole_answer_that_is_no_json_is_reported():
    with BadServer([Raw(["{half"])]) as server, pytest.raises(PolicyError, match="its API is not OpenAI-compatible"):
        turn(Endpoint(server.url, "spec-o3"), whole=True)


def test_a_server_that_only_streams_or_never_does_is_read_all_the_same():
    stub = Status(
        200, 'data: {"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}\n\n', kind="text/event-stream"
    )
    with BadServer([stub, Say("Yes."), Say("Yes.")]) as server:
        endpoint = Endpoint(server.url, "spec-o3")
        assert [text(turn(endpoint, whole=True)) for _ in range(2)] == ["Yes.", "Yes."]
        assert [chat.body["stream"] for chat in server.chats] == [False, True, True]
    whole = {"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]}
    with BadServer([Status(200, whole)]) as server:
        assert text(turn(Endpoint(server.url, "spec-o3"))) == "Yes."


def test_a_whole_turn_has_its_own_time_limit():
    with BadServer([Say("Yes."), Stall("Hm")]) as server:
        # The first turn of a process imports openai, which may take longer than the limit.
        turn(Endpoint(server.url, "spec-o3"), whole=True)
        endpoint = Endpoint(server.url, "spec-o3", None, replace(HASTY, first=0.0, whole=0.5))
        with pytest.raises(PolicyError, match=r"had not answered after 0\.5 s"):
            turn(endpoint, whole=True)
        assert server.wait(lambda: server.left == 1 and server.open == 0)


def test_a_broken_whole_answer_is_requested_again():
    with BadServer([Cut("<think>Hm"), Say("Yes.")]) as server:
        assert text(turn(Endpoint(server.url, "spec-o3", None, HASTY), whole=True)) == "Yes."
        assert len(server.chats) == 2


def test_stop_ends_a_whole_turn_and_closes_the_connection():
    with BadServer([Stall("<think>Hm")]) as server:
        stop = Stop()
        with ThreadPoolExecutor() as pool:
            deltas = Endpoint(server.url, "spec-o3").stream(MESSAGES, Sampling(), stop, whole=True)
            received = pool.submit(list, deltas)
            assert server.wait(lambda: server.open == 1)
            stop.set()
            assert received.result(timeout=60) == []
        assert server.wait(lambda: server.left == 1 and server.open == 0)


def test_the_request_holds_the_conversation_and_every_setting():
    with BadServer([Say("Yes.")]) as server:
        turn(Endpoint(server.url, "spec-o3"), Sampling(0.7, 0.9, 300, 5))
    assert server.chats[0].body == {
        "model": "spec-o3",
        "messages": MESSAGES,
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.7,
        "top_p": 0.9,
        "max_tokens": 300,
        "seed": 5,
    }


def test_without_a_model_name_the_first_served_model_is_used():
    with BadServer([Say("Yes.")], models=["first", "second"]) as server:
        turn(Endpoint(server.url))
    assert server.chats[0].body["model"] == "first"


def test_token_counts_are_not_added_up_and_the_request_is_counted_without_them():
    events = [usage(100, 0, 1), chunk({"content": "Yes."}), usage(100, 0, 2), chunk({}, "stop"), DONE]
    with BadServer([Raw(events)]) as server:
        counted = [delta.usage for delta in turn(Endpoint(server.url, "spec-o3")) if delta.usage]
    assert counted == [Usage(1, 100, 0, 2)]
    with BadServer([Say("Yes.", usage=None)]) as server:
        assert turn(Endpoint(server.url, "spec-o3"))[-1] == Delta(
            usage=Usage(requests=1), message={"role": "assistant", "content": "Yes."}
        )


def test_an_answer_needs_a_finish_reason_or_an_end_mark():
    with BadServer([Say("Yes.", done=False), Say("No.", finish=None)]) as server:
        endpoint = Endpoint(server.url, "spec-o3")
        assert (text(turn(endpoint)), text(turn(endpoint))) == ("Yes.", "No.")


def test_turns_at_the_same_time_have_clients_of_their_own_which_later_turns_use_again():
    with connection(True) as first, connection(True) as second:
        assert first is not second
    with suppress(ConnectionError), connection(True) as latest:
        raise ConnectionError
    with connection(True) as again, connection(True) as other:
        assert (latest, again, other) == (first, first, second)


def test_one_connection_serves_the_turns_of_a_conversation():
    with BadServer([Say("Yes.")]) as server:
        endpoint = Endpoint(server.url, "spec-o3")
        endpoint.check()
        for _ in range(3):
            turn(endpoint)
        assert server.connections == 3  # the check has its own, and sends two of its requests at the same time


class NeverCloses:
    """A server that keeps the connection open after its last event."""

    async def chunks(self, body):
        for event in (chunk({"content": "Yes."}), chunk({}, "stop"), DONE):
            yield event
        await asyncio.Event().wait()


def test_the_client_closes_a_connection_that_the_server_keeps_open():
    with BadServer([NeverCloses()]) as server:
        assert text(turn(Endpoint(server.url, "spec-o3"))) == "Yes."
        assert server.wait(lambda: server.left == 1)


def test_the_openai_key_of_the_environment_is_not_sent_to_another_server(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with BadServer([Say("Yes.")]) as server:
        turn(Endpoint(server.url, "spec-o3"))
    assert KEY not in str(server.asked)


def test_a_server_on_this_machine_is_called_without_the_proxy_of_the_environment(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    connections.cache_clear()
    with BadServer([Say("Yes.")]) as server:
        assert text(turn(Endpoint(server.url, "spec-o3", None, HASTY))) == "Yes."


@given(st.lists(st.text(alphabet="aé😀{}", min_size=1), min_size=1, max_size=6), st.data())
def test_events_do_not_depend_on_how_the_bytes_are_split(events, data):
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    sent = "".join(f": still here{end}data: {event}{end}{end}" for event in events).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(sent)))))
    decoder = ServerEvents()
    got = [e for lo, hi in zip([0, *cuts], [*cuts, len(sent)], strict=True) for e in decoder.feed(sent[lo:hi])]
    assert got + decoder.end() == events


# Stopping and closing


@pytest.mark.parametrize("answer", [Stall(), Stall("<think>Hm"), Endless(obedient=False)])
def test_stop_ends_the_turn_and_closes_the_connection(answer):
    with BadServer([answer]) as server:
        stop = Stop()
        deltas = Endpoint(server.url, "spec-o3").stream(MESSAGES, Sampling(), stop)
        with ThreadPoolExecutor() as pool:
            received = pool.submit(list, deltas)
            assert server.wait(lambda: server.open == 1)
            stop.set()
            received.result(timeout=60)
        assert server.wait(lambda: server.left == 1 and server.open == 0)


def test_closing_the_generator_closes_the_connection():
    with BadServer([Endless(obedient=False)]) as server:
        deltas = Endpoint(server.url, "spec-o3").stream(MESSAGES, Sampling(), Stop())
        assert next(deltas).text == "and on "
        deltas.close()
        assert server.wait(lambda: server.left == 1 and server.open == 0)


def test_stop_also_ends_the_wait_before_a_retry():
    slow = RequestLimits(tries=5, pause=60.0, longest_pause=60.0)
    with BadServer([Status(503)]) as server:
        stop = Stop()
        with ThreadPoolExecutor() as pool:
            received = pool.submit(list, Endpoint(server.url, "m", None, slow).stream(MESSAGES, Sampling(), stop))
            assert server.wait(lambda: len(server.chats) == 1)
            stop.set()
            assert received.result(timeout=60) == []


def test_a_stop_that_is_already_set_sends_no_request():
    with BadServer([Say("Yes.")]) as server:
        stop = Stop()
        stop.set()
        assert list(Endpoint(server.url, "spec-o3").stream(MESSAGES, Sampling(), stop)) == []


# Retries


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_temporary_errors_are_retried(status):
    with BadServer([Status(status), Status(status), Say("Yes.")]) as server:
        assert text(turn(Endpoint(server.url, "spec-o3", None, HASTY))) == "Yes."
    assert len(server.chats) == 3


@pytest.mark.parametrize("answer", [Cut(), Raw(), Raw([chunk({"role": "assistant"})])])
def test_a_turn_that_broke_off_before_its_first_text_is_retried(answer):
    with BadServer([answer, Say("Yes.")]) as server:
        assert text(turn(Endpoint(server.url, "spec-o3", None, HASTY))) == "Yes."


def test_a_turn_that_has_begun_is_never_retried():
    with BadServer([Cut("It is"), Say("Yes.")]) as server:
        deltas = Endpoint(server.url, "spec-o3", None, HASTY).stream(MESSAGES, Sampling(), Stop())
        assert next(deltas).text == "It is"
        with pytest.raises(PolicyError, match="broke off in the middle of its answer"):
            list(deltas)
    assert len(server.chats) == 1


def test_the_wait_before_a_retry_is_at_least_that_of_the_server():
    patience = RequestLimits(pause=0.5, longest_pause=30.0)
    assert patience.before_next(1, requested=12.0) == 12.0
    assert patience.before_next(1, requested=3600.0) == 3600.0
    assert 0.25 <= patience.before_next(1) <= 0.5
    assert 15.0 <= patience.before_next(20) <= 30.0
    assert 15.0 <= patience.before_next(5000) <= 30.0
    assert retry_after({"retry-after": "2"}) == 2.0
    assert retry_after({"retry-after-ms": "150", "retry-after": "2"}) == 0.15
    assert retry_after({"retry-after": "Mon, 01 Jan 2024 00:00:00 GMT"}) == 0.0
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({}) is None


def test_a_server_that_wants_a_longer_wait_than_a_turn_has_is_left_with_a_sentence():
    with BadServer([Status(429, retry_after=3600)]) as server, pytest.raises(PolicyError) as raised:
        turn(Endpoint(server.url, "spec-o3"))
    assert "(Tried 1 times in 0 s; the server wants 3600 s before the next try.)" in str(raised.value)


def test_the_client_waits_as_long_as_retry_after():
    with BadServer([Status(429, retry_after=0.3), Say("Yes.")]) as server:
        patience = RequestLimits(tries=2, pause=0.001, longest_pause=5.0)
        since = time.monotonic()
        turn(Endpoint(server.url, "spec-o3", None, patience))
        assert time.monotonic() - since >= 0.3


def failure(*answers, patience: RequestLimits = HASTY) -> str:
    """Return the error message for a server with these answers."""
    with BadServer(answers, api_key=KEY) as server, pytest.raises(PolicyError) as raised:
        turn(Endpoint(server.url, "spec-o3", KEY, patience))
    message = str(raised.value)
    assert KEY not in message
    assert message.endswith((".", ".)"))
    return message.replace(server.url, "URL")


def test_what_is_no_server_is_reported():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        with pytest.raises(PolicyError, match=r"No server at .* Start one: spec-o3 serve .*Tried 3 times"):
            turn(Endpoint(url, "spec-o3", None, HASTY))
    with pytest.raises(PolicyError, match=r"There is no machine named no-such-host\.invalid"):
        # The time to connect includes that to resolve the name.
        turn(Endpoint("http://no-such-host.invalid:8000/v1", "spec-o3", None, replace(HASTY, connect=60.0)))
    with BadServer() as server, pytest.raises(PolicyError, match="No safe connection to https"):
        turn(Endpoint(server.url.replace("http", "https"), "spec-o3", None, HASTY))


def test_silence_is_reported_with_its_length():
    message = failure(Stall(), patience=RequestLimits(first=0.2))
    assert message.startswith("URL had not begun to answer after 0.2 s")
    message = failure(Stall("It is"), patience=RequestLimits(between=0.2))
    assert message.startswith("URL stopped in the middle of its answer: nothing for 0.2 s.")


@pytest.mark.parametrize(
    ("message", "code"),
    [
        # vLLM, messages from 2023 to 2026
        (
            "This model's maximum context length is 4096 tokens. However, you requested 5048 tokens (3000 in "
            "the messages, 2048 in the completion). Please reduce the length of the messages or completion.",
            None,
        ),
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 2048. This model's maximum context length "
            "is 4096 tokens and your request has 3000 input tokens (2048 > 4096 - 3000).",
            None,
        ),
        (
            "This model's maximum context length is 4096 tokens. However, you requested 2048 output tokens "
            "and your prompt contains at least 3000 input tokens, for a total of at least 5048 tokens.",
            None,
        ),
        (
            "The decoder prompt (length 3000) is longer than the maximum model length of 4096. Make sure "
            "that `max_model_len` is no smaller than the number of text tokens plus multimodal tokens.",
            None,
        ),
        # OpenAI
        (
            "This model's maximum context length is 4096 tokens. However, your messages resulted in 3000 "
            "tokens. Please reduce the length of the messages.",
            "context_length_exceeded",
        ),
        (
            "Input tokens exceed the configured limit of 4096 tokens. Your messages resulted in 3000 tokens.",
            "context_length_exceeded",
        ),
        # SGLang
        ("The input (3000 tokens) is longer than the model's context length (4096 tokens).", None),
    ],
)
def test_a_conversation_that_is_too_long(message, code):
    error = failure(problem(400, message, code))
    assert error == (
        "The conversation has grown too long for the model: 3,000 tokens to read and up to 2,048 to write, "
        "of 4,096 it holds. Allow fewer turns or fewer tokens per turn, or serve it with a larger "
        "--max-model-len."
    )


def test_a_conversation_that_is_too_long_without_numbers():
    error = failure(problem(400, "the request exceeds the available context size, try increasing it"))
    assert error.startswith("The conversation has grown too long for the model. Allow fewer turns")


def test_a_key_is_asked_for_but_never_repeated():
    error = failure(problem(401, f"Incorrect API key provided: {KEY}."))
    assert error == "URL rejected the API key (401). servers.toml says where its key is."
    with BadServer(api_key=KEY) as server, pytest.raises(PolicyError, match="needs an API key, and none was sent"):
        turn(Endpoint(server.url, "spec-o3", None, HASTY))
    error = failure(problem(403, f"Project of {KEY} has no access."))
    assert error == "URL does not let this API key use spec-o3 (403): Project of [key] has no access."


def test_a_key_that_the_server_repeats_in_a_whole_answer_is_redacted_by_the_client():
    async def events() -> list[str]:
        body = {"model": "spec-o3", "messages": MESSAGES, "stream": False}
        return [event async for event in ChatApi(server.url, KEY, 10.0).events(body, "session")]

    with BadServer([Status(200, {"choices": [KEY]})], api_key=KEY) as server:
        received = "\n".join(run_coroutine(events()))
    assert KEY not in received
    assert "[key]" in received


def test_a_key_that_the_server_repeats_in_its_list_of_models_is_redacted():
    with BadServer(api_key=KEY, models=(f"for {KEY}",)) as server:
        listed = str(run_coroutine(ChatApi(server.url, KEY, 10.0).get("/models")))
    assert KEY not in listed
    assert "for [key]" in listed


def test_a_line_that_does_not_end_is_refused():
    with pytest.raises(MalformedStream, match=f"a line of more than {LONGEST_LINE} bytes"):
        ServerEvents().feed(b"x" * (LONGEST_LINE + 1))


def test_a_model_that_is_not_served_is_reported_with_those_that_are():
    unknown = problem(404, "The model `x` does not exist.")
    with BadServer([unknown], models=["a", "b"]) as server, pytest.raises(PolicyError) as raised:
        turn(Endpoint(server.url, "x", None, HASTY))
    assert str(raised.value) == f"{server.url} does not serve x. It serves a, b."
    with BadServer(models=["a", "b"]) as server:
        health = Endpoint(server.url, "c").check()
    assert (health.ok, health.sentence) == (False, f"{server.url} does not serve c. It serves a, b.")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Status(413, "<html>Request Entity Too Large</html>"), "more than URL accepts at once (413)"),
        (
            Status(422, {"detail": [{"loc": ["body", "n"], "msg": "bad"}]}),
            "URL refused the request (422): body.n: bad.",
        ),
        (problem(400, "At most 1 image(s) may be provided in one prompt."), "--limit-mm-per-prompt"),
        (problem(400, "spec-o3 is not a multimodal model"), "spec-o3 cannot see pictures"),
        (problem(429, "No money.", "insufficient_quota"), "The account behind the key for URL has no credit left"),
        (Status(429), "URL is overloaded (429): this is a 429"),
        (Status(503, "<html>nginx</html>", kind="text/html"), "URL failed (503): a web page"),
        (WEB_PAGE, "URL answered with a web page: it is no model server."),
        (Status(200, {"choices": []}), "URL sent an answer without a choice"),
        (Status(200, {"error": {"message": "out of memory", "code": 500}}), "URL failed (500): out of memory"),
        (Raw([chunk({"content": "It is"}), '{"choices": [{"delt']), "URL sent something that is not JSON"),
        (Raw([chunk({"content": "It is"}), "[1]"]), "URL sent JSON that is not an object"),
        (Raw(['{"error": {"message": "engine dead", "code": 500}}']), "URL failed (500): engine dead"),
        (Raw(['{"error": {"message": "no such image", "code": 400}}']), "request (400): no such image"),
        (Raw(['{"object": "error", "message": "broken"}']), "URL refused the request (no status): broken"),
        (Raw([chunk({"content": "It is"})]), "URL broke off in the middle of its answer"),
        (Raw(), "URL sent an empty answer"),
        (Raw([DONE]), "URL sent an empty answer"),
        (Cut(), "URL closed the connection without an answer"),
    ],
)
def test_each_failure_is_reported_in_a_sentence(answer, expected):
    assert expected in failure(answer)


def test_the_health_check_reports_the_server_and_its_load():
    stop = Stop()
    with BadServer([Stall()], models=["Maxwell-Jia/spec-o3-7b"]) as server, ThreadPoolExecutor() as pool:
        waiting = pool.submit(list, Endpoint(server.url, "any").stream(MESSAGES, Sampling(), stop))
        assert server.wait(lambda: server.open == 1)
        health = Endpoint(server.url).check()
        stop.set()
        assert waiting.result(timeout=60) == []
    assert health.ok
    assert health.sentence == (
        "vLLM 0.12.0 serves Maxwell-Jia/spec-o3-7b, 32,768 tokens of context; 1 running, 0 waiting."
    )
    assert (health.server, health.version, health.context) == ("vLLM", "0.12.0", 32768)
    assert (health.running, health.waiting) == (1, 0)


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        (BadServer(well=False), "is no model server: it answered something else. Its address usually ends in /v1."),
        (BadServer(models=[]), "serves no model."),
        (BadServer(api_key=KEY), "needs an API key, and none was sent (401)."),
    ],
)
def test_the_health_check_reports_what_is_wrong(server, expected):
    with server:
        health = Endpoint(server.url).check()
    assert not health.ok
    assert expected in health.sentence


def test_for_a_remote_server_no_start_command_is_suggested():
    message = str(unreachable(ConnectionRefusedError(), "http://gpu.example.org:8000/v1", 5.0))
    assert message.endswith("Is it running, and does a firewall let this machine through?")


def test_the_health_check_waits_only_briefly_for_a_silent_server(monkeypatch):
    monkeypatch.setattr("agent.policies.openai.client.INFO_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        health = Endpoint(f"http://127.0.0.1:{silent.getsockname()[1]}/v1").check()
    assert "No answer from" in health.sentence


def test_facts_are_requested_once():
    with BadServer([Say("Yes.")]) as server:
        endpoint = Endpoint(server.url)
        endpoint.check()
        for _ in range(3):
            endpoint.facts()
            turn(endpoint)
    assert [request.path for request in server.asked].count("/v1/models") == 1


def late(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Let so many of the next requests about the server itself have no answer in time."""
    get, left = endpoint._api.get, iter(range(times))

    async def answer(path: str) -> object:
        if next(left, None) is not None:
            raise ServerFailure("No answer.", late=True)
        return await get(path)

    monkeypatch.setattr(endpoint._api, "get", answer)


def test_a_turn_is_requested_again_if_the_server_says_too_late_which_model_it_serves(monkeypatch):
    with BadServer([Say("Yes.")]) as server:
        endpoint = Endpoint(server.url, limits=HASTY)
        late(endpoint, monkeypatch, times=2)
        assert text(turn(endpoint)) == "Yes."
        endpoint = Endpoint(server.url, limits=HASTY)
        late(endpoint, monkeypatch, times=3)
        with pytest.raises(PolicyError, match=r"^No answer\. \(Tried 3 times"):
            turn(endpoint)
        assert len(server.chats) == 1


def test_a_late_answer_changes_no_known_fact(monkeypatch):
    with BadServer([Say("Yes.")]) as server:
        endpoint = Endpoint(server.url)
        known = endpoint.check()
        late(endpoint, monkeypatch, times=1)
        health = endpoint.check()
        assert (health.ok, health.late, endpoint.facts()) == (False, True, known)
        assert text(turn(endpoint)) == "Yes."
    assert [request.path for request in server.asked].count("/v1/models") == 1
    # That there is no server is known, not late.
    assert not endpoint.check().ok
    assert not endpoint.facts().ok


def test_an_adapter_has_the_context_of_its_base_model():
    cards = [
        {"id": "base", "owned_by": "vllm", "max_model_len": 4096},
        {"id": "first", "owned_by": "vllm", "parent": "base", "max_model_len": None},
    ]

    async def fetch(url: str) -> object:
        return {"data": cards} if url.endswith("/models") else {}

    assert asyncio.run(check_server("http://127.0.0.1:1/v1", "first", fetch)).context == 4096


def refuses(name: str, message: str):
    """A server that refuses requests with the parameter ``name``."""

    def behaviour(body):
        return problem(400, message, "unsupported_parameter", name) if name in body else Say("Yes.")

    return behaviour


def test_an_unsupported_parameter_is_left_out_and_remarked_on_once():
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


def test_max_tokens_is_sent_under_its_newer_name_without_a_remark():
    message = "Unsupported parameter: 'max_tokens' is not supported with this model."
    with BadServer(refuses("max_tokens", message)) as server:
        endpoint = Endpoint(server.url, "spec-o3")
        assert [delta.remark for delta in turn(endpoint) if delta.remark] == []
    assert server.chats[1].body["max_completion_tokens"] == 2048
    assert endpoint.left_out == ()


def test_an_unsupported_parameter_is_found_in_the_text_of_an_error():
    def behaviour(body):
        detail = [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]
        return Status(422, {"detail": detail}) if "seed" in body else Say("Yes.")

    with BadServer(behaviour) as server:
        endpoint = Endpoint(server.url, "spec-o3")
        assert text(turn(endpoint, Sampling(seed=1))) == "Yes."
    assert endpoint.left_out == ("seed",)


def test_many_threads_leave_a_parameter_out_with_one_remark():
    with BadServer(refuses("top_p", "unknown parameter top_p")) as server:
        endpoint = Endpoint(server.url, "spec-o3")
        with ThreadPoolExecutor(8) as pool:
            turns = list(pool.map(lambda _: turn(endpoint), range(24)))
    assert [text(deltas) for deltas in turns] == ["Yes."] * 24
    assert len([delta for deltas in turns for delta in deltas if delta.remark]) == 1


def test_a_server_that_supports_no_parameter_is_not_called_for_ever():
    nothing = problem(400, "unsupported: temperature top_p max_tokens")
    with BadServer([nothing]) as server, pytest.raises(PolicyError, match=r"refused the request \(400\)"):
        turn(Endpoint(server.url, "spec-o3"))
    assert len(server.chats) == 4  # once for each named parameter, and once with the rest
