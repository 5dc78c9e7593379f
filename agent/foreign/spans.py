"""Spans of OpenTelemetry, and the messages in their attributes and events, old and new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.foreign.messages import Messages, items, json_or_text, mapping, text

_DETAILS = "gen_ai.client.inference.operation.details"


@dataclass
class Span:
    """A span: its ids, its start in ns (or as a text), attributes as plain values, and events as name and content."""

    trace: str
    id: str
    parent: str
    start: tuple[int, str]
    attributes: dict[str, Any]
    service: str = ""
    failed: bool = False
    events: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    @property
    def is_agent(self) -> bool:
        """Whether it covers the work of an agent."""
        return self._is("invoke_agent", "AGENT")

    @property
    def is_tool(self) -> bool:
        """Whether it is the run of a tool."""
        return self._is("execute_tool", "TOOL")

    def _is(self, operation: str, kind: str) -> bool:
        given = self.attributes
        return given.get("gen_ai.operation.name") == operation or given.get("openinference.span.kind") == kind

    @property
    def agent(self) -> str:
        """Name and version of the agent."""
        return " ".join(
            filter(None, (self.first("gen_ai.agent.name", "agent.name"), self.first("gen_ai.agent.version")))
        )

    @property
    def model(self) -> str:
        """Name of the model."""
        return self.first("gen_ai.response.model", "gen_ai.request.model", "llm.response.model_name", "llm.model_name")

    @property
    def tool(self) -> tuple[str, str, Any, Any, bool]:
        """Of the run of a tool: its name, the id of the call, arguments, result, and whether it succeeded."""
        keys = self.attributes
        return (
            self.first("gen_ai.tool.name", "tool.name"),
            self.first("gen_ai.tool.call.id", "tool.id", "tool_call.id"),
            next(
                (keys[key] for key in ("gen_ai.tool.call.arguments", "input.value", "tool.parameters") if key in keys),
                {},
            ),
            next((keys[key] for key in ("gen_ai.tool.call.result", "output.value") if key in keys), ""),
            not self.failed,
        )

    def first(self, *keys: str) -> str:
        """Return the first text that the attributes have under these keys, "" if they have none."""
        return next((value for key in keys if (value := text(self.attributes.get(key)))), "")


def spans_of(values: Iterable[Any]) -> list[Span]:
    """Return the spans of OTLP documents, or of lists of spans, with the log records that belong to them."""
    spans: dict[tuple[str, str], Span] = {}
    records: list[Span] = []
    for document in (mapping(each) for value in values for each in (items(value) or [value])):
        for service, data in _scoped(document, "Spans", "spans"):
            span = _span(data, service)
            spans.setdefault((span.trace, span.id), span)
        for data in map(mapping, [document, *items(document.get("data"))]):  # as an SDK writes spans
            if "attributes" in data and "name" in data:
                span = _span(data, "")
                spans.setdefault((span.trace, span.id), span)
        records += [_span(data, service) for service, data in _scoped(document, "Logs", "logRecords")]
    for record in sorted(records, key=lambda record: record.start):
        span = spans.setdefault((record.trace, record.id), record)
        if span is not record:
            span.events += record.events
    return list(spans.values())


def _scoped(document: Mapping[str, Any], kind: str, key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the spans or records of a document, each with the name of the service."""
    for resource in map(mapping, items(document.get(f"resource{kind}"))):
        service = text(_attributes(mapping(resource.get("resource")).get("attributes")).get("service.name"))
        for scope in map(mapping, items(resource.get(f"scope{kind}"))):
            yield from ((service, mapping(data)) for data in items(scope.get(key)))


def _span(data: Mapping[str, Any], service: str) -> Span:
    """Return a span, or a log record as a span of its ids with one event."""
    known = {**mapping(data.get("context")), **data}

    def first(*keys: str) -> Any:
        return next((known[key] for key in keys if known.get(key) not in (None, "")), "")

    start, status = first("startTimeUnixNano", "timeUnixNano", "start_time"), mapping(data.get("status"))
    code = str(status.get("code") or status.get("status_code") or data.get("status_code"))
    span = Span(
        trace=text(first("traceId", "trace_id")),
        id=text(first("spanId", "span_id")),
        parent=text(first("parentSpanId", "parent_id")),
        start=(_integer(start) or 0, text(start)),
        attributes=_attributes(data.get("attributes")),
        service=service,
        failed=code.removeprefix("STATUS_CODE_") in ("2", "ERROR"),
    )
    for event in map(mapping, items(data.get("events"))):
        span.events.append((text(event.get("name")), _attributes(event.get("attributes"))))
    record = text(data.get("eventName") or span.attributes.get("event.name"))
    if record:
        span.events.append((record, {**span.attributes, **mapping(_value(data.get("body")))}))
    return span


def _attributes(given: object) -> dict[str, Any]:
    if isinstance(given, list):
        return {text(mapping(pair).get("key")): _value(mapping(pair).get("value")) for pair in given}
    return dict(mapping(given))


def _value(value: Any) -> Any:
    """Return the plain value of an ``AnyValue`` of OTLP."""
    given = mapping(value)
    if "arrayValue" in given:
        return [_value(each) for each in items(mapping(given["arrayValue"]).get("values"))]
    if "kvlistValue" in given:
        return _attributes(items(mapping(given["kvlistValue"]).get("values")))
    if "intValue" in given:
        number = _integer(given["intValue"])
        return given["intValue"] if number is None else number
    return next(
        (given[key] for key in ("stringValue", "doubleValue", "boolValue", "bytesValue") if key in given), value
    )


