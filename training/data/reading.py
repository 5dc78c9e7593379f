"""Read the inputs of a command line as examples and questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agent import tasks as known_tasks
from agent.language import tr
from agent.spectrum.folder import SpectraFolder, SpectrumNotFound
from agent.tasks import Task
from agent.tasks.specvi import Part
from training.data.export_folder import MANIFEST, TRAJECTORIES, WITH_PICTURES, ExportFolder, ToolSchemas, stated_in
from training.data.records import DataError, Dropped, Example, Question
from training.data.rows import rows
from training.data.specvi import files_in, is_specvi, questions_of
from training.data.survey_files import LeaveOut, labelled_spectra, own_table
from training.data.trajectory_rows import TrajectoryRow, own_row, published_row

PUBLISHED = "train_sharegpt.json"


def tasks_with(folder: str | None) -> dict[str, Task]:
    """Return the program's tasks, and those of a folder with task files. :raises DataError: one cannot be used"""
    try:
        return known_tasks.load(folder)
    except known_tasks.TaskError as error:
        raise DataError(str(error)) from error


def examples(
    paths: Iterable[str | Path],
    tasks: Mapping[str, Task] | None = None,
    spectra: Path | None = None,
    dropped: list[Dropped] | None = None,
) -> list[Example]:
    """Read examples from export folders, our JSON lines and ShareGPT files.

    All checks that need no picture and no spectrum are made now; those are read, and checked, on demand.

    :param tasks: the known tasks, by key; None: those of the program
    :param spectra: a folder with the spectra of rows that only name them
    :param dropped: rows that were left out are added
    :raises DataError: an input cannot be used, or there is no example
    """
    known = known_tasks.load() if tasks is None else tasks
    given = [Path(path) for path in paths]
    read = [row.example() for row in _trajectories(given, known, _folder(spectra), pictures=True)]
    usable = [row for row in read if isinstance(row, Example)]
    left_out = [row for row in read if isinstance(row, Dropped)]
    _refuse_empty(usable, left_out, given, tr("trajectory to learn from"))
    _refuse_duplicates(question.key for question in usable)
    if dropped is not None:
        dropped += left_out
    return usable


def questions(
    paths: Iterable[str | Path],
    tasks: Mapping[str, Task] | None = None,
    labels: Path | None = None,
    *,
    task: str | Sequence[str] | None = None,
    part: Part | None = None,
    spectra: Path | None = None,
    dropped: list[Dropped] | None = None,
    leave_out: LeaveOut = "missing",
) -> list[Question]:
    """Read questions from SpecVI-Bench files, from spectra with a label table, and from labelled trajectories.

    :param tasks: the known tasks, by key; None: those of the program
    :param labels: a table as ``agent.batch.labels`` has it, for spectrum files and folders of them; None: the
        ``labels.csv`` in each folder, or a list of files that has the labels itself
    :param task: only this one, or these; needed if the label table has no column ``task``
    :param part: which files of a folder of the benchmark are wanted, ``train_*`` or ``test_*``
    :param spectra: a folder with the spectra of rows that only name them
    :param dropped: rows that were left out are added
    :param leave_out: which rows of a label table may be without a spectrum
    :raises DataError: an input cannot be used, two labels of one spectrum differ, or there is no question
    """
    known = known_tasks.load() if tasks is None else tasks
    given = [Path(path) for path in paths]
    keys = _named_tasks(task, known)
    benchmark, kept, surveys = _sorted(given, part)
    left_out: list[Dropped] = []
    usable: list[Question] = []
    for path in benchmark:
        usable += questions_of(path, known)
    listed = [row.question() for row in _trajectories(kept, known, _folder(spectra), pictures=False)]
    usable += _once([question for question in listed if isinstance(question, Question)], left_out)
    left_out += [question for question in listed if isinstance(question, Dropped)]
    if labels is not None and surveys:
        usable += labelled_spectra(surveys, labels, known, keys, left_out, leave_out)
    elif surveys:
        for path in surveys:
            usable += labelled_spectra([path], own_table(path), known, keys, left_out, leave_out)
    if keys is not None:
        usable = [question for question in usable if question.task.key in keys]
    what = tr("question") if keys is None else tr("question of task {wanted}", wanted=tr(" or ").join(keys))
    _refuse_empty(usable, left_out, given, what)
    _refuse_duplicates(f"{question.key} ({question.task.key})" for question in usable)
    if dropped is not None:
        dropped += left_out
    return usable


