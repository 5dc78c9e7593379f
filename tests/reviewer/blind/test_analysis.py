"""The primary comparison, the rules of exclusion, and the variants for sensitivity analyses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reviewer.blind import results as tables
from reviewer.blind.analysis import (
    excluded_scorers,
    excluded_traces,
    of_all_scorers,
    primary_results,
    primary_sources,
    scorer_checks,
    with_cannot_tell,
    without_exposed,
    without_revealing,
)
from reviewer.blind.plan import AnalysisPlan
from reviewer.blind.results import Judgement, JudgeScore, Results
from tests.support.blind_results import A, B, gold, results, score, trace


def session(**analysis: object) -> Results:
    """RE is right on gold and in repeats; AU is not; VO has neither. Item 3 reveals its author; item 9 is gold and 8
    is training, and both reveal theirs as well.
    """
    traces = [
        *(trace(1, A, 1), trace(2, B, 1), trace(3, A, 2, reveals=True), trace(4, B, 2)),
        *(trace(8, A, 3, reveals=True), trace(9, A, 4, reveals=True)),
    ]
    expected = gold(9, 4)
    responses = [
        score("RE", 8, 0, 0, training=True, place=1),
        score("RE", 9, 4, 5, gold=expected, place=2),
        *(score("RE", item, item, 3, place=2 + item) for item in (1, 2, 3, 4)),
        score("RE", 3, 4, 3, place=7, repeat_of="RE-3-5"),
        score("AU", 9, 1, 4, gold=expected, place=1),
        score("AU", 1, 5, 5, place=2),
        score("AU", 2, 0, "cannot tell", place=3, exposed=True),
        score("AU", 1, 2, "cannot tell", place=4, repeat_of="AU-1-2"),
        *(score("VO", item, "cannot tell", 1, place=item) for item in (1, 3)),
    ]
    found = results(traces, responses, training=(8,), repeats=1, analysis=AnalysisPlan(**analysis))  # type: ignore[arg-type]
    judged = tuple(Judgement("judge", (100 + item,), JudgeScore(1, 1), "", {}) for item in (1, 3))
    return replace(found, judgements=judged)


def asked(found: Results) -> set[tuple[str, int]]:
    return {(one.scorer, one.shown[0] - 100) for one in found.first("scores")}


def test_without_rules_everything_counts_except_training_repeats_and_gold() -> None:
    found = primary_results(session())
    assert found == session()
    assert asked(found) == {*(("RE", item) for item in (1, 2, 3, 4)), ("AU", 1), ("AU", 2), ("VO", 1), ("VO", 3)}
    assert (excluded_scorers(found), excluded_traces(found)) == ({}, frozenset())


def test_a_scorer_far_from_gold_is_excluded() -> None:
    found = session(gold_within=0.75)
    assert excluded_scorers(found) == {"AU": "1 of 2 scores of gold items within the tolerance (50 %, 75 % required)"}
    assert {scorer for scorer, _ in asked(primary_results(found))} == {"RE", "VO"}
    assert not [response for response in primary_results(found).responses if response.scorer == "AU"]
    # Just the required share is enough.
    assert excluded_scorers(session(gold_within=0.5)) == {}


def test_a_scorer_who_does_not_repeat_their_scores_is_excluded() -> None:
    # AU: 5 and then 2; "cannot tell" is no score. RE: 3 and then 4, 3 and 3.
    assert excluded_scorers(session(repeats_within_1=0.9)) == {
        "AU": "0 of 1 repeated scores at most 1 from the first (0 %, 90 % required)"
    }
    both = excluded_scorers(session(gold_within=1.0, repeats_within_1=1.0))
    assert list(both) == ["AU"]
    assert both["AU"].count("required") == 2


def test_a_scorer_without_gold_and_repeats_is_not_excluded_and_it_is_noted() -> None:
    checks = scorer_checks(session(gold_within=1.0, repeats_within_1=1.0))
    assert [str(check) for check in checks["VO"]] == [
        "no scores of gold items, so not excluded by this rule",
        "no repeated scores, so not excluded by this rule",
    ]
    assert not any(check.failed for check in checks["VO"])
    assert scorer_checks(session()) == {"RE": (), "AU": (), "VO": ()}


def test_revealing_traces_are_excluded_by_the_plan_alone_and_gold_stays() -> None:
    found = session(without_revealing=True)
    primary = primary_results(found)
    assert excluded_traces(found) == {103}
    assert {item for _, item in asked(primary)} == {1, 2, 4}
    # The repeat of an excluded trace is gone with it, and gold items are as they were.
    assert len(primary.repeats("scores")) == len(found.repeats("scores")) - 1 == 1
    assert primary.gold() == found.gold()
    assert [judgement.shown for judgement in primary.judgements] == [(101,)]
    assert primary_results(primary) == primary


def test_variants_for_sensitivity() -> None:
    found = session(gold_within=0.75, without_revealing=True)
    assert asked(primary_results(found)) == {("RE", 1), ("RE", 2), ("RE", 4), ("VO", 1)}
    assert asked(of_all_scorers(found)) == asked(primary_results(found)) | {("AU", 1), ("AU", 2)}
    assert {item for _, item in asked(without_revealing(session()))} == {1, 2, 4}
    assert ("AU", 2) not in asked(without_exposed(session()))
    assert len(asked(without_exposed(session()))) == len(asked(session())) - 1


def test_cannot_tell_becomes_the_score_of_its_source() -> None:
    found = with_cannot_tell(session(), {A: 0, B: 5})
    by = {(one.scorer, one.shown[0] - 100): one.answer for one in found.first("scores")}
    assert (by["VO", 1].coherence, by["VO", 1].consistency) == (0, 1)  # type: ignore[union-attr]
    assert (by["AU", 2].coherence, by["AU", 2].consistency) == (0, 5)  # type: ignore[union-attr]
    assert tables.count_cannot_tell(found, "coherence") == tables.count_cannot_tell(found, "consistency") == 0
    # The repeat keeps its answer, and the other source alone can be replaced.
    assert [response.answer for response in found.responses if response.repeat_of] == [
        response.answer for response in session().responses if response.repeat_of
    ]
    assert tables.count_cannot_tell(with_cannot_tell(session(), {B: 0}), "coherence", A) == 2


@pytest.mark.parametrize(("plan", "expected"), [({}, (A, B)), ({"first": B, "second": A}, (B, A))])
def test_the_primary_comparison_is_the_plan_s_or_the_first_two_sources(plan, expected) -> None:
    assert primary_sources(session(**plan)) == expected


def test_one_source_has_no_primary_comparison() -> None:
    assert primary_sources(results([trace(1, A, 1)], [score("RE", 1, 3, 3)], sources=(A,))) is None
