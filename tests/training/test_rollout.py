"""Many inspections side by side: what is kept of them is what the published rendering has of their traces."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from PIL import Image

from agent.loop import Ended, Looked, Started, inspect
from agent.policies.baseline.rule import Baseline
from agent.tasks import load
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Zoom
from agent.trajectory.tags import turn_text
from tests.support.scripted import Script, Scripted, question, renderer, star
from training.grpo.rollout import GeneratedTurn, Limits, Request, Rollout, run_rollouts
from training.render import IMAGE

WHO = Drafter("model", "scripted")
LOOK = """<think>Look.</think>
<tool_call>
{"name": "spectral_visualization_tool", "arguments": {"label": "Hα", "wavelength_range": [6500, 6600]}}
</tool_call>"""
OUTSIDE = LOOK.replace("[6500, 6600]", "[1, 2]")
BROKEN = "<think>Look.</think><tool_call>wavelength</tool_call>"
ANSWER = r"<think>Seen.</think><answer>\boxed{YES} It flickers.</answer>"


NO_LIMITS = Limits()


def rolled(script: Script, limits: Limits = NO_LIMITS, logprobs: bool = False) -> Rollout:
    made = renderer()
    writer = Scripted(made, script, logprobs)
    (one,) = run_rollouts([question()], made, writer, limits, WHO).rolled
    return one


def baseline(task: str, kind: str, seed: int) -> tuple[Trajectory, list[Image.Image]]:
    """The measuring baseline's trace, with the pictures it was shown."""
    pictures = []
    for event in inspect(star(kind, seed), load()[task], Baseline()):
        if isinstance(event, Started):
            pictures.append(event.overview)
        elif isinstance(event, Looked) and event.picture is not None:
            pictures.append(event.picture)
        elif isinstance(event, Ended):
            return event.trajectory, pictures
    raise AssertionError("an inspection ends with Ended")


@pytest.mark.parametrize(("task", "kind"), [("cv", "cv"), ("cc", "cc"), ("wd", "sd"), ("gm", "cv")])
def test_what_was_rolled_is_the_rendering_of_its_trace(task: str, kind: str) -> None:
    trace, pictures = baseline(task, kind, 3)
    turns = [turn_text(turn) for turn in trace.turns()]
    made = renderer()
    writer = Scripted(made, lambda so_far, number: turns[number - 1])
    (one,) = run_rollouts([question(task, kind, seed=3)], made, writer, Limits(), WHO).rolled
    wanted = made.example(trace, pictures)
    assert one.prompt.ids + one.said.ids == wanted.ids
    assert one.prompt.spoken + one.said.spoken == wanted.spoken
    assert [picture.tobytes() for picture in one.images] == [image.tobytes() for image in wanted.images]
    assert one.trajectory.steps == trace.steps
    assert one.reason == "answered"
    assert not one.truncated
    assert one.response == "\n".join(turns)


def test_turns_of_all_are_written_by_one_call_and_each_goes_on_with_its_own() -> None:
    made = renderer()

    def script(so_far: str, number: int) -> str:
        return ANSWER if number == (1 if load()["wd"].prompt in so_far else 3) else LOOK

    writer = Scripted(made, script)
    asked = [question("cv"), question("wd", "sd"), question("cv", seed=2)]
    found = run_rollouts(asked, made, writer, Limits(), WHO).rolled
    assert writer.asked == [3, 2, 2]
    assert [len(one.turns) for one in found] == [3, 1, 3]
    assert [one.question for one in found] == asked


def test_a_question_that_stands_there_twice_is_inspected_twice() -> None:
    made = renderer()
    one = question()
    found = run_rollouts([one, one], made, Scripted(made, lambda so_far, number: ANSWER), Limits(), WHO).rolled
    assert len(found) == 2
    assert found[0].said == found[1].said


def test_the_call_of_the_last_turn_is_not_run() -> None:
    one = rolled(lambda so_far, number: LOOK)
    assert one.reason == "turn limit"
    assert len(one.turns) == 8
    assert len(one.looks) == 7
    assert len(one.trajectory.zooms) == 8
    assert one.said.spoken[-1]
    nine = rolled(lambda so_far, number: LOOK, Limits(turns=9))
    assert len(nine.looks) == 8


def test_a_wrong_call_is_answered_and_shows_no_picture() -> None:
    one = rolled(lambda so_far, number: OUTSIDE if number == 1 else ANSWER)
    assert one.reason == "answered"
    assert [zoom.ok for zoom in one.looks] == [False]
    assert len(one.images) == 1


