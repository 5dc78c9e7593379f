"""The policies that can be used on this machine: baseline, nano model, model servers, local model, replay.

Addresses come from ``servers.toml``, the environment and options, never from a page: otherwise a visitor could
make this machine send its keys and pictures anywhere.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from agent.conversation import Conversation, Piece, Policy, PolicyError, Score, SkySource
from agent.language import deferred
from agent.policies import Sampling
from agent.policies.baseline.rule import NAME as BASELINE
from agent.policies.baseline.rule import Baseline
from agent.policies.examples import Examples
from agent.policies.local.model import Weights
from agent.policies.local.policy import Local
from agent.policies.nano import folder as nano_folder
from agent.policies.nano.policy import Nano
from agent.policies.native import Guidance, Native, health_of
from agent.policies.openai.endpoint import Endpoint
from agent.policies.openai.health import Health
from agent.policies.servers import Dialect, RosterError, Server, checked_url, read_servers
from agent.policies.spec_o3 import SpecO3
from agent.policies.specialist.policy import NAME as SPECIALIST
from agent.policies.specialist.policy import Specialist
from agent.tool import MEASURE, SKY_CONTEXT
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.forms import FORMS
from agent.trajectory.tags import turn_text


class Replay:
    """Policy that repeats a stored trajectory, so that its pictures are drawn again. Past its end it writes nothing,
    so that a trace without an answer ends without one again.

    :param sky: the records for its calls of ``sky_context``
    :raises PolicyError: it has such calls, and there are no records
    """

    def __init__(self, trajectory: Trajectory, sky: SkySource | None = None) -> None:
        if trajectory.sky and sky is None:
            raise PolicyError(
                deferred("the trace was offered sky_context: replay needs the records of its object (--sky FILE)")
            )
        self.trajectory = trajectory
        self.sky = sky if trajectory.sky else None
        self._turns = tuple(turn_text(turn) for turn in trajectory.turns())

    @property
    def measure(self) -> bool:
        """Whether the original was offered that tool."""
        return self.trajectory.measure

    @property
    def drafter(self) -> Drafter:
        """The original's drafter, marked as replayed."""
        drafter = self.trajectory.drafter
        return replace(drafter, settings=dict(drafter.settings) | {"replayed": True})

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """Yield the stored turn of this number, and the score with the last one."""
        number, answer = len(conversation.exchanges), self.trajectory.answer
        yield from self._turns[number:][:1]
        if number == len(self._turns) - 1 and answer is not None and answer.score is not None:
            yield Score(answer.score)


__all__ = ["Entry", "Roster", "RosterError", "default_server", "local_policy"]

URL = "http://127.0.0.1:8000/v1"
"""Default address of ``spec-o3 serve`` and of vLLM."""
SPEC_O3 = "spec-o3"
SERVER = "SPEC_O3_SERVER"
SERVERS = "SPEC_O3_SERVERS"
DEMONSTRATION = deferred("nano (demonstration model)")
API_KEY = "SPEC_O3_API_KEY"
MODEL = "SPEC_O3_MODEL"
ADAPTER = "SPEC_O3_ADAPTER"
NANO_FOLDER = "SPEC_O3_NANO"
FILE = "servers.toml"
HEALTH_SECONDS = 5.0
"""Seconds for which a server's health is cached."""

Kind = Literal["baseline", "nano", "specialist", "server", "local", "replay"]


@dataclass(frozen=True)
class Entry:
    """One policy. ``samples_ok`` is False for those that always give the same answer."""

    key: str
    title: str
    kind: Kind
    dialect: Dialect | None
    note: str
    samples_ok: bool


