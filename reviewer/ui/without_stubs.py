"""Importing Gradio without its writing stubs."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_WRITER = "gradio.component_meta"


@contextmanager
def without_stubs() -> Iterator[None]:
    """Import Gradio and components of ours in this block, and no ``.pyi`` is written.

    Whenever it is imported, Gradio (6.31) parses the source of each of its 80 components twice and renders a
    stub for it, which takes about a third of the processor time of all that the app imports. Where the stub
    differs it is written beside the source: into the installed package, by every process that starts. Gradio
    leaves out a component that has no source file; so for that module alone, and only here, none has one.
    """
    find = inspect.getfile

    def getfile(object: Any) -> str:
        if sys._getframe(1).f_globals.get("__name__") == _WRITER:
            raise OSError("no stub is wanted")
        return find(object)

    inspect.getfile = getfile
    try:
        yield
    finally:
        inspect.getfile = find
