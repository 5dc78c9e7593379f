"""Survey files below the folders that a server was given, and nothing else of the machine."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

from agent.mcp.desk import Client, McpError, Spectra
from agent.spectrum import Spectrum, SpectrumError
from agent.spectrum.readers import opened
from agent.text import whole_number

MOST_BYTES = 2 * 2**30
"""Size of a file that is opened: a plate of SDSS has 0.2 GB, a healpix of DESI up to some 1 GB."""
_EXPECTED = "expected a path relative to a folder of the server, without '..' and links"
_TARGET = "expected the identifier of a spectrum of the file, or its place"


class Roots:
    """The files below some folders, by their path relative to one of them; the first folder that has the file counts.

    Nothing below a folder is listed, and no message quotes a file: it may be a table of labels.
    """

    def __init__(self, folders: Sequence[Path], elsewhere: Spectra | None = None) -> None:
        """:param elsewhere: where a path of no file is searched, e.g. a name in a database"""
        self._elsewhere = elsewhere
        self._folders = [folder.resolve() for folder in folders]

    def find(self, path: str, target: str | None, client: Client) -> Spectrum | None:
        """Return the spectrum of a file, None if there is no such file; see ``agent.mcp.desk.Spectra``.

        :param target: its identifier, or ``#1`` for the first of the file
        """
        parts = _parts(path)
        for folder in self._folders:
            if (file := _file(folder, parts)) is not None:
                return _read(file, target)
        return None if self._elsewhere is None else self._elsewhere.find(path, target, client)


def _parts(path: str) -> tuple[str, ...]:
    """Return the names in a path. :raises McpError: it could lead out of a folder, on any system"""
    windows = PureWindowsPath(path)
    if "\0" in path or windows.drive or windows.root or path.startswith("~") or ".." in windows.parts:
        raise McpError(f"path: found {path!r:.200}, {_EXPECTED}")
    return PurePosixPath(path).parts


def _file(folder: Path, parts: Sequence[str]) -> Path | None:
    """Return the file below the folder, None if there is none. :raises McpError: a link, or no file that is read"""
    at, shown = folder, "/".join(parts)
    mode = size = 0
    for name in parts:
        at /= name
        try:
            status = at.lstat()
        except (OSError, ValueError):
            return None
        mode, size = status.st_mode, status.st_size
        if stat.S_ISLNK(mode):
            raise McpError(f"path: found a link in {shown!r:.200}, {_EXPECTED}")
    if not stat.S_ISREG(mode):
        raise McpError(f"path: found no file at {shown!r:.200} but a folder or device, {_EXPECTED}")
    if size > MOST_BYTES:
        raise McpError(
            f"path: found {size / 2**30:.1f} GiB in {shown!r:.200}, expected at most {MOST_BYTES / 2**30:.0f}"
        )
    return at


def _read(file: Path, target: str | None) -> Spectrum:
    """Return the spectrum of a file. :raises McpError: it cannot be read; the message quotes nothing of it"""
    if target is not None and "=" in target:  # a selection by the catalogue's class would tell the class
        raise McpError(f"target: found {target!r:.60}, {_TARGET}")
    try:
        with opened(file) as targets:
            names = targets.names
            place = whole_number(target.removeprefix("#")) if target is not None and target.startswith("#") else None
            if place is not None and 1 <= place <= len(names):
                target = names[place - 1]
            if target is not None or len(names) == 1:
                return targets.read(target)
    except SpectrumError:
        raise McpError("path or target: found nothing there that can be read as a spectrum") from None
    raise McpError(f"target: found none, {_TARGET}, #1 to #{len(names)}")
