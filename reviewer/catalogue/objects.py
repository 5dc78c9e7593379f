"""The rows of a catalogue: objects, each with all its spectra, and the numbers of a row with their columns.

A row is measured in its best spectrum: of those that people approved, that with the highest S/N. Every number is
rounded here, so that all files hold equal ones.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

from agent.measure import Measured, Undefined, measure_feature, rest
from agent.measure.profile import SPEED_OF_LIGHT
from agent.sky.facts import facts_of
from agent.spectrum import Spectrum
from agent.spectrum.objects import objects
from agent.spectrum.record import medium_text
from agent.spectrum.table import Window
from agent.table_files import Column, ascii_text
from agent.tasks.values import Feature
from agent.trajectory import Trajectory
from agent.trust.certificate import Certificate
from agent.trust.features import Features
from reviewer.catalogue.facts import Facts, Json, identity
from reviewer.pictures import windows_of
from reviewer.store.audit.chain import canonical, sha256_of

FLAGS: Mapping[str, str] = {
    "A": "medium of the wavelengths assumed: the file does not state it",
    "D": "people disagreed on the spectrum before it was decided",
    "E": "another spectrum or trace of it was decided as not of the class",
    "F": "redshift of the file, not checked by a person",
    "I": "issue noted by an inspector: R redshift, C class, S spectrum",
    "N": "no position in the file",
    "S": "simulated",
    "U": "flux errors estimated from the scatter of the pixels",
    "Z": "no redshift known: lines measured at z = 0",
}
_SLOW = 0.01
"""Redshifts below this are given as a velocity too."""
_PREFIX = {"equivalent_width": "EW", "fwhm": "FWHM", "depth": "D", "ratio": "R", "slope": "S", "roughness": "Rms"}
_UNIT = {"equivalent_width": "Angstrom", "fwhm": "km/s"}
_MEANING = {
    "equivalent_width": "Equivalent width, positive in absorption",
    "fwhm": "Full width at half maximum",
    "depth": "Mean depth below the continuum",
    "ratio": "Mean flux over that of the side bands",
    "slope": "Slope d ln F / d ln lambda",
    "roughness": "Rms deviation from a smooth curve",
}
_DECIDING = {"pass": 1, "approve": 1, "return": -1, "reject": -1}


@dataclass(frozen=True)
class Numbered(Column):
    """A column of a catalogue; ``decimals`` of a float."""

    decimals: int = 0


_FIRST = (
    Numbered("Seq", int, "Running number of the object", "meta.record;meta.main"),
    Numbered("Name", str, "Designation by position (truncated), or name of the file", "meta.id"),
    Numbered("RAdeg", float, "Right ascension (ICRS), as the file states it", "pos.eq.ra;meta.main", "deg", 6),
    Numbered("DEdeg", float, "Declination (ICRS), as the file states it", "pos.eq.dec;meta.main", "deg", 6),
    Numbered("z", float, "Redshift, in the velocity frame of the file", "src.redshift", "", 7),
    Numbered("cz", float, "Velocity c z, where |z| < 0.01", "spect.dopplerVeloc.opt", "km/s", 1),
    Numbered("Class", str, "Class in question", "meta.code.class"),
    Numbered("SpType", str, "Type by inspectors: STAR, GALAXY, QSO", "src.spType"),
    Numbered("Verdict", str, "Verdict of people", "meta.code.class"),
    Numbered("Nppl", int, "Number of people who decided", "meta.number"),
    Numbered("Nfor", int, "Decisions of audit, vote and adjudication for the class", "meta.number"),
    Numbered("Nagainst", int, "Decisions of audit, vote and adjudication against it", "meta.number"),
    Numbered("Policy", str, "Drafter of the trace that was reviewed", "meta.id"),
    Numbered("PolVerdict", str, "Verdict of that policy before review: YES, NO or ASK", "meta.code.class"),
    Numbered("PYES", float, "P(YES) by the score model", "stat.probability", "", 4),
    Numbered(
        "Certified", str, "Verdict of a certificate: YES, NO or ASK; empty without a certificate", "meta.code.class"
    ),
    Numbered("Quality", float, "Mean quality by inspectors, 0 to 4 (DESI scale)", "meta.code.qual", "", 2),
    Numbered("Flags", str, "Flags, see notes", "meta.code"),
)
_LAST = (
    Numbered("SNR", float, "Signal-to-noise ratio per pixel, the median over the spectrum", "stat.snr", "", 2),
    Numbered("Survey", str, "Survey of the best spectrum", "meta.id;instr"),
    Numbered("MJD", float, "Modified Julian Date of the best spectrum (UTC)", "time.epoch;obs", "d", 5),
    Numbered("Nspec", int, "Number of spectra of the object, see table of spectra", "meta.number"),
    Numbered("Medium", str, "Medium of the wavelengths", "meta.note"),
    Numbered("File", str, "File of the best spectrum", "meta.ref;meta.file"),
    Numbered("SHA256", str, "SHA-256 of the best spectrum: arrays, medium, frame, name, redshift", "meta.checksum"),
)
SPECTRA = (
    Numbered("Seq", int, "Running number of the object", "meta.record;meta.main"),
    Numbered("Item", int, "Number of the item in the campaign", "meta.id"),
    Numbered("MJD", float, "Modified Julian Date (UTC)", "time.epoch;obs", "d", 5),
    Numbered("Best", str, "yes: the numbers of the object are measured in it", "meta.code"),
    Numbered("Outcome", str, "in the catalogue, or why not", "meta.note"),
    Numbered("File", str, "File of the spectrum", "meta.ref;meta.file"),
    Numbered("SHA256", str, "SHA-256 of the spectrum", "meta.checksum"),
)
LEFT_OUT = (
    Numbered("Item", int, "Number of the item in the campaign", "meta.id"),
    Numbered("Reason", str, "Why it is no row", "meta.note"),
    Numbered("Seq", int, "Object of the catalogue of which it is another spectrum", "meta.record"),
    Numbered("File", str, "File of the spectrum", "meta.ref;meta.file"),
    Numbered("SHA256", str, "SHA-256 of the spectrum", "meta.checksum"),
)


@dataclass(frozen=True)
class CatalogueObject:
    """An object of the catalogue.

    :param number: from 1, in order of right ascension
    :param items: its approved items, the best spectrum first
    :param others: items of its other spectra, and other items of the same ones, that are no rows
    """

    number: int
    items: tuple[Json, ...]
    others: tuple[Json, ...] = ()

    @property
    def best(self) -> Json:
        return self.items[0]

    @property
    def epochs(self) -> int:
        return len({item["spectrum"] for item in (*self.items, *self.others) if item["spectrum"]})

    @property
    def name(self) -> str:
        placed = next((item for item in self.items if item["ra"] is not None), None)
        return self.best["name"].removesuffix(".fits") if placed is None else designation(placed["ra"], placed["dec"])

    def windows(self, spectrum: Spectrum) -> tuple[Window, ...]:
        """Return the windows of the approved trace in the best spectrum, with the numbers of their steps."""
        return windows_of(Trajectory.from_json(self.best["trace"]).steps, spectrum)


def designation(ra: float, dec: float) -> str:
    """Return the designation of a position (degrees) by the rules of the IAU: truncated, J082345.67+123456.7."""
    hours = math.floor(ra / 15 * 3600 * 100 + 1e-6)
    degrees = math.floor(abs(dec) * 3600 * 10 + 1e-6)
    h, m, s = hours // 360_000, hours // 6000 % 60, hours % 6000 / 100
    d, arcmin, arcsec = degrees // 36_000, degrees // 600 % 60, degrees % 600 / 10
    return f"J{h:02d}{m:02d}{s:05.2f}{'-' if dec < 0 else '+'}{d:02d}{arcmin:02d}{arcsec:04.1f}"


def objects_of(facts: Facts) -> tuple[CatalogueObject, ...]:
    """Merge the spectra of one object (``agent.spectrum.objects``) into rows, in order of position."""
    placed = {item["spectrum"]: item for item in facts.items if item["spectrum"]}
    groups = objects([identity(item) for item in placed.values()]).tolist()
    group_of = dict(zip(placed, groups, strict=True))
    rows: defaultdict[int, list[Json]] = defaultdict(list)
    others: defaultdict[int, list[Json]] = defaultdict(list)
    for item in facts.items:
        if item["spectrum"]:
            (others if item["out"] else rows)[group_of[item["spectrum"]]].append(item)
    ordered = sorted(
        ((sorted(items, key=_best_first), others.get(group, [])) for group, items in rows.items()),
        key=lambda pair: _place(pair[0]),
    )
    return tuple(CatalogueObject(n, tuple(own), tuple(rest)) for n, (own, rest) in enumerate(ordered, start=1))


def _best_first(item: Json) -> tuple[float, int]:
    return -(item["snr"] or 0.0), item["item"]


def _place(items: Sequence[Json]) -> tuple[bool, float, float, int]:
    placed = next((item for item in items if item["ra"] is not None), None)
    return (True, 0.0, 0.0, items[0]["item"]) if placed is None else (False, placed["ra"], placed["dec"], 0)


@dataclass(frozen=True)
class Rows:
    """The tables of a catalogue: columns, and a dictionary by column name per row."""

    facts: Facts
    objects: tuple[CatalogueObject, ...]
    columns: tuple[Numbered, ...]
    rows: tuple[Json, ...] = field(repr=False)

    @classmethod
    def of(cls, facts: Facts) -> Rows:
        """Calculate every number of a catalogue; spectra are in memory one after the other."""
        features = _features(facts.campaign["task"]["features"])
        measured = _measured_columns(features)
        certificates = [
            Certificate.from_json(row["certificate"]) for row in facts.campaign["certificates"] if not row["suspended"]
        ]
        entries = objects_of(facts)
        rows, seen = [], set()
        for entry in entries:
            spectrum = facts.spectrum(entry.best)
            row = _row(entry, spectrum, facts, certificates)
            row |= _measurements(spectrum, row["z"], features, measured)
            row |= (sky := _sky(facts, entry, spectrum))
            seen |= {name for name, value in {**sky, **_ids(spectrum)}.items() if value is not None}
            rows.append(row | _ids(spectrum))
        ids = sorted({name for row in rows for name in row if name.startswith("ID_")})
        about = [Numbered(name, str, f"Identifier of the survey: {name[3:]}", "meta.id") for name in ids]
        sky_columns = [column for column in _SKY if column.name in seen]
        columns = (*_FIRST, *chain.from_iterable(measured), *sky_columns, *about, *_LAST)
        table = tuple({c.name: _rounded(row.get(c.name), c) for c in columns} for row in rows)
        return cls(facts, entries, columns, table)

    @cached_property
    def spectra(self) -> tuple[Json, ...]:
        """One row per item of an object, all its epochs."""
        return tuple(
            {
                **_item_row(item, entry),
                "MJD": _rounded(item["mjd"], SPECTRA[2]),
                "Best": "yes" if item is entry.best else "",
                "Outcome": item["out"] or "in the catalogue",
            }
            for entry in self.objects
            for item in sorted((*entry.items, *entry.others), key=lambda item: (item["mjd"] or 0.0, item["item"]))
        )

    @cached_property
    def left_out(self) -> tuple[Json, ...]:
        """The selected items that are no rows."""
        of = {item["item"]: entry for entry in self.objects for item in entry.others}
        out = (item for item in self.facts.items if item["out"])
        return tuple({**_item_row(item, of.get(item["item"])), "Reason": item["out"]} for item in out)


def _item_row(item: Json, entry: CatalogueObject | None) -> Json:
    number = None if entry is None else entry.number
    return {"Seq": number, "Item": item["item"], "File": item["name"], "SHA256": item["spectrum"]}


def _row(entry: CatalogueObject, spectrum: Spectrum, facts: Facts, certificates: Sequence[Certificate]) -> Json:
    best = entry.best
    z, checked = _redshift(entry, spectrum)
    placed = next((item for item in entry.items if item["ra"] is not None), {"ra": None, "dec": None})
    decided = [row for item in entry.items for row in item["decisions"]]
    judged = [row for row in decided if row["round"] in ("audit", "vote", "adjudication")]
    sides = Counter(_DECIDING.get(row["verb"], 0) for row in judged)
    inspections = [item["inspection"] for item in entry.items if item["inspection"]]
    drafted = Counter(item["drafted"] for item in entry.items if item["drafter"] == best["drafter"])
    against = {"decided: not of the class", "trace rejected: wrong class"}
    is_flagged = {
        "A": bool(spectrum.meta.get("medium_assumed")),
        "D": any(item["disagreement"] for item in entry.items),
        "E": any(item["out"] in against for item in entry.others),
        "F": z is not None and not checked,
        "I": any(inspection["issues"] for inspection in inspections),
        "N": placed["ra"] is None,
        "S": best["simulated"],
        "U": spectrum.errors == "estimated",
        "Z": z is None and spectrum.frame != "rest",
    }
    return {
        "Seq": entry.number,
        "Name": entry.name,
        "RAdeg": placed["ra"],
        "DEdeg": placed["dec"],
        "z": z,
        "cz": z * SPEED_OF_LIGHT if z is not None and abs(z) < _SLOW else None,
        "Class": facts.campaign["task"]["title"],
        "SpType": next((inspection["spectype"] for inspection in inspections), ""),
        "Verdict": "YES",
        "Nppl": len({row["person"] for row in decided}),
        "Nfor": sides[1],
        "Nagainst": sides[-1],
        "Policy": best["drafter"]["name"],
        "PolVerdict": "YES" if drafted["YES"] > drafted["NO"] else "NO" if drafted["NO"] > drafted["YES"] else "ASK",
        "PYES": best["p_yes"],
        "Certified": _certified(best, certificates),
        "Quality": next((i["quality"] for i in inspections if i["quality"] is not None), None),
        "Flags": "".join(flag for flag in FLAGS if is_flagged[flag]),
        "SNR": best["snr"],
        "Survey": spectrum.survey,
        "MJD": best["mjd"],
        "Nspec": entry.epochs,
        "Medium": medium_text(spectrum),
        "File": best["name"],
        "SHA256": best["spectrum"],
    }


def _redshift(entry: CatalogueObject, spectrum: Spectrum) -> tuple[float | None, bool]:
    """Return the redshift of the best spectrum, and whether a person checked it."""
    inspection = entry.best["inspection"]
    if inspection and inspection["z"] is not None:
        return inspection["z"], True
    return spectrum.redshift, False


def _certified(item: Json, certificates: Iterable[Certificate]) -> str:
    """Return the verdict of the first certificate whose score model gave the item its P(YES); "": there is none."""
    for certificate in certificates:
        if item["features"] and item["score_model"] == sha256_of(canonical(certificate.score.to_json()).decode()):
            features = Features.from_json(item["features"])
            return certificate.judge(features, item["survey"], item["snr"], item["reasons"]).verdict
    return ""


def _features(rows: Iterable[Json]) -> list[Feature]:
    """Return the features of the class, those that would be measured alike once."""
    features = [Feature(**{name: _tuples(value) for name, value in row.items()}) for row in rows]
    unique: dict[Any, Feature] = {}
    for feature in features:
        if feature.role != "confuser":
            unique.setdefault((feature.quantity, feature.span, feature.side_bands, feature.medium), feature)
    return [*unique.values()]


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _measured_columns(features: Sequence[Feature]) -> list[tuple[Numbered, Numbered]]:
    pairs = []
    for feature in features:
        slug = re.sub(r"[^A-Za-z0-9]+", "_", ascii_text(feature.name)).strip("_")
        name, unit = f"{_PREFIX[feature.quantity]}_{slug}", _UNIT.get(feature.quantity, "")
        decimals = 1 if feature.quantity == "fwhm" else 3
        ucd = (
            "spect.line.eqWidth"
            if feature.quantity == "equivalent_width"
            else "spect.line.width"
            if unit
            else "spect.index"
        )
        about = f"{_MEANING[feature.quantity]}: {ascii_text(feature.name)}"
        pairs.append(
            (
                Numbered(name, float, about, ucd, unit, decimals),
                Numbered(f"e_{name}", float, f"Mean error of {name}", f"stat.error;{ucd}", unit, decimals),
            )
        )
    return pairs


def _measurements(
    spectrum: Spectrum, z: float | None, features: Sequence[Feature], columns: Sequence[tuple[Numbered, Numbered]]
) -> Json:
    """Measure each feature at rest; at z = 0 where no redshift is known, as the hints do."""
    values: Json = {}
    at_rest = rest(spectrum, z or 0.0)
    for feature, (value, error) in zip(features, columns, strict=True):
        measured = measure_feature(at_rest, feature)
        if not isinstance(measured, Undefined):
            values |= {value.name: measured.value, error.name: measured.error}
    return values


_SKY = (
    Numbered("GaiaID", str, "Identifier of the matched source of Gaia", "meta.id.cross"),
    Numbered("Sep", float, "Separation from it after proper motion", "pos.angDistance", "arcsec", 3),
    *chain.from_iterable(
        (
            Numbered(f"{name}mag", float, f"Magnitude {name}, as observed", f"phot.mag;em.{band}", "mag", 4),
            Numbered(f"e_{name}mag", float, f"Mean error of {name}mag", f"stat.error;phot.mag;em.{band}", "mag", 4),
        )
        for name, band in (("G", "opt"), ("BP", "opt.B"), ("RP", "opt.R"), ("J", "IR.J"), ("Ks", "IR.K"),
                           ("W1", "IR.3-4um"), ("W2", "IR.4-8um"))
    ),
    Numbered("Plx", float, "Parallax of Gaia", "pos.parallax.trig", "mas", 4),
    Numbered("e_Plx", float, "Mean error of Plx", "stat.error;pos.parallax.trig", "mas", 4),
    Numbered("pmRA", float, "Proper motion in right ascension, times cos(DE)", "pos.pm;pos.eq.ra", "mas/yr", 3),
    Numbered("pmDE", float, "Proper motion in declination", "pos.pm;pos.eq.dec", "mas/yr", 3),
    Numbered("MG", float, "Absolute magnitude of G where Plx > 5 e_Plx, as observed", "phys.magAbs;em.opt", "mag", 3),
    Numbered("e_MG", float, "Mean error of MG", "stat.error;phys.magAbs", "mag", 3),
    Numbered("Var", float, "Scatter of single G measurements, fraction of the flux", "src.var.amplitude", "", 4),
    Numbered("RUWE", float, "Renormalised unit weight error of Gaia", "stat.fit.goodness", "", 3),
)  # fmt: skip


def _sky(facts: Facts, entry: CatalogueObject, spectrum: Spectrum) -> Json:
    """Return what catalogues know of an object, from the records of its best spectrum."""
    sky = facts.skies.get(entry.best["spectrum"])
    if not sky:
        return {}
    known = facts_of(sky, spectrum)
    values: Json = {}
    for name, magnitude in known.magnitudes.items():
        values |= {f"{name}mag": magnitude.value, f"e_{name}mag": magnitude.error or None}
    for column, quantity in (("MG", "absolute_magnitude"), ("Var", "variability"), ("RUWE", "ruwe")):
        number = known.quantities[quantity]  # type: ignore[index]
        if isinstance(number, Measured):
            values |= {column: number.value, f"e_{column}": number.error or None}
    if known.source is not None:
        names = {"Plx": "parallax", "e_Plx": "parallax_error", "pmRA": "pm_ra", "pmDE": "pm_dec"}
        values |= {column: known.source.values.get(name) for column, name in names.items()}
        values |= {"GaiaID": known.source.id, "Sep": known.source.separation}
    return values


def _ids(spectrum: Spectrum) -> Json:
    return {f"ID_{re.sub('[^A-Za-z0-9]+', '_', key)}": value for key, value in spectrum.ids.items() if value}


def _rounded(value: Any, column: Numbered) -> Any:
    if value is None or (column.kind is float and not math.isfinite(value)):
        return None
    if column.kind is float:
        return round(float(value), column.decimals) + 0.0
    return column.kind(value)