def test_a_call_that_cannot_be_read_ends_it() -> None:
    one = rolled(lambda so_far, number: BROKEN)
    assert one.reason == "no call and no answer"
    assert len(one.turns) == 1
    assert all(one.said.spoken)
    assert not one.truncated


def test_a_turn_that_says_nothing_ends_it() -> None:
    one = rolled(lambda so_far, number: "")
    assert one.reason == "no call and no answer"
    assert len(one.said) == 1


def test_a_turn_is_cut_at_its_limit() -> None:
    one = rolled(lambda so_far, number: "<think>" + "on and " * 100, Limits(turn=50))
    assert one.truncated
    assert len(one.said) == 50
    assert "cut at its limit of 50 tokens" in one.trajectory.faults[0]


def test_a_cut_turn_whose_call_was_whole_is_shown_as_ended() -> None:
    made = renderer()
    letters = made.processor.tokenizer
    limit = len(letters.encode(LOOK))
    writer = Scripted(made, lambda so_far, number: LOOK if number == 1 else ANSWER)
    (one,) = run_rollouts([question()], made, writer, Limits(turn=limit), WHO).rolled
    assert one.reason == "answered"
    assert one.truncated
    after = one.said.ids[limit : limit + 2]
    assert letters.decode(after) == "<|im_end|>\n"
    assert one.said.spoken[limit - 1 : limit + 1] == (True, False)


@pytest.mark.parametrize("limit", [30, 200, 300, 500])
def test_a_response_keeps_to_its_limit_and_never_ends_with_the_tools_words(limit: int) -> None:
    made = renderer()
    writer = Scripted(made, lambda so_far, number: LOOK)
    (one,) = run_rollouts([question()], made, writer, Limits(response=limit), WHO).rolled
    assert one.truncated
    assert len(one.said) <= limit
    assert one.said.spoken[-1]
    # The picture that no longer fitted is not among those that are learned from.
    mark = made.processor.tokenizer.convert_tokens_to_ids(IMAGE)
    assert one.said.ids.count(mark) == sum(map(made.image_tokens, one.said.images))


def test_without_the_tool_there_is_one_turn_and_no_word_of_it() -> None:
    made = renderer()
    writer = Scripted(made, lambda so_far, number: ANSWER)
    (one,) = run_rollouts([question()], made, writer, Limits(), WHO, with_tool=False).rolled
    assert one.reason == "answered"
    assert "tool" not in made.processor.tokenizer.decode(one.prompt.ids)
    (stubborn,) = run_rollouts(
        [question()], made, Scripted(made, lambda so_far, number: LOOK), Limits(), WHO, with_tool=False
    ).rolled
    assert stubborn.reason == "turn limit"
    assert stubborn.looks == ()


def test_probabilities_stand_beside_what_was_spoken() -> None:
    one = rolled(lambda so_far, number: LOOK if number < 3 else ANSWER, logprobs=True)
    assert one.logprobs is not None
    assert len(one.logprobs) == len(one.said)
    expected: list[float] = []
    place = 0
    for spoken in one.said.spoken:
        place = place + 1 if spoken else 0
        expected.append(-0.1 * (place - 1) if spoken else 0.0)
    assert list(one.logprobs) == pytest.approx(expected)
    assert rolled(lambda so_far, number: ANSWER).logprobs is None


def test_picture_tokens_are_as_many_as_the_pictures_have() -> None:
    made = renderer()
    writer = Scripted(made, lambda so_far, number: LOOK if number < 4 else ANSWER)
    (one,) = run_rollouts([question()], made, writer, Limits(), WHO).rolled
    mark = made.processor.tokenizer.convert_tokens_to_ids(IMAGE)
    ids = one.prompt.ids + one.said.ids
    assert ids.count(mark) == sum(made.image_tokens(image) for image in one.images)
    assert len(one.images) == 4
    assert all(isinstance(zoom, Zoom) and zoom.ok for zoom in one.looks)


@pytest.mark.parametrize("count", [0, 51])
def test_a_writer_that_keeps_to_no_limit_is_found_out(count: int) -> None:
    made = renderer()

    class Wrong(Scripted):
        def write(self, requests: Sequence[Request]) -> list[GeneratedTurn]:
            return [GeneratedTurn((0,) * count) for _ in requests]

    with pytest.raises(ValueError, match=f"gave {count} tokens, wanted 1 to 50"):
        run_rollouts([question()], made, Wrong(made, lambda so_far, number: ""), Limits(turn=50), WHO)
