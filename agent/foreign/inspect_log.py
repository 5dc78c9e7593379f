"""Logs of Inspect (``.eval``, ``.json``): each sample and epoch is a run, and so is each of its sub-agents.

The layout is that of ``inspect_ai.log`` 0.3.285, which need not be installed: an archive of ``header.json`` and
``samples/*.json``, deflated or in Zstandard, or one JSON file.
"""

from __future__ import annotations

import copy
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from agent.foreign.joining import Conversation
from agent.foreign.messages import (
    MOST_EVENTS,
    Messages,
    guarded,
    items,
    json_or_text,
    json_value,
    mapping,
    read_file,
    read_limited,
    text,
)
from agent.foreign.own import KEY
from agent.foreign.record import Call, Event, ForeignTrace, ForeignTraceError, Words
from agent.language import tr
from agent.trajectory import Verdict

_ZSTANDARD = 93
"""The method of compression in APPNOTE.TXT of PKWARE, 4.4.5; Python knows it from 3.14 on."""
_BROKEN = (OSError, ValueError, KeyError, EOFError, RuntimeError, OverflowError, zipfile.BadZipFile, zlib.error)


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file begins as a log of Inspect."""
    if head.startswith(b"PK\x03\x04"):
        return path.suffix == ".eval" or head[30:].startswith((b"_journal/start.json", b"header.json", b"samples/"))
    return head.lstrip()[:1] == b"{" and all(key in head for key in (b'"version"', b'"eval"', b'"task"', b'"created"'))


@guarded
def traces(path: Path) -> Iterator[ForeignTrace]:
    """Yield the samples of a log. :raises ForeignTraceError: it cannot be read"""
    with path.open("rb") as file:
        is_archive = file.read(2) == b"PK"
    if not is_archive:
        log = mapping(json_value(read_file(path), str(path)))
        for sample in items(log.get("samples")):
            yield from _runs(path, mapping(log.get("eval")), mapping(sample))
        return
    try:
        with zipfile.ZipFile(path) as archive:
            members = {member.filename: member for member in archive.infolist()}
            head = next((members[name] for name in ("header.json", "_journal/start.json") if name in members), None)
            evaluation = mapping(mapping(_member(path, archive, head)).get("eval")) if head else {}
            for name, member in members.items():
                if name.startswith("samples/") and name.endswith(".json"):
                    try:
                        sample = mapping(_member(path, archive, member))
                    except ForeignTraceError as error:
                        yield ForeignTrace("inspect", f"{path.name}: {name}", "", "", (), faults=(error.sentence,))
                        continue
                    yield from _runs(path, evaluation, sample)
    except _BROKEN as error:
        if isinstance(error, ForeignTraceError):
            raise
        raise ForeignTraceError(
            tr("{path}: found a damaged archive ({error}), expected a log of Inspect", path=path, error=error)
        ) from None


def _member(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Any:
    """Return the JSON value of a member, unpacked up to the limit whatever size the archive states."""
    where = f"{path}: {member.filename}"
    try:
        if member.compress_type != _ZSTANDARD:
            with archive.open(member) as file:
                data = read_limited(cast("Any", file), where)
        else:
            import pyarrow

            packed = copy.copy(member)
            packed.compress_type, packed.file_size = zipfile.ZIP_STORED, member.compress_size
            packed.CRC = cast("Any", None)  # that of the unpacked bytes
            with archive.open(packed) as file, pyarrow.CompressedInputStream(file, "zstd") as unpacked:
                data = read_limited(unpacked, where)
            if zlib.crc32(data) != member.CRC:
                raise zipfile.BadZipFile(f"CRC-32 of {member.filename}")
    except _BROKEN as error:
        if isinstance(error, ForeignTraceError):
            raise
        raise ForeignTraceError(tr("{where}: damaged ({error})", where=where, error=error)) from None
    return json_value(data, where)


def run_name(path: Path, sample_id: object, epoch: object) -> str:
    """Return the name of the trace of a sample; those of its sub-agents and inspections begin with it."""
    return f"{path.name}: {sample_id!s:.100}, epoch {epoch!s:.20}"


def _runs(path: Path, evaluation: Mapping[str, Any], sample: Mapping[str, Any]) -> Iterator[ForeignTrace]:
    """Yield the run of a sample and those of its sub-agents."""
    old = mapping(sample.get("transcript"))
    attachments = mapping(sample.get("attachments")) or mapping(old.get("content"))
    main = Messages(attachments)
    for message in items(sample.get("messages")):
        main.message(mapping(message))
    agents = _agents(sample, attachments, items(sample.get("events")) or items(old.get("events")))
    texts = {event.text for event in main.events if isinstance(event, Words) and event.role == "assistant"}
    calls = {event.id for event in main.events if isinstance(event, Call)}
    version = text(mapping(evaluation.get("packages")).get("inspect_ai"))
    name = run_name(path, sample.get("id"), sample.get("epoch"))
    runs = [(name, list[Event](main.events), main.faults)] if main.events or not agents else []
    runs += [
        (f"{name}, {agent}" if agent else name, conversation.events, tuple(conversation.faults))
        for agent, conversation in agents
        if not any(
            event.id in calls
            if isinstance(event, Call)
            else isinstance(event, Words) and event.role == "assistant" and event.text in texts
            for event in conversation.events
        )
    ]
    for number, (run, events, faults) in enumerate(runs):
        target = sample.get("target")
        truth = text(target[0] if isinstance(target, list) and len(target) == 1 else target).strip().upper()
        yield ForeignTrace(
            format="inspect",
            name=run,
            agent=" ".join(filter(None, (text(evaluation.get("solver")), "inspect_ai", version))),
            model=text(evaluation.get("model")),
            events=tuple(events),
            label=cast("Verdict", truth) if truth in ("YES", "NO") and number == 0 else None,
            own=mapping(json_or_text(mapping(sample.get("metadata")).get(KEY))) if number == 0 else {},
            faults=faults,
        )


def _agents(sample: Mapping[str, Any], attachments: Mapping[str, Any], events: Any) -> list[tuple[str, Conversation]]:
    """Return the conversations in the events that the sample's messages lack, each with the name of its agent."""
    pool = items(mapping(sample.get("events_data")).get("messages"))
    spans = {text(span.get("id")): span for span in map(mapping, events) if span.get("event") == "span_begin"}
    conversations: dict[str, tuple[str, Conversation]] = {}
    known = {text(mapping(message).get("id")) for message in items(sample.get("messages"))} - {""}
    results = Messages(attachments)
    for event in map(mapping, events):
        if event.get("event") == "tool":
            error = event.get("error")
            results.result(event.get("id"), event.get("result") or mapping(error).get("message"), ok=not error)
        choices = items(mapping(event.get("output")).get("choices"))
        written = mapping(mapping(choices[0]).get("message")) if choices else {}
        if event.get("event") != "model" or text(written.get("id")) in known:
            continue
        agent, kinds = _agent_of(event.get("span_id"), spans)
        if "scorer" in kinds or "scorers" in kinds:
            continue
        _, conversation = conversations.setdefault(text(agent.get("id")), (text(agent.get("name")), Conversation()))
        history, answer = Messages(attachments), Messages(attachments)
        inputs = [mapping(message) for message in items(event.get("input"))]
        for limits in map(items, items(event.get("input_refs"))):
            if len(limits) == 2 and all(isinstance(limit, int) for limit in limits) and len(inputs) < MOST_EVENTS:
                inputs += map(mapping, pool[max(0, limits[0]) : max(0, limits[1])])
        for message in inputs:
            history.message(message)
        answer.message(written)
        conversation.add(history, answer)
    for _, conversation in conversations.values():
        conversation.complete(results)
    return list(conversations.values())


def _agent_of(span: object, spans: Mapping[str, Mapping[str, Any]]) -> tuple[Mapping[str, Any], set[str]]:
    """Return the span of the agent that a span lies in, empty if it lies in none, and the types of spans around it."""
    kinds, agent = set[str](), dict[str, Any]()
    for _ in range(100):
        around = spans.get(text(span), {})
        kinds.add(text(around.get("type")))
        if not agent and around.get("type") == "agent":
            agent = dict(around)
        span = around.get("parent_id")
    return agent, kinds
