"""Power by simulation, and its command and route."""

from __future__ import annotations

import json

import numpy as np
import pytest

import app
from reviewer.blind.plan import PlanError
from reviewer.blind.power import DEFAULT, Spread, panel, power, simulated


def test_power_grows_with_difference_scorers_and_spectra() -> None:
    small = power(20, 3, 3, 0.3, simulations=60)
    large = power(40, 6, 6, 0.6, simulations=60)
    assert small.power < 0.5 < large.power
    assert small.low <= small.power <= small.high
    assert large.sentence.startswith("6 scorers, 40 spectra, 2 sources: ")
    assert "chance to show a difference of 0.6" in large.sentence
    assert power(20, 3, 3, 0.3, simulations=60) == small


def test_no_difference_is_seldom_shown() -> None:
    assert power(30, 6, 3, 0.0, simulations=150).power < 0.12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((9, 6, 6), "spectra: found 9, expected 10 or more"),
        ((20, 2, 2), "scorers: found 2, expected 3 or more"),
        ((20, 4, 5), "each: found 5, expected 1 to 4"),
        ((20, 4, 4, 0.3, 1), "sources: found 1, expected two or more"),
    ],
)
def test_a_session_without_an_interval_has_no_power(arguments: tuple[int, ...], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        power(*arguments, simulations=2)


def test_simulated_sessions_have_balanced_blocks_and_whole_scores() -> None:
    rng = np.random.default_rng(2)
    ratings = simulated(rng, 60, panel(rng, 6, 2), 2, (0.5, 0.0), missing=0.0, spread=replace_rest(0.1))
    assert set(ratings.values) <= set(range(6))
    assert len(ratings.values) == 60 * 2 * 2
    pairs = {spectrum: {s for i, s in zip(ratings.spectra, ratings.scorers, strict=True) if i == spectrum}
             for spectrum in set(ratings.spectra)}  # fmt: skip
    counts = [sum(pair == {a, b} for pair in pairs.values()) for a in "012345" for b in "012345" if a < b]
    assert max(counts) - min(counts) <= 2
    assert sum(counts) == 60


@pytest.mark.parametrize(("scorers", "each"), [(8, 4), (50, 25)])
def test_blocks_of_many_scorers_are_balanced_and_made_at_once(scorers: int, each: int) -> None:
    """There are 10^14 sets of 25 of 50 scorers."""
    rng = np.random.default_rng(2)
    ratings = simulated(rng, 30, panel(rng, scorers, 2), each, (0.0, 0.0))
    loads = [ratings.scorers.count(str(scorer)) / 2 for scorer in range(scorers)]
    assert max(loads) - min(loads) <= 1
    assert len(ratings.values) == 30 * each * 2


def replace_rest(rest: float) -> Spread:
    return Spread(DEFAULT.spectrum, DEFAULT.trace, DEFAULT.scorer, DEFAULT.taste, rest)


def test_the_command_prints_sentences_and_json(capsys) -> None:
    def run(spectra: str, *more: str) -> tuple[int, str, str]:
        few = ("--simulations", "5", "--difference", "0.5")
        status = app.main(["blind", "power", "--n-spectra", spectra, "--n-scorers", "3", *few, *more])
        return status, *capsys.readouterr()

    status, out, _ = run("12")
    assert status == 0
    assert "3 scorers, 12 spectra, 2 sources: " in out
    assert "standard deviations: spectrum 0.6, trace 0.5" in out
    assert json.loads(run("12", "--json")[1])["power"][0]["difference"] == 0.5
    status, _, err = run("5")
    assert (status, "--spectra: found 5, expected 10 or more" in err) == (2, True)
