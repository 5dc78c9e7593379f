"""Split a session in which an agent vetted several spectra, or one for several tasks, into one trace per inspection."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agent.foreign.convert import OPEN, SUBMIT, own_name, stated
from agent.foreign.record import Call, Event, ForeignTrace, Result, Words

_Key = tuple[str, str]
"""A handle of our server, and the task of the next verdict on it."""


def inspections(trace: ForeignTrace) -> Iterator[ForeignTrace]:
    """Yield one trace per handle and task that the calls name; the trace itself if there is one at most.

    What the agent writes, and its calls of other tools, belong to its next call on a handle, those behind the last to
    the last. The prompt belongs to all.
    """
    keys = {} if trace.own else _keys(trace)
    parts: dict[_Key, list[Event]] = {key: [] for key in dict.fromkeys(keys.values())}
    if len(parts) < 2:
        yield trace
        return
    prompt: list[Event] = []
    waiting: list[Event] = []
    last = next(iter(parts))
    for number, event in enumerate(trace.events):
        if len(prompt) == number and isinstance(event, Words) and event.role != "assistant":
            prompt.append(event)
            continue
        call = event.id if isinstance(event, Call) else event.call_id if isinstance(event, Result) else ""
        if call not in keys:
            waiting.append(event)
            continue
        last = keys[call]
        opens = isinstance(event, Call) and own_name(event.name) == OPEN
        opens |= isinstance(event, Result) and bool(stated(event.text).get("handle"))
        parts[last] += waiting
        waiting = []
        for key, part in parts.items():
            if key == last or (opens and key[0] == last[0]):
                part.append(event)
    parts[last] += waiting
    for number, part in enumerate(parts.values(), start=1):
        yield replace(trace, name=f"{trace.name}, inspection {number}", events=(*prompt, *part))


def _keys(trace: ForeignTrace) -> dict[str, _Key]:
    """Return the inspection of each call on a handle, in the order of the calls, by the id of the call."""
    opened = {
        event.call_id: stated(event.text).get("handle", "") for event in trace.events if isinstance(event, Result)
    }
    handles = []
    for call in (event for event in trace.events if isinstance(event, Call)):
        name = own_name(call.name)
        handle = opened.get(call.id, "") if name == OPEN else str(call.arguments.get("handle") or "") if name else ""
        if handle:
            handles.append((call, name, handle))
    tasks: dict[str, str] = {}
    for call, name, handle in handles:
        if name == SUBMIT:
            tasks[handle] = str(call.arguments.get("task") or "")
    keys = []
    for call, name, handle in reversed(handles):
        if name == SUBMIT:
            tasks[handle] = str(call.arguments.get("task") or "")
        keys.append((call.id, (handle, tasks.get(handle, ""))))
    return dict(reversed(keys))
