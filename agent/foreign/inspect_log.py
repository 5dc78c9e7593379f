"""Logs of Inspect (``.eval``, ``.json``): each sample and epoch is a run.

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

from agent.foreign.messages import Messages, items, json_or_text, json_rows, json_value, mapping, read_limited, text
from agent.foreign.own import KEY
from agent.foreign.record import ForeignTrace, ForeignTraceError
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


def traces(path: Path) -> Iterator[ForeignTrace]:
    """Yield the samples of a log. :raises ForeignTraceError: it cannot be read, or, after the others, a sample of it"""
    with path.open("rb") as file:
        is_archive = file.read(2) == b"PK"
    if not is_archive:
        [(_, row), *_], _ = json_rows(path)
        log = mapping(row)
        for sample in items(log.get("samples")):
            yield _run(path, mapping(log.get("eval")), mapping(sample))
        return
    damaged: list[str] = []
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
                        damaged.append(str(error))
                    else:
                        yield _run(path, evaluation, sample)
    except _BROKEN as error:
        raise ForeignTraceError(
            tr("{path}: found a damaged archive ({error}), expected a log of Inspect", path=path, error=error)
        ) from None
    if damaged:
        raise ForeignTraceError("; ".join(damaged))


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
    """Return the name of the trace of a sample; those of its inspections begin with it."""
    return f"{path.name}: {sample_id!s:.100}, epoch {epoch!s:.20}"


def _run(path: Path, evaluation: Mapping[str, Any], sample: Mapping[str, Any]) -> ForeignTrace:
    """Return the run of a sample."""
    attachments = mapping(sample.get("attachments"))
    messages = Messages()
    given = [mapping(message) for message in items(_resolved(sample.get("messages"), attachments))]
    for message in given:
        messages.message(message)
    known = {text(message.get("id")) for message in given}
    outputs = (mapping(event.get("output")) for event in map(mapping, items(sample.get("events"))))
    choices = (mapping(choice) for output in outputs for choice in items(output.get("choices"))[:1])
    others = sum(text(mapping(choice.get("message")).get("id")) not in known for choice in choices)
    if others:
        messages.fault(f"{others} answers of other models (sub-agents, scorers) are left out")
    target = sample.get("target")
    truth = text(target[0] if isinstance(target, list) and len(target) == 1 else target).strip().upper()
    version = text(mapping(evaluation.get("packages")).get("inspect_ai"))
    return ForeignTrace(
        format="inspect",
        name=run_name(path, sample.get("id"), sample.get("epoch")),
        agent=" ".join(filter(None, (text(evaluation.get("solver")), "inspect_ai", version))),
        model=text(evaluation.get("model")),
        events=tuple(messages.events),
        label=cast("Verdict", truth) if truth in ("YES", "NO") else None,
        own=mapping(json_or_text(mapping(sample.get("metadata")).get(KEY))),
        faults=tuple(messages.faults),
    )


def _resolved(value: Any, attachments: Mapping[str, Any]) -> Any:
    """Return a JSON value with the attachments that its texts name."""
    if isinstance(value, str) and value.startswith("attachment://"):
        return text(attachments.get(value.removeprefix("attachment://"))) or value
    if isinstance(value, dict):
        return {key: _resolved(inner, attachments) for key, inner in value.items()}
    return [_resolved(inner, attachments) for inner in value] if isinstance(value, list) else value
