"""Which source of a catalogue is the object: separations after proper motion, light in the fibre, blends.

A position in a file is often that of an input catalogue, whose epoch the file does not state. Then any epoch between
``EARLIEST`` and the observation is possible, and the separation is the smallest one within that time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from agent.sky.maps import MAGNITUDES, CatalogueMap, bundled
from agent.sky.records import RADIUS, SkyRecord, Source
from agent.spectrum import Spectrum
from agent.spectrum.objects import observed_at

FloatArray = NDArray[np.float64]

EARLIEST = 1998.0
"""Julian year of the oldest positions from which surveys of spectra took theirs (2MASS, SDSS imaging)."""
LATEST = 2027.0
"""Julian year taken where a file does not say when it was observed."""
SEEING = 2.0
"""FWHM in arcseconds, typical of LAMOST, SDSS and DESI."""
BLEND = 0.1
"""Of the light of the matched source: other sources that give more than this to the fibre make a blend."""
INPUT_ERROR = 0.3
"""1σ in arcseconds of one coordinate of positions in files, the larger of usual ones."""
COUNTS = 0.25
"""d log10 n / dm of stars from G 12 to 20, between 0.2 at the poles and 0.3 in the plane (Gaia DR3)."""
NO_FIBRE = 1.5
"""Radius in arcseconds of the aperture where the survey's fibre is not known."""
_FIBRES: Mapping[str, float] = {"LAMOST": 3.3, "SDSS": 3.0, "BOSS": 2.0, "DESI": 1.5}
_BOSS_FROM = 55_000.0  # MJD; the plates of the first spectrograph ended in 2009, its fibres were wider


@dataclass(frozen=True)
class Target:
    """An object to look up.

    :param key: names it in the output: the SHA-256 of its spectrum, or the row of a list
    :param ra: degrees, ICRS; ``dec`` too
    :param epochs: Julian years between which the position holds; equal where its epoch is stated
    :param fibre: diameter in arcseconds; None where it is not known
    :param motion: of the object itself in mas/yr (to the east, with cos δ, and north) where it is known, by which it is
        followed to the epochs of sources without a motion
    :param observed: Julian year of the spectrum; None: the later one of ``epochs``
    """

    key: str
    ra: float
    dec: float
    epochs: tuple[float, float] = (EARLIEST, LATEST)
    fibre: float | None = None
    motion: tuple[float, float] = (0.0, 0.0)
    observed: float | None = None

    @property
    def is_position(self) -> bool:
        """Whether right ascension and declination are numbers of a sky."""
        return math.isfinite(self.ra) and math.isfinite(self.dec) and 0 <= self.ra < 360 and abs(self.dec) <= 90

    def at(self, epoch: float, source: Source, of_source: float) -> Target:
        """Return where the object is at an epoch, if it is this source of a catalogue with positions of the epoch
        ``of_source``. The source has the better position, and one whose epoch is known.
        """
        motion = (source.values.get("pm_ra", 0.0), source.values.get("pm_dec", 0.0))
        years = epoch - source.values.get("epoch", of_source)
        ra, dec = moved(source.ra, source.dec, *motion, years)
        return replace(self, ra=ra, dec=dec, epochs=(epoch, epoch), motion=motion)


def target_of(spectrum: Spectrum) -> Target | None:
    """Return where the object of a spectrum is; None if the file has no position."""
    if spectrum.ra is None or spectrum.dec is None:
        return None
    mjd = observed_at(spectrum.ids, spectrum.meta)
    observed = LATEST if mjd is None else julian_year(mjd)
    epochs = (min(EARLIEST, observed), observed)
    target = Target(spectrum.sha256, spectrum.ra % 360, spectrum.dec, epochs, fibre_of(spectrum))
    return target if target.is_position and (target.ra, target.dec) != (0.0, 0.0) else None


def julian_year(mjd: float) -> float:
    return 2000.0 + (mjd - 51_544.5) / 365.25


