"""Answers about actions on many items."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from reviewer.store.team.actions import BulkKind
from reviewer.web.models import Answer, Message, Time


class BulkChange(Answer):
    """How many items go from one state, batch or assignment to another."""

    before: str = Field(serialization_alias="from")
    after: str | None = Field(
        serialization_alias="to",
        description="null: a state that depends on decisions of others that the person may not know yet",
    )
    items: int


class BulkLeftOut(Answer):
    """Items that an action leaves out, and why; ``first`` has none of those that the person may not see."""

    why: Message
    items: int
    first: tuple[int, ...]


class BulkPreview(Answer):
    """What an action would do; ``token`` stands for this preview, ``items`` is the number that would change."""

    token: str
    items: int
    changes: tuple[BulkChange, ...]
    left_out: tuple[BulkLeftOut, ...]


class BulkActionDone(Answer):
    """An action that was done, or the undo of one."""

    id: int
    kind: BulkKind
    details: dict[str, Any] = Field(description="reason and comment, people, or batch; empty: others may not know")
    items: int
    person: str
    at: Time
    undoes: int | None = Field(description="the action that this one has undone")
    undone: int | None = Field(description="the action that has undone this one")
    may_undo: bool


class BulkActions(Answer):
    """Past actions, newest first."""

    actions: list[BulkActionDone]
