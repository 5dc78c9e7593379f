"""Requests of the Review page, validated field by field."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, Self

from fastapi import Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from agent.language import tr
from agent.spectrum.record import Medium
from reviewer.rules.inspection import LONGEST_COMMENT
from reviewer.rules.workflow import State, Verb
from reviewer.store import LARGEST_ID, Discussed, MarkKind, OwnVerdict, QueueFilter, TrialOutcome

Key = Annotated[str, Field(min_length=8, max_length=100)]
Text = Annotated[str, Field(max_length=20_000)]


def _fit_for_json(value: Any) -> Any:
    """Check that a value is standard JSON. :raises ValueError: half a surrogate pair, infinity, or too deep nesting"""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise ValueError(tr("found a value that JSON cannot hold ({error})", error=error)) from None
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
    lease: str | None = None
    """None: the lease is taken in the same transaction."""
    reason: str = ""
    comment: Text = ""
    worked: Worked | None = None
    confirmed: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Number of disagreements between texts and tool calls that the person has confirmed."""
    opens: ItemOpened | None = None
    """The item that the page shows next, whose opening the answer brings."""


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


class NextRequest(Sent):
    """The next item by value of information; ``shown`` is the item that the person has open."""

    key: Key
    shown: int | None = None


class LeaseToken(Sent):
    lease: str


ItemNumber = Annotated[int, Field(ge=1, le=LARGEST_ID)]
_Searched = Annotated[str, Field(max_length=200)]
_Initials = Annotated[str, Field(max_length=20)]
MOST_SELECTED = 100_000
"""Items of a selection, and of a list."""


class Filter(Sent):
    """The filter of the queue; the fields are its query parameters. Empty ones do not filter."""

    task: str | None = None
    state: Annotated[list[State], Field(max_length=50)] = []
    survey: str | None = None
    snr_min: Annotated[float | None, Field(allow_inf_nan=False)] = None
    snr_max: Annotated[float | None, Field(allow_inf_nan=False)] = None
    drafter: str | None = None
    batch: str | None = None
    disagreement: bool | None = None
    simulated: bool | None = None
    trial: TrialOutcome | None = None
    text: _Searched = ""
    mine: bool = False
    words: _Searched = ""
    assigned: _Initials | None = None
    listed: ItemNumber | None = None
    discussed: Discussed | None = None

    def query(self) -> QueueFilter:
        """Return the filter as the store takes it."""
        fields = self.model_dump(exclude={"state"})
        for name in ("task", "survey", "drafter", "batch", "assigned"):
            fields[name] = fields[name] or None
        return QueueFilter(**fields, states=tuple(self.state))


class ItemOpened(Sent):
    """An item that is opened from the list of a filter."""

    item: ItemNumber
    filter: Filter = Filter()
    verdict_first: bool = False


class Selection(Sent):
    """Items: those named, or all items of a filter without some. ``VisibleItems.selected`` resolves it."""

    items: Annotated[list[ItemNumber], Field(max_length=MOST_SELECTED)] | None = None
    filter: Filter | None = None
    without: Annotated[list[ItemNumber], Field(max_length=MOST_SELECTED)] = []

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.items is None) == (self.filter is None) or (self.without and self.filter is None):
            raise ValueError(
                tr(
                    "found a selection with neither or both of items and filter, or with items and without; "
                    "expected {items: [...]} or {filter: {...}, without: [...]}"
                )
            )
        return self


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
    words: Annotated[str, Query(max_length=200)] = "",
    assigned: Annotated[str | None, Query(max_length=20)] = None,
    listed: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None,
    discussed: Discussed | None = None,
) -> QueueFilter:
    """Return the queue's filter from query parameters; they are the fields of ``Filter``."""
    given = {**locals(), "state": state or []}
    return Filter.model_construct(**given).query()


Decided.model_rebuild()  # names a class that is further down
