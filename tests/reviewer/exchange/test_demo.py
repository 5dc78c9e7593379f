"""The demo that a first start shows: complete, labelled, up to date with the code, wrong where it says so."""

from dataclasses import replace

import pytest

from agent import tool
from agent.conversation import Conversation, Exchange
from agent.policies.baseline.rule import Baseline
from agent.simulate import CLASSES, LOOK_ALIKES, truth
from agent.tasks import load
from agent.trajectory.steps import Answer, Think, Zoom
from agent.trajectory.tags import parse
from reviewer.drafting.demo import RECIPES, demo_items, draft, planted

TASKS = load()


@pytest.fixture(scope="module")
def items():
    return list(demo_items())


def test_every_class_and_many_look_alikes_are_shown(items):
    assert {trajectory.task for _, trajectory in items} == set(CLASSES)
    assert len({spectrum.meta["kind"] for spectrum, _ in items} & set(LOOK_ALIKES)) >= 8
    assert len({spectrum.survey for spectrum, _ in items}) == 3


def test_every_item_says_that_it_is_simulated_and_who_drafted_it(items):
    for spectrum, trajectory in items:
        assert spectrum.meta["simulated"]
        assert trajectory.simulated
        assert trajectory.label_source == "simulation"
        assert trajectory.drafter.name == "baseline, no model"


def test_every_draft_belongs_to_its_spectrum_and_knows_the_truth(items):
    for recipe, (spectrum, trajectory) in zip(RECIPES, items, strict=True):
        assert trajectory.spectrum_sha256 == spectrum.sha256
        assert trajectory.label == truth(recipe.kind, recipe.task)
        assert trajectory.prompt == TASKS[recipe.task].prompt


def test_names_are_unique(items):
    names = [spectrum.name for spectrum, _ in items]
    assert len(set(names)) == len(names)


def test_every_draft_could_be_reviewed(items):
    for _, trajectory in items:
        assert trajectory.problems() == []


def replayed(spectrum, task):
    """What the baseline says today, without drawing: it reads numbers, so no picture is needed."""
    conversation = Conversation(spectrum, task, tool.overview(spectrum), turns_left=8)
    while conversation.turns_left:
        text = "".join(Baseline().turn(conversation))
        turn = parse(text)
        yield turn
        if turn.call is None:
            return
        exchanges = (*conversation.exchanges, Exchange(text, None))
        conversation = replace(conversation, turns_left=conversation.turns_left - 1, exchanges=exchanges)


def test_shipped_drafts_are_what_the_baseline_says_today(items, monkeypatch):
    monkeypatch.setattr(tool, "overview", lambda spectrum: None)
    for recipe, (spectrum, trajectory) in zip(RECIPES, items, strict=True):
        if recipe.mistake:
            continue
        turns = list(replayed(spectrum, TASKS[recipe.task]))
        assert [t.thought for t in turns] == [s.text for s in trajectory.steps if isinstance(s, Think)], (
            f"{spectrum.name}: run python -m reviewer.drafting.demo"
        )
        assert [dict(t.call.arguments) for t in turns[:-1]] == [dict(z.arguments) for z in trajectory.zooms]


def test_one_draft_made_anew_is_the_one_shipped(items):
    spectrum, shipped = items[0]
    assert draft(RECIPES[0], spectrum) == shipped


def test_pictures_are_those_the_tool_draws(items):
    spectrum, trajectory = items[7]
    for zoom in trajectory.zooms:
        assert tool.call(spectrum, zoom.arguments).picture == zoom.picture


def of(items, mistake):
    wrong = planted()
    return [(s, t) for s, t in items if wrong.get(s.name) == mistake]


def test_each_kind_of_mistake_is_there_to_be_found(items):
    assert set(planted().values()) == {
        "hallucinated line",
        "wrong label",
        "flipped verdict",
        "wrong frame",
        "needless zoom",
    }
    assert 5 <= len(planted()) <= len(items) / 4


def test_a_reviewer_is_not_told_where_the_mistakes_are(items):
    for spectrum, trajectory in items:
        text = str(trajectory.to_json()) + str(dict(spectrum.meta))
        assert not any(word in text for word in ("planted", "mistake", "hallucinated", "flipped"))


def test_a_flipped_verdict_is_the_wrong_one_for_the_numbers_it_gives(items):
    for spectrum, trajectory in of(items, "flipped verdict"):
        *_, last = replayed(spectrum, TASKS[trajectory.task])
        assert isinstance(trajectory.steps[-1], Answer)
        assert trajectory.answer.verdict != last.answer.verdict


def test_a_window_in_the_wrong_frame_misses_its_line(items):
    ((spectrum, trajectory),) = of(items, "wrong frame")
    first = trajectory.zooms[0]
    assert (first.frame, first.z) == ("rest", spectrum.redshift)
    right = next(iter(replayed(spectrum, TASKS[trajectory.task]))).call.arguments["wavelength_range"]
    assert first.window[0] > right[0] + 100


def test_a_wrong_label_names_a_line_outside_its_window(items):
    for _, trajectory in of(items, "wrong label"):
        first = trajectory.zooms[0]
        assert "Na I D" in first.label
        assert not first.window[0] < 5892 < first.window[1]


def test_a_needless_zoom_covers_no_feature_of_the_task(items):
    for _, trajectory in of(items, "needless zoom"):
        low, high = next(z for z in trajectory.zooms if z.label == "continuum").window
        local = [f for f in TASKS[trajectory.task].features if f.kind != "slope"]
        assert not any(f.span[0] < high and f.span[1] > low for f in local)


def test_a_hallucinated_line_is_claimed_where_none_was_measured(items):
    for spectrum, trajectory in of(items, "hallucinated line"):
        said = [s.text for s in trajectory.steps if isinstance(s, Think)]
        honest = [turn.thought for turn in replayed(spectrum, TASKS[trajectory.task])]
        assert said[1].startswith(honest[1])
        assert len(said[1]) > len(honest[1]) + 40
        assert isinstance(trajectory.steps[1], Zoom)
