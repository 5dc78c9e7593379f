"""Which spectrum a row is of, whatever file it came in: what splits and leak checks go by."""

from __future__ import annotations

import re
from pathlib import PurePath

_NAMELESS = ("", "spectrum")  # the second is what a ``Spectrum`` is called whom nobody named
_LAMOST = re.compile(r"spec-\d{5}-.+_sp\d\d-\d{3}\.fits")


def source_of(name: str, target: str = "", sha256: str | None = None) -> str:
    """The name of the survey's file without folder and compression, with ``#target`` where it holds several.

    :param name: as a row has it; a ``#target`` may stand in it
    :param sha256: of the spectrum; what identifies one without a name
    :raises ValueError: neither name nor hash is there
    """
    file, _, inside = name.strip().partition("#")
    file = PurePath(file.replace("\\", "/")).name
    if file.lower().endswith(".gz"):
        file = file[:-3]
    if file.lower() in _NAMELESS:
        if not sha256:
            raise ValueError("found neither name nor hash of the spectrum, wanted one of them")
        return f"sha256:{sha256}"
    target = target or inside
    return f"{file}#{target}" if target else file


def survey_of(source: str) -> str:
    """LAMOST where the file's name is one that only LAMOST gives, else ""."""
    return "LAMOST" if _LAMOST.fullmatch(source) else ""
