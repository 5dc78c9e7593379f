"""Answers that open an item."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from reviewer.web.models import Answer, Time, optional


class Place(Answer):
    """Where an item is in the list of a filter."""

    next: list[int] = Field(description="the next items, nearest first")
    back: list[int] = Field(description="the previous item")
    before: int = Field(description="how many items come before it")


class Held(Answer):
    """Who works on an item, so that this person cannot."""

    message: str
    until: Time = Field(description="when the lease ends that lasts longest")


class Checks(Answer):
    """What the data say about the tool calls and the texts of one version of an item."""

    hints: dict[str, Any] = Field(description="the hints on each zoom, by the id of its step")
    spans: dict[str, Any] = Field(description="parts of each text that are tied to pixels, by the id of its step")
    disagreements: list[dict[str, str]] = Field(description="sentences about texts that differ from their tool calls")


class Opening(Answer):
    """An item and everything that the page shows with it, in one answer."""

    item: dict[str, Any]
    place: Place
    held: Held | None
    others: list[dict[str, Any]] = Field(description="other traces of the same spectrum")
    comments: dict[str, Any]
    checks: Checks | None = Field(
        description="None: not measured since the server was started, or the answer of the item is hidden"
    )
    unread: dict[str, Any] = Field(description="the person's unread comments on all items")
    stamp: int = Field(description="grows with every change of an item; read before the rest")


class DecisionMade(Answer):
    """The state of an item after a decision, and the opening of the next item if the request names one."""

    state: str
    progress: str = Field(description="the decisions of the present round, in words")
    done: int = Field(description="decisions of the present round")
    needed: int = Field(description="decisions that the present round needs")
    stamp: str = Field(description="changes with each version and decision of the item")
    listed: bool | None = optional("whether the item is still in the list of the filter")
    opening: Opening | None = optional("left out where the next item cannot be opened")
