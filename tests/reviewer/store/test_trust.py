"""Scores, votes, cases and trials in the store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from agent.trajectory import Answer, Trajectory
from reviewer.store import Draft, NotFound, ScoreRow, Store, StoreError, TrialRow, TrialsAdded
from tests.support.campaign import TO_AUDIT, TO_VOTE, Clock, Desk, a_spectrum, a_trajectory, people

MODEL = {"kind": "raw"}
APPROVED = (*TO_VOTE, ("VO", "approve"), ("CO", "approve"))


def answering(trajectory: Trajectory, verdict: str) -> Trajectory:
    return trajectory.with_steps((*trajectory.steps[:-1], Answer("s4", verdict, "So it is.")))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db", clock=clock) as store:
        people(store)
        spectra = [a_spectrum(f"spec-{n}.fits", redshift=0.01 * n) for n in range(6)]
        store.items.add_all(
            [
                Draft(
                    answering(
                        a_trajectory(s, f"Number {n}.", task="cv" if n < 5 else "agn", simulated=n == 4, label=None),
                        "NO" if n % 2 else "YES",
                    ),
                    s,
                    "one" if n < 3 else "two",
                )
                for n, s in enumerate(spectra)
            ]
        )
        yield store


def rows(*items: int, p: float = 0.5, reasons: tuple[str, ...] = ()) -> list[ScoreRow]:
    return [ScoreRow(item, p, {"vote": 1.5, "answer": None}, reasons) for item in items]


def test_a_case_has_its_score_its_verdict_and_its_survey(store: Store, clock: Clock) -> None:
    store.trust.record_scores("CO", "cv", MODEL, [*rows(1, p=0.9), *rows(2, p=0.2, reasons=("S/N 1, expected 3",))])
    clock.turn(hours=1)
    Desk(store).until(1, *APPROVED)
    Desk(store).until(2, ("RE", "reject"))
    one, two, three = store.trust.cases("cv", "one")
    assert (one.item, one.p_yes, one.approved, one.state, one.decided_at) == (1, 0.9, "YES", "approved", clock.now)
    assert (one.survey, one.snr, one.batch, one.drafter_kind) == ("LAMOST", 20.0, "one", "baseline")
    assert (one.features, one.reasons, one.plan, one.probability) == ({"vote": 1.5, "answer": None}, (), None, None)
    assert (two.state, two.approved, two.reasons) == ("rejected", None, ("S/N 1, expected 3",))
    assert (three.p_yes, three.model, three.features, three.decided_at) == (None, None, None, None)
    assert one.model == two.model == store.trust.scored("cv").sha256
    assert [case.item for case in store.trust.cases("cv")] == [1, 2, 3, 4, 5]
    assert [case.simulated for case in store.trust.cases("cv", "two")] == [False, True]


def test_a_withdrawn_item_is_no_case_and_its_votes_do_not_count(store: Store) -> None:
    from reviewer.store import Selection

    store.trust.record_scores("CO", "cv", MODEL, rows(1, 2))
    store.withdrawals.withdraw("CO", Selection(first=2, last=2))
    assert [case.item for case in store.trust.cases("cv", "one")] == [1, 3]
    assert store.trust.scored("cv").items == 1


def test_the_verdict_is_that_of_the_last_answer_of_the_approved_version(store: Store) -> None:
    desk = Desk(store)
    desk.decide("RE", 1, "keep")
    desk.save("RE", 1, answering(store.items.get(1).version.trajectory, "NO"))
    desk.until(1, ("RE", "submit"), *APPROVED[2:])
    (one,) = [case for case in store.trust.cases("cv") if case.item == 1]
    assert one.approved == "NO"
    ((item, draft),) = store.trust.trajectories([1])
    assert (item, draft.answer.verdict) == (1, "YES")


def test_scores_are_replaced_item_by_item_and_name_their_model(store: Store) -> None:
    assert store.trust.scored("cv") is None
    store.trust.record_scores("CO", "cv", MODEL, rows(1, 2, p=0.3))
    store.trust.record_scores(None, "cv", {"kind": "logistic"}, rows(2, 3, p=0.7))
    found = {case.item: case for case in store.trust.cases("cv")}
    assert [found[item].p_yes for item in (1, 2, 3, 4)] == [0.3, 0.7, 0.7, None]
    assert found[1].model != found[2].model == found[3].model == store.trust.scored("cv").sha256
    assert store.trust.scored("cv").model == {"kind": "logistic"}
    # The same model may serve two tasks.
    store.trust.record_scores("CO", "agn", MODEL, rows(6))
    assert (store.trust.scored("agn").items, store.trust.scored("cv").items) == (1, 3)
    assert store.upkeep.verify() == []


def test_many_scores_are_written_in_several_transactions(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewer.store.trust._SCORES_AT_A_TIME", 2)
    end = store.log.head()
    assert store.trust.record_scores("CO", "cv", MODEL, rows(1, 2, 3, 4, 5), pause=0.0) == 5
    entries = [entry for entry in store.log.entries(after=end.number) if entry.what == "scores recorded"]
    assert [entry.details["count"] for entry in entries] == [2, 2, 1]


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_a_score_that_is_no_probability_is_refused(store: Store, p: float) -> None:
    with pytest.raises(StoreError, match=r"item 2: found P\(YES\) = .*, expected a number from 0 to 1"):
        store.trust.record_scores("CO", "cv", MODEL, [*rows(1), *rows(2, p=p)])
    assert store.trust.scored("cv") is None


def test_scores_of_another_tasks_items_are_refused(store: Store) -> None:
    with pytest.raises(NotFound, match="Found 1 of 2 items in the task 'cv'"):
        store.trust.record_scores("CO", "cv", MODEL, rows(5, 6))
    assert all(case.p_yes is None for case in store.trust.cases("cv"))


def test_votes_are_the_verdicts_of_decisions_in_force(store: Store, clock: Clock) -> None:
    desk = Desk(store)
    desk.until(1, *TO_VOTE, ("VO", "approve"), ("CO", "approve"))
    desk.until(2, *TO_AUDIT, ("AU", "pass"), ("AX", "pass"))
    desk.decide("RE", 3, "reject", reason="wrong_class")
    desk.decide("RE", 4, "reject", reason="bad_data")
    desk.decide("RE", 5, "reject", reason="wrong_class")
    clock.turn(minutes=5)
    store.reviews.undo(person="RE", item_id=5, key=uuid4().hex)
    found = {(vote.item, vote.person): (vote.verdict, vote.kind) for vote in store.trust.votes("cv")}
    assert found == {
        (1, "AU"): ("YES", "decision"),
        (1, "AX"): ("YES", "decision"),
        (1, "VO"): ("YES", "decision"),
        (1, "CO"): ("YES", "decision"),
        (2, "AU"): ("NO", "decision"),
        (2, "AX"): ("NO", "decision"),
        (3, "RE"): ("NO", "decision"),
    }
    assert store.trust.votes("agn") == []


def test_decisions_of_an_open_audit_or_vote_are_no_votes_yet(store: Store, clock: Clock) -> None:
    desk = Desk(store)
    counted = []
    for person, verb in (*TO_VOTE, ("VO", "approve"), ("CO", "approve")):
        desk.until(1, (person, verb))
        clock.turn(minutes=1)
        counted.append((store.items.standing(1).state, {vote.person for vote in store.trust.votes("cv")}))
    assert counted[-5:] == [
        ("audit", set()),
        ("audit", set()),
        ("vote", {"AU", "AX"}),
        ("vote", {"AU", "AX"}),
        ("approved", {"AU", "AX", "VO", "CO"}),
    ]


def test_own_verdicts_are_votes_unless_a_person_cannot_tell(store: Store) -> None:
    version = store.items.get(1).version.id
    for person, verdict in (("VO", "NO"), ("RE", "cannot tell"), ("AU", "YES")):
        store.marks.commit_verdict(person=person, item_id=1, version_id=version, verdict=verdict)
    votes = store.trust.votes("cv")
    assert [(vote.person, vote.verdict, vote.kind) for vote in votes] == [
        ("VO", "NO", "own verdict"),
        ("AU", "YES", "own verdict"),
    ]
    assert votes[0].spectrum_sha256 == store.items.get(1).row.spectrum_sha256


def test_a_trial_of_a_named_item_reads_the_versions_of_that_item_alone(store: Store) -> None:
    from reviewer.store.trust import _VERSIONS_OF_ITEMS

    with store.database.read() as db:
        plan = db.execute(f"EXPLAIN QUERY PLAN {_VERSIONS_OF_ITEMS}", {"items": "[1]", "hashes": "[]"}).fetchall()
    assert any(row[3].startswith("SEARCH versions USING INDEX") and "(item=?)" in row[3] for row in plan)
    row = TrialRow(store.items.get(2).version.content_hash, True, {}, item=2)
    assert store.trust.record_trials("CO", [row, replace(row, item=3)]) == TrialsAdded(1, 0, (row.content_hash,))


def test_a_trial_is_recorded_once_for_every_item_with_its_text(store: Store) -> None:
    text = store.items.get(1).version
    store.items.add_all([Draft(text.trajectory, text.trajectory.spectrum_sha256, "again", key="again")])
    row = TrialRow(text.content_hash, True, {"seed": 1})
    made = store.trust.record_trials("CO", [row, TrialRow("0" * 64, None, {})])
    assert (made.added, made.known, made.missing) == (2, 0, ("0" * 64,))
    made = store.trust.record_trials(None, [row, replace(row, passed=False, result={"seed": 2}, item=7)])
    assert (made.added, made.known, made.missing) == (1, 2, ())
    trials = [store.trust.trial_of(item, text.content_hash) for item in (1, 7)]
    assert [(trial.passed, trial.result) for trial in trials] == [(True, {"seed": 1}), (False, {"seed": 2})]
    assert trials[0].version == text.id
    assert store.upkeep.verify() == []
