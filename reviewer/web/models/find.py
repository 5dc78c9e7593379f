"""Answers of search, views and lists."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from reviewer.web.models import Answer
from reviewer.web.models.queue import ListedRow


class Snippet(Answer):
    """A part of a text that matches a search."""

    where: Literal["trace", "comment"]
    step: str = Field(description="the step that it is about; empty: none")
    text: str
    hits: tuple[tuple[int, int], ...] = Field(description="start and end of each hit in the text, in characters")


class FoundRow(ListedRow):
    """A row of the queue that a search has found."""

    snippets: tuple[Snippet, ...]


class FoundItems(Answer):
    """Rows that a search has found; ``stamp`` grows with every change of an item."""

    rows: list[FoundRow]
    total: int
    stamp: int


class ListedRows(Answer):
    """Rows of items that were named."""

    rows: list[ListedRow]


class View(Answer):
    """A filter, or a list of ``items`` items, with a name; others can open a shared one."""

    id: int
    name: str
    person: str
    shared: bool
    filter: dict[str, Any] = Field(description="what was saved with it; empty for a list")
    items: int | None
