"""How well a program tells sources apart by layout and wording: known cases."""

from __future__ import annotations

import json
from random import Random

import pytest

from agent.trajectory import Trajectory, Zoom
from agent.trajectory.steps import Answer, Think
from reviewer.blind.fingerprints import FEATURES, Fingerprints, Trace, fingerprints
from tests.support.blind_campaign import two_sources
from tests.support.campaign import a_trajectory

WORDS = ["broad", "narrow", "line", "continuum", "blue", "red", "emission", "absorption", "weak", "noise", "sky"]


def made(rng: Random, words: list[str] = WORDS, steps: int | None = None) -> Trajectory:
    thoughts = [" ".join(rng.choices(words, k=12)) for _ in range(steps or rng.randint(2, 5))]
    zoom = Zoom("z", {"wavelength_range": [6500, 6600], "label": rng.choice(words)})
    answer = Answer("a", "YES", " ".join(rng.choices(words, k=8)))
    return a_trajectory().with_steps((*(Think(f"s{n}", text) for n, text in enumerate(thoughts)), zoom, answer))


def session(number: int, sources: dict[str, dict], seed: int = 1) -> list[Trace]:
    """A trace of each source for each spectrum."""
    rng = Random(seed)
    return [(source, f"{n:064x}", made(rng, **given)) for n in range(number) for source, given in sources.items()]


def test_alike_sources_cannot_be_told_apart() -> None:
    found = [fingerprints(session(50, {"A": {}, "B": {}}, seed)) for seed in range(4)]
    for name in ("layout", "wording", "both"):
        aucs = [getattr(one, name).auc for one in found]
        assert 0.42 < sum(aucs) / len(aucs) < 0.58, name
    assert sum(one.both.low < 0.5 < one.both.high for one in found) >= 3


def test_sources_that_differ_in_length_are_told_apart_by_layout_alone() -> None:
    found = fingerprints(session(30, {"A": {"steps": 3}, "B": {"steps": 9}}))
    assert found.layout.auc == found.both.auc == 1.0
    assert found.medians["A"]["steps"] == 5
    assert found.medians["B"]["steps"] == 11
    assert "with AUC 1.00 (0.5: not at all, 1: always)." in found.sentence


def test_sources_that_differ_in_words_are_told_apart_by_wording_alone() -> None:
    """One has "sun" where the other has "sky"."""
    found = fingerprints(session(40, {"A": {"steps": 3}, "B": {"steps": 3, "words": [*WORDS[:-1], "sun"]}}))
    assert found.wording.auc > 0.95
    assert found.both.auc > 0.95
    assert found.layout.auc < 0.7
    assert found.wording.low <= found.wording.auc <= found.wording.high


def test_of_three_sources_the_mean_of_one_against_the_others_is_given() -> None:
    found = fingerprints(session(30, {"A": {"steps": 3}, "B": {"steps": 3}, "C": {"steps": 9}}))
    # C is told apart always, A and B not from each other but from C: (1 + 0.75 + 0.75) / 3.
    assert found.layout.auc == pytest.approx(0.83, abs=0.07)


def test_both_traces_of_a_spectrum_are_in_one_fold() -> None:
    """Otherwise a program could learn the spectrum: here its words are the same in both traces, and in no other."""
    rng = Random(3)
    traces: list[Trace] = []
    for n in range(40):
        own = [f"{chr(97 + n % 26)}{chr(97 + n // 26)}{chr(97 + k)}" for k in range(8)]
        # The source follows from the spectrum, three traces of each, so that its words tell the source.
        traces += [("AB"[n % 2], f"{n:064x}", made(rng, own, steps=3)) for _ in range(3)]
    assert fingerprints(traces).wording.auc < 0.65


def test_the_order_of_the_traces_changes_nothing() -> None:
    traces = session(25, {"A": {"steps": 3}, "B": {}})
    first = fingerprints(traces)
    Random(1).shuffle(traces)
    assert fingerprints(traces) == first
    assert json.loads(json.dumps(first.to_json()))["both"]["auc"] == first.both.auc


@pytest.mark.parametrize(
    ("traces", "reason"),
    [
        ([], "there are no two sources"),
        (session(30, {"A": {}}), "there are no two sources"),
        (session(9, {"A": {}, "B": {}}), "it takes 10 traces of each source, and A has 9, B has 9"),
    ],
)
def test_without_enough_traces_there_is_a_reason(traces: list[Trace], reason: str) -> None:
    found = fingerprints(traces)
    assert found.both.auc is None
    assert found.both.reason == reason
    assert reason in found.sentence
    assert set(found.medians) == {source for source, _, _ in traces}


def test_few_spectra_give_no_interval() -> None:
    found: Fingerprints = fingerprints(session(12, {"A": {}, "B": {}}))
    assert found.both.auc is not None
    assert (found.both.low, found.both.high) == (None, None)


def test_traces_without_words_pictures_or_spectrum() -> None:
    silent = a_trajectory().with_steps((Answer("a", "YES", ""),))
    found = fingerprints([(source, None, silent) for source in "AB" for _ in range(12)])
    assert found.wording.reason == "the traces have no words"
    assert found.layout.auc == 0.5
    assert set(found.medians["A"]) == set(FEATURES)


def test_words_count_as_much_as_layout_where_both_are_used() -> None:
    """One source begins each thought with the same words; lengths vary much more than that."""
    traces = [(draft.trajectory.drafter.name, draft.spectrum.sha256, draft.trajectory) for draft in two_sources(12)]
    found = fingerprints(traces)
    assert found.layout.auc < 0.8
    assert found.wording.auc == 1.0
    assert found.both.auc > 0.95
