"""Tables with a spectrum: which columns hold it, in which units, and what was not used."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.language import deferred
from agent.lines.air_vacuum import SHORTEST_AIR_WAVELENGTH
from agent.spectrum.readers import units
from agent.spectrum.readers.pixels import finite_number, ivar_from_sigma, usable_redshift
from agent.spectrum.readers.producers import BRACKETS, COLUMNS, ERRORS, ErrorKind, Mask, Producer, Role, plain
from agent.spectrum.record import FloatArray, Medium, Scalar, SpectrumError

MAX_COLUMNS = 10_000
_SHOWN = 12
"""Names of unused columns and HDUs that are kept; of more, the number."""


@dataclass(frozen=True)
class Roles:
    """The columns of a table that hold a spectrum, by name as written; None if missing.

    :param axis: what ``wavelength`` holds: "wavelength", "log10", "ln", "frequency", "energy" or "wavenumber"
    """

    wavelength: str
    flux: str
    errors: str | None = None
    error_kind: ErrorKind = "sigma"
    mask: str | None = None
    mask_is_good: bool = False
    axis: str = "wavelength"
    model: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        names = (self.wavelength, self.flux, self.errors, self.mask, self.model)
        return tuple(name for name in names if name is not None)


def roles(names: Sequence[str], by: Producer | None = None) -> Roles | None:
    """Return which of the columns ``names`` are wavelength, flux and errors; None without wavelength or flux, or where
    there are more than ``MAX_COLUMNS``.
    """
    if len(names) > MAX_COLUMNS:
        return None
    named: dict[str, str] = {}
    for name in names:
        named.setdefault(plain(name), name)
    for name in names:
        named.setdefault(_parted(plain(name))[0], name)
    own = {} if by is None else by.roles

    def first(role: str, taken: Iterable[str] = ()) -> str | None:
        patterns = ([own[role]] if role in own else []) + [*COLUMNS.get(role, ())]  # type: ignore[index]
        return next(
            (name for p in patterns for word, name in named.items() if name not in taken and re.fullmatch(p, word)),
            None,
        )

    axes = ((axis, first(axis)) for axis in ("wavelength", "log10", "ln", "frequency", "energy", "wavenumber"))
    axis, wavelength = next(((axis, name) for axis, name in axes if name is not None), ("", None))
    flux = first("flux", [wavelength or ""])
    if wavelength is None or flux is None:
        return None
    used = [wavelength, flux]
    errors, kind = (first("errors", used) if "errors" in own else None), (by and by.errors) or "sigma"
    for candidate, pattern in ERRORS.items() if errors is None else ():
        errors = next((n for word, n in named.items() if n not in used and re.fullmatch(pattern, word)), None)
        if errors is not None:
            kind = candidate
            break
    mask = first("mask", used)
    good = None if mask is not None else first("good", used)
    return Roles(wavelength, flux, errors, kind, mask or good, good is not None, axis, first("model", used))


def _parted(word: str) -> tuple[str, str]:
    """Return a name without the unit that it ends with (``wavelength_nm``), and the unit; "" if there is none."""
    match = re.fullmatch(r"(.+)_(nm|um|microns?|angstroms?|ang|aa|m|hz|[gt]hz|k?ev|cgs|[mu]?jy)", word, re.IGNORECASE)
    return (match[1], "" if match[2].lower() == "cgs" else match[2]) if match else (word, "")


def unit_in_name(name: str) -> str:
    """Return the unit in a column's name: ``wave [nm]``, ``lambda(A)``, ``wavelength_nm``; "" if there is none."""
    match = re.search(BRACKETS, name)
    return match[0][1:-1] if match else _parted(re.sub(r"[\s-]+", "_", name.strip()))[1]


