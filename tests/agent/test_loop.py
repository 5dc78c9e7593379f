"""The inspection loop: what a policy says, what the tool answers, and how it ends."""

import threading
from collections.abc import Iterator, Sequence
from types import MappingProxyType

import pytest

from agent import tool
from agent.conversation import Conversation, Piece, PolicyError, Remark, Stop, Usage
from agent.loop import (
    MAX_CHARACTERS,
    NOT_RUN,
    Answered,
    Called,
    Ended,
    Looked,
    Said,
    Started,
    Thought,
    inspect,
    run,
)
from agent.plot import RENDERER, pixels_sha256
from agent.simulate import simulate
from agent.tasks import Task
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Answer, Think, Zoom

LOOK = (
    '<think>Hα first.</think>\n<tool_call>\n{"name": "spectral_visualization_tool", "arguments": '
    '{"label": "Hα", "wavelength_range": [6500, 6600]}}\n</tool_call>'
)
ANSWER = r"<think>It is in emission.</think><answer>\boxed{YES} Balmer emission.</answer>"
TASK = Task(
    key="cv",
    title="Cataclysmic Variable (CV)",
    question="Analyze the provided spectrum to determine if it is a **Cataclysmic Variable (CV)**.",
    statements=(),
    features=(),
    confusers=(),
    references=MappingProxyType({}),
)
SPECTRUM = simulate("cv", "LAMOST", 30, 3)


