"""Answers about SAMP: the hub, and what goes to other programs and comes from them."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from reviewer.web.models import Answer


class Hub(Answer):
    """Whether this server shares the machine with the browser, and so passes the page's calls on to the hub there."""

    here: bool


class HubAnswer(Answer):
    """What the hub answered."""

    value: Any


class ForPrograms(Answer):
    """A file for other programs, at an address that nobody can guess."""

    path: str
    name: str
    items: list[int] = Field(description="of the rows, in order")


class Position(Answer):
    """Where the object is, in degrees, ICRS; null: the file does not state it, or it is hidden."""

    ra: float | None
    dec: float | None


class Rows(Answer):
    """The item of each row of a table; null: there is none."""

    items: list[int | None]
