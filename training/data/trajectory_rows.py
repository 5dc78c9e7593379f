"""Rows of trajectories, in our form or the published cold-start layout, as examples and questions.

A row of ours has its spectrum in ``spectrum_data`` or in a folder; a published row has picture files and no spectrum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from agent import tasks
from agent.language import tr
from agent.spectrum import Spectrum, SpectrumError
from agent.spectrum.folder import SpectraFolder, SpectrumNotFound
from agent.tasks import Task
from agent.trajectory import Trajectory, TrajectoryError
from agent.trajectory.steps import Verdict
from agent.trajectory.tags import turn_text
from training.data.pictures import Drawn, PictureFiles, picture_file
from training.data.records import DataError, Dropped, Example, Question, source_of, survey_of
from training.data.rows import Row, read_again
from training.reward import score


@dataclass(frozen=True)
class TrajectoryRow:
    """One row, read and checked. ``trajectory`` has our key for its task.

    :param files: its picture files, named by the row or the export; empty if there are none
    :param approved: people have approved it, so its answer is the label if no other is known
    """

    row: Row
    trajectory: Trajectory
    task: Task
    spectra: SpectraFolder | None = None
    files: tuple[Path, ...] = ()
    approved: bool = False

    @cached_property
    def source(self) -> str:
        trajectory = self.trajectory
        try:
            return source_of(trajectory.spectrum_name, sha256=trajectory.spectrum_sha256)
        except ValueError as error:
            raise self.row.wrong(f"spectrum: {error}") from error

    def example(self) -> Example | Dropped:
        """Return an example for training, or why it cannot be one.

        :raises DataError: its pictures are missing, or it names no spectrum
        """
        if why := reason_unfit(self.trajectory):
            return Dropped(self.row.key, why)
        survey, snr = self._survey_and_snr()
        pictures = self._pictures()
        return Example(self.row.key, self.source, self.trajectory, pictures, survey, snr)

    def question(self) -> Question | Dropped:
        """Return a question with the prompt of the trajectory.

        :raises DataError: its spectrum is missing
        """
        label = self._label()
        if label is None:
            return Dropped(self.row.key, "no label")
        survey, snr = self._survey_and_snr()
        task = self.task
        if self.trajectory.prompt != task.prompt:
            task = task.with_prompt(self.trajectory.prompt)
        return Question(
            self.row.key, self.source, task, label, survey, snr, self.trajectory.simulated, self._spectrum()
        )

    def _label(self) -> Verdict | None:
        if self.trajectory.label is not None or not self.approved:
            return self.trajectory.label
        return self.trajectory.answer.verdict if self.trajectory.answer else None

    def _survey_and_snr(self) -> tuple[str, float | None]:
        data = self.row.values.get("spectrum_data")
        if not isinstance(data, Mapping):
            return survey_of(self.source), None
        stored = data.get("snr")
        snr = stored if isinstance(stored, Mapping) else {}
        numbers = (snr.get(band) for band in ("r", "median"))
        first = next((float(n) for n in numbers if isinstance(n, int | float)), None)
        return str(data.get("survey") or ""), first

    def _pictures(self) -> Callable[[], Sequence[Any]]:
        hashes = self.trajectory.pictures
        if self.files:
            if len(self.files) != len(hashes):
                raise self.row.wrong(
                    tr("images: found {n_files}, expected {n_hashes}", n_files=len(self.files), n_hashes=len(hashes))
                )
            return PictureFiles(self.row.key, self.files, hashes)
        stored = self._stored()
        if all(sha256 in stored for sha256 in hashes):
            return PictureFiles(self.row.key, [stored[str(sha256)] for sha256 in hashes], hashes)
        return Drawn(self.row.key, self.trajectory, self._spectrum(), stored)

    def _stored(self) -> dict[str, Path]:
        """Return the picture files that a row of ours names, by the SHA-256 of their pixels."""
        named = self.row.values.get("pictures") or {}
        if not isinstance(named, Mapping):
            raise self.row.wrong(tr("pictures: found {named!r:.60}, expected paths by SHA-256", named=named))
        try:
            return {str(sha256): picture_file(self.row.path, path) for sha256, path in named.items()}
        except DataError as error:
            raise self.row.wrong(f"pictures: {error}") from error

    def _spectrum(self) -> Callable[[], Spectrum]:
        if self.row.values.get("spectrum_data") is not None:
            if self.row.start is None:
                return partial(_from_json, self.row.wrong, self.row.values, self.trajectory)
            place = (self.row.path, self.row.number, self.row.start)
            return partial(_read_again, place, self.row.key, self.trajectory)
        if self.spectra is None:
            raise self.row.wrong(
                tr(
                    "found neither spectrum_data nor every picture of the trajectory; name the folder in which "
                    "the spectrum {spectrum_name!r:.60} is",
                    spectrum_name=self.trajectory.spectrum_name,
                )
            )
        find = partial(_spectrum_of, self.spectra, self.row.key, self.trajectory)
        if self.trajectory.spectrum_name not in self.spectra:
            find()
        return find


def own_row(row: Row, known: Mapping[str, Task], spectra: SpectraFolder | None) -> TrajectoryRow:
    """Read a row of ours. :raises DataError: a field is wrong, or the task unknown"""
    try:
        trajectory = Trajectory.from_json(row.values)
    except TrajectoryError as error:
        raise row.wrong(error) from error
    return _checked(row, trajectory, known, spectra)


def published_row(row: Row, known: Mapping[str, Task], spectra: SpectraFolder | None) -> TrajectoryRow:
    """Read a row of the cold-start layout. :raises DataError: a field is wrong, a picture missing"""
    try:
        trajectory = Trajectory.from_sharegpt(row.values)
        files = tuple(picture_file(row.path, path) for path in row.values["images"])
    except TrajectoryError as error:
        raise row.wrong(error) from error
    except DataError as error:
        raise row.wrong(f"images: {error}") from error
    return replace(_checked(row, trajectory, known, spectra), files=files)


def _checked(
    row: Row, trajectory: Trajectory, known: Mapping[str, Task], spectra: SpectraFolder | None
) -> TrajectoryRow:
    task = tasks.find(known, trajectory.task)
    if task is None:
        raise row.wrong(
            tr("task: found {task!r:.60}, expected one of {names}", task=trajectory.task, names=", ".join(known))
        )
    return TrajectoryRow(row, replace(trajectory, task=task.key), task, spectra)


def reason_unfit(trajectory: Trajectory) -> str:
    """Return why a trajectory cannot be an example, "" if it can."""
    if problems := trajectory.problems(pictures=False):
        return "; ".join(problems)
    text = "\n".join(turn_text(turn) for turn in trajectory.turns())
    verdict = trajectory.answer.verdict if trajectory.answer else None
    return "" if score(text, verdict or "").format_ok else "its form is not the published one"


def _read_again(place: tuple[Path, int, int], key: str, trajectory: Trajectory) -> Spectrum:
    def wrong(message: object) -> DataError:
        return DataError(f"{key}: {message}")

    return _from_json(wrong, read_again(*place), trajectory)


def _from_json(wrong: Callable[[object], DataError], values: Mapping[str, Any], trajectory: Trajectory) -> Spectrum:
    data = values.get("spectrum_data")
    if not isinstance(data, Mapping):
        raise wrong(tr("spectrum_data: found {name}, expected an object", name=type(data).__name__))
    try:
        spectrum = Spectrum.from_json(data)
    except SpectrumError as error:
        raise wrong(tr("spectrum_data: {error}", error=error)) from error
    if trajectory.spectrum_sha256 not in (None, spectrum.sha256):
        raise wrong(
            tr(
                "spectrum_data: found {sha256:.12}…, expected {spectrum_sha256:.12}…",
                sha256=spectrum.sha256,
                spectrum_sha256=trajectory.spectrum_sha256,
            )
        )
    return replace(spectrum, redshift=trajectory.redshift)


def _spectrum_of(spectra: SpectraFolder, key: str, trajectory: Trajectory) -> Spectrum:
    try:
        spectrum = spectra.find(trajectory.spectrum_name, trajectory.spectrum_sha256)
    except SpectrumNotFound as error:
        raise DataError(f"{key}: {error}") from error
    return replace(spectrum, redshift=trajectory.redshift)
