"""What the program can do, and the checks that each capability needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.doctor import checks
from agent.doctor.checks import DISTRIBUTION, Finding, pip
from agent.language import deferred
from agent.vllm.flags import ServeError, find_build

_START_A_SERVER = deferred(
    "spec-o3 serve --model Maxwell-Jia/spec-o3-3b, or name a server in servers.toml (docs/live.md)"
)


@dataclass(frozen=True)
class DoctorOptions:
    """What to check: the database, the file that names servers (None: the usual places), and the Python that
    has vLLM (None: this one).
    """

    database: Path
    servers: Path | None = None
    python: Path | None = None


Check = Callable[[DoctorOptions], Iterator[Finding]]


@dataclass(frozen=True)
class Capability:
    """A function of the program, with the check whether it works here."""

    name: str
    title: str
    check: Check


@dataclass(frozen=True)
class Diagnosis:
    """A capability with its findings. ``ok`` if nothing necessary is missing."""

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
            "findings": [finding.to_json() for finding in self.findings],
        }


def diagnose(
    names: Sequence[str], options: DoctorOptions, extra_checks: Mapping[str, Check] | None = None
) -> list[Diagnosis]:
    """Check the capabilities with these names, or all of them if no name is given.

    :param extra_checks: a further check per capability, run after the capability's own
    :raises KeyError: there is no capability with such a name
    """
    chosen = [CAPABILITIES[name] for name in names] or list(CAPABILITIES.values())
    diagnoses = []
    for capability in chosen:
        findings = list(capability.check(options))
        if (extra := (extra_checks or {}).get(capability.name)) is not None:
            findings += extra(options)
        diagnoses.append(Diagnosis(capability, tuple(findings)))
    return diagnoses


def _review(options: DoctorOptions) -> Iterator[Finding]:
    yield from checks.core_packages()
    yield from checks.database_findings(options.database)


def _live(options: DoctorOptions) -> Iterator[Finding]:
    yield from checks.core_packages()
    yield checks.pixels()


def _pictures(options: DoctorOptions) -> Iterator[Finding]:
    yield checks.matplotlib_release()
    yield checks.pixels()


def _database(options: DoctorOptions) -> Iterator[Finding]:
    yield from checks.database_findings(options.database)


def _server(options: DoctorOptions) -> Iterator[Finding]:
    """Check each configured model server; one healthy server is enough."""
    from agent.policies.roster import Roster, RosterError

    try:
        roster = Roster.load(options.servers, database_folder=options.database.resolve().parent)
    except RosterError as error:
        yield Finding("servers.toml", False, str(error), deferred("correct the file"))
        return
    health = {entry.key: roster.health(entry.key) for entry in roster.entries() if entry.kind == "server"}
    any_healthy = any(server_health.ok for server_health in health.values())
    for key, server_health in health.items():
        ok = True if server_health.ok else (None if any_healthy else False)
        yield Finding(
            deferred("server {key}", key=key), ok, server_health.sentence, "" if server_health.ok else _START_A_SERVER
        )


def _serve(options: DoctorOptions) -> Iterator[Finding]:
    """Check vLLM in the chosen Python, and the GPUs if this vLLM is built for them."""
    try:
        build = find_build(options.python)
    except ServeError as error:
        yield Finding("vLLM", False, error.actual, pip(f"'{DISTRIBUTION}[serve]'"))
        yield from checks.gpu_findings()
    else:
        yield checks.vllm_release(build.version, build.cpu)
        yield from checks.gpu_findings(needed=not build.cpu)
    yield checks.weights()


def _local(options: DoctorOptions) -> Iterator[Finding]:
    yield from _packages_and_gpu("local")


def _train(options: DoctorOptions) -> Iterator[Finding]:
    yield from _packages_and_gpu("train")


def _scale(options: DoctorOptions) -> Iterator[Finding]:
    yield from checks.extra_packages("scale")


def _packages_and_gpu(extra: str) -> Iterator[Finding]:
    yield from checks.extra_packages(extra)
    yield from checks.gpu_findings(needed=False)
    yield checks.weights()


def _gpu(options: DoctorOptions) -> Iterator[Finding]:
    yield from checks.gpu_findings()


def _tests(options: DoctorOptions) -> Iterator[Finding]:
    yield from checks.extra_packages("test")
    yield checks.chromium()


CAPABILITIES = {
    capability.name: capability
    for capability in (
        Capability("review", deferred("Review: screen, revise, audit, vote"), _review),
        Capability("live", deferred("Live vetting with the baseline"), _live),
        Capability("pictures", deferred("Pictures exactly as in training"), _pictures),
        Capability("database", "annotations.db", _database),
        Capability("server", deferred("Live vetting with a model server"), _server),
        Capability("serve", deferred("Serving a model here"), _serve),
        Capability("local", deferred("A model in this process (transformers)"), _local),
        Capability("train", deferred("Training"), _train),
        Capability("scale", deferred("Many machines (Ray)"), _scale),
        Capability("gpu", "GPU", _gpu),
        Capability("tests", deferred("The program's own tests"), _tests),
    )
}
CORE = ("review", "live", "pictures", "database")
"""What must work wherever the program is installed."""
