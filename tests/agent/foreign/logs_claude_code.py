"""Sessions as Claude Code 2 writes them: a line for each block of an answer, results as lines of the user."""

import base64
import json
from pathlib import Path
from typing import Any

from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from tests.agent.foreign.turns import prompt_of, turns

SESSION = "b1a5e0c2-0000-4000-8000-000000000000"


def examples(trajectory: Trajectory, spectrum: Spectrum, folder: Path) -> Path:
    rows = [
        {"type": "summary", "summary": "Vetting", "leafUuid": "x"},
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}, "isSnapshotUpdate": False},
        user("u0", None, prompt_of(trajectory)),
    ]
    last = "u0"
    for number, turn in enumerate(turns(trajectory, spectrum)):
        blocks = [
            {"type": "thinking", "thinking": t, "signature": "s"} if n % 2 else {"type": "text", "text": t}
            for n, t in enumerate(turn.thoughts)
        ]
        call = {"type": "tool_use", "id": turn.call.id, "name": turn.call.name, "input": dict(turn.call.arguments)}
        for n, block in enumerate([*blocks, call]):
            rows.append(assistant(f"a{number}.{n}", last, f"msg_{number}", block))
            last = f"a{number}.{n}"
        rows.append({"type": "progress", "uuid": f"p{number}", "parentUuid": last, "sessionId": SESSION, "data": {}})
        rows.append(
            user(f"u{number + 1}", last, [result(turn.call.id, turn.result.text, turn.result.pictures, turn.result.ok)])
        )
        last = f"u{number + 1}"
    rows.append(assistant("end", last, "msg_end", {"type": "text", "text": "Done."}))
    return write(folder / "session.jsonl", rows)


def user(uuid: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    return _record("user", uuid, parent, {"role": "user", "content": content}) | more


def assistant(uuid: str, parent: str | None, answer: str, block: dict[str, Any], **more: Any) -> dict[str, Any]:
    message = {"id": answer, "type": "message", "role": "assistant", "model": "claude-x", "content": [block]}
    usage = {"input_tokens": 3, "output_tokens": 5}
    return _record("assistant", uuid, parent, {**message, "stop_reason": None, "usage": usage}) | more


def result(call: str, text: str, pictures: tuple[bytes, ...] = (), ok: bool = True) -> dict[str, Any]:
    source = {"type": "base64", "media_type": "image/png"}
    images = [{"type": "image", "source": {**source, "data": base64.b64encode(p).decode()}} for p in pictures]
    content: Any = [{"type": "text", "text": text}, *images] if images else text
    return {"type": "tool_result", "tool_use_id": call, "content": content} | ({} if ok else {"is_error": True})


def _record(kind: str, uuid: str, parent: str | None, message: dict[str, Any]) -> dict[str, Any]:
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/astronomer",
        "sessionId": SESSION,
        "version": "2.1.220",
        "gitBranch": "",
        "type": kind,
        "message": message,
        "uuid": uuid,
        "timestamp": "2026-11-01T00:00:00.000Z",
    }


def write(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
