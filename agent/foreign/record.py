"""What an agent's log says, whatever its format: words, calls of tools and their results, in their order.

Every text and picture is data of a stranger: nothing in it is executed, fetched or followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent.errors import Refusal
from agent.trajectory import Verdict

Role = Literal["system", "user", "assistant"]


class ForeignTraceError(Refusal, ValueError):
    """A log that cannot be read: which file or field, what was found, what was expected."""

    kind = "foreign trace"


@dataclass(frozen=True)
class Words:
    """A text of the conversation, with pictures (bytes of files, not decoded). ``is_thought``: the model's reasoning,
    which a client may keep apart from what it says.
    """

    role: Role
    text: str
    is_thought: bool = False
    pictures: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Call:
    """A call of a tool. ``name`` is as the log has it, e.g. ``mcp__spec-o3__measure``; ``id`` joins its result."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Result:
    """The result of a call. ``ok`` is False if the log says that it is an error."""

    call_id: str
    text: str
    pictures: tuple[bytes, ...] = ()
    ok: bool = True


Event = Words | Call | Result


@dataclass(frozen=True)
class ForeignTrace:
    """One run of an agent.

    :param format: one of ``agent.foreign.FORMATS``
    :param name: names the run to a person: its file, and the session or sample in it
    :param agent: name and version of the program, "" if the log does not say
    :param model: name of the model, "" likewise
    :param label: the known truth that the log states (the target of a sample of Inspect), None if it states none
    :param own: what ``agent.foreign.own`` wrote where the format has a place for extra data; empty in a log of others
    :param faults: what of the log could not be read, one sentence each
    """

    format: str
    name: str
    agent: str
    model: str
    events: tuple[Event, ...]
    label: Verdict | None = None
    own: Mapping[str, Any] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
