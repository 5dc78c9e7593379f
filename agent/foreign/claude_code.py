"""Sessions of Claude Code: JSON Lines of records, each of which names the one before it.

What is not on the path from the last message to the first was taken back (a rewound or edited turn) and is left out.
Compaction cuts the path and names the record before the cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agent.foreign.messages import Messages, guarded, items, json_value, mapping, read_file, text
from agent.foreign.record import ForeignTrace, ForeignTraceError
from agent.language import deferred, tr

_KEYS = (b'"parentUuid"', b'"sessionId"', b'"leafUuid"', b'"file-history-snapshot"')
_Record = Mapping[str, Any]


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file begins as a session of Claude Code."""
    return head.lstrip()[:1] == b"{" and b'"type"' in head and any(key in head for key in _KEYS)


@guarded
def traces(path: Path) -> Iterator[ForeignTrace]:
    """Yield the sessions of a file and those of its sub-agents. :raises ForeignTraceError: no line can be read"""
    records, faults = _records(path)
    sessions: dict[tuple[str, str], list[list[_Record]]] = {}
    for root, tree in _trees(records).items():
        agent = text(tree[0].get("agentId")) or (root if tree[0].get("isSidechain") is True else "")
        sessions.setdefault((text(tree[-1].get("sessionId")), agent), []).append(tree)
    for (session, agent), trees in sessions.items():
        messages = Messages()
        models, versions, blocks = dict[str, None](), dict[str, None](), dict[str, list[Any]]()
        for tree in trees:
            for record in _kept(tree, messages):
                _add(messages, record, blocks)
                versions[text(record.get("version"))] = None
                models[text(mapping(record.get("message")).get("model"))] = None
        if blocks:
            yield ForeignTrace(
                format="claude-code",
                name=f"{path.name}: {session:.60}" + (f", {agent:.60}" if agent else ""),
                agent=f"Claude Code {next(filter(None, versions), '')}".strip(),
                model=", ".join(filter(None, models)),
                events=tuple(messages.events),
                faults=(*faults, *messages.faults),
            )


def _records(path: Path) -> tuple[list[_Record], list[str]]:
    """Return the records of conversations, in the order of the file, and what could not be read."""
    records, faults = dict[str, _Record](), list[str]()
    lines = [line for line in read_file(path).splitlines() if line.strip()]
    for number, line in enumerate(lines, start=1):
        try:
            record = mapping(json_value(line, tr("line {number}", number=number)))
        except ForeignTraceError as error:
            faults.append(error.sentence)
            continue
        if text(record.get("uuid")):
            records.setdefault(record["uuid"], record)  # a session that is resumed may repeat its records
    if len(faults) == len(lines):
        raise ForeignTraceError(tr("{path}: found no line of JSON, expected a session of Claude Code", path=path))
    return list(records.values()), faults[:100]


def _before(record: _Record) -> str:
    return text(record.get("parentUuid")) or text(record.get("logicalParentUuid"))


def _trees(records: list[_Record]) -> dict[str, list[_Record]]:
    """Return the records of each agent that hang together, by the id of the first."""
    roots: dict[tuple[bool, str, str], str] = {}
    trees: dict[str, list[_Record]] = {}
    for record in records:
        side = record.get("isSidechain") is True, text(record.get("agentId"))
        root = roots.get((*side, _before(record)), text(record["uuid"]))
        roots[*side, record["uuid"]] = root
        trees.setdefault(root, []).append(record)
    return trees


def _kept(tree: list[_Record], messages: Messages) -> list[_Record]:
    """Return the path to the last message, with what parallel calls have beside it: a path through a tree knows one
    block of an answer, and one result.
    """
    by_id = {record["uuid"]: record for record in tree}
    turns = [record for record in tree if record.get("type") in ("user", "assistant")]
    kept, at = set[str](), turns[-1]["uuid"] if turns else ""
    while at in by_id and at not in kept:
        kept.add(at)
        at = _before(by_id[at])
    answers = {_answer(record) for record in turns if record["uuid"] in kept} - {""}
    kept |= {record["uuid"] for record in turns if _answer(record) in answers}
    calls = {call for record in turns if record["uuid"] in kept for call in _ids(record, "tool_use", "id")}
    for on_path in (True, False):
        for record in turns:
            results = _ids(record, "tool_result", "tool_use_id")
            if (record["uuid"] in kept) is on_path and results & calls:
                kept.add(record["uuid"])
                calls -= results
    left_out = sum(record["uuid"] not in kept for record in turns)
    if left_out:
        messages.fault(deferred("{n} records of turns that were taken back are left out", n=left_out))
    return [record for record in tree if record["uuid"] in kept]


def _answer(record: _Record) -> str:
    """The id of the model's answer that a record has a block of."""
    return text(mapping(record.get("message")).get("id")) if record.get("type") == "assistant" else ""


def _ids(record: _Record, kind: str, key: str) -> set[str]:
    parts = map(mapping, items(mapping(record.get("message")).get("content")))
    return {text(part.get(key)) for part in parts if part.get("type") == kind}


def _add(messages: Messages, record: _Record, blocks: dict[str, list[Any]]) -> None:
    """Add what a record says. ``blocks``: of each answer those before; a record may begin with all of them again."""
    kind, message = record.get("type"), mapping(record.get("message"))
    attachment = mapping(record.get("attachment"))
    if kind == "attachment" and attachment.get("type") == "queued_command":
        messages.content("user", attachment.get("prompt"))
    if kind == "user":
        messages.content("user", message.get("content"))
    if kind == "assistant" and (record.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>"):
        messages.fault(deferred("an error of the model's server stands in the place of an answer"))
    elif kind == "assistant":
        content = [*items(message.get("content"))] or [message.get("content")]
        known = blocks.setdefault(_answer(record) or record["uuid"], [])
        repeats = len(content) > 1 and content[: len(known)] == known
        new = content[len(known) if repeats else 0 :]
        messages.content("assistant", new)
        known += new
