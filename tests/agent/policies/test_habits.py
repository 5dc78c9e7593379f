"""Habits of the servers that people use: each is a small server that refuses what the real one refuses."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from agent.loop import Ended, inspect
from agent.policies import NATIVE, Sampling
from agent.policies.native import Native, health_of
from agent.policies.openai.endpoint import Endpoint, RequestLimits
from agent.policies.openai.errors import ErrorResponse
from agent.policies.openai.probe import NUMBER, QUESTION
from agent.policies.spec_o3 import SpecO3
from agent.simulate import simulate
from agent.tasks import load
from agent.tool import TOOL_NAME
from agent.trajectory import Answer, Zoom
from tests.support.model_server import TRAJECTORY, BadServer, Behaviour, Raw, Status, answer, problem

SPECTRUM = simulate("cv", "LAMOST", 30, 3)
TASK = load()["cv"]
WINDOW = {"wavelength_range": [6400, 6700], "label": "Hα"}
HASTY = RequestLimits(pause=0.001, longest_pause=0.001)
Body = Mapping[str, Any]
Message = dict[str, Any]


def server(behaviour: Callable[[Body], Behaviour], **more: Any) -> BadServer:
    """Return a server that does not say which software it is."""
    return BadServer(behaviour, models=["m"], owner="owner", answers_probes=False, **more)


def said(body: Body, message: Message, finish: str = "stop", prompt: int | None = None) -> Status:
    """Return a whole completion; its prompt tokens are counted from the texts and pictures of the request."""
    tokens = 100 * ("tools" in body) + sum(map(size, body["messages"])) if prompt is None else prompt
    return Status(
        200,
        {
            "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}],
            "usage": {"prompt_tokens": tokens, "completion_tokens": 20},
        },
    )


def size(message: Message, picture: int = 500) -> int:
    content = message.get("content") or ""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return sum(picture if part["type"] == "image_url" else len(part.get("text", "")) // 4 + 4 for part in parts)


def call(**more: Any) -> Message:
    function = {"name": TOOL_NAME, "arguments": json.dumps(WINDOW)}
    return {"id": "call_9", "type": "function", "function": function} | more


def turn(body: Body) -> Message:
    """Return the next turn of an inspection with one zoom, by a native call."""
    if any(message["role"] == "tool" for message in body["messages"]) or not body.get("tools"):
        return {"content": answer("YES")}
    return {"content": "<think>Look.</think>", "tool_calls": [call()]}


def inspected(url: str, sampling: Sampling = NATIVE, stream: bool = False, **more: Any) -> Ended:
    policy = Native(Endpoint(url, "m", limits=HASTY), sampling, stream=stream, **more)
    *_, end = inspect(SPECTRUM, TASK, policy)
    assert isinstance(end, Ended)
    return end


def steps(end: Ended) -> list[type]:
    return [type(step) for step in end.trajectory.steps if not hasattr(step, "text")]


def earlier(body: Body) -> list[Message]:
    return [message for message in body["messages"] if message["role"] == "assistant"]


def gpt5(body: Body) -> Behaviour:
    """OpenAI's reasoning models: another name for the limit, and no answer within a small one."""
    if "max_tokens" in body:
        text = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'."
        return problem(400, text, "unsupported_parameter", "max_tokens")
    if body["max_completion_tokens"] < 500:
        return problem(400, "Could not finish the message because max_tokens or model output limit was reached.")
    if "top_p" in body:
        return problem(400, "Unsupported parameter: 'top_p' is not supported.", "unsupported_parameter", "top_p")
    return said(body, turn(body))


def test_refusals_at_once_lose_no_parameter():
    together = threading.Barrier(4)

    def behaviour(body: Body) -> Behaviour:
        return gpt5(body)

    with server(behaviour) as known:
        endpoint = Endpoint(known.url, "m", limits=HASTY)
        policy = Native(endpoint, NATIVE, stream=False)

        def run(_: int) -> Ended:
            together.wait()
            *_, end = inspect(SPECTRUM, TASK, policy)
            return end

        with ThreadPoolExecutor(4) as pool:
            ends = list(pool.map(run, range(4)))
        limits = {chat.body.get("max_completion_tokens") for chat in known.chats if "max_tokens" not in chat.body}
    assert limits == {1024, NATIVE.max_tokens}
    assert endpoint.left_out == ("top_p",)
    assert len({json.dumps(end.trajectory.drafter.settings, sort_keys=True) for end in ends}) == 1
    assert {end.trajectory.faults for end in ends} == {()}
    assert all(steps(end) == [Zoom, Answer] for end in ends)


