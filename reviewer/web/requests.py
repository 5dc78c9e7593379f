"""Requests of the Review page, validated field by field."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from agent.spectrum.record import Medium
from reviewer.rules.inspection import LONGEST_COMMENT
from reviewer.rules.workflow import State, Verb
from reviewer.store import MarkKind, OwnVerdict, QueueFilter, TrialOutcome

Key = Annotated[str, Field(min_length=8, max_length=100)]
Text = Annotated[str, Field(max_length=20_000)]


def _fit_for_json(value: Any) -> Any:
    """Check that a value is standard JSON. :raises ValueError: half a surrogate pair, infinity, or too deep nesting"""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise ValueError(f"found a value that JSON cannot hold ({error})") from None
    return value


Object = Annotated[dict[str, Any], AfterValidator(_fit_for_json)]
"""A JSON object that can be stored and sent back unchanged."""


class Sent(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ToolCall(Sent):
    """A tool call on an item's spectrum; the hints are measured for the item's task."""

    item: int
    arguments: Object


class Autosaved(Sent):
    base: int
    steps: Annotated[list[Object], Field(max_length=200)]
    comment: Text = ""
    after: str | None = None
    """When the server last saved this page's text; None: never."""


class Texts(Sent):
    """The steps whose texts are compared with the tool calls and the data."""

    steps: Annotated[list[Object], Field(max_length=200)]


class Saved(Sent):
    """The steps of a new version; the server adds the rest."""

    base: int
    steps: Annotated[list[Object], Field(max_length=200)]
    reason: Text = ""
    key: Key
    lease: str


class MediumStated(Sent):
    """The medium of the wavelengths, where the file does not state it."""

    base: int
    medium: Medium
    key: Key
    lease: str


Seconds = Annotated[float, Field(ge=0, le=1e8, allow_inf_nan=False)]


class Worked(Sent):
    """The time that the person worked on the item; ``reviewer.store.WorkTime`` describes it."""

    elapsed: Seconds
    active: Seconds


class Decided(Sent):
    version: int
    verb: Verb
    key: Key
    lease: str
    reason: str = ""
    comment: Text = ""
    worked: Worked | None = None
    confirmed: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Number of disagreements between texts and tool calls that the person has confirmed."""


class Undone(Sent):
    key: Key


class Marked(Sent):
    version: int
    step: Annotated[str, Field(max_length=40)]
    mark: MarkKind
    note: Text = ""
    key: Key


class OwnVerdictGiven(Sent):
    version: int
    verdict: OwnVerdict


class Inspected(Sent):
    """A person's inspection of a spectrum; ``reviewer.rules.inspection`` checks the values."""

    key: Key
    z: Annotated[float | None, Field(allow_inf_nan=False)] = None
    quality: int | None = None
    issues: Annotated[str, Field(max_length=10)] = ""
    spectype: Literal["", "STAR", "GALAXY", "QSO"] = ""
    comment: Annotated[str, Field(max_length=LONGEST_COMMENT)] = ""


class NextWanted(Sent):
    """The next item by value of information; ``shown`` is the item that the person has open."""

    key: Key
    shown: int | None = None


class LeaseToken(Sent):
    lease: str


def queue_filter(
    task: str | None = None,
    state: Annotated[list[State] | None, Query()] = None,
    survey: str | None = None,
    snr_min: float | None = None,
    snr_max: float | None = None,
    drafter: str | None = None,
    batch: str | None = None,
    disagreement: bool | None = None,
    simulated: bool | None = None,
    trial: TrialOutcome | None = None,
    text: Annotated[str, Query(max_length=200)] = "",
    mine: bool = False,
) -> QueueFilter:
    """Return the queue's filter from query parameters; empty ones do not filter."""
    return QueueFilter(
        task=task or None,
        states=tuple(state or ()),
        survey=survey or None,
        snr_min=snr_min,
        snr_max=snr_max,
        drafter=drafter or None,
        batch=batch or None,
        disagreement=disagreement,
        simulated=simulated,
        trial=trial,
        text=text,
        mine=mine,
    )
