"""Answers about exports and catalogues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field

from reviewer.web.models import Answer, Message, Time

_COUNTS = "numbers of what is in it, some of them by name: of a task, a verdict, a drafter or a prompt"


class ExportListed(Answer):
    """An export, and what is in it."""

    id: int
    name: str
    person: str
    at: Time
    counts: Mapping[str, int | Mapping[str, int]] = Field(description=_COUNTS)
    words: str = Field(description="the same for people, in their language")
    folder: str | None = Field(description="where its files are; null: they are not there, or you may not export")


class ExportList(Answer):
    """Exports, newest first."""

    exports: list[ExportListed]


class ItemLeftOut(Answer):
    """An approved item that is not in an export, and why."""

    item: int = Field(validation_alias="item_id")
    reason: Message


class ExportState(Answer):
    """How far an export is that a script started: ``done`` of ``total`` items are written."""

    name: str
    state: Literal["running", "done", "failed"]
    done: int
    total: int
    export: int | None = Field(description="its number once it is done")
    error: str = Field(description="why it failed; empty otherwise")
    folder: str = Field(description="where it is once it is done")
    left_out: tuple[ItemLeftOut, ...] = Field(description="approved items that are no training data")
    batch: str | None = Field(description="of which alone they are; null: of all")


class NoExport(Answer):
    """No script has started an export since the server started."""

    state: Literal["none"]


class CatalogueState(Answer):
    """How far a catalogue is: ``done`` of ``total`` pictures are drawn."""

    name: str
    state: Literal["running", "done", "failed"]
    done: int
    total: int
    error: str = Field(description="why it failed; empty otherwise")
    folder: str = Field(description="where it is once it is done")
    numbers: Mapping[str, Any] = Field(description="those of its methods text once it is done")


class CatalogueList(Answer):
    """The names of the catalogues, and the last one that was started since the server was."""

    last: CatalogueState | None
    catalogues: list[str]


class ExportManifest(BaseModel):
    """The main keys of a manifest, which is the file ``manifest.json`` of an export."""

    form: str = Field(alias="schema", description="name and release of its form")
    rules: dict[str, Any] = Field(description="how many people had to decide")
    people: list[str] = Field(description="everybody who wrote or decided")
    one_person: bool = Field(description="whether an item was approved by one person only")
    counts: dict[str, int | dict[str, int]] = Field(description=_COUNTS)
    files: dict[str, str] = Field(description="hashes of the files by name")
    items: list[dict[str, Any]] = Field(description="the items with their history")
