"""Tables of the campaign for other programs: every decision, and the inspections of each person and merged.

Inspections have DESI's column names. The type of a column is declared, not taken from its values. CSV is written by
``agent.text``; FITS and VOTable by astropy.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from agent.table_files import write_votable
from agent.tables import CsvTable
from agent.text import whole_number
from reviewer.rules.inspection import Inspection, Merged, scales_of_surveys
from reviewer.store import Store
from reviewer.store.inspections import InspectedItem

if TYPE_CHECKING:
    from astropy.table import Column, MaskedColumn

Format = Literal["csv", "fits", "vot"]
FORMATS: tuple[Format, ...] = get_args(Format)

NOT_GIVEN = -999
"""Stands in FITS for a missing whole number (TNULL)."""
NOT_INSPECTED = -1
TOO_DIFFERENT = 999.0
"""``best_quality`` where people differ by more than 1, as in DESI's tables."""

_Z = "redshift from wavelengths in MEDIUM, in the velocity frame of the file"
_DESCRIPTIONS: Mapping[str, str] = {
    "ITEM": "number of the item in annotations.db",
    "NAME": "file of the spectrum",
    "RA": "degrees, ICRS; NaN: unknown",
    "DEC": "degrees, ICRS; NaN: unknown",
    "MEDIUM": "medium of the wavelengths: air or vacuum",
    "MEDIUM_ASSUMED": "whether the file does not state the medium",
    "Z": f"redshift of the pipeline; {_Z}; NaN: none",
    "SPECTYPE": "class of the pipeline or catalogue",
    "VI_scanner": "initials of the person",
    "VI_quality": "4 two or more secure features, 3 one secure and the continuum or many weak, 2 one strong, 1 signal, "
    "0 no signal, -1 not inspected (DESI)",
    "VI_issue": "R bad redshift, C bad class, S bad spectrum (DESI)",
    "VI_z": f"redshift of the person; {_Z}; NaN: the pipeline's was not changed",
    "VI_spectype": "class by the person; empty: the pipeline's was not changed",
    "best_z": f"mean if (z_max - z_min) / (1 + z_min) < 0.0033, else NaN; {_Z}",
    "best_quality": "mean quality; 999: people differ by more than 1; -1: nobody gave one; 2.5 or more is secure",
    "best_spectype": "class on which all agree; empty: they differ",
    "merger_comment": "initials and comment of the adjudicator",
    "N_VI": "number of people who inspected",
    "conflict": "what differs among two or more people: quality (by 2 or more), z (by 0.0033 or more), class",
    "QOP": "VI_quality on the scale of AAO and Marz: 6 is a secure star",
    "ZQUALITY": "VI_quality on the scale of DEEP2: -1 is a secure star, -2 no signal",
    "Z_CONF_PERSON": "VI_quality on the scale of SDSS spInspect",
    "CLASS_PERSON": "class on the scale of SDSS spInspect: 1 star, 3 QSO, 4 galaxy, 0 unknown",
}


Kind = type[int] | type[float] | type[bool] | type[str]
_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("item", "version", "ITEM", "VI_quality", "N_VI"), int),
    **dict.fromkeys(("QOP", "ZQUALITY", "Z_CONF_PERSON", "CLASS_PERSON"), int),
    **dict.fromkeys(("seconds", "RA", "DEC", "Z", "VI_z", "best_z", "best_quality"), float),
    "MEDIUM_ASSUMED": bool,
}
"""Types of the columns that are not text, whether or not they have a value."""
_UNITS: Mapping[str, str] = {"RA": "deg", "DEC": "deg", "seconds": "s"}


