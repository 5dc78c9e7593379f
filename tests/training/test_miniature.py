"""The questions and scripted examples of the miniature proof, without torch."""

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
    sources = [question.source for part in PARTS for question in questions(part, 40)]
    assert len(set(sources)) == len(sources)


def test_parts_are_balanced_by_task_and_label() -> None:
    found = questions("bench", 40)
    for mix in MIXES:
        own = [question for question in found if question.task.key == mix.task]
        assert len(own) == 20
        assert sum(question.label == "YES" for question in own) == 10


def test_questions_are_reproducible_and_marked_as_simulated() -> None:
    question, again = questions("grpo", 3)[2], questions("grpo", 12)[2]
    assert question == again
    spectrum = question.spectrum()
    assert (spectrum.flux == again.spectrum().flux).all()
    assert question.simulated
    assert question.source == spectrum.name
    assert question.survey == spectrum.survey
    assert spectrum.meta["simulated"] is True


def test_its_tasks_can_be_loaded_by_the_live_page() -> None:
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


def test_a_class_is_simulated_in_the_requested_states_only() -> None:
    positives = [
        question for question in questions("sft", 60) if question.task.key == "mini_cv" and question.label == "YES"
    ]
    assert {question.spectrum().meta["state"] for question in positives} == {"quiescent"}


def test_the_script_zooms_describes_the_spectrum_and_answers_correctly() -> None:
    question = questions("sft", 1)[0]
    example = inspected(question, same, with_tool=True)
    trajectory = example.trajectory
    assert not trajectory.problems()
    assert [tuple(zoom.arguments["wavelength_range"]) for zoom in trajectory.zooms] == [
        target.window for target in ZOOM_TARGETS["mini_cv"]
    ]
    assert len(example.pictures()) == 3
    written = texts([example])
    assert score("\n".join(text for text in written if "<think>" in text), "YES").score == 1.0
    first = description(question.spectrum(), question.task, ZOOM_TARGETS["mini_cv"][0])
    assert any(first in step.text for step in trajectory.steps if isinstance(step, Think))


def test_without_the_tool_the_script_writes_one_turn_and_no_zoom() -> None:
    example = inspected(questions("sft", 3)[2], same, with_tool=False)
    assert example.trajectory.zooms == ()
    assert len(list(example.trajectory.turns())) == 1
    assert len(example.pictures()) == 1
    assert not any("look" in step.text for step in example.trajectory.steps if isinstance(step, Think))


def test_descriptions_follow_the_spectrum() -> None:
    sentences: dict[tuple[str, str], list[str]] = {}
    for question in questions("pictures", 80):
        sentence = description(question.spectrum(), question.task, ZOOM_TARGETS[question.task.key][0])
        sentences.setdefault((question.task.key, question.label), []).append(sentence)

    def share(task: str, label: str, sentence: str) -> float:
        return sentences[task, label].count(sentence) / len(sentences[task, label])

    # Not all: cosmic rays, arm joins and narrow-lined binaries change some measurements.
    assert share("mini_cv", "YES", "Hα is in broad emission.") > 0.8
    assert share("mini_cv", "NO", "Hα is in broad emission.") < 0.1
    assert share("mini_cv", "NO", "Hα is in narrow emission.") > 0.2
    assert share("mini_cc", "YES", "C2 5165 is deep.") > 0.7
    assert share("mini_cc", "NO", "C2 5165 is deep.") == 0


@pytest.mark.parametrize(("overviews", "places"), [(False, ["zoom"]), (True, ["zoom", "overview"])])
def test_single_pictures_are_the_zooms_and_if_requested_the_overview(overviews: bool, places: list[str]) -> None:
    found = described(questions("pictures", 1)[0], same, overviews)
    assert [example.key.split()[-1] for example in found] == places * 2
    assert all(len(example.pictures()) == 1 for example in found)
    prompts = {example.trajectory.prompt for example in found}
    assert prompts == {"What does the spectrum show at Hα?", "What does the spectrum show at Hβ?"}


def test_the_table_has_a_mean_for_several_seeds() -> None:
    lines = [Line("sft", seed, 200, 1.0, 0.5 + seed / 10, 0.6, 0.7, 0.6, 0.8, 2.0) for seed in (0, 1)]
    text = table(lines)
    assert re.search(r"\| SFT \| 1 \| 100\.0 \| 0\.600 \| 60\.0 \| 70\.0 \[60\.0, 80\.0\] \| 2\.00 \|", text)
    assert re.search(r"\| \*\*SFT\*\* \| mean \| 100\.0 \| 0\.550 \| 60\.0 \| 70\.0 \| 2\.00 \|", text)
    assert "simulated" in text


@pytest.mark.parametrize("seeds", ["", "1,1", "-1", "a"])
def test_invalid_seeds_are_refused(seeds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["miniature", "--seeds", seeds])
    assert "expected different whole numbers" in capsys.readouterr().err


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    from training.miniature.proof import ProofError, prove

    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ProofError, match="holds something that is no proof"):
        prove(tmp_path, (0,), SCALES["quick"])
