"""Peculiarities of sessions of Claude Code."""

import pytest

from agent.foreign import ForeignTraceError, read
from agent.foreign.record import Call, Result, Words
from tests.agent.foreign.logs_claude_code import assistant, result, user, write


def _say(text):
    return {"type": "text", "text": text}


def _use(call, **given):
    return {"type": "tool_use", "id": call, "name": "measure", "input": given}


def _read(tmp_path, *rows):
    return list(read(write(tmp_path / "session.jsonl", list(rows))))


def _texts(trace):
    return [
        event.text if isinstance(event, Words) else getattr(event, "call_id", "") or event.id for event in trace.events
    ]


def test_parallel_calls_and_their_results_are_kept(tmp_path):
    (trace,) = _read(
        tmp_path,
        user("u", None, "both"),
        assistant("a1", "u", "m1", _use("c1")),
        assistant("a2", "a1", "m1", _use("c2")),
        user("r1", "a1", [result("c1", "one")]),
        user("r2", "a2", [result("c2", "two")]),
        assistant("a3", "r1", "m2", _say("done")),
    )
    assert trace.events[1:-1] == (
        Call("c1", "measure", {}),
        Call("c2", "measure", {}),
        Result("c1", "one"),
        Result("c2", "two"),
    )
    assert trace.faults == ()


def test_a_turn_that_was_taken_back_is_left_out(tmp_path):
    (trace,) = _read(
        tmp_path,
        user("u1", None, "first"),
        assistant("a1", "u1", "m1", _say("good")),
        user("u2", "a1", "wrong question"),
        assistant("a2", "u2", "m2", _say("wrong answer")),
        user("u3", "a1", "second"),
        assistant("a3", "u3", "m3", _say("right")),
    )
    assert _texts(trace) == ["first", "good", "second", "right"]
    assert "2" in trace.faults[0]


def test_compaction_goes_on_with_the_session(tmp_path):
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": None, "sessionId": "s"}
    rows = [
        user("u1", None, "first", sessionId="s"),
        assistant("a1", "u1", "m1", _say("good"), sessionId="s"),
        boundary | {"logicalParentUuid": "a1"},
        user("u2", "b", "Summary", sessionId="s", isCompactSummary=True),
        assistant("a2", "u2", "m2", _say("on"), sessionId="s"),
    ]
    (trace,) = _read(tmp_path, *rows)
    assert _texts(trace) == ["first", "good", "Summary", "on"]
    rows[2] = boundary  # older versions do not name the record before the cut
    (trace,) = _read(tmp_path, *rows)
    assert _texts(trace) == ["first", "good", "Summary", "on"]


def test_sub_agents_are_apart_in_the_same_file_and_in_one_of_their_own(tmp_path):
    side = {"isSidechain": True}
    rows = [
        user("u1", None, "main"),
        assistant("a1", "u1", "m1", _use("c1")),
        user("x1", None, "task", **side),
        assistant("x2", "x1", "m2", _say("helped"), **side),
        user("r1", "a1", [result("c1", "helped")]),
        assistant("a2", "r1", "m3", _say("done")),
        user("y1", None, "other task", **side, agentId="k1"),
        assistant("y2", "y1", "m4", _say("too"), **side, agentId="k1"),
    ]
    main, first, second = _read(tmp_path, *rows)
    assert (_texts(main), _texts(first), _texts(second)) == (
        ["main", "c1", "c1", "done"],
        ["task", "helped"],
        ["other task", "too"],
    )
    assert (main.agent, main.model) == ("Claude Code 2.1.220", "claude-x")
    (alone,) = _read(tmp_path, *rows[-2:])
    assert alone.name.endswith("k1")


def test_two_sessions_in_a_file_are_two_runs_and_repeated_records_count_once(tmp_path):
    first = [user("u1", None, "a"), assistant("a1", "u1", "m1", _say("b"))]
    second = [user("u2", None, "c", sessionId="t"), assistant("a2", "u2", "m2", _say("d"), sessionId="t")]
    traces = _read(tmp_path, *first, *second, *first)
    assert [_texts(trace) for trace in traces] == [["a", "b"], ["c", "d"]]


def test_pictures_errors_and_hidden_reasoning(tmp_path):
    url = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    inline = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}}
    (trace,) = _read(
        tmp_path,
        {"type": "mode", "mode": "default", "sessionId": "s"},
        user("u1", None, [_say("look"), inline, url]),
        assistant("a0", "u1", "m0", {"type": "thinking", "thinking": "", "signature": "x"}),
        assistant("a1", "a0", "m1", _use("c1")),
        user("u2", "a1", [result("c1", "no such line", ok=False), _say("[Request interrupted by user]")]),
        assistant("a2", "u2", "m2", _say("API Error: 529"), isApiErrorMessage=True),
        {
            "type": "attachment",
            "uuid": "q",
            "parentUuid": "a2",
            "attachment": {"type": "queued_command", "prompt": "go on"},
        },
        assistant("a3", "q", "m3", _say("done")),
    )
    assert trace.events == (
        Words("user", "look", pictures=(b"hello",)),
        Call("c1", "measure", {}),
        Result("c1", "no such line", ok=False),
        Words("user", "[Request interrupted by user]"),
        Words("user", "go on"),
        Words("assistant", "done"),
    )
    assert ["https://example.org/a.png" in fault for fault in trace.faults] == [True, False, False]


def test_a_damaged_line_is_a_fault_and_no_json_is_refused(tmp_path):
    path = write(tmp_path / "s.jsonl", [user("u1", None, "a"), assistant("a1", "u1", "m1", _say("b"))])
    path.write_text(path.read_text() + '{"type": "assis')
    (trace,) = read(path)
    assert (_texts(trace), "3" in trace.faults[0]) == (["a", "b"], True)
    path.write_text('{"type": ')
    with pytest.raises(ForeignTraceError, match=r"s.jsonl"):
        list(read(path, "claude-code"))
