"""DESI coadd and spectra files: many targets, three arms each (B, R, Z).

The arms share one grid of 0.8 Å and overlap by tens of Å; a missing arm leaves a gap. In the overlaps, and where
a ``spectra`` file has several exposures of a target, pixels are averaged with ivar as weight, as in DESI's own
coaddition. Wavelengths are vacuum and heliocentric, flux is in 1e-17 erg s⁻¹ cm⁻² Å⁻¹. A pixel is flagged if every
contribution to it is.

Redshift, class and ZWARN are those of the redrock table in the file or, under the same name, in its folder
(``surveys.redrock``). A target with several exposures in a ``spectra`` file keeps each, its arms merged.

Targets are named by TARGETID. A target without data (ivar 0 everywhere: a fibre that was not positioned) is
``NoDataError``. ``read_all`` leaves those and sky fibres out; a sky fibre can be read by its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from agent.language import deferred
from agent.spectrum.readers.fits import FitsFile, Hdu
from agent.spectrum.readers.flux_units import F_LAMBDA
from agent.spectrum.readers.pixels import exposure, finite_number, spectrum
from agent.spectrum.readers.surveys import redrock
from agent.spectrum.readers.targets import CatalogueEntry, Targets
from agent.spectrum.record import MAX_EXPOSURES, Exposure, FloatArray, Scalar, Spectrum

GRID = 0.01  # Å; pixels of two arms closer than this are the same pixel
_EXPECTED = deferred("DESI arms with WAVELENGTH, FLUX and IVAR")
_READ: dict[str, Scalar] = {
    "read_as": "DESI coadd or spectra",
    "axis_from": "HDUs _WAVELENGTH",
    "flux_from": "HDUs _FLUX",
    "errors_from": "HDUs _IVAR (ivar)",
    "mask_from": "HDUs _MASK (not 0 = bad)",
    "medium_from": "DESI data model",
}


@dataclass(frozen=True)
class Arm:
    """A camera's HDUs, by its letter."""

    name: str
    wavelength: FloatArray
    flux: Hdu
    ivar: Hdu
    mask: Hdu | None


def recognises(fits: FitsFile) -> bool:
    """Return whether it is a DESI file; without spectra, e.g. a redshift catalogue, ``targets`` refuses it."""
    first = [hdu.name for hdu in fits.first(3)]
    desi = ("FIBERMAP", *redrock.TABLES)
    return any(name in desi or name.endswith("_WAVELENGTH") for name in first)


def targets(fits: FitsFile) -> Targets:
    """Return the targets of a DESI file. :raises SpectrumError: no arms, an arm without its HDUs, or no target list"""
    arms = _arms(fits)
    rows = arms[0].flux.shape[0]
    fibermap = fits.get("FIBERMAP")
    if fibermap is None or "TARGETID" not in fibermap.columns or fibermap.shape[0] != rows:
        actual = (
            deferred("no FIBERMAP with TARGETID")
            if fibermap is None
            else deferred("{rows} spectra, FIBERMAP of {shape} rows", rows=rows, shape=fibermap.shape[0])
        )
        raise fits.refusal(actual, deferred("a FIBERMAP row with a TARGETID for each spectrum"))
    by_target: dict[str, list[int]] = {}
    for row, target in enumerate(fibermap.column("TARGETID").tolist()):
        by_target.setdefault(str(target), []).append(row)
    loaders = Targets(fits.name)
    fitted = _Redshifts(fits)
    loaders.catalogue = fitted.entries
    for target, its_rows in by_target.items():
        sky = fibermap.cell("OBJTYPE", its_rows[0]) == "SKY"
        name = fits.name if len(by_target) == 1 else f"{fits.name}#{target}"
        loaders.add(target, _Loader(fits, arms, fibermap, fitted, name, target, its_rows), skip=sky)
    return loaders


@dataclass(frozen=True)
class _Loader:
    fits: FitsFile
    arms: list[Arm]
    fibermap: Hdu
    fitted: _Redshifts
    name: str
    target: str
    rows: list[int]

    def __call__(self) -> Spectrum:
        wavelength, flux, ivar, mask = _merged(self.arms, self.rows)
        row = self.rows[0]
        fit = self.fitted.of.get(self.target)
        present = {arm.name for arm in self.arms}
        missing = [arm for arm in "BRZ" if present & set("BRZ") and arm not in present]
        meta: dict[str, Scalar] = {"arms_missing": ", ".join(missing)} if missing else {}
        meta |= _READ | {"exposures": len(self.rows), **(fit.meta if fit else {})}
        for key in ("OBJTYPE", "TILEID", "COADD_FIBERSTATUS", "COADD_NUMEXP"):
            value = self.fibermap.cell(key, row)
            if value is not None:
                meta[key.lower()] = value
        # The pipeline corrects every exposure; the coadded file does not state it.
        meta |= {"velocity_frame": "heliocentric", "velocity_frame_from": "DESI data model"}
        primary = self.fits[0].header
        for key in ("SURVEY", "PROGRAM", "HPXPIXEL"):
            if primary.text(key):
                meta[key.lower()] = primary.text(key)
        return spectrum(
            self.name,
            wavelength,
            flux,
            ivar,
            mask,
            medium="vacuum",
            flux_unit=F_LAMBDA,
            survey="DESI",
            ids={"targetid": self.target},
            ra=finite_number(self.fibermap.cell("TARGET_RA", row)),
            dec=finite_number(self.fibermap.cell("TARGET_DEC", row)),
            redshift=fit.redshift if fit else None,
            catalogue_class=fit.kind if fit else "",
            meta=meta,
            exposures=self._exposures() if 1 < len(self.rows) <= MAX_EXPOSURES else (),
        )

    def _exposures(self) -> Iterator[Exposure | None]:
        for row in self.rows:
            wavelength, flux, ivar, _ = _merged(self.arms, [row])
            named = (f"{key.lower()} {self.fibermap.cell(key, row)}" for key in ("NIGHT", "EXPID"))
            known = [text for text in named if not text.endswith("None")]
            yield exposure(" ".join(known) or f"row {row}", wavelength, flux, ivar)


