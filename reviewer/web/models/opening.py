"""Answers that open an item."""

from __future__ import annotations

from pydantic import Field

from reviewer.rules.workflow import State
from reviewer.web.models import Answer, optional
from reviewer.web.models.aids import Epochs
from reviewer.web.models.comments import Discussion, UnreadComments
from reviewer.web.models.evidence import Hint, Span, StatementDisagreement
from reviewer.web.models.item import Item, OtherTrace, RoundProgress
from reviewer.web.models.queue import Place
from reviewer.web.models.work import LeaseHeld


class Checks(Answer):
    """What the data say about the tool calls and the texts of one version of an item."""

    hints: dict[str, list[Hint]] = Field(description="the hints on each tool call, by the id of its step")
    spans: dict[str, list[Span]] = Field(
        description="parts of each text that are tied to pixels, by the id of its step"
    )
    disagreements: list[StatementDisagreement] = Field(description="texts that differ from their tool calls")


class Opening(Answer):
    """An item and everything that the page shows with it, in one answer."""

    item: Item
    place: Place
    held: LeaseHeld | None
    others: list[OtherTrace] = Field(description="other traces of the same spectrum")
    epochs: Epochs
    comments: Discussion
    checks: Checks | None = Field(
        description="None: not measured since the server was started, or the answer of the item is hidden"
    )
    unread: UnreadComments = Field(description="the person's unread comments on all items")
    stamp: int = Field(description="grows with every change of an item; read before the rest")


class DecisionAnswer(RoundProgress):
    """The state of an item after a decision, and the opening of the next item if the request names one."""

    state: State
    stamp: str = Field(description="changes with each version and decision of the item")
    listed: bool | None = optional("whether the item is still in the list of the filter")
    opening: Opening | None = optional("left out where the next item cannot be opened")