def test_a_refusal_of_a_request_that_others_have_bettered_meanwhile_changes_nothing():
    endpoint = Endpoint("http://127.0.0.1:1/v1", "m")
    response = ErrorResponse(400, "Unsupported parameter: max_tokens", "unsupported_parameter", "max_tokens")
    before, sent = endpoint.habits, {"max_tokens": 9, "messages": []}
    for _ in range(2):
        assert endpoint._adapted(response, sent, before, lambda _: None)
    assert endpoint.habits.instead == {"max_tokens": "max_completion_tokens"}


class Responses:
    """A model that takes function tools by the Responses API alone, unless it is told not to reason."""

    def __init__(self, has_route: bool = True) -> None:
        self.has_route = has_route
        self.inputs: list[Body] = []

    def __call__(self, body: Body) -> Behaviour:
        if "input" not in body:
            if body.get("tools") and body.get("reasoning_effort") != "none":
                text = (
                    "Function tools with reasoning_effort are not supported in /v1/chat/completions. Use /v1/responses."
                )
                return problem(400, text, None, "reasoning_effort")
            return said(body, turn(body) if body.get("tools") else {"content": TRAJECTORY[-1]})
        if not self.has_route:
            return problem(404, "Not Found")
        self.inputs.append(body)
        called = [item for item in body["input"] if item.get("type") == "function_call"]
        thought = {"type": "reasoning", "id": "rs_1", "encrypted_content": "SECRET", "summary": []}
        if body.get("tools") and not called:
            item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": TOOL_NAME}
            item |= {"arguments": json.dumps(WINDOW), "status": "completed"}
            text = {"type": "message", "content": [{"type": "output_text", "text": "<think>Look.</think>"}]}
            output = [thought, text, item]
        else:
            output = [thought, {"type": "message", "content": [{"type": "output_text", "text": answer("YES")}]}]
        tokens = 50 + 100 * ("tools" in body) + 1000 * bool(called)
        response = {"object": "response", "status": "completed", "output": output, "error": None}
        response |= {"usage": {"input_tokens": 1000 + tokens, "output_tokens": 9}}
        return Raw(list(map(json.dumps, events(response)))) if body["stream"] else Status(200, response)


def events(response: Body) -> list[Message]:
    """Return the events with which the API streams a response."""
    streamed: list[Message] = [{"type": "response.created", "response": {"status": "in_progress"}}]
    for index, item in enumerate(response["output"]):
        place = {"output_index": index}
        if item["type"] == "function_call":
            streamed.append({"type": "response.output_item.added", "item": item | {"arguments": ""}} | place)
            piece = {"type": "response.function_call_arguments.delta"} | place
            streamed += [piece | {"delta": part} for part in (item["arguments"][:9], item["arguments"][9:])]
        for part in item.get("content", ()):
            streamed.append({"type": "response.output_text.delta", "delta": part["text"]} | place)
        streamed.append({"type": "response.output_item.done", "item": item} | place)
    return [*streamed, {"type": "response.completed", "response": response}]


@pytest.mark.parametrize("stream", [True, False])
def test_function_tools_go_to_the_responses_api_where_only_it_takes_them(stream):
    model = Responses()
    with server(model) as known:
        end = inspected(known.url, replace(NATIVE, reasoning_effort="low"), stream)
        assert {chat.path for chat in known.chats if "input" in chat.body} == {"/v1/responses"}
    assert steps(end) == [Zoom, Answer]
    assert end.trajectory.faults == ()
    assert end.trajectory.zooms[0].arguments == WINDOW
    settings = end.trajectory.drafter.settings
    assert (settings["api"], settings["reasoning_effort"]) == ("responses", "low")
    assert "tool" not in settings
    last = model.inputs[-1]
    assert last["reasoning"] == {"effort": "low"}
    assert not last["store"]
    assert last["max_output_tokens"] == NATIVE.max_tokens
    kinds = [item.get("type") or item["role"] for item in last["input"]]
    assert kinds == ["system", "user", "reasoning", "message", "function_call", "function_call_output", "user"]
    assert last["input"][2]["encrypted_content"] == "SECRET"
    assert last["input"][5]["call_id"] == last["input"][4]["call_id"] == "call_1"
    assert [part["type"] for part in last["input"][6]["content"]] == ["input_image", "input_text"]


