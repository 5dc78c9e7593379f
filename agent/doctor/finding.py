"""What was looked for, what was found, and what to do where it is missing."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing looked for. ``ok`` None: good to know, and nothing fails for it. ``remedy`` is a command or
    a sentence, "" where there is nothing to do.
    """

    what: str
    ok: bool | None
    found: str
    remedy: str = ""


def pip(what: str) -> str:
    """The command that installs something where this program runs."""
    return f"{sys.executable} -m pip install {what}"