def _trajectories(
    paths: Sequence[Path], known: Mapping[str, Task], spectra: SpectraFolder | None, pictures: bool
) -> Iterator[TrajectoryRow]:
    """Yield every row of export folders and of files of trajectories; all must have been made with our tool."""
    tools = ToolSchemas()
    # All exports are checked before the first row is read, so that a mixture is found at once.
    exports = {path: ExportFolder(path, tools) for path in paths if _is_export(path)}
    for path in paths:
        if path in exports:
            for row, files in exports[path].rows(pictures):
                yield replace(own_row(row, known, spectra), files=files, approved=True)
        else:
            yield from _file_rows(_file_at(path), known, spectra, tools)


def _file_rows(
    path: Path, known: Mapping[str, Task], spectra: SpectraFolder | None, tools: ToolSchemas
) -> Iterator[TrajectoryRow]:
    for row in rows(path):
        if "conversations" not in row.values:
            yield own_row(row, known, spectra)
            continue
        read = published_row(row, known, spectra)
        try:
            schema = stated_in(str(row.values["conversations"][0].get("value")))
        except ValueError as error:
            raise row.wrong(f"conversations[0]: {error}") from error
        if schema is not None:
            tools.add(schema, f"{path}: row {row.number}")
        yield read


def _is_export(path: Path) -> bool:
    return (path / MANIFEST).is_file() or (path / WITH_PICTURES).is_file()


def _file_at(path: Path) -> Path:
    if path.is_dir():
        files = [path / name for name in (TRAJECTORIES, PUBLISHED) if (path / name).is_file()]
        if not files:
            raise DataError(
                tr(
                    "{path}: found no {manifest}, {trajectories} or {published} in this folder",
                    path=path,
                    manifest=MANIFEST,
                    trajectories=TRAJECTORIES,
                    published=PUBLISHED,
                )
            )
        return files[0]
    if not path.is_file():
        raise DataError(tr("{path}: found no such file or folder", path=path))
    return path


def _holds_trajectories(path: Path) -> bool:
    if path.is_dir():
        return _is_export(path) or any((path / name).is_file() for name in (TRAJECTORIES, PUBLISHED))
    return path.suffix.lower() in (".jsonl", ".json")


def _sorted(paths: Sequence[Path], part: Part | None) -> tuple[list[Path], list[Path], list[Path]]:
    """Sort the inputs: files of the benchmark, files of trajectories, and the rest (spectra)."""
    benchmark: list[Path] = []
    kept: list[Path] = []
    surveys: list[Path] = []
    for path in paths:
        if not path.exists():
            raise DataError(tr("{path}: found no such file or folder", path=path))
        if _holds_trajectories(path):
            kept.append(path)
        elif path.is_dir() and (inside := files_in(path, part)):
            benchmark += inside
        elif path.is_file() and is_specvi(path):
            benchmark.append(path)
        else:
            surveys.append(path)
    return benchmark, kept, surveys


def _named_tasks(names: str | Sequence[str] | None, known: Mapping[str, Task]) -> list[str] | None:
    """Return the keys of the tasks, given by key or alias; None for all."""
    if names is None:
        return None
    keys = []
    for name in [names] if isinstance(names, str) else names:
        task = known_tasks.find(known, name)
        if task is None:
            raise DataError(tr("task: found {name!r:.60}, expected one of {names}", name=name, names=", ".join(known)))
        keys.append(task.key)
    return keys


def _once(listed: Sequence[Question], dropped: list[Dropped]) -> Iterator[Question]:
    """Yield each spectrum once per task, however many trajectories it has."""
    seen: dict[tuple[str, str], Question] = {}
    for question in listed:
        before = seen.setdefault((question.source, question.task.key), question)
        if before is question:
            yield question
        elif before.label != question.label:
            raise DataError(
                tr(
                    "{key}: label: found {label} for {source}, which {key2} calls {label2}",
                    key=question.key,
                    label=question.label,
                    source=question.source,
                    key2=before.key,
                    label2=before.label,
                )
            )
        else:
            dropped.append(Dropped(question.key, "another trajectory of the same spectrum and task"))


def _folder(spectra: Path | None) -> SpectraFolder | None:
    try:
        return None if spectra is None else SpectraFolder(spectra)
    except SpectrumNotFound as error:
        raise DataError(str(error)) from error


def _refuse_duplicates(keys: Iterable[str]) -> None:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            raise DataError(tr("{key}: found twice among the data; name each file once", key=key))
        seen.add(key)


def _refuse_empty(rows: Sequence[object], dropped: Sequence[Dropped], given: Sequence[Path], what: str) -> None:
    if rows:
        return
    where = ", ".join(str(path) for path in given[:3]) or tr("nothing named")
    why = "; ".join(f"{row.key}: {row.reason}" for row in dropped[:2])
    found_none = tr("{where}: found no {what}", where=where, what=what)
    if not dropped:
        raise DataError(found_none)
    raise DataError(tr("{found}; left out {n} ({why})", found=found_none, n=len(dropped), why=why))
