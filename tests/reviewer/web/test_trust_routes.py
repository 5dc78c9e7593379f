"""The routes of the Trust section: numbers, refusals, roles, and what stays hidden from whom."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from agent.trust.certificate import Certificate
from agent.trust.score import ScoreModel
from agent.trust.suspension import Suspension, suspend
from reviewer.cli.certify import record
from reviewer.store import Draft, ScoreRow, Store
from reviewer.trust import figures
from reviewer.trust.calibration import scoring
from reviewer.trust.cases import measured, reader_of, stored_cases
from reviewer.trust.figures import scored_list
from tests.reviewer.web.conftest import client_of
from tests.support.drawn_traces import a_store, decide
from tests.support.trust_campaign import POLICY, TASK, Planted, fill, probability, spectrum, trace, vote

pytestmark = pytest.mark.usefixtures("without_page")

TRUST = "/api/v1/progress/trust"
WHICH = {"task": "cv", "policy": POLICY}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with a_store(tmp_path / "annotations.db") as store:
        store.accounts.add_person("RE", "Rosa Eder", ["reviewer"])
        yield store


def score(store: Store) -> None:
    """What ``spec-o3 certify --score raw`` stores."""
    found = measured(stored_cases(store, TASK, POLICY), TASK, reader_of(store))
    record(store, None, TASK, scoring(found.cases, "raw"), found)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Planted]]:
    """A database of 300 labelled items and 100 that wait, all scored, and what is in it."""
    path = tmp_path_factory.mktemp("trust") / "annotations.db"
    with a_store(path) as store:
        store.accounts.add_person("RE", "Rosa Eder", ["reviewer"])
        planted = fill(store, labelled=300, waiting=100)
        score(store)
    return path, planted


@pytest.fixture
def large_store(large: tuple[Path, list[Planted]], tmp_path: Path) -> Iterator[Store]:
    with Store.open(shutil.copyfile(large[0], tmp_path / "annotations.db")) as store:
        yield store


def test_without_scores_the_page_gets_the_command(store: Store) -> None:
    empty = client_of(store, "AA").get(TRUST).json()
    assert (empty["scored"], empty["policies"], empty["command"]) == (None, [], None)
    fill(store, labelled=3, waiting=0)
    found = client_of(store, "AA").get(TRUST).json()
    assert found["scored"] is None
    assert found["command"] == f"spec-o3 certify --db {store.path.resolve()} --task cv --policy '{POLICY}'"
    assert "coordinator" in found["why_not"]
    refused = client_of(store, "AA").get(f"{TRUST}/thresholds", params=WHICH)
    assert refused.status_code == 404
    assert "spec-o3 certify" in refused.json()["error"]


def test_thresholds_counts_and_rates_follow_the_labels(large_store: Store, large: tuple[Path, list[Planted]]) -> None:
    client = client_of(large_store, "AA")
    overview = client.get(TRUST).json()
    assert overview["policies"] == [{"name": POLICY, "items": 400, "scored": 400}]
    assert sum(bar["n"] for bar in overview["reliability"]["bins"]) == 300
    found = client.get(f"{TRUST}/thresholds", params=WHICH).json()
    yes = next(side["threshold"] for side in found["sides"] if side["verdict"] == "YES")
    assert yes is not None
    assert found["counts"]["yes"] == sum(probability(item.log_odds) >= yes for item in large[1])
    assert sum(found["counts"].values()) == 400
    assert "95 %" in found["promise"]
    assert {rate["name"] for rate in found["rates"]} == {"Prevalence", "YES in the unflagged", "Recall"}
    strict = client.get(f"{TRUST}/thresholds", params=WHICH | {"alpha_yes": 0.001, "alpha_no": 0.001}).json()
    assert [side["threshold"] for side in strict["sides"]] == [None, None]
    assert strict["counts"] == {"yes": 0, "no": 0, "ask": 400}
    assert strict["promise"] == ""
    assert "not certified" in strict["sides"][0]["text"]
    for wrong in ({"alpha_yes": 0}, {"alpha_no": 1}, {"delta": "x"}):
        assert client.get(f"{TRUST}/thresholds", params=WHICH | wrong).status_code in (400, 422), wrong


def test_figures_that_are_kept_are_shown_in_the_language_of_each_request(large_store: Store) -> None:
    client = client_of(large_store, "AA")
    chinese = {"Accept-Language": "zh-CN"}
    for path in (TRUST, f"{TRUST}/thresholds"):
        first = client.get(path, params=WHICH).json()
        other = client.get(path, params=WHICH, headers=chinese).json()
        again = client.get(path, params=WHICH).json()
        assert first == again
        assert first["rates"][0]["name"] in ("Labels", "Prevalence")
        assert other["rates"][0]["name"] in ("标签", "普遍率")
        assert not re.search("[\u4e00-\u9fff]", json.dumps(first, ensure_ascii=False))
    assert other["promise"].startswith("两项陈述各自的置信度 95 %：")
    assert all(re.search("[\u4e00-\u9fff]", text) for text in (*other["assumptions"], other["sides"][0]["text"]))
    file = client.get(f"{TRUST}/certificate", params=WHICH, headers=chinese)
    # A certificate is a document, in English.
    assert not re.search("[\u4e00-\u9fff]", file.text)


def test_each_policy_is_shown_by_the_model_of_its_own_scores(store: Store) -> None:
    fill(store, labelled=20, waiting=10)
    others = [spectrum(900_000 + number) for number in range(3)]
    store.items.add_all([Draft(trace(of, 1.0, "YES", policy="another"), of) for of in others])
    found = {name: measured(stored_cases(store, TASK, name), TASK, reader_of(store)) for name in (POLICY, "another")}
    models = {
        POLICY: ScoreModel("isotonic", knots=((-9.0, 0.1), (9.0, 0.9))),
        "another": ScoreModel("isotonic", knots=((-9.0, 0.2), (9.0, 0.8))),
    }
    for name in (POLICY, "another"):
        rows = [ScoreRow(case.items[0], 0.5, case.features.to_json()) for case in found[name].cases]
        store.trust.record_scores(None, "cv", models[name].to_json(), rows)
    listed = [scored_list(store, "cv", name) for name in models]
    assert [scores and scores.model for scores in listed] == list(models.values())
    client = client_of(store, "AA")
    for name, number in ((POLICY, 30), ("another", 3)):
        shown = client.get(TRUST, params={"task": "cv", "policy": name}).json()
        assert (shown["policy"], shown["scored"]["text"].split(",")[0]) == (name, f"{number} spectra")
        assert client.get(f"{TRUST}/thresholds", params={"task": "cv", "policy": name}).status_code == 200
    assert [(policy["name"], policy["scored"]) for policy in shown["policies"]] == [(POLICY, 30), ("another", 3)]


def test_a_coordinator_downloads_a_certificate_that_can_be_read_and_a_reviewer_does_not(large_store: Store) -> None:
    client = client_of(large_store, "AA")
    given = client.get(f"{TRUST}/certificate", params=WHICH)
    assert given.headers["content-disposition"].startswith('attachment; filename="cv-')
    made = Certificate.from_json(given.json())
    assert (made.task, made.policy.name, made.labels.n, made.requirements.method) == ("cv", POLICY, 300, "anytime")
    assert made.surveys == ("LAMOST",)
    reviewer = client_of(large_store, "RE")
    refused = reviewer.get(f"{TRUST}/certificate", params=WHICH)
    assert refused.status_code == 403
    overview = reviewer.get(TRUST).json()
    assert overview["may_download"] is False
    assert overview["skill"] is None
    strict = WHICH | {"alpha_yes": 0.001, "alpha_no": 0.001}
    assert client.get(f"{TRUST}/certificate", params=strict).status_code == 404


def test_skill_is_for_coordinators_and_undefined_without_three_votes(store: Store) -> None:
    planted = fill(store, labelled=0, waiting=30)
    score(store)
    client = client_of(store, "AA")
    assert client.get(TRUST).json()["skill"]["reason"] == "no votes"
    vote(store, ("AA", "BB", "CC"), planted, right=0.9)
    skill = client.get(TRUST).json()["skill"]
    assert (skill["reason"], [row["person"] for row in skill["rows"]]) == ("", ["AA", "BB", "CC"])
    assert skill["rows"][0]["votes"] == 30


def suspects(client: TestClient) -> dict:
    return client.get(f"{TRUST}/suspects", params=WHICH).json()


def test_a_label_that_may_be_wrong_is_listed_once_every_item_of_its_spectrum_is_decided(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, labelled=60, waiting=0)
    of = spectrum(999_999)
    (added,) = store.items.add_all([Draft(trace(of, 9.0, "NO"), of, batch="own")])
    item = added.item_id
    score(store)
    client = client_of(store, "AA")
    before = suspects(client)
    assert (before["total"] >= 1, before["items"]) == (True, [])
    assert "not listed" in before["hidden"]
    decide(store, "BB", item, "reject", reason="bad_data")
    (suspect,) = suspects(client)["items"]
    assert (suspect["item"], suspect["label"], suspect["source"]) == (item, "NO", "known beforehand")
    (other,) = store.items.add_all([Draft(trace(of, 9.0, policy="another"), of, batch="own")])
    reopened = suspects(client)
    assert (reopened["items"], reopened["total"] >= 1) == ([], True)
    decide(store, "BB", other.item_id, "reject", reason="bad_data")
    assert [suspect["item"] for suspect in suspects(client)["items"]] == [item]
    # Neither these nor any other figures of a policy are for a person who scores blind.
    hidden, real = frozenset([item]), store.blind.scoring.hidden_items
    monkeypatch.setattr(store.blind.scoring, "hidden_items", lambda person: hidden if person == "RE" else real(person))
    assert [suspect["item"] for suspect in suspects(client)["items"]] == [item]
    for path in ("suspects", "thresholds"):
        for policy in (POLICY, "no such policy"):
            refused = client_of(store, "RE").get(f"{TRUST}/{path}", params=WHICH | {"policy": policy})
            assert (refused.status_code, "You score in a blind session" in refused.json()["error"]) == (403, True)


def test_the_figures_are_kept_until_the_next_entry_of_the_log(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, labelled=20, waiting=0)
    score(store)
    client = client_of(store, "AA")
    calls = []
    real = figures.scored_list
    monkeypatch.setattr(figures, "scored_list", lambda *given: calls.append(given) or real(*given))
    for _ in range(3):
        client.get(TRUST)
    assert len(calls) == 1
    fill(store, labelled=1, waiting=0, seed=1)
    client.get(TRUST)
    assert len(calls) == 2


def test_certificates_beside_the_database_show_their_state(large_store: Store) -> None:
    client = client_of(large_store, "AA")
    folder = large_store.path.parent / "certificates"
    folder.mkdir()
    text = client.get(f"{TRUST}/certificate", params=WHICH).text
    (folder / "cv.json").write_text(text)
    (folder / "broken.json").write_text("{}")
    made = Certificate.from_json(json.loads(text))
    broken, valid = client.get(TRUST).json()["certificates"]
    assert (broken["file"], broken["state"], broken["is_valid"]) == ("broken.json", "cannot be read", False)
    assert (valid["file"], valid["state"], valid["is_valid"]) == ("cv.json", "in force", True)
    suspend(folder / "cv.json", Suspension(made.sha256, "new case 12", "scores", "Scores changed.", "2026-11-24"))
    suspended = client.get(TRUST).json()["certificates"][1]
    assert (suspended["state"], suspended["is_valid"]) == ("suspended", False)
    assert "since new case 12 by scores" in suspended["text"]
