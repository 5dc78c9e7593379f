"""Harbor's Agent Trajectory Interchange Format (ATIF), 1.0 to 1.7: read and written.

The fields are those of Harbor's RFC 0001, of which later versions only add some. Pictures are files: those beside the
log are read; a path that leads out of its folder and the address of a server are a fault, and nothing is opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from agent.foreign.messages import Messages, json_rows
from agent.foreign.own import KEY, answer_text, extra_of
from agent.foreign.record import ForeignTrace, ForeignTraceError
from agent.language import tr
from agent.trajectory import Think, Trajectory, Zoom

VERSION = "ATIF-v1.7"
_AGENT = "spec-o3"
_DEEPEST = 3  # trajectories of subagents within each other
_Content = str | list[dict[str, Any]]


class _Call(BaseModel):
    tool_call_id: str
    function_name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class _Result(BaseModel):
    source_call_id: str | None = None
    content: _Content | None = None
    subagent_trajectory_ref: list[dict[str, Any]] | None = None
    extra: dict[str, Any] | None = None


class _Observation(BaseModel):
    results: list[_Result]


class _Step(BaseModel):
    step_id: int
    source: Literal["system", "user", "agent"]
    message: _Content
    model_name: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[_Call] | None = None
    observation: _Observation | None = None
    is_copied_context: bool | None = None


class _Agent(BaseModel):
    name: str
    version: str
    model_name: str | None = None


class Atif(BaseModel):
    """A trajectory of ATIF; of its fields, those that matter here."""

    schema_version: str = Field(pattern=r"^ATIF-v1\.[0-7]$")
    trajectory_id: str | None = None
    agent: _Agent
    steps: list[_Step] = Field(min_length=1)
    continued_trajectory_ref: str | None = None
    extra: dict[str, Any] | None = None
    subagent_trajectories: list[Atif] | None = None


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file begins as a trajectory of ATIF."""
    return b'"schema_version"' in head and b'"ATIF-v' in head


def traces(path: Path) -> Iterator[ForeignTrace]:
    """Yield the trajectories of a file: one object, or JSON Lines.

    :raises ForeignTraceError: the file cannot be read; of JSON Lines, after the others, the lines that cannot
    """
    rows, bad = json_rows(path)
    for name, row in rows:
        try:
            atif = Atif.model_validate(row)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = ".".join(map(str, first["loc"])) or tr("trajectory")
            fault = tr(
                "{field}: found {value!r:.60}; {message}", field=field, value=first["input"], message=first["msg"]
            )
            bad.append(tr("{name}: {fault}", name=name, fault=fault))
        else:
            yield from _traces(atif, name, path.parent)
    if bad:
        raise ForeignTraceError("; ".join(bad))


def _traces(atif: Atif, name: str, folder: Path, depth: int = 0) -> Iterator[ForeignTrace]:
    messages = Messages(folder)
    for step in atif.steps:
        _add(messages, step)
    if atif.continued_trajectory_ref:
        messages.fault(f"continues in {atif.continued_trajectory_ref!r:.200}, which was not opened")
    own = (atif.extra or {}).get(KEY)
    models = dict.fromkeys(filter(None, (atif.agent.model_name, *(step.model_name for step in atif.steps))))
    yield ForeignTrace(
        format="atif",
        name=name,
        agent=f"{atif.agent.name} {atif.agent.version}".strip(),
        model=", ".join(models),
        events=tuple(messages.events),
        own=own if isinstance(own, dict) else {},
        faults=tuple(messages.faults),
    )
    for number, inner in enumerate(atif.subagent_trajectories or (), start=1):
        if depth < _DEEPEST:
            yield from _traces(inner, f"{name}, subagent {inner.trajectory_id or number}", folder, depth + 1)


def _add(messages: Messages, step: _Step) -> None:
    """Add what a step says, calls and observes."""
    if step.is_copied_context:
        messages.fault(f"step {step.step_id} is copied from an earlier trajectory")
    thought = {} if step.reasoning_content is None else {"reasoning_content": step.reasoning_content}
    messages.message({"role": step.source, "content": step.message, **thought})
    for call in step.tool_calls or ():
        messages.call(call.tool_call_id, call.function_name, call.arguments)
    for result in step.observation.results if step.observation else ():
        for reference in result.subagent_trajectory_ref or ():
            messages.fault(f"step {step.step_id} refers to a subagent: {reference!r:.200}")
        ok = (result.extra or {}).get("is_error") is not True
        messages.result(result.source_call_id, result.content, ok)


def atif_of(
    trajectory: Trajectory, pictures: Mapping[str, str], extra: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a trajectory as an object of ATIF 1.7, which ``traces`` reads back.

    :param pictures: paths of the pictures, relative to the file, by the SHA-256 of their RGBA bytes; a picture that is
        not in it is left out
    :param extra: further extra data of the whole trajectory, e.g. votes
    """
    overview = _content(trajectory.prompt, trajectory.overview, pictures)
    steps: list[dict[str, Any]] = [
        {"source": "system", "message": trajectory.system},
        {"source": "user", "message": overview},
    ]
    is_thought = False
    for step in trajectory.steps:
        if isinstance(step, Think) or not is_thought:  # one thought per step: joined ones could not be told apart
            steps.append({"source": "agent", "message": ""})
        is_thought = isinstance(step, Think)
        if isinstance(step, Think):
            steps[-1]["reasoning_content"] = step.text
        elif isinstance(step, Zoom):
            call = {"tool_call_id": step.id, "function_name": step.tool, "arguments": dict(step.arguments)}
            content = _content(step.observation, step.picture, pictures)
            result = {"source_call_id": step.id, "content": content, "extra": {"is_error": not step.ok}}
            steps[-1] |= {"tool_calls": [call], "observation": {"results": [result]}}
        else:
            steps[-1]["message"] = answer_text(step)
    name = trajectory.drafter.name
    return {
        "schema_version": VERSION,
        "session_id": trajectory.content_hash(),
        "agent": {"name": _AGENT, "version": "1", **({"model_name": name} if name else {})},
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, start=1)],
        "extra": {**(extra or {}), KEY: extra_of(trajectory)},
    }


def _content(text: str, sha256: str | None, pictures: Mapping[str, str]) -> str | list[dict[str, Any]]:
    path = pictures.get(sha256 or "")
    if path is None:
        return text
    image = {"type": "image", "source": {"media_type": "image/png", "path": path}}
    return [image, {"type": "text", "text": text}]
