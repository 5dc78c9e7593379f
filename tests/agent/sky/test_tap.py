"""Catalogues of TAP services: right answers, and every failure as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from agent.sky.fetching import MOST_FAILURES, NO_MOTION, Answers, Fetching
from agent.sky.maps import CatalogueMap, bundled
from agent.sky.matching import Target, moved
from agent.sky.records import SkyRecord
from agent.sky.tap import Manners, TapClient
from tests.support.cli import free_port
from tests.support.services.fake_tap import FAULTS, FakeTap, catalogue_table, serving

KEYS = ("gaia_dr3", "twomass", "allwise", "sdss_dr16", "ps1_dr1", "simbad", "vsx")
QUICK = Manners(pause=0, first_wait=0, longest_wait=0)
IMPATIENT = Manners(pause=0, first_wait=0, longest_wait=0, timeout=0.05)
"""For a service that never answers."""


def at_service(key: str, service: FakeTap, url: str | None = None) -> CatalogueMap:
    catalogue = bundled()[key]
    assert catalogue.service is not None
    return catalogue.model_copy(update={"service": catalogue.service.model_copy(update={"url": url or service.url})})


def targets_at(ra: np.ndarray, dec: np.ndarray, epochs: tuple[float, float] = (2000.0, 2020.0)) -> list[Target]:
    return [Target(f"{n:064x}", float(a), float(d), epochs) for n, (a, d) in enumerate(zip(ra, dec, strict=True))]


def run(
    folder: Path, catalogues: list[CatalogueMap], targets: list[Target], manners: Manners = QUICK, **options: object
) -> dict[tuple[str, str], SkyRecord]:
    fetching = Fetching(
        {each.key: each for each in catalogues},
        [each.key for each in catalogues],
        client=TapClient(manners),
        **options,  # type: ignore[arg-type]
    )
    with Answers(folder / "sky.parquet") as answers:
        for _ in fetching.run(targets, answers):
            pass
    return Answers(folder / "sky.parquet").records


@pytest.fixture(scope="module")
def service() -> Iterator[FakeTap]:
    """Sources at RA 10.0, 10.1 ... Dec 20 and a second one 3″ north of each."""
    ra, dec = np.repeat(10 + np.arange(6) / 10, 2), np.full(12, 20.0) + np.tile([0, 3 / 3600], 6)
    tables = {}
    for key in KEYS:
        where = bundled()[key].service
        assert where is not None
        tables[where.table] = catalogue_table(bundled()[key], ra, dec)
    with serving(tables) as running:
        yield running


@pytest.fixture
def quiet(service: FakeTap) -> Iterator[FakeTap]:
    service.requests.clear()
    yield service
    service.fault = None


def test_every_catalogue_answers_with_all_sources_within_the_radius_in_one_request(
    quiet: FakeTap, tmp_path: Path
) -> None:
    targets = targets_at(np.array([10.0, 10.1, 50.0]), np.array([20.0, 20.0, -20.0]))
    records = run(tmp_path, [at_service(key, quiet) for key in KEYS], targets)
    assert Counter((record.catalogue, record.status) for record in records.values()) == {
        (key, status): number for key in KEYS for status, number in (("found", 2), ("not found", 1))
    }
    gaia = records[targets[0].key, "gaia_dr3"]
    assert [round(source.separation, 2) for source in gaia.sources] == [0.0, 3.0]
    assert gaia.sources[0].id == str(10**15)
    assert "CONTAINS" in gaia.query
    assert "20.0" not in gaia.query
    assert set(gaia.sources[0].values) == set(bundled()["gaia_dr3"].columns)
    assert records[targets[0].key, "simbad"].sources[0].texts["otype"] == "T0"
    assert records[targets[0].key, "vsx"].sources[0].texts.keys() == {"Name", "Type", "Period"}
    assert len(quiet.requests) == len(KEYS)
    assert all(agent.startswith("spec-o3/") for agent in quiet.agents)


def test_a_fast_star_is_followed_by_its_motion_to_each_catalogue(tmp_path: Path) -> None:
    """1″/yr: the file's position is of 1998, Gaia's 18″ away, and 2MASS and SDSS saw it at epochs of their own."""
    motion, at_2016 = (800.0, -600.0), (120.0, 40.0)
    epochs = {"gaia_dr3": 2016.0, "twomass": 2000.9, "sdss_dr16": 2001.2}
    tables = {}
    for key, epoch in epochs.items():
        where = bundled()[key].service
        assert where is not None
        ra, dec = moved(*at_2016, *motion, epoch - 2016)
        tables[where.table] = catalogue_table(
            bundled()[key], [ra], [dec], pm_ra=[motion[0]], pm_dec=[motion[1]], epoch=[epoch]
        )
    target = targets_at(*np.array([moved(*at_2016, *motion, -18.0)]).T, epochs=(1998.0, 2020.0))
    with serving(tables) as service:
        records = run(tmp_path, [at_service(key, service) for key in epochs], target)
    assert {record.catalogue: record.status for record in records.values()} == dict.fromkeys(epochs, "found")
    assert max(record.sources[0].separation for record in records.values()) < 0.02


def test_a_slow_source_far_away_is_not_returned_though_a_fast_one_is(quiet: FakeTap, tmp_path: Path) -> None:
    targets = targets_at(np.array([10.0]), np.array([20.0 + 15 / 3600]))
    records = run(tmp_path, [at_service("gaia_dr3", quiet)], targets)
    assert records[targets[0].key, "gaia_dr3"].status == "not found"


def planted(number: int, service: FakeTap, folder: Path) -> dict[tuple[str, str], SkyRecord]:
    """Let a service fail in a way drawn by number, and return the records."""
    rng = np.random.default_rng(number)
    kinds = [*FAULTS, "refused", "TLS"]
    kind = kinds[number % len(kinds)]
    url = {
        "refused": f"http://127.0.0.1:{free_port() if kind == 'refused' else 1}/tap",
        "TLS": service.url.replace("http:", "https:"),
    }.get(kind)
    service.fault, service.rng = FAULTS.get(kind), rng
    catalogue = at_service(str(rng.choice(KEYS)), service, url)
    chosen = rng.choice(6, size=int(rng.integers(1, 4)), replace=False)
    targets = targets_at(10 + np.sort(chosen) / 10, np.full(len(chosen), 20.0))
    return run(folder, [catalogue], targets, IMPATIENT if kind == "no answer in time" else QUICK)


def check_planted(numbers: range, service: FakeTap, folder: Path) -> None:
    wrong = {}
    for number in numbers:
        (folder / str(number)).mkdir()
        records = planted(number, service, folder / str(number))
        if any(record.status != "failed" or not record.detail for record in records.values()) or not records:
            wrong[number] = [(record.status, record.detail) for record in records.values()]
    assert wrong == {}


def test_each_kind_of_failure_is_failed_and_says_why(quiet: FakeTap, tmp_path: Path) -> None:
    check_planted(range(len(FAULTS) + 2), quiet, tmp_path)


@pytest.mark.long
def test_300_planted_failures_are_300_failed_records(quiet: FakeTap, tmp_path: Path) -> None:
    check_planted(range(1000, 1300), quiet, tmp_path)


def test_a_refusal_for_now_is_tried_again(quiet: FakeTap, tmp_path: Path) -> None:
    def busy_twice(reply: object, rng: object) -> None:
        if len(quiet.requests) < 3:
            FAULTS["HTTP status with a table"](reply, np.random.default_rng(1))  # type: ignore[arg-type]
            reply.status = 503  # type: ignore[attr-defined]

    quiet.fault = busy_twice
    records = run(tmp_path, [at_service("gaia_dr3", quiet)], targets_at(np.array([10.0]), np.array([20.0])))
    assert [record.status for record in records.values()] == ["found"]


def test_a_crowded_batch_is_halved_until_the_service_returns_all_rows(quiet: FakeTap, tmp_path: Path) -> None:
    quiet.most_rows = 5
    targets = targets_at(10 + np.arange(6) / 10, np.full(6, 20.0))
    try:
        records = run(tmp_path, [at_service("gaia_dr3", quiet)], targets)
    finally:
        quiet.most_rows = 10**6
    assert [len(record.sources) for record in records.values()] == [2] * 6


def test_after_failures_in_a_row_the_rest_is_left_and_the_next_run_asks_only_that(
    quiet: FakeTap, tmp_path: Path
) -> None:
    targets = targets_at(10 + np.arange(5) / 10, np.full(5, 20.0))
    catalogues = [at_service("gaia_dr3", quiet), at_service("twomass", quiet)]

    def after_the_first(reply: object, rng: object) -> None:
        if len(quiet.requests) > 1:
            FAULTS["HTML"](reply, np.random.default_rng(0))  # type: ignore[arg-type]

    quiet.fault = after_the_first
    records = run(tmp_path, catalogues, targets, batch=1)
    assert [record.status for record in records.values() if record.catalogue == "gaia_dr3"] == [
        "found",
        *["failed"] * MOST_FAILURES,
        "not asked",
    ]
    assert [record.detail for record in records.values() if record.catalogue == "twomass"][1:] == [NO_MOTION] * 4
    quiet.fault = None
    quiet.requests.clear()
    records = run(tmp_path, catalogues, targets, batch=10)
    assert {record.status for record in records.values()} == {"found"}
    assert [len(sent) - 1 for _, sent in quiet.requests] == [4, 5]


def test_a_failed_refresh_keeps_the_earlier_answer(quiet: FakeTap, tmp_path: Path) -> None:
    targets = targets_at(np.array([10.0]), np.array([20.0]))
    before = run(tmp_path, [at_service("gaia_dr3", quiet)], targets)
    quiet.fault = FAULTS["HTML"]
    fetching = Fetching({"gaia_dr3": at_service("gaia_dr3", quiet)}, ["gaia_dr3"], client=TapClient(QUICK))
    with Answers(tmp_path / "sky.parquet", refresh=True) as answers:
        assert sum(fetching.run(targets, answers)) == 1
    latest = answers.latest(targets[0].key, "gaia_dr3")
    assert latest is not None
    assert latest.status == "failed"
    assert Answers(tmp_path / "sky.parquet").records == before