def test_without_the_responses_api_the_tool_is_described_in_words():
    with server(Responses(has_route=False)) as known:
        settings = inspected(known.url).trajectory.drafter.settings
    assert (settings["tool"], settings.get("api")) == ("described in words", None)


def test_a_model_that_is_told_not_to_reason_keeps_the_usual_api():
    with server(Responses()) as known:
        end = inspected(known.url, replace(NATIVE, reasoning_effort="none", extra_body={"verbosity": "low"}))
        assert {chat.path for chat in known.chats} == {"/v1/chat/completions"}
        assert all(chat.body["verbosity"] == "low" for chat in known.chats)
    assert steps(end) == [Zoom, Answer]
    assert end.trajectory.drafter.settings["extra_body"] == {"verbosity": "low"}


@pytest.mark.parametrize(
    "fields",
    [
        {"reasoning_content": "I should look."},
        {"reasoning_details": [{"type": "reasoning.encrypted", "data": "abc", "index": 0}]},
        {"tool_calls": [call(extra_content={"google": {"thought_signature": "SIG"}})]},
        {"vendor": {"of": ["its", "own"]}},
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_what_a_server_sent_is_sent_back_whole(fields, stream):
    """Gemini, Kimi, OpenRouter and others refuse a conversation without it."""

    def behaviour(body: Body) -> Behaviour:
        message = turn(body)
        if "tool_calls" in message:
            message |= fields
            if body["stream"]:
                return Raw([json.dumps({"choices": [{"delta": piece}]}) for piece in pieces(message)] + [DONE_EVENT])
        elif any(message.get(name) != value for message in earlier(body) for name, value in fields.items()):
            return problem(400, "something of the earlier turn is missing")
        if body["stream"]:
            return Raw([json.dumps({"choices": [{"delta": message}]}), DONE_EVENT])
        return said(body, message)

    with server(behaviour) as known:
        end = inspected(known.url, stream=stream)
    assert steps(end) == [Zoom, Answer]
    assert end.trajectory.faults == ()


DONE_EVENT = json.dumps({"choices": [{"delta": {}, "finish_reason": "stop"}]})


def pieces(message: Message) -> list[Message]:
    """Return a message as a stream sends it: texts in parts, calls and fields of a server's own once."""
    content = message["content"]
    split = [{"role": "assistant", "content": content[:5]}, {"role": "assistant", "content": content[5:]}]
    for name, value in message.items():
        if name == "tool_calls":
            split.append({name: [value[0] | {"index": 0}]})
        elif isinstance(value, str) and name != "content":
            split += [{name: value[:4]}, {name: value[4:]}]
        elif name != "content":
            split.append({name: value})
    return split


@pytest.mark.parametrize(
    ("refusal", "has"),
    [
        ("Function call is missing a thought_signature in functionCall parts.", "extra_content"),
        ("thinking is enabled but reasoning_content is missing in assistant tool call message", "reasoning_content"),
    ],
)
def test_a_conversation_that_another_model_began_is_continued(refusal, has):
    def behaviour(body: Body) -> Behaviour:
        for message in earlier(body):
            if has not in message and has not in message["tool_calls"][0]:
                return Status(400, [{"error": {"code": 400, "message": refusal, "status": "INVALID_ARGUMENT"}}])
        return said(body, turn(body))

    with server(behaviour) as known:
        policy = Native(Endpoint(known.url, "m", limits=HASTY), stream=False)
        *_, end = inspect(SPECTRUM, TASK, policy, begin=TRAJECTORY[:1])
        thoughts = [message.get("reasoning_content") for message in earlier(known.chats[-1].body)]
    assert steps(end) == [Zoom, Answer]
    assert thoughts == ["A closer look." if has == "reasoning_content" else None]


@pytest.mark.parametrize("refusal", ["Extra inputs are not permitted", "Unknown name: reasoning_content"])
def test_a_server_that_does_not_take_its_own_fields_back_gets_the_plain_turn(refusal):
    def behaviour(body: Body) -> Behaviour:
        if any("reasoning_content" in message for message in earlier(body)):
            return Status(422, {"detail": [{"loc": ["body", "messages", 2], "msg": refusal}]})
        return said(body, turn(body) | {"reasoning_content": "Hm."})

    with server(behaviour) as known:
        assert steps(inspected(known.url)) == [Zoom, Answer]


@pytest.mark.parametrize("place", ["assistant", "tool"])
def test_a_server_that_takes_no_user_turn_after_a_tool_gets_the_picture_elsewhere(place):
    def behaviour(body: Body) -> Behaviour:
        roles = [message["role"] for message in body["messages"]]
        pairs = list(pairwise(roles))
        if ("tool", "user") in pairs or (place == "tool" and ("tool", "assistant") in pairs):
            return Status(400, {"object": "error", "message": "Unexpected role 'user' after role 'tool'"})
        return said(body, turn(body))

    with server(behaviour) as known:
        end = inspected(known.url)
        sizes = [size(message) for message in known.chats[-1].body["messages"]]
    assert steps(end) == [Zoom, Answer]
    assert end.trajectory.drafter.settings["picture_turn"] == place
    assert sum(tokens > 500 for tokens in sizes) == 2


@pytest.mark.parametrize(
    "refusal",
    [
        problem(500, "tools param requires --jinja flag"),
        problem(404, "No endpoints found that support tool use."),
        problem(400, "llava does not support tools"),
        problem(501, "function calling is not supported"),
        Status(422, {"detail": "tools: not permitted"}),
    ],
)
def test_a_server_without_tools_is_told_of_them_in_words(refusal):
    def behaviour(body: Body) -> Behaviour:
        return refusal if "tools" in body else said(body, {"content": TRAJECTORY[min(len(earlier(body)), 2)]})

    with server(behaviour) as known:
        end = inspected(known.url)
        assert health_of(Endpoint(known.url, "m"), None).sentence.endswith(
            "the instructions describe the tool in words."
        )
    assert steps(end) == [Zoom, Zoom, Answer]
    assert end.trajectory.drafter.settings["tool"] == "described in words"


def test_a_server_that_ignores_pictures_gives_no_verdict():
    def behaviour(body: Body) -> Behaviour:
        tokens = sum(size(message, picture=0) for message in body["messages"]) + 100 * ("tools" in body)
        return said(body, turn(body), prompt=tokens)

    with server(behaviour) as known:
        end = inspected(known.url)
        health = health_of(Endpoint(known.url, "m"), None)
    assert (end.reason, end.trajectory.answer) == ("policy failed", None)
    assert "does not see pictures" in end.detail
    assert (health.ok, health.sentence) == (False, end.detail)


@pytest.mark.parametrize("count", [0, 40])
def test_a_server_that_counts_no_pictures_but_reads_them_is_used(count):
    def behaviour(body: Body) -> Behaviour:
        if QUESTION in json.dumps(body["messages"]):
            return said(body, {"content": f"It is {NUMBER}."}, prompt=count and size(body["messages"][0], picture=0))
        return said(body, turn(body), prompt=count and count + 30 * ("tools" in body))

    with server(behaviour) as known:
        assert steps(inspected(known.url)) == [Zoom, Answer]


def test_a_server_whose_counts_follow_nothing_is_used():
    with server(lambda body: said(body, turn(body), prompt=9000 + 9 * ("tools" in body))) as known:
        end = inspected(known.url)
    assert steps(end) == [Zoom, Answer]
    assert end.trajectory.faults == ()


def test_fewer_tokens_than_the_text_has_are_a_fault_of_the_turn():
    with server(lambda body: said(body, turn(body), prompt=60 + 60 * ("tools" in body))) as known:
        end = inspected(known.url)
    assert end.trajectory.faults[0].startswith("turn 1: the server counted 120 tokens, fewer than the text alone has")


@pytest.mark.parametrize(
    "message",
    [
        {"tool_calls": [call(function={"name": TOOL_NAME, "arguments": WINDOW})]},
        {"tool_calls": [call(id="")]},
        {"function_call": {"name": TOOL_NAME, "arguments": json.dumps(WINDOW)}},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Look."}]}], "tool_calls": [call()]},
        {"content": [{"type": "text", "text": "<think>Look.</think>"}], "tool_calls": [call()]},
    ],
)
def test_other_forms_of_a_turn_are_read(message):
    def behaviour(body: Body) -> Behaviour:
        next_turn = turn(body)
        return said(body, message if "tool_calls" in next_turn else next_turn)

    with server(behaviour) as known:
        end = inspected(known.url)
        replies = {m["tool_call_id"] for m in known.chats[-1].body["messages"] if m["role"] == "tool"}
        calls = {m["tool_calls"][0]["id"] for m in earlier(known.chats[-1].body)}
    assert steps(end) == [Zoom, Answer]
    assert end.trajectory.zooms[0].arguments == WINDOW
    assert end.trajectory.faults == ()
    assert replies == calls
    assert "" not in calls


def test_a_refusal_of_a_spec_o3_model_is_a_fault_too():
    with server(lambda body: said(body, {"content": None, "refusal": "I cannot help."})) as known:
        policy = SpecO3(Endpoint(known.url, "m", limits=HASTY), stream=False)
        *_, end = inspect(SPECTRUM, TASK, policy)
    assert end.trajectory.faults == ("turn 1: the model refused: I cannot help.",)


def test_two_calls_with_the_index_0_and_no_id_are_two():
    pieces_of_two = [
        {"tool_calls": [{"index": 0, "function": {"name": TOOL_NAME, "arguments": json.dumps(WINDOW)}}]},
        {"tool_calls": [{"index": 0, "function": {"name": TOOL_NAME, "arguments": "{}"}}]},
    ]

    def behaviour(body: Body) -> Behaviour:
        if not body["stream"]:
            return said(body, turn(body))
        sent = pieces_of_two if "tool_calls" in turn(body) else [turn(body)]
        return Raw([json.dumps({"choices": [{"delta": piece}]}) for piece in sent] + [DONE_EVENT])

    with server(behaviour) as known:
        end = inspected(known.url, stream=True)
    assert end.trajectory.zooms[0].arguments == WINDOW
    assert not any("JSON" in fault for fault in end.trajectory.faults)


@pytest.mark.parametrize(
    ("message", "finish", "fault"),
    [
        ({"content": None, "refusal": "I cannot help."}, "stop", "the model refused: I cannot help."),
        ({"content": [{"type": "refusal", "refusal": "No."}]}, "stop", "the model refused: No."),
        ({"content": ""}, "stop", "the server sent no text and no call (finish reason: stop)"),
        ({"content": ""}, "length", "before it had written anything: allow more, or a lower reasoning effort"),
        ({"content": "<think>Hm.</think>"}, "tool_calls", "the server ended the turn for a tool call, but sent none"),
    ],
)
def test_a_turn_without_text_or_call_says_why(message, finish, fault):
    with server(lambda body: said(body, message, finish)) as known:
        end = inspected(known.url)
    assert end.reason == "no call and no answer"
    assert fault in end.trajectory.faults[0]


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        (
            Status(400, [{"error": {"code": 400, "message": "Bad key name."}}]),
            "refused the request (400): Bad key name.",
        ),
        (Status(400, {"errors": ["first", {"message": "second"}]}), "(400): first; second."),
        (Status(402, {"error": {"message": "This request requires more credits.", "code": 402}}), "has no credit left"),
        (
            Status(
                400, {"error": {"message": "Provider error", "code": 400, "metadata": {"raw": '{"message": "why"}'}}}
            ),
            "(400): Provider error: why.",
        ),
        (
            Status(401, {"error": {"message": "Access denied due to missing subscription key"}}),
            "openai.azure.com/openai/v1",
        ),
        (problem(400, "Could not finish the message because max_tokens was reached"), "--reasoning-effort"),
        (Status(200, {"choices": [], "usage": None}), "sent an answer without a choice"),
    ],
)
def test_the_reason_of_a_refusal_reaches_the_person(refusal, words):
    with server(lambda _: refusal) as known:
        end = inspected(known.url)
    assert end.reason == "policy failed"
    assert words in end.detail


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"reasoning_effort": "Very High"}, "reasoning_effort: found 'Very High'"),
        ({"extra_body": {"model": "x", "seed": 1}}, "extra_body: found model, seed"),
    ],
)
def test_settings_that_cannot_be_sent_are_refused(given, words):
    with pytest.raises(ValueError, match="found") as raised:
        Sampling(**given)
    assert words in str(raised.value)
