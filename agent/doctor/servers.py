"""vLLM itself, and the model servers that can be asked from here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agent.doctor import machine
from agent.doctor.finding import Finding, pip
from agent.doctor.packages import DISTRIBUTION
from agent.vllm.flags import ServeError, find_build

_SERVE = "spec-o3 serve --model Maxwell-Jia/spec-o3-3b, or name a server in servers.toml (docs/live.md)"


def vllm(python: Path | None) -> Iterator[Finding]:
    """vLLM in the Python given, or in this one, and the cards that it wants if it is built for them."""
    try:
        build = find_build(python)
    except ServeError as error:
        yield Finding("vLLM", False, str(error).partition(";")[0], pip(f"'{DISTRIBUTION}[serve]'"))
        yield from machine.gpu()
        return
    yield Finding("vLLM", True, f"{build.version}{', built for the CPU' if build.cpu else ''}")
    yield from machine.gpu(needed=not build.cpu)


def known(file: Path | None, beside: Path) -> Iterator[Finding]:
    """Each server that is named here, asked how it is; one that is well is enough."""
    from agent.policies.roster import Roster, RosterError

    try:
        roster = Roster.load(file, beside=beside)
    except RosterError as error:
        yield Finding("servers.toml", False, str(error), "mend the file")
        return
    health = {e.key: roster.health(e.key) for e in roster.entries() if e.kind == "server"}
    one_is_well = any(found.ok for found in health.values())
    for key, found in health.items():
        well = True if found.ok else (None if one_is_well else False)
        yield Finding(f"server {key}", well, found.sentence, "" if found.ok else _SERVE)
