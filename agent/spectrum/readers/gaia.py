"""Sampled mean BP/RP spectra of Gaia DR3: ``XP_SAMPLED`` of DataLink, and the tables that GaiaXPy writes.

343 samples from 336 to 1020 nm, every 2 nm, vacuum; flux in W m⁻² nm⁻¹ (Gaia DR3 documentation, section 20.6.2,
"xp_sampled_mean_spectrum"; Montegriffo et al. 2023, A&A 674, A3). A CSV states no unit: the samples identify it. A
table of GaiaXPy has a source per row, with its fluxes in a cell; the wavelengths are elsewhere (gaiaxpy.readthedocs.io,
"calibrate").
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import partial
from typing import Any

import numpy as np

from agent.language import deferred
from agent.spectrum.readers.pixels import Array, ivar_from_sigma, spectrum
from agent.spectrum.readers.producers import PRODUCERS, plain
from agent.spectrum.readers.targets import Targets
from agent.spectrum.record import SpectrumError

SAMPLES = np.arange(336.0, 1021.0, 2.0)  # nm
XP = next(maker for maker in PRODUCERS if maker.name == "Gaia XP")
_SOURCE = re.compile(r"Gaia\W*DR3\W*(\d{5,20})", re.IGNORECASE)
_ROWS = {"source_id", "flux", "flux_error"}


def is_sampled(wavelength: Any) -> bool:
    """Return whether a wavelength column (n,) has the values of a sampled spectrum, in nm."""
    return np.array_equal(wavelength, SAMPLES)


def fields(name: str, source: str = "") -> dict[str, Any]:
    """Return the fields of ``Spectrum`` that are known of every sampled spectrum.

    :param name: of the file, where DataLink writes the identifier of the source
    :param source: the identifier, if the file states it
    """
    match = _SOURCE.search(name)
    source = source or (match[1] if match else "")
    return {
        "survey": XP.survey,
        "medium": "vacuum",
        "flux_unit": XP.units["flux"],
        "ids": {"gaia_dr3": source} if source else {},
        "meta": {},
    }


def has_rows(names: Collection[str]) -> bool:
    """Return whether a table with these columns has a source per row, as GaiaXPy writes it."""
    words = {plain(name) for name in names}
    return words >= _ROWS and not any(re.match("wave|lam", word) for word in words)


def rows(name: str, source_ids: Any, flux: Any, flux_error: Any, wavelengths: Array | None = None) -> Targets:
    """Return the sources of a table of GaiaXPy: a target per row, named by its ``source_id``.

    :param source_ids: identifiers (rows,)
    :param flux: arrays (rows, n), or a sequence of them, W m⁻² nm⁻¹
    :param wavelengths: (n,) in nm, the "sampling"; None where the file does not state them
    :raises SpectrumError: there are no wavelengths for so many fluxes
    """
    axis = SAMPLES if wavelengths is None else wavelengths
    size = next((np.size(row) for row in flux if np.size(row) != axis.size), axis.size)
    if size != axis.size or not len(source_ids):
        actual = deferred("{size} fluxes of a source of Gaia, and {n} wavelengths", size=size, n=axis.size)
        raise SpectrumError(name, actual, deferred("a sampling of as many wavelengths, or 343 fluxes (336 to 1020 nm)"))
    meta = {
        "read_as": "GaiaXPy table",
        "axis_from": "336 to 1020 nm by 2" if wavelengths is None else "sampling (nm)",
        "flux_from": f"column flux ({XP.units['flux']})",
        "errors_from": "column flux_error (sigma)",
        "medium_from": XP.name,
    }
    labels = [str(source) for source in source_ids]
    if len(set(labels)) < len(labels):
        labels = [str(row) for row in range(len(labels))]
    targets = Targets(name)
    for label, source, values, errors in zip(labels, source_ids, flux, flux_error, strict=True):
        label = label if len(labels) > 1 else ""
        sigma = _numbers(name, "flux_error", errors)
        arrays = (axis * 10.0, _numbers(name, "flux", values), ivar_from_sigma(sigma))
        known = fields(name, str(source)) | {"meta": meta}
        targets.add(label, partial(spectrum, f"{name}#{label}" if label else name, *arrays, **known))
    return targets


def sampling(name: str, stated: Any) -> Array | None:
    """Return wavelengths (n,) in nm that a PARAM, a card or an entry ``sampling`` states; None without.

    :raises SpectrumError: they are no numbers
    """
    if isinstance(stated, str):
        stated = re.split(r"[,\s]+", stated.strip("[](){} ")) if stated.strip("[](){} ") else None
    return None if stated is None else _numbers(name, "sampling", stated)


def _numbers(name: str, what: str, values: Any) -> Array:
    try:
        return np.ma.filled(np.ma.asarray(values, np.float64), np.nan).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        raise SpectrumError(name, deferred("a column {column} that is not numbers", column=what), "numbers") from None
