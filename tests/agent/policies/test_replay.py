"""A stored trajectory is said again: the same steps, the same pictures."""

from hypothesis import given, settings

from agent.conversation import Conversation, Exchange
from agent.loop import Ended, inspect, run
from agent.policies.baseline.rule import Baseline
from agent.policies.replay import Replay
from agent.simulate import simulate
from agent.tasks import load
from agent.tool import overview
from agent.trajectory.steps import Answer
from agent.trajectory.tags import parse, turn_text
from tests.support.strategies import trajectories

SPECTRUM = simulate("cv", "LAMOST", 30, 3)
TASK = load()["cv"]
ORIGINAL = run(SPECTRUM, TASK, Baseline())
OVERVIEW = overview(SPECTRUM)


def test_a_replay_draws_every_picture_again_and_they_are_the_same():
    again = run(SPECTRUM, TASK, Replay(ORIGINAL))
    assert again.steps == ORIGINAL.steps
    assert again.overview == ORIGINAL.overview
    assert len(again.zooms) > 1


def test_a_replay_is_the_originals_work_and_says_that_it_was_replayed():
    drafter = run(SPECTRUM, TASK, Replay(ORIGINAL)).drafter
    assert (drafter.kind, drafter.name) == (ORIGINAL.drafter.kind, ORIGINAL.drafter.name)
    assert dict(drafter.settings) == {**ORIGINAL.drafter.settings, "replayed": True}


def test_a_trace_without_an_answer_ends_without_one_again():
    cut = ORIGINAL.with_steps(tuple(s for s in ORIGINAL.steps if not isinstance(s, Answer))[:-1])
    *_, end = inspect(SPECTRUM, TASK, Replay(cut))
    assert isinstance(end, Ended)
    assert end.reason == "no call and no answer"
    assert end.trajectory.steps == cut.steps


@settings(max_examples=50)
@given(trajectories())
def test_whatever_is_stored_is_said_turn_by_turn(trajectory):
    turns = [turn_text(turn) for turn in trajectory.turns()]
    exchanges: tuple[Exchange, ...] = ()
    for text in [*turns, ""]:
        conversation = Conversation(SPECTRUM, TASK, OVERVIEW, 8, exchanges)
        assert "".join(Replay(trajectory).turn(conversation)) == text
        exchanges = (*exchanges, Exchange(text, None))


def test_a_replayed_turn_reads_as_it_was_stored():
    first = next(iter(ORIGINAL.turns()))
    assert parse(turn_text(first)).faults == ()
