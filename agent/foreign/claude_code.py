"""Sessions of Claude Code: JSON Lines of records, each of which names the one before it.

What is not on the path from the last message to the first was taken back (a rewound or edited turn) and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agent.foreign.messages import Messages, items, json_rows, mapping, text
from agent.foreign.record import ForeignTrace
from agent.language import deferred

_KEYS = (b'"parentUuid"', b'"sessionId"', b'"leafUuid"', b'"file-history-snapshot"')
_Record = Mapping[str, Any]


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file begins as a session of Claude Code."""
    return head.lstrip()[:1] == b"{" and b'"type"' in head and any(key in head for key in _KEYS)


def traces(path: Path) -> Iterator[ForeignTrace]:
    """Yield the sessions of a file and those of its sub-agents. :raises ForeignTraceError: most lines are no JSON"""
    rows, faults = json_rows(path)
    records: dict[str, _Record] = {}
    for record in (mapping(row) for _, row in rows):
        if text(record.get("uuid")):
            records.setdefault(record["uuid"], record)  # a session that is resumed may repeat its records
    sessions: dict[tuple[str, str], dict[str, _Record]] = {}
    of_record: dict[str, str] = {}
    for uuid, record in records.items():
        agent = text(record.get("agentId")) or ("sub-agent" if record.get("isSidechain") is True else "")
        of_record[uuid] = of_record.get(text(record.get("parentUuid")), text(record.get("sessionId")))
        sessions.setdefault((of_record[uuid], agent), {})[uuid] = record
    for (session, agent), of_session in sessions.items():
        messages = Messages()
        kept = _kept(of_session, messages)
        models = dict.fromkeys(text(mapping(record.get("message")).get("model")) for record in kept)
        versions = (text(record.get("version")) for record in kept)
        for record in kept:
            _add(messages, record)
        if any(record.get("type") == "assistant" for record in kept):
            yield ForeignTrace(
                format="claude-code",
                name=f"{path.name}: {session:.60}" + (f", {agent:.60}" if agent else ""),
                agent=f"Claude Code {next(filter(None, versions), '')}".strip(),
                model=", ".join(filter(None, models)),
                events=tuple(messages.events),
                faults=(*faults, *messages.faults),
            )


def _kept(records: Mapping[str, _Record], messages: Messages) -> list[_Record]:
    """Return the path to the last message, with what parallel calls have beside it: a path through a tree knows one
    block of an answer, and one result. What was cut by compaction comes before the cut in the file.
    """
    turns = {uuid: record for uuid, record in records.items() if record.get("type") in ("user", "assistant")}
    before = dict(zip(list(records)[1:], records, strict=False))
    kept, at = set[str](), next(reversed(turns), "")
    while at and at not in kept:
        kept.add(at)
        record = records[at]
        names = (text(record.get("parentUuid")), text(record.get("logicalParentUuid")), before.get(at, ""))
        at = next((name for name in names if name in records), "")
    answers = {_answer(turns[uuid]) for uuid in kept & turns.keys()} - {""}
    kept |= {uuid for uuid, record in turns.items() if _answer(record) in answers}
    calls = {call for uuid in kept & turns.keys() for call in _ids(turns[uuid], "tool_use", "id")}
    kept |= {uuid for uuid, record in turns.items() if calls & _ids(record, "tool_result", "tool_use_id")}
    left_out = len(turns.keys() - kept)
    if left_out:
        messages.fault(deferred("{n} records of turns that were taken back are left out", n=left_out))
    return [record for uuid, record in records.items() if uuid in kept]


def _answer(record: _Record) -> str:
    """The id of the model's answer that a record has a block of."""
    return text(mapping(record.get("message")).get("id")) if record.get("type") == "assistant" else ""


def _ids(record: _Record, kind: str, key: str) -> set[str]:
    parts = map(mapping, items(mapping(record.get("message")).get("content")))
    return {text(part.get(key)) for part in parts if part.get("type") == kind}


def _add(messages: Messages, record: _Record) -> None:
    """Add what a record says."""
    kind, message = record.get("type"), mapping(record.get("message"))
    attachment = mapping(record.get("attachment"))
    if kind == "attachment" and attachment.get("type") == "queued_command":
        messages.content("user", attachment.get("prompt"))
    elif kind == "assistant" and (record.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>"):
        messages.fault(deferred("an error of the model's server stands in the place of an answer"))
    elif kind in ("user", "assistant"):
        messages.content("user" if kind == "user" else "assistant", message.get("content"))
