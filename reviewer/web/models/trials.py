"""Answers about the evidence on trial."""

from __future__ import annotations

from pydantic import Field

from reviewer.web.models import Answer


class EditTexts(Answer):
    """What the policy wrote on an edited spectrum, and on the spectrum as it is."""

    after: str
    before: str = Field(description="empty: not stored")
