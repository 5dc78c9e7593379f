"""Build a template file from a folder of spectra and a CSV that says what each one is."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agent.errors import Refusal
from agent.language import deferred
from agent.lines import Medium
from agent.measure.pixels import rest
from agent.measure.profile import SPEED_OF_LIGHT
from agent.spectrum import Spectrum, SpectrumError, read
from agent.templates import grid
from agent.templates.library import About, Template

COLUMNS = (
    *("path", "id", "name", "kind", "subtype", "source", "citation", "repository", "licence"),
    *("medium", "frame", "velocity", "resolving_power", "lo", "hi"),
)
"""Of the CSV; ``path`` and ``kind`` are needed. ``medium`` and ``frame`` replace what the reader finds, ``velocity``
(km/s) is taken out (default: the file's redshift where the frame is observed, otherwise 0), ``lo`` and ``hi`` are the
usable range in Å in the file's medium and frame."""
NEEDED = ("path", "kind")


class BuildError(Refusal):
    """The folder or the CSV cannot be used: which row or file, what was found and what was expected."""


@dataclass(frozen=True)
class Built:
    """A file of the folder: its template, or why there is none."""

    path: str
    template: Template | None
    problem: str = ""


def rows_of(manifest: Path) -> list[dict[str, str]]:
    """Read the CSV. :raises BuildError: it cannot be read, or a needed column or value is missing"""
    try:
        with manifest.open(newline="", encoding="utf-8-sig") as opened:
            reader = csv.DictReader(opened)
            missing = [name for name in NEEDED if name not in (reader.fieldnames or ())]
            if missing:
                raise BuildError(
                    deferred(
                        "{manifest}: found no column {missing!r}, expected {columns}",
                        manifest=manifest,
                        missing=missing[0],
                        columns=", ".join(COLUMNS),
                    )
                )
            rows = [{key: (value or "").strip() for key, value in row.items() if key in COLUMNS} for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BuildError(f"{manifest}: {error}") from None
    for number, row in enumerate(rows, start=2):
        empty = next((name for name in NEEDED if not row.get(name)), None)
        if empty is not None:
            raise BuildError(
                deferred(
                    "{manifest}, line {number}: found no {empty}, expected one",
                    manifest=manifest,
                    number=number,
                    empty=empty,
                )
            )
    return rows


def rows_of_folder(folder: Path) -> list[dict[str, str]]:
    """Return a row for every file below ``folder``; the class is the name of the file's own folder."""
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and not p.name.startswith(".")]
    return [{"path": str(p.relative_to(folder)), "kind": p.parent.name} for p in files if p.parent != folder]


def build(folder: Path, rows: list[dict[str, str]]) -> Iterator[Built]:
    """Yield each row's template in order, or the reason why its file gives none."""
    taken: set[str] = set()
    for row in rows:
        try:
            template = _template(folder, row)
            if template.about.id in taken:
                raise BuildError(deferred("the id {id!r} is already used; give each row its own", id=template.about.id))
        except (SpectrumError, BuildError) as problem:
            yield Built(row["path"], None, problem.sentence)
            continue
        taken.add(template.about.id)
        yield Built(row["path"], template)


def _template(folder: Path, row: Mapping[str, str]) -> Template:
    spectrum = read(folder / row["path"])
    medium, frame = row.get("medium") or spectrum.medium, row.get("frame") or spectrum.frame
    if medium not in ("air", "vacuum") or frame not in ("observed", "rest"):
        raise BuildError(
            deferred(
                "medium {medium!r}, frame {frame!r}; expected air or vacuum, observed or rest",
                medium=medium,
                frame=frame,
            )
        )
    lo, hi = _number(row, "lo", 0.0), _number(row, "hi", np.inf)
    kept = (spectrum.wavelength >= lo) & (spectrum.wavelength <= hi)
    if kept.sum() < 2:
        raise BuildError(deferred("no pixels in {lo:g}–{hi:g} Å", lo=lo, hi=hi))
    own = 0.0 if frame == "rest" else SPEED_OF_LIGHT * (spectrum.redshift or 0.0)
    velocity = _number(row, "velocity", own)
    target_medium: Medium = "air" if medium == "air" else "vacuum"
    cut = Spectrum(
        spectrum.wavelength[kept],
        spectrum.flux[kept],
        # A pixel of zero flux exactly is a gap in files that state no errors.
        np.where(spectrum.flux[kept] == 0.0, 0.0, spectrum.ivar[kept]),
        medium=target_medium,
        name=spectrum.name,
    )
    first, flux, ivar = grid.rebin(rest(cut, velocity / SPEED_OF_LIGHT, "vacuum"))
    seen = np.flatnonzero(ivar > 0)
    if seen.size < 50:
        raise BuildError(
            deferred("{size} pixels with data on the grid of 1000–10 471 Å; expected 50 or more", size=seen.size)
        )
    flux, ivar = flux[seen[0] : seen[-1] + 1], ivar[seen[0] : seen[-1] + 1]
    middle = float(np.median(np.abs(flux[ivar > 0])))
    if middle <= 0.0:
        raise BuildError(deferred("a median flux of 0"))
    name = row.get("name") or Path(row["path"]).stem
    source = row.get("source", "")
    about = About(
        id=row.get("id") or _slug(f"{source} {name}"),
        name=name,
        kind=row["kind"],
        subtype=row.get("subtype", ""),
        source=source,
        citation=row.get("citation", ""),
        repository=row.get("repository", ""),
        licence=row.get("licence", ""),
        file=row["path"],
        medium=medium,
        frame=frame,
        velocity=round(velocity, 1),
        resolving_power=_number(row, "resolving_power", 0.0),
    )
    # As stored: half precision.
    stored = np.where(ivar > 0, flux / middle, np.nan).astype("<f2").astype(np.float64)
    return Template(about, first + int(seen[0]), stored)


def _number(row: Mapping[str, str], column: str, default: float) -> float:
    text = row.get(column, "")
    try:
        return float(text) if text else default
    except ValueError:
        raise BuildError(f"{column} {text!r}; expected a number") from None


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.+]+", "-", text.strip()).strip("-").lower()
