"""Peculiarities of Inspect's logs."""

import json
import zipfile
import zlib

import pytest
from inspect_ai.log import read_eval_log
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ContentImage, ContentText

from agent.foreign import ForeignTraceError, messages, read
from agent.foreign.record import Call, Result, Words
from tests.agent.foreign import logs_inspect
from tests.agent.foreign.turns import an_example, events

EXAMPLE = an_example(3)


@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_answers_of_other_models_are_counted(suffix, tmp_path):
    grade = logs_inspect.model_event([ChatMessageUser(content="Grade it")], ChatMessageAssistant(content="Grade: C"))
    sample = logs_inspect.sample_of(*EXAMPLE)
    changed = sample.model_copy(update={"events": [*sample.events, grade]})
    (trace,) = read(logs_inspect.log_of([changed], tmp_path / f"a{suffix}"))
    assert (trace.events, trace.faults) == (
        events(*EXAMPLE),
        ("1 answers of other models (sub-agents, scorers) are left out",),
    )


def test_each_epoch_is_a_run_with_its_label_and_our_extra_data(tmp_path):
    samples = [
        logs_inspect.sample_of(*EXAMPLE, metadata={"spec_o3": {"task": "cv"}}),
        logs_inspect.sample_of(*EXAMPLE, epoch=2, target=["no"]),
        logs_inspect.sample_of(*EXAMPLE, epoch=3, target="a carbon star"),
    ]
    traces = list(read(logs_inspect.log_of(samples, tmp_path / "a.eval")))
    assert [trace.label for trace in traces] == ["YES", "NO", None]
    assert [trace.own for trace in traces] == [{"task": "cv"}, {}, {}]
    assert len({trace.name for trace in traces}) == 3
    assert (traces[0].agent, traces[0].model) == ("react inspect_ai 0.3.285", "anthropic/claude-x")


def test_a_picture_that_comes_in_a_message_of_the_user_belongs_to_its_result(tmp_path):
    sample = logs_inspect.sample_of(*EXAMPLE)
    tool = next(m for m in sample.messages if m.role == "tool")
    text, picture = tool.content
    shown = ChatMessageUser(content=[picture], tool_call_id=[tool.tool_call_id])
    changed = [m if m is not tool else tool.model_copy(update={"content": [text]}) for m in sample.messages]
    changed.insert(changed.index(next(m for m in changed if m.role == "tool")) + 1, shown)
    (trace,) = read(
        logs_inspect.log_of([sample.model_copy(update={"messages": changed, "events": []})], tmp_path / "a.eval")
    )
    assert trace.events == events(*EXAMPLE)


@pytest.mark.parametrize(
    "address", ["https://example.org/a.png", "/etc/passwd", "file:///a.png", "attachment://none", "<x>"]
)
def test_a_picture_that_is_only_named_is_not_followed(address, tmp_path):
    content = [ContentText(text="this"), ContentImage(image=address)]
    sample = logs_inspect.sample_of(*EXAMPLE, messages=[ChatMessageUser(content=content)])
    (trace,) = read(logs_inspect.log_of([sample.model_copy(update={"events": []})], tmp_path / "a.eval"))
    assert trace.events == (Words("user", "this"),)
    assert [address in fault for fault in trace.faults] == [True]


def _rewritten(path, to, compression=zipfile.ZIP_DEFLATED, **changes):
    """A log as older versions write it, with changed members."""
    log = read_eval_log(str(path))
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(to, "w", compression) as new:
        for name in old.namelist():
            new.writestr(name, changes.get(name.partition("/")[0]) or old.read(name))
    assert log.samples
    return to


def test_a_deflated_log_is_read(tmp_path):
    path = _rewritten(logs_inspect.examples(*EXAMPLE, tmp_path), tmp_path / "old.eval")
    (trace,) = read(path)
    assert trace.events == events(*EXAMPLE)


def test_a_damaged_sample_does_not_hide_the_others(tmp_path):
    samples = [logs_inspect.sample_of(*EXAMPLE, epoch=epoch) for epoch in (1, 2)]
    path = logs_inspect.log_of(samples, tmp_path / "a.eval")
    with zipfile.ZipFile(path) as archive:
        member = next(m for m in archive.infolist() if m.filename.startswith("samples/"))
    data = bytearray(path.read_bytes())
    data[member.header_offset + 200 : member.header_offset + 260] = bytes(60)
    path.write_bytes(data)
    traces = read(path)
    assert next(traces).events == events(*EXAMPLE)
    with pytest.raises(ForeignTraceError, match=member.filename):
        next(traces)


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, 93])
def test_what_unpacks_to_more_than_the_limit_is_not_unpacked(compression, tmp_path, monkeypatch):
    path = _rewritten(
        logs_inspect.examples(*EXAMPLE, tmp_path), tmp_path / "b.eval", compression, samples=b" " * 2**22 + b"{}"
    )
    monkeypatch.setattr(messages, "MOST_BYTES", 2**20)
    with pytest.raises(ForeignTraceError, match="longer than 1 MiB"):
        list(read(path))
    monkeypatch.setattr(messages, "MOST_BYTES", 2**23)
    assert [trace.events for trace in read(path)] == [()]


def test_deep_nesting_and_no_archive_are_refused(tmp_path):
    deep = tmp_path / "deep.json"
    deep.write_text('{"version": 2, "samples": ' + "[" * 100_000 + "]" * 100_000 + "}")
    broken = tmp_path / "a.eval"
    broken.write_bytes(b"PK\x03\x04" + zlib.compress(b"a"))
    for path in (deep, broken):
        with pytest.raises(ForeignTraceError, match=path.name):
            list(read(path, "inspect"))


def test_a_result_of_any_kind_is_kept(tmp_path):
    said = [
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": "f", "arguments": {}}]},
        {"role": "tool", "tool_call_id": "1", "content": "", "error": {"type": "unknown", "message": "it failed"}},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "2", "name": "web", "arguments": "{}", "result": "r"}],
        },
    ]
    path = tmp_path / "a.json"
    log = {"version": 2, "eval": {"task": "t", "created": ""}, "samples": [{"id": 1, "epoch": 1, "messages": said}]}
    path.write_text(json.dumps(log))
    (trace,) = read(path)
    assert trace.events[1:] == (Result("1", "it failed", ok=False), Call("2", "web", {}), Result("2", "r"))
