"""What a trajectory has and other formats lack, as extra data in an export; the texts stay where the format has them.

``extra_of`` writes it and ``restored`` reads it, so that a trace that went out comes back with the same content hash.
Where the log was changed since, the extra data no longer fit the events and are not used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent.foreign.record import Call, Event, Result, Words
from agent.tool import TOOL_NAME
from agent.trajectory import Answer, Trajectory, TrajectoryError

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
    return f"{_box(answer.verdict)}{answer.explanation}"


def _box(verdict: object) -> str:
    return f"\\boxed{{{verdict or ''}}} "


def restored(
    own: Mapping[str, Any], events: Sequence[Event], hash_of: Callable[[bytes], str | None]
) -> Trajectory | None:
    """Return the trajectory of an export of ours; None if the extra data do not fit the events.

    :param hash_of: returns the SHA-256 of a picture's RGBA bytes, None if it is no picture
    """
    opening = {event.role: event for event in events if isinstance(event, Words) and event.role != "assistant"}
    results = {event.call_id: event for event in events if isinstance(event, Result)}
    written = [e for e in events if isinstance(e, Call) or (isinstance(e, Words) and e.role == "assistant")]
    steps = own.get("steps")
    is_complete = len(opening) + len(results) + len(written) == len(events)
    if not is_complete or not isinstance(steps, list) or len(steps) != len(written):
        return None
    whole = []
    for step, event in zip(steps, written, strict=True):
        texts = _texts(step, event, results, hash_of) if isinstance(step, Mapping) else None
        if texts is None:
            return None
        whole.append({**step, **texts})
    # An empty text is no event.
    system, user = (opening.get(role, Words(role, "")) for role in ("system", "user"))
    overview = {hash_of(picture) for picture in user.pictures}
    if results or (overview and own.get("overview") not in overview):
        return None
    try:
        return Trajectory.from_json({**own, "steps": whole, "system": system.text, "prompt": user.text})
    except TrajectoryError:
        return None


def _texts(
    step: Mapping[str, Any], event: Event, results: dict[str, Result], hash_of: Callable[[bytes], str | None]
) -> dict[str, Any] | None:
    """Return the texts of a step from the event that is its own, and remove its result; None if the two do not fit."""
    match step.get("kind"), event:
        case "think", Words(is_thought=True):
            return {"text": event.text}
        case "answer", Words(is_thought=False) if event.text.startswith(box := _box(step.get("verdict"))):
            return {"explanation": event.text.removeprefix(box)}
        case "zoom", Call() if event.name == (step.get("tool") or TOOL_NAME) and event.id in results:
            result = results.pop(event.id)
            pictures = {hash_of(picture) for picture in result.pictures}
            fits = not pictures or step.get("picture") in pictures
            return {"arguments": dict(event.arguments), "observation": result.text} if fits else None
    return None
