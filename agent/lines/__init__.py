"""Reference data on wavelengths: spectral lines, molecular bands, night sky, telluric bands and arm joins.

The data are in the TOML files of this folder, each entry with its medium and source. Rest wavelengths move with the
object; sky and telluric features and arm joins are in the observer's frame and do not."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from agent.errors import Refusal
from agent.language import deferred, tr
from agent.lines.air_vacuum import Medium, air_to_vacuum, convert, refractive_index, vacuum_to_air

__all__ = [
    "Band",
    "Index",
    "Line",
    "LinesError",
    "Medium",
    "SkyBand",
    "Survey",
    "air_to_vacuum",
    "bands",
    "convert",
    "convert_window",
    "from_space",
    "indices",
    "lines",
    "refractive_index",
    "sky_bands",
    "survey",
    "vacuum_to_air",
]

Window = tuple[float, float]
LineKind = Literal["emission", "absorption", "both"]
SkyKind = Literal["sky line", "telluric", "arm join"]

FOLDER = Path(__file__).parent


class LinesError(Refusal, ValueError):
    """A line, band, sky or survey file cannot be used: file, entry, what was found and what was expected."""


@dataclass(frozen=True)
class Line:
    """An atomic line (or a blend quoted as one) under its usual name, at rest.

    ``wavelength`` is in Å in ``medium``; call ``at(medium)`` and never convert it yourself: names quote air even where
    the value is vacuum. ``major`` lines are the few drawn by default. ``kind`` is how it usually appears. ``blend``
    names the lines to fit with it, because they overlap at the resolving power of the surveys. ``alike`` names lines of
    other atoms so near that a fit cannot part them: those of the list by their names there, others as astronomers say.
    """

    name: str
    wavelength: float
    medium: Medium
    kind: LineKind
    species: str
    source: str
    major: bool = False
    aliases: tuple[str, ...] = ()
    blend: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()

    def at(self, medium: Medium) -> float:
        """Return the rest wavelength in Å in the wanted medium."""
        return _at(self.wavelength, self.medium, medium)


@dataclass(frozen=True)
class Band:
    """A molecular band: its head, the stretch it usually covers in a cool star, and the side to which it fades.

    ``shading`` "red" means sharp on the blue side, fading towards longer wavelengths (TiO, ZrO); "blue" the reverse
    (C2 Swan).
    """

    name: str
    head: float
    extent: Window
    medium: Medium
    shading: Literal["red", "blue"]
    species: str
    source: str
    major: bool = False
    aliases: tuple[str, ...] = ()

    def at(self, medium: Medium) -> float:
        """Return the wavelength of the head in Å in the wanted medium, at rest."""
        return _at(self.head, self.medium, medium)

    def window(self, medium: Medium) -> Window:
        """Return the stretch that the band covers, in Å in the wanted medium, at rest."""
        return convert_window(self.extent, self.medium, medium)


@dataclass(frozen=True)
class Index:
    """A band index from the literature: mean F_λ in ``band`` over the mean of the mean F_λ in ``continuum`` windows."""

    name: str
    band: Window
    continuum: tuple[Window, ...]
    medium: Medium
    species: str
    source: str

    def at(self, medium: Medium) -> tuple[Window, tuple[Window, ...]]:
        """Return ``band`` and ``continuum`` in Å in the wanted medium, at rest."""
        return (
            convert_window(self.band, self.medium, medium),
            tuple(convert_window(w, self.medium, medium) for w in self.continuum),
        )


@dataclass(frozen=True)
class SkyBand:
    """A stretch of *observed* wavelengths disturbed by the night sky, the atmosphere or the join of two arms."""

    name: str
    lo: float
    hi: float
    medium: Medium
    kind: SkyKind
    source: str

    def window(self, medium: Medium) -> Window:
        """Return the stretch in Å in the wanted medium, in the observed frame."""
        return convert_window((self.lo, self.hi), self.medium, medium)

    @property
    def is_sky_line(self) -> bool:
        """Whether it is a line of the night sky, or a band of them."""
        return self.kind == "sky line"

    def shown(self) -> str:
        """Return its name and its stretch as a message, which is translated where it is shown."""
        return deferred("{band} {lo:.0f}–{hi:.0f} Å", band=deferred(self.name), lo=self.lo, hi=self.hi)


@dataclass(frozen=True)
class Survey:
    """Effects of a survey's spectrograph. ``resolving_power`` is a typical λ/Δλ (FWHM) of the blue and red end."""

    key: str
    name: str
    resolving_power: tuple[float, float]
    arm_joins: tuple[SkyBand, ...]
    source: str