class _Redshifts:
    """The redrock table of a file, read at the first use."""

    def __init__(self, fits: FitsFile) -> None:
        self._fits = fits

    @cached_property
    def of(self) -> dict[str, redrock.Redshift]:
        return redrock.redshifts(self._fits)

    def entries(self) -> dict[str, CatalogueEntry]:
        """:raises SpectrumError: there is no table, naming the file that is missing"""
        if not self.of:
            name = (redrock.names(self._fits.name) or ("a redrock table",))[0]
            raise self._fits.refusal(
                deferred("no redshift table"),
                deferred("{wanted} in the same folder, to select by class or ZWARN", wanted=name),
            )
        return {target: CatalogueEntry(fit.kind, fit.zwarn) for target, fit in self.of.items()}


def _arms(fits: FitsFile) -> list[Arm]:
    hdus = {hdu.name: hdu for hdu in fits}
    arms = []
    prefixes = [n.removesuffix("_WAVELENGTH") for n in hdus if n.endswith("_WAVELENGTH")]
    if not prefixes and any(name in hdus for name in redrock.TABLES):
        coadd = redrock.spectra_of(fits.name) or deferred("its coadd file")
        raise fits.refusal(
            deferred("a table of redshifts without spectra (redrock)"),
            deferred("{wanted}: keep both in one folder and read the coadd", wanted=coadd),
        )
    if not prefixes:
        raise fits.refusal(f"HDUs {', '.join(list(hdus)[:6])}", _EXPECTED)
    for prefix in prefixes:
        flux, ivar = hdus.get(f"{prefix}_FLUX"), hdus.get(f"{prefix}_IVAR")
        if flux is None or ivar is None:
            continue
        wavelength = hdus[f"{prefix}_WAVELENGTH"].image().astype(np.float64)
        mask = hdus.get(f"{prefix}_MASK")
        for hdu in (flux, ivar, *([mask] if mask else [])):
            if len(hdu.shape) != 2 or hdu.shape[1:] != wavelength.shape or hdu.shape[0] != flux.shape[0]:
                raise fits.refusal(
                    deferred("{name} of shape {shape}", name=hdu.name, shape=hdu.shape),
                    deferred("rows of {size} pixels", size=wavelength.size),
                )
        arms.append(Arm(prefix, wavelength, flux, ivar, mask))
    if not arms:
        raise fits.refusal(deferred("arms {names} without FLUX or IVAR", names=", ".join(prefixes)), _EXPECTED)
    if len({arm.flux.shape[0] for arm in arms}) != 1:
        raise fits.refusal(deferred("arms with different numbers of spectra"), deferred("the same targets in each arm"))
    _check_one_grid(fits, arms)
    return arms


def _check_one_grid(fits: FitsFile, arms: list[Arm]) -> None:
    joined = np.concatenate([arm.wavelength for arm in arms])
    if not np.isfinite(joined).all() or np.abs(joined).max(initial=0.0) > 1e6:
        raise fits.refusal(deferred("wavelengths that are no wavelengths"), deferred("wavelengths in Å"))
    steps = np.diff(np.unique(np.round(joined / GRID)))
    if steps.size == 0 or steps.min() < 0.5 * np.median(steps):
        raise fits.refusal(
            deferred("arms whose pixels interleave where they overlap"), deferred("arms on one wavelength grid")
        )


def _merged(arms: list[Arm], rows: list[int]) -> tuple[FloatArray, FloatArray, FloatArray, NDArray[np.bool_]]:
    joined = np.concatenate([arm.wavelength for arm in arms])
    _, first, place = np.unique(np.round(joined / GRID).astype(np.int64), return_index=True, return_inverse=True)
    wavelength = joined[first]
    weighted, plain, count, weight, flagged = (np.zeros(wavelength.size) for _ in range(5))
    start = 0
    for arm in arms:
        at = place[start : start + arm.wavelength.size]
        start += arm.wavelength.size
        for row in rows:
            flux, ivar = arm.flux.image(row), arm.ivar.image(row)
            usable = np.isfinite(flux) & np.isfinite(ivar) & (ivar > 0)
            flux, ivar = np.where(np.isfinite(flux), flux, 0.0), np.where(usable, ivar, 0.0)
            weighted[at] += flux * ivar
            weight[at] += ivar
            plain[at] += flux
            count[at] += 1
            flagged[at] += arm.mask.image(row) != 0 if arm.mask else False
    flux = np.where(weight > 0, weighted / np.where(weight > 0, weight, 1.0), plain / count)
    return wavelength, flux, weight, flagged == count
