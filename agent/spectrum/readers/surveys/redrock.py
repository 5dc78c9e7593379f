"""DESI's redshift tables: ``redrock-*`` files, before 2021 ``zbest-*``, one row per target, without spectra.

They are read with the ``coadd-*`` or ``spectra-*`` file of the same tile or healpix in the same folder, whose name
differs in the first word only. Columns: TARGETID, Z, ZERR, ZWARN, SPECTYPE, SUBTYPE, DELTACHI2
(desidatamodel.readthedocs.io, "redrock-SURVEY-PROGRAM-PIXNUM").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from agent.language import deferred
from agent.spectrum.readers.files import in_same_folder, uncompressed
from agent.spectrum.readers.fits import FitsFile, Hdu
from agent.spectrum.readers.pixels import usable_redshift
from agent.spectrum.record import Scalar

TABLES = ("REDSHIFTS", "ZBEST")


@dataclass(frozen=True)
class Redshift:
    """Redrock's best fit of one target.

    :param redshift: None if it is no number
    :param kind: SPECTYPE and SUBTYPE, e.g. "STAR M"
    :param meta: ZWARN, ZERR and DELTACHI2 as ``zwarn``, ``zerr``, ``deltachi2``, and the file as ``redshift_from``
    """

    redshift: float | None
    kind: str
    zwarn: int | None
    meta: Mapping[str, Scalar]


def redshifts(fits: FitsFile) -> dict[str, Redshift]:
    """Return the fits by TARGETID: of a table in the file itself, otherwise of its companion; empty without either.

    :raises SpectrumError: the companion is damaged
    """
    table = fits.get(*TABLES)
    if table is not None:
        return _rows(table, fits.name)
    companion = None if fits.path is None else in_same_folder(fits.path, *names(fits.path.name))
    if companion is None:
        return {}
    with uncompressed(companion, companion.name) as (stream, size):
        other = FitsFile(stream, companion.name, size)
        table = other.get(*TABLES)
        if table is None:
            raise other.refusal(
                deferred("no table REDSHIFTS or ZBEST"), deferred("the redshifts of {name}", name=fits.name)
            )
        return _rows(table, companion.name)


def names(spectra: str) -> tuple[str, ...]:
    """Return the names that the redshift table of a ``coadd-*`` or ``spectra-*`` file may have, uncompressed; () for
    another file.
    """
    match = re.match(r"^(?:coadd|spectra)(-.*?\.fits)", spectra)
    return () if match is None else (f"redrock{match[1]}", f"zbest{match[1]}")


def spectra_of(table: str) -> str:
    """Return the name of the coadd that a redshift table belongs to, e.g. "coadd-5-169.fits"; "" for another file."""
    match = re.match(r"^(?:redrock|zbest)(-.*?\.fits)", table)
    return f"coadd{match[1]}" if match else ""


def _rows(table: Hdu, source: str) -> dict[str, Redshift]:
    if not {"TARGETID", "Z"} <= set(table.columns) or table.shape[0] == 0:
        return {}
    needed = ("TARGETID", "Z", "ZWARN", "ZERR", "DELTACHI2", "SPECTYPE", "SUBTYPE")
    columns = {key: values for key in needed if key in table.columns and (values := table.column(key)).ndim == 1}
    if not {"TARGETID", "Z"} <= set(columns):
        return {}
    redshifts: dict[str, Redshift] = {}
    for row, target in enumerate(columns["TARGETID"].tolist()):
        # The first row of a target is its best fit.
        redshifts.setdefault(str(target), _redshift({key: values[row] for key, values in columns.items()}, source))
    return redshifts


def _redshift(row: Mapping[str, np.generic], source: str) -> Redshift:
    def text(key: str) -> str:
        value = row.get(key)
        return value.decode("latin-1").strip("\0 ") if isinstance(value, bytes) else ""

    zwarn = int(row["ZWARN"]) if "ZWARN" in row else None
    meta: dict[str, Scalar] = {"redshift_from": source}
    if zwarn is not None:
        meta["zwarn"] = zwarn
    for key in ("ZERR", "DELTACHI2"):
        if key in row and np.isfinite(value := float(row[key])):
            meta[key.lower()] = value
    kind = " ".join(part for part in (text("SPECTYPE"), text("SUBTYPE")) if part)
    return Redshift(usable_redshift(float(row["Z"])), kind, zwarn, meta)
