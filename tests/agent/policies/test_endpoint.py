"""A model server: streamed from, let go of at any moment, and tried again."""

import asyncio
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.conversation import PolicyError, Stop, Usage
from agent.policies.openai.client import connections
from agent.policies.openai.endpoint import Delta, Endpoint, Patience
from agent.policies.openai.errors import retry_after
from agent.policies.openai.stream import CallPiece, ServerEvents
from agent.policies.sampling import Sampling
from tests.support.asking import HASTY, KEY, MESSAGES, text, turn
from tests.support.bad_server import DONE, BadServer, Cut, Endless, Raw, Say, Stall, Status, chunk, talking, usage


def test_text_comes_piece_by_piece_and_the_token_counts_last():
    with BadServer([Say("It is a star.", pieces=5)]) as server:
        deltas = turn(Endpoint(server.url, "spec-o3"))
    assert len([delta for delta in deltas if delta.text]) == 5
    assert text(deltas) == "It is a star."
    assert [delta.finish for delta in deltas if delta.finish] == ["stop"]
    assert deltas[-1] == Delta(usage=Usage(requests=1, prompt=100, cached=40, completion=7))


def test_what_is_sent_is_the_conversation_and_every_setting():
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


def test_without_a_model_the_first_that_is_served_is_asked():
    with BadServer([Say("Yes.")], models=["first", "second"]) as server:
        turn(Endpoint(server.url))
    assert server.chats[0].body["model"] == "first"


def test_tool_calls_come_as_they_are_streamed():
    tools = [{"type": "function", "function": {"name": "look"}}]
    start = {"index": 0, "id": "call_1", "function": {"name": "look", "arguments": ""}}
    rest = {"index": 0, "function": {"arguments": '{"a": 1}'}}
    with BadServer([Say(deltas=[{"tool_calls": [start]}, {"tool_calls": [rest]}])]) as server:
        deltas = list(Endpoint(server.url, "spec-o3").stream(MESSAGES, Sampling(), Stop(), tools))
    calls = [call for delta in deltas for call in delta.calls]
    assert calls == [CallPiece(0, "call_1", "look", ""), CallPiece(0, "", "", '{"a": 1}')]
    assert server.chats[0].body["tools"] == tools


def test_a_server_that_counts_with_every_piece_is_not_added_up():
    events = [usage(100, 0, 1), chunk({"content": "Yes."}), usage(100, 0, 2), chunk({}, "stop"), DONE]
    with BadServer([Raw(events)]) as server:
        counted = [delta.usage for delta in turn(Endpoint(server.url, "spec-o3")) if delta.usage]
    assert counted == [Usage(1, 100, 0, 2)]


def test_a_server_that_does_not_count_was_still_asked_once():
    with BadServer([Say("Yes.", usage=None)]) as server:
        assert turn(Endpoint(server.url, "spec-o3"))[-1] == Delta(usage=Usage(requests=1))


def test_an_answer_needs_either_a_reason_to_end_or_a_mark_of_its_end():
    with BadServer([Say("Yes.", done=False), Say("No.", finish=None)]) as server:
        endpoint = Endpoint(server.url, "spec-o3")
        assert (text(turn(endpoint)), text(turn(endpoint))) == ("Yes.", "No.")


def test_one_connection_serves_the_turns_of_a_conversation():
    with BadServer([Say("Yes.")]) as server:
        endpoint = Endpoint(server.url, "spec-o3")
        endpoint.check()
        for _ in range(3):
            turn(endpoint)
        assert server.connections == 2  # the check asks two of its questions at once


class Lingering:
    """Keeps the connection open after its last word."""

    async def chunks(self, body):
        for event in (chunk({"content": "Yes."}), chunk({}, "stop"), DONE):
            yield event
        await asyncio.Event().wait()


def test_a_server_that_does_not_hang_up_is_hung_up_on():
    with BadServer([Lingering()]) as server:
        assert text(turn(Endpoint(server.url, "spec-o3"))) == "Yes."
        assert server.wait(lambda: server.left == 1)


def test_a_key_of_the_environment_is_for_openai_and_not_for_this_server(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with BadServer([Say("Yes.")]) as server:
        turn(Endpoint(server.url, "spec-o3"))
    assert KEY not in str(server.asked)


def test_a_server_on_this_machine_is_asked_directly_whatever_proxy_the_environment_names(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    connections.cache_clear()
    with BadServer([Say("Yes.")]) as server:
        assert text(turn(Endpoint(server.url, "spec-o3", None, HASTY))) == "Yes."


@given(st.lists(st.text(alphabet="aé😀{}", min_size=1), min_size=1, max_size=6), st.data())
def test_events_are_the_same_however_their_bytes_were_cut(events, data):
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    sent = "".join(f": still here{end}data: {event}{end}{end}" for event in events).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(sent)))))
    decoder = ServerEvents()
    got = [e for lo, hi in zip([0, *cuts], [*cuts, len(sent)], strict=True) for e in decoder.feed(sent[lo:hi])]
    assert got + decoder.end() == events


