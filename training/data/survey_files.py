"""Labelled spectra of any survey that ``agent.spectrum.readers`` reads, with a label table.

Files are opened only to list their spectra. The table may give ``survey`` and ``snr``, known before a file is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal

from agent import tasks
from agent.batch.labels import Labels, LabelsError, Row
from agent.batch.sources import Source, SourceError, SpectrumFile, sources_from
from agent.language import tr
from agent.spectrum import Spectrum, SpectrumError
from agent.spectrum.names import id_or_text
from agent.spectrum.readers import opened
from agent.tasks import Task
from training.data.records import DataError, Dropped, Question, source_of

LABELS = "labels.csv"
LeaveOut = Literal["nothing", "missing", "unreadable"]
"""What may be left out of a label table: no row; rows whose spectrum is not among the data; also rows whose file is
there and cannot be read."""

_LISTS = (".csv", ".tsv", ".txt")
_KEPT_OPEN = 8
_NAMED = 5  # files in an error message


class LabelledFileError(DataError):
    """Spectra of the label table that are missing or cannot be read, and may not be left out."""


def labelled_spectra(
    paths: Sequence[Path],
    table: Path,
    known: Mapping[str, Task],
    keys: Sequence[str] | None,
    dropped: list[Dropped],
    leave_out: LeaveOut = "missing",
) -> list[Question]:
    """Return a question for each labelled spectrum and task of the table. A file that the table names is opened
    whatever its ending.

    :param paths: files, folders, and lists as ``agent.batch.sources`` has them
    :param table: the labels, as ``agent.batch.labels`` has them
    :param keys: keys of the wanted tasks; a single one is the task of the labels if the table does not
        state it
    :param dropped: what was left out is added
    :param leave_out: which rows of the table may be without a spectrum
    :raises DataError: there is no such file, no table, no task, or the table cannot be used
    :raises LabelledFileError: spectra of the table are missing or cannot be read
    """
    labels_by_task = _labels(table, known, keys)
    names_of = lru_cache(_KEPT_OPEN)(_names)  # a list may name a file once for each of its targets
    listed = []
    unreadable: list[Dropped] = []
    try:
        for source in _sources(paths, table, list(labels_by_task.values())):
            if source.path == table.absolute():
                continue
            for target, identity in _inside(source, names_of, list(labels_by_task.values()), dropped, unreadable):
                here = list(_questions(target, identity, table, labels_by_task, known))
                listed += here
                if not here:
                    dropped.append(Dropped(target.key, f"no label in {table.name}"))
    except SourceError as error:
        raise DataError(str(error)) from error
    if leave_out != "unreadable":
        _refuse(unreadable, table)
    names = dict.fromkeys(name for labelled in labels_by_task.values() for name in labelled.unused)
    missing = [Dropped(name, f"in {table.name} but not among the spectra", True) for name in names]
    if leave_out == "nothing" and listed:
        _refuse(missing, table)
    dropped += unreadable + missing
    return listed


def _refuse(rows: Sequence[Dropped], table: Path) -> None:
    """:raises LabelledFileError: there are any"""
    if not rows:
        return
    named = "; ".join(f"{row.key}: {row.reason}" for row in rows[:_NAMED]) + ("; …" if len(rows) > _NAMED else "")
    raise LabelledFileError(
        tr(
            "{table}: found {n_rows} labelled {value} without data ({named}); expected a readable "
            "spectrum for each row: repair or add the files, or remove their rows",
            table=table,
            n_rows=len(rows),
            value="spectrum" if len(rows) == 1 else "spectra",
            named=named,
        )
    )


def _sources(paths: Sequence[Path], table: Path, labels: Sequence[Labels]) -> Iterator[Source]:
    """Yield the sources, and then the labelled files of the folders that are not taken for spectra by their ending.

    :raises SourceError: there is no such file or folder, or a list cannot be read
    """
    skipped: list[str] = []

    def on_skip(path: Path, _: str) -> None:
        if any(label.targets(path.name) for label in labels):
            skipped.append(str(path))

    folder = table.absolute().parent
    seen: set[Path] = set()
    for source in sources_from([str(path) for path in paths], folder, on_skip=on_skip):
        seen.add(source.path)
        yield source
    yield from (source for source in sources_from(skipped, folder) if source.path not in seen)


def own_table(path: Path) -> Path:
    """Return the labels that come with the spectra: ``labels.csv`` in their folder, or the list itself.

    :raises DataError: there are none
    """
    if path.is_dir() and (path / LABELS).is_file():
        return path / LABELS
    if path.is_file() and path.suffix.lower() in _LISTS:
        return path
    raise DataError(tr("{path}: found no labels; name a table with columns file and label", path=path))


def _questions(
    source: Source, identity: str, table: Path, labels_by_task: Mapping[str, Labels], known: Mapping[str, Task]
) -> Iterator[Question]:
    for key, labels in labels_by_task.items():
        row = labels.row(source.path.name, source.target)
        if row is None:
            continue
        survey = row.also.get("survey", "")
        yield Question(
            key=source.key,
            source=identity,
            task=known[key],
            label=row.verdict,
            survey=survey,
            snr=_snr(row, table),
            simulated=survey.startswith("simulated "),
            spectrum=partial(_read, source.path, source.target),
        )


def _snr(row: Row, table: Path) -> float | None:
    """:raises DataError: the value in the table is no number"""
    value = row.also.get("snr", "")
    try:
        return float(value) if value else None
    except ValueError:
        raise DataError(
            tr(
                "{table}: row {number}: snr: found {value!r:.60}, expected a number",
                table=table,
                number=row.number,
                value=value,
            )
        ) from None


def _inside(
    source: Source,
    names_of: Callable[[Path], tuple[str, ...]],
    labels: Sequence[Labels],
    dropped: list[Dropped],
    unreadable: list[Dropped],
) -> Iterator[tuple[Source, str]]:
    """Yield the spectra of a file that may be in the table, with their identities. A file that cannot be opened is
    added to ``unreadable`` with the reason if it has a label, else to ``dropped``.
    """
    labelled = [(label, target) for label in labels for target in label.targets(source.path.name)]
    try:
        names = names_of(source.path)
    except SpectrumError as error:
        left_out = Dropped(source.key, f"cannot be read: found {error.actual}", bool(labelled))
        (unreadable if labelled else dropped).append(left_out)
        for file_labels, target in labelled:
            file_labels.of(source.path.name, target)  # reported once
        return
    only = [source.target] if source.target else list(dict.fromkeys(target for _, target in labelled))
    known = {id_or_text(name): name for name in names}
    for target in names if "" in only or not only else (known.get(id_or_text(name), "") for name in only):
        if target in names:
            identity = source_of(source.path.name, target if len(names) > 1 else "")
            yield Source(source.path, source.file, target), identity


def _names(path: Path) -> tuple[str, ...]:
    """:raises SpectrumError: it is no spectrum file"""
    with opened(path) as targets:
        return targets.names


def _labels(table: Path, known: Mapping[str, Task], chosen: Sequence[str] | None) -> dict[str, Labels]:
    """Return the labels by task. :raises DataError: the table cannot be used, or does not state its task"""
    met: dict[str, None] = {}

    def note(name: str) -> bool | None:
        known_task = tasks.find(known, name)
        if known_task is not None:
            met[known_task.key] = None
        return None if known_task is None else False

    def is_of(key: str, name: str) -> bool:
        known_task = tasks.find(known, name)
        return known_task is not None and known_task.key == key

    try:
        without_task = Labels.read(table, note)
        if len(without_task) and (chosen is None or len(chosen) != 1):
            raise DataError(
                tr("{table}: found no column task, expected one, or one task named for all its rows", table=table)
            )
        keys = list(met) if chosen is None else chosen
        known_task = {key: Labels.read(table, partial(is_of, key)) for key in keys}
    except LabelsError as error:
        raise DataError(str(error)) from error
    if not any(len(labels) for labels in known_task.values()):
        if not chosen:
            raise DataError(tr("{table}: found no label", table=table))
        raise DataError(tr("{table}: found no label of task {wanted}", table=table, wanted=tr(" or ").join(chosen)))
    return known_task


def _read(path: Path, target: str) -> Spectrum:
    """:raises DataError: there is no such spectrum, or it is damaged"""
    spectrum = _file(path).read(target)
    if isinstance(spectrum, SpectrumError):
        raise DataError(f"{path.parent}: {spectrum}") from spectrum
    return spectrum


@lru_cache(_KEPT_OPEN)
def _file(path: Path) -> SpectrumFile:
    """Return a survey file. The last few stay open, because a DESI file has hundreds of spectra."""
    return SpectrumFile(path)
