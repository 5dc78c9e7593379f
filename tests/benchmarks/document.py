"""``docs/measurements.md``, section by section: who measures one part again leaves the others as they are."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "measurements.md"
PACKAGES = ("numpy", "astropy", "matplotlib", "pillow", "gradio")
HEAD = (
    "# Measurements\n\nWritten by `python -m benchmarks --spectra FOLDER` (`make bench SPECTRA=FOLDER`) and "
    "`python -m soak` (`make soak`)."
)


def kept() -> dict[str, str]:
    """The sections as they stand in the document, by title."""
    if not DOCUMENT.exists():
        return {}
    parts = DOCUMENT.read_text(encoding="utf-8").split("\n## ")[1:]
    named = (part.partition("\n") for part in parts)
    return {title.strip(): text.strip() for title, _, text in named}


def write(sections: Mapping[str, str], first: Iterable[str] = ()) -> None:
    """These sections as the document: those named in ``first``, in that order, then the others."""
    order = list(first)
    known = [t for t in order if t in sections] + [t for t in sections if t not in order]
    body = "\n\n".join(f"## {title}\n\n{sections[title]}" for title in known)
    DOCUMENT.write_text(f"{HEAD}\n\n{body}\n", encoding="utf-8")


def conditions() -> str:
    """Date, machine and versions of what was measured just now."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"*{today}; {system}; Python {platform.python_version()}, {versions}.*"
