"""Light curves: of a service that answers rightly and wrongly, of local files; periods of curves of known truth."""

from contextlib import closing

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from agent.http_client import HttpClient
from agent.measure.values import Undefined
from agent.sky.curves import LEAST_POINTS, MOST_POINTS, Period, light_curves, period_of
from agent.sky.matching import Target, on_sky
from agent.sky.records import LightCurve, SkyError
from tests.agent.archives.server import Cut, Instead, Service, Stall, Status

CIRCLE = "/api/v3/data/latest/circle/full/json"
CANARY = "/api/v3/data/latest/oid/meta/json"
HERE = Target("a" * 64, 10.0, 30.0)


def zobject(band: str, east: float, points: int, left_out: int = 0) -> dict[str, object]:
    """An object of the service, ``east`` arcseconds from ``HERE``; its epochs are not in the order of time."""
    ra, dec = on_sky(HERE.ra, HERE.dec, east, 0.0)
    epochs = [{"mjd": 58000.0 + (7 * n) % points, "mag": 18.0, "magerr": 0.02, "clrcoeff": 0.1} for n in range(points)]
    return {"meta": {"nobs": points + left_out, "filter": band, "coord": {"ra": ra, "dec": dec}}, "lc": epochs}


OBJECTS = {
    "101": zobject("zg", 0.3, 30, left_out=4),
    "201": zobject("zr", 0.2, 50),
    "301": zobject("zi", 6.0, 20, left_out=1),
    "401": zobject("zg", 10.4, 20),
}


def snad(objects: object = OBJECTS) -> Service:
    return Service({CIRCLE: lambda query, body: objects, CANARY: lambda query, body: {query["oid"]: {}}})


def records(service: Service, *targets: Target, timeout: float = 20.0, files=()):
    with closing(HttpClient(0.0, timeout)) as http:
        return list(light_curves(targets or (HERE,), http, files, service.url))


def test_the_objects_of_a_star_are_one_source():
    with snad() as service:
        (record,) = records(service)
    star, other = record.sources
    assert (record.status, star.id, other.id) == ("found", "101+201", "301")
    assert (star.separation, other.separation) == (pytest.approx(0.2, abs=1e-3), pytest.approx(6.0, abs=1e-3))
    assert (star.values, other.values) == ({"epochs_left_out": 4.0}, {"epochs_left_out": 1.0})
    assert (star.curve.band.count("g"), star.curve.band.count("r"), set(other.curve.band)) == (30, 50, {"i"})
    assert star.curve.mjd == tuple(sorted(star.curve.mjd))
    assert record.queried_at
    assert "10.0" not in record.query


def test_a_long_curve_is_thinned_evenly():
    with snad({"1": zobject("zr", 0.0, 2 * MOST_POINTS)}) as service:
        (record,) = records(service)
    times = np.array(record.sources[0].curve.mjd)
    assert (len(times), times[-1] - times[0], np.diff(times).max()) == (MOST_POINTS, 2 * MOST_POINTS - 1, 3.0)


def test_no_object_is_not_found_only_of_a_service_that_knows_one():
    with snad({}) as service:
        assert [record.status for record in records(service, HERE, HERE)] == ["not found"] * 2
        assert [request.path for request in service.requests] == [CIRCLE, CANARY, CIRCLE]
    with Service({CIRCLE: lambda query, body: {}, CANARY: lambda query, body: {}}) as service:
        (record,) = records(service)
    assert (record.status, "known to have is missing" in record.detail) == ("failed", True)


def test_what_is_not_queried():
    with snad() as service:
        south, nowhere = records(service, Target("b", 10.0, -40.0), Target("c", 400.0, 0.0))
        (without,) = light_curves([HERE])
        assert service.requests == []
    assert [record.status for record in (south, nowhere, without)] == ["not asked"] * 3


@pytest.mark.parametrize("path", [CIRCLE, CANARY])
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (Status(500), "HTTP 500"),
        (Status(404), "HTTP 404"),
        (Stall(), "no answer within"),
        (Instead(), "a web page in place of JSON"),
        (Instead(b"[[1]]"), "an answer in another form|is missing"),
        (Instead(b'{"1": {"meta": {"nobs": 3}}}'), "an answer in another form|is missing"),
        (Cut(1), "the answer broke off"),
    ],
)
def test_a_failure_is_never_not_found(path, wrong, words):
    with snad({} if path == CANARY else OBJECTS) as service:
        service.wrong[path] = [wrong] * 9
        (failed,) = records(service, timeout=0.1 if isinstance(wrong, Stall) else 20)
        service.wrong.clear()
        (right,) = records(service)
    assert (failed.status, right.status) == ("failed", "not found" if path == CANARY else "found")
    assert any(word in failed.detail for word in words.split("|")), failed.detail


