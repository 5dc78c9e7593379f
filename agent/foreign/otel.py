"""Traces of OpenTelemetry in OTLP JSON: spans of GenAI (``gen_ai.*``) and of OpenInference (``llm.*``).

A conversation is what one agent had within a trace; a model call repeats it. Sources: semantic-conventions-genai
0.1.0, docs/gen-ai; openinference, spec/; opentelemetry-proto 1.x, JSON encoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from agent.foreign.joining import Conversation
from agent.foreign.messages import Messages, json_rows
from agent.foreign.record import Call, ForeignTrace
from agent.foreign.spans import Span, model_call, spans_of

_MOST_OPEN = 50
"""Conversations of a trace that a model call is compared with."""


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file begins as spans or log records of OpenTelemetry in JSON."""
    return head.lstrip()[:1] == b"{" and (b'"resourceSpans"' in head or b'"resourceLogs"' in head)


def traces(path: Path) -> Iterator[ForeignTrace]:
    """Yield the conversations in a file: one JSON value, or JSON Lines. :raises ForeignTraceError: it is unreadable"""
    rows, faults = json_rows(path)
    groups: dict[str, list[Span]] = {}
    for span in sorted(spans_of(row for _, row in rows), key=lambda span: span.start):
        groups.setdefault(span.first("gen_ai.conversation.id") or span.trace, []).append(span)
    for key, spans in groups.items():
        for number, conversation in enumerate(_conversations(spans)):
            yield ForeignTrace(
                format=conversation.format,
                name=f"{path.name}: {key:.60}" + (f", {conversation.agent or number + 1}" if number else ""),
                agent=conversation.agent,
                model=conversation.model,
                events=tuple(conversation.events),
                faults=(*faults, *conversation.faults),
            )


def _conversations(spans: list[Span]) -> list[Conversation]:
    """Return the conversations of a trace, in the order of their first model calls."""
    by_id = {span.id: span for span in spans}
    conversations: list[Conversation] = []
    for span in spans:
        call = None if span.kind else model_call(span)  # what an agent has, its model calls have
        if call is not None:
            _add(conversations, span, *call, _agent(span, by_id))
    for conversation in conversations:
        _complete(conversation, (span for span in spans if span.kind == "tool"), by_id)
    return [conversation for conversation in conversations if conversation.events]


def _agent(span: Span, by_id: Mapping[str, Span]) -> Span | None:
    """Return the nearest span of an agent that a span lies in, None if there is none."""
    for _ in range(100):
        around = by_id.get(span.parent)
        if around is None or around.kind == "agent":
            return around
        span = around
    return None


def _add(conversations: list[Conversation], span: Span, format: str, messages: Messages, agent: Span | None) -> None:
    """Add a model call to its conversation: that of its agent, or one that it repeats, or a new one."""
    same = [known for known in reversed(conversations) if agent is not None and known.span == agent.id]
    same += [known for known in reversed(conversations[-_MOST_OPEN:]) if known.continues(messages)]
    if not same:
        same = [Conversation(agent.id if agent else "", format, (agent or span).agent or span.service)]
        conversations += same
    same[0].add(messages)
    same[0].model = same[0].model or span.first(
        "gen_ai.response.model", "gen_ai.request.model", "llm.response.model_name", "llm.model_name"
    )


def _complete(conversation: Conversation, tools: Iterable[Span], by_id: Mapping[str, Span]) -> None:
    """Add the results that only the spans of the tools have, and which calls failed. A tool without the id of its call
    belongs to the first call of its name by its agent.
    """
    waiting = [event for event in conversation.events if isinstance(event, Call)]
    results = Messages()
    for span in tools:
        call_id = span.first("gen_ai.tool.call.id", "tool.id", "tool_call.id")
        name, agent = span.first("gen_ai.tool.name", "tool.name"), _agent(span, by_id)
        is_its = bool(call_id) or (agent.id if agent else "") == conversation.span
        call = next((call for call in waiting if (call.id == call_id if call_id else call.name == name)), None)
        if call is not None and is_its:
            waiting.remove(call)
            content = span.attributes.get("gen_ai.tool.call.result", span.attributes.get("output.value"))
            results.result(call.id, content, ok=not span.failed)
    conversation.complete(results)
