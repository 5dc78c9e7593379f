"""A campaign with a little of everything, and its catalogue, made once for all tests."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent import tasks
from agent.loop import run
from agent.policies.baseline.rule import Baseline
from agent.simulate import simulate
from agent.sky.records import LightCurve, SkyRecord, Source
from agent.spectrum import Spectrum
from agent.trajectory import Answer, Trajectory
from agent.trust.certificate import write
from agent.trust.features import Features
from agent.trust.score import RAW
from reviewer.catalogue.bundle import build
from reviewer.catalogue.facts import Wish
from reviewer.rules.inspection import Inspection
from reviewer.store import Draft, Store
from reviewer.store.trust_values import ScoreRow
from reviewer.trust.certificates import FOLDER
from tests.support.certificates import certificate
from tests.support.drawn_traces import a_store, approve, decide

CV = tasks.load()["cv"]


@dataclass(frozen=True)
class Campaign:
    """A database, its items by what became of them, a saved list, and its catalogue."""

    db: Path
    items: dict[str, int]
    view: int
    bundle: Path


def a_cv(seed: int, observed: str = "", **changes: Any) -> Spectrum:
    """A simulated CV that says it was observed, ``observed`` as its header has the date."""
    given: dict[str, Any] = {"survey": "LAMOST", "catalogue_class": "", "ids": {}, "snr": {}} | changes
    meta = {"date-obs": observed} if observed else {}
    return replace(simulate("cv", "LAMOST", 20.0, seed), name=f"spec-{seed:02d}.fits", meta=meta, **given)


def traced(spectrum: Spectrum, verdict: str = "YES") -> Trajectory:
    trace = run(spectrum, CV, Baseline())
    *steps, answer = trace.steps
    assert isinstance(answer, Answer)
    return replace(trace, steps=(*steps, replace(answer, verdict=verdict)), simulated=False)


def record(spectrum: Spectrum) -> SkyRecord:
    values = {"G": 18.2, "G_error": 0.01, "BP": 18.4, "RP": 17.9, "parallax": 2.5, "parallax_error": 0.1}
    curve = LightCurve((58000.0, 58001.0), (18.0, 18.2), (0.1, 0.1), ("g", "g"))
    source = Source("4455667788", spectrum.ra or 0.0, spectrum.dec or 0.0, 0.2, values, curve=curve)
    place = {"ra": spectrum.ra, "dec": spectrum.dec, "epochs": (2016.0, 2016.0)}
    service = "https://gea.esac.esa.int/tap-server/tap"
    return SkyRecord("gaia_dr3", "found", **place, service=service, queried_at="2026-11-01", sources=(source,))


@pytest.fixture(scope="session")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    folder = tmp_path_factory.mktemp("catalogue")
    db = folder / "annotations.db"
    here = {"ra": 123.456789, "dec": -2.5}
    spectra = {
        "first epoch": a_cv(1, **here, observed="2020-01-01", ids={"obsid": "101"}),
        "second epoch": a_cv(2, **here, observed="2021-06-01T12:00:00", ids={"obsid": "102"}, snr={"r": 900.0}),
        "no epoch": a_cv(3, **here),
        "Ürsa α": a_cv(4, ra=10.0, dec=80.25, redshift=None),
        "nowhere": a_cv(5, ra=None, dec=None),
        "rejected": a_cv(6, ra=20.0, dec=1.0),
        "open": a_cv(7, ra=21.0, dec=1.0),
        "nobody can tell": a_cv(8, ra=22.0, dec=1.0),
        "simulated": a_cv(9, ra=23.0, dec=1.0),
    }
    with a_store(db) as store:
        items = {name: _added(store, name, spectrum) for name, spectrum in spectra.items()}
        for name in ("first epoch", "second epoch", "no epoch", "Ürsa α", "nowhere", "simulated"):
            approve(store, items[name], confirmed=int(name == "no epoch"))  # its text says YES
        decide(store, "AA", items["rejected"], "reject", reason="wrong_class")
        decide(store, "AA", items["nobody can tell"], "reject", reason="cannot_tell")
        inspection = Inspection("BB", z=0.0001234, quality=3, issues="R", spectype="STAR")
        store.inspections.add(item_id=items["second epoch"], inspection=inspection, key="k1")
        store.sky.add((spectrum.sha256, record(spectrum)) for spectrum in [spectra["second epoch"]])
        features = Features(vote=1.1, answer=3.0, log_snr=1.2).to_json()
        rows = [ScoreRow(items["second epoch"], RAW.p_yes(Features.from_json(features)), features)]
        store.trust.record_scores("AA", "cv", RAW.to_json(), rows)
        chosen = [items[name] for name in ("second epoch", "rejected")]
        view = store.views.create(person="AA", name="Tonight's", items=chosen, shared=True)
    (folder / FOLDER).mkdir()
    write(certificate(surveys=("LAMOST",)), folder / FOLDER / "cv.json")
    bundle = folder / "bundle"
    authors = ("Ada Öther", "Bo Böhm & Co")
    with Store.open(db) as store:
        build(store, Wish(CV, title="Ten CVs", authors=authors, licence="CC-BY-4.0"), bundle)
    return Campaign(db, items, view.id, bundle)


def _added(store: Store, name: str, spectrum: Spectrum) -> int:
    verdict = "NO" if name == "no epoch" else "YES"
    trace = replace(traced(spectrum, verdict), simulated=name == "simulated")
    return store.items.add_all([Draft(trace, spectrum, batch="first")])[0].item_id


@pytest.fixture
def numbers(campaign: Campaign) -> dict[str, object]:
    return json.loads((campaign.bundle / "numbers.json").read_text(encoding="utf-8"))


def is_equal(first: object, second: object) -> bool:
    """Whether two cells of a table are equal: missing ones are, and numbers that differ by rounding of binary."""
    first, second = (None if np.ma.is_masked(value) or value in ("", None) else value for value in (first, second))
    if first is None or second is None:
        return first is second or (isinstance(first or second, float) and np.isnan(float(first or second)))  # type: ignore[arg-type]
    if isinstance(second, float):
        return bool(np.isclose(float(first), second, rtol=0, atol=1e-12))  # type: ignore[arg-type]
    return str(first) == str(second)
