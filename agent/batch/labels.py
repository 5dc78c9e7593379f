"""``labels.csv``: known labels of spectra, for drafting and for the bench."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from agent.errors import Refusal
from agent.language import tr
from agent.spectrum.names import LostDigitsError, file_key, id_key, id_or_text
from agent.trajectory import Verdict

_FILE = ("file", "name", "path")
_VERDICTS: Mapping[str, Verdict] = {
    "yes": "YES",
    "1": "YES",
    "true": "YES",
    "no": "NO",
    "0": "NO",
    "false": "NO",
}

IsThisTask = Callable[[str], bool | None]
"""Whether a name is that of the class in question; None: of no class that is known."""


class LabelsError(Refusal):
    """Labels cannot be used: which file, row and column, what was found and what was expected."""


@dataclass(frozen=True)
class Row:
    """A label as written in the file; ``number`` is the row, the header being row 1."""

    number: int
    file: str
    target: str
    verdict: Verdict
    also: Mapping[str, str] = field(default_factory=dict)
    """Values of the other columns."""


class Labels:
    """Labels by file and target; records which of them were used.

    The table has one row per spectrum: ``file`` (or ``name``, or ``path``; only the file's own name counts, as
    ``agent.spectrum.names`` compares it),
    ``label`` (YES or NO, also 1 and 0, true and false), optionally ``target`` (one spectrum of the file; default:
    all) and ``task`` (rows of other classes are skipped). Commas, semicolons or tabs separate the columns.
    """

    def __init__(self, source: str, rows: Iterable[Row]) -> None:
        """:raises LabelsError: two rows contradict each other about one spectrum"""
        self.source = source
        self._rows: dict[tuple[str, str], Row] = {}
        self._used: set[tuple[str, str]] = set()
        for row in rows:
            before = self._rows.setdefault(_key(row.file, row.target), row)
            if before.verdict != row.verdict:
                raise LabelsError(
                    tr(
                        "{source}: row {number}: label: found {verdict} for {row}, which row {number2} calls "
                        "{verdict2}",
                        source=source,
                        number=row.number,
                        verdict=row.verdict,
                        row=_name_of(row),
                        number2=before.number,
                        verdict2=before.verdict,
                    )
                )

    @classmethod
    def read(cls, path: Path, is_this_task: IsThisTask) -> Labels:
        """Read the labels of a file. :raises LabelsError: it cannot be read, or a row is wrong"""
        try:
            with path.open(encoding="utf-8-sig", newline="") as lines:
                return cls(path.name, _rows(lines, path.name, is_this_task))
        except OSError as error:
            raise LabelsError(f"{path}: {error.strerror}") from error
        except (UnicodeDecodeError, csv.Error) as error:
            raise LabelsError(tr("{path}: found no text ({error}), expected CSV", path=path, error=error)) from error

    def __len__(self) -> int:
        return len(self._rows)

    def of(self, file: str, target: str = "") -> Verdict | None:
        """Return the label of one spectrum; the one of its whole file if it has none of its own."""
        row = self.row(file, target)
        return None if row is None else row.verdict

    def row(self, file: str, target: str = "") -> Row | None:
        """Return the row of one spectrum; the one of its whole file if it has none of its own."""
        for key in dict.fromkeys((_key(file, target), _key(file, ""))):
            if key in self._rows:
                self._used.add(key)
                return self._rows[key]
        return None

    def targets(self, file: str) -> list[str]:
        """Return the labelled targets of a file ("": the whole file), in the table's order."""
        name = file_key(file)
        return [row.target for key, row in self._rows.items() if key[0] == name]

    @property
    def unused(self) -> list[str]:
        """The labelled spectra that were not used, in the file's order."""
        return [_name_of(row) for key, row in self._rows.items() if key not in self._used]


def _key(file: str, target: str) -> tuple[str, str]:
    return file_key(file), id_or_text(target)


def _name_of(row: Row) -> str:
    return f"{row.file}#{row.target}" if row.target else row.file


def _rows(lines: Iterable[str], source: str, is_this_task: IsThisTask) -> Iterator[Row]:
    given = iter(lines)
    header = next(given, "")
    separator = max(",;\t", key=header.count)
    columns = [name.strip().lower() for name in next(csv.reader([header], delimiter=separator), [])]
    file_column = next((name for name in _FILE if name in columns), None)
    if file_column is None or "label" not in columns:
        names = ", ".join(columns) or "none"
        raise LabelsError(
            tr(
                "{source}: row 1: found the columns {found}; expected file (or name, path) and label",
                source=source,
                found=names,
            )
        )
    for number, row in enumerate(csv.DictReader(given, columns, delimiter=separator), start=2):
        cells = {name: (row.get(name) or "").strip() for name in columns}
        if not any(cells.values()):
            continue
        if "task" in columns and not _of_this_task(cells["task"], f"{source}: row {number}", is_this_task):
            continue
        name = PurePath(cells[file_column].replace("\\", "/")).name
        if not name:
            raise LabelsError(
                tr(
                    "{source}: row {number}: {file_column}: found nothing, expected a file's name",
                    source=source,
                    number=number,
                    file_column=file_column,
                )
            )
        verdict = _VERDICTS.get(cells["label"].lower())
        if verdict is None:
            raise LabelsError(
                tr(
                    "{source}: row {number}: label: found {cells!r:.60}, expected YES or NO (1, 0, true, false)",
                    source=source,
                    number=number,
                    cells=cells["label"],
                )
            )
        also = {name: cell for name, cell in cells.items() if name not in (file_column, "label", "target")}
        try:
            target = id_key(cells.get("target", ""))
        except LostDigitsError as error:
            raise LabelsError(
                tr("{source}: row {number}: target: {error}", source=source, number=number, error=error)
            ) from error
        yield Row(number, name, target, verdict, also)


def _of_this_task(name: str, where: str, is_this_task: IsThisTask) -> bool:
    is_of_task = is_this_task(name)
    if is_of_task is None:
        raise LabelsError(
            tr("{where}: task: found {name!r:.60}, expected a class that is known here", where=where, name=name)
        )
    return is_of_task
