"""One conversation of many model calls, each of which repeats the conversation so far."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable
from dataclasses import replace

from agent.foreign.messages import MOST_EVENTS, NUMBERED, Messages
from agent.foreign.record import Call, Event, Result, Words
from agent.language import deferred


class Conversation:
    """The events of model calls that are added in their order, each event once.

    A history may lack events (a client that drops reasoning, or the oldest turns) and may have new ones (a summary). An
    event is known again by the id of its call, else by its words.

    :param span: id of the span of its agent, "" if it has none
    :param format: of its messages
    :param agent: name of the agent
    """

    def __init__(self, span: str, format: str, agent: str) -> None:
        self.span, self.format, self.agent, self.model = span, format, agent, ""
        self.events: list[Event] = []
        self.faults: list[str] = []
        self._counts: Counter[Hashable] = Counter()
        self._written: set[str] = set()

    def continues(self, messages: Messages) -> bool:
        """Return whether a model call was sent something that the model wrote or called here; True if it did nothing
        here yet.
        """
        history = [event for event in messages.events[: messages.sent] if _is_the_models(event)]
        calls = {("call", event.call_id) for event in history if isinstance(event, Result)}
        is_open = not any(map(_is_the_models, self.events))
        return is_open or any(key in self._counts for key in calls.union(map(_key, history)))

    def add(self, messages: Messages) -> None:
        """Add a model call: what the model was sent, and what it answered."""
        self.faults = list(dict.fromkeys([*self.faults, *messages.faults]))
        repeated: Counter[Hashable] = Counter()
        for number, event in enumerate(messages.events):
            key, lines = _key(event), _lines(event)
            repeated[key] += 1
            is_rewritten = bool(lines) and lines <= self._written  # its parts joined, or other white space
            if number < messages.sent and (repeated[key] <= self._counts[key] or is_rewritten):
                continue
            if len(self.events) >= MOST_EVENTS:
                self.faults = [deferred("only the first {n} events are read", n=MOST_EVENTS)]
                return
            self._counts[key] += 1
            self._written |= lines
            self.events.append(event)

    def complete(self, results: Messages) -> None:
        """Add what the runs of the tools say: results that no history has, after their calls; failures."""
        given = {result.call_id: result for result in results.events if isinstance(result, Result)}
        known = {event.call_id for event in self.events if isinstance(event, Result)}
        events: list[Event] = []
        for event in self.events:
            if isinstance(event, Result) and event.call_id in given:
                event = replace(event, ok=event.ok and given[event.call_id].ok)
            events.append(event)
            if isinstance(event, Call) and event.id in given.keys() - known:
                events.append(given[event.id])
        self.events = events
        self.faults = list(dict.fromkeys([*self.faults, *results.faults]))


def _is_the_models(event: Event) -> bool:
    """Whether it is what the model wrote, a call of its, or the result of a call."""
    return not isinstance(event, Words) or event.role == "assistant"


def _lines(event: Event) -> set[str]:
    """Return the lines that the model wrote, without white space."""
    if not isinstance(event, Words) or event.role != "assistant":
        return set()
    return {"".join(line.split()) for line in event.text.splitlines()} - {""}


def _key(event: Event) -> Hashable:
    match event:
        case Call():
            return "call", (event.name, json.dumps(event.arguments)) if event.id.startswith(NUMBERED) else event.id
        case Result():
            return "result", event.text if event.call_id.startswith(NUMBERED) else event.call_id
        case Words():
            return event.role, event.is_thought, event.text.strip() or event.pictures
