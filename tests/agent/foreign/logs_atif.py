"""Logs of ATIF as a client of our server leaves them: without extra data of ours."""

import json
from pathlib import Path
from typing import Any

from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from tests.agent.foreign.turns import SYSTEM, prompt_of, turns


def examples(trajectory: Trajectory, spectrum: Spectrum, folder: Path) -> Path:
    steps: list[dict[str, Any]] = [
        {"source": "system", "message": SYSTEM},
        {"source": "user", "message": prompt_of(trajectory)},
    ]
    for number, turn in enumerate(turns(trajectory, spectrum)):
        steps += [
            {"source": "agent", "message": "", "reasoning_content": text}
            if n % 2
            else {"source": "agent", "message": text}
            for n, text in enumerate(turn.thoughts)
        ]
        content: list[dict[str, Any]] = [{"type": "text", "text": turn.result.text}]
        for n, picture in enumerate(turn.result.pictures):
            (folder / f"{number}-{n}.png").write_bytes(picture)
            content.append({"type": "image", "source": {"media_type": "image/png", "path": f"{number}-{n}.png"}})
        call = {"tool_call_id": turn.call.id, "function_name": turn.call.name, "arguments": dict(turn.call.arguments)}
        result = {"source_call_id": turn.call.id, "content": content}
        steps.append({"source": "agent", "message": "", "tool_calls": [call], "observation": {"results": [result]}})
    steps.append({"source": "agent", "message": "Done."})
    return write(folder / "run.json", steps)


def write(path: Path, steps: list[dict[str, Any]]) -> Path:
    log = {
        "schema_version": "ATIF-v1.7",
        "agent": {"name": "harbor-agent", "version": "1.0", "model_name": "model-x"},
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, start=1)],
    }
    path.write_text(json.dumps(log), encoding="utf-8")
    return path
