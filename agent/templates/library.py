"""Template spectra of known objects: the bundled library, a user's own files, and their file format.

A file is an ``.npz`` with the fluxes of all templates on the grid of ``agent.templates.grid`` and one JSON text with
what each one is, where it comes from and under which licence."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.errors import Refusal
from agent.language import deferred
from agent.spectrum import Spectrum
from agent.spectrum.noise import ivar_from_scatter
from agent.templates import grid

FloatArray = NDArray[np.float64]

BUNDLED = Path(__file__).with_name("bundled.npz")
SCHEMA = "spec-o3/templates/1"
EXTRAGALACTIC = ("galaxy", "QSO")
"""Classes that are compared at the file's redshift only; all others are also tried at 0."""
_LARGEST = 64 * 2**20  # bytes of an unpacked array of a user's file


class TemplateError(Refusal, ValueError):
    """A template file that cannot be used: the file, what was found and what was expected."""

    def __init__(self, file: str, actual: str, expected: str) -> None:
        super().__init__(file, actual, expected)
        self.file = file
        self.actual = actual
        self.expected = expected

    @property
    def sentence(self) -> str:
        return deferred(
            "{file}: found {found}; expected {expected}", file=self.file, found=self.actual, expected=self.expected
        )


@dataclass(frozen=True)
class About:
    """What a template is and where it comes from.

    :param id: unique among the templates of a file; letters, digits and ``-_.``
    :param name: the object, or the kind of mean spectrum
    :param kind: the class: O, B, A, F, G, K, M dwarf, M giant, L, carbon, S, WD, hot subdwarf, WR, CV, galaxy, QSO
    :param subtype: spectral type or what else is known ("DA", "B3V", "Teff 3290 K")
    :param source: the library; ``citation`` is its paper
    :param file: path of the original in the folder that the library was built from
    :param medium: of the original file; ``frame`` likewise. Templates themselves are at vacuum rest wavelengths
    :param velocity: km/s that was taken out when the library was built
    :param resolving_power: λ/FWHM of the original, a typical value; 0 if unknown
    """

    id: str
    name: str
    kind: str
    subtype: str = ""
    source: str = ""
    citation: str = ""
    repository: str = ""
    licence: str = ""
    file: str = ""
    medium: str = ""
    frame: str = ""
    velocity: float = 0.0
    resolving_power: float = 0.0


@dataclass(frozen=True)
class Template:
    """One template: ``flux`` (n,) from pixel ``first`` of the grid on, median 1, NaN where there is no data."""

    about: About
    first: int
    flux: FloatArray

    @property
    def wavelength(self) -> FloatArray:
        """Wavelengths (n,) of ``flux`` in Å, vacuum, at rest."""
        return grid.wavelengths(self.first, self.first + self.flux.size)

    @property
    def coverage(self) -> tuple[float, float]:
        """First and last wavelength in Å, vacuum, at rest."""
        return float(self.wavelength[0]), float(self.wavelength[-1])

    def spectrum(self) -> Spectrum:
        """Return the template as a spectrum; pixels without data have ivar 0, the noise is estimated from scatter."""
        seen = np.isfinite(self.flux)
        flux = np.where(seen, self.flux, 0.0)
        return Spectrum(
            self.wavelength,
            flux,
            np.where(seen, ivar_from_scatter(flux), 0.0),
            name=self.about.name,
            frame="rest",
            medium="vacuum",
            errors="estimated",
        )


@dataclass(frozen=True)
class Library:
    """Templates in the order of their files."""

    templates: tuple[Template, ...]

    def __getitem__(self, template_id: str) -> Template:
        """Return a template. :raises KeyError: no template has this id"""
        return self.templates[self._places[template_id]]

    def __contains__(self, template_id: object) -> bool:
        return template_id in self._places

    @cached_property
    def _places(self) -> dict[str, int]:
        return {template.about.id: place for place, template in enumerate(self.templates)}

    @cached_property
    def matrix(self) -> NDArray[np.float32]:
        """All fluxes on the whole grid (templates, ``grid.PIXELS``); NaN without data."""
        full = np.full((len(self.templates), grid.PIXELS), np.nan, dtype=np.float32)
        for row, template in zip(full, self.templates, strict=True):
            row[template.first : template.first + template.flux.size] = template.flux
        return full


