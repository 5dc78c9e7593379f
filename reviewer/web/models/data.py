"""Answers of the Data tab: batches, and jobs that add or write files. Sentences are for people, in their language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import ConfigDict, Field

from reviewer.rules.workflow import State
from reviewer.web.models import Answer, Time

Tone = Literal["note", "good", "look", "bad"]


class Written(Answer):
    """An answer whose fields are all sent, also those with their default."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


class ReportRow(Written):
    """A row of a report's table; ``tone``: "bad" where something was refused."""

    cells: tuple[str, ...]
    tone: Tone = "note"


class Report(Written):
    """What happened, as sentences, with a table of details. ``#12`` in a text names an item."""

    tone: Tone
    text: str
    headings: tuple[str, ...] = ()
    rows: tuple[ReportRow, ...] = ()


class Job(Written):
    """A job that runs in the background, or its end."""

    kind: Literal["draft", "import", "export", "catalogue"]
    batch: str | None = Field(description="whose items it adds or writes; null: of all batches")
    running: bool
    fraction: float | None = Field(description="how much of the present step is done; null: not known")
    can_resume: bool = False
    imports: tuple[int, ...] = Field(default=(), description="numbers of the imports that were started together")
    added: int = Field(default=0, description="new items")
    catalogue: str | None = Field(default=None, description="name of the catalogue that was made, for its zip")
    report: Report


class Jobs(Answer):
    """The last draft run and the last export and catalogue since the server started, and imports."""

    jobs: list[Job]


class BatchListed(Answer):
    """A batch: its items by state, and those on whose current version two people decided differently, of the
    ``compared`` ones."""

    name: str
    items: int
    first: int
    last: int
    added_at: Time
    states: Mapping[State, int]
    disagreed: int
    compared: int


class BatchList(Answer):
    """The batches, the one with the newest item first."""

    may_manage: bool = Field(description="whether you may add, export and withdraw items")
    batches: list[BatchListed]
    folders: tuple[str, ...] = Field(description="folders of the server from which files can be added; for managers")
    backups: Report | None = Field(description="the state of the backups; null: you do not manage them")


class Withdrawal(Answer):
    """What withdrawing or restoring items would do or did: how many can be withdrawn, and how many restored."""

    free: int
    withdrawn: int
    report: Report
