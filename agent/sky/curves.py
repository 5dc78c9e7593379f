"""Light curves of ZTF, from a local file or by position from the service of SNAD, and the period of a curve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from agent.http_client import HttpClient, RequestFailed
from agent.language import deferred, tr
from agent.measure.values import Undefined
from agent.sky.maps import bundled
from agent.sky.matching import Target, offsets, record_of, without_answer
from agent.sky.records import RADIUS, LightCurve, SkyError, SkyRecord, Source

ZTF = "ztf"
SERVICE = "https://db.ztf.snad.space"
SOUTH = -31.0
"""Declination in degrees to which ZTF reaches (Bellm et al. 2019 PASP 131, 018002)."""
MOST_POINTS = 2_000
SAME_STAR = 1.5
"""Arcseconds: ZTF has an object for each field, detector and band, all of one star."""
LEAST_POINTS = 20
LEAST_SPAN = 0.2
"""Days."""
SHORTEST = 18 / 1440
"""Days."""
PER_PEAK = 3
"""Frequencies in the width of a peak, 1 / span; the best ``CANDIDATES`` are then searched finely."""
MOST_FREQUENCIES = 690_000
CANDIDATES = 5
_CANARY = "633207400004730"  # an object that the service's own documentation names
_QUERY = f"objects within {RADIUS:g} arcsec in the latest release; epochs with catflags = 0 and magerr > 0"
_NUMBERS = ("ra", "dec", "mjd", "mag", "magerr")
_BANDS = {"zg": "g", "zr": "r", "zi": "i", "1": "g", "2": "r", "3": "i"}
_NAMES = {"band": ("filter", "filtercode", "band", "fid"), "id": ("id", "oid")}


def light_curves(
    targets: Iterable[Target], http: HttpClient | None = None, files: Sequence[Path] = (), service: str = SERVICE
) -> Iterator[SkyRecord]:
    """Yield the record of each target: of the first file that has epochs there, otherwise of the service.

    A source is a star, with its epochs of all fields and bands, and in ``values`` the number of ``epochs_left_out``:
    flagged ones, and those without a magnitude or an error above 0.

    :param http: None: the service is not queried
    :param files: CSV or Parquet with ``id`` (a target's key) or ``ra`` and ``dec``, and ``mjd``, ``mag``, ``magerr``,
        ``filter`` and, if known, ``catflags``
    :raises SkyError: a file cannot be read
    """
    local, is_trusted = {path: _read(path) for path in files}, False
    for target in targets:
        near = ((path.name, _sources(epochs, target)) for path, epochs in local.items())
        name, sources = next((each for each in near if each[1]), ("", []))
        if sources:
            yield record_of(bundled()[ZTF], target, sources, service=name, query="its epochs", queried_at=_now())
        elif http is None:
            yield without_answer(ZTF, target, "not asked", "it is in no file, and no service was to be queried")
        elif not target.is_position or target.dec < SOUTH:
            yield without_answer(ZTF, target, "not asked", f"no position of ZTF's sky, which ends at {SOUTH:g} degrees")
        else:
            record = _record(target, http, service, is_trusted)
            is_trusted = is_trusted or record.is_answer
            yield record


def _record(target: Target, http: HttpClient, service: str, is_trusted: bool) -> SkyRecord:
    facts: dict[str, Any] = {"service": service, "query": _QUERY, "queried_at": _now()}
    circle = {"ra": f"{target.ra:.7f}", "dec": f"{target.dec:.7f}", "radius_arcsec": f"{RADIUS:g}"}
    try:
        sources = _sources(_served(_answer(http, service, "circle/full", **circle)), target)
        if not (sources or is_trusted) and _CANARY not in _answer(http, service, "oid/meta", oid=_CANARY):
            raise RequestFailed(service, deferred("an object that it is known to have is missing"))
        return record_of(bundled()[ZTF], target, sources, **facts)
    except RequestFailed as error:
        reason = f"{error.sentence}"
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        reason = f"{service}: an answer in another form than SNAD's ({error!r:.80})"
    return without_answer(ZTF, target, "failed", reason, **facts)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _answer(http: HttpClient, service: str, what: str, **query: str) -> Any:
    return http.json(f"{service}/api/v3/data/latest/{what}/json", **query)


def _epochs(columns: Mapping[str, Any]) -> Any:
    """Return a record array of epochs, sorted by declination; ``good`` is False of those that are left out."""
    text = [np.asarray(columns[key]).astype(str) for key in ("id", "band")]
    numbers = [np.asarray(columns[key], np.float64) for key in _NUMBERS]
    flagged = np.asarray(columns.get("catflags", np.zeros(len(text[0]))), np.float64) != 0
    good = ~flagged & (numbers[-1] > 0) & np.isfinite(sum(numbers[2:]))
    names = ",".join(("id", "band", *_NUMBERS, "good"))
    epochs: Any = np.rec.fromarrays([*text, *numbers, good], names=names)  # type: ignore[call-overload]
    return epochs[np.argsort(epochs.dec, kind="stable")]


def _served(answer: Any) -> Any:
    """Return the epochs of SNAD's answer, by object; those that it leaves out are empty."""
    columns: dict[str, list[Any]] = {key: [] for key in ("id", "band", *_NUMBERS)}
    for key, each in answer.items():
        meta, good = each["meta"], each["lc"]
        number = max(len(good), int(meta["nobs"]))
        constant = {"id": key, "band": meta["filter"], "ra": meta["coord"]["ra"], "dec": meta["coord"]["dec"]}
        for name, value in constant.items():
            columns[name] += [value] * number
        for name in _NUMBERS[2:]:
            columns[name] += [epoch[name] for epoch in good] + [np.nan] * (number - len(good))
    return _epochs(columns)


def _read(path: Path) -> Any:
    import pyarrow as pa
    from pyarrow import csv, parquet

    try:
        table = (parquet.read_table if path.suffix == ".parquet" else csv.read_csv)(path)
    except (OSError, pa.ArrowException) as error:
        raise SkyError(
            tr("{path}: found no table ({error}); expected CSV or Parquet", path=path, error=error)
        ) from None
    given = {name.lower(): table[name].to_numpy(zero_copy_only=False) for name in table.column_names}
    columns = given | {to: given[name] for to, names in _NAMES.items() for name in names if name in given}
    missing = [name for name in ("mjd", "mag", "magerr", "band") if name not in columns]
    if "id" not in columns and not {"ra", "dec"} <= columns.keys():
        missing.append("id")
    if missing:
        names = ", ".join(missing)
        raise SkyError(tr("{path}: found no columns {names}; expected those of a light curve", path=path, names=names))
    nowhere = np.full(len(table), np.nan)
    try:
        return _epochs({"id": [""] * len(table), "ra": nowhere, "dec": nowhere} | columns)
    except ValueError as error:
        raise SkyError(tr("{path}: found {error}; expected numbers", path=path, error=error)) from None


def _sources(epochs: Any, target: Target) -> list[Source]:
    """Return the stars near a target; epochs without a position are at that of the target with their key."""
    band = RADIUS / 3600
    near = epochs[slice(*np.searchsorted(epochs.dec, (target.dec - band, target.dec + band)))]
    if (own := np.isnan(epochs.ra) & (epochs.id == target.key)).any():
        near = epochs[own]
        near["ra"], near["dec"] = target.ra, target.dec
    at = offsets(target.ra, target.dec, near.ra, near.dec)
    order = np.argsort(np.hypot(*at.T), kind="stable")
    sources = []
    while order.size and np.hypot(*at[order[0]]) <= RADIUS:
        first = order[0]
        same = np.hypot(*(at[order] - at[first]).T) <= SAME_STAR
        star, order = near[np.sort(order[same])], order[~same]
        ra, dec = float(near.ra[first]), float(near.dec[first])
        left_out = {"epochs_left_out": float((~star.good).sum())}
        sources.append(Source("+".join(np.unique(star.id)), ra, dec, 0.0, left_out, curve=_curve(star)))
    return sources


def _curve(star: Any) -> LightCurve | None:
    """Return the good epochs in the order of time, of very many an even selection."""
    good = star[star.good]
    order = np.argsort(good.mjd, kind="stable")
    if order.size > MOST_POINTS:
        order = order[np.linspace(0, order.size - 1, MOST_POINTS).round().astype(int)]
    bands = tuple(_BANDS.get(band, band) for band in good.band[order].tolist())
    mjd, mag, error = (tuple(column[order].tolist()) for column in (good.mjd, good.mag, good.magerr))
    return LightCurve(mjd, mag, error, bands) if order.size else None


@dataclass(frozen=True)
class Period:
    """The best period of a light curve in one band.

    :param amplitude: of the sine, mag: half of its range
    :param false_alarm: probability that constant light with white noise gives a peak as high anywhere in the search
        (Baluev 2008 MNRAS 385, 1279); noise that lasts for nights gives high peaks more often
    """

    days: float
    amplitude: float
    false_alarm: float
    points: int


def period_of(curve: LightCurve, band: str) -> Period | Undefined:
    """Return the period of the sine with a free mean that fits best (Lomb-Scargle), significant or not.

    From ``SHORTEST`` to the span of the curve; of spans above 7.9 years the shortest period grows with the span. Light
    curves of one site have aliases: with f also f ± 1/d fits well, and near one and half a day, and near a month, peaks
    are rarely of the star. Two equal minima, as of eclipsing and ellipsoidal stars, give half of the orbital period.
    """
    from astropy.timeseries import LombScargle

    own = np.array(curve.band) == band
    mjd, mag, error = (np.array(column)[own] for column in (curve.mjd, curve.magnitude, curve.error))
    span = float(np.ptp(mjd)) if mjd.size else 0.0
    if mjd.size < LEAST_POINTS or span < LEAST_SPAN or np.ptp(mag) == 0:
        return Undefined(deferred("{n} points of band {band} over {span:.1f} d", n=mjd.size, band=band, span=span))
    fit = LombScargle(mjd - mjd[0], mag, error)
    number = min(int((1 / SHORTEST - 1 / span) * PER_PEAK * span), MOST_FREQUENCIES)
    grid = (1 + np.arange(number) / PER_PEAK) / span
    # eps: the error of the fast sums, far below the power of any peak; it is five times as fast as with the default.
    sums = {"trig_sum_kwds": {"algorithm": "lra", "eps": 1e-3}}
    power = fit.power(grid, method="fast", assume_regular_frequency=True, method_kwds=sums)
    best = grid[np.argsort(power)[-CANDIDATES:]]
    near = (best[:, None] + np.linspace(-1, 1, 21) / (PER_PEAK * span)).ravel()
    power = fit.power(near, method="slow")
    frequency = float(near[power.argmax()])
    alarm = fit.false_alarm_probability(power.max(), method="baluev", maximum_frequency=float(grid[-1]))
    _, *sine = fit.model_parameters(frequency)
    return Period(1 / frequency, float(np.hypot(*sine)), float(alarm), int(mjd.size))
