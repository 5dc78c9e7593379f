"""Peculiarities of traces of OpenTelemetry."""

import json

import pytest

from agent.foreign import ForeignTraceError, read
from agent.foreign.record import Call, Result, Words
from tests.agent.foreign import logs_otel
from tests.agent.foreign.logs_otel import chat, document, pairs, span, write
from tests.agent.foreign.turns import an_example, events

EXAMPLE = an_example(3)


def _text(role, text):
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _call(call_id, name="measure", **arguments):
    return {"type": "tool_call", **({"id": call_id} if call_id else {}), "name": name, "arguments": arguments}


def _response(call_id, response):
    part = {"type": "tool_call_response", "response": response} | ({"id": call_id} if call_id else {})
    return {"role": "tool", "parts": [part]}


def _read(tmp_path, *spans, records=None):
    return list(read(write(tmp_path / "spans.json", [document(list(spans), records)])))


BARE = {"gen_ai.system_instructions": None}
ASKED = _text("user", "Is it one?")
SAID = [Words("user", "Is it one?"), Call("c1", "measure", {"n": 1}), Result("c1", "none"), Words("assistant", "NO")]


def test_a_history_that_is_not_repeated_is_joined_by_the_ids_of_calls(tmp_path):
    (trace,) = _read(
        tmp_path,
        chat(1, [ASKED], [_call("c1", n=1)], "", **BARE),
        chat(2, [_response("c1", "none")], [{"type": "text", "content": "NO"}], "", **BARE),
    )
    assert trace.events == tuple(SAID)


@pytest.mark.parametrize("name", ["otel", "openinference"])
def test_calls_without_ids_are_joined_by_their_order(name, tmp_path):
    path = (logs_otel.examples if name == "otel" else logs_otel.inference_examples)(*EXAMPLE, tmp_path)
    written = path.read_text()
    for n in range(12):
        for quote in ('"', '\\"'):
            written = written.replace(f"{quote}id{quote}: {quote}c{n}{quote}", f"{quote}no{quote}: 0")
        written = written.replace(f'{{"stringValue": "c{n}"}}', '{"stringValue": ""}')
    path.write_text(written)
    (trace,) = read(path)
    assert _without_ids(trace.events) == _without_ids(events(*EXAMPLE))
    calls = [event.id for event in trace.events if isinstance(event, Call)]
    assert [event.call_id for event in trace.events if isinstance(event, Result)] == calls


def _without_ids(given):
    return [(type(e), *(getattr(e, key, "") for key in ("text", "arguments", "pictures", "ok"))) for e in given]


def test_a_history_may_lack_pictures_and_begin_with_a_summary(tmp_path):
    picture = {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "aGVsbG8="}
    first = [ASKED, {"role": "assistant", "parts": [_call("c1", n=1)]}, _response("c1", [picture])]
    stripped = [ASKED, {"role": "assistant", "parts": [_call("c1", n=1)]}, _response("c1", "[picture removed]")]
    (trace,) = _read(
        tmp_path,
        chat(1, first, [_call("c2", n=2)], **BARE),
        chat(2, [*stripped, _text("user", "and?")], [{"type": "text", "content": t} for t in ("a", " b")], **BARE),
        chat(3, [_text("user", "Summary: ..."), _text("assistant", "a\nb"), _text("user", "so?")], [], **BARE),
        span("00", "", {"gen_ai.operation.name": "invoke_agent"}),
    )
    assert trace.events == (
        *(SAID[0], SAID[1], Result("c1", "", (b"hello",)), Call("c2", "measure", {"n": 2})),
        *(Words("user", "and?"), Words("assistant", "a"), Words("assistant", " b")),
        *(Words("user", "Summary: ..."), Words("user", "so?")),
    )


