"""Labels of spectra and cases of a policy, from a real database and from a results file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agent.batch.labels import Labels, Row
from agent.batch.sources import SpectrumFile
from agent.trajectory import Drafter
from reviewer.rules.workflow import Rules
from reviewer.store import Draft, Store
from reviewer.trust.calibration import CalibrationError, calibration, for_fit, scoring
from reviewer.trust.cases import (
    CONTRADICTORY,
    DUPLICATE,
    LABEL_KNOWN,
    OTHER_RUN,
    SIMULATED,
    UNREADABLE,
    CasesError,
    file_reader,
    measured,
    reader_of,
    results_cases,
    stored_cases,
)
from reviewer.trust.labels import ContradictionError, label_of
from tests.support.campaign import Desk
from tests.support.drawn_traces import decide, revise
from tests.support.trust_campaign import POLICY, TASK, WAVELENGTH, fill, spectrum, trace, vote

PEOPLE = ("AA", "BB", "CC")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db") as store:
        for initials in PEOPLE:
            store.accounts.add_person(initials, f"Person {initials}", ("reviewer", "auditor", "coordinator"))
        store.settings.set_rules("AA", Rules(solo=True))
        yield store


def add(store: Store, *drafts: Draft) -> list[int]:
    return [one.item_id for one in store.items.add_all(drafts)]


def test_the_known_label_comes_first_then_approved_answers_then_sure_votes() -> None:
    assert label_of(["NO"], ["YES"], 0.99) == (False, "known")
    assert label_of([], ["YES", "YES"], 0.01) == (True, "approved")
    assert label_of([], [], 0.95) == (True, "votes")
    assert label_of([], [], 0.05) == (False, "votes")
    assert label_of([], [], 0.94) is None
    assert label_of([], [], 0.94, sure=0.9) == (True, "votes")
    assert label_of([], []) is None
    with pytest.raises(ContradictionError):
        label_of(["YES", "NO"], [])
    with pytest.raises(ContradictionError):
        label_of([], ["YES", "NO"])


def test_several_items_of_a_spectrum_are_samples_of_one_case(store: Store) -> None:
    one, other = spectrum(1), spectrum(2)
    traces = [trace(one, 3.0, "YES"), trace(one, 2.0, "YES"), trace(other, -3.0), trace(other, -2.0)]
    items = add(store, *(Draft(t, s) for t, s in zip(traces, (one, one, other, other), strict=True)))
    found = stored_cases(store, TASK, POLICY)
    assert [case.items for case in found.cases] == [tuple(items[:2]), tuple(items[2:])]
    assert found.policy.samples == 2
    assert [case.label.yes if case.label else None for case in found.cases] == [True, None]
    assert found.policy.settings == {"version": 1}
    done = measured(found, TASK, reader_of(store))
    assert done.cases[0].features.answer == pytest.approx(2.5)
    assert done.cases[0].reasons == ()
    assert done.cases[0].snr == pytest.approx(20.0, rel=0.02)


def test_contradictory_labels_other_settings_and_drafts_made_with_the_label_are_left_out(store: Store) -> None:
    spectra = [spectrum(number) for number in range(6)]
    told = replace(trace(spectra[3], 1.0), drafter=Drafter("model", POLICY, {"version": 1, "label_told": True}))
    other = replace(trace(spectra[4], 1.0), drafter=Drafter("baseline", POLICY, {"version": 2}))
    items = add(
        store,
        Draft(trace(spectra[0], 1.0, "YES"), spectra[0]),
        Draft(trace(spectra[1], 1.0, "YES"), spectra[1]),
        Draft(trace(spectra[1], 1.1, "NO", policy="another"), spectra[1]),
        Draft(trace(spectra[2], 1.0, simulated=True), spectra[2]),
        Draft(told, spectra[3]),
        Draft(other, spectra[4]),
        Draft(trace(spectra[5], -1.0), spectra[5]),
    )
    found = stored_cases(store, TASK, POLICY)
    assert [case.items for case in found.cases] == [(items[0],), (items[6],)]
    assert found.left_out == {
        CONTRADICTORY: (f"item {items[1]}",),
        SIMULATED: (f"item {items[3]}",),
        LABEL_KNOWN: (f"item {items[4]}",),
        OTHER_RUN: (f"item {items[5]}",),
    }


def test_the_label_is_that_of_the_approved_version_and_the_case_that_of_the_draft(store: Store) -> None:
    of = spectrum(1)
    (item,) = add(store, Draft(trace(of, -4.0), of))
    decide(store, "AA", item, "keep")
    version = store.items.get(item).version
    changed = version.trajectory.with_steps(
        (version.trajectory.steps[0], replace(version.trajectory.steps[1], verdict="YES", score=None))
    )
    Desk(store).save("AA", item, changed)
    for verb in ("submit", "pass", "approve"):
        decide(store, "AA", item, verb)
    (case,) = measured(stored_cases(store, TASK, POLICY), TASK, reader_of(store)).cases
    assert (case.label.yes, case.label.source) == (True, "approved")
    assert case.label.at is not None
    assert case.features.answer == -4.0


def test_a_rejected_trace_gives_no_label_and_is_counted(store: Store) -> None:
    of = spectrum(1)
    (item,) = add(store, Draft(trace(of, 4.0), of))
    decide(store, "AA", item, "reject", reason="bad_data")
    found = stored_cases(store, TASK, POLICY)
    assert found.cases[0].label is None
    assert found.no_label == 1


def test_votes_are_labels_once_three_people_determine_their_skills(store: Store) -> None:
    planted = fill(store, labelled=0, waiting=60)
    vote(store, PEOPLE, planted, right=0.95)
    found = stored_cases(store, TASK, POLICY)
    by_item = {case.items[0]: case.label for case in found.cases}
    sure = [one for one in planted if by_item[one.item] is not None]
    assert len(sure) > 40
    assert {by_item[one.item].source for one in sure} == {"votes"}
    right = sum(by_item[one.item].yes == one.yes for one in sure)
    assert right / len(sure) > 0.9


def test_cases_are_in_the_order_in_which_they_were_decided(store: Store) -> None:
    spectra = [spectrum(number) for number in range(3)]
    items = add(store, *(Draft(trace(spectrum, 3.0), spectrum) for spectrum in spectra))
    for item in reversed(items):
        decide(store, "AA", item, "keep")
        revise(store, "AA", item)
        for verb in ("submit", "pass", "approve"):
            decide(store, "AA", item, verb)
    assert [case.items[0] for case in stored_cases(store, TASK, POLICY).cases] == items[::-1]


def test_an_unknown_policy_is_refused_with_those_that_have_items(store: Store) -> None:
    fill(store, labelled=2, waiting=0)
    with pytest.raises(CasesError, match=f"policies with items: {POLICY}"):
        stored_cases(store, TASK, "gpt")


def results_file(folder: Path, *rows: tuple[str, object, object]) -> Path:
    """Write spectra as CSV files and their traces as a results file."""
    lines = []
    for name, of, log_odds in rows:
        errors = 1 / np.sqrt(of.ivar)
        pixels = zip(WAVELENGTH, of.flux, errors, strict=True)
        table = "\n".join(f"{wavelength},{flux},{error}" for wavelength, flux, error in pixels)
        (folder / name).write_text(f"wavelength,flux,error\n{table}\n")
        read = SpectrumFile(folder / name, "vacuum").read("")
        row = trace(read, log_odds).to_json() | {"source": {"file": name, "target": ""}, "sample": 0}
        lines.append(json.dumps(row))
    path = folder / "results.jsonl"
    path.write_text("\n".join(lines) + "\n")
    path.with_name("results.jsonl.run.json").write_text(json.dumps({"medium": "vacuum"}))
    return path


def test_a_results_file_with_labels_gives_the_same_cases(tmp_path: Path) -> None:
    a, b, c = spectrum(1), spectrum(2), spectrum(3)
    path = results_file(tmp_path, ("a.csv", a, 3.0), ("b.csv", b, -3.0), ("c.csv", c, 1.0))
    labels = Labels("labels.csv", [Row(2, "a.csv", "", "YES"), Row(3, "b.csv", "", "NO")])
    found = results_cases(path, labels, TASK)
    assert [case.source for case in found.cases] == [("a.csv", ""), ("b.csv", ""), ("c.csv", "")]
    assert [case.label.yes if case.label else None for case in found.cases] == [True, False, None]
    assert found.policy.medium == "vacuum"
    (tmp_path / "c.csv").write_text("gone")
    done = measured(found, TASK, file_reader(tmp_path, "vacuum"))
    assert [case.features.answer for case in done.cases if case.features] == [3.0, -3.0]
    assert done.left_out[UNREADABLE] == ("c.csv",)


def test_the_same_spectrum_in_two_files_counts_once_and_two_labels_of_it_leave_it_out(tmp_path: Path) -> None:
    of, other = spectrum(1), spectrum(2)
    # The same bytes under the same name in two folders are one spectrum.
    (tmp_path / "again").mkdir()
    path = results_file(tmp_path, ("a.csv", of, 3.0), ("b.csv", other, -3.0))
    first, second = path.read_text().splitlines()
    copy = json.loads(first) | {"source": {"file": "again/copy.csv", "target": ""}}
    path.write_text(f"{first}\n{second}\n{json.dumps(copy)}\n")
    once = results_cases(path, Labels("l", [Row(2, "a.csv", "", "YES")]), TASK)
    assert [case.source[0] for case in once.cases] == ["a.csv", "b.csv"]
    assert once.left_out == {DUPLICATE: ("again/copy.csv",)}
    labels = Labels("l", [Row(2, "a.csv", "", "YES"), Row(3, "copy.csv", "", "NO")])
    apart = results_cases(path, labels, TASK)
    assert [case.source[0] for case in apart.cases] == ["b.csv"]
    assert apart.left_out == {CONTRADICTORY: ("a.csv", "again/copy.csv")}


def test_measuring_in_processes_gives_the_same_cases_in_the_same_order(store: Store) -> None:
    fill(store, labelled=6, waiting=2)
    found = stored_cases(store, TASK, POLICY)
    done = []
    assert measured(found, TASK, reader_of(store), 2, done.append) == measured(found, TASK, reader_of(store))
    assert done == list(range(1, 9))


def test_no_spectrum_serves_the_fit_and_the_thresholds(store: Store) -> None:
    fill(store, labelled=260, waiting=20)
    found = measured(stored_cases(store, TASK, POLICY), TASK, reader_of(store))
    yes, no = ([case for case in found.cases if case.label and case.label.yes is kind] for kind in (True, False))
    with pytest.raises(CalibrationError, match="expected at least 10 of each"):
        scoring([*yes, *no[:6]], "fitted")
    chosen = scoring(found.cases)
    assert chosen.model.kind != "raw"
    made = calibration(found.cases, chosen.model)
    assert len(made.cases) == 280
    assert 0 < len(made.decided) < 260
    assert not any(for_fit(case) for case in made.decided)
    raw = calibration(found.cases, scoring(found.cases, "raw").model)
    assert len(raw.decided) == 260
    assert raw.sampling == "assumed random"
    assert np.array_equal(raw.labelled.yes, [case.label.yes for case in raw.decided])


def test_few_labels_are_not_fitted_and_a_wanted_fit_says_what_is_missing(store: Store) -> None:
    fill(store, labelled=30, waiting=0)
    found = measured(stored_cases(store, TASK, POLICY), TASK, reader_of(store))
    assert scoring(found.cases).model.kind == "raw"
    with pytest.raises(CalibrationError, match="expected at least 10 of each"):
        scoring(found.cases[:20], "fitted")