# Letting go


@pytest.mark.parametrize(
    "answer", [Stall(), Stall("<think>Hm"), Endless(obedient=False), Endless(obedient=False, delay=0.01)]
)
def test_stop_ends_the_turn_and_closes_the_connection(answer):
    with BadServer([answer]) as server:
        stop = Stop()
        deltas = Endpoint(server.url, "spec-o3").stream(MESSAGES, Sampling(), stop)
        with ThreadPoolExecutor() as pool:
            heard = pool.submit(list, deltas)
            assert server.wait(lambda: server.open == 1)
            stop.set()
            heard.result(timeout=10)
        assert server.wait(lambda: server.left == 1 and server.open == 0)


def test_closing_the_generator_closes_the_connection():
    with BadServer([Endless(obedient=False)]) as server:
        deltas = Endpoint(server.url, "spec-o3").stream(MESSAGES, Sampling(), Stop())
        assert next(deltas).text == "and on "
        deltas.close()
        assert server.wait(lambda: server.left == 1 and server.open == 0)


def test_stop_also_ends_the_wait_for_another_try():
    slow = Patience(tries=5, pause=60.0, longest_pause=60.0)
    with BadServer([Status(503)]) as server:
        stop = Stop()
        with ThreadPoolExecutor() as pool:
            heard = pool.submit(list, Endpoint(server.url, "m", None, slow).stream(MESSAGES, Sampling(), stop))
            assert server.wait(lambda: len(server.chats) == 1)
            stop.set()
            assert heard.result(timeout=10) == []


def test_a_stop_that_is_set_already_asks_nobody():
    with BadServer([Say("Yes.")]) as server:
        stop = Stop()
        stop.set()
        assert list(Endpoint(server.url, "spec-o3").stream(MESSAGES, Sampling(), stop)) == []


def test_two_hundred_turns_at_once_all_come_whole():
    with BadServer(talking(["It is a star."], delay=0.01)) as server:
        endpoint = Endpoint(server.url, "spec-o3")
        with ThreadPoolExecutor(200) as pool:
            said = list(pool.map(lambda _: text(turn(endpoint)), range(200)))
    assert said == ["It is a star."] * 200


# Trying again


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_what_may_pass_is_tried_again(status):
    with BadServer([Status(status), Status(status), Say("Yes.")]) as server:
        assert text(turn(Endpoint(server.url, "spec-o3", None, HASTY))) == "Yes."
    assert len(server.chats) == 3


@pytest.mark.parametrize("answer", [Cut(), Raw(), Raw([chunk({"role": "assistant"})])])
def test_a_turn_that_broke_off_before_its_first_word_is_tried_again(answer):
    with BadServer([answer, Say("Yes.")]) as server:
        assert text(turn(Endpoint(server.url, "spec-o3", None, HASTY))) == "Yes."


def test_a_turn_that_has_begun_is_never_tried_again():
    with BadServer([Cut("It is"), Say("Yes.")]) as server:
        deltas = Endpoint(server.url, "spec-o3", None, HASTY).stream(MESSAGES, Sampling(), Stop())
        assert next(deltas).text == "It is"
        with pytest.raises(PolicyError, match="broke off in the middle of its answer"):
            list(deltas)
    assert len(server.chats) == 1


def test_a_server_that_comes_up_late_is_waited_for():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    patient = Patience(tries=50, pause=0.02, longest_pause=0.1)
    late = BadServer([Say("Yes.")], port=port)
    starting = threading.Timer(0.2, late.__enter__)
    starting.start()
    try:
        assert text(turn(Endpoint(f"http://127.0.0.1:{port}/v1", "spec-o3", None, patient))) == "Yes."
    finally:
        starting.join()
        late.close()


def test_a_server_says_how_long_to_wait_and_is_believed_within_reason():
    patience = Patience(pause=0.5, longest_pause=30.0)
    assert patience.before_next(1, told=12.0) == 12.0
    assert patience.before_next(1, told=3600.0) == 30.0
    assert 0.25 <= patience.before_next(1) <= 0.5
    assert 15.0 <= patience.before_next(20) <= 30.0


def test_the_wait_is_told_in_seconds_thousandths_or_as_a_date():
    assert retry_after({"retry-after": "2"}) == 2.0
    assert retry_after({"retry-after-ms": "150", "retry-after": "2"}) == 0.15
    assert retry_after({"retry-after": "Mon, 01 Jan 2024 00:00:00 GMT"}) == 0.0
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({}) is None


def test_retry_after_is_waited_for():
    with BadServer([Status(429, retry_after=0.3), Say("Yes.")]) as server:
        patience = Patience(tries=2, pause=0.001, longest_pause=5.0)
        since = time.monotonic()
        turn(Endpoint(server.url, "spec-o3", None, patience))
        assert time.monotonic() - since >= 0.3