def pixels(
    name: str,
    which: Roles,
    table: Mapping[str, Any],
    stated: Mapping[str, str],
    by: Producer | None = None,
    card: Callable[[str], str] = lambda key: "",
) -> tuple[dict[str, Any], dict[str, Scalar]]:
    """Return the arguments of ``pixels.spectrum`` that a table gives (arrays and ``flux_unit``), and the entries of
    ``Spectrum.meta`` that say how they were read.

    :param table: a column (n,) of numbers by its name; no data is NaN
    :param stated: unit by name, as the file states it
    :param card: returns the value of a card of the header as text
    :raises SpectrumError: a unit is not known, or none is stated and the wavelengths cannot be Å
    """
    defaults = {} if by is None else by.units

    def unit(column: str, role: Role) -> str:
        return stated.get(column, "") or unit_in_name(column) or defaults.get(role, "")

    axis_unit = unit(which.wavelength, "wavelength")
    wavelength, medium = units.to_angstrom(name, _numbers(name, table, which.wavelength), axis_unit, which.axis)
    flux_unit = unit(which.flux, "flux")
    meta: dict[str, Scalar] = {
        "axis_from": _column(which.wavelength, axis_unit),
        "flux_from": _column(which.flux, flux_unit),
    }
    not_used: list[str] = []
    ivar = None
    if which.errors is not None:
        values = _numbers(name, table, which.errors)
        error_unit = stated.get(which.errors, "") or unit_in_name(which.errors)
        kind, factor = units.of_errors(which.error_kind, error_unit, flux_unit)
        if kind is None:
            not_used.append(f"column {which.errors} ({error_unit})")
        elif not (np.isfinite(values) & (values > 0)).any() and not (by and by.errors):
            not_used.append(f"column {which.errors} (no positive number)")
        else:
            ivar = ivar_from_errors(values * factor, kind)
            meta["errors_from"] = f"column {which.errors} ({kind})"
    flagged = None
    if which.mask is not None:
        rule = (by and by.mask) or Mask(good=which.mask_is_good)
        flagged, text = masked(_numbers(name, table, which.mask), rule, card, by is not None and by.mask is not None)
        if flagged is None:
            not_used.append(f"column {which.mask} ({text})")
        else:
            meta["mask_from"] = f"column {which.mask} ({text})"
    if medium is not None:
        meta["medium_from"] = f"column {which.wavelength} ({axis_unit})"
    meta |= unused(not_used)
    arrays = {
        "wavelength": wavelength,
        "flux": _numbers(name, table, which.flux),
        "ivar": ivar,
        "mask": flagged,
        "model": None if which.model is None else _numbers(name, table, which.model),
        "flux_unit": flux_unit or "unknown",
        "medium": medium,
    }
    return arrays, meta


def _column(name: str, unit: str) -> str:
    return f"column {name} ({unit})" if unit and unit != unit_in_name(name) else f"column {name}"


def unused(names: Iterable[str], before: Scalar = None) -> dict[str, Scalar]:
    """Return the entry ``not_used`` of ``Spectrum.meta`` for columns, HDUs and cards; {} for none.

    :param before: what the entry has already
    """
    listed = [*([str(before)] if before else []), *names]
    if len(listed) > _SHOWN:
        listed = [*listed[:_SHOWN], f"{len(listed) - _SHOWN} more"]
    return {"not_used": "; ".join(listed)} if listed else {}


def ivar_from_errors(values: FloatArray, kind: ErrorKind) -> FloatArray:
    """Return 1/σ² (n,) of errors; 0 where they are 0, negative or no number."""
    if kind == "ivar":
        return values
    return ivar_from_sigma(values if kind == "sigma" else np.sqrt(np.maximum(values, 0.0)))