class Roster:
    """The policies: baseline, nano model, servers, local model, replay. Safe to use from many threads at once.

    :param nano: the folder of the nano model; None: there is none
    :param specialist: the folder of a specialist for one task; None: there is none
    """

    def __init__(
        self,
        servers: Iterable[Server],
        local: Weights | None = None,
        clock: Callable[[], float] = time.monotonic,
        nano: Path | None = None,
        specialist: Path | None = None,
    ) -> None:
        self.local = local
        self.nano = nano
        self.specialist = specialist
        self._clock = clock
        self._servers = {server.key: _ServerEntry(server, clock) for server in servers}

    def __reduce__(self) -> tuple[Any, ...]:
        """Send it to another process: locks and connections are made anew there."""
        servers = tuple(entry.server for entry in self._servers.values())
        return type(self), (servers, self.local, self._clock, self.nano, self.specialist)

    @classmethod
    def load(
        cls, servers_file: Path | None = None, url: str | None = None, database_folder: Path | None = None
    ) -> Self:
        """Load the roster of this machine.

        The server "spec-o3" always exists: as the file defines it, else at ``url``, else at ``SPEC_O3_SERVER``, else
        on this machine's port 8000. ``SPEC_O3_MODEL`` (with ``SPEC_O3_ADAPTER``, if set) names a model for this
        process. The nano model is the one in the folder that ``SPEC_O3_NANO`` names, else the one that came with the
        program, if it did.

        :param servers_file: a ``servers.toml`` that must exist; None: the one that ``SPEC_O3_SERVERS`` names
        :param database_folder: its ``servers.toml`` is read if it exists and no file was named
        :raises RosterError: a file or an address that cannot be used
        """
        named = servers_file or _path(SERVERS)
        if named is None and database_folder is not None and (database_folder / FILE).is_file():
            named = database_folder / FILE
        servers = read_servers(named) if named is not None else ()
        if all(server.key != SPEC_O3 for server in servers):
            servers = (default_server(url), *servers)
        model = os.environ.get(MODEL)
        local = Weights(model, os.environ.get(ADAPTER) or None) if model else None
        return cls(servers, local, nano=_path(NANO_FOLDER) or nano_folder.packaged())

    def with_server(self, server: Server) -> Roster:
        """Return a copy with ``server``, which replaces the one with its key."""
        servers = {key: entry.server for key, entry in self._servers.items()} | {server.key: server}
        return Roster(servers.values(), self.local, self._clock, self.nano, self.specialist)

    def with_local(self, weights: Weights) -> Roster:
        """Return a copy with that model in this process."""
        return Roster(self._own_servers(), weights, self._clock, self.nano, self.specialist)

    def with_nano(self, folder: Path) -> Roster:
        """Return a copy with the nano model of that folder."""
        return Roster(self._own_servers(), self.local, self._clock, folder, self.specialist)

    def with_specialist(self, folder: Path) -> Roster:
        """Return a copy with the specialist of that folder."""
        return Roster(self._own_servers(), self.local, self._clock, self.nano, folder)

    def _own_servers(self) -> Iterator[Server]:
        return (entry.server for entry in self._servers.values())

    def entries(self) -> tuple[Entry, ...]:
        """Return all of them, in display order."""
        entries = [Entry("baseline", BASELINE, "baseline", None, deferred("measures lines and bands, here"), False)]
        if self.nano is not None:
            entries.append(Entry("nano", DEMONSTRATION, "nano", "spec-o3", deferred("a very small model, here"), True))
        if self.specialist is not None:
            entries.append(
                Entry(
                    "specialist", SPECIALIST, "specialist", None, deferred("a classifier without reasons, here"), False
                )
            )
        for entry in self._servers.values():
            server = entry.server
            where = urlsplit(server.url).netloc
            note = deferred("{model}, at {where}", model=server.model or deferred("the model it serves"), where=where)
            entries.append(Entry(server.key, server.title or server.key, "server", server.dialect, note, True))
        if self.local is not None:
            note = deferred("{name}, one turn at a time", name=self.local.name)
            entries.append(Entry("local", deferred("Model in this process"), "local", "spec-o3", note, True))
        entries.append(Entry("replay", deferred("Replay"), "replay", None, deferred("repeats a stored trace"), False))
        return tuple(entries)

    def entry(self, key: str) -> Entry:
        """Return the entry with that key.

        :raises PolicyError: there is none
        """
        entries = self.entries()
        for entry in entries:
            if entry.key == key:
                return entry
        known = ", ".join(entry.key for entry in entries)
        raise PolicyError(deferred("found no policy {key!r:.60}, expected one of {known}", key=key, known=known))

    def server(self, key: str) -> Server | None:
        """Return the server with that key, None if it is not a server."""
        entry = self._servers.get(key)
        return entry.server if entry else None

    def is_checkpoint(self, key: str) -> bool:
        """Return whether it is taken for a published Spec-o3 checkpoint: a server of that dialect, or a model in this
        process with "spec-o3" in its name.

        :raises PolicyError: there is no such key
        """
        entry = self.entry(key)
        if entry.kind == "local":
            return self.local is not None and SPEC_O3 in self.local.name.lower()
        return entry.kind == "server" and entry.dialect == "spec-o3"

    def takes_tools(self, key: str) -> bool:
        """Return whether further tools can be offered to it: a model with tool calls of its own, or a Spec-o3 model
        whose name is given and is not that of a published checkpoint, which was not trained with them.

        :raises PolicyError: there is no such key
        """
        entry, server = self.entry(key), self.server(key)
        name = self.local.name if entry.kind == "local" and self.local else server.model if server else None
        return entry.dialect == "native" or (name is not None and SPEC_O3 not in name.lower())

    def sampling(self, key: str) -> Sampling:
        """Return its default sampling."""
        entry = self._servers.get(key)
        return entry.server.sampling() if entry else Sampling()

    def health(self, key: str) -> Health:
        """Return whether that policy can be used now; the state of a server is cached for ``HEALTH_SECONDS`` seconds.

        :raises PolicyError: there is no such key
        """
        entry = self.entry(key)
        if key in self._servers:
            return self._servers[key].health()
        if entry.kind == "local" and self.local is not None:
            return local_policy(self.local).check()
        if entry.kind == "nano" and self.nano is not None:
            return Nano(self.nano).check()
        if entry.kind == "specialist" and self.specialist is not None:
            return Specialist(self.specialist).check()
        return Health(True, deferred("{title}: {note}", title=entry.title, note=entry.note))

    def policy(
        self,
        key: str,
        sampling: Sampling | None = None,
        trajectory: Trajectory | None = None,
        guidance: Guidance | None = None,
        stream: bool = True,
        measure: bool | None = None,
        examples: Examples | None = None,
        sky: SkySource | None = None,
    ) -> Policy:
        """Make the policy with that key.

        :param sampling: None: ``sampling(key)``
        :param trajectory: what ``replay`` repeats
        :param guidance: for drafting, by a server of the native dialect
        :param stream: False: a server gives each turn whole, where nobody watches it being written
        :param measure: offer the ``measure`` tool; None: as servers.toml says
        :param examples: to show before the conversation, by a server of the native dialect; None: those of servers.toml
        :param sky: offer ``sky_context``, with these records
        :raises PolicyError: there is no such key, or it does not support these arguments
        """
        entry = self.entry(key)
        if guidance is not None and entry.dialect != "native":
            raise PolicyError(deferred("{title} cannot use a label: it takes no instructions", title=entry.title))
        server = self.server(key)
        if measure is None:
            measure = server is not None and server.measure
        further = (
            MEASURE if measure else SKY_CONTEXT if sky is not None and entry.kind not in ("baseline", "replay") else ""
        )
        if further and not self.takes_tools(key):
            raise PolicyError(
                deferred(
                    "{title} cannot be offered the {tool} tool: a published checkpoint was not trained with it. "
                    "Models with tool calls of their own can, and Spec-o3 models of your own if --model or "
                    "servers.toml gives a name without “spec-o3”",
                    title=entry.title,
                    tool=further,
                )
            )
        if (examples is not None or (server and server.examples)) and entry.dialect != "native":
            raise PolicyError(
                deferred("{title} takes no examples: only models with tool calls of their own do", title=entry.title)
            )
        sampling = sampling or self.sampling(key)
        if key in self._servers:
            return self._servers[key].policy(sampling, guidance, stream, measure, examples, sky)
        if entry.kind == "local" and self.local is not None:
            return local_policy(self.local, sampling, measure, sky)
        if entry.kind == "nano" and self.nano is not None:
            return Nano(self.nano, sampling)
        if entry.kind == "specialist" and self.specialist is not None:
            return Specialist(self.specialist)
        if entry.kind == "baseline":
            return Baseline(sky)
        if trajectory is None:
            raise PolicyError(deferred("replay repeats a stored trace, and none was given"))
        return Replay(trajectory, sky)


