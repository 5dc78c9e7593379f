"""Rows of the published cold-start layout are read, damage and all, and what we write reads back the same."""

import json
from dataclasses import replace

import pytest
from hypothesis import given

from agent.tool import TOOL_BLOCK
from agent.trajectory import Answer, Think, Trajectory, TrajectoryError, Zoom
from tests.support.strategies import trajectories

CALL = '<tool_call>\n{"name": "spectral_visualization_tool", "arguments": %s}\n</tool_call>'
RESPONSE = (
    "<tool_response>\n<image>Generated spectral visualization focused on wavelength range (6500, 6600) Å.\n"
    "</tool_response>"
)


def published_row(calls: int = 1, **changes) -> dict:
    """A row as the published file has them: no redshift, no frame, no drafter."""
    turns = [
        {"from": "system", "value": "You are a helpful assistant." + TOOL_BLOCK},
        {
            "from": "human",
            "value": '<image>\nAnalyze ... is a "Cataclysmic Variables (CV)".\n\nKey indicators',
        },
    ]
    for _ in range(calls):
        asked = '{"label": "H\x03b1", "wavelength_range": [6500, 6600]}'
        turns.append({"from": "gpt", "value": f"<think>Look at H\x03b1.</think>\n{CALL % asked}"})
        turns.append({"from": "human", "value": RESPONSE})
    turns.append({"from": "gpt", "value": r"<think>Broad.</think><answer>\boxed{YES} broad</answer>"})
    row = {
        "conversations": turns,
        "images": [f"images/lf_cv_0_{k}.png" for k in range(calls + 1)],
        "sample_index": 0,
        "source_name": "spec-55886-GAC_sp02-178.fits.gz",
        "ground_truth": "YES",
        "total_iterations": calls + 1,
        "total_tool_calls": calls,
    }
    return row | changes


@given(trajectories(one_think_a_turn=True))
def test_what_is_written_reads_back_as_the_same_values(trajectory):
    paths = [f"images/{n}.png" for n in range(len(trajectory.pictures))]
    row = json.loads(json.dumps(trajectory.to_sharegpt(paths)))
    again = Trajectory.from_sharegpt(row, trajectory.pictures)
    unboxed = trajectory.answer is not None and trajectory.answer.verdict is None
    assert replace(again, faults=()) == trajectory
    assert bool(again.faults) == unboxed


def test_a_published_row_is_read_with_its_damaged_characters():
    trajectory = Trajectory.from_sharegpt(published_row(), ["aa", "bb"])
    assert trajectory.steps == (
        Think("s1", "Look at Hα."),
        Zoom(
            "s2",
            {"label": "Hα", "wavelength_range": [6500, 6600]},
            observation="Generated spectral visualization focused on wavelength range (6500, 6600) Å.",
            picture="bb",
        ),
        Think("s3", "Broad."),
        Answer("s4", "YES", "broad"),
    )
    assert (trajectory.task, trajectory.label, trajectory.overview) == ("cv", "YES", "aa")
    assert trajectory.system == "You are a helpful assistant."
    assert any("2 damaged characters repaired" in fault for fault in trajectory.faults)
    assert any("does not say the frame" in fault for fault in trajectory.faults)


def test_a_row_of_nine_calls_is_read_whole():
    trajectory = Trajectory.from_sharegpt(published_row(calls=9))
    assert len(trajectory.zooms) == 9
    assert len(trajectory.steps) == 20


def test_counts_are_the_published_ones():
    row = Trajectory.from_sharegpt(published_row(calls=3), list("abcd")).to_sharegpt(list("abcd"))
    assert (row["total_iterations"], row["total_tool_calls"], len(row["conversations"])) == (4, 3, 9)


def test_an_answer_to_a_wrong_call_has_no_picture():
    row = published_row()
    row["conversations"][3]["value"] = "<tool_response>\nError: no.\n</tool_response>"
    zoom = Trajectory.from_sharegpt(row | {"images": ["0.png"]}, ["aa"]).zooms[0]
    assert (zoom.ok, zoom.picture, zoom.observation) == (False, None, "Error: no.")


def _without(row: dict, turn: int) -> dict:
    return row | {"conversations": [t for n, t in enumerate(row["conversations"]) if n != turn]}


def _said(row: dict, turn: int, value: object) -> dict:
    said = [dict(t, value=value) if n == turn else t for n, t in enumerate(row["conversations"])]
    return row | {"conversations": said}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (published_row(images=["only.png"]), "images: found 1, wanted 2: one for each <image>"),
        (published_row(images=None), "images: found NoneType, wanted 2"),
        (published_row(conversations=[]), r"conversations: found \[\], wanted a list of turns"),
        (published_row(ground_truth="maybe"), "ground_truth: found 'maybe', wanted YES, NO or null"),
        (_without(published_row(), 1), "conversations: found no question, wanted"),
        (_without(published_row(), 2), "wanted gpt"),
        (_said(published_row(), 2, "<think>a</think>"), r"conversations\[2\]: found no readable tool call"),
        (_said(published_row(), 3, "thanks"), r"conversations\[3\]: found 'thanks', wanted <tool_response>"),
        (_said(published_row(), 1, "no picture"), "found 0 <image> in the question, wanted one"),
        (_said(published_row(), 1, "<image>\nIs it a quasar?"), "wanted one that names a class"),
        (_said(published_row(), 2, 7), r"conversations\[2\].value: found 7, wanted text"),
    ],
)
def test_a_row_that_cannot_be_read_names_the_field(row, words):
    with pytest.raises(TrajectoryError, match=words):
        Trajectory.from_sharegpt(row)