def masked(
    values: FloatArray, rule: Mask, card: Callable[[str], str], is_known: bool
) -> tuple[NDArray[np.bool_] | None, str]:
    """Return which pixels (n,) a mask flags, and its meaning in words; None where the meaning is not known.

    A mask whose producer is not known may be true for good pixels or for bad pixels. A mask that would flag most
    pixels is not used.
    """
    whole = np.nan_to_num(values, nan=1.0, posinf=1.0, neginf=1.0).astype(np.int64)
    stated = card(rule.card) if rule.card else ""
    bits = int(stated) if stated.isdecimal() else rule.bits
    bad = whole == 0 if rule.good else whole & bits != 0
    if not is_known and not rule.good and 2 * bad.sum() > bad.size:
        return None, f"not 0 for {int(bad.sum())} of {bad.size} pixels"
    if rule.good:
        return bad, "0 = bad"
    if bits == -1:
        return bad, "not 0 = bad"
    named = [str(n) for n in range(bits.bit_length() + (bits < 0)) if bits >> n & 1]
    return bad, f"bits {', '.join(named)}{' and higher' if bits < 0 else ''} = bad"


def _numbers(name: str, table: Mapping[str, Any], column: str) -> FloatArray:
    try:
        return np.asarray(table[column], np.float64)
    except (TypeError, ValueError, OverflowError):
        raise SpectrumError(name, deferred("a column {column} that is not numbers", column=column), "numbers") from None


Statement = tuple[str, str]
"""What a file says somewhere, and where: ``("column wave_vac", "wave_vac")``."""


def medium_fields(statements: Iterable[Statement], by: Producer | None, wavelength: FloatArray) -> dict[str, Any]:
    """Return ``medium`` of a spectrum and the entries of ``meta`` that say what states it.

    It is that of the first statement that names a medium, else that of the producer. Wavelengths below 2000 Å are
    vacuum by convention. Spectra from the ground that state nothing are usually in air: arc lines are tabled so, and
    IRAF leaves them so; ``meta["medium_assumed"]`` is then true.
    """
    media = _mediums(statements)
    medium, source = next(media, (None, ""))
    if medium is None and by is not None and by.medium is not None:
        medium, source = by.medium, by.name
    if medium is None and np.nanmax(wavelength, initial=0.0) < SHORTEST_AIR_WAVELENGTH:
        medium, source = "vacuum", "below 2000 Å"
    if medium is None:
        return {"medium": "air", "meta": {"medium_assumed": True}}
    return {"medium": medium, "meta": {"medium_from": source}}


def _mediums(statements: Iterable[Statement]) -> Iterator[tuple[Medium, str]]:
    for source, text in statements:
        words = re.sub(r"[^a-z]+", " ", text.lower())
        if re.search(r"vac", words):
            yield "vacuum", source
        elif re.search(r"\b(in)?air(?!mass)|(wave|wavelength|lam|lambda|wl)air\b|\bobs atmos|\bawav", words):
            yield "air", source


REDSHIFTS = ("redshift", "z")
POSITIONS = {"ra": ("ra", "raj2000", "ra_icrs"), "dec": ("dec", "dej2000", "de_icrs")}
IDENTIFIERS = ("object_id", "objectid", "source_id", "targetid", "specid", "obsid", "id", "object")
ABOUT = frozenset((*REDSHIFTS, *IDENTIFIERS, *POSITIONS["ra"], *POSITIONS["dec"]))
"""Names of columns that say something of a whole spectrum, in lower case."""


def about(values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the fields ``ids``, ``ra``, ``dec`` and ``redshift`` of a ``Spectrum``, and the names that they come from.

    :param values: single values by name, of which those in ``ABOUT`` are used
    """
    known = {key.lower(): (key, value) for key, value in values.items() if key.lower() in ABOUT}
    used: list[str] = []

    def first(names: Iterable[str]) -> float | None:
        for key, value in (known[name] for name in names if name in known):
            number = finite_number(value)
            if number is not None:
                used.append(key)
                return number
        return None

    ids = {key: str(known[key][1]).strip() for key in IDENTIFIERS if key in known and known[key][1] not in (None, "")}
    fields = {"redshift": usable_redshift(first(REDSHIFTS)), **{key: first(names) for key, names in POSITIONS.items()}}
    return fields | {"ids": ids}, [*used, *(known[key][0] for key in ids)]
