"""Replay: says a stored trajectory again, so that it can be watched and its pictures drawn anew."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from agent.conversation import Conversation, Piece, Policy, PolicyError
from agent.policies import Sampling
from agent.policies.baseline.rule import NAME as BASELINE
from agent.policies.baseline.rule import Baseline
from agent.policies.local.model import Weights
from agent.policies.local.policy import Local
from agent.policies.native import Guidance, Native
from agent.policies.openai.endpoint import Endpoint, Health
from agent.policies.servers import Dialect, RosterError, Server, checked_url, read_servers
from agent.policies.spec_o3 import SpecO3
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.tags import turn_text


class Replay:
    """The policy. Each turn is the trajectory's own in canonical text; past its end it says nothing, so that
    a trace without an answer ends without one again.
    """

    def __init__(self, trajectory: Trajectory) -> None:
        self.trajectory = trajectory
        self._turns = tuple(turn_text(turn) for turn in trajectory.turns())

    @property
    def drafter(self) -> Drafter:
        """The original's: a replay has no thoughts of its own."""
        drafter = self.trajectory.drafter
        return replace(drafter, settings=dict(drafter.settings) | {"replayed": True})

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """The turn of that number."""
        yield from self._turns[len(conversation.exchanges) :][:1]


__all__ = ["Entry", "Roster", "RosterError", "default_server", "local_policy"]

URL = "http://127.0.0.1:8000/v1"
"""Where ``spec-o3 serve``, and vLLM by itself, listens."""
SPEC_O3 = "spec-o3"
SERVER = "SPEC_O3_SERVER"
SERVERS = "SPEC_O3_SERVERS"
API_KEY = "SPEC_O3_API_KEY"
MODEL = "SPEC_O3_MODEL"
ADAPTER = "SPEC_O3_ADAPTER"
FILE = "servers.toml"
HEALTH_SECONDS = 5.0
"""Seconds for which a server is taken to be as it was found."""

Kind = Literal["baseline", "server", "local", "replay"]


@dataclass(frozen=True)
class Entry:
    """One that can be asked. ``samples_ok`` is False for those that say the same each time."""

    key: str
    title: str
    kind: Kind
    dialect: Dialect | None
    note: str
    samples_ok: bool


