"""The names of scorers in a report: nobody can compute them from what is published."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from random import Random

import pytest

from reviewer.blind.report.names import report_names
from reviewer.blind.results import Results
from reviewer.exchange.blind_report import as_zip
from reviewer.store import Store
from tests.support.blind_campaign import SCORERS, a_store, answer_one, key, opened


@pytest.fixture
def store(tmp_path: Path):
    with a_store(tmp_path / "annotations.db", 3) as store:
        session = opened(store, mode="both", repeats=1, each=3)
        for person in SCORERS:
            for work in store.blind.scoring.assignments(person):
                answer_one(store, person, work)
        store.blind.sessions.close("CO", session.id, key())
        yield store


def renewed(results: Results, seed: int) -> Results:
    """The same session with other random tokens."""
    rng = Random(seed)
    return replace(
        results, responses=tuple(replace(response, token=f"{rng.random()}") for response in results.responses)
    )


def test_the_order_follows_from_the_tokens_and_not_from_the_seed(store: Store) -> None:
    results = store.blind.results.of_session(None, 1)
    names = report_names(results, {}).scorers
    assert report_names(replace(results, responses=results.responses[::-1]), {}).scorers == names
    assert report_names(replace(results, plan=replace(results.plan, seed=99)), {}).scorers == names
    orders = {tuple(report_names(renewed(results, seed), {}).scorers) for seed in range(60)}
    assert orders == set(permutations(SCORERS))


def test_no_file_of_the_report_holds_a_token(store: Store) -> None:
    tokens = [response.token for response in store.blind.results.of_session(None, 1).responses]
    assert len(tokens) > 20
    with zipfile.ZipFile(io.BytesIO(as_zip(store, "CO", 1))) as packed:
        names = packed.namelist()
        assert "blind-session-1/session.json" in names
        for name in names:
            text = packed.read(name).decode("utf-8", "replace")
            assert [token for token in tokens if token in text] == [], name
