"""Windows and verdict words in texts, compared with the tool calls and the answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.trajectory import Answer, Drafter, Think, Trajectory, Zoom
from agent.trajectory.statements import Statement, disagreements, quoted_windows, sentence, statements, text_of_step


def a_trajectory(*steps, redshift=None) -> Trajectory:
    return Trajectory("cv", "?", "a.fits", None, steps, Drafter("person", "AB"), redshift=redshift)


def a_zoom(lo, hi, step_id="z1", **more) -> Zoom:
    return Zoom(step_id, {"wavelength_range": [lo, hi]}, **more)


def around(before: str, after: str, window=(6922.0, 7250.0), verdict="YES", explanation="") -> Trajectory:
    return a_trajectory(Think("t1", before), a_zoom(*window), Think("t2", after), Answer("a", verdict, explanation))


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("6950 to 7250 Å", (6950, 7250)),
        ("6950 – 7250 Å", (6950, 7250)),
        ("6,950–7,250 Å", (6950, 7250)),
        ("6950.5--7250.25 Angstroms", (6950.5, 7250.25)),
        ("between 6950 and 7250 Å", (6950, 7250)),
        ("[6950, 7250]", (6950, 7250)),
        ("$6950-7250$ \\AA", (6950, 7250)),
    ],
)
def test_a_window_is_read_in_every_usual_form(text, window):
    (found,) = quoted_windows(f"The region {text} shows it.")
    assert found.window == window


@pytest.mark.parametrize(
    "text",
    [
        "a temperature of 4000-7000 K",
        "plate 0266-51602-0013",
        "lines at 4861 and 6563",
        "velocities of 1000-2000 km/s",
        "640-700 nm",
        "7250 to 6950 Å",
        "about 120-340 counts",
    ],
)
def test_what_is_no_window_is_not_read_as_one(text):
    assert list(quoted_windows(text)) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("First I inspect TiO 7054, 6950 to 7250 Å.", ""),
        ("Let me zoom into the 6950–7250 Å region.", ""),
        ("I zoom in on TiO (6950-7250 Å) to check the band heads.", ""),
        ("", "In the window 6950 to 7250 Å, S/N 20.1 per pixel: no band."),
        ("", "The zoomed region (6950–7250 Å) shows a band head."),
        ("", "The 6950–7250 Å region shows a band head."),
    ],
)
def test_a_text_that_quotes_another_window_than_its_tool_call_disagrees(before, after):
    trajectory = around(before, after)
    (one,) = disagreements(trajectory)
    assert (one.about, one.quoted) == ("z1", (6950.0, 7250.0))
    assert one.new is not None
    assert "6922" in one.new
    assert "the window of step 2 is 6922 – 7250 Å" in sentence(one, trajectory)
    assert disagreements(around(before, after, (6950.0, 7250.0))) == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The spectrum runs from 3700 to 9100 Å.", "The spectrum covers 6900 to 7250 Å."),
        ("Hα at 6563 Å is what matters; TiO 7054 lies at 7054 Å.", ""),
        ("", "Between 7000 and 7100 Å the flux falls."),
        ("", "In the first picture, 4000–5000 Å was noisy."),
        ("The continuum is taken from 6500–6550 Å and 6600–6650 Å.", ""),
        ("", "About 6920–7250 Å is covered."),
    ],
)
def test_a_window_that_is_of_no_tool_call_for_certain_has_no_status(before, after):
    assert disagreements(around(before, after)) == ()


def test_a_window_as_it_was_in_the_draft_is_about_that_zoom():
    draft = around("", "Between 6950 and 7250 Å the flux falls.", (6950.0, 7250.0))
    now = around("", "Between 6950 and 7250 Å the flux falls.", (5375.1, 5575.1))
    assert disagreements(now) == ()
    (one,) = disagreements(now, draft)
    assert one.new == "5375.1 and 5575.1 Å"


def test_a_zoom_put_between_a_thought_and_its_tool_call_is_noticed_but_not_written_anew():
    trajectory = a_trajectory(
        Think("t1", "Next zoom: CaH 6385, 6320 to 6440 Å."),
        a_zoom(5375.1, 5575.1, "z1"),
        Think("t2", "Then the next."),
        a_zoom(6320.0, 6440.0, "z2"),
        Think("t3", "No."),
        Answer("a", "NO"),
    )
    (one,) = disagreements(trajectory)
    assert (one.about, one.actual, one.new) == ("z1", "5375.1 – 5575.1 Å", None)


def test_a_window_of_the_other_frame_agrees():
    steps = (Think("t1", "I zoom to 7150.0–7470.0 Å."), a_zoom(6500.0, 6790.9, frame="rest", z=0.1))
    assert disagreements(a_trajectory(*steps, Answer("a", "NO"), redshift=0.1)) == ()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("The points add up to +2.5; above 0 is YES, so NO.", "NO"),
        ("Start −2.5, total +1.3; YES needs more than 0: YES.", "YES"),
        ("Therefore the answer is **YES**.", "YES"),
        ("Final: \\boxed{NO}", "NO"),
        ("so the verdict is no.", "NO"),
        ("These data allow no answer; NO is a default.", "NO"),
        ("YES (+2.1)", "YES"),
    ],
)
def test_the_word_that_concludes_the_last_thought_is_compared_with_the_answer(text, word):
    for verdict in ("YES", "NO"):
        found = disagreements(around("Zoom.", text, verdict=verdict))
        assert [s.says for s in found] == ([] if verdict == word else [word])
        assert all(s.new is None for s in found)
        assert disagreements(around("Zoom.", "Then.", verdict=verdict, explanation=text)) != () or verdict == word


@pytest.mark.parametrize(
    "text",
    ["If Hα is broad, YES.", "YES or NO?", "NO emission lines.", "It would be YES.", "There is no doubt.", "YES/NO"],
)
def test_words_that_conclude_nothing_have_no_status(text):
    for verdict in ("YES", "NO"):
        assert disagreements(around("Zoom.", text, verdict=verdict)) == ()


PIECES = st.sampled_from(
    [
        "In the window 6950 to 7250 Å, S/N 20.1: ",
        "First zoom: TiO, 6402 to 6702 Å. ",
        "The 4800–4900 Å region is noisy. ",
        "A 🜚 star; Hα −4.2 ± 0.1 Å. ",
        "So YES. ",
        "[6950, 7250] ",
        "\n",
    ]
)
WINDOWS = st.tuples(st.integers(3000, 8000), st.integers(5, 1500)).map(lambda w: (w[0] / 1.0, w[0] + w[1] / 10.0))


def written_anew(trajectory: Trajectory, found: tuple[Statement, ...]) -> Trajectory:
    texts = {s.id: text_of_step(s) for s in trajectory.steps}
    for statement in sorted(found, key=lambda s: -s.start):
        if statement.new is not None:
            text = texts[statement.step]
            texts[statement.step] = text[: statement.start] + statement.new + text[statement.end :]
    return trajectory.with_steps(
        tuple(Think(s.id, texts[s.id]) if isinstance(s, Think) else s for s in trajectory.steps)
    )


@given(st.lists(PIECES, max_size=5).map("".join), st.lists(PIECES, max_size=5).map("".join), WINDOWS)
def test_places_are_those_of_the_text_and_a_text_written_anew_agrees(before, after, window):
    trajectory = around(before, after, window)
    for statement in statements(trajectory):
        text = text_of_step(trajectory.step(statement.step))
        assert text[statement.start : statement.end].upper() == statement.says.upper()
    again = written_anew(trajectory, disagreements(trajectory))
    assert [disagreement for disagreement in disagreements(again) if disagreement.new is not None] == []