@cache
def bundled() -> Library:
    """Return the program's own templates."""
    return read(BUNDLED)


def load_all(folders: Iterable[str | os.PathLike[str]] = ()) -> tuple[Library, tuple[TemplateError, ...]]:
    """Return the bundled templates and those of every ``.npz`` in ``folders``, and the errors of unusable files.

    A template whose id is taken is refused with its file, so that a user's file never silently replaces ours.
    """
    templates = list(bundled().templates)
    problems: list[TemplateError] = []
    taken = {template.about.id: BUNDLED.name for template in templates}
    for path in (path for folder in folders for path in sorted(Path(folder).glob("*.npz"))):
        try:
            library = read(path)
            for template in library.templates:
                if template.about.id in taken:
                    known = taken[template.about.id]
                    raise TemplateError(
                        str(path),
                        deferred("the id {id!r}, already used by {known}", id=template.about.id, known=known),
                        deferred("new ids"),
                    )
        except TemplateError as problem:
            problems.append(problem)
            continue
        templates += library.templates
        taken |= {template.about.id: path.name for template in library.templates}
    return Library(tuple(templates)), tuple(problems)


def write(path: str | os.PathLike[str], templates: Sequence[Template]) -> None:
    """Write a template file. Fluxes are stored in half precision, exact to 0.05 %."""
    info = {"schema": SCHEMA, "templates": [asdict(template.about) for template in templates]}
    with Path(path).open("wb") as opened:
        np.savez_compressed(
            opened,
            first=np.array([template.first for template in templates], dtype="<i4"),
            size=np.array([template.flux.size for template in templates], dtype="<i4"),
            flux=np.concatenate([template.flux for template in templates]).astype("<f2"),
            info=np.frombuffer(json.dumps(info, ensure_ascii=False).encode(), dtype="u1"),
        )


def read(path: str | os.PathLike[str]) -> Library:
    """Read a template file. :raises TemplateError: it cannot be read, or is no template file"""
    name = str(path)
    try:
        with zipfile.ZipFile(path) as archive:
            largest = max((member.file_size for member in archive.infolist()), default=0)
        if largest > _LARGEST:
            raise TemplateError(
                name,
                deferred("an array of {largest} bytes", largest=largest),
                deferred("at most {largest}", largest=_LARGEST),
            )
        with np.load(path, allow_pickle=False) as arrays:
            first, size, flux = (np.asarray(arrays[key]) for key in ("first", "size", "flux"))
            info = json.loads(bytes(arrays["info"]).decode())
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise TemplateError(name, _short(error), deferred("a file made by `spec-o3 templates build`")) from None
    entries = info.get("templates") if isinstance(info, dict) and info.get("schema") == SCHEMA else None
    if not isinstance(entries, list) or not len(entries) == first.size == size.size or size.sum() != flux.size:
        raise TemplateError(
            name,
            deferred("arrays and entries that do not belong together"),
            deferred("the layout {schema}", schema=SCHEMA),
        )
    if (first < 0).any() or (size < 2).any() or (first + size > grid.PIXELS).any():
        raise TemplateError(name, deferred("pixels outside the grid"), f"pixels 0 to {grid.PIXELS}")
    ends = np.cumsum(size)
    templates = tuple(
        Template(_about(name, entry), int(start), flux[end - n : end].astype(np.float64))
        for entry, start, n, end in zip(entries, first, size, ends, strict=True)
    )
    if len({template.about.id for template in templates}) != len(templates):
        raise TemplateError(name, deferred("an id twice"), deferred("each id once"))
    return Library(templates)


def _about(file: str, entry: Any) -> About:
    known = {field.name: field.type for field in fields(About)}
    if not isinstance(entry, dict) or not all(isinstance(entry.get(key), str) for key in ("id", "name", "kind")):
        raise TemplateError(
            file, deferred("the entry {entry!r:.60}", entry=entry), deferred("an object with id, name and kind")
        )
    values = {key: value for key, value in entry.items() if key in known}
    for key, value in values.items():
        kind: Any = (int, float) if known[key] == "float" else str
        if not isinstance(value, kind):
            raise TemplateError(file, f"{key} {value!r:.60} of {entry['id']:.60}", f"a {known[key]}")
    return About(**values)


def _short(error: Exception) -> str:
    return error.strerror or type(error).__name__ if isinstance(error, OSError) else f"{error!s:.80}"
