"""Which names mean the same survey file, and which identifiers the same object: the only place that compares them.

A table is written on another machine than the files: letters with accents in another normal form of Unicode, a name
without the ending of its compression, an identifier as a float.
"""

from __future__ import annotations

import os
import re
import unicodedata
from functools import lru_cache
from pathlib import Path, PurePath

from agent.errors import Refusal
from agent.language import deferred

COMPRESSED = (".gz", ".bz2")
"""Suffixes of compressed files; the contents decide."""
_FLOAT = re.compile(r"(?P<whole>\d+)(?:\.(?P<part>\d*))?(?:[eE]\+?(?P<exponent>\d{1,2}))?")
_EXACT = 2**53
"""Whole numbers from here on are not all floats."""
_SHORTENED = 10**11
"""From here on spreadsheets show a number with an exponent and a few digits."""


class LostDigitsError(Refusal, ValueError):
    """An identifier was written as a rounded number."""


def file_key(name: str) -> str:
    """Return what the names of one survey file have in common: no folder, no ending of a compression, Unicode's NFC,
    no spaces around it.
    """
    plain = unicodedata.normalize("NFC", PurePath(name.replace("\\", "/")).name.strip())
    while (ending := next((suffix for suffix in COMPRESSED if plain.lower().endswith(suffix)), "")) and plain != ending:
        plain = plain[: -len(ending)].rstrip()
    return plain


def id_key(text: str) -> str:
    """Return what the spellings of one identifier have in common; "123.0" is 123.

    :raises LostDigitsError: it is a large number written as a float
    """
    plain = unicodedata.normalize("NFC", text.strip())
    number = None if plain.isdecimal() else _FLOAT.fullmatch(plain)
    if number is None:
        return plain
    part, exponent = number["part"] or "", int(number["exponent"] or 0)
    digits = number["whole"] + part.ljust(exponent, "0")
    whole, rest = digits[: len(number["whole"]) + exponent], digits[len(number["whole"]) + exponent :]
    if rest.strip("0"):
        return plain
    value = int(whole)
    is_shortened = 0 < len((number["whole"] + part).lstrip("0")) < len(str(value))
    if value >= _EXACT or (value >= _SHORTENED and is_shortened):
        raise LostDigitsError(
            deferred(
                "found {text!r:.60}, an identifier that was rounded as a number, so that its last digits are lost; "
                "expected all of its digits. Write the column as text or as whole numbers",
                text=text,
            )
        )
    return plain if is_shortened else str(value)


def id_or_text(text: str) -> str:
    """Return ``id_key``, or the text itself if its digits are lost."""
    try:
        return id_key(text)
    except LostDigitsError:
        return unicodedata.normalize("NFC", text.strip())


def spellings(name: str) -> tuple[str, ...]:
    """Return the names under which the spectrum of this name can be stored: ``file_key`` turned around, for a search
    that can only compare. A ``#target`` behind the file stays.
    """
    file, mark, target = parts(name)
    plain = file_key(file)
    forms = dict.fromkeys(unicodedata.normalize(form, plain) for form in ("NFC", "NFD"))
    behind = f"{mark}{id_or_text(target)}" if mark else ""
    return tuple(dict.fromkeys([name, *(f"{form}{ending}{behind}" for form in forms for ending in ("", *COMPRESSED))]))


def parts(name: str) -> tuple[str, str, str]:
    """Return file, ``#`` and target of the name of a spectrum; both "" if it names a file only.

    A ``#`` in front of the file's last ending belongs to its name: ``test #2.fits``.
    """
    file, mark, target = name.partition("#")
    if mark and not PurePath(file).suffix and PurePath(file_key(target)).suffix:
        return name, "", ""
    return file, mark, target


def same_file(path: Path) -> Path | None:
    """Return the file that a path means: the one that is there, else the first of its folder with its ``file_key``;
    None if there is none.
    """
    try:
        if path.exists():
            return path
        changed = path.parent.stat().st_mtime_ns
        name = _in_folder(str(path.parent), changed).get(file_key(path.name))
    except (OSError, ValueError):
        return None
    return None if name is None else path.parent / name


@lru_cache(maxsize=64)
def _in_folder(folder: str, changed: int) -> dict[str, str]:
    """Return the files of a folder by ``file_key``. ``changed`` is its time, so that a changed one is read again."""
    names: dict[str, str] = {}
    for name in sorted(os.listdir(folder)):
        names.setdefault(file_key(name), name)
    return names