def fibre_of(spectrum: Spectrum) -> float | None:
    """Return the diameter of the survey's fibre in arcseconds; None where it is not known.

    LAMOST 3.3″ (Cui et al. 2012 RAA 12, 1197), SDSS 3″ and BOSS 2″ (Smee et al. 2013 AJ 146, 32), DESI 1.5″ (Abareshi
    et al. 2022 AJ 164, 207).
    """
    survey = spectrum.survey.upper().removeprefix("SIMULATED ")
    name = next((name for name in _FIBRES if survey.startswith(name)), None)
    if name == "SDSS":
        mjd = observed_at(spectrum.ids, spectrum.meta)
        name = "BOSS" if mjd is not None and mjd > _BOSS_FROM else name
    return None if name is None else _FIBRES[name]


def moved(ra: float, dec: float, pm_ra: float, pm_dec: float, years: float) -> tuple[float, float]:
    """Return a position (degrees) after a linear motion (mas/yr, ``pm_ra`` with cos δ) on the tangent plane."""
    return on_sky(ra, dec, pm_ra * years / 1000, pm_dec * years / 1000)


def on_sky(ra: float, dec: float, east: float, north: float) -> tuple[float, float]:
    """Return the position at an offset in arcseconds on the tangent plane of (ra, dec)."""
    x, y = math.radians(east / 3600), math.radians(north / 3600)
    dec0 = math.radians(dec)
    down = math.cos(dec0) - y * math.sin(dec0)
    away = math.degrees(math.atan2(x, down))
    north_of = math.degrees(math.atan2(math.sin(dec0) + y * math.cos(dec0), math.hypot(x, down)))
    return (ra + away) % 360, north_of


def offsets(ra: float, dec: float, of_ra: FloatArray, of_dec: FloatArray) -> FloatArray:
    """Return offsets (n, 2) to the east and north in arcseconds on the tangent plane of (ra, dec); degrees."""
    away, dec0, dec1 = np.radians(np.asarray(of_ra) - ra), math.radians(dec), np.radians(of_dec)
    cos = np.sin(dec1) * math.sin(dec0) + np.cos(dec1) * math.cos(dec0) * np.cos(away)
    cos = np.where(cos > 0, cos, np.nan)  # the other half of the sky
    east = np.cos(dec1) * np.sin(away) / cos
    north = (np.sin(dec1) * math.cos(dec0) - np.cos(dec1) * math.sin(dec0) * np.cos(away)) / cos
    return np.degrees(np.stack([east, north], axis=-1)) * 3600


def distances(ra: FloatArray, dec: FloatArray, of_ra: FloatArray, of_dec: FloatArray) -> FloatArray:
    """Return the great-circle distances in arcseconds between positions in degrees (the haversine formula)."""
    ra, dec, of_ra, of_dec = map(np.radians, (ra, dec, of_ra, of_dec))
    sine = np.sin((of_dec - dec) / 2) ** 2 + np.cos(dec) * np.cos(of_dec) * np.sin((of_ra - ra) / 2) ** 2
    arcseconds: FloatArray = np.degrees(2 * np.arcsin(np.sqrt(np.clip(sine, 0, 1)))) * 3600
    return arcseconds


def nearest_offsets(target: Target, sources: Sequence[Source], epoch: float) -> FloatArray:
    """Return the offset (n, 2) of each source from the target to the east and north in arcseconds, where it is the
    nearest within the target's epochs.

    A source without a proper motion is compared with the target at its own epoch, to which the target's own motion has
    brought it; ``epoch`` is that of the catalogue's positions.
    """
    if not sources:
        return np.empty((0, 2))
    at = offsets(target.ra, target.dec, *np.array([(s.ra, s.dec) for s in sources]).T)
    motion = np.array([(s.values.get("pm_ra", 0.0), s.values.get("pm_dec", 0.0)) for s in sources]) / 1000
    of_source = np.array([s.values.get("epoch", epoch) for s in sources])
    first, last = target.epochs[0] - of_source, target.epochs[1] - of_source
    speed = (motion**2).sum(axis=1)
    nearest = np.divide(-(at * motion).sum(axis=1), speed, out=np.zeros(len(sources)), where=speed > 0)
    years = np.clip(nearest, first, last)
    of_target = np.where(speed > 0, 0.0, -first)[:, None] * np.array(target.motion) / 1000
    offset: FloatArray = at + motion * years[:, None] - of_target
    return offset


