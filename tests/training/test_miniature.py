"""What the miniature proof asks and what its script says, without torch."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PIL import Image

from agent.tasks import load_all
from agent.trajectory.steps import Think
from app import main
from training.miniature.examples import (
    MIXES,
    TASKS,
    ZOOM_TARGETS,
    Part,
    described,
    description,
    inspected,
    questions,
    texts,
)
from training.miniature.proof import Line, table
from training.miniature.stages import SCALES
from training.reward import score

PARTS: tuple[Part, ...] = ("pictures", "sft", "grpo", "bench")


def same(image: Image.Image) -> Image.Image:
    return image


def test_no_spectrum_is_in_two_parts() -> None:
    sources = [one.source for part in PARTS for one in questions(part, 40)]
    assert len(set(sources)) == len(sources)


def test_parts_are_balanced_by_task_and_label() -> None:
    asked = questions("bench", 40)
    for mix in MIXES:
        own = [one for one in asked if one.task.key == mix.task]
        assert len(own) == 20
        assert sum(one.label == "YES" for one in own) == 10


def test_questions_are_the_same_each_time_and_say_that_they_are_simulated() -> None:
    one, again = questions("grpo", 3)[2], questions("grpo", 12)[2]
    assert one == again
    spectrum = one.spectrum()
    assert (spectrum.flux == again.spectrum().flux).all()
    assert one.simulated
    assert one.source == spectrum.name
    assert one.survey == spectrum.survey
    assert spectrum.meta["simulated"] is True


def test_its_tasks_can_be_asked_live() -> None:
    known, problems = load_all([TASKS])
    assert not problems
    assert [mix.task for mix in MIXES] == ["mini_cv", "mini_cc"]
    for mix in MIXES:
        assert len(known[mix.task].prompt) < 200
        for feature in known[mix.task].features:
            whole = known[mix.kind].feature(feature.name)
            assert (feature.window, feature.span, feature.side_bands, feature.below, feature.above) == (
                whole.window,
                whole.span,
                whole.side_bands,
                whole.below,
                whole.above,
            )


def test_a_class_is_drawn_in_the_wanted_states_only() -> None:
    positives = [one for one in questions("sft", 60) if one.task.key == "mini_cv" and one.label == "YES"]
    assert {one.spectrum().meta["state"] for one in positives} == {"quiescent"}


def test_the_script_looks_says_what_is_there_and_is_right() -> None:
    question = questions("sft", 1)[0]
    example = inspected(question, same, with_tool=True)
    trajectory = example.trajectory
    assert not trajectory.problems()
    assert [tuple(zoom.arguments["wavelength_range"]) for zoom in trajectory.zooms] == [
        look.window for look in ZOOM_TARGETS["mini_cv"]
    ]
    assert len(example.pictures()) == 3
    said = texts([example])
    assert score("\n".join(text for text in said if "<think>" in text), "YES").score == 1.0
    first = description(question.spectrum(), question.task, ZOOM_TARGETS["mini_cv"][0])
    assert any(first in step.text for step in trajectory.steps if isinstance(step, Think))


def test_without_the_tool_the_script_speaks_once_and_of_no_look() -> None:
    example = inspected(questions("sft", 3)[2], same, with_tool=False)
    assert example.trajectory.zooms == ()
    assert len(list(example.trajectory.turns())) == 1
    assert len(example.pictures()) == 1
    assert not any("look" in step.text for step in example.trajectory.steps if isinstance(step, Think))


def test_signs_follow_the_spectrum() -> None:
    said: dict[tuple[str, str], list[str]] = {}
    for one in questions("pictures", 80):
        sentence = description(one.spectrum(), one.task, ZOOM_TARGETS[one.task.key][0])
        said.setdefault((one.task.key, one.label), []).append(sentence)

    def share(task: str, label: str, sentence: str) -> float:
        return said[task, label].count(sentence) / len(said[task, label])

    # Not all: cosmic rays, arm joins and narrow-lined binaries are measured as they are.
    assert share("mini_cv", "YES", "Hα is in broad emission.") > 0.8
    assert share("mini_cv", "NO", "Hα is in broad emission.") < 0.1
    assert share("mini_cv", "NO", "Hα is in narrow emission.") > 0.2
    assert share("mini_cc", "YES", "C2 5165 is deep.") > 0.7
    assert share("mini_cc", "NO", "C2 5165 is deep.") == 0


@pytest.mark.parametrize(("overviews", "places"), [(False, ["zoom"]), (True, ["zoom", "overview"])])
def test_single_pictures_are_a_zoom_a_look_and_the_overview_where_it_is_wanted(
    overviews: bool, places: list[str]
) -> None:
    found = described(questions("pictures", 1)[0], same, overviews)
    assert [one.key.split()[-1] for one in found] == places * 2
    assert all(len(one.pictures()) == 1 for one in found)
    prompts = {one.trajectory.prompt for one in found}
    assert prompts == {"What does the spectrum show at Hα?", "What does the spectrum show at Hβ?"}


def test_the_table_has_a_mean_where_there_are_several_seeds() -> None:
    lines = [Line("sft", seed, 200, 1.0, 0.5 + seed / 10, 0.6, 0.7, 0.6, 0.8, 2.0) for seed in (0, 1)]
    text = table(lines)
    assert re.search(r"\| SFT \| 1 \| 100\.0 \| 0\.600 \| 60\.0 \| 70\.0 \[60\.0, 80\.0\] \| 2\.00 \|", text)
    assert re.search(r"\| \*\*SFT\*\* \| mean \| 100\.0 \| 0\.550 \| 60\.0 \| 70\.0 \| 2\.00 \|", text)
    assert "simulated" in text


@pytest.mark.parametrize("seeds", ["", "1,1", "-1", "a"])
def test_seeds_that_are_none_are_refused(seeds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["miniature", "--seeds", seeds])
    assert "expected different whole numbers" in capsys.readouterr().err


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    from training.miniature.proof import ProofError, prove

    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ProofError, match="holds something that is no proof"):
        prove(tmp_path, (0,), SCALES["quick"])
