"""Traces of OpenTelemetry in OTLP JSON: spans of GenAI (``gen_ai.*``) and of OpenInference (``llm.*``).

A conversation is what one agent had within a trace; a model call repeats it. Sources: semantic-conventions-genai
0.1.0, docs/gen-ai; openinference, spec/; opentelemetry-proto 1.x, JSON encoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.foreign.joining import Conversation
from agent.foreign.messages import Messages, guarded, json_or_text, json_value, mapping, read_file, text
from agent.foreign.own import KEY
from agent.foreign.record import Call, ForeignTrace, ForeignTraceError, Words
from agent.foreign.spans import Exchange, Span, exchange, spans_of
from agent.language import tr

_MOST_OPEN = 50
"""Conversations of a trace that a model call is compared with."""


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file begins as spans or log records of OpenTelemetry in JSON."""
    keys = (b'"resourceSpans"', b'"resourceLogs"')
    is_span = b'"attributes"' in head and (b'"trace_id"' in head or b'"traceId"' in head)
    return head.lstrip()[:1] in (b"{", b"[") and (is_span or any(key in head for key in keys))


@guarded
def traces(path: Path) -> Iterator[ForeignTrace]:
    """Yield the conversations in a file: one JSON value, or JSON Lines. :raises ForeignTraceError: it is unreadable"""
    values, faults = _values(path)
    runs: dict[str, list[Span]] = {}
    for span in sorted(spans_of(values), key=lambda span: span.start):
        runs.setdefault(text(span.attributes.get("gen_ai.conversation.id")) or span.trace, []).append(span)
    for key, spans in runs.items():
        for number, run in enumerate(_runs(spans)):
            yield ForeignTrace(
                format=run.dialect,
                name=f"{path.name}: {key:.60}" + (f", {run.agent or number + 1}" if number else ""),
                agent=run.agent,
                model=run.model,
                events=tuple(run.conversation.events),
                own=run.own,
                faults=(*faults, *run.conversation.faults),
            )


def _values(path: Path) -> tuple[list[Any], list[str]]:
    data = read_file(path)
    try:
        return [json_value(data, str(path))], []
    except ForeignTraceError:
        values, faults = [], []
        lines = data.splitlines()
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    values.append(json_value(line, tr("line {number}", number=number)))
                except ForeignTraceError as error:
                    faults.append(error.sentence)
        if not values:
            raise
        return values, faults[:100]


@dataclass
class _Run:
    """A conversation of one agent: the id of the span of the agent, the form of its messages, and names."""

    span: str
    dialect: str
    agent: str
    model: str = ""
    conversation: Conversation = field(default_factory=Conversation)
    own: Mapping[str, Any] = field(default_factory=dict)


def _runs(spans: list[Span]) -> list[_Run]:
    """Return the conversations of a trace, in the order of their first model calls."""
    by_id = {span.id: span for span in spans}
    around = {span.id: list(_around(span, by_id)) for span in spans}
    calls = [(span, exchanged) for span in spans if not span.is_tool and (exchanged := exchange(span)) is not None]
    covered = {outer for span, _ in calls if not span.is_agent for outer in around[span.id]}
    runs: list[_Run] = []
    for span, exchanged in calls:
        if not span.is_agent or span.id not in covered:
            _add(runs, span, exchanged, [by_id[name] for name in (span.id, *around[span.id]) if by_id[name].is_agent])
    tools: dict[tuple[str, str], list[Span]] = {}
    for span in spans:
        if span.is_tool:
            call_id = span.tool[1]
            for outer in ("", *around[span.id]):
                tools.setdefault(("agent" if call_id else "unnamed", outer), []).append(span)
            tools.setdefault(("call", call_id), []).append(span)
    for run in runs:
        _complete(run, tools, is_only=len(runs) == 1)
    _give_own(runs, spans, around)
    return [run for run in runs if run.conversation.events]


def _around(span: Span, by_id: Mapping[str, Span]) -> Iterator[str]:
    """Yield the ids of the spans that a span lies in, the nearest first."""
    for _ in range(100):
        parent = by_id.get(span.parent)
        if parent is None or parent is span:
            return
        yield parent.id
        span = parent


def _add(runs: list[_Run], span: Span, exchanged: Exchange, agents: list[Span]) -> None:
    """Add a model call to its conversation: that of its agent, or one that it repeats, or a new one."""
    agent = agents[0].id if agents else ""
    same = [run for run in reversed(runs) if agent and run.span == agent]
    same += [run for run in reversed(runs[-_MOST_OPEN:]) if run.conversation.continues(exchanged.history)]
    same += [run for run in runs[-1:] if not agent and not run.span and not _has_answer(run)]
    if not same:
        name = next((name for outer in agents if (name := outer.agent)), "") or span.agent or span.service
        same = [_Run(agent, exchanged.dialect, name)]
        runs.extend(same)
    run = same[0]
    run.model = run.model or span.model
    run.conversation.add(exchanged.history, exchanged.answer, is_new=not span.is_agent)  # an inner one may state it too


def _has_answer(run: _Run) -> bool:
    return any(not isinstance(event, Words) or event.role == "assistant" for event in run.conversation.events)


def _complete(run: _Run, tools: Mapping[tuple[str, str], list[Span]], is_only: bool) -> None:
    """Add calls and results that only the spans of the tools have: the last ones, or all where no message has any."""
    conversation = run.conversation
    waiting = [event for event in conversation.events if isinstance(event, Call)]
    has_none = not waiting and bool(run.span or is_only)
    keys = [*(("call", call.id) for call in waiting), ("unnamed", run.span)]
    keys += [("agent", run.span)] if has_none else []
    given = {id(span): span for key in keys for span in tools.get(key, [])}
    results, added = Messages(), Messages()
    for span in sorted(given.values(), key=lambda span: span.start):
        name, call_id, arguments, result, ok = span.tool
        if has_none:
            added.call(call_id, name, arguments)
            added.result(call_id, result, ok)
        call = next((call for call in waiting if (call.id == call_id if call_id else call.name == name)), None)
        if call is not None:
            waiting.remove(call)
            results.result(call.id, result, ok)
    conversation.complete(results)
    if added.events:
        last = max((n for n, event in enumerate(conversation.events, 1) if _is_for_model(event)), default=0)
        conversation.events[last:last] = added.events


def _is_for_model(event: object) -> bool:
    return isinstance(event, Words) and event.role != "assistant"


def _give_own(runs: list[_Run], spans: Iterable[Span], around: Mapping[str, list[str]]) -> None:
    """Give each conversation our own extra data that a span of its agent has, the first one that of any other."""
    for span in spans:
        own = mapping(json_or_text(span.attributes.get(KEY)))
        owner = next((run for run in runs if run.span in (span.id, *around[span.id])), next(iter(runs), None))
        if own and owner is not None and not owner.own:
            owner.own = own
