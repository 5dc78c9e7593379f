"""Approved traces as logs of agents, for ``exports.export``: ATIF files with their pictures, or one log of Inspect.

``agent.foreign`` reads them back with the same content hash. Two ATIF exports of one state have the same bytes; a log
of Inspect states when it was written.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from zipfile import ZIP_DEFLATED, ZipFile

from agent.foreign.atif import atif_of
from agent.foreign.own import KEY, answer_text, extra_of
from agent.language import tr
from agent.trajectory import Think, Trajectory, Zoom
from reviewer.exchange.exports import ExportError, Layout, LeftOut, file_hash, write_file
from reviewer.exchange.item import ApprovedItem, NotTrainable, shown_pictures
from reviewer.exchange.manifest import ManifestParts

LogFormat = Literal["atif", "inspect"]
REVIEW = "spec_o3_review"
"""The key of who decided what, in the extra data of a trace."""


def layout_of_logs(form: LogFormat) -> Layout:
    """Return the layout of an export as logs. :raises ExportError: inspect_ai is missing"""
    if form == "inspect":
        inspect_ai_or_refuse()
    return Layout(f"spec-o3/export-{form}/1", _write_atif if form == "atif" else _write_inspect)


def inspect_ai_or_refuse() -> None:
    """:raises ExportError: the extra ``inspect`` is not installed"""
    try:
        import inspect_ai  # noqa: F401
    except ImportError as error:
        raise ExportError(
            tr('found no inspect_ai, which writes logs of Inspect; expected: pip install "spec-o3[inspect]"')
        ) from error


def _shown(
    approved: Iterable[ApprovedItem], left_out: list[LeftOut]
) -> Iterator[tuple[str, ApprovedItem, dict[str, bytes]]]:
    """Yield each trace with its name and its PNG files by the hash of the pixels; add the others to ``left_out``."""
    for item in approved:
        try:
            files = {picture.sha256: picture.png for picture in shown_pictures(item)}
        except NotTrainable as reason:
            left_out.append(LeftOut(item.item_id, reason.args[0]))
        else:
            yield f"{item.trajectory.task}_{item.item_id}", item, files


def _write_atif(part: Path, approved: Iterable[ApprovedItem], parts: ManifestParts) -> list[LeftOut]:
    (part / "images").mkdir()
    left_out: list[LeftOut] = []
    for name, item, files in _shown(approved, left_out):
        paths = {sha256: f"images/{name}_{number}.png" for number, sha256 in enumerate(files)}
        text = json.dumps(atif_of(item.trajectory, paths, {REVIEW: item.provenance}), ensure_ascii=False, indent=1)
        contents = {path: files[sha256] for sha256, path in paths.items()} | {f"{name}.json": f"{text}\n".encode()}
        parts.add_files({path: write_file(part / path, data) for path, data in contents.items()})
        parts.add_item(item.provenance)
    return left_out


def _write_inspect(part: Path, approved: Iterable[ApprovedItem], parts: ManifestParts) -> list[LeftOut]:
    """Write a log whose samples are in memory one at a time, which ``write_eval_log`` cannot."""
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSpec

    left_out: list[LeftOut] = []
    summaries: dict[str, Any] = {}
    path = part / "traces.eval"
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, item, files in _shown(approved, left_out):
            sample = _sample(name, item.trajectory, files, item.provenance)
            archive.writestr(f"samples/{name}_epoch_1.json", sample.model_dump_json(exclude_none=True))
            summaries[name] = sample.summary().model_dump(mode="json", exclude_none=True)
            parts.add_item(item.provenance)
        spec = EvalSpec(
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            task="spec_o3_reviewed",
            model="spec-o3/reviewed",
            dataset=EvalDataset(name="reviewed", samples=len(summaries), sample_ids=list(summaries)),
            config=EvalConfig(),
        )
        archive.writestr("summaries.json", json.dumps(list(summaries.values())))
        archive.writestr("header.json", EvalLog(status="success", eval=spec).model_dump_json(exclude_none=True))
    parts.add_files({path.name: file_hash(path)})
    return left_out


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