def default_server(url: str | None = None) -> Server:
    """Return the server "spec-o3" if no file defines it.

    :raises RosterError: the address cannot be used
    """
    where, given = ("--server", url) if url else (SERVER, os.environ.get(SERVER) or URL)
    return Server(
        key=SPEC_O3,
        url=checked_url(given, where, "address"),
        title="Spec-o3",
        api_key_env=API_KEY if os.environ.get(API_KEY) else None,
    )


def local_policy(
    weights: Weights, sampling: Sampling | None = None, measure: bool = False, sky: SkySource | None = None
) -> Local:
    """Make the policy for a model in this process."""
    return Local(weights.model, weights.adapter, weights.device, weights.dtype, sampling, measure, sky)


class _ServerEntry:
    """A server with its connections and its cached health. While one thread checks it, others wait."""

    def __init__(self, server: Server, clock: Callable[[], float]) -> None:
        self.server = server
        self._clock = clock
        self._lock = threading.Lock()
        self._endpoint: tuple[str | None, Endpoint] | None = None
        self._checking = threading.Lock()
        self._last: tuple[float, Health] | None = None
        self._examples: Examples | None = None

    def endpoint(self) -> Endpoint:
        """Return the shared endpoint, made again when the key has changed.

        :raises PolicyError: its key cannot be read
        """
        try:
            key = self.server.api_key()
        except RosterError as problem:
            raise PolicyError(problem.sentence) from problem
        with self._lock:
            if self._endpoint is None or self._endpoint[0] != key:
                self._endpoint = key, Endpoint(self.server.url, self.server.model, key, habits=self.server.habits())
            return self._endpoint[1]

    def health(self) -> Health:
        with self._checking:
            if self._last is None or self._clock() - self._last[0] >= HEALTH_SECONDS:
                try:
                    endpoint = self.endpoint()
                    native = self.server.dialect == "native"
                    health = (
                        health_of(endpoint, self.server.tool_in_words, self.server.sampling())
                        if native
                        else endpoint.check()
                    )
                except PolicyError as problem:
                    health = Health(False, str(problem), self.server.model or "")
                self._last = self._clock(), health
            return self._last[1]

    def policy(
        self,
        sampling: Sampling,
        guidance: Guidance | None,
        stream: bool,
        measure: bool,
        examples: Examples | None,
        sky: SkySource | None,
    ) -> Policy:
        stream = stream or self.server.stream
        if self.server.dialect == "native":
            examples, in_words = examples or self.examples(), self.server.tool_in_words
            return Native(self.endpoint(), sampling, guidance, stream, in_words, measure, examples, sky)
        return SpecO3(self.endpoint(), sampling, stream, measure, FORMS[self.server.dialect], sky)

    def examples(self) -> Examples | None:
        """Return the examples of servers.toml, read once. :raises PolicyError: they cannot be read"""
        server = self.server
        with self._lock:
            if self._examples is None and server.examples is not None:
                self._examples = Examples(server.examples, server.examples_number, server.examples_budget)
            return self._examples


def _path(variable: str) -> Path | None:
    named = os.environ.get(variable)
    return Path(named).expanduser() if named else None
