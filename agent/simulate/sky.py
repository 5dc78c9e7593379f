"""Records of catalogues for simulated spectra, drawn from the spectrum's own source and the class of the object.

Optical magnitudes are those of the noiseless source. Luminosity, motion, infrared colours and variability are typical
of kind and state (``sky.toml``). The position lies in the records only: a position in the spectrum would let it be
looked up in real catalogues. For the appearance of a class; no model of the Galaxy.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, get_args

import numpy as np
from numpy.random import Generator
from pydantic import Field

from agent.language import deferred
from agent.measure import Measured
from agent.settings_file import Number, Problem, Table, load_toml, validate
from agent.simulate import source_of
from agent.simulate.profiles import FloatArray
from agent.sky.facts import KM_S, ZERO_POINT
from agent.sky.maps import CatalogueMap, bundled
from agent.sky.matching import EARLIEST, Target, moved, on_sky, record_of
from agent.sky.photometry import Survey, synthetic
from agent.sky.plane import line
from agent.sky.records import RADIUS, LightCurve, Sky, SkyError, Source
from agent.spectrum import Spectrum

FILE = Path(__file__).with_name("sky.toml")
FLUX_UNIT = "1e-17 erg/s/cm2/Angstrom"
CATALOGUES = ("gaia_dr3", "twomass", "allwise", "sdss_dr16", "ps1_dr1", "ztf")
OPTICAL = ("G", "BP", "RP", "u", "g", "r", "i", "z", "y")
INFRARED = ("J", "H", "Ks", "W1", "W2", "W3", "W4")
_EXTINCTION = (0.72, 0.46, 0.306, 0.18, 0.16, 0.0, 0.0)  # per E(B-V) (Yuan et al. 2013 MNRAS 430, 2188)
_LIMITS = {
    # 5 sigma: SDSS (York et al. 2000 AJ 120, 1579), y of Pan-STARRS1 (Chambers et al. 2016), 2MASS (Skrutskie et al.
    # 2006 AJ 131, 1163), AllWISE (Cutri et al. 2013).
    "u": 22.2, "g": 23.1, "r": 22.7, "i": 22.2, "z": 20.7, "y": 21.3, "J": 16.6, "H": 15.9, "Ks": 15.1, "W1": 16.9,
    "W2": 16.0, "W3": 11.5, "W4": 8.0,
}  # fmt: skip
_SATURATED = 14.0  # mag, of SDSS and Pan-STARRS1
_ZTF = (12.5, 20.6)  # mag, Bellm et al. 2019 PASP 131, 018002
_GAIA_LIMIT = 21.0
_GAIA_ZERO = {"G": 25.6874, "BP": 25.3385, "RP": 24.7479}  # mag of 1 electron/s (Riello et al. 2021 A&A 649, A3)
# Errors of parallax (mas) and proper motion (mas/yr) by G (Lindegren et al. 2021 A&A 649, A2).
_GAIA_ERRORS = ((14, 15, 17, 20, 21), (0.025, 0.04, 0.07, 0.5, 1.3), (0.025, 0.04, 0.07, 0.5, 1.4))
_SPEED = {"young": 12.0, "disc": 35.0, "thick": 60.0, "halo": 160.0, "none": 0.0}
"""1σ in km/s of each component across the sky, drift included (Bland-Hawthorn & Gerhard 2016 ARA&A 54, 529)."""
_DISC = 4.0  # kpc from the plane; beyond is the halo
_BLENDS = 0.04
"""Share of objects with another star near enough, and bright enough, to fall into the fibre."""

Light = Literal["constant", "flicker", "outburst", "orbital", "mira", "irregular", "drift"]


class _Population(Table):
    kind: str
    state: str = ""
    weight: Number = 1.0
    locus: str = ""
    magnitude: tuple[Number, Number] | None = None
    infrared: str = "dwarf"
    motion: Literal["young", "disc", "thick", "halo", "none"] = "disc"
    light: Light = "constant"


class _File(Table):
    population: tuple[_Population, ...]
    infrared: Mapping[str, Annotated[tuple[tuple[Number, ...], ...], Field(min_length=2)]]


@dataclass(frozen=True)
class Truth:
    """A source of light without noise: what was drawn for an object, which no record has.

    :param magnitudes: apparent, with extinction, of all bands, for both meanings of g, r, i and z; empty: blank sky
    :param distance: kpc; None outside the Galaxy, as ``absolute_magnitude`` (M_G)
    :param pm: mas/yr, east and north
    :param mjd: times of the light curve, ``variation`` the change of magnitude, ``period`` in days if it has one
    """

    ra: float
    dec: float
    magnitudes: Mapping[Survey, Mapping[str, float]]
    distance: float | None = None
    pm: tuple[float, float] = (0.0, 0.0)
    absolute_magnitude: float | None = None
    period: float | None = None
    mjd: FloatArray = field(default_factory=lambda: np.zeros(1))
    variation: FloatArray = field(default_factory=lambda: np.zeros(1))


@cache
def _file() -> _File:
    def error(problem: Problem) -> SkyError:
        return SkyError(problem.sentence)

    return validate(_File, load_toml(FILE, error), FILE.name, error)


def sky_of(spectrum: Spectrum) -> Sky:
    """Return a record of each of ``CATALOGUES`` for a spectrum of ``agent.simulate.simulate``; equal spectra give
    equal records. All say that they are simulated.

    :raises SkyError: the spectrum is not one of those
    """
    truth = truth_of(spectrum)
    rng = _generator(spectrum, "target")
    observed = rng.uniform(2010, 2023)
    # The position comes from an input catalogue of an unknown epoch.
    ra, dec = moved(truth.ra, truth.dec, *truth.pm, rng.uniform(EARLIEST, observed) - 2016.0)
    target = Target(spectrum.sha256, *on_sky(ra, dec, *rng.normal(0, 0.1, 2)), (EARLIEST, observed))
    others, records = _field(truth, rng), []
    for catalogue in (bundled()[key] for key in CATALOGUES if key in bundled()):
        own = _generator(spectrum, catalogue.key)
        stars = [truth, *others] if catalogue.role == "astrometry" else [truth]
        sources = [_source(catalogue, star, own) for star in stars if star.magnitudes]
        near = [source for source in sources if source is not None]
        records.append(record_of(catalogue, target, near, service="simulation", simulated=True))
    return Sky.of(records)


def truth_of(spectrum: Spectrum) -> Truth:
    """Return what is drawn for the object of a simulated spectrum. :raises SkyError: as ``sky_of``"""
    try:
        source = source_of(spectrum)
    except KeyError:
        raise SkyError(
            deferred("{name}: found no simulated spectrum; expected one of `spec-o3 simulate`", name=spectrum.name)
        ) from None
    rng, kind, state = _generator(spectrum, "object"), spectrum.meta["kind"], spectrum.meta["state"]
    rows = [row for row in _file().population if row.kind == kind and row.state in ("", state)]
    if not rows:
        return Truth(*_position(rng, "disc", 0.0), {})  # blank sky
    weights = np.array([row.weight for row in rows])
    row = rows[int(rng.choice(len(rows), p=weights / weights.sum()))]
    bare = _optical(source.wavelength, source.intrinsic, OPTICAL[:3], "sdss2010")
    sdss = _optical(source.wavelength, source.flux, OPTICAL, "sdss2010")
    ps1 = sdss | _optical(source.wavelength, source.flux, "griz", "panstarrs")
    g, colour = bare["G"], bare["BP"] - bare["RP"]
    shift = 0.0
    if spectrum.flux_unit == "relative":
        # S/N 10 at 17.5 mag; against sky and read noise the flux must rise faster than the S/N.
        goal = 17.5 - 3.5 * math.log10(float(spectrum.snr["median"]) / 10) + rng.normal(0, 0.4)
        shift = float(np.clip(goal, 9.0, 19.5)) - sdss["G"]
    absolute, distance, motion, pm = None, None, row.motion, (0.0, 0.0)
    if row.magnitude is not None:
        locus = line(row.locus) if row.locus else None
        on_line = 0.0 if locus is None else float(np.interp(colour, locus.bp_rp, locus.absolute_magnitude))
        absolute = on_line + float(rng.normal(*row.magnitude))
        distance, farthest = 10 ** (0.2 * (g + shift - absolute) - 2), rng.uniform(2, 12)
        if spectrum.flux_unit == "relative" and distance > farthest:
            # A luminous star, observed for a shorter time. Where the flux is absolute, the star is where it must be.
            shift, distance = shift - 5 * math.log10(distance / farthest), float(farthest)
    infrared = _infrared(row.infrared, g, colour, float(spectrum.meta["e_bv"] or 0), rng)
    magnitudes: dict[Survey, dict[str, float]] = {
        survey: {name: m + shift for name, m in (bands | infrared).items()}
        for survey, bands in zip(get_args(Survey), (sdss, ps1), strict=True)
    }
    ra, dec = _position(rng, row.motion, distance or math.inf)
    if distance is not None:
        if motion != "young" and distance * abs(math.sin(_latitude(ra, dec))) > _DISC:
            motion = "halo"
        east, north = rng.normal(0, _SPEED[motion], 2) / KM_S / distance
        pm = (float(east), float(north))
    mjd = np.sort(rng.choice(np.arange(58_200, 60_000), 150, replace=False) + rng.uniform(0.1, 0.5, 150))
    mjd = mjd[mjd % 365.25 > 90]  # a season without nights
    variation, period = _variation(row.light, mjd, rng)
    return Truth(ra, dec, magnitudes, distance, pm, absolute, period, mjd, variation)


def _generator(spectrum: Spectrum, purpose: str) -> Generator:
    meta = spectrum.meta
    return np.random.default_rng(
        [int(meta["seed"] or 0), *(zlib.crc32(str(t).encode()) for t in (meta["kind"], purpose))]
    )


def _optical(wavelength: FloatArray, flux: FloatArray, names: Sequence[str], survey: Survey) -> dict[str, float]:
    source = Spectrum(wavelength, flux, np.full(flux.size, 1e12), flux_unit=FLUX_UNIT)
    return {name: m.value for name, m in synthetic(source, names, survey).items() if isinstance(m, Measured)}


def _infrared(key: str, g: float, colour: float, e_bv: float, rng: Generator) -> dict[str, float]:
    table = np.array(_file().infrared[key])
    colours = np.array([np.interp(colour, table[:, 0], column) for column in table[:, 1:].T])
    bare = g - np.cumsum(colours + rng.normal(0, 0.04, len(INFRARED)))
    return dict(zip(INFRARED, map(float, bare + e_bv * np.array(_EXTINCTION)), strict=True))


def _latitude(ra: float, dec: float) -> float:
    """Return the Galactic latitude in radians; the pole is at 192.859°, +27.128° (J2000)."""
    pole, delta = math.radians(27.12825), math.radians(dec)
    return math.asin(
        math.sin(delta) * math.sin(pole) + math.cos(delta) * math.cos(pole) * math.cos(math.radians(ra - 192.85948))
    )


def _position(rng: Generator, motion: str, distance: float) -> tuple[float, float]:
    """Return a place on the sky: of young stars within 200 pc or 3° of the plane, of the halo and galaxies 20° off."""
    while True:
        ra, dec = float(rng.uniform(0, 360)), math.degrees(math.asin(rng.uniform(-1, 1)))
        latitude = abs(_latitude(ra, dec))
        if motion == "young" and latitude > 0.05 and distance * math.sin(latitude) > 0.2:
            continue
        if motion in ("none", "halo") and latitude < 0.35:
            continue
        return ra, dec


def _variation(light: Light, days: FloatArray, rng: Generator) -> tuple[FloatArray, float | None]:
    """Return the change of magnitude at each time, 0 when the spectrum was taken, and the period in days if any."""
    noise = rng.normal(size=days.size)
    phase = 2 * np.pi * rng.random()
    match light:
        case "constant":
            return np.zeros(days.size), None
        case "flicker":
            return 0.15 * noise, None
        case "outburst":
            # Otulakowska-Hypka et al. 2016 MNRAS 460, 2526: 2 to 5 mag, every 20 to 300 days.
            since = (days + rng.uniform(0, 300)) % rng.uniform(20, 300)
            return 0.12 * noise - rng.uniform(2, 5) * (since < 12) * np.exp(-((since / 9) ** 4)), None
        case "orbital" | "mira":
            lowest, highest, least, most, own = (
                (0.055, 0.4, 0.05, 0.3, 0.05) if light == "orbital" else (150, 500, 1.2, 3, 0.1)
            )
            period = float(rng.uniform(lowest, highest))
            return rng.uniform(least, most) * np.sin(2 * np.pi * days / period + phase) + own * noise, period
        case "irregular":
            waves = sum(
                np.sin(2 * np.pi * days / p + f)
                for p, f in zip(rng.uniform(30, 150, 3), rng.uniform(0, 6, 3), strict=True)
            )
            return rng.uniform(0.02, 0.12) * waves, None
        case "drift":
            # A damped random walk, 0.2 mag, 150 days (MacLeod et al. 2010 ApJ 721, 1014).
            walk = np.zeros(days.size)
            for i, step in enumerate(np.diff(days), 1):
                kept = math.exp(-step / 150)
                walk[i] = kept * walk[i - 1] + 0.2 * math.sqrt(1 - kept**2) * noise[i]
            return walk, None


def _field(truth: Truth, rng: Generator) -> list[Truth]:
    """Return other stars: 3500 per square degree at the poles and 250,000 in the plane to G 21, about Gaia's counts."""
    density = 3_500 + 2.5e5 * math.exp(-abs(math.degrees(_latitude(truth.ra, truth.dec))) / 8)
    number, stars = rng.poisson(density * math.pi * (RADIUS / 3600) ** 2), []
    blended = bool(truth.magnitudes) and rng.random() < _BLENDS
    for i in range(number + blended):
        apart, g = RADIUS * math.sqrt(rng.random()), 21 + math.log10(rng.random()) / 0.3
        if i == number:
            apart, g = rng.uniform(0.4, 1.3), truth.magnitudes["sdss2010"]["G"] + rng.uniform(0, 2)
        angle, distance = rng.uniform(0, 2 * np.pi), rng.uniform(0.3, 6)
        colour = float(np.clip(rng.normal(1.2, 0.4), 0.4, 3))
        east, north = rng.normal(0, 45, 2) / KM_S / distance
        at = on_sky(truth.ra, truth.dec, apart * math.sin(angle), apart * math.cos(angle))
        bands = {"G": g, "BP": g + 0.45 * colour, "RP": g - 0.55 * colour}
        stars.append(Truth(*at, {"sdss2010": bands, "panstarrs": bands}, distance, (float(east), float(north))))
    return stars


