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
    words = [event for event in events if isinstance(event, Words)]
    system = [event for event in words if event.role == "system"]
    user = [event for event in words if event.role == "user"]
    written = iter([event for event in events if isinstance(event, Call) or _is_the_agents(event)])
    results = [event for event in events if isinstance(event, Result)]
    by_call = {result.call_id: result for result in results}
    steps = own.get("steps")
    if len(system) != 1 or len(user) != 1 or not isinstance(steps, list) or len(by_call) != len(results):
        return None
    whole = []
    for step in steps:
        event = next(written, None)
        texts = _texts(step, event, by_call, hash_of) if isinstance(step, Mapping) else None
        if texts is None:
            return None
        whole.append({**step, **texts})
    overview = {hash_of(picture) for picture in user[0].pictures}
    if next(written, None) is not None or by_call or (overview and own.get("overview") not in overview):
        return None
    try:
        return Trajectory.from_json({**own, "steps": whole, "system": system[0].text, "prompt": user[0].text})
    except TrajectoryError:
        return None


def _is_the_agents(event: Event) -> bool:
    return isinstance(event, Words) and event.role == "assistant"


def _texts(
    step: Mapping[str, Any], event: Event | None, results: dict[str, Result], hash_of: Callable[[bytes], str | None]
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
