"""Labels of the ordered queue in a certificate: which of them count, with which model, and what it is compared with."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

from agent.trust.plans import Plan, Stratum
from agent.trust.score import RAW, ScoreModel, Term
from agent.trust.sides import Requirements
from agent.trust.suspension import monitor_of
from reviewer.cli.certify import ordering_model, record
from reviewer.rules.workflow import Rules
from reviewer.store import Draft, QueueFilter, Store
from reviewer.trust.calibration import Calibration, Scoring, calibration, scoring
from reviewer.trust.cases import CaseList, measured, reader_of, stored_cases
from reviewer.trust.certificates import certificate_of
from reviewer.trust.figures import scored_list, sides_of
from reviewer.trust.showings import NARROWER, NOT_SHOWN, OTHER_ITEMS, OTHER_SCORES, Shown
from reviewer.trust.statement import assumptions, without_label
from tests.support.drawn_traces import decide, revise
from tests.support.trust_campaign import POLICY, TASK, fill, spectrum, trace

CV = QueueFilter(task="cv")
WANTED = Requirements(method="anytime")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "annotations.db"
    with Store.open(path) as store:
        store.accounts.add_person("AA", "Person AA", ("reviewer", "auditor", "coordinator"))
        store.settings.set_rules("AA", Rules(solo=True))
        fill(store, labelled=0, waiting=40)
        record(store, "AA", TASK, scoring(cases(store).cases, "raw"), cases(store))
    return path


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Iterator[Store]:
    with Store.open(Path(shutil.copyfile(made, tmp_path / "annotations.db"))) as store:
        yield store


def cases(store: Store) -> CaseList:
    return measured(stored_cases(store, TASK, POLICY), TASK, reader_of(store))


def approve(store: Store, item: int) -> None:
    decide(store, "AA", item, "keep")
    revise(store, "AA", item)
    for verb in ("submit", "pass", "approve"):
        decide(store, "AA", item, verb)


def show(store: Store, filter: QueueFilter = CV) -> int:
    found = store.triage.show(person="AA", filter=filter, key=uuid4().hex)
    return found.item


def calibrated(store: Store) -> tuple[CaseList, Calibration]:
    found = cases(store)
    return found, calibration(found.cases, RAW)


def test_without_a_showing_all_labels_count_as_random(store: Store) -> None:
    for item in (3, 5):
        approve(store, item)
    _, made = calibrated(store)
    assert (made.sampling, len(made.decided), made.labelled.shown) == ("assumed random", 2, (None, None))
    assert len(made.pool) == 40


def test_after_a_showing_only_labels_with_a_known_probability_count(store: Store) -> None:
    chosen = []
    for _ in range(3):
        chosen.append(show(store))
        approve(store, chosen[-1])
    approve(store, next(item for item in range(1, 41) if item not in chosen))
    found, made = calibrated(store)
    assert made.sampling == "logged"
    assert {case.items[0] for case in made.decided} == set(chosen)
    assert all(plan is not None for plan in made.labelled.shown)
    assert dict(made.not_counted) == {NOT_SHOWN: 1}
    # The bound speaks of the list without the spectrum that somebody chose.
    assert len(made.pool) == 39
    text = " ".join(assumptions(found, made, WANTED))
    assert f"1 label does not count: {NOT_SHOWN}." in text
    panel = scored_list(store, "cv", POLICY)
    assert len(panel.calibration.decided) == len(made.decided)
    assert len(panel.calibration.pool) == 39


def test_a_showing_from_a_narrower_list_has_no_weight(store: Store) -> None:
    approve(store, show(store, QueueFilter(task="cv", text="spec-0000")))
    _, made = calibrated(store)
    assert (made.sampling, len(made.decided), dict(made.not_counted)) == ("logged", 0, {NARROWER: 1})


def test_a_list_with_items_of_another_policy_needs_the_filter_of_the_policy(store: Store) -> None:
    of = spectrum(900)
    store.items.add_all([Draft(trace(of, 1.0, policy="another"), of)])
    other = measured(stored_cases(store, TASK, "another"), TASK, reader_of(store))
    record(store, "AA", TASK, scoring(other.cases, "raw"), other)
    approve(store, show(store, QueueFilter(task="cv", drafter=POLICY)))
    assert len(calibrated(store)[1].decided) == 1
    while (item := show(store)) == 41:
        pass
    approve(store, item)
    _, made = calibrated(store)
    assert (len(made.decided), dict(made.not_counted)) == (1, {OTHER_ITEMS: 1})


def test_the_model_of_the_queue_is_that_of_the_policy_also_after_another_policy_was_scored(store: Store) -> None:
    of = spectrum(900)
    store.items.add_all([Draft(trace(of, 1.0, policy="another"), of)])
    other = measured(stored_cases(store, TASK, "another"), TASK, reader_of(store))
    scaled = ScoreModel("scaled", 0.5, (Term("answer", 0.0, 1.0, 2.0, 0.0),))
    record(store, "AA", TASK, Scoring(scaled, None, "made up"), other)
    assert store.trust.scored("cv").sha256 == scaled.sha256
    assert ordering_model(store, cases(store)) == RAW
    assert ordering_model(store, other) == scaled


def test_labels_are_weighted_by_the_model_of_the_queue_alone(store: Store) -> None:
    for _ in range(3):
        approve(store, show(store))
    found = cases(store)
    model = ordering_model(store, found)
    assert model is not None
    chosen = scoring(found.cases, "auto", model)
    assert (chosen.model, chosen.fit) == (RAW, None)
    assert "the model that ordered the queue (raw)" in chosen.why
    plan = Plan((Stratum(0.0, 0.5, 30, 0.4), Stratum(0.5, 1.0, 10, 0.6)), 0.2)
    shown = Shown(plan, plan.probability(0.9))
    assert shown.problem_with(0.8) == ""
    assert shown.problem_with(0.4) == OTHER_SCORES


def test_new_scores_are_compared_with_the_list_and_not_with_chosen_cases(store: Store) -> None:
    for _ in range(4):
        approve(store, show(store))
    panel = scored_list(store, "cv", POLICY)
    made = certificate_of(
        panel.listed, panel.model, panel.calibration, sides_of(panel, WANTED), WANTED, store.database.now()
    )
    assert (made.sampling, made.calibration_yes, len(made.calibration)) == ("logged", None, 40)
    assert len(set(made.spectra)) == 40
    assert {len(spectrum) for spectrum in made.spectra} == {16}
    assert set(monitor_of(made).evidence()) == {"scores"}


def test_for_spectra_decided_without_a_label_nothing_is_promised(store: Store) -> None:
    decide(store, "AA", 7, "reject", reason="bad_data")
    approve(store, 3)
    found, made = calibrated(store)
    assert found.no_label == 1
    assert len(made.pool) == 39
    text = without_label(found, made, ())
    assert "nothing is promised for spectra like the 1 that people decided without a label" in text
    assert "0 of them are called YES and 0 NO" in text
    panel = scored_list(store, "cv", POLICY)
    made_file = certificate_of(panel.listed, RAW, made, sides_of(panel, WANTED), WANTED, store.database.now())
    assert made_file.labels.without == 1
    assert "Nothing is promised for cases like the 1" in made_file.statement()
    assert np.isfinite(made.pool).all()
