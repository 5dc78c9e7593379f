"""The pictures of a trajectory, loaded when needed: from files, or drawn again and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from PIL import Image

from agent import tool
from agent.language import tr
from agent.plot import RENDERER, pixels_sha256
from agent.plot.decoding import PictureError, decoded
from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from training.data.records import DataError


def picture_file(rows: Path, path: object) -> Path:
    """Return the picture file that a row of the file ``rows`` names. :raises DataError: it is outside its folder"""
    if not isinstance(path, str):
        raise DataError(tr("found {path!r:.60}, expected the path of a picture", path=path))
    folder = rows.parent.resolve()
    try:
        file = (folder / path).resolve()
        is_there = file.is_file()
    except (OSError, ValueError) as error:  # too long a name, or one that no file can have
        raise DataError(tr("found {path!r:.80}, expected the path of a picture", path=path)) from error
    if not file.is_relative_to(folder):
        raise DataError(tr("found {path!r:.80}, expected a path inside {parent}", path=path, parent=rows.parent))
    if not is_there:
        raise DataError(tr("found no picture {path!r:.80} in {parent}, expected a file", path=path, parent=rows.parent))
    return file


@dataclass(frozen=True)
class PictureFiles:
    """Pictures in files, in the order of the messages.

    :param hashes: SHA-256 of the RGBA bytes of each, None if unknown
    """

    key: str
    paths: Sequence[Path]
    hashes: Sequence[str | None]

    def __call__(self) -> Sequence[Image.Image]:
        """:raises DataError: a file cannot be read, or is not the picture of the trajectory"""
        return [self._read(path, sha256) for path, sha256 in zip(self.paths, self.hashes, strict=True)]

    def _read(self, path: Path, sha256: str | None) -> Image.Image:
        try:
            image = decoded(str(path), path.read_bytes())
        except (OSError, PictureError) as error:
            raise DataError(f"{self.key}: {error}") from error
        if sha256 is not None and pixels_sha256(image) != sha256:
            raise DataError(
                tr(
                    "{key}: {path}: found other pixels, expected those of {sha256:.12}…",
                    key=self.key,
                    path=path,
                    sha256=sha256,
                )
            )
        return image


@dataclass(frozen=True)
class Drawn:
    """Pictures drawn from the spectrum by the agent's own tool.

    :param stored: files of some of them by SHA-256 of their pixels; these are read instead
    """

    key: str
    trajectory: Trajectory
    spectrum: Callable[[], Spectrum]
    stored: Mapping[str, Path]

    def __call__(self) -> Sequence[Image.Image]:
        """:raises DataError: a picture comes out with other pixels, or a file cannot be read"""
        zooms = [zoom for zoom in self.trajectory.zooms if zoom.drawn]
        calls: list[Mapping[str, Any] | None] = [{}, *(z.arguments if z.shows_spectrum else None for z in zooms)]
        hashes = self.trajectory.pictures
        stored = {
            sha256: PictureFiles(self.key, [self.stored[sha256]], [sha256])()[0]
            for sha256 in hashes
            if sha256 is not None and sha256 in self.stored
        }
        if len(stored) < len(set(hashes)):
            seen = replace(self.spectrum(), redshift=self.trajectory.redshift)
        return [
            stored[sha256] if sha256 in stored else self._draw(seen, arguments, sha256)
            for arguments, sha256 in zip(calls, hashes, strict=True)
        ]

    def _draw(self, spectrum: Spectrum, arguments: Mapping[str, Any] | None, sha256: str | None) -> Image.Image:
        if arguments is None:
            raise DataError(
                tr(
                    "{key}: the picture {sha256:.12}… is of the sky and is not in the file, expected it under pictures",
                    key=self.key,
                    sha256=str(sha256),
                )
            )
        image = tool.call(spectrum, arguments).image
        if image is None:
            raise DataError(
                tr(
                    "{key}: the tool refuses {arguments!r:.80}, which gave a picture before",
                    key=self.key,
                    arguments=dict(arguments),
                )
            )
        if sha256 is not None and pixels_sha256(image) != sha256:
            raise DataError(
                tr(
                    "{key}: a picture is drawn with different pixels here, expected those of {sha256:.12}… "
                    "(renderer {renderer})",
                    key=self.key,
                    sha256=sha256,
                    renderer=RENDERER,
                )
            )
        return image
