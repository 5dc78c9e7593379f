"""Export approved traces as logs of agents: ATIF files with their pictures, or one log of Inspect.

``agent.foreign`` reads them back with the same content hash. ``manifest.json`` is written last. Two ATIF exports of
one state have the same bytes; a log of Inspect states when it was written.
"""

from __future__ import annotations

import base64
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from agent.foreign.atif import atif_of
from agent.foreign.own import KEY, answer_text, extra_of
from agent.language import tr
from agent.trajectory import Think, Trajectory, Zoom
from reviewer.exchange.exports import (
    MANIFEST,
    ExportError,
    LeftOut,
    NothingToExport,
    folder_of,
    items_for,
    put_in_place,
    target_of,
)
from reviewer.exchange.item import NotTrainable, read_approved, shown_pictures
from reviewer.store import Store

LogFormat = Literal["atif", "inspect"]
SCHEMA = "spec-o3/export-logs/1"
REVIEW = "spec_o3_review"
"""The key of who decided what, in the extra data of a trace."""


@dataclass(frozen=True)
class LogsExported:
    """A complete export of ``traces`` logs."""

    folder: Path
    traces: int
    left_out: tuple[LeftOut, ...]


def export_logs(
    store: Store,
    name: str,
    form: LogFormat,
    person: str | None = None,
    folder: Path | None = None,
    task: str | None = None,
    batch: str | None = None,
    include_simulated: bool = True,
    replace: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> LogsExported:
    """Write the approved traces to ``folder/name``; the parameters are those of ``exports.export``.

    :raises ExportError: the name cannot be used or is taken, there is nothing to export, or inspect_ai is missing
    :raises OSError: nothing can be written there; what was there is as it was
    """
    if form == "inspect":
        inspect_ai_or_refuse()
    folder = folder or folder_of(store)
    target = target_of(folder, name, replace)
    items, blind = items_for(store, person, task, batch)
    left_out, written, samples = list(blind), list[str](), list[Any]()
    folder.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{name}.", suffix=".part", dir=folder))
    try:
        for number, item_id in enumerate(items):
            if progress is not None:
                progress(number, len(items))
            approved = read_approved(store, item_id)
            if approved is None or (approved.trajectory.simulated and not include_simulated):
                continue
            try:
                files = {picture.sha256: picture.png for picture in shown_pictures(approved)}
            except NotTrainable as reason:
                left_out.append(LeftOut(item_id, reason.args[0]))
                continue
            trace = f"{approved.trajectory.task}_{item_id}"
            if form == "atif":
                _write_atif(part, trace, approved.trajectory, files, approved.provenance)
            else:
                samples.append(_sample(trace, approved.trajectory, files, approved.provenance))
            written.append(trace)
        if not written:
            raise NothingToExport(tr("found no approved item that matches, expected at least one"))
        if samples:
            _write_inspect(part / "traces.eval", samples)
        manifest = {
            "schema": SCHEMA,
            "format": form,
            "traces": written,
            "left_out": [{"item": row.item_id, "reason": row.reason} for row in left_out],
        }
        (part / MANIFEST).write_text(json.dumps(manifest, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        put_in_place(part, target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return LogsExported(target, len(written), tuple(left_out))


def inspect_ai_or_refuse() -> None:
    """:raises ExportError: the extra ``inspect`` is not installed"""
    try:
        import inspect_ai  # noqa: F401
    except ImportError as error:
        raise ExportError(
            tr('found no inspect_ai, which writes logs of Inspect; expected: pip install "spec-o3[inspect]"')
        ) from error


def _write_atif(
    part: Path, name: str, trajectory: Trajectory, files: Mapping[str, bytes], provenance: Mapping[str, Any]
) -> None:
    (part / "images").mkdir(exist_ok=True)
    paths = {sha256: f"images/{name}_{number}.png" for number, sha256 in enumerate(files)}
    for sha256, path in paths.items():
        (part / path).write_bytes(files[sha256])
    text = json.dumps(atif_of(trajectory, paths, {REVIEW: provenance}), ensure_ascii=False, indent=1)
    (part / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def _sample(name: str, trajectory: Trajectory, files: Mapping[str, bytes], provenance: Mapping[str, Any]) -> Any:
    """Return a trace as an ``EvalSample``: its messages, and a score per decision of a person."""
    from inspect_ai import model
    from inspect_ai.log import EvalSample
    from inspect_ai.scorer import Score
    from inspect_ai.tool import ToolCall, ToolCallError

    def content(text: str, sha256: str | None) -> str | list[Any]:
        if sha256 is None or sha256 not in files:
            return text
        data = base64.b64encode(files[sha256]).decode("ascii")
        return [model.ContentImage(image=f"data:image/png;base64,{data}"), model.ContentText(text=text)]

    prompt = model.ChatMessageUser(id="user", content=content(trajectory.prompt, trajectory.overview))
    messages: list[Any] = [model.ChatMessageSystem(id="system", content=trajectory.system), prompt]
    thoughts: list[Any] = []
    for number, step in enumerate(trajectory.steps):
        key = f"{number}"
        if isinstance(step, Think):
            thoughts.append(model.ContentReasoning(reasoning=step.text))
            continue
        if isinstance(step, Zoom):
            call = ToolCall(id=step.id, function=step.tool, arguments=dict(step.arguments))
            error = None if step.ok else ToolCallError("unknown", step.observation)
            messages += [
                model.ChatMessageAssistant(id=key, content=thoughts, tool_calls=[call]),
                model.ChatMessageTool(
                    id=f"{key}-result",
                    content=content(step.observation, step.picture),
                    tool_call_id=step.id,
                    function=step.tool,
                    error=error,
                ),
            ]
        else:
            answer = model.ContentText(text=answer_text(step))
            messages.append(model.ChatMessageAssistant(id=key, content=[*thoughts, answer]))
        thoughts = []
    if thoughts:
        messages.append(model.ChatMessageAssistant(id="last", content=thoughts))
    scores = {"state": Score(value="approved", answer=provenance["verdict"])}
    for number, decision in enumerate(provenance["decisions"], start=1):
        scores[f"decision {number}"] = Score(
            value=decision["verb"], explanation=decision["reason"] or None, metadata=dict(decision)
        )
    return EvalSample(
        id=name,
        epoch=1,
        input=[prompt],
        target=trajectory.label or "",
        messages=messages,
        scores=scores,
        metadata={KEY: extra_of(trajectory), REVIEW: dict(provenance)},
        uuid=trajectory.content_hash(),
    )


def _write_inspect(path: Path, samples: list[Any]) -> None:
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSpec, write_eval_log

    spec = EvalSpec(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        task="spec_o3_reviewed",
        model="spec-o3/reviewed",
        dataset=EvalDataset(name="reviewed", samples=len(samples), sample_ids=[sample.id for sample in samples]),
        config=EvalConfig(),
    )
    write_eval_log(EvalLog(status="success", eval=spec, samples=samples), str(path), format="eval")
