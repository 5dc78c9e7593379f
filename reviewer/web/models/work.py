"""Leases, and what a person has saved."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from reviewer.rules.workflow import Round, State
from reviewer.store import OwnVerdict
from reviewer.web.models import Answer, Time


class LeaseHeld(Answer):
    """Why a person cannot work on an item: another person does."""

    message: str
    until: Time


class Lease(Answer):
    """The right to decide on an item; ``lease`` is its token. ``ended``: after the person's own decision."""

    lease: str = Field(validation_alias="token")
    round: Round
    until: Time = Field(validation_alias="expires_at")
    ended: bool


class LeaseTaken(Lease):
    """The lease of an item, and the state of the item."""

    stamp: str


class ReplacedText(Answer):
    """Unsent text of another page of the same person."""

    at: str
    body: dict[str, Any]


class TextSaved(Answer):
    """When the unsent text was saved, and the text of another page that it replaced."""

    at: str
    replaced: ReplacedText | None


class VersionSaved(Answer):
    """A new version: its id and number."""

    version: int = Field(validation_alias="id")
    number: int
    at: Time


class DecisionUndone(Answer):
    """The state of an item after an undo."""

    state: State
    stamp: str


class MarkSaved(Answer):
    """When a mark was saved."""

    at: Time


class VerdictCommitted(Answer):
    """The person's own verdict, given before they saw those of others."""

    verdict: OwnVerdict
    at: Time
