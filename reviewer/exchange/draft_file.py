"""Files of drafts: our JSON lines, and the published cold-start rows with their pictures.

Our lines are a trajectory's JSON form with two optional keys: ``spectrum_data`` (``Spectrum.to_json``) and ``pictures``
(paths in the file's folder by SHA-256 of the RGBA bytes). A file of any length is read row by row, from any row on.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from agent import tasks
from agent.errors import Refusal
from agent.language import tr
from agent.spectrum import Spectrum, SpectrumError
from agent.spectrum.folder import SpectraFolder, SpectrumNotFound
from agent.tasks import Task
from agent.text import one_line
from agent.trajectory import Medium, Trajectory, TrajectoryError, Zoom
from agent.trajectory.json_rows import elements
from reviewer.exchange.pictures import PictureError, PictureFiles, Pictures
from reviewer.store import Draft

# File names of an export and of the published data set; the first that exists is read.
NAMES = ("trajectories.jsonl", "train_sharegpt.json")
_FIELD = re.compile(r"([^:：⟦]+)(?:: |：)(.+)")
"""A problem that begins with its field, with the colon of English or Chinese."""


class ImportFileError(Refusal):
    """A file that cannot be imported at all: which one, what was found, what was expected."""


@dataclass(frozen=True)
class ImportProblem:
    """A row that cannot be imported. ``line`` counts from 1: a line of JSON lines, a row of a JSON list."""

    line: int
    field: str
    reason: str

    def __str__(self) -> str:
        return one_line(f"row {self.line}: {self.field}: {self.reason}")


@dataclass(frozen=True)
class Place:
    """How far a file was read.

    :param offset: bytes; of a JSON list only a measure of progress, because it is read ahead
    :param line: the last line of JSON lines, or element of a JSON list, from 1
    """

    offset: int = 0
    line: int = 0


START = Place()


class _Bad(Exception):
    """One field of a row that cannot be used."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(field, reason)
        self.field = field
        self.reason = reason


