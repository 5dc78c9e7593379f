"""Logs of Inspect, written by ``inspect_ai`` itself."""

import base64
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from inspect_ai.event import ModelEvent, ToolEvent
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentImage,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolCallError

from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from tests.agent.foreign.turns import SYSTEM, Turn, prompt_of, turns


def examples(trajectory: Trajectory, spectrum: Spectrum, folder: Path, suffix: str = ".eval") -> Path:
    """Write a log of one sample, whose events repeat each message."""
    return log_of([sample_of(trajectory, spectrum)], folder / f"log{suffix}")


def log_of(samples: list[EvalSample], path: Path) -> Path:
    spec = EvalSpec(
        created="2026-11-01T00:00:00Z",
        task="vetting",
        dataset=EvalDataset(),
        model="anthropic/claude-x",
        config=EvalConfig(),
        packages={"inspect_ai": "0.3.285"},
        solver="react",
    )
    write_eval_log(EvalLog(eval=spec, samples=samples, status="success"), str(path))
    return path


def sample_of(trajectory: Trajectory, spectrum: Spectrum, with_messages: bool = True, **changes: Any) -> EvalSample:
    messages = _messages(trajectory, turns(trajectory, spectrum))
    given = {"epoch": 1, "target": "YES", "metadata": {"field": "a"}, "messages": messages if with_messages else []}
    return EvalSample(id=spectrum.name, input="Is it one?", events=events_of(messages), **given | changes)


def _messages(trajectory: Trajectory, rows: list[Turn]) -> list[Any]:
    messages: list[Any] = [ChatMessageSystem(content=SYSTEM), ChatMessageUser(content=prompt_of(trajectory))]
    for turn in rows:
        parts = [ContentReasoning(reasoning=t) if n % 2 else ContentText(text=t) for n, t in enumerate(turn.thoughts)]
        call = ToolCall(turn.call.id, turn.call.name, dict(turn.call.arguments))
        messages.append(ChatMessageAssistant(content=parts or "", tool_calls=[call]))
        error = None if turn.result.ok else ToolCallError("unknown", turn.result.text)
        messages.append(
            ChatMessageTool(content=content_of(turn), tool_call_id=turn.call.id, function=turn.call.name, error=error)
        )
    return [*messages, ChatMessageAssistant(content="Done.")]


def content_of(turn: Turn) -> Any:
    pictures = [f"data:image/png;base64,{base64.b64encode(p).decode()}" for p in turn.result.pictures]
    return [ContentText(text=turn.result.text), *(ContentImage(image=picture) for picture in pictures)]


def events_of(messages: list[Any], span: str | None = None) -> list[Any]:
    events: list[Any] = []
    calls = {call.id: call for message in messages for call in getattr(message, "tool_calls", None) or ()}
    for n, message in enumerate(messages):
        if isinstance(message, ChatMessageAssistant):
            events.append(model_event(messages[:n], message, span))
        elif isinstance(message, ChatMessageTool):
            call = calls[message.tool_call_id]
            events.append(
                ToolEvent(
                    id=call.id,
                    function=call.function,
                    arguments=call.arguments,
                    result=message.content,
                    error=message.error,
                    span_id=span,
                )
            )
    return events


def model_event(asked: Iterable[Any], answer: ChatMessageAssistant, span: str | None = None) -> ModelEvent:
    output = ModelOutput(model="m", choices=[{"message": answer, "stop_reason": "stop"}])
    given = {"tools": [], "tool_choice": "auto", "config": GenerateConfig(), "output": output, "span_id": span}
    return ModelEvent(model="m", input=list(asked), **given)
