"""Template spectra of known objects, and their ranking by χ² with a radial velocity.

``bundled.npz`` is the program's own library; ``docs/review-aids.md`` has its sources and how it was built."""

from __future__ import annotations

from agent.templates.library import EXTRAGALACTIC, About, Library, Template, TemplateError, bundled, load_all
from agent.templates.rank import Match, rank

__all__ = [
    "EXTRAGALACTIC",
    "About",
    "Library",
    "Match",
    "Template",
    "TemplateError",
    "bundled",
    "load_all",
    "rank",
]
