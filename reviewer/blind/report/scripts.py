"""The scripts of a report, inside its file: plotly.js of the installed package, and ours. Nothing else may run."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path

import plotly

_FILES = (
    Path(plotly.__file__).parent / "package_data" / "plotly.min.js",
    Path(__file__).with_name("figures.js"),
)
_END = "</body>"


@cache
def _scripts() -> tuple[str, ...]:
    return tuple(file.read_text(encoding="utf-8") for file in _FILES)


@cache
def script_policy() -> str:
    """Return the directive of the content security policy that allows these scripts, by their hashes."""
    digests = (hashlib.sha256(script.encode()).digest() for script in _scripts())
    return " ".join(["script-src", *(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)])


def with_scripts(page: str) -> str:
    """Return a page of a report with its scripts at the end."""
    scripts = "".join(f"<script>{script}</script>\n" for script in _scripts())
    before, _, after = page.rpartition(_END)
    return f"{before}{scripts}{_END}{after}"