class DraftFile:
    """A file of drafts. Its rows can be read more than once and are never all in memory."""

    def __init__(
        self,
        path: Path,
        spectra: Path | None,
        batch: str,
        known: Mapping[str, Task],
        is_stored: Callable[[str], bool],
    ) -> None:
        """Open a file or folder of drafts. :raises ImportFileError: there is no such file or folder"""
        self.path = file_at(path)
        self._batch = batch
        self._is_stored = is_stored
        self._pictures = PictureFiles(self.path.parent)
        self._tasks = known
        try:
            self._spectra = None if spectra is None else SpectraFolder(spectra)
        except SpectrumNotFound as error:
            raise ImportFileError(str(error)) from error

    def rows(self, start: Place = START) -> Iterator[tuple[Place, Draft | ImportProblem]]:
        """Yield every row behind a place, as a draft or as its problem, with the place behind it.

        :raises ImportFileError: the file is no JSON
        """
        for place, row in self._json_rows(start):
            try:
                yield place, row if isinstance(row, ImportProblem) else self._draft(row)
            except _Bad as bad:
                yield place, ImportProblem(place.line, bad.field, bad.reason)
            except TrajectoryError as error:
                named = _FIELD.fullmatch(str(error))
                yield place, ImportProblem(place.line, *(named.groups() if named else (tr("row"), str(error))))
            except PictureError as error:
                yield place, ImportProblem(place.line, "images", str(error))
            except (SpectrumError, SpectrumNotFound) as error:
                yield place, ImportProblem(place.line, "spectrum", str(error))

    def _json_rows(self, start: Place) -> Iterator[tuple[Place, Any]]:
        try:
            with self.path.open("rb") as file:
                is_list = file.read(64).decode("utf-8", "ignore").lstrip("\ufeff \t\r\n").startswith("[")
                file.seek(0)
                yield from _list_elements(file, start) if is_list else _json_lines(file, start)
        except UnicodeDecodeError as error:
            raise ImportFileError(
                tr("{path}: found bytes that are no UTF-8 ({reason})", path=self.path, reason=error.reason)
            ) from error
        except (ValueError, RecursionError) as error:
            raise ImportFileError(
                tr("{path}: found no JSON ({error}), expected a list of rows", path=self.path, error=error)
            ) from error
        except OSError as error:
            raise ImportFileError(f"{self.path}: {error.strerror}") from error

    def _draft(self, row: object) -> Draft:
        if not isinstance(row, Mapping):
            raise _Bad("row", tr("found {name}, expected an object", name=type(row).__name__))
        if "not_converted" in row:
            raise _Bad(*map(str, row["not_converted"]))
        draft = self._sharegpt(row) if "conversations" in row else self._own(row)
        return replace(draft, trajectory=self._checked(draft), batch=self._batch)

    def _own(self, row: Mapping[str, Any]) -> Draft:
        trajectory = Trajectory.from_json(row)
        data = row.get("spectrum_data")
        if data is not None and not isinstance(data, Mapping):
            raise _Bad("spectrum_data", tr("found {name}, expected a spectrum", name=type(data).__name__))
        spectrum = self._spectrum_named(trajectory) if data is None else Spectrum.from_json(data)
        pictures = self._named_pictures(row.get("pictures") or {})
        of_sky = (zoom for zoom in trajectory.zooms if zoom.shows_sky and zoom.drawn)
        if lost := [zoom.id for zoom in of_sky if zoom.picture not in pictures]:
            raise _Bad(
                "pictures",
                tr(
                    "the picture of step {step} is of the sky and is not in the file; import the pictures with it",
                    step=lost[0],
                ),
            )
        if spectrum is None and not set(pictures).issuperset(filter(None, trajectory.pictures)):
            raise _Bad(
                "spectrum", tr("found neither the spectrum nor every picture, expected one (a folder of spectra?)")
            )
        return Draft(trajectory, spectrum, pictures=pictures)

    def _named_pictures(self, paths: object) -> Pictures:
        if not isinstance(paths, Mapping):
            raise _Bad("pictures", tr("found {name}, expected paths by SHA-256", name=type(paths).__name__))
        pixels_of_each = self._pictures.sha256_of_each(list(paths.values()))
        for (sha256, path), pixels in zip(paths.items(), pixels_of_each, strict=True):
            if pixels != sha256:
                raise _Bad(
                    "pictures",
                    tr("found other pixels in {path!r:.80}, expected {sha256:.12}…", path=path, sha256=sha256),
                )
        return Pictures(self._pictures, paths)

    def _sharegpt(self, row: Mapping[str, Any]) -> Draft:
        trajectory = Trajectory.from_sharegpt(row)
        hashes = self._pictures.sha256_of_each(row["images"])
        trajectory = trajectory.with_pictures(hashes)
        spectrum = self._spectrum_named(trajectory)
        if isinstance(spectrum, Spectrum):
            trajectory = replace(trajectory, spectrum_sha256=spectrum.sha256)
            if row.get("medium") is None:
                trajectory = _in_medium(trajectory, spectrum.medium)
        # The published pictures carry the file's name, so drawing them again would give other pixels.
        pictures = Pictures(self._pictures, dict(zip(hashes, row["images"], strict=True)))
        return Draft(trajectory, spectrum, pictures=pictures)

    def _spectrum_named(self, trajectory: Trajectory) -> Spectrum | str | None:
        sha256 = trajectory.spectrum_sha256
        if sha256 is not None and self._is_stored(sha256):
            return sha256
        if self._spectra is None:
            return None
        return self._spectra.find(trajectory.spectrum_name, sha256)

    def _checked(self, draft: Draft) -> Trajectory:
        """Return the trajectory with our key for its task, after checks of its wavelengths against its spectrum."""
        trajectory, spectrum = draft.trajectory, draft.spectrum
        task = tasks.find(self._tasks, trajectory.task)
        if task is None:
            raise _Bad(
                "task",
                tr("found {task!r:.60}, expected one of {names}", task=trajectory.task, names=", ".join(self._tasks)),
            )
        if not trajectory.steps:
            raise _Bad("steps", tr("found none, expected at least one"))
        if isinstance(spectrum, Spectrum):
            if trajectory.spectrum_sha256 not in (None, spectrum.sha256):
                raise _Bad(
                    "spectrum",
                    tr(
                        "found {sha256:.12}…, expected {spectrum_sha256:.12}…",
                        sha256=spectrum.sha256,
                        spectrum_sha256=trajectory.spectrum_sha256,
                    ),
                )
            if spectrum.medium != trajectory.medium:
                raise _Bad(
                    "medium",
                    tr(
                        "found {medium}, expected the spectrum's, {medium2}",
                        medium=trajectory.medium,
                        medium2=spectrum.medium,
                    ),
                )
        for number, step in enumerate(trajectory.steps, start=1):
            z = getattr(step, "z", 0.0)
            if z not in (0.0, trajectory.redshift):
                raise _Bad(
                    f"steps[{number}].z",
                    tr("found {z}, expected the redshift, {redshift}", z=z, redshift=trajectory.redshift),
                )
        return replace(trajectory, task=task.key)


def _in_medium(trajectory: Trajectory, medium: Medium) -> Trajectory:
    """Return the trajectory in the spectrum's medium, for a row without one."""
    steps = (replace(s, medium=medium) if isinstance(s, Zoom) else s for s in trajectory.steps)
    return replace(trajectory, medium=medium, steps=tuple(steps))


def _json_lines(file: BinaryIO, start: Place) -> Iterator[tuple[Place, Any]]:
    file.seek(start.offset)
    offset, line = start.offset, start.line
    for data in file:
        offset, line = offset + len(data), line + 1
        text = data.decode("utf-8")
        if text.strip():
            yield Place(offset, line), _json_line(line, text)


def _list_elements(file: BinaryIO, start: Place) -> Iterator[tuple[Place, Any]]:
    for line, element in enumerate(elements(io.TextIOWrapper(file, "utf-8")), start=1):
        if line > start.line:
            yield Place(file.tell(), line), element


def _json_line(line: int, text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        return ImportProblem(line, "row", tr("found no JSON ({error}), expected an object", error=error))


def file_at(path: Path) -> Path:
    """Return the file to import: the path itself, or the first of ``NAMES`` in a folder.

    :raises ImportFileError: there is no such file or folder
    """
    if path.is_dir():
        inside = next((path / name for name in NAMES if (path / name).is_file()), None)
        if inside is None:
            raise ImportFileError(
                tr("{path}: found neither {names} in this folder", path=path, names=" nor ".join(NAMES))
            )
        return inside
    if not path.is_file():
        raise ImportFileError(tr("{path}: found no such file", path=path))
    return path
