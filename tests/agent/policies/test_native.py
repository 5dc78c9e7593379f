"""The native dialect: tool calls of the server's API; and inspections without the tool."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.conversation import Conversation, Exchange, Piece, Remark, Stop
from agent.loop import Ended, Started, Text, inspect
from agent.policies import Sampling
from agent.policies.baseline.rule import Baseline
from agent.policies.native import (
    MARKS,
    TOOL_USE,
    Guidance,
    Native,
    Reply,
    assistant_message,
    call_text,
    health_of,
    instructions,
    mentions_label,
)
from agent.policies.openai.endpoint import CallPiece, Delta, Endpoint
from agent.policies.spec_o3 import messages
from agent.simulate import simulate
from agent.tasks import load
from agent.tool import TOOL_BLOCK, TOOL_NAME, TOOL_SCHEMA, overview
from agent.tool import call as tool_call
from agent.trajectory import Answer, Drafter, Think, Zoom
from agent.trajectory.tags import parse
from tests.support.model_server import BadServer, Say, Stall, problem

SPECTRUM = simulate("cv", "LAMOST", 30, 3)
TASK = load()["cv"]
MODEL = "gpt-5"
WINDOW = '{"wavelength_range": [6400, 6700],  "label": "Hα"}'
ANSWER = r"<think>It is clear.</think><answer>\boxed{YES} Balmer emission.</answer>"


def streamed_text(*deltas: Delta) -> str:
    reply = Reply()
    return "".join([reply.add(delta) for delta in deltas]) + reply.end()


def call(arguments: str = WINDOW, name: str = TOOL_NAME, index: int = 0, id: str = "a") -> Delta:
    return Delta(calls=(CallPiece(index, id, name, arguments),))


def called(arguments: str = WINDOW) -> str:
    return f'\n<tool_call>\n{{"name": "{TOOL_NAME}", "arguments": {arguments}}}\n</tool_call>'


def test_a_reply_becomes_one_thought_and_its_call():
    assert streamed_text(Delta("Hα first."), call()) == f"<think>Hα first.</think>{called()}"
    text = "\n<think>Hα\nfirst. </think>\n\n"
    assert streamed_text(Delta(text), call()) == text + called()
    assert streamed_text(Delta(ANSWER)) == ANSWER
    assert streamed_text(Delta(reasoning="Hm."), call()) == f"<think>Hm.</think>{called()}"
    both = streamed_text(Delta(reasoning="Hm."), Delta("Hα first."), call())
    assert both == f"<think>Hm.\n\nHα first.</think>{called()}"
    assert streamed_text(Delta(reasoning="Hm."), Delta("\n\n" + ANSWER)) == f"<think>Hm.</think>\n\n{ANSWER}"
    # Some chat templates write <think> themselves, so that the reply begins inside it.
    assert streamed_text(Delta("Hα first.</think>\n\n"), call()) == f"<think>Hα first.</think>\n\n{called()}"
    assert streamed_text(Delta("\n\n"), call()) == called()
    assert streamed_text(Delta(reasoning=" "), Delta(" ")) == ""
    assert streamed_text(call(WINDOW[:5]), call(WINDOW[5:])) == called()


def test_an_answer_without_think_tags_ends_the_thought_before_it():
    assert streamed_text(Delta(r"It is clear.<answer>\boxed{NO} x</answer>")) == (
        r"<think>It is clear.</think><answer>\boxed{NO} x</answer>"
    )
    boxed = streamed_text(Delta(r"It is clear. \boxed{NO} flat"))
    assert boxed == r"<think>It is clear. </think>\boxed{NO} flat"
    assert parse(boxed).answer.verdict == "NO"


def test_an_answer_inside_the_reasoning_is_no_answer():
    reply = Reply()
    text = reply.add(Delta(reasoning=r"I could end with <answer>\boxed{YES}</answer> now.")) + reply.end()
    assert text == r"<think>I could end with ‹answer›\boxed{YES}‹/answer› now.</think>"
    assert reply.spoiled
    assert parse(text).answer is None


def test_several_calls_are_all_written_in_any_order_of_their_pieces():
    by_index = [call(index=0), call('{"wavelength_range":', index=1, id="b"), call(" [1, 2]}", "", 1, "")]
    same_index = [call(id="a"), call('{"wavelength_range": [1, 2]}', id="b")]
    in_turn = [call(WINDOW[:9]), call('{"wavelength_range":', index=1, id="b")]
    in_turn += [call(WINDOW[9:], "", 0, ""), call(" [1, 2]}", "", 1, "")]
    for deltas in (by_index, same_index, in_turn):
        text = streamed_text(*deltas)
        assert text == called() + called('{"wavelength_range": [1, 2]}')
        assert "2 tool calls in one turn: the first was taken" in parse(text).faults


@pytest.mark.parametrize(
    ("arguments", "fault", "read"),
    [
        ("", "a tool call without arguments", {}),
        ("null", "a tool call without arguments", {}),
        ("[6400, 6700]", "a tool call without arguments", {}),
        (json.dumps(WINDOW), "arguments given as text", json.loads(WINDOW)),
        ('{"wavelength_range": [6400, 6700], "label": "Hα', "broken JSON", {"wavelength_range": [6400, 6700]}),
    ],
)
def test_arguments_that_are_no_object_are_left_to_the_parser(arguments, fault, read):
    turn = parse(streamed_text(call(arguments)))
    assert any(fault in found for found in turn.faults)
    assert turn.call.arguments == read


words = st.lists(st.sampled_from([*MARKS, "Hα ", "<", "\\b", "</thin", "é\n", " ", "{YES}"]), max_size=6).map("".join)
runs = st.lists(
    st.builds(Delta, text=words)
    | st.builds(Delta, reasoning=words)
    | st.builds(call, arguments=words, name=st.just(TOOL_NAME), index=st.integers(0, 2), id=st.just("")),
    max_size=6,
)


def split_delta(delta: Delta, at: int) -> list[Delta]:
    """The same delta in two pieces."""
    pieces = []
    for part in (slice(None, at), slice(at, None)):
        calls = tuple(replace(c, arguments=c.arguments[part]) for c in delta.calls)
        pieces.append(Delta(delta.text[part], delta.reasoning[part], calls))
    return pieces


@given(runs, st.lists(st.tuples(st.integers(0, 11), st.integers(0, 12)), max_size=12))
@example([Delta("<think"), Delta(reasoning="x"), Delta(">")], [])
def test_the_text_does_not_depend_on_how_the_stream_is_cut(deltas, cuts):
    whole = streamed_text(*deltas)
    pieces = list(deltas)
    for which, at in cuts:
        if which < len(pieces):
            pieces[which : which + 1] = split_delta(pieces[which], at)
    assert streamed_text(*pieces) == whole


@given(words)
def test_no_text_is_lost_and_at_most_one_pair_of_tags_is_added(text):
    written = streamed_text(Delta(text))
    bare = [version.replace("<think>", "").replace("</think>", "").strip() for version in (written, text)]
    assert bare[0] == bare[1]
    assert written.count("<think>") - text.count("<think>") in (0, 1)
    assert written.count("</think>") - text.count("</think>") in (0, 1)


def test_a_turn_becomes_its_original_message_with_the_executed_call():
    message = assistant_message(f"<think>Hα first.</think>{called()}", "call00001")
    assert message["content"] == "<think>Hα first.</think>"
    (tool_call,) = message["tool_calls"]
    assert tool_call == {"id": "call00001", "type": "function", "function": {"name": TOOL_NAME, "arguments": WINDOW}}
    text = streamed_text(call("{{{"), call(index=1, id="b"), call('{"wavelength_range": [1, 2]}', index=2, id="c"))
    (tool_call,) = assistant_message(text, "x")["tool_calls"]
    assert tool_call["function"]["arguments"] == WINDOW


@pytest.mark.parametrize(
    "text",
    [
        streamed_text(call('{"wavelength_range": [6400, 6700], "label": "Hα')),
        streamed_text(call('{"wavelength_range": [NaN, 6700]}')),
        streamed_text(call("")),
        streamed_text(call('{"label": "</tool_call>", "wavelength_range": [6400, 6700]}')),
        f'<tool_call>{{"name": "no such tool!", "arguments": {WINDOW}}}</tool_call>',
        f'{{"name": "{TOOL_NAME}", "arguments": {WINDOW}}}',
    ],
)
def test_an_api_accepts_the_message_of_any_call(text):
    """Servers refuse a conversation whose earlier arguments are no JSON object."""
    function = assistant_message(text, "x")["tool_calls"][0]["function"]
    assert json.loads(function["arguments"], parse_constant=pytest.fail) == parse(text).call.arguments
    assert function["name"].replace("_", "").isalnum()


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=9), max_size=3))
def test_a_written_call_reads_back_unchanged(arguments):
    written = json.dumps(arguments)
    found = parse(call_text(TOOL_NAME, written)).call
    assert found is not None
    function = assistant_message(call_text(TOOL_NAME, written), "x")["tool_calls"][0]["function"]
    assert json.loads(function["arguments"]) == found.arguments


def talking(request) -> Say:
    """Two zooms, then the answer, as a GPT-class server streams them."""
    turn = sum(message["role"] == "assistant" for message in request["messages"])
    if turn == 2:
        return Say(ANSWER)
    function = {"name": TOOL_NAME, "arguments": ""}
    pieces = [{"index": 0, "id": f"call_{turn}", "type": "function", "function": function}]
    pieces += [{"index": 0, "function": {"arguments": WINDOW[at : at + 7]}} for at in range(0, len(WINDOW), 7)]
    thought = {"content": "<think>A closer look.</think>"}
    return Say(deltas=[thought, *({"tool_calls": [piece]} for piece in pieces)], finish="tool_calls")


def last(server: BadServer, guidance: Guidance | None = None, sampling: Sampling | None = None) -> Ended:
    *_, end = inspect(SPECTRUM, TASK, Native(Endpoint(server.url, MODEL), sampling, guidance))
    assert isinstance(end, Ended)
    return end


def test_a_whole_inspection_runs_with_native_calls():
    with BadServer(talking, models=[MODEL]) as server:
        end = last(server)
    assert end.reason == "answered"
    assert [type(step) for step in end.trajectory.steps] == [Think, Zoom, Think, Zoom, Think, Answer]
    assert end.trajectory.zooms[0].arguments == json.loads(WINDOW)
    assert end.trajectory.faults == ()
    assert end.trajectory.system == "You are a helpful assistant."
    assert end.usage.requests == 3


def test_the_trace_is_the_same_whole_and_streamed():
    with BadServer(talking, models=[MODEL]) as server:
        ends = [
            list(inspect(SPECTRUM, TASK, Native(Endpoint(server.url, MODEL), stream=stream)))[-1]
            for stream in (True, False)
        ]
        assert [chat.body["stream"] for chat in server.chats] == [True] * 3 + [False] * 3
    assert ends[0] == ends[1]


CALL_IN_WORDS = f'{{"name": "{TOOL_NAME}", "arguments": {WINDOW}}}'


def in_words(body) -> Say:
    """A model that writes calls in the form that the instructions describe, if they do."""
    done = sum(message["role"] == "assistant" for message in body["messages"])
    if TOOL_BLOCK not in body["messages"][0]["content"] or done == 2:
        return Say(ANSWER)
    return Say(f"A closer view.\n<tool_call>\n{CALL_IN_WORDS}\n</tool_call>")


@pytest.mark.parametrize("use", ["dropped", "refused"])
def test_a_tool_that_the_model_does_not_see_is_described_in_words(use):
    with BadServer(in_words, models=[MODEL], tools=use) as server:
        endpoint = Endpoint(server.url, MODEL)
        end = list(inspect(SPECTRUM, TASK, Native(endpoint)))[-1]
        list(inspect(SPECTRUM, TASK, Native(endpoint)))
        assert server.probes == 2
        chats = [chat.body for chat in server.chats[:3]]
    assert end.reason == "answered"
    assert [zoom.arguments for zoom in end.trajectory.zooms] == [json.loads(WINDOW)] * 2
    assert end.trajectory.faults == ()
    assert all("tools" not in body for body in chats)
    assert {message["role"] for message in chats[2]["messages"]} == {"system", "user", "assistant"}
    assert "<tool_response>" in json.dumps(chats[2]["messages"][3])
    assert chats[2]["messages"][: len(chats[1]["messages"])] == chats[1]["messages"]
    assert end.trajectory.system == "You are a helpful assistant."
    assert end.trajectory.drafter.settings["tool"] == "described in words"


@pytest.mark.parametrize("use", ["shown", "unknown"])
def test_a_tool_that_the_model_sees_or_may_see_is_not_described(use):
    with BadServer(talking, models=[MODEL], tools=use) as server:
        end = last(server)
        assert all(TOOL_BLOCK not in chat.body["messages"][0]["content"] for chat in server.chats)
        assert all("tools" in chat.body for chat in server.chats)
    assert len(end.trajectory.zooms) == 2
    assert "tool" not in end.trajectory.drafter.settings


def test_a_setting_describes_the_tool_without_a_request_to_find_out():
    with BadServer(in_words, models=[MODEL], tools="unknown") as server:
        end = list(inspect(SPECTRUM, TASK, Native(Endpoint(server.url, MODEL), in_words=True)))[-1]
        assert server.probes == 0
    assert (end.reason, len(end.trajectory.zooms)) == ("answered", 2)


@pytest.mark.parametrize(
    ("use", "words"),
    [
        ("shown", ""),
        ("dropped", "Its chat template drops the tools of a request"),
        ("refused", "It refuses requests with tools"),
        ("unknown", "set tool_in_words = true in servers.toml"),
    ],
)
def test_the_health_says_what_becomes_of_the_tools(use, words):
    with BadServer(models=[MODEL], tools=use) as server:
        endpoint = Endpoint(server.url, MODEL)
        plain, found = endpoint.check(), health_of(endpoint, None)
        assert found.sentence == f"{plain.sentence}{TOOL_USE[use]}"
        assert words in found.sentence
        assert "as configured" in health_of(endpoint, True).sentence
    assert not health_of(endpoint, None).ok


def test_stop_also_ends_the_wait_for_what_becomes_of_the_tools():
    with BadServer([Stall()], models=[MODEL], probe=Stall()) as server:
        stop = Stop()
        stopping = threading.Thread(target=lambda: server.wait(lambda: server.probes == 2) and stop.set())
        stopping.start()
        *_, end = inspect(SPECTRUM, TASK, Native(Endpoint(server.url, MODEL)), stop=stop)
        stopping.join()
    assert end.reason == "stopped"


def test_each_request_begins_with_the_whole_of_the_one_before():
    with BadServer(talking, models=[MODEL]) as server:
        last(server)
    first, second, third = (json.dumps(chat.body["messages"])[:-1] for chat in server.chats)
    assert second.startswith(first)
    assert third.startswith(second)
    assert all(chat.body["tools"] == [TOOL_SCHEMA] for chat in server.chats)
    # The tool's answer is a tool turn, and its picture a user turn.
    system, question, assistant, tool, picture = server.chats[1].body["messages"]
    assert system["content"].endswith(instructions(8))
    assert [block["type"] for block in question["content"]] == ["image_url", "text"]
    assert question["content"][1]["text"] == TASK.prompt
    assert assistant["tool_calls"][0]["id"] == tool["tool_call_id"]
    assert tool["content"] == "Generated spectral visualization focused on wavelength range (6400, 6700) Å for Hα."
    assert (picture["role"], picture["content"][0]["type"]) == ("user", "image_url")


def test_an_error_of_the_tool_has_no_picture():
    seen = tool_call(SPECTRUM, {"wavelength_range": [1, 2]})
    exchange = Exchange(streamed_text(call('{"wavelength_range": [1, 2]}')), seen)
    conversation = Conversation(SPECTRUM, TASK, overview(SPECTRUM), 7, (exchange,))
    messages = Native(Endpoint("http://127.0.0.1:9/v1", MODEL)).messages(conversation)
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool"]
    assert messages[-1]["content"].startswith("Error: The specified wavelength range")


def test_a_given_label_is_in_the_system_turn_and_the_settings_not_in_the_prompt():
    with BadServer(talking, models=[MODEL]) as server:
        plain, labelled, other = last(server), last(server, Guidance("YES")), last(server, Guidance("NO"))
    system = [chat.body["messages"][0]["content"] for chat in server.chats]
    assert "known to be YES" not in system[0]
    assert "known to be YES" in system[3]
    assert labelled.trajectory.prompt == plain.trajectory.prompt
    settings = labelled.trajectory.drafter.settings
    assert settings["label_told"] is True
    assert "label_told" not in plain.trajectory.drafter.settings
    # The hash is of the text without the verdict, so it does not reveal the label.
    assert settings["guidance_sha256"] == other.trajectory.drafter.settings["guidance_sha256"]


def test_a_thought_that_gives_the_label_away_is_a_fault():
    giveaway = Say(ANSWER.replace("It is clear", "As the ground truth is YES, it is clear"))
    with BadServer([giveaway], models=[MODEL]) as server:
        labelled, plain = last(server, Guidance("YES")), last(server)
    assert labelled.trajectory.faults == ("turn 1: reveals that the answer was known: 'ground truth'",)
    assert plain.trajectory.faults == ()


@pytest.mark.parametrize(
    "text",
    [
        "The label says YES.",
        "Ground-truth is a CV.",
        "Since I was told that it is a CV, ...",
        "We've been informed of the class.",
        "As given, this is a CV.",
        "The object is known to be a CV.",
        "This matches the known classification.",
        "I already know that it is one.",
        "The catalogue lists it as CV.",
        "I am supposed to conclude YES.",
    ],
)
def test_mentions_of_the_label_are_found(text):
    assert mentions_label(text)


@pytest.mark.parametrize(
    "text",
    [
        "Hα is in emission, as stated in the guide.",
        "The answer is YES: broad Balmer emission.",
        "This speaks against the class.",
        "The window shows what is known as the Swan bands.",
        "The classification is secure at this S/N.",
        *(statement.text for task in load().values() for statement in task.statements),
    ],
)
def test_ordinary_reasoning_does_not_mention_the_label(text):
    assert mentions_label(text) is None


def test_a_reasoning_model_that_takes_no_temperature_is_called_without_it():
    """As GPT-5 answers: other parameter names, and no control of the sampling."""

    def picky(request):
        if "max_tokens" in request:
            message = (
                "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead."
            )
            return problem(400, message, "unsupported_parameter", "max_tokens")
        if request.get("temperature", 1) != 1:
            message = (
                "Unsupported value: 'temperature' does not support 0 with this model. "
                "Only the default (1) value is supported."
            )
            return problem(400, message, "unsupported_value", "temperature")
        return Say(ANSWER)

    with BadServer(picky, models=[MODEL]) as server:
        end = last(server, sampling=Sampling(max_tokens=900))
    assert end.reason == "answered"
    assert server.chats[-1].body["max_completion_tokens"] == 900
    settings = end.trajectory.drafter.settings
    assert settings["temperature"] == "left out: not taken by the server"
    assert any("temperature" in fault for fault in end.trajectory.faults)


def test_stop_frees_the_servers_slot():
    stop = Stop()
    with BadServer([Stall("Half a thought")], models=[MODEL]) as server:
        events = inspect(SPECTRUM, TASK, Native(Endpoint(server.url, MODEL)), stop=stop)
        next(event for event in events if isinstance(event, Text))
        stop.set()
        *_, end = events
        assert server.wait(lambda: server.left == 1)
    assert end.reason == "stopped"


def test_tags_in_the_reasoning_give_a_remark():
    with BadServer([Say(ANSWER, reasoning="Then <answer>.")], models=[MODEL]) as server:
        policy = Native(Endpoint(server.url, MODEL))
        pieces = list(policy.turn(Conversation(SPECTRUM, TASK, overview(SPECTRUM), 8)))
    assert Remark("tags inside the reasoning, written ‹so›") in pieces


class OneReply:
    """A policy that writes one fixed turn; keeps the conversations it was given."""

    drafter = Drafter("model", "one reply")

    def __init__(self, reply: str) -> None:
        self.reply = reply
        self.seen: list[Conversation] = []

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        self.seen.append(conversation)
        yield self.reply


TOOL_CALL_TURN = '<think>a</think><tool_call>{"name": "spectral_visualization_tool", "arguments": {}}</tool_call>'


def test_without_the_tool_there_is_one_turn_and_no_mention_of_a_tool() -> None:
    policy = OneReply(r"<think>a</think><answer>\boxed{NO} b</answer>")
    started, *_, ended = inspect(SPECTRUM, TASK, policy, max_turns=8, with_tool=False)
    assert isinstance(started, Started)
    assert isinstance(ended, Ended)
    assert started.max_turns == 1
    assert ended.reason == "answered"
    assert ended.trajectory.drafter.settings["with_tool"] is False
    (conversation,) = policy.seen
    assert messages(conversation)[0]["content"] == [{"type": "text", "text": conversation.system}]
    native = Native(Endpoint("http://127.0.0.1:9/v1")).messages(conversation)
    assert "no tool" in native[0]["content"]
    assert "call the tool" not in native[0]["content"]


def test_without_the_tool_a_call_is_not_run_and_the_baseline_answers_at_once() -> None:
    *_, ended = inspect(SPECTRUM, TASK, OneReply(TOOL_CALL_TURN), max_turns=8, with_tool=False)
    assert isinstance(ended, Ended)
    assert ended.reason == "turn limit"
    (zoom,) = (step for step in ended.trajectory.steps if isinstance(step, Zoom))
    assert not zoom.ok
    assert zoom.picture is None
    *_, ended = inspect(SPECTRUM, TASK, Baseline(), with_tool=False)
    assert isinstance(ended, Ended)
    assert ended.reason == "answered"
    assert not ended.trajectory.zooms