@cache
def lines() -> tuple[Line, ...]:
    """Return the line list, ordered by vacuum wavelength."""
    return tuple(sorted(_load("lines.toml", "line", Line), key=lambda line: line.at("vacuum")))


@cache
def bands() -> tuple[Band, ...]:
    """Return the molecular bands, ordered by the wavelength of their heads."""
    return tuple(sorted(_load("bands.toml", "band", Band), key=lambda band: band.at("vacuum")))


@cache
def indices() -> dict[str, Index]:
    """Return the band indices by name (``TiO5``, ``CaH2``, ...)."""
    return {index.name: index for index in _load("indices.toml", "index", Index)}


@cache
def sky_bands(survey_key: str = "") -> tuple[SkyBand, ...]:
    """Return sky lines and telluric bands, and the arm joins of a known survey, in the observed frame; of a space
    telescope nothing.

    :param survey_key: as in ``Spectrum.survey``, upper or lower case; unknown or empty: no arm joins
    """
    if from_space(survey_key):
        return ()
    known = survey(survey_key)
    everywhere = _load("sky.toml", "band", SkyBand)
    return tuple(sorted((*everywhere, *(known.arm_joins if known else ())), key=lambda band: band.lo))


@cache
def from_space(survey_key: str) -> bool:
    """Return whether a survey, telescope or library ("HST", "Gaia XP", "CALSPEC") observes from above the air."""
    return bool(re.match(rf"({'|'.join(_read('surveys.toml')['from_space'])})\b", survey_key, re.IGNORECASE))


def survey(key: str) -> Survey | None:
    """Return the survey whose key starts ``key`` ("sdss", "SDSS-V", "LAMOST DR10"); None if it is not known."""
    return next((s for s in _surveys() if key.lower().startswith(s.key)), None)


@cache
def _surveys() -> tuple[Survey, ...]:
    return tuple(
        Survey(
            key=entry["key"],
            name=entry["name"],
            resolving_power=(float(entry["resolving_power"][0]), float(entry["resolving_power"][1])),
            arm_joins=tuple(SkyBand(**join, kind="arm join") for join in entry.get("arm_join", ())),
            source=entry["source"],
        )
        for entry in _entries("surveys.toml", "survey")
    )


def _load(file: str, table: str, kind: type[Any]) -> tuple[Any, ...]:
    entries = []
    for number, entry in enumerate(_entries(file, table), start=1):
        where = f"{file}, {table} {number} ({entry.get('name', 'unnamed')})"
        if entry.get("medium") not in ("vacuum", "air"):
            raise LinesError(
                tr("{where}: found medium {get!r}, expected vacuum or air", where=where, get=entry.get("medium"))
            )
        try:
            entries.append(kind(**{key: _frozen(value) for key, value in entry.items()}))
        except TypeError as error:
            raise LinesError(f"{where}: {error}") from None
    return tuple(entries)


def _entries(file: str, table: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = _read(file)[table]
    return entries


def _read(file: str) -> dict[str, Any]:
    with (FOLDER / file).open("rb") as opened:
        return tomllib.load(opened)


def _frozen(value: Any) -> Any:
    return tuple(_frozen(v) for v in value) if isinstance(value, list) else value


def convert_window(window: Window, given: Medium, target: Medium) -> Window:
    """Convert both ends of a window (Å) from one medium to another."""
    return _at(window[0], given, target), _at(window[1], given, target)


# Every hint and every redraw reads the lists, which never change.
@lru_cache(maxsize=4096)
def _at(wavelength: float, given: Medium, target: Medium) -> float:
    return convert(wavelength, given, target)