@dataclass(frozen=True)
class Columns:
    """A table by columns. None is a missing value in every column; a missing float may also be NaN.

    :param kinds: types of the columns that ``_KINDS`` does not name and that are not text
    """

    name: str
    columns: Mapping[str, Sequence[Any]]
    kinds: Mapping[str, Kind] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def rows(self) -> Iterator[tuple[Any, ...]]:
        return zip(*self.columns.values(), strict=True)

    def kind(self, name: str) -> Kind:
        """Return the type of a column, which does not depend on its values."""
        return self.kinds.get(name) or _KINDS.get(name, str)

    def write(self, path: Path, kind: Format, excel: bool = False) -> None:
        """Write the table. FITS holds ASCII only: other letters become ``\\u03b1``.

        :param excel: begin CSV with a byte-order mark, without which Excel on Windows shows other letters than ASCII
            wrongly
        :raises OSError: the disk is full
        """
        if kind == "csv":
            with path.open("w", encoding="utf-8-sig" if excel else "utf-8", newline="\n") as out:
                table = CsvTable(out, tuple(self.columns))
                for row in self.rows():
                    table.row(None if isinstance(cell, float) and math.isnan(cell) else cell for cell in row)
            return
        from astropy.io.votable import from_table
        from astropy.table import Table

        text = _ascii if kind == "fits" else _xml
        table = Table([self._column(name, values, text) for name, values in self.columns.items()])
        table.meta["EXTNAME" if kind == "fits" else "name"] = self.name
        if kind == "fits":
            table.write(path, format="fits", overwrite=True)
        else:
            write_votable(from_table(table), path)

    def _column(self, name: str, values: Sequence[Any], text: Callable[[str], str]) -> MaskedColumn | Column:
        """Return a column of astropy. Missing whole numbers are masked, missing floats NaN, missing text is empty."""
        import numpy as np
        from astropy.table import Column, MaskedColumn

        about = {"name": name, "description": _DESCRIPTIONS.get(name), "unit": _UNITS.get(name)}
        kind = self.kind(name)
        missing = [value is None for value in values]
        if kind is str:
            return Column([text("" if value is None else str(value)) for value in values], dtype=str, **about)
        if kind is int:
            if any(missing):
                filled = [NOT_GIVEN if value is None else value for value in values]
                return MaskedColumn(filled, mask=missing, fill_value=NOT_GIVEN, dtype=np.int64, **about)
            return Column(values, dtype=np.int64, **about)
        return Column([kind(_number(value)) for value in values], dtype=kind, **about)


