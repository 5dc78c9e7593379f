"""Swapped parallaxes: what an edit changes and keeps, who follows it, and who is caught."""

import math
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from agent.language import deferred
from agent.loop import run
from agent.measure import Measured
from agent.policies.baseline.rule import Baseline
from agent.simulate import simulate
from agent.sky.facts import facts_of
from agent.sky.records import Sky, SkyRecord, Source
from agent.tasks import load
from agent.trial.edits import NotEdited
from agent.trial.report import EDITS, Trial, summarise
from agent.trial.run import trial
from agent.trial.sky import EditedSky, magnitudes_stated, placebo, states_magnitude, swap
from tests.support.planted_policies import PlantedOnSky

GM = load()["gm"]
STAR = simulate("gm", "SDSS", 8.0, 3)


def sky(**values: float) -> Sky:
    """Gaia's record of an M giant at M_G 0.4 and of a neighbour; ``values`` replace the giant's."""
    giant = {"G": 12.0, "BP": 13.2, "RP": 10.9, "parallax": 0.46, "parallax_error": 0.03, "ruwe": 1.0}
    giant |= {"pm_ra": 2.0, "pm_dec": -3.0, "pm_ra_error": 0.03, "pm_dec_error": 0.03}
    sources = (Source("1", 10.0, 20.0, 0.1, giant | values), Source("2", 10.001, 20.001, 4.9, {"G": 19.0}))
    return Sky.of([SkyRecord("gaia_dr3", "found", 10.0, 20.0, (2016.0, 2016.0), sources=sources)])


def values_of(edited: Sky) -> dict[str, float]:
    return edited.records["gaia_dr3"].sources[0].values


def swapped(of: Sky) -> EditedSky:
    edited = swap(of, STAR, GM)
    assert isinstance(edited, EditedSky)
    return edited


def test_a_swap_moves_a_giant_to_a_dwarf_and_changes_the_parallax_alone() -> None:
    edited = swapped(sky())
    before, after = values_of(sky()), values_of(edited.sky)
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"parallax", "parallax_error"}
    facts = facts_of(edited.sky, STAR)
    magnitude = facts.quantities["absolute_magnitude"]
    assert isinstance(magnitude, Measured)
    assert magnitude.value == pytest.approx(8.0)
    assert edited.after == pytest.approx(8.0)
    was, now = (facts_of(s, STAR).quantities["parallax_over_error"] for s in (sky(), edited.sky))
    assert was.value == pytest.approx(now.value)  # type: ignore[union-attr]
    back = swap(edited.sky, STAR, GM)
    assert isinstance(back, EditedSky)
    assert back.after == pytest.approx(0.0)


def test_a_parallax_that_gives_only_a_limit_is_swapped_for_one_that_gives_a_distance() -> None:
    edited = swapped(sky(parallax=0.0, parallax_error=0.05))
    magnitude = facts_of(edited.sky, STAR).quantities["absolute_magnitude"]
    assert isinstance(magnitude, Measured)
    assert magnitude.value == pytest.approx(10.5)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"parallax": 0.0, "parallax_error": 6.0}, "leaves open"),
        ({"parallax": 2.5, "parallax_error": 0.4}, "hides on which side"),
    ],
)
def test_where_the_records_do_not_decide_nothing_is_swapped(values: dict[str, float], reason: str) -> None:
    edited = swap(sky(**values), STAR, GM)
    assert isinstance(edited, NotEdited)
    assert reason in edited.reason
    failed = SkyRecord("gaia_dr3", "failed", 10.0, 20.0, (2016.0, 2016.0), detail=deferred("a timeout"))
    assert isinstance(swap(Sky.of([failed]), STAR, GM), NotEdited)


def test_the_placebo_turns_motion_and_neighbours_and_leaves_every_quantity() -> None:
    real = swapped(sky())
    edited = placebo(sky(), STAR, real, np.random.default_rng(0))
    assert isinstance(edited, EditedSky)
    before, after = values_of(sky()), values_of(edited.sky)
    assert math.hypot(after["pm_ra"], after["pm_dec"]) == pytest.approx(math.hypot(2.0, 3.0))
    assert (before["pm_ra"], before["pm_dec"]) != (after["pm_ra"], after["pm_dec"])
    assert 0 < edited.energy <= real.energy
    was, now = (facts_of(s, STAR).quantities for s in (sky(), edited.sky))
    assert {k: getattr(v, "value", None) for k, v in was.items()} == pytest.approx(
        {k: getattr(v, "value", None) for k, v in now.items()}
    )
    other = edited.sky.records["gaia_dr3"].sources[1]
    assert (other.ra, other.dec) != (10.001, 20.001)
    assert math.hypot((other.ra - 10) * math.cos(math.radians(20)), other.dec - 20) == pytest.approx(
        math.hypot(0.001 * math.cos(math.radians(20)), 0.001), rel=1e-3
    )


def test_the_baseline_follows_and_the_shares_of_the_spectrum_are_kept_apart() -> None:
    policy = Baseline(lambda sha256: sky())
    of_both = trial(run(STAR, GM, policy), None, STAR, GM, policy)
    alone = trial(run(STAR, GM, Baseline()), None, STAR, GM, Baseline())
    assert (of_both.sky_necessity.k, of_both.sky_necessity.n) == (1, 1)
    assert (of_both.sky_placebo.k, of_both.sky_placebo.n) == (0, 1)
    assert of_both.faithfulness == alone.faithfulness
    assert of_both.necessity == alone.necessity
    form = of_both.to_json()
    assert Trial.from_json(form) == of_both
    assert form["sky_necessity"]["value"] == 1.0
    assert {"sky_necessity", "sky_placebo"}.isdisjoint(alone.to_json())
    assert summarise([of_both])[0].followed["swap"].n == 1
    assert set(EDITS[:5]) == {"remove", "flip", "shift", "inject", "placebo"}


@pytest.mark.parametrize(("kind", "follows"), [("reads", True), ("ignores", False), ("silent", False)])
def test_a_policy_that_ignores_the_records_is_caught(
    kind: Literal["reads", "ignores", "silent"], follows: bool
) -> None:
    policy = PlantedOnSky(kind, sky())
    found = trial(run(STAR, GM, policy), None, STAR, GM, policy)
    assert (found.sky_necessity.k, found.sky_necessity.n) == (int(follows), 1)
    assert found.sky_placebo.k == 0
    assert found.passed is follows
    assert replace(found, outcomes=()).passed is None


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("absolute magnitude M_G −0.32 ± 0.2 mag, expected below 4 mag: yes.", [-0.32]),
        ("M_G = 11.5; its G is 15.", [11.5]),
        ("An absolute magnitude of 4 and a faintest possible M_G 4.9 mag.", [4.0, 4.9]),
        ("The luminosity is that of a giant.", []),
    ],
)
def test_the_magnitudes_that_a_text_states(text: str, stated: list[float]) -> None:
    assert magnitudes_stated(text) == stated
    assert states_magnitude(text, 4.5) is (None if not stated else any(abs(x - 4.5) <= 1 for x in stated))
