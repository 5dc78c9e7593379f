"""The lines and heads of molecular bands that a spectrum can be compared with."""

from __future__ import annotations

from typing import Any

from agent import lines
from agent.tasks import Task

SAME_LINE = 2.0
"""Å within which a task file's wavelength and the line list's are the same line or band head."""


def known_lines(task: Task | None = None) -> list[dict[str, Any]]:
    """The line list and the heads of the molecular bands, at rest; a task's own are marked."""
    places = _places(task) if task else []

    def entry(of: lines.Line | lines.Band, wavelength: float, kind: str, major: bool) -> dict[str, Any]:
        own = any(lo <= of.at("vacuum") <= hi for lo, hi in places)
        return {
            "name": of.name,
            "wavelength": wavelength,
            "medium": of.medium,
            "kind": kind,
            "major": major,
            "task": own,
        }

    # Heads of molecular bands are drawn unasked only where the task is about them.
    return [
        *(entry(line, line.wavelength, line.kind, line.major) for line in lines.lines()),
        *(entry(band, band.head, "absorption", False) for band in lines.bands()),
    ]


def _places(task: Task) -> list[tuple[float, float]]:
    """Where a task's lines and heads are, vacuum Å: what it names, or the span of one that names nothing."""
    places = []
    for feature in (f.in_medium("vacuum") for f in task.features if f.kind != "slope"):
        named = [(w - SAME_LINE, w + SAME_LINE) for w in feature.wavelengths]
        places += named or [feature.span]
    return places
