"""What the tools need of a place with spectra, tasks and a queue: protocols, and the values exchanged with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from agent.errors import Refusal
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.trajectory import Trajectory


class McpError(Refusal):
    """A call that a tool refuses. The sentence is English and goes to the model as the error of the call."""

    kind = "mcp"


@dataclass(frozen=True)
class Client:
    """Who calls.

    :param name: of the program, as it states it; never empty
    :param person: initials of the person whose token it has; None without accounts, as over stdio
    :param only_reads: it may not submit verdicts
    """

    name: str
    version: str = ""
    person: str | None = None
    only_reads: bool = False


class Spectra(Protocol):
    """Where spectra are."""

    def find(self, path: str, target: str | None, client: Client) -> Spectrum | None:
        """Return the spectrum of that path or name, None if there is none.

        :param target: which spectrum of a file that holds several
        :raises McpError: the path is not allowed, or the spectrum cannot be read; never with a text from the file
        """
        ...


@dataclass(frozen=True)
class Submitted:
    """The item of a submitted trace. ``new`` is False if it was there already; ``address`` is "" if none is known."""

    item: int
    new: bool
    address: str = ""


@dataclass(frozen=True)
class Waiting:
    """The items of a task that wait for a first decision.

    :param items: names by which ``Spectra.find`` finds those that this client has not submitted; not all of them
    """

    task: str
    number: int
    items: tuple[str, ...]


class Desk(Protocol):
    """Where verdicts go."""

    def tasks(self) -> Mapping[str, Task]:
        """Return the tasks by key."""
        ...

    def submit(self, trajectory: Trajectory, spectrum: Spectrum, client: Client) -> Submitted:
        """Add a trace to the queue as a draft. :raises Refusal: it cannot be added"""
        ...

    def queue(self, client: Client) -> tuple[Waiting, ...]:
        """Return what waits, without labels, names and verdicts. :raises Refusal: it cannot be read"""
        ...
