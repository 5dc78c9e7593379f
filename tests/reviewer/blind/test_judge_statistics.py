"""Statistics of model judges, compared with scipy and with values calculated by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from reviewer.agreement.pairs import spearman
from reviewer.agreement.reliability import krippendorff_alpha
from reviewer.agreement.values import Scores
from reviewer.blind.judge.settings import JudgeSettings
from reviewer.blind.report.judge_agreement import human_ceiling, judges_together, rank_correlation
from reviewer.blind.report.judges import judge_statistics
from reviewer.blind.report.method import judge_settings
from reviewer.blind.report.names import report_names
from reviewer.blind.report.statistics import all_statistics
from reviewer.blind.results import Judgement, JudgeScore, Results
from reviewer.blind.sheet import PreferenceAnswer
from tests.support.blind_results import A, B, results, score, trace

SCORERS = ("P", "Q", "R")


def some_results(
    people: Mapping[str, Sequence[int]],
    judgements: Sequence[Judgement],
    preferences: Mapping[tuple[int, int], str] | None = None,
) -> Results:
    """Two traces per spectrum, by A (odd versions) and B (even ones); people's scores in the order of the versions."""
    number = len(next(iter(people.values())))
    traces = [trace(item, A if item % 2 else B, (item + 1) // 2) for item in range(1, number + 1)]
    responses = [
        *(score(who, n, one, one) for who, scores in people.items() for n, one in enumerate(scores, start=1)),
        *(
            score("P", 0, 0, 0, kind="pair", place=50 + n, shown=shown, answer=PreferenceAnswer(preference))
            for n, (shown, preference) in enumerate((preferences or {}).items())
        ),
    ]
    whole = results(traces, responses, scorers=SCORERS, mode="both" if preferences else "scores")
    return replace(whole, judgements=tuple(judgements))


def judged(scores: Sequence[Any], name: str = "J", **settings: Any) -> list[Judgement]:
    """A judge's scores of coherence, in the order of the versions; None: unreadable."""
    return [
        Judgement(name, (version,), None if score is None else JudgeScore(score, 3), "", settings)
        for version, score in enumerate(scores, start=101)
    ]


def random_scores(seed: int, number: int) -> list[int]:
    return [int(integer) for integer in np.random.default_rng(seed).integers(0, 6, number)]


def test_rank_correlation_is_scipys_with_gaps_and_ties() -> None:
    x, y = np.array(random_scores(1, 40), float), np.array(random_scores(2, 40), float)
    y = np.where(np.arange(40) % 7 == 0, np.nan, y + x)
    found = rank_correlation(x, y, [str(n // 2) for n in range(40)])
    there = ~np.isnan(y)
    assert found.value == pytest.approx(spearmanr(x[there], y[there]).statistic, abs=1e-12)
    assert (found.n, found.n_of) == (int(there.sum()), "traces")
    assert found.low is not None


def test_interval_resamples_spectra_with_all_their_traces() -> None:
    """Each trace twice says no more than once."""
    x, y = np.array(random_scores(3, 20), float), np.array(random_scores(4, 20), float)
    y = y + x
    names = [f"{n:02d}" for n in range(20)]
    once = rank_correlation(x, y, names)
    twice = rank_correlation(np.tile(x, 2), np.tile(y, 2), names * 2)
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high), abs=1e-12)
    assert (twice.n, twice.detail["spectra"]) == (40, 20)
    assert once.value == pytest.approx(spearman(x, y).value)
    as_items = rank_correlation(np.tile(x, 2), np.tile(y, 2), [str(n) for n in range(40)])
    assert as_items.high - as_items.low < 0.85 * (twice.high - twice.low)


@pytest.mark.parametrize(
    ("x", "reason"),
    [([1.0, 2.0, np.nan], "2 items have a value"), ([np.nan] * 3, "no item"), ([4.0] * 3, "first of the two is 4")],
)
def test_rank_correlation_without_a_value_has_a_reason(x: list[float], reason: str) -> None:
    found = rank_correlation(np.array(x), np.array([1.0, 2.0, 3.0]), ["a", "b", "c"])
    assert found.value is None
    assert reason in found.reason


def test_ceiling_is_the_mean_of_each_scorer_against_the_mean_of_the_others() -> None:
    values = np.array([random_scores(seed, 48) for seed in (5, 6, 7)], float).T + np.arange(48)[:, None] / 6
    values[3, 0] = values[5, 1] = np.nan
    table = Scores(tuple(f"{n:02d}" for n in range(48)), SCORERS, values)
    found = human_ceiling(table, [str(n // 2) for n in range(48)])
    expected = []
    for place in range(3):
        others = np.nanmean(np.delete(values, place, axis=1), axis=1)
        there = ~np.isnan(values[:, place])
        expected.append(spearmanr(values[there, place], others[there]).statistic)
    assert found.value == pytest.approx(np.mean(expected), abs=1e-12)
    assert found.detail["lowest"] == pytest.approx(min(expected), abs=1e-12)
    assert (found.n, found.detail["scorers"], found.detail["spectra"]) == (48, 3, 24)
    assert found.low < found.value < found.high


def test_ceiling_with_one_scorer_is_undefined() -> None:
    table = Scores(("a", "b", "c"), ("P",), np.array([[1.0], [2.0], [3.0]]))
    assert "no scorer has three traces" in human_ceiling(table, ["a", "b", "c"]).reason


def test_self_preference_is_judge_less_people_by_source() -> None:
    """A judge one point above people on A, half a point below on B."""
    people = {"P": [2, 3] * 12, "Q": [4, 3] * 12}
    judge = judged([4, 3, 4, 2] * 6)
    coherence = judge_statistics(some_results(people, judge))[0].scores["coherence"]
    assert coherence.above.value == pytest.approx(0.25)
    by_source = coherence.above_by_source
    assert (by_source[A].value, by_source[A].n) == (pytest.approx(1.0), 12)
    assert (by_source[B].value, by_source[B].n) == (pytest.approx(-0.5), 12)
    (contrast,) = coherence.contrasts
    assert (contrast.first, contrast.second) == (A, B)
    assert (contrast.difference.value, contrast.difference.n) == (pytest.approx(1.5), 24)
    assert contrast.difference.detail["traces_first"] == 12
    # A is 1 for every trace, and B 0 or -1, so no resample is below 1 or above 2.
    assert 1.0 < contrast.difference.low < 1.5 < contrast.difference.high < 2.0


def test_contrast_without_traces_of_a_source_is_undefined() -> None:
    judge = judged([4, "cannot tell"] * 6)
    coherence = judge_statistics(some_results({"P": [2, 3] * 6}, judge))[0].scores["coherence"]
    assert coherence.contrasts[0].difference.value is None
    assert f"no trace of {B} has a score" in coherence.contrasts[0].difference.reason
    assert coherence.unable == {A: 0, B: 6}


def test_samples_count_as_their_mean_and_agree_with_each_other() -> None:
    people = {"P": random_scores(8, 20), "Q": random_scores(9, 20)}
    first, second = random_scores(10, 20), random_scores(11, 20)
    judge = [*judged(first, sample=1, samples=2), *judged(second, sample=2, samples=2)]
    session = some_results(people, judge)
    coherence = judge_statistics(session)[0].scores["coherence"]
    means = (np.array(first) + np.array(second)) / 2
    theirs = np.mean(list(people.values()), axis=0)
    assert coherence.correlation.value == pytest.approx(spearmanr(theirs, means).statistic, abs=1e-12)
    assert coherence.above.value == pytest.approx((means - theirs).mean())
    assert coherence.means[A].value == pytest.approx(means[::2].mean())
    assert (coherence.means[A].n, coherence.means[A].n_of, coherence.means[A].detail["spectra"]) == (10, "traces", 10)
    table = Scores(tuple(f"{n:02d}" for n in range(20)), ("1", "2"), np.array([first, second], float).T)
    assert coherence.retest.value == pytest.approx(krippendorff_alpha(table).value)
    assert "the judge with itself" in coherence.retest.definition
    one = judge_statistics(some_results(people, judged(first)))[0].scores["coherence"]
    assert one.retest is None


def test_equal_samples_have_no_alpha_and_a_reason_about_samples() -> None:
    judge = [*judged([3] * 12, sample=1), *judged([3] * 12, sample=2)]
    retest = judge_statistics(some_results({"P": [2, 3] * 6}, judge))[0].scores["coherence"].retest
    assert retest.reason == "every score is 3"


def test_dimensions_asked_separately_are_put_together() -> None:
    people = {"P": random_scores(12, 12), "Q": random_scores(13, 12)}
    one, other = random_scores(14, 12), random_scores(15, 12)
    judge = [
        Judgement("J", (100 + version,), answer, "", {"separately": True})
        for version in range(1, 13)
        for answer in (JudgeScore(one[version - 1], None), JudgeScore(None, other[version - 1]))
    ]
    found = judge_statistics(some_results(people, judge))[0]
    theirs = np.mean(list(people.values()), axis=0)
    for dimension, scores in (("coherence", one), ("consistency", other)):
        assert found.scores[dimension].correlation.value == pytest.approx(spearmanr(theirs, scores).statistic)
    assert (found.judgements, found.setup["separately"]) == (24, (True,))


def test_judges_are_compared_with_each_other_and_together_with_people() -> None:
    people = {"P": random_scores(16, 20), "Q": random_scores(17, 20), "R": random_scores(18, 20)}
    scores = {name: random_scores(seed, 20) for name, seed in (("J", 19), ("K", 20), ("L", 21))}
    judge = [one for name, own in scores.items() for one in judged(own, name)]
    together = judges_together(some_results(people, judge))["coherence"]
    assert [(pair.a, pair.b) for pair in together.pairs] == [("J", "K"), ("J", "L"), ("K", "L")]
    for pair in together.pairs:
        assert pair.spearman.value == pytest.approx(spearmanr(scores[pair.a], scores[pair.b]).statistic, abs=1e-12)
    means = np.mean(list(scores.values()), axis=0)
    theirs = np.mean(list(people.values()), axis=0)
    assert together.mean.value == pytest.approx(spearmanr(theirs, means).statistic, abs=1e-12)
    assert together.ceiling.detail["scorers"] == 3
    alone = judges_together(some_results(people, judged(scores["J"])))["coherence"]
    assert (alone.mean, alone.pairs) == (None, ())
    assert judges_together(some_results(people, [])) == {}


def test_setup_has_what_the_judgements_recorded() -> None:
    recorded = (
        {"sees": "measured values", "model": "m", "model_says": "m-0821", "system": "think", "reasoning": "on"}
        | {"temperature": 0.6, "top_p": 0.95, "max_tokens": 900, "seed": 4, "samples": 3, "separately": False}
        | {"dimensions": ["coherence", "consistency"], "instructions_in": "user", "left_out": ["seed"]}
        | {"chat_template_kwargs": {"enable_thinking": True}, "prompt_version": "2", "json_schema": "not sent"}
        | {"preset": "p"}
    )
    first = judged([1, 2, 3, 4], **recorded)
    other = judged([1, 2, 3, 4], **(recorded | {"model_says": "m-0901", "sample": 2}))
    setup = judge_statistics(some_results({"P": [1, 2, 3, 4]}, [*first, *other]))[0].setup
    assert setup == {
        **{name: (value,) for name, value in recorded.items()},
        "dimensions": (("coherence", "consistency"),),
        "chat_template_kwargs": ('{"enable_thinking": true}',),
        "left_out": (("seed",),),
        "model_says": ("m-0821", "m-0901"),
        "sample": (2,),
    }


def test_setup_of_judgements_of_earlier_releases() -> None:
    for settings, sees in (({"pictures": True}, ("pictures",)), ({"pictures": False}, ("text",)), ({}, ())):
        setup = judge_statistics(some_results({"P": [1, 2, 3, 4]}, judged([1, 2, 3, 4], **settings)))[0].setup
        assert setup.get("sees", ()) == sees
        assert not {"reasoning", "prompt_version"} & set(setup)


def test_samples_of_pairs_are_answers_of_their_own_and_intervals_resample_pairs() -> None:
    """Sample 1 always prefers A, sample 2 always the left trace."""
    pairs = [(n, n + 1) for n in range(101, 117, 2)]

    def choice(sample: int, shown: tuple[int, int]) -> PreferenceAnswer:
        return PreferenceAnswer("left" if sample == 2 or shown[0] % 2 else "right")

    judge = [
        Judgement("J", shown, choice(sample, shown), "", {"sample": sample, "samples": 2})
        for pair in pairs
        for shown in (pair, pair[::-1])
        for sample in (1, 2)
    ]
    session = some_results({"P": [1, 2] * 8}, judge, dict.fromkeys(pairs, "left"))
    found = judge_statistics(session)[0].pairs
    assert (found.flips.value, found.flips.n, found.flips.n_of) == (0.5, 16, "answers in both orders")
    assert found.rates[0].wins.value == 0.5
    assert found.rates[0].equal.value == 0.5
    assert (found.majority.value, found.majority.n) == (0.5, 16)
    assert found.position.value == 0.75


def test_the_page_has_the_settings_of_each_judge_and_its_unusable_answers() -> None:
    recorded = JudgeSettings(sees="text", system="think")
    settings = {"model": "m", **recorded.to_json(), "left_out": ["seed", "top_p"], "json_schema": "sent"}
    judge = [*judged([4, "cannot tell", None, 2], "J", **settings), *judged([1, 2, 3, 4], "old")]
    page = judge_settings(judge_statistics(some_results({"P": [2, 3] * 2}, judge)))
    cells = {
        name: re.findall(r"<td[^>]*>(.*?)</td>", rest)
        for name, rest in re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', page)
    }
    assert cells["sees"] == ["text", "not recorded"]
    assert cells["system text"] == ["think", "not recorded"]
    assert cells["dimensions"] == ["coherence and physical consistency", "not recorded"]
    assert cells["requests"][0] == "one for all dimensions"
    assert cells["arguments of the chat template"][0] == "none"
    assert cells["tokens of an answer, at most"][0] == "4096"
    assert cells["left out by the server"][0] == "seed, top_p"
    assert cells["unreadable answers"] == ["1", "0"]
    assert cells["“cannot tell”, coherence"] == ["1", "0"]


def test_numbers_of_judges_alone_hold_for_these_judges() -> None:
    people = {"P": random_scores(1, 24), "Q": random_scores(2, 24)}
    judge = [*judged(random_scores(3, 24), sample=1), *judged(random_scores(4, 24), sample=2)]
    session = some_results(people, judge)
    every = all_statistics(session, report_names(session, {})).rows
    rows = {(row.section, row.statistic): row for row in every if row.dimension == "coherence"}
    assert rows["judge means", "mean"].population == "spectra like these, these judges"
    assert rows["judges", "judge less people"].population == "spectra like these, these scorers"