def _ascii(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode()


def _xml(text: str) -> str:
    """Replace what XML cannot hold by spaces."""
    return "".join(
        " " if unicodedata.category(letter) in ("Cc", "Cs", "Cn") and letter not in "\t\n" else letter
        for letter in text
    )


def decisions(store: Store, person: str | None = None) -> Columns:
    """Return every decision, oldest first, with those that were undone.

    :param person: who gets the table (initials): without the decisions of others in a round that is still open,
        and without the items that the person scores in a blind session. None: everything
    """
    hidden = _hidden(store, person)
    rows = [decision for decision in store.statistics.decisions(person) if decision["item"] not in hidden]
    names = (
        *("item", "name", "class", "round", "person", "verb", "reason", "verdict", "comment", "version", "at"),
        *("seconds", "undone"),
    )
    return Columns("DECISIONS", {name: [row[name] for row in rows] for name in names})


def inspections(store: Store, person: str | None = None) -> tuple[Columns, Columns]:
    """Return the inspections of each person, and merged by DESI's rules; one row per person, and one per item.

    :param person: who gets the tables (initials): of items in an open round only their own inspections, none
        of the items that they score in a blind session. None: everything
    """
    items = [opened for item in store.inspections.all() if (opened := _open_to(store, item, person)).inspections]
    ids = sorted({key for item in items for key in item.ids})
    raw = [(item, inspection) for item in items for inspection in item.inspections]
    kinds: dict[str, Kind] = {_heading(key): int for key in ids if _is_number(items, key)}
    return (
        Columns(
            "INSPECTIONS",
            _about([opened for opened, _ in raw], ids) | _per_person([inspection for _, inspection in raw]),
            kinds,
        ),
        Columns("MERGED", _about(items, ids) | _merged(store, items), kinds),
    )


def _hidden(store: Store, person: str | None) -> frozenset[int]:
    return frozenset() if person is None else frozenset(store.blind.scoring.hidden_items(person))


def _open_to(store: Store, inspected_item: InspectedItem, person: str | None) -> InspectedItem:
    """Return the item with those inspections that the person may see."""
    if person is None:
        return inspected_item
    if inspected_item.item_id in _hidden(store, person):
        return replace(inspected_item, inspections=())
    if store.items.get(inspected_item.item_id).standing.round in ("adjudication", "revision", None):
        return inspected_item
    return replace(
        inspected_item,
        inspections=tuple(inspection for inspection in inspected_item.inspections if inspection.person == person),
    )


def _heading(key: str) -> str:
    return key.upper().replace("-", "_")


def _is_number(items: Sequence[InspectedItem], key: str) -> bool:
    """Return whether an identifier is a whole number in every item that has it."""
    return all(whole_number(str(item.ids[key])) is not None for item in items if item.ids.get(key))


def _about(items: Sequence[InspectedItem], ids: Sequence[str]) -> dict[str, Sequence[Any]]:
    numbers = {key for key in ids if _is_number(items, key)}

    def identifier(key: str) -> Sequence[Any]:
        values = [item.ids.get(key) or None for item in items]
        return [value if value is None else int(value) for value in values] if key in numbers else values

    return {
        "ITEM": [item.item_id for item in items],
        "NAME": [item.name for item in items],
        "SURVEY": [item.survey for item in items],
        "TASK": [item.task for item in items],
        **{_heading(key): identifier(key) for key in ids},
        "RA": [_number(item.ra) for item in items],
        "DEC": [_number(item.dec) for item in items],
        "MEDIUM": [item.medium for item in items],
        "MEDIUM_ASSUMED": [item.medium_assumed for item in items],
        "Z": [_number(item.pipeline_z) for item in items],
        "SPECTYPE": [item.pipeline_class for item in items],
    }


def _per_person(inspections: Sequence[Inspection]) -> dict[str, Sequence[Any]]:
    scales = [scales_of_surveys(inspection.quality, inspection.spectype) for inspection in inspections]
    return {
        "VI_scanner": [inspection.person for inspection in inspections],
        "VI_quality": [
            NOT_INSPECTED if inspection.quality is None else inspection.quality for inspection in inspections
        ],
        "VI_issue": [inspection.issues for inspection in inspections],
        "VI_z": [_number(inspection.z) for inspection in inspections],
        "VI_spectype": [inspection.spectype for inspection in inspections],
        "VI_comment": [inspection.comment for inspection in inspections],
        **{name: [scale[name] for scale in scales] for name in scales_of_surveys(None, "")},
    }


def _merged(store: Store, items: Sequence[InspectedItem]) -> dict[str, Sequence[Any]]:
    results = [(item, item.merged) for item in items]
    return {
        "VI_scanner": [" ".join(merged.people) for _, merged in results],
        "VI_issue": [merged.issues for _, merged in results],
        "VI_comment": [merged.comments for _, merged in results],
        "best_z": [_number(merged.z) for _, merged in results],
        "best_quality": [_best_quality(result, merged) for result, merged in results],
        "best_spectype": [merged.spectype for _, merged in results],
        "merger_comment": [_merger_comment(store, item.item_id) for item in items],
        "N_VI": [len(merged.people) for _, merged in results],
        "conflict": [" ".join(merged.conflict) for _, merged in results],
    }


def _merger_comment(store: Store, item: int) -> str:
    """Return the initials and comment of the person who adjudicated the item."""
    decided = store.items.get(item).standing.decisions
    return "; ".join(f"{d.person}: {d.comment}" for d in decided if d.round == "adjudication" and d.comment)


def _best_quality(inspected_item: InspectedItem, merged: Merged) -> float:
    if merged.quality is not None:
        return merged.quality
    return (
        TOO_DIFFERENT
        if any(inspection.quality is not None for inspection in inspected_item.inspections)
        else float(NOT_INSPECTED)
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


TABLES = ("decisions", "inspections", "inspections-merged")


def table(store: Store, name: str, person: str | None = None) -> Columns:
    """Return one of ``TABLES``."""
    if name == "decisions":
        return decisions(store, person)
    raw, merged = inspections(store, person)
    return raw if name == "inspections" else merged


def write_all(store: Store, folder: Path, excel: bool = False) -> list[tuple[Path, int]]:
    """Write every table to ``folder`` in each format; return files and row numbers.

    :param excel: begin CSV with a byte-order mark
    :raises OSError: nothing can be written there
    """
    folder.mkdir(parents=True, exist_ok=True)
    raw, merged = inspections(store)
    files = []
    for name, columns in zip(TABLES, (decisions(store), raw, merged), strict=True):
        for kind in FORMATS:
            columns.write(folder / f"{name}.{kind}", kind, excel)
            files.append((folder / f"{name}.{kind}", len(columns)))
    return files
