"""One conversation of many model calls, each of which repeats the conversation so far."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import replace

from agent.foreign.messages import MOST_EVENTS, NUMBERED, Messages
from agent.foreign.record import Call, Event, Result, Words
from agent.language import deferred


class Conversation:
    """The events of model calls that are added in their order, each event once.

    A history may lack events (a client that drops reasoning, or the oldest turns) and may begin with new ones (a
    summary). An event is known again by the id of its call, else by its words.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.faults: list[str] = []
        self._places: dict[Hashable, list[int]] = {}
        self._spoken: set[str] = set()

    def continues(self, history: Messages) -> bool:
        """Return whether a history has something that the model said or called here."""
        calls = {event.id for event in self.events if isinstance(event, Call)}
        return any(
            (event.call_id in calls if isinstance(event, Result) else _key(event) in self._places)
            for event in history.events
            if not isinstance(event, Words) or event.role == "assistant"
        )

    def add(self, history: Messages, answer: Messages, is_new: bool = True) -> None:
        """Add a model call: what the model was sent, and what it answered; ``is_new``: the answer cannot be known."""
        self._note_faults(history, answer)
        if len(self.events) + len(answer.events) > MOST_EVENTS:
            self.faults = [deferred("only the first {n} events are read", n=MOST_EVENTS)]
            return
        at = 0
        new: list[Event] = []
        inserted: list[tuple[int, Event]] = []
        for event in history.events if is_new else history.events + answer.events:
            places = self._places.get(_key(event), [])
            i = bisect_left(places, at)
            if i < len(places):
                inserted.extend((places[i], event) for event in new)
                at, new = places[i] + 1, []
            elif not (places and not isinstance(event, Words)) and not self._is_rewritten(event):
                new.append(event)
        if inserted:
            for place, event in reversed(inserted):
                self.events.insert(place, event)
            self._places = {}
            self._note(self.events, 0)
        self._append([*new, *answer.events] if is_new else new)

    def complete(self, results: Messages) -> None:
        """Add what the runs of the tools say: results that no history has, after their calls; failures."""
        self._note_faults(results)
        given = {result.call_id: result for result in results.events if isinstance(result, Result)}
        known = {event.call_id for event in self.events if isinstance(event, Result)}
        events: list[Event] = []
        waiting: list[Event] = []
        for event in self.events:
            if isinstance(event, Words):
                events += waiting
                waiting = []
            elif isinstance(event, Call) and event.id in given and event.id not in known:
                waiting.append(given[event.id])
            elif isinstance(event, Result) and event.call_id in given:
                event = replace(event, ok=event.ok and given[event.call_id].ok)
            events.append(event)
        self.events = [*events, *waiting]
        self._places, self._spoken = {}, set()
        self._note(self.events, 0)

    def _note_faults(self, *read: Messages) -> None:
        self.faults = list(dict.fromkeys([*self.faults, *(sentence for each in read for sentence in each.faults)]))

    def _append(self, events: Sequence[Event]) -> None:
        self._note(events, len(self.events))
        self.events.extend(events)

    def _note(self, events: Sequence[Event], first: int) -> None:
        for place, event in enumerate(events, start=first):
            self._places.setdefault(_key(event), []).append(place)
            self._spoken |= _lines(event)

    def _is_rewritten(self, event: Event) -> bool:
        """Whether it is something that the model wrote, with its parts joined or other white space."""
        lines = _lines(event)
        return bool(lines) and lines <= self._spoken


def _lines(event: Event) -> set[str]:
    """Return the lines that the model wrote, without white space."""
    if not isinstance(event, Words) or event.role != "assistant":
        return set()
    return {"".join(line.split()) for line in event.text.splitlines()} - {""}


def _key(event: Event) -> Hashable:
    match event:
        case Call():
            return event.name, (json.dumps(event.arguments) if event.id.startswith(NUMBERED) else event.id)
        case Result():
            return "result", (event.text if event.call_id.startswith(NUMBERED) else event.call_id)
        case Words():
            return event.role, event.is_thought, event.text.strip() or event.pictures
