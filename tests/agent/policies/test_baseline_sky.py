"""The baseline with records of catalogues: what it assesses, writes and records, and that nothing changes without."""

import re
from dataclasses import replace

import pytest

from agent.loop import run
from agent.measure import Undefined
from agent.policies.baseline.rule import MAX_WINDOWS, Baseline
from agent.policies.baseline.scorecard import SKY_FILE, assess, presence, scorecards
from agent.policies.roster import Roster
from agent.simulate import simulate
from agent.simulate.sky import sky_of
from agent.sky.records import Sky
from agent.tasks import load
from agent.tasks.values import SkyFeature
from agent.trajectory import Trajectory
from agent.trajectory.steps import Think

TASKS = load()
DWARF = simulate("dm", "LAMOST", 30.0, 4)
RECORDS = sky_of(DWARF)


def with_sky(sky: Sky) -> Baseline:
    return Baseline(lambda sha256: sky)


@pytest.fixture(scope="module")
def draft() -> Trajectory:
    return run(DWARF, TASKS["gm"], with_sky(RECORDS))


def record(**fields: object) -> Sky:
    return Sky.of([replace(RECORDS.records["gaia_dr3"], **{"sources": (), **fields})])  # type: ignore[arg-type]


def test_one_call_of_the_tool_after_the_zooms_and_the_numbers_with_their_bounds(draft: Trajectory) -> None:
    *zooms, last = draft.zooms
    assert last.shows_sky
    assert last.ok
    assert 1 <= len(zooms) <= MAX_WINDOWS
    assert not any(zoom.shows_sky for zoom in zooms)
    thought = [step.text for step in draft.steps if isinstance(step, Think)][-1]
    assert re.search(
        r"Luminosity of a giant: absolute magnitude M_G \d+\.\d+ ± \d.* mag, expected below 4 mag: no", thought
    )
    assert "no luminosity of a giant (−" in thought
    assert draft.problems() == []
    assert draft.faults == ()
    assert draft.answer is not None
    assert draft.answer.score == pytest.approx(assess(DWARF, TASKS["gm"], RECORDS).score, abs=1e-4)


def test_the_points_in_the_text_add_up(draft: Trajectory) -> None:
    thought = [step.text for step in draft.steps if isinstance(step, Think)][-1].replace("−", "-")
    start, total = map(float, re.search(r"Start ([-+.\d]+), total ([-+.\d]+);", thought).groups())  # type: ignore[union-attr]
    points = [float(p) for p in re.findall(r"\(([-+][.\d]+)\)", thought[thought.index("Start") - 2000 :])]
    assert start + sum(points) == pytest.approx(total, abs=0.05 * (len(points) + 2))


def test_the_drafter_says_that_it_has_records_and_without_them_is_the_one_it_was(draft: Trajectory) -> None:
    plain = Baseline().drafter.settings
    assert set(plain) == {"version", "scorecards_sha256"}
    settings = with_sky(RECORDS).drafter.settings
    assert settings["sky"] is True
    assert settings["scorecards_sha256"] == plain["scorecards_sha256"]
    assert len(settings["sky_scorecards_sha256"]) == 64
    assert Roster([]).policy("baseline", sky=lambda sha256: RECORDS).drafter.settings["sky"] is True


@pytest.mark.parametrize(
    ("sky", "reason"),
    [
        (record(status="failed", detail="a timeout"), "Gaia was not queried, or did not answer"),
        (record(status="not found", detail=""), "Gaia has no source at the position"),
        (Sky(), "Gaia was not queried, or did not answer"),
    ],
)
def test_records_that_tell_nothing_add_no_points_and_the_reason_is_written(sky: Sky, reason: str) -> None:
    found = assess(DWARF, TASKS["gm"], sky)
    assert all(isinstance(f.measured, Undefined) and f.points == 0 for f in found.sky)
    assert found.total == assess(DWARF, TASKS["gm"]).total
    trace = run(DWARF, TASKS["gm"], with_sky(sky))
    assert any(isinstance(step, Think) and reason in step.text for step in trace.steps)


def test_with_few_turns_the_call_is_kept_and_with_one_the_numbers_are_still_written() -> None:
    trace = run(DWARF, TASKS["gm"], with_sky(RECORDS), max_turns=2)
    assert [zoom.shows_sky for zoom in trace.zooms] == [True]
    trace = run(DWARF, TASKS["gm"], with_sky(RECORDS), max_turns=1)
    assert trace.zooms == ()
    assert any(isinstance(step, Think) and "M_G" in step.text for step in trace.steps)


@pytest.mark.parametrize("task", TASKS.values(), ids=list(TASKS))
def test_every_entry_has_points_of_its_role(task) -> None:
    """The card and the task file are two files; a limit that excludes nothing says nothing."""
    points = scorecards(SKY_FILE)[task.key].points
    assert set(points) == {entry.name for entry in task.sky}
    for entry in task.sky:
        present, absent = points[entry.name].present, points[entry.name].absent
        assert (present <= 0 and absent == 0) if entry.role == "confuser" else (present >= 0 >= absent)
        if entry.quantity == "absolute_magnitude_limit":
            assert absent == 0


def test_a_poor_parallax_counts_less() -> None:
    entry = SkyFeature("Luminosity", "primary", "absolute_magnitude", "", (), below=4.0)
    good, poor = (presence(entry, replace(assess_magnitude(), error=error)) for error in (0.05, 0.4))
    assert 0.5 < poor < good < 1


def assess_magnitude():
    from agent.measure import Measured

    return Measured(3.5, 0.1, "mag")