def _integer(value: object) -> int | None:
    try:
        return int(value) if isinstance(value, int | str) else None
    except ValueError:
        return None


@dataclass(frozen=True)
class Exchange:
    """A model call: what the model was sent and what it answer. ``dialect``: otel or openinference."""

    dialect: str
    history: Messages
    answer: Messages


def exchange(span: Span) -> Exchange | None:
    """Return the messages of a span, None if it has none. The first form of them that it has counts."""
    keys = dict(span.attributes)
    for name, content in span.events:
        if name == _DETAILS:
            keys |= content
    forms = (
        ("otel", _current(keys, "input"), _current(keys, "output")),
        ("openinference", _inference(keys, "input"), _inference(keys, "output")),
        ("otel", _indexed_messages(keys, "gen_ai.prompt"), _indexed_messages(keys, "gen_ai.completion")),
        ("otel", *_of_events(span)),
        ("openinference", _whole(keys, "input", "user"), _whole(keys, "output", "assistant")),
    )
    for dialect, history, answer in forms:
        if history or answer:
            exchanged = Exchange(dialect, Messages(), Messages())
            for message in history:
                exchanged.history.message(message)
            exchanged.answer.follow(exchanged.history)
            for message in answer:
                exchanged.answer.message(message)
            return exchanged
    return None


def _current(keys: Mapping[str, Any], side: str) -> list[Mapping[str, Any]]:
    """Messages of the GenAI conventions, as structures or as JSON."""
    messages = [mapping(message) for message in items(json_or_text(keys.get(f"gen_ai.{side}.messages")))]
    instructions = json_or_text(keys.get("gen_ai.system_instructions")) if side == "input" else None
    return [{"role": "system", "content": instructions}, *messages] if instructions else messages


def _inference(keys: Mapping[str, Any], side: str) -> list[Mapping[str, Any]]:
    """Messages of OpenInference, whose attributes are numbered."""
    return [_inference_message(given) for given in _numbered(keys, f"llm.{side}_messages")]


def _inference_message(given: Mapping[str, Any]) -> Mapping[str, Any]:
    calls = [
        {key.removeprefix("tool_call.").removeprefix("function."): value for key, value in call.items()}
        for call in _numbered(given, "message.tool_calls")
    ]
    if given.get("message.function_call_name"):  # before tool_calls
        arguments = given.get("message.function_call_arguments_json")
        calls.append({"name": given["message.function_call_name"], "arguments": arguments})
    parts = []
    for content in _numbered(given, "message.contents"):
        kind, image = content.get("message_content.type"), mapping(content.get("message_content.image"))
        url = content.get("message_content.image.image.url") or image.get("image.url") or image.get("url")
        if kind not in ("tool_use", "tool_call"):  # they stand in tool_calls too
            parts.append({"type": kind, "text": content.get("message_content.text"), "image_url": url})
    return {
        "role": given.get("message.role"),
        "content": parts or given.get("message.content"),
        "tool_calls": calls,
        "tool_call_id": given.get("message.tool_call_id"),
        "name": given.get("message.name"),
    }


def _indexed_messages(keys: Mapping[str, Any], prefix: str) -> list[Mapping[str, Any]]:
    """Messages of OpenLLMetry: ``gen_ai.prompt.N.role``, ``.content``, ``.tool_calls.M.name``."""
    return [
        {**message, "content": _parts(message.get("content")), "tool_calls": _numbered(message, "tool_calls")}
        for message in _numbered(keys, prefix)
    ]


def _of_events(span: Span) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Messages of the events ``gen_ai.user.message`` and so on, which the conventions had until 1.36."""
    history, answer = list[Mapping[str, Any]](), list[Mapping[str, Any]]()
    for name, content in span.events:
        given = mapping(json_or_text(content.get("gen_ai.event.content"))) or content
        message = {**given, **mapping(json_or_text(given.get("message")))}
        message |= {"content": _parts(message.get("content")), "tool_calls": json_or_text(message.get("tool_calls"))}
        if name == "gen_ai.choice":
            answer.append({**message, "role": "assistant"})
        elif name.startswith("gen_ai.") and name.endswith(".message"):
            history.append({**message, "role": name.split(".")[1]})
    return history, answer


def _whole(keys: Mapping[str, Any], side: str, role: str) -> list[Mapping[str, Any]]:
    """What OpenInference has of a model call or an agent without messages: one text."""
    given = keys.get(f"{side}.value")
    return (
        [{"role": role, "content": given}] if given and keys.get("openinference.span.kind") in ("LLM", "AGENT") else []
    )


def _parts(content: Any) -> Any:
    parsed = json_or_text(content)
    return parsed if items(parsed) and all(mapping(part).get("type") for part in items(parsed)) else content


def _numbered(keys: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Return the objects ``prefix.N.key``, by N; or those of a list that ``prefix`` itself names."""
    if isinstance(keys.get(prefix), list):
        return [dict(mapping(each)) for each in keys[prefix]]
    objects: dict[int, dict[str, Any]] = {}
    for key, value in keys.items():
        number, dot, rest = key.removeprefix(f"{prefix}.").partition(".")
        if dot and key.startswith(f"{prefix}.") and number.isascii() and number.isdecimal() and len(number) < 8:
            objects.setdefault(int(number), {})[rest] = value
    return [objects[number] for number in sorted(objects)]
