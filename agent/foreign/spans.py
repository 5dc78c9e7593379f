"""Spans of OpenTelemetry in OTLP JSON, and the messages in their attributes: of GenAI and of OpenInference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agent.foreign.messages import Messages, first_text, items, json_or_text, mapping, text

_KINDS = {"invoke_agent": "agent", "AGENT": "agent", "execute_tool": "tool", "TOOL": "tool"}
_DETAILS = "gen_ai.client.inference.operation.details"
"""Name of the log record that has the messages if the span of the model call does not."""


@dataclass(frozen=True)
class Span:
    """A span: its ids, its start in ns, its attributes as plain values, and the name of its service."""

    trace: str
    id: str
    parent: str
    start: int
    attributes: dict[str, Any]
    service: str
    failed: bool

    @property
    def kind(self) -> str:
        """Return "agent" if it covers the work of an agent, "tool" if it is the run of a tool, else ""."""
        return _KINDS.get(self.first("gen_ai.operation.name", "openinference.span.kind"), "")

    @property
    def agent(self) -> str:
        """Name and version of the agent."""
        version = self.first("gen_ai.agent.version")
        return f"{self.first('gen_ai.agent.name', 'agent.name')} {version}".strip()

    def first(self, *keys: str) -> str:
        """Return the first text that the attributes have under these keys, "" if they have none."""
        return first_text(self.attributes, *keys)


def spans_of(documents: Iterable[Any]) -> list[Span]:
    """Return the spans of OTLP documents, each with the messages that a log record has of it."""
    spans: dict[tuple[str, str], Span] = {}
    records: list[Span] = []
    for document in map(mapping, documents):
        for span in _scoped(document, "Spans", "spans"):
            spans.setdefault((span.trace, span.id), span)
        records += _scoped(document, "Logs", "logRecords")
    for record in records:
        spans.setdefault((record.trace, record.id), record).attributes.update(record.attributes)
    return list(spans.values())


def _scoped(document: Mapping[str, Any], kind: str, key: str) -> Iterator[Span]:
    """Yield the spans of a document, or its log records of messages as spans."""
    for resource in map(mapping, items(document.get(f"resource{kind}"))):
        service = text(_attributes(mapping(resource.get("resource")).get("attributes")).get("service.name"))
        for scope in map(mapping, items(resource.get(f"scope{kind}"))):
            for data in map(mapping, items(scope.get(key))):
                if kind == "Spans" or data.get("eventName") == _DETAILS:
                    yield Span(
                        trace=text(data.get("traceId")),
                        id=text(data.get("spanId")),
                        parent=text(data.get("parentSpanId")),
                        start=_integer(data.get("startTimeUnixNano") or data.get("timeUnixNano")) or 0,
                        attributes=_attributes(data.get("attributes")),
                        service=service,
                        failed=mapping(data.get("status")).get("code") in (2, "STATUS_CODE_ERROR"),
                    )


def _attributes(pairs: object) -> dict[str, Any]:
    return {text(pair.get("key")): _value(pair.get("value")) for pair in map(mapping, items(pairs))}


def _value(value: Any) -> Any:
    """Return the plain value of an ``AnyValue`` of OTLP."""
    given = mapping(value)
    if "arrayValue" in given:
        return [_value(each) for each in items(mapping(given["arrayValue"]).get("values"))]
    if "kvlistValue" in given:
        return _attributes(mapping(given["kvlistValue"]).get("values"))
    if "intValue" in given:
        return _integer(given["intValue"])
    return next((given[key] for key in ("stringValue", "doubleValue", "boolValue", "bytesValue") if key in given), None)


def _integer(value: object) -> int | None:
    try:
        return int(value) if isinstance(value, int | str) else None
    except ValueError:
        return None


def model_call(span: Span) -> tuple[str, Messages] | None:
    """Return the format and the messages of the span of a model call, None if it has none."""
    for name, messages_of in (("otel", _genai), ("openinference", _inference)):
        history, answers = messages_of(span.attributes, "input"), messages_of(span.attributes, "output")
        if history or answers:
            messages = Messages()
            for message in history:
                messages.message(message)
            messages.sent = len(messages.events)
            for message in answers:
                messages.message(message)
            return name, messages
    return None


def _genai(keys: Mapping[str, Any], side: str) -> list[Mapping[str, Any]]:
    """Messages of the GenAI conventions, as structures or as JSON."""
    messages = [mapping(message) for message in items(json_or_text(keys.get(f"gen_ai.{side}.messages")))]
    instructions = json_or_text(keys.get("gen_ai.system_instructions")) if side == "input" else None
    return [{"role": "system", "content": instructions}, *messages] if instructions else messages


def _inference(keys: Mapping[str, Any], side: str) -> list[Mapping[str, Any]]:
    """Messages of OpenInference, whose attributes are numbered."""
    return [_inference_message(given) for given in _numbered(keys, f"llm.{side}_messages.")]


def _inference_message(given: Mapping[str, Any]) -> Mapping[str, Any]:
    calls = [
        {key.removeprefix("tool_call.").removeprefix("function."): value for key, value in call.items()}
        for call in _numbered(given, "message.tool_calls.")
    ]
    parts = [
        {
            "type": content.get("message_content.type"),
            "text": content.get("message_content.text"),
            "image_url": content.get("message_content.image.image.url"),
        }
        for content in _numbered(given, "message.contents.")
        if content.get("message_content.type") not in ("tool_use", "tool_call")  # they stand in tool_calls too
    ]
    return {
        "role": given.get("message.role"),
        "content": parts or given.get("message.content"),
        "tool_calls": calls,
        "tool_call_id": given.get("message.tool_call_id"),
    }


def _numbered(keys: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Return the objects whose attributes are ``prefix``, a number and a key, in the order of the numbers."""
    objects: dict[int, dict[str, Any]] = {}
    for key, value in keys.items():
        number, dot, rest = key.removeprefix(prefix).partition(".")
        if dot and key.startswith(prefix) and number.isascii() and number.isdecimal() and len(number) < 8:
            objects.setdefault(int(number), {})[rest] = value
    return [objects[number] for number in sorted(objects)]
