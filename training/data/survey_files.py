"""Spectra of one's own with a label table: other surveys, other classes, whatever ``agent.readers`` reads.

Files are opened to see which spectra they hold, and not read. A file whose rows in the table all name a
target is not even opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path

from agent import tasks
from agent.labels import Labels, LabelsError
from agent.many.reading import SpectrumFile
from agent.many.sources import Source, SourceError, files
from agent.readers import opened
from agent.spectrum import Spectrum, SpectrumError
from agent.tasks import Task
from training.data.errors import DataError, Dropped
from training.data.identity import source_of
from training.records import Question

_KEPT_OPEN = 8


def labelled_spectra(
    paths: Sequence[Path],
    labels: Path | None,
    known: Mapping[str, Task],
    task: Task | None,
    dropped: list[Dropped],
) -> list[Question]:
    """A question for each labelled spectrum and task of the table.

    :param paths: files, folders, and lists as ``agent.many.sources`` has them
    :param labels: the table; None: the list of files is one itself
    :param task: the only one to be asked; what the labels are about where the table does not say
    :raises DataError: there is no such file, no table, no task, or the table cannot be used
    """
    table = _table(paths, labels)
    asked = _labels(table, known, task)
    found = []
    try:
        for source in files([str(path) for path in paths], Path.cwd()):
            for one in _inside(source, list(asked.values()), dropped):
                here = list(_questions(one, asked, known))
                found += here
                if not here:
                    dropped.append(Dropped(one.key, f"no label in {table.name}"))
    except SourceError as error:
        raise DataError(str(error)) from error
    for labelled in asked.values():
        dropped += [Dropped(name, f"in {table.name} but not among the spectra") for name in labelled.unused]
    return found


def _questions(source: Source, asked: Mapping[str, Labels], known: Mapping[str, Task]) -> Iterator[Question]:
    for key, labels in asked.items():
        label = labels.of(source.path.name, source.target)
        if label is not None:
            read = partial(_read, source.path, source.target)
            identity = source_of(source.path.name, source.target)
            yield Question(source.key, identity, known[key], label, "", None, False, read)


def _inside(source: Source, labels: Sequence[Labels], dropped: list[Dropped]) -> Iterator[Source]:
    """The spectra of a file; those that cannot be opened are dropped with the reason."""
    named = dict.fromkeys(target for one in labels for target in one.targets(source.path.name))
    if source.target or (named and "" not in named):
        yield from [source] if source.target else [Source(source.path, source.file, t) for t in named]
        return
    try:
        with opened(source.path) as targets:
            names = targets.names
    except SpectrumError as error:
        dropped.append(Dropped(source.key, f"cannot be read: found {error.found}"))
        return
    for name in names:
        yield Source(source.path, source.file, name)


def _table(paths: Sequence[Path], labels: Path | None) -> Path:
    if labels is not None:
        return labels
    if len(paths) == 1 and paths[0].is_file() and paths[0].suffix.lower() in (".csv", ".tsv", ".txt"):
        return paths[0]
    named = ", ".join(str(path) for path in paths[:3])
    raise DataError(f"{named}: found spectra without labels; name a table with columns file and label")


def _labels(table: Path, known: Mapping[str, Task], task: Task | None) -> dict[str, Labels]:
    """The labels by task. :raises DataError: the table cannot be used, or does not say which task it is of"""
    met: dict[str, None] = {}

    def note(name: str) -> bool | None:
        found = tasks.find(known, name)
        if found is not None:
            met[found.key] = None
        return None if found is None else False

    def is_of(key: str, name: str) -> bool:
        found = tasks.find(known, name)
        return found is not None and found.key == key

    try:
        without_task = Labels.read(table, note)
        if task is None and len(without_task):
            raise DataError(f"{table}: found no column task, wanted one, or the task named (--task)")
        keys = [task.key] if task is not None else list(met)
        found = {key: Labels.read(table, partial(is_of, key)) for key in keys}
    except LabelsError as error:
        raise DataError(str(error)) from error
    if not any(len(labels) for labels in found.values()):
        raise DataError(f"{table}: found no label" + (f" of task {task.key}" if task else ""))
    return found


def _read(path: Path, target: str) -> Spectrum:
    """:raises DataError: there is no such spectrum, or it is damaged"""
    found = _file(path).read(target)
    if isinstance(found, SpectrumError):
        raise DataError(f"{path.parent}: {found}") from found
    return found


@lru_cache(_KEPT_OPEN)
def _file(path: Path) -> SpectrumFile:
    """A survey file, of which the last few stay open: a DESI file holds hundreds of spectra."""
    return SpectrumFile(path)
