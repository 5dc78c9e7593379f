"""``spec-o3 certify``: printed text, JSON, exit status, stored scores and the certificate file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import app
from agent.trial.report import Trial
from agent.trust.certificate import EvidenceCounts, read
from agent.trust.suspension import Suspension, suspend, suspension
from reviewer.store import Draft, Store, TrialRow
from tests.support.drawn_traces import a_removal, a_store
from tests.support.trust_campaign import POLICY, Planted, fill, probability, spectrum, trace


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with a_store(tmp_path / "annotations.db") as store:
        yield store


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Planted]]:
    """A database with 300 labelled spectra."""
    path = tmp_path_factory.mktemp("filled") / "annotations.db"
    with a_store(path) as store:
        return path, fill(store, labelled=300, waiting=0)


@pytest.fixture
def labelled(filled: tuple[Path, list[Planted]], tmp_path: Path) -> Iterator[Store]:
    with Store.open(Path(shutil.copyfile(filled[0], tmp_path / "labelled.db"))) as store:
        yield store


def certify(capsys, store: Store, *arguments: object) -> tuple[int, str]:
    given = ["certify", "--db", str(store.path), "--processes", "1", *map(str, arguments)]
    status = app.main(given)
    captured = capsys.readouterr()
    return status, captured.out or captured.err


def test_a_certificate_is_written_with_its_promise_and_the_scores_are_stored(capsys, store: Store) -> None:
    planted = fill(store, labelled=300, waiting=50)
    path = store.path.parent / "cv.json"
    status, out = certify(capsys, store, "--task", "cv", "--score", "raw", "--out", path)
    assert status == 0
    assert "350 spectra, 300 with a label (300 known beforehand)" in out
    assert "promised: With a confidence of 95 %" in out
    assert "labels that count: 300 (" in out
    assert "YES), assumed to be a random sample" in out
    assert "assumed: The 300 labelled spectra are a random sample of the list" in out
    assert "not promised" not in out
    assert f"certificate: {path}" in out
    made = read(path)
    assert (made.policy.name, made.labels.n, made.sampling, made.requirements.method) == (
        POLICY,
        300,
        "assumed random",
        "fixed",
    )
    scores = {case.item: case.p_yes for case in store.trust.cases("cv")}
    assert scores == {one.item: pytest.approx(probability(one.log_odds), abs=1e-5) for one in planted}


def test_spectra_of_one_object_count_once_and_unknown_objects_are_counted(capsys, store: Store) -> None:
    drafts = []
    for number, place in enumerate([0] * 8 + [1] * 4 + [2] * 2 + [3, 4] + [None] * 2):
        at = {} if place is None else {"ra": 100.0 + place, "dec": 10.0}
        of = replace(spectrum(number), **at)
        drafts.append(Draft(trace(of, 5.0 + number / 10, "YES"), of, batch="campaign"))
    store.items.add_all(drafts)
    status, out = certify(capsys, store, "--task", "cv", "--error-yes", "0.2")
    assert status == 1
    assert "Found 7 labels of cases" in out
    assert out.count("18 labels of 7 objects") == 1
    assert "Of 2 of the 18 labelled spectra neither position nor name is known" in out
    path = store.path.parent / "cv.json"
    status, out = certify(capsys, store, "--task", "cv", "--error-yes", "0.4", "--json", "--out", path)
    counted = json.loads(out)["calibration"]
    assert (status, counted["n"], counted["objects"], counted["without_position_and_name"]) == (0, 18, 7, 2)
    made = read(path)
    assert (made.labels.n, made.labels.objects, made.labels.unknown, made.yes.n) == (18, 7, 2, 7)


def tried(content_hash: str, claimed_after: bool) -> Trial:
    """One removal and one placebo, which changed nothing."""
    removal = replace(a_removal(), claimed_after=claimed_after, followed=not claimed_after)
    placebo = replace(removal, edit="placebo", verdict_after="YES", claimed_after=True, followed=False)
    return Trial(content_hash, "a spectrum", "cv", {"kind": "baseline", "name": POLICY}, 0, (removal, placebo))


def test_trials_of_the_traces_are_counted_in_the_certificate(capsys, labelled) -> None:
    hashes = [trace.content_hash() for _, trace in labelled.trust.trajectories([1, 2, 3])]
    stored = [tried(hashes[0], False), tried(hashes[1], True)]
    labelled.trust.record_trials(None, [TrialRow(one.content_hash, one.passed, one.to_json()) for one in stored])
    file, path = labelled.path.parent / "trials.jsonl", labelled.path.parent / "cv.json"
    given = [tried(hashes[2], False), tried("sha256:of another trace", True)]
    file.write_text("".join(json.dumps(one.to_json()) + "\n" for one in given), encoding="utf-8")
    status, out = certify(capsys, labelled, "--task", "cv", "--score", "raw", "--out", path, "--trials", file)
    assert status == 0
    assert (
        "Evidence on trial: 2 of 3 tested traces passed; after 1 of 3 removals the removed feature was still claimed, "
        "and 0 of 3 placebo edits changed a claim or the verdict." in out
    )
    assert read(path).evidence == EvidenceCounts(3, 3, 2, 3, 1, 3, 0)
    assert "Evidence on trial: 2 of 3" in read(path).statement()
    file.write_text("{}\n", encoding="utf-8")
    status, out = certify(capsys, labelled, "--task", "cv", "--trials", file)
    assert status == 2
    assert "line 1" in out


def test_too_few_labels_are_refused_with_the_number_that_is_missing(capsys, store: Store) -> None:
    fill(store, labelled=20, waiting=0)
    path = store.path.parent / "cv.json"
    status, out = certify(capsys, store, "--task", "cv", "--policy", POLICY, "--out", path)
    assert status == 1
    assert "refused: no certificate was written" in out
    assert not path.exists()
    status, out = certify(capsys, store, "--task", "cv", "--json")
    found = json.loads(out)
    assert (status, found["certificate"], found["promise"]) == (1, None, "")
    for side in found["sides"]:
        assert side["n"] + side["missing"] >= 59
        assert f"Label {side['missing']} more" in side["refusal"]


def test_a_fit_without_enough_labels_of_each_class_is_refused(capsys, store: Store) -> None:
    fill(store, labelled=12, waiting=0)
    status, out = certify(capsys, store, "--task", "cv", "--score", "fitted")
    assert status == 1
    assert "expected at least 10 of each" in out


def test_what_cannot_run_says_why(capsys, store: Store) -> None:
    fill(store, labelled=2, waiting=0)
    for arguments, message in (
        (("--task", "xx"), "--task: found 'xx', expected one of"),
        ((), "--task: found None"),
        (("--task", "cv", "--policy", "gpt"), "found no items of 'gpt'"),
        (("--task", "cv", "--labels", "labels.csv"), "found no results file"),
        (("results.jsonl", "--task", "cv"), "found a results file and --db or --policy"),
        (("--task", "cv", "--retest", "none.json"), "none.json"),
    ):
        status, out = certify(capsys, store, *arguments)
        assert (status, message in out) == (2, True), out


def call_sure_answers_wrong(store: Store) -> list[str]:
    """Add 60 sure answers YES that three people call NO; return the content hashes of the traces."""
    spectra = [spectrum(500_000 + number) for number in range(60)]
    traces = [trace(of, 6.0 + number / 100) for number, of in enumerate(spectra)]
    for one in store.items.add_all([Draft(*pair) for pair in zip(traces, spectra, strict=True)]):
        version = store.items.get(one.item_id).version
        for person in ("AA", "BB", "CC"):
            store.marks.commit_verdict(person=person, item_id=one.item_id, version_id=version.id, verdict="NO")
    # Votes on known spectra show that these people are right.
    known = [case.item for case in store.trust.cases("cv") if case.label is not None][:60]
    for item in known:
        found = store.items.get(item)
        for person in ("AA", "BB", "CC"):
            store.marks.commit_verdict(
                person=person, item_id=item, version_id=found.version.id, verdict=found.version.trajectory.label
            )
    return [trace.content_hash() for trace in traces]


def record(store: Store, trials: Iterable[Trial]) -> None:
    store.trust.record_trials(None, [TrialRow(trial.content_hash, trial.passed, trial.to_json()) for trial in trials])


def test_a_check_counts_labels_given_since_and_suspends_after_many_errors(capsys, labelled) -> None:
    path = labelled.path.parent / "cv.json"
    assert certify(capsys, labelled, "--task", "cv", "--score", "raw", "--out", path)[0] == 0
    status, out = certify(capsys, labelled, "--retest", path)
    assert status == 0
    assert "in force. No spectrum that it covers was decided at random" in out
    call_sure_answers_wrong(labelled)
    status, out = certify(capsys, labelled, "--retest", path)
    assert status == 1, out
    assert "suspended since" in out
    assert suspension(path) is not None


def test_a_suspended_certificate_stays_suspended(capsys, labelled) -> None:
    path = labelled.path.parent / "cv.json"
    certify(capsys, labelled, "--task", "cv", "--score", "raw", "--out", path)
    suspend(path, Suspension(read(path).sha256, "new case 7", "scores", "Scores changed.", "2026-11-24"))
    status, out = certify(capsys, labelled, "--retest", path, "--json")
    assert status == 1
    assert json.loads(out)["suspended"]["since"] == "new case 7"


def test_a_required_trial_is_needed_of_each_label_and_decides_which_count(capsys, labelled, filled) -> None:
    path = labelled.path.parent / "cv.json"
    given = ("--task", "cv", "--score", "raw", "--require-trial", "yes", "--out", path)
    status, out = certify(capsys, labelled, *given)
    assert status == 1
    assert "--require-trial: found no trial by this policy with its settings for" in out
    hashes = [trace.content_hash() for _, trace in labelled.trust.trajectories([one.item for one in filled[1]])]
    trials = [tried(one, number % 20 == 0) for number, one in enumerate(hashes)]
    record(labelled, trials)
    status, out = certify(capsys, labelled, *given)
    assert status == 0
    assert "evidence trial, needed for YES: 285 passed, 15 failed, 0 untested" in out
    made = read(path)
    assert made.requirements.trial == ("YES",)
    assert made.trial is not None
    assert "called YES only if each of its traces passed" in made.statement()


@pytest.mark.parametrize(("still_claims", "counted", "without"), [(False, 60, 0), (True, 0, 0), (None, 0, 60)])
def test_a_check_counts_errors_of_spectra_that_passed(capsys, labelled, filled, still_claims, counted, without):
    path = labelled.path.parent / "cv.json"
    hashes = [trace.content_hash() for _, trace in labelled.trust.trajectories([one.item for one in filled[1]])]
    record(labelled, [tried(one, False) for one in hashes])
    assert certify(capsys, labelled, "--task", "cv", "--score", "raw", "--require-trial", "yes", "--out", path)[0] == 0
    wrong = call_sure_answers_wrong(labelled)
    if still_claims is not None:
        record(labelled, [tried(one, still_claims) for one in wrong])
    status, out = certify(capsys, labelled, "--retest", path, "--json")
    found = json.loads(out)
    assert status == 1  # P(YES) is wrong for all of them
    assert (found["tests"]["errors of YES"]["cases"], found["tests"]["labels"]["cases"]) == (counted, 60)
    assert found["without_trial"] == without