def table_of(**columns: object) -> pa.Table:
    number = 8
    given = {"MJD": 58000.0 + np.arange(number)[::-1], "mag": np.full(number, 17.0), "magerr": np.full(number, 0.1)}
    return pa.table(given | {"filter": ["zg", "zr"] * 4, "catflags": [0] * 6 + [32768, 1]} | columns)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_local_epochs_come_before_the_service(ending, tmp_path):
    path = tmp_path / f"curves.{ending}"
    write = csv.write_csv if ending == "csv" else parquet.write_table
    away = Target("b", 50.0, 30.0)
    with snad({}) as service:
        write(table_of(ra=np.full(8, HERE.ra), dec=np.full(8, HERE.dec + 1 / 3600)), path)
        near, elsewhere = records(service, HERE, away, files=[path])
        write(table_of(id=["b"] * 8), path)
        unnamed, named = records(service, HERE, away, files=[path])
    assert [each.status for each in (near, elsewhere, unnamed, named)] == ["found", "not found", "not found", "found"]
    assert (near.service, near.sources[0].separation) == (path.name, pytest.approx(1.0, abs=1e-3))
    for record in (near, named):
        assert record.sources[0].values == {"epochs_left_out": 2.0}
        assert record.sources[0].curve.mjd == tuple(58002.0 + n for n in range(6))
    assert (named.sources[0].ra, named.sources[0].separation) == (50.0, 0.0)


def test_a_file_of_other_columns_is_refused(tmp_path):
    path = tmp_path / "curves.csv"
    csv.write_csv(table_of().drop_columns(["mag", "filter"]), path)
    with pytest.raises(SkyError, match=r"curves\.csv: found no columns mag, band, id; expected those of a light curve"):
        list(light_curves([HERE], files=[path]))
    csv.write_csv(table_of(id=["b"] * 8, mag=["bright"] * 8), path)
    with pytest.raises(SkyError, match=r"curves\.csv: found .*bright.*; expected numbers"):
        list(light_curves([HERE], files=[path]))
    with pytest.raises(SkyError, match=r"absent\.csv: found no table"):
        list(light_curves([HERE], files=[tmp_path / "absent.csv"]))


ERROR = 0.02


def sine(phase: np.ndarray) -> np.ndarray:
    return np.sin(2 * np.pi * phase)


def eclipses(phase: np.ndarray) -> np.ndarray:
    return 2.0 * (np.abs(phase - 0.5) < 0.06) + 1.0 * ((phase < 0.06) | (phase > 0.94))


def constant(phase: np.ndarray) -> np.ndarray:
    return 0.0 * phase


def observed(shape, period: float, seed: int, points: int = 150, span: int = 300) -> LightCurve:
    """A curve of an amplitude of 5σ, seen once in a night of the season, with the truth ``period``."""
    rng = np.random.default_rng(seed)
    nights = np.flatnonzero(np.arange(span) % 365 < 250)
    times = np.sort(rng.choice(nights, points, replace=False) + rng.normal(0.3, 0.08, points))
    mags = 18 + 5 * ERROR * shape((times / period + rng.uniform()) % 1) + rng.normal(0, ERROR, points)
    return LightCurve(tuple(58000 + times), tuple(mags), (ERROR,) * points, ("r",) * points)


def periods(rng: np.random.Generator, number: int, longest: float) -> list[float]:
    return (10 ** rng.uniform(np.log10(0.02), np.log10(longest), number)).tolist()


def is_of(found: Period, period: float, span: float) -> bool:
    return abs(1 / found.days - 1 / period) < 1 / span


def test_periods_of_sines_and_eclipses():
    sines = [(period_of(observed(sine, period, seed), "r"), period) for seed, period in enumerate((0.05, 0.61, 37.0))]
    assert all(is_of(found, period, 300) for found, period in sines)
    assert all(found.amplitude == pytest.approx(5 * ERROR, rel=0.1) for found, _ in sines)
    assert all(found.false_alarm < 1e-10 for found, _ in sines)
    eclipsing = period_of(observed(eclipses, 1.37, 5), "r")
    assert is_of(eclipsing, 1.37 / 2, 300) or is_of(eclipsing, 1.37, 300)
    again = period_of(observed(eclipses, 1.37, 5), "r")
    assert (again.days, again.false_alarm) == (eclipsing.days, eclipsing.false_alarm)


def test_no_period_of_few_points_another_band_or_equal_magnitudes():
    curve = observed(sine, 0.5, 1, points=LEAST_POINTS - 1)
    assert period_of(curve, "r") == Undefined(f"19 points of band r over {np.ptp(curve.mjd):.1f} d")
    same = observed(sine, 0.5, 1)
    equal = LightCurve(same.mjd, (18.0,) * 150, same.error, same.band)
    assert isinstance(period_of(same, "g"), Undefined)
    assert isinstance(period_of(equal, "r"), Undefined)


@pytest.mark.long
def test_share_of_periods_and_false_alarms():
    rng = np.random.default_rng(1)
    sines = [is_of(period_of(observed(sine, p, n), "r"), p, 300) for n, p in enumerate(periods(rng, 50, 100.0))]
    assert np.mean(sines) >= 0.9
    binaries = [(period_of(observed(eclipses, p, n), "r"), p) for n, p in enumerate(periods(rng, 50, 10.0))]
    assert np.mean([any(is_of(found, p / k, 300) for k in (1, 2, 3, 4)) for found, p in binaries]) >= 0.9
    alarms = np.array([period_of(observed(constant, 1.0, n), "r").false_alarm for n in range(200)])
    for promised in (0.05, 0.2):
        assert (alarms < promised).sum() <= 200 * promised + 3 * np.sqrt(200 * promised)


@pytest.mark.live_services
def test_the_real_service():
    with closing(HttpClient()) as http:
        (record,) = light_curves([Target("a", 10.0, 30.0)], http)
    assert record.status in ("found", "not found"), record.detail
