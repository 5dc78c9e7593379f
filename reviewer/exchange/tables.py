"""Tables of the campaign for other programs: every decision, and the inspections of each person and merged.

Inspections have DESI's column names. CSV is written by ``agent.text``; FITS and VOTable by astropy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from agent.text import CsvTable
from reviewer.rules.inspection import Inspection, Merged, scales_of_surveys
from reviewer.store import Store
from reviewer.store.inspections import InspectedItem

Format = Literal["csv", "fits", "vot"]
FORMATS: tuple[Format, ...] = get_args(Format)

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


@dataclass(frozen=True)
class Columns:
    """A table by columns, each of one type; ``descriptions`` of those that need one."""

    name: str
    columns: Mapping[str, Sequence[Any]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def rows(self) -> Iterator[tuple[Any, ...]]:
        return zip(*self.columns.values(), strict=True)

    def write(self, path: Path, kind: Format) -> None:
        """Write the table. FITS holds ASCII only: other letters become ``\\u03b1``.

        :raises OSError: the disk is full
        """
        if kind == "csv":
            with path.open("w", encoding="utf-8", newline="\n") as out:
                table = CsvTable(out, tuple(self.columns))
                for row in self.rows():
                    table.row(None if isinstance(cell, float) and math.isnan(cell) else cell for cell in row)
            return
        from astropy.table import Table

        plain = _ascii if kind == "fits" else str
        # An empty column of text would have no width.
        table = Table(
            {
                name: [plain(v) for v in values] if _is_text(values) else list(values)
                for name, values in self.columns.items()
            },
            dtype=None if len(self) else ["U1"] * len(self.columns),
        )
        for name in self.columns:
            if name in _DESCRIPTIONS:
                table[name].description = _DESCRIPTIONS[name]
        for name in ("RA", "DEC"):
            if name in self.columns and len(self):
                table[name].unit = "deg"
        table.meta["EXTNAME" if kind == "fits" else "name"] = self.name
        table.write(path, format="fits" if kind == "fits" else "votable", overwrite=True)


def _is_text(values: Sequence[Any]) -> bool:
    return bool(values) and isinstance(values[0], str)


def _ascii(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode()


def decisions(store: Store, person: str | None = None) -> Columns:
    """Return every decision, oldest first, with those that were undone.

    :param person: who gets the table (initials): without the decisions of others in a round that is still open,
        and without the items that the person scores in a blind session. None: everything
    """
    hidden = _hidden(store, person)
    rows = [one for one in store.statistics.decisions(person) if one["item"] not in hidden]
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
    items = [one for item in store.inspections.all() if (one := _open_to(store, item, person)).inspections]
    ids = sorted({key for one in items for key in one.ids})
    raw = [(one, found) for one in items for found in one.inspections]
    return (
        Columns("INSPECTIONS", _about([one for one, _ in raw], ids) | _per_person([found for _, found in raw])),
        Columns("MERGED", _about(items, ids) | _merged(store, items)),
    )


def _hidden(store: Store, person: str | None) -> frozenset[int]:
    return frozenset() if person is None else frozenset(store.blind.scoring.hidden_items(person))


def _open_to(store: Store, one: InspectedItem, person: str | None) -> InspectedItem:
    """Return the item with those inspections that the person may see."""
    if person is None:
        return one
    if one.item_id in _hidden(store, person):
        return replace(one, inspections=())
    if store.items.get(one.item_id).standing.round in ("adjudication", "revision", None):
        return one
    return replace(one, inspections=tuple(found for found in one.inspections if found.person == person))


def _about(items: Sequence[InspectedItem], ids: Sequence[str]) -> dict[str, Sequence[Any]]:
    def identifier(key: str) -> Sequence[Any]:
        texts = [str(one.ids.get(key, "")) for one in items]
        numbers = texts and all(text.isascii() and text.isdigit() and len(text) < 19 for text in texts)
        return [int(text) for text in texts] if numbers else texts

    return {
        "ITEM": [one.item_id for one in items],
        "NAME": [one.name for one in items],
        "SURVEY": [one.survey for one in items],
        "TASK": [one.task for one in items],
        **{key.upper().replace("-", "_"): identifier(key) for key in ids},
        "RA": [_number(one.ra) for one in items],
        "DEC": [_number(one.dec) for one in items],
        "MEDIUM": [one.medium for one in items],
        "MEDIUM_ASSUMED": [one.medium_assumed for one in items],
        "Z": [_number(one.pipeline_z) for one in items],
        "SPECTYPE": [one.pipeline_class for one in items],
    }


def _per_person(found: Sequence[Inspection]) -> dict[str, Sequence[Any]]:
    scales = [scales_of_surveys(one.quality, one.spectype) for one in found]
    return {
        "VI_scanner": [one.person for one in found],
        "VI_quality": [NOT_INSPECTED if one.quality is None else one.quality for one in found],
        "VI_issue": [one.issues for one in found],
        "VI_z": [_number(one.z) for one in found],
        "VI_spectype": [one.spectype for one in found],
        "VI_comment": [one.comment for one in found],
        **{name: [scale[name] for scale in scales] for name in scales_of_surveys(None, "")},
    }


def _merged(store: Store, items: Sequence[InspectedItem]) -> dict[str, Sequence[Any]]:
    results = [(one, one.merged) for one in items]
    return {
        "VI_scanner": [" ".join(merged.people) for _, merged in results],
        "VI_issue": [merged.issues for _, merged in results],
        "VI_comment": [merged.comments for _, merged in results],
        "best_z": [_number(merged.z) for _, merged in results],
        "best_quality": [_best_quality(one, merged) for one, merged in results],
        "best_spectype": [merged.spectype for _, merged in results],
        "merger_comment": [_merger_comment(store, one.item_id) for one in items],
        "N_VI": [len(merged.people) for _, merged in results],
        "conflict": [" ".join(merged.conflict) for _, merged in results],
    }


def _merger_comment(store: Store, item: int) -> str:
    """Return the initials and comment of the person who adjudicated the item."""
    decided = store.items.get(item).standing.decisions
    return "; ".join(f"{d.person}: {d.comment}" for d in decided if d.round == "adjudication" and d.comment)


def _best_quality(one: InspectedItem, merged: Merged) -> float:
    if merged.quality is not None:
        return merged.quality
    return TOO_DIFFERENT if any(found.quality is not None for found in one.inspections) else float(NOT_INSPECTED)


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


TABLES = ("decisions", "inspections", "inspections-merged")


def table(store: Store, name: str, person: str | None = None) -> Columns:
    """Return one of ``TABLES``."""
    if name == "decisions":
        return decisions(store, person)
    raw, merged = inspections(store, person)
    return raw if name == "inspections" else merged


def write_all(store: Store, folder: Path) -> list[tuple[Path, int]]:
    """Write every table to ``folder``: decisions as CSV, inspections in each format; return files and row numbers.

    :raises OSError: nothing can be written there
    """
    folder.mkdir(parents=True, exist_ok=True)
    raw, merged = inspections(store)
    wanted: list[tuple[str, Columns, Sequence[Format]]] = [
        ("decisions", decisions(store), ("csv",)),
        ("inspections", raw, FORMATS),
        ("inspections-merged", merged, FORMATS),
    ]
    made = []
    for name, columns, kinds in wanted:
        for kind in kinds:
            columns.write(folder / f"{name}.{kind}", kind)
            made.append((folder / f"{name}.{kind}", len(columns)))
    return made