def _source(catalogue: CatalogueMap, star: Truth, rng: Generator) -> Source | None:
    """Return what a catalogue has of a star; None if it is too faint, or too bright, for it."""
    bands = star.magnitudes["panstarrs" if catalogue.key.startswith(("ps1", "panstarrs", "ztf")) else "sdss2010"]
    values: dict[str, float] = {}
    curve = _curve(bands, star, rng) if catalogue.role == "light curve" else None
    if catalogue.role == "astrometry":
        values = _gaia(bands, star, rng)
    elif catalogue.role == "photometry":
        for name in sorted(bands.keys() & _LIMITS.keys()):
            error = math.hypot(0.02, 0.2 * 10 ** (0.4 * (bands[name] - _LIMITS[name])))
            if error < 0.25 and (name in INFRARED or bands[name] > _SATURATED):
                values |= {name: float(bands[name] + rng.normal(0, error)), f"{name}_error": error}
    values = {name: round(value, 5) for name, value in values.items() if name in catalogue.columns}
    if not values and curve is None:
        return None
    ra, dec = moved(star.ra, star.dec, *star.pm, catalogue.epoch - 2016.0)
    ra, dec = on_sky(ra, dec, *rng.normal(0, catalogue.position_error, 2))
    return Source(str(rng.integers(10**17, 10**18)), round(ra, 8), round(dec, 8), 0.0, values, {}, curve)


