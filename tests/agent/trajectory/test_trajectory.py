"""A trajectory keeps its value through its JSON form, and bad JSON is named field by field."""

import json

import pytest
from hypothesis import given

from agent.trajectory import Answer, Drafter, Think, Trajectory, TrajectoryError, Zoom, new_step_id
from tests.support.strategies import trajectories

SMALL = Trajectory(
    task="cv",
    prompt="Is it?",
    spectrum_name="a.fits",
    spectrum_sha256=None,
    steps=(
        Think("s1", "Look at Hα."),
        Zoom("s2", {"wavelength_range": [6500, 6600], "label": "Hα"}, "rest", 0.1, picture="ab" * 32),
        Think("s3", "Broad."),
        Answer("s4", "YES", "broad Hα"),
    ),
    drafter=Drafter("person", "JD"),
)


@given(trajectories())
def test_the_json_form_gives_back_an_equal_value(trajectory):
    text = json.dumps(trajectory.to_json(), allow_nan=False)
    again = Trajectory.from_json(json.loads(text))
    assert again == trajectory
    assert again.content_hash() == trajectory.content_hash()


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("schema", "other/1", "schema: found 'other/1', wanted 'spec-o3/trajectory/1'"),
        ("task", None, "task: found None, wanted text"),
        ("prompt", "\ud800", "prompt: found half a character"),
        ("redshift", True, "redshift: found True, wanted a finite number"),
        ("redshift", float("nan"), "redshift: found nan"),
        ("redshift", 10**400, "redshift: found 1000"),
        ("label", "MAYBE", "label: found 'MAYBE', wanted YES, NO or null"),
        ("medium", "water", "medium: found 'water', wanted one of vacuum, air"),
        ("drafter", {"kind": "robot", "name": ""}, "drafter.kind: found 'robot'"),
        ("simulated", "no", "simulated: found 'no', wanted true or false"),
        ("steps", {}, "steps: found dict, wanted a list"),
        ("steps", [7], r"steps\[1\]: found int, wanted an object"),
        ("steps", [{"id": "s1", "kind": "guess"}], r"steps\[1\].kind: found 'guess', wanted one of think"),
        ("steps", [{"id": [], "kind": "think"}], r"steps\[1\].id: found \[\], wanted text"),
        ("faults", "none", "faults: found 'none', wanted a list"),
    ],
)
def test_a_bad_field_is_named_with_what_was_found_and_what_was_wanted(field, value, words):
    with pytest.raises(TrajectoryError, match=words):
        Trajectory.from_json(SMALL.to_json() | {field: value})


def test_two_steps_with_one_id_are_refused():
    data = SMALL.to_json()
    data["steps"][2]["id"] = "s1"
    with pytest.raises(TrajectoryError, match="two with the id 's1'"):
        Trajectory.from_json(data)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_arguments_that_json_cannot_hold_are_refused(number):
    data = SMALL.to_json()
    data["steps"][1]["arguments"] = {"wavelength_range": [6500, number]}
    with pytest.raises(TrajectoryError, match=r"steps\[2\].arguments: found what JSON cannot hold"):
        Trajectory.from_json(data)


def test_what_is_no_object_is_refused():
    with pytest.raises(TrajectoryError, match="found list, wanted an object"):
        Trajectory.from_json([])


def test_a_rest_frame_window_is_converted_to_observed_wavelengths():
    assert SMALL.zooms[0].window == (6500.0, 6600.0)
    assert SMALL.zooms[0].window_observed == pytest.approx((7150.0, 7260.0))


@pytest.mark.parametrize("bad", [10**400, float("nan"), float("inf"), "6500", None])
def test_a_window_that_is_not_two_numbers_is_none_however_long_they_are(bad):
    assert Zoom("s1", {"wavelength_range": [bad, 6600]}).window is None
    assert Zoom("s1", {"wavelength_range": [6500, bad]}).window_observed is None


def test_a_complete_trajectory_has_no_problems():
    assert SMALL.problems() == []


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ((Think("s1", "a"),), "the last step is not an answer"),
        ((Think("s1", "a"), Answer("s2", None)), "the answer is neither YES nor NO"),
        ((Answer("s1", "NO"),), "turn 1 has no think text"),
        ((Think("s1", "a"), Zoom("s2", {}), Think("s3", "b"), Answer("s4", "NO")), "step 2 has no picture"),
        ((Think("s1", "a </think>"), Answer("s2", "NO")), "step 1 contains </think>"),
        ((Think("s1", "a"), Answer("s2", "NO"), Answer("s3", "NO")), "there is more than one answer"),
    ],
)
def test_what_keeps_a_trajectory_from_being_training_data_is_said(steps, problem):
    assert any(found.startswith(problem) for found in SMALL.with_steps(steps).problems())


def test_a_new_step_gets_an_id_no_step_has():
    assert new_step_id(SMALL.steps) == "s5"
    assert new_step_id(()) == "s1"
