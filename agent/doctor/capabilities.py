"""What the program can do, each with what it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agent.doctor import machine, packages, servers
from agent.doctor import machine as renderer
from agent.doctor.finding import Finding


@dataclass(frozen=True)
class Where:
    """What is looked at: the database, the file that names servers (None: the usual places), and the Python
    that has vLLM (None: this one).
    """

    database: Path
    servers: Path | None = None
    python: Path | None = None


Look = Callable[[Where], Iterator[Finding]]

_LOOKS: dict[str, list[Look]] = {}


def look_also(name: str, look: Look) -> None:
    """Look at the capability of this name in this way too, after what is known of it here."""
    _LOOKS.setdefault(name, []).append(look)


def also(name: str) -> tuple[Look, ...]:
    """What was asked for with ``look_also``."""
    return tuple(_LOOKS.get(name, ()))


@dataclass(frozen=True)
class Capability:
    """Something the program can do. ``look`` finds out whether it can here."""

    name: str
    title: str
    look: Callable[[Where], Iterator[Finding]]


@dataclass(frozen=True)
class Diagnosis:
    """A capability with what was found. ``ok`` where nothing that it needs is missing."""

    capability: Capability
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        return all(finding.ok is not False for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.capability.name,
            "title": self.capability.title,
            "ok": self.ok,
            "findings": [asdict(finding) for finding in self.findings],
        }


def diagnose(names: Sequence[str], where: Where) -> list[Diagnosis]:
    """Look at the capabilities of these names, or at all. :raises KeyError: there is none of such a name"""
    wanted = [CAPABILITIES[name] for name in names] or list(CAPABILITIES.values())
    return [Diagnosis(one, tuple(_findings(one, where))) for one in wanted]


def _findings(one: Capability, where: Where) -> Iterator[Finding]:
    yield from one.look(where)
    for look in also(one.name):
        yield from look(where)


def _review(where: Where) -> Iterator[Finding]:
    yield from packages.core()
    yield from machine.database(where.database)


def _live(where: Where) -> Iterator[Finding]:
    yield from packages.core()
    yield renderer.pixels()


def _server(where: Where) -> Iterator[Finding]:
    yield from servers.known(where.servers, where.database.resolve().parent)


def _serve(where: Where) -> Iterator[Finding]:
    yield from servers.vllm(where.python)
    yield machine.weights()


def _local(where: Where) -> Iterator[Finding]:
    yield from packages.extra("local")
    yield from machine.gpu(needed=False)
    yield machine.weights()


def _train(where: Where) -> Iterator[Finding]:
    yield from packages.extra("train")
    yield from machine.gpu(needed=False)
    yield machine.weights()


def _gpu(where: Where) -> Iterator[Finding]:
    yield from machine.gpu()


def _pictures(where: Where) -> Iterator[Finding]:
    yield renderer.matplotlib_release()
    yield renderer.pixels()


def _database(where: Where) -> Iterator[Finding]:
    yield from machine.database(where.database)


def _tests(where: Where) -> Iterator[Finding]:
    yield from packages.extra("test")
    yield machine.chromium()


CAPABILITIES = {
    one.name: one
    for one in (
        Capability("review", "Review: screen, revise, audit, vote", _review),
        Capability("live", "Live vetting with the baseline", _live),
        Capability("pictures", "Pictures exactly as in training", _pictures),
        Capability("database", "annotations.db", _database),
        Capability("server", "Live vetting with a model server", _server),
        Capability("serve", "Serving a model here", _serve),
        Capability("local", "A model in this process (transformers)", _local),
        Capability("train", "Training", _train),
        Capability("gpu", "GPU", _gpu),
        Capability("tests", "The program's own tests", _tests),
    )
}
CORE = ("review", "live", "pictures", "database")
"""What must work wherever the program is installed."""