def separations(target: Target, sources: Sequence[Source], epoch: float) -> FloatArray:
    """Return the separation (n,) of each source from the target in arcseconds, the smallest within its epochs."""
    apart: FloatArray = np.hypot(*nearest_offsets(target, sources, epoch).T)
    return apart


def record_of(
    catalogue: CatalogueMap, target: Target, sources: Sequence[Source], radius: float = RADIUS, **facts: object
) -> SkyRecord:
    """Return the record of an answer: the sources within ``radius`` of the target after proper motion, nearest first.
    Of a fast star that has left its position, those around it at the time of the spectrum follow.

    :param sources: of which the separation is not looked at
    :param facts: further fields of the record
    """
    apart = separations(target, sources, catalogue.epoch)
    kept = apart <= radius
    if kept.any() and (later := gone(catalogue, target, sources[int(np.argmin(apart))])):
        kept |= separations(later, sources, catalogue.epoch) <= radius
    order = [int(i) for i in np.argsort(apart, kind="stable") if kept[i]]
    near = tuple(replace(sources[i], separation=round(float(apart[i]), 4)) for i in order)
    return SkyRecord(
        catalogue=catalogue.key,
        status="found" if near else "not found",
        ra=target.ra,
        dec=target.dec,
        epochs=target.epochs,
        radius=radius,
        sources=near,
        **facts,  # type: ignore[arg-type]
    )


def gone(catalogue: CatalogueMap, target: Target, source: Source) -> Target | None:
    """Return where the object was at the time of the spectrum, if it is this source and had left its position, and so
    the neighbours there; None if it had not.
    """
    later = target.at(target.epochs[1] if target.observed is None else target.observed, source, catalogue.epoch)
    away = distances(*np.array([target.ra, target.dec, later.ra, later.dec]))
    return replace(later, motion=(0.0, 0.0)) if catalogue.has_motion and away > RADIUS / 2 else None


def _offsets_from(source: Source, sources: Sequence[Source], epoch: float, year: float) -> FloatArray:
    """Return offsets (n, 2) of sources from one of them in arcseconds to the east and north, all moved to ``year``.

    :param epoch: of positions of sources without an epoch of their own
    """

    def at(each: Source) -> tuple[float, float]:
        motion = each.values.get("pm_ra", 0.0), each.values.get("pm_dec", 0.0)
        return moved(each.ra, each.dec, *motion, year - each.values.get("epoch", epoch))

    return offsets(*at(source), *np.array([at(each) for each in sources]).T)


def without_answer(catalogue: str, target: Target, status: str, detail: str, **facts: object) -> SkyRecord:
    """Return the record of a catalogue that failed or was not queried, with the reason."""
    return SkyRecord(
        catalogue=catalogue,
        status=status,  # type: ignore[arg-type]
        ra=target.ra,
        dec=target.dec,
        epochs=target.epochs,
        detail=detail,
        **facts,  # type: ignore[arg-type]
    )


def reach(target: Target, epoch: float, speed: float) -> float:
    """Return how far in arcseconds a source of ``speed`` (arcsec/yr) can have moved between a catalogue's epoch and
    those of the target."""
    return speed * max(abs(epoch - year) for year in target.epochs)


