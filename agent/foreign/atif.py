"""Harbor's Agent Trajectory Interchange Format (ATIF), 1.0 to 1.7: read and written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agent.foreign.record import ForeignTrace
from agent.trajectory import Trajectory


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file begins as a trajectory of ATIF."""
    return b'"ATIF-v' in head


def traces(path: Path) -> Iterator[ForeignTrace]:
    """Yield the trajectories of a file: one object, or JSON Lines. :raises ForeignTraceError: unreadable"""
    raise NotImplementedError


def atif_of(
    trajectory: Trajectory, pictures: Mapping[str, str], extra: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a trajectory as an object of ATIF 1.7.

    :param pictures: paths of the pictures, relative to the file, by the SHA-256 of their RGBA bytes; a picture that is
        not in it is left out
    :param extra: further extra data of the whole trajectory, e.g. votes
    """
    raise NotImplementedError
