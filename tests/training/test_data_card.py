"""The data card counts what is there, the same whatever the order, and tells it in three forms."""

import json
import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Zoom
from tests.support.drawn_traces import a_spectrum, a_trace
from tests.support.made_data import published_set, specvi_file, specvi_row
from training.data import DataCard, Dropped, card, examples, questions
from training.data.records import Example


def example(number: int, trajectory: Trajectory, **more: float | str) -> Example:
    return Example(f"row {number}", f"{number // 2}.fits", trajectory, list, **more)  # type: ignore[arg-type]


def some() -> list[Example]:
    one = a_trace(a_spectrum(), label="YES", faults=("conversations[2]: 3 damaged characters repaired",))
    model = Drafter("model", "m")
    other = a_trace(a_spectrum(), "NO", label="YES", simulated=True, drafter=model)
    damaged = replace(
        one,
        faults=("conversations[9]: 12 damaged characters repaired", "U+0003 could not be repaired, in 'a 3'"),
    )
    unlabelled = a_trace(a_spectrum(), "NO", task="wd")
    return [
        example(0, one, survey="LAMOST", snr=10.0),
        example(1, other, survey="simulated LAMOST", snr=20.0),
        example(2, damaged),
        example(3, unlabelled),
    ]


def test_what_is_there_is_counted() -> None:
    found = card(some())
    assert (found.kind, found.rows, found.sources, found.simulated) == ("examples", 4, 2, 1)
    assert found.classes == {"cv": {"YES": 3}, "wd": {"NO": 1}}
    assert found.surveys == {"LAMOST": 1, "not said": 2, "simulated LAMOST": 1}
    assert found.snr is not None
    assert (found.snr.known, found.snr.mean, found.snr.quantiles[3]) == (2, 15.0, 15.0)


def test_what_the_trajectories_did_is_counted() -> None:
    looks = card(some()).looks
    assert looks is not None
    assert looks.windows == {"cv": (("6500-6600", 3),), "wd": (("6500-6600", 1),)}
    assert (looks.calls, looks.turns, looks.refused_calls) == ({2: 4}, {3: 4}, 4)
    assert looks.drafters == {"baseline": 3, "model": 1}
    assert looks.against_label == 1
    assert looks.faults == {"n damaged characters repaired": 2, "a character could not be repaired": 1}


def test_tokens_are_counted_where_somebody_can() -> None:
    assert card(some()).tokens is None
    tokens = card(some(), lambda one: 100 * len(one.key) + int(one.key[-1]), limit=501).tokens
    assert tokens is not None
    assert (tokens.spread.quantiles[0], tokens.spread.quantiles[-1], tokens.too_long) == (500.0, 503.0, 2)


def test_what_was_left_out_is_counted_by_reason() -> None:
    left_out = [Dropped(f"row {n}", "no label") for n in (5, 3, 4, 1)] + [Dropped("row 9", "two answers")]
    reasons = card(some(), dropped=left_out).dropped
    assert [(one.reason, one.rows, one.named) for one in reasons] == [
        ("no label", 4, ("row 1", "row 3", "row 4")),
        ("two answers", 1, ("row 9",)),
    ]


def test_the_order_of_rows_does_not_matter() -> None:
    records, left_out = some(), [Dropped(f"row {n}", f"reason {n % 2}") for n in range(7)]
    one = card(records, dropped=left_out)
    random.Random(1).shuffle(records)
    random.Random(1).shuffle(left_out)
    assert card(records, dropped=left_out) == one


def test_it_is_told_in_three_forms() -> None:
    found = card(some(), lambda _: 7, 5, [Dropped("row 9", "found a | b")])
    told = found.text()
    assert told.startswith("4 examples of 2 spectra; 1 simulated; 1 answer against their label; 4 calls that ")
    assert "4 longer than 5 tokens; 1 left out." in told
    assert "  cv    6500-6600 (3)" in told
    assert "| cv | 3 | 0 |" in found.markdown()
    assert "found a \\| b" in found.markdown()
    plain = json.loads(json.dumps(found.to_json()))
    assert plain["looks"]["calls"] == {"2": 4}
    assert plain["dropped"] == [{"reason": "found a | b", "rows": 1, "named": ["row 9"]}]


def test_every_line_of_a_markdown_table_has_its_columns() -> None:
    lines = card(some(), lambda _: 7, dropped=[Dropped("a|b", "c\nd|e")]).markdown().splitlines()
    for before, line in pairwise(lines):
        if before.startswith("|") and line.startswith("|"):
            assert before.replace("\\|", "").count("|") == line.replace("\\|", "").count("|")


def test_a_card_of_questions_has_no_trajectories(tmp_path: Path) -> None:
    asked = questions([specvi_file(tmp_path / "test_cv.parquet", [specvi_row(n) for n in range(5)])])
    found = card(asked)
    assert (found.kind, found.looks, found.tokens, found.snr) == ("questions", None, None, None)
    assert found.classes == {"cv": {"NO": 3, "YES": 2}}
    assert found.text().startswith("5 questions of 5 spectra; nothing left out.")
    assert "cv" in found.markdown()


def test_a_card_of_nothing_can_be_told() -> None:
    found = card([])
    assert found.text() == "0 questions of 0 spectra; nothing left out."
    assert json.dumps(found.to_json())


def test_the_published_layout_makes_a_card(tmp_path: Path) -> None:
    found = card(examples([published_set(tmp_path / "set", range(4))]))
    assert isinstance(found, DataCard)
    assert found.surveys == {"LAMOST": 4}
    assert found.looks is not None
    assert "the row does not say the frame: windows are read as observed wavelengths" in found.looks.faults


@pytest.mark.parametrize("window", [[6500.4, 6599.6], [6500, 6600.2]])
def test_windows_are_counted_to_the_angstrom(window: list[float]) -> None:
    trace = a_trace(a_spectrum())
    steps = tuple(
        replace(step, arguments={"wavelength_range": window}) if isinstance(step, Zoom) else step
        for step in trace.steps
    )
    looks = card([example(0, trace.with_steps(steps))]).looks
    assert looks is not None
    assert looks.windows == {"cv": (("6500-6600", 1),)}
