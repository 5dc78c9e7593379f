"""Answers about the audit log."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from reviewer.web.models import Answer, Time


class LogEntry(Answer):
    """Who did what, and when."""

    number: int
    at: Time
    person: str | None = Field(description="null: the owner of the file, or a visitor who is not signed in")
    what: str
    subject: str
    details: dict[str, Any] = Field(description="values by name, which depend on what was done")
    text: str = Field(description="details in words; empty: ``details`` has them")


class LogPage(Answer):
    """Entries, newest first, and the values by which they can be filtered."""

    entries: list[LogEntry]
    next: int | None = Field(description="the number below which the next page begins; null: there is none")
    kinds: list[str]
    people: list[str]
    head: str = Field(description="number and hash of the newest entry")


class LogChecked(Answer):
    """The result of verifying the log."""

    faults: list[str] = Field(description="the first of them; empty: nothing was changed")
    more_faults: int = Field(description="number of faults that are not listed")
    entries: int
    head: str = Field(description="number and hash of the newest entry")
    seconds: float
