"""Traces of OpenTelemetry in OTLP JSON, as instrumented programs write them: GenAI conventions and OpenInference."""

import base64
import json
from pathlib import Path
from typing import Any

from agent.foreign.record import Result
from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from tests.agent.foreign.turns import SYSTEM, prompt_of, turns

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def examples(trajectory: Trajectory, spectrum: Spectrum, folder: Path) -> Path:
    """Spans of the GenAI conventions 0.1.0: an agent, its model calls with the whole history, its tools."""
    history = [{"role": "user", "parts": [{"type": "text", "content": prompt_of(trajectory)}]}]
    spans = [span("00", "", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "vetter"})]
    for turn in turns(trajectory, spectrum):
        kinds = ("text", "reasoning")
        parts: list[dict[str, Any]] = [{"type": kinds[n % 2], "content": t} for n, t in enumerate(turn.thoughts)]
        given = {"id": turn.call.id, "name": turn.call.name, "arguments": dict(turn.call.arguments)}
        parts.append({"type": "tool_call", **given})
        spans += [chat(len(spans), history, parts), tool(len(spans) + 1, given, turn.result)]
        kept = [part for part in parts if part["type"] != "reasoning"]  # most programs do not send it back
        response = {"type": "tool_call_response", "id": turn.call.id, "response": response_of(turn.result)}
        history = [*history, {"role": "assistant", "parts": kept}, {"role": "tool", "parts": [response]}]
    spans.append(chat(len(spans), history, [{"type": "text", "content": "Done."}]))
    return write(folder / "spans.json", [document(spans)])


def response_of(result: Result) -> Any:
    pictures = [base64.b64encode(picture).decode() for picture in result.pictures]
    blobs = [{"type": "blob", "modality": "image", "mime_type": "image/png", "content": data} for data in pictures]
    return [{"type": "text", "content": result.text}, *blobs] if blobs else result.text


def chat(number: int, history: list[Any], answer: list[Any], parent: str = "00", **more: Any) -> dict[str, Any]:
    given = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-x",
        "gen_ai.response.model": "gpt-x-2026",
        "gen_ai.usage.input_tokens": 52,
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.system_instructions": json.dumps([{"type": "text", "content": SYSTEM}]),
        "gen_ai.input.messages": json.dumps(history, ensure_ascii=False),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": answer}]),
    }
    return span(f"{number:02}", parent, {key: value for key, value in (given | more).items() if value is not None})


def tool(number: int, call: dict[str, Any], result: Result, parent: str = "00") -> dict[str, Any]:
    response = response_of(result)
    given = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call["name"],
        "gen_ai.tool.call.id": call["id"],
        "gen_ai.tool.call.arguments": json.dumps(call["arguments"]),
        "gen_ai.tool.call.result": response if isinstance(response, str) else json.dumps(response),
    }
    return span(f"{number:02}", parent, given, ok=result.ok)


def inference_examples(trajectory: Trajectory, spectrum: Spectrum, folder: Path) -> Path:
    """Spans of OpenInference, each a line of its own, the later ones first, as a collector may write them."""
    history: list[dict[str, Any]] = [
        {"message.role": "system", "message.content": SYSTEM},
        {"message.role": "user", "message.content": prompt_of(trajectory)},
    ]
    spans = [span("00", "", {"openinference.span.kind": "AGENT", "agent.name": "vetter"})]
    for turn in turns(trajectory, spectrum):
        answer: dict[str, Any] = {"message.role": "assistant"}
        for n, thought in enumerate(turn.thoughts):
            answer[f"message.contents.{n}.message_content.type"] = ("text", "reasoning")[n % 2]
            answer[f"message.contents.{n}.message_content.text"] = thought
        call = "message.tool_calls.0.tool_call."
        answer |= {f"{call}id": turn.call.id, f"{call}function.name": turn.call.name}
        answer[f"{call}function.arguments"] = json.dumps(dict(turn.call.arguments))
        spans += [inference(len(spans), history, answer), inference_tool(len(spans) + 1, turn.call.name, turn.result)]
        shown: dict[str, Any] = {"message.role": "tool", "message.tool_call_id": turn.call.id}
        parts = "message.contents"
        shown |= {f"{parts}.0.message_content.type": "text", f"{parts}.0.message_content.text": turn.result.text}
        for n, picture in enumerate(turn.result.pictures, 1):
            url = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
            shown |= {f"{parts}.{n}.message_content.type": "image", f"{parts}.{n}.message_content.image.image.url": url}
        history = [*history, answer, shown]
    spans.append(inference(len(spans), history, {"message.role": "assistant", "message.content": "Done."}))
    return write(folder / "spans.jsonl", [document([span]) for span in reversed(spans)])


def inference(number: int, history: list[Any], answer: dict[str, Any], parent: str = "00") -> dict[str, Any]:
    given: dict[str, Any] = {"openinference.span.kind": "LLM", "llm.model_name": "gpt-x", "output.value": "{}"}
    for n, message in enumerate(history):
        given |= {f"llm.input_messages.{n}.{key}": value for key, value in message.items()}
    given |= {f"llm.output_messages.0.{key}": value for key, value in answer.items()}
    return span(f"{number:02}", parent, given)


def inference_tool(number: int, name: str, result: Result) -> dict[str, Any]:
    given = {"openinference.span.kind": "TOOL", "tool.name": name, "output.value": result.text}
    return span(f"{number:02}", "00", given, ok=result.ok)


def span(
    name: str, parent: str, attributes: dict[str, Any], trace: str = TRACE, ok: bool = True, **more: Any
) -> dict[str, Any]:
    start = 1_700_000_000_000_000_000 + int(name)
    return {
        "traceId": TRACE,
        "spanId": name,
        "parentSpanId": parent,
        "name": "a span",
        "kind": 3,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 5),
        "attributes": pairs(attributes),
        "status": {} if ok else {"code": 2},
        **more,
    }


def pairs(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": any_value(value)} for key, value in attributes.items()]


def any_value(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [any_value(each) for each in value]}}
        case dict():
            return {"kvlistValue": {"values": pairs(value)}}
        case _:
            return {"stringValue": value}


def document(spans: list[Any], records: list[Any] | None = None) -> dict[str, Any]:
    resource = {"attributes": pairs({"service.name": "vetting"})}
    scope = {"name": "instrumentation", "version": "1"}
    logs = [{"resource": resource, "scopeLogs": [{"scope": scope, "logRecords": records}]}] if records else []
    traced = [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": spans}]}]
    return {"resourceSpans": traced} | ({"resourceLogs": logs} if logs else {})


def write(path: Path, documents: list[Any]) -> Path:
    path.write_text("\n".join(json.dumps(each) for each in documents))
    return path