def test_an_agent_within_an_agent_is_a_run_of_its_own(tmp_path):
    outer = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "outer"}
    inner = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "inner", "gen_ai.agent.version": "2"}
    traces = _read(
        tmp_path,
        span("00", "", outer),
        chat(1, [ASKED], [_call("c1", n=1)], "00", **BARE),
        span("02", "00", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.id": "c1"}),
        span("03", "02", inner),
        chat(4, [_text("user", "measure")], [{"type": "text", "content": "none"}], "03", **BARE),
        chat(5, [ASKED, _response("c1", "none")], [{"type": "text", "content": "NO"}], "00", **BARE),
    )
    assert [trace.agent for trace in traces] == ["outer", "inner 2"]
    assert traces[0].events == tuple(SAID)
    assert traces[1].events == (Words("user", "measure"), Words("assistant", "none"))


def test_messages_in_a_log_record_are_read(tmp_path):
    model = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    details = {"gen_ai.input.messages": [ASKED], "gen_ai.output.messages": [_text("assistant", "NO")]}
    name = "gen_ai.client.inference.operation.details"
    record = {"traceId": logs_otel.TRACE, "spanId": "01", "eventName": name, "attributes": pairs(details)}
    (trace,) = _read(tmp_path, span("01", "", model), records=[record])
    assert (trace.events, trace.model) == ((SAID[0], SAID[3]), "m")


def test_two_conversations_of_a_trace_without_agents_are_two_runs(tmp_path):
    other = _text("user", "And this?")
    first, second = _read(
        tmp_path,
        chat(1, [ASKED], [_call("c1", n=1)], "", **BARE),
        chat(2, [other], [_call("c2", n=2)], "", **BARE),
        chat(3, [ASKED, {"role": "assistant", "parts": [_call("c1", n=1)]}, _response("c1", "none")], [], "", **BARE),
        chat(4, [other, _response("c2", "some")], [{"type": "text", "content": "YES"}], "", **BARE),
    )
    assert first.events == tuple(SAID[:3])
    assert [getattr(event, "text", "") for event in second.events] == ["And this?", "", "some", "YES"]


def test_the_last_result_and_what_failed_are_in_the_spans_of_the_tools(tmp_path):
    result = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "measure", "gen_ai.tool.call.result": "none"}
    (trace,) = _read(
        tmp_path, chat(1, [ASKED], [_call("c1", n=1)], "", **BARE), span("02", "", result, status={"code": 2})
    )
    assert trace.events == (*SAID[:2], Result("c1", "none", ok=False))


def test_what_is_only_named_or_hidden_is_a_fault(tmp_path):
    parts = [
        {"type": "uri", "modality": "image", "uri": "https://example.org/a.png"},
        {"type": "file", "modality": "image", "file_id": "file-1"},
        {"type": "blob", "modality": "audio", "content": "aGVsbG8="},
        {"type": "image_url", "image_url": {"url": "__REDACTED__"}},
        {"type": "blob", "modality": "image", "content": "no base64!"},
        {"type": "newer", "content": "x"},
    ]
    (trace,) = _read(tmp_path, chat(1, [{"role": "user", "parts": parts}, ASKED], [], "", **BARE))
    assert trace.events == (SAID[0],)
    quoted = ["https://example.org/a.png", "file-1", "audio", "__REDACTED__", "no base64!", "newer"]
    assert [name in fault for name, fault in zip(quoted, trace.faults, strict=True)] == [True] * 6


def test_conversations_of_two_traces_are_two_runs_unless_they_say_that_they_are_one(tmp_path):
    first, second = (
        chat(1, [ASKED], [_call("c1", n=1)], "", **BARE),
        chat(2, [ASKED, _response("c1", "none")], [], "", **BARE),
    )
    second["traceId"] = "another"
    assert len(_read(tmp_path, first, second)) == 2
    for data in (first, second):
        data["attributes"] += pairs({"gen_ai.conversation.id": "conv_1"})
    (trace,) = _read(tmp_path, first, second)
    assert trace.events == tuple(SAID[:3])


def test_a_cut_line_is_a_fault_and_no_json_is_refused(tmp_path):
    path = write(tmp_path / "a.jsonl", [document([chat(1, [ASKED], [], "", **BARE)])])
    path.write_text(path.read_text() + '\n{"resourceSpans": [')
    (trace,) = read(path)
    assert (trace.events, len(trace.faults)) == ((SAID[0],), 1)
    path.write_text("no JSON")
    with pytest.raises(ForeignTraceError, match=r"a\.jsonl"):
        list(read(path, "otel"))
    path.write_text(
        json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [{"parentSpanId": "", "attributes": 3}]}]}]})
    )
    assert list(read(path)) == []
