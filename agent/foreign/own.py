"""What a trajectory has and other formats lack, as extra data in an export; the texts stay where the format has them.

``extra_of`` writes it and ``agent.foreign.convert`` reads it, so that a trace that went out comes back with the same
content hash. Where the log was changed since, the extra data no longer fit the steps and are not used.
"""

from __future__ import annotations

from typing import Any

from agent.trajectory import Answer, Trajectory

KEY = "spec_o3"
"""The key of the extra data in each format."""
_TEXTS = {"text", "explanation", "observation", "arguments"}
"""Keys of a step that every format has a place for."""


def extra_of(trajectory: Trajectory) -> dict[str, Any]:
    """Return the JSON form of a trajectory without system message, prompt and the texts and arguments of its steps."""
    form = trajectory.to_json()
    form["steps"] = [{key: value for key, value in step.items() if key not in _TEXTS} for step in form["steps"]]
    del form["system"], form["prompt"]
    return form


def answer_text(answer: Answer) -> str:
    r"""Return the text of an answer in a log: the verdict in its box, and the explanation."""
    return f"\\boxed{{{answer.verdict or ''}}} {answer.explanation}"