class Roster:
    """Baseline first, then the servers and the local model, then replay. For many threads at once."""

    def __init__(
        self,
        servers: Iterable[Server],
        local: Weights | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.local = local
        self._clock = clock
        self._asked = {server.key: _Asked(server, clock) for server in servers}

    @classmethod
    def load(cls, servers_file: Path | None = None, url: str | None = None, beside: Path | None = None) -> Self:
        """The roster of this machine. The server "spec-o3" is always on it: as the file defines it, else at
        ``url``, else at ``SPEC_O3_SERVER``, else on this machine's port 8000. A model in this process is on
        it where ``SPEC_O3_MODEL`` names one (with ``SPEC_O3_ADAPTER``, if that is set).

        :param servers_file: a ``servers.toml`` that must be there; None: the one ``SPEC_O3_SERVERS`` names
        :param beside: a folder whose ``servers.toml`` is read, if it has one, where no file was named
        :raises RosterError: a file or an address that cannot be used
        """
        named = servers_file or _path(SERVERS)
        if named is None and beside is not None and (beside / FILE).is_file():
            named = beside / FILE
        servers = read_servers(named) if named is not None else ()
        if all(server.key != SPEC_O3 for server in servers):
            servers = (default_server(url), *servers)
        model = os.environ.get(MODEL)
        return cls(servers, Weights(model, os.environ.get(ADAPTER) or None) if model else None)

    def with_server(self, server: Server) -> Roster:
        """The same with ``server`` on it, in the place of the one of its key."""
        servers = {key: asked.server for key, asked in self._asked.items()} | {server.key: server}
        return Roster(servers.values(), self.local, self._clock)

    def with_local(self, weights: Weights) -> Roster:
        """The same with that model in this process."""
        return Roster((asked.server for asked in self._asked.values()), weights, self._clock)

    def entries(self) -> tuple[Entry, ...]:
        """All of them, in the order to show."""
        found = [Entry("baseline", BASELINE, "baseline", None, "measures lines and bands, here", False)]
        for asked in self._asked.values():
            server = asked.server
            note = f"{server.model or 'the model it serves'}, at {urlsplit(server.url).netloc}"
            found.append(Entry(server.key, server.title or server.key, "server", server.dialect, note, True))
        if self.local is not None:
            note = f"{self.local.name}, one turn at a time"
            found.append(Entry("local", "Model in this process", "local", "spec-o3", note, True))
        found.append(Entry("replay", "Replay", "replay", None, "says a stored trace again", False))
        return tuple(found)

    def entry(self, key: str) -> Entry:
        """The one of that key.

        :raises PolicyError: there is none
        """
        entries = self.entries()
        for entry in entries:
            if entry.key == key:
                return entry
        known = ", ".join(entry.key for entry in entries)
        raise PolicyError(f"nobody here is called {key!r:.60}; there are {known}")

    def server(self, key: str) -> Server | None:
        """The server of that key, None for those that are none."""
        asked = self._asked.get(key)
        return asked.server if asked else None

    def sampling(self, key: str) -> Sampling:
        """How that one is asked where nobody says otherwise."""
        asked = self._asked.get(key)
        return asked.server.sampling() if asked else Sampling()

    def health(self, key: str) -> Health:
        """Whether that one can be asked now; a server's is believed for ``BELIEVED`` seconds.

        :raises PolicyError: there is no such key
        """
        entry = self.entry(key)
        if key in self._asked:
            return self._asked[key].health()
        if entry.kind == "local" and self.local is not None:
            return local_policy(self.local).check()
        return Health(True, f"{entry.title}: {entry.note}")

    def policy(
        self,
        key: str,
        sampling: Sampling | None = None,
        trajectory: Trajectory | None = None,
        guidance: Guidance | None = None,
    ) -> Policy:
        """That one, to be asked.

        :param sampling: None: ``sampling(key)``
        :param trajectory: what ``replay`` says again
        :param guidance: for drafting, by a server of the native dialect
        :raises PolicyError: there is no such key, or it cannot be asked so
        """
        entry = self.entry(key)
        if guidance is not None and entry.dialect != "native":
            raise PolicyError(f"{entry.title} cannot be told a label: it takes no instructions")
        sampling = sampling or self.sampling(key)
        if key in self._asked:
            return self._asked[key].policy(sampling, guidance)
        if entry.kind == "local" and self.local is not None:
            return local_policy(self.local, sampling)
        if entry.kind == "baseline":
            return Baseline()
        if trajectory is None:
            raise PolicyError("replay says a stored trace again, and none was given")
        return Replay(trajectory)


def default_server(url: str | None = None) -> Server:
    """ "spec-o3" where no file defines it.

    :raises RosterError: the address cannot be used
    """
    where, given = ("--server", url) if url else (SERVER, os.environ.get(SERVER) or URL)
    return Server(
        key=SPEC_O3,
        url=checked_url(given, where, "address"),
        title="Spec-o3",
        api_key_env=API_KEY if os.environ.get(API_KEY) else None,
    )


def local_policy(weights: Weights, sampling: Sampling | None = None) -> Local:
    """A model in this process."""
    return Local(weights.model, weights.adapter, weights.device, weights.dtype, sampling)


class _Asked:
    """A server with its connections and what was last seen of it. While one thread looks, others wait."""

    def __init__(self, server: Server, clock: Callable[[], float]) -> None:
        self.server = server
        self._clock = clock
        self._lock = threading.Lock()
        self._endpoint: tuple[str | None, Endpoint] | None = None
        self._looking = threading.Lock()
        self._seen: tuple[float, Health] | None = None

    def endpoint(self) -> Endpoint:
        """One for all who ask, made again when the key has changed.

        :raises PolicyError: its key cannot be had
        """
        try:
            key = self.server.api_key()
        except RosterError as problem:
            raise PolicyError(str(problem)) from problem
        with self._lock:
            if self._endpoint is None or self._endpoint[0] != key:
                self._endpoint = key, Endpoint(self.server.url, self.server.model, key)
            return self._endpoint[1]

    def health(self) -> Health:
        with self._looking:
            if self._seen is None or self._clock() - self._seen[0] >= HEALTH_SECONDS:
                try:
                    health = self.endpoint().check()
                except PolicyError as problem:
                    health = Health(False, str(problem), self.server.model or "")
                self._seen = self._clock(), health
            return self._seen[1]

    def policy(self, sampling: Sampling, guidance: Guidance | None) -> Policy:
        if self.server.dialect == "native":
            return Native(self.endpoint(), sampling, guidance)
        return SpecO3(self.endpoint(), sampling)


def _path(variable: str) -> Path | None:
    named = os.environ.get(variable)
    return Path(named).expanduser() if named else None