class Script:
    """A policy that says what it was told to say, and remembers what it was shown."""

    drafter = Drafter("model", "script", {"version": "1"})

    def __init__(self, turns: Sequence[str], pieces: int = 1) -> None:
        self.turns = turns
        self.pieces = pieces
        self.seen: list[Conversation] = []

    def turn(self, conversation: Conversation) -> Iterator[str]:
        text = self.turns[min(len(self.seen), len(self.turns) - 1)]
        self.seen.append(conversation)
        size = max(1, -(-len(text) // self.pieces))
        for start in range(0, len(text), size):
            yield text[start : start + size]


class Broken:
    drafter = Drafter("model", "broken")

    def turn(self, conversation: Conversation) -> Iterator[str]:
        yield "<think>Half a thou"
        raise PolicyError("the server at 127.0.0.1:8000 closed the connection: is it still running?")


def ended(*turns: str, max_turns: int = 8) -> Ended:
    *_, last = inspect(SPECTRUM, TASK, Script(turns), max_turns)
    assert isinstance(last, Ended)
    return last


def test_events_come_in_the_order_things_happen():
    events = list(inspect(SPECTRUM, TASK, Script([LOOK, ANSWER])))
    wanted = [Started, Said, Called, Thought, Looked, Said, Thought, Answered, Ended]
    assert [type(e) for e in events] == wanted
    assert events[-1].reason == "answered"


def test_a_turn_streams_as_the_policy_writes_it():
    events = list(inspect(SPECTRUM, TASK, Script([ANSWER], pieces=7)))
    said = [e.text for e in events if isinstance(e, Said)]
    assert len(said) == 7
    assert "".join(said) == ANSWER


def test_nothing_is_drawn_before_it_is_asked_for():
    events = inspect(SPECTRUM, TASK, Script([LOOK, ANSWER]))
    started = next(events)
    assert isinstance(started, Started)
    assert started.picture == pixels_sha256(started.overview)


def test_the_trajectory_keeps_every_step_with_its_picture_frame_and_medium():
    trajectory = run(SPECTRUM, TASK, Script([LOOK, ANSWER]))
    assert [type(s) for s in trajectory.steps] == [Think, Zoom, Think, Answer]
    assert [s.id for s in trajectory.steps] == ["s1", "s2", "s3", "s4"]
    zoom = trajectory.zooms[0]
    assert zoom.picture == tool.call(SPECTRUM, {"wavelength_range": [6500, 6600], "label": "Hα"}).picture
    assert (zoom.frame, zoom.z, zoom.medium, zoom.ok) == ("observed", 0.0, "vacuum", True)
    assert trajectory.answer == Answer("s4", "YES", "Balmer emission.")
    assert trajectory.spectrum_sha256 == SPECTRUM.sha256
    assert trajectory.overview == pixels_sha256(tool.overview(SPECTRUM))
    assert trajectory.simulated
    assert trajectory.problems() == []
    assert Trajectory.from_json(trajectory.to_json()) == trajectory


def test_with_a_redshift_windows_are_in_the_rest_frame():
    spectrum = simulate("hii", "SDSS", 30, 3, redshift=0.05)
    zoom = run(spectrum, TASK, Script([LOOK, ANSWER])).zooms[0]
    assert (zoom.frame, zoom.z) == ("rest", 0.05)
    assert zoom.window_observed == pytest.approx((6825.0, 6930.0))


def test_settings_say_what_would_repeat_the_inspection():
    settings = run(SPECTRUM, TASK, Script([ANSWER]), max_turns=5).drafter.settings
    assert settings["version"] == "1"
    assert settings["renderer"] == RENDERER
    assert settings["max_turns"] == 5
    assert len(settings["prompt_sha256"]) == 64


def test_the_policy_is_shown_each_answer_of_the_tool():
    policy = Script([LOOK, ANSWER])
    run(SPECTRUM, TASK, policy)
    assert policy.seen[0].exchanges == ()
    (exchange,) = policy.seen[1].exchanges
    assert exchange.text == LOOK
    assert exchange.observation.text.endswith("(6500, 6600) Å for Hα.")
    assert exchange.observation.image is not None


def test_the_call_of_the_eighth_turn_is_not_run():
    """As in the published loop: eight assistant turns, seven looks."""
    policy = Script([LOOK])
    events = list(inspect(SPECTRUM, TASK, policy))
    looks = [e for e in events if isinstance(e, Looked)]
    assert len(policy.seen) == len(looks) == 8
    assert [e.zoom.ok for e in looks] == [True] * 7 + [False]
    assert (looks[-1].zoom.observation, looks[-1].picture) == (NOT_RUN, None)
    assert (events[-1].reason, events[-1].trajectory.answer) == ("turn limit", None)


def test_a_window_outside_the_data_is_answered_and_the_inspection_goes_on():
    wrong = LOOK.replace("[6500, 6600]", "[20000, 21000]")
    end = ended(wrong, ANSWER)
    zoom = end.trajectory.zooms[0]
    assert end.reason == "answered"
    assert not zoom.ok
    assert zoom.observation.startswith("Error: The specified wavelength range [20000, 21000] is invalid")


def test_another_tool_is_answered_with_an_error():
    zoom = ended(LOOK.replace("spectral_visualization_tool", "simbad"), ANSWER).trajectory.zooms[0]
    assert (zoom.ok, zoom.observation) == (False, "Error when executing tool: 'simbad'")


def test_a_call_nobody_can_read_ends_the_inspection_and_is_listed():
    end = ended("<think>Look.</think><tool_call>{{{</tool_call>")
    assert end.reason == "no call and no answer"
    assert [type(s) for s in end.trajectory.steps] == [Think]
    assert end.trajectory.faults[0].startswith("turn 1: a tool call that cannot be read")


def test_words_without_tags_are_kept_as_a_thought():
    end = ended("It looks like a CV to me")
    assert end.reason == "no call and no answer"
    assert end.trajectory.steps == (Think("s1", "It looks like a CV to me"),)
    assert end.trajectory.faults == ("turn 1: no <think> tags",)


def test_silence_ends_the_inspection():
    end = ended("")
    assert (end.reason, end.trajectory.steps) == ("no call and no answer", ())


def test_an_answer_without_yes_or_no_has_no_verdict():
    end = ended(r"<think>Hm.</think><answer>\boxed{MAYBE}</answer>")
    assert end.reason == "answered"
    assert end.trajectory.answer.verdict is None
    assert end.trajectory.problems() == ["the answer is neither YES nor NO"]


def test_a_look_and_an_answer_in_one_turn_is_a_look():
    end = ended(LOOK + r"<answer>\boxed{NO}</answer>", ANSWER)
    assert [type(s) for s in end.trajectory.steps] == [Think, Zoom, Think, Answer]
    assert end.trajectory.faults == ("turn 1: a tool call and an answer in one turn",)


def test_what_was_said_before_a_policy_failed_is_kept():
    events = list(inspect(SPECTRUM, TASK, Broken()))
    end = events[-1]
    assert isinstance(end, Ended)
    assert (end.reason, end.trajectory.steps[0]) == ("policy failed", Think("s1", "Half a thou"))
    assert "127.0.0.1:8000" in end.detail


def test_run_passes_on_why_a_policy_failed():
    with pytest.raises(PolicyError, match="is it still running"):
        run(SPECTRUM, TASK, Broken())


def test_fewer_than_one_turn_is_refused():
    with pytest.raises(ValueError, match="max_turns: found 0, wanted 1 or more"):
        next(inspect(SPECTRUM, TASK, Script([ANSWER]), max_turns=0))


class Endless:
    """A model that never ends its turn; ``closed`` says whether the loop let go of it."""

    drafter = Drafter("model", "endless")

    def __init__(self) -> None:
        self.closed = False

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        try:
            yield "<think>"
            while True:
                yield "and on and on "
        finally:
            self.closed = True


def test_a_turn_without_end_is_cut_and_said_to_be():
    policy = Endless()
    *_, last = inspect(SPECTRUM, TASK, policy)
    assert isinstance(last, Ended)
    assert last.reason == "no call and no answer"
    assert f"turn 1: cut after {MAX_CHARACTERS} characters" in last.trajectory.faults
    assert policy.closed


def test_stop_keeps_what_was_said_and_lets_the_policy_go():
    policy, stop = Endless(), Stop()
    events = inspect(SPECTRUM, TASK, policy, stop=stop)
    for event in events:
        if isinstance(event, Said) and event.text != "<think>":
            stop.set()
            break
    *_, last = events
    assert isinstance(last, Ended)
    assert (last.reason, last.detail) == ("stopped", "stopped in turn 1")
    assert last.trajectory.steps == (Think("s1", "and on and on"),)
    assert last.trajectory.faults == ("turn 1: cut short while it was being written",)
    assert policy.closed


def test_an_iterator_that_is_closed_closes_its_policy():
    policy = Endless()
    events = inspect(SPECTRUM, TASK, policy)
    next(e for e in events if isinstance(e, Said))
    events.close()
    assert policy.closed


class Waiting:
    """A policy that waits for a server that never answers."""

    drafter = Drafter("model", "waiting")

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        woken = threading.Event()
        with conversation.stop.waking(woken.set):
            woken.wait()
        return
        yield


def test_stop_wakes_a_policy_that_waits():
    stop = Stop()
    threading.Timer(0.05, stop.set).start()
    *_, last = inspect(SPECTRUM, TASK, Waiting(), stop=stop)
    assert isinstance(last, Ended)
    assert last.reason == "stopped"
    assert last.trajectory.faults == ("turn 1: nothing was written",)


def test_a_waker_is_called_at_once_when_it_is_too_late_and_never_after_its_block():
    stop, called = Stop(), []
    with stop.waking(lambda: called.append("left")):
        pass
    stop.set()
    with stop.waking(lambda: called.append("late")):
        assert called == ["late"]


class Talkative(Script):
    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        yield from super().turn(conversation)
        yield Remark("cut at its limit of 5 tokens")
        yield Usage(requests=1, prompt=100, cached=40, completion=5)


def test_what_a_policy_remarks_is_a_fault_and_its_tokens_are_added_up():
    *_, last = inspect(SPECTRUM, TASK, Talkative([LOOK, ANSWER]))
    assert isinstance(last, Ended)
    assert last.trajectory.faults == tuple(f"turn {n}: cut at its limit of 5 tokens" for n in (1, 2))
    assert last.usage == Usage(2, 200, 80, 10)


def test_the_call_is_told_before_the_turn_has_ended():
    events = inspect(SPECTRUM, TASK, Script([LOOK + "and more words", ANSWER], pieces=40))
    called = next(e for e in events if isinstance(e, Called))
    assert called.call.arguments["wavelength_range"] == [6500, 6600]
    assert isinstance(next(events), Said)


def test_half_a_character_is_replaced_before_anybody_stores_it():
    broken = ANSWER.replace("emission", "emi\ud800ssion")
    trajectory = run(SPECTRUM, TASK, Script([broken]))
    assert trajectory.steps[0].text == "It is in emi\ufffdssion."
    assert Trajectory.from_json(trajectory.to_json()) == trajectory
