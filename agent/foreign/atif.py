"""Harbor's Agent Trajectory Interchange Format (ATIF), 1.0 to 1.7: read and written.

The fields are those of Harbor's RFC 0001, of which later versions only add some. Pictures are files: those beside the
log are read; a path that leads out of its folder and the address of a server are a fault, and nothing is opened.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from agent.foreign.own import KEY, answer_text, extra_of
from agent.foreign.record import Call, Event, ForeignTrace, ForeignTraceError, Result, Words
from agent.language import tr
from agent.trajectory import Think, Trajectory, Zoom

VERSION = "ATIF-v1.7"
LARGEST = 256 * 2**20
"""Bytes of a log; pictures are files of their own."""
LARGEST_PICTURE = 20 * 2**20
_AGENT = "spec-o3"
_DEEPEST = 3  # trajectories of subagents within each other


class _Source(BaseModel):
    media_type: str = ""
    path: str


class _Part(BaseModel):
    type: str
    text: str | None = None
    source: _Source | None = None


_Content = str | list[_Part]


class _Call(BaseModel):
    tool_call_id: str
    function_name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class _Subagent(BaseModel):
    trajectory_id: str | None = None
    trajectory_path: str | None = None


class _Result(BaseModel):
    source_call_id: str | None = None
    content: _Content | None = None
    subagent_trajectory_ref: list[_Subagent] | None = None
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
    session_id: str | None = None
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
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise ForeignTraceError(
                tr("{path}: found {size:,} bytes, expected {largest:,} at most", path=path, size=size, largest=LARGEST)
            )
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise ForeignTraceError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ForeignTraceError(
            tr("{path}: found bytes that are no UTF-8 ({reason})", path=path, reason=error.reason)
        ) from error
    # The letters before a line end of JSON Lines make an object; the first line of an indented file does not.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    first = _json(lines[0][1]) if len(lines) > 1 else None
    if not isinstance(first, dict):
        yield from _of(path, path.name, text)
        return
    bad = []
    for number, line in lines:
        try:
            yield from _of(path, f"{path.name}, line {number}", line)
        except ForeignTraceError as error:
            bad.append(str(error))
    if bad:
        raise ForeignTraceError("; ".join(bad))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        return error


def _of(path: Path, name: str, text: str) -> Iterator[ForeignTrace]:
    data = _json(text)
    if isinstance(data, Exception):
        raise ForeignTraceError(tr("{name}: found no JSON ({error}), expected an object", name=name, error=data))
    try:
        atif = Atif.model_validate(data)
    except (ValidationError, RecursionError) as error:
        raise ForeignTraceError(tr("{name}: {fault}", name=name, fault=_fault(error))) from None
    yield from _traces(atif, name, path.parent)


def _fault(error: ValidationError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return tr("found values nested too deeply")
    first = error.errors(include_url=False)[0]
    field = ".".join(map(str, first["loc"])) or tr("trajectory")
    return tr("{field}: found {value!r:.60}; {message}", field=field, value=first["input"], message=first["msg"])


def _traces(atif: Atif, name: str, folder: Path, depth: int = 0) -> Iterator[ForeignTrace]:
    reading = _Reading(folder.resolve())
    events = tuple(event for step in atif.steps for event in reading.events(step))
    if atif.continued_trajectory_ref:
        reading.faults.append(f"continues in {atif.continued_trajectory_ref!r:.200}, which was not opened")
    own = (atif.extra or {}).get(KEY)
    models = dict.fromkeys(filter(None, (atif.agent.model_name, *(step.model_name for step in atif.steps))))
    yield ForeignTrace(
        format="atif",
        name=name,
        agent=f"{atif.agent.name} {atif.agent.version}".strip(),
        model=", ".join(models),
        events=events,
        own=own if isinstance(own, dict) else {},
        faults=tuple(reading.faults),
    )
    for number, inner in enumerate(atif.subagent_trajectories or (), start=1):
        if depth < _DEEPEST:
            yield from _traces(inner, f"{name}, subagent {inner.trajectory_id or number}", folder, depth + 1)


class _Reading:
    """The events of one trajectory, and what could not be read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.faults: list[str] = []

    def events(self, step: _Step) -> Iterator[Event]:
        if step.is_copied_context:
            self.faults.append(f"step {step.step_id} is copied from an earlier trajectory")
        text, pictures = self._content(step.message, step.step_id)
        if step.reasoning_content is not None:
            yield Words("assistant", step.reasoning_content, is_thought=True)
        role: Literal["system", "user", "assistant"] = "assistant" if step.source == "agent" else step.source
        if text or pictures or role != "assistant":
            yield Words(role, text, pictures=pictures)
        for call in step.tool_calls or ():
            yield Call(call.tool_call_id, call.function_name, call.arguments)
        for result in step.observation.results if step.observation else ():
            text, pictures = self._content(result.content or "", step.step_id)
            for reference in result.subagent_trajectory_ref or ():
                where = reference.trajectory_id or reference.trajectory_path
                self.faults.append(f"step {step.step_id} refers to the subagent {where!r:.200}")
            ok = (result.extra or {}).get("is_error") is not True
            yield Result(result.source_call_id or "", text, pictures, ok)

    def _content(self, content: _Content, step: int) -> tuple[str, tuple[bytes, ...]]:
        """Return the text and the pictures of a message or result; what else is in it is a fault."""
        if isinstance(content, str):
            return content, ()
        texts, pictures = [], []
        for part in content:
            if part.type == "text" and part.text is not None:
                texts.append(part.text)
            elif part.source is None:
                self.faults.append(f"step {step}: a part of type {part.type!r:.60} was left out")
            elif (picture := self._picture(part.source.path)) is not None:
                pictures.append(picture)
            else:
                self.faults.append(f"step {step}: the picture {part.source.path!r:.200} is no file beside the log")
        return "\n".join(texts), tuple(pictures)

    def _picture(self, path: str) -> bytes | None:
        try:
            file = (self._folder / path).resolve()
            if "://" in path or not file.is_relative_to(self._folder) or not file.is_file():
                return None
            return file.read_bytes() if file.stat().st_size <= LARGEST_PICTURE else None
        except (OSError, ValueError, RuntimeError):
            # A NUL, a lone surrogate, 4,000 letters, a link to itself.
            return None


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
    thoughts: list[str] = []
    for step in trajectory.steps:
        if isinstance(step, Think):
            # One thought per step: joined ones could not be told apart.
            steps += _thinking(thoughts)
            thoughts = [step.text]
            continue
        last: dict[str, Any] = {"source": "agent", "message": "", **_thought(thoughts)}
        thoughts = []
        if isinstance(step, Zoom):
            call = {"tool_call_id": step.id, "function_name": step.tool, "arguments": dict(step.arguments)}
            content = _content(step.observation, step.picture, pictures)
            result = {"source_call_id": step.id, "content": content, "extra": {"is_error": not step.ok}}
            last |= {"tool_calls": [call], "observation": {"results": [result]}}
        else:
            last["message"] = answer_text(step)
        steps.append(last)
    steps += _thinking(thoughts)
    name = trajectory.drafter.name
    return {
        "schema_version": VERSION,
        "session_id": trajectory.content_hash(),
        "agent": {"name": _AGENT, "version": "1", **({"model_name": name} if name else {})},
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, start=1)],
        "extra": {**(extra or {}), KEY: extra_of(trajectory)},
    }


def _thought(thoughts: Sequence[str]) -> dict[str, str]:
    return {"reasoning_content": thoughts[0]} if thoughts else {}


def _thinking(thoughts: Sequence[str]) -> list[dict[str, Any]]:
    return [{"source": "agent", "message": "", **_thought(thoughts)}] if thoughts else []


def _content(text: str, sha256: str | None, pictures: Mapping[str, str]) -> str | list[dict[str, Any]]:
    path = pictures.get(sha256 or "")
    if path is None:
        return text
    image = {"type": "image", "source": {"media_type": "image/png", "path": path}}
    return [image, {"type": "text", "text": text}]
