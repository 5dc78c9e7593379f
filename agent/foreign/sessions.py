"""Split a session in which an agent vetted several spectra, or one for several tasks, into one trace per inspection."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agent.foreign.convert import OPEN, SUBMIT, own_name, stated
from agent.foreign.messages import text
from agent.foreign.record import Call, Event, ForeignTrace, Result, Words

_Key = tuple[str, str]
"""A handle of our server, and the task of the next verdict on it, or of the last."""


def inspections(trace: ForeignTrace) -> Iterator[ForeignTrace]:
    """Yield one trace per handle and task that the calls name; the trace itself if there is one at most.

    What the agent writes, and its calls of other tools, belong to its next call on a handle, those behind the last to
    the last. The prompt belongs to all, and what opened a handle to each of its tasks.
    """
    keys, openings = ({}, set[str]()) if trace.own else _keys(trace)
    parts: dict[_Key, list[Event]] = {key: [] for key in dict.fromkeys(keys.values())}
    if len(parts) < 2:
        yield trace
        return
    first = next(n for n, event in enumerate(trace.events) if not isinstance(event, Words) or event.role == "assistant")
    waiting: list[Event] = []
    last = next(iter(parts))
    for event in trace.events[first:]:
        call = event.id if isinstance(event, Call) else event.call_id if isinstance(event, Result) else ""
        if call not in keys:
            waiting.append(event)
            continue
        last = keys[call]
        parts[last] += waiting
        waiting = []
        for key, part in parts.items():
            if key == last or (call in openings and key[0] == last[0]):
                part.append(event)
    parts[last] += waiting
    for number, part in enumerate(parts.values(), start=1):
        yield replace(trace, name=f"{trace.name}, inspection {number}", events=(*trace.events[:first], *part))


def _keys(trace: ForeignTrace) -> tuple[dict[str, _Key], set[str]]:
    """Return the inspection of each call on a handle, in the order of the calls, by the id of the call; and the ids of
    those that opened a handle.
    """
    results = {event.call_id: event.text for event in trace.events if isinstance(event, Result)}
    keys: dict[str, _Key] = {}
    openings = set[str]()
    calls = [event for event in trace.events if isinstance(event, Call) and own_name(event.name)]
    submitted = [call for call in calls if own_name(call.name) == SUBMIT]
    tasks = {text(call.arguments.get("handle")): text(call.arguments.get("task")) for call in submitted}
    for call in reversed(calls):
        name, handle = own_name(call.name), text(call.arguments.get("handle"))
        if name == OPEN:
            handle = stated(results.get(call.id, "")).get("handle", "")
            openings.add(call.id)
        if name == SUBMIT:
            tasks[handle] = text(call.arguments.get("task"))
        if handle:
            keys[call.id] = (handle, tasks.get(handle, ""))
    return dict(reversed(keys.items())), openings