@dataclass(frozen=True)
class Blend:
    """Light of other sources in the aperture, as a share of that of the matched source."""

    share: float
    sources: int

    @property
    def is_blend(self) -> bool:
        return self.share >= BLEND


def matched(record: SkyRecord, fibre: float | None, position_error: float = 0.1) -> Source | None:
    """Return the source that is the object; None if none is near enough.

    Of several within the match radius it is the one that is least likely there by chance: the squared separation over
    that of an input position, and the number of stars so bright, n ∝ 10^(0.25 m) (de Ruiter, Willis & Arp 1977 A&AS 28,
    211; Sutherland & Saunders 1992 MNRAS 259, 413). Light in the fibre is that of the brighter one anyway.

    :param fibre: diameter in arcseconds; None: ``NO_FIBRE``
    :param position_error: 1σ of the catalogue, arcseconds
    """
    if record.status != "found":
        return None
    near = [source for source in record.sources if source.separation <= match_radius(fibre, position_error)]
    names = [name for name in MAGNITUDES if all(name in source.values for source in near)]

    def improbability(source: Source) -> float:
        magnitude = source.values[names[0]] if names else 0.0
        return (source.separation / INPUT_ERROR) ** 2 + 2 * math.log(10) * COUNTS * magnitude

    return min(near, key=improbability, default=None)


def match_radius(fibre: float | None, position_error: float = 0.1) -> float:
    """Return the largest separation in arcseconds of a match: the aperture's radius, and at least 1″ or 3σ."""
    return max(NO_FIBRE if fibre is None else fibre / 2, 1.0, 3 * position_error)


def light_in_fibre(separation: FloatArray, fibre: float | None, seeing: float = SEEING) -> FloatArray:
    """Return the share of the light of sources at these separations (arcseconds) that enters a round aperture: a
    Gaussian image, whose squared distance over σ² has a non-central χ² distribution of two degrees of freedom.
    """
    from scipy.stats import ncx2

    sigma, radius = seeing / 2.3548, NO_FIBRE if fibre is None else fibre / 2
    shares: FloatArray = ncx2.cdf((radius / sigma) ** 2, 2, np.maximum(np.square(separation) / sigma**2, 1e-12))
    return shares


def blend_of(
    record: SkyRecord, source: Source, fibre: float | None, magnitude: str = "G", observed: float | None = None
) -> Blend:
    """Return how much light other sources of the record give to the aperture, which missed the object by as much as its
    position does. Where the epoch is not stated, the miss along the motion is not known: of ± ``INPUT_ERROR`` the share
    is the largest.

    A source without a magnitude counts as the faintest of the record.

    :param observed: Julian year of the spectrum; None: the later one of the record's epochs
    """
    catalogue = bundled().get(record.catalogue)
    year = record.epochs[1] if observed is None else observed
    epoch = year if catalogue is None else catalogue.epoch
    missed = nearest_offsets(Target("", record.ra, record.dec, record.epochs), [source], epoch)
    motion = np.array([source.values.get("pm_ra", 0.0), source.values.get("pm_dec", 0.0)]) / 1000
    path = motion * (record.epochs[1] - record.epochs[0])
    along = path * min(1.0, INPUT_ERROR / max(float(np.hypot(*path)), 1e-9))
    steps = np.array([-1.0, 0.0, 1.0])[:, None, None] * along
    apart = np.linalg.norm(_offsets_from(source, record.sources, epoch, year) + missed + steps, axis=-1)
    known = [s.values[magnitude] for s in record.sources if magnitude in s.values]
    faintest = max(known, default=0.0)
    level = np.array([s.values.get(magnitude, faintest) for s in record.sources])
    light = 10 ** (-0.4 * level) * light_in_fibre(apart, fibre)
    own = np.array([s.id == source.id for s in record.sources])
    shares = light[:, ~own] / light[:, own]
    most = shares[int(np.argmax(shares.sum(axis=1)))]
    return Blend(float(most.sum()), int((most >= BLEND).sum()))
