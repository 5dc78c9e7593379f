"""Features of a case, and the reasons that no certificate covers."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from agent import tasks
from agent.consensus import consensus, typical_snr
from agent.simulate import simulate
from agent.trajectory import Answer, Drafter, Think, Trajectory
from agent.trust.features import Features, data_reasons, features_of

CV = tasks.load()["cv"]
STAR = simulate("cv", "LAMOST", 30, 3)


def trace(verdict: str | None, thought: str = "", score: float | None = None, **other) -> Trajectory:
    steps = (*((Think("t", thought),) if thought else ()), Answer("s", verdict, "", score))
    return replace(Trajectory("cv", "?", STAR.name, STAR.sha256, steps, Drafter("model", "x")), **other)


def of(*traces: Trajectory, spectrum=STAR) -> Features:
    return features_of(traces, spectrum, CV)


def test_the_vote_is_the_log_odds_of_the_answers_unless_the_policy_has_its_own() -> None:
    assert of(trace("YES"), trace("YES"), trace("NO")).vote == pytest.approx(math.log(2.5 / 1.5))
    assert of(trace("YES"), trace("YES"), trace("NO"), trace(None)).vote == pytest.approx(math.log(2.5 / 1.5))
    assert of(trace("NO")).vote == pytest.approx(-of(trace("YES")).vote)
    found = of(trace(None), trace(None))
    assert (found.vote, found.answer, found.log_odds) == (None, None, None)
    found = of(trace("YES", score=2.0), trace("YES", score=4.0))
    assert (found.answer, found.log_odds) == (3.0, 3.0)
    voted = of(trace("YES"), trace("YES"))
    assert (voted.answer, voted.log_odds) == (None, voted.vote)


def test_claims_are_compared_with_the_spectrum() -> None:
    right = "Hα is in emission."
    wrong = "Hα is in absorption."
    assert (of(trace("YES", right)).agreeing, of(trace("YES", right)).contradicting) == (1, 0)
    assert (of(trace("YES", wrong)).agreeing, of(trace("YES", wrong)).contradicting) == (0, 1)
    # Once per sample, however often it is repeated; each sample counts.
    assert of(trace("YES", f"{right} {right}"), trace("YES", right), trace("NO", wrong)).agreeing == 2
    # Explanations count too.
    explained = replace(trace("YES"), steps=(Answer("s", "YES", right),))
    assert of(explained).agreeing == 1


def test_claims_are_compared_at_the_redshift_of_the_trace() -> None:
    claim = trace("YES", "Hα is in emission.")
    assert of(claim).agreeing == 1
    assert of(replace(claim, redshift=0.3)).agreeing == 0


def test_sn_and_coverage_are_measured() -> None:
    found = of(trace("YES"))
    assert 10**found.log_snr == pytest.approx(typical_snr(STAR))
    assert found.coverage == 1.0
    # Without the red half, Hα has no data.
    half = replace(STAR, ivar=np.where(STAR.wavelength > 6000, 0.0, STAR.ivar))
    assert of(trace("YES"), spectrum=half).coverage == 0.0
    assert any("Hα" in reason for reason in data_reasons([trace("YES")], half, CV))
    dark = replace(STAR, flux=-np.abs(STAR.flux))
    assert of(trace("YES"), spectrum=dark).log_snr is None


def test_reasons_about_the_data_are_those_of_the_consensus_without_majority_and_margin() -> None:
    split = [trace("YES", score=0.1), trace("NO", score=-0.1)]
    assert data_reasons(split, STAR, CV) == ()
    assert len(consensus(split, STAR, CV).reasons) == 1
    assert data_reasons([trace("YES", score=0.1)], STAR, CV) == ()
    assert "narrow" in consensus([trace("YES", score=0.1)], STAR, CV).reasons[0]
    noisy = simulate("cv", "LAMOST", 1, 3)
    found = data_reasons([trace("YES")], noisy, CV)
    assert any(reason.startswith("S/N") for reason in found)
    assert set(found) <= set(consensus([trace("YES")], noisy, CV).reasons)


@pytest.mark.parametrize(
    ("traces", "words"),
    [
        ([trace(None)], "No answer from 1 sample."),
        ([], "There are no samples."),
        ([trace("NO", cannot_tell="no data")], "The policy cannot tell: no data."),
    ],
)
def test_a_missing_answer_is_a_reason_once(traces: list[Trajectory], words: str) -> None:
    assert data_reasons(traces, STAR, CV) == (words,)
    assert consensus(traces, STAR, CV).reasons == (words,)


def test_the_json_form_is_read_back() -> None:
    for found in (Features(), of(trace("YES", "Hα is in emission.", score=1.5))):
        assert Features.from_json(json.loads(json.dumps(found.to_json()))) == found


@pytest.mark.parametrize(
    ("field", "value"),
    [("vote", "1"), ("answer", math.nan), ("agreeing", -1), ("agreeing", 1.5), ("coverage", 1.1), ("coverage", None)],
)
def test_a_wrong_field_is_named(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=rf"features\.{field}: found"):
        Features.from_json(Features().to_json() | {field: value})
    with pytest.raises(ValueError, match="expected vote, answer"):
        Features.from_json({"vote": 1.0})