def _gaia(bands: Mapping[str, float], star: Truth, rng: Generator) -> dict[str, float]:
    g, distance = bands["G"], star.distance
    if g > _GAIA_LIMIT:
        return {}
    number = int(np.clip(rng.normal(300, 90), 60, 900))
    # Scatter of single measurements of G: Riello et al. 2021.
    scatter = math.hypot(0.003, 0.02 * 10 ** (0.26 * (g - 19)), float(star.variation.std()))
    errors = {"G": scatter / math.sqrt(number)}
    errors |= {name: math.hypot(0.003, 0.02 * 10 ** (0.35 * (bands[name] - 18))) for name in ("BP", "RP")}
    values = {name: float(bands[name] + rng.normal(0, error)) for name, error in errors.items()}
    light = {name: 10 ** (-0.4 * (values[name] - zero)) for name, zero in _GAIA_ZERO.items()}
    values["bp_rp_excess"] = (light["BP"] + light["RP"]) / light["G"]
    values |= {"g_observations": float(number), "g_flux_over_error": 2.5 / math.log(10) / errors["G"]}
    if g > 20.8 or (distance is None and rng.random() < 0.1):
        return values  # a solution of two parameters
    plx, pm = (10 ** np.interp(g, _GAIA_ERRORS[0], np.log10(e)) * rng.lognormal(0, 0.15) for e in _GAIA_ERRORS[1:])
    parallax = 0.0 if distance is None else 1 / distance
    values |= {"parallax": float(parallax + ZERO_POINT + rng.normal(0, plx)), "parallax_error": float(plx)}
    for name, motion in zip(("pm_ra", "pm_dec"), star.pm, strict=True):
        values |= {name: float(motion + rng.normal(0, pm)), f"{name}_error": float(pm)}
    binary = distance is not None and rng.random() < 0.08
    values["ruwe"] = float(rng.uniform(1.4, 4) if binary else rng.normal(1.02, 0.05))
    return values


def _curve(bands: Mapping[str, float], star: Truth, rng: Generator) -> LightCurve | None:
    points: list[tuple[float, float, float, str]] = []
    for name, share in (("g", 1.0), ("r", 0.8)):
        if name in bands and _ZTF[0] < bands[name] < _ZTF[1]:
            level = bands[name] + share * star.variation
            errors = np.hypot(0.012, 0.2 * 10 ** (0.4 * (level - _ZTF[1])))
            rows = zip(star.mjd.round(5), rng.normal(level, errors).round(4), errors.round(4), strict=True)
            points += [(float(t), float(m), float(e), name) for t, m, e in rows if e < 0.25]
    return LightCurve(*zip(*sorted(points), strict=True)) if points else None
