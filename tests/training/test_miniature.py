"""The questions, scripted examples and table of the miniature proof, without torch."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from agent import tool
from agent.batch.run import Job
from agent.batch.run import Outcome as Inspected
from agent.tasks import load_all
from agent.tool import TOOL_BLOCK
from agent.trajectory.steps import Answer, Think, Verdict, Zoom
from agent.trajectory.tags import turn_text
from app import main
from training.bench.answers import Answers, Run, place
from training.bench.outcomes import Outcome
from training.data.records import Question
from training.miniature.examples import HABIT, Errors, Script, inspected, phrases, practised, script_of, texts
from training.miniature.results import CLAIMS, Behaviour, Claim, Line, behaviour_of, difference, table
from training.miniature.spectra import LINES, PAIRS, TASKS, Part, practice_spectrum, questions, spectrum_of
from training.miniature.stages import SCALES
from training.reward import score

PARTS: tuple[Part, ...] = ("pictures", "sft", "grpo", "validation", "bench")


def same(image: Image.Image) -> Image.Image:
    return image


def written(question: Question, script: Script, with_tool: bool = True) -> list[str]:
    """Return the turns of an inspection by the script."""
    trajectory = inspected(question, script, same, with_tool).trajectory
    return [step.text for step in trajectory.steps if isinstance(step, Think)]


def test_no_spectrum_is_in_two_parts() -> None:
    sources = [question.source for part in PARTS for question in questions(part, 40)]
    assert len(set(sources)) == len(sources)


def test_parts_are_balanced_by_task_and_label_in_random_order() -> None:
    found = questions("bench", 240)
    orders = []
    for task in PAIRS:
        labels = [question.label for question in found if question.task.key == task]
        assert labels.count("YES") == labels.count("NO") == 40
        orders.append(tuple(labels))
    assert len(set(orders)) == len(PAIRS)


def test_questions_are_reproducible_and_marked_as_simulated() -> None:
    question, again = questions("grpo", 3)[2], questions("grpo", 12)[2]
    assert question == again
    spectrum = question.spectrum()
    assert (spectrum.flux == again.spectrum().flux).all()
    assert question.simulated
    assert question.source == spectrum.name
    assert spectrum.meta["simulated"] is True


def test_its_tasks_can_be_loaded_by_the_live_page() -> None:
    known, problems = load_all([TASKS])
    assert not problems
    assert all(len(known[task].prompt) < 200 for task in PAIRS)


@pytest.mark.parametrize("task", PAIRS)
def test_look_alikes_share_what_the_overview_shows(task: str) -> None:
    """The lines of both have the same height, those in emission the same flux, and another shape."""
    for seed in range(8):
        yes, no = (spectrum_of(task, member, seed, (2000.0, 2000.0), (0.0, 0.0)) for member in (True, False))
        window = PAIRS[task].targets[0].window
        inside = (yes.wavelength > window[0]) & (yes.wavelength < window[1]) & (yes.ivar > 0)
        level = float(np.median(yes.flux[inside]))
        ours, theirs = (np.median(one.flux[inside]) - one.flux[inside] for one in (yes, no))
        assert np.abs(ours).max() == pytest.approx(np.abs(theirs).max(), rel=0.25)
        if task != "mini_broad":
            assert ours.sum() == pytest.approx(theirs.sum(), rel=0.15)
        assert np.abs(ours - theirs).max() > 0.1 * level


def test_practice_shows_every_shape_at_any_wavelength() -> None:
    found = [practice_spectrum(number) for number in range(60)]
    assert {shape for _, shape, _, _ in found} == {
        "two peaks",
        "one peak",
        "three lines",
        "one line",
        "broad",
        "narrow",
        "no line",
    }
    for spectrum, _, centre, (low, high) in found:
        assert spectrum.wavelength[0] < low < centre < high < spectrum.wavelength[-1]
    overview, zoom = practised(0, same), practised(1, same)
    assert (overview.trajectory.prompt, zoom.trajectory.prompt) == (
        "What does the overview show?",
        "What does the zoom show?",
    )
    assert overview.pictures()[0].tobytes() == tool.overview(found[0][0]).tobytes()


def test_the_script_zooms_states_the_shape_and_answers_correctly() -> None:
    for question in questions("sft", 6):
        pair = PAIRS[question.task.key]
        example = inspected(question, script_of(question, 0, Errors()), same, with_tool=True)
        trajectory = example.trajectory
        assert not trajectory.problems()
        windows = [tuple(zoom.arguments["wavelength_range"]) for zoom in trajectory.zooms]
        assert len(windows) == 1
        assert windows[0] in [target.window for target in pair.targets]
        assert len(example.pictures()) == 1 + len(windows)
        turns = "\n".join(text for text in texts([example]) if "<think>" in text)
        assert score(turns, question.label).score == 1.0
        assert turns.count(pair.yes if question.label == "YES" else pair.no) == len(windows)


def test_most_traces_zoom_on_the_bluest_line_which_reddening_makes_the_faintest() -> None:
    found = [question for question in questions("sft", 300) if len(PAIRS[question.task.key].targets) > 1]
    targets = [script_of(question, number, Errors()).target for number, question in enumerate(found)]
    assert set(targets) == {LINES["Hγ"], LINES["Hα"]}
    assert targets.count(LINES["Hγ"]) / len(targets) == pytest.approx(HABIT, abs=0.08)
    for part, bluer in (("sft", True), ("bench", False)):
        ratios = []
        for question in questions(part, 12):
            spectrum = question.spectrum()
            snr = spectrum.flux * np.sqrt(spectrum.ivar)
            blue, red = (
                np.median(snr[(spectrum.wavelength > low) & (spectrum.wavelength < high)])
                for low, high in (LINES["Hγ"].window, LINES["Hα"].window)
            )
            ratios.append(blue / red)
        assert (np.mean(ratios) > 1) == bluer


def test_a_misread_draft_states_and_answers_the_opposite() -> None:
    question = questions("sft", 1)[0]
    right = script_of(question, 0, Errors())
    wrong = script_of(question, 0, Errors(misread=1.0))
    assert {right.label, wrong.label} == {"YES", "NO"}
    pair = PAIRS[question.task.key]
    stated = " ".join(written(question, wrong))
    assert (pair.no if question.label == "YES" else pair.yes) in stated
    assert (pair.yes if question.label == "YES" else pair.no) not in stated


@pytest.mark.parametrize("errors", [Errors(misread=1.0), Errors(astray=1.0), Errors(misread=1.0, astray=1.0)])
def test_a_draft_of_which_only_the_answer_is_corrected_keeps_its_text(errors: Errors) -> None:
    """Thoughts and zooms are those of the draft, the answer is that of the corrected trace."""
    for number, question in enumerate(questions("sft", 6)):
        draft, partly = (
            inspected(question, script_of(question, number, errors, right), same, with_tool=True).trajectory
            for right in (False, True)
        )
        assert partly.steps[:-1] == draft.steps[:-1]
        assert partly.answer is not None
        assert draft.answer is not None
        assert partly.answer.verdict == question.label
        assert (draft.answer.verdict == question.label) == (errors.misread == 0)


def test_a_draft_that_goes_astray_zooms_on_a_line_that_says_nothing_first() -> None:
    question = questions("sft", 1)[0]
    script = script_of(question, 0, Errors(astray=1.0))
    assert script.label == question.label
    assert script.first in set(LINES.values()) - set(PAIRS[question.task.key].targets)
    assert "no help" in " ".join(written(question, script))


def test_phrases_are_in_the_texts_word_for_word() -> None:
    question = questions("sft", 1)[0]
    example = inspected(question, Script("YES", LINES["Hα"]), same, with_tool=True)
    everything = "\n".join(
        [
            *texts([example]),
            "user\n<tool_response>\n",
            "\n</tool_response>",
            "assistant\n",
            "system\nYou are a helpful assistant.",
            TOOL_BLOCK,
        ]
    )
    missing = [phrase for phrase in phrases([question.task.prompt]) if phrase not in everything]
    assert not missing


LINES_OF_TWO = [
    Line(
        *("sft", seed, 200, 1.0, 0.5 + seed / 10, 0.6, 0.7, 0.6, 0.8, 2.0),
        right={"mini_disc": 0.5 + seed / 5, "mini_broad": 1.0},
        behaviour=Behaviour(red=0.25 + seed / 2, stated=0.8 if seed else None),
    )
    for seed in (0, 1)
]


def test_the_table_has_a_mean_for_several_seeds() -> None:
    text = table(LINES_OF_TWO)
    assert re.search(r"\| SFT \| 1 \| 100\.0 \| 0\.600 \| 60\.0 \| 70\.0 \[60\.0, 80\.0\] \| 2\.00 \| 75 \|", text)
    assert re.search(r"\| \*\*SFT\*\* \| mean \| 100\.0 \| 0\.550 \| 60\.0 \| 70\.0 \| 2\.00 \| 50 \|", text)
    assert "| SFT | 60 | – | 100 | 80 | – |" in text
    assert "simulated" in text


def test_what_the_traces_of_a_bench_say_is_counted(tmp_path: Path) -> None:
    disc, broad, other = questions("bench", 7)[0::3]
    assert {disc.task.key, broad.task.key, other.task.key} == {"mini_disc"}
    plain = inspected(disc, Script(disc.label, LINES["Hγ"]), same, with_tool=True).trajectory
    scripted = Script(broad.label, LINES["Hα"], first=LINES["Hβ"])
    twice = inspected(broad, scripted, same, with_tool=True).trajectory
    # It zooms on Hα, calls it Hγ, states one shape and answers with that of the other.
    opposite: Verdict = "NO" if other.label == "YES" else "YES"
    steps = [
        replace(step, arguments={**step.arguments, "label": "Hγ"})
        if isinstance(step, Zoom)
        else replace(step, verdict=opposite)
        if isinstance(step, Answer)
        else step
        for step in inspected(other, Script(other.label, LINES["Hα"]), same, with_tool=True).trajectory.steps
    ]
    confused = replace(plain, steps=tuple(steps))
    with Answers(tmp_path, (disc, broad, other), {"name": "script", "stage": "base"}) as answers:
        for question, trajectory in ((disc, plain), (broad, twice), (other, confused)):
            texts = tuple(turn_text(turn) for turn in trajectory.turns())
            job = Job(place(question), Path(question.source))
            answers.add(Inspected(job, "answered", trajectory=trajectory, texts=texts))
    found = behaviour_of(Run.read(tmp_path))
    assert found == Behaviour(red=pytest.approx(2 / 4), stated=pytest.approx(2 / 3), misnamed=pytest.approx(1 / 4))


def outcomes_of(right: float, seed: int, n: int = 200) -> list[Outcome]:
    """Return outcomes of two tasks of which this share is right, in an order that depends on the seed."""
    rng = np.random.default_rng(seed)
    wrong = rng.permutation(n) >= round(right * n)
    found = []
    for number in range(n):
        label = "YES" if number % 4 < 2 else "NO"
        opposite = "NO" if label == "YES" else "YES"
        predicted = opposite if wrong[number] else label
        found.append(Outcome(f"q{number:03d}", f"s{number}", ("one", "two")[number % 2], label, predicted, predicted))
    return found


def test_a_difference_has_the_f1_of_each_seed_and_an_interval_over_seeds_and_questions() -> None:
    claim = Claim("better", "grpo", "sft", 5.0, each=0.0)
    outcomes = {("grpo", 0): outcomes_of(0.9, 1), ("grpo", 1): outcomes_of(0.95, 2)}
    outcomes |= {("sft", 0): outcomes_of(0.8, 3), ("sft", 1): outcomes_of(0.8, 4)}
    found = difference(claim, outcomes, (0, 1))

    def f1(outcomes: list[Outcome]) -> float:
        values = []
        for task in ("one", "two"):
            own = [outcome for outcome in outcomes if outcome.task == task]
            right = sum(one.label == one.predicted == "YES" for one in own)
            values.append(
                2 * right / (sum(one.label == "YES" for one in own) + sum(one.predicted == "YES" for one in own))
            )
        return 100 * sum(values) / 2

    assert found.seeds == pytest.approx([f1(outcomes["grpo", seed]) - f1(outcomes["sft", seed]) for seed in (0, 1)])
    assert found.accuracy == pytest.approx((10.0, 15.0))
    headings, _, row = table(LINES_OF_TWO, [replace(found, claim=CLAIMS[0])]).split("\n\n")[2].splitlines()
    assert "| accuracy, each seed | accuracy, mean |" in headings
    assert "| +10.0, +15.0 | +12.5 |" in row
    assert found.lo is not None
    assert found.hi is not None
    assert 4 < found.lo < found.mean < found.hi < 22
    assert found.holds
    assert not replace(found, claim=replace(claim, mean=20.0)).holds
    assert not replace(found, claim=replace(claim, each=min(found.seeds) + 0.1)).holds


@pytest.mark.parametrize("seeds", ["", "1,1", "a"])
def test_invalid_seeds_are_refused(seeds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["miniature", "--seeds", seeds])
    assert "expected different whole numbers" in capsys.readouterr().err


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    from training.miniature.proof import ProofError, prove

    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ProofError, match="holds something that is no proof"):
        prove(tmp_path, (0,), SCALES["quick"])
